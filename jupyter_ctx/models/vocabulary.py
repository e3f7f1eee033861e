"""OpenAI's vocabularies, which come with the package: a single token is looked up without reading all of them.

A file holds, for each token in the order of their bytes: where it begins among the tokens, its rank, and the token
itself. Numbers have four bytes, the lowest first; the first one is the count of tokens.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from ..context.families import Vocabulary

FOLDER = Path(__file__).resolve().parent / "vocabularies"


class Ranks:
    """The tokens of a vocabulary with their ranks: merging bytes into tokens begins with the lowest rank."""

    def __init__(self, data: bytes) -> None:
        self._size, self._data = int.from_bytes(data[:4], "little"), data
        self._begin = 4 * (2 * self._size + 2)  # of the tokens
        numbers: Sequence[int] = memoryview(data)[4 : self._begin].cast("I")  # which copies nothing
        if sys.byteorder == "big":
            numbers = array("I", data[4 : self._begin])
            numbers.byteswap()
        self._starts, self._ranks = numbers[: self._size + 1], numbers[self._size + 1 :]

    def rank(self, token: bytes) -> int | None:
        """Return the rank of a token, or ``None`` where these bytes are none."""
        place = bisect_left(range(self._size), token, key=self._token)
        return self._ranks[place] if place < self._size and self._token(place) == token else None

    def by_token(self) -> dict[bytes, int]:
        """Return all ranks (50 ms)."""
        tokens, spans = self._data[self._begin :], zip(pairwise(self._starts), self._ranks, strict=True)
        return {tokens[start:end]: rank for (start, end), rank in spans}

    def _token(self, place: int) -> bytes:
        return self._data[self._begin + self._starts[place] : self._begin + self._starts[place + 1]]


@cache
def ranks_of(vocabulary: Vocabulary) -> Ranks:
    """Return the tokens of a vocabulary; the first call reads its file."""
    return Ranks((FOLDER / f"{vocabulary}.ranks").read_bytes())
