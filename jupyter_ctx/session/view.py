"""Which part of a conversation a request sends: its turns, its messages, their parts and fingerprints."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple
from weakref import WeakKeyDictionary

from ..context.compaction import NOTHING_WITHIN, Ledger, Within
from ..context.summary_facts import SUMMARY_ANSWER, summary_message
from ..context.tokens import Fixed, Meter
from ..conversation.conversation import Conversation
from ..conversation.messages import Attachment, Message, Summary, Turn, file_tokens
from ..conversation.places import TurnSlot
from ..display.tables import shortened
from ..models.target import Target
from ..providers.base import Request
from ..storage.stored_answers import digested

PartStatus = Literal[
    "system", "pinned", "summary", "sent", "prompt", "left out", "excluded", "summarised", "empty",
    "summary of older answers",
]  # fmt: skip
PART_MARK = "↳ "  # begins the line of a part
ASIDES = re.compile(r" \(about [\d,]+ tokens?\)|, about [\d,]+ tokens?|; -a .* sends more")  # of a source
MOST_PART_LINE = 200  # characters of a name
CELL_SOURCE = re.compile(r"(?:In\[\d+\]|text above (?:In\[\d+\]|this cell))(?= \(|\Z)")  # a cell of the notebook
_ledgers: WeakKeyDictionary[Conversation, tuple[tuple[object, ...], Ledger]] = WeakKeyDictionary()
_adding = threading.Lock()  # columns side by side are planned anew in threads


@dataclass(frozen=True)
class Scope:
    """What may stand before a prompt at position ``at``.

    Turns before the position ``floor`` are left out because the user trimmed them, and the results of functions before
    ``shortened`` are cut down to a line. ``summary`` stands for the turn versions that it covers.
    """

    at: int
    floor: int
    system: str
    summary: Summary | None = None
    shortened: int = 0

    @cached_property
    def fixed(self) -> Fixed:
        """What every request carries."""
        if self.summary is None:
            return Fixed(self.system)
        return Fixed(self.system, summary_message(self.summary.text) + SUMMARY_ANSWER)

    @cached_property
    def covers(self) -> frozenset[str]:
        """The turn versions that the summary stands for."""
        return self.summary.covers if self.summary is not None else frozenset()

    def turn(self, past: Conversation, place: TurnSlot) -> Turn:
        """Return the turn of a place as a request carries it."""
        turn = place.turn
        is_short = self.shortened and turn.rounds and past.index(place.id) < self.shortened
        return turn.with_short_results() if is_short else turn

    def held(self, places: Iterable[TurnSlot]) -> list[TurnSlot]:
        """Return those of the turns that may be sent, pinned or not."""
        covers = self.covers
        return [
            place
            for place in places
            if place.has_text and not place.excluded and (place.pinned or place.turn.record.id not in covers)
        ]

    def loose(self, past: Conversation, start: int, end: int) -> list[int]:
        """Return the numbers, from 1, of the turns between two positions that a cut behind them leaves out."""
        places = past.places[start:end]
        held = {place.id for place in self.held(places)}
        return [number for number, place in enumerate(places, start + 1) if place.id in held and not place.pinned]

    def in_view(self, past: Conversation, start: int) -> tuple[list[TurnSlot], list[TurnSlot]]:
        """Return the turns of a view that begins at ``start``: pinned turns from before it, and the rest.

        A pinned turn keeps its place while it stands among turns that are sent as they are; beside a summary, these
        begin at one that is not pinned.
        """
        if not self.at:
            return [], []
        if self.covers:
            start = next(iter(self.loose(past, start, self.at)), self.at + 1) - 1
        start = min(start, self.at)
        pinned = self.held(place for place in past.pins if past.index(place.id) < start) if past.pins else []
        return pinned, self.held(past.places[start : self.at])


def scope_at(past: Conversation, at: int, system: str) -> Scope:
    """Return what may stand before a prompt at this position: only turns before it.

    A trim counts if it lies before the position, a summary if every turn that it covers does.
    """
    floor = past.trimmed_to if past.trimmed_to <= at else 0
    summary = past.summary
    if summary is not None and not 0 < past.covered_to(summary.covers) <= at:
        summary = None
    return Scope(at, floor, system, summary)


def turn_tokens(turn: Turn, meter: Meter) -> float:
    """Return the tokens of a turn as one model counts them."""
    turn_id, files = turn.record.id, 0.0
    if (turn.attachments or turn.rounds) and not meter.counted(turn_id):
        files = file_tokens(turn.files, meter.vision)
    return meter.turn(turn_id, turn.prompt, turn.answered, files)


def ledger_of(past: Conversation, meter: Meter, scope: Scope) -> Ledger:
    """Return the sizes of all turns; 0 for those that no view in this scope may hold.

    As a conversation grows, only its new turns are measured.
    """
    basis = (meter, meter.revision, past.revision, scope.covers, scope.shortened)
    with _adding:
        known = _ledgers.get(past)
        if known is None or known[0] != basis:
            known = _ledgers[past] = basis, Ledger()
        ledger, measured = known[1], len(known[1])
        if measured < len(past.places):
            new = past.places[measured:]
            held = {place.id for place in scope.held(new)}
            for place in new:
                turn, is_held = scope.turn(past, place) if scope.shortened else place.turn, place.id in held
                tokens, counted = turn_tokens(turn, meter) if is_held else None, meter.counted(turn.record.id)
                has_parts = is_held and (turn.rounds or any(map(CELL_SOURCE.match, turn.record.sources)))
                within = _within(turn, meter) if has_parts else NOTHING_WITHIN
                ledger.append(tokens, pinned=place.pinned, counted=counted, within=within)
    return ledger


def part_states(past: Conversation, scope: Scope, start: int) -> list[PartStatus]:
    """Return what becomes of every turn in a view that begins at ``start``."""
    covers = scope.covers

    def state(place: TurnSlot, *, inside: bool) -> PartStatus:
        if place.excluded:
            return "excluded"
        if not place.has_text:
            return "empty"
        if place.pinned:
            return "pinned"
        if place.turn.id in covers:
            return "summarised"
        return "sent" if inside else "left out"

    return [state(place, inside=start <= i < scope.at) for i, place in enumerate(past.places)]


# messages


def messages_before(
    target: Target, past: Conversation, scope: Scope, view: tuple[list[TurnSlot], list[TurnSlot]]
) -> list[Message]:
    """Return the messages before a prompt as this target may be sent them, the system prompt first.

    Pinned turns from before the ``view`` and the summary stand before the turns that are sent as they are.
    """
    messages = [Message("system", scope.fixed.system)] if scope.fixed.system.strip() else []
    for place in view[0]:
        messages += scope.turn(past, place).messages
    if scope.summary is not None:
        messages += (Message("user", summary_message(scope.summary.text)), Message("assistant", SUMMARY_ANSWER))
    for place in view[1]:
        messages += scope.turn(past, place).messages
    return [target.sendable(message) for message in messages] if past.files else messages


# parts


class PromptPart(NamedTuple):
    """What was typed, or one thing that went with a prompt.

    ``source``: its name, with what was sent of what; empty: what was typed.
    ``text``, ``files``: as sent.
    ``tokens``: its size; the parts of a message sum to that of the message.
    """

    source: str
    text: str
    files: tuple[Attachment, ...] = ()
    tokens: int = 0

    @property
    def line(self) -> str:
        """What it is, as a line below its message; its tokens stand beside it."""
        return shortened(f"{PART_MARK}{ASIDES.sub('', self.source) or 'typed'}", MOST_PART_LINE)


class TurnParts(NamedTuple):
    """A turn in parts: what was typed and what went with it; the calls before the reply, and the reply.

    ``exact``: whether the provider has reported how the turn's size is divided among its prompt and its answer.
    """

    prompt: tuple[PromptPart, ...]
    answer: tuple[PromptPart, ...]
    exact: bool = False


def turn_parts(turn: Turn, meter: Meter, asked: float | None = None) -> TurnParts:
    """Return a turn in parts, whose tokens sum to its size.

    Where nobody has reported how that is divided, it is as all are estimated. ``asked``: the tokens of its prompt,
    where these are known.
    """

    def estimated(source: str, text: str, files: tuple[Attachment, ...] = (), call: str = "") -> PromptPart:
        return PromptPart(source, text, files, round(meter.tokens(call + text) + file_tokens(files, meter.vision)))

    prompt = [estimated(part.source, part.text, part.files) for part in divided(turn)]
    answer = [
        estimated(f"{call} → {result.brief}", result.text, result.attachments, f"{call.name}{call.arguments}")
        for each in turn.rounds
        for call, result in zip(each.calls, each.results, strict=True)
    ]
    answer.append(estimated("reply", turn.reply))
    size, usage = turn_tokens(turn, meter), turn.usage
    answered = float(usage.output_tokens - usage.reasoning_tokens) if usage is not None else 0.0
    is_reported = meter.counted(turn.id) and not turn.rounds and 0 < answered < size
    if not is_reported:
        typed, written = (sum(part.tokens for part in parts) for parts in (prompt, answer))
        answered = size * written / max(1, typed + written)
    asked = size - answered if asked is None else asked
    return TurnParts(_shared(prompt, asked, rest=0), _shared(answer, answered, rest=-1), is_reported)


def _shared(parts: Sequence[PromptPart], tokens: float, rest: int) -> tuple[PromptPart, ...]:
    """Return parts with shares of these tokens; one of them has the ``rest``, such as what a message has around it."""
    scale = min(1.0, tokens / max(1, sum(part.tokens for part in parts)))
    shares = [int(scale * part.tokens) for part in parts]
    shares[rest] += round(tokens) - sum(shares)
    return tuple(part._replace(tokens=share) for part, share in zip(parts, shares, strict=True))


def _within(turn: Turn, meter: Meter) -> Within:
    """Return how many tokens of a turn are cells of the notebook, and calls of functions with their results."""
    parts = turn_parts(turn, meter)
    cells = sum(part.tokens for part in parts.prompt if CELL_SOURCE.match(part.source))
    return Within(cells, sum(part.tokens for part in parts.answer[:-1]))


def divided(turn: Turn) -> Iterator[PromptPart]:
    """Yield the parts; of a turn that does not tell where they end, such as one of a file, all that was not typed."""
    typed, files = turn.typed, turn.attachments
    yield PromptPart("", typed)
    rest = turn.prompt[len(typed) :].removeprefix("\n\n")
    extents = turn.record.extents if turn.record.sources else ((0, 1),) * len(files)
    if len(extents) != len(turn.sources):
        yield PromptPart(", ".join(turn.sources), rest, files)
        return
    for source, (length, count) in zip(turn.sources, extents, strict=True):
        yield PromptPart(source, rest[:length], files[:count])
        rest, files = rest[length:].removeprefix("\n\n"), files[count:]


# fingerprints


def request_digest(target: Target, request: Request) -> str:
    """Return a digest that is equal for equal views which are sent to the same endpoint with the same settings."""
    settings = target.settings
    schema = dict(request.schema.json) if request.schema is not None else None
    asked = target.provider.endpoint, settings.max_tokens, settings.temperature, dict(request.parameters)
    more = (each for each in (settings.effort, schema, request.top_logprobs, request.tools) if each)
    return digested((*asked, *more), request.messages)
