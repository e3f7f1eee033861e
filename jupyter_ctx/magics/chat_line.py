"""What a line of ``%%chat`` or ``%chat`` asks for: a prompt, a command, the gauge, or what a command does."""

from __future__ import annotations

import re
from argparse import Namespace

from IPython.core.error import UsageError
from IPython.display import display

from ..chat import Chat
from ..session.actions import Change
from .chat_cells import ChatCells, tell
from .line_options import OF_A_PROMPT, check_repeated, given, parsed_line, split_line

ONE_CELL, CELL_MARKS = re.compile(r"In\[\d+\]"), ("pin", "unpin", "exclude", "include")


def run_line(cells: ChatCells, line: str, cell: str | None = None) -> None:
    """Do what a line says: send the prompt in the cell, run a command, or show the gauge."""
    options = _parsed(line)
    check_repeated(options, options.words[0].lower() if options.words else "")
    if options.words:
        _run_command(cells, options, cell, line)
    elif not all(option in OF_A_PROMPT for option in given(options)):
        from .line_errors import check_options

        check_options(options, None, "A prompt")
    elif cell is not None or options.error:
        text = cell or ""
        begins = not options.preview and bool(text.strip() or options.error)
        cells.ask(_chat_for(cells, options, begin=begins), options, text)
    elif any(given(options)) and not options.conversation:
        from .line_errors import no_prompt

        raise UsageError(no_prompt(line.strip(), options))
    else:
        chat = _chat_for(cells, options)
        cells.tell_notes()
        cells.gauge.show(chat)
        tell(chat.session.notices())


def _chat_for(cells: ChatCells, options: Namespace, *, begin: bool = False) -> Chat:
    """Return the conversation that a line is about; ``begin`` one of an unknown name."""
    library = cells.library
    return library.get(options.conversation, begin=begin) if options.conversation else library.current


def _run_command(cells: ChatCells, options: Namespace, cell: str | None, line: str) -> None:
    from .command_table import Call
    from .commands import COMMANDS
    from .line_errors import check_options, check_quotes, unknown

    name, words = options.words[0].lower(), options.words[1:]
    command = COMMANDS.get(name)
    if command is None or cell is not None:
        check_quotes(split_line(line), options.words, command)
    if command is None:
        raise UsageError(unknown(options.words, "%chat" if cell is None else "%%chat"))
    check_options(options, command, f"{command.mark} {name}")
    if name in CELL_MARKS and words and all(map(ONE_CELL.fullmatch, words)):
        tell([cells.prompts.mark_cells(name, words)])
        return
    if cell is not None and not command.heads_cell:
        raise UsageError(f"%chat {name} takes no text below it: write %chat {name} on a line of its own.")
    chat = _chat_for(cells, options)
    call = Call(cells, chat, name, words, options, cell)
    arguments = command.arguments(call)
    if not command.asks:
        cells.tell_notes()
    _show(command.run(call, *arguments))
    if not command.asks:
        shown = cells.library.current if command.every_conversation else chat
        tell([*cells.notes(), *shown.session.notices()])


def _show(result: object) -> None:
    """Show what a command returned: a table, and what is drawn in several forms, as such, anything else as text."""
    if isinstance(result, dict):
        display(result, raw=True)
    elif hasattr(result, "_repr_mimebundle_") and not isinstance(result, Change):
        display(result)
    elif result is not None:
        tell([result])


def _parsed(line: str) -> Namespace:
    """Parse the options and words of a line. Raises UsageError."""
    try:
        return parsed_line(line)
    except UsageError as error:
        from .line_errors import what_is_wrong

        raise UsageError(what_is_wrong(str(error), split_line(line))) from None
