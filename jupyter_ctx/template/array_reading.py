"""Look at arrays and frames of NumPy, pandas and Polars, through those attributes and methods that only look.

None of these libraries is imported here. Only work whose cost follows from the size of the value is done, because
nothing interrupts a calculation inside these libraries; and only where labels, names and cells are of built-in types,
because comparing and printing other objects runs their code.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, TypeVar

from ..runtime.bounds import TooSlowError, bounded_call
from .kinds import array_kind, is_scalar, name_of
from .limits import DEPTH, ITEMS, Allowance, MissingError, RefusedError, at_most

T = TypeVar("T")

MAX_CELLS = 2_000_000  # of a calculation
MAX_COLUMNS = 1_000  # each costs about a millisecond in some methods
MAX_DESCRIBED = 100  # columns that describe() takes
MAX_WRITTEN_CELLS = 20_000  # as text, CSV, JSON or a list
MAX_TEXTS = 10_000  # of a column, which are looked through for what they hold together
MAX_CHARACTERS = 20_000_000  # of all texts that are compared
MAX_ARGUMENT = 1_000  # characters, or members of a list
MAX_DECIMALS = 100
NUMBER_WIDTH = 40  # characters of a cell that holds a number or a date

SCALAR_ATTRIBUTES = (
    "year", "month", "day", "hour", "minute", "second", "microsecond", "days", "seconds", "quarter", "dayofweek",
    "dayofyear", "left", "right", "mid", "length", "real", "imag", "dtype", "kind", "itemsize",
)  # fmt: skip
SCALAR_METHODS = (
    "isoformat", "strftime", "date", "time", "total_seconds", "day_name", "month_name", "weekday", "normalize", "item",
    "is_integer", "timestamp", "isocalendar",
)  # fmt: skip

_READ = ("shape", "size", "ndim")
_LOCATORS = ("loc", "iloc", "at", "iat")
_ATTRIBUTES = {
    "array": (*_READ, "T", "dtype", "itemsize", "nbytes"),
    "frame": (*_READ, "T", "columns", "index", "dtypes", "empty", "values", *_LOCATORS),
    "series": (*_READ, "index", "dtype", "name", "empty", "values", "nbytes", *_LOCATORS),
    "index": (*_READ, "dtype", "name", "names", "empty", "values", "nlevels"),
    "locator": (),
    "values": (*_READ, "dtype"),
    "polars": ("shape", "columns", "height", "width", "name"),
}  # fmt: skip

_ENDS = ("head", "tail", "limit")  # for any size: they copy little
_SUMS = ("sum", "mean", "median", "std", "var", "quantile", "round", "abs")  # of numbers alone: adding texts is slow
_MOST = ("min", "max", "argmin", "argmax", "idxmin", "idxmax", "any", "all")
_COUNTS = ("count", "isna", "isnull", "notna", "notnull")  # which look into no text
_SORTS = ("sort_values", "nlargest", "nsmallest")
_PAGES = ("to_string", "to_markdown")  # as wide as the longest cell of each column, in each row
_WRITERS = (*_PAGES, "to_csv", "to_json", "to_dict", "tolist", "to_list")
_TABLE = ("head", "tail", "describe", *_SUMS, *_MOST[:2], *_MOST[4:], *_COUNTS, "nunique", *_SORTS)
_METHODS = {
    "array": ("sum", "mean", "std", "var", "round", *_MOST[:4], "any", "all", "tolist", "item"),
    "frame": (*_TABLE, *_WRITERS[:5]),
    "series": (*_TABLE, *_MOST[2:4], *_WRITERS, "unique", "value_counts", "item"),
    "index": ("tolist", "to_list", "min", "max", "unique", "nunique"),
    "locator": (),
    "values": ("tolist", "unique", "min", "max"),
    "polars": (
        "head", "tail", "limit", "describe", "sum", "mean", "median", "min", "max", "std", "var", "n_unique",
        "null_count", "to_list",
    ),
}  # fmt: skip
_ARGUMENTS = {  # what a method takes; up to the / also without a name
    **dict.fromkeys(_ENDS, "n /"), **dict.fromkeys(("nlargest", "nsmallest"), "n columns /"),
    **dict.fromkeys(_PAGES, "index"), "quantile": "q / numeric_only", "round": "decimals /", "item": "a b c /",
    "sort_values": "by / ascending", "to_csv": "index sep", "to_json": "orient", "to_dict": "orient /",
    "value_counts": "normalize", **dict.fromkeys(("mean", "median", "std", "var", "min", "max"), "numeric_only"),
    "sum": "numeric_only",
}  # fmt: skip
_ON_AXES = ("sum", "mean", "std", "var", *_MOST)  # methods of NumPy that take an axis
_NUMBERS = "biufcmM"  # dtype.kind of booleans, numbers, timedeltas and dates
_SAFE = _NUMBERS + "SU"  # and of bytes and text
_RANDOM = "a1b2c3d4"  # looks like a secret
_NOT_BY_ITSELF = "df.loc cannot be read by itself; use an item such as df.loc[0]"


SHAPE_ATTRIBUTES = frozenset({  # that show no cells, or keep the names of columns
    *_READ, *_LOCATORS, "columns", "index", "dtype", "dtypes", "empty", "name", "height", "width",
})  # fmt: skip
NAMED_RESULTS = frozenset(("head", "tail", "limit", "describe", "count", "nunique", "n_unique", "null_count"))


def length(value: Any) -> int:
    """Return the number of rows, or of values."""
    if array_kind(value) == "locator":
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


def named_columns(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the names of a frame's columns, of a series, or of an array's fields; with each, a value of its kind.

    Names that are no texts, nor made of texts, are left out: working with them may run code.
    """
    for name, dtype in _columns(value):
        if all(type(level) is str for level in (name if type(name) is tuple else (name,))):
            yield name, _sample(dtype)


def _columns(value: Any) -> Iterable[tuple[Any, Any]]:
    value = value.obj if array_kind(value) == "locator" else value
    if array_kind(value) == "array":
        return ((name, field[0]) for name, field in (value.dtype.fields or {}).items())
    if name_of(type(value)) == "DataFrame":
        return zip(value.columns, value.dtypes, strict=True)
    return [(value.name, value.dtype)] if name_of(type(value)) == "Series" else []


def column_cells(value: Any, name: Any, sample: Any) -> Iterator[Any]:
    """Yield the first cells of a column, and the sample where it has more; of whole numbers the least and greatest."""
    value = value.obj if array_kind(value) == "locator" else value
    column = value if name_of(type(value)) == "Series" else value[name]
    if getattr(column, "ndim", 1) != 1:
        yield sample
    elif str(column.dtype).lower().startswith(("int", "uint")) and len(column):
        yield from (column.min(), column.max())
    else:
        cells = column[:MAX_TEXTS]
        yield from cells.to_list() if array_kind(cells) == "polars" else cells.tolist()
        yield from [sample] if len(column) > MAX_TEXTS else []


def parts_within(name: Any, cell: Any, sample: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a cell that is such as a sample, and what its structs and lists hold, with the names of these."""
    yield name, cell
    if type(sample) is dict and type(cell) is dict:
        for label, part in cell.items():
            yield from parts_within(label, part, sample.get(label))
    elif type(sample) is list and type(cell) is list:
        for part in cell:
            yield from parts_within(None, part, sample[0])


def first_rows(value: Any) -> tuple[list[Any], list[list[Any]], list[Any]]:
    """Return the names, the first cells of each column and the labels of rows of a frame or a column with texts."""
    kind = array_kind(value)
    if kind not in ("frame", "series", "polars"):
        return [], [], []
    is_frame = name_of(type(value)) == "DataFrame"
    dtypes = list(getattr(value, "dtypes", [])) if is_frame else [value.dtype]
    index = getattr(value, "index", None)
    dtypes += [] if index is None else [index.dtype]
    names = list(value.columns) if is_frame else [value.name]
    is_readable = all(is_scalar(level) for name in names for level in (name if type(name) is tuple else (name,)))
    types = " ".join(str(dtype) for dtype in dtypes).lower()
    if not is_readable or not ("object" in types or "str" in types):  # lists and structs of these, too
        return [], [], []
    most = max(MAX_TEXTS // max(len(dtypes), 1), 100)
    part = value[:most] if kind == "polars" else value.iloc[:most]
    columns = [part.iloc[:, n] for n in range(part.shape[1])] if kind == "frame" else [part]
    columns = [part[:, n] for n in range(part.shape[1])] if kind == "polars" and is_frame else columns
    return names, [column.to_list() for column in columns], [] if index is None else part.index.tolist()


def _sample(dtype: Any, text: str = "x") -> Any:
    """Return a value such as a column of this type may hold; in structs any text may be a secret."""
    kind = name_of(type(dtype))
    if kind == "Struct":  # of Polars
        return {field.name: _sample(field.dtype, _RANDOM) for field in dtype.fields}
    if kind in ("List", "Array"):
        return [_sample(dtype.inner, _RANDOM)]
    written = str(dtype).lower()
    if written.startswith("bool"):
        return True
    return 2_000 if written.startswith(("int", "uint", "float", "date", "time", "decimal", "|s", "binary")) else text


class Arrays:
    """A reader of arrays and frames for one expression, within its allowance."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance

    def attribute(self, value: Any, name: str) -> Any:
        """Return a listed attribute, or a frame's column. Raises MissingError for any other name."""
        kind = array_kind(value)
        if name in _ATTRIBUTES[kind]:
            if name == "values" or (name == "T" and kind == "frame"):
                at_most(0 if kind == "series" else value.size, MAX_WRITTEN_CELLS, "cells")  # copied, one by one
                self._check_labels(value)
            return getattr(value, name)
        if kind == "frame" and name in column_names(value):
            return self.item(value, name)
        if name in _METHODS[kind]:
            raise MissingError(f"{name} is a method; write {name}()")
        remedy = "Compute it in a cell, and fill in the name of the result."
        raise MissingError(f"{name_of(type(value))} has no attribute {name!r} that a prompt can read. {remedy}")

    def members(self, value: Any) -> list[Any]:
        """Return the values along the first dimension, or the names of a frame's columns."""
        if array_kind(value) == "frame":
            return list(value.columns[:ITEMS])
        at_most(length(value), ITEMS, "values")
        self._check_labels(value)
        return list(value)

    def item(self, value: Any, key: Any) -> Any:
        """Return rows, columns or values by number, name or slice, or columns by a list of their names."""
        kind = array_kind(value)
        target = value.obj if kind == "locator" else value
        self._check_labels(target)
        if type(key) is list and kind == "frame" and target.columns.is_unique:
            self._check_members(key, 0)
            at_most(len(key) * len(target), MAX_CELLS, "cells")
        elif not all(type(part) is slice or is_scalar(part) for part in (key if type(key) is tuple else (key,))):
            raise RefusedError("an array or a frame is indexed by numbers, names and slices in a prompt")
        by_label = kind == "series" or name_of(type(value)) in ("_LocIndexer", "_AtIndexer")
        if by_label and name_of(type(target.index)) != "RangeIndex":
            at_most(len(target), MAX_CELLS, "rows")  # the first label that is looked up is compared with all
        try:
            return self._run(lambda: value[key])
        except KeyError as error:
            said = error.args[0] if error.args and type(key) is list else f"there is no column or label {error}"
            raise MissingError(said) from None
        except IndexError as error:
            raise MissingError(str(error)) from None

    def call(self, value: Any, name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Call a listed method with plain arguments. Raises RefusedError where its cost is not known beforehand."""
        kind = array_kind(value)
        if name not in _METHODS[kind]:
            raise RefusedError(f"a prompt cannot call {name}() of {name_of(type(value))}")
        in_order, _, named = _ARGUMENTS.get(name, "/").rpartition("/")
        if kind == "array" and name in _ON_AXES:
            in_order, named = "axis", ""
        unlisted = [keyword for keyword in keywords if keyword not in (*in_order.split(), *named.split())]
        if unlisted or len(args) > len(in_order.split()):
            what = f"{unlisted[0]}=" if unlisted else f"{len(args)} arguments without a name"
            raise RefusedError(f"{name}() of {name_of(type(value))} does not take {what} in a prompt")
        for argument in (*args, *keywords.values()):
            _check_argument(name, argument)
        self._check_labels(value)
        if name == "describe" and kind == "frame":
            value = _described(value)
        if name not in _ENDS:
            self._check_work(value, name)
        return self._run(lambda: getattr(type(value), name)(value, *args, **keywords))

    def _check_work(self, value: Any, name: str) -> None:
        """Raise RefusedError for a method that would take long, or run code of the values."""
        at_most(prod(value.shape), MAX_CELLS, "cells")
        columns = value.shape[1] if len(value.shape) > 1 and array_kind(value) != "array" else 1
        at_most(columns, MAX_DESCRIBED if name == "describe" else MAX_COLUMNS, "columns")
        if name in _WRITERS:
            at_most(prod(value.shape), MAX_WRITTEN_CELLS, "cells")
        if array_kind(value) == "polars":
            self._allowance.spend(0, value.estimated_size() if name in _WRITERS else 0)
            return
        self._check_cells(value)
        dtypes = value.dtypes if array_kind(value) == "frame" else [value.dtype]
        if name in _SUMS and not all(_is_of(dtype, _NUMBERS) for dtype in dtypes):
            raise RefusedError(f"{name}() takes numbers only in a prompt: name the columns, as in df[['a', 'b']]")
        if name in _WRITERS:
            self._allowance.spend(0, self._characters(value, len(value), padded=name in _PAGES))
        elif name not in _COUNTS:
            at_most(self._characters(value, len(value), padded=False), MAX_CHARACTERS, "characters")

    def text(self, value: Any, *, nested: bool = False) -> str:
        """Return the value as it prints."""
        kind, write = array_kind(value), repr if nested else str
        if kind == "locator":
            raise RefusedError(_NOT_BY_ITSELF)
        self._check_labels(value)
        if kind == "array":
            return self._run(lambda: self._array_text(value, write))
        if kind in ("frame", "series"):
            self._check_shown(value)
        elif kind == "polars":
            if any(name.startswith("POLARS_FMT_") for name in os.environ):  # all of it may be shown
                self._allowance.spend(0, len(value) * value.estimated_size())
        else:
            most = min(len(value), _option("max_seq_items") or len(value))
            self._check_cells(value)
            self._allowance.spend(0, self._characters(value, most, padded=True))
        return self._run(lambda: write(value))

    def _array_text(self, value: Any, write: Callable[[Any], str]) -> str:
        self._check_cells(value)
        numpy = sys.modules["numpy"]
        options = numpy.get_printoptions()
        edge = 2 * options["edgeitems"] + 1
        shown = value.size if value.size <= options["threshold"] else prod(min(size, edge) for size in value.shape)
        at_most(shown, MAX_WRITTEN_CELLS, "printed values")
        self._allowance.spend(0, self._characters(value, shown, padded=True))
        with numpy.printoptions(formatter=None):
            return write(value)

    def _check_shown(self, value: Any) -> None:
        """Check the rows and columns of a frame that printing shows."""
        most = _option("max_rows")
        rows = len(value) if not most or len(value) <= most else min(most, _option("min_rows") or most)
        columns = min(value.shape[1] if len(value.shape) > 1 else 1, _option("max_columns") or MAX_COLUMNS)
        at_most(rows * columns, MAX_WRITTEN_CELLS, "printed cells")
        for end in (value.iloc[:rows], value.iloc[len(value) - rows :]):
            wide = array_kind(value) == "frame"
            last = max(0, value.shape[1] - columns - 1) if wide else 0
            for part in (end.iloc[:, : columns + 1], end.iloc[:, last:]) if wide else (end,):
                self._check_cells(part)
                self._allowance.spend(0, self._characters(part, len(part), padded=True))

    def _characters(self, value: Any, rows: int, *, padded: bool) -> int:
        """Return how many characters ``rows`` of a value may take when written; ``padded``: each as the longest."""
        total = 0
        for part in _parts(value):
            if _is_of(part.dtype, _NUMBERS) or not part.size:
                total += rows * NUMBER_WIDTH if padded else 0
                continue
            at_most(part.size, ITEMS, "values")
            widths = [_width(member) for member in (part.ravel() if array_kind(part) == "array" else part)]
            total += rows * max(widths) if padded else sum(widths)
        for label in value.columns if array_kind(value) == "frame" else ():
            total += _width(label) * (rows if padded else 1)
        return total

    def _check_labels(self, value: Any) -> None:
        """Raise RefusedError unless all labels and names are of built-in types; before anything is done to a value."""
        kind = array_kind(value)
        if kind == "polars":
            if "Object" in str(value.dtypes if name_of(type(value)) == "DataFrame" else value.dtype):
                raise RefusedError("it holds objects, and working with them runs their code")
            return
        indexes = {"frame": ("index", "columns"), "series": ("index",)}.get(kind, ())
        for index in (value,) if kind == "index" else (getattr(value, name) for name in indexes):
            self._check_members(list(index.names), 0)
            for level in index.levels if name_of(type(index)) == "MultiIndex" else (index,):
                self._check_exact(level)
        if indexes:  # pandas copies attrs with each result
            self._check_members([value.attrs, value.name if kind == "series" else None], 0)

    def _check_cells(self, value: Any) -> None:
        """Raise RefusedError unless all cells are numbers, texts, dates, and lists of these."""
        for part in _parts(value):
            self._check_exact(part)

    def _check_exact(self, part: Any) -> None:
        if _is_of(part.dtype, _SAFE):
            return
        objects = part.dtype.categories if getattr(part.dtype, "name", "") == "category" else part
        if not _is_of(objects.dtype, _SAFE + "O"):
            raise RefusedError(f"a prompt cannot read values of the type {name_of(type(objects.dtype))}")
        at_most(objects.size, ITEMS, "objects")
        self._check_members(list(objects.ravel() if array_kind(objects) == "array" else objects), 0)

    def _check_members(self, members: Any, depth: int) -> None:
        for member in members:
            self._allowance.spend()
            if is_scalar(member):
                continue
            if type(member) not in (list, tuple, set, frozenset, dict) or depth > DEPTH:
                raise RefusedError(f"it holds objects of the class {name_of(type(member))}, whose code could run")
            self._check_members(member, depth + 1)
            if type(member) is dict:
                self._check_members(member.values(), depth + 1)

    def _run(self, work: Callable[[], T]) -> T:
        """Return what a library computes, within the time that is left for the prompt, and within bounds of memory."""
        try:
            return bounded_call(self._allowance.seconds_left(), work)
        except TooSlowError:
            raise RefusedError("it takes too long") from None
        except MemoryError:
            raise RefusedError("it takes too much memory") from None


def _described(frame: Any) -> Any:
    """Return the columns that ``describe()`` is about: those of numbers and dates, if there are any."""
    numbers = [place for place, dtype in enumerate(frame.dtypes) if _is_of(dtype, _NUMBERS.replace("b", ""))]
    return frame.iloc[:, numbers] if numbers else frame


def _width(member: Any) -> int:
    """Return how many characters a cell may take, at most."""
    kind = type(member)
    if kind is str or kind is bytes:
        return 4 * len(member) + 3 if kind is bytes else 2 * len(member) + 2  # with signs for what cannot be printed
    if kind is int:
        return int(member.bit_length()) // 3 + 2
    if kind in (list, tuple, set, frozenset):
        return sum(_width(each) + 2 for each in member) + 12
    if kind is dict:
        return sum(_width(key) + _width(each) + 4 for key, each in member.items()) + 2
    return NUMBER_WIDTH * (member.size if array_kind(member) else 1)


def _check_argument(name: str, argument: Any) -> None:
    """Raise RefusedError for an argument that is no single value and no short list of such."""
    each_of = argument if type(argument) in (list, tuple) else (argument,)
    at_most(len(each_of), MAX_ARGUMENT, "values")
    for each in each_of:
        if not _is_simple(each):
            raise RefusedError(f"{name}() takes single values and lists of them in a prompt")
        at_most(len(each) if type(each) is str else 0, MAX_ARGUMENT, "characters")
        at_most(abs(each) if type(each) is int and name == "round" else 0, MAX_DECIMALS, "decimals")


def _is_simple(value: Any) -> bool:
    """Return whether a value is single and of a size that libraries calculate with themselves."""
    if type(value) is int:
        return value.bit_length() < 64
    return is_scalar(value) and name_of(type(value)) not in ("Decimal", "Fraction", "bytes")


def _is_of(dtype: Any, kinds: str) -> bool:
    """Whether a type of values is one of NumPy's kinds, or one of pandas' own that holds these alone."""
    name = name_of(type(dtype))
    if name == "CategoricalDtype":
        return "U" in kinds and _is_of(dtype.categories.dtype, _SAFE)
    is_text = "U" in kinds and name in ("StringDtype", "PeriodDtype", "ArrowDtype")
    return is_scalar(dtype) and (dtype.kind in kinds or is_text)


def _parts(value: Any) -> Iterator[Any]:
    """Yield the columns of a value, and its rows' labels."""
    kind = array_kind(value)
    if kind == "frame":
        yield from (value.iloc[:, i] for i in range(len(value.columns)))
    elif kind != "index":
        yield value
    if kind in ("frame", "series", "index"):
        index = value if kind == "index" else value.index
        several = name_of(type(index)) == "MultiIndex"
        levels = zip(index.levels, index.codes, strict=True) if several else ()
        yield from (level.take(codes) for level, codes in levels if len(level))
        yield from () if several else (index,)


def _option(name: str) -> int | None:
    found: int | None = sys.modules["pandas"].get_option(f"display.{name}")
    return found
