"""The state of one conversation: what was said, to which models, with which settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .context.budget import ContextInfo, Segment
from .context.tokens import Fixed
from .conversation import Conversation, Said
from .errors import InvalidRequestError
from .fitting import Attempt, Fitter
from .models import Models, Target
from .providers.shape import UNSENDABLE
from .settings import Settings
from .view import Part, Scope, State, View, scope_at, summary_is_old, turn_parts


class Session:
    """Reads the conversation and plans requests; changes nothing by itself."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.conversation = Conversation()
        self.models = Models()
        self.fitter = Fitter(self.models)
        self.counted: tuple[object, ...] = ()  # the view whose size the provider has just told

    @property
    def system(self) -> str:
        """The system prompt of the conversation, else of the settings."""
        said = self.conversation.system
        return said if said is not None else self.settings.system or ""

    def system_for(self, options: Mapping[str, Any]) -> str:
        """A cell's own system prompt holds for that cell."""
        own = options.get("system")
        return checked(self.system if own is None else own)

    def target(self, options: Mapping[str, Any], *, ask: bool) -> Target:
        """Where a request with these settings of its own goes."""
        given = {name: value for name, value in options.items() if value is not None}
        return self.models.target(self.settings.changed(given), ask=ask)

    def attempt(self, said: Said, target: Target, system: str, *, record: bool) -> Attempt:
        """The request for a turn, in its place among those that were said before it."""
        past = Conversation() if self.conversation.begins_anew(said) or not record else self.conversation
        at = past.position(said.turn.cell, said.turn.run, append=said.append)
        return self.fitter.attempt(said.turn.prompt, target, past, at, system)

    def now(self, target: Target) -> tuple[Scope, int]:
        """What the next request at the end of the conversation may hold, and where it begins."""
        scope = scope_at(self.conversation, len(self.conversation.places), self.system)
        return scope, self.fitter.start(target, self.conversation, scope)

    def key(self, target: Target, scope: Scope, start: int) -> tuple[object, ...]:
        """What tells one view of this conversation from another."""
        return (self.conversation.revision, target.provider.tokenizer, scope.fixed, start, scope.at)

    def info(self) -> ContextInfo:
        """How full the next request is with an empty prompt. Nobody is asked for it."""
        target = self.target({}, ask=False)
        scope, start = self.now(target)
        ledger, meter = self.fitter.ledger(target, self.conversation, scope), target.meter
        fixed, system = meter.fixed(scope.fixed), meter.fixed(Fixed(self.system))
        pinned, turns = ledger.pinned(scope.at), ledger.between(start, scope.at)
        segments = (
            Segment("system", round(min(system, fixed))),
            Segment("summary", max(0, round(fixed - system)) if scope.fixed.summary else 0),
            Segment("pinned", round(pinned)),
            Segment("turns", round(turns)),
        )
        exact = self.key(target, scope, start) == self.counted
        usage = self.conversation.places[-1].turn.usage if scope.at else None
        return ContextInfo(
            self.settings.model,
            target.budget(fixed + pinned, fixed + pinned + turns, exact=exact),
            segments,
            in_view=ledger.count(start, scope.at) + sum(map(scope.holds, self.conversation.pins)),
            left_out=ledger.count(0, start),
            will_leave=self._will_leave(target, scope, start),
            reported=usage.carried if usage else None,
            cached=usage.cache_read_tokens if usage else None,
            undo=self.conversation.undo_label,
            redo=self.conversation.redo_label,
        )

    def _will_leave(self, target: Target, scope: Scope, start: int) -> int:
        """How many turns the next send leaves out by itself."""
        cut = self.fitter.cut(target, self.conversation, scope, start)
        return self.fitter.ledger(target, self.conversation, scope).count(start, cut.start)

    def history(self) -> tuple[Part, ...]:
        """Both messages of every turn since the last clear, and what becomes of them in the next request."""
        target = self.target({}, ask=False)
        scope, start = self.now(target)
        return tuple(turn_parts(self.conversation, scope, start, target.meter))

    def view(self, said: Said, options: Mapping[str, Any], *, record: bool) -> View:
        """A request before it is sent, part by part, and what it leaves out."""
        target, prompt = self.target(options, ask=False), said.turn.prompt
        attempt = self.attempt(said, target, self.system_for(options), record=record)
        past = attempt.past
        fixed, meter = attempt.scope.fixed, target.meter
        system = meter.fixed(Fixed(fixed.system))
        head = [Part("system", fixed.system, round(system), "system")] if fixed.system else []
        if fixed.summary and past.summary:
            state: State = "summary of older answers" if summary_is_old(past) else "summary"
            head.append(Part("user", past.summary.text, round(meter.fixed(fixed) - system), state))
        turns = list(turn_parts(past, attempt.scope, attempt.cut.start, meter))
        numbers = {past.index(place.id) + 1: i for i, place in enumerate(attempt.places)}
        sent = sorted((part for part in turns if part.number in numbers), key=lambda part: numbers[part.number or 0])
        last = [Part("user", prompt, round(attempt.asked), "prompt")] if prompt else []
        return View(
            (*head, *sent, *last),
            tuple(part for part in turns if part.number not in numbers),
            round(attempt.tokens),
            not prompt and self.key(target, attempt.scope, attempt.cut.start) == self.counted,
            attempt.request,
        )


def checked(prompt: str) -> str:
    """A text that every server takes."""
    if not isinstance(prompt, str):
        raise InvalidRequestError(f"A prompt is text, not {type(prompt).__name__}.")
    found = UNSENDABLE.search(prompt)
    if found:
        kind = "a NUL" if found.group() == "\0" else f"a lone surrogate (U+{ord(found.group()):04X})"
        raise InvalidRequestError(
            f"There is {kind} at character {found.start() + 1:,}: no model takes that. Take it out."
        )
    return prompt
