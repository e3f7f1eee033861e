"""How much a model can hold, and who says so.

What the user gave comes first, but never above what a refusal has taught; then what the
server that serves the model reports; then tables: the user's own file, ours, and the same
one compiled in. What nobody knows is assumed, and said to be.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

Source = Literal["given", "learned", "server", "user file", "models.json", "provider", "built in", "assumed"]
ASSUMED = 32_000
ORIGINS: dict[Source, str] = {
    "given": "(given)",
    "learned": "learned from a refusal",
    "server": "from the server",
    "user file": "from your models.json",
    "models.json": "from models.json",
    "provider": "from the provider",
    "built in": "from the built-in table",
    "assumed": "assumed",
}


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """Tokens a model can hold, in and out together, and where that number comes from.

    ``max_input_tokens`` and ``max_output_tokens`` are caps on one side alone, where there
    are any; ``matched`` is the row of the table that answered; ``given`` is what the user
    asked for where a refusal has taught less.
    """

    tokens: int
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    source: Source = "assumed"
    matched: str | None = None
    given: int | None = None

    @property
    def origin(self) -> str:
        """Where the number comes from, in words."""
        if self.source == "learned" and self.given:
            return f"learned: given {self.given:,}, server refuses above {self.tokens:,}"
        row = f" ({self.matched})" if self.matched else ""
        return ORIGINS[self.source] + row


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a models file: name or prefix to ``[window, input cap, output cap]``.

    ``problem`` says in one line why a file could not be used.
    """

    rows: Mapping[str, tuple[int, int | None, int | None]]
    source: Source
    problem: str | None = None

    def find(self, model: str) -> ContextWindow | None:
        """The exact row of a model, else that of its longest prefix."""
        for name in _names(model):
            row = self._match(name)
            if row is not None:
                tokens, max_input, max_output = self.rows[row]
                return ContextWindow(tokens, max_input, max_output, self.source, row)
        return None

    def _match(self, name: str) -> str | None:
        if name in self.rows:
            return name
        for end in range(len(name) - 1, 0, -1):
            if name[:end] in self.rows and _is_prefix(name[:end], name[end]):
                return name[:end]
        return None


def _is_prefix(row: str, following: str) -> bool:
    """`gpt-4` is not `gpt-4o`; `claude-3` is `claude-3.5-sonnet`; `my-` is `my-model`."""
    return not row[-1].isalnum() or not following.isalnum()


def _names(model: str) -> list[str]:
    """A full name, then what is left of it without provider and vendor."""
    parts = model.lower().split("/")
    return ["/".join(parts[i:]) for i in range(len(parts)) if parts[-1]]


def read_table(text: str, source: Source, path: str) -> Table:
    """The rows of a models file. One that cannot be used is empty and says why."""
    try:
        data = json.loads(text)
    except ValueError as error:
        return Table({}, source, f"{path} is not JSON ({error})")
    if not isinstance(data, dict):
        return Table({}, source, f"{path} must hold an object, not a {type(data).__name__}")
    rows, bad = {}, []
    for name, value in data.items():
        row = _row(value)
        if row is None:
            bad.append(name)
        else:
            rows[name.lower()] = row
    problem = f"{path}: no use of {bad[0]!r} (a window is a whole number above 0)" if bad else None
    return Table(rows, source, problem)


def _row(value: Any) -> tuple[int, int | None, int | None] | None:
    if isinstance(value, dict):
        value = [value.get(k) for k in ("context_window", "max_input_tokens", "max_output_tokens")]
    if not isinstance(value, list):
        value = [value]
    numbers = [*value, None, None][:3]
    if any(type(n) is not int or n < 1 for n in numbers if n is not None) or numbers[0] is None:
        return None
    return numbers[0], numbers[1], numbers[2]


def choose_window(
    model: str,
    tables: Iterable[Table],
    *,
    given: int | None = None,
    served: ContextWindow | None = None,
    learned: int | None = None,
) -> ContextWindow:
    """The window that holds, from what the user gave, a refusal taught, the server or a table says."""
    found = served or _from_tables(model, tables)
    if given is not None:
        cap = found.max_input_tokens
        found = replace(
            found,
            tokens=given,
            max_input_tokens=cap if cap is not None and cap < given else None,
            source="given",
            matched=None,
        )
    if learned is not None and (given is None or learned < given):
        return replace(found, tokens=learned, max_input_tokens=None, source="learned", matched=None, given=given)
    return found


def _from_tables(model: str, tables: Iterable[Table]) -> ContextWindow:
    found = (table.find(model) for table in tables)
    return next((window for window in found if window is not None), ContextWindow(ASSUMED))
