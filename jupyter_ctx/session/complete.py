"""One planned request, completed: paid for, streamed, sent again smaller after a refusal, checked and parsed.

Cells, scripts, rows of a table, judges and columns side by side are all answered here; nothing is recorded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from ..conversation.messages import Message, StopReason, ToolCall, ToolResult, ToolRound, Turn
from ..conversation.schema import Schema
from ..errors import REFUSED, BudgetExceededError, ChatError, ContextOverflowError, InvalidAnswerError, ProviderError
from ..models.pricing import with_unknown_price, worst_case
from ..models.registry import Models
from ..models.target import Target
from ..providers.base import AnswerSchema, Reply, Request, Thought, streaming
from ..providers.error_mapping import TOO_LATE
from ..runtime.interrupts import interruptible, uninterrupted
from .planning import continued, given_up, smaller
from .reply_checks import INCOMPLETE, Verdict, all_thinking, verdict_on
from .request_plan import RequestPlan, overflow_error
from .tool_rounds import OnCall, ToolCaller, after_rounds, as_messages, billed, with_rounds
from .view import request_bytes

RETRIES = 2  # requests that are sent after refusals
EARLIER_RESULTS = "Results of earlier rounds were shortened to their first line, so that the newest fit."
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
    planned or sent, and what is different this time, such as "Too long; sending again without turns 1 to 14";
    an empty model where the user is asked a question. ``on_call`` hears of a function that the model calls: before,
    with ``None``, and after, with its result.
    """

    on_begin: Callable[[str | None], object] | None = None
    on_piece: OnText = None
    on_thought: OnText = None
    on_first: Callable[[], object] | None = None
    on_sent: Callable[[str, str], object] | None = None
    on_call: OnCall | None = None
    pieces: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    asked: float = field(default_factory=time.monotonic)

    def take(self, item: str | Thought) -> None:
        """Keep and show a piece that came."""
        if self.on_first is not None and not self.pieces and not self.thoughts:
            self.on_first()
        is_thought = isinstance(item, Thought)
        text = item.text if isinstance(item, Thought) else item
        (self.thoughts if is_thought else self.pieces).append(text)
        show = self.on_thought if is_thought else self.on_piece
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

    def called(self, call: ToolCall, result: ToolResult | None) -> None:
        """Announce that a function is called, or with a result that it was."""
        if self.on_call is not None:
            self.on_call(call, result)

    def show(self, reply: Reply) -> None:
        """Show a stored reply, in one piece."""
        self.begin()
        for each in reply.rounds:
            self._show(each)
            for call, result in zip(each.calls, each.results, strict=True):
                self.called(call, result)
        self._show(reply)

    def _show(self, said: Reply | ToolRound) -> None:
        for text, show in ((said.thinking, self.on_thought), (said.text, self.on_piece)):
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
    caller: ToolCaller | None = None,
) -> Completion:
    """Send the planned request, or after refusals smaller ones, and return what came: whole, cut or interrupted.

    After a refusal less is sent: at most twice, never once text or a thought was shown. With a ``schema`` the answer
    is parsed, and asked for once more where it does not match: then the tokens, cost and seconds are those of both.
    Whoever records the answer calls this within :func:`uninterrupted`: Ctrl-C ends the wait for the answer, and
    nothing behind it.

    ``turn_id`` is the id under which the answer's size is stored, where the answer becomes a turn. ``previous`` finds
    the turn that a request continues: see :func:`~jupyter_ctx.session.reply_checks.verdict_on`. ``caller`` calls the
    functions that the model asks for, and what they return is sent, until it answers.
    """
    first = _completed(models, planned, coming, turn_id, previous)
    if caller is not None:
        first = _with_calls(models, first, coming, caller)
    verdict = first.verdict
    if schema is None or verdict is None or first.error is not None or verdict.reply.stop_reason in INCOMPLETE:
        return first
    try:
        return first._replace(verdict=verdict._replace(reply=parsed_reply(verdict.reply, schema)))
    except InvalidAnswerError as error:
        wrong = error
    if verdict.reply.stop_reason != "stop":  # asking again does not mend that
        return first._replace(error=wrong)
    try:
        if coming.on_piece is not None:
            coming.on_piece(BETWEEN)
    except BaseException as error:  # of who is shown it; the first answer is returned all the same
        return first._replace(error=error)
    messages = asked_again(verdict.reply.text, wrong)
    added = sum(first.sent.target.meter.message(message.content) for message in messages)
    size = first.sent.size._replace(prompt=first.sent.asked + added)
    tokens = first.sent.cut.tokens + size.prompt
    again = replace(first.sent, again=(*first.sent.again, *messages), size=size, tokens=tokens, counted=None)
    second = _completed(models, again, replace(coming, pieces=[], thoughts=[]), turn_id, previous)
    return _of_both(first, verdict, second, schema)


def _with_calls(models: Models, first: Completion, coming: StreamListener, caller: ToolCaller) -> Completion:
    """Call the functions that a reply asks for, and send what they return, until the model answers.

    Where something ends that early, the rounds that there were are kept with what came of the last one.
    """
    came, rounds, asking, error = first, list[ToolRound](), list[Reply](), first.error
    replies, is_short = [*first.replies], False
    while error is None and came.verdict is not None and came.verdict.reply.calls and len(rounds) <= caller.rounds:
        asking.append(came.verdict.reply)
        called = caller.answer(asking[-1], coming.called, len(rounds))
        rounds.append(called.round)
        if called.error is not None:
            came, error = came._replace(verdict=None), called.error
            break
        came, is_short = _next_round(models, came.sent, rounds, coming, is_short=is_short)
        replies += came.replies
        error = came.error
        if first.refusal is None:
            first = first._replace(planned=came.planned, refusal=came.refusal)
    if not rounds:
        return first
    why: StopReason = "interrupted" if isinstance(error, KeyboardInterrupt) else "cut"
    verdict = came.verdict or Verdict(Reply("", None, why, asking[-1].model))
    reply = with_rounds(verdict.reply, rounds, asking)
    told = [EARLIER_RESULTS] if is_short else []
    if reply.calls and error is None:
        told.append(f"The model asked for calls after {caller.rounds} rounds (tool_rounds), which were not made.")
    reply = replace(reply, notices=(*reply.notices, *told))
    if isinstance(error, ContextOverflowError) and not error.by_bytes:
        error = overflow_error(came.sent, error.overflow, kept=True)
    if error is not None:
        error = after_rounds(error, rounds, replies)
    verdict = verdict._replace(reply=reply)
    return first._replace(sent=came.sent, verdict=verdict, replies=tuple(replies), error=error)


def _next_round(
    models: Models, before: RequestPlan, rounds: list[ToolRound], coming: StreamListener, *, is_short: bool
) -> tuple[Completion, bool]:
    """Send the results of all rounds, those of earlier ones shortened where they do not fit; return whether so."""
    whole = continued(before, as_messages(rounds, is_short=is_short))
    may_shorten = not is_short and len(rounds) > 1
    if whole.cut.fits or not may_shorten:
        came = _completed(models, whole, replace(coming, pieces=[], thoughts=[]), None, None)
        if not (may_shorten and isinstance(came.error, ContextOverflowError) and not came.replies):
            return came, is_short
    shorter = continued(before, as_messages(rounds, is_short=True))
    return _completed(models, shorter, replace(coming, pieces=[], thoughts=[]), None, None), True


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
                    coming.sent(sent.target.model, _sent_again(sent, planned, error))
        came = _learned(models, Completion(planned, sent, refusal=refusal), verdict, turn_id)
        return came._replace(error=all_thinking(sent, came.whole().reply))
    except BaseException as error:  # whatever it is, the text that came is returned
        came = Completion(planned, sent, refusal=refusal, error=error)
        if not coming.pieces:
            return came
        broken = coming.broken("interrupted" if isinstance(error, KeyboardInterrupt) else "cut")
        with uninterrupted():
            came = _learned(models, came, Verdict(broken), turn_id)
            if isinstance(error, ContextOverflowError):
                return came._replace(error=given_up(models, sent, error, kept=True))
            return came


def _sent_again(sent: RequestPlan, planned: RequestPlan, refusal: ContextOverflowError) -> str:
    """Return what a request lacks that is sent after a refusal, while its answer is waited for."""
    lacks = sent.lacks(planned)
    if refusal.by_bytes:
        return f"Too large; sending again without {lacks or 'files of earlier turns'}"
    return f"Too long; sending again {f'without {lacks}' if lacks else 'with less room for the reply'}"


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


def _learned(models: Models, came: Completion, verdict: Verdict, turn_id: str | None) -> Completion:
    """Learn from an answer what it tells of sizes and limits, and return it with its model."""
    plan, reply, counted = came.sent, verdict.reply, verdict.counted
    if reply.stop_reason == "cut" and not reply.text:
        return came._replace(verdict=verdict)
    size = request_bytes(plan.request.messages) if plan.target.learned_limit.heavy is not None else 0
    models.accepted(plan.target, reply, plan.tokens, size)
    if verdict.truncated and reply.usage is not None:
        models.truncated(plan.target, reply.usage.input_tokens)
    reply = replace(reply, model=plan.target.model)
    if counted is not None:
        models.counted(plan.target, plan.sent, reply, counted, turn_id=turn_id)
    return came._replace(verdict=verdict._replace(reply=reply), replies=(reply,))


# money


def paid_stream(
    models: Models, target: Target, request: Request, tokens: float
) -> Generator[str | Thought | Reply, None, None]:
    """Send a request of so many estimated tokens, and yield what comes, the reply with its cost; to be closed.

    What it may cost is reserved before, and what it did cost is charged at its end; what nobody knows is charged at
    its worst case. Raises a ChatError: BudgetExceededError where a cap has no room for it, and InvalidRequestError
    where there is a cap and its price is unknown.
    """
    cost_budget, cost, has_begun, is_reported = target.cost_budget, None, False, False
    most = partial(worst_case, models, target, tokens, request.messages, output=request.max_tokens)
    worst = most() if target.is_capped else None
    if cost_budget is not None and not cost_budget.reserve(worst):
        if worst is None:
            raise with_unknown_price([target.model])
        raise BudgetExceededError(f"{cost_budget.said(worst)} The request was not sent.")
    try:
        with streaming(target.provider, request) as stream:
            for item in stream:
                has_begun = True
                if isinstance(item, Reply):
                    cost, is_reported = models.cost(target, item.usage, item.model), item.usage is not None
                    yield replace(item, cost=cost)
                else:
                    yield item
    except BaseException as error:
        if not has_begun and not may_be_billed(error):
            cost = 0.0
        raise
    finally:
        if cost_budget is not None:
            with uninterrupted():
                is_unknown = cost is None and worst is None and not is_reported
                cost_budget.settle(worst, most() if is_unknown else cost)


def may_be_billed(error: BaseException) -> bool:
    """Return whether a request that failed so, before any text came, may cost money all the same."""
    if isinstance(error, ProviderError):
        return error.status is None or error.status in TOO_LATE
    return not isinstance(error, REFUSED)


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


def _of_both(first: Completion, verdict: Verdict, second: Completion, schema: Schema) -> Completion:
    """Return what came of two tries at one answer, of which ``verdict`` is on the first."""
    invalid, error = verdict.reply, second.error
    if second.verdict is not None and second.replies:
        corrected = billed(invalid, second.verdict.reply)
        verdict = second.verdict._replace(reply=replace(corrected, rounds=invalid.rounds))
    elif error is None:
        error = ProviderError("the reply broke off")
    both = first._replace(verdict=verdict, replies=(*first.replies, *second.replies))
    if error is None and verdict.reply.stop_reason in INCOMPLETE:
        return both
    try:
        if isinstance(error, ChatError):
            parsed_reply(invalid, schema, f"Asking once more failed: {error}")  # raises
        if error is not None:
            return both._replace(error=error)
        reply = parsed_reply(verdict.reply, schema, "It was asked for twice.")
    except InvalidAnswerError as wrong:
        return both._replace(error=wrong)
    notice = f"The first answer was not a valid {schema.name}, so it was asked for once more."
    reply = replace(reply, notices=(*reply.notices, notice))
    return both._replace(verdict=verdict._replace(reply=reply))
