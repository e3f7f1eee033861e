"""How many requests one endpoint is sent at once, and how fast: learned from what it answers and refuses.

A single refusal is no limit: a server that is shared or overloaded refuses some requests at random, and those alone are
sent again later. Refusals are taken for a limit once they are far likelier under one than by chance (a cumulative sum
of log-likelihood ratios, Page 1954), where the chance is learned from the refusals that were none.

Of a limit two things are learned. How many requests may be open at once begins at a number and grows; a limit cuts it,
as in TCP (RFC 5681). How many may start in a second, the pace, is free until the first limit, and then what passed
between refusals; it grows slowly at first and ever faster while nothing is refused, as in CUBIC (RFC 9438). While
nothing passes, all requests pause; then one goes as a probe, then twice as many after each answer.
"""

from __future__ import annotations

import math
import random
from collections import deque
from itertools import takewhile
from typing import NamedTuple

from .suspicion import Suspicion

START_AT_ONCE, MOST_AT_ONCE = 20, 100  # requests at once, where the user does not say
LEAST_RAMP, RAMP_SHARE = 4.0, 0.03  # the most that may be open untaken after a long block, and of what passed before it
CUT = 0.8  # of the requests at once that stay after a limit
CUT_EVERY = 15.0  # seconds in which requests at once are cut once
UNREFUSED = 1.0  # seconds after which a request that was not refused has been taken: refusals come at once
SURELY, QUICKEST = 2.0, 0.02  # the same: so many times the slowest refusal of late, and seconds
FORGOTTEN = 0.9  # of the time of the slowest refusal, with each quicker one
WINDOW = 60.0  # seconds: most limits are told by the minute
PAUSES = (0.1, 0.5, 10.0)  # seconds: the shortest, the first where no pace is known, the longest of a short block
UNPASSED_PAUSE = 3.0  # seconds: the longest where nothing has passed yet
PAUSE_SHARE = 0.2  # of the time that has passed without an answer: pauses of a long block
AFTER_PAUSE = 0.05  # seconds behind the time that a server names, for clocks and rounding
LONG_BLOCK = 5.0  # seconds: longer ones come from limits that are counted by the minute, not by requests at once
STEADY = 100.0  # requests after which a well known pace begins to grow
LEAST_STEADY = 3.0  # the same, of a pace of which little is known
SURE_STEADY = 10.0  # from which a pace that was refused is taken for nearly the limit: some servers save nothing up
BOLD = 0.85  # of it is tried next
CAUTION, GROWTH = 0.97, 0.3  # of the pace: its share after a refusal, and what it has grown by after STEADY requests
LEAST_WAIT = 1e-4  # seconds
HELD = 30  # requests that pass where a limit on open requests is kept, before it is refuted
ROOM_GROWTH = 0.02  # requests at once, after each answer, above a limit on them
PROVEN_BY = 20  # requests that passed between two refusals: so many a second are allowed
LEAST_PACE = 0.85  # of that pace: what single refusals slow to at least
REFUTING_PACE = 0.9  # of that pace: from which on they refute a limit
REFUTED = 3  # single refusals that do
SLACK = 0.05  # seconds of the pace that may be caught up with
LIMITED_TRIES, BUSY_TRIES = 200, 6  # of one request
BACK_OFF = (0.5, 30.0)  # seconds before the second try of a request that failed, and at most
CHANCE_BACK_OFF = 4.0  # seconds at most before the next try of one that was refused by chance
NEWEST_REQUESTS = 20  # requests that tell whether the server is busy
GIVE_UP = 3_600.0  # seconds without any answer after which refused requests fail


class Mark(NamedTuple):
    """A refusal that came from a limit: when, and how many requests had been taken before."""

    at: float
    taken: int


class Governor:
    """Decides when requests to one endpoint start.

    ``most``: requests at once, at most; ``start``: at the beginning. Times are seconds of one clock, which never goes
    back. The caller reports each start, and then its one ending: succeeded, failed or refused; ``began``: its start.
    """

    def __init__(self, most: int = MOST_AT_ONCE, start: int = START_AT_ONCE) -> None:
        self._most, self._allowed, self._cut_at = most, float(min(start, most)), -math.inf
        self._suspicion = Suspicion()
        self._newest: deque[bool] = deque(maxlen=NEWEST_REQUESTS)  # whether each was refused
        self._slowest = math.inf  # seconds until a refusal came
        self._unjudged: deque[float] = deque()  # when the requests started that may still be refused, or were answered
        self._open: deque[float] = deque()  # when the open requests started
        self._recent: deque[float] = deque()  # when the requests of the last minute that were taken started
        self._taken = 0
        self._seen = self._until = -math.inf  # the last time that was told; nothing starts before the other
        self._blocked_at: float | None = None  # when the first of the refusals came that nothing has passed since
        self._probes = 0  # that were refused since then
        self._named = False  # whether the server has named a time since then
        self._by_time = False  # whether one was, although fewer were open than had been taken before
        self._ramp = math.inf  # requests that may be open without having been taken
        self._marks: deque[Mark] = deque(maxlen=50)
        self._rate: float | None = None  # requests a second that passed between refusals
        self._steady = LEAST_STEADY
        self._paced_from = 0.0  # requests that were taken when the pace began to hold
        self._ramp_most = math.inf
        self._tried = 0.0  # the pace when one was refused
        self._proven = 0.0  # the highest pace of requests that passed between refusals, of enough of them
        self._slowed_at = -math.inf  # when it was
        self._calm_until = -math.inf  # when the first refusal came that is still suspected of being a limit's
        self._below = 0  # single refusals below it since then
        self._credit = 0.0  # requests that the pace allows
        self._reopened = (-math.inf, -math.inf)  # when the last two long blocks ended
        self._survivors, self._survived = 0, -1  # open requests when others were refused: this time, and before
        self._room, self._room_growth = math.inf, ROOM_GROWTH  # the same, where it is a limit
        self._kept_room = 0  # that it began with
        self._burst = 0  # requests of the last minute when others were refused

    # what the coordinator asks

    def may_start(self, now: float) -> float:
        """Return 0 where a request may start now, else the time at which to ask again; ``inf``: when one ends."""
        self._look(now)
        if now < self._until:
            return self._until
        if len(self._open) >= self._at_once:
            return math.inf
        untaken = self._untaken(now)
        if untaken >= self._ramp:
            return self._open[-untaken] + self._patience
        pace = self._pace
        if pace is not None and self._credit < 1 and self._blocked_at is None:
            return now + max((1 - self._credit) / pace, LEAST_WAIT)
        return 0.0

    def started(self, now: float) -> None:
        """Record that a request starts."""
        self._look(now)
        self._open.append(now)
        self._unjudged.append(now)
        self._recent.append(now)
        self._taken += 1
        self._credit = self._credit - 1 if self._blocked_at is None else 0.0
        while self._recent[0] < now - WINDOW:
            self._recent.popleft()

    def succeeded(self, now: float, began: float) -> None:
        """Record that a request was answered, or failed for a reason of its own."""
        self._look(now)
        self._open.remove(began)
        if self._blocked_at is None:
            self._grow(now - began)
        elif began >= self._blocked_at:
            self._pass(now)
        elif not (self._by_time or self._named or self._untaken(now)):
            self._until = min(self._until, max(now, self._blocked_at + self._slot_pause))

    def failed(self, now: float, began: float) -> None:
        """Record that a request failed because the server or the connection did."""
        self._look(now)
        self._open.remove(began)

    def refused(self, now: float, began: float, retry_after: float | None = None) -> None:
        """Record that a request was refused because of a rate limit; ``retry_after``: seconds that the server names."""
        self._look(now)
        self._open.remove(began)
        if self._recent:
            self._recent.pop()
        self._taken -= 1
        self._newest.append(True)
        took = now - began
        self._slowest = took if self._slowest == math.inf else max(took, FORGOTTEN * self._slowest)
        if began in self._unjudged:
            self._unjudged.remove(began)
        self._judge(began)
        if self._blocked_at is None:
            if self._suspicion.is_calm:
                self._calm_until = now
            if began > self._slowed_at:
                self._slow(now)
            if not self._suspicion.refused(is_free=self._is_free):
                return
            self._block(now)
        elif began >= self._blocked_at:
            self._probes += 1
            self._by_time |= len(self._open) < self._survivors
        else:
            self._survivors = min(self._survivors, len(self._open))
            self._marks[-1] = self._marks[-1]._replace(taken=self._taken)
            self._burst = len(self._recent)
        self._named |= retry_after is not None
        self._until = max(self._until, now + self._pause(now, retry_after))

    def retry_at(
        self, tries: int, now: float, chance: random.Random, *, limited: bool = False, named: float | None = None
    ) -> float | None:
        """Return when a request that was sent ``tries`` times may be sent again; ``None``: it is given up.

        ``limited``: the last try was refused because of a rate limit, and the server has ``named`` seconds to wait.
        Where all requests pause for that, the pause is long enough.
        """
        first, most = BACK_OFF
        if not limited:
            back_off = chance.uniform(0.5, 1.0) * min(first * 2.0**tries, most)
            return now + back_off if tries < BUSY_TRIES else None
        if tries >= LIMITED_TRIES:
            return None
        if self._blocked_at is not None:
            return now if now - self._blocked_at <= GIVE_UP else None
        if named is not None:
            return now + named + AFTER_PAUSE
        return now + chance.uniform(0.5, 1.0) * min(first * 2.0 ** (tries - 1), CHANCE_BACK_OFF)

    @property
    def paused_until(self) -> float:
        """The time before which nothing starts; ``-inf``: there was no pause yet."""
        return self._until

    @property
    def newest(self) -> tuple[int, int]:
        """How many of the newest requests were refused, and how many those are."""
        return sum(self._newest), len(self._newest)

    # what is known

    @property
    def _at_once(self) -> int:
        return max(1, int(min(self._allowed, self._room)))

    @property
    def _slot_pause(self) -> float:
        """Seconds after a refusal from which a request that ends lets a probe go."""
        return PAUSES[1] if self._room == math.inf else PAUSES[0]

    @property
    def _pace(self) -> float | None:
        """Requests a second that may start; ``None``: any number."""
        if self._rate is None:
            return None
        since = max(0.0, self._taken - self._paced_from) / self._steady
        return self._rate * (CAUTION + GROWTH * since**3)

    @property
    def _is_free(self) -> bool:
        """Whether no limit is known that could have refused a request."""
        return self._rate is None and self._room == math.inf and self._blocked_at is None

    @property
    def _patience(self) -> float:
        """Seconds after which a request that was not refused has been taken, as far as is known."""
        return min(UNREFUSED, SURELY * self._slowest + QUICKEST)

    def _untaken(self, now: float) -> int:
        """Return how many open requests may still be refused."""
        since = now - self._patience
        if self._blocked_at is not None:
            since = max(since, self._blocked_at)
        return sum(1 for _ in takewhile(lambda began: began > since, reversed(self._open)))

    # what happens

    def _look(self, now: float) -> None:
        """Let time pass: the pace allows more, and a probe that was not refused has been taken."""
        pace, before = self._pace, self._seen
        self._seen = max(now, before)
        if pace is not None and self._seen > before:
            more = self._credit + pace * (self._seen - before)
            self._credit = max(min(more, max(1.0, SLACK * pace)), self._credit)
        known = now - self._patience
        self._judge(known)
        if self._blocked_at is not None and self._open and self._blocked_at <= self._open[-1] <= known:
            self._pass(now)

    def _judge(self, until: float) -> None:
        """Take the requests that started until then as taken: later ones were refused, or time enough has passed."""
        while self._unjudged and self._unjudged[0] <= until:
            self._unjudged.popleft()
            self._newest.append(False)
            self._suspicion.passed(is_free=self._is_free)

    def _grow(self, seconds: float) -> None:
        """Let more be open at once, after an answer that took so many seconds."""
        if self._ramp < self._ramp_most or self._taken > self._paced_from + self._burst:
            self._ramp += 1
        if len(self._open) + 1 < self._at_once:
            return
        if self._room < math.inf:
            self._room += self._room_growth
        elif self._allowed < self._most:
            self._allowed = min(self._most, self._allowed + min(1.0, 0.02 + seconds / 5))

    def _slow(self, now: float) -> None:
        """Heed a single refusal where a limit is known: it may be just above that, or prove that there is none."""
        is_first, pace = self._suspicion.is_calm, self._pace
        self._slowed_at = now
        if self._room < math.inf and len(self._open) >= self._kept_room:
            self._room = self._kept_room
            self._room_growth /= 2
        elif pace is not None and pace > REFUTING_PACE * self._proven:
            self._rate, self._tried = pace, pace
            if is_first:
                self._marks.append(Mark(now, self._taken))
                self._learn_pace()
            self._rate = max(self._rate, LEAST_PACE * self._proven)
            self._paced_from, self._credit = self._taken, 0.0
        elif is_first and not self._is_free:
            self._below += 1
            if self._below >= REFUTED:
                self._rate, self._room, self._ramp, self._ramp_most = None, math.inf, math.inf, math.inf
                self._marks.clear()
                self._suspicion.acquit()

    def _block(self, now: float) -> None:
        """Begin a block: nothing passes, as far as is known."""
        if now - self._cut_at >= CUT_EVERY:
            self._allowed, self._cut_at = max(1.0, self._allowed * CUT), now
        self._tried = self._pace or 0.0
        if self._marks and self._marks[-1].at >= self._calm_until:  # of the first of the refusals that are a limit
            self._marks.pop()
        self._marks.append(Mark(now, self._taken))
        self._blocked_at, self._probes, self._by_time, self._named = now, 0, False, False
        self._ramp, self._survived, self._survivors = 1, self._survivors, len(self._open)
        self._credit = 0.0
        self._burst = len(self._recent)

    def _pass(self, now: float) -> None:
        """End a block: a request was taken."""
        assert self._blocked_at is not None
        lasted = now - self._blocked_at
        if self._is_of_requests_at_once(lasted):
            self._room, self._rate = max(1, self._survivors), None
            self._kept_room = self._room
            self._room_growth /= 2
        else:
            self._room = math.inf
            self._learn_pace()
        if lasted >= LONG_BLOCK:
            self._reopened = (self._reopened[-1], now)
        self._blocked_at, self._ramp, self._below = None, 2.0, 0
        self._credit = min(self._credit, 1.0)
        if self._rate is not None and lasted >= LONG_BLOCK:
            self._credit = min(self._rate * lasted, self._burst)
        self._paced_from = self._taken + (self._credit if self._credit > 1 else 0.0)
        self._ramp_most = max(LEAST_RAMP, RAMP_SHARE * self._burst) if lasted >= LONG_BLOCK else math.inf

    def _is_of_requests_at_once(self, lasted: float) -> bool:
        """Return whether the refusals come from a limit on open requests: as many were left open as the last time."""
        if self._by_time or self._survivors < 1:
            return False
        if self._room < math.inf and self._marks[-1].taken - self._marks[-2].taken < HELD:
            return False  # the limit was kept, and yet some were refused
        if self._probes and not self._named:
            return True  # probes were refused until another request ended
        again = len(self._marks) > 1 and abs(self._survivors - self._survived) <= 1 + 0.1 * self._survived
        return again and self._rate is None and lasted < LONG_BLOCK

    def _learn_pace(self) -> None:
        """Learn the pace from the requests that passed since earlier refusals; of the first, nothing is known."""
        last, marks = self._marks[-1], list(self._marks)[:-1]
        if not marks:
            return
        passed = last.taken - marks[-1].taken
        if passed >= self._steady / 2:
            self._steady = min(2 * passed, STEADY)
        elif passed < self._steady / 4:
            self._steady = max(self._steady / 2, LEAST_STEADY)
        for mark in reversed(marks):
            passed, seconds = last.taken - mark.taken, last.at - mark.at
            if passed >= self._steady:
                break
        measured = max(passed, 1) / max(seconds, 1e-3)
        if passed >= PROVEN_BY:
            self._proven = measured if self._blocked_at is not None else max(self._proven, measured)
        elif self._blocked_at is not None:
            self._proven = 0.0
        passed = last.taken - marks[-1].taken
        bold = BOLD * self._tried if self._steady >= SURE_STEADY and passed >= self._steady / 2 else 0.0
        self._rate = max(measured, math.sqrt(measured * CUT * self._tried), bold)

    def _pause(self, now: float, named: float | None) -> float:
        """Return the seconds of the pause after a refusal; ``named``: those that the server names."""
        assert self._blocked_at is not None
        shortest, usual, longest = PAUSES
        pace, lasted = self._pace, now - self._blocked_at
        first = usual if pace is None else min(max(2 / pace, shortest), usual)
        if not self._suspicion.has_passed:
            return min(first * 2.0**self._probes, UNPASSED_PAUSE) if named is None else named + AFTER_PAUSE
        own = max(min(first * 2.0**self._probes, longest), PAUSE_SHARE * lasted)
        if named is not None:
            return max(named, own if self._probes > 1 else 0.0) + AFTER_PAUSE
        if not self._probes:
            return own
        before, last = self._reopened
        expected = min(last + (last - before), last + WINDOW) - now if before > -math.inf else 0.0
        minute = self._recent[0] + WINDOW - now if self._recent else 0.0
        if expected > 0:
            return expected / 2 + AFTER_PAUSE if self._probes == 1 else expected + AFTER_PAUSE
        return minute + AFTER_PAUSE if 0 < minute < own else own
