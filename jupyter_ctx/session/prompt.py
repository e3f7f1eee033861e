"""A prompt as it is handed in, by a script or by a cell, and the room for what goes with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, get_args

from ..attachments.attached import MOST_SHARE, Attached, TextRoom, extents, with_attached
from ..attachments.attached_files import parts_given
from ..config.settings import Settings
from ..context.vision import vision_of
from ..conversation.events import Said
from ..conversation.messages import Turn, TurnRecord
from ..conversation.schema import Schema
from ..conversation.text_safety import checked
from ..errors import InvalidRequestError
from ..models.registry import Models
from ..runtime.redaction import Redactor

FromStore = Literal["cell", "all", "handed"]  # which stored answers will do
OF_A_CELL = frozenset({"cell", "run", "execution", "source", "append", "new", "record", "stored"})


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked, which cell asks, and how to answer.

    text: the prompt, without the files that go with it.
    options: settings for this request alone; ``None`` leaves one as it is.
    attachments: what goes with it.
    cell, run, execution: the notebook's cell, this execution of it, and the number that it shows.
    source: a fingerprint of the cell's text.
    append: add a turn instead of replacing the one that the cell has.
    new: begin the conversation anew with this turn.
    record: send the conversation, and keep the turn in it.
    stored: which stored answers will do: the cell's own from before a restart, all of this user's, or only those
        handed out with the notebook, which do beside the others, too.
    schema: what the answer must be; ``None``: text.

    Raises InvalidRequestError for a text that providers refuse.
    """

    text: str
    options: Mapping[str, Any] = field(default_factory=dict)
    attachments: tuple[Attached, ...] = ()
    cell: str | None = None
    run: str | None = None
    execution: int | None = None
    source: str | None = None
    append: bool = False
    new: bool = False
    record: bool = True
    stored: FromStore | None = None
    schema: Schema | None = None

    @classmethod
    def of(cls, text: str, schema: Any, options: Mapping[str, Any]) -> Prompt:
        """Return a prompt whose ``options`` are settings, and other fields by their names."""
        names = OF_A_CELL & options.keys()
        own = {name: options[name] for name in names}
        settings = {name: value for name, value in options.items() if name not in names}
        return cls(text, settings, schema=None if schema is None else Schema.of(schema), **own)

    def __post_init__(self) -> None:
        checked(self.text)
        if self.stored not in (None, *get_args(FromStore)):
            raise InvalidRequestError(f"stored is {self.stored!r}: it must be 'cell', 'all', 'handed' or None.")

    def said(self) -> Said:
        """Return the event of a turn without its answer. Raises InvalidRequestError."""
        attached = tuple(dict.fromkeys(self.attachments))  # what is named twice goes once
        text, files = with_attached(self.text, attached)
        sources = tuple(each.said for each in attached)
        asked = TurnRecord(
            cell=self.cell, run=self.run, execution=self.execution, source=self.source, sources=sources,
            typed=len(self.text) if len(text) > len(self.text) else None, extents=extents(attached),
        )  # fmt: skip
        return Said(Turn(checked(text), attachments=files, record=asked), self.append, self.new)


USUAL_SHARE = 0.1  # of the limit
USUAL_DATA = 8_000  # tokens of a table, which each later turn sends again


def text_room(models: Models, settings: Settings, among: int = 1) -> TextRoom:
    """Return how much room one of so many attached things may take; together they take half of the limit at most.

    The same value in the same room becomes the same text, so that the stored answer to it is found again: the room
    depends on the settings and the model's name alone.
    """
    limit, count = models.by_name(settings)
    share = USUAL_SHARE if settings.attach_share is None else settings.attach_share
    share = share if among < 2 else min(share, MOST_SHARE / among)
    most_data = USUAL_DATA if settings.attach_share is None else None
    reads_images = partial(models.reads_images, settings)
    return TextRoom(round(share * limit), count, most_data, vision_of(settings.model), reads_images)


def attached_parts(given: Any, room: Callable[[int], TextRoom], redactor: Redactor) -> tuple[Attached, ...]:
    """Return paths and values as attached things, files read; ``room`` is that of one of so many.

    Raises InvalidRequestError.
    """
    among = len(given) if type(given) in (list, tuple, dict) else 1

    def attach(name: str, value: Any) -> Attached:
        from ..attachments.attached_values import attached_value

        return attached_value(name, value, room(among), redactor)

    return parts_given(given, attach)
