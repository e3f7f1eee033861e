"""Read values from JSON of unknown origin."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from ..errors import InvalidRequestError

T = TypeVar("T")


def dumped(value: object) -> str:
    """Return a value as indented JSON."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def parse_json(text: str, what: str = "This") -> Any:
    """Return the value in a JSON text; ``what`` names it in the InvalidRequestError raised for invalid JSON."""
    try:
        return json.loads(text)
    except RecursionError:
        why = "too many brackets within each other"
    except ValueError as error:
        why = str(error)
    raise InvalidRequestError(f"{what} is not valid JSON ({why}).")


def found_in(text: str, *path: str) -> dict[str, Any]:
    """Return the object at a path of names in a JSON text, or an empty one."""
    try:
        return find(dict, parse_json(text), *path)
    except InvalidRequestError:
        return {}


def find(kind: type[T], value: object, *path: str) -> T:
    """Return what is at a path of names in a value, or an empty value of ``kind`` if it is of another kind."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, kind) else kind()
