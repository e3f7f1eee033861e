"""Running sums over the sizes of turns, from which the size of any view follows at once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Ledger:
    """Running sums over the sizes of turns: appending and any span take O(1), finding a cut O(log n).

    An excluded turn counts as no turn, with 0 tokens. Pinned turns are summed separately, because
    they are sent wherever the cut is. So are estimated sizes, which need a margin.
    """

    __slots__ = ("_counts", "_guesses", "_pinned", "_pinned_guesses", "_pins", "_sums")

    def __init__(self) -> None:
        self._sums, self._guesses = [0.0], [0.0]
        self._pinned, self._pinned_guesses = [0.0], [0.0]
        self._counts, self._pins = [0], [0]

    def __len__(self) -> int:
        return len(self._sums) - 1

    def append(self, tokens: float | None, *, pinned: bool = False, counted: bool = True) -> None:
        """Add a turn of this many tokens; ``None`` for a turn that no view may hold."""
        size, loose = tokens or 0.0, not pinned
        self._sums.append(self._sums[-1] + size * loose)
        self._guesses.append(self._guesses[-1] + size * loose * (not counted))
        self._pinned.append(self._pinned[-1] + size * pinned)
        self._pinned_guesses.append(self._pinned_guesses[-1] + size * pinned * (not counted))
        self._counts.append(self._counts[-1] + (tokens is not None and loose))
        self._pins.append(self._pins[-1] + (tokens is not None and pinned))

    def first(self, turns: int) -> Ledger:
        """Return the ledger of the first turns: this one where it has no more."""
        if turns >= len(self):
            return self
        ledger = Ledger()
        for name in self.__slots__:
            setattr(ledger, name, getattr(self, name)[: turns + 1])
        return ledger

    def between(self, start: int, end: int) -> float:
        """Return the tokens of the unpinned turns from ``start`` up to ``end``."""
        return self._sums[end] - self._sums[start]

    def count(self, start: int, end: int) -> int:
        """Return how many unpinned turns a view from ``start`` up to ``end`` holds."""
        return self._counts[end] - self._counts[start]

    def pinned(self, end: int) -> float:
        """Return the tokens of the pinned turns before ``end``."""
        return self._pinned[end]

    def pins(self, start: int, end: int) -> int:
        """Return how many pinned turns there are from ``start`` up to ``end``."""
        return self._pins[end] - self._pins[start]

    def guessed(self, start: int, end: int) -> float:
        """Return how many of a view's tokens, pinned turns included, are estimated."""
        return self._guesses[end] - self._guesses[start] + self._pinned_guesses[end]

    def first_within(self, room: float, start: int, end: int, *, guess_weight: float = 0.0) -> int:
        """Return the earliest start from which the unpinned turns up to ``end`` take at most ``room`` tokens.

        Each estimated token counts as ``1 + guess_weight`` tokens.
        """

        def weight(i: int) -> float:
            return self._sums[i] + guess_weight * self._guesses[i]

        return bisect_left(range(len(self._sums)), weight(end) - max(room, 0.0), start, end, key=weight)

    def last(self, turns: int, start: int, end: int) -> int:
        """Return the latest start from which there are this many unpinned turns up to ``end``, else ``start``."""
        return max(start, bisect_right(self._counts, self._counts[end] - turns, start, end + 1) - 1)
