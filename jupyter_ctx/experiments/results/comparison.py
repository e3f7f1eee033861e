"""What a run scored, and whether one prompt did better than another: tables, each with sentences to quote."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import stdev
from typing import Any

from ...display.run_page import CARD_STYLE, CardFigures, ScoreLine, card_html
from ...display.tabular import RowT, Table
from ...wording import counted, visible
from ..statistics import verdicts
from ..statistics.significance import (
    ALPHA,
    POWER,
    Interval,
    are_equal,
    clustered,
    holm,
    mcnemar,
    mean_interval,
    paired_rates,
    rows_by_width,
    rows_for_mean,
    rows_paired,
)
from ..statistics.tally import LEFT_OUT, Key, Tally, by_arm, counts_text, groups_of, scorers_of, tally
from ..statistics.verdicts import ArmRow, ComparedRow, number_text, percent
from ..table.results import Result
from .differences import Differences, differences
from .pairs import (
    Pair,
    Pairing,
    Side,
    check_scorer,
    inputs_of,
    joined_groups,
    observations,
    pairs_of,
    prompts_of,
    results_of,
)

MAX_SENTENCES = 12  # that a card shows, and lines of scores


class WithSentences(Table[RowT]):
    """Figures that show themselves as a card: each with its interval, and sentences to quote."""

    sentences: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "\n\n".join(map(visible, self.first_sentences()))

    def _repr_html_(self) -> str:
        return f"{CARD_STYLE}{card_html(CardFigures(scores=self._lines(), sentences=self.first_sentences()))}"

    def _lines(self) -> list[ScoreLine]:
        raise NotImplementedError

    def first_sentences(self) -> list[str]:
        """Return as many sentences as a card shows, and how many more there are."""
        more = len(self.sentences) - MAX_SENTENCES
        rest = [f"… {more:,} more sentences are in .sentences"] if more > 0 else []
        return [*self.sentences[:MAX_SENTENCES], *rest]


class RunSummary(WithSentences[ArmRow]):
    """What each scorer says of each arm of a run, with sentences that say it in words."""

    columns = ArmRow._fields

    def _lines(self) -> list[ScoreLine]:
        return score_lines(self[:MAX_SENTENCES])


class Comparison(WithSentences[ComparedRow]):
    """How two or more prompts compare, scorer by scorer, with sentences that say it in words."""

    columns = ComparedRow._fields
    pairs: tuple[Pair, ...] = ()

    def _lines(self) -> list[ScoreLine]:
        return [_change_line(row, row.difference) for row in self[:MAX_SENTENCES] if row.difference is not None]

    def differences(self, scorer: str | None = None) -> Differences:
        """Return the shared rows with both answers side by side, those first that ``scorer`` scored differently.

        Without a name it is the first scorer. Rows whose answers differ in words come next, then all others.
        """
        known = list(dict.fromkeys(row.scorer for row in self if row.scorer))
        if scorer is not None:
            check_scorer(scorer, known)
        return differences(self.pairs, scorer or next(iter(known), ""))


def summary(results: Iterable[Result], *, group: str | None = None) -> RunSummary:
    """Return what each scorer says of each arm: rates with Wilson intervals, means with t intervals.

    ``results`` are a run's, or a run. ``group`` is the column that says which rows belong together; without it the
    run's own is used. Repeats of a row are averaged first, and so are rows with the same prompt, which share its
    answers. Failed and truncated answers are counted apart. Raises InvalidRequestError.
    """
    group, arms = group or _group_of(results), by_arm(results_of(results))
    every = [result for found in arms.values() for result in found]
    rows, sentences = list[ArmRow](), list[str]()
    for arm, found in arms.items():
        prompts = prompts_of(found)
        inputs = inputs_of(found)
        keys = observations(inputs, prompts)
        groups = joined_groups(groups_of(inputs, group), keys)
        for scorer in scorers_of(found) or [""]:
            counted = tally(found, scorer, keys, every)
            rows.append(_arm_row(arm, scorer, counted, groups))
            sentences += [verdicts.of_arm(rows[-1], counted, group if scorer else None)]
            sentences += [verdicts.of_answers(arm, counted)]
        sentences += [verdicts.of_prompts(arm, len(prompts), len(set(prompts.values())))]
    table = RunSummary(rows)
    table.sentences = tuple(dict.fromkeys(filter(None, sentences))) if rows else ("There are no results yet.",)
    return table


def compare(
    first: Any,
    second: Any = None,
    *others: Any,
    group: str | None = None,
    names: Sequence[str] = (),
    scorer: str | None = None,
) -> Comparison:
    """Return whether prompts differ on the same rows, scorer by scorer.

    ``compare(a, b)`` compares two runs, or lists of their results: b with a, and in the same way all ``others`` with
    a. ``compare(run, "tone=formal", "tone=plain")`` compares arms of one run by their labels, the first being the one
    that all others are compared with; ``compare(run)`` takes all its arms. Two runs of several arms are compared arm by
    arm.

    Rows are the same where their inputs are, in the columns that both runs have; others are left out. Yes/no scores
    get McNemar's exact test and Tango's interval, others a paired t; ``group``, the column that says which rows belong
    together, gets a clustered t interval. Repeats of a row are averaged first, and so are rows with the same prompt in
    either arm: they are one observation in both. p values are adjusted for all comparisons by Holm's method, and rows
    needed are told at the level divided by their number. ``names`` are for the runs, instead of their own names, their
    models, or A, B and so on. ``scorer`` is the only one to compare by; without it all are.

    Raises InvalidRequestError where two runs have no row in common, or an arm or the scorer is unknown.
    """
    group = group or _group_of(first)
    rows, counts, notes = list[ComparedRow](), list[str](), list[str]()
    pairs = pairs_of(first, second, others, names)
    scorers = [_scorers(a, b, scorer) for a, b, _ in pairs]
    alpha = ALPHA / max(1, sum(map(len, scorers)))
    for (a, b, paired), known in zip(pairs, scorers, strict=True):
        prompts = _shared_prompts(a, b, paired)
        of = observations(paired.first.values(), *prompts)
        notes += [*_of_prompts(a, b, prompts), *paired.notes]
        groups = joined_groups(groups_of({key: a.inputs[row] for row, key in paired.first.items()}, group), of)
        for each in known:
            row, tallies = _measure(a, b, each, paired, of, groups, alpha)
            rows.append(row)
            counts += [verdicts.of_answers(side.name, found) for side, found in zip((a, b), tallies, strict=True)]
    adjusted = holm([math.nan if row.p is None else row.p for row in rows])
    tests = sum(not math.isnan(p) for p in adjusted)
    rows = [row._replace(p_holm=_known(p)) for row, p in zip(rows, adjusted, strict=True)]
    sentences = [*(verdicts.of_pair(row, tests, group) for row in rows), *dict.fromkeys([*counts, *notes])]
    table = Comparison(rows)
    table.sentences, table.pairs = tuple(filter(None, sentences)), tuple(pairs)
    return table


def _group_of(run: object) -> str | None:
    group = getattr(run, "group", None)
    return group if isinstance(group, str) and group else None


def _scorers(a: Side, b: Side, scorer: str | None) -> list[str]:
    """Return the scorers of both, or the one that is named. Raises InvalidRequestError where neither has it."""
    known = scorers_of([*a.results, *b.results])
    if scorer is not None:
        check_scorer(scorer, known)
        return [scorer]
    return known or [""]


def _shared_prompts(a: Side, b: Side, paired: Pairing) -> tuple[dict[Key, Hashable], dict[Key, Hashable]]:
    """Return the prompts of the shared rows in both arms, of those with an answer that counts in both."""
    first, second = (
        {key: side.prompts[row] for row, key in keys.items() if row in side.prompts}
        for side, keys in ((a, paired.first), (b, paired.second))
    )
    return {key: first[key] for key in first if key in second}, {key: second[key] for key in first if key in second}


def _of_prompts(a: Side, b: Side, prompts: Sequence[Mapping[Key, Hashable]]) -> Iterator[str]:
    """Yield sentences where rows have the same prompt."""
    for side, found in zip((a, b), prompts, strict=True):
        yield verdicts.of_prompts(side.name, len(found), len(set(found.values())))


# what it comes to


def _measure(
    a: Side,
    b: Side,
    scorer: str,
    paired: Pairing,
    of: Mapping[Key, Key],
    groups: Mapping[Key, Hashable] | None,
    alpha: float,
) -> tuple[ComparedRow, tuple[Tally, Tally]]:
    """Return one scorer's comparison, before the p values of all are adjusted, and what both prompts scored."""
    every = (*a.results, *b.results)
    found = tally(a.results, scorer, paired.first, every), tally(b.results, scorer, paired.second, every)
    both = {key: of[key] for key in found[0].rows if key in found[1].rows}
    first, second = found[0].merged(both), found[1].merged(both)
    changes = {key: _change(score, second.rows[key]) for key, score in first.rows.items()}
    kinds = {each.kind for each in (first, second) if each.rows}
    kind = next((each for each in ("mean", "rate") if each in kinds), "yes/no")
    is_yes_no = {first.kind, second.kind} == {"yes/no"}
    interval, test, needed = _difference(changes, groups, is_yes_no=is_yes_no, alpha=alpha)
    if "mean" not in (found[0].kind, found[1].kind):
        interval = interval.within(-1.0, 1.0)
    difference, low, high, p = map(_known, (interval.value, interval.low, interval.high, interval.p))
    row = ComparedRow(
        a.name, b.name, scorer, len(changes), _mean(first.rows.values()), _mean(second.rows.values()), difference, low,
        high, p, None, test, _whole(needed), counts_text(first.left_out), counts_text(second.left_out), kind,
    )  # fmt: skip
    return row, (first, second)


def _change(before: float, after: float) -> float:
    return 0.0 if are_equal((before, after)) else after - before


def _difference(
    changes: Mapping[Key, float], groups: Mapping[Key, Hashable] | None, *, is_yes_no: bool, alpha: float
) -> tuple[Interval, str, float]:
    """Return the difference on the same rows with its interval, the name of its test, and the rows needed."""
    values = list(changes.values())
    if groups is not None:
        belonging = [groups[key] for key in changes]
        interval, test, independent = clustered(values, belonging), "clustered t", len(set(belonging))
        width = interval.high - interval.low
        needed = rows_by_width(interval.value, width, len(values), independent - 1, alpha) if width > 0 else math.inf
    elif is_yes_no and len(values) > 1:
        alone, independent = (values.count(-1), values.count(1)), len(values)
        interval, test = paired_rates(*alone, len(values)), "McNemar exact"
        needed = rows_paired(interval.value, sum(alone) / len(values), POWER, alpha)
    else:
        interval, test, independent = mean_interval(values), "paired t", len(values)
        deviation = stdev(values) if interval.is_known else 0.0
        needed = rows_for_mean(interval.value, deviation, POWER, alpha) if interval.is_known else math.inf
    if interval.is_known:
        return interval, test, needed
    if interval.value and independent > 1:  # all rows changed by as much
        return replace(interval, p=mcnemar(0, independent)), "sign test", math.inf
    return interval, test if len(values) > 1 else "", math.inf


def _arm_row(arm: str, scorer: str, counted: Tally, groups: Mapping[Key, Hashable] | None) -> ArmRow:
    interval = counted.interval(groups)
    value, low, high = map(_known, (interval.value, interval.low, interval.high))
    left_out = (counted.left_out.get(why, 0) for why in LEFT_OUT)
    kind = counted.kind if counted.rows else ""
    return ArmRow(arm, scorer, len(counted.rows), value, low, high, kind, counted.answers, *left_out)


def _mean(values: Collection[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _whole(rows: float) -> int | None:
    return round(rows) if math.isfinite(rows) else None


# lines of a card


def score_lines(rows: Iterable[ArmRow]) -> list[ScoreLine]:
    """Return the rate or the mean of each arm that has one."""
    return [_score_line(row, row.value) for row in rows if row.scorer and row.value is not None]


def _score_line(row: ArmRow, value: float) -> ScoreLine:
    is_rate = row.kind != "mean"
    label = f"{row.scorer}, {row.arm}" if row.arm else row.scorer
    shown = percent(value) if is_rate else number_text(value)
    if row.low is None or row.high is None:
        return ScoreLine(shown, label, counted(row.n, "row"))
    interval = f"{verdicts.interval_text(row.kind, row.low, row.high)}, {counted(row.n, 'row')}"
    return ScoreLine(shown, label, interval, (row.low, value, row.high) if is_rate else None)


def _change_line(row: ComparedRow, change: float) -> ScoreLine:
    """Return the difference of two prompts; its bar is from −100 to 100 points."""
    label, rows = f"{row.second} less {row.first}, {row.scorer}", counted(row.n, "row")
    if row.low is None or row.high is None:
        return ScoreLine(verdicts.change_text(row), label, rows)
    low, value, high = ((end + 1) / 2 for end in (row.low, change, row.high))
    interval = f"95 % interval {verdicts.ends_text(row)}, {rows}"
    return ScoreLine(verdicts.change_text(row), label, interval, (low, value, high) if row.kind != "mean" else None)
