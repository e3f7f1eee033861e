"""How far a model holds, as a probe has measured it: evidence with an age, of one model at one address."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class HeldMark:
    """Up to which length of prompts a model answers as well as on short ones.

    task: the kind of question that was asked
    low, tokens, high: of a prompt: the ends of the 90 % interval, and between them where the score falls
    falls: whether a fall was seen; else the model holds at least as far as was asked
    questions, spent: how many were counted, and the tokens of all
    address: who answered
    at: when it was measured, in seconds since 1970
    served: what the model called itself there: a server of one's own may answer with another one later
    """

    task: str
    low: int
    tokens: int
    high: int
    falls: bool
    questions: int
    spent: int
    address: str
    at: float
    served: str = ""

    @property
    def _day(self) -> date:
        return date.fromtimestamp(self.at)

    @property
    def mark(self) -> str:
        """The length with its interval, the task and the day: ``held to 16k (8 to 32k) · keys · 23 Nov``."""
        low, tokens, high = map(_short, (self.low, self.tokens, self.high))
        ends = f"({low.removesuffix('k') if high.endswith('k') else low} to {high})"
        held = f"held to {tokens} {ends}" if self.falls else f"held to {tokens}, no fall seen (lower end {low})"
        return f"{held} · {self.task} · {self._day.day} {self._day:%b}"

    @property
    def provenance(self) -> str:
        """The day, the address, and what it took."""
        day = f"{self._day.day} {self._day:%b %Y}"
        return f"measured {day} at {self.address}: {self.questions:,} questions, {self.spent:,} tokens"

    @property
    def line(self) -> str:
        """All of it in a sentence."""
        return f"{self.mark[:1].upper()}{self.mark[1:]}, {self.provenance}."


def _short(tokens: int) -> str:
    """Return a length as it is said, with two digits: 16,384 and 16,000 are 16k, and 1,600 is 1.6k."""
    thousands = tokens / 1_024
    if tokens < 1_000:
        return f"{tokens:,}"
    return f"{thousands:.1f}".removesuffix(".0") + "k" if thousands < 10 else f"{thousands:,.0f}k"
