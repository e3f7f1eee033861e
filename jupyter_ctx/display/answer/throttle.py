"""When an answer that grows is shown again: by time and by size, never for each piece."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

BYTES_A_SECOND = 190_000  # at most 200 kB: each update is a little larger than the one before
APART = 0.084  # seconds: never more than 12 updates in one
MAX_PIECE_WAIT = 0.46  # seconds that a piece may wait until it is shown; the page takes some of the half second
TYPICAL = 8_800  # characters: 2,000 tokens
TYPICAL_BYTES = 820_000  # in all updates of such an answer; with the final one below 1 MB
FIRST_BYTES = 5_000  # so that a slow answer is lively at its beginning
LONG_ANSWER = 50_000  # characters, from which on the page's rate counts for more than patience
REST = 1  # rendering takes at most half of the time


@dataclass(frozen=True, slots=True)
class SentUpdate:
    """The last update: when, how large in bytes, with all before it, and the seconds it took."""

    at: float = -inf
    size: int = 0
    total: int = 0
    seconds: float = 0.0

    def then(self, at: float, size: int, seconds: float) -> SentUpdate:
        """With one more update."""
        return SentUpdate(at, size, self.total + size, seconds)


def due(sent: SentUpdate, waiting: float, length: int) -> float:
    """When the next update is to go, for a piece that waits since then and so many characters in all.

    Each update holds the whole text again, so the next one is taken to be as large, and to
    take as long, as the last.
    """
    # what is left of a second's bytes without the next: none of its seconds may hold more
    rate = sent.at + sent.size / max(BYTES_A_SECOND - sent.size, BYTES_A_SECOND / 2)
    wanted = min(rate if is_frugal(sent, length) else inf, waiting + MAX_PIECE_WAIT - sent.seconds)
    if length > LONG_ANSWER:
        wanted = max(wanted, rate)
    return max(wanted, sent.at + APART, sent.at + REST * sent.seconds)


def is_frugal(sent: SentUpdate, length: int) -> bool:
    """Whether one more update is within what all together may take so far.

    Updates at equal distances take the square of the length: so a slow answer is not shown
    more often at its beginning than it can be at its end.
    """
    share = length / TYPICAL
    return sent.total + sent.size <= FIRST_BYTES + TYPICAL_BYTES * min(share * share, share)
