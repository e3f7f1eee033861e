"""Cells that ran in the notebook as they go with a prompt: which of them, shortened to the room that they share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar

from ..conversation.messages import Message
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
    with_images,
    without_pictures,
)  # fmt: skip
from .values import about_tokens

NAMED_CELLS = re.compile(
    r"cells(?::(?P<all>all)|:(?P<first>\d+)(?:-(?P<last>\d+))?)?|In\[(?P<start>\d+):(?P<stop>\d+)\]"
)
CELL_TITLE = "A cell of the notebook"  # without its number, which a restart changes
IMAGE_NAME = "cells"


class CellLines(NamedTuple):
    """How many lines of a cell go, at most."""

    output: int
    code: int


DRAFTS = tuple(CellLines(*lines) for lines in ((60, 400), (20, 400), (6, 400), (2, 400), (2, 40), (2, 8)))


@dataclass(frozen=True, slots=True)
class RanCell:
    """A cell of the notebook that ran.

    number: as the notebook shows it beside the cell
    code: as typed
    outputs: what it showed, as nbformat 4 writes it
    """

    number: int
    code: str
    outputs: tuple[Mapping[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """The name that the user knows it by."""
        return f"In[{self.number}]"


class Numbered(Protocol):
    """What has the number that the notebook shows beside a cell."""

    @property
    def number(self) -> int: ...  # noqa: D102


C = TypeVar("C", bound=Numbered)


def cells_named(word: str, ran: Sequence[C], newest: Sequence[C]) -> Sequence[C]:
    """Return the cells that a word names.

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
        way = f"Write cells:{last}-{first}. Nothing was sent."
        raise InvalidRequestError(f"-a {word}: {first} comes after {last}. {way}")
    cells = [cell for cell in ran if first <= cell.number <= last]
    if not cells:
        numbers = [cell.number for cell in ran]
        there = f"There are {min(numbers)} to {max(numbers)}." if numbers else "None has run yet."
        raise InvalidRequestError(f"-a {word}: no cell with such a number is known. {there} Nothing was sent.")
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
        return "\n\n".join([f"{CELL_TITLE}:", *code_cell(self.cell.code, self.output, most.output, most.code)])

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
    cells: Sequence[RanCell], room: TextRoom, redactor: Redactor, sent: Sequence[Message] = ()
) -> tuple[Attached, ...]:
    """Return cells as they go with a prompt, in the same order, all of them in the room of one attachment.

    Those that went with ``sent`` messages and have not changed do not go again.

    Where they do not fit, outputs are shortened before code and those of older cells before newer ones; the oldest
    cells stay out where that is not enough. Pictures take what room is left, the newest first; the newest of all goes
    in any case.
    """
    drafts = [_Draft(cell) for cell in cells]
    if sent:
        texts = "\n".join(IMAGE_MARK.sub(NO_IMAGE, message.content) for message in sent)
        images = {file.data for message in sent for file in message.attachments}
        drafts = [draft for draft in drafts if not _is_sent(draft, room, redactor, texts, images)]
    room = room.for_data()
    fitting, found, before = _shortened(drafts, room), list[Attached](), 0
    for draft, most in zip(fitting, _images(fitting, room), strict=True):
        part = _attached(draft, room, redactor, most, before)
        before += len(part.files)
        found.append(part)
    left_out = len(drafts) - len(fitting)
    if left_out:
        line = f"{counted(left_out, 'older cell')} did not fit: %chat config attach_share 0.3 gives cells more room."
        found[0] = replace(found[0], notices=(*found[0].notices, line))
    return tuple(found)


def _is_sent(draft: _Draft, room: TextRoom, redactor: Redactor, texts: str, images: set[bytes]) -> bool:
    """Return whether a cell stands in texts, in any of its drafts, with its pictures among ``images``."""
    blanked = Blanks(redactor)
    for draft.level in range(len(DRAFTS)):
        if blanked(without_pictures(draft.text)) in texts:
            files = with_images(draft.text, IMAGE_NAME, room)[1]
            return not files or any(file.data in images for file in files)
    return False


def _shortened(drafts: Sequence[_Draft], room: TextRoom) -> Sequence[_Draft]:
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
