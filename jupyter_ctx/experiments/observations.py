"""Find the rows that are one observation: those that ask the same prompt are asked once, and share its answers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from hashlib import blake2b
from typing import Any, TypeVar

from .results import Result
from .tally import Key

Item = TypeVar("Item", bound=Hashable)


def prompts_of(results: Iterable[Result]) -> dict[int, Hashable]:
    """Return what is the same for rows with the same prompt, by their numbers, of those with an answer that counts.

    Each row's prompt is made once, and not kept.
    """
    found: dict[int, Hashable] = {}
    for result in results:
        if result.counts and result.row not in found and (prompt := result.prompt):
            found[result.row] = blake2b(prompt.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return found


def observations(rows: Iterable[Item], *prompts: Mapping[Item, Hashable]) -> dict[Item, Item]:
    """Return for each row one that stands for all with the same prompt, which may be itself.

    ``prompts`` are those of each arm; rows with the same prompt in any arm are one observation in all of them.
    """
    links = ((row, (arm, prompt)) for arm, found in enumerate(prompts) for row, prompt in found.items())
    return {row: row for row in rows} | connected(links)


def connected(links: Iterable[tuple[Item, Hashable]]) -> dict[Item, Item]:
    """Return for each item one that stands for all that it is linked with: by a label that both have, or by others."""
    first: dict[Hashable, Item] = {}
    above: dict[Item, Item] = {}

    def top(item: Item) -> Item:
        while (over := above.setdefault(item, item)) != item:
            above[item] = item = above[over]
        return item

    for item, label in links:
        above[top(item)] = top(first.setdefault(label, item))
    return {item: top(item) for item in list(above)}


def joined_groups(groups: Mapping[Any, Hashable] | None, of: Mapping[Any, Key]) -> dict[Key, Hashable] | None:
    """Return the group of each observation from its rows' groups, of which those that share an observation are one."""
    if groups is None:
        return None
    return dict(connected((of[row], group) for row, group in groups.items() if row in of))
