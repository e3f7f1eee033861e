"""Ask several models the same at once: the conversation's next turn, of which the user takes one answer."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ..conversation.events import TurnAdded
from ..conversation.messages import Alternative, Alternatives
from ..errors import ChatError, ChatInterrupted, ProviderError, in_words
from ..providers.base import Reply
from ..runtime.interrupts import GRACE_SECONDS, POLL_SECONDS, uninterrupted
from ..runtime.redaction import Redactor
from .ask import with_notices
from .complete import Completion, StreamListener, complete
from .plan import RequestPlan
from .prompt import Prompt
from .send import broke_off
from .session import Session
from .stored import answered_turn, record_offer, stored_answers

NOT_BEGUN = "It was stopped before any text came."
MOST_AT_A_TIME = 12  # answers at once: more do not fit a page


class Candidate(NamedTuple):
    """Whom to ask: the model and how it is asked, as it is shown, and settings for this request alone."""

    label: str
    options: Mapping[str, Any]


def ask_each(session: Session, prompt: Prompt, candidates: Sequence[Candidate], watcher: Any) -> Alternatives:
    """Ask several models, or one several times, at once; the first whole answer is the turn, the others are versions.

    The ``watcher`` is shown them by column, from 0, while they come: its methods are begin(), sent(column, model, why),
    feed(column, piece), think(column, piece), done(column, reply) and failed(column, error), called in this thread. A
    request that fails says so in its column. Where answers are there already, stored for the same requests or handed
    out with the notebook, they are shown as they were, and nothing is asked. Raises ChatError where no answer is whole,
    and ChatInterrupted, which keeps what came.
    """
    with session.turn(prompt) as said:
        watcher.begin()
        return _SideBySide(session, prompt, said, candidates, watcher).answers()


class _SideBySide:
    """Asks one prompt of several models for a session; a request and its answer are known by their column."""

    def __init__(
        self, session: Session, prompt: Prompt, said: TurnAdded, candidates: Sequence[Candidate], watcher: Any
    ) -> None:
        self._session, self._said, self._watcher = session, said, watcher
        # no thread can ask whether a function may be called
        self._prompts = [replace(prompt, options=each.options, confirm=None) for each in candidates]
        self._answers = [Alternative(each.label, error=NOT_BEGUN) for each in candidates]
        self._errors = list[BaseException]()
        self._left = dict[int, RequestPlan]()  # requests whose answers still come
        self._news = queue.SimpleQueue[Callable[[], object]]()  # what threads let the one that asks do
        self._is_stopped = False

    def answers(self) -> Alternatives:
        """Return the answers, one for each column, and record them."""
        prompt = self._prompts[0]
        known = stored_answers(self._session, self._said, self._prompts) if prompt.record and prompt.stored else None
        if known is not None:
            for column, (answer, reply) in enumerate(zip(known.answers.answers, known.replies, strict=True)):
                if reply is None:
                    self._watcher.failed(column, answer.error)
                else:
                    self._watcher.done(column, reply)
            return self._checked(known.answers)
        is_interrupted = self._ask()
        came = Alternatives(self._said.turn, tuple(self._answers), self._said.append, self._said.new)
        is_kept = bool(came.turns) and prompt.record
        if is_kept:
            record_offer(self._session, came)
        if is_interrupted:
            raise ChatInterrupted(f"stopped; {'the answers so far are kept' if is_kept else 'nothing was recorded'}.")
        return self._checked(came)

    def _checked(self, answers: Alternatives) -> Alternatives:
        """Return the answers. Raises ChatError where none is whole: the only error there is, or all in words."""
        problems = list(dict.fromkeys(answer.error or answer.problem for answer in answers.answers))
        if "" in problems:
            return answers
        if len(problems) == 1 and self._errors and isinstance(self._errors[0], ChatError):
            raise self._errors[0]
        raise ChatError(f"None of the {len(answers.answers)} gave a whole answer. {' '.join(problems)}")

    # asking

    def _ask(self) -> bool:
        """Send the requests at once, and tell the watcher what comes; return whether Ctrl-C stopped it."""
        try:
            for column in range(len(self._prompts)):
                self._begin(column)
            while self._left:
                self._hear()
        except BaseException as error:
            with uninterrupted():
                self._stop()
            if not isinstance(error, KeyboardInterrupt):
                raise
            return True
        return False

    def _begin(self, column: int) -> None:
        """Send the request of a column, or show why it cannot be sent."""
        try:
            self._left[column] = self._session.plan(self._said, self._prompts[column], ask=True)
        except ChatError as error:
            self._failed(column, error, str(error))
            return
        # a daemon: a server that is silent does not keep Python from ending
        threading.Thread(target=self._complete, args=(column,), daemon=True).start()

    def _hear(self) -> None:
        """Do what a thread asks for next."""
        with suppress(queue.Empty):
            self._news.get(timeout=POLL_SECONDS)()

    def _stop(self) -> None:
        """End the requests that are on their way, and keep what has come of them."""
        self._is_stopped = True
        for planned in self._left.values():
            planned.target.provider.close()
        until = time.monotonic() + 2 * GRACE_SECONDS
        while self._left and (time.monotonic() < until or not self._news.empty()):
            self._hear()

    def _complete(self, column: int) -> None:
        """Complete one request, in a thread of its own."""
        session, watcher, prompt, planned = self._session, self._watcher, self._prompts[column], self._left[column]
        tells = (partial(self._tell, each, column) for each in (watcher.feed, watcher.think, watcher.sent))
        piece, thought, sent = tells
        listener, came = StreamListener(on_piece=piece, on_thought=thought, on_sent=sent), Completion(planned)
        try:
            caller, turn_id = session.caller(prompt, planned.target), self._answers[column].record.id
            came = complete(session.models, planned, listener, prompt.schema, turn_id=turn_id, caller=caller)
        except BaseException as error:  # of this column alone
            came = came._replace(error=error)
        self._news.put(partial(self._ended, column, came))

    def _tell(self, tell: Callable[..., object], *news: Any) -> None:
        """Let the main thread tell the watcher what comes; end this thread where all is stopped."""
        if self._is_stopped:
            raise KeyboardInterrupt
        self._news.put(partial(tell, *news))

    def _ended(self, column: int, came: Completion) -> None:
        """Keep what came of a column, count what it cost, and show how it ended."""
        answer, error = came.reply, came.error
        if answer is not None and answer.stop_reason == "cut":
            error = error or ProviderError(broke_off(answer))
            answer = replace(answer, stop_reason="interrupted") if self._is_stopped else answer
        answer = answer if came.replies else None
        error = KeyboardInterrupt() if self._is_stopped and error is not None else error
        problem = _problem(answer, error)
        with uninterrupted():
            del self._left[column]
            for reply in came.replies:
                self._session.spend(came.sent.target, reply)
            if answer is not None and (answer.text or error is None):
                self._watcher.done(column, with_notices(came) if error is None else answer)
            if error is not None:
                self._failed(column, error, problem)
            if answer is not None and (answer.text.strip() or error is None):
                before = self._answers[column]
                turn = answered_turn(self._said.turn, came.sent, answer, before.record.id)
                why_none = "" if answer.text.strip() else problem or "The reply was empty."
                kept = replace(Alternative.of(turn), label=before.label, error=why_none, problem=problem)
                self._answers[column] = kept

    def _failed(self, column: int, error: BaseException, problem: str) -> None:
        """Show why a column has no whole answer."""
        self._errors.append(error)
        self._answers[column] = replace(self._answers[column], error=problem)
        self._watcher.failed(column, problem)


def _problem(answer: Reply | None, error: BaseException | None) -> str:
    """Return what is wrong with an answer, or why there is none, in words and without keys; empty: nothing is."""
    if isinstance(error, KeyboardInterrupt):
        return "Interrupted: the text so far is kept." if answer is not None and answer.text else NOT_BEGUN
    if error is not None:
        return in_words(error, Redactor().masked)
    if answer is not None and answer.stop_reason == "refusal":
        return f"The model refused to answer{f': {answer.detail}' if answer.detail else '.'}"
    return ""
