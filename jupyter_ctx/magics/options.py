"""The options of ``%%chat``, declared once for the parser, Tab completion and README's table.

To add one, add a line to :data:`OPTIONS`. An option named like a setting sets it for the cell.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument

from ..config.settings import HELP, SETTING_NAMES


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its spellings, what it takes, and what it does."""

    flag: str  # the long form, which is listed
    help: str
    takes: str = ""  # a word in capitals that says what follows; nothing for a switch
    short: str = ""
    into: str = ""  # the setting it sets, where that has another name
    repeats: bool = False
    repeats_for: tuple[str, ...] = ()  # the commands for which it may be repeated; "" is a prompt
    only_for: tuple[str, ...] = ()  # how the commands are typed that know it: no prompt does

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
    def is_setting(self) -> bool:
        """Whether it sets a setting for the cell."""
        return self.name in SETTING_NAMES


def _setting(flag: str, takes: str, short: str = "", **declared: Any) -> Option:
    """Declare an option that sets a setting; the setting explains it."""
    name = declared.get("into") or flag.strip("-").replace("-", "_")
    return Option(flag, HELP[name], takes, short, **declared)


def _of_map(flag: str, summary: str, takes: str = "", **declared: Any) -> Option:
    """Declare an option of ``%%chat map``."""
    return Option(flag, summary, takes, only_for=("%%chat map TABLE",), **declared)


OPTIONS = (
    _setting("--model", "MODEL", "-m", repeats_for=("", "map")),
    _setting("--window", "N"),
    _setting("--base-url", "URL"),
    _setting("--system", "TEXT", "-s"),
    _setting("--temperature", "T", "-t", repeats_for=("",)),
    _setting("--max-tokens", "N"),
    _setting("--on-overflow", "HOW"),
    _setting("--set", "NAME=VALUE", into="parameters", repeats=True),
    Option(
        "--attach", "send a variable (a plot, a table, any value) or a file; may be repeated", "NAME_OR_FILE", "-a",
        repeats=True,
    ),
    Option("--error", "send the last error along: its traceback in short, and the cell it came from"),
    Option("--schema", "the answer must be a value of this class or JSON schema (a variable)", "NAME"),
    Option("--out", "store the Reply, --schema's value, a list (side by side) or a DataFrame (map)", "VAR", "-o"),
    Option("--conversation", "talk in this conversation for the cell; a new one if need be", "CONVERSATION", "-i"),
    Option("--samples", "ask so often at once, and show the answers side by side, as for several -m or -t", "N", "-n"),
    Option("--pick", "of answers side by side, take this one (%chat pick N, or its button)", "N"),
    Option("--new", "begin the conversation anew with this cell"),
    Option("--no-history", "send this prompt alone, and record nothing"),
    Option("--append", "add a turn instead of replacing this cell's"),
    Option("--ask", "ask again, even if the answer is stored"),
    Option("--raw", "leave {{ expressions }} as typed"),
    Option("--plain", "show the answer as text only"),
    Option("--preview", "show what would be sent, and send nothing"),
    Option("--versions", "%chat history N: all answers of that turn", only_for=("%chat history N",)),
    Option("--answers", "%chat delete --answers: all that maps have stored", only_for=("%chat delete --answers",)),
    Option(
        "--extractive", "%chat summarise: keep lines of your own, and ask no model",
        only_for=("%chat summarise", "%%chat summarise"),
    ),
    Option("--summary", "%chat resume NOTEBOOK: only a summary", only_for=("%chat resume NOTEBOOK",)),
    _of_map("--as", "%%chat map: name the run, and store it in this variable", "VAR", into="named"),
    _of_map("--repeat", "%%chat map: ask each row so often", "N"),
    _of_map("--limit", "%%chat map: ask the first N rows only", "N"),
    _of_map("--max-cost", "%%chat map: US dollars that are never passed", "DOLLARS"),
    _of_map("--dry-run", "%%chat map: show the price and the first prompts, and send nothing"),
    _of_map("--yes", "%%chat map: begin without asking, whatever it may cost"),
    _of_map("--pilot", "%%chat map: ask so many rows first, at most 10, to tell the price of the others", "N"),
    _of_map("--retry", "%%chat map: ask rows again that failed"),
    _of_map("--batch", "%%chat map: use the provider's batches, at about half the price and within a day"),
    _of_map("--score", "%%chat map: score answers by this function (variable); may be repeated", "NAME", repeats=True),
)  # fmt: skip
OF_A_REQUEST = tuple(option.name for option in OPTIONS if option.is_setting)


def with_options(magic: Callable[..., Any]) -> Callable[..., Any]:
    """Let a magic function take :data:`OPTIONS`; for a decorator of magic_arguments above it."""
    for option in reversed(OPTIONS):
        magic = _declared(option)(magic)
    return magic


def _declared(option: Option) -> Any:
    summary = option.help.replace("%", "%%")
    if not option.takes:
        return argument(*option.flags, action="store_true", help=summary)
    action = "append" if option.repeats or option.repeats_for else "store"
    return argument(*option.flags, dest=option.name, action=action, metavar=option.takes, help=summary)


def check_repeated(options: Namespace, command: str = "") -> None:
    """Let options that may be repeated for one command have one value elsewhere. Raises UsageError."""
    for option in OPTIONS:
        values = getattr(options, option.name)
        if not option.repeats_for or not values:
            continue
        may = command in option.repeats_for
        if len(values) > 1 and not may:
            raise UsageError(
                f"{option.flag} is given {len(values)} times ({', '.join(values)}), and %chat {command} takes one. "
                "Nothing was sent."
            )
        if not command or not may:
            setattr(options, option.name, values[0] if len(values) == 1 else values)


def is_several(options: Namespace) -> bool:
    """Return whether a line asks for several answers at once."""
    return isinstance(options.model, list) or isinstance(options.temperature, list) or options.samples is not None


def typed(name: str) -> str:
    """Return an option as it is typed."""
    return next(option.flag for option in OPTIONS if option.name == name)


def settings_of(options: Namespace) -> dict[str, Any]:
    """Return the settings that a line gives for its request; ``None`` for those it does not."""
    return {name: getattr(options, name) for name in OF_A_REQUEST}
