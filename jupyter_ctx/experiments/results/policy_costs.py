"""Tell before anything is sent what policies of compaction would send, cache and cost over a whole conversation."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar, NamedTuple

from ... import wording as words
from ...config.settings import Settings, choices, default_settings
from ...errors import InvalidRequestError
from ...models.registry import Models, Target, settings_with
from ...session.desk import Desk
from ...session.session import Session
from ...session.snapshot import prompt_size
from ...session.tabular import Table
from ...session.view import turn_tokens
from .simulation import SimulatedTurn, Simulation, Size

POLICIES = ("trim", "summarise", "compact_at=0.8", "max_turns=8")
ON_OVERFLOW = choices("on_overflow")
OF_A_POLICY = ("on_overflow", "compact_at", "min_turns", "max_turns")
SIZES_WANTED = "give a Chat that has turns, or sizes in tokens of prompts and answers, such as [(150, 450)] * 40"


class PolicyRow(NamedTuple):
    """What one policy would take of a conversation.

    ``policy``: as it was given.
    ``turns``: how many would be sent: with ``stop``, none once one does not fit.
    ``sent``, ``cached``, ``output``: tokens of all requests, those of them that a prompt cache has, and of all answers;
    with those of the summaries that a model writes.
    ``cost``: US dollars; ``None`` where unknown or nobody bills them.
    ``cuts``, ``summaries``: how often turns would be left out, and a summary written.
    ``figures``: what each turn would take.
    ``model``: who would be asked; ``limit``: tokens that a prompt to it may have.
    """

    policy: str
    turns: int
    sent: int
    cached: int
    output: int
    cost: float | None
    cuts: int
    summaries: int
    figures: tuple[SimulatedTurn, ...]
    model: str
    limit: int


class PolicyCosts(Table[PolicyRow]):
    """A row for each policy."""

    __slots__ = ()
    columns = PolicyRow._fields[:8]
    formats: ClassVar = {**dict.fromkeys(("turns", "sent", "cached", "output"), "{:,}".format), "cost": words.dollars}

    def _below(self) -> str:
        tokens = f"{self[0].model}, at most {self[0].limit:,} tokens to a prompt"
        if self[0].cost is not None:
            return tokens
        return f"{tokens}; no cost, for nobody bills it or no price is known: give one, such as prices=(2.50, 10, 0.25)"


def simulate(
    turns: Any, policies: str | Iterable[str] = POLICIES, *, model: str | None = None, **settings: Any
) -> PolicyCosts:
    """Return what policies of compaction would send, cache and cost over a conversation; nothing is sent.

    ``turns`` is a :class:`~jupyter_ctx.Chat`, whose pins are not considered, or sizes in tokens of prompts and answers:
    ``[(150, 450)] * 40``, or a DataFrame with these two columns. A policy is ``trim``, ``summarise`` or ``stop``,
    settings such as ``compact_at=0.8`` and ``max_turns=8``, or both: ``"summarise compact_at=0.8"``. ``model`` and
    ``settings`` go before those of the Chat. Summaries count as long as they may be. Raises InvalidRequestError.
    """
    given = {name: value for name, value in {"model": model, **settings}.items() if value is not None}
    desk = getattr(turns, "desk", None)
    shape = [] if isinstance(desk, Desk) else _shaped(turns)
    session = desk.session if isinstance(desk, Desk) else Session(default_settings({}, given))
    usual, system = settings_with(session.settings, given), session.system_for(given)
    listed = [policies] if isinstance(policies, str) else policies
    asked = list(map(str, listed)) if isinstance(listed, Iterable) else []
    if not asked:
        raise InvalidRequestError(f"policies is {policies!r}: give some, such as {', '.join(POLICIES)}.")
    rows = list[PolicyRow]()
    for policy in asked:
        target = session.models.target(_settings_by(policy, usual), ask=False)
        sizes = shape or _said(session, target)
        if not sizes:
            raise InvalidRequestError(f"There are no turns to simulate: {SIZES_WANTED}.")
        rows.append(_row(policy, sizes, session.models, target, system))
    return PolicyCosts(rows)


def _settings_by(policy: str, usual: Settings) -> Settings:
    """Return the settings of a policy, which says all that differs from the defaults. Raises InvalidRequestError."""
    changes: dict[str, Any] = {name: getattr(Settings(), name) for name in OF_A_POLICY}
    for word in policy.split():
        name, is_named, value = word.rpartition("=")
        if name not in OF_A_POLICY if is_named else value not in ON_OVERFLOW:
            known = ", ".join((*ON_OVERFLOW, *(f"{each}=…" for each in OF_A_POLICY[1:])))
            raise InvalidRequestError(f"{word!r} is no part of a policy. One has {known}.")
        changes[name or "on_overflow"] = value
    return usual.changed(changes)


def _said(session: Session, target: Target) -> list[Size]:
    """Return the sizes of the turns that requests may have, as the model counts them."""
    said = [place.turn for place in session.conversation.places if place.sendable]
    sizes = [(turn, turn_tokens(turn, target.meter)) for turn in said]
    return [(prompt_size(turn, size), size - prompt_size(turn, size)) for turn, size in sizes]


def _shaped(turns: Any) -> list[Size]:
    """Return given sizes, checked. Raises InvalidRequestError."""
    if hasattr(turns, "to_numpy"):  # a DataFrame
        turns = turns.to_numpy().tolist()
    if isinstance(turns, str) or not isinstance(turns, Iterable):
        raise InvalidRequestError(f"turns is {turns!r}: {SIZES_WANTED}.")
    sizes = list[Size]()
    for number, pair in enumerate(turns, 1):
        both = tuple(pair) if isinstance(pair, Iterable) else ()
        if len(both) != 2 or not all(words.is_whole(size, 1) for size in both):
            raise InvalidRequestError(f"Turn {number:,} is {pair!r}, no two sizes of 1 or more: {SIZES_WANTED}.")
        sizes.append(both)
    return sizes


def _row(policy: str, sizes: list[Size], models: Models, target: Target, system: str) -> PolicyRow:
    writer = target.settings.summary_model or target.settings.model
    writes = not writer.startswith("local/")
    by = models.target(target.settings.changed({"model": writer}), ask=False) if writes else target
    simulation = Simulation(sizes, target, system, writes=writes)
    figures = tuple(simulation.turns(partial(models.cost, target)))
    written = simulation.written
    costs = [*(turn.cost for turn in figures), *(models.cost(by, usage) for usage in written)]
    known = [cost for cost in costs if cost is not None]
    return PolicyRow(
        policy,
        len(figures),
        sum(turn.input for turn in figures) + sum(usage.input_tokens for usage in written),
        sum(turn.cached for turn in figures),
        sum(turn.output for turn in figures) + sum(usage.output_tokens for usage in written),
        sum(known) if len(known) == len(costs) else None,
        sum(turn.first > 0 for turn in figures),
        sum(turn.summarized for turn in figures),
        figures,
        target.model,
        target.budget().limit,
    )
