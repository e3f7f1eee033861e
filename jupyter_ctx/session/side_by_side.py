"""Ask several models the same at once: the conversation's next turn, of which the user takes one answer."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from ..conversation.conversation import Conversation
from ..conversation.events import Chosen, Kept, Offered, TurnAdded
from ..conversation.messages import INCOMPLETE, Alternative, Alternatives, TurnRecord, new_id
from ..errors import ChatError, ChatInterrupted, InvalidRequestError, ProviderError, in_words
from ..providers.base import Reply, ReplySource
from ..runtime.interrupts import GRACE_SECONDS, POLL_SECONDS, uninterrupted
from ..runtime.redaction import Redactor
from .ask import with_notices
from .complete import Completion, StreamListener, complete
from .plan import RequestPlan
from .prompt import Prompt
from .send import asking, broke_off
from .session import Session
from .stored import answers_as_then, record_of, stored_reply

NOT_BEGUN = "It was stopped before any text came."
MOST_AT_A_TIME = 12  # answers at once: more do not fit a page


@dataclass(frozen=True, slots=True)
class Candidate:
    """Whom to ask.

    label: the model and how it is asked, as it is shown
    options: settings for this request alone; ``None`` leaves one as it is
    """

    label: str
    options: Mapping[str, Any]


class _Watcher(Protocol):
    """Who is shown the answers while they come, by column; every call comes from the thread that asks."""

    def begin(self) -> object: ...
    def sent(self, column: int, model: str, why: str) -> object: ...
    def feed(self, column: int, piece: str) -> object: ...
    def think(self, column: int, piece: str) -> object: ...
    def done(self, column: int, reply: Reply) -> object: ...
    def failed(self, column: int, error: str) -> object: ...


@dataclass(slots=True, eq=False)
class _Column:
    """One column: its number from 0, whom it asks, with which request, and what became of that."""

    number: int
    asked: Candidate
    planned: RequestPlan | None = None
    came: Completion | None = None
    reply: Reply | None = None
    error: BaseException | None = None
    turn_id: str = field(default_factory=new_id)

    @property
    def answer(self) -> Reply | None:
        """The answer that is kept, whole or as far as it came."""
        came = self.came
        return came.reply if came is not None and came.replies else None

    @property
    def problem(self) -> str:
        """What is wrong with the answer, or why there is none, in words and without keys; empty: nothing is."""
        answer, error = self.answer, self.error
        if isinstance(error, KeyboardInterrupt):
            return "Interrupted: the text so far is kept." if answer is not None and answer.text else NOT_BEGUN
        if error is not None:
            return in_words(error, Redactor().masked) if isinstance(error, Exception) else type(error).__name__
        if answer is not None and answer.stop_reason == "refusal":
            return f"The model refused to answer{f': {answer.detail}' if answer.detail else '.'}"
        return ""

    def alternative(self, asked: TurnRecord) -> Alternative:
        """Return what is kept of it."""
        label, came, answer = self.asked.label, self.came, self.answer
        if came is None or answer is None or not answer.text.strip():
            nothing = NOT_BEGUN if answer is None else "The reply was empty."
            return Alternative(label, error=self.problem or nothing)
        record = record_of(asked, came.sent, answer, self.turn_id)
        return Alternative(label, answer.text, answer.thinking, record, problem=self.problem, rounds=answer.rounds)


def ask_each(session: Session, prompt: Prompt, columns: Sequence[Candidate], watcher: _Watcher) -> Alternatives:
    """Ask several models, or one several times, at once; the first whole answer is the turn, the others are versions.

    A request that fails says so in its column. Where answers are there already, stored for the same requests or handed
    out with the notebook, they are shown as they were, and nothing is asked. Raises ChatError where no answer is whole,
    and ChatInterrupted, which keeps what came.
    """
    with asking(session, prompt) as said:
        return _SideBySide(session, watcher, prompt, said, columns).answers()


class _SideBySide:
    """Asks one prompt of several models for a session."""

    def __init__(
        self, session: Session, watcher: _Watcher, prompt: Prompt, said: TurnAdded, columns: Sequence[Candidate]
    ) -> None:
        self._session, self._watcher, self._prompt, self._said = session, watcher, prompt, said
        self._columns = [_Column(number, column) for number, column in enumerate(columns)]
        self._left = list[_Column]()  # those whose answers still come
        self._news = queue.SimpleQueue[Callable[[], object]]()  # what threads let the one that asks do
        self._is_stopped = False

    def answers(self) -> Alternatives:
        """Return the answers, one for each column, and record them."""
        said, stored = self._said, self._prompt.stored if self._prompt.record else None
        past, known = self._of_cell() if stored in ("cell", "all") else (None, None)
        if stored is not None and known is None:
            known = self._handed()
        if known is not None:
            self._watcher.begin()
            return self._shown(known, past)
        for column in self._columns:
            self._plan(column)
        self._watcher.begin()
        is_interrupted = self._ask()
        answers = tuple(column.alternative(said.turn.record) for column in self._columns)
        alternatives = Alternatives(said.turn, answers, said.append, said.new)
        is_kept = bool(alternatives.turns) and self._prompt.record
        if is_kept:
            self._keep(alternatives)
        if is_interrupted:
            raise ChatInterrupted(f"stopped; {'the answers so far are kept' if is_kept else 'nothing was recorded'}.")
        return self._checked(alternatives)

    def _plan(self, column: _Column) -> None:
        """Plan the request of a column, or keep its error where it cannot be sent."""
        session, options = self._session, column.asked.options
        try:
            target = session.target(options, ask=True, prompt=self._prompt)
            column.planned = session.plan(self._said, target, session.system_for(options), record=self._prompt.record)
        except ChatError as error:
            column.error = error

    def _keep(self, alternatives: Alternatives, chosen: str = "") -> None:
        """Record answers: the ``chosen`` one is the turn, else the first whole one, else the first that there is."""
        there = [answer for answer in alternatives.answers if not answer.error]
        first = next((answer for answer in there if not answer.problem), there[0])
        self._session.record(Offered(alternatives), Chosen(alternatives.id, chosen or first.record.id))

    def _checked(self, offered: Alternatives) -> Alternatives:
        """Return the answers. Raises ChatError where none is whole: the only error there is, or all in words."""
        problems = list(dict.fromkeys(answer.error or answer.problem for answer in offered.answers))
        if "" in problems:
            return offered
        errors = [column.error for column in self._columns if column.error is not None]
        if len(problems) == 1 and errors and isinstance(errors[0], ChatError):
            raise errors[0]
        raise ChatError(f"None of the {len(offered.answers)} gave a whole answer. {' '.join(problems)}")

    # answers that are there already

    def _of_cell(self) -> tuple[Conversation | None, Alternatives | None]:
        """Return what the cell was answered to the same requests, with its conversation, before this kernel."""
        session, cell = self._session, self._said.turn.record.cell
        for past in session.pasts_of(cell) if cell else ():
            offers = (event.alternatives for event in past.newest(Offered))
            offer = next((offer for offer in offers if offer.asked.record.cell == cell), None)
            if offer is not None:
                is_new = offer.id not in session.notebook.seen
                session.notebook.seen.add(offer.id)
                return (past, offer) if is_new and self._is_same(offer, past) else (None, None)
        return None, None

    def _is_same(self, offered: Alternatives, past: Conversation) -> bool:
        """Return whether stored answers were not broken off, and are to just these requests, as they were then."""
        if len(offered.answers) != len(self._columns) or not _is_whole(offered):
            return False
        prompts = [replace(self._prompt, options=column.asked.options) for column in self._columns]
        pairs = zip(offered.answers, prompts, strict=True)
        came = [(offered.turn(answer), prompt) for answer, prompt in pairs if not answer.error]
        try:
            return all(answers_as_then(self._session, past, turn, self._said, prompt) for turn, prompt in came)
        except ChatError:  # a model is not there: its column will say so
            return False

    def _handed(self) -> Alternatives | None:
        """Return the answers that were handed out, of each model in their order; ``None``: there are fewer."""
        answers, session, said = list[Alternative](), self._session, self._said
        models = [session.model_of(column.asked.options) for column in self._columns]
        found = {model: session.notebook.handout.turns(said, model, session.conversation) for model in models}
        for column, model in zip(self._columns, models, strict=True):
            turn, _ = next(found[model], (None, None))
            if turn is None or stored_reply(turn, self._prompt.schema) is None:
                return None
            label = column.asked.label
            answers.append(Alternative(label, turn.reply, turn.thinking, turn.record, rounds=turn.rounds))
        return Alternatives(said.turn, tuple(answers), said.append, said.new)

    def _shown(self, known: Alternatives, past: Conversation | None) -> Alternatives:
        """Show answers that are there already, and count the cell as run; see also ``_show_again`` of a turn."""
        session, asked = self._session, self._said.turn.record
        source: ReplySource = "handout" if past is None else "store"
        for number, answer in enumerate(known.answers):
            if answer.error:
                self._watcher.failed(number, answer.error)
                continue
            reply = stored_reply(known.turn(answer), self._prompt.schema, source)
            if reply is None:  # the schema has changed in a way that the request does not show
                raise InvalidRequestError("A stored answer does not match the schema: --ask asks again.")
            self._watcher.done(number, reply)
        session.notebook.seen.update((known.id, *(turn.id for turn in known.turns)))
        place = session.conversation.place_of(known)
        is_out = past is not None and place is None and session.is_behind
        if place is None and not is_out:
            choices = past.newest(Chosen) if past is not None else ()
            self._keep(known, next((event.turn for event in choices if event.alternatives == known.id), ""))
        elif place is not None and place.run != asked.run:
            session.record(Kept(place.id, asked.run or "", asked.execution))
        return self._checked(known)

    # asking

    def _ask(self) -> bool:
        """Send the requests at once, and tell the watcher what comes; return whether Ctrl-C stopped it."""
        for column in self._columns:
            if column.error is None:
                self._left.append(column)
            else:
                self._watcher.failed(column.number, column.problem)
        try:
            for column in list(self._left):  # daemons: a server that is silent does not keep Python from ending
                name = "jupyter_ctx side by side"
                threading.Thread(target=self._answer, args=(column,), name=name, daemon=True).start()
            while self._left:
                self._hear()
        except BaseException as error:
            with uninterrupted():
                self._stop()
            if not isinstance(error, KeyboardInterrupt):
                raise
            return True
        return False

    def _hear(self) -> None:
        """Do what a thread asks for next."""
        with suppress(queue.Empty):
            self._news.get(timeout=POLL_SECONDS)()

    def _stop(self) -> None:
        """End the requests that are on their way, and keep what has come of them."""
        self._is_stopped = True
        for column in self._left:
            if column.planned is not None:
                column.planned.target.provider.close()
        until = time.monotonic() + 2 * GRACE_SECONDS
        while self._left and (time.monotonic() < until or not self._news.empty()):
            self._hear()

    def _answer(self, column: _Column) -> None:
        """Send one request, in a thread of its own."""
        watcher = self._watcher
        piece, thought, sent = (
            partial(self._tell, partial(tell, column.number)) for tell in (watcher.feed, watcher.think, watcher.sent)
        )
        listener = StreamListener(on_piece=piece, on_thought=thought, on_sent=sent)
        try:
            assert column.planned is not None
            prompt, planned = replace(self._prompt, confirm=None), column.planned  # no thread can ask
            came = column.came = complete(
                self._session.models, planned, listener, prompt.schema, turn_id=column.turn_id,
                caller=self._session.caller(prompt, planned.target),
            )  # fmt: skip
            if self._is_stopped and came.reply is not None and came.reply.stop_reason == "cut":  # its connection closed
                column.came = came._replace(reply=replace(came.reply, stop_reason="interrupted"))
            column.reply = reply = with_notices(came)
            if reply.stop_reason == "cut":
                raise ProviderError(broke_off(reply))
        except BaseException as error:  # of this column alone
            column.error = KeyboardInterrupt() if self._is_stopped else error
        finally:
            self._news.put(partial(self._ended, column))

    def _tell(self, tell: Callable[..., object], text: str, *more: str) -> None:
        """Let the main thread tell the watcher of a text that is not empty; end this thread where all is stopped."""
        if self._is_stopped:
            raise KeyboardInterrupt
        if text:
            self._news.put(partial(tell, text, *more))

    def _ended(self, column: _Column) -> None:
        """Count what a column's answers cost, and say how it ended."""
        with uninterrupted():
            self._left.remove(column)
            if column.came is not None:
                for reply in column.came.replies:
                    self._session.spend(column.came.sent.target, reply)
            shown = column.reply or column.answer  # interrupted, broken off, or not as its schema says
            if shown is not None and (shown.text or column.error is None):
                self._watcher.done(column.number, shown)
            if column.error is not None:
                self._watcher.failed(column.number, column.problem)


def _is_whole(offered: Alternatives) -> bool:
    """Return whether an answer came, and none was broken off; a request that failed says so again."""
    return bool(offered.turns) and all(turn.stop_reason not in INCOMPLETE for turn in offered.turns)
