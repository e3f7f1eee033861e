"""Cells that ran in the notebook as they go with a prompt: which of them, shortened to the room that they share."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..conversation.messages import Attachment
from ..errors import InvalidRequestError
from ..runtime.redaction import Redactor
from ..wording import counted
from .attached import Attached, Blanks, TextRoom
from .notebook_files import (
    IMAGE_MARK,
    NO_IMAGE,
    code_cell,
    output_text,
    pictures_in_text,
    shortened_lines,
    with_images,
    without_pictures,
)  # fmt: skip
from .values import about_tokens

NAMED_CELLS = re.compile(
    r"cells(?::(?P<all>all)|:(?P<first>\d+)(?:-(?P<last>\d+))?)?|In\[(?P<start>\d+):(?P<stop>\d+)\]"
)
CELLS_TITLE = (
    "Cells of the notebook, in its order:\n\n"  # above the first of them, without numbers, which a restart changes
)
IMAGE_NAME = "cells"
Sent = tuple[str, Sequence[Attachment]]  # the text and the files of one thing that went with a prompt


MORE = "%chat config attach_share 0.3 sends more of cells"
MOST_CELL_NUMBERS = 12  # numbers of cells in an error


class CellLines(NamedTuple):
    """How many lines of a cell go, at most."""

    output: int
    code: int


DRAFTS = tuple(CellLines(*lines) for lines in ((60, 400), (20, 400), (6, 400), (2, 400), (2, 40), (2, 8)))


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
    if named["all"]:
        return ran
    if named["first"]:
        first, last = int(named["first"]), int(named["last"] or named["first"])
    elif named["start"]:
        first, last = int(named["start"]), int(named["stop"]) - 1
    else:
        return newest
    if first > last:
        raise InvalidRequestError(f"-a {word}: {first} comes after {last}. Nothing was sent.")
    cells = [cell for cell in ran if first <= cell.number <= last]
    if not cells:
        numbers = ", ".join(str(cell.number) for cell in ran[-MOST_CELL_NUMBERS:])
        there = f"There are {numbers}" if numbers else "None has run yet"
        not_these = "chat cells, and cells of %chat lines alone, do not count"
        raise InvalidRequestError(f"-a {word}: no such cell ran above. {there}; {not_these}. Nothing was sent.")
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
        most = DRAFTS[self.level]
        if self.cell.is_text:
            return shortened_lines(self.cell.code, most.code)
        return "\n\n".join(code_cell(self.cell.code, self.output, most.output, most.code))

    @property
    def is_whole(self) -> bool:
        """Whether no line of it is left out."""
        most = DRAFTS[self.level]
        return self.output.count("\n") < most.output and self.cell.code.count("\n") < most.code

    def shorten(self, level: int, room: TextRoom) -> None:
        """Leave out more lines, and measure what is left."""
        self.level = level
        self.tokens = room.count(without_pictures(self.text))


def attached_cells(
    cells: Sequence[RanCell], room: TextRoom, redactor: Redactor, sent: Iterable[Sent] = ()
) -> tuple[Attached, ...]:
    """Return cells as they go with a prompt, in the same order, all of them in the room of one attachment.

    Those that were ``sent`` and have not changed do not go again.

    Where they do not fit, outputs are shortened before code and those of older cells before newer ones; the oldest
    cells stay out where that is not enough. Pictures take what room is left, the newest first; the newest of all goes
    in any case.
    """
    known = {
        IMAGE_MARK.sub(NO_IMAGE, text).removeprefix(CELLS_TITLE): {file.data for file in files} for text, files in sent
    }
    drafts = [draft for draft in map(_Draft, cells) if not _is_sent(draft, room, redactor, known)]
    room = room.for_data()
    room = replace(room, tokens=max(0, room.tokens - math.ceil(room.count(CELLS_TITLE))))
    fitting, found, before = _fitted(drafts, room), list[Attached](), 0
    for draft, most in zip(fitting, _images(fitting, room), strict=True):
        part = _attached(draft, room, redactor, most, before)
        before += len(part.files)
        found.append(part)
    left_out = len(drafts) - len(fitting)
    if left_out:
        line = f"{counted(left_out, 'older cell')} did not fit."
        found[0] = replace(found[0], notices=(*found[0].notices, line))
    if left_out or any(draft.level and not draft.is_whole for draft in fitting):
        found[-1] = replace(found[-1], more=MORE)
    if found:
        found[0] = replace(found[0], text=f"{CELLS_TITLE}{found[0].text}")
    return tuple(found)


def _is_sent(draft: _Draft, room: TextRoom, redactor: Redactor, known: Mapping[str, set[bytes]]) -> bool:
    """Return whether a cell is known in any of its drafts, and still has the pictures that went with it."""
    blanked = Blanks(redactor)
    for draft.level in range(len(DRAFTS) if known else 0):
        images = known.get(IMAGE_MARK.sub(NO_IMAGE, blanked(without_pictures(draft.text))))
        if images is not None:
            return not images or images <= {file.data for file in with_images(draft.text, IMAGE_NAME, room)[1]}
    draft.level = 0
    return False


def _fitted(drafts: Sequence[_Draft], room: TextRoom) -> Sequence[_Draft]:
    """Return the cells that fit, each with as many lines as fit."""
    for level in range(len(DRAFTS)):
        for draft in drafts:  # the oldest first
            if level == 0 or sum(each.tokens for each in drafts) > room.tokens:
                draft.shorten(level, room)
    start = 0
    while start < len(drafts) - 1 and sum(each.tokens for each in drafts[start:]) > room.tokens:
        start += 1
    return drafts[start:]


def _images(drafts: Sequence[_Draft], room: TextRoom) -> list[int]:
    """Return how many pictures of each cell go as images."""
    left = room.tokens - sum(draft.tokens for draft in drafts)
    counts = list[int]()
    for draft in reversed(drafts):
        count = 0
        for width, height in pictures_in_text(draft.text):
            tokens = room.vision.tokens(width, height)
            if tokens > left and any([*counts, count]):
                break
            left -= tokens
            count += 1
        counts.append(count)
    return counts[::-1]


def _attached(draft: _Draft, room: TextRoom, redactor: Redactor, images: int, before: int) -> Attached:
    """Return a cell as it goes with a prompt, ``images`` of its pictures as such."""
    blanked = Blanks(redactor)
    text, files, _ = with_images(draft.text, IMAGE_NAME, room, images, before)
    parts = [] if draft.is_whole else ["shortened"]
    unsent = len(pictures_in_text(draft.text)) - len(files)
    parts += [f"without {counted(unsent, 'picture')}"] if unsent else []
    what = ", ".join([*parts, about_tokens(draft.tokens)])
    return Attached(draft.cell.name, blanked(text), files, what, notices=blanked.notices(draft.cell.name))
