"""The options of ``%%chat``, declared once for the parser, the pages of ``?``, Tab completion and the book.

To add one, add a line to :data:`OPTIONS`, among those of a prompt the most used first. An option named like a setting
sets it for the cell.
"""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from ..config.settings import HELP, KEYWORDS

A_PROMPT = ""  # the name of what is no command: a prompt
ONE_CONVERSATION = "*"  # every command that is about one conversation
ASKING = (A_PROMPT, "preview", "fix", "continue")


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its spellings, what it takes, what it does, and where.

    flag: the long form, which is listed
    of: the commands that it belongs to; ``A_PROMPT`` is a prompt
    takes: a word in capitals that says what follows; nothing for a switch
    into: the name of its value, where that is not the flag's
    repeats: the commands for which it may be repeated; where that is all, its value is a list
    """

    flag: str
    help: str
    of: tuple[str, ...]
    takes: str = ""
    short: str = ""
    into: str = ""
    repeats: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The attribute of the parsed line that holds its value."""
        return self.into or self.flag.strip("-").replace("-", "_")

    @property
    def flags(self) -> tuple[str, ...]:
        """Every spelling, the short one first."""
        other = self.flag[:2] + self.flag[2:].replace("-", "_")
        return tuple(dict.fromkeys(filter(None, (self.short, self.flag, other))))

    @property
    def usage(self) -> str:
        """The flag with what it takes."""
        return f"{self.flag} {self.takes}".strip()

    @property
    def spellings(self) -> tuple[str, ...]:
        """The short flag, and the long one with what it takes."""
        return tuple(filter(None, (self.short, self.usage)))

    @property
    def is_list(self) -> bool:
        """Whether its value is a list for every command."""
        return bool(self.repeats) and self.repeats == self.of

    @property
    def is_setting(self) -> bool:
        """Whether it sets a setting for the cell."""
        return self.name in KEYWORDS


def _setting(flag: str, takes: str, short: str = "", **declared: Any) -> Option:
    """Declare an option that sets a setting; the setting explains it."""
    name = declared.get("into") or flag.strip("-").replace("-", "_")
    places = declared.pop("of", (*ASKING, "map", *declared.pop("also_of", ("use",))))
    return Option(flag, HELP[name], places, takes, short, **declared)


def _of_map(flag: str, summary: str, takes: str = "", **declared: Any) -> Option:
    """Declare an option of ``%%chat map``."""
    return Option(flag, summary, ("map", *declared.pop("also_of", ())), takes, **declared)


OPTIONS = (
    _setting("--model", "MODEL", "-m", also_of=("use", "tokens", "next"), repeats=(A_PROMPT, "map", "tokens")),
    Option(
        "--attach", "send a variable (a plot, a table, any value), a file, a web page or cells above; may be repeated",
        ASKING, "NAME_OR_FILE", "-a", repeats=ASKING,
    ),
    Option(
        "--tool", "a function that the model may call (a variable with type hints and a docstring); may be repeated",
        ASKING, "FUNCTION", into="tools", repeats=ASKING,
    ),
    Option("--confirm", "ask before each call of a function", ASKING),
    _setting("--system", "TEXT", "-s", also_of=()),
    _setting("--temperature", "T", "-t", also_of=("use", "next"), repeats=(A_PROMPT,)),
    _setting("--effort", "LEVEL", also_of=("use",), repeats=(A_PROMPT,)),
    _setting("--max-tokens", "N"),
    Option(
        "--error", "send the last error along: its traceback in short, the cell it came from, and those it depends on",
        (A_PROMPT, "preview", "fix"),
    ),
    Option(
        "--out", "store the Reply, --schema's value, a list (side by side) or a DataFrame (map)",
        (*ASKING, "map"), "VAR", "-o",
    ),
    Option(
        "--schema", "the answer must be a value of this class or JSON schema (a variable)", (A_PROMPT, "map"), "NAME"
    ),
    Option("--certainty", "shade the answer's tokens by their probability, and list the least certain", (A_PROMPT,)),
    Option(
        "--conversation", "talk in this conversation for the cell; a new one if need be",
        (A_PROMPT, ONE_CONVERSATION), "CONVERSATION", "-i",
    ),
    Option("--new", "begin the conversation anew with this cell", (A_PROMPT, "preview", "fix")),
    Option("--no-history", "send this prompt alone, and record nothing", (A_PROMPT, "preview", "fix")),
    Option("--preview", "show what would be sent, and send nothing", (A_PROMPT, "fix")),
    Option(
        "--samples", "ask so often at once, and show the answers side by side, as for several -m, -t or --effort",
        (A_PROMPT,), "N", "-n",
    ),
    Option("--ask", "ask again, even if the answer is stored", (A_PROMPT, "fix", "continue")),
    Option("--append", "add a turn instead of replacing this cell's", ASKING),
    Option("--raw", "leave {{ expressions }} as typed", (A_PROMPT, "preview")),
    Option("--plain", "show the answer as text only", ASKING),
    Option(
        "--no-redact", "blank nothing; only keys in use are never written into a file",
        (*ASKING, "handout", "export"),
    ),
    Option("--allow-local", "let -a read pages of this machine and its network, and at http:// addresses", ASKING),
    _setting("--on-overflow", "HOW"),
    _setting("--window", "N"),
    _setting("--set", "NAME=VALUE", into="parameters", repeats=(*ASKING, "map", "use")),
    _setting("--base-url", "URL", also_of=("use", "key", "tokens", "next")),
    _setting("--prices", "IN,OUT,CACHED", of=("map", "use")),
    _setting("--timeout", "SECONDS", of=("use",)),
    _of_map("--as", "name the run, and store it in this variable", "VAR", into="named"),
    _of_map("--limit", "ask the first N rows only", "N"),
    _of_map("--repeat", "ask each row so often", "N"),
    _of_map("--score", "score answers by this function (variable); may be repeated", "NAME", repeats=("map",)),
    _of_map("--dry-run", "show the price and the first prompts, and send nothing"),
    _of_map("--max-cost", "never spend more than so many US dollars", "DOLLARS", into="cap"),
    _of_map("--retry", "ask rows again that failed"),
    _of_map("--yes", "begin without asking, whatever it may cost"),
    Option("--replay", "show what each turn was sent, and how full the window was", ("history",)),
    Option("--answers", "delete all answers that maps have stored", ("delete",)),
    Option("--extractive", "keep lines of your own, and ask no model", ("summarise",)),
    Option("--clear", "leave the outputs out of the copy", ("handout",)),
)  # fmt: skip
NUMBERS: Mapping[str, tuple[Callable[[str], float], int, str]] = {  # by what an option takes: kind, least, in words
    "N": (int, 1, "a whole number from 1"),
    "DOLLARS": (float, 0, "US dollars, such as 0.50"),
}
OF_A_REQUEST = tuple(option.name for option in OPTIONS if option.is_setting)
OF_A_PROMPT = tuple(option for option in OPTIONS if A_PROMPT in option.of)


@cache
def line_parser() -> MagicArgumentParser:
    """Return the parser of lines, which knows every option, so that one in a wrong place can be told where it belongs.

    Raises UsageError when it parses.
    """
    parser = MagicArgumentParser("chat", add_help=False)
    parser.add_argument("words", nargs="*")
    for option in OPTIONS:
        if not option.takes:
            on: dict[str, Any] = (
                {"action": "store_const", "const": "on"} if option.is_setting else {"action": "store_true"}
            )
            parser.add_argument(*option.flags, dest=option.name, **on)
            continue
        action = "append" if option.repeats else "store"
        parse = str if option.is_setting or option.takes not in NUMBERS else partial(_number, option)
        parser.add_argument(*option.flags, dest=option.name, action=action, metavar=option.takes, type=parse)
    return parser


def _number(option: Option, typed: str) -> float:
    """Return the number that an option takes. Raises UsageError."""
    kind, least, words = NUMBERS[option.takes]
    try:
        number = kind(typed.removeprefix("$"))
    except ValueError:
        number = -1
    if not number >= least:  # nor for nan
        raise UsageError(f"{option.short or option.flag} takes {words}, not {typed!r}")
    return number


def split_line(line: str) -> list[str]:
    """Return a line's words, split as a shell would; at spaces where a quote is not closed."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", ""
    try:
        return list(lexer)
    except ValueError:
        return line.split()


def parsed_line(line: str) -> Namespace:
    """Parse a line's options and words. Raises UsageError."""
    parsed: Namespace = line_parser().parse_intermixed_args(split_line(line))
    return parsed


def given(options: Namespace) -> Iterable[Option]:
    """Return the options that a line has."""
    return (option for option in OPTIONS if getattr(options, option.name) not in (None, False, []))


def check_repeated(options: Namespace, command: str = A_PROMPT) -> None:
    """Let options that may be repeated for one command have one value elsewhere. Raises UsageError."""
    for option in given(options):
        if not option.repeats or option.is_list:
            continue
        values, may = getattr(options, option.name), command in option.repeats
        if len(values) > 1 and not may:
            raise UsageError(
                f"{option.flag} is given {len(values)} times ({', '.join(values)}), and %chat {command} takes one. "
                "Nothing was sent."
            )
        if not command or not may:
            setattr(options, option.name, values[0] if len(values) == 1 else values)


def is_several(options: Namespace) -> bool:
    """Return whether a line asks for several answers at once."""
    each_asked = (options.model, options.temperature, options.effort)
    return options.samples is not None or any(isinstance(values, list) for values in each_asked)


def settings_of(options: Namespace) -> dict[str, Any]:
    """Return the settings that a line gives for its request; ``None`` for those it does not."""
    return {name: getattr(options, name) for name in OF_A_REQUEST}
