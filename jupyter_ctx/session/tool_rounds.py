"""Who calls the functions that a model asks for while it answers one prompt."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..attachments.attached import TextRoom
from ..conversation.messages import ToolCall, ToolResult, ToolRound
from ..providers.base import Reply
from ..runtime.interrupts import interruptible
from ..runtime.redaction import Redactor
from ..wording import counted

if TYPE_CHECKING:
    from ..tools.functions import Tool

OnCall = Callable[[ToolCall, ToolResult | None], object]
NOT_CALLED = ToolResult("Not called: the user stopped it.", brief="stopped", failed=True)


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
        return ToolRound(reply.calls, tuple(results), reply.text, reply.thinking, reply.state), error

    def _call(self, call: ToolCall, among: int) -> ToolResult:
        from ..tools.calling import run_call

        room = self.room(among)
        return run_call(self.tools, call, room, self.redactor, confirm=self.confirm, ask_always=self.ask_always)

    def _refused(self) -> ToolResult:
        most = counted(self.rounds, "round")
        text = f"Not called: {most} of calls are allowed for one prompt. Answer now with what you have."
        return ToolResult(text, brief=f"not called: more than {most} (tool_rounds)", failed=True)
