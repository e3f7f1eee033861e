"""A session as readers see it, how full its context window is, and what a turn of it usually takes."""

from __future__ import annotations

from typing import NamedTuple

from ..context.compaction import Ledger
from ..context.context_info import ContextInfo, MoneyLeft, segments_of
from ..context.forecast import NEWEST, TypicalTurn
from ..context.policy import Decision
from ..context.tokens import Meter
from ..conversation.conversation import Conversation
from ..conversation.messages import Turn
from ..models.registry import Target
from .state import SessionState
from .view import Scope, turn_tokens


class Snapshot(NamedTuple):
    """A session and its next request, with an empty prompt, at one moment.

    ``conversation``, ``state``: what was said, and what else the session knows.
    ``target``: where the next request goes.
    ``scope``: what may stand before the next prompt.
    ``start``: the position of the first turn in view.
    ``ledger``: the sizes of all turns in tokens.
    ``decision``: what the policy of compaction does to the next request.
    ``room_ends``: tokens of a request above which the policy makes room.
    ``exact``: whether the provider reported the size of just this view.
    ``allowance``: what is left of ``max_cost``; ``None``: there is no cap.
    ``more``: how many more turns like the newest ones fit; ``None``: too few to tell.
    """

    conversation: Conversation
    state: SessionState
    target: Target
    scope: Scope
    start: int
    ledger: Ledger
    decision: Decision
    room_ends: int
    exact: bool
    more: int | None = None
    allowance: MoneyLeft | None = None


def context_info(now: Snapshot) -> ContextInfo:
    """Return how full the next request is with an empty prompt."""
    past, scope, ledger, meter = now.conversation, now.scope, now.ledger, now.target.meter
    template, system, summary = meter.fixed_parts(scope.fixed)
    pinned, turns = ledger.pinned(scope.at), ledger.between(now.start, scope.at)
    always = template + system + summary + pinned
    newest = ledger.between(max(now.start, scope.at - 1), scope.at)
    last = past.places[-1].turn if scope.at else None
    usage = last.usage if last else None
    is_of_the_model = last is not None and last.model == now.target.model  # its cache is no other model's
    return ContextInfo(
        now.target.model,
        now.target.budget(always, always + turns, exact=now.exact),
        segments_of(
            [
                ("template", template),
                ("system", system),
                ("pinned", pinned),
                ("summary", summary),
                ("earlier turns", turns - newest),
                ("this turn", newest),
            ]
        ),
        turns=len(past.places),
        in_view=ledger.count(now.start, scope.at) + ledger.pins(0, scope.at),
        left_out=ledger.count(0, now.start),
        will_leave=0 if now.decision.means == "refuse" else now.decision.left_out,
        will_stop=now.decision.means == "refuse",
        room_ends=now.room_ends,
        on_overflow=now.target.settings.on_overflow,
        reported=usage.carried if usage else None,
        cached=usage.cache_read_tokens if usage and is_of_the_model else None,
        sent=usage.input_tokens if usage and is_of_the_model else None,
        undo=past.undo_label,
        redo=past.redo_label,
        cost=now.state.spent.dollars,
        unpriced=now.state.spent.unknown,
        allowance=now.allowance,
        more_turns=None if now.target.window.source == "assumed" else now.more,
    )


LEAST_TURNS = 2  # from which a turn may be called typical
READ_OF_A_PROMPT = 2_000  # characters, by which the margin of its estimate is taken


def typical_turn(past: Conversation, meter: Meter) -> TypicalTurn | None:
    """Return the mean of the newest ten answered turns; ``None`` where fewer than two were answered.

    Their median would be further off where some turns are much longer than others, see benchmarks/README.md.
    """
    newest = [place.turn for place in past.places[-NEWEST:] if place.sendable]
    if len(newest) < LEAST_TURNS:
        return None
    sizes = [turn_tokens(turn, meter) for turn in newest]
    prompts = [prompt_size(turn, size) for turn, size in zip(newest, sizes, strict=True)]
    size, prompt = (sum(tokens) / len(newest) for tokens in (sizes, prompts))
    return TypicalTurn(size, prompt, meter.margin(newest[-1].prompt[:READ_OF_A_PROMPT]))


def prompt_size(turn: Turn, size: float) -> float:
    """Return the tokens of a turn's prompt: what the reply was reported to leave of it, else by their lengths."""
    if turn.usage is not None:
        reply = turn.usage.output_tokens - turn.usage.reasoning_tokens
        if 0 < reply < size:
            return size - reply
    return size * len(turn.prompt) / max(len(turn.prompt) + len(turn.reply), 1)
