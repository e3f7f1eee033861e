"""What a build asks of a run: ``right >= 0.8``, or ``right[tone=plain] >= right[tone=formal] - 0.02``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterator
from statistics import fmean
from typing import NamedTuple

from ...errors import InvalidRequestError
from ...wording import counted as number_of
from ..statistics.same_rows import observations, prompts_of
from ..statistics.tally import Uncounted, scorers_of, tally
from .not_worse import ROUNDING
from .sides import Arms, near

GRAMMAR = "SCORER >= 0.8, SCORER[ARM] < 0.1 or SCORER[ARM] >= SCORER[OTHER ARM] - 0.02 (>=, >, <= or <)"
MOST_LOST = 0.02  # of a mean's answers: no score is the worst one there could have been
COMPARES: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt,
}  # fmt: skip
_SCORER, _NUMBER = r"[^][<>=]*[^][<>=\s]", r"\d*\.?\d+"
_CONDITION = re.compile(
    rf"\s*(?P<scorer>{_SCORER})\s*(\[(?P<arm>.+?)\])?\s*(?P<sign>>=|<=|>|<)\s*"
    rf"((?P<number>-?{_NUMBER})|(?P<other>{_SCORER})\s*\[(?P<other_arm>.+?)\]\s*((?P<by>[-+]\s*{_NUMBER}))?)\s*"
)
Condition = re.Match[str]


class Checked(NamedTuple):
    """Whether a condition holds of one arm, and a sentence that says so."""

    holds: bool
    sentence: str


class _Figure(NamedTuple):
    """The rate or the mean of an arm: answers without a score count as wrong, in a mean as the worst one seen."""

    arm: str
    value: float
    lost: Uncounted
    answers: int

    def __str__(self) -> str:
        figure = f"{self.value:.6g} in {self.arm}"
        lost = f"{self.lost.total:,} of {self.answers:,} answers have no score, and count against it: {self.lost}"
        return f"{figure} ({lost})" if self.lost.total else figure


def condition_of(text: str) -> Condition:
    """Return a condition in its parts. Raises InvalidRequestError."""
    parts = _CONDITION.fullmatch(text)
    if parts is None:
        raise InvalidRequestError(f"{text!r} is no condition: write {GRAMMAR}.")
    if parts["other"] is not None and parts.group("scorer", "arm") == parts.group("other", "other_arm"):
        raise InvalidRequestError(f"{text!r} compares an arm with itself: nothing tells the two sides apart.")
    return parts


def checks_of(condition: Condition, arms: Arms, scorers: Collection[str]) -> Iterator[Checked]:
    """Yield whether a condition holds of the arm that it names, else of each with its scorer.

    Answers without a score count against it. ``scorers`` are the names that a condition may have. Raises
    InvalidRequestError for an unknown arm or scorer, and where too few answers have a score to tell.
    """
    scorer, sign, other = condition["scorer"], condition["sign"], condition["other"]
    number = condition["number"] or condition["by"] or "0"
    limit, reference = float("".join(number.split())), ""
    is_upper = sign.startswith("<")
    for name in filter(None, (scorer, other)):
        if name not in scorers:
            raise InvalidRequestError(f"There is no scorer {name!r}.{near(name, list(scorers))}")
    if other is not None:
        found = _figure(arms, other, condition["other_arm"], highest=not is_upper)
        limit += found.value
        reference = f", {found}"
    limit += -ROUNDING if sign in (">=", "<") else ROUNDING
    named = [condition["arm"]] if condition["arm"] else _arms_with(scorer, arms)
    for arm in named:
        found = _figure(arms, scorer, arm, highest=is_upper)
        holds = COMPARES[sign](found.value, limit)
        verb = "holds" if holds else "does not hold"
        yield Checked(holds, f"{condition[0].strip()} {verb}: {found}{reference}.")


def _arms_with(scorer: str, arms: Arms) -> list[str]:
    """Return the arms that a scorer scored, and those without any score, of which nothing can be said."""
    known = {arm: scorers_of(results) for arm, results in arms.items()}
    return [arm for arm, scorers in known.items() if scorer in scorers or not scorers] or list(arms)


def _figure(arms: Arms, scorer: str, arm: str, *, highest: bool) -> _Figure:
    """Return an arm's figure, with lost answers as the lowest score or the ``highest``. Raises InvalidRequestError."""
    if arm not in arms:
        raise InvalidRequestError(f"There is no arm {arm!r}.{near(arm, list(arms))}")
    results = arms[arm]
    counted = tally(results, scorer, observations({each.row for each in results}, prompts_of(results)))
    share = counted.uncounted.total / counted.answers
    is_mean = counted.kind == "mean"  # so it is where there is no score
    if is_mean and share > MOST_LOST:
        lost = f"{counted.uncounted.total:,} of {number_of(counted.answers, 'answer')} have no score ({counted.lost})"
        most = "a mean may lack 2 in 100" if counted.rows else "stored answers are not asked anew"
        raise InvalidRequestError(f"{scorer} of {arm} cannot be checked: {lost}. Run it again: {most}.")
    values = list(counted.rows.values())
    bounds = values if is_mean else [0.0, 1.0]
    worst = max(bounds) if highest else min(bounds)
    return _Figure(arm, fmean(values) * (1 - share) + worst * share, counted.uncounted, counted.answers)
