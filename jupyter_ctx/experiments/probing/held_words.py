"""What a probe has found, in sentences to quote."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import date

from ...wording import counted
from ..statistics.verdicts import percent, rounded_up
from .curve import ABLE_SHARE, HeldLength, Posterior, common_ends, octaves_further


def held_sentence(held: HeldLength, task: str, model: str, day: date) -> str:
    """Return up to which length a model holds in a task, or why that is not known."""
    asked = f"{counted(held.questions, 'question')}, {day.day} {day:%b %Y}, {model}"
    if lack := _lack(held):
        return f"{task}: {'left out' if held.base_is_low else 'cannot tell'}: {lack} ({asked})"
    low, median, high = map(_about, (held.low, held.median, held.high))
    if not held.reached:
        return f"{task}: no fall was seen up to {held.longest:,} tokens (lower end {low}; {asked})"
    if held.is_known:
        return f"{task}: holds to about {median} tokens (90 % interval {low} to {high}; {asked})"
    more = f"about {counted(rounded_up(held.needed), 'more question')} would"
    return f"{task}: cannot tell: to somewhere between {low} and {high} tokens ({asked}); {more}"


def _lack(held: HeldLength) -> str:
    """Return why nothing can be said of a length; empty: something can."""
    if not held.questions:
        return "no answer counts"
    if held.base_is_low:
        base = f"about {percent(held.base)} right at {held.shortest:,} tokens already"
        return f"{base}, and at least {percent(ABLE_SHARE)} are needed there"
    return f"no answer counts beyond {held.shortest:,} tokens, the base" if held.longest == held.shortest else ""


def uncounted_sentence(marks: Sequence[str]) -> str:
    """Return how many questions are neither right nor wrong, and why, by their marks; empty: all count."""
    reasons = Counter(filter(None, marks))
    if not reasons:
        return ""
    each = ", ".join(f"{count:,} {mark}" for mark, count in reasons.items())
    remedy = "; a larger max_tokens lets answers end" if "cut" in reasons else ""
    return f"Not counted are {reasons.total():,} of {counted(len(marks), 'question')}: {each}{remedy}"


def further_sentence(first: Posterior, second: Posterior, names: tuple[str, str]) -> str:
    """Return whether the second of two models holds further than the first, or less far, with the 90 % interval."""
    lacks = [
        f"of {name}, {lack}"
        for name, each in zip(names, (first, second), strict=True)
        if (lack := _lack(each.effective()))
    ]
    least, most = common_ends(first, second)
    if least >= most:
        lacks = lacks or [f"one was asked up to {most:,} tokens, and the other from {least:,} tokens on"]
    if lacks:
        return f"{names[0]} and {names[1]} cannot be compared: {'; '.join(lacks)}"
    low, median, high = octaves_further(first, second)
    up_to = f"up to the {most:,} tokens that both were asked"
    if first.shortest != second.shortest:
        up_to += f" (the base of {names[0]} is {first.shortest:,} tokens, and of {names[1]} {second.shortest:,})"
    if high < 0:
        low, median, high = -high, -median, -low
        names = names[1], names[0]
    figures = f"{_times(median)} times as far (90 % interval {_times(low)} to {_times(high)})"
    if low > 0:
        return f"{names[1]} holds further than {names[0]}, {up_to}: about {figures}"
    if low == high == 0:
        return f"{names[0]} and {names[1]} hold equally far, {up_to}"
    return f"Which holds further is not known, {up_to}: {names[1]} holds about {figures} as {names[0]}"


def _about(tokens: float) -> str:
    """Return a length with two significant digits."""
    return f"{round(tokens, 1 - math.floor(math.log10(tokens))):,.0f}"


def _times(octaves: float) -> str:
    return f"{2**octaves:.2g}"
