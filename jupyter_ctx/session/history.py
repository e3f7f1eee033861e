"""Tables of a conversation: its turns with what becomes of each in the next request, and what its answers took."""

from __future__ import annotations

from itertools import count
from typing import Any, ClassVar, NamedTuple

from .. import wording as words
from ..context.tokens import Meter
from ..conversation.conversation import Conversation
from ..conversation.messages import StopReason, Turn
from ..conversation.places import TurnSlot
from ..display.tables import first_words
from ..display.tabular import Table
from .info import NextRequest
from .preview import TableWithParts
from .view import PromptPart, answer_parts, asked_and_answered, part_states, prompt_parts, turn_tokens

TURN_COLUMNS = ("turn", "cell", "prompt", "reply", "tokens", "state")
ENDINGS: dict[StopReason, str] = {
    "stop": "",
    "max_tokens": "cut at max_tokens",
    "context_window": "cut at the window",
    "refusal": "refused",
    "interrupted": "interrupted",
    "cut": "cut off",
    "tool_calls": "ended with calls",
}


class HistoryRow(NamedTuple):
    """One turn.

    ``turn``: its number, from 1; ``cell``: its cell, as :func:`cell_of` names one.
    ``tokens``: its size; ``exact``: whether that comes from the provider's reports.
    ``states``: what becomes of it in the next request, then what else is to be said of it.
    ``versions``: how many answers the cell has had.
    ``attached``: what went with the prompt, such as ``df (40 of 12,000 rows), plot.png``.
    ``typed``: how many characters of the prompt were typed, where texts that went with it follow; ``None``: all.
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
    typed: int | None = None
    parts: tuple[PromptPart, ...] = ()

    @property
    def state(self) -> str:
        """The states in one line."""
        return ", ".join(self.states)


class History(Table[HistoryRow]):
    """All turns since the last clear, in order; a table of the fields of a row, with ``states`` in one line.

    ``cleared``: how many turns there were before the last clear.
    """

    columns = (*(name for name in HistoryRow._fields if name not in ("states", "typed", "parts")), "state")
    cleared: int = 0

    @property
    def caption(self) -> str:
        """How many turns these are, and how many are left out since a clear."""
        counted = words.turns(len(self)) if self else "No turns yet"
        return f"{counted} since the last clear, {self.cleared:,} before it" if self.cleared else counted

    def shown(self) -> TableWithParts:
        """Return the table as it is shown, with the parts of each prompt and its reply, which make up its tokens."""
        shown = TableWithParts(TURN_COLUMNS, self.caption)
        for row in self:
            answers = f"{row.versions} answers" if row.versions > 1 else ""
            size, state = f"{'' if row.exact else '~'}{row.tokens:,}", ", ".join(filter(None, (row.state, answers)))
            prompt, reply = first_words(row.prompt[: row.typed]), first_words(row.reply)
            shown.add((str(row.turn), row.cell, prompt, reply, size, state))
            for part in row.parts:
                shown.add(("", "", part.line, "", f"~{part.tokens:,}", ""), part)
        return shown

    def __repr__(self) -> str:
        return str(self.shown())

    _repr_pretty_ = Table._repr_pretty_  # IPython takes the first class that has either


def history(now: NextRequest) -> History:
    """Return every turn since the last clear."""
    plan = now.plan
    past, stale, meter = plan.past, plan.past.stale(), plan.target.meter
    is_refused = plan.cut.means == "refuse"  # then nothing is sent, and nothing is left out either
    states = part_states(past, plan.scope, plan.first if is_refused else plan.cut.start)
    rows = History(
        _row(number, place, plan.scope.turn(past, place), state, meter, stale=place.id in stale)
        for number, place, state in zip(count(1), past.places, states, strict=False)
    )
    rows.cleared = len(past.cleared)
    return rows


def _row(number: int, place: TurnSlot, turn: Turn, state: str, meter: Meter, *, stale: bool) -> HistoryRow:
    """Return the row of a place, whose ``turn`` is as the next request carries it."""
    tokens, is_short = round(turn_tokens(turn, meter)), turn is not place.turn
    marks = (ENDINGS[turn.stop_reason], "results shortened" if is_short else "", "stale" if stale else "")
    return HistoryRow(
        number, cell_of(place), turn.prompt, turn.reply, tokens, meter.counted(turn.id),
        (state, *filter(None, marks)), len(place.versions), turn.model, ", ".join(turn.sources), turn.record.typed,
        _parts(turn, tokens, meter),
    )  # fmt: skip


def _parts(turn: Turn, tokens: int, meter: Meter) -> tuple[PromptPart, ...]:
    """Return what a turn consists of; nothing where that is a typed prompt and a reply."""
    if not turn.sources and not turn.rounds:
        return ()
    asked = round(asked_and_answered(turn, meter)[0])
    prompt = prompt_parts(turn, asked, meter) or (PromptPart("", turn.prompt, tokens=asked),)
    answer = answer_parts(turn, tokens - asked, meter) or (PromptPart("reply", turn.reply, tokens=tokens - asked),)
    return (*prompt, *answer)


def cell_of(place: TurnSlot) -> str:
    """Return a cell as its reader sees it: by the number of its execution, else by its id."""
    return f"[{place.execution}]" if place.execution is not None else (place.turn.record.cell or "")[:8]


# what answers took

TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class UsageRow(NamedTuple):
    """One answer; token counts, cost and seconds are ``None`` where unknown, as after an interrupt.

    ``turn``, ``version``: the number of its turn, and its own among the answers to that turn, from 1.
    ``input_tokens`` to ``reasoning_tokens``: as in :class:`~jupyter_ctx.context.usage.Usage`, where cached tokens are
    part of the input and reasoning of the output.
    ``cost``, ``seconds``: in US dollars; from the request to the end of the reply.
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


class Total(NamedTuple):
    """Sums over all answers, unknown values left out: what was used, not the size of a request."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    cost: float | None
    seconds: float


class Usages(Table[UsageRow]):
    """All answers to the turns since the last clear, older versions included, in order of the turns."""

    __slots__ = ()
    columns = UsageRow._fields
    usual: ClassVar = {"version": "1", **dict.fromkeys(TOKENS[2:], "0"), "stop_reason": "stop"}
    heads: ClassVar = {
        **dict(zip(TOKENS, ("in", "out", "cache read", "cache write", "reasoning"), strict=True)),
        "stop_reason": "ending",
    }
    formats: ClassVar = {**dict.fromkeys(TOKENS, "{:,}".format), "cost": words.dollars, "seconds": "{:,.1f}".format}

    def _below(self) -> str:
        total = self.total
        cost = "" if total.cost is None else f", {words.dollars(total.cost)}"
        spent = f"{total.input_tokens:,} tokens in, {total.output_tokens:,} out{cost}, {total.seconds:,.1f} s"
        return f"{words.counted(len(self), 'answer')}: {spent}"

    @property
    def total(self) -> Total:
        """The sums over all rows; ``cost`` is ``None`` where no row has one."""
        sums: dict[str, Any] = {name: sum(getattr(row, name) or 0 for row in self) for name in Total._fields}
        priced = any(row.cost is not None for row in self)
        return Total(**{**sums, "cost": sums["cost"] if priced else None})


def usages(conversation: Conversation) -> Usages:
    """Return the table. Answers that were added from elsewhere or shown again took nothing here and have no row."""
    return Usages(
        _usage_row(number, version, place, turn)
        for number, place in enumerate(conversation.places, 1)
        for version, turn in enumerate(place.versions, 1)
        if turn.record.digest and not turn.record.stored  # turns that were added have no request
    )


def _usage_row(number: int, version: int, place: TurnSlot, turn: Turn) -> UsageRow:
    took: dict[str, Any] = {name: getattr(turn.usage, name, None) for name in TOKENS}
    took |= {"cost": turn.cost, "seconds": turn.record.seconds}
    return UsageRow(number, version, cell_of(place), turn.model, **took, stop_reason=turn.stop_reason)
