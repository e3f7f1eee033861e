"""What a build asks of a run: ``right >= 0.8``, or ``right[tone=plain] >= right[tone=formal] - 0.02``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from statistics import fmean
from typing import NamedTuple

from ...errors import InvalidRequestError
from ..statistics.same_rows import observations, prompts_of
from ..statistics.tally import scorers_of, tally
from .not_worse import ROUNDING
from .sides import Arms, near

GRAMMAR = "SCORER >= 0.8, SCORER[ARM] < 0.1 or SCORER[ARM] >= SCORER[OTHER ARM] - 0.02 (>=, >, <= or <)"
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
    """The rate or the mean of an arm: answers that were lost are counted as wrong, in a mean as the worst one seen."""

    arm: str
    value: float
    lost: int
    answers: int

    def __str__(self) -> str:
        figure = f"{self.value:.6g} in {self.arm}"
        lost = f"{self.lost:,} of {self.answers:,} answers failed or were not asked, and count against it"
        return f"{figure} ({lost})" if self.lost else figure


def condition_of(text: str) -> Condition:
    """Return a condition in its parts. Raises InvalidRequestError."""
    parts = _CONDITION.fullmatch(text)
    if parts is None:
        raise InvalidRequestError(f"{text!r} is no condition: write {GRAMMAR}.")
    if parts["other"] is not None and parts.group("scorer", "arm") == parts.group("other", "other_arm"):
        raise InvalidRequestError(f"{text!r} compares an arm with itself: nothing tells the two sides apart.")
    return parts


def checks_of(condition: Condition, arms: Arms) -> Iterator[Checked]:
    """Yield whether a condition holds of the arm that it names, else of each with its scorer.

    Answers that failed or were not asked for count against it. Raises InvalidRequestError for an unknown arm or scorer.
    """
    scorer, sign, other = condition["scorer"], condition["sign"], condition["other"]
    number = condition["number"] or condition["by"] or "0"
    limit, reference = float("".join(number.split())), ""
    is_upper = sign.startswith("<")
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
    known = list(dict.fromkeys(name for results in arms.values() for name in scorers_of(results)))
    if scorer not in known:
        raise InvalidRequestError(f"There is no scorer {scorer!r}.{near(scorer, known)}")
    results = arms[arm]
    counted = tally(results, scorer, observations({each.row for each in results}, prompts_of(results)))
    if not counted.rows:
        raise InvalidRequestError(f"No row of {arm} has a score by {scorer!r}, so nothing can be said of it.")
    values = list(counted.rows.values())
    bounds = values if counted.kind == "mean" else [0.0, 1.0]
    worst = max(bounds) if highest else min(bounds)
    lost = counted.uncounted.failed + counted.uncounted.unasked
    share = lost / counted.answers
    return _Figure(arm, fmean(values) * (1 - share) + worst * share, lost, counted.answers)
