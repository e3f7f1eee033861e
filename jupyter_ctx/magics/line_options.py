"""The options of ``%%chat``, declared once for the parser, the pages of ``?``, Tab completion and the book.

To add one, add a line to :data:`OPTIONS`, among those of a prompt the most used first. An option named like a setting
sets it for the cell.
"""

from __future__ import annotations

import re
from argparse import Namespace
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from ..config.settings import HELP, KEYWORDS
from ..wording import nearest_name

A_PROMPT = ""  # the name of what is no command: a prompt
ONE_CONVERSATION = "*"  # every command that is about one conversation
ASKING = (A_PROMPT, "preview", "fix", "continue")
MAP = ("map",)
KEY_IS_ASKED_FOR = (
    "%chat key takes one thing, a provider such as openai or an address: the key is asked for, and kept in memory "
    "only. A key that stands in the cell is saved with the notebook: delete it there."
)


@dataclass(frozen=True)
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

    @cached_property
    def name(self) -> str:
        """The attribute of the parsed line that holds its value."""
        return self.into or self.flag.strip("-").replace("-", "_")

    @property
    def flags(self) -> tuple[str, ...]:
        """Every spelling, the short one first."""
        return (self.short, self.flag) if self.short else (self.flag,)

    @property
    def usage(self) -> str:
        """The spellings with what it takes, such as ``-m, --model MODEL``."""
        return f"{', '.join(self.flags)} {self.takes}".strip()


def _setting(flag: str, takes: str, short: str = "", **declared: Any) -> Option:
    """Declare an option that sets a setting; the setting explains it."""
    name = declared.get("into") or flag.strip("-").replace("-", "_")
    places = declared.pop("of", (*ASKING, "map", *declared.pop("also_of", ("use",))))
    return Option(flag, HELP[name], places, takes, short, **declared)


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
        "--schema", "the answer must be a value of this class or JSON schema (a variable)",
        (A_PROMPT, "preview", "map"), "NAME",
    ),
    Option("--certainty", "shade the answer's tokens by their probability, and list the least certain", (A_PROMPT,)),
    Option(
        "--conversation", "talk in this conversation for the cell; a new one if need be",
        (A_PROMPT, ONE_CONVERSATION), "CONVERSATION", "-i",
    ),
    Option("--new", "begin the conversation anew with this cell", (A_PROMPT, "preview", "fix")),
    Option("--no-history", "send this prompt alone, and record nothing", (A_PROMPT, "preview", "fix")),
    Option("--preview", "show what would be sent, and send nothing, as %%chat preview does", (A_PROMPT, "preview")),
    Option(
        "--samples", "ask N times at once, and show the answers side by side, as for several -m, -t or --effort",
        (A_PROMPT,), "N", "-n",
    ),
    Option("--ask", "ask again, even if the answer is stored", (A_PROMPT, "fix", "continue")),
    Option("--append", "add a turn instead of replacing this cell's", ASKING),
    Option("--raw", "leave {{ expressions }} as typed", (A_PROMPT, "preview")),
    Option("--plain", "print the answer as text only", ASKING),
    Option(
        "--no-redact", "blank nothing; keys in use are still kept out of files",
        (*ASKING, "handout", "export"),
    ),
    Option("--allow-local", "let -a read pages of this machine and its network, and at http:// addresses", ASKING),
    _setting("--on-overflow", "HOW"),
    _setting("--window", "N"),
    _setting("--set", "NAME=VALUE", into="parameters", repeats=(*ASKING, "map", "use")),
    _setting("--base-url", "URL", also_of=("use", "key", "tokens", "next")),
    _setting("--prices", "IN,OUT,CACHED", of=("map", "use")),
    _setting("--timeout", "SECONDS", of=("use",)),
    Option("--as", "name the run, and store it in this variable", MAP, "VAR", into="named"),
    Option("--limit", "ask the first N rows only", MAP, "N"),
    Option("--repeat", "ask each row N times", MAP, "N"),
    Option("--score", "score answers by this function (variable); may be repeated", MAP, "NAME", repeats=MAP),
    Option("--dry-run", "show the price and the first prompts, and send nothing", MAP),
    Option("--max-cost", "never spend more US dollars than this", MAP, "DOLLARS", into="cap"),
    Option("--retry", "ask rows again that failed", MAP),
    Option("--yes", "begin without asking, whatever it may cost", MAP),
    Option("--answers", "delete all answers that maps have stored", ("delete",)),
    Option("--extractive", "keep lines of your own, and ask no model", ("summarise",)),
    Option("--clear", "leave the outputs out of the copy", ("handout",)),
)  # fmt: skip
OF_A_REQUEST = tuple(option.name for option in OPTIONS if option.name in KEYWORDS)
OF_A_PROMPT = tuple(option for option in OPTIONS if A_PROMPT in option.of)
NUMBERS = {"--samples": int, "--limit": int, "--repeat": int, "--max-cost": float}  # that are no settings
LINE_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|\S)+""")
IN_QUOTES = re.compile(r"""\A([\w-]+=)?(["'])(.*)\2\Z""")  # a whole word, or what stands behind its =


@cache
def line_parser() -> MagicArgumentParser:
    """Return the parser of lines, which knows every option, so that one in a wrong place can be told where it belongs.

    Raises UsageError when it parses.
    """
    parser = MagicArgumentParser("chat", add_help=False)
    parser.add_argument("words", nargs="*")
    for option in OPTIONS:
        if option.takes:
            action, read = "append" if option.repeats else "store", NUMBERS.get(option.flag, str)
            parser.add_argument(*option.flags, dest=option.name, action=action, metavar=option.takes, type=read)
        else:
            on, off = ("on", None) if option.name in KEYWORDS else (True, False)
            parser.add_argument(*option.flags, dest=option.name, action="store_const", const=on, default=off)
    return parser


def parsed_line(line: str) -> Namespace:
    """Parse a line's options and words. Raises UsageError."""
    words = [IN_QUOTES.sub(r"\1\3", word) for word in LINE_WORD.findall(line)]
    try:
        parsed: Namespace = line_parser().parse_intermixed_args(words)
    except UsageError as error:
        raise UsageError(_what_is_wrong(str(error), words)) from None
    command = parsed.words[0].lower() if parsed.words else A_PROMPT
    for option in given(parsed):
        if option.repeats and option.repeats != option.of:
            values = getattr(parsed, option.name)
            if len(values) > 1 and command not in option.repeats:
                typed = f"{len(values)} times ({', '.join(values)})"
                raise UsageError(f"{option.flag} is given {typed}, and %chat {command} takes one. Nothing was sent.")
            setattr(parsed, option.name, values if len(values) > 1 else values[0])
    return parsed


def _what_is_wrong(message: str, words: list[str]) -> str:
    """Return the parser's error with the nearest option, and where the options are listed."""
    if words and words[0].lower() == "key":  # what follows may be one
        return KEY_IS_ASKED_FOR
    unknown = message.partition("unrecognized arguments: ")[2]
    meant = {f"--{name}": f"%chat {name}" for option in OPTIONS for name in option.of if name.isalpha()}
    meant |= {flag: flag for option in OPTIONS for flag in option.flags}
    near = nearest_name(unknown.split()[0], meant, 0.7) if unknown else ""
    hint = f" Did you mean {meant[near]}?" if near else ""
    problem = f"Unknown option: {unknown}" if unknown else message
    return f"{problem}.{hint} %%chat? and %chat help COMMAND show the options."


def given(options: Namespace) -> list[Option]:
    """Return the options that a line has."""
    return [option for option in OPTIONS if getattr(options, option.name) not in (None, False)]


def each_of(value: Any) -> list[Any]:
    """Return the values of an option that may be repeated."""
    return value if isinstance(value, list) else [value]


def is_several(options: Namespace) -> bool:
    """Return whether a line asks for several answers at once."""
    is_repeated = any(isinstance(values, list) for values in (options.model, options.temperature, options.effort))
    return is_repeated or options.samples not in (None, 1)


def settings_of(options: Namespace) -> dict[str, Any]:
    """Return the settings that a line gives for its request."""
    return {name: value for name in OF_A_REQUEST if (value := getattr(options, name)) is not None}
