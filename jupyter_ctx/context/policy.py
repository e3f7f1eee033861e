"""The policy of compaction: when a request is made smaller, how much, and by what means.

:func:`decide` is one pure function from an :class:`~.compaction.Occupancy` and the settings to a
:class:`Decision`. The planner carries the decision out, the sender writes the summaries that it
asks for, and the gauge shows it as "the next request leaves out …".
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

from .compaction import Cut, Occupancy, cut_at, cut_down

Means = Literal["send", "trim", "summarise before", "summarise after", "refuse"]

TRIM_TO = 0.6  # of the limit: a deep cut keeps the beginning of later prompts, and so provider caches, for long
BELOW = 0.75  # of compact_at, where that is less than TRIM_TO: a cut ends well below what causes the next one
GO_BACK = 0.8  # of the limit: turns that were left out come back where everything takes no more than that


class CompactionSettings(Protocol):
    """The settings that demands for room read; ``config.settings.Settings`` declares and explains each of them."""

    @property
    def on_overflow(self) -> Literal["trim", "summarise", "stop"]: ...  # noqa: D102

    @property
    def compact_at(self) -> float: ...  # noqa: D102

    @property
    def max_turns(self) -> int | None: ...  # noqa: D102


class Room(NamedTuple):
    """A demand to make room: why (empty: for the limit), down to which share of it, and to how many turns at most."""

    reason: str = ""
    share: float | None = None
    turns: int | None = None


class Decision(NamedTuple):
    """What is done to a request before it is sent.

    ``means`` is "send" (nothing is left out), "trim" (the oldest turns are left out), "summarise before" (a summary
    is written first and stands for older turns), "summarise after" (the turns are left out now and summarised once
    the reply is there) or "refuse" (nothing is sent: ``on_overflow`` is "stop"). ``cut`` says where the view begins,
    ``left_out`` how many turns that costs, ``reasons`` which settings demanded room, and ``too_large`` whether the
    whole request did not fit in the limit.
    """

    means: Means
    cut: Cut
    left_out: int
    reasons: tuple[str, ...] = ()
    too_large: bool = False


def compact_share(settings: CompactionSettings, limit: int) -> float:
    """Return ``compact_at`` as a share of the limit: up to 1 it is one, and above that it is a number of tokens."""
    at = settings.compact_at
    return at if at <= 1 else min(1.0, at / max(1, limit))


def over_the_limit(now: Occupancy, settings: CompactionSettings) -> Room | None:
    """Demand room where the request does not fit in ``compact_at``, or in the limit."""
    at = compact_share(settings, now.limit)
    if now.fits(at):
        return None
    reason = f"compact_at {settings.compact_at:,.15g}" if now.fits() else ""
    return Room(reason, share=min(TRIM_TO, BELOW * at))


def too_many_turns(now: Occupancy, settings: CompactionSettings) -> Room | None:
    """Demand room where more than ``max_turns`` turns are in view: down to 0.6 of them, so that it happens rarely."""
    most = settings.max_turns
    if most is None or now.turns <= most:
        return None
    return Room(f"max_turns {most}", turns=max(1, int(most * TRIM_TO)))


def decide(now: Occupancy, settings: CompactionSettings, *, goal: float | None = None) -> Decision:
    """Return what is done to a request. ``goal``, in tokens, goes before the shares that are demanded."""
    rooms = over_the_limit(now, settings), too_many_turns(now, settings)
    demands = [room for room in rooms if room is not None]
    if not demands and goal is None:
        cut = cut_at(now, now.start)
    else:
        share = min((TRIM_TO if room.share is None else room.share for room in demands), default=TRIM_TO)
        turns = min((room.turns for room in demands if room.turns is not None), default=None)
        cut = cut_down(now, goal or share * now.limit, max_turns=turns)
    left_out = now.ledger.count(now.begun, cut.start)
    reasons = tuple(room.reason for room in demands if room.reason)
    too_large = len(reasons) < len(demands)
    return Decision(_means(now, settings, cut, left_out), cut, left_out, reasons, too_large)


def _means(now: Occupancy, settings: CompactionSettings, cut: Cut, left_out: int) -> Means:
    """Return by what means a request is made to fit in this cut."""
    if settings.on_overflow == "stop" and (cut.start > now.begun or not cut.fits):
        return "refuse"
    if not left_out:
        return "send"
    if settings.on_overflow != "summarise" or not now.lasting:
        return "trim"
    return "summarise before" if compact_share(settings, now.limit) < 1 else "summarise after"


def trim(now: Occupancy, settings: CompactionSettings) -> int | None:
    """Return where the view begins once the user trims it; ``None``: it takes at most 0.6 of the limit already."""
    goal = TRIM_TO * now.limit
    return None if now.tokens <= goal else decide(now, settings, goal=goal).cut.start


def comes_back(tokens: float, limit: int) -> bool:
    """Return whether turns that were left out for another model or window come back: ``tokens`` with all of them."""
    return tokens <= GO_BACK * limit


def goal_after_refusal(tokens: float, limit: int, *, retry: int) -> float:
    """Return the tokens that the request after a refused one of ``tokens`` may have.

    0.6 of the limit, and after a second refusal (``retry`` is 1) no more than half of what was refused.
    """
    goal = TRIM_TO * min(limit, tokens)
    return min(goal, 0.5 * tokens) if retry else goal
