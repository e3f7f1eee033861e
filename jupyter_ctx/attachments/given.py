"""What a script attaches: paths of files, and values, which are named by their types."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, KeysView, ValuesView
from os import PathLike
from typing import Any, cast

from ..errors import InvalidRequestError
from .attached import Attached

GivenPart = str | PathLike[str] | Attached
_MANY = (list, tuple, set, frozenset, Iterator, KeysView, ValuesView)
LONGEST_NAME = 80  # characters of a file's name in an error
_NO_THING = (type(None), bool, int, float, complex)


def parts_given(given: Any, attach: Callable[[str, Any], Attached]) -> tuple[GivenPart, ...]:
    """Return what was given as paths and attached things.

    A list, a tuple, a set or an iterator holds several things, a dict several with their names, and anything else is
    one. A text and a path name a file; any other value goes through ``attach``, with a name such as ``DataFrame``.
    Raises InvalidRequestError.
    """
    kind = type(given)  # not isinstance, which may run the value's code
    if issubclass(kind, _NO_THING):
        raise InvalidRequestError(f"attachments is {given!r}: it must be paths of files, or values.")
    if kind is dict and all(type(name) is str for name in given):
        return tuple(_named(name, thing, attach) for name, thing in given.items())
    things: Iterable[Any] = given if issubclass(kind, _MANY) else (given,)
    names: Counter[str] = Counter()
    return tuple(_part(thing, names, attach) for thing in things)


def _named(name: str, thing: Any, attach: Callable[[str, Any], Attached]) -> GivenPart:
    """Return a thing under its own name; a text is the text itself, unless there is a file of that name."""
    is_path = issubclass(type(thing), PathLike) or (issubclass(type(thing), str) and _exists(thing))
    return cast(GivenPart, thing) if is_path else attach(name, thing)


def _exists(word: str) -> bool:
    """Return whether a text names a file or a folder that is there."""
    try:
        return os.path.exists(os.path.expanduser(word))
    except (OSError, ValueError):
        return False


def _part(thing: Any, names: Counter[str], attach: Callable[[str, Any], Attached]) -> GivenPart:
    if thing is None:
        raise InvalidRequestError("attachments has None in it: there is nothing to send. Nothing was sent.")
    if issubclass(type(thing), str) and not _exists(thing):
        named = thing if len(thing) <= LONGEST_NAME else f"{thing[:LONGEST_NAME]}…"
        raise InvalidRequestError(
            f"attachments: there is no file {named!r} (looked for from {os.getcwd()}). A text belongs into the prompt; "
            "attachments={'note': text} sends it under a name. Nothing was sent."
        )
    if issubclass(type(thing), (str, PathLike, Attached)):
        return cast(GivenPart, thing)
    name = type(thing).__name__
    names[name] += 1
    return attach(name if names[name] == 1 else f"{name} {names[name]}", thing)
