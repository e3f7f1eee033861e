"""Classify values by their type alone: no method of a value is called."""

from __future__ import annotations

import sys
import types
from collections import OrderedDict, deque
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import EnumMeta
from fractions import Fraction
from inspect import getattr_static
from pathlib import PurePath
from typing import Any
from uuid import UUID

SCALARS = frozenset({
    type(None), bool, int, float, complex, str, bytes, Decimal, Fraction, datetime, date, time, timedelta, timezone,
    UUID,
})  # fmt: skip
COLLECTIONS: tuple[type, ...] = (list, tuple, dict, set, frozenset, deque)
VIEWS = frozenset(
    type(view)
    for made in (dict[Any, Any](), OrderedDict[Any, Any]())
    for view in (made.keys(), made.values(), made.items())
)
_ZONES = ("datetime", "zoneinfo", "pytz", "dateutil")
_CLOSED = ("IPython", "ipykernel", "traitlets", "jupyter_client", "os")  # attributes of shells and environments
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: the class was made by a class statement
_FUNCTIONS = ("function", "builtin_function_or_method", "method", "method_descriptor", "partial", "ufunc")

_INDEXES = (
    "Index", "RangeIndex", "MultiIndex", "DatetimeIndex", "TimedeltaIndex", "PeriodIndex", "CategoricalIndex",
    "IntervalIndex",
)  # fmt: skip
_ARRAYS_OF = ("String", "ArrowString", "Integer", "Floating", "Boolean", "Datetime", "Timedelta", "Period")
_ARRAYS = {
    ("numpy", "ndarray"): "array", ("pandas", "DataFrame"): "frame", ("pandas", "Series"): "series",
    **{("pandas", name): "index" for name in _INDEXES},
    **{("pandas", name): "locator" for name in ("_LocIndexer", "_iLocIndexer", "_AtIndexer", "_iAtIndexer")},
    **{("pandas", f"{name}Array"): "values" for name in _ARRAYS_OF}, ("pandas", "Categorical"): "values",
    ("polars", "DataFrame"): "polars", ("polars", "Series"): "polars",
}  # fmt: skip
_NUMPY_TEXTS = ("str_", "bytes_", "void", "object_")
_PANDAS = ("Timestamp", "Timedelta", "Period", "Interval", "NaTType", "NAType")


def module_of(kind: type) -> str:
    """Return the top-level package of a class, without asking its metaclass."""
    found = type.__dict__["__module__"].__get__(kind)
    return found.partition(".")[0] if type(found) is str else ""


def name_of(kind: type) -> str:
    """Return the name of a class, without asking its metaclass."""
    return str(type.__dict__["__name__"].__get__(kind))


def array_kind(value: object) -> str:
    """Return the kind of an array or frame ("array", "frame", "series", …), or ``""`` for any other value."""
    kind = type(value)
    found = _ARRAYS.get((module_of(kind), name_of(kind)), "")
    return found if found and _is_genuine(kind) else ""


def _is_genuine(kind: type) -> bool:
    """Return whether a class is the one that its module has under its name, not one that borrows both."""
    module = sys.modules.get(type.__dict__["__module__"].__get__(kind))
    return module is not None and vars(module).get(name_of(kind)) is kind


def is_library_scalar(value: object) -> bool:
    """Return whether a value is a single number, date or data type of NumPy or pandas."""
    kind = type(value)
    library, name = module_of(kind), name_of(kind)
    if library == "pandas":
        return (name in _PANDAS or (name.endswith("Dtype") and name != "IntervalDtype")) and _is_genuine(kind)
    return (
        library == "numpy"
        and issubclass(kind, _numpy("generic", "dtype"))
        and not issubclass(kind, _numpy(*_NUMPY_TEXTS))
    )


def _numpy(*names: str) -> tuple[type, ...]:
    numpy = sys.modules.get("numpy")
    return tuple(found for name in names if (found := getattr(numpy, name, None)) is not None)


def is_scalar(value: object) -> bool:
    """Return whether a value is a single number, text or date, exactly of a listed type."""
    kind = type(value)
    if kind in (datetime, time):
        zone = value.tzinfo  # type: ignore[attr-defined]
        return zone is None or module_of(type(zone)) in _ZONES
    return kind in SCALARS or is_library_scalar(value)


def is_collection(value: object) -> bool:
    """Return whether a value is a built-in collection or of a subclass, which is read as the built-in type."""
    return type(value) is range or type(value) in VIEWS or issubclass(type(value), COLLECTIONS)


def is_enum(value: object) -> bool:
    """Return whether a value is a member of an enumeration."""
    return issubclass(type(type(value)), EnumMeta)


def is_path(value: object) -> bool:
    """Return whether a value is a path of a class of pathlib."""
    return issubclass(type(value), PurePath) and module_of(type(value)) == "pathlib"


def is_record(value: object) -> bool:
    """Return whether a value's class is written in Python, so that its stored attributes may be read."""
    kind = type(value)
    own = bool(type.__dict__["__flags__"].__get__(kind) & _HEAP_TYPE) or kind is types.SimpleNamespace
    runs = getattr_static(type(kind), "__getattribute__", None) is not type.__getattribute__
    return own and not runs and not issubclass(kind, (type, types.ModuleType)) and module_of(kind) not in _CLOSED


def _has(kind: type, name: str) -> bool:
    bases = type.__dict__["__mro__"].__get__(kind)
    return any(name in type.__dict__["__dict__"].__get__(base) for base in bases)


_DESCRIPTIONS: tuple[tuple[str, Callable[[Any], bool]], ...] = (
    ("a module", lambda value: issubclass(type(value), types.ModuleType)),
    ("a class", lambda value: issubclass(type(value), type)),
    ("a function", lambda value: name_of(type(value)) in _FUNCTIONS),
    ("an iterator, which reading would use up", lambda value: _has(type(value), "__next__")),
)


def described(value: object) -> str:
    """Return what a value is, in words for an error message."""
    found = (words for words, fits in _DESCRIPTIONS if fits(value))
    return next(found, f"an object of the class {name_of(type(value))}")
