"""Make pandas and Polars frames of columns, with types that keep whole numbers whole beside missing values."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import MissingDependencyError

Columns = Mapping[str, Sequence[Any]]
_KINDS = {bool: ("bool", "boolean"), int: ("int64", "Int64"), float: ("float64", "float64")}  # without and with gaps


def pandas_frame(inputs: Any, columns: Columns, numbers: Sequence[int], *, once: bool) -> Any:
    """Return a pandas DataFrame of the inputs and of further columns.

    inputs: columns, or a pandas DataFrame whose rows are taken, with their types
    numbers: of each row of the result, the row of the table
    once: whether each row of the table is there once at most: the result then has the index of its rows, so that it
        can be joined to the table

    Raises MissingDependencyError.
    """
    try:
        import pandas
    except ImportError:
        raise MissingDependencyError("A DataFrame needs pandas: pip install pandas") from None
    if isinstance(inputs, Mapping):
        index: Any = pandas.Index(numbers) if once else None
        return pandas.DataFrame(
            {name: _series(pandas, values, index) for name, values in {**inputs, **columns}.items()}, index=index
        )
    taken = inputs.iloc[list(numbers)]
    if not once and _is_default(pandas, inputs.index):
        taken = taken.reset_index(drop=True)
    rest = {name: _series(pandas, values, taken.index) for name, values in columns.items()}
    return pandas.concat([taken, pandas.DataFrame(rest, index=taken.index)], axis="columns")


def polars_frame(inputs: Any, columns: Columns, numbers: Sequence[int]) -> Any:
    """Return a Polars frame of the inputs, which are columns or a Polars frame whose rows are taken, and of others."""
    polars = sys.modules["polars"]
    table = polars.DataFrame([_polars_series(polars, name, values) for name, values in columns.items()])
    if isinstance(inputs, Mapping):
        inputs = polars.DataFrame([_polars_series(polars, name, values) for name, values in inputs.items()])
        return inputs.hstack(table)
    return inputs[list(numbers)].hstack(table)


def _is_default(pandas: Any, index: Any) -> bool:
    """Return whether an index only counts the rows."""
    return isinstance(index, pandas.RangeIndex) and index.start == 0 and index.step == 1 and index.name is None


def _series(pandas: Any, values: Sequence[Any], index: Any) -> Any:
    kinds = {type(value) for value in values}
    gaps = type(None) in kinds
    kinds.discard(type(None))
    if kinds == {int, float} or not kinds:
        kinds = {float}
    if len(kinds) == 1 and (kind := kinds.pop()) in _KINDS:
        try:
            return pandas.Series(list(values), index=index, dtype=_KINDS[kind][gaps])
        except OverflowError:  # a whole number of more than 64 bits
            return pandas.Series(list(values), index=index, dtype="object")
    try:
        return pandas.Series(list(values), index=index)
    except (ValueError, TypeError, OverflowError):
        return pandas.Series(list(values), index=index, dtype="object")


def _polars_series(polars: Any, name: str, values: Sequence[Any]) -> Any:
    kinds = {type(value) for value in values}
    dtype = polars.Float64 if {int, float} <= kinds <= {int, float, type(None)} else None
    try:
        return polars.Series(name, list(values), dtype=dtype, strict=True)
    except (TypeError, ValueError, OverflowError, polars.exceptions.PolarsError):
        return polars.Series(name, list(values), dtype=polars.Object)
