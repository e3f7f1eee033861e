"""Parameters that a model does not take, as its server says in a refusal; the request is sent again without them.

A refusal is told by its own field for the parameter, by its code, and by the class of its words. Ranges of values are
not adapted to: a temperature of 3 is an error for whoever gave it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .error_mapping import Refusal

NEEDED_FIELDS = frozenset((  # a request without these would be another one; schemas and lengths have ways of their own
    "model", "messages", "input", "contents", "stream", "system", "instructions", "system_instruction", "tools",
    "tool_choice", "max_tokens", "max_completion_tokens", "max_output_tokens", "response_format", "text", "format",
    "response_json_schema", "response_mime_type", "http_options",
))  # fmt: skip
TELLING = frozenset({"temperature", "thinking", "reasoning", "effort", "seed"})  # words that mean nothing else
CODES = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter"})
NOT_TAKEN = (
    r"(?i)unsupported|deprecated|unknown|unrecogni[sz]ed|unexpected|no longer|incompatible|\bremove\b|is invalid"
    r"|only (?:the default|works|enabled|supported|\S+ is (?:allowed|supported))|may only be|extra (?:inputs|fields)"
    r"|不支持|(?:n['o]t|cannot|never) (?:both )?(?:be |have )?"
    r"(?:support|permit|allow|accept|available|recogni[sz]e|valid|find|compatible|enabled|used\b|set\b|specified|take)"
)
OF_A_RANGE = r"(?i)\b(?:between|range|less than|greater than|at (?:least|most)|maximum|minimum)\b"


@dataclass(eq=False)
class Unsupported:
    """What one endpoint does not take, as long as the process lives, and what was told of that.

    ``names``: dotted names of fields, such as ``reasoning.summary``, and those of
    :func:`~jupyter_ctx.providers.effort.refused_levels`. ``schemas``: texts of schemas of answers.
    """

    names: set[str] = field(default_factory=set)
    schemas: set[str] = field(default_factory=set)
    _told: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __len__(self) -> int:
        return len(self.names) + len(self.schemas)

    def untold(self, lines: Iterable[str]) -> tuple[str, ...]:
        """Return the lines that nobody was told before: of many threads, one is told."""
        with self._lock:
            new = tuple(line for line in lines if line not in self._told)
            self._told.update(new)
        return new


_unsupported: dict[str, Unsupported] = {}


def unsupported_at(endpoint: str) -> Unsupported:
    """Return what an endpoint does not take; all adapters for it share that."""
    return _unsupported.setdefault(endpoint, Unsupported())


def says_not_taken(refusal: Refusal) -> bool:
    """Return whether a refusal says that the model does not take something, whatever its value."""
    is_coded = not CODES.isdisjoint(map(str, refusal.marks))
    return is_coded or (bool(re.search(NOT_TAKEN, refusal.places)) and not re.search(OF_A_RANGE, refusal.places))


def named_field(refusal: Refusal, body: Mapping[str, Any]) -> str | None:
    """Return the field of a body that a refusal names: in its own field for that, else the first in its words."""
    found = dict[int, str]()
    for name in _names(body):
        if refusal.parameter.rpartition(".")[2] == name.rpartition(".")[2]:
            return name
        match = re.search(_pattern(name.rpartition(".")[2]), refusal.places)
        if match is not None:
            found.setdefault(match.start(), name)
    return found[min(found)] if found else None


def without(body: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return a body without the fields of these dotted names, and without objects that are empty then."""
    left = {name: value for name, value in body.items() if name not in names}
    for name, value in body.items():
        inner = {each.removeprefix(f"{name}.") for each in names if each.startswith(f"{name}.")}
        if name in left and inner and isinstance(value, Mapping):
            left[name] = without(value, inner)
            if not left[name]:
                del left[name]
    return left


def _names(body: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Yield the dotted names of the fields that may be left out, the inner ones first."""
    for name, value in body.items():
        inner = value if isinstance(value, Mapping) else {}
        if name not in NEEDED_FIELDS:
            yield from _names(inner, f"{before}{name}.")
        if name not in NEEDED_FIELDS and NEEDED_FIELDS.isdisjoint(inner):
            yield f"{before}{name}"


def _pattern(name: str) -> str:
    """Return a pattern for a field in words: one that may be a usual word only in quotes or as a field."""
    spelled = name.replace("_", "[ _-]?")
    if "_" in name or name in TELLING:
        return rf"(?i)\b{spelled}(?![a-z0-9_])"
    return rf"(?i)(?:['\"`.]|parameter:? |argument:? ){spelled}\b|\b{spelled}: "
