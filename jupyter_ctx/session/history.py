"""Tables of a conversation: its turns with what becomes of each in the next request, and what its answers took."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from .. import wording as words
from ..context.usage import Usage
from ..conversation.conversation import Conversation
from ..conversation.messages import StopReason
from ..conversation.places import TurnSlot
from ..display.tables import first_words
from ..display.tabular import Table
from .info import NextRequest
from .plan import RequestPlan
from .preview import TableWithParts, ViewPart, turn_messages
from .view import PromptPart


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
    plan = now.plan
    is_refused = plan.cut.means == "refuse"  # then nothing is sent, and nothing is left out either
    messages, stale = turn_messages(plan, plan.first if is_refused else plan.cut.start), plan.past.stale()
    rows = History(
        _row(plan, place, *both, is_stale=place.id in stale)
        for place, both in zip(plan.past.places, messages, strict=True)
    )
    rows.cleared = len(plan.past.cleared)
    return rows


def _row(plan: RequestPlan, place: TurnSlot, asked: ViewPart, said: ViewPart, *, is_stale: bool) -> HistoryRow:
    """Return the row of a place from its messages, as the next request carries them."""
    turn, parts = place.turn, tuple[PromptPart, ...]()
    if asked.parts or said.parts:
        prompt = asked.parts or (PromptPart("", asked.text, tokens=asked.tokens),)
        parts = (*prompt, *(said.parts or (PromptPart("reply", said.text, tokens=said.tokens),)))
    is_short = plan.scope.turn(plan.past, place) is not turn
    ending = "" if turn.stop_reason == "stop" else turn.stop_reason.replace("_", " ")
    marks = (ending, "results shortened" if is_short else "", "stale" if is_stale else "")
    return HistoryRow(
        asked.turn or 0, cell_of(place), turn.typed, turn.reply, asked.tokens + said.tokens,
        plan.target.meter.counted(turn.id), (asked.state, *filter(None, marks)), len(place.versions), turn.model,
        ", ".join(turn.sources), parts,
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
