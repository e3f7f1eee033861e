"""Find rows that are the same: those of one run that ask the same prompt, and those of two runs with the same inputs.

Rows with the same prompt are asked once, share its answers, and are one observation. Rows of two runs are paired by
what they hold, so that a table may have been sorted or cut in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ...errors import InvalidRequestError
from ..table.results import Result, json_value
from .tally import Key

Item = TypeVar("Item", bound=Hashable)


def prompts_of(results: Iterable[Result]) -> dict[int, Hashable]:
    """Return the prompts of rows with an answer that counts, by the rows' numbers; those of one arm."""
    return {result.row: result.prompt for result in results if result.counts and result.prompt}


def observations(rows: Iterable[Item], *prompts: Mapping[Item, Hashable]) -> dict[Item, Item]:
    """Return for each row one that stands for all with the same prompt, which may be itself.

    ``prompts`` are those of each arm; rows with the same prompt in any arm are one observation in all of them.
    """
    links = ((row, (arm, prompt)) for arm, found in enumerate(prompts) for row, prompt in found.items())
    return {row: row for row in rows} | connected(links)


def connected(links: Iterable[tuple[Item, Hashable]]) -> dict[Item, Item]:
    """Return for each item one that stands for all that it is linked with: by a label that both have, or by others."""
    first: dict[Hashable, Item] = {}
    above: dict[Item, Item] = {}

    def top(item: Item) -> Item:
        while (over := above.setdefault(item, item)) != item:
            above[item] = item = above[over]
        return item

    for item, label in links:
        above[top(item)] = top(first.setdefault(label, item))
    return {item: top(item) for item in list(above)}


def joined_groups(groups: Mapping[Any, Hashable] | None, of: Mapping[Any, Key]) -> dict[Key, Hashable] | None:
    """Return the group of each observation from its rows' groups, of which those that share an observation are one."""
    if groups is None:
        return None
    return dict(connected((of[row], group) for row, group in groups.items() if row in of))


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
        held = tuple(str(json_value(inputs.get(name))) for name in columns)  # as a run in a file has it
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
