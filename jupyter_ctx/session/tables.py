"""Tables of a conversation: the next request part by part, every turn with what becomes of it, what answers took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import time
from typing import Any, ClassVar, NamedTuple

from .. import wording as words
from ..context.usage import Usage
from ..conversation.conversation import Conversation
from ..conversation.messages import Role, StopReason, Summary, Turn
from ..conversation.places import TurnSlot
from ..display.tables import TableRow, first_words, table_text
from ..display.tabular import Table, data_frame
from ..models.pricing import RequestPrice, request_price, sending_text, worst_case
from ..providers.base import Request
from ..shown_as import mimebundle
from ..wording.layout import line_width
from .info import NextRequest
from .plan import RequestPlan
from .prompt import Prompt
from .session import Session
from .view import PartStatus, PromptPart, TurnParts, part_states, turn_parts


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
    plan = session.plan(said, prompt, ask=False)
    scope, target, total = plan.scope, plan.target, round(plan.tokens)
    meter = target.meter
    template, system, summary = meter.fixed_parts(scope.fixed)
    tools, is_counted = round(target.beside_tokens) if target.tools else 0, plan.counted is not None
    before = (place.id for place in plan.past.places[: scope.at])  # a rerun lacks nothing of what comes after its turn
    turns = dict(zip(before, _turn_messages(plan), strict=False))
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
        asked = turn_parts(said.turn, meter, plan.size.prompt - tools)
        parts.append(_messages(said.turn, asked._replace(exact=is_counted), "prompt")[0])
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


def _turn_messages(plan: RequestPlan) -> Iterator[tuple[ViewPart, ViewPart]]:
    """Yield every turn's prompt and what answers it, with what becomes of them in the request."""
    states = part_states(plan.past, plan.scope, plan.cut.start)
    for number, (place, state) in enumerate(zip(plan.past.places, states, strict=True), 1):
        turn = plan.scope.turn(plan.past, place)
        yield _messages(turn, turn_parts(turn, plan.target.meter), state, number)


def _messages(
    turn: Turn, parts: TurnParts, state: PartStatus, number: int | None = None
) -> tuple[ViewPart, ViewPart]:  # fmt: skip
    """Return the prompt of a turn and what answers it."""
    prompt, answer = parts.prompt, parts.answer
    return (
        ViewPart("user", turn.prompt, _sum(prompt), state, number, parts.exact, prompt if len(prompt) > 1 else ()),
        ViewPart("assistant", turn.reply, _sum(answer), state, number, parts.exact, answer if len(answer) > 1 else ()),
    )


def _sum(parts: Sequence[PromptPart]) -> int:
    return sum(part.tokens for part in parts)


def _summary_state(summary: Summary, conversation: Conversation) -> PartStatus:
    """Return whether a turn that the summary covers has a newer answer by now."""
    old = any(
        place.turn.id not in summary.covers and any(version.id in summary.covers for version in place.versions)
        for place in conversation.places
    )
    return "summary of older answers" if old else "summary"


# the turns


class HistoryRow(NamedTuple):
    """One turn.

    ``turn``: its number, from 1; ``cell``: its cell, as :func:`cell_of` names one.
    ``prompt``: as it was typed; ``attached``: what went with it, such as ``df (40 of 12,000 rows), plot.png``.
    ``tokens``: its size; ``exact``: whether that comes from the provider's reports.
    ``states``: what becomes of it in the next request, then what else is to be said of it; ``state``: in one line.
    ``versions``: how many answers the cell has had.
    ``parts``: the prompt in parts, the calls of functions, and the reply, whose tokens sum to ``tokens``; none where
    nothing went with it and nothing was called.
    """

    turn: int
    cell: str
    prompt: str
    reply: str
    tokens: int
    exact: bool
    states: tuple[str, ...]
    versions: int
    model: str
    attached: str = ""
    parts: tuple[PromptPart, ...] = ()

    @property
    def state(self) -> str:
        """The states in one line."""
        return ", ".join(self.states)


class History(Table[HistoryRow]):
    """All turns since the last clear, in order; a table of the fields of a row, with ``states`` in one line.

    ``cleared``: how many turns there were before the last clear.
    """

    columns = (*(name for name in HistoryRow._fields if name not in ("states", "parts")), "state")
    cleared: int = 0

    def shown(self) -> TableWithParts:
        """Return the table as it is shown, with the parts of each prompt and its reply, which make up its tokens."""
        caption = words.turns(len(self)) if self else "No turns yet"
        caption += f" since the last clear, {self.cleared:,} before it" if self.cleared else ""
        shown = TableWithParts(("turn", "cell", "prompt", "reply", "tokens", "state"), caption)
        for row in self:
            prompt, reply, size = first_words(row.prompt), first_words(row.reply), f"{row.tokens:,}"
            size, answers = size if row.exact else f"~{size}", f", {row.versions} answers"
            state = row.state + (answers if row.versions > 1 else "")
            shown.add(str(row.turn), row.cell, prompt, reply, size, state, parts=row.parts)
        return shown

    def __repr__(self) -> str:
        return str(self.shown())

    _repr_pretty_ = Table._repr_pretty_  # IPython takes the first class that has either


def history(now: NextRequest) -> History:
    """Return every turn since the last clear."""
    plan, past = now.plan, now.plan.past
    is_refused = plan.cut.means == "refuse"  # then nothing is sent, and nothing is left out either
    states = part_states(past, plan.scope, plan.first if is_refused else plan.cut.start)
    stale, numbers = past.stale(), range(1, len(past.places) + 1)
    rows = History(
        _row(plan, number, place, state, is_stale=place.id in stale)
        for number, place, state in zip(numbers, past.places, states, strict=True)
    )
    rows.cleared = len(past.cleared)
    return rows


def _row(plan: RequestPlan, number: int, place: TurnSlot, state: PartStatus, *, is_stale: bool) -> HistoryRow:
    """Return the row of a turn as the next request carries it."""
    turn, sent = place.turn, plan.scope.turn(plan.past, place)
    both = turn_parts(sent, plan.target.meter)
    parts = (*both.prompt, *both.answer)
    ending = "" if turn.stop_reason == "stop" else turn.stop_reason.replace("_", " ")
    marks = (ending, "results shortened" if sent is not turn else "", "stale" if is_stale else "")
    return HistoryRow(
        number, cell_of(place), turn.typed, turn.reply, _sum(parts), plan.target.meter.counted(turn.id),
        (state, *filter(None, marks)), len(place.versions), turn.model, ", ".join(turn.sources),
        parts if len(parts) > 2 else (),
    )  # fmt: skip


def cell_of(place: TurnSlot) -> str:
    """Return a cell as its reader sees it: by the number of its execution, else by its id."""
    return f"[{place.execution}]" if place.execution is not None else (place.turn.record.cell or "")[:8]


# what answers took

TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class UsageRow(NamedTuple):
    """One answer; tokens as in Usage, US dollars and seconds are ``None`` where unknown, as after an interrupt.

    ``turn``, ``version``: the number of its turn, and its own among the answers to that turn, from 1.
    """

    turn: int
    version: int
    cell: str
    model: str
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    cost: float | None
    seconds: float | None
    stop_reason: StopReason


class Usages(Table[UsageRow]):
    """All answers to the turns since the last clear, older versions included, in order of the turns."""

    __slots__ = ()
    columns = UsageRow._fields
    usual: ClassVar = {"version": "1", **dict.fromkeys(TOKENS[2:], "0"), "stop_reason": "stop"}
    heads: ClassVar = dict(zip(TOKENS, ("in", "out", "cache read", "cache write", "reasoning"), strict=True))
    formats: ClassVar = {**dict.fromkeys(TOKENS, "{:,}".format), "cost": words.dollars, "seconds": "{:,.1f}".format}

    def _below(self) -> str:
        total, costs = self.total, [row.cost for row in self if row.cost is not None]
        cost = f", {words.dollars(sum(costs))}" if costs else ""
        spent = f"{total.input_tokens:,} tokens in, {total.output_tokens:,} out{cost}"
        return f"{words.counted(len(self), 'answer')}: {spent}, {sum(row.seconds or 0 for row in self):,.1f} s"

    @property
    def total(self) -> Usage:
        """The tokens of all answers: what was used, not the size of a request."""
        sums: dict[str, Any] = {name: sum(getattr(row, name) or 0 for row in self) for name in TOKENS}
        return Usage(**sums)


def usages(conversation: Conversation) -> Usages:
    """Return the table. Answers that were added from elsewhere or shown again took nothing here and have no row."""
    rows = list[UsageRow]()
    for number, place in enumerate(conversation.places, 1):
        for version, turn in enumerate(place.versions, 1):
            tokens: dict[str, Any] = {name: getattr(turn.usage, name, None) for name in TOKENS}
            took = {**tokens, "cost": turn.cost, "seconds": turn.record.seconds, "stop_reason": turn.stop_reason}
            if turn.record.digest and not turn.record.stored:  # turns that were added have no request
                rows.append(UsageRow(number, version, cell_of(place), turn.model, **took))
    return Usages(rows)


# what the next request costs


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
    if turn is None or turn.usage is None or turn.record.at is None or turn.model != planned.target.model:
        return 0, None
    usage, until = turn.usage, turn.record.at - (turn.record.seconds or 0.0) + (documented or MAY_BE_CACHED)
    if not usage.cache_read_tokens + usage.cache_write_tokens or time() >= until:
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
