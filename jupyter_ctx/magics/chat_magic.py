"""The conversations of a notebook as its cells use them: ask, show the answer, and show the gauge."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from getpass import getpass
from typing import TYPE_CHECKING, Any

from IPython.core.error import StdinNotImplementedError, UsageError
from IPython.display import display

from ..chat import Chat
from ..conversation.events import Event, Said
from ..conversation.places import Place
from ..display.answer.stream import AnswerView, NotebookView, TerminalView
from ..display.text import note_plain, plain_forms, to_plain, warning_forms
from ..display.widgets.gauge import gauge_forms, gauge_terminal, moment, not_drawn
from ..display.widgets.gauge_outputs import GaugeOutputs, GaugeSnapshot
from ..display.widgets.gauge_panel import Controls, GaugePanel
from ..errors import ChatError, ChatInterrupted, InvalidAnswerError, InvalidRequestError, StoreError
from ..library import Library
from ..providers.base import Reply
from ..runtime.frontend import Where, notebook_files, origin, where
from ..runtime.interrupts import uninterrupted
from ..session import actions
from ..session.actions import Change, threshold_notice
from ..session.complete import StreamListener
from ..session.handed_out import HandedOut
from ..session.notices import WHERE_FROM
from ..session.prompt import Prompt
from ..session.send import send_prompt
from ..session.state import NotebookState
from .answer_parts import blocks_below, broken_below, ending, figures_below, shown_forms
from .cell_prompts import CellPrompts
from .chip_feed import ChipFeed
from .conversation_tables import view_forms
from .line_options import is_several
from .sent_parts import along_bundle
from .shown import Shown
from .variables import check_new_name

if TYPE_CHECKING:
    from ..experiments.run import Run
    from .answer_columns import SideBySideCell
    from .chip import Chip

EXPLAIN = "Explain this error and how to mend it."
RUN_AGAIN = "Run the cell again for another answer"


class ChatMagic:
    """The conversations of one IPython shell, and what is shown of them there.

    ``shown`` is told what cells show. ``chip`` is the one in the notebook's toolbar; ``None``: there can be none.
    """

    def __init__(self, shell: Any, shown: Shown, chip: Chip | None = None) -> None:
        self.shell, self.prompts = shell, CellPrompts(shell, shown)
        self._library: Library | None = None
        self._panel: GaugePanel | None = None
        self._chip = ChipFeed(chip, lambda: self.library.current, self._controls()) if chip is not None else None
        self._gauges = GaugeOutputs()
        self._heard = set[Chat]()  # conversations whose changes the outputs of the gauge hear of
        self._side_by_side: dict[str, SideBySideCell] = {}  # by cell
        self._newest_columns: SideBySideCell | None = None
        self.maps: dict[str, Run] = {}  # by the fingerprint of their cell, the newest
        self._greeted = False
        self._followed: Chat | None = None  # the conversation that the gauge shows
        self._has_several = False  # conversations, of which the gauge names the current one
        self._answered = False  # whole, in this cell
        self._at_the_end: Callable[[], None] | None = None  # of the cell that runs: shows the gauge
        self._notebook = NotebookState(handout=HandedOut(partial(notebook_files, shell)))

    @property
    def library(self) -> Library:
        """The conversations of this notebook, opened at first use."""
        if self._library is None:
            config = dict(self.shell.config.get("Chat", {}))
            self._library = Library(origin(self.shell), config, notebook=self._notebook)
        return self._library

    @property
    def names(self) -> list[str]:
        """The names of this notebook's conversations; empty before the first is opened."""
        return self._library.names if self._library is not None else []

    @property
    def places(self) -> Sequence[Place]:
        """The turns of the current conversation; empty before the first conversation is opened."""
        return self._library.current.conversation.places if self._library is not None else ()

    def notes(self) -> tuple[str, ...]:
        """Return the lines that say where the conversation comes from; each once."""
        library, _ = self.library, self.library.current
        lines, library.notes = tuple(library.notes), []
        return lines

    def tell_notes(self) -> None:
        """Print where the conversation comes from, before anything else about it."""
        tell(self.notes())

    def ask(self, chat: Chat, options: Namespace, cell: str) -> Reply | None:
        """Send a cell's prompt and return the reply, or show what would be sent."""
        cell = cell if cell.strip() or not options.error else EXPLAIN
        if not cell.strip():
            raise UsageError("The cell is empty: write a prompt below %%chat.")
        if options.out is not None:
            check_new_name("-o", options.out)
        place = where(self.shell)
        several = _several(chat, options, place)
        options = options if several is None else several.first
        above = (
            *self.notes(),
            *(() if options.preview else filter(None, [chat.session.memory_notice()])),
        )
        reading = _view(place, options, ())
        try:
            asked = self.prompts.of(chat, options, cell.rstrip("\n"), place, reading.sent)
        finally:
            reading.close()
        prompt = asked.prompt
        if options.preview:
            tell((*above, *asked.lines))
            columns = several.prompts(prompt) if several is not None else ()
            prices = [chat.session.view(column).price for column in columns]
            display(view_forms(chat.session.view(prompt), prices), raw=True)
            return None
        self._answered = False
        before, reply = chat.conversation.length, None
        along = asked.along
        above = (*above, *(along.lines if place.kind == "terminal" else ()), *asked.lines)
        try:
            if (
                along.parts and place.kind != "terminal"
            ):  # in an output of its own, which no update of the answer repeats
                display(along_bundle(along, plain=options.plain), raw=True, display_id=True)
            with self._gauge_below(chat, place):
                if several is None:
                    reply = self._send(chat, _view(place, options, above), place, prompt)
                    self._keep(reply, options.out)
                else:
                    self._ask_each(several, prompt, above, place)
        except ChatInterrupted:
            raise
        except KeyboardInterrupt:  # between the end of the answer and that of the cell, or before it was asked for
            whole = self._answered or any(map(_is_whole, chat.conversation.events[before:]))
            raise ChatInterrupted(
                "the answer had come whole." if whole else "stopped; %chat history shows what is kept."
            ) from None
        return reply

    def _ask_each(self, answers: SideBySideCell, prompt: Prompt, above: Sequence[str], place: Where) -> None:
        """Ask several at once, and show their answers side by side in place of those that the cell had."""
        before = self._side_by_side.get(place.cell or "")
        if before is not None:
            before.end()
        self._side_by_side[place.cell or ""] = self._newest_columns = answers
        self._keep(answers.ask(prompt, above), answers.first.out)

    def choose(self, chat: Chat, number: int, *, is_named: bool) -> Change:
        """Take one of the answers shown last; ``is_named``: of those that this conversation had last."""
        last = self._newest_columns
        if last is None or is_named:
            return chat.pick(number)
        if last.kept_in is None:
            raise InvalidRequestError("None of the answers shown last was kept, so none can be taken.")
        if last.kept_in is not chat:
            name = last.kept_in.name
            raise InvalidRequestError(
                f"The answers shown last are in the conversation {name!r}: %chat pick {number} -i {name}."
            )
        return chat.session.act(actions.choose_answer, number, last.id)

    def _send(self, chat: Chat, view: AnswerView, place: Where, prompt: Prompt) -> Reply:
        """Send a prompt and show what comes."""
        before = chat.conversation.length
        step = f"{RUN_AGAIN}; %chat continue goes on with this one." if prompt.record else f"{RUN_AGAIN}."

        def begin(warning: str | None = None) -> None:
            if warning is not None and place.kind != "headless":
                view.sent("")  # the warning stands above the answer
                _warn(warning, place)
            view.begin()

        coming = StreamListener(begin, view.feed, view.think, on_sent=view.sent)
        try:
            reply = send_prompt(chat.session, prompt, coming)
            view.leave()
        except (ChatError, ChatInterrupted) as error:
            with uninterrupted():
                begin()
                if isinstance(error, InvalidAnswerError):
                    view.correct(error.text, error.reply.thinking)
                    view.close((), figures_below(chat, error.reply, place))
                    raise
                if view.started:  # the line that the cell ends with
                    error.args = (f"{error} {step}",)
                is_whole = isinstance(error, StoreError) or any(map(_is_whole, chat.conversation.events[before:]))
                how = "interrupted" if isinstance(error, ChatInterrupted) else "cut off"
                view.close((), broken_below(chat, coming, place, "" if is_whole else how))
            raise
        except BaseException:  # an error in ours or the user's own code: nobody is waited for
            with uninterrupted():
                view.close()
            raise
        self._answered = True
        view.correct(reply.text, reply.thinking, shown_forms(reply))
        below = [*(line for line in reply.notices if line not in WHERE_FROM), *ending(reply)]
        blocks = 0 if self._is_elsewhere(chat) else blocks_below(chat, reply)
        footer = figures_below(chat, reply, place, blocks)
        has_figure = place.kind == "notebook" and footer.fill is not None
        notice = threshold_notice(chat.session, has_figure=has_figure) if place.kind != "headless" else None
        if notice and has_figure:
            footer, notice = replace(footer, notes=(*footer.notes, notice.removesuffix("."))), None
        below += [*([notice] if notice else ()), *chat.session.notices()]
        with uninterrupted():
            view.close(below, footer)
        return reply

    def _keep(self, reply: Reply | list[Reply | None], name: str | None) -> None:
        """Keep a reply, or several, in ``_`` and ``Out`` without showing it twice; values in a variable."""
        self.shell.displayhook.update_user_ns(reply)
        if name is not None:
            self.shell.user_ns[name] = _value(reply) if isinstance(reply, Reply) else list(map(_value, reply))

    @contextmanager
    def _gauge_below(self, chat: Chat, place: Where) -> Iterator[None]:
        """Show the gauge below the cell that a turn is asked in, also where it fails but something was recorded."""
        before, elsewhere = chat.conversation.length, self._is_elsewhere(chat)
        self._has_several = self._has_several or elsewhere
        if self._chip is not None and not elsewhere:
            self._chip.follow(place.cell)
        try:
            yield
        except BaseException:
            if chat.conversation.length != before:
                with uninterrupted():
                    self._greet(chat, place)
            raise
        self._greet(chat, place)

    def _greet(self, chat: Chat, place: Where) -> None:
        """Show the gauge below the newest chat cell; in a terminal, below the first."""
        if self._is_elsewhere(chat) or chat.config.gauge == "off" or self._has_chip:
            return
        if place.kind == "terminal" and not self._greeted:
            with suppress(ChatError):
                self.show_gauge(chat)
        elif place.kind == "notebook" and place.is_magic:
            self._follow_cell(chat)
        elif place.kind == "notebook":  # perhaps a loop: one gauge for all its answers
            self._at_the_end = partial(self._follow_cell, chat)

    def _follow_cell(self, chat: Chat) -> None:
        """Show the gauge in the running cell, and let it go from the cell where it was."""
        with suppress(ChatError):  # another model was asked, and the usual one is not there
            panel = self.panel()
            self._hear(chat)
            self._gauges.follow(chat, panel.widget, partial(self._snapshot, chat))

    @property
    def _has_chip(self) -> bool:
        """Whether the notebook's toolbar shows how full the context is."""
        return self._chip is not None and self._chip.has_page

    def after_cell(self) -> None:
        """Show the gauge where the cell that ends asked for it, and the chip as of the current conversation."""
        show, self._at_the_end = self._at_the_end, None
        if show is not None:
            show()
        if self._chip is not None and self._library is not None and self._library.is_open:
            self._chip.follow()

    def _is_elsewhere(self, chat: Chat) -> bool:
        """Return whether a conversation is another than the current one."""
        return chat is not self.library.current

    def show_gauge(self, chat: Chat) -> None:
        """Show the live panel; its text in a terminal, in headless runs, and for another conversation."""
        kind = where(self.shell).kind
        with suppress(ChatError):  # the gauge says it
            chat.info()  # as of now
        if kind == "terminal":
            wanted = "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
            coloured = sys.stdout.isatty() and wanted and str(self.shell.colors).lower() != "nocolor"
            print(gauge_terminal(chat.info(), coloured=coloured, name=self.name_of(chat)))
        elif kind == "headless" or self._is_elsewhere(chat):
            display(self._snapshot(chat).dated, raw=True)
        else:
            panel = self.panel()
            self._hear(chat)
            self._gauges.show(chat, panel.widget, partial(self._snapshot, chat))
        self._greeted = True

    def _snapshot(self, chat: Chat) -> GaugeSnapshot:
        """Return the gauge of a conversation as it is now, and when that is."""
        forms = self._gauge_forms(chat)
        try:
            return GaugeSnapshot(forms, moment(chat.session.latest().info))
        except ChatError:  # another model was asked, and the usual one is not there
            return GaugeSnapshot(forms, f"after turn {len(chat.turns):,}")

    def _gauge_forms(self, chat: Chat) -> dict[str, str]:
        try:
            return gauge_forms(chat.session.latest().info, self.name_of(chat))
        except Exception as error:  # the cell must not fail because of a drawing
            return plain_forms(not_drawn(error))

    def _hear(self, chat: Chat) -> None:
        """Let the outputs of the gauge hear of a conversation's changes."""
        if chat not in self._heard:
            self._heard.add(chat)
            chat.session.listeners.append(partial(self._freeze_gauges, chat))

    def _freeze_gauges(self, chat: Chat) -> None:
        """Let the outputs of the gauge become snapshots once a turn has ended, or an action was done."""
        if not chat.session.running:
            self._gauges.changed(chat)

    def name_of(self, chat: Chat) -> str:
        """Return a conversation's name where this notebook has more than one, else an empty text."""
        return chat.name if len(self.names) > 1 else ""

    def panel(self) -> GaugePanel:
        """Return the gauge's panel: one for all its views, so that they agree."""
        if self._panel is None:
            self._panel = GaugePanel(self._controls())
            self.follow()
        else:
            self._attach(self._panel)
        return self._panel

    def _controls(self) -> Controls:
        """Return what the panel's buttons do to the conversation that is current at the click."""

        def chat() -> Chat:
            return self.library.current

        return Controls(
            read=lambda: chat().session.latest().info,
            plans=lambda: actions.plans(chat().session),
            act=lambda name: getattr(chat(), name)(),
            summarise=lambda stopper: chat().session.act(actions.summarize, stopper=stopper),
            writer=lambda: actions.writer(chat().session),
            name=lambda: chat().name if self._has_several else "",
            busy=lambda: chat().session.running,
        )

    def follow(self) -> None:
        """Let the panel show the current conversation, with its name where there is more than one.

        It goes from the cell of another conversation to the one that runs.
        """
        self._has_several = len(self.names) > 1
        if self._panel is None:
            return
        chat, place = self.library.current, where(self.shell)
        has_changed = self._followed not in (None, chat)
        self._attach(self._panel)
        follows = chat.config.gauge != "off" and not self._has_chip
        if has_changed and follows and place.kind == "notebook":
            self._at_the_end = partial(self._follow_cell, chat)

    def _attach(self, panel: GaugePanel) -> None:
        """Let the panel hear what happens in the current conversation."""
        chat = self.library.current
        if self._followed is not chat:
            self._followed = chat
            self._gauges.leave()
            self._gauges.freeze()
        if panel.update not in chat.session.listeners:
            chat.session.listeners.append(panel.update)
        panel.update()

    def ask_key(self, chat: Chat, owner: str) -> None:
        """Ask for a key without showing it, and keep it in memory."""
        try:
            key = getpass(f"Key for {owner} (kept in memory only): ").strip()
        except (StdinNotImplementedError, EOFError):
            raise UsageError(
                "A key cannot be typed here: set the provider's environment variable, such as OPENAI_API_KEY."
            ) from None
        if not key:
            raise InvalidRequestError("No key was typed; nothing has changed.")
        chat.models.set_key(owner, key)


def tell(lines: Iterable[str]) -> None:
    """Print lines for the user."""
    for line in lines:
        print(to_plain(line))


def _is_whole(event: Event) -> bool:
    """Return whether an event is an answer that came whole."""
    return isinstance(event, Said) and event.turn.stop_reason not in ("interrupted", "cut")


def _warn(line: str, place: Where) -> None:
    """Show, before the answer, that the context window is nearly full, and what to do."""
    if place.kind == "terminal":
        print(note_plain(line))
        return
    display(warning_forms(line), raw=True)


def _value(reply: Reply | None) -> Any:
    """Return what a variable holds of a reply: the value of a structured answer, else the reply."""
    return reply if reply is None or reply.parsed is None else reply.parsed


def _several(chat: Chat, options: Namespace, place: Where) -> SideBySideCell | None:
    """Return whom a line asks at once; ``None``: one. Raises UsageError."""
    if is_several(options):
        from .answer_columns import SideBySideCell

        return SideBySideCell(chat, options, place)
    return None


def _view(place: Where, options: Namespace, above: tuple[str, ...]) -> AnswerView:
    if place.kind == "terminal":
        return TerminalView(above)
    is_json = options.schema is not None
    return NotebookView(above, streaming=place.kind == "notebook", plain=options.plain, is_json=is_json)
