"""The fold of events: places, versions, and undo of everything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from event_sequences import actions, said, state
from hypothesis import given

from jupyter_ctx.conversation.conversation import Conversation
from jupyter_ctx.conversation.events import (
    Excluded,
    Pinned,
    Redone,
    Summarized,
    Trimmed,
    Undone,
)
from jupyter_ctx.conversation.messages import Summary

pytestmark = pytest.mark.core


def prompts(conversation: Conversation) -> list[str]:
    return [place.turn.prompt for place in conversation.places]


def test_undo_is_named_after_what_it_takes_back() -> None:
    c = Conversation([said("one", "a", "1")])
    place = (c.places[0].id,)
    for event, label in [
        (said("again", "a", "2"), "re-run"),
        (Pinned(place, on=True), "pin"),
        (Pinned(place, on=False), "unpin"),
        (Excluded(place, on=True), "exclude"),
        (Excluded(place, on=False), "include"),
    ]:
        c.append(event)
        assert c.undo_label == label


def test_a_summary_nobody_asked_for_is_part_of_its_turn() -> None:
    summary = Summary("short", frozenset(), "extractive")
    c = Conversation([said("one"), said("two"), Summarized(summary, "after")])
    c.append(Undone())
    assert (prompts(c), c.summary) == (["one"], None)
    c.append(Redone())
    assert (prompts(c), c.summary) == (["one", "two"], summary)
    d = Conversation([said("one"), Summarized(summary, "before"), said("two")])
    assert d.undo_label == "turn"
    d.append(Undone())
    assert (prompts(d), d.summary) == (["one"], None)


def test_a_trim_stays_where_it_was_when_an_older_cell_runs_again() -> None:
    c = Conversation([said("a1", "a", "1"), said("a2", "a", "1"), said("b", "b", "2"), said("c", "c", "3")])
    c.append(Trimmed(c.places[2].id))
    assert c.trimmed_to == 2
    c.append(said("a", "a", "4"))
    assert prompts(c)[c.trimmed_to] == "b"
    c.append(said("a more", "a", "4"))
    assert prompts(c)[c.trimmed_to] == "b"


@given(actions())
def test_any_sequence_of_actions_and_undo_of_each_ends_where_it_began(done: list[Any]) -> None:
    c, states = Conversation(), []
    for action in done:
        states.append(state(c))
        c.append(action)
    end = state(c)
    for before in reversed(states):
        c.append(Undone())
        assert state(c) == before
    for _ in done:
        c.append(Redone())
    assert state(c) == end
    assert len(c.events) == 3 * len(done)


@given(actions(kept=True))
def test_the_fold_of_the_events_is_the_live_state(done: list[Any]) -> None:
    live = Conversation()
    for action in done:
        live.append(action)
    assert state(Conversation(live.events)) == state(live)
    assert [live.index(place.id) for place in live.places] == list(range(len(live.places)))


def test_turns_that_say_the_same_are_equal_whenever_and_wherever_they_were_said() -> None:
    asked, again = said("Why?", "cell-1", "1").turn, said("Why?", "cell-2", "2").turn
    assert asked.id != again.id
    assert (asked, hash(asked)) == (again, hash(again))
    assert asked != replace(again, reply="Because.")
    assert asked != replace(again, thinking="Let me see.")
