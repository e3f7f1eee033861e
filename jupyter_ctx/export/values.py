"""JSON that anybody may have written."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from ..errors import InvalidRequestError

T = TypeVar("T")


def dumped(value: object) -> str:
    """A value as a file holds it."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def parse_json(text: str, what: str = "This") -> Any:
    """The value in a text. Raises InvalidRequestError."""
    try:
        return json.loads(text)
    except RecursionError:
        why = "too many brackets within each other"
    except ValueError as error:
        why = str(error)
    raise InvalidRequestError(f"{what} is not JSON, or not all of it ({why}): save it again, whole.")


def found_in(text: str, *path: str) -> dict[str, Any]:
    """What is at a path in JSON; an empty one where that is none."""
    try:
        return find(dict, parse_json(text), *path)
    except InvalidRequestError:
        return {}


def find(kind: type[T], value: object, *path: str) -> T:
    """What is at a path in a value, where that is of this kind; or else an empty one."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, kind) else kind()
