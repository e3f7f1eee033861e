"""The functions that a model called for an answer: one folded line each, between what it wrote before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..text import NOTE_STYLE, QUIET, markdown_line, note_plain, to_plain
from .attachment_summary import MOST_IN_TABLE, MOST_SENT_TEXT, AttachmentSummary, summary_html
from .markdown import MimeBundle, answer_html, to_html, to_markdown, with_fence_closed

CALLING = "Calling"
MOST_GROWING = 500  # characters of a text while the answer grows: every update carries them again


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
    return MimeBundle(page, f"> **[ctx]** {markdown_line(step.line)}", note_plain(step.line))
