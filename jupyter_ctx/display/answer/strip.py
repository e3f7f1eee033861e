"""Show what went with a prompt: small pictures, and chips that unfold to the text that was sent."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..tables import NOT_DRAWN, TableRow, TableRows, column_sides, page_html, row_html, shortened, table
from ..text import QUIET, WRAPS, attribute_html, note_plain, text_html
from .markdown import SCROLLS, note_markdown

MOST_PART_NAME = 200  # characters of a name
MOST_SENT_TEXT = 10_000  # characters of a text, which saved notebooks keep
MOST_IN_TABLE = 60_000  # characters of all that unfolds in a table
PART_COLUMN = 2  # of a table, where a part is named
_TOKENS = re.compile(r"(?:, )?about (?=[\d,]+ tokens?)")
# plain colours first: a sanitiser drops each declaration with a CSS variable, and keeps the other
_LINE = "border:1px solid #757575;border-color:var(--jp-border-color1,#757575)"
_STRIP = "display:flex;flex-wrap:wrap;align-items:center;gap:6px;margin:4px 0"
_OPENED = "<style>.jctx-strip>:has(>[open]){flex:0 0 100%}</style>"  # in a line of its own
_PART = (
    "display:flex;flex-wrap:wrap;align-items:center;gap:6px;min-width:0;max-width:100%;"
    "background:var(--jp-layout-color1,transparent)"  # on the stripes of a table, quiet text is too pale
)
_FOLDED = "min-width:0;max-width:100%"
_CHIP = (
    f"{_LINE};border-radius:12px;padding:1px 10px;width:fit-content;max-width:100%;box-sizing:border-box;"
    f"font-size:85%;line-height:1.5;{QUIET};{WRAPS}"
)
_PICTURE = f"{_LINE};border-radius:4px;background:#fff;max-width:120px;max-height:52px;box-sizing:border-box"
_BELOW = f"font-size:85%;{QUIET};margin:0 0 4px 8px"
_SENT = (
    f"white-space:pre-wrap;{WRAPS};max-height:20em;overflow:auto;margin:4px 0;padding:4px 8px;"
    "border-left:3px solid #757575;border-color:var(--jp-border-color1,#757575);"
    "font-size:85%;font-family:monospace;font-family:var(--jp-code-font-family,monospace)"
)


@dataclass(frozen=True, slots=True)
class SentPart:
    """One thing that went with a prompt.

    name: as the user named it
    facts: what was sent of what, and its tokens, such as ``40 of 12,000 rows, about 3,100 tokens``
    text: as it was sent; empty: none, or none that tells more
    pictures: the ``data:`` addresses of small pictures
    more: what to do to send more of it
    """

    name: str
    facts: str
    text: str = ""
    pictures: Sequence[str] = ()
    more: str = ""

    @property
    def title(self) -> str:
        """Its name and its facts in one line."""
        facts = self.facts.removeprefix("image, ") if self.pictures else self.facts
        shown = _TOKENS.sub(" · ~", facts).removeprefix(" · ")
        return " · ".join(filter(None, (shortened(self.name, MOST_PART_NAME), shown)))

    @property
    def size(self) -> int:
        """The characters that it unfolds to."""
        return min(len(self.text), MOST_SENT_TEXT) + sum(map(len, self.pictures))


@dataclass(frozen=True, slots=True)
class PartRow:
    """A row below that of a message, for a part of it: its cells, and what it unfolds to."""

    cells: TableRow
    part: SentPart


def table_with_parts(
    head: TableRow, rows: TableRows, caption: str, parts: Mapping[int, Sequence[PartRow]]
) -> dict[str, str]:  # fmt: skip
    """Return a table as HTML, as Markdown and as plain text, with the ``parts`` of each row, by its index, below it.

    As HTML the parts unfold; of very many characters, those of the last rows do.
    """
    lines = list[TableRow | str | PartRow]()
    for index, row in enumerate(rows):
        lines += [row, *parts.get(index, ())]
    forms = table(head, [line.cells if isinstance(line, PartRow) else line for line in lines], caption)
    sides, left, drawn = column_sides(head, rows), MOST_IN_TABLE, list[str]()
    for line in reversed(lines):
        if not isinstance(line, PartRow):
            drawn.append(f"<tr>{row_html(line, sides)}</tr>")
            continue
        left -= line.part.size
        unfolding = {PART_COLUMN: part_html(line.part)} if left >= 0 else NOT_DRAWN
        drawn.append(f"<tr>{row_html(line.cells, sides, unfolding)}</tr>")
    page = page_html(head, sides, reversed(drawn), caption)
    return {**forms, "text/html": f'<div {SCROLLS}">{page}</div>'}


def strip_forms(parts: Sequence[SentPart], line: str, *, plain: bool) -> dict[str, str]:
    """Return what went with a prompt as HTML, Markdown and plain text; ``plain``: as plain text alone.

    ``line`` says it in one line.
    """
    shown = {"text/plain": note_plain(line)}
    if plain:
        return shown
    strip = "".join(map(part_html, parts))
    named = f'class="jctx-strip" role="group" aria-label="With the prompt" style="{_STRIP}"'
    return {
        "text/html": f"{_OPENED}<div {named}>{strip}</div>",
        "text/markdown": note_markdown(line).replace("> ", "- ", 1),
        **shown,
    }


def part_html(part: SentPart) -> str:
    """Return the pictures of a part, and its chip."""
    return f'<div dir="auto" style="{_PART}">{_pictures_html(part)}{_chip(part)}</div>'


def _chip(part: SentPart) -> str:
    """Return the name and the facts of a part, which unfold to its text, if it has any."""
    title = text_html(part.title)
    if not part.text:
        return f'<div class="jctx-sent" style="{_CHIP}">{title}</div>'
    summary = f'<summary class="jctx-sent" style="{_CHIP}">{title}</summary>'
    return f'<details style="{_FOLDED}">{summary}{_sent(part)}</details>'


def _sent(part: SentPart) -> str:
    """Return the text that was sent of a part, as far as a page may have it."""
    left = len(part.text) - MOST_SENT_TEXT
    lines = [f"{left:,} more characters were sent." if left > 0 else "", part.more]
    below = "".join(f'<div style="{_BELOW}">{text_html(line)}</div>' for line in lines if line)
    name = attribute_html(f"{part.title}, as sent")
    return (
        f'<div role="region" tabindex="0" aria-label="{name}" data-lm-suppress-shortcuts="true" style="{_SENT}">'
        f"{text_html(part.text[:MOST_SENT_TEXT])}</div>{below}"
    )


def _pictures_html(part: SentPart) -> str:
    """Return the small pictures of a part; the chip beside them names it."""
    return "".join(
        f'<img class="jctx-picture" src="{html.escape(picture)}" alt="" style="{_PICTURE}">'
        for picture in part.pictures
    )
