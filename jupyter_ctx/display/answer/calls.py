"""The functions that a model called for an answer: one folded line each, between what it wrote before and after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def steps_html(steps: Sequence[AnswerStep], *, is_growing: bool = False) -> str:
    """Return steps as HTML; of many long results each shows less, and of one that will be drawn again, little."""
    most = min(MOST_SENT_TEXT, MOST_IN_TABLE // max(1, len(steps)))
    most = min(most, MOST_GROWING) if is_growing else most
    return "".join(
        answer_html(to_html(step)) if isinstance(step, str) else
        f'<div class="jctx-call" style="{NOTE_STYLE};{QUIET}">{summary_html(step.line, step.parts, most)}</div>'
        for step in steps
    )  # fmt: skip


def steps_plain(steps: Iterable[AnswerStep]) -> list[str]:
    """Return steps as plain text, a paragraph or line each; no answer can imitate the line of a call."""
    return [to_plain(step) if isinstance(step, str) else note_plain(step.line) for step in steps]


def with_steps(steps: Sequence[AnswerStep], answer: str | MimeBundle) -> MimeBundle:
    """Return an answer with the steps before it in Markdown and as plain text; its HTML has none."""
    forms = MimeBundle.of(answer)
    lines = [
        with_fence_closed(to_markdown(step)) if isinstance(step, str) else f"> **[ctx]** {markdown_line(step.line)}"
        for step in steps
    ]
    return MimeBundle(
        forms.html,
        "\n\n".join(filter(None, [*lines, forms.markdown])),
        "\n".join(filter(None, [*steps_plain(steps), forms.plain])),
        forms.beside_text,
    )
