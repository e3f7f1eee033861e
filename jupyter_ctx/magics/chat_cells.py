"""Do what stands in a chat cell or on its line: send the prompt and show the answer, run a command, show the gauge."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.display import display

from .. import wording as words
from ..chat import Chat
from ..conversation.messages import ToolCall, ToolResult
from ..display.answer.footer import Footer
from ..display.answer.stream import AnswerView, NotebookView, TerminalView
from ..display.tables import shortened
from ..display.text import warning_bundle
from ..errors import ChatError, ChatInterrupted, InvalidAnswerError, StoreError
from ..export.handout import HandedOut
from ..library import Library
from ..providers.base import Reply
from ..runtime.frontend import Where, notebook_files, origin, where
from ..runtime.interrupts import uninterrupted
from ..session.actions import Change
from ..session.complete import StreamListener
from ..session.prompt import Prompt
from ..session.send import send_prompt, threshold_notice
from ..session.session import NotebookState
from .answer_parts import (
    MOST_CALL,
    along_bundle,
    broken_below,
    call_shown,
    ending,
    figures_below,
    shown_bundle,
    steps_of,
)
from .cell_gauge import CellGauge
from .cell_prompts import CELL_MARKS, CellPrompts
from .line_options import A_PROMPT, ONE_CONVERSATION, given, is_several, parsed_line
from .output_recorder import OutputRecorder
from .questions import asked_first, say
from .variables import check_new_name

if TYPE_CHECKING:
    from ..display.widgets.next_tokens import NextTokens
    from ..experiments.run import Run
    from .answer_columns import SideBySideCell
    from .chip import Chip
    from .command_table import Command

MOST_LIVE = 8  # cells with answers side by side that have buttons, and with next tokens; older ones are snapshots
ONE_CELL = re.compile(r"In\[\d+\]")


class ChatCells:
    """The chat cells of one IPython shell, and the conversations that they talk in.

    ``recorder`` hears what cells show. ``chip`` is the one in the notebook's toolbar; ``None``: there can be none.
    """

    def __init__(self, shell: Any, recorder: OutputRecorder, chip: Chip | None = None) -> None:
        self.shell, self.prompts = shell, CellPrompts(shell, recorder)
        self.gauge = CellGauge(shell, lambda: self.library, chip, self.prompts)
        self.maps: dict[str, Run] = {}  # by the fingerprint of their cell, the newest
        self._live: dict[str, NextTokens | SideBySideCell] = {}  # what has buttons, by cell
        notebook = NotebookState(handout=HandedOut(partial(notebook_files, shell)))
        config = dict(shell.config.get("Chat", {}))
        self.library: Library = Library(origin(shell), config, notebook=notebook, confirm=asked_first)

    def notes(self) -> tuple[str, ...]:
        """Return the lines that say where the conversation comes from; each once."""
        library, _ = self.library, self.library.current
        lines, library.notes = tuple(library.notes), []
        return lines

    def now_in(self, chat: Chat) -> str:
        """Follow the conversation that is current now, and return which it is."""
        self.gauge.follow()
        say(*self.notes())
        if not chat.turns:
            return f"Started conversation {chat.name!r}."
        return f"Talking in {chat.name!r}: {words.turns(len(chat.turns))}."

    def ask(self, chat: Chat, options: Namespace, cell: str) -> Reply | None:
        """Send a cell's prompt, show the answer, and return the reply; ``None``: several came, or none."""
        if options.out:
            check_new_name("-o", options.out)
        place, columns = where(self.shell), None
        if is_several(options):
            from .answer_columns import SideBySideCell

            columns = SideBySideCell(chat, options, place)
            options = columns.first
        memory = chat.session.memory_notice()
        above = [*self.notes(), *([memory] if memory else ())]
        reading = _view(place, options, ())
        try:
            asked = self.prompts.of(chat, options, cell, place, partial(reading.sent, verb="Reading"))
        finally:
            reading.close()
        above += asked.lines
        reply: Reply | None = None
        try:
            if asked.along:  # in an output that no update of the answer repeats
                is_plain = options.plain or place.kind == "terminal"
                display(along_bundle(asked.along, plain=is_plain), raw=True, display_id=True)
            if columns is None:
                reply = self._send(chat, _view(place, options, above), place, asked.prompt)
                self._keep(reply, options.out)
            else:
                self.keep_live(place, columns)
                self._keep(columns.ask(asked.prompt, above), options.out)
        except ChatInterrupted:
            raise
        except KeyboardInterrupt:  # between the end of the answer and that of the cell, or before it was asked for
            raise ChatInterrupted("stopped; %chat history shows what is kept.") from None
        if asked.prompt.record:
            self.prompts.note_sent()
        return reply

    def keep_live(self, place: Where, shown: NextTokens | SideBySideCell) -> None:
        """Keep the buttons of a cell, in place of those that it had, until newer ones are too many."""
        before = self._live.pop(place.cell or "", None)
        self._live[place.cell or ""] = shown
        gone = [before] if before is not None else []
        while len(self._live) > MOST_LIVE:
            gone.append(self._live.pop(next(iter(self._live))))
        for each in gone:
            each.close()

    def _send(self, chat: Chat, view: AnswerView, place: Where, prompt: Prompt) -> Reply:
        """Send a prompt and show what comes."""

        def begin(warning: str | None = None) -> None:
            if warning is not None and place.kind != "headless":
                view.sent("")  # the warning stands above the answer
                display(warning_bundle(warning), raw=True)
            view.begin()

        def call(asked: ToolCall, result: ToolResult | None) -> None:
            if result is None:
                view.calling(shortened(str(asked), MOST_CALL))
            else:
                view.called(call_shown(asked, result))

        def confirm(question: str) -> bool | None:
            view.sent("")  # the question stands in its place
            is_agreed = asked_first(f"The model calls {question}. Call it?")
            view.calling(question)
            return is_agreed

        coming = StreamListener(begin, view.feed, view.think, on_sent=view.sent, on_call=call)
        below, footer = list[str](), Footer()
        try:
            reply = send_prompt(chat.session, replace(prompt, confirm=confirm), coming)
            view.leave()
        except InvalidAnswerError as error:
            begin()
            view.correct(error.text, error.reply.thinking, steps=steps_of(error.reply.rounds))
            footer = figures_below(chat, error.reply, place, prompt.options)
            raise
        except (ChatError, ChatInterrupted) as error:
            begin()
            if view.started:  # the line that the cell ends with
                more = "; %chat continue goes on with this one" if prompt.record else ""
                error.args = (f"{error} Run the cell again for another answer{more}.",)
            how = "interrupted" if isinstance(error, ChatInterrupted) else "cut off"
            footer = broken_below(chat, coming, place, "" if isinstance(error, StoreError) else how)
            raise
        else:
            view.correct(reply.text, reply.thinking, shown_bundle(reply), steps_of(reply.rounds))
            notice = threshold_notice(chat.session) if place.kind != "headless" else None
            below = [*reply.notices, *ending(reply), *([notice] if notice else ()), *chat.session.notices()]
            footer = figures_below(chat, reply, place, prompt.options)
            return reply
        finally:  # after errors of ours and of the user's own code, too
            with uninterrupted():
                view.close(below, footer)

    def _keep(self, reply: Reply | list[Reply | None], name: str | None) -> None:
        """Keep a reply, or several, in ``_`` and ``Out`` without showing it twice; values in a variable."""
        self.shell.displayhook.update_user_ns(reply)
        if name is not None:
            self.shell.user_ns[name] = _value(reply) if isinstance(reply, Reply) else list(map(_value, reply))


# what a line asks for


def run_line(cells: ChatCells, line: str, cell: str | None = None) -> None:
    """Do what a line says: send the prompt in the cell, run a command, or show the gauge."""
    options = parsed_line(line)
    if options.preview and not options.words:
        options.words = ["preview"]
    if options.words:
        _run_command(cells, options, cell)
        return
    check_options(options, None, "A prompt")
    if cell is not None or options.error:
        text = cell or ""
        if not text.strip() and not options.error:
            raise UsageError("The cell is empty: write a prompt below %%chat.")
        cells.ask(_chat_for(cells, options, begin=True), options, text)
    elif given(options) and not options.conversation:
        asked = f"%%chat {line.strip()}"
        raise UsageError(f"{asked[1:]} has no prompt: put {asked} on a cell's first line and the prompt below it.")
    else:
        chat = _chat_for(cells, options)
        say(*cells.notes())
        cells.gauge.show(chat)
        say(*chat.session.notices())


def _chat_for(cells: ChatCells, options: Namespace, *, begin: bool = False) -> Chat:
    """Return the conversation that a line is about; ``begin`` one of an unknown name."""
    library = cells.library
    return library.get(options.conversation, begin=begin) if options.conversation else library.current


def _run_command(cells: ChatCells, options: Namespace, cell: str | None) -> None:
    from .command_table import Call
    from .commands import COMMANDS

    name, typed = options.words[0].lower(), options.words[1:]
    command = COMMANDS.get(name)
    if command is None:
        head = "%chat" if cell is None else "%%chat"
        hint = words.did_you_mean(name, COMMANDS, f"{head} {{}}")
        raise UsageError(
            f"Unknown command: {head} {options.words[0]}.{hint} %chat help lists the commands. To ask a model, put "
            "%%chat alone on a cell's first line and the prompt below it; the value of an option that has spaces goes "
            "in quotes."
        )
    check_options(options, command, f"{command.mark} {name}")
    if name in CELL_MARKS and typed and all(map(ONE_CELL.fullmatch, typed)):
        say(cells.prompts.mark_cells(name, typed))
        return
    if cell is not None and not command.heads_cell:
        raise UsageError(f"%chat {name} takes no text below it: write %chat {name} on a line of its own.")
    if command.needs_text and not (cell or "").strip():
        raise UsageError(f"%%chat {name} needs a text on the lines below it.")
    chat = _chat_for(cells, options)
    call = Call(cells, chat, name, typed, options, cell)
    arguments = command.arguments(call)
    say(*cells.notes())
    _show(command.run(call, *arguments))
    shown = cells.library.current if command.every_conversation else chat
    say(*cells.notes(), *shown.session.notices())


def check_options(options: Namespace, command: Command | None, head: str) -> None:
    """Refuse options that a command, or a prompt where it is ``None``, does not take. Raises UsageError."""
    for option in given(options):
        if not (command.knows(option) if command is not None else A_PROMPT in option.of):
            places = [
                f"%chat {name}" if name else "a prompt (%%chat)" for name in option.of if name != ONE_CONVERSATION
            ]
            raise UsageError(f"{head} takes no {option.flag}: it goes with {', '.join(places)}. Nothing was done.")


def _show(result: object) -> None:
    """Show what a command returned: a table, and what is drawn in several forms, as such, anything else as text."""
    if isinstance(result, dict):
        display(result, raw=True)
    elif hasattr(result, "_repr_mimebundle_") and not isinstance(result, Change):
        display(result)
    elif result is not None:
        say(result)


def _value(reply: Reply | None) -> Any:
    """Return what a variable holds of a reply: the value of a structured answer, else the reply."""
    return reply if reply is None or reply.parsed is None else reply.parsed


def _view(place: Where, options: Namespace, above: Sequence[str]) -> AnswerView:
    if place.kind == "terminal" or options.plain:
        return TerminalView(above)
    is_json = options.schema is not None
    return NotebookView(above, streaming=place.kind == "notebook", is_json=is_json)
