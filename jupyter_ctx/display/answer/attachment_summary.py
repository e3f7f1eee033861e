"""What went with a prompt, and the functions that a model called: a line each, which unfolds to the texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..tables import TableRow, TableRows, first_words, table
from ..text import NOTE_STYLE, QUIET, WRAPS, attribute_html, note_markdown, note_plain, text_html, to_plain
from .markdown import SCROLLS, MimeBundle, answer_html, to_html, to_markdown, with_fence_closed

MOST_SENT_TEXT = 10_000  # characters of a text, which saved notebooks keep
MOST_IN_TABLE = 60_000  # characters of all that unfolds in a table
MOST_GROWING = 500  # characters of a text while the answer grows: every update carries them again
PART_COLUMN = 2  # of a table, where a part is named
CALLING = "Calling"
# plain colors first: a sanitizer drops each declaration with a CSS variable, and keeps the other
_PICTURE = (
    "vertical-align:middle;margin:2px 0 2px 8px;max-width:120px;max-height:44px;box-sizing:border-box;background:#fff;"
    "border:1px solid #757575;border-color:var(--jp-border-color1,#757575);border-radius:3px"
)
_SENT = (
    f"white-space:pre-wrap;{WRAPS};max-height:20em;overflow:auto;margin:4px 0 8px 1em;padding:0 8px;"
    "border-left:2px solid #757575;border-color:var(--jp-border-color1,#757575);"
    "font-family:monospace;font-family:var(--jp-code-font-family,monospace)"
)


@dataclass(frozen=True, slots=True)
class AttachmentSummary:
    """One thing that went with a prompt.

    text: as it was sent; empty: none, or none that tells more
    pictures: the ``data:`` addresses of small pictures
    more: how to send more of it
    """

    name: str
    text: str = ""
    pictures: Sequence[str] = ()
    more: str = ""


def summary_bundle(line: str, parts: Sequence[AttachmentSummary], *, plain: bool) -> dict[str, str]:
    """Return a line on what went with a prompt as HTML, Markdown and plain text; ``plain``: as plain text alone."""
    whole = " ".join([line, *(f"{part.more}." for part in parts if part.more)])
    if plain:
        return {"text/plain": note_plain(whole)}
    page = f'<div class="jctx-sent" style="{NOTE_STYLE};{QUIET}">{summary_html(line, parts)}</div>'
    return {"text/html": page, "text/markdown": note_markdown(whole), "text/plain": note_plain(whole)}


def summary_html(line: str, parts: Sequence[AttachmentSummary], most: int = MOST_SENT_TEXT) -> str:
    """Return a line with the small pictures of parts, which unfolds to their texts, if they have any.

    ``most``: characters of a text that are shown.
    """
    pictures = dict.fromkeys(picture for part in parts for picture in part.pictures)
    images = (f'<img src="{attribute_html(picture)}" alt="" style="{_PICTURE}">' for picture in pictures)
    shown = f"{text_html(line)}{''.join(images)}"
    texts = "".join(_sent_html(part, most) for part in parts if part.text)
    return f"<details><summary>{shown}</summary>{texts}</details>" if texts else f"<div>{shown}</div>"


def _sent_html(part: AttachmentSummary, most: int) -> str:
    """Return the text that was sent of a part, as far as a page may have it."""
    left = len(part.text) - most
    lines = [f"{left:,} more characters were sent." if left > 0 else "", f"{part.more}." if part.more else ""]
    below = "\n".join(["", *filter(None, lines)])
    name = attribute_html(f"{first_words(part.name)}, as sent")
    return (
        f'<div role="group" tabindex="0" aria-label="{name}" data-lm-suppress-shortcuts="true" style="{_SENT}">'
        f"{text_html(part.text[:most] + below)}</div>"
    )


def table_with_parts(
    head: TableRow, rows: TableRows, caption: str, parts: Mapping[int, AttachmentSummary],
    drawn: Mapping[tuple[int, int], str] | None = None,
) -> dict[str, str]:  # fmt: skip
    """Return a table as HTML, as Markdown and as plain text; ``parts`` are what rows, by their index, unfold to.

    As HTML they unfold; of very many characters, those of the last rows do. ``drawn`` are further cells as HTML.
    """
    left, cells = MOST_IN_TABLE, {**(drawn or {})}
    for index, part in reversed(list(parts.items())):
        page = summary_html(part.name, [part])
        left -= len(page)
        if left >= 0:
            cells[index, PART_COLUMN] = page
    forms = table(head, rows, caption, cells)
    return {**forms, "text/html": f'<div {SCROLLS}">{forms["text/html"]}</div>'}


# calls


@dataclass(frozen=True, slots=True)
class CallShown:
    """A call of a function.

    line: the call and what came of it, such as ``rows(country='NO') → 12 rows, 0.2 s``; ``✗`` before one that failed
    parts: what the line unfolds to: its arguments and its result
    """

    line: str
    parts: tuple[AttachmentSummary, ...] = ()


AnswerStep = str | CallShown  # before the answer: what the model wrote, and what it called


def step_bundles(steps: Sequence[AnswerStep], *, is_growing: bool = False) -> list[MimeBundle]:
    """Return steps in their forms; no answer can imitate the line of a call.

    Of many long results each shows less, and of one that will be drawn again, little.
    """
    most = min(MOST_SENT_TEXT, MOST_IN_TABLE // max(1, len(steps)))
    most = min(most, MOST_GROWING) if is_growing else most
    return [_text(step) if isinstance(step, str) else _call(step, most) for step in steps]


def _text(step: str) -> MimeBundle:
    return MimeBundle(answer_html(to_html(step)), with_fence_closed(to_markdown(step)), to_plain(step))


def _call(step: CallShown, most: int) -> MimeBundle:
    page = f'<div class="jctx-call" style="{NOTE_STYLE};{QUIET}">{summary_html(step.line, step.parts, most)}</div>'
    return MimeBundle(page, note_markdown(step.line), note_plain(step.line))
