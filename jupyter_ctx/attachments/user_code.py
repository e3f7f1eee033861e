"""Run code of the notebook while a value is read: without its output, with errors that name the value."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar
from warnings import catch_warnings

from ..errors import ChatError, InvalidRequestError

T = TypeVar("T")

LONG_ERROR = 300  # characters
ATTACH_INSTEAD = "Attach a part of it, or its text: store that in a variable first. Nothing was sent."


def call_user_code(name: str, call: Callable[[], T], masked: Callable[[str], str] = str) -> T:
    """Return what ``call`` returns, which reads a value of this name.

    Raises InvalidRequestError for every exception but Ctrl-C and a ChatError; ``masked`` blanks keys in its message.
    """
    try:
        with silent():
            return call()
    except (KeyboardInterrupt, ChatError):
        raise
    except BaseException as error:
        raise InvalidRequestError(f"{name} cannot be shown: {format_error(error, masked)}. {ATTACH_INSTEAD}") from None


def format_error(error: BaseException, masked: Callable[[str], str] = str) -> str:
    """Return an exception's class and the beginning of its message, on one line; ``masked`` blanks keys in it."""
    message = ""
    with suppress(Exception):  # its class may be as broken as the value's
        message = " ".join(masked(str(error)).split())
    return f"{type(error).__name__}: {message[:LONG_ERROR]}".rstrip(": .")


@contextmanager
def silent() -> Iterator[None]:
    """Drop what the block prints, warns of and displays in the main thread, where cells run."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    from IPython.utils.capture import capture_output

    with catch_warnings(action="ignore"), capture_output():
        yield
