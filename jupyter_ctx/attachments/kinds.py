"""The kinds of values that libraries define, known by their classes: no library is imported for them."""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import Any

VIEWS = frozenset(
    type(view)
    for made in (dict[Any, Any](), OrderedDict[Any, Any]())
    for view in (made.keys(), made.values(), made.items())
)
_INDEXES = ("Index", "RangeIndex", "MultiIndex", "DatetimeIndex", "TimedeltaIndex", "PeriodIndex", "CategoricalIndex")
_ARRAYS = {
    ("numpy", "ndarray"): "array", ("pandas", "DataFrame"): "frame", ("pandas", "Series"): "series",
    ("polars", "DataFrame"): "polars", ("polars", "Series"): "polars", ("pandas", "Categorical"): "values",
    **{("pandas", name): "index" for name in _INDEXES},
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
    return _ARRAYS.get((module_of(kind), name_of(kind)), "")


def is_library_scalar(value: object) -> bool:
    """Return whether a value is a single number, date or data type of NumPy or pandas."""
    kind = type(value)
    library, name = module_of(kind), name_of(kind)
    if library == "pandas":
        return name in _PANDAS or name.endswith("Dtype")
    return (
        library == "numpy"
        and issubclass(kind, _numpy("generic", "dtype"))
        and not issubclass(kind, _numpy(*_NUMPY_TEXTS))
    )


def _numpy(*names: str) -> tuple[type, ...]:
    numpy = sys.modules.get("numpy")
    return tuple(found for name in names if (found := getattr(numpy, name, None)) is not None)
