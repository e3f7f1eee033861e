"""How many more turns like the newest ones fit before the next cut."""

from __future__ import annotations

import math
from typing import NamedTuple

from .compaction import Occupancy
from .policy import CompactionSettings, compact_share

NEWEST = 10  # turns whose mean size is taken


class TypicalTurn(NamedTuple):
    """A turn as the newest ones are.

    tokens: of its prompt and its reply together
    prompt: of its prompt alone
    margin: the share of the prompt's estimate that is kept free
    """

    tokens: float
    prompt: float
    margin: float


def more_turns(now: Occupancy, settings: CompactionSettings, typical: TypicalTurn) -> int:
    """Return how many turns like this one can be sent, one after the other, before a request leaves something out.

    Each stays in view for the next; the sizes of those before the newest prompt are taken to be reported by then.
    """
    guessed = now.guessed + now.ledger.guessed(now.start, now.end)
    margin = now.budget.margin if guessed else typical.margin
    first = now._replace(prompt=typical.prompt, budget=now.budget._replace(margin=margin))
    at = compact_share(settings, now.limit)
    if not first.fits(at):
        return 0
    room = at * now.limit - now.tokens - typical.prompt / (1 - typical.margin)
    count = 1 + max(0, math.floor(room / max(typical.tokens, 1.0)))
    return count if settings.max_turns is None else max(0, min(count, settings.max_turns - now.turns + 1))
