"""Run code of the notebook while a value is read: within bounds, without output, with errors that name the value."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from contextvars import ContextVar
from typing import IO, Any, TypeVar, cast

from ..errors import ChatError, InvalidRequestError
from ..runtime.bounds import CALL_MEMORY, TooSlowError, bounded_call
from ..template.kinds import name_of

T = TypeVar("T")

READ_SECONDS = 2.0  # that a value's own code may take to show it
DRAW_SECONDS = 90.0  # for a picture that a library draws: plotly starts a browser
LONG_ERROR = 300  # characters
ATTACH_INSTEAD = "Attach a part of it, or its text: store that in a variable first. Nothing was sent."

_one_at_a_time = threading.Lock()  # what is printed belongs to the whole process
_is_reading = ContextVar("is_reading", default=False)  # whether output is dropped


def guarded(
    name: str, call: Callable[[], T], masked: Callable[[str], str] = str, *, by_library: bool = False
) -> T:  # fmt: skip
    """Return what ``call`` returns, which reads a value of this name; what it prints and displays is dropped.

    Raises InvalidRequestError in place of every exception but Ctrl-C and a ChatError, and when the call takes too much
    time or memory; ``masked`` blanks keys in its message. A picture drawn ``by_library`` has more time, and its memory
    is not limited: a browser that draws it would inherit the limit.
    """
    seconds = DRAW_SECONDS if by_library else READ_SECONDS
    problem = f"cannot be shown: it takes more than {CALL_MEMORY // 10**6} MB of memory"

    def attempt() -> tuple[T | None, str]:
        try:
            return call(), ""
        except (KeyboardInterrupt, ChatError, TooSlowError, MemoryError):
            raise
        except BaseException as error:
            return None, f"cannot be shown: {masked(said_by(error))}"

    try:
        with _silent():
            value, problem = bounded_call(seconds, attempt, memory=None if by_library else CALL_MEMORY)
    except TooSlowError:
        problem = f"took more than {seconds:g} s to be shown, and was stopped"
    except MemoryError:
        pass
    if problem:  # raised here, so that it does not keep what the call has made
        raise InvalidRequestError(f"{name} {problem}. {ATTACH_INSTEAD}")
    return cast(T, value)


def said_by(error: BaseException) -> str:
    """Return an exception's class and the beginning of its message, on one line."""
    try:
        said = " ".join(str(error).split())
    except (KeyboardInterrupt, TooSlowError, MemoryError):
        raise
    except BaseException:  # its class may be as broken as the value's
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
def _silent() -> Iterator[None]:
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
