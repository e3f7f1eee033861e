"""One request as it is about to be sent: what it carries, what it leaves out, and how large it is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from ..context.budget import LEAST_MARGIN, MARGIN, Budget
from ..context.compaction import Cut, Ledger, Occupancy
from ..context.policy import Decision, compact_share
from ..context.tokens import OVERHEAD_AT_MOST, Guess, SentRequest
from ..conversation.conversation import Conversation
from ..conversation.messages import Attachment, Message, file_tokens
from ..conversation.places import Place
from ..models.registry import Target
from ..providers.base import Request
from .messages_sent import lightened, messages_before
from .view import Scope, in_view, turn_tokens, view_key

NOT_DECIDED = Decision("send", Cut(0, 0.0, 0.0, fits=True), 0)


@dataclass(frozen=True, eq=False)
class RequestPlan:
    """One request as it is about to be sent, and the conversation that may go with it.

    message: the new message
    target: where it goes
    past: the conversation that it continues
    scope: what of that may stand before it
    first: the position of the turn at which the view begins if nothing more is left out
    lasting: whether later requests go on from this one: not for one cell's own model, nor where nothing is recorded
    apart: whether the request has settings of its own that decide what fits
    lacks_summary: whether there was no room for the summary
    decision: what is left out, and by what means room was made
    ledger: the sizes of all turns, as it was planned with
    asked: tokens of the new message alone
    again: an answer that does not match its schema, and what is wrong with it: they follow the new message
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
    lacks_summary: bool = False
    decision: Decision = NOT_DECIDED
    ledger: Ledger = field(default_factory=Ledger)
    asked: float = 0.0
    again: tuple[Message, ...] = ()
    retry: int = 0
    counted: int | None = None
    most_bytes: int | None = None

    @property
    def prompt(self) -> str:
        """What is asked, without the files that go with it."""
        return self.message.content

    @property
    def budget(self) -> Budget:
        """The budget of the request, without what is used of it."""
        return self.target.budget()

    @property
    def cut(self) -> Cut:
        """Where the view begins, with its tokens."""
        return self.decision.cut

    @property
    def left_out(self) -> int:
        """How many turns are left out."""
        return self.decision.left_out

    def gone(self, before: int = 0) -> list[int]:
        """Return the numbers of the turns that are left out, of those at the position ``before`` or later."""
        return self.scope.loose(self.past, max(self.first, before), self.cut.start)

    # what is sent

    @cached_property
    def view(self) -> tuple[list[Place], list[Place]]:
        """The turns that it carries: pinned ones from before the view, and the rest."""
        return in_view(self.past, self.scope, self.cut.start)

    @cached_property
    def places(self) -> list[Place]:
        """The turns that it carries."""
        return [*self.view[0], *self.view[1]]

    @cached_property
    def _messages(self) -> tuple[tuple[Message, ...], tuple[Attachment, ...]]:
        """The messages, and the files of earlier turns that were left out because of their bytes."""
        before = messages_before(self.target, self.past, self.scope, self.view)
        messages = (*before, self.target.sendable(self.message))
        most = self.target.learned_limit.most_bytes
        return (messages, ()) if most is None else lightened(messages, most)

    @cached_property
    def request(self) -> Request:
        """What the provider is sent."""
        if self.again:
            return self.target.request((*self._messages[0], *self.again), cache_key=None, shared=None)
        return self.target.request(self._messages[0])

    @property
    def dropped(self) -> tuple[Attachment, ...]:
        """The files of earlier turns that are left out because of their bytes."""
        return self._messages[1]

    def key(self, *added: str) -> str:
        """Return the fingerprint of its view, with the ids of turns that are ``added`` to it."""
        return view_key(self.target.provider.tokenizer, self.scope.fixed, self.places, *added)

    def begins_at(self, turn_id: str) -> str | None:
        """Return the place at which the view begins: ``None``: at the first turn; ``turn_id``: no turn is in view."""
        if self.cut.start == 0:
            return None
        return self.past.places[self.cut.start].id if self.cut.start < self.scope.at else turn_id

    # how large it is

    @property
    def tokens(self) -> float:
        """The tokens of the whole request, as far as they are known."""
        return self.cut.tokens + self.asked if self.counted is None else self.counted

    @property
    def most_tokens(self) -> float:
        """The tokens of the whole request, with a margin where they are estimated."""
        if self.counted is not None:
            return self.counted
        meter, fixed = self.target.meter, self.scope.fixed
        others = 0.0 if meter.counted(fixed) else meter.fixed(fixed)
        others += self.ledger.guessed(self.cut.start, self.scope.at)
        margin = MARGIN if others or self.message.attachments else meter.margin(self.prompt)
        template = OVERHEAD_AT_MOST if meter.learned.overhead is None else 0.0
        estimated = others + self.asked
        return self.tokens - estimated + estimated / (1 - margin) + template

    @property
    def fill(self) -> float:
        """The share of the limit that the request takes."""
        return self.tokens / max(1, self.budget.limit)

    def occupancy(self, start: int | None = None) -> Occupancy:
        """Return what a request takes with an empty prompt, in a view from ``start``, else from where this may begin.

        The margin is that for estimates.
        """
        meter, fixed = self.target.meter, self.scope.fixed
        size = meter.fixed(fixed)
        guessed = 0.0 if meter.counted(fixed) else size
        budget = self.target.budget(size)._replace(margin=MARGIN)
        return Occupancy(self.ledger, budget, self.first if start is None else start, self.scope.at, guessed=guessed)

    @property
    def room_ends(self) -> int:
        """Up to how many tokens the next request may have before room is made: with a prompt like the last."""
        now = self.occupancy()
        if now.end and not now.guessed + now.ledger.guessed(now.start, now.end):
            margin = max(self.target.meter.margin(self.past.places[now.end - 1].turn.prompt), LEAST_MARGIN)
            now = now._replace(budget=now.budget._replace(margin=margin))
        return now.most(compact_share(self.target.settings, now.limit))

    @property
    def sent(self) -> SentRequest:
        """The request in parts with their tokens, to compare with a report."""
        fixed, ledger, start, end = self.scope.fixed, self.ledger, self.cut.start, self.scope.at
        turns, guessed = ledger.between(start, end) + ledger.pinned(end), ledger.guessed(start, end)
        before, guesses = self.target.meter.fixed(fixed) + turns, self._guesses() if guessed else {}
        files = file_tokens(self.message.attachments, self.target.meter.vision)
        return SentRequest(fixed, self.prompt, before, turns - guessed, guesses, self._sizes, files)

    def _guesses(self) -> dict[str, Guess]:
        """Return the turns that no report has counted, by their ids."""
        meter, turns = self.target.meter, (place.turn for place in self.places)
        guessed = (turn for turn in turns if not meter.counted(turn.id))
        return {turn.id: Guess(turn_tokens(turn, meter), turn.prompt, turn.reply) for turn in guessed}

    def _sizes(self) -> dict[str, float]:
        """Return the tokens of every turn, by its id."""
        return {place.turn.id: turn_tokens(place.turn, self.target.meter) for place in self.places}

    # the same, otherwise

    def uncut(self) -> RequestPlan:
        """Return the same as it was before turns were left out, for a message about its size."""
        counted = self.counted if self.cut.start == self.first else None
        return replace(self.with_cut(start=self.first, tokens=self.cut.before), counted=counted)

    def with_cut(self, **changes: float) -> RequestPlan:
        """Return the same with other fields of its cut."""
        return replace(self, decision=self.decision._replace(cut=self.cut._replace(**changes)))  # type: ignore[arg-type]

    def because(self, before: Decision) -> RequestPlan:
        """Return the same with what demanded room ``before`` its turns were counted."""
        reasons = tuple(dict.fromkeys((*before.reasons, *self.decision.reasons)))
        too_large = before.too_large or self.decision.too_large
        return replace(self, decision=self.decision._replace(reasons=reasons, too_large=too_large))
