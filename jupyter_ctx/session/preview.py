"""A request before it is sent, part by part, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..context.budget import whole
from ..context.tokens import Fixed
from ..conversation.conversation import Conversation, Place
from ..conversation.messages import Role
from ..providers.base import Request
from .planner import Attempt
from .tabular import Table
from .view import PartStatus, in_view, part_status, turn_tokens


@dataclass(frozen=True, slots=True)
class ViewPart:
    """One message of a request, or one that the request leaves out.

    ``role``, ``text``: as sent.
    ``tokens``: its size.
    ``state``: what becomes of it in the request.
    ``number``: the number of its turn, from 1; ``None`` for a part of no turn.
    ``exact``: whether ``tokens`` comes from the provider's reports.
    ``stale``: whether its answer was written after an older answer than the one that stands before it now.
    ``share``: its share of the request, 0 where it is left out.
    """

    role: Role
    text: str
    tokens: int
    state: PartStatus
    number: int | None = None
    exact: bool = False
    stale: bool = False
    share: float = 0.0

    @property
    def turn(self) -> int | None:
        """The number of its turn, as tables call it."""
        return self.number


class _Parts(Table[ViewPart]):
    __slots__ = ()
    columns = ("turn", "role", "text", "tokens", "exact", "stale", "share", "state")


@dataclass(frozen=True, slots=True, repr=False)
class View:
    """A request before it is sent.

    ``messages`` are its parts in order, ``omitted`` the messages of turns that stay out, ``input_tokens`` the size
    of the whole; ``exact``: the provider has counted all of it. ``request`` is what the provider would get.
    """

    messages: tuple[ViewPart, ...]
    omitted: tuple[ViewPart, ...]
    input_tokens: int
    exact: bool
    request: Request

    def __repr__(self) -> str:
        return repr(_Parts(self.messages)) if self.messages else "View: nothing yet"

    def _repr_html_(self) -> str:
        return _Parts(self.messages)._repr_html_() if self.messages else repr(self)

    def to_dataframe(self) -> Any:
        """Return a DataFrame with a row for each message, those that stay out last. Raises MissingDependencyError."""
        return _Parts((*self.messages, *self.omitted)).to_dataframe().astype({"turn": "Int64"})


def preview(attempt: Attempt, *, is_counted: bool) -> View:
    """Return a request part by part; ``is_counted``: the provider reported the size of its view without a prompt."""
    past, prompt = attempt.past, attempt.prompt
    passed, rest = in_view(past, attempt.scope, attempt.cut.start)
    sent = {place.id for place in (*passed, *rest)}
    stale, total = past.stale(), whole(attempt.tokens)
    turns = {
        place.id: tuple(_turn_parts(attempt, i, place, total if place.id in sent else 0, stale=place.id in stale))
        for i, place in enumerate(past.places)
    }
    messages = (
        *_system(attempt, total),
        *(part for place in passed for part in turns[place.id]),
        *_summary(attempt, total),
        *(part for place in rest for part in turns[place.id]),
        *([_part("user", prompt, attempt.asked, "prompt", total, exact=attempt.counted is not None)] if prompt else []),
    )
    return View(
        messages,
        tuple(part for place in past.places if place.id not in sent for part in turns[place.id]),
        total,
        attempt.counted is not None or (not prompt and is_counted),
        attempt.request,
    )


def _part(
    role: Role, text: str, tokens: float, state: PartStatus, total: int,
    *, number: int | None = None, exact: bool = False, stale: bool = False,
) -> ViewPart:  # fmt: skip
    size = round(tokens)
    return ViewPart(role, text, size, state, number, exact, stale, size / total if total else 0.0)


def _system(attempt: Attempt, total: int) -> Iterator[ViewPart]:
    fixed, meter = attempt.scope.fixed, attempt.target.meter
    if fixed.system:
        exact = meter.counted(fixed) and not fixed.summary
        yield _part("system", fixed.system, meter.fixed(Fixed(fixed.system)), "system", total, exact=exact)


def _summary(attempt: Attempt, total: int) -> Iterator[ViewPart]:
    fixed, past, meter = attempt.scope.fixed, attempt.past, attempt.target.meter
    if fixed.summary and past.summary:
        size = meter.fixed(fixed) - round(meter.fixed(Fixed(fixed.system)))
        state: PartStatus = "summary of older answers" if _summary_is_old(past) else "summary"
        yield _part("user", past.summary.text, size, state, total)


def _summary_is_old(conversation: Conversation) -> bool:
    """Return whether a turn that the summary covers has a newer answer by now."""
    covers = conversation.summary.covers if conversation.summary else frozenset()
    return any(
        place.turn.id not in covers and any(version.id in covers for version in place.versions)
        for place in conversation.places
    )


def _turn_parts(attempt: Attempt, index: int, place: Place, total: int, *, stale: bool) -> Iterator[ViewPart]:
    """Yield both messages of a turn; its tokens are divided between them as they are estimated."""
    turn, meter = place.turn, attempt.target.meter
    state = part_status(place, index, attempt.scope, attempt.cut.start)
    asked, said = meter.message(turn.prompt) + turn.attached, meter.tokens(turn.reply)
    weight, exact = turn_tokens(turn, meter) / max(asked + said, 1.0), meter.counted(turn.id)
    for message, tokens in zip(turn.messages, (asked, said), strict=True):
        size = tokens * weight
        yield _part(message.role, message.content, size, state, total, number=index + 1, exact=exact, stale=stale)
