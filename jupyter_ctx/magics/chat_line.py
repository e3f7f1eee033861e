"""What a line of ``%%chat`` or ``%chat`` asks for: a prompt, a command, the gauge, or what a command does."""

from __future__ import annotations

from argparse import Namespace

from IPython.core.error import UsageError
from IPython.display import display

from ..chat import Chat
from .chat_magic import ChatMagic, tell
from .line_options import OF_A_PROMPT, check_repeated, given, parsed_line, split_line


def run_line(magic: ChatMagic, line: str, cell: str | None = None) -> None:
    """Do what a line says: send the prompt in the cell, run a command, or show the gauge."""
    options = _parsed(line)
    check_repeated(options, options.words[0].lower() if options.words else "")
    if options.words:
        _run_command(magic, options, cell, line)
        return
    _check_of_a_prompt(options)
    if cell is not None:
        magic.ask(_chat_for(magic, options, begin=bool(cell.strip()) and not options.preview), options, cell)
    elif options.error:
        magic.ask(_chat_for(magic, options, begin=not options.preview), options, "")
    elif any(given(options)) and not options.conversation:
        from .line_errors import no_prompt

        raise UsageError(no_prompt(line.strip(), options))
    else:
        chat = _chat_for(magic, options)
        magic.tell_notes()
        magic.show_gauge(chat)
        tell(chat.desk.session.notices())


def _chat_for(magic: ChatMagic, options: Namespace, *, begin: bool = False) -> Chat:
    """Return the conversation that a line is about; ``begin`` one of an unknown name."""
    library = magic.library
    return library.get(options.conversation, begin=begin) if options.conversation else library.current


def _run_command(magic: ChatMagic, options: Namespace, cell: str | None, line: str) -> None:
    from .command_table import Call
    from .commands import COMMANDS
    from .line_errors import check_options, check_quotes, unknown

    name, *words = options.words
    command = COMMANDS.get(name.lower())
    if command is None or cell is not None:
        check_quotes(split_line(line), options.words, command)
    if command is None:
        raise UsageError(unknown(options.words, "%chat" if cell is None else "%%chat"))
    check_options(options, command, f"{command.mark} {name}")
    if cell is not None and not command.heads_cell:
        raise UsageError(f"%chat {name} takes no text below it: write %chat {name} on a line of its own.")
    chat = _chat_for(magic, options)
    call = Call(magic, chat, name, words, options, cell)
    arguments = command.arguments(call)
    if command.asks:
        _show(command.run(call, *arguments))
        return
    magic.tell_notes()
    _show(command.run(call, *arguments))
    shown = magic.library.current if command.every_conversation else chat
    tell([*magic.notes(), *shown.desk.session.notices()])


def _show(result: object) -> None:
    """Show what a command returned: a table or what is drawn in several forms as such, anything else as text."""
    if isinstance(result, dict) or hasattr(result, "_repr_html_"):
        display(result, raw=isinstance(result, dict))
    elif result is not None:
        tell([result])


def _check_of_a_prompt(options: Namespace) -> None:
    """Refuse options that only commands take. Raises UsageError."""
    if any(option not in OF_A_PROMPT for option in given(options)):
        from .line_errors import check_options

        check_options(options, None, "A prompt")


def _parsed(line: str) -> Namespace:
    """Parse the options and words of a line. Raises UsageError."""
    try:
        return parsed_line(line)
    except UsageError as error:
        from .line_errors import what_is_wrong

        raise UsageError(what_is_wrong(str(error), split_line(line))) from None
