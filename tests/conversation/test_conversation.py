"""The fold of events: places, versions, and undo of everything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from event_sequences import actions, said, state
from hypothesis import given

from jupyter_ctx.conversation.conversation import Conversation
from jupyter_ctx.conversation.events import (
    Cleared,
    Excluded,
    Pinned,
    Redone,
    Summarized,
    Trimmed,
    Undone,
)
from jupyter_ctx.conversation.messages import Summary


def prompts(conversation: Conversation) -> list[str]:
    return [place.turn.prompt for place in conversation.places]


def test_running_a_cell_again_replaces_its_turn_in_place() -> None:
    c = Conversation([said("one", "a", "1"), said("two", "b", "2"), said("one again", "a", "3")])
    assert prompts(c) == ["one again", "two"]
    assert [v.prompt for v in c.places[0].versions] == ["one", "one again"]


def test_without_a_cell_turns_are_appended() -> None:
    assert prompts(Conversation([said("one"), said("one")])) == ["one", "one"]


def test_a_cell_that_sent_several_turns_replaces_them_all() -> None:
    c = Conversation([said("a1", "a", "1"), said("a2", "a", "1"), said("b", "b", "2"), said("new a1", "a", "3")])
    assert prompts(c) == ["new a1", "b"]
    c.append(said("new a2", "a", "3"))
    assert prompts(c) == ["new a1", "new a2", "b"]


def test_append_adds_at_the_end_and_the_cell_then_stands_for_that_turn() -> None:
    c = Conversation([said("a", "a", "1"), said("b", "b", "2"), said("a more", "a", "3", append=True)])
    assert prompts(c) == ["a", "b", "a more"]
    c.append(said("a last", "a", "4"))
    assert prompts(c) == ["a", "b", "a last"]


def test_clear_unbinds_the_cells() -> None:
    c = Conversation([said("a", "a", "1"), Cleared(), said("a again", "a", "2")])
    assert prompts(c) == ["a again"]
    assert [place.turn.prompt for place in c.cleared] == ["a"]


def test_new_is_a_clear_bound_to_its_turn() -> None:
    c = Conversation([said("a", "a", "1"), said("b", "b", "2", new=True)])
    assert prompts(c) == ["b"]
    c.append(Undone())
    assert prompts(c) == ["a"]


def test_a_cell_that_began_anew_is_replaced_when_it_runs_again() -> None:
    c = Conversation([said("old"), said("a", "a", "1", new=True), said("b", "b", "2"), said("a2", "a", "3", new=True)])
    assert prompts(c) == ["a2", "b"]
    c.append(said("b2", "b", "4", new=True))
    assert prompts(c) == ["b2"]


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


def test_redo_ends_with_the_next_action() -> None:
    c = Conversation([said("one"), Undone()])
    assert c.redo_label == "turn"
    c.append(said("two"))
    assert c.redo_label is None


def test_a_turn_is_pinned_or_excluded_never_both() -> None:
    c = Conversation([said("one")])
    place = c.places[0].id
    c.append(Pinned((place,), on=True))
    c.append(Excluded((place,), on=True))
    assert (c.places[0].pinned, c.places[0].excluded) == (False, True)


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
