"""One planned request, completed: paid for, streamed, sent again smaller after a refusal, checked and parsed.

Cells, scripts, rows of a table, judges and columns side by side are all answered here; nothing is recorded.

Some servers leave out what is too much of a prompt without a word: Ollama does so by default, on its OpenAI endpoint
too; LM Studio and others have a setting for it. Their reports give it away: the tokens that were read are far fewer
than those that were sent, or have hardly grown by what was added.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from ..context.budget import whole
from ..context.learned_limit import Refused
from ..context.overflow import Overflow
from ..context.tokens import estimate_tokens
from ..context.usage import Usage
from ..conversation.messages import INCOMPLETE, Message, StopReason, ToolRound, Turn
from ..conversation.schema import Schema
from ..errors import (
    REFUSED,
    BudgetExceededError,
    ChatError,
    ContextOverflowError,
    InvalidAnswerError,
    InvalidRequestError,
    ProviderError,
)
from ..models.pricing import with_unknown_price, worst_case
from ..models.registry import Models
from ..models.target import Target
from ..providers.base import AnswerSchema, Reply, Request, Thought
from ..providers.error_mapping import TOO_LATE
from ..runtime.interrupts import interruptible, uninterrupted
from ..runtime.redaction import KeyRedactor
from ..tools.rounds import OnCall, ToolCaller
from .plan import RequestPlan, continued, overflow_error, smaller

RETRIES = 2  # requests that are sent after refusals
NO_ROOM_LEFT = ("max_tokens", "context_window")
NEAR_THE_EDGE = 0.5  # of the window: a shorter prompt without a token of reply was not ended by the window
UNSAID = 3  # tokens that a reply without text may be reported with
READ_WHOLE = 0.8  # of the tokens that were expected: a server that read as many has read all
LONG_PROMPT = 1_000  # tokens by the uncalibrated estimate
READ_SHARE = 0.35  # of that estimate: no tokenizer needs fewer tokens
ADDED, HARDLY = 60, 0.25  # tokens worth comparing, and the share of them that must have been read
AS_THINKING = "The server sent its whole answer as thinking; it is shown as the answer."
THOUGHT = "</think>"  # templates drop a model's thoughts from older turns, so that fewer tokens are read
EARLIER_RESULTS = "Results of earlier rounds were shortened to their first line, so that the newest fit."
ASKED_TWICE = "The first answer did not match the schema, so it was asked for once more."


def nothing(*_: object) -> None:
    """Do nothing: nobody listens."""


@dataclass(slots=True)
class StreamListener:
    """A reply while it streams: who is shown it, what came so far, and when the request was sent.

    ``on_begin`` hears, before it is sent, the one line that should stand above it, or ``None``; ``on_first`` hears
    when the first piece came. ``on_sent`` hears who is waited for from now on: the model, each time a request is
    planned or sent, and what is different this time, such as "Too long; sending again without turns 1 to 14";
    an empty model where the user is asked a question. ``on_call`` hears of a function that the model calls: before,
    with ``None``, and after, with its result.
    """

    on_begin: Callable[[str | None], object] = nothing
    on_piece: Callable[[str], object] = nothing
    on_thought: Callable[[str], object] = nothing
    on_first: Callable[[], object] = nothing
    on_sent: Callable[[str, str], object] = nothing
    on_call: OnCall = nothing
    pieces: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    asked: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        for name in ("on_piece", "on_thought"):
            if not callable(getattr(self, name)):
                raise InvalidRequestError(f"{name} is {getattr(self, name)!r}: it must be a function.")

    def take(self, item: str | Thought) -> None:
        """Keep and show a piece that came."""
        if not self.pieces and not self.thoughts:
            self.on_first()
        if isinstance(item, Thought):
            self.thoughts.append(item.text)
            self.on_thought(item.text)
        else:
            self.pieces.append(str(item))
            self.on_piece(str(item))

    def show(self, reply: Reply) -> None:
        """Show a stored reply, in one piece."""
        self.on_begin(None)
        parts: tuple[Reply | ToolRound, ...] = (*reply.rounds, reply)
        for part in parts:
            for text, show in ((part.thinking, self.on_thought), (part.text, self.on_piece)):
                if text:
                    show(text)
            for call, result in zip(part.calls, part.results, strict=True) if isinstance(part, ToolRound) else ():
                self.on_call(call, result)

    @property
    def so_far(self) -> Reply:
        """The reply as far as it came, where nothing more will."""
        seconds = time.monotonic() - self.asked
        return Reply("".join(self.pieces), None, "cut", thinking="".join(self.thoughts), seconds=seconds)


class Completion(NamedTuple):
    """What came of a planned request.

    sent: the request that was sent last
    reply: the checked answer, whole or as far as it came; ``None``: nothing came
    replies: what is to be kept and paid, with its model and cost: nothing, one, or all of several requests
    is_truncated: whether the server has read only a part of the prompt
    refusal: the first refusal; ``None`` where the first request was answered
    error: what ended it early, or is wrong with the answer; to be raised once the replies are recorded
    """

    sent: RequestPlan
    reply: Reply | None = None
    replies: tuple[Reply, ...] = ()
    is_truncated: bool = False
    refusal: ContextOverflowError | None = None
    error: BaseException | None = None

    def whole(self) -> Reply:
        """Return the answer. Raises what ended it early."""
        if self.error is not None:
            raise self.error
        assert self.reply is not None
        return self.reply

    @property
    def is_counted(self) -> bool:
        """Whether the report counts the whole request and the whole reply, and nothing else."""
        reply, sent = self.reply, self.sent
        if reply is None or reply.usage is None or reply.stop_reason in INCOMPLETE:
            return False
        has_more = sent.target.schema or sent.target.tools or sent.again  # which each provider counts its way
        is_part = self.is_truncated or (reply.text and not reply.usage.output_tokens)
        return not (has_more or is_part or reply.usage.includes_tools)


def complete(
    models: Models, planned: RequestPlan, coming: StreamListener, schema: Schema | None = None, *,
    turn_id: str | None = None, previous: Turn | None = None, caller: ToolCaller | None = None,
) -> Completion:  # fmt: skip
    """Send the planned request, or after refusals smaller ones, and return what came: whole, cut or interrupted.

    After a refusal less is sent: at most twice, never once text or a thought was shown. Functions that the model asks
    for are called by the ``caller``, and what they return is sent, until it answers. With a ``schema`` the answer is
    parsed, and asked for once more where it does not match. Tokens, cost and seconds are those of all these requests.
    Whoever records the answer calls this within :func:`uninterrupted`: Ctrl-C ends the wait for the answer, and
    nothing behind it.

    ``turn_id`` is the id under which the answer's size is stored, where the answer becomes a turn. ``previous`` is
    the last turn where the request is that turn's with its reply and a new prompt added: then the two reports can be
    compared.
    """
    came, again, rounds = _completed(models, planned, coming, turn_id, previous), list[Message](), 0
    wrong: InvalidAnswerError | None = None
    while came.error is None and (reply := came.reply) is not None:
        stopped = None
        if caller is not None and reply.calls and rounds <= caller.rounds:
            called, stopped = caller.answer(reply, coming.on_call, rounds)
            again.append(Message("assistant", called.text, round=called))
            rounds += 1
        elif schema is None or reply.stop_reason in INCOMPLETE:
            break
        else:
            try:
                return came._replace(reply=parsed_reply(reply, schema))
            except InvalidAnswerError as error:
                if wrong is not None or reply.stop_reason != "stop":  # asking again does not mend that
                    return came._replace(error=error)
                wrong = error
                again += asked_again(reply.text, wrong)
        after = Completion(came.sent, error=stopped)
        if stopped is None:
            anew = replace(coming, pieces=[], thoughts=[], on_first=nothing)
            after = _completed(models, continued(came.sent, again), anew)
        came = _joined(came, after, again)
    if caller is not None and came.reply is not None and came.reply.calls and came.error is None:
        notice = f"No answer came in {caller.rounds} rounds of calls: %chat config tool_rounds N allows more."
        return came._replace(reply=replace(came.reply, notices=(*came.reply.notices, notice)))
    if wrong is not None and isinstance(came.error, ChatError):
        wrong.args = (f"{wrong} Asking once more failed: {came.error}",)
        return came._replace(error=wrong)
    return came


def _joined(came: Completion, after: Completion, again: Sequence[Message]) -> Completion:
    """Return what came of requests and of one after them, with what went ``again`` behind its prompt.

    Where nothing came of the last one, the rounds of calls are kept, or the answer that does not match its schema.
    """
    reply, error, called = came.reply, after.error, again[-1].round
    assert reply is not None
    if after.replies or called is not None:
        why: StopReason = "interrupted" if isinstance(error, KeyboardInterrupt) else "cut"
        reply = billed(reply, after.reply or Reply("", None, why, reply.model))
    elif error is None:
        error = ProviderError("the reply broke off")
    notices = [] if called is not None else [ASKED_TWICE]
    notices += [] if after.sent.again == tuple(again) else [EARLIER_RESULTS]
    rounds = tuple(replace(each.round, state="") for each in again if each.round is not None)
    return Completion(
        after.sent, replace(reply, rounds=rounds, notices=(*reply.notices, *notices)), (*came.replies, *after.replies),
        after.is_truncated, came.refusal or after.refusal, error,
    )  # fmt: skip


def _completed(
    models: Models, planned: RequestPlan, coming: StreamListener, turn_id: str | None = None,
    previous: Turn | None = None,
) -> Completion:  # fmt: skip
    """Send one request, and after refusals smaller ones, until it is answered."""
    came = Completion(planned)
    try:
        with interruptible():
            coming.on_sent(planned.target.model, "")
            while came.reply is None:
                try:
                    came = _streamed(models, came, coming, previous)
                except ContextOverflowError as error:
                    came = came._replace(sent=_less(models, came.sent, coming, error), refusal=came.refusal or error)
                    long, lacks = "large" if error.by_bytes else "long", came.sent.lacks
                    again = f"Too {long}; sending again {f'without {lacks}' if lacks else 'less'}"
                    coming.on_sent(planned.target.model, again)
        came = _accepted(models, came, turn_id)
        return came._replace(error=_all_thinking(came.sent, came.whole()))
    except BaseException as error:  # whatever it is, the text that came is returned
        is_interrupted = isinstance(error, KeyboardInterrupt)
        broken = replace(coming.so_far, stop_reason="interrupted") if is_interrupted else coming.so_far
        with uninterrupted():
            return _accepted(models, came._replace(reply=broken if coming.pieces else None, error=error), turn_id)


def _less(models: Models, refused: RequestPlan, coming: StreamListener, error: ContextOverflowError) -> RequestPlan:
    """Learn from a refusal, and return a smaller request. Raises ContextOverflowError where none is to be sent."""
    target, output = refused.target, refused.request.max_tokens or 0
    if not error.by_bytes:  # one for bytes shows nothing of the window
        seen = Refused(error.overflow or Overflow(), whole(refused.tokens), output, refused.retry)
        target = models.refused(target, seen)  # for the next cell, too
    is_last = refused.retry == RETRIES or target.settings.on_overflow == "stop"
    if is_last or coming.pieces or coming.thoughts:
        raise overflow_error(replace(refused, target=target), error, kept=bool(coming.pieces)) from None
    return smaller(refused, target, error)


def _streamed(models: Models, came: Completion, coming: StreamListener, previous: Turn | None) -> Completion:
    """Send one request, show what comes, and check the reply."""
    plan = came.sent
    coming.asked = time.monotonic()  # a request that was refused before is not this one
    with closing(paid_stream(models, plan.target, plan.request, plan.tokens)) as stream:
        for item in stream:
            if isinstance(item, Reply):
                reply = _checked(plan, replace(item, seconds=time.monotonic() - coming.asked))
                if reply.text.strip() and not "".join(coming.pieces).strip():
                    coming.take(reply.text)  # it came as thinking
                is_truncated = _is_truncated(plan, reply.usage, None if came.refusal else previous)
                return came._replace(reply=reply, is_truncated=is_truncated)
            coming.take(item)
    raise ProviderError("The provider sent no reply.")


def _accepted(models: Models, came: Completion, turn_id: str | None) -> Completion:
    """Learn from an answer what it tells of sizes and limits, and return it with its model, to be kept and paid."""
    plan, reply = came.sent, came.reply
    if reply is None or (reply.stop_reason == "cut" and not reply.text):
        return came
    models.accepted(plan.target, reply, plan.tokens)
    if came.is_counted and reply.usage is not None:
        models.counted(plan.target, plan.sent, reply, reply.usage, turn_id=turn_id)
    masked = KeyRedactor(models.secrets).masked  # a gateway may repeat the key that it was sent
    reply = replace(reply, model=plan.target.model, text=masked(reply.text), thinking=masked(reply.thinking))
    return came._replace(reply=reply, replies=(reply,))


# what a reply really shows


def _checked(plan: RequestPlan, reply: Reply) -> Reply:
    """Return a reply with why it really ended.

    Raises ContextOverflowError where the window ended it before its first token: that is a refusal which came as a
    success.
    """
    usage, window = reply.usage, plan.target.window.tokens
    if reply.stop_reason == "max_tokens" and usage is not None:  # servers say "length", too, where the window ended it
        is_empty = not usage.output_tokens and not reply.text
        is_full = abs(usage.input_tokens + usage.output_tokens - window) <= 1
        if is_full or (is_empty and usage.input_tokens >= NEAR_THE_EDGE * window):
            reply = replace(reply, stop_reason="context_window")
    has_content = reply.text or reply.thinking or (usage is not None and usage.output_tokens > UNSAID)
    if reply.stop_reason == "context_window" and not has_content:
        overflow = Overflow(input_tokens=usage.input_tokens if usage else None)
        raise ContextOverflowError("The window had no room for a reply.", overflow=overflow)
    if reply.stop_reason == "stop" and not reply.detail and reply.thinking.strip() and not reply.text.strip():
        usage = usage and replace(usage, reasoning_tokens=0, guessed=False)
        reply = replace(reply, text=reply.thinking, thinking="", usage=usage, notices=(*reply.notices, AS_THINKING))
    return reply


def _all_thinking(plan: RequestPlan, reply: Reply) -> ProviderError | None:
    """Return the error for a reply whose whole length went into thinking; ``None``: it has text, or room was left."""
    usage, most = reply.usage, plan.request.max_tokens
    tokens = usage.reasoning_tokens or usage.output_tokens if usage is not None else 0
    if reply.text.strip() or reply.stop_reason not in NO_ROOM_LEFT or not (reply.thinking or tokens > UNSAID):
        return None
    limit = f"max_tokens {f'{most:,}' if most else 'not set'}"
    room = "A larger --max-tokens (max_tokens=N), a lower --effort or a shorter conversation leaves more room."
    return ProviderError(f"The answer was all thinking ({tokens:,} tokens, {limit}). {room}", reply=reply)


def _is_truncated(plan: RequestPlan, usage: Usage | None, previous: Turn | None) -> bool:
    """Return whether much less was read than was sent, or hardly more than for the turn before."""
    if usage is None:
        return False
    read, meter = usage.input_tokens, plan.target.meter
    if read < READ_WHOLE * plan.tokens:  # else all of it need not be estimated anew
        raw = sum(estimate_tokens(message.text) for message in plan.request.messages)
        if raw >= LONG_PROMPT and read < READ_SHARE * raw:
            return True
    if previous is None or previous.record.usage is None:
        return False
    grown, asked, answered = read - previous.record.usage.input_tokens, plan.message.content, previous.reply
    added = meter.tokens(answered) + meter.message(asked)
    return added >= ADDED and grown < HARDLY * added and not any(THOUGHT in place.turn.reply for place in plan.places)


# money


def paid_stream(
    models: Models, target: Target, request: Request, tokens: float
) -> Generator[str | Thought | Reply, None, None]:
    """Send a request of so many estimated tokens, and yield what comes, the reply with its cost; to be closed.

    What it may cost is reserved before, and what it did cost is charged at its end; what nobody knows is charged at
    its worst case. Raises a ChatError: BudgetExceededError where a cap has no room for it, and InvalidRequestError
    where there is a cap and its price is unknown.
    """
    cost_budget, cost, has_begun = target.cost_budget, None, False
    most = partial(worst_case, models, target, tokens, request.messages, output=request.max_tokens)
    worst = most() if target.is_capped else None
    if cost_budget is not None and not cost_budget.reserve(worst):
        if worst is None:
            raise with_unknown_price([target.model])
        raise BudgetExceededError(f"{cost_budget.said(worst)} The request was not sent.")
    try:
        stream: Any = target.provider.stream(request)  # a generator: plug-ins are wrapped
        with closing(stream):
            for item in stream:
                has_begun = True
                if isinstance(item, Reply):
                    cost = models.cost(target, item.usage, item.model)
                    item = replace(item, cost=cost)
                yield item
    except BaseException as error:
        if not has_begun and not may_be_billed(error):
            cost = 0.0
        raise
    finally:
        if cost_budget is not None:
            with uninterrupted():
                cost_budget.settle(worst, most() if cost is None and worst is None else cost)


def may_be_billed(error: BaseException) -> bool:
    """Return whether a request that failed so, before any text came, may cost money all the same."""
    if isinstance(error, ProviderError):
        return error.status is None or error.status in TOO_LATE
    return not isinstance(error, REFUSED)


def billed(*replies: Reply) -> Reply:
    """Return the last reply with the tokens, the cost and the seconds of all."""
    usages = [reply.usage for reply in replies if reply.usage is not None]
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
    sums = {name: sum(getattr(usage, name) for usage in usages) for name in names}
    usage = Usage(**sums, guessed=any(usage.guessed for usage in usages)) if usages else None
    costs = [reply.cost for reply in replies if reply.cost is not None]
    is_unknown = any(reply.cost is None and reply.usage is not None for reply in replies)
    seconds = sum(reply.seconds or 0.0 for reply in replies)
    return replace(replies[-1], usage=usage, cost=None if is_unknown or not costs else sum(costs), seconds=seconds)


# structured answers


def as_answer(schema: Schema | None) -> AnswerSchema | None:
    """Return a schema as a request carries it."""
    return None if schema is None else AnswerSchema(schema.name, schema.json)


def parsed_reply(reply: Reply, schema: Schema) -> Reply:
    """Return a reply with its parsed value. Raises InvalidAnswerError, with the reply, where it does not match."""
    try:
        return replace(reply, parsed=schema.parse(reply.text))
    except InvalidAnswerError as error:
        early = "" if reply.stop_reason == "stop" else f" The answer ended early ({reply.stop_reason})."
        raise InvalidAnswerError(f"{error}{early}", text=error.text, problems=error.problems, reply=reply) from None


def asked_again(answer: str, wrong: InvalidAnswerError) -> tuple[Message, Message]:
    """Return what follows an invalid answer: the answer itself, and what is wrong with it."""
    problems = "\n".join(f"- {problem}" for problem in wrong.problems) or f"- {wrong}"
    request = f"That answer is not valid:\n{problems}\nAnswer again with the whole corrected JSON object alone."
    return Message("assistant", answer.strip() or "{}"), Message("user", request)  # providers refuse empty messages
