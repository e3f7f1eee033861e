"""Complete a planned request: sent, sent again smaller after a refusal, checked, learned from, and priced.

Cells, scripts, rows of a table, judges and columns side by side are all answered here; nothing is recorded.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

from ..context.usage import Usage
from ..conversation.messages import Message, Turn
from ..conversation.schema import Schema
from ..errors import ChatError, ContextOverflowError, InvalidAnswerError, ProviderError
from ..models.registry import Models
from ..providers.base import AnswerSchema, Reply, Thought
from ..runtime.interrupts import interruptible, uninterrupted
from .messages_sent import request_bytes
from .paying import paid_stream
from .planning import given_up, smaller
from .reply_checks import INCOMPLETE, Verdict, all_thinking, verdict_on
from .request_plan import RequestPlan

RETRIES = 2  # requests that are sent after refusals
BETWEEN = "\n\n"  # two tries at a structured answer, where both are shown
ENDED_EARLY = {
    "max_tokens": "The answer was cut at max_tokens, so its JSON may not be whole: allow a longer one with max_tokens.",
    "context_window": "The context window was full, so the JSON may not be whole: make room, or send a shorter prompt.",
    "refusal": "The model or its provider refused to answer.",
}
OnText = Callable[[str], object] | None
Previous: TypeAlias = Callable[[RequestPlan], Turn | None]


@dataclass(slots=True)
class StreamListener:
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


class Completion(NamedTuple):
    """What came of a planned request.

    planned, sent: the request that was sent first, and last
    verdict: the checked answer, whole or as far as it came; ``None``: nothing came
    replies: what is to be kept and paid, with its model and cost: nothing, one, or both tries at a structured answer
    refusal: the first refusal; ``None`` where the first request was answered
    error: what ended it early, or is wrong with the answer; to be raised once the replies are recorded
    """

    planned: RequestPlan
    sent: RequestPlan
    verdict: Verdict | None = None
    replies: tuple[Reply, ...] = ()
    refusal: ContextOverflowError | None = None
    error: BaseException | None = None

    def whole(self) -> Verdict:
        """Return the verdict on the answer. Raises what ended it early."""
        if self.error is not None:
            raise self.error
        assert self.verdict is not None
        return self.verdict


def complete(
    models: Models,
    planned: RequestPlan,
    coming: StreamListener,
    schema: Schema | None = None,
    *,
    turn_id: str | None = None,
    previous: Previous | None = None,
) -> Completion:
    """Send the planned request, or after refusals smaller ones, and return what came: whole, cut or interrupted.

    After a refusal less is sent: at most twice, never once text or a thought was shown. With a ``schema`` the answer
    is parsed, and asked for once more where it does not match: then the tokens, cost and seconds are those of both.
    Whoever records the answer calls this within :func:`uninterrupted`: Ctrl-C ends the wait for the answer, and
    nothing behind it.

    ``turn_id`` is the id under which the answer's size is stored, where the answer becomes a turn. ``previous`` finds
    the turn that a request continues: see :func:`~jupyter_ctx.session.reply_checks.verdict_on`.
    """
    first = _completed(models, planned, coming, turn_id, previous)
    parsed = _parsed(first, schema)
    wrong, verdict = parsed.error, first.verdict
    if schema is None or verdict is None or not isinstance(wrong, InvalidAnswerError):
        return parsed
    if verdict.reply.stop_reason != "stop":  # asking again does not mend that
        return parsed
    try:
        if coming.on_piece is not None:
            coming.on_piece(BETWEEN)
    except BaseException as error:  # of who is shown it; the first answer is returned all the same
        return first._replace(error=error)
    messages = asked_again(verdict.reply.text, wrong)
    added = sum(first.sent.target.meter.message(message.content) for message in messages)
    again = replace(first.sent, again=messages, asked=first.sent.asked + added, counted=None)
    second = _completed(models, again, replace(coming, pieces=[], thoughts=[]), turn_id, previous)
    return _of_both(first, second, schema)


def _completed(
    models: Models, planned: RequestPlan, coming: StreamListener, turn_id: str | None, previous: Previous | None
) -> Completion:
    sent, refusal = planned, None
    try:
        with interruptible():
            coming.sent(sent.target.model)
            for retry in range(RETRIES + 1):
                try:
                    verdict = _streamed(models, sent, coming, previous)
                    break
                except ContextOverflowError as error:
                    refusal = refusal or error
                    if coming.pieces:
                        raise
                    if retry == RETRIES or coming.thoughts:
                        raise given_up(models, sent, error) from None
                    sent = smaller(models, sent, error)
                    coming.sent(sent.target.model, _sent_again(sent, error))
        came = _learned(models, Completion(planned, sent, verdict, refusal=refusal), turn_id)
        return came._replace(error=all_thinking(sent, came.whole().reply))
    except BaseException as error:  # whatever it is, the text that came is returned
        came = Completion(planned, sent, refusal=refusal, error=error)
        if not coming.pieces:
            return came
        broken = coming.broken("interrupted" if isinstance(error, KeyboardInterrupt) else "cut")
        with uninterrupted():
            came = _learned(models, came._replace(verdict=Verdict(broken)), turn_id)
            if isinstance(error, ContextOverflowError):
                return came._replace(error=given_up(models, sent, error, kept=True))
            return came


def _sent_again(plan: RequestPlan, refusal: ContextOverflowError) -> str:
    """Return what a request lacks that is sent after a refusal, while its answer is waited for."""
    parts = [*([_oldest(plan.left_out)] if plan.left_out else []), *(["the summary"] * plan.lacks_summary)]
    gone = " and ".join(parts) or "files of earlier turns"
    lacks = bool(plan.left_out or plan.lacks_summary or refusal.by_bytes)
    how = f"without {gone}" if lacks else "with less room for the reply"
    return f"{'Too large' if refusal.by_bytes else 'Too long'}; sending again {how}"


def _oldest(turns: int) -> str:
    return "the oldest turn" if turns == 1 else f"the {turns:,} oldest turns"


def _streamed(models: Models, plan: RequestPlan, coming: StreamListener, previous: Previous | None) -> Verdict:
    """Send one request and show what comes; return the verdict on the reply."""
    coming.asked = time.monotonic()  # a request that was refused before is not this one
    with closing(paid_stream(models, plan.target, plan.request, plan.tokens)) as stream:
        for item in stream:
            if isinstance(item, Reply):
                before = previous(plan) if previous is not None else None
                verdict = verdict_on(plan, replace(item, seconds=coming.seconds), before)
                if verdict.reply.text.strip() and not "".join(coming.pieces).strip():
                    coming.take(verdict.reply.text)  # it came as thinking
                return verdict
            coming.take(item)
    raise ProviderError("The provider sent no reply.")


def _learned(models: Models, came: Completion, turn_id: str | None) -> Completion:
    """Learn from an answer what it tells of sizes and limits, and return it with its model and cost."""
    plan, verdict = came.sent, came.verdict
    assert verdict is not None
    target, reply, counted = plan.target, verdict.reply, verdict.counted
    if reply.stop_reason == "cut" and not reply.text:
        return came
    size = request_bytes(plan.request.messages) if target.learned_limit.heavy is not None else 0
    models.accepted(target, verdict.reply, plan.tokens, size)
    if verdict.truncated and reply.usage is not None:
        models.truncated(target, reply.usage.input_tokens)
    cost = models.cost(target, reply.usage, reply.model)
    reply = replace(reply, model=target.model, cost=cost)
    if counted is not None:
        models.counted(target, plan.sent, reply, counted, turn_id=turn_id)
    return came._replace(verdict=verdict._replace(reply=reply), replies=(reply,))


# structured answers


def as_answer(schema: Schema | None) -> AnswerSchema | None:
    """Return a schema as a request carries it."""
    return None if schema is None else AnswerSchema(schema.name, schema.json)


def parsed_reply(reply: Reply, schema: Schema, *more: str) -> Reply:
    """Return a reply with its parsed value.

    Raises InvalidAnswerError, with the reply, where it does not match; ``more`` is added to the message.
    """
    try:
        return replace(reply, parsed=schema.parse(reply.text))
    except InvalidAnswerError as error:
        message = " ".join(filter(None, (str(error), ENDED_EARLY.get(reply.stop_reason), *more)))
        raise InvalidAnswerError(message, text=error.text, problems=error.problems, reply=reply) from None


def asked_again(answer: str, wrong: InvalidAnswerError) -> tuple[Message, Message]:
    """Return what follows an invalid answer: the answer itself, and what is wrong with it."""
    problems = "\n".join(f"- {problem}" for problem in wrong.problems) or f"- {wrong}"
    request = f"That answer is not valid:\n{problems}\nAnswer again with the whole corrected JSON object alone."
    return Message("assistant", answer.strip() or "{}"), Message("user", request)  # providers refuse empty messages


def billed(first: Reply, second: Reply) -> Reply:
    """Return the second reply with the tokens, the cost and the seconds of both."""
    usage, cost, seconds = second.usage, second.cost, second.seconds
    if first.usage is not None:
        usage = first.usage if usage is None else _sum(first.usage, usage)
    if first.cost is not None:
        cost = None if cost is None and second.usage is not None else first.cost + (cost or 0.0)
    if first.seconds is not None:
        seconds = first.seconds + (seconds or 0.0)
    return replace(second, usage=usage, cost=cost, seconds=seconds)


def _sum(first: Usage, second: Usage) -> Usage:
    """Return the bill for two requests."""
    return Usage(
        first.input_tokens + second.input_tokens,
        first.output_tokens + second.output_tokens,
        first.cache_read_tokens + second.cache_read_tokens,
        first.cache_write_tokens + second.cache_write_tokens,
        first.reasoning_tokens + second.reasoning_tokens,
        first.guessed or second.guessed,
    )


def _of_both(first: Completion, second: Completion, schema: Schema) -> Completion:
    """Return what came of two tries at one answer."""
    assert first.verdict is not None
    reply, verdict, error = first.verdict.reply, first.verdict, second.error
    if second.verdict is not None and second.replies:
        verdict = second.verdict._replace(reply=billed(reply, second.verdict.reply))
    elif error is None:
        error = ProviderError("the reply broke off")
    both = first._replace(verdict=verdict, replies=(*first.replies, *second.replies))
    if error is None:
        return _parsed(both, schema, is_second=True)
    if isinstance(error, ChatError):
        error = _parsed(first, schema, f"Asking once more failed: {error}").error
    return both._replace(error=error)


def _parsed(came: Completion, schema: Schema | None, *more: str, is_second: bool = False) -> Completion:
    """Return a completion with the parsed value of its answer, or the error where that does not match."""
    verdict = came.verdict
    if schema is None or verdict is None or came.error is not None or verdict.reply.stop_reason in INCOMPLETE:
        return came
    try:
        reply = parsed_reply(verdict.reply, schema, *(["It was asked for twice."] if is_second else more))
    except InvalidAnswerError as error:
        return came._replace(error=error)
    if is_second:
        notice = f"The first answer was not a valid {schema.name}, so it was asked for once more."
        reply = replace(reply, notices=(*reply.notices, notice))
    return came._replace(verdict=verdict._replace(reply=reply))
