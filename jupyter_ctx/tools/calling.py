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
from dataclasses import replace
from math import prod
from pathlib import PurePath
from textwrap import shorten
from time import perf_counter
from typing import Any

from ..attachments.attached import ATTACH_INSTEAD, TextRoom, format_error
from ..attachments.attached_values import attached_value
from ..attachments.printing import shape_of
from ..conversation.messages import Attachment, ToolCall, ToolResult
from ..conversation.text_safety import clean
from ..errors import InvalidAnswerError, InvalidRequestError
from ..runtime.redaction import Redactor
from ..template.expressions import described
from ..wording import counted, visible
from .functions import Tool, schema_of

Confirm = Callable[[str], bool | None]  # asked with a call in words; ``None``: nobody can be asked
_MOST_ASKED = 2_000  # characters of a call that the user is asked about
_SHORT = 60  # characters of a result that the user is told as it is
_MOST_BRIEF = 120  # characters of an error that the user is told


def run_call(
    tools: Sequence[Tool], call: ToolCall, room: TextRoom, redactor: Redactor, *,
    confirm: Confirm | None = None, ask_always: bool = False,
) -> ToolResult:  # fmt: skip
    """Return what came of a call: what its function returned, or why it failed or was not called.

    ``room``: what the result may take in the next request.
    ``confirm``: asks the user, for functions that want it and with ``ask_always``; ``None``: nobody can be asked.
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
        words = visible(redactor.masked(str(call)))
        more = f"… and {len(words) - _MOST_ASKED:,} more characters" if len(words) > _MOST_ASKED else ""
        agreed = confirm(words[:_MOST_ASKED] + more) if confirm else None
        if not agreed:
            why = "the user refused" if agreed is not None else "it must be confirmed, and nobody can be asked here"
            return _failure(f"{call.name} was not called: {why}. Go on without it.", f"not called: {why}")
    return _called(chosen, arguments, room, redactor)


def _called(tool: Tool, arguments: dict[str, Any], room: TextRoom, redactor: Redactor) -> ToolResult:
    """Call a function with valid arguments, and return what came of it."""
    name, began = tool.spec.name, perf_counter()
    bound = inspect.BoundArguments(inspect.signature(tool.function), arguments)
    bound.apply_defaults()
    try:
        returned = tool.function(*bound.args, **bound.kwargs)
        value = _awaited(returned) if inspect.iscoroutine(returned) else returned
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also what would end the kernel
        line = format_error(error, redactor.masked)
        return _failure(f"{name} raised {line}", line, perf_counter() - began)
    seconds = perf_counter() - began
    try:
        return replace(_read(name, value, room, redactor), seconds=seconds)
    except Exception as error:
        is_told = isinstance(error, InvalidRequestError)
        line = str(error).removesuffix(ATTACH_INSTEAD) if is_told else format_error(error, redactor.masked)
        return _failure(f"The call was made, but its result cannot be sent: {line.rstrip()}", line, seconds)


def _awaited(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Return what a coroutine returns, run in a thread, as the kernel's own loop is busy. Ctrl-C cancels it."""
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


def _read(name: str, value: Any, room: TextRoom, redactor: Redactor) -> ToolResult:
    """Return what a function returned, as the model is sent it, read as with -a. Raises InvalidRequestError."""
    if value is None:
        return ToolResult("None", brief="None")
    if type(value) is str and not value.strip():
        return ToolResult("(an empty text)", brief="an empty text")
    noun = described(value) or ("an asynchronous iterator" if hasattr(type(value), "__anext__") else "")
    if noun:
        raise InvalidRequestError(f"{name} returned {noun}: let it return text, numbers, a list, a table or an image.")
    if isinstance(value, PurePath):
        value = str(value)  # what is at a path may be more than the function means to tell
    attached = attached_value(name, value, room, redactor)
    head, *lines = attached.text.split("\n")
    is_fenced = head == f"{name}:" and lines[0] == lines[-1]  # else there are words about images in it
    text = "\n".join(lines[1:-1]) if is_fenced else attached.text
    brief = _brief(value, attached.files, text)
    if attached.is_changed:
        text = f"{text}\n[shortened: {attached.what}]"
    return ToolResult(clean(text), attached.files, brief)


def _brief(value: Any, files: Sequence[Attachment], text: str) -> str:
    """Return what a function returned in a few words."""
    if files:
        kind = "image" if files[0].kind == "image" else "PDF"
        return f"{len(files)} {kind}s" if len(files) > 1 else "an image" if kind == "image" else "a PDF"
    if shape := shape_of(value):
        return counted(shape[0], "row") if hasattr(type(value), "columns") else counted(prod(shape), "value")
    if type(value) in (list, tuple, dict, set, frozenset):
        return counted(len(value), "item")
    if len(text) <= _SHORT and "\n" not in text:
        return visible(text)
    return f"text of {counted(len(value) if type(value) is str else len(text), 'character')}"


def _failure(text: str, brief: str, seconds: float | None = None) -> ToolResult:
    """Return the result of a call that failed, or that was not made."""
    line = shorten(visible(brief), _MOST_BRIEF, placeholder="…")
    return ToolResult(clean(text), brief=line, failed=True, seconds=seconds)
