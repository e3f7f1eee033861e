"""One request as it is about to be sent, what its refusal shows, and the errors where none fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..context.budget import MARGIN, Budget, whole
from ..context.compaction import Cut, Ledger
from ..context.learned_limit import Refused
from ..context.overflow import Overflow
from ..context.policy import Decision, compact_share
from ..context.tokens import OVERHEAD_AT_MOST, Guess, SentRequest
from ..conversation.conversation import Conversation
from ..conversation.messages import Attachment, Message, file_tokens
from ..conversation.places import Place
from ..errors import ContextOverflowError
from ..models.registry import Target
from ..providers.base import Request
from .messages_sent import megabytes, request_bytes
from .view import Scope, in_view, turn_tokens, view_key

MARGIN_FOR_ESTIMATES = f"of {MARGIN:.0%} for estimates".replace("%", " %")


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A new message, where it is sent, and the conversation that may go with it.

    message: the new message
    target: where it goes
    past: the conversation that it continues
    scope: what of that may stand before it
    first: the position of the turn at which the view begins if nothing more is left out
    lasting: whether later requests go on from this one: not for one cell's own model, nor where nothing is recorded
    apart: whether the request has settings of its own that decide what fits
    lacks_summary: whether there was no room for the summary
    """

    message: Message
    target: Target
    past: Conversation
    scope: Scope
    first: int
    lasting: bool
    apart: bool
    lacks_summary: bool

    @property
    def prompt(self) -> str:
        """Return what is asked, without the files that go with it."""
        return self.message.content

    @property
    def budget(self) -> Budget:
        """Return the budget of the request, without what is used of it."""
        return self.target.budget()


@dataclass(frozen=True, slots=True, eq=False)
class Attempt(Question):
    """One request as it is about to be sent.

    decision: what is left out, and by what means room was made
    ledger: the sizes of all turns, as it was planned with
    asked: tokens of the new message alone
    request: what the provider is sent
    retry: how many refusals came before
    counted: tokens of the whole request as the provider counted them, where it was asked
    dropped: files of earlier turns that were left out because of their bytes
    most_bytes: the bytes that turns were left out for; ``None`` where that was not the reason
    """

    decision: Decision
    ledger: Ledger
    asked: float
    request: Request
    retry: int = 0
    counted: int | None = None
    dropped: tuple[Attachment, ...] = ()
    most_bytes: int | None = None

    @property
    def cut(self) -> Cut:
        """Return where the view begins, with its tokens."""
        return self.decision.cut

    @property
    def left_out(self) -> int:
        """Return how many turns are left out."""
        return self.decision.left_out

    def gone(self, before: int = 0) -> list[int]:
        """Return the numbers of the turns that are left out, of those at the position ``before`` or later."""
        return self.scope.loose(self.past, max(self.first, before), self.cut.start)

    @property
    def tokens(self) -> float:
        """Return the tokens of the whole request, as far as they are known."""
        return self.cut.tokens + self.asked if self.counted is None else self.counted

    @property
    def most_tokens(self) -> float:
        """Return the tokens of the whole request, with a margin where they are estimated."""
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
        """Return the share of the limit that the request takes."""
        return self.tokens / max(1, self.budget.limit)

    @property
    def places(self) -> list[Place]:
        """Return the turns it carries."""
        passed, rest = in_view(self.past, self.scope, self.cut.start)
        return passed + rest

    def key(self, *added: str) -> str:
        """Return the fingerprint of its view, with the ids of turns that are ``added`` to it."""
        return view_key(self.target.provider.tokenizer, self.scope.fixed, self.places, *added)

    def begins_at(self, turn_id: str) -> str | None:
        """Return the place at which the view begins: ``None``: at the first turn; ``turn_id``: no turn is in view."""
        if self.cut.start == 0:
            return None
        return self.past.places[self.cut.start].id if self.cut.start < self.scope.at else turn_id

    @property
    def sent(self) -> SentRequest:
        """Return the request in parts with their tokens, to compare with a report."""
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

    def uncut(self) -> Attempt:
        """Return the same as it was before turns were left out, for a message about its size."""
        counted = self.counted if self.cut.start == self.first else None
        return replace(self.with_cut(start=self.first, tokens=self.cut.before), counted=counted)

    def with_cut(self, **changes: float) -> Attempt:
        """Return the same with other fields of its cut; what is sent stays."""
        return replace(self, decision=self.decision._replace(cut=self.cut._replace(**changes)))  # type: ignore[arg-type]

    def because(self, before: Decision) -> Attempt:
        """Return the same with what demanded room ``before`` its turns were counted."""
        reasons = tuple(dict.fromkeys((*before.reasons, *self.decision.reasons)))
        too_large = before.too_large or self.decision.too_large
        return replace(self, decision=self.decision._replace(reasons=reasons, too_large=too_large))


def refusal_of(refused: Attempt, overflow: Overflow) -> Refused:
    """Return what a refusal shows of the endpoint's limit."""
    return Refused(overflow, whole(refused.tokens), refused.request.max_tokens or 0, refused.retry)


def overflow_error(attempt: Attempt, overflow: Overflow | None = None, *, kept: bool = False) -> ContextOverflowError:
    """Return the error for a request that does not fit, with figures and remedy; ``kept``: text was recorded."""
    target, limit = attempt.target, attempt.budget.limit
    stated = overflow.input_tokens if overflow else None
    used = stated if stated is not None else whole(attempt.tokens)
    largest = _largest(attempt, used)
    parts = ", ".join(f"{name} ({tokens:,})" for name, tokens in largest)
    holds = f"{target.model} takes {limit:,} ({_bounds(attempt)})"
    figures = f"{'' if stated is not None else 'about '}{used:,} tokens do not fit: {holds}"
    if overflow is None:
        figures = _by_settings(attempt, used) or _by_estimate(attempt, used) or figures
    if overflow and stated is None and (target.window.refused or used <= limit):
        figures = f"the provider refused about {used:,} tokens as too many and gave no limit"
    return ContextOverflowError(
        f"{figures}. Largest parts: {parts}. "
        f"{'What came is kept, marked as cut' if kept else 'Nothing was recorded'}. {_remedy(attempt, used, largest)}",
        used=used,
        limit=limit,
        largest=largest,
        prompt=attempt.prompt,
        overflow=overflow,
    )


def heavy_error(attempt: Attempt, refusal: ContextOverflowError) -> ContextOverflowError:
    """Return the error for a request that was refused for its bytes where none is smaller."""
    files = sorted(attempt.message.attachments, key=lambda file: -len(file.data))
    largest = f" {files[0].name} has {megabytes(len(files[0].data))}." if files else ""
    size = megabytes(request_bytes(attempt.request.messages))
    return ContextOverflowError(
        f"{attempt.target.model}: the server takes no request of {size} ({refusal}).{largest} Nothing was recorded. "
        "Send a smaller file, shorten the prompt, or make room with %chat trim.",
        largest=_largest(attempt, whole(attempt.tokens)), prompt=attempt.prompt, by_bytes=True,
    )  # fmt: skip


def _bounds(attempt: Attempt) -> str:
    """Return what the limit is made of."""
    target, settings = attempt.target, attempt.target.settings
    bounds = [f"window {target.window.tokens:,} {target.window.basis}", f"{target.reserve:,} kept for the reply"]
    return ", ".join([*bounds, *(attempt.decision.reasons if settings.on_overflow == "stop" else ())])


def _by_settings(attempt: Attempt, used: int) -> str:
    """Return which settings hold a request back that would fit, with the figures; empty: it would not fit."""
    turns, limit, settings = _loose(attempt), attempt.budget.limit, attempt.target.settings
    causes = list[str]()
    if attempt.decision.too_large:
        return ""
    if settings.max_turns is not None and len(turns) > settings.max_turns:
        causes.append(f"max_turns is {settings.max_turns:,} and {len(turns):,} earlier turns are in view")
    if any(reason.startswith("compact_at") for reason in attempt.decision.reasons):
        at, share = settings.compact_at, compact_share(settings, limit)
        more = "are more" if used > share * limit else f"and a margin {MARGIN_FOR_ESTIMATES} are more"
        room = f"{at:,.15g}" if at > 1 else f"{100 * at:.3g} % of {limit:,}"
        causes.append(f"about {used:,} tokens {more} than {room} (compact_at)")
    return "; ".join(causes)


def _by_estimate(attempt: Attempt, used: int) -> str:
    """Return that only the margin for estimates does not fit; empty: so large a request would not, either."""
    if used > attempt.budget.limit or not attempt.decision.too_large:
        return ""
    holds = f"{attempt.target.model} takes {attempt.budget.limit:,} ({_bounds(attempt)})"
    return f"about {used:,} tokens and a margin {MARGIN_FOR_ESTIMATES} do not fit: {holds}"


def _loose(attempt: Attempt) -> list[Place]:
    """Return the turns in view that a cut may leave out."""
    return [place for place in attempt.places if not place.pinned]


def _largest(attempt: Attempt, used: int) -> tuple[tuple[str, int], ...]:
    """Return the three largest parts in tokens, together no more than ``used``.

    What a report counts beyond the other parts is the prompt's; where it counts less, every part is scaled down.
    """
    meter, sent = attempt.target.meter, attempt.sent
    parts = [("this prompt", max(attempt.asked, used - sent.before))]
    parts += [
        ("the system prompt", meter.message(sent.fixed.system)),
        ("the summary", meter.message(sent.fixed.summary)),
    ]
    for place in attempt.places:
        kind = "pinned turn" if place.pinned else "turn"
        parts.append((f"{kind} {attempt.past.index(place.id) + 1}", turn_tokens(place.turn, meter)))
    scale = min(1.0, used / max(1.0, sent.before + attempt.asked))
    ordered = sorted(((name, tokens * scale) for name, tokens in parts), key=lambda part: -part[1])[:3]
    return tuple((name, round(tokens)) for name, tokens in ordered if tokens >= 1)


def _remedy(attempt: Attempt, used: int, largest: Sequence[tuple[str, int]]) -> str:
    """Return what the user can do so that the request is sent."""
    settings, name = attempt.target.settings, largest[0][0] if largest else ""
    if settings.on_overflow == "stop" and _fits_alone(attempt, used):
        learned = attempt.target.window.source == "learned"
        grown = " If the limit has grown, set it with %chat config window N." if learned else ""
        return f"Make room with {_room(attempt)}; on_overflow=stop leaves that to you.{grown}"
    if name.startswith("pinned"):
        return f"Take a pin off with %chat unpin {name.split()[-1]}."
    longest = name if name.startswith("the system") else "this prompt"
    pinned = next((part.split()[-1] for part, _ in largest if part.startswith("pinned")), "")
    unpin = f", take a pin off (%chat unpin {pinned})" if pinned else ""
    return f"Shorten {longest}{unpin}, or ask a model with a larger window (-m)."


def _room(attempt: Attempt) -> str:
    """Return the commands that make room: those that reach what the settings demand."""
    decision, settings = attempt.decision, attempt.target.settings
    if decision.too_large or not decision.reasons:
        return "%chat summarise, trim or clear"
    if settings.max_turns is not None and len(_loose(attempt)) > settings.max_turns:
        return f"%chat trim {settings.max_turns} or clear, or raise it with %chat config max_turns N"
    return "%chat summarise, trim N or clear, or raise it with %chat config compact_at"


def _fits_alone(attempt: Attempt, used: int) -> bool:
    """Return whether a request of ``used`` tokens would fit without the turns that can be left out."""
    turns = attempt.ledger.between(attempt.cut.start, attempt.scope.at)
    return used - turns <= attempt.budget.limit
