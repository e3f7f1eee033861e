"""What a script attaches: paths of files, and values, which are named by their types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, KeysView, ValuesView
from os import PathLike
from typing import Any, cast

from ..errors import InvalidRequestError
from .attached import Attached

GivenPart = str | PathLike[str] | Attached
_MANY = (list, tuple, set, frozenset, Iterator, KeysView, ValuesView)
_NO_THING = (type(None), bool, int, float, complex)


def parts_given(given: Any, attach: Callable[[str, Any], Attached]) -> tuple[GivenPart, ...]:
    """Return what was given as paths and attached things.

    A list, a tuple, a set or an iterator holds several things, and anything else is one. A text and a path name a file;
    any other value goes through ``attach``, with a name such as ``DataFrame``. Raises InvalidRequestError.
    """
    kind = type(given)  # not isinstance, which may run the value's code
    if issubclass(kind, _NO_THING):
        raise InvalidRequestError(f"attachments is {given!r}: it must be paths of files, or values.")
    things: Iterable[Any] = given if issubclass(kind, _MANY) else (given,)
    names: Counter[str] = Counter()
    return tuple(_part(thing, names, attach) for thing in things)


def _part(thing: Any, names: Counter[str], attach: Callable[[str, Any], Attached]) -> GivenPart:
    if issubclass(type(thing), (str, PathLike, Attached)):
        return cast(GivenPart, thing)
    name = type(thing).__name__
    names[name] += 1
    return attach(name if names[name] == 1 else f"{name} {names[name]}", thing)
