"""Sizes of turns in order, as running sums: what any view of them takes is known at once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Ledger:
    """Sizes of turns in order, as running sums: append O(1), any span O(1), a cut O(log n).

    A turn that no view may hold counts as none, with 0 tokens; a pinned one counts apart,
    because it is sent wherever the cut is. What is only estimated is summed beside.
    """

    __slots__ = ("_counts", "_guesses", "_pinned", "_pinned_guesses", "_sums")

    def __init__(self) -> None:
        self._sums, self._guesses = [0.0], [0.0]
        self._pinned, self._pinned_guesses = [0.0], [0.0]
        self._counts = [0]

    def __len__(self) -> int:
        return len(self._sums) - 1

    def append(self, tokens: float | None, *, pinned: bool = False, counted: bool = True) -> None:
        """One more turn; ``None`` where no view may hold it."""
        size, loose = tokens or 0.0, not pinned
        self._sums.append(self._sums[-1] + size * loose)
        self._guesses.append(self._guesses[-1] + size * loose * (not counted))
        self._pinned.append(self._pinned[-1] + size * pinned)
        self._pinned_guesses.append(self._pinned_guesses[-1] + size * pinned * (not counted))
        self._counts.append(self._counts[-1] + (tokens is not None and loose))

    def between(self, start: int, end: int) -> float:
        """Tokens of the unpinned turns from ``start`` up to ``end``."""
        return self._sums[end] - self._sums[start]

    def count(self, start: int, end: int) -> int:
        """How many unpinned turns a view from ``start`` up to ``end`` holds."""
        return self._counts[end] - self._counts[start]

    def pinned(self, end: int) -> float:
        """Tokens of the pinned turns before ``end``."""
        return self._pinned[end]

    def guessed(self, start: int, end: int) -> float:
        """How many of a view's tokens, pinned turns included, are only estimated."""
        return self._guesses[end] - self._guesses[start] + self._pinned_guesses[end]

    def first_within(self, room: float, start: int, end: int, *, guess_weight: float = 0.0) -> int:
        """The earliest start from which on the unpinned turns up to ``end`` take ``room`` at most.

        Each estimated token counts ``guess_weight`` more.
        """

        def weight(i: int) -> float:
            return self._sums[i] + guess_weight * self._guesses[i]

        return bisect_left(range(len(self._sums)), weight(end) - max(room, 0.0), start, end, key=weight)

    def last(self, turns: int, start: int, end: int) -> int:
        """The latest start with that many unpinned turns up to ``end``, or ``start``."""
        return max(start, bisect_right(self._counts, self._counts[end] - turns, start, end + 1) - 1)
