"""Format counts and ages in words; replace characters that a terminal or a page would obey."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import SupportsIndex

# left-to-right and right-to-left marks stay: they reverse no text, and some names need them
CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

SLIP_SIMILARITY = 0.75  # of difflib, from 0 to 1: what was most likely meant
MAX_RUNS = 4  # of consecutive turns that a line names
TINY = 1e-6  # dollars, against errors of floating point


def visible(text: str) -> str:
    """Replace each control character with U+FFFD: terminals obey escape sequences, and front ends colour by them."""
    return CONTROL_CHARACTERS.sub("�", text.replace("\r\n", "\n"))


def counted(count: int, noun: str) -> str:
    """Return a count of things, such as ``1 turn``, ``1,200 turns`` or ``2 matches``."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a regular noun."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("ch", "s", "x")) else f"{noun}s"


def is_whole(number: object, least: int, most: int | None = None) -> bool:
    """Return whether a value is a whole number, NumPy's included, within bounds."""
    if not isinstance(number, SupportsIndex) or isinstance(number, bool):
        return False
    return least <= number.__index__() and (most is None or number.__index__() <= most)


def nearest_name(name: str, known: Iterable[str], similarity: float = 0.6) -> str:
    """Return that of the known names which a name is likely a slip of, whatever its case; empty: there is none."""
    from difflib import get_close_matches  # takes a millisecond, and nothing is misspelled as a rule

    spellings = {_folded(other): other for other in known}
    near = get_close_matches(_folded(name), spellings, 1, similarity)
    return spellings[near[0]] if near else ""


def did_you_mean(name: str, known: Iterable[str], form: str = "{}", similarity: float = 0.6) -> str:
    """Return a question for the nearest of the known names, written in a ``form``; empty: none is near."""
    near = nearest_name(name, known, similarity)
    return f" Did you mean {form.format(near)}?" if near else ""


def _folded(name: str) -> str:
    return name.lower().replace(" ", "_")


def turns(count: int) -> str:
    """Return a count of turns."""
    return counted(count, "turn")


def named_turns(numbers: Sequence[int]) -> str:
    """Return turns by their ascending numbers, such as ``turn 7`` or ``turns 1 to 4, 6 and 9``.

    Where there are many gaps, how many turns and between which they are.
    """
    runs = list[list[int]]()
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    if len(runs) > MAX_RUNS:
        return f"{turns(len(numbers))} from {numbers[0]:,} to {numbers[-1]:,}"
    parts = list[str]()
    for start, end in runs:  # "4 to 6", but "4 and 5"
        parts += [f"{start:,} to {end:,}"] if end > start + 1 else [f"{each:,}" for each in range(start, end + 1)]
    *first, last = parts
    return f"turn{'s' if len(numbers) > 1 else ''} {' and '.join(filter(None, (', '.join(first), last)))}"


def ago(seconds: float) -> str:
    """Return how long ago something was, such as ``2 hours ago``."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        count = int(seconds // size)
        if count:
            return f"{count:,} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def fill_share(fill: float, *, about: bool = False) -> str:
    """Return how full a limit is, such as ``61 %``; what exceeds it is said in words. ``about``: with ``~``."""
    return f"{'~' if about else ''}{100 * min(fill, 1):,.0f} %"


def dollars(cost: float) -> str:
    """Return a price in US dollars with two significant digits."""
    return f"${cost:,.{price_digits(cost)}f}"


def exact_dollars(amount: float) -> str:
    """Return US dollars with every digit, as in ``$2``, ``$0.50`` and ``$0.0185``."""
    whole, _, cents = f"{amount:,.12f}".rstrip("0").partition(".")
    return f"${whole}.{cents:0<2}" if cents else f"${whole}"


def price_digits(cost: float) -> int:
    """Return how many digits after the point a price in US dollars is told with."""
    return 2 if cost >= 1 or cost <= 0 else max(2, 1 - math.floor(math.log10(cost)))


def budget_line(left: tuple[float, float | None, float | None]) -> str:
    """Return what is left to spend, of how much, and until when (local time), such as ``$1.20 of $5 left``."""
    amount, limit, until = left
    of = "" if limit is None else f" of {exact_dollars(limit)}"
    end = "" if until is None else f", until {datetime.fromtimestamp(until):%Y-%m-%d %H:%M}"
    told = amount if amount == limit else _rounded_down(amount)
    return f"{exact_dollars(told)}{of} left{end}"


def lack_line(cap: float, charged: float, worst: float | None) -> str:
    """Return why a cap has no room for a request that may cost so much; ``None``: any amount."""
    next_one = "any amount" if worst is None else dollars(worst)
    return (
        f"max_cost is {exact_dollars(cap)}: {dollars(charged)} of it is spent or reserved, and the next request may "
        f"cost up to {next_one}. Raise max_cost, lower max_tokens, or ask another model (%chat help budget)."
    )


def _rounded_down(amount: float) -> float:
    """Return what is left in as many digits as a price has, and never more than there is."""
    unit = 10.0 ** -price_digits(amount)
    return math.floor(amount / unit + TINY) * unit
