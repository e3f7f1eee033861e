"""A prompt as it is handed in, by a script or by a cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal

from ..attachments.attached import Attached, with_attached
from ..attachments.files import attached_file
from ..conversation.events import Said
from ..conversation.messages import Turn, TurnRecord
from ..conversation.schema import Schema
from ..conversation.text_safety import checked
from ..errors import InvalidRequestError
from ..runtime.files import path_of


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked, which cell asks, and how to answer.

    text: the prompt, without the files that go with it.
    options: settings for this request alone; ``None`` leaves one as it is.
    attachments: what goes with it, files as paths.
    cell, run, execution: the notebook's cell, this execution of it, and the number that it shows.
    source: a fingerprint of the cell's text.
    append: add a turn instead of replacing the one that the cell has.
    new: begin the conversation anew with this turn.
    record: send the conversation, and keep the turn in it.
    stored: which stored answers will do: the cell's own from before a restart, or all of this user's.
    schema: what the answer must be; ``None``: text.

    Raises InvalidRequestError for a text that providers refuse.
    """

    text: str
    options: Mapping[str, Any] = field(default_factory=dict)
    attachments: str | PathLike[str] | Iterable[str | PathLike[str] | Attached] = ()
    cell: str | None = None
    run: str | None = None
    execution: int | None = None
    source: str | None = None
    append: bool = False
    new: bool = False
    record: bool = True
    stored: Literal["cell", "all"] | None = None
    schema: Schema | None = None

    def __post_init__(self) -> None:
        checked(self.text)
        if self.stored not in (None, "cell", "all"):
            raise InvalidRequestError(f"stored is {self.stored!r}: it must be 'cell', 'all' or None.")

    def said(self) -> Said:
        """Return the event of a turn without its answer; the attached files are read. Raises InvalidRequestError."""
        attached = tuple(dict.fromkeys(self._attached()))  # what is named twice goes once
        text, files = with_attached(self.text, attached)
        sources = tuple(each.said for each in attached)
        asked = TurnRecord(
            cell=self.cell, run=self.run, execution=self.execution, source=self.source, sources=sources,
            typed=len(self.text) if len(text) > len(self.text) else None,
        )  # fmt: skip
        return Said(Turn(checked(text), attachments=files, record=asked), self.append, self.new)

    def _attached(self) -> Iterator[Attached]:
        """Yield what goes with the prompt; one path alone is one file."""
        given = self.attachments
        try:
            for each in [given] if isinstance(given, str | PathLike) else given:
                yield each if isinstance(each, Attached) else attached_file(path_of(each))
        except TypeError:
            raise InvalidRequestError(f"attachments is {given!r}: it must be paths of files.") from None
