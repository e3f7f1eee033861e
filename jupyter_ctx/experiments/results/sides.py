"""Choose what is compared: two or more runs, or arms of one run."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from string import ascii_uppercase
from typing import Any, NamedTuple

from ...errors import InvalidRequestError
from ...wording import did_you_mean
from ..statistics.same_rows import Pairing, inputs_of, pair, prompts_of
from ..statistics.tally import by_arm
from ..table.plan import value_labels
from ..table.results import Result

Arms = Mapping[str, list[Result]]


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
    """Yield the first of some arms of one run with each other one; without labels of all.

    Arms that a part of a label names are compared where all other parameters are the same.
    """
    chosen = list(map(str, labels)) or list(arms)
    if len(chosen) < 2:
        raise InvalidRequestError(f"compare() needs two runs, or two arms of one: {_known_arms(arms)}")
    first, *others = (_arms_with(arms, label) for label in chosen)
    common = [rest for rest in first if all(rest in other for other in others)]
    if not common:
        given = ", ".join(map(repr, chosen))
        raise InvalidRequestError(f"{given}: no arms differ in these values alone; {_known_arms(arms)}")
    firsts = {rest: _side(first[rest], "", arms[first[rest]]) for rest in common}
    for other in others:
        for rest in common:
            yield firsts[rest], _side(other[rest], "", arms[other[rest]])


def _arms_with(arms: Arms, label: str) -> dict[tuple[str, ...], str]:
    """Return the arms that a label, or a part of one such as ``tone=formal``, names: by their other parameters."""
    if label in arms:
        return {(): label}
    named = dict[tuple[str, ...], str]()
    values = [results[0].values for results in arms.values()]
    shown = {name: value_labels([each.get(name) for each in values]) for name in values[0]}
    for at, arm in enumerate(arms):
        parts = [f"{name}={labels[at]}" for name, labels in shown.items()]
        given = [part for part in parts if f", {part}, " in f", {label}, "]
        if ", ".join(given) == label:
            named[tuple(part for part in parts if part not in given)] = arm
    if not named:
        raise InvalidRequestError(f"This run has no arm {label!r}.{near(label, list(arms))}")
    return named


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
