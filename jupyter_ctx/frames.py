"""Tables as pandas' DataFrames, where pandas is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .errors import MissingDependencyError


def to_dataframe(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A DataFrame of columns. Raises MissingDependencyError."""
    try:
        import pandas
    except ImportError:
        raise MissingDependencyError("A DataFrame needs pandas: pip install pandas") from None
    return pandas.DataFrame(columns)
