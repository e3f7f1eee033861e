"""Run code of the notebook while a value is read: without its output, with errors that name the value."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from contextvars import ContextVar
from typing import IO, Any, TypeVar, cast

from ..errors import ChatError, InvalidRequestError
from .kinds import name_of

T = TypeVar("T")

LONG_ERROR = 300  # characters
ATTACH_INSTEAD = "Attach a part of it, or its text: store that in a variable first. Nothing was sent."

_one_at_a_time = threading.Lock()  # what is printed belongs to the whole process
_is_reading = ContextVar("is_reading", default=False)  # whether output is dropped


def guarded(name: str, call: Callable[[], T], masked: Callable[[str], str] = str) -> T:
    """Return what ``call`` returns, which reads a value of this name; what it prints and displays is dropped.

    Raises InvalidRequestError in place of every exception but Ctrl-C and a ChatError; ``masked`` blanks keys in its
    message.
    """
    try:
        with silent():
            return call()
    except (KeyboardInterrupt, ChatError):
        raise
    except BaseException as error:
        problem = masked(said_by(error))
    raise InvalidRequestError(f"{name} cannot be shown: {problem}. {ATTACH_INSTEAD}")


def said_by(error: BaseException) -> str:
    """Return an exception's class and the beginning of its message, on one line."""
    try:
        said = " ".join(str(error).split())
    except Exception:  # its class may be as broken as the value's
        said = ""
    said = said if len(said) <= LONG_ERROR else f"{said[:LONG_ERROR]}…"
    return f"{name_of(type(error))}: {said}".rstrip(": .")


class _Dropped:
    """A stream or a publisher of displays that drops what the value's code gives, and passes on what others do."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def write(self, text: str) -> int:
        """Write a text."""
        if not _is_reading.get():
            self._target.write(text)
        return len(text)

    def publish(self, *args: Any, **keywords: Any) -> None:
        """Display something."""
        if not _is_reading.get():
            self._target.publish(*args, **keywords)

    def clear_output(self, wait: bool = False) -> None:
        """Clear what the cell displays."""
        if not _is_reading.get():
            self._target.clear_output(wait)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)


@contextmanager
def silent() -> Iterator[None]:
    """Drop what the block prints, warns of and displays; other threads wait for it to do the same."""
    if _is_reading.get():  # code that is read reads another value
        yield
        return
    with _one_at_a_time, ExitStack() as stack:
        stack.callback(_is_reading.reset, _is_reading.set(True))
        stack.enter_context(redirect_stdout(cast(IO[str], _Dropped(sys.stdout))))
        stack.enter_context(redirect_stderr(cast(IO[str], _Dropped(sys.stderr))))
        stack.enter_context(_undisplayed())
        if threading.current_thread() is threading.main_thread():
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
        yield


@contextmanager
def _undisplayed() -> Iterator[None]:
    """Drop what this thread displays in the cell."""
    module = sys.modules.get("IPython.core.getipython")
    shell: Any = module and module.get_ipython()
    if shell is None:
        yield
        return
    before = shell.display_pub
    shell.display_pub = _Dropped(before)
    try:
        yield
    finally:
        shell.display_pub = before
