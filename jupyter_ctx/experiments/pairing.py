"""Find the same rows in two runs: by what the rows hold, so that a table may have been sorted or cut in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidRequestError
from .results import Result
from .tally import Key

Inputs = Mapping[int, Mapping[str, Any]]  # of each row, by its number


@dataclass(frozen=True, slots=True)
class Pairing:
    """The rows that two runs share.

    first, second: the shared rows of each run: their keys, by their numbers
    notes: what a reader must know of the rows that are not shared, a sentence each
    """

    first: Mapping[int, Key]
    second: Mapping[int, Key]
    notes: tuple[str, ...] = ()


def inputs_of(results: Iterable[Result]) -> dict[int, Mapping[str, Any]]:
    """Return the columns of each row, by its number, in order of the numbers."""
    found: dict[int, Mapping[str, Any]] = {}
    for result in results:
        found.setdefault(result.row, result.inputs)
    return dict(sorted(found.items()))


def pair(first: Inputs, second: Inputs, names: tuple[str, str]) -> Pairing:
    """Return the rows whose inputs are the same in both runs, in the columns that both have.

    Rows with the same inputs are paired in their order. Raises InvalidRequestError where no row has a partner.
    """
    columns = [_columns(first), _columns(second)]
    shared = [name for name in columns[0] if name in columns[1]]
    if not shared and any(columns) and first and second:
        raise InvalidRequestError(
            f"{names[0]} has the columns {', '.join(columns[0]) or '(none)'} and {names[1]} has "
            f"{', '.join(columns[1]) or '(none)'}: without a common one their rows cannot be compared."
        )
    keys = _keys(first, shared), _keys(second, shared)
    common = set(keys[0].values()) & set(keys[1].values())
    if not common and first and second:
        raise InvalidRequestError(
            f"{names[0]} and {names[1]} have no row in common: none of the {len(first):,} rows of one has the inputs "
            f"of any of the {len(second):,} of the other. Ask both over the same table."
        )
    parts = [{row: key for row, key in each.items() if key in common} for each in keys]
    return Pairing(parts[0], parts[1], tuple(_notes(columns, shared, keys, common, names)))


def _columns(rows: Inputs) -> list[str]:
    return list(dict.fromkeys(name for row in rows.values() for name in row))


def _keys(rows: Inputs, columns: list[str]) -> dict[int, Key]:
    """Return a key for each row: what it holds, and the how-manieth such row it is; else its number."""
    if not columns:
        return {row: row for row in rows}
    seen, keys = Counter[Key](), dict[int, Key]()
    for row, inputs in rows.items():
        held = tuple(str(inputs.get(name)) for name in columns)  # 1 is NumPy's 1 as well
        keys[row] = (held, seen[held])
        seen[held] += 1
    return keys


def _notes(
    columns: list[list[str]],
    shared: list[str],
    keys: tuple[dict[int, Key], dict[int, Key]],
    common: set[Key],
    names: tuple[str, str],
) -> Iterable[str]:
    if set(columns[0]) != set(columns[1]):
        yield f"Rows were matched by the columns that both runs have: {', '.join(shared)}."
    alone = [(name, len(each) - len(common)) for name, each in zip(names, keys, strict=True) if len(each) > len(common)]
    if alone:
        counts = " and ".join(f"{count:,} of {name}" for name, count in alone)
        yield f"Rows whose inputs are not in both runs were left out: {counts}."
