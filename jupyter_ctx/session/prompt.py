"""What is asked: a prompt with what goes with it, and the system prompt and memory file of every request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..attachments.attached import MOST_SHARE, Attached, TextRoom, with_attached
from ..config.settings import Settings
from ..context.vision import vision_of
from ..conversation.events import TurnAdded
from ..conversation.messages import Turn, TurnRecord
from ..conversation.schema import Schema
from ..conversation.text_safety import checked, clean
from ..errors import InvalidRequestError
from ..models.registry import Models
from ..runtime.files import reason_of
from ..runtime.redaction import Redactor

if TYPE_CHECKING:
    from ..tools.functions import Tool

DEFAULT_MEMORY = "preferences.md"  # beside the notebook
FromStore = Literal["cell", "all", "handed"]  # which stored answers will do
CELL_SETTINGS = frozenset({"cell", "run", "execution", "source", "append", "new", "record", "stored"})


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
    tools: functions that the model may call; ``None``: those of the settings.
    confirm, ask_always: who is asked about a call, and whether before each one; see
        :class:`~jupyter_ctx.tools.rounds.ToolCaller`.
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
    tools: tuple[Tool, ...] | None = None
    confirm: Callable[[str], bool | None] | None = None
    ask_always: bool = False

    @classmethod
    def of(cls, text: str, schema: Any, options: Mapping[str, Any]) -> Prompt:
        """Return a prompt whose ``options`` are settings, and other fields by their names."""
        names = CELL_SETTINGS & options.keys()
        own = {name: options[name] for name in names}
        settings = {name: value for name, value in options.items() if name not in names}
        return cls(text, settings, schema=None if schema is None else Schema.of(schema), **own)

    def said(self, settings: dict[str, Any] | None = None) -> TurnAdded:
        """Return the event of a turn without its answer; ``settings`` were set before. Raises InvalidRequestError."""
        attached = tuple(dict.fromkeys(self.attachments))  # what is named twice goes once
        text, files = with_attached(checked(self.text), attached)
        asked = TurnRecord(
            cell=self.cell, run=self.run, execution=self.execution, source=self.source,
            sources=tuple(each.said for each in attached), settings=settings,
            typed=len(self.text) if len(text) > len(self.text) else None,
            extents=tuple((len(each.text), len(each.files)) for each in attached),
        )  # fmt: skip
        return TurnAdded(Turn(checked(text), attachments=files, record=asked), self.append, self.new)


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
    from ..attachments.attached_values import attached_value, parts_given

    among = len(given) if type(given) in (list, tuple, dict) else 1
    return parts_given(given, partial(attached_value, room=room(among), redactor=redactor))


# what every request begins with


def joined_system(system: str, memory_file: Path | None) -> str:
    """Return the system prompt, read from its file where a line ``@PATH`` names one, with the memory file's text.

    Raises InvalidRequestError for a file that cannot be read.
    """
    text, memory = prompt_text(system), "" if memory_file is None else memory_text(memory_file)
    return checked(f"{text}\n\n{memory}".strip() if memory else text)


def prompt_text(system: str) -> str:
    """Return the text of the file where a system prompt is one line ``@PATH``, else the prompt itself.

    Raises InvalidRequestError for a file that cannot be read.
    """
    is_file = system.startswith("@") and "\n" not in system.strip()
    return memory_text(Path(system.strip()[1:]).expanduser()) if is_file else system


def memory_text(path: Path) -> str:
    """Return the text of a file for the system prompt. Raises InvalidRequestError where it is none."""
    try:
        return clean(path.read_text("utf-8-sig")).strip()
    except (OSError, ValueError) as error:
        file = f"The system prompt's file {path.absolute()}"
        raise InvalidRequestError(f"{file} cannot be read ({reason_of(error)}): name a text file.") from None


def memory_path(folder: Path | None, chosen: str | None) -> Path | None:
    """Return the chosen memory file, else the default one in the notebook's folder, where it exists.

    An empty choice is no file.
    """
    if chosen:
        return (folder or Path()) / Path(chosen).expanduser()
    if chosen is not None or folder is None:
        return None
    usual = folder / DEFAULT_MEMORY
    return usual if usual.is_file() else None
