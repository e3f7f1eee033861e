"""The functions that a model may call, and who calls them while it answers one prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..attachments.attached import TextRoom
from ..conversation.messages import ToolCall, ToolResult, ToolRound
from ..errors import InvalidRequestError
from ..providers.base import Reply
from ..runtime.interrupts import interruptible
from ..runtime.redaction import Redactor

if TYPE_CHECKING:
    from .functions import Tool

OnCall = Callable[[ToolCall, ToolResult | None], object]
NOT_CALLED = ToolResult("Not called: the user stopped it.", brief="stopped", failed=True)


def known_tools(given: Iterable[Any], known: Mapping[str, Tool]) -> tuple[Tool, ...]:
    """Return functions as tools; a name is one of those that are ``known``. Raises InvalidRequestError."""
    from .functions import as_tools

    if isinstance(given, str) or not isinstance(given, Iterable):
        given = [given]
    return as_tools(known.get(each, each) if isinstance(each, str) else each for each in given)


def known_by_name(names: Sequence[str], known: Mapping[str, Tool], *, strict: bool) -> tuple[Tool, ...]:
    """Return the functions of these names. Raises InvalidRequestError for an unknown one if that is ``strict``."""
    missing = [name for name in names if name not in known]
    if missing and strict:
        raise InvalidRequestError(
            f"tools names {missing[0]}, which is no function here: define it, or leave it out "
            "(%chat config tools none). Nothing was sent."
        )
    return tuple(known[name] for name in names if name in known)


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

    def answer(self, reply: Reply, on_call: OnCall, before: int) -> tuple[ToolRound, BaseException | None]:
        """Call what a reply asks for after ``before`` rounds; return the round, and what stopped it.

        Each call has a result, whatever comes. In the round after the last one nothing is called, and the model is
        told to answer.
        """
        error, results, is_over = None, list[ToolResult](), before >= self.rounds
        text = f"Not called: {self.rounds} rounds of calls are allowed for one prompt. Answer now with what you have."
        refused = ToolResult(text, brief="not called: too many rounds (tool_rounds)", failed=True)
        for call in reply.calls:
            result = refused if is_over else NOT_CALLED
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
        return ToolRound(reply.calls, tuple(results), reply.text, reply.thinking, reply.state), error

    def _call(self, call: ToolCall, among: int) -> ToolResult:
        from .calling import run_call

        room = self.room(among)
        return run_call(self.tools, call, room, self.redactor, confirm=self.confirm, ask_always=self.ask_always)
