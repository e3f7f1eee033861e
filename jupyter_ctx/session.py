"""The state of one conversation: what was said, to which models, with which settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .context.budget import ContextInfo, Segment, whole
from .context.tokens import Fixed
from .context.usage import Spending
from .conversation import Conversation, Place, Said, new_id
from .errors import InvalidRequestError
from .fitting import Attempt, Fitter
from .models import Models, Target
from .persona import persona
from .providers.shape import UNSENDABLE, Reply
from .settings import Settings
from .view import Part, Scope, State, View, in_view, scope_at, summary_is_old, turn_parts


class Session:
    """Reads the conversation and plans requests; changes nothing by itself."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.conversation = Conversation()
        self.models = Models()
        self.fitter = Fitter(self.models)
        self.counted: tuple[object, ...] = ()  # the view whose size the provider has just told
        self.spent = Spending()
        self._cache_key = f"jupyter_ctx-{new_id()}"

    @property
    def system(self) -> str:
        """The system prompt of the conversation, else of the settings."""
        said = self.conversation.system
        return said if said is not None else self.settings.system or ""

    def system_for(self, options: Mapping[str, Any]) -> str:
        """A cell's own system prompt holds for that cell."""
        own = options.get("system")
        return checked(persona(self.system if own is None else own))

    def target(self, options: Mapping[str, Any], *, ask: bool) -> Target:
        """Where a request with these settings of its own goes."""
        given = {name: value for name, value in options.items() if value is not None}
        target = self.models.target(self.settings.changed(given), ask=ask)
        return replace(target, cache_key=self._cache_key)

    def attempt(self, said: Said, target: Target, system: str, *, record: bool) -> Attempt:
        """The request for a turn, in its place among those that were said before it."""
        past = Conversation() if self.conversation.begins_anew(said) or not record else self.conversation
        at = past.position(said.turn.cell, said.turn.run, append=said.append)
        message = said.turn.messages[0]
        for attachment in message.attachments:
            if attachment.kind not in target.provider.takes:
                raise InvalidRequestError(
                    f"{attachment.name} cannot be sent to {target.model}, which takes text only: "
                    "ask a model that takes images and PDFs (-m)."
                )
        # what is sent once is not worth a cache's writing fee
        return self.fitter.attempt(message, target if record else replace(target, cache_key=None), past, at, system)

    def billed(self, target: Target, reply: Reply) -> float | None:
        """Add up what replies cost, in US dollars; a server of one's own bills nothing."""
        cost = self.models.cost(target, reply.usage, reply.model)
        if cost is not None or target.provider.catalogue:
            self.spent = self.spent.plus(cost)
        return cost

    def now(self, target: Target) -> tuple[Scope, int]:
        """What the next request at the end of the conversation may hold, and where it begins."""
        scope = scope_at(self.conversation, len(self.conversation.places), self.system)
        return scope, self.fitter.start(target, self.conversation, scope)

    def key(self, target: Target, scope: Scope, start: int) -> tuple[object, ...]:
        """What tells one view of this conversation from another."""
        return (self.conversation.revision, target.provider.tokenizer, scope.fixed, start, scope.at)

    def is_counted(self, target: Target, scope: Scope, start: int) -> bool:
        """Whether that is the view whose size the provider has just told."""
        return self.counted != () and self.key(target, scope, start) == self.counted

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
        exact = self.is_counted(target, scope, start)
        usage = self.conversation.places[-1].turn.usage if scope.at else None
        return ContextInfo(
            target.model,
            target.budget(fixed + pinned, fixed + pinned + turns, exact=exact),
            segments,
            in_view=ledger.count(start, scope.at) + sum(map(scope.holds, self.conversation.pins)),
            left_out=ledger.count(0, start),
            will_leave=self._will_leave(target, scope, start),
            reported=usage.carried if usage else None,
            cached=usage.cache_read_tokens if usage else None,
            sent=usage.input_tokens if usage else None,
            undo=self.conversation.undo_label,
            redo=self.conversation.redo_label,
            cost=self.spent.dollars,
            unpriced=self.spent.unknown,
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
        alone = meter.counted(fixed) and not fixed.summary
        head = [Part("system", fixed.system, round(system), "system", exact=alone)] if fixed.system else []
        summary = []
        if fixed.summary and past.summary:
            state: State = "summary of older answers" if summary_is_old(past) else "summary"
            summary = [Part("user", past.summary.text, round(meter.fixed(fixed) - system), state)]
        last = [Part("user", prompt, round(attempt.asked), "prompt", exact=attempt.counted is not None)]
        flat = list(turn_parts(past, attempt.scope, attempt.cut.start, meter))
        turns = list(zip(flat[::2], flat[1::2], strict=True))
        passed, rest = in_view(past, attempt.scope, attempt.cut.start)
        sent = {past.index(place.id) for place in (*passed, *rest)}

        def parts(places: Sequence[Place]) -> list[Part]:
            return [part for place in places for part in turns[past.index(place.id)]]

        return View(
            (*head, *parts(passed), *summary, *parts(rest), *(last if prompt else ())),
            tuple(part for i, both in enumerate(turns) if i not in sent for part in both),
            whole(attempt.tokens),
            attempt.counted is not None or (not prompt and self.is_counted(target, attempt.scope, attempt.cut.start)),
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
