"""Choose what is compared: two or more runs, or arms of one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import zip_longest
from string import ascii_uppercase
from typing import Any

from ..errors import InvalidRequestError
from .arms import shown_value
from .differences import Side
from .observations import prompts_of
from .pairing import inputs_of
from .results import Result
from .tally import by_arm

Arms = Mapping[str, list[Result]]


def pairs_of(first: Any, second: Any, others: tuple[Any, ...], names: Sequence[str]) -> list[tuple[Side, Side]]:
    """Return the pairs that ``compare`` compares, with its arguments. Raises InvalidRequestError."""
    arms = by_arm(results_of(first))
    if second is None or isinstance(second, str):
        labels = [second, *others] if second is not None else list(arms)
        if len(labels) < 2:
            raise InvalidRequestError(f"compare() needs two runs, or two arms of one: {_known_arms(arms)}")
        chosen = list(_arms_named(arms, [str(label) for label in labels]))
        sides = {
            label: _side(label, "", arms[label]) for label in dict.fromkeys(arm for both in chosen for arm in both)
        }
        return [(sides[a], sides[b]) for a, b in chosen]
    runs = [arms, *(by_arm(results_of(run)) for run in (second, *others))]
    letters = [ascii_uppercase[i] if i < len(ascii_uppercase) else f"run {i + 1}" for i in range(len(runs))]
    called = [
        str(name or letter) for name, letter in zip_longest(names or _own_names((first, second, *others)), letters)
    ]
    pairs, firsts = list[tuple[Side, Side]](), dict[str, Side]()
    for i, run in enumerate(runs[1:], 1):
        for arm, (ours, theirs) in _same_arms(arms, run, called[0], called[i]).items():
            if arm not in firsts:
                firsts[arm] = _side(called[0], arm, ours)
            pairs.append((firsts[arm], _side(called[i], arm, theirs)))
    return pairs


def results_of(run: Any) -> Iterable[Result]:
    """Return the results of a run, or what is a list of them already. Raises InvalidRequestError."""
    results = getattr(run, "results", run)
    if isinstance(results, str) or not isinstance(results, Iterable):
        raise InvalidRequestError(f"A run or a list of its results is needed, not {type(run).__name__}.")
    return results


def near(name: str, known: Sequence[str]) -> str:
    """Return a sentence with the known name that is the most like another one, else with all."""
    close = get_close_matches(name, known, 1)
    return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(map(repr, known)) or 'none'}."


def _own_names(runs: Sequence[Any]) -> Sequence[str]:
    """Return the names of runs, where all have one of their own."""
    found = [getattr(run, "name", "") for run in runs]
    return found if all(isinstance(name, str) and name for name in found) and len(set(found)) == len(found) else ()


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


def _arms_named(arms: Arms, labels: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the arms to compare, by labels or by parts of labels, such as ``tone=formal`` in a grid of two parameters.

    Arms that a part names are compared where all other parameters are the same.
    """
    named = [_arms_with(arms, label) for label in labels]
    common = [rest for rest in named[0] if all(rest in each for each in named)]
    if not common:
        given = ", ".join(map(repr, labels))
        raise InvalidRequestError(f"{given}: no arms differ in these values alone; {_known_arms(arms)}")
    for each in named[1:]:
        yield from ((named[0][rest], each[rest]) for rest in common)


def _arms_with(arms: Arms, label: str) -> dict[tuple[str, ...], str]:
    """Return the arms that a label, or a part of one, names: by the values of their other parameters."""
    if label in arms:
        return {(): label}
    rests = {arm: _rest(found[0].values, label) for arm, found in arms.items()}
    named = {rest: arm for arm, rest in rests.items() if rest is not None}
    if not named:
        raise InvalidRequestError(f"This run has no arm {label!r}. {near(label, list(arms))}")
    return named


def _rest(values: Mapping[str, Any], label: str) -> tuple[str, ...] | None:
    """Return the parameters that are not in a part of a label; ``None`` where a part of it is none of these."""
    rest, left = list[str](), f"{label}, "
    for name, value in values.items():
        part = f"{name}={shown_value(value)}"
        if left.startswith(f"{part}, "):
            left = left.removeprefix(f"{part}, ")
        else:
            rest.append(part)
    return None if left else tuple(rest)


def _side(name: str, arm: str, results: list[Result]) -> Side:
    called = f"{name} ({arm})" if arm else name
    return Side(called, tuple(results), inputs_of(results), prompts_of(results))


def _known_arms(arms: Mapping[str, object]) -> str:
    return f"arms here: {', '.join(map(repr, arms)) or 'none'}."
