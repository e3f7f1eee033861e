"""The sizes of a conversation's turns, kept from turn to turn."""

from __future__ import annotations

import threading
from typing import NamedTuple

from ..context.prefix_sums import Ledger
from ..context.tokens import Meter
from ..conversation.conversation import Conversation
from ..conversation.places import Place
from .recent import Recent
from .view import Scope, turn_tokens


class _Sums(NamedTuple):
    """A ledger, and of which revision of a conversation and of a meter it is."""

    ledger: Ledger
    places: list[Place]
    revision: int
    counts: int

    def same(self, past: Conversation, meter: Meter) -> Ledger:
        """Return the sizes that have not changed since."""
        known = self.places is past.places and self.counts == meter.revision
        return self.ledger.first(past.same_since(self.revision)) if known else Ledger()


class Ledgers:
    """The ledgers of one conversation: extended by new turns, made anew from the first turn that has changed."""

    def __init__(self) -> None:
        self._kept = Recent[tuple[Meter, frozenset[str]], _Sums]()
        self._lock = threading.Lock()  # the gauge may read from another thread

    def of(self, past: Conversation, scope: Scope, meter: Meter) -> Ledger:
        """Return the sizes of all turns as this meter knows them; 0 for those that no view in this scope may hold."""
        if not past.places:  # it begins anew, perhaps for one request alone
            return Ledger()
        key, counts = (meter, scope.covers), meter.revision
        with self._lock:
            kept = self._kept.get(key)
            ledger = kept.same(past, meter) if kept is not None else Ledger()
            for place in past.places[len(ledger) :]:
                tokens = turn_tokens(place.turn, meter) if scope.holds(place) else None
                ledger.append(tokens, pinned=place.pinned, counted=meter.counted(place.turn.id))
            self._kept[key] = _Sums(ledger, past.places, past.revision, counts)
            return ledger
