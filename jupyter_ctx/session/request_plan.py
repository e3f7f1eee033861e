"""One request as it is about to be sent: what it carries, what it leaves out, and how large it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ..context.budget import MARGIN
from ..context.compaction import Cut, Decision, Ledger, RequestSize
from ..context.tokens import OVERHEAD_AT_MOST, Guess, SentRequest
from ..conversation.conversation import Conversation
from ..conversation.messages import Attachment, Message, file_tokens
from ..conversation.places import Place
from ..models.registry import Target
from ..providers.base import Request
from .view import Scope, lightened, messages_before, turn_tokens, view_key

NO_CUT = Cut(0, 0.0, 0.0, fits=True)
NOT_DECIDED = Decision("send", NO_CUT)


@dataclass(frozen=True, eq=False)
class RequestPlan:
    """One request as it is about to be sent, and the conversation that may go with it.

    message: the new message
    target: where it goes
    past: the conversation that it continues
    scope: what of that may stand before it
    size: what it takes if nothing more is left out, with the sizes of all turns
    first: the position of the turn at which the view begins if nothing more is left out
    lasting: whether later requests go on from this one: not for one cell's own model, nor where nothing is recorded
    apart: whether the request has settings of its own that decide what fits
    decision: what is left out, and by what means room was made
    cut: where the view begins, with its tokens
    tokens: those of the whole request, as far as they are known
    lacks_summary: whether there was no room for the summary
    again: an answer that does not match its schema, and what is wrong with it: they follow the new message
    retry: how many refusals came before
    counted: tokens of the whole request as the provider counted them, where it was asked
    most_bytes: the bytes that turns were left out for; ``None`` where that was not the reason
    """

    message: Message
    target: Target
    past: Conversation
    scope: Scope
    size: RequestSize
    first: int
    lasting: bool = False
    apart: bool = False
    decision: Decision = NOT_DECIDED
    cut: Cut = NO_CUT
    tokens: float = 0.0
    lacks_summary: bool = False
    again: tuple[Message, ...] = ()
    retry: int = 0
    counted: int | None = None
    most_bytes: int | None = None

    @property
    def ledger(self) -> Ledger:
        """The sizes of all turns, as it was planned with."""
        return self.size.ledger

    @property
    def asked(self) -> float:
        """Tokens of the new message alone."""
        return self.size.prompt

    @property
    def left_out(self) -> int:
        """How many turns are left out."""
        return self.decision.left_out

    @property
    def fill(self) -> float:
        """The share of the limit that the request takes."""
        return self.tokens / max(1, self.target.limit)

    def gone(self, before: int = 0) -> list[int]:
        """Return the numbers of the turns that are left out, of those at the position ``before`` or later."""
        before = max(self.first, before)
        return self.scope.loose(self.past, before, self.cut.start) if before < self.cut.start else []

    # what is sent

    @cached_property
    def view(self) -> tuple[list[Place], list[Place]]:
        """The turns that it carries: pinned ones from before the view, and the rest."""
        return self.scope.in_view(self.past, self.cut.start)

    @cached_property
    def places(self) -> list[Place]:
        """The turns that it carries."""
        return [*self.view[0], *self.view[1]]

    @cached_property
    def _sent(self) -> tuple[Request, tuple[Attachment, ...]]:
        """What the provider is sent, and the files of earlier turns that were left out because of their bytes."""
        before = messages_before(self.target, self.past, self.scope, self.view)
        messages, dropped = (*before, self.target.sendable(self.message)), tuple[Attachment, ...]()
        most = self.target.learned_limit.most_bytes
        if most is not None:
            messages, dropped = lightened(messages, most)
        if self.again:
            return self.target.request((*messages, *self.again), cache_key=None, shared=None), dropped
        return self.target.request(messages), dropped

    @cached_property
    def request(self) -> Request:
        """What the provider is sent."""
        return self._sent[0]

    @property
    def dropped(self) -> tuple[Attachment, ...]:
        """The files of earlier turns that are left out because of their bytes."""
        return self._sent[1]

    def key(self, *added: str) -> str:
        """Return the fingerprint of its view, with the ids of turns that are ``added`` to it."""
        return view_key(self.target.provider.tokenizer, self.scope.fixed, self.places, *added)

    def begins_at(self, turn_id: str) -> str | None:
        """Return the place at which the view begins: ``None``: at the first turn; ``turn_id``: no turn is in view."""
        start = self.cut.start
        if start == 0:
            return None
        return self.past.places[start].id if start < self.scope.at else turn_id

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
            turns_in_view = (place.turn for place in self.places)
            guesses = {
                turn.id: Guess(turn_tokens(turn, meter), turn.prompt, turn.reply)
                for turn in turns_in_view
                if not meter.counted(turn.id)
            }
        files = file_tokens(self.message.attachments, meter.vision) if self.message.attachments else 0.0
        return SentRequest(
            self.scope.fixed, self.message.content, size.fixed + turns, turns - guessed, guesses, self._sizes, files
        )

    def _sizes(self) -> dict[str, float]:
        """Return the tokens of every turn, by its id."""
        return {place.turn.id: turn_tokens(place.turn, self.target.meter) for place in self.places}

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
