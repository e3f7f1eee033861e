"""When requests to one endpoint start: a pace learned from what passes, a pause for all, a bound on open requests.

Refusals that are scattered in the order of the starts are chance: those requests alone are sent again later. Where they
cluster, they are a limit: all pause, one goes as a probe, and then twice as many each time. What passed from one block
to the next gives the pace, which grows ever faster until a request is refused. A pace that falls much is given up.
"""

import math
import random
from collections import deque

START_AT_ONCE, MOST_AT_ONCE = 20, 100  # open requests, where the user does not say
TAKEN_AFTER = 1.0  # seconds after which a request has passed: refusals come at once
FIRST_CLUSTER, NEXT_CLUSTER, OFFSET = 7.0, 4.0, 0.9  # refusals that prove a limit; those that one that passed offsets
PAUSE, LONGEST_PAUSE, PAUSE_SHARE = 0.4, 5.0, 0.4  # seconds at first, at most, and of the block so far
LONG_BLOCK, AFTER_PAUSE = 5.0, 0.05  # seconds: from which on a limit counts in windows; behind a time that is named
FAST_GROWTH, SLOW_GROWTH = 8, 220  # requests in which the pace grows by e: measured by few of them, by many
SLOWER, FALLEN = 0.95, 0.7  # of the pace: after a single refusal, and from which on it is given up
BACK_OFF, LIMITED_BACK_OFF = (0.5, 30.0), 4.0  # seconds before the second try, and at most; after chance refusals
LIMITED_TRIES, BUSY_TRIES, GIVE_UP = 1_000, 6, 3_600.0  # tries of one request; seconds of a block


class RateLimiter:
    """Decides when requests to one endpoint start: ``start`` at once at the beginning, and ``most`` later.

    The caller reports each start and its one ending: when, and when that request ``began``, by one clock in seconds.
    """

    def __init__(self, most: int = MOST_AT_ONCE, start: int = START_AT_ONCE) -> None:
        self._most, self._allowed, self._open = most, float(min(start, most)), 0
        self._undecided: deque[float] = deque()  # starts of the requests that may still be refused
        self._ramp, self._credit = math.inf, 0.0  # how many those may be; how many may start beside the pace
        self._passed, self._passed_before, self._refusals = 0, 0, 0.0  # at all, before the block; not offset since
        self._pace = self._measured = math.inf  # requests a second now, and by the last block
        self._steady, self._scale = 0, FAST_GROWTH  # requests that passed at this pace, and in how many it grows by e
        self._next = self.paused_until = -math.inf  # nothing starts before, by the pace and by the pause
        self._blocked_at: float | None = None  # since when nothing passes
        self._last_block = (-math.inf, -math.inf, 0)  # its beginning and end, and what had passed before

    def may_start(self, now: float) -> float:
        """Return a time that is past where a request may start, else when to ask again; ``inf``: when one ends."""
        self._decide(now - TAKEN_AFTER, now)
        if now < self.paused_until:
            return self.paused_until
        if self._open >= int(self._allowed):
            return math.inf
        if len(self._undecided) >= self._ramp:
            return self._undecided[0] + TAKEN_AFTER
        return self._next if self._blocked_at is None and self._credit < 1 else now

    def started(self, now: float) -> None:
        """Record that a request starts."""
        self._open += 1
        self._undecided.append(now)
        if self._credit >= 1:
            self._credit -= 1
        else:
            self._next = max(self._next, now) + 1 / self._grown_pace

    def succeeded(self, now: float, began: float) -> None:
        """Record that a request was answered, or failed for a reason of its own."""
        if self._open >= int(self._allowed):
            self._allowed = min(self._most, self._allowed + min(1.0, 0.02 + (now - began) / 5))
        self._open -= 1
        self._decide(began, now)

    def failed(self) -> None:
        """Record that a request failed because the server or the connection did."""
        self._open -= 1

    def refused(self, now: float, began: float, retry_after: float = 0.0) -> None:
        """Record that a request was refused because of a rate limit; ``retry_after``: seconds that the server names."""
        self._open -= 1
        if began in self._undecided:
            self._undecided.remove(began)
        else:
            self._passed -= 1
        self._decide(began, now)
        if self._blocked_at is None:
            self._refusals += 1
            is_paced = self._pace < math.inf
            if self._refusals < (NEXT_CLUSTER if is_paced else FIRST_CLUSTER):
                if is_paced:
                    self._pace = SLOWER * math.sqrt(self._pace * self._grown_pace)
                    self._steady, self._scale = 0, min(2 * self._scale, SLOW_GROWTH)
                return
            self._blocked_at, self._passed_before = now, self._passed
            self._ramp, self._credit = 1, 0.0
        pause = max(PAUSE, min(PAUSE_SHARE * (now - self._blocked_at), LONGEST_PAUSE), retry_after + AFTER_PAUSE)
        self.paused_until = max(self.paused_until, now + pause)

    def retry_at(self, tries: int, now: float, chance: random.Random, limited: bool, named: float) -> float | None:
        """Return when a request that was sent ``tries`` times may be sent again; ``None``: it is given up."""
        if tries >= (LIMITED_TRIES if limited else BUSY_TRIES):
            return None
        if limited and self._blocked_at is not None:
            return now if now - self._blocked_at <= GIVE_UP else None
        most = LIMITED_BACK_OFF if limited else BACK_OFF[1]
        back_off = chance.uniform(0.5, 1.0) * min(BACK_OFF[0] * 2.0 ** (tries - limited), most)
        return now + (named + AFTER_PAUSE if limited and named else back_off)

    @property
    def _grown_pace(self) -> float:
        return self._pace * math.exp(min(self._steady / self._scale, 7.0) ** 2)

    def _decide(self, until: float, now: float) -> None:
        """Count the requests as passed that started until then: later ones were answered or refused."""
        while self._undecided and self._undecided[0] <= until:
            began = self._undecided.popleft()
            self._passed, self._steady, self._ramp = self._passed + 1, self._steady + 1, self._ramp + 1
            self._refusals = max(0.0, self._refusals - OFFSET)
            if self._blocked_at is not None and began >= self._blocked_at:
                self._reopen(self._blocked_at, now)

    def _reopen(self, blocked_at: float, now: float) -> None:
        """End a block and measure the pace; what passed before a short first block tells none."""
        last_began, last_ended, last_passed = self._last_block
        before, lasted, passed = self._measured, now - blocked_at, self._passed_before - last_passed
        is_first, is_long = last_began == -math.inf, lasted >= LONG_BLOCK
        if passed and (is_long or not is_first):
            seconds = lasted if is_first else min(blocked_at - last_began, now - last_ended)
            self._measured = passed / max(seconds, 1e-3)
            self._scale = min(max(self._scale, passed), SLOW_GROWTH)
        if is_first or is_long or passed >= FAST_GROWTH:
            self._last_block = (blocked_at, now, self._passed_before)
        if self._measured < FALLEN * before < math.inf:
            self._measured, self._scale = math.inf, FAST_GROWTH
        self._pace = self._measured
        self._credit = min(self._pace * lasted, passed) if is_long else 0.0  # a window has begun
        self._next, self._ramp, self._blocked_at, self._refusals, self._steady = now, 2, None, 0.0, 0
