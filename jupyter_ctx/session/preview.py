"""A request before it is sent, part by part, with what it leaves out; and the requests that were sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .. import wording as words
from ..context.tokens import Meter
from ..conversation.conversation import Conversation
from ..conversation.messages import Role, Summary, Turn
from ..display.tables import TableRow, first_words, table_text
from ..display.tabular import data_frame
from ..models.pricing import RequestPrice, request_price, sending_text, worst_case
from ..providers.base import Request
from ..shown_as import mimebundle
from ..wording.layout import line_width
from .plan import RequestPlan
from .prompt import Prompt
from .session import Session
from .view import (
    PartStatus,
    PromptPart,
    answer_parts,
    asked_and_answered,
    part_states,
    prompt_parts,
)


class ViewPart(NamedTuple):
    """One message of a request, or one that the request leaves out.

    ``tokens``: its size; ``exact``: whether that comes from the provider's reports.
    ``state``: what becomes of it in the request.
    ``turn``: the number of its turn, from 1; ``None`` for a part of no turn.
    ``parts``: what was typed and each thing that goes with it, or each call of a function and the reply, whose tokens
    sum to its own; none where nothing does.
    """

    role: Role
    text: str
    tokens: int
    state: PartStatus
    turn: int | None = None
    exact: bool = False
    parts: tuple[PromptPart, ...] = ()

    @property
    def beginning(self) -> str:
        """The beginning of what was typed or answered, in one line."""
        return first_words(self.parts[0].text if self.parts and self.role == "user" else self.text)


MAY_BE_CACHED = 600.0  # seconds after which no cache is hoped for whose provider does not say how long it lasts
OMITTED = 20  # messages that a preview lists of those that are not sent


@dataclass(slots=True)
class TableWithParts:
    """A table as it is shown in every form: its heads, the caption above it, and its rows; a str is a line across it.

    Its last columns are tokens and state. ``parts``: the parts of messages that have a row of their own, by its index.
    """

    head: TableRow
    caption: str
    rows: list[TableRow | str] = field(default_factory=list)
    parts: dict[int, PromptPart] = field(default_factory=dict)

    def add(self, *row: str, parts: Sequence[PromptPart] = ()) -> None:
        """Append the row of a message, and below it those of its parts."""
        self.rows.append(row)
        for part in parts:
            self.parts[len(self.rows)] = part
            self.rows.append(("", "", part.line, *[""] * (len(self.head) - 5), f"~{part.tokens:,}", ""))

    def __str__(self) -> str:
        return f"{self.caption}\n{table_text(self.head, self.rows, line_width())}" if self.rows else self.caption


@dataclass(frozen=True, slots=True, repr=False)
class View:
    """A request before it is sent.

    ``messages`` are its parts in order, ``omitted`` those of turns before it that stay out, ``input_tokens`` the size
    of the whole; ``exact``: the provider has counted all of it. ``request`` is what the provider would get, ``price``
    what that may cost. ``template``: tokens that the model's server adds to the messages, as far as that is known;
    ``tools``: those of the functions that the model may call.
    """

    messages: tuple[ViewPart, ...]
    omitted: tuple[ViewPart, ...]
    input_tokens: int
    exact: bool
    request: Request
    price: RequestPrice
    template: int = 0
    tools: int = 0

    _repr_mimebundle_ = mimebundle

    def __repr__(self) -> str:
        return str(self.shown())

    def shown(self) -> TableWithParts:
        """Return what is shown: the newest messages that stay out, then all that adds up to the whole."""
        shown = TableWithParts(("turn", "role", "text", "tokens", "state"), self.caption())
        if len(self.omitted) > OMITTED:
            shown.rows.append(f"{len(self.omitted) - OMITTED:,} messages before these are not sent")
        for number, part in enumerate((*self.omitted[-OMITTED:], *self.messages)):
            if number == len(self.omitted[-OMITTED:]) > 0:
                shown.rows.append("the request begins here")
            tokens = f"{'' if part.exact else '~'}{part.tokens:,}"
            shown.add(str(part.turn or ""), part.role, part.beginning, tokens, part.state, parts=part.parts)
        functions = first_words(f"functions: {', '.join(tool.name for tool in self.request.tools)}")
        beside = ("tools", functions, self.tools), ("template", "what the model's server adds", self.template)
        for state, text, count in beside:
            if count:
                shown.add("", "", text, f"~{count:,}", state)
        return shown

    def caption(self) -> str:
        """Return the size of the whole, and what it costs."""
        about, messages = "" if self.exact else "~", words.counted(len(self.messages), "message")
        cost = _price(self.price) if self.messages else ""
        return f"The next request: {about}{self.input_tokens:,} tokens in {messages}{cost}"

    def to_dataframe(self) -> Any:
        """Return a DataFrame with a row for each message, those that stay out last. Raises MissingDependencyError."""
        return data_frame((*self.messages, *self.omitted), ViewPart._fields[:-1]).astype({"turn": "Int64"})


def preview_of(session: Session, prompt: Prompt) -> View:
    """Return the request for a prompt before it is sent, part by part, with what it leaves out."""
    said = prompt.said()
    target = session.target(prompt.options, ask=False, prompt=prompt)
    plan = session.plan(said, target, session.system_for(prompt.options), record=prompt.record)
    scope, meter, total = plan.scope, target.meter, round(plan.tokens)
    template, system, summary = meter.fixed_parts(scope.fixed)
    tools, is_counted = round(target.beside_tokens) if target.tools else 0, plan.counted is not None
    before = (place.id for place in plan.past.places[: scope.at])  # a rerun lacks nothing of what comes after its turn
    turns = dict(zip(before, turn_messages(plan, plan.cut.start), strict=False))
    passed, rest = ([part for place in places for part in turns.pop(place.id)] for places in plan.view)
    parts: list[ViewPart] = []
    if scope.fixed.system:
        alone = meter.counted(scope.fixed) and not scope.fixed.summary
        parts.append(ViewPart("system", scope.fixed.system, round(system), "system", exact=alone))
    parts += passed
    if scope.summary is not None:
        parts.append(ViewPart("user", scope.summary.text, round(summary), _summary_state(scope.summary, plan.past)))
    parts += rest
    if plan.message.content:
        parts.append(_asked(said.turn, plan.size.prompt - tools, "prompt", meter)._replace(exact=is_counted))
    added = max(0, total - tools - sum(part.tokens for part in parts)) if round(template) else 0
    return View(
        messages=tuple(parts),
        omitted=tuple(part for messages in turns.values() for part in messages),
        input_tokens=total,
        exact=is_counted or (not plan.message.content and plan.key() == session.counted),
        request=plan.request,
        price=_price_of(session, plan, tries=1 if prompt.schema is None else 2),
        template=added,
        tools=tools,
    )


def turn_messages(plan: RequestPlan, start: int) -> Iterator[tuple[ViewPart, ViewPart]]:
    """Yield every turn's prompt and what answers it, with what becomes of them in a view that begins at ``start``."""
    past, scope, meter = plan.past, plan.scope, plan.target.meter
    for number, (place, state) in enumerate(zip(past.places, part_states(past, scope, start), strict=True), 1):
        turn = scope.turn(past, place)
        asked, said, is_reported = asked_and_answered(turn, meter)
        calls = answer_parts(turn, said, meter)
        yield (
            _asked(turn, asked, state, meter)._replace(turn=number, exact=is_reported),
            ViewPart("assistant", turn.reply, round(said), state, number, is_reported, parts=calls),
        )


def _asked(turn: Turn, tokens: float, state: PartStatus, meter: Meter) -> ViewPart:
    """Return the prompt of a turn."""
    size = round(tokens)
    return ViewPart("user", turn.prompt, size, state, parts=prompt_parts(turn, size, meter))


def _summary_state(summary: Summary, conversation: Conversation) -> PartStatus:
    """Return whether a turn that the summary covers has a newer answer by now."""
    old = any(
        place.turn.id not in summary.covers and any(version.id in summary.covers for version in place.versions)
        for place in conversation.places
    )
    return "summary of older answers" if old else "summary"


def _price_of(session: Session, plan: RequestPlan, tries: int) -> RequestPrice:
    """Return what a request may cost; where a cap holds, at least what it must have left."""
    models, target = session.models, plan.target
    counted = plan.counted or plan.size.with_margin(plan.cut.start)
    price = request_price(models, target, plan.tokens, counted, _cached(session, plan), tries=tries)
    if target.cost_budget is not None and target.is_capped and price.high is not None:
        worst = worst_case(models, target, plan.tokens, plan.request.messages)
        price = price._replace(high=max(price.high, target.cost_budget.needed(worst or 0.0)))
    return price


def _cached(session: Session, planned: RequestPlan) -> tuple[int, float | None]:
    """Return how many tokens of a request a cache holds, as the last report shows, and until when, if known."""
    turn, documented = session.previous(planned), planned.target.cache_seconds
    if session.sent_at is None or turn is None or turn.usage is None or turn.model != planned.target.model:
        return 0, None
    usage, until = turn.usage, session.sent_at + (documented or MAY_BE_CACHED)
    if not usage.cache_read_tokens + usage.cache_write_tokens or session.clock() >= until:
        return 0, None
    return usage.input_tokens, until if documented else None


def _price(price: RequestPrice) -> str:
    """Return what a request costs, as the end of a sentence; nothing where nobody bills it."""
    if price.is_free:
        return ""
    if price.high is None:
        return "; its price is unknown (%chat config prices gives it)"
    bound = "up to" if price.is_limited else "about"
    most = f"{bound} {words.dollars(price.high)} with {price.output_tokens:,} tokens of reply"
    return f"; {sending_text(price)}, {most}{f' ({price.rates})' if price.rates else ''}"
