"""Exchange a fitted request for an answer: sent, sent again smaller after a refusal, judged, learned from.

A turn of a conversation and a row of a table are both exchanged here; nothing is recorded.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

from ..conversation.messages import Turn
from ..errors import ContextOverflowError, ProviderError
from ..models.registry import Models
from ..providers.base import Reply, Thought
from ..runtime.interrupts import interruptible, uninterrupted
from .attempt import Attempt
from .judge import Verdict, all_thinking, verdict_on
from .messages_sent import request_bytes
from .notices import sent_again
from .paying import paid_stream
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
            text, parts, show = item.text, self.thoughts, self.on_thought
        else:
            text, parts, show = item, self.pieces, self.on_piece
        parts.append(text)
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


class Exchanged(NamedTuple):
    """One request, and what came of it.

    sent: the request that was sent last
    verdict: the judged answer, whole or as far as it came; ``None``: nothing came
    replies: what is to be kept and paid, with its model and cost: nothing, one, or both tries at a structured answer
    refusal: the first refusal; ``None`` where the first request was answered
    error: what ended it early, or is wrong with the answer; to be raised once the replies are recorded
    """

    sent: Attempt
    verdict: Verdict | None
    replies: tuple[Reply, ...] = ()
    refusal: ContextOverflowError | None = None
    error: BaseException | None = None

    def whole(self) -> Verdict:
        """Return the verdict on the answer. Raises what ended the exchange."""
        if self.error is not None:
            raise self.error
        assert self.verdict is not None
        return self.verdict


Exchanging: TypeAlias = Callable[[Attempt, Coming], Exchanged]
Previous: TypeAlias = Callable[[Attempt], Turn | None]


def exchange(
    fitter: Fitter,
    planned: Attempt,
    coming: Coming,
    *,
    turn_id: str | None = None,
    previous: Previous | None = None,
) -> Exchanged:
    """Send the planned request, or after refusals smaller ones, and return what came: whole, cut or interrupted.

    After a refusal less is sent: at most twice, never once text or a thought was shown. Whoever records the answer
    calls this within :func:`uninterrupted`: Ctrl-C ends the wait for the answer, and nothing behind it.

    ``turn_id`` is the id under which the answer's size is stored, where the answer becomes a turn. ``previous`` finds
    the turn that a request continues: see :func:`~jupyter_ctx.session.judge.verdict_on`.
    """
    attempt, refusal = planned, None
    try:
        with interruptible():
            coming.sent(attempt.target.model)
            for retry in range(RETRIES + 1):
                try:
                    verdict = _streamed(fitter.models, attempt, coming, previous)
                    break
                except ContextOverflowError as error:
                    refusal = refusal or error
                    if coming.pieces:
                        raise
                    if retry == RETRIES or coming.thoughts:
                        raise fitter.given_up(attempt, error) from None
                    attempt = fitter.smaller(attempt, error)
                    coming.sent(attempt.target.model, sent_again(attempt, error))
        came = _learned(fitter.models, Exchanged(attempt, verdict, refusal=refusal), turn_id)
        return came._replace(error=all_thinking(attempt, came.whole().reply))
    except BaseException as error:  # whatever it is, the text that came is returned
        if not coming.pieces:
            return Exchanged(attempt, None, refusal=refusal, error=error)
        broken = coming.broken("interrupted" if isinstance(error, KeyboardInterrupt) else "cut")
        with uninterrupted():
            came = _learned(fitter.models, Exchanged(attempt, Verdict(broken), refusal=refusal, error=error), turn_id)
            if isinstance(error, ContextOverflowError):
                return came._replace(error=fitter.given_up(attempt, error, kept=True))
            return came


def _streamed(models: Models, attempt: Attempt, coming: Coming, previous: Previous | None) -> Verdict:
    """Send one request and show what comes; return the verdict on the reply."""
    coming.asked = time.monotonic()  # a request that was refused before is not this one
    with closing(paid_stream(models, attempt.target, attempt.request, attempt.tokens)) as stream:
        for item in stream:
            if isinstance(item, Reply):
                before = previous(attempt) if previous is not None else None
                verdict = verdict_on(attempt, replace(item, seconds=coming.seconds), before)
                if verdict.reply.text and not "".join(coming.pieces).strip():
                    coming.take(verdict.reply.text)  # it came as thinking
                return verdict
            coming.take(item)
    raise ProviderError("The provider sent no reply.")


def _learned(models: Models, exchanged: Exchanged, turn_id: str | None) -> Exchanged:
    """Learn from an answer what it tells of sizes and limits, and return it with its model and cost."""
    attempt, verdict = exchanged.sent, exchanged.verdict
    assert verdict is not None
    target, reply, counted = attempt.target, verdict.reply, verdict.counted
    if reply.stop_reason == "cut" and not reply.text:
        return exchanged
    size = request_bytes(attempt.request.messages) if target.learned_limit.heavy is not None else 0
    models.accepted(target, verdict.reply, attempt.tokens, size)
    if verdict.truncated and reply.usage is not None:
        models.truncated(target, reply.usage.input_tokens)
    cost = models.cost(target, reply.usage, reply.model)
    reply = replace(reply, model=target.model, cost=cost)
    if counted is not None:
        models.counted(target, attempt.sent, reply, counted, turn_id=turn_id)
    return exchanged._replace(verdict=verdict._replace(reply=reply), replies=(reply,))
