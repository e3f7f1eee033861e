"""Ask several models the same at once: the conversation's next turn, of which the user takes one answer."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, Protocol

from ..conversation.events import Chosen, Kept, Offered, Said
from ..conversation.messages import Alternative, Alternatives, new_id
from ..errors import ChatError, ChatInterrupted, InvalidAnswerError, InvalidRequestError, ProviderError, in_words
from ..models.registry import Target
from ..providers.base import Reply, ReplySource
from ..runtime.interrupts import GRACE_SECONDS, POLL_SECONDS, uninterrupted
from ..runtime.redaction import Redactor
from .ask import with_notices
from .complete import Completion, StreamListener, as_answer, complete
from .prompt import Prompt
from .reply_checks import INCOMPLETE, Verdict
from .request_plan import RequestPlan
from .send import asking, broke_off, record_of, stored_reply
from .session import Session
from .threads import Threads
from .view import digested, request_digest

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


class Watcher(Protocol):
    """Who is shown the answers while they come; every call comes from the thread that asks."""

    def begin(self) -> object:
        """Hear that the answers come now."""

    def sent(self, column: int, model: str, why: str) -> object:
        """Hear which model is waited for, each time a request is sent; ``why`` it is another one than before."""

    def feed(self, column: int, piece: str) -> object:
        """Take a piece of an answer."""

    def think(self, column: int, piece: str) -> object:
        """Take a piece of a model's thinking."""

    def done(self, column: int, reply: Reply) -> object:
        """Take a whole answer, or what an interrupt has left of one."""

    def failed(self, column: int, error: str) -> object:
        """Take what went wrong, in words."""


class _News(NamedTuple):
    """What a thread tells of its column: how the watcher is told of it, or that the column has ended (``None``)."""

    column: int
    tell: Callable[[], object] | None = None


class _StopError(KeyboardInterrupt):
    """Ctrl-C was pressed while this thread's answer came."""


@dataclass(slots=True)
class _Request:
    """One column's request, and what became of it."""

    planned: RequestPlan | None = None
    error: BaseException | None = None
    known: Alternative | None = None
    turn_id: str = field(default_factory=new_id)
    answered: tuple[RequestPlan, Verdict] | None = None
    billed: list[tuple[Target, Reply]] = field(default_factory=list)
    reply: Reply | None = None

    @property
    def digest(self) -> str | None:
        """The fingerprint of the request."""
        planned = self.planned
        return None if planned is None else request_digest(planned.target, planned.request)


def ask_each(session: Session, prompt: Prompt, columns: Sequence[Candidate], watcher: Watcher) -> Alternatives:
    """Ask several models, or one several times, at once; the first whole answer is the turn, the others are versions.

    A request that fails says so in its column. Where all answers are there already, stored for the same requests or
    handed out with the notebook, they are shown, and nothing is asked. Raises ChatError where no answer is whole, and
    ChatInterrupted, which keeps what came.
    """
    with asking(session, prompt) as said:
        return _SideBySide(session, watcher, prompt).answers(said, columns)


class _SideBySide:
    """Asks one prompt of several models for a session."""

    def __init__(self, session: Session, watcher: Watcher, prompt: Prompt) -> None:
        self._session, self._watcher, self._schema = session, watcher, prompt.schema
        self._record, self._stored = prompt.record, prompt.stored if prompt.record else None
        self._heard = queue.SimpleQueue[_News]()
        self._is_stopped = False

    def answers(self, said: Said, columns: Sequence[Candidate]) -> Alternatives:
        """Return the answers, one for each column, and record them."""
        offered = self._of_cell(said) if self._stored is not None else None
        handed = self._handed(said, columns) if self._stored is not None and offered is None else None
        if handed is not None:
            self._watcher.begin()
            return self._shown(said, handed)
        requests = [self._planned(said, column) for column in columns]
        digest = digested([request.digest for request in requests], ())
        if self._stored == "all" and self._session.journal is not None:
            offered = _copied(self._session.journal.alternatives_to(digest), said)
        if offered is not None and self._stored != "handed":
            self._find(said, columns, requests, offered)
            self._session.notebook.seen.add(offered.id)
        self._watcher.begin()
        if offered is not None and all(request.known for request in requests):
            return self._shown(said, replace(offered, answers=tuple(each.known for each in requests if each.known)))
        for i, request in enumerate(requests):
            if request.known is not None and offered is not None:
                self._watcher.done(i, self._reply_of(offered, request.known))
            elif request.error is not None:
                self._watcher.failed(i, _words(request.error))
        asked = [i for i, request in enumerate(requests) if request.known is None and request.error is None]
        interrupted = self._ask(requests, asked)
        answers = tuple(map(partial(self._alternative, said), columns, requests))
        alternatives = Alternatives(said.turn, answers, said.append, said.new, digest)
        is_kept = bool(alternatives.turns) and self._record
        if is_kept:
            self._keep(alternatives)
        if interrupted:
            left = "the answers so far are kept." if is_kept else "nothing was recorded."
            raise ChatInterrupted(f"stopped; {left}")
        return _checked(requests, alternatives)

    def _planned(self, said: Said, column: Candidate) -> _Request:
        """Return the request of a column, or its error where it cannot be sent."""
        session = self._session
        try:
            target = session.target(column.options, ask=True, schema=as_answer(self._schema))
            system = session.system_for(column.options)
            return _Request(session.plan(said, target, system, record=self._record))
        except ChatError as error:
            return _Request(error=error)

    def _keep(self, alternatives: Alternatives) -> None:
        """Record answers: the first whole one is the turn, else the first that there is."""
        there = [answer for answer in alternatives.answers if not answer.error]
        first = next((answer for answer in there if not answer.problem), there[0])
        self._session.record(Offered(alternatives), Chosen(alternatives.id, first.record.id))

    # answers that are there already

    def _of_cell(self, said: Said) -> Alternatives | None:
        """Return what the cell was answered before a restart of the kernel, the newest."""
        now, cell = self._session.conversation, said.turn.record.cell
        offers = (offer for offer in reversed(now.offers.values()) if cell and offer.asked.record.cell == cell)
        newest = next(offers, None)
        is_known = newest is None or newest.id in self._session.notebook.seen or said.begins_anew(now)
        return None if is_known else newest

    def _find(
        self, said: Said, columns: Sequence[Candidate], requests: Sequence[_Request], offered: Alternatives
    ) -> None:
        """Find the stored answers to these requests: ``known`` of each request is set where there is one."""
        left = [each for each in offered.answers if not each.error and each.record.stop_reason not in INCOMPLETE]
        for column, request in zip(columns, requests, strict=True):
            found = (each for each in left if self._answers(each, column, request, said, offered))
            request.known = next(found, None)
            left = [each for each in left if each is not request.known]

    def _answers(
        self, answer: Alternative, column: Candidate, request: _Request, said: Said, offered: Alternatives
    ) -> bool:
        """Return whether a stored answer is one to this request."""
        session, digest = self._session, answer.record.digest
        if request.planned is None or request.digest == digest or offered.id not in session.conversation.offers:
            return request.planned is not None and request.digest == digest
        turn, target = offered.turn(answer), request.planned.target
        system = session.system_for(column.options, turn)
        return any(
            session.request_then(past, said, turn, past.position_of(offered), target, system) == digest
            for past in (session.conversation, *session.conversation.earlier)
        )

    def _handed(self, said: Said, columns: Sequence[Candidate]) -> Alternatives | None:
        """Return the answers that were handed out for these prompts; ``None``: not all were."""
        answers, session = list[Alternative](), self._session
        for column in columns:
            model = session.model_of(column.options)
            found = session.notebook.handout.turns(said, model, session.conversation)
            same = sum(column.options == earlier.options for earlier in columns[: len(answers)])
            turn, _ = next(islice(found, same, None), (None, None))
            if turn is None or stored_reply(turn, self._schema) is None:
                return None
            answers.append(Alternative(column.label, turn.reply, turn.thinking, turn.record))
        return Alternatives(said.turn, tuple(answers), said.append, said.new)

    def _shown(self, said: Said, known: Alternatives) -> Alternatives:
        """Show answers that are all there already, and count the cell as run."""
        session, asked = self._session, said.turn.record
        for i, answer in enumerate(known.answers):
            self._watcher.done(i, self._reply_of(known, answer))
        session.notebook.seen.add(known.id)
        if known.id not in session.conversation.offers:
            self._keep(known)
            return _checked((), known)
        place = session.conversation.place_of(known)
        if place is not None and place.run != asked.run:
            session.record(Kept(place.id, asked.run or "", asked.execution))
        return _checked((), known)

    def _reply_of(self, offered: Alternatives, answer: Alternative) -> Reply:
        source: ReplySource = "store" if offered.digest else "handout"
        reply = stored_reply(offered.turn(answer), self._schema, source)
        if reply is None:  # the schema has changed in a way that the request does not show
            raise InvalidRequestError("A stored answer does not match the schema: --ask asks again.")
        return reply

    # asking

    def _ask(self, requests: Sequence[_Request], asked: Sequence[int]) -> bool:
        """Send requests at once, and tell the watcher what comes; return whether Ctrl-C stopped it."""
        threads, left = Threads(max(1, len(asked)), "jupyter_ctx side by side"), set(asked)
        try:
            for i in asked:
                threads.submit(self._answer, i, requests[i])
            while left:
                self._hear(requests, left)
        except BaseException as error:
            with uninterrupted():
                self._stop(requests, left)
            if not isinstance(error, KeyboardInterrupt):
                raise
            return True
        finally:
            threads.shutdown(cancel_futures=True)
        return False

    def _hear(self, requests: Sequence[_Request], left: set[int]) -> None:
        """Pass on what a thread tells next; once all is stopped, only how each column ended."""
        try:
            column, tell = self._heard.get(timeout=POLL_SECONDS)
        except queue.Empty:
            return
        if tell is None:
            left.discard(column)
            with uninterrupted():
                self._ended(column, requests[column])
        elif not self._is_stopped:
            tell()

    def _stop(self, requests: Sequence[_Request], left: set[int]) -> None:
        """End the requests that are on their way, and keep what has come of them."""
        self._is_stopped = True
        for i in left:
            planned = requests[i].planned
            if planned is not None:
                planned.target.provider.close()
        for _ in range(round(2 * GRACE_SECONDS / POLL_SECONDS)):
            if left:
                self._hear(requests, left)
        while left and not self._heard.empty():
            self._hear(requests, left)

    def _answer(self, column: int, request: _Request) -> None:
        """Send one request, in a thread of its own."""
        try:
            assert request.planned is not None
            watcher = self._watcher
            coming = StreamListener(
                on_piece=partial(self._tell, watcher.feed, column),
                on_thought=partial(self._tell, watcher.think, column),
                on_sent=partial(self._tell, watcher.sent, column),
            )
            came = complete(self._session.models, request.planned, coming, self._schema, turn_id=request.turn_id)
            request.billed = [(came.sent.target, reply) for reply in came.replies]
            request.answered = self._answered(came)
            request.reply = reply = with_notices(came).reply
            if reply.stop_reason == "cut":
                raise ProviderError(broke_off(reply))
        except BaseException as error:  # of this column alone
            request.error = _StopError() if self._is_stopped else error
            if isinstance(error, InvalidAnswerError):
                request.reply = error.reply
        finally:
            self._heard.put(_News(column))

    def _answered(self, came: Completion) -> tuple[RequestPlan, Verdict] | None:
        """Return the request and the answer that are kept; what broke off when all was stopped was interrupted."""
        verdict = came.verdict
        if verdict is None or not came.replies:
            return None
        if self._is_stopped and verdict.reply.stop_reason == "cut":  # its connection was closed
            verdict = verdict._replace(reply=replace(verdict.reply, stop_reason="interrupted"))
        return came.sent, verdict

    def _tell(self, tell: Callable[..., object], column: int, text: str, *more: str) -> None:
        """Let the thread that asks tell the watcher of a text that is not empty. Raises _StopError."""
        if self._is_stopped:
            raise _StopError
        if text:
            self._heard.put(_News(column, partial(tell, column, text, *more)))

    def _ended(self, column: int, request: _Request) -> None:
        """Count what a column's answers cost, and say how it ended."""
        for target, reply in request.billed:
            self._session.spend(target, reply)
        if request.reply is None and request.answered is not None:  # interrupted, or broken off
            request.reply = request.answered[1].reply
        if request.reply is not None and (request.reply.text or request.error is None):
            self._watcher.done(column, request.reply)
        if request.error is not None:
            self._watcher.failed(column, self._problem(request) or _words(request.error))

    # what is kept

    def _alternative(self, said: Said, column: Candidate, request: _Request) -> Alternative:
        if request.known is not None:
            return replace(request.known, label=column.label)
        if request.answered is None:
            error = _words(request.error) if request.error is not None else NOT_BEGUN
            return Alternative(column.label, error=error)
        sent, verdict = request.answered
        reply, problem = verdict.reply, self._problem(request)
        if not reply.text.strip():
            return Alternative(column.label, error=problem or "The reply was empty.")
        record = record_of(said.turn.record, sent, reply, request.turn_id)
        return Alternative(column.label, reply.text, reply.thinking, record, problem=problem)

    def _problem(self, request: _Request) -> str:
        """Return what is wrong with an answer, in words; empty: nothing is, or there is none."""
        reply = request.answered[1].reply if request.answered is not None else None
        if reply is None:
            return ""
        if isinstance(request.error, KeyboardInterrupt):
            return "Interrupted: the text so far is kept." if reply.text else NOT_BEGUN
        if request.error is not None:
            return _words(request.error)
        if reply.stop_reason == "refusal":
            return f"The model refused to answer{f': {reply.detail}' if reply.detail else '.'}"
        return ""


def _words(error: BaseException) -> str:
    """Return an error in words, without keys."""
    if isinstance(error, KeyboardInterrupt):
        return NOT_BEGUN
    return in_words(error, Redactor().masked) if isinstance(error, Exception) else type(error).__name__


def _checked(requests: Sequence[_Request], offered: Alternatives) -> Alternatives:
    """Return the answers. Raises ChatError where none is whole: the only error there is, or all of them in words."""
    problems = list(dict.fromkeys(answer.error or answer.problem for answer in offered.answers))
    if "" in problems:
        return offered
    errors = [request.error for request in requests if request.error is not None]
    if len(problems) == 1 and errors and isinstance(errors[0], ChatError):
        raise errors[0]
    raise ChatError(f"None of the {len(offered.answers)} gave a whole answer. {' '.join(problems)}")


def _copied(offered: Alternatives | None, said: Said) -> Alternatives | None:
    """Return stored answers of another conversation as answers to this cell."""
    if offered is None:
        return None
    asked = said.turn.record

    def own(answer: Alternative) -> Alternative:
        record = replace(
            answer.record, id=new_id(), start=None, summary=None, cost=None, stored=True, cell=asked.cell,
            at=time.time(), run=asked.run, execution=asked.execution, source=asked.source,
        )  # fmt: skip
        return replace(answer, record=record)

    return replace(offered, asked=said.turn, answers=tuple(map(own, offered.answers)), id=new_id())
