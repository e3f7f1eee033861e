"""One request as it is about to be sent: what it carries, what it leaves out, its size, and why it does not fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ..context.budget import MARGIN, whole
from ..context.compaction import Cut, Decision, Ledger, RequestSize, compact_share
from ..context.overflow import Overflow
from ..context.tokens import OVERHEAD_AT_MOST, Guess, SentRequest
from ..conversation.conversation import Conversation
from ..conversation.messages import Attachment, Message, Turn, file_tokens
from ..conversation.places import TurnSlot
from ..errors import ContextOverflowError
from ..models.target import Target
from ..providers.base import Request
from ..wording import named_turns
from .view import Scope, lightened, megabytes, messages_before, request_bytes, turn_tokens, view_key

MARGIN_FOR_ESTIMATES = f"of {MARGIN:.0%} for estimates".replace("%", " %")
NO_CUT = Cut(0, 0.0, 0.0, fits=True)
NOT_MEASURED = RequestSize(Ledger(), 0, 0, 0)
NOT_DECIDED = Decision("send", NO_CUT)


@dataclass(frozen=True, eq=False)
class RequestPlan:
    """One request as it is about to be sent, and the conversation that may go with it.

    message: the new message
    target: where it goes
    past: the conversation that it continues
    scope: what of that may stand before it
    first: the position of the turn at which the view begins if nothing more is left out
    first_whole: the position before which results of functions were shortened already
    lasting: whether later requests go on from this one: not for one cell's own model, nor where nothing is recorded
    apart: whether the request has settings of its own that decide what fits
    size: what it takes if nothing more is left out, with the sizes of all turns
    decision: what is left out, and by what means room was made
    cut: where the view begins, with its tokens
    tokens: those of the whole request, as far as they are known
    lacks_summary: whether there was no room for the summary
    again: what follows the new message: rounds of calls, an answer that does not match its schema, and what is wrong
    with that
    retry: how many refusals came before
    counted: tokens of the whole request as the provider counted them, where it was asked
    most_bytes: the bytes that turns were left out for; ``None`` where that was not the reason
    """

    message: Message
    target: Target
    past: Conversation
    scope: Scope
    first: int
    lasting: bool = False
    apart: bool = False
    size: RequestSize = NOT_MEASURED
    decision: Decision = NOT_DECIDED
    cut: Cut = NO_CUT
    tokens: float = 0.0
    lacks_summary: bool = False
    again: tuple[Message, ...] = ()
    retry: int = 0
    counted: int | None = None
    most_bytes: int | None = None
    first_whole: int = 0

    @property
    def ledger(self) -> Ledger:
        """The sizes of all turns, as it was planned with."""
        return self.size.ledger

    @property
    def asked(self) -> float:
        """Tokens of the new message alone."""
        return self.size.prompt

    @property
    def fill(self) -> float:
        """The share of the limit that the request takes."""
        return self.tokens / max(1, self.target.limit)

    def gone(self, before: int = 0) -> list[int]:
        """Return the numbers of the turns that are left out, of those at the position ``before`` or later."""
        before = max(self.first, before)
        return self.scope.loose(self.past, before, self.cut.start) if before < self.cut.start else []

    def lacks(self, before: RequestPlan | None = None) -> str:
        """Return in words what it leaves out, of what the request ``before`` it carried; empty: nothing."""
        turns = self.gone(0 if before is None else before.cut.start)
        parts = [named_turns(turns)] if turns else []
        if self.lacks_summary and not (before is not None and before.lacks_summary):
            parts.append("the summary")
        return " and ".join(parts)

    # what is sent

    @cached_property
    def view(self) -> tuple[list[TurnSlot], list[TurnSlot]]:
        """The turns that it carries: pinned ones from before the view, and the rest."""
        return self.scope.in_view(self.past, self.cut.start)

    @cached_property
    def places(self) -> list[TurnSlot]:
        """The turns that it carries."""
        return [*self.view[0], *self.view[1]]

    @cached_property
    def turns(self) -> list[Turn]:
        """The turns that it carries, as it carries them."""
        if not self.scope.shortened:
            return [place.turn for place in self.places]
        return [self.scope.turn(self.past, place) for place in self.places]

    @cached_property
    def _sent(self) -> tuple[Request, tuple[Attachment, ...]]:
        """What the provider is sent, and the files of earlier turns that were left out because of their bytes."""
        before = messages_before(self.target, self.past, self.scope, self.view)
        messages, dropped = (*before, self.target.sendable(self.message)), tuple[Attachment, ...]()
        most = self.target.learned_limit.most_bytes
        if most is not None:
            messages, dropped = lightened(messages, most)
        if self.again:
            is_invalid = self.again[-1].round is None  # a prompt cache is of use to the next round alone
            key = None if is_invalid else self.target.cache_key
            behind = map(self.target.sendable, self.again)
            return self.target.request((*messages, *behind), cache_key=key, shared=None), dropped
        return self.target.request(messages), dropped

    @cached_property
    def request(self) -> Request:
        """What the provider is sent."""
        return self._sent[0]

    @property
    def opening(self) -> Request:
        """The request without what follows the new message."""
        return (replace(self, again=()) if self.again else self).request

    @property
    def dropped(self) -> tuple[Attachment, ...]:
        """The files of earlier turns that are left out because of their bytes."""
        return self._sent[1]

    def key(self, *added: str) -> str:
        """Return the fingerprint of its view, with the ids of turns that are ``added`` to it."""
        return view_key(self.target.provider.tokenizer, self.scope.fixed, self.turns, *added)

    def begins_at(self, turn_id: str) -> str | None:
        """Return the place at which the view begins: ``None``: at the first turn; ``turn_id``: no turn is in view."""
        return self._place_at(self.cut.start, turn_id)

    def shortened_at(self, turn_id: str) -> str | None:
        """Return the place before which results are shortened: ``None``: none is; ``turn_id``: those of all turns."""
        return self._place_at(self.scope.shortened, turn_id)

    def _place_at(self, position: int, turn_id: str) -> str | None:
        if position == 0:
            return None
        return self.past.places[position].id if position < self.scope.at else turn_id

    def shortened(self) -> list[tuple[int, Turn]]:
        """Return the turns whose results are newly shortened, with their numbers from 1."""
        places = self.past.places[self.first_whole : self.scope.shortened]
        numbered = enumerate(places, self.first_whole + 1)
        return [(number, place.turn) for number, place in numbered if place in self.places and place.turn.rounds]

    # how large it is

    @property
    def most_tokens(self) -> float:
        """The tokens of the whole request, with a margin where they are estimated."""
        if self.counted is not None:
            return self.counted
        meter, size = self.target.meter, self.size
        others = size.guessed + size.ledger.guessed(self.cut.start, size.end)
        margin = MARGIN if others or self.message.attachments else meter.margin(self.message.content)
        template = OVERHEAD_AT_MOST if meter.learned.overhead is None else 0.0
        estimated = others + size.prompt
        return self.tokens - estimated + estimated / (1 - margin) + template

    @property
    def sent(self) -> SentRequest:
        """The request in parts with their tokens, to compare with a report."""
        meter, size = self.target.meter, self.size
        turns, guessed = size.ledger.in_view(self.cut.start, size.end), size.ledger.guessed(self.cut.start, size.end)
        guesses = {}
        if guessed:
            guesses = {
                turn.id: Guess(turn_tokens(turn, meter), turn.prompt, turn.answered)
                for turn in self.turns
                if not meter.counted(turn.id)
            }
        files = file_tokens(self.message.attachments, meter.vision) if self.message.attachments else 0.0
        return SentRequest(
            self.scope.fixed, self.message.content, size.fixed + turns, turns - guessed, guesses, self._sizes, files
        )

    def _sizes(self) -> dict[str, float]:
        """Return the tokens of every turn, by its id."""
        return {turn.id: turn_tokens(turn, self.target.meter) for turn in self.turns}

    # the same, otherwise

    def uncut(self) -> RequestPlan:
        """Return the same as it was before turns were left out, for a message about its size."""
        if self.cut.start == self.first:
            return self
        cut = self.cut._replace(start=self.first, tokens=self.cut.before)
        return replace(self, cut=cut, tokens=cut.tokens + self.asked, counted=None)

    def because(self, before: Decision) -> RequestPlan:
        """Return the same with what demanded room ``before`` its turns were counted."""
        reasons = tuple(dict.fromkeys((*before.reasons, *self.decision.reasons)))
        too_large = before.too_large or self.decision.too_large
        return replace(self, decision=self.decision._replace(reasons=reasons, too_large=too_large))


# the errors where none fits


def overflow_error(plan: RequestPlan, overflow: Overflow | None = None, *, kept: bool = False) -> ContextOverflowError:
    """Return the error for a request that does not fit, with figures and remedy; ``kept``: text was recorded."""
    limit, stated = plan.target.limit, overflow.input_tokens if overflow else None
    used = whole(plan.tokens) if stated is None else stated
    largest = _largest(plan, used)
    parts = ", ".join(f"{name} ({tokens:,})" for name, tokens in largest)
    recorded = "What came is kept, marked as cut" if kept else "Nothing was recorded"
    return ContextOverflowError(
        f"{_figures(plan, overflow, used)}. Largest parts: {parts}. {recorded}. {_remedy(plan, used, largest)}",
        used=used, limit=limit, largest=largest, prompt=plan.message.content, overflow=overflow,
    )  # fmt: skip


def heavy_error(plan: RequestPlan, refusal: ContextOverflowError) -> ContextOverflowError:
    """Return the error for a request that was refused for its bytes where none is smaller."""
    files = sorted(plan.message.attachments, key=lambda file: -len(file.data))
    largest = f" {files[0].name} has {megabytes(len(files[0].data))}." if files else ""
    size = megabytes(request_bytes(plan.request.messages))
    return ContextOverflowError(
        f"{plan.target.model}: the server takes no request of {size} ({refusal}).{largest} Nothing was recorded. "
        "Send a smaller file, shorten the prompt, or make room with %chat trim.",
        largest=_largest(plan, whole(plan.tokens)), prompt=plan.message.content, by_bytes=True,
    )  # fmt: skip


def _figures(plan: RequestPlan, overflow: Overflow | None, used: int) -> str:
    """Return what does not fit: because of a setting, of the margin for estimates alone, or as it is."""
    target, decision, limit = plan.target, plan.decision, plan.target.limit
    stop = decision.reasons if target.settings.on_overflow == "stop" else ()
    window = f"window {target.window.tokens:,} {target.window.basis}"
    bounds = ", ".join((window, f"{target.reserve:,} kept for the reply", *stop))
    holds = f"do not fit: {target.model} takes {limit:,} ({bounds})"
    if overflow is not None:
        if overflow.input_tokens is not None:
            return f"{used:,} tokens {holds}"
        if target.window.refused or used <= limit:
            return f"the provider refused about {used:,} tokens as too many and gave no limit"
    elif decision.too_large and used <= limit:
        return f"about {used:,} tokens and a margin {MARGIN_FOR_ESTIMATES} {holds}"
    elif not decision.too_large:
        return _by_settings(plan, used) or f"about {used:,} tokens {holds}"
    return f"about {used:,} tokens {holds}"


def _by_settings(plan: RequestPlan, used: int) -> str:
    """Return which settings hold a request back that would fit, with the figures; empty: none does."""
    turns, limit, settings = _loose_turns(plan), plan.target.limit, plan.target.settings
    causes = list[str]()
    if settings.max_turns is not None and turns > settings.max_turns:
        causes.append(f"max_turns is {settings.max_turns:,} and {turns:,} earlier turns are in view")
    if any(reason.startswith("compact_at") for reason in plan.decision.reasons):
        at, share = settings.compact_at, compact_share(settings, limit)
        more = "are more" if used > share * limit else f"and a margin {MARGIN_FOR_ESTIMATES} are more"
        room = f"{at:,.15g}" if at > 1 else f"{100 * at:.3g} % of {limit:,}"
        causes.append(f"about {used:,} tokens {more} than {room} (compact_at)")
    return "; ".join(causes)


def _loose_turns(plan: RequestPlan) -> int:
    """Return how many turns in view a cut may leave out."""
    return sum(not place.pinned for place in plan.places)


def _largest(plan: RequestPlan, used: int) -> tuple[tuple[str, int], ...]:
    """Return the three largest parts in tokens, together no more than ``used``.

    What a report counts beyond the other parts is the prompt's; where it counts less, every part is scaled down.
    """
    meter, fixed = plan.target.meter, plan.scope.fixed
    before = plan.size.tokens_from(plan.cut.start)
    parts = [("this prompt", max(plan.asked, used - before))]
    parts += [("the system prompt", meter.message(fixed.system)), ("the summary", meter.message(fixed.summary))]
    for place, turn in zip(plan.places, plan.turns, strict=True):
        kind = "pinned turn" if place.pinned else "turn"
        parts.append((f"{kind} {plan.past.index(place.id) + 1}", turn_tokens(turn, meter)))
    scale = min(1.0, used / max(1.0, before + plan.asked))
    ordered = sorted(((name, round(tokens * scale)) for name, tokens in parts), key=lambda part: -part[1])
    return tuple((name, tokens) for name, tokens in ordered[:3] if tokens)


def _remedy(plan: RequestPlan, used: int, largest: tuple[tuple[str, int], ...]) -> str:
    """Return what the user can do so that the request is sent."""
    settings, name = plan.target.settings, largest[0][0] if largest else ""
    without_turns = used - plan.ledger.between(plan.cut.start, plan.scope.at)
    if settings.on_overflow == "stop" and without_turns <= plan.target.limit:
        learned = plan.target.window.source == "learned"
        grown = " If the limit has grown, set it with %chat config window N." if learned else ""
        return f"Make room with {_room(plan)}; on_overflow=stop leaves that to you.{grown}"
    if name.startswith("pinned"):
        return f"Take a pin off with %chat unpin {name.split()[-1]}."
    longest = name if name.startswith("the system") else "this prompt"
    pinned = next((part.split()[-1] for part, _ in largest if part.startswith("pinned")), "")
    unpin = f", take a pin off (%chat unpin {pinned})" if pinned else ""
    return f"Shorten {longest}{unpin}, or ask a model with a larger window (-m)."


def _room(plan: RequestPlan) -> str:
    """Return the commands that make room: those that reach what the settings demand."""
    decision, settings = plan.decision, plan.target.settings
    if decision.too_large or not decision.reasons:
        return "%chat summarise, trim or clear"
    if settings.max_turns is not None and _loose_turns(plan) > settings.max_turns:
        return f"%chat trim {settings.max_turns} or clear, or raise it with %chat config max_turns N"
    return "%chat summarise, trim N or clear, or raise it with %chat config compact_at"
