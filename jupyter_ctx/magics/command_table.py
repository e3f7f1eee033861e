"""The table of commands: what ``%chat`` does besides showing the gauge.

To add a command, write its function in ``commands.py`` below a declaration::

    @command("trim [N]", "leave out the oldest turns, down to 60 % or to the newest N", ABOUT_WINDOW, "%chat trim 3")
    def _trim(call: Call) -> object:
        return call.chat.trim(call.number(call.words[0]) if call.words else None)

What the function returns is printed; its options are declared in ``line_options.py``. The magic, Tab completion,
``%chat help`` and the book's reference read the declarations.
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from ..display.text import to_plain
from .line_options import ONE_CONVERSATION, OPTIONS, Option

if TYPE_CHECKING:
    from ..chat import Chat
    from .chat_magic import ChatMagic


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a command: who runs it, in which conversation, and what was typed."""

    host: ChatMagic
    chat: Chat
    name: str
    words: list[str]  # after the command's name
    options: Namespace
    text: str | None  # of the cell below the line

    def one(self, what: str) -> str:
        """Return the only word. Raises UsageError, naming ``what`` it should be."""
        if len(self.words) != 1:
            got = f" (not {len(self.words)}: {' '.join(self.words)})" if self.words else ""
            raise UsageError(f"%chat {self.name} takes one thing: {what}{got}.")
        return self.words[0]

    def phrase(self, what: str) -> str:
        """Return all words as one name. Raises UsageError where there is none."""
        return " ".join(self.words) or self.one(what)

    def number(self, word: str) -> int:
        """Return a turn's number. Raises UsageError."""
        return self.count(word, "numbers of turns", ": %chat history shows them")

    def count(self, word: str, what: str, remedy: str = "") -> int:
        """Return a whole number. Raises UsageError, naming ``what`` it should be."""
        try:
            return int(word)
        except ValueError:
            raise UsageError(f"%chat {self.name} takes {what}, not {word!r}{remedy}.") from None


CommandRun = Callable[[Call], object]


@dataclass(frozen=True, slots=True)
class Command:
    """One command, as help, completion and the magic see it.

    usage: the name, then what it takes: words as they are typed, kinds in capitals, [optional], either | or
    group: the heading below which it is listed
    examples: lines or cells that use it
    heads_cell: whether a text may stand below it; needs_text: it must
    asks: whether it sends a prompt or previews one, and prints notes itself
    every_conversation: whether it concerns all conversations of the notebook, so that -i makes no sense
    """

    run: CommandRun
    usage: str
    help: str
    group: str
    examples: tuple[str, ...]
    heads_cell: bool = False
    needs_text: bool = False
    asks: bool = False
    every_conversation: bool = False

    @property
    def name(self) -> str:
        """The word that is typed."""
        return self.usage.split()[0]

    @property
    def mark(self) -> str:
        """The magic that it is typed behind."""
        return "%%chat" if self.needs_text else "%chat"

    @property
    def line(self) -> str:
        """The usage behind the magic, as it is typed."""
        return f"{self.mark} {self.usage}"

    @property
    def options(self) -> tuple[Option, ...]:
        """The options that it knows, those of its own first."""
        return tuple(sorted(filter(self.takes, OPTIONS), key=lambda option: len(option.of) > 1))

    @property
    def places(self) -> tuple[tuple[str, ...], ...]:
        """The words that may follow the name, place by place: ``config [SETTING VALUE]`` has two."""
        words = re.sub(r"--\S+( [A-Z]+)?|[\[\]]", "", self.usage).split(maxsplit=1)[1:]
        return tuple(tuple(place.split(" | ")) for text in words for place in BETWEEN_PLACES.split(text.strip()))

    def takes(self, option: Option) -> bool:
        """Return whether the command knows an option."""
        return self.name in option.of or (ONE_CONVERSATION in option.of and not self.every_conversation)


ABOUT_WINDOW, ABOUT_ANSWERS, ABOUT_CONVERSATIONS, ABOUT_SETUP, ABOUT_MORE = GROUPS = (
    "The context window", "Answers", "Conversations", "Model and settings", "More",
)  # fmt: skip
BETWEEN_PLACES = re.compile(r"(?<!\|) +(?!\|)")
COMMANDS: dict[str, Command] = {}  # by every spelling, in the order of %chat help


def command(
    usage: str, summary: str, group: str = ABOUT_MORE, *examples: str, also: str = "", **declared: Any
) -> Callable[[CommandRun], CommandRun]:  # fmt: skip
    """Declare a command; ``also`` is another spelling, ``declared`` are further fields of :class:`Command`."""

    def declare(run: CommandRun) -> CommandRun:
        made = Command(run, usage, summary, group, examples, **declared)
        COMMANDS.update({name: made for name in (made.name, also) if name})
        return run

    return declare


def say(*parts: object, sep: str = " ") -> None:
    """Print text that may come from others, without the escapes that a terminal would obey."""
    print(to_plain(sep.join(map(str, parts))))
