"""What a reader is told of a context window: how full, by which parts, and what an action would change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..shown_as import mimebundle
from .budget import Budget, FillState


class MoneyLeft(NamedTuple):
    """Money that may still be spent; :func:`~jupyter_ctx.wording.budget_line.budget_line` says it in words.

    left: US dollars
    limit: US dollars that there were at first; ``None``: unknown, or there is no such limit
    until: when there are as many again, in seconds since 1970; ``None``: unknown, or never
    """

    left: float
    limit: float | None = None
    until: float | None = None


class Segment(NamedTuple):
    """One part of the next request, in tokens; ``display.widgets.gauge`` says how it is drawn."""

    name: str
    tokens: int


def segments_of(sizes: Iterable[tuple[str, float]]) -> tuple[Segment, ...]:
    """Round the sizes to whole tokens so that their sum is the rounded total: a bar adds up to its line."""
    segments, before, total = list[Segment](), 0, 0.0
    for name, size in sizes:
        total += size
        segments.append(Segment(name, round(total) - before))
        before = round(total)
    return tuple(segments)


class Plan(NamedTuple):
    """What an action would do now.

    ``text`` says what it would do or, where it is not ``possible``, why not. ``before`` and ``after``
    are tokens of the next request; ``after`` is ``None`` where only acting would tell, and an upper
    bound where ``at_most`` is true.
    """

    text: str
    possible: bool = True
    before: int = 0
    after: int | None = None
    at_most: bool = False


@dataclass(frozen=True, slots=True)
class ContextInfo:
    """How full the context window is; the gauge, the status line and the warnings all read this.

    ``model``: the model's full name, ``provider/model``.
    ``budget``: limit and use of the next request with an empty prompt.
    ``segments``: the parts of ``used``, in the order in which a request has them.
    ``in_view``: turns that the next request sends as they are.
    ``left_out``: turns before the beginning of the view.
    ``turns``: all turns since the last clear.
    ``will_leave``: turns that the next request will leave out on its own.
    ``will_stop``: whether nothing will be sent, because of ``on_overflow=stop``.
    ``room_ends``: tokens of a request above which turns are left out or, with ``on_overflow=stop``, nothing is sent:
    ``compact_at``, less the margin for what is only estimated.
    ``on_overflow``: the setting of that name.
    ``cached``, ``sent``: input tokens of the last request that were read from a prompt cache, and all of them, as the
    provider reported them, or ``None``.
    ``undo``, ``redo``: what these commands would take back and repeat, or ``None``.
    ``cost``: the cost of all replies so far in US dollars, or ``None`` where unknown.
    ``unpriced``: replies that ``cost`` does not include because their price is unknown.
    ``allowance``: what is left of ``max_cost``, or ``None`` where there is no cap.
    """

    model: str
    budget: Budget
    segments: tuple[Segment, ...]
    in_view: int
    left_out: int
    turns: int = 0
    will_leave: int = 0
    will_stop: bool = False
    room_ends: int | None = None
    on_overflow: Literal["trim", "summarise", "stop"] = "trim"
    cached: int | None = None
    sent: int | None = None
    undo: str | None = None
    redo: str | None = None
    cost: float | None = None
    unpriced: int = 0
    allowance: MoneyLeft | None = None

    _repr_mimebundle_ = mimebundle

    def __repr__(self) -> str:
        about = "" if self.exact or not self.used else "~"
        window, full = self.budget.window, f"{100 * min(1, self.fill):,.0f} % full, {self.state}"
        return (
            f"ContextInfo({self.model}: {about}{self.used:,} of {self.limit:,} tokens, {full}; "
            f"window {window.tokens:,} {window.origin}; {self.in_view:,} of {self.turns:,} turns in view)"
        )

    @property
    def used(self) -> int:
        """Tokens of the next request with an empty prompt."""
        return self.budget.used

    @property
    def limit(self) -> int:
        """Tokens that a prompt may have."""
        return self.budget.limit

    @property
    def context_window(self) -> int:
        """Tokens that the model can hold, prompt and reply together."""
        return self.budget.window.tokens

    @property
    def source(self) -> str:
        """Where the window's size comes from."""
        return self.budget.window.source

    @property
    def fill(self) -> float:
        """Share of the limit that is used."""
        return self.budget.fill

    @property
    def exact(self) -> bool:
        """Whether the provider counted all of ``used``."""
        return self.budget.exact

    @property
    def is_guess(self) -> bool:
        """Whether ``fill`` is only about right: the window is assumed, or a part of ``used`` is estimated."""
        return self.source == "assumed" or not self.exact

    @property
    def state(self) -> FillState:
        """One of ok, half, high, full and over."""
        return self.budget.state
