"""What is wrong with a ``%%chat`` line, and what to type instead."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from IPython.core.error import UsageError

from ..wording import did_you_mean
from .command_table import Command
from .commands import COMMANDS, KEY_IS_ASKED_FOR
from .line_options import A_PROMPT, OF_A_PROMPT, OPTIONS, Option, given

# what other tools, Claude Code and llm among them, call our commands
CALLED_ELSEWHERE = {
    "compact": "summarise", "context": "status", "cost": "status", "forget": "clear", "load": "import", "model": "use",
    "reset": "clear", "save": "export", "settings": "config",
}  # fmt: skip
IN_QUOTES = ("TEXT", "FILE", "NAME_OR_FILE", "CONVERSATION")  # what options take that may have spaces


def check_options(options: Namespace, command: Command | None, head: str) -> None:
    """Refuse options that a command, or a prompt where it is ``None``, does not take. Raises UsageError."""
    for option in given(options):
        fits = command.knows(option) if command is not None else A_PROMPT in option.of
        if not fits:
            outcome = "Nothing was sent." if command is None else "Nothing was done."
            raise UsageError(f"{head} takes no {option.flag}: it goes with {_belonging(option)}. {outcome}")


def _belonging(option: Option) -> str:
    """Return what an option goes with, and how it is written there."""
    commands = [COMMANDS[name] for name in option.of if name in COMMANDS]
    if A_PROMPT in option.of:
        others = f", or with %chat {', '.join(each.name for each in commands)}" if commands else ""
        return f"a prompt, %%chat {option.usage} above it{others}"
    first, *_ = commands
    lines = [example.partition("\n")[0] for example in first.examples]
    example = next((line for line in lines if option.flag in line.split()), f"{first.line} {option.usage}")
    return f"{first.mark} {first.name}, as in {example}"


def check_quotes(words: list[str], stray: list[str], command: Command | None) -> None:
    """Refuse words that follow the value of an option and seem to belong to it. Raises UsageError."""
    at = words.index(stray[0])
    before = words[at - 2] if at > 1 else ""
    option = next((each for each in OPTIONS if each.takes in IN_QUOTES and before in each.flags), None)
    if option is None or (command is not None and command.knows(option)):
        return
    value = words[at - 1].strip("\"'")
    whole = " ".join([value, *stray]).strip("\"'")
    each = " ".join(f"{before} {word}" for word in (value, *stray))
    several = f"write {each} for several; a name with spaces goes" if option.repeats else "put several words"
    raise UsageError(f'{before} took only {value!r}: {several} in quotes, {before} "{whole}". Nothing was sent.')


def what_is_wrong(message: str, words: Sequence[str]) -> str:
    """Return the parser's error with the nearest option, and where those are listed that may be typed there."""
    command = COMMANDS.get(next(iter(words), "").lower())
    if command is not None and command.name == "key":
        return KEY_IS_ASKED_FOR
    page = f"%chat help {command.name}" if command else "%%chat?"
    unknown = message.partition("unrecognized arguments: ")[2]
    if not unknown:
        return f"{message}. {page} shows the options with what they take."
    fitting = command.options if command else OF_A_PROMPT
    flags = [flag for option in (*fitting, *OPTIONS) for flag in option.flags]
    hint = did_you_mean(unknown.split()[0], flags, similarity=0.7)
    return f"Unknown option: {unknown}.{hint} {page} shows the options."


def unknown(words: Sequence[str], head: str) -> str:
    """Return what to say of a line whose first word is not a command; several above a text are likely a prompt."""
    name, *more = words
    if more and head.startswith("%%"):
        return (
            f"Unknown command: {head} {name}. A prompt goes below the line: put %%chat alone on the cell's first line. "
            "%chat help lists the commands."
        )
    meant = CALLED_ELSEWHERE.get(name.lower())
    hint = did_you_mean(meant or name, COMMANDS, f"{head} {{}}")
    prompt = f": {' '.join(words)}" if more else "."
    return (
        f"Unknown command: {head} {name}.{hint} %chat help lists the commands. "
        f"To ask a model, put %%chat alone on a cell's first line and the prompt below it{prompt}"
    )


def no_prompt(line: str, options: Namespace) -> str:
    """Return what to type instead of options without a prompt."""
    use = f"; %chat use {options.model} keeps the model for the conversation" if options.model else ""
    return f"%chat {line} has no prompt: put %%chat {line} on a cell's first line and the prompt below it{use}."
