"""The table of commands: what ``%chat`` does besides showing the gauge.

To add a command, write its function in ``commands.py`` below a declaration::

    @command(ABOUT_WINDOW, "%chat pin 1 4")
    def _pin(call: Call, *numbers: int) -> object:
        \"\"\"Keep these turns in every request.\"\"\"
        return call.chat.pin(*numbers)

The function's name is the command's, its parameters are what is typed behind it, and its docstring explains it; what it
returns is shown. A method of :class:`Chat` or :class:`Library` is a command
by :func:`command_of`. Options are declared in
``line_options.py``. The magic, Tab completion, ``%chat help`` and the book's reference read the declarations.
"""

from __future__ import annotations

import inspect
import re
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from ..chat import Chat
from ..runtime.redaction import KeyRedactor, Redactor
from .line_options import ONE_CONVERSATION, OPTIONS, Option

if TYPE_CHECKING:
    from .chat_cells import ChatCells


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a command: who runs it, in which conversation, and what was typed."""

    host: ChatCells
    chat: Chat
    name: str
    words: list[str]  # after the command's name
    options: Namespace
    text: str | None  # of the cell below the line

    def redactor(self) -> Redactor:
        """Return what blanks secrets in a file that is written; keys in use are never written."""
        session = self.chat.session
        return KeyRedactor(session.models.secrets) if self.options.no_redact else session.redactor()


CommandRun = Callable[..., object]
ABOUT_WINDOW, ABOUT_ANSWERS, ABOUT_CONVERSATIONS, ABOUT_SETUP = GROUPS = (
    "The context window", "Answers", "Conversations", "Model and settings",
)  # fmt: skip
BETWEEN_PLACES = re.compile(r"(?<!\|) +(?!\|)")
KIND_OF = {"turns": "N", "number": "N", "numbers": "N"}  # of parameters that are not called so themselves
TO_THE_END = ("name", "conversation")  # parameters that take all words to the end of a line


@dataclass(frozen=True, slots=True)
class Command:
    """One command, as help, completion and the magic see it.

    names: what it is typed as: one that has a reverse has two, such as ``pin`` and ``unpin``
    takes: what stands behind the name: words as they are typed, kinds in capitals, [optional], either | or
    group: the heading below which it is listed
    examples: lines or cells that use it
    heads_cell: whether a text may stand below it; needs_text: it must
    every_conversation: whether it concerns all conversations of the notebook, so that -i makes no sense
    """

    run: CommandRun
    names: tuple[str, ...]
    takes: str
    help: str
    group: str
    examples: tuple[str, ...]
    parameters: tuple[inspect.Parameter, ...]
    heads_cell: bool = False
    needs_text: bool = False
    every_conversation: bool = False

    @property
    def name(self) -> str:
        """The name that it is listed by."""
        return self.names[0]

    @property
    def mark(self) -> str:
        """The magic that it is typed behind."""
        return "%%chat" if self.needs_text else "%chat"

    @property
    def line(self) -> str:
        """The command as it is typed, with what it takes and the option of its own, if it is one."""
        own = [option.usage for option in OPTIONS if option.of == (self.name,)]
        option = f"[{own[0]}]" if len(own) == 1 else ""
        return " ".join(filter(None, (self.mark, " | ".join(self.names), self.takes, option)))

    @property
    def options(self) -> tuple[Option, ...]:
        """The options that it knows, those of its own first."""
        return tuple(sorted(filter(self.knows, OPTIONS), key=lambda option: len(option.of) > 1))

    def place(self, index: int) -> Sequence[str]:
        """Return the words that may stand at a place behind the name: ``config [SETTING VALUE]`` has two."""
        words = re.sub(r"[\[\]]", "", self.takes)
        places = [place.split(" | ") for place in BETWEEN_PLACES.split(words) if place]
        if "…" in self.takes:
            index = min(index, len(places) - 1)
        return places[index] if index < len(places) else ()

    def knows(self, option: Option) -> bool:
        """Return whether an option may stand on the command's line."""
        return self.name in option.of or (ONE_CONVERSATION in option.of and not self.every_conversation)

    def arguments(self, call: Call) -> list[object]:
        """Return what the function takes of the words of a line. Raises UsageError."""
        words, kinds = list(call.words), list(self.parameters)
        if kinds and kinds[-1].name in TO_THE_END and len(words) > len(kinds):
            words[len(kinds) - 1 :] = [" ".join(words[len(kinds) - 1 :])]
        numbers = [str(kind.annotation).startswith("int") for kind in kinds]
        is_all = words == ["all"] and "| all" in self.takes and numbers[-1:] == [True]  # of numbers, none means all
        try:
            inspect.Signature(kinds).bind(*words)
            if not words and self.takes[:1] not in ("", "["):
                raise ValueError
            numbers += numbers[-1:] * len(words)
            pairs = zip([] if is_all else words, numbers, strict=False)
            return [int(word) if is_number else word for word, is_number in pairs]
        except (TypeError, ValueError):
            raise self._misuse(call) from None

    def _misuse(self, call: Call) -> UsageError:
        """Return an error that says what the command takes, and where examples or a text stand."""
        typed = f", not {' '.join(call.words)!r}" if call.words else ""
        what = self.takes or "nothing on its line"
        is_text = self.heads_cell and not self.needs_text
        remedy = f"a text goes below %%chat {call.name}" if is_text else f"%chat help {call.name} has examples"
        return UsageError(f"%chat {call.name} takes {what}{typed}: {remedy}. Nothing was done.")


COMMANDS: dict[str, Command] = {}  # by every name, in the order of %chat help


def command(
    group: str, *examples: str, takes: str = "", also: str = "", **declared: Any
) -> Callable[[CommandRun], CommandRun]:  # fmt: skip
    """Declare the function below as a command; what is typed behind it are its parameters, but those by keyword.

    ``takes``: what is typed behind its name, where its parameters do not say it; ``also`` is another name, which the
    function finds in ``call.name``; ``declared`` are further fields of :class:`Command`.
    """

    def declare(run: CommandRun) -> CommandRun:
        explanation = " ".join((run.__doc__ or "").split()).removesuffix(".")
        _, *parameters = inspect.signature(run).parameters.values()
        typed = tuple(each for each in parameters if each.kind is not each.KEYWORD_ONLY)
        names = tuple(filter(None, (run.__name__.strip("_"), also)))
        kinds = takes or " ".join(map(_typed, typed))
        COMMANDS.update(
            dict.fromkeys(names, Command(run, names, kinds, explanation, group, examples, typed, **declared))
        )
        return run

    return declare


def command_of(
    method: CommandRun, group: str, *examples: str, reverse: CommandRun | None = None, takes: str = ""
) -> None:
    """Declare a method of :class:`Chat` as a command: its signature and the first line of its docstring explain it.

    ``reverse`` is the method that takes back what it does. A method of :class:`Library` is about all conversations.
    """
    methods = {each.__name__: each for each in (method, reverse) if each is not None}
    first, *others = [(each.__doc__ or "").partition("\n")[0].removesuffix(".") for each in methods.values()]
    is_librarys = method.__qualname__.startswith("Library.")

    @wraps(method)
    def run(call: Call, *given: object) -> object:
        library = call.host.library
        result = methods[call.name](library if is_librarys else call.chat, *given)
        return call.host.now_in(library.current) if isinstance(result, Chat) else result

    run.__doc__ = "; ".join([first, *(f"{line[:1].lower()}{line[1:]}" for line in others)])
    also = reverse.__name__ if reverse is not None else ""
    command(group, *examples, takes=takes, also=also, every_conversation=is_librarys)(run)


def _typed(parameter: inspect.Parameter) -> str:
    kind = KIND_OF.get(parameter.name, parameter.name.upper())
    if parameter.kind is parameter.VAR_POSITIONAL:
        return f"{kind}…"
    return kind if parameter.default is parameter.empty else f"[{kind}]"
