"""What prompts were sent with, as a page shows it: parts, calls, small pictures, and tables of turns."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import lru_cache
from io import BytesIO

from .. import wording as words_of
from ..context.vision import image_size
from ..conversation.messages import Attachment, ToolCall, ToolResult, ToolRound
from ..display.answer.attachment_summary import (
    AnswerStep,
    AttachmentSummary,
    CallShown,
    summary_bundle,
    table_with_parts,
)
from ..display.answer.footer import in_seconds
from ..display.tables import first_words, shortened, table
from ..display.text import WRAPS, text_bundle, text_html
from ..display.widgets.gauge import bar_static, share_of, text_bar
from ..session.attaching import Along
from ..session.preview import Replayed, TableWithParts
from ..session.view import PART_MARK

FENCE = "```"  # around each text but the lines that only name images and PDFs to the model
_MOST_CALL = 100  # characters of a call in its line
_EDGE = 240  # pixels, so that they are sharp on a dense screen, too
_MOST_BYTES = 11_000  # 15 kB as an address
_MOST_PIXELS = 40_000_000  # that are read for a small picture
_REPLAY_HEAD = ("turn", "context", "tokens", "share", "what happened")
_BAR, _BAR_WIDTH = 1, "width:60px;width:clamp(60px,15vw,160px)"  # a sanitiser knows the first alone
_OMITTED = {"left out": "Left out:", "summarised": "A summary stands for", "excluded": "Excluded:"}
_MOST_UNFOLDED = 60_000  # characters of all messages


def attachment_summary(name: str, text: str, files: Sequence[Attachment], more: str = "") -> AttachmentSummary:
    """Return one thing that goes with a prompt, with small pictures of its images; ``text``, ``files``: as sent."""
    only_names = bool(files) and FENCE not in text
    return AttachmentSummary(name, "" if only_names else text, tuple(filter(None, map(thumbnail, files))), more)


def along_bundle(along: Along, *, plain: bool) -> dict[str, str]:
    """Return what goes with a prompt, as it is shown above the answer; ``plain``: as plain text alone."""
    parts = [attachment_summary(part.name, part.text, part.files, part.more) for part in along.parts]
    return summary_bundle(along.line, parts, plain=plain)


def call_line(call: ToolCall) -> str:
    """Return a call in one line."""
    return shortened(str(call), _MOST_CALL)


def call_shown(call: ToolCall, result: ToolResult) -> CallShown:
    """Return a call and what came of it, as a page shows them."""
    how_long = [] if result.seconds is None else [in_seconds(result.seconds)]
    came = ", ".join([shortened(result.brief, _MOST_CALL) or first_words(result.text), *how_long])
    line = f"{'✗ ' if result.failed else ''}{call_line(call)} → {came}"
    pictures = tuple(filter(None, map(thumbnail, result.attachments)))
    parts = (AttachmentSummary("arguments", call.arguments), AttachmentSummary("result", result.text, pictures))
    return CallShown(line, parts)


def steps_of(rounds: Iterable[ToolRound]) -> list[AnswerStep]:
    """Return what a model wrote and called before its answer, as a page shows it."""
    steps = list[AnswerStep]()
    for each in rounds:
        steps += [each.text] if each.text.strip() else []
        steps += map(call_shown, each.calls, each.results)
    return steps


@lru_cache(maxsize=128)  # tables of turns are drawn again and again
def thumbnail(file: Attachment) -> str:
    """Return an image that is sent, made small, as a ``data:`` address; empty where it cannot be shown."""
    width, height = image_size(file.data) if file.kind == "image" else (0, 0)
    if not 0 < width * height <= _MOST_PIXELS:
        return ""
    try:
        from PIL import Image, ImageOps

        with Image.open(BytesIO(file.data)) as image:
            small, made = ImageOps.exif_transpose(image).convert("RGBA"), BytesIO()
        small.thumbnail((_EDGE, _EDGE))
        small.save(made, format="WEBP", quality=50)
    except Exception:  # no Pillow, or an image that is cut off or odd: it goes without a picture
        return ""
    return f"data:image/webp;base64,{b64encode(made.getvalue()).decode()}" if made.tell() <= _MOST_BYTES else ""


def parts_bundle(shown: TableWithParts) -> dict[str, str]:
    """Return a table of messages as HTML, where their parts unfold, as Markdown and as plain text."""
    parts = {
        index: attachment_summary(part.line.removeprefix(PART_MARK), part.text, part.files)
        for index, part in shown.parts.items()
    }
    return table_with_parts(shown.head, shown.rows, shown.caption, parts)


def replay_bundle(steps: list[Replayed]) -> dict[str, str]:
    """Return the rows as HTML, where the messages of the newest turns unfold, as Markdown and as plain text."""
    if not steps:
        return text_bundle("No turn since the last clear was sent from here.")
    rows = [
        (f"{step.number}", text_bar(step.info), f"{step.info.used:,}", share_of(step.info), _happened(step))
        for step in steps
    ]
    drawn, left, happened = dict[tuple[int, int], str](), _MOST_UNFOLDED, len(_REPLAY_HEAD) - 1
    for index, step in reversed(list(enumerate(steps))):
        sent = "\n\n".join(f"{message.role}: {message.content}" for message in step.messages)
        left -= len(sent)
        unfolds = f'<details style="white-space:pre-wrap;{WRAPS}"><summary>what was sent</summary>{text_html(sent)}'
        drawn[index, _BAR] = bar_static(step.info, _BAR_WIDTH)
        drawn[index, happened] = text_html(rows[index][-1]) + (f"{unfolds}</details>" if sent and left >= 0 else "")
    return table(_REPLAY_HEAD, rows, "What was sent, turn by turn", drawn)


def _happened(step: Replayed) -> str:
    """Return what a request lacks, and what stands in its place."""
    omitted = {name: [at for at, state in enumerate(step.states, 1) if state == name] for name in _OMITTED}
    return " ".join(f"{_OMITTED[name]} {words_of.named_turns(turns)}." for name, turns in omitted.items() if turns)
