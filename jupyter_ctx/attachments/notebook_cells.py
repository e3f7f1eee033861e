"""Cells of a notebook with what they showed, as text: those of a file, and those that ran, in the room they share."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..context.summary_facts import fenced
from ..context.vision import image_size
from ..conversation.messages import Attachment
from ..conversation.text_safety import clean
from ..errors import ChatError, InvalidRequestError
from ..runtime.redaction import Redactor
from ..wording import counted
from .attached import Attached, TextRoom, about_tokens, attached_redacted
from .images import as_attachment, modest
from .printing import text_in

ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
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
        cells = [
            RanCell(0, _joined(cell["source"]), tuple(cell.get("outputs", ())), is_text=cell["cell_type"] != "code")
            for cell in json.loads(data)["cells"]
        ]
        return "\n\n".join(filter(None, (_Draft(cell).text for cell in cells)))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def output_text(outputs: Iterable[Mapping[str, Any]]) -> str:
    """Return what the outputs of a cell show; pictures are in it, in base64 between NULs."""
    text = ""
    for output in outputs:
        is_on_a_line = output["output_type"] == "stream" or not text or text.endswith("\n")
        text += ("" if is_on_a_line else "\n") + _output(output)
    return LONG_OUTPUT_LINE.sub(r"\1 … the rest of the line left out …", text.strip("\n"))


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


def shortened_lines(text: str, most: int) -> str:
    """Return a text with its first and last lines, ``most`` in all."""
    lines = text.split("\n")
    if len(lines) <= most:
        return text
    head, tail = lines[: (most + 1) // 2], lines[len(lines) - most // 2 :]
    return "\n".join([*head, f"… {counted(len(lines) - most, 'line')} left out …", *tail])


# cells that ran

NAMED_CELLS = re.compile(r"cells(?::(all)|:(\d+)(?:-(\d+))?)?|In\[(\d+):(\d+)\]")
CELLS_TITLE = "Cells of the notebook, in its order:\n\n"  # above the first, without numbers, which a restart changes
IMAGE_NAME = "cells"
MORE = "%chat config attach_share 0.3 sends more of cells"
# most lines of what a cell showed, and of its code; its pictures go in the first alone
DRAFTS = ((60, 100_000), (60, 400), (20, 400), (6, 400), (2, 40), (2, 8))
Sent = tuple[str, Sequence[Attachment]]  # the text and the files of one thing that went with a prompt


@dataclass(frozen=True, slots=True)
class RanCell:
    """A cell of the notebook that ran, or a Markdown cell.

    number: as the notebook shows it beside the cell; of Markdown, that of the cell below it, 0 for the chat cell
    code: as typed
    outputs: what it showed, as nbformat 4 writes it
    is_text: whether it is Markdown
    """

    number: int
    code: str
    outputs: tuple[Mapping[str, Any], ...] = ()
    is_text: bool = False

    @property
    def name(self) -> str:
        """The name that the user knows it by."""
        name = f"In[{self.number}]" if self.number else "this cell"
        return f"text above {name}" if self.is_text else name


def cells_named(word: str, ran: Sequence[Any], newest: Sequence[Any]) -> Sequence[Any]:
    """Return the cells that a word names, each of which has its number.

    ``cells`` are the ``newest``, those that ran since the last chat cell; ``cells:all`` are all that ``ran``,
    ``cells:3-7`` and ``In[3:8]`` those with the numbers 3 to 7. Raises InvalidRequestError for other words and numbers.
    """
    named = NAMED_CELLS.fullmatch(word)
    if named is None:
        raise InvalidRequestError(f"-a {word}: write cells, cells:all, cells:3-7 or In[3:8]. Nothing was sent.")
    everything, first_number, last_number, start, stop = named.groups()
    if not (first_number or start):
        return ran if everything else newest
    first = int(first_number or start)
    last = int(stop) - 1 if stop else int(last_number or first_number)
    if first > last:
        raise InvalidRequestError(f"-a {word}: {first} comes after {last}. Nothing was sent.")
    cells = [cell for cell in ran if first <= cell.number <= last]
    if not cells:
        raise InvalidRequestError(f"-a {word}: no such cell ran above, chat cells aside. Nothing was sent.")
    return cells


@dataclass
class _Draft:
    """A cell with the lines that go of it."""

    cell: RanCell
    level: int = 0
    tokens: float = 0.0

    def __post_init__(self) -> None:
        self.output = output_text(self.cell.outputs)

    @property
    def text(self) -> str:
        """The cell as it goes, with its pictures in base64."""
        most_output, most_code = DRAFTS[self.level]
        code, output = shortened_lines(self.cell.code, most_code), shortened_lines(self.output, most_output)
        if self.cell.is_text:
            return code if code.strip() else ""
        fence, _, inside = fenced(code).partition("\n")
        parts = [f"{fence}python\n{inside}"] if code.strip() else []
        parts += [f"Output:\n{fenced(output)}"] if output.strip() else []
        return "\n\n".join(parts)

    @property
    def is_whole(self) -> bool:
        """Whether no line of it is left out."""
        most_output, most_code = DRAFTS[self.level]
        return self.output.count("\n") < most_output and self.cell.code.count("\n") < most_code


def attached_cells(
    cells: Sequence[RanCell], room: TextRoom, redactor: Redactor, sent: Iterable[Sent] = ()
) -> tuple[Attached, ...]:
    """Return cells as they go with a prompt, in the same order, all of them in the room of one attachment.

    Those that were ``sent`` and have not changed do not go again.

    Where they do not fit, pictures stay out, then outputs are shortened before code, and those of older cells before
    newer ones; the oldest cells stay out where that is not enough. The newest of all, and one picture, go in any case.
    """
    known = {
        IMAGE_MARK.sub(NO_IMAGE, text).removeprefix(CELLS_TITLE): {file.data for file in files} for text, files in sent
    }
    drafts = [draft for draft in map(_Draft, cells) if not _is_sent(draft, room, redactor, known)]
    room = room.for_data()
    fitting, found = _fitted(drafts, room.tokens - room.count(CELLS_TITLE), room), list[Attached]()
    drawn = [draft for draft in fitting if _PICTURE.search(draft.output)]
    for draft in fitting:
        redactor.blanked, before = 0, sum(len(part.files) for part in found)
        most = int(draft in drawn[-1:]) if draft.level else MOST_OUTPUT_IMAGES
        text, files, _ = with_images(draft.text, IMAGE_NAME, room, most, before)
        unsent = draft.text.count("\0") // 2 - len(files)
        parts = ["shortened"] * (not draft.is_whole) + [f"without {counted(unsent, 'picture')}"] * bool(unsent)
        what = ", ".join([*parts, about_tokens(draft.tokens)])
        found.append(attached_redacted(draft.cell.name, redactor.masked(text), redactor, files, what))
    if not found:
        return ()
    left_out = len(drafts) - len(fitting)
    lines = (f"{counted(left_out, 'older cell')} did not fit.",) if left_out else ()
    found[0] = replace(found[0], text=f"{CELLS_TITLE}{found[0].text}", notices=(*found[0].notices, *lines))
    if left_out or any(draft.level and not draft.is_whole for draft in fitting):
        found[-1] = replace(found[-1], more=MORE)
    return tuple(found)


def _is_sent(draft: _Draft, room: TextRoom, redactor: Redactor, known: Mapping[str, set[bytes]]) -> bool:
    """Return whether a cell is known in any of its drafts, and still has the pictures that went with it."""
    for draft.level in range(len(DRAFTS) if known else 0):
        text = clean(redactor.masked(_PICTURE.sub(NO_IMAGE, draft.text)))
        images = known.get(IMAGE_MARK.sub(NO_IMAGE, text))
        if images is not None:
            return not images or images <= {file.data for file in with_images(draft.text, IMAGE_NAME, room)[1]}
    draft.level = 0
    return False


def _fitted(drafts: Sequence[_Draft], most: float, room: TextRoom) -> Sequence[_Draft]:
    """Return the cells that fit in so many tokens, each with as many lines as fit."""
    for level in range(len(DRAFTS)):
        for draft in drafts:  # the oldest first
            if level == 0 or sum(each.tokens for each in drafts) > most:
                draft.level = level
                draft.tokens = room.count(_PICTURE.sub(NO_IMAGE, draft.text))
                for width, height, _ in () if level else map(_read_picture, _PICTURE.findall(draft.text)):
                    draft.tokens += room.vision.tokens(width, height)
    while len(drafts) > 1 and sum(each.tokens for each in drafts) > most:
        drafts = drafts[1:]
    return drafts
