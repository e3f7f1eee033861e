"""Read arrays and frames of NumPy, pandas and Polars, through those attributes and methods that only read.

None of these libraries is imported here. Sizes are bounded before a calculation, because nothing
interrupts one inside these libraries; columns of objects are checked first, because comparing and
printing objects runs their code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from .kinds import array_kind, is_scalar, module_of, name_of
from .limits import DEPTH, ITEMS, Allowance, MissingError, RefusedError, at_most

MAX_CELLS = 2_000_000  # of a calculation
MAX_COLUMNS = 1_000  # each costs about a millisecond in some methods
MAX_CORRELATED = 300  # columns for corr() and cov(), whose work grows with their square
MAX_CORRELATED_BY_METHOD = 30  # columns for corr(method=…), which is slower
MAX_DESCRIBED_GROUPS = 1_000
MAX_PRINTED_CELLS = 50_000
MAX_WRITTEN_CELLS = 200_000  # as CSV, JSON or a list
MAX_DECIMALS = 100

SCALAR_ATTRIBUTES = (
    "year", "month", "day", "hour", "minute", "second", "microsecond", "days", "seconds", "quarter", "dayofweek",
    "dayofyear", "left", "right", "mid", "length", "real", "imag", "dtype", "kind", "itemsize",
)  # fmt: skip
SCALAR_METHODS = (
    "isoformat", "strftime", "date", "time", "total_seconds", "day_name", "month_name", "weekday", "normalize", "item",
    "is_integer", "timestamp", "isocalendar",
)  # fmt: skip

_READ = ("shape", "size", "ndim", "T")
_ATTRIBUTES = {
    "array": (*_READ, "dtype", "itemsize", "nbytes", "real", "imag"),
    "frame": (*_READ, "columns", "index", "dtypes", "empty", "values", "loc", "iloc", "at", "iat"),
    "series": (
        *_READ, "index", "dtype", "name", "empty", "values", "nbytes", "hasnans", "is_unique", "loc", "iloc", "at",
        "iat", "is_monotonic_increasing", "is_monotonic_decreasing",
    ),
    "index": (*_READ, "dtype", "name", "names", "empty", "values", "nlevels", "is_unique", "hasnans"),
    "groups": ("ngroups",),
    "locator": (),
    "values": ("shape", "size", "ndim", "dtype"),
    "polars": ("shape", "columns", "height", "width", "name"),
}  # fmt: skip

_SUMS = ("sum", "mean", "std", "var", "min", "max", "prod", "all", "any")
_MANY = (
    *_SUMS, "median", "count", "nunique", "quantile", "mode", "skew", "kurt", "sem", "abs", "round", "isna", "isnull",
    "notna", "notnull", "dropna", "fillna", "ffill", "bfill", "drop", "drop_duplicates", "duplicated", "sort_values",
    "sort_index", "nlargest", "nsmallest", "value_counts", "idxmin", "idxmax", "cumsum", "cumprod", "cummax", "cummin",
    "diff", "pct_change", "shift", "rank", "clip", "reset_index", "isin", "describe", "head", "tail", "copy",
    "sample", "add_prefix", "add_suffix", "groupby", "corr", "cov", "keys", "squeeze", "transpose",
)  # fmt: skip
_PAGES = ("to_string", "to_markdown", "to_html", "to_latex")
_LISTS = ("to_csv", "to_json", "to_dict", "tolist", "to_list", "strftime", "day_name", "month_name")
_WRITERS = (*_PAGES, "to_csv", "to_json", "to_dict")
_METHODS = {
    "array": (
        *_SUMS, "cumsum", "cumprod", "argmin", "argmax", "round", "tolist", "item", "ravel", "flatten", "reshape",
        "transpose", "squeeze", "diagonal", "trace", "copy", "clip",
    ),
    "frame": (*_MANY, *_WRITERS, "set_index", "select_dtypes", "filter", "to_numpy"),
    "series": (
        *_MANY, *_WRITERS, "unique", "between", "to_frame", "to_list", "tolist", "to_numpy", "item", "argmin", "argmax",
        "autocorr",
    ),
    "index": (
        "tolist", "to_list", "to_numpy", "to_series", "to_frame", "unique", "nunique", "min", "max", "isin",
        "value_counts", "sort_values", "get_level_values", "duplicated", "drop_duplicates", "isna", "notna", "copy",
        "strftime", "day_name", "month_name",
    ),
    "groups": (
        "sum", "mean", "median", "std", "var", "min", "max", "count", "size", "nunique", "first", "last", "describe",
        "head", "tail", "quantile",
    ),
    "locator": (),
    "values": ("tolist", "unique", "min", "max", "copy"),
    "polars": (
        "head", "tail", "limit", "describe", "sum", "mean", "median", "min", "max", "std", "var", "n_unique",
        "null_count", "unique", "sort", "select", "to_list",
    ),
}  # fmt: skip
_CHEAP = ("head", "tail", "limit", "keys", "squeeze", "reshape", "ravel")  # for any size: they copy little or nothing
_POSITIONAL = {  # how many arguments without a name a method takes; 1 where not listed
    "reshape": 8, "transpose": 8, "clip": 2, "between": 2, "nlargest": 2, "nsmallest": 2, "item": 3, "copy": 0,
    **dict.fromkeys(("to_csv", "to_json", *_PAGES), 0),  # their first argument would be a path to write to
}  # fmt: skip
_KEYWORDS = frozenset({
    "axis", "n", "by", "ascending", "columns", "index", "subset", "keep", "how", "thresh", "skipna", "numeric_only",
    "ddof", "level", "q", "periods", "decimals", "include", "exclude", "percentiles", "dropna", "normalize", "sort",
    "drop", "orient", "sep", "header", "max_rows", "max_cols", "na_rep", "value", "lower", "upper", "like", "items",
    "random_state", "method", "min_periods", "keepdims", "descending", "left", "right", "inclusive", "name",
    "labels", "indent", "prefix", "suffix", "keys", "na_position", "ignore_index",
})  # fmt: skip
_TAKE_SERIES = ("corr", "cov", "isin")
_NUMBERS = "biufcmM"  # dtype.kind of booleans, numbers, timedeltas and dates
_SAFE = _NUMBERS + "SU"  # and of bytes and text
_NOT_BY_ITSELF = "a groupby object or df.loc cannot be read by itself; use a method such as mean(), or df.loc[0]"


def length(value: Any) -> int:
    """Return the number of rows, or of values."""
    if array_kind(value) in ("groups", "locator"):
        raise RefusedError(_NOT_BY_ITSELF)
    return len(value)


def readable(value: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of an array's or a frame's attributes and of its methods, as far as a prompt may use them."""
    kind = array_kind(value)
    return _ATTRIBUTES[kind], _METHODS[kind]


def column_names(value: Any) -> list[str]:
    """Return those columns of a frame whose names are texts; nothing for any other value."""
    if array_kind(value) == "frame" or (array_kind(value) == "polars" and name_of(type(value)) == "DataFrame"):
        return [column for column in value.columns[:MAX_COLUMNS] if type(column) is str]
    return []


def attribute(value: Any, name: str) -> Any:
    """Return a listed attribute, or a frame's column. Raises MissingError for any other name."""
    kind = array_kind(value)
    if name in _ATTRIBUTES[kind]:
        if kind == "frame" and name in ("T", "values"):
            _one_block(value)
        return getattr(value, name)
    if kind == "frame" and any(type(column) is str and column == name for column in value.columns[:MAX_COLUMNS]):
        return value[name]
    if name in _METHODS[kind]:
        raise MissingError(f"{name} is a method; write {name}()")
    raise MissingError(f"{name_of(type(value))} has no attribute {name!r} that a prompt can read")


def _one_block(frame: Any) -> None:
    """Bound the cells of a frame to copy; columns of different types are copied as objects, one by one."""
    at_most(frame.size, MAX_CELLS if frame.dtypes.nunique() <= 1 else MAX_WRITTEN_CELLS, "cells")


class Arrays:
    """A reader of arrays and frames for one expression, within its allowance."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance

    def members(self, value: Any) -> list[Any]:
        """Return the values along the first dimension, or the names of a frame's columns."""
        if array_kind(value) == "frame":
            return list(value.columns[:ITEMS])
        at_most(length(value), ITEMS, "values")
        return list(value)

    def item(self, value: Any, key: Any) -> Any:
        """Return rows, columns or values by number, name, slice, list or condition."""
        kind = array_kind(value)
        if kind == "polars" and type(key) not in (int, str, slice):
            raise RefusedError("a Polars frame can be indexed by a number, a name or a slice only")
        target = value.obj if kind in ("locator", "groups") else value
        parts = [part for part in (key if type(key) is tuple else (key,)) if array_kind(part) or type(part) is list]
        at_most(len(parts), 1, "list or array in an index")
        for part in parts:
            many = part.size if array_kind(part) else _leaves(part)
            at_most(many * max(1, int(target.size) // max(1, len(target))), MAX_CELLS, "cells")
            self._exact(part)
        if kind not in ("array", "polars", "values"):
            self._exact(*_labels(target), most=MAX_CELLS if "oc" in name_of(type(value)) else None)
        try:
            return value[key]
        except KeyError as error:
            said = error.args[0] if error.args and type(key) is list else f"there is no column or label {error}"
            raise MissingError(said) from None
        except IndexError as error:
            raise MissingError(str(error)) from None

    def call(self, value: Any, name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Call a listed method with plain arguments. Raises RefusedError when it could change, write or take long."""
        kind = array_kind(value)
        if name not in _METHODS[kind]:
            raise RefusedError(f"a prompt cannot call {name}() of {name_of(type(value))}")
        unlisted = [keyword for keyword in keywords if keyword not in _KEYWORDS]
        if unlisted or len(args) > _POSITIONAL.get(name, 1):
            what = f"{unlisted[0]}=" if unlisted else f"{len(args)} arguments without a name"
            raise RefusedError(f"{name}() of {name_of(type(value))} does not take {what} in a prompt")
        target = value.obj if kind == "groups" else value
        _modest(target, name, (*args, *keywords.values()))
        if kind == "polars":
            at_most(prod(value.shape), MAX_CELLS, "cells")
        elif name not in _CHEAP:
            self._calculable(target)
            self._fits(value, target, name, args, keywords)
        return getattr(type(value), name)(value, *args, **keywords)

    def _fits(self, value: Any, target: Any, name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        """Bound the methods whose work is not one pass over the cells."""
        columns = len(target.columns) if array_kind(target) == "frame" else 1
        if name in ("corr", "cov"):
            at_most(columns, MAX_CORRELATED_BY_METHOD if "method" in keywords else MAX_CORRELATED, "columns")
        elif name in (*_PAGES, *_LISTS, "to_numpy"):
            at_most(target.size, MAX_PRINTED_CELLS if name in _PAGES else MAX_WRITTEN_CELLS, "cells")
            self._characters(target)
        elif name == "transpose" and array_kind(target) == "frame":
            _one_block(target)
        elif name == "sample" and type(keywords.get("random_state")) is not int:
            raise RefusedError("sample() needs a random_state=, such as 1: without one, NumPy's random state changes")
        elif name == "groupby":
            _few_groups(target, keywords.get("by", args[0] if args else None))
        elif name == "describe" and array_kind(value) == "groups":
            at_most(value.ngroups, MAX_DESCRIBED_GROUPS, "groups")

    def binary(self, operation: Callable[[Any, Any], Any], left: Any, right: Any, *, compares: bool = False) -> Any:
        """Apply an operator between an array or a frame and another one of the same shape, or a single value."""
        for side in (left, right):
            if not array_kind(side) and not is_scalar(side):
                raise RefusedError("an array or a frame combines with its own kind and with single values only")
            if array_kind(side):
                self._calculable(side)
                numbers = all(_is_of(dtype, _NUMBERS) for dtype in _dtypes(side))
                if not numbers and not (compares and all(_is_of(dtype, _SAFE) for dtype in _dtypes(side))):
                    raise RefusedError("a prompt calculates only with arrays and frames of numbers and dates")
        if array_kind(left) and array_kind(right):
            _alike(left, right)
        return operation(left, right)

    def text(self, value: Any, *, nested: bool = False) -> str:
        """Return the value as it prints."""
        kind, write = array_kind(value), repr if nested else str
        if kind in ("groups", "locator"):
            raise RefusedError(_NOT_BY_ITSELF)
        if kind == "array":
            return self._array_text(value, write)
        if kind in ("frame", "series"):
            self._shown(value)
        elif kind in ("index", "values"):
            self._exact(*_levels(value))
            at_most(min(len(value), _option("max_seq_items") or len(value)), MAX_PRINTED_CELLS, "values")
        elif "Object" in str(getattr(value, "dtypes", None) or value.dtype):
            raise RefusedError("it holds objects, and printing them runs their code")
        return write(value)

    def _array_text(self, value: Any, write: Callable[[Any], str]) -> str:
        self._exact(value)
        numpy = sys.modules["numpy"]
        options = numpy.get_printoptions()
        edge = 2 * options["edgeitems"] + 1
        shown = value.size if value.size <= options["threshold"] else prod(min(size, edge) for size in value.shape)
        at_most(shown, MAX_PRINTED_CELLS, "printed values")
        with numpy.printoptions(formatter=None):
            return write(value)

    def _shown(self, value: Any) -> None:
        """Check the rows and columns of a frame that printing shows."""
        most = _option("max_rows")
        rows = len(value) if not most or len(value) <= most else min(most, _option("min_rows") or most)
        columns = _option("max_columns") or MAX_COLUMNS
        wide = array_kind(value) == "frame"
        at_most(rows * (min(len(value.columns), columns) if wide else 1), MAX_PRINTED_CELLS, "printed cells")
        ends = (value.iloc[:rows], value.iloc[len(value) - rows :])
        for end in ends:
            parts = (
                [end.iloc[:, : columns + 1], end.iloc[:, max(0, len(end.columns) - columns - 1) :]] if wide else [end]
            )
            for part in parts:
                self._exact(*_parts(part))
                self._characters(part)

    def _characters(self, value: Any) -> None:
        """Spend the length of all texts in an array or a frame."""
        for part in _parts(value):
            if not _is_of(part.dtype, _SAFE) or getattr(part.dtype, "name", "") in ("str", "string"):
                self._allowance.spend(0, sum(len(member) for member in list(part) if type(member) in (str, bytes)))

    def _calculable(self, value: Any) -> None:
        """Raise RefusedError for a value that is too large, or holds objects whose code would run."""
        at_most(value.size, MAX_CELLS, "cells")
        if array_kind(value) == "frame":
            at_most(len(value.columns), MAX_COLUMNS, "columns")
        self._exact(*_parts(value))

    def _exact(self, *parts: Any, most: int | None = None) -> None:
        """Raise RefusedError unless all values are numbers, texts, dates, and lists of these."""
        for part in parts:
            if most is not None:
                at_most(len(part), most, "rows")
            if type(part) is list:
                self._exact_members(part, 0)
            elif not _is_of(part.dtype, _SAFE):
                objects = part.dtype.categories if getattr(part.dtype, "name", "") == "category" else part
                if not _is_of(objects.dtype, _SAFE + "O"):
                    raise RefusedError(f"a prompt cannot read values of the type {name_of(type(objects.dtype))}")
                at_most(objects.size, ITEMS, "objects")
                self._exact_members(list(objects.ravel() if array_kind(objects) == "array" else objects), 0)

    def _exact_members(self, members: Any, depth: int) -> None:
        for member in members:
            self._allowance.spend()
            if is_scalar(member):
                continue
            if type(member) not in (list, tuple, set, frozenset, dict) or depth > DEPTH:
                raise RefusedError(f"it holds objects of the class {name_of(type(member))}, whose code could run")
            self._exact_members(member, depth + 1)
            if type(member) is dict:
                self._exact_members(member.values(), depth + 1)


def _leaves(values: Any) -> int:
    return sum(_leaves(value) for value in values) if type(values) is list else 1


def _modest(target: Any, name: str, given: Sequence[Any]) -> None:
    """Raise RefusedError for plain arguments that ask for too much work."""
    for found in given:
        if array_kind(found):
            if name not in _TAKE_SERIES or array_kind(found) != "series":
                raise RefusedError(f"{name}() does not take an array or a frame in a prompt")
            at_most(found.size, MAX_CELLS, "cells")
            _alike(target, found)
        elif type(found) in (list, tuple, dict):
            columns = target.shape[1] if len(target.shape) > 1 else 1
            at_most(len(found) * columns, MAX_CELLS if name in ("isin", "drop") else MAX_WRITTEN_CELLS, "cells")
        elif type(found) is str:
            at_most(len(found), MAX_COLUMNS, "characters")
        elif type(found) is int and name in ("round", "to_json", "to_dict"):
            at_most(abs(found), MAX_DECIMALS, "decimals")


def _few_groups(frame: Any, by: Any) -> None:
    at_most(len(by) if type(by) in (list, tuple) else 1, 3, "levels of groups")
    if type(by) in (list, tuple) and any(getattr(dtype, "name", "") == "category" for dtype in _dtypes(frame)):
        raise RefusedError("grouping by several columns of categories can make very many groups")


def _alike(left: Any, right: Any) -> None:
    """Raise RefusedError for two operands whose alignment would make a result larger than both."""
    kinds = {array_kind(left), array_kind(right)}
    if kinds == {"array"}:
        shape = sys.modules["numpy"].broadcast_shapes(left.shape, right.shape)
        at_most(prod(shape), MAX_CELLS, "cells")
    elif kinds == {"series"}:
        matched = left.index.equals(right.index) or (left.index.is_unique and right.index.is_unique)
    elif kinds == {"frame"}:
        matched = left.index.equals(right.index) and left.columns.equals(right.columns)
    elif kinds == {"frame", "series"}:
        frame, series = (left, right) if array_kind(left) == "frame" else (right, left)
        matched = frame.columns.equals(series.index)
    else:
        matched = left.shape == right.shape
    if kinds != {"array"} and not matched:
        raise RefusedError("the rows and columns of both operands must be the same")


def _dtypes(value: Any) -> list[Any]:
    return list(value.dtypes) if array_kind(value) == "frame" else [value.dtype]


def _is_of(dtype: Any, kinds: str) -> bool:
    """Whether a type of values is one of NumPy's kinds, or one of pandas' own that holds these alone."""
    if module_of(type(dtype)) == "numpy":
        return dtype.kind in kinds
    name = getattr(dtype, "name", "")
    if name == "category":
        return "U" in kinds and _is_of(dtype.categories.dtype, _SAFE)
    if name in ("str", "string"):
        return "U" in kinds
    return module_of(type(dtype)) == "pandas" and is_scalar(dtype)


def _parts(value: Any) -> Iterator[Any]:
    """Yield the columns and labels of a value that may hold objects or text."""
    kind = array_kind(value)
    if kind == "frame":
        yield from (value.iloc[:, i] for i, dtype in enumerate(value.dtypes) if not _is_of(dtype, _NUMBERS))
    if kind in ("frame", "series"):
        yield from _labels(value)
    if kind == "index":
        yield from _levels(value)
    elif kind != "frame":
        yield value


def _labels(value: Any) -> Iterator[Any]:
    """Yield the labels of rows and columns."""
    if array_kind(value) == "index":
        yield from _levels(value)
        return
    yield from _levels(value.index)
    if array_kind(value) == "frame":
        yield from _levels(value.columns)


def _levels(index: Any) -> Iterator[Any]:
    yield from index.levels if name_of(type(index)) == "MultiIndex" else (index,)


def _option(name: str) -> int | None:
    found: int | None = sys.modules["pandas"].get_option(f"display.{name}")
    return found
