"""The table of commands: what ``%chat`` does besides showing the gauge.

To add a command, write its function in ``commands.py`` below a declaration::

    @command("trim [N]", "leave out the oldest turns, down to 60 % or to the newest N")
    def _trim(call: Call) -> object:
        return call.chat.trim(call.number(call.words[0]) if call.words else None)

and name it in a group of ``help_pages.py``, with examples. What the function returns is printed. The magic, Tab
completion, ``%chat help`` and README's table read the declaration; ``python -m scripts.readme`` writes that table anew.
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Protocol

from IPython.core.error import UsageError

from ..chat import Chat
from ..config.settings import SETTING_NAMES
from ..display.text import to_plain
from ..display.widgets.turn_table import SelectionTable, TurnTable
from ..library import Library
from ..session.prompt import Prompt

if TYPE_CHECKING:
    from ..attachments.tracebacks import Failure


class Host(Protocol):
    """The part of the magic that commands may use."""

    @property
    def shell(self) -> Any:
        """IPython's shell."""

    @property
    def library(self) -> Library:
        """The conversations of this notebook."""

    def ask(self, chat: Chat, options: Namespace, cell: str) -> object:
        """Send a prompt and show the answer."""

    def last_error(self) -> Failure:
        """Return the last error of the notebook's cells."""

    def ask_key(self, chat: Chat, owner: str) -> object:
        """Ask for a key without showing it."""

    def choose(self, chat: Chat, number: int, *, is_named: bool) -> object:
        """Take one of the answers side by side that were shown last."""

    def show_gauge(self, chat: Chat) -> object:
        """Show the gauge."""

    def show_table(self, table: SelectionTable, live: Callable[[], TurnTable]) -> object:
        """Show a table, with boxes where somebody can click."""

    def history_of(self, chat: Chat) -> TurnTable:
        """Return the live table of a conversation's turns."""

    def preview_of(self, chat: Chat, prompt: Prompt) -> TurnTable:
        """Return the live table of the next request."""

    def follow(self) -> object:
        """Let the gauge's panel show the current conversation."""

    def tell_notes(self) -> object:
        """Print where the conversation comes from, once."""


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a command: who runs it, in which conversation, and what was typed."""

    host: Host
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
    """One command, as help, completion and the magic see it."""

    run: CommandRun
    usage: str  # the name, then what it takes: words as they are typed, kinds in capitals, [optional], either | or
    help: str
    options: tuple[str, ...] = ()  # of %%chat that it knows
    heads_cell: bool = False  # a text may stand below it
    asks: bool = False  # sends a prompt or previews one, and prints notes itself
    every_conversation: bool = False  # concerns all conversations of the notebook, so -i makes no sense

    @property
    def name(self) -> str:
        """The word that is typed."""
        return self.usage.split()[0]

    @property
    def places(self) -> tuple[tuple[str, ...], ...]:
        """The words that may follow the name, place by place: ``config [SETTING VALUE]`` has two."""
        words = re.sub(r"--\S+( [A-Z]+)?|[\[\]]", "", self.usage).split(maxsplit=1)[1:]
        return tuple(tuple(place.split(" | ")) for text in words for place in BETWEEN_PLACES.split(text.strip()))

    def takes(self, option: str) -> bool:
        """Return whether the command knows an option of ``%%chat``."""
        return option in self.options or (option == "conversation" and not self.every_conversation)


BETWEEN_PLACES = re.compile(r"(?<!\|) +(?!\|)")
COMMANDS: dict[str, Command] = {}  # by every spelling, in the order of %chat help


def command(usage: str, summary: str, *, also: str = "", **declared: Any) -> Callable[[CommandRun], CommandRun]:
    """Declare a command; ``also`` is another spelling, ``declared`` are further fields of :class:`Command`."""

    def declare(run: CommandRun) -> CommandRun:
        made = Command(run, usage, summary, **declared)
        COMMANDS.update({name: made for name in (made.name, also) if name})
        return run

    return declare


def say(*parts: object, sep: str = " ") -> None:
    """Print text that may come from others, without the escapes that a terminal would obey."""
    print(to_plain(sep.join(map(str, parts))))


def check_words(command: Command, words: list[str]) -> None:
    """Refuse words after a command that takes none. Raises UsageError."""
    if not words or command.places:
        return
    name = command.name
    if not command.heads_cell:
        raise UsageError(f"%chat {name} takes no words: {' '.join(words)!r} was not understood, and nothing was done.")
    setting = f", or write %chat config {name} TEXT" if name in SETTING_NAMES else ""
    raise UsageError(
        f"%chat {name} takes no text on its line: put %%chat {name} on a cell's first line and the text below it"
        f"{setting}."
    )


def words_of_question(words: list[str]) -> list[str]:
    """Return the words of a line; of one that ends in ? and names a command or a setting, those that explain it."""
    *_, last = words
    if not last.endswith("?"):
        return words
    names = [word.rstrip("?").lower() for word in words]
    name = names[1] if names[0] in ("help", "config") and len(names) > 1 else names[0]
    return ["help", *filter(None, [name])] if name in COMMANDS or name in SETTING_NAMES or not name else words


def unknown_topic(name: str) -> str:
    """Return what to say of a word that %chat help cannot explain."""
    near = get_close_matches(name, [*COMMANDS, *SETTING_NAMES], 1)
    hint = f" Did you mean %chat help {near[0]}?" if near else ""
    return f"%chat help knows no command or setting {name!r}.{hint} %chat help lists the commands."


def unknown(words: Sequence[str], head: str) -> str:
    """Return what to say of a line whose first word is not a command; several above a text are likely a prompt."""
    name, *more = words
    if more and head.startswith("%%"):
        return (
            f"Unknown command: {head} {name}. A prompt goes below the line: put %%chat alone on the cell's first line. "
            "%chat help lists the commands."
        )
    near = get_close_matches(name.lower(), COMMANDS, 1)
    hint = f" Did you mean {head} {near[0]}?" if near else ""
    prompt = f": {' '.join(words)}" if more else "."
    return (
        f"Unknown command: {head} {name}.{hint} %chat help lists the commands. "
        f"To ask a model, put %%chat alone on a cell's first line and the prompt below it{prompt}"
    )
