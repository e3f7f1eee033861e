"""Decide when a growing answer is shown again, by time and by size."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

MAX_BYTES_PER_SECOND = 190_000  # below the promised 200 kB, because each update is larger than the one before
MIN_INTERVAL = 0.084  # seconds between updates: at most 12 in a second
MAX_PIECE_WAIT = 0.46  # seconds until a piece is shown; the page needs the rest of the promised 0.5 s
TYPICAL_LENGTH = 8_800  # characters of an answer of 2,000 tokens
TYPICAL_BYTES = 805_000  # of all updates of such an answer; with the final one below 1 MB
FIRST_BYTES = 5_000  # allowed at once, so that a slow answer is shown often at its beginning
LONG_ANSWER = 50_000  # characters from which MAX_BYTES_PER_SECOND outweighs MAX_PIECE_WAIT
PAUSE_PER_RENDERING = 1  # so that rendering takes at most half of the time


@dataclass(frozen=True, slots=True)
class SentUpdate:
    """The last update: when it was sent, its bytes, those of all updates so far, and the seconds rendering took."""

    at: float = -inf
    size: int = 0
    total: int = 0
    seconds: float = 0.0

    def then(self, at: float, size: int, seconds: float) -> SentUpdate:
        """Return the state after one more update."""
        return SentUpdate(at, size, self.total + size, seconds)


def due(sent: SentUpdate, waiting: float, length: int, answers: int = 1) -> float:
    """Return when to send the next update, for a piece ``waiting`` since then and ``length`` characters in all.

    ``answers`` share the page. Each update holds the whole text again, so the next one is assumed to be as large
    as the last, and to take as long.
    """
    # the next update counts towards the same second as the last, so no second may exceed the rate with both
    rate = sent.at + sent.size / max(MAX_BYTES_PER_SECOND - sent.size, MAX_BYTES_PER_SECOND / 2)
    wanted = min(rate if is_frugal(sent, length, answers) else inf, waiting + MAX_PIECE_WAIT - sent.seconds)
    if length > LONG_ANSWER:
        wanted = max(wanted, rate)
    return max(wanted, sent.at + MIN_INTERVAL, sent.at + PAUSE_PER_RENDERING * sent.seconds)


def is_frugal(sent: SentUpdate, length: int, answers: int = 1) -> bool:
    """Return whether one more update keeps the bytes of all updates within what ``answers`` this long may take.

    The bytes of regular updates grow with the square of the length. So a slow answer is not shown more often
    at its beginning than the total allows at its end.
    """
    share = length / answers / TYPICAL_LENGTH
    return sent.total + sent.size <= answers * (FIRST_BYTES + TYPICAL_BYTES * min(share * share, share))
