"""Find the requests that begin alike for long enough to be worth a prompt cache."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

WORTH_CACHING = 4_096  # characters: providers cache prompts from about 1,024 tokens on


@dataclass(slots=True)
class Group:
    """Requests that begin with the same text, and how many there are."""

    prefix: str
    requests: int


class Prefixes:
    """Groups texts by their first 4,096 characters, and keeps the text that all of a group begin with."""

    def __init__(self) -> None:
        self._groups: list[Group] = []
        self._numbers: dict[bytes, int] = {}

    def add(self, where: str, text: str, *, times: int = 1) -> int | None:
        """Return the number of a text's group, or ``None`` for a short text.

        ``where`` names the model; ``times``: how often the text is sent.
        """
        if len(text) < WORTH_CACHING:
            return None
        found = hashlib.blake2b(f"{where}\0{text[:WORTH_CACHING]}".encode(), digest_size=16).digest()
        number = self._numbers.setdefault(found, len(self._groups))
        if number == len(self._groups):
            self._groups.append(Group(text, times))
        else:
            group = self._groups[number]
            group.prefix, group.requests = group.prefix[: common(group.prefix, text)], group.requests + times
        return number

    @property
    def shared(self) -> list[int | None]:
        """How many characters all texts of each group begin with; ``None`` for a text that is alone."""
        return [len(group.prefix) if group.requests > 1 else None for group in self._groups]


def common(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low
