"""A request before it is sent, part by part, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from .. import wording as words
from ..context.tokens import Meter
from ..conversation.conversation import Conversation
from ..conversation.messages import Role, Summary, Turn, file_tokens
from ..conversation.places import Place
from ..models.request_price import RequestPrice
from ..providers.base import Request
from ..shown_as import mimebundle
from .prompt_parts import PromptPart, prompt_parts
from .request_plan import RequestPlan
from .tabular import Table
from .view import PartStatus, part_states


class ViewPart(NamedTuple):
    """One message of a request, or one that the request leaves out.

    ``role``, ``text``: as sent.
    ``tokens``: its size.
    ``state``: what becomes of it in the request.
    ``number``: the number of its turn, from 1; ``None`` for a part of no turn.
    ``exact``: whether ``tokens`` comes from the provider's reports.
    ``stale``: whether its answer was written after an older answer than the one that stands before it now.
    ``share``: its share of the request, 0 where it is left out.
    ``attached``: what goes with it, such as ``df (40 of 12,000 rows), plot.png``; ``tokens`` has that, too.
    ``typed``: how many characters of ``text`` were typed, where texts that go with it follow; ``None``: all.
    ``parts``: what was typed and each thing that goes with it, whose tokens sum to its own; none where nothing does.
    """

    role: Role
    text: str
    tokens: int
    state: PartStatus
    number: int | None = None
    exact: bool = False
    stale: bool = False
    share: float = 0.0
    attached: str = ""
    typed: int | None = None
    parts: tuple[PromptPart, ...] = ()

    @property
    def turn(self) -> int | None:
        """The number of its turn, as tables call it."""
        return self.number


class _Parts(Table[ViewPart]):
    __slots__ = ()
    columns = ("turn", "role", "text", "tokens", "exact", "stale", "share", "state", "attached")


class _Line(NamedTuple):
    """A part as it is shown."""

    turn: int | None
    role: str
    text: str
    tokens: str
    share: str
    state: str


class _Lines(Table[_Line]):
    __slots__ = ()
    columns = _Line._fields


@dataclass(frozen=True, slots=True, repr=False)
class View:
    """A request before it is sent.

    ``messages`` are its parts in order, ``omitted`` those of turns before it that stay out, ``input_tokens`` the size
    of the whole; ``exact``: the provider has counted all of it. ``request`` is what the provider would get, ``price``
    what that may cost. ``template``: tokens that the model's server adds to the messages, as far as that is known.
    """

    messages: tuple[ViewPart, ...]
    omitted: tuple[ViewPart, ...]
    input_tokens: int
    exact: bool
    request: Request
    price: RequestPrice
    template: int = 0

    _repr_mimebundle_ = mimebundle

    def __repr__(self) -> str:
        return f"{self._lines()!r}\n{self._total()}" if self.messages else "View: nothing yet"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Write the messages; in a list, only their total."""
        alone = len(getattr(printer, "stack", ())) <= 1
        printer.text(repr(self) if alone and not cycle else f"View({self._total()})")

    def _repr_html_(self) -> str:
        return self._lines()._html(self._total()) if self.messages else repr(self)

    def _lines(self) -> _Lines:
        """Return what is shown: the messages that stay out, then all that adds up to the whole."""
        lines = [line for part in self.omitted for line in _with_parts(part, "")]
        lines += [line for part in self.messages for line in _with_parts(part, _percent(part))]
        if self.template:
            share = f"{100 * self.template / max(1, self.input_tokens):.0f} %"
            added = "what the model's server adds to the messages"
            lines.append(_Line(None, "", added, f"~{self.template:,}", share, "template"))
        return _Lines(lines)

    def _total(self) -> str:
        """Return the size of the whole, and how many messages stay out."""
        about = "" if self.exact else "~"
        stays_out = f"; {words.counted(len(self.omitted), 'message')} left out" if self.omitted else ""
        return f"{about}{self.input_tokens:,} tokens in {words.counted(len(self.messages), 'message')}{stays_out}"

    def to_dataframe(self) -> Any:
        """Return a DataFrame with a row for each message, those that stay out last. Raises MissingDependencyError."""
        return _Parts((*self.messages, *self.omitted)).to_dataframe().astype({"turn": "Int64"})


def _with_parts(part: ViewPart, share: str) -> Iterator[_Line]:
    """Yield a message, and its parts below it."""
    tokens, state = f"{'' if part.exact else '~'}{part.tokens:,}", f"{part.state}{', stale' if part.stale else ''}"
    yield _Line(part.number, part.role, part.text[: part.typed], tokens, share, state)
    for each in part.parts:
        yield _Line(None, "", each.line, f"~{each.tokens:,}", "", "")


def _percent(part: ViewPart) -> str:
    return f"{100 * part.share:.0f} %"


def preview(plan: RequestPlan, asked: Turn, *, is_counted: bool, price: RequestPrice) -> View:
    """Return a request for a turn part by part.

    ``is_counted``: the provider reported the size of its view without a prompt.
    """
    past, scope, meter, prompt = plan.past, plan.scope, plan.target.meter, plan.prompt
    total, exact, stale = round(plan.tokens), plan.counted is not None, past.stale()
    states, (passed, rest) = part_states(past, scope, plan.cut.start), plan.view
    before = zip(past.places[: scope.at], states, strict=False)  # a rerun lacks nothing of what comes after its turn
    turns = {
        place.id: _both(place, number, state, meter, stale=place.id in stale)
        for number, (place, state) in enumerate(before, 1)
    }
    template, system, summary = meter.fixed_parts(scope.fixed)
    parts: list[ViewPart] = []
    if scope.fixed.system:
        alone = meter.counted(scope.fixed) and not scope.fixed.summary
        parts.append(ViewPart("system", scope.fixed.system, round(system), "system", exact=alone))
    parts += [part for place in passed for part in turns.pop(place.id)]
    if scope.summary is not None:
        parts.append(ViewPart("user", scope.summary.text, round(summary), _summary_state(scope.summary, past)))
    parts += [part for place in rest for part in turns.pop(place.id)]
    if prompt:
        parts.append(_asked(asked, plan.asked, "prompt", meter)._replace(exact=exact))
    messages = tuple(part._replace(share=part.tokens / max(total, 1)) for part in parts)
    omitted = tuple(part for both in turns.values() for part in both)
    added = max(0, total - sum(part.tokens for part in parts)) if round(template) else 0
    return View(messages, omitted, total, exact or (not prompt and is_counted), plan.request, price, added)


def _asked(turn: Turn, tokens: float, state: PartStatus, meter: Meter) -> ViewPart:
    """Return the prompt of a turn."""
    attached, size = ", ".join(turn.sources), round(tokens)
    parts = prompt_parts(turn, size, meter)
    return ViewPart("user", turn.prompt, size, state, attached=attached, typed=turn.record.typed, parts=parts)


def _both(place: Place, number: int, state: PartStatus, meter: Meter, *, stale: bool) -> tuple[ViewPart, ViewPart]:
    """Return both messages of a turn."""
    turn, exact = place.turn, meter.counted(place.turn.id)
    asked, said = meter.turn_parts(turn.id, turn.prompt, turn.reply, file_tokens(turn.attachments, meter.vision))
    answered = turn.usage.output_tokens - turn.usage.reasoning_tokens if turn.usage is not None else 0
    is_reported = exact and 0 < answered < asked + said  # both halves, and not their sum alone
    if is_reported:
        asked, said = asked + said - answered, answered
    return (
        _asked(turn, asked, state, meter)._replace(number=number, exact=is_reported, stale=stale),
        ViewPart("assistant", turn.reply, round(said), state, number, is_reported, stale),
    )


def _summary_state(summary: Summary, conversation: Conversation) -> PartStatus:
    """Return whether a turn that the summary covers has a newer answer by now."""
    old = any(
        place.turn.id not in summary.covers and any(version.id in summary.covers for version in place.versions)
        for place in conversation.places
    )
    return "summary of older answers" if old else "summary"
