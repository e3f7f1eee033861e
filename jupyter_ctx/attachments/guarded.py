"""Run code of the notebook while a value is read: bounded in time, without output, with errors that name the value."""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any

from ..errors import ChatError, InvalidRequestError

READ_SECONDS = 10.0  # that a value's own code may take to show it
DRAW_SECONDS = 90.0  # for a picture: plotly starts a browser
AGAIN_SECONDS = 0.5  # between further attempts to stop code that catches everything
LONG_ERROR = 300  # characters

_one_at_a_time = threading.RLock()  # what is printed belongs to the whole process


class _TooSlowError(BaseException):
    """The time is over; not an Exception, because code that is stuck may catch all of these."""


@contextmanager
def guarded(name: str, seconds: float, masked: Callable[[str], str] = str) -> Iterator[None]:
    """Run the block, which reads a value of this name, for ``seconds`` at most; what it prints is dropped.

    Raises InvalidRequestError in place of every exception but Ctrl-C and a ChatError; ``masked`` blanks keys in it.
    """
    try:
        with _one_at_a_time, _silent(), _bounded(seconds):
            yield
    except (KeyboardInterrupt, ChatError):
        raise
    except _TooSlowError:
        raise InvalidRequestError(
            f"{name} took more than {seconds:g} s to be shown, and was stopped. Attach a part of it, or its text: "
            "store that in a variable first. Nothing was sent."
        ) from None
    except BaseException as error:
        raise InvalidRequestError(
            f"{name} cannot be shown: {masked(said_by(error))}. Attach a part of it, or its text: store that in a "
            "variable first. Nothing was sent."
        ) from None


def said_by(error: BaseException) -> str:
    """Return an exception's class and the beginning of its message, on one line."""
    try:
        said = " ".join(str(error).split())
    except Exception:  # its class may be as broken as the value's
        said = ""
    said = said if len(said) <= LONG_ERROR else f"{said[:LONG_ERROR]}…"
    return f"{type(error).__name__}: {said}".rstrip(": .")


@contextmanager
def _bounded(seconds: float) -> Iterator[None]:
    """Raise _TooSlowError in the block after ``seconds``.

    A signal reaches the main thread even while it sleeps; other threads, and Windows, are reached between two steps of
    Python code. Nothing reaches compiled code before it returns.
    """
    main = threading.current_thread() is threading.main_thread()
    if main and hasattr(signal, "setitimer") and signal.getsignal(signal.SIGALRM) is not None:
        with _by_signal(seconds):
            yield
    else:
        with _by_thread(seconds):
            yield


@contextmanager
def _by_signal(seconds: float) -> Iterator[None]:
    begun, armed = time.monotonic(), True

    def stop(*_: object) -> None:
        if armed:
            raise _TooSlowError

    before = signal.signal(signal.SIGALRM, stop)
    rest, interval = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if rest:  # somebody else's timer goes on
            signal.setitimer(signal.ITIMER_REAL, max(rest - (time.monotonic() - begun), 0.001), interval)


@contextmanager
def _by_thread(seconds: float) -> Iterator[None]:
    reader, over, lock = threading.get_ident(), threading.Event(), threading.Lock()

    def watch() -> None:
        if over.wait(seconds):
            return
        while not over.wait(AGAIN_SECONDS):
            with lock:
                if not over.is_set():
                    _raise_in(reader, ctypes.py_object(_TooSlowError))

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        with suppress(_TooSlowError):
            with lock:
                over.set()
            _raise_in(reader, None)  # takes back one that was not delivered yet


def _raise_in(thread: int, error: Any) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)


class _Dropped:
    """A stream that drops what one thread writes, and passes on what others do."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._thread = stream, threading.get_ident()

    def write(self, text: str) -> int:
        """Write a text, unless this is the thread."""
        if threading.get_ident() != self._thread:
            self._stream.write(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _silent() -> Iterator[None]:
    """Drop what this thread prints, warns of and displays."""
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(_Dropped(sys.stdout)))
        stack.enter_context(redirect_stderr(_Dropped(sys.stderr)))
        if threading.current_thread() is threading.main_thread():
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            stack.enter_context(_undisplayed())
        yield


@contextmanager
def _undisplayed() -> Iterator[None]:
    """Drop what is displayed in the cell."""
    found = sys.modules.get("IPython.core.displaypub")
    shell: Any = found and sys.modules["IPython.core.getipython"].get_ipython()
    if found is None or shell is None:
        yield
        return
    before, shell.display_pub = shell.display_pub, found.CapturingDisplayPublisher()
    try:
        yield
    finally:
        shell.display_pub = before
