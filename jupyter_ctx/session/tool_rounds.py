"""The rounds of one prompt in which the model calls functions: who calls them, and what a reply holds after them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from ..attachments.attached import TextRoom
from ..context.usage import Usage
from ..conversation.messages import Message, ToolCall, ToolResult, ToolRound
from ..errors import ChatError
from ..providers.base import Reply
from ..runtime.interrupts import interruptible
from ..runtime.redaction import Redactor
from ..wording import counted, dollars

if TYPE_CHECKING:
    from ..tools.functions import Tool

OnCall = Callable[[ToolCall, ToolResult | None], object]
NOT_CALLED = ToolResult("Not called: the user stopped it.", brief="stopped", failed=True)


class Called(NamedTuple):
    """One round, and what stopped it: an interrupt, or an error of who shows the calls."""

    round: ToolRound
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class ToolCaller:
    """Who calls the functions of one prompt.

    tools: the functions
    room: how much room the result of one of so many calls may take
    redactor: blanks secrets in results
    rounds: most rounds of calls
    confirm: asks the user about a call that it is given in words; ``None``: nobody can be asked
    ask_always: whether the user is asked before each call
    """

    tools: tuple[Tool, ...]
    room: Callable[[int], TextRoom]
    redactor: Redactor
    rounds: int
    confirm: Callable[[str], bool | None] | None = None
    ask_always: bool = False

    def answer(self, reply: Reply, on_call: OnCall, before: int) -> Called:
        """Call what a reply asks for; ``before``: how many rounds there were. Each call has a result, whatever comes.

        In the round after the last one nothing is called, and the model is told to answer.
        """
        error, results, is_over = None, list[ToolResult](), before >= self.rounds
        for call in reply.calls:
            result = self._refused() if is_over else NOT_CALLED
            if error is None:
                try:
                    with interruptible():
                        on_call(call, None)
                        result = result if is_over else self._call(call, len(reply.calls))
                        on_call(call, result)
                except BaseException as raised:
                    error = raised
                    with suppress(Exception):  # of who shows the calls
                        on_call(call, result)
            results.append(result)
        return Called(ToolRound(reply.calls, tuple(results), reply.text, reply.thinking, reply.state), error)

    def _call(self, call: ToolCall, among: int) -> ToolResult:
        from ..tools.calling import run_call

        room = self.room(among)
        return run_call(self.tools, call, room, self.redactor, confirm=self.confirm, ask_always=self.ask_always)

    def _refused(self) -> ToolResult:
        most = counted(self.rounds, "round")
        text = f"Not called: {most} of calls are allowed for one prompt. Answer now with what you have."
        return ToolResult(text, brief=f"not called: more than {most} (tool_rounds)", failed=True)


def as_messages(rounds: list[ToolRound], *, is_short: bool = False) -> tuple[Message, ...]:
    """Return rounds as they follow the prompt; ``is_short``: with whole results of the last one alone."""
    sent = [*(each.shortened() for each in rounds[:-1]), rounds[-1]] if is_short else rounds
    return tuple(Message("assistant", each.text, round=each) for each in sent)


def with_rounds(reply: Reply, rounds: list[ToolRound], before: list[Reply]) -> Reply:
    """Return the last reply with the rounds before it, and the tokens, cost and seconds of all replies."""
    return replace(billed(reduce(billed, before), reply), rounds=tuple(replace(each, state="") for each in rounds))


def after_rounds(error: BaseException, rounds: list[ToolRound], replies: list[Reply]) -> BaseException:
    """Return an error that ended the rounds, with how many there were and what they cost."""
    if isinstance(error, ChatError) and error.args:
        costs = [reply.cost for reply in replies if reply.cost is not None]
        spent = f" ({dollars(sum(costs))})" if any(costs) else ""
        error.args = (f"{error} It came after {counted(len(rounds), 'round')} of calls{spent}.", *error.args[1:])
    return error


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
