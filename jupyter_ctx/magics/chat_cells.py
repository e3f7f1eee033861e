"""Ask what stands in a chat cell, and show the answer."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.display import display

from .. import wording as words
from ..chat import Chat
from ..conversation.events import Added, Kept, Offered, TurnAdded
from ..conversation.messages import ToolCall, ToolResult
from ..conversation.places import TurnSlot
from ..display.answer.stream import AnswerView, NotebookView, TerminalView
from ..display.text import note_plain, to_plain, warning_bundle
from ..errors import ChatError, ChatInterrupted, InvalidAnswerError, StoreError
from ..library import Library
from ..providers.base import Reply
from ..runtime.frontend import Where, notebook_files, origin, where
from ..runtime.interrupts import uninterrupted
from ..session.complete import StreamListener
from ..session.handout import HandedOut
from ..session.notebook_state import NotebookState
from ..session.prompt import Prompt
from ..session.reading import preview_of
from ..session.send import send_prompt, threshold_notice
from .answer_parts import broken_below, ending, figures_below, shown_bundle
from .cell_gauge import CellGauge
from .cell_prompts import CellPrompts
from .line_options import is_several
from .output_recorder import OutputRecorder
from .questions import asked_first
from .sent_parts import along_bundle, call_line, call_shown, parts_bundle, steps_of
from .variables import check_new_name

if TYPE_CHECKING:
    from ..display.widgets.next_tokens import NextTokens
    from ..experiments.run import Run
    from .answer_columns import SideBySideCell
    from .chip import Chip

EXPLAIN = "Explain this error and how to mend it."
MOST_LIVE = 8  # cells with answers side by side that have buttons, and with next tokens; older ones are snapshots
ADDS_TURNS = (TurnAdded, Offered, Kept, Added)
RUN_AGAIN = "Run the cell again for another answer"


class ChatCells:
    """The chat cells of one IPython shell, and the conversations that they talk in.

    ``recorder`` hears what cells show. ``chip`` is the one in the notebook's toolbar; ``None``: there can be none.
    """

    def __init__(self, shell: Any, recorder: OutputRecorder, chip: Chip | None = None) -> None:
        self.shell, self.prompts = shell, CellPrompts(shell, recorder)
        self.gauge = CellGauge(shell, lambda: self.library, chip, self.prompts)
        self.maps: dict[str, Run] = {}  # by the fingerprint of their cell, the newest
        self._side_by_side: dict[str, SideBySideCell] = {}  # by cell
        self._live: list[NextTokens] = []
        self._notebook, self._additions = NotebookState(handout=HandedOut(partial(notebook_files, shell))), 0
        config = dict(shell.config.get("Chat", {}))
        self.library: Library = Library(origin(shell), config, notebook=self._notebook, confirm=asked_first)

    @property
    def places(self) -> Sequence[TurnSlot]:
        """The turns of the current conversation; empty before the first conversation is opened."""
        return self.library.current.conversation.places if self.library.is_open else ()

    def has_added(self) -> bool:
        """Return whether a conversation was added to since this was asked last."""
        before, self._additions = self._additions, sum(self._notebook.recorded[kind] for kind in ADDS_TURNS)
        return self._additions > before

    def notes(self) -> tuple[str, ...]:
        """Return the lines that say where the conversation comes from; each once."""
        library, _ = self.library, self.library.current
        lines, library.notes = tuple(library.notes), []
        return lines

    def tell_notes(self) -> None:
        """Print where the conversation comes from, before anything else about it."""
        tell(self.notes())

    def now_in(self, chat: Chat) -> str:
        """Follow the conversation that is current now, and return which it is."""
        self.gauge.follow()
        self.tell_notes()
        if not chat.turns:
            return f"Started conversation {chat.name!r}."
        return f"Talking in {chat.name!r}: {words.turns(len(chat.turns))}."

    def ask(self, chat: Chat, options: Namespace, cell: str) -> Reply | None:
        """Send a cell's prompt and return the reply, or show what would be sent."""
        cell = cell if cell.strip() or not options.error else EXPLAIN
        if not cell.strip():
            raise UsageError("The cell is empty: write a prompt below %%chat.")
        check_new_name("-o", options.out)
        place = where(self.shell)
        columns = _columns(chat, options, place)
        if columns is not None and options.tools:
            raise UsageError("--tool goes with one answer, and several are asked for. Nothing was sent.")
        options = options if columns is None else columns.first
        memory = None if options.preview else chat.session.memory_notice()
        above = [*self.notes(), *filter(None, [memory])]
        reading = _view(place, options, ())
        try:
            asked = self.prompts.of(chat, options, cell.rstrip("\n"), place, reading.sent)
        finally:
            reading.close()
        if columns is not None:
            asked = asked._replace(prompt=replace(asked.prompt, tools=()))
        if options.preview:
            several = () if columns is None else (f"This is the first of {columns.count} requests.",)
            tell((*above, *asked.lines, *several))
            display(parts_bundle(preview_of(chat.session, asked.prompt).shown()), raw=True)
            return None
        above += [*(asked.along.lines if place.kind == "terminal" else ()), *asked.lines]
        before, reply = chat.conversation.length, None
        try:
            if asked.along.parts and place.kind != "terminal":  # in an output that no update of the answer repeats
                display(along_bundle(asked.along, plain=options.plain), raw=True, display_id=True)
            if columns is None:
                reply = self._send(chat, _view(place, options, above), place, asked.prompt)
                self._keep(reply, options.out)
            else:
                self._ask_each(columns, asked.prompt, above, place)
        except (ChatError, ChatInterrupted):
            raise
        except KeyboardInterrupt:  # between the end of the answer and that of the cell, or before it was asked for
            is_whole = reply is not None or _has_whole(chat, before)
            raise ChatInterrupted(
                "the answer had come whole." if is_whole else "stopped; %chat history shows what is kept."
            ) from None
        if asked.prompt.record:
            self.prompts.note_sent()
        return reply

    def keep_live(self, shown: NextTokens) -> None:
        """Keep a widget's controls until newer ones are too many."""
        self._live.append(shown)
        if len(self._live) > MOST_LIVE:
            self._live.pop(0).close()

    def _ask_each(self, answers: SideBySideCell, prompt: Prompt, above: Sequence[str], place: Where) -> None:
        """Ask several at once, and show their answers side by side in place of those that the cell had."""
        before = self._side_by_side.pop(place.cell or "", None)
        if before is not None:
            before.end()
        self._side_by_side[place.cell or ""] = answers
        while len(self._side_by_side) > MOST_LIVE:
            self._side_by_side.pop(next(iter(self._side_by_side))).end()
        self._keep(answers.ask(prompt, above), answers.first.out)

    def _send(self, chat: Chat, view: AnswerView, place: Where, prompt: Prompt) -> Reply:
        """Send a prompt and show what comes."""
        before = chat.conversation.length

        def begin(warning: str | None = None) -> None:
            if warning is not None and place.kind != "headless":
                view.sent("")  # the warning stands above the answer
                _warn(warning, place)
            view.begin()

        def call(asked: ToolCall, result: ToolResult | None) -> None:
            if result is None:
                view.calling(call_line(asked))
            else:
                view.called(call_shown(asked, result))

        def confirm(question: str) -> bool | None:
            view.sent("")  # the question stands in its place
            is_agreed = asked_first(f"The model calls {question}. Call it?")
            view.calling(question)
            return is_agreed

        coming = StreamListener(begin, view.feed, view.think, on_sent=view.sent, on_call=call)
        try:
            reply = send_prompt(chat.session, replace(prompt, confirm=confirm), coming)
            view.leave()
        except InvalidAnswerError as error:
            with uninterrupted():
                begin()
                view.correct(error.text, error.reply.thinking, steps=steps_of(error.reply.rounds))
                view.close((), figures_below(chat, error.reply, place, prompt.options))
            raise
        except (ChatError, ChatInterrupted) as error:
            with uninterrupted():
                begin()
                if view.started:  # the line that the cell ends with
                    more = "; %chat continue goes on with this one" if prompt.record else ""
                    error.args = (f"{error} {RUN_AGAIN}{more}.",)
                is_whole = isinstance(error, StoreError) or _has_whole(chat, before)
                how = "interrupted" if isinstance(error, ChatInterrupted) else "cut off"
                view.close((), broken_below(chat, coming, place, "" if is_whole else how))
            raise
        except BaseException:  # an error in ours or the user's own code: nobody is waited for
            with uninterrupted():
                view.close()
            raise
        view.correct(reply.text, reply.thinking, shown_bundle(reply), steps_of(reply.rounds))
        self._close(chat, view, place, reply, prompt.options)
        return reply

    def _close(
        self, chat: Chat, view: AnswerView, place: Where, reply: Reply, options: Mapping[str, Any]
    ) -> None:  # fmt: skip
        """Show notices, figures and next steps below an answer."""
        below = [*reply.notices, *ending(reply)]
        footer = figures_below(chat, reply, place, options)
        has_figure = place.kind == "notebook" and bool(footer.share)
        notice = threshold_notice(chat.session, has_figure=has_figure) if place.kind != "headless" else None
        if notice and has_figure:
            footer, notice = replace(footer, notes=(*footer.notes, notice.removesuffix("."))), None
        below += [*([notice] if notice else ()), *chat.session.notices()]
        with uninterrupted():
            view.close(below, footer)

    def _keep(self, reply: Reply | list[Reply | None], name: str | None) -> None:
        """Keep a reply, or several, in ``_`` and ``Out`` without showing it twice; values in a variable."""
        self.shell.displayhook.update_user_ns(reply)
        if name is not None:
            self.shell.user_ns[name] = _value(reply) if isinstance(reply, Reply) else list(map(_value, reply))


def tell(lines: Iterable[object]) -> None:
    """Print lines for the user."""
    for line in lines:
        print(to_plain(str(line)))


def _has_whole(chat: Chat, before: int) -> bool:
    """Return whether an answer came whole after so many events."""
    turns = (event.turn for event in chat.conversation.events[before:] if isinstance(event, TurnAdded))
    return any(turn.stop_reason not in ("interrupted", "cut") for turn in turns)


def _warn(line: str, place: Where) -> None:
    """Show, before the answer, that the context window is nearly full, and what to do."""
    if place.kind == "terminal":
        print(note_plain(line))
    else:
        display(warning_bundle(line), raw=True)


def _value(reply: Reply | None) -> Any:
    """Return what a variable holds of a reply: the value of a structured answer, else the reply."""
    return reply if reply is None or reply.parsed is None else reply.parsed


def _columns(chat: Chat, options: Namespace, place: Where) -> SideBySideCell | None:
    """Return whom a line asks at once; ``None``: one. Raises UsageError."""
    if not is_several(options):
        return None
    from .answer_columns import SideBySideCell

    return SideBySideCell(chat, options, place)


def _view(place: Where, options: Namespace, above: Sequence[str]) -> AnswerView:
    if place.kind == "terminal":
        return TerminalView(above)
    is_json = options.schema is not None
    return NotebookView(above, streaming=place.kind == "notebook", plain=options.plain, is_json=is_json)
