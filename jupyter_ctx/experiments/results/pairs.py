"""Choose what is compared: two or more runs, or arms of one run, and the rows that are the same in them.

Rows with the same prompt are asked once, share its answers, and are one observation. Rows of two runs are paired by
what they hold, so that a table may have been sorted or cut in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from string import ascii_uppercase
from typing import Any, NamedTuple, TypeVar

from ...errors import InvalidRequestError
from ...wording import did_you_mean
from ..statistics.tally import Key, by_arm
from ..table.results import Result, json_value

Item = TypeVar("Item", bound=Hashable)
Arms = Mapping[str, list[Result]]
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


@dataclass(frozen=True, slots=True)
class Side:
    """One of the prompts that are compared.

    name: what sentences call it
    results: all its results
    inputs: the columns of each row, by its number
    prompts: what is the same for rows with the same prompt, by their numbers, of those with an answer that counts
    """

    name: str
    results: tuple[Result, ...]
    inputs: Mapping[int, Mapping[str, Any]]
    prompts: Mapping[int, Hashable] = field(default_factory=dict)


class Pair(NamedTuple):
    """Two prompts, and the rows that they share."""

    first: Side
    second: Side
    rows: Pairing


def pairs_of(first: Any, second: Any, others: tuple[Any, ...], names: Sequence[str]) -> list[Pair]:
    """Return the pairs that ``compare`` compares, with its arguments. Raises InvalidRequestError."""
    if second is None or isinstance(second, str):
        sides = _arms_of_one(by_arm(results_of(first)), [] if second is None else [second, *others])
    else:
        sides = _runs([first, second, *others], names)
    return [Pair(a, b, pair(a.inputs, b.inputs, (a.name, b.name))) for a, b in sides]


def _arms_of_one(arms: Arms, labels: Sequence[object]) -> Iterator[tuple[Side, Side]]:
    """Yield the first of some arms of one run with each other one; without labels of all."""
    chosen = list(map(str, labels)) or list(arms)
    if len(chosen) < 2:
        raise InvalidRequestError(f"compare() needs two runs, or two arms of one: {_known_arms(arms)}")
    unknown = next((label for label in chosen if label not in arms), None)
    if unknown is not None:
        raise InvalidRequestError(f"This run has no arm {unknown!r}.{near(unknown, list(arms))}")
    first, *others = (_side(label, "", arms[label]) for label in chosen)
    return ((first, other) for other in others)


def _runs(runs: Sequence[Any], names: Sequence[str]) -> Iterator[tuple[Side, Side]]:
    """Yield each arm of the first run with the same arm of each other run."""
    letters = [ascii_uppercase[i] if i < len(ascii_uppercase) else f"run {i + 1}" for i in range(len(runs))]
    called = [str(name or letter) for name, letter in zip_longest(names or _own_names(runs), letters)]
    arms = [by_arm(results_of(run)) for run in runs]
    firsts = dict[str, Side]()
    for i, run in enumerate(arms[1:], 1):
        for arm, (ours, theirs) in _same_arms(arms[0], run, called[0], called[i]).items():
            if arm not in firsts:
                firsts[arm] = _side(called[0], arm, ours)
            yield firsts[arm], _side(called[i], arm, theirs)


def results_of(run: Any) -> Iterable[Result]:
    """Return the results of a run, or what is a list of them already. Raises InvalidRequestError."""
    if getattr(run, "is_running", False):
        raise InvalidRequestError(f"{run!r} goes on: its result() waits for the end, and then it can be compared.")
    results = getattr(run, "results", run)
    is_frame = hasattr(results, "columns") and not isinstance(results, tuple)
    if isinstance(results, str) or is_frame or not isinstance(results, Iterable):
        kind = type(run).__name__
        raise InvalidRequestError(f"A run, load_run(path) or a list of a run's results is needed, not {kind}.")
    return results


def near(name: str, known: Sequence[str]) -> str:
    """Return a sentence with the known name that is the most like another one, else with all."""
    return did_you_mean(name, known, "{!r}") or f" There are: {', '.join(map(repr, known)) or 'none'}."


def check_scorer(name: str, known: Sequence[str]) -> None:
    """Raise InvalidRequestError where there is no scorer of this name."""
    if name not in known:
        raise InvalidRequestError(f"scorer={name!r}: there is none of this name.{near(name, known)}")


def _own_names(runs: Sequence[Any]) -> Sequence[str]:
    """Return what tells all runs apart: their own names, else their models; nothing where neither does."""
    for attribute in ("name", "model"):
        names = [getattr(run, attribute, "") for run in runs]
        if all(isinstance(name, str) and name for name in names) and len(set(names)) == len(names):
            return names
    return ()


def _same_arms(first: Arms, second: Arms, name: str, other: str) -> dict[str, tuple[list[Result], list[Result]]]:
    """Return the arms that two runs share; two runs of one arm each are compared whatever their arms' labels are."""
    if len(first) <= 1 and len(second) <= 1:
        return {"": (next(iter(first.values()), []), next(iter(second.values()), []))}
    shared = [arm for arm in first if arm in second]
    if not shared:
        raise InvalidRequestError(
            f"{name} and {other} have no arm in common: {_known_arms(first)} {_known_arms(second)} "
            "compare(run, arm, arm) compares arms of one run."
        )
    return {arm: (first[arm], second[arm]) for arm in shared}


def _side(name: str, arm: str, results: list[Result]) -> Side:
    called = f"{name} ({arm})" if arm else name
    return Side(called, tuple(results), inputs_of(results), prompts_of(results))


def _known_arms(arms: Mapping[str, object]) -> str:
    return f"arms here: {', '.join(map(repr, arms)) or 'none'}."


# rows of two runs


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
    keys = _keys(first, shared), _keys(second, shared)
    common = set(keys[0].values()) & set(keys[1].values()) if shared or not any(columns) else set()
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


# rows of one run


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
