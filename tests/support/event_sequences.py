"""Sequences of events as users cause them, and the state that they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from jupyter_ctx.conversation.conversation import Conversation
from jupyter_ctx.conversation.events import (
    Added,
    Chosen,
    Cleared,
    Excluded,
    IncludedAll,
    Kept,
    MemorySet,
    Offered,
    Picked,
    Pinned,
    Summarized,
    SystemSet,
    Trimmed,
    TurnAdded,
)
from jupyter_ctx.conversation.messages import Alternative, Alternatives, Summary, Turn, TurnRecord, new_id


def said(prompt: str, cell: str | None = None, run: str | None = None, **more: bool) -> TurnAdded:
    return TurnAdded(Turn(prompt, f"re: {prompt}", record=TurnRecord("m", cell=cell, run=run)), **more)


def offer(prompt: str, cell: str | None = None, run: str | None = None) -> Alternatives:
    record = TurnRecord(cell=cell, run=run)
    answers = (Alternative(str(i), f"{prompt}: {i}", record=replace(record, id=new_id())) for i in range(3))
    return Alternatives(Turn(prompt, record=record), (*answers, Alternative("3", error="It failed.")))


def brief(turns: Sequence[Turn]) -> Summary:
    return Summary("short", frozenset(turn.id for turn in turns), "extractive")


def state(conversation: Conversation) -> Any:
    places = [
        (p.id, [v.id for v in p.versions], p.turn.id, p.run, p.start, p.pinned, p.excluded)
        for p in (*conversation.cleared, *conversation.places)
    ]
    fixed = conversation.summary, conversation.system, conversation.memory
    offers = list(conversation.offers)
    return places, len(conversation.places), conversation.trimmed_to, fixed, conversation.stale(), offers


@st.composite
def actions(draw: st.DrawFn, *, kept: bool = False) -> list[Any]:
    """Any sequence of what users do, with places chosen among those that are there.

    ``kept``: with answers that were shown again, which are part of what was done before.
    """
    model, done = Conversation(), []
    for number in range(draw(st.integers(0, 25))):
        here = [place.id for place in model.places]
        some = tuple(draw(st.lists(st.sampled_from(here), max_size=2))) if here else ()
        cell = draw(st.sampled_from([None, "a", "b", "c"]))
        if kept and here and draw(st.integers(0, 5)) == 0:
            model.append(Kept(draw(st.sampled_from(here)), draw(st.sampled_from(["1", "2", "3"]))))
            done.append(model.events[-1])
            continue
        if kept and draw(st.integers(0, 5)) == 0:
            model.append(Offered(offer(str(number), cell, draw(st.sampled_from(["1", "2", "3"])))))
            done.append(model.events[-1])
            continue
        place = draw(st.sampled_from(model.places)) if here else None
        two = Turn(f"{number} a", "re"), Turn(f"{number} b", "re")
        marks = {"pinned": (two[0].id,), "excluded": (two[1].id,)} if draw(st.booleans()) else {}
        offers = list(model.offers.values())
        offered = draw(st.sampled_from(offers)) if offers else None
        choice = draw(st.sampled_from([*range(11), *([11] if place else []), *([12] if offered else [])]))
        action = [
            said(str(number), cell, draw(st.sampled_from(["1", "2", "3"])) if cell else None),
            said(str(number), cell, "4", append=draw(st.booleans()), new=draw(st.booleans())),
            Cleared(),
            Trimmed(draw(st.sampled_from(here)) if here else None),
            Summarized(brief([p.turn for p in model.places[:2]])),
            Pinned(some, draw(st.booleans())),
            Excluded(some, draw(st.booleans())),
            IncludedAll(),
            SystemSet(str(number)),
            Added(two, draw(st.sampled_from([None, "s"])), **marks, summary=draw(st.sampled_from([None, brief(two)]))),
            MemorySet(draw(st.sampled_from(["", "notes.md"]))),
            Picked(place.id, draw(st.sampled_from(place.versions)).id) if place else None,
            Chosen(offered.id, draw(st.sampled_from(offered.turns)).id) if offered else None,
        ][choice]
        model.append(action)
        done.append(action)
    return done
