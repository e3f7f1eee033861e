"""What went with a prompt, and what a model called, as a page shows them: parts, with small pictures of images."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import lru_cache
from io import BytesIO

from ..attachments.images import IMAGE_TYPES, media_type_of, of_pil
from ..context.vision import image_size
from ..conversation.messages import Attachment, ToolCall, ToolResult, ToolRound
from ..display.answer.attachment_summary import AttachmentSummary, summary_bundle
from ..display.answer.calls import AnswerStep, CallShown
from ..display.answer.footer import in_seconds
from ..display.tables import first_words, shortened
from ..session.attaching import Along

FENCE = "```"  # around each text but the lines that only name images and PDFs to the model
_MOST_CALL = 100  # characters of a call in its line
_EDGE = 240  # pixels, so that they are sharp on a dense screen, too
_MOST_BYTES = 11_000  # 15 kB as an address
_MOST_PIXELS = 40_000_000  # that are read for a small picture


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
    parts = (AttachmentSummary("arguments", _laid_out(call)), AttachmentSummary("result", result.text, pictures))
    return CallShown(line, parts)


def _laid_out(call: ToolCall) -> str:
    """Return the arguments of a call, one a line where they are long; nothing where there are none."""
    try:
        given = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call.arguments
    line = json.dumps(given, ensure_ascii=False) if given else ""
    return line if len(line) <= _MOST_CALL else json.dumps(given, ensure_ascii=False, indent=1)


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
        from PIL import Image
    except ImportError:
        return _address(media_type_of(file.data), file.data)
    try:
        with Image.open(BytesIO(file.data)) as image:
            small = of_pil(file.name, image, _EDGE, _MOST_BYTES)
    except Exception:  # whatever Pillow raises for an image that is cut off or odd: it goes without a picture
        return ""
    return _address(small.media_type, small.data)


def _address(media_type: str | None, data: bytes) -> str:
    if media_type not in IMAGE_TYPES or len(data) > _MOST_BYTES:
        return ""
    return f"data:{media_type};base64,{b64encode(data).decode()}"
