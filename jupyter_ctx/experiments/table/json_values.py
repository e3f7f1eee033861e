"""Values as JSON has them: what a file keeps of a table, and by what rows of a table and of a file are the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def json_value(value: Any) -> Any:
    """Return a value as JSON has it: NaN as null, NumPy's as Python's, objects of fields as these, others as text."""
    if is_dataclass(value) and not isinstance(value, type):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    elif hasattr(value, "model_dump"):  # pydantic's
        value = value.model_dump(mode="json")
    elif hasattr(value, "tolist"):  # NumPy's, arrays included
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): json_value(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
