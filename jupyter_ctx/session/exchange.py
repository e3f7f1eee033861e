"""Exchange a fitted request for an answer: sent, sent again smaller after a refusal, judged, learned from.

A turn of a conversation and a row of a table are both exchanged here; nothing is recorded.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..conversation.messages import Turn
from ..errors import ContextOverflowError, ProviderError
from ..models.registry import Models
from ..providers.base import Reply, Thought, streaming
from ..runtime.interrupts import uninterrupted
from .attempt import Attempt
from .judge import Verdict, verdict_on
from .notices import sent_again
from .planner import Fitter

RETRIES = 2  # requests that are sent after refusals
OnText = Callable[[str], object] | None


@dataclass(slots=True)
class Coming:
    """A reply while it streams: who is shown it, what came so far, and when the request was sent.

    ``on_begin`` hears, before it is sent, the one line that should stand above it, or ``None``; ``on_first`` hears
    when the first piece came. ``on_sent`` hears who is waited for from now on: the model, each time a request is
    planned or sent, and what is different this time, such as "Too long; sending again without the 14 oldest turns";
    an empty model where the user is asked a question.
    """

    on_begin: Callable[[str | None], object] | None = None
    on_piece: OnText = None
    on_thought: OnText = None
    on_first: Callable[[], object] | None = None
    on_sent: Callable[[str, str], object] | None = None
    pieces: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    asked: float = field(default_factory=time.monotonic)

    def take(self, item: str | Thought) -> None:
        """Keep and show a piece that came."""
        if self.on_first is not None and not self.pieces and not self.thoughts:
            self.on_first()
        if isinstance(item, Thought):
            text, kept, show = item.text, self.thoughts, self.on_thought
        else:
            text, kept, show = item, self.pieces, self.on_piece
        kept.append(text)
        if show is not None:
            show(text)

    def begin(self, warning: str | None = None) -> None:
        """Announce that the reply comes now, with a line to stand above it."""
        if self.on_begin is not None:
            self.on_begin(warning)

    def sent(self, model: str, again: str = "") -> None:
        """Announce that a request goes to a model, or to none; ``again``: why it is another one than before."""
        if self.on_sent is not None:
            self.on_sent(model, again)

    def show(self, reply: Reply) -> None:
        """Show a stored reply, in one piece."""
        self.begin()
        for text, show in ((reply.thinking, self.on_thought), (reply.text, self.on_piece)):
            if text and show is not None:
                show(text)

    @property
    def seconds(self) -> float:
        """Return the seconds since the request was sent."""
        return time.monotonic() - self.asked

    def broken(self, why: Literal["interrupted", "cut"]) -> Reply:
        """Return the reply as far as it came, where nothing more will."""
        thinking = "".join(self.thoughts)
        return Reply("".join(self.pieces), None, why, thinking=thinking, seconds=self.seconds)


@dataclass(frozen=True, slots=True)
class Exchanged:
    """One request and its answer.

    sent: the request that was answered
    verdict: the judged answer, with its model and cost
    refusal: the first refusal; ``None`` where the first request was answered
    """

    sent: Attempt
    verdict: Verdict
    refusal: ContextOverflowError | None = None


class Exchanger:
    """Sends requests of one fitter; see :meth:`of`.

    ``keep`` is called with each answer as soon as it has been learned from, in an uninterrupted block. An answer that
    was interrupted or broke off comes with the stop reason "interrupted" or "cut", before the exception is raised.
    ``turn_id`` is the id under which the answer's size is kept, where the answer becomes a turn.
    ``previous`` is the turn that a request continues, or ``None``: see :func:`~jupyter_ctx.session.judge.verdict_on`.
    """

    def __init__(
        self,
        models: Models,
        fitter: Fitter,
        keep: Callable[[Attempt, Verdict], object] | None = None,
        *,
        turn_id: str | None = None,
        previous: Callable[[Attempt], Turn | None] | None = None,
    ) -> None:
        self._models, self._fitter = models, fitter
        self._keep, self._turn_id, self._previous = keep, turn_id, previous

    def of(self, planned: Attempt, coming: Coming) -> Exchanged:
        """Return what was answered to the planned request, or to a smaller one.

        After a refusal less is sent: at most twice, never once text or a thought was shown. Raises a ChatError, or
        KeyboardInterrupt.
        """
        attempt, refusal = planned, None
        coming.sent(attempt.target.model)
        for retry in range(RETRIES + 1):
            try:
                return Exchanged(attempt, self._answered(attempt, coming), refusal)
            except ContextOverflowError as error:
                refusal = refusal or error
                last = retry == RETRIES or bool(coming.pieces or coming.thoughts)
                attempt = self._fitter.smaller(attempt, error, last=last, kept=bool(coming.pieces))
                coming.sent(attempt.target.model, sent_again(attempt, error))
        raise AssertionError("the last retry returns or raises")

    def _answered(self, attempt: Attempt, coming: Coming) -> Verdict:
        """Send one request and keep its answer: whole, or as far as it came."""
        kept: list[Verdict] = []
        try:
            verdict = self._streamed(attempt, coming)
            with uninterrupted():
                return self._ended(attempt, verdict, kept)
        except BaseException as error:  # whatever it is, the text that came is kept
            why: Any = "interrupted" if isinstance(error, KeyboardInterrupt) else "cut"
            if not kept and coming.pieces:
                with uninterrupted():
                    self._ended(attempt, Verdict(coming.broken(why)), kept)
            raise

    def _streamed(self, attempt: Attempt, coming: Coming) -> Verdict:
        """Send one request and show what comes; return the verdict on the reply."""
        coming.asked = time.monotonic()  # a request that was refused before is not this one
        with streaming(attempt.target.provider, attempt.request) as stream:
            for item in stream:
                if isinstance(item, Reply):
                    previous = self._previous(attempt) if self._previous is not None else None
                    return verdict_on(attempt, replace(item, seconds=coming.seconds), previous)
                coming.take(item)
        raise ProviderError("The provider sent no reply.")

    def _ended(self, attempt: Attempt, verdict: Verdict, kept: list[Verdict]) -> Verdict:
        """Learn from an answer what it tells of sizes and limits, and keep it with its model and cost."""
        target, reply, counted = attempt.target, verdict.reply, verdict.counted
        if reply.stop_reason == "cut" and not reply.text:
            return verdict
        size = self._fitter.fingerprints.of(target, attempt.request).size
        self._models.learn(target, verdict.shows(attempt, size))
        cost = self._models.cost(target, reply.usage, reply.model)
        verdict = replace(verdict, reply=replace(reply, model=target.model, cost=cost))
        if counted is not None:
            self._models.counted(target, attempt.sent, reply.text, counted, turn_id=self._turn_id)
        kept.append(verdict)
        if self._keep is not None:
            self._keep(attempt, verdict)
        return verdict
