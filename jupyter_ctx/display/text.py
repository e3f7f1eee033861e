"""Escape text for a page or a terminal, and draw the extension's own notices."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

from ..wording import CONTROL_CHARACTERS as CONTROL_CHARACTERS
from ..wording import visible

_MARKUP = re.compile(r"([\\`*_\[\]#|~$!])")
NO_FORMULA = str.maketrans("[]\\", "()/")  # these begin one where they are escaped

to_plain = visible  # terminals and front ends would obey control characters

ONE_LINE = 100  # characters of a notice that are shown whole: a cell is about as wide
FIRST_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)|\n(?=\S)")
WRAPS = "overflow-wrap:break-word;overflow-wrap:anywhere"  # a sanitiser knows the first alone
QUIET = "color:var(--jp-ui-font-color2,inherit)"  # a plain colour would not be readable on both white and black
NOTE_STYLE = f"font-size:90%;line-height:1.5;margin:.4em 0;white-space:pre-line;{WRAPS}"
# an outline on white and on black; a sanitiser keeps the plain colour alone
BADGE_STYLE = (
    "border:1px solid #757575;border-color:var(--jp-border-color1,#757575);"
    f"{QUIET};font-size:85%;padding:0 4px;border-radius:3px;margin-right:.25em"
)


def markdown_line(text: str) -> str:
    """Return text as one line of Markdown in which nothing is markup."""
    line = " ".join("".join(c if c.isprintable() else " " for c in to_plain(text)).split())
    # some viewers take the backslash behind an address for a part of the address
    return _MARKUP.sub(r"\\\1", escaped(line))


def sources_line(citations: Iterable[tuple[str, str]]) -> str:
    """Return pages (address, title) as links in a line of Markdown, each with its host, which no title can imitate."""
    pages = ((quote(url, safe="/:?#@!&+,;=%~", errors="replace"), title or url) for url, title in citations)
    labels = ((url, f"{n}. {title} — {urlsplit(url).hostname}") for n, (url, title) in enumerate(pages, 1))
    links = (f"[{markdown_line(label.translate(NO_FORMULA))}]({url})" for url, label in labels)
    return f"Sources: {' · '.join(links)}"


def markdown_block(text: str, language: str = "text") -> str:
    """Return text as a block of code in Markdown, which keeps its lines and columns and which nothing in it can end."""
    runs = re.findall("`{3,}", text)
    marks = max([*runs, "``"], key=len) + "`"
    return f"{marks}{language}\n{text}\n{marks}"


def escaped(text: str, *, quote: bool = False) -> str:
    """Return text as HTML: every text that enters a page passes here. ``quote``: it may stand in an attribute."""
    return html.escape(text, quote=quote)


def attribute_html(text: str) -> str:
    """Return text for an attribute of HTML, or for a place where MathJax does not look."""
    return escaped(to_plain(text), quote=True)


def text_html(text: str) -> str:
    """Return text as HTML in which MathJax finds no formulas."""
    return re.sub(r"[$\\]", r"<span>\g<0></span>", escaped(to_plain(text)))


def note_html(text: str) -> str:
    """Return a notice as HTML, with a badge that no Markdown can produce.

    A long notice shows its first sentence, and unfolds to the rest.
    """
    badge = f'<span class="jctx-badge" style="{BADGE_STYLE}">ctx</span>'
    attributes = f'class="jctx-note" dir="auto" style="{NOTE_STYLE}"'
    end = FIRST_SENTENCE.search(text) if len(text) > ONE_LINE else None
    if end is None:
        return f"<div {attributes}>{badge} {text_html(text)}</div>"
    first, rest = text_html(text[: end.start()]), text_html(text[end.end() :])
    return f"<details {attributes}><summary>{badge} {first}</summary>{rest}</details>"


def text_bundle(text: str) -> dict[str, str]:
    """Return lines of text as HTML, as Markdown and as plain text."""
    return {
        "text/html": f'<div dir="auto" style="{NOTE_STYLE}">{text_html(text)}</div>',
        "text/markdown": "  \n".join(map(markdown_line, text.split("\n"))),
        "text/plain": to_plain(text),
    }


def spoken_html(text: str, role: str, kind: str = "") -> str:
    """Return a line that screen readers announce; ``role`` is ``status`` for a result, ``alert`` for an error."""
    return f'<div class="{kind}" role="{role}">{attribute_html(text)}</div>'


def warning_bundle(text: str) -> dict[str, str]:
    """Return a notice beside an answer in all forms."""
    return {**note_bundle(text), "text/html": f'<div class="jctx-warning">{note_html(text)}</div>'}


def note_bundle(text: str) -> dict[str, str]:
    """Return a notice as HTML, as Markdown and as plain text."""
    return {"text/html": note_html(text), "text/markdown": note_markdown(text), "text/plain": note_plain(text)}


def note_markdown(text: str) -> str:
    """Return a notice as one line of Markdown in which nothing is markup."""
    return f"> **[ctx]** {markdown_line(text)}"


def note_plain(text: str) -> str:
    """Return a notice as plain text."""
    return f"[ctx] {to_plain(text)}"
