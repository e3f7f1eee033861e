"""What a line of ``%%chat`` or ``%chat`` asks for: a prompt, a command, the gauge, or what a command does."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from IPython.core.error import UsageError
from IPython.display import display

from ..chat import Chat
from ..session.actions import Change
from ..wording import did_you_mean
from .cell_prompts import CELL_MARKS
from .chat_cells import ChatCells, say
from .line_options import A_PROMPT, given, parsed_line

if TYPE_CHECKING:
    from .command_table import Command

ONE_CELL = re.compile(r"In\[\d+\]")


def run_line(cells: ChatCells, line: str, cell: str | None = None) -> None:
    """Do what a line says: send the prompt in the cell, run a command, or show the gauge."""
    options = parsed_line(line)
    if options.words:
        _run_command(cells, options, cell)
        return
    check_options(options, None, "A prompt")
    if cell is not None or options.error:
        text = cell or ""
        begins = not options.preview and bool(text.strip() or options.error)
        cells.ask(_chat_for(cells, options, begin=begins), options, text)
    elif given(options) and not options.conversation:
        raise UsageError(
            f"%chat {line.strip()} has no prompt: put %%chat {line.strip()} on a cell's first line and the prompt "
            "below it."
        )
    else:
        chat = _chat_for(cells, options)
        cells.tell_notes()
        cells.gauge.show(chat)
        say(*chat.session.notices())


def _chat_for(cells: ChatCells, options: Namespace, *, begin: bool = False) -> Chat:
    """Return the conversation that a line is about; ``begin`` one of an unknown name."""
    library = cells.library
    return library.get(options.conversation, begin=begin) if options.conversation else library.current


def _run_command(cells: ChatCells, options: Namespace, cell: str | None) -> None:
    from .command_table import Call
    from .commands import COMMANDS

    name, words = options.words[0].lower(), options.words[1:]
    command = COMMANDS.get(name)
    if command is None:
        raise UsageError(_unknown(options.words, COMMANDS, in_cell=cell is not None))
    check_options(options, command, f"{command.mark} {name}")
    if name in CELL_MARKS and words and all(map(ONE_CELL.fullmatch, words)):
        say(cells.prompts.mark_cells(name, words))
        return
    if cell is not None and not command.heads_cell:
        raise UsageError(f"%chat {name} takes no text below it: write %chat {name} on a line of its own.")
    if command.needs_text and not (cell or "").strip():
        raise UsageError(f"%%chat {name} heads a cell: write the text below it.")
    chat = _chat_for(cells, options)
    call = Call(cells, chat, name, words, options, cell)
    arguments = command.arguments(call)
    if not command.asks:
        cells.tell_notes()
    _show(command.run(call, *arguments))
    if not command.asks:
        shown = cells.library.current if command.every_conversation else chat
        say(*cells.notes(), *shown.session.notices())


def check_options(options: Namespace, command: Command | None, head: str) -> None:
    """Refuse options that a command, or a prompt where it is ``None``, does not take. Raises UsageError."""
    for option in given(options):
        fits = command.knows(option) if command is not None else A_PROMPT in option.of
        if not fits:
            names = [name for name in option.of if name.isalpha()]
            places = [f"a prompt, %%chat {option.usage}"] if A_PROMPT in option.of else []
            places += [f"%chat {', '.join(names)}"] if names else []
            whose = ", or with ".join(places)
            raise UsageError(f"{head} takes no {option.flag}: it goes with {whose}. Nothing was done.")


def _unknown(words: Sequence[str], commands: Collection[str], *, in_cell: bool) -> str:
    """Return what to say of a line whose first word is not a command; several above a text are likely a prompt."""
    head = "%%chat" if in_cell else "%chat"
    hint = did_you_mean(words[0], commands, f"{head} {{}}")
    return (
        f"Unknown command: {head} {words[0]}.{hint} %chat help lists the commands. To ask a model, put %%chat alone on "
        "a cell's first line and the prompt below it; the value of an option that has spaces goes in quotes."
    )


def _show(result: object) -> None:
    """Show what a command returned: a table, and what is drawn in several forms, as such, anything else as text."""
    if isinstance(result, dict):
        display(result, raw=True)
    elif hasattr(result, "_repr_mimebundle_") and not isinstance(result, Change):
        display(result)
    elif result is not None:
        say(result)
