"""What a run scored, and whether one prompt did better than another: tables, each with sentences to quote."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import zip_longest
from statistics import stdev
from string import ascii_uppercase
from typing import Any

from ..errors import InvalidRequestError
from ..session.tabular import MAX_SHOWN_ROWS, RowT, Table, cell_text, escaped
from ..wording import visible
from . import verdicts
from .differences import Differences, Side, differences
from .pairing import Pairing, inputs_of, pair
from .results import Result
from .significance import (
    CONFIDENCE,
    Interval,
    can_resample,
    clustered,
    holm,
    is_skewed,
    paired_difference,
    paired_rates,
    rows_for_mean,
    rows_paired,
    t_quantile,
)
from .table_rows import ArmRow, ComparedRow
from .tally import Key, Tally, by_arm, groups_of, same_repeats, scorers_of, tally

MAX_SENTENCES = 30  # shown below a table


class WithSentences(Table[RowT]):
    """A table with sentences below it; a column that is empty in every row is not shown."""

    sentences: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "\n\n".join(filter(None, (super().__repr__() if self else "", *self._shown())))

    def _repr_html_(self) -> str:
        table = super()._repr_html_() if self else ""
        return table + "".join(f'<p dir="auto">{escaped(sentence)}</p>' for sentence in self._shown())

    def _cells(self) -> list[list[str]]:
        rows = [[cell_text(getattr(row, name)) for name in self.columns] for row in self[:MAX_SHOWN_ROWS]]
        shown = [i for i in range(len(self.columns)) if any(row[i] for row in rows)]
        return [[self.columns[i] for i in shown], *([row[i] for i in shown] for row in rows)]

    def _more(self) -> str:
        more = f"\n… the first {MAX_SHOWN_ROWS} of {len(self):,}; to_dataframe() has all"
        return more if len(self) > MAX_SHOWN_ROWS else ""

    def _shown(self) -> list[str]:
        more = len(self.sentences) - MAX_SENTENCES
        rest = [f"… {more:,} more sentences are in .sentences"] if more > 0 else []
        return [*map(visible, self.sentences[:MAX_SENTENCES]), *rest]


class RunSummary(WithSentences[ArmRow]):
    """What each scorer says of each arm of a run, with sentences that say it in words."""

    columns = ArmRow._fields


class Comparison(WithSentences[ComparedRow]):
    """How two or more prompts compare, scorer by scorer, with sentences that say it in words."""

    columns = ComparedRow._fields
    pairs: tuple[tuple[Side, Side], ...] = ()

    def differences(self, scorer: str | None = None) -> Differences:
        """Return the shared rows with both answers side by side, those first that ``scorer`` scored differently.

        Without a name it is the first scorer. Rows whose answers differ in words come next, then all others.
        """
        known = list(dict.fromkeys(row.scorer for row in self if row.scorer))
        if scorer is not None and scorer not in known:
            raise InvalidRequestError(f"scorer={scorer!r}: there is none of this name. {_near(scorer, known)}")
        return differences(self.pairs, scorer or next(iter(known), ""))


def summary(results: Iterable[Result], *, group: str | None = None) -> RunSummary:
    """Return what each scorer says of each arm: rates with Wilson intervals, means with t intervals.

    ``results`` are a run's, or a run. ``group`` is the column that says which rows belong together; without it the
    run's own is used. Repeats of a row are averaged first. Failed and truncated answers are counted apart. Raises
    InvalidRequestError.
    """
    group, arms = group or _group_of(results), by_arm(_results_of(results))
    rows, sentences = list[ArmRow](), list[str]()
    for arm, found in arms.items():
        groups = groups_of(inputs_of(found), group)
        for scorer in scorers_of(found) or [""]:
            counted = tally(found, scorer)
            interval = counted.interval(_of_rows(groups, counted))
            rows.append(_arm_row(arm, scorer, interval, counted))
            values = list(counted.rows.values()) if counted.kind == "mean" else []
            sentence = verdicts.of_arm(arm, scorer, interval, counted, group if scorer else None)
            sentences.append(sentence + verdicts.of_skewness(_skewness(values, group)))
        sentences += filter(None, [verdicts.of_repeats(arm, same_repeats(found))])
    table = RunSummary(rows)
    table.sentences = tuple(sentences) if rows else ("There are no results yet.",)
    return table


def compare(
    first: Any,
    second: Any = None,
    *others: Any,
    group: str | None = None,
    names: Sequence[str] = (),
) -> Comparison:
    """Return whether prompts differ on the same rows, scorer by scorer.

    ``compare(a, b)`` compares two runs, or lists of their results: b with a, and in the same way all ``others`` with
    a. ``compare(run, "tone=formal", "tone=plain")`` compares arms of one run, the first being the one that all others
    are compared with; ``compare(run)`` takes all its arms. Two runs of several arms are compared arm by arm.

    Rows are the same where their inputs are, in the columns that both runs have; others are left out. Yes/no scores
    get McNemar's exact test and Tango's interval, others a seeded paired bootstrap; ``group``, the column that says
    which rows belong together, gets a clustered t interval. Repeats of a row are averaged first. p values are
    adjusted for all comparisons by Holm's method. ``names`` are for the runs, instead of their own or A, B and so on.

    Raises InvalidRequestError where two runs have no row in common, or an arm is unknown.
    """
    group = group or _group_of(first)
    measured, notes = list[_Measured](), list[str]()
    pairs = _pairs(first, second, others, names)
    for a, b in pairs:
        paired = pair(a.inputs, b.inputs, (a.name, b.name))
        notes += paired.notes
        groups = groups_of({paired.first[row]: a.inputs[row] for row in paired.first}, group)
        measured += [_measure(a, b, scorer, paired, groups) for scorer in _scorers(a, b)]
    adjusted = holm([each.interval.p for each in measured])
    table = Comparison(_compared_row(each, p) for each, p in zip(measured, adjusted, strict=True))
    tests = sum(not math.isnan(p) for p in adjusted)
    table.sentences = (
        *(
            verdicts.of_pair(row, each.kind, tests, group) + verdicts.of_skewness(each.skewed)
            for row, each in zip(table, measured, strict=True)
        ),
        *(verdicts.of_repeats(side.name, same_repeats(side.results)) for side in _each(pairs)),
        *dict.fromkeys(notes),
    )
    table.sentences = tuple(filter(None, table.sentences))
    table.pairs = tuple(pairs)
    return table


# what is compared


def _pairs(first: Any, second: Any, others: tuple[Any, ...], names: Sequence[str]) -> list[tuple[Side, Side]]:
    arms = by_arm(_results_of(first))
    if second is None or isinstance(second, str):
        labels = [second, *others] if second is not None else list(arms)
        if len(labels) < 2:
            raise InvalidRequestError(f"compare() needs two runs, or two arms of one: {_known_arms(arms)}")
        sides = [_arm(arms, label) for label in labels]
        return [(sides[0], side) for side in sides[1:]]
    runs = [arms, *(by_arm(_results_of(run)) for run in (second, *others))]
    letters = [ascii_uppercase[i] if i < len(ascii_uppercase) else f"run {i + 1}" for i in range(len(runs))]
    called = [
        str(name or letter) for name, letter in zip_longest(names or _own_names((first, second, *others)), letters)
    ]
    return [
        (_side(called[0], arm, found[0]), _side(called[i], arm, found[1]))
        for i, run in enumerate(runs[1:], 1)
        for arm, found in _same_arms(arms, run, called[0], called[i]).items()
    ]


def _own_names(runs: Sequence[Any]) -> Sequence[str]:
    """Return the names of runs, where all have one of their own."""
    found = [getattr(run, "name", "") for run in runs]
    return found if all(isinstance(name, str) and name for name in found) and len(set(found)) == len(found) else ()


def _same_arms(
    first: dict[str, list[Result]], second: dict[str, list[Result]], name: str, other: str
) -> dict[str, tuple[list[Result], list[Result]]]:
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


def _arm(arms: dict[str, list[Result]], label: object) -> Side:
    if label not in arms:
        raise InvalidRequestError(f"This run has no arm {label!r}. {_near(str(label), list(arms))}")
    return _side(str(label), "", arms[str(label)])


def _side(name: str, arm: str, results: list[Result]) -> Side:
    return Side(f"{name} ({arm})" if arm else name, tuple(results), inputs_of(results))


def _results_of(run: Any) -> Iterable[Result]:
    """Return the results of a run, or what is a list of them already."""
    results = getattr(run, "results", run)
    if isinstance(results, str) or not isinstance(results, Iterable):
        raise InvalidRequestError(f"A run or a list of its results is needed, not {type(run).__name__}.")
    return results


def _group_of(run: object) -> str | None:
    group = getattr(run, "group", None)
    return group if isinstance(group, str) and group else None


def _each(pairs: Iterable[tuple[Side, Side]]) -> Iterable[Side]:
    """Return every side once."""
    return {side.name: side for both in pairs for side in both}.values()


def _scorers(a: Side, b: Side) -> list[str]:
    return scorers_of([*a.results, *b.results]) or [""]


def _near(name: str, known: Sequence[str]) -> str:
    close = get_close_matches(name, known, 1)
    return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(map(repr, known)) or 'none'}."


def _known_arms(arms: Mapping[str, object]) -> str:
    return f"arms here: {', '.join(map(repr, arms)) or 'none'}."


# what it comes to


@dataclass(frozen=True, slots=True)
class _Measured:
    """One scorer's comparison, before the p values of all are adjusted."""

    sides: tuple[Side, Side]
    scorer: str
    values: tuple[float | None, float | None]
    tallies: tuple[Tally, Tally]
    interval: Interval
    test: str
    rows_needed: float
    skewed: verdicts.Skewness = ""

    @property
    def kind(self) -> str:
        """What is compared, as in a tally; means where one of the two has means."""
        kinds = {each.kind for each in self.tallies if each.rows}
        if "mean" in kinds:
            return "mean"
        return "rate" if "rate" in kinds else "yes/no"


def _measure(a: Side, b: Side, scorer: str, paired: Pairing, groups: Mapping[Key, Hashable] | None) -> _Measured:
    tallies = tally(a.results, scorer, paired.first), tally(b.results, scorer, paired.second)
    shared = [key for key in tallies[0].rows if key in tallies[1].rows]
    scores = [(tallies[0].rows[key], tallies[1].rows[key]) for key in shared]
    values = tuple(math.fsum(side) / len(shared) for side in zip(*scores, strict=True)) or (None, None)
    changes = [after - before for before, after in scores]
    yes_no = all(each.kind == "yes/no" for each in tallies)
    if groups is not None:
        interval, test = clustered(changes, [groups[key] for key in shared]), "clustered t"
        needed = _needed(interval, len({groups[key] for key in shared}) - 1)
    elif yes_no:
        alone = changes.count(-1), changes.count(1)
        interval, test = paired_rates(*alone, len(shared)), "McNemar exact"
        needed = rows_paired(interval.value, sum(alone) / len(shared)) if shared else math.inf
    else:
        interval, test = paired_difference(changes), "paired bootstrap" if can_resample(changes) else "paired t"
        needed = rows_for_mean(interval.value, stdev(changes)) if interval.is_known else math.inf
    skewed = "" if test == "McNemar exact" else _skewness(changes, groups)
    return _Measured((a, b), scorer, (values[0], values[1]), tallies, interval, test, needed, skewed)


def _skewness(values: Sequence[float], groups: object) -> verdicts.Skewness:
    """Return what was done for the interval of a mean where a few values weigh much."""
    if not is_skewed(values):
        return ""
    return "widened" if can_resample(values) and groups is None else "left"


def _needed(interval: Interval, degrees: int) -> float:
    """Return the rows needed for a difference of this size, from the width of its t interval."""
    if not interval.is_known:
        return math.inf
    error = (interval.high - interval.low) / 2 / t_quantile((1 + CONFIDENCE) / 2, degrees)
    return rows_for_mean(interval.value, error * math.sqrt(interval.n))


def _of_rows(groups: Mapping[Key, Hashable] | None, counted: Tally) -> Mapping[Key, Hashable] | None:
    return None if groups is None else {key: groups[key] for key in counted.rows}


def _arm_row(arm: str, scorer: str, interval: Interval, counted: Tally) -> ArmRow:
    value, low, high = map(_known, (interval.value, interval.low, interval.high))
    left, kind = counted.uncounted, counted.kind if counted.rows else ""
    return ArmRow(
        arm, scorer, len(counted.rows), value, low, high, kind, counted.answers, left.failed, left.truncated,
        left.unscored,
    )  # fmt: skip


def _compared_row(each: _Measured, adjusted: float) -> ComparedRow:
    interval, (a, b), left = each.interval, each.sides, [str(side.uncounted) for side in each.tallies]
    needed = round(each.rows_needed) if math.isfinite(each.rows_needed) else None
    difference, low, high, p = map(_known, (interval.value, interval.low, interval.high, interval.p))
    return ComparedRow(
        a.name, b.name, each.scorer, interval.n, *each.values, difference, low, high, p, _known(adjusted),
        each.test, needed, *left,
    )  # fmt: skip


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
