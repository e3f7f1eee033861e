"""Run a call that a model asks for: check its arguments, ask the user where that is wanted, and read what returns.

Nothing that a model sends is evaluated. What goes wrong is a result that tells the model so.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from math import prod
from pathlib import PurePath
from time import perf_counter
from typing import Any

from ..attachments.attached import Attached, TextRoom
from ..attachments.attached_values import attached_value
from ..attachments.user_code import format_error
from ..conversation.messages import ToolCall, ToolResult
from ..conversation.text_safety import clean
from ..errors import InvalidAnswerError, InvalidRequestError
from ..runtime.redaction import Redactor
from ..template.expressions import shape_of
from ..wording import counted, visible
from .functions import Tool, schema_of

Confirm = Callable[[str], bool | None]  # asked with a call in words; ``None``: nobody can be asked
_MOST_ASKED = 2_000  # characters of a call that the user is asked about
_SHORT = 60  # characters of a result that the user is told as it is
_MOST_BRIEF = 120  # characters of an error that the user is told
_COLLECTIONS = (list, tuple, dict, set, frozenset)


def run_call(
    tools: Sequence[Tool],
    call: ToolCall,
    room: TextRoom,
    redactor: Redactor,
    *,
    confirm: Confirm | None = None,
    ask_always: bool = False,
) -> ToolResult:
    """Return what came of a call: what its function returned, or why it failed or was not called.

    ``room``: what the result may take in the next request.
    ``confirm``: asks the user, for functions that want it and with ``ask_always``; ``None``: nobody can be asked.
    Ctrl-C passes through.
    """
    chosen = next((each for each in tools if each.spec.name == call.name), None)
    if chosen is None:
        names = ", ".join(each.spec.name for each in tools) or "none"
        unknown = redactor.masked(visible(call.name[:_SHORT]))
        return _failure(f"There is no function {unknown!r}. Functions that may be called: {names}.", "no such function")
    schema = chosen.schema or schema_of(chosen.function)
    try:
        arguments = schema.parse(call.arguments.strip() or "{}")
    except InvalidAnswerError as error:
        problems = redactor.masked("; ".join(error.problems))
        return _failure(f"{call.name} was not called, because its arguments are not valid: {problems}.", problems)
    if chosen.confirm or ask_always:
        agreed = confirm(_in_words(call, redactor)) if confirm else None
        if agreed is None:
            text = "it must be confirmed, and nobody can be asked here"
            return _failure(f"{call.name} was not called: {text}. Go on without it.", f"not called: {text}")
        if not agreed:
            return _failure(f"The user refused this call of {call.name}. Do not repeat it.", "refused by you")
    return _called(chosen, arguments, room, redactor)


def _in_words(call: ToolCall, redactor: Redactor) -> str:
    """Return a call as the user is asked about it: without keys, and not longer than can be read."""
    words = visible(redactor.masked(str(call)))
    more = len(words) - _MOST_ASKED
    return f"{words[:_MOST_ASKED]}… and {more:,} more characters" if more > 0 else words


def _called(tool: Tool, arguments: dict[str, Any], room: TextRoom, redactor: Redactor) -> ToolResult:
    """Call a function with valid arguments, and return what came of it."""
    name, began = tool.spec.name, perf_counter()
    bound = inspect.BoundArguments(inspect.signature(tool.function), arguments)
    bound.apply_defaults()
    try:
        value = tool.function(*bound.args, **bound.kwargs)
        if inspect.iscoroutine(value):
            value = _awaited(value)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also what would end the kernel
        line = format_error(error, redactor.masked)
        return _failure(f"{name} raised {line}", line, perf_counter() - began)
    seconds = perf_counter() - began
    try:
        text, files, brief = _read(name, value, room, redactor)
    except Exception as error:
        is_told = isinstance(error, InvalidRequestError)
        line = str(error).removesuffix(" Nothing was sent.") if is_told else format_error(error, redactor.masked)
        return _failure(f"{name} was called, but what it returned cannot be sent: {line}", line, seconds)
    return ToolResult(clean(text), files, brief, seconds=seconds)


def _awaited(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Return what a coroutine returns, from a thread with a loop of its own: the kernel's is running a cell.

    Ctrl-C cancels it.
    """
    started = list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]]()

    async def main() -> Any:
        started.append((asyncio.get_running_loop(), asyncio.current_task()))  # type: ignore[arg-type]  # there is one
        return await coroutine

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(copy_context().run, asyncio.run, main())
        try:
            return running.result()
        except KeyboardInterrupt:
            for loop, task in started:
                with suppress(RuntimeError):  # it has ended
                    loop.call_soon_threadsafe(task.cancel)
            raise


def _read(name: str, value: Any, room: TextRoom, redactor: Redactor) -> tuple[str, tuple[Any, ...], str]:
    """Return the text and the files of what a function returned, and what the user is told of it."""
    if value is None:
        return "None", (), "None"
    if isinstance(value, PurePath):  # the function may tell a path, and the model may not read what is there
        value = str(value)
    if type(value) is str and not value.strip():
        return "(an empty text)", (), "an empty text"
    if hasattr(type(value), "__anext__"):
        raise InvalidRequestError(f"{name} returned an asynchronous iterator: return a list of what it yields.")
    attached = attached_value(name, value, room, redactor)
    text = _without_fence(name, attached.text)
    brief = _brief(value, attached, text)
    if attached.is_changed:
        text = f"{text}\n[shortened: {attached.what}]"
    return text, attached.files, brief


def _without_fence(name: str, text: str) -> str:
    """Return a value's text as it is; where words about images stand with it, the whole."""
    head, *lines = text.split("\n")
    is_fenced = head == f"{name}:" and len(lines) > 2 and lines[0] == lines[-1] and set(lines[0]) == {"`"}
    return "\n".join(lines[1:-1]) if is_fenced else text


def _brief(value: Any, attached: Attached, text: str) -> str:
    """Return what a function returned in a few words."""
    if attached.files:
        nouns = {"an image" if file.kind == "image" else "a PDF" for file in attached.files}
        return nouns.pop() if len(attached.files) == 1 else f"{len(attached.files)} images"
    shape = shape_of(value)
    if hasattr(type(value), "columns") and len(shape) == 2:
        return counted(shape[0], "row")
    if shape:
        return counted(prod(shape), "value")
    if type(value) in _COLLECTIONS:
        return counted(len(value), "item")
    if len(text) <= _SHORT and "\n" not in text:
        return visible(text)
    return f"text of {counted(len(value) if type(value) is str else len(text), 'character')}"


def _failure(text: str, brief: str, seconds: float | None = None) -> ToolResult:
    """Return the result of a call that failed, or that was not made."""
    line = visible(" ".join(brief.split()))
    short = line if len(line) <= _MOST_BRIEF else f"{line[: _MOST_BRIEF - 1]}…"
    return ToolResult(clean(text), brief=short, failed=True, seconds=seconds)
