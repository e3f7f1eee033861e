"""Which length to ask next: the one that tells most about the effective length for its price, until that is enough."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .curve import Posterior
from .trial import Trial

FIRST_LENGTH = 1024  # tokens
FIRST_REQUESTS = 4  # at the shortest length: more are not paid where a model cannot do the task
MOST_AT_BASE = 16  # requests, while it is not clear whether a model can do the task
GRID_REQUESTS = 5  # at each length of a full grid
REQUESTS_AT_ONCE = 4  # requests before the next decision

_AT_ONCE = 8  # requests so far, for one more at once
_SURE = 0.95  # that the base is too low
_OVERHEAD = 1_500  # tokens: a request takes a while, whatever its length
_ANSWER = 200  # tokens, before any answer has come
_LEAST_APART = 0.25  # octaves between the two longest lengths


@dataclass(frozen=True, slots=True)
class ProbeStep:
    """Requests to send next; they may be sent at once.

    length: tokens of each whole prompt
    positions: of each request, where in the text its facts stand, from 0 to 1
    """

    length: int
    positions: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Stop:
    """Why nothing more is asked.

    ``narrow``: the interval spans one octave at most; ``cap``: no request fits into what may be spent; ``base``: the
    model cannot do the task at the shortest length; ``uncounted``: most answers at the shortest length, or at all
    that may be paid, do not count; ``grid``: the full grid is asked
    """

    reason: Literal["narrow", "cap", "base", "uncounted", "grid"]


def probe_lengths(longest: int, least: int = 1) -> tuple[int, ...]:
    """Return the lengths of a probe: each twice the one before, up to the longest prompt that the window holds.

    The shortest is an eighth of the longest at most, unless a prompt takes more at least.
    """
    first = max(least, min(FIRST_LENGTH, longest // 8))
    doublings = math.ceil(math.log2(longest / first) - _LEAST_APART)
    return *(first * 2**i for i in range(doublings)), longest


def next_step(
    trials: Sequence[Trial], lengths: Sequence[int], spent: int, cap: int, *, questions: int = 4, grid: bool = False
) -> ProbeStep | Stop:
    """Return the requests to send next, or why to stop.

    trials: all so far, with those that are not counted
    lengths: tokens, ascending; the first is the base
    spent, cap: tokens so far and at most, prompts and answers
    questions: of one request
    grid: ask every length equally often instead
    """
    sent = Counter({trial.request: trial.wanted for trial in trials}.values())
    answer = max((trial.tokens - trial.wanted for trial in trials), default=_ANSWER)
    affordable = [length for length in lengths if length + answer <= cap - spent]
    chosen = _grid_choice(lengths, sent) if grid else _choice(trials, lengths, affordable, sent)
    if isinstance(chosen, Stop):
        return chosen
    length, wanted = chosen
    if length not in affordable:
        return Stop("cap")
    count = min(wanted, (cap - spent) // (length + answer))
    return ProbeStep(length, tuple(_positions(sent[length] + i, questions) for i in range(count)))


def _grid_choice(lengths: Sequence[int], sent: Counter[int]) -> tuple[int, int] | Stop:
    missing = [length for length in lengths if sent[length] < GRID_REQUESTS]
    return (missing[0], GRID_REQUESTS - sent[missing[0]]) if missing else Stop("grid")


def _choice(
    trials: Sequence[Trial], lengths: Sequence[int], affordable: Sequence[int], sent: Counter[int]
) -> tuple[int, int] | Stop:
    """Return the length of the most information for its price, and how many requests to send at once."""
    base = lengths[0]
    if sent[base] < FIRST_REQUESTS:
        return base, FIRST_REQUESTS - sent[base]
    posterior = Posterior.of(trials, lengths)
    is_low = posterior.base()[1]
    if is_low > _SURE:
        return Stop("base")
    if is_low > 0.5 and sent[base] < MOST_AT_BASE:
        return base, REQUESTS_AT_ONCE
    if posterior.effective().is_narrow:
        return Stop("narrow")
    if not affordable:
        return Stop("cap")
    counting = [length for length in affordable if _counts(trials, length)]
    if base not in counting:
        return Stop("uncounted")
    best = max(counting, key=lambda length: posterior.information(length) / math.sqrt(length + _OVERHEAD))
    return best, min(REQUESTS_AT_ONCE, 1 + sent.total() // _AT_ONCE)


def _counts(trials: Sequence[Trial], length: int) -> bool:
    """Return whether half of the answers at a length count, or it was asked once at most."""
    here = [trial for trial in trials if trial.wanted == length]
    counted = sum(trial.score is not None for trial in here)
    return 2 * counted >= len(here) or len({trial.request for trial in here}) < 2


def _positions(request: int, questions: int) -> tuple[float, ...]:
    """Return one position in each of equal parts of the text, at another place in its part with each request."""
    place, step = 0.0, 0.5
    number = request + 1
    while number:  # van der Corput's sequence, 1/2, 1/4, 3/4, 1/8 …: evenly spread however many there are
        place += number % 2 * step
        number, step = number // 2, step / 2
    return tuple((i + place) / questions for i in range(questions))
