"""One conversation as the cells of a notebook work with it; :class:`~jupyter_ctx.Chat` is its face for scripts."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..attachments.attached import Attached
from ..config.settings import Settings, check_setting
from ..conversation.events import Added, Said
from ..conversation.messages import Alternatives, Turn
from ..errors import ChatError, ChatInterrupted, InvalidRequestError, StoreError
from ..providers.base import Reply
from ..providers.lookup import key_holder
from ..runtime.interrupts import Stopper, uninterrupted
from ..runtime.redaction import Redactor, Unredacted
from ..storage.journal import Journal
from .actions import Actions, Change, Method
from .exchange import Coming
from .notices import ROOM_MAKERS, SMALL_VALUES, Along, large_values, makes_room, sized, threshold
from .preview import View
from .prompt import Prompt, attached_parts
from .send import Sender, stopped
from .session import Session
from .snapshot import context_info
from .tries import as_answer

if TYPE_CHECKING:
    from ..attachments.errors import Failure
    from .side_by_side import Candidate, Watcher

T = TypeVar("T")


class TurnQueue:
    """A lock around a turn, with a queue for actions that arrive while it is held.

    On some kernels (ipykernel 7.0 to 7.3) button callbacks run in threads beside a cell. ``watchers`` are called when
    a turn begins, and when it has ended.
    """

    def __init__(self) -> None:
        self._lock, self._gate = threading.RLock(), threading.Lock()
        self._waiting: deque[Callable[[], object]] = deque()
        self.running = False
        self.watchers: list[Callable[[], object]] = []

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the conversation for one turn, then run the actions that were requested meanwhile.

        Raises InvalidRequestError for a turn inside a turn of the same thread.
        """
        with self._lock:
            if self.running:
                raise InvalidRequestError("A turn is running: send this prompt when it has ended.")
            self.running = True
            try:
                self._tell()
                yield
            finally:
                with self._gate:
                    self.running = False
                    waiting, self._waiting = self._waiting, deque()
                for action in waiting:
                    action()
                self._tell()

    def _tell(self) -> None:
        for watcher in tuple(self.watchers):
            watcher()

    def wait(self, action: Callable[[], T]) -> T:
        """Wait until no turn runs, then act. For background threads, which may block."""
        with self._lock:
            return action()

    def do(self, action: Callable[[], T], late: Callable[[], object], later: T) -> T:
        """Run ``action`` and return its result; during a turn, queue ``late`` for after it and return ``later``."""
        with self._gate:
            if self.running:
                self._waiting.append(late)
                return later
        with self._lock:
            return action()


class Desk:
    """A conversation at work: one turn at a time, and actions between the turns.

    session: the conversation, its state, and the models that it talks to
    actions: what can be done to it; :meth:`do` does one in its turn
    queue: whose turn it is
    listeners: called after each change, with what was done after waiting for a turn, else with ``None``
    """

    def __init__(self, session: Session) -> None:
        self.session, self.actions = session, Actions(session)
        self.queue = TurnQueue()
        self.listeners: list[Callable[[Change | None], None]] = []
        self._sender = Sender(session, self.actions)

    @property
    def journal(self) -> Journal:
        """The journal that stores the conversation. Raises StoreError where none does."""
        if self.session.journal is None:
            raise StoreError("This conversation is not stored: Chat(store=…) stores one.")
        return self.session.journal

    # asking

    def ask(self, prompt: Prompt, coming: Coming) -> Reply:
        """Send a prompt and record the turn; the reply lacks the notices of the memory file and the store."""
        with self._turn(prompt) as said:
            among = prompt.stored if prompt.record else None
            reply = self._sender.stored(said, prompt.options, among, prompt.schema) if among else None
            if reply is None and among:
                reply = self._sender.handed(said, prompt.options, prompt.schema)
            if reply is not None:
                coming.show(reply)
                return reply
            if said.begins_anew(self.session.conversation):
                self._begin_anew()
            return self._sender.send(said, prompt.options, coming, record=prompt.record, schema=prompt.schema)

    def ask_each(self, prompt: Prompt, columns: Sequence[Candidate], watcher: Watcher) -> Alternatives:
        """Ask several models, or one several times, at once; the conversation stays as it is until :meth:`choose`.

        Raises ChatError where none answers, and ChatInterrupted, which keeps what came.
        """
        from .side_by_side import SideBySide

        with self._turn(prompt) as said:
            asking = SideBySide(self.session, watcher, prompt.schema)
            return asking.of(said, columns, record=prompt.record, stored=prompt.stored)

    @contextmanager
    def _turn(self, prompt: Prompt) -> Iterator[Said]:
        """Hold the conversation while a prompt is asked; then save what was learned, and notify the listeners."""
        if not prompt.text.strip():
            raise InvalidRequestError("The prompt is empty.")
        try:
            said = prompt.said()
            with self.queue.turn():
                yield said
        except ChatInterrupted:
            raise
        except KeyboardInterrupt:  # while a file was read, a model loaded or a summary written
            raise ChatInterrupted(stopped((), record=prompt.record)) from None
        finally:
            with uninterrupted():
                self.session.save()  # what a refusal has taught, or a turn that is not recorded
            self.notify()

    def view(self, prompt: Prompt) -> View:
        """Return what :meth:`ask` would send, part by part, and what it would leave out."""
        schema = as_answer(prompt.schema)
        return self.session.view(prompt.said(), prompt.options, record=prompt.record, schema=schema)

    def choose(self, number: int, alternatives: str | None = None) -> Change:
        """Make one of several answers the turn, by its number from 1; ``alternatives`` is the id of them all.

        Without the id, of those that came last. The others stay as versions of the turn; undo takes the choice back.
        """
        return self.do(lambda: self.actions.choose(number, alternatives))

    def chosen(self, alternatives: str) -> int | None:
        """Return the number of the answer that is the turn, of several answers with this id; ``None``: none is."""
        past = self.session.conversation
        offered = past.offers.get(alternatives)
        place = past.place_of(offered) if offered is not None else None
        ids = [answer.record.id for answer in offered.answers] if offered is not None else []
        return ids.index(place.turn.id) + 1 if place is not None and place.turn.id in ids else None

    # what goes with a prompt

    def attached(self, name: str, value: Any, *, among: int = 1, redact: bool = True, **options: Any) -> Attached:
        """Return a value as it goes with a prompt, as ``attachments`` of ``Chat.send`` take it, named ``name``.

        A picture is sent as an image, a table as its shape, columns and first and last rows, anything else as text,
        in the room that the setting ``attach_share`` leaves it. What looks like a key, or is named like one, is
        blanked unless ``redact`` is false. ``among`` is how many things go with the prompt: together they take half of
        the limit at most. ``options`` are the settings of the request. Raises InvalidRequestError.
        """
        from ..attachments.attached_values import attached_value

        return attached_value(name, value, self.session.room(options, among), self.redactor(on=redact))

    def attached_error(self, error: BaseException | Failure, *, redact: bool = True, **options: Any) -> Attached:
        """Return an exception as it goes with a prompt: its traceback in short, with causes, and without variables.

        ``redact`` and ``options`` are as for :meth:`attached`. Raises InvalidRequestError.
        """
        from ..attachments.errors import Failure, attached_error, failure_of

        if not isinstance(error, BaseException | Failure):
            raise InvalidRequestError(f"{error!r} is not an exception: catch one with `except Exception as error:`.")
        failure = failure_of(error) if isinstance(error, BaseException) else error
        return attached_error(failure, self.session.room(options), self.redactor(on=redact))

    def attachments(self, given: Any, options: Mapping[str, Any]) -> tuple[Attached, ...]:
        """Return paths and values as attached things, files read. Raises InvalidRequestError, and ChatInterrupted."""
        try:
            attached = attached_parts(given, partial(self.session.room, options), self.redactor())
            self.sizes(attached, **options)
            return attached
        except KeyboardInterrupt:
            raise ChatInterrupted(stopped((), record=True)) from None

    @property
    def notebook_file(self) -> str | None:
        """The file of the running notebook, where that is known."""
        journal = self.session.journal
        return journal.origin.notebook if journal is not None else None

    def redactor(self, *, on: bool = True) -> Redactor:
        """Return what blanks secrets in whatever leaves the kernel, those of the providers' keys among them."""
        return Redactor(self.session.models.secrets) if on else Unredacted()

    def sizes(self, parts: Sequence[Attached], **options: Any) -> Along:
        """Return what goes with a prompt, with its tokens; ``options`` are settings for the request.

        Raises InvalidRequestError where a text alone takes more than a prompt may have.
        """
        if not parts:
            return Along()
        target = self.session.target(options, ask=False)
        if target.provider.takes and any(part.files for part in parts):
            target.provider.says("images", ask=True)
            target = self.session.target(options, ask=True)
        return sized(parts, target)

    def takes(self, kind: Literal["image", "pdf"], **options: Any) -> bool:
        """Return whether files of a kind can be sent to the model; ``options`` are settings for the request."""
        return kind in self.session.target(options, ask=False).takes

    def values_notice(self, values: Sequence[tuple[str, str]], **options: Any) -> str | None:
        """Return one line where values filled into a prompt take more than a fifth of the limit.

        ``values`` are pairs of an expression and its text; ``options`` are settings for the request.
        """
        if sum(len(text) for _, text in values) < SMALL_VALUES:
            return None
        return large_values(values, self.session.target(options, ask=False))

    # acting

    def do(self, act: Callable[[], Change]) -> Change:
        """Act now, or after the turn that is running; then notify the listeners."""
        later = Change("Will be done after this turn", changed=False)

        def act_late() -> None:
            try:
                change = act()
            except ChatError as error:  # the turn that it waited for is unaffected
                change = Change(str(error), changed=False)
            self.notify(change)

        before = self.session.conversation.length
        try:
            change = self.queue.do(act, act_late, later)
        except KeyboardInterrupt:  # perhaps while it was saved
            done = self.session.conversation.length != before
            raise ChatInterrupted(f"stopped; {'it was done' if done else 'nothing has changed'}.") from None
        if change is not later:
            self.notify()
        return change

    def notify(self, change: Change | None = None) -> None:
        """Call the listeners; ``change``: what was done after waiting for a turn."""
        for listener in tuple(self.listeners):
            listener(change)

    def summarize(
        self,
        instructions: str | None = None,
        *,
        turns: int | None = None,
        method: Method | None = None,
        stopper: Stopper | None = None,
        by: str = "",
    ) -> Change:
        """Send a summary in place of the older turns, as :meth:`Chat.summarize`.

        A ``stopper`` cancels from another thread; with one, the call waits for a turn that is running. ``by`` names a
        cell, where that is known, and its text: after a restart the summary that it asked for is not written again.
        """

        def act() -> Change:
            return self.actions.summarize(instructions, method, stopper, turns, by)

        if stopper is None:
            return self.do(act)
        try:
            return self.queue.wait(act)
        finally:
            self.notify()

    def clear(self) -> Change:
        """Begin the conversation anew; system prompt, model and settings stay."""
        self._begin_anew()
        return self.do(self.actions.clear)

    def undo(self) -> Change:
        """Undo the last action."""
        return self.do(self.actions.undo)

    def pick(self, number: int, version: int) -> Change:
        """Make another answer the current one of a turn, by its number among the turn's answers, from 1."""
        return self.do(lambda: self.actions.pick(number, version))

    def set_memory(self, path: object) -> Change:
        """Add this file's text to the system prompt from now on; ``None``: no file's."""
        return self.do(lambda: self.actions.set_memory(str(path or "")))

    def set_system(self, text: str) -> Change:
        """Set the system prompt from now on; an empty text removes it. Raises InvalidRequestError: it is locked."""
        self.session.notebook.course.check_unlocked({"system"})
        return self.do(lambda: self.actions.set_system(text))

    def resume(self, added: Added, source: str, *, summary: bool = False) -> Change:
        """Append another conversation, or a ``summary`` of it; ``source`` names it in messages."""
        if summary:
            return self.do(lambda: self.actions.add_summary(added, source))
        return self.do(lambda: self.actions.add(added))

    def use(self, settings: Settings) -> None:
        """Work with these settings from now on."""
        if settings.model != self.session.settings.model:
            self._sender.begin_anew()
        self.session.change(settings=settings)

    def add_cost(self, cost: float | None, unpriced: int) -> None:
        """Add what a run over a table has cost, now or after the turn that is running."""

        def act() -> None:
            self.session.change(spent=self.session.state.spent.plus_run(cost, unpriced))
            self.session.save()
            self.notify()

        self.queue.do(act, act, None)

    def _begin_anew(self) -> None:
        """Say again how full it is, and try summaries again."""
        self.session.change(announced=frozenset())
        self._sender.begin_anew()

    def set_key(self, owner: str, key: str) -> None:
        """Hold an API key in memory for a provider (``openai``) or a base URL. Raises InvalidRequestError."""
        self.session.models.set_key(key_holder(owner), key)

    # telling

    def threshold_notice(self, *, has_figure: bool = False) -> str | None:
        """Return one line where the conversation first passes half of its limit.

        ``has_figure``: how full it is stands beside the line.
        """
        try:
            info = context_info(self.session.snapshot())
        except ChatError:  # the cell used another model, and the conversation's own is not available
            return None
        if not self.session.passes_half(info.fill):
            return None
        self.session.save()
        plans = self.actions.plans()
        room = makes_room([name for name in ROOM_MAKERS if plans[name].possible])
        return " ".join(filter(None, ["" if has_figure else threshold(info), room])) or None

    def source_of(self, name: str) -> Literal["default", "at the start", "jupyter_ctx.toml", "set here"]:
        """Return where a setting's value comes from.

        "at the start" means keywords, IPython's configuration or environment variables; "jupyter_ctx.toml" the file
        beside the notebook. Raises InvalidRequestError for an unknown setting.
        """
        check_setting(name)
        session = self.session
        begun = getattr(session.state.defaults, name)
        course = session.notebook.course
        is_own_system = name == "system" and session.has_own_system
        if getattr(session.settings, name) != begun or is_own_system:
            return "set here"
        if name in course.named:
            return "jupyter_ctx.toml"
        return "default" if begun == getattr(Settings(), name) else "at the start"

    def turn(self, number: int) -> Turn:
        """Return a turn by its number, from 1."""
        return self.actions.places((number,))[0].turn

    def versions(self, number: int) -> tuple[Turn, ...]:
        """Return all answers to a turn in the order in which they were written, the current one among them."""
        return tuple(self.actions.places((number,))[0].versions)
