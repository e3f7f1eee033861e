"""A notebook's cells as text: in order, with what they printed, returned and raised, and no other data."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from ..context.summary_facts import fenced
from ..context.vision import image_size
from ..conversation.messages import Attachment
from ..errors import ChatError
from ..wording import counted
from .attached import TextRoom
from .media import as_attachment, modest
from .rich_text import text_in

ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
OUTPUT_LINES = 60  # of one output: the first and the last are kept
LONG_OUTPUT_LINE = re.compile(r"^([^\n\0]{2000})[^\n\0]+", re.MULTILINE)  # of which only the beginning is kept
MOST_OUTPUT_IMAGES = 10  # that go as images
PICTURE_FORMS = ("image/png", "image/jpeg")
_PICTURE = re.compile("\0(.*?)\0")
NO_IMAGE, IMAGE_MARK = "[image]", re.compile(r"\[image\b[^\[\]\n]*\]")  # what stands in place of a picture
WIDGETS = "application/vnd.jupyter.widget-view+json"


def notebook_text(data: str) -> str | None:
    """Return the cells of a notebook in nbformat 4; ``None``: the text is no notebook.

    Metadata, ids, widgets and numbers of cells are left out. Pictures are still in it, in base64 between NULs.
    """
    try:
        return "\n\n".join(part for cell in json.loads(data)["cells"] for part in _cell(cell))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _cell(cell: Mapping[str, Any]) -> Iterator[str]:
    source = _joined(cell["source"])
    if cell["cell_type"] == "code":
        yield from code_cell(source, output_text(cell.get("outputs", ())))
    elif source.strip():
        yield source


def code_cell(source: str, output: str, most_output: int = OUTPUT_LINES, most_code: int | None = None) -> Iterator[str]:
    """Yield a cell's code and what it showed, each in a fence, with so many lines at most; nothing of what is empty."""
    if source.strip():
        fence, _, code = fenced(shortened_lines(source, most_code)).partition("\n")
        yield f"{fence}python\n{code}"
    if output.strip():
        yield f"Output:\n{fenced(shortened_lines(output, most_output))}"


def output_text(outputs: Iterable[Mapping[str, Any]]) -> str:
    """Return what the outputs of a cell show; pictures are in it, in base64 between NULs."""
    text = ""
    for output in outputs:
        is_on_a_line = output["output_type"] == "stream" or not text or text.endswith("\n")
        text += ("" if is_on_a_line else "\n") + _output(output)
    return LONG_OUTPUT_LINE.sub(_cut, text.strip("\n"))


def _cut(line: re.Match[str]) -> str:
    return f"{line[1]} … {counted(line.end() - line.end(1), 'character')} left out …"


def _output(output: Mapping[str, Any]) -> str:
    """Return what an output shows; a picture as a line in base64 between NULs."""
    if output["output_type"] == "stream":
        lines = ANSI.sub("", _joined(output.get("text", ""))).split("\n")
        return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)  # as a bar of progress ends
    if output["output_type"] == "error":
        return f"{output.get('ename')}: {output.get('evalue')}\n"
    data = output.get("data", {})
    if WIDGETS in data:
        return ""
    forms = {name: _joined(form) for name, form in data.items() if isinstance(form, str | list)}
    picture = next((forms[name] for name in PICTURE_FORMS if name in forms), None)
    if picture is not None:
        return f"\0{''.join(picture.split())}\0\n"
    return f"{text_in(forms)}\n"


def without_pictures(text: str) -> str:
    """Return the text of cells with a word in place of each picture."""
    return _PICTURE.sub(NO_IMAGE, text)


def pictures_in_text(text: str) -> list[tuple[int, int]]:
    """Return the width and the height of each picture in the text of cells, in pixels; 0 where it cannot be read."""
    return [picture[:2] for picture in map(_read_picture, _PICTURE.findall(text))]


def with_images(
    text: str, name: str, room: TextRoom, most: int = MOST_OUTPUT_IMAGES, before: int = 0
) -> tuple[str, tuple[Attachment, ...], str]:
    """Return a notebook's text with its first pictures as images, where the model reads them, and what they are.

    ``most``: how many go as images; ``before``: how many of the same name went already, by which they are numbered.
    """
    files, pictures = list[Attachment](), _PICTURE.findall(text)
    most = most if pictures and room.reads_images() else 0

    def place(picture: re.Match[str]) -> str:
        width, height, data = _read_picture(picture[1])
        number = before + len(files) + 1
        with suppress(ChatError):  # one that cannot be made small enough
            if width and len(files) < most:
                image = modest(name, data, room.vision.drawn)
                files.append(as_attachment(f"image {number} of {name}", image))
                return f"[image {number}: {name}, {image.size}]"
        return f"[image, {width:,} × {height:,} pixels]" if width else NO_IMAGE

    text = _PICTURE.sub(place, text)
    first = f"the first {len(files)} of its " if len(files) < len(pictures) else ""
    what = f", and {first}{counted(len(pictures), 'image')}" if files else ""
    return text, tuple(files), f"its cells with their outputs as text{what}"


def _read_picture(encoded: str) -> tuple[int, int, bytes]:
    with suppress(ValueError):
        data = b64decode(encoded)
        return (*image_size(data), data)
    return 0, 0, b""


def _joined(lines: Any) -> str:
    return lines if isinstance(lines, str) else "".join(lines)


def shortened_lines(text: str, most: int | None) -> str:
    """Return a text with its first and last lines, ``most`` in all."""
    lines = text.split("\n")
    if most is None or len(lines) <= most:
        return text
    head, tail = lines[: (most + 1) // 2], lines[len(lines) - most // 2 :]
    return "\n".join([*head, f"… {counted(len(lines) - most, 'line')} left out …", *tail])
