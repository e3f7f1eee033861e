"""What a user does to a conversation: each action is one event, and reports the tokens before and after.

An action that changes nothing records no event, and says so. Callers do them by :meth:`Session.act`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from .. import wording as words
from ..context.compaction import trim as trim_by_size
from ..context.context_info import Plan
from ..conversation import events
from ..conversation.events import Added, Event, TurnAdded
from ..conversation.messages import Alternative, Summary, Turn
from ..conversation.places import TurnSlot
from ..conversation.text_safety import checked
from ..display.tables import shortened
from ..errors import ChatError, InvalidRequestError, check_whole_number
from ..runtime.frontend import Where, here
from ..runtime.interrupts import uninterrupted
from ..shown_as import mimebundle
from .plan import RequestPlan
from .prompt import memory_path, memory_text, prompt_text
from .session import Session
from .summarizer import Method, SummaryDraft, draft_summary, summary_plan

LEAVE_OUT = "leave out "
NOT_ONE_TURN = "there are no turns"
NO_MORE_TURNS = "no more turns than these are in view"
MAX_NAMED = 40  # characters of a prompt that names its turn
MARKS_DONE = {(True, True): "pinned", (True, False): "unpinned", (False, True): "excluded", (False, False): "included"}


@dataclass(frozen=True, slots=True, repr=False)
class Change:
    """What an action did; ``before`` and ``after`` are tokens of the next request."""

    text: str
    changed: bool = True
    before: int = 0
    after: int = 0

    _repr_mimebundle_ = mimebundle

    def __repr__(self) -> str:
        return f"Change({str(self)!r})"

    def __str__(self) -> str:
        moved = self.changed and self.before != self.after
        text = self.text.rstrip(".")
        return f"{text} ({self.before:,} → {self.after:,} tokens)." if moved else f"{text}."


def _unchanged(text: str) -> Change:
    return Change(text, changed=False)


def _apply(session: Session, event: Event, text: str) -> Change:
    """Record an event, and return what it did to the size of the next request."""
    before = _used(session)
    with uninterrupted():
        session.record(event)
    return Change(text, True, before, _used(session))


def _used(session: Session) -> int:
    try:
        return session.latest().info.used
    except ChatError:  # an action needs no model
        return 0


def plans(session: Session) -> dict[str, Plan]:
    """Return what each action would do now, by command. No model is asked."""
    now = session.latest()
    info, clear_to = now.info, now.info.segments[0].tokens
    nothing = Plan(NOT_ONE_TURN, possible=False)
    clears = Plan(f"begin anew without {words.turns(info.turns)}", before=info.used, after=clear_to)
    return {
        "summarise": summary_plan(now.plan, info.used),
        "trim": _cut_to(now.plan)[0],
        "clear": clears if info.turns else nothing,
        "undo": Plan(f"take back {_last(session)}") if info.undo else Plan("nothing was done yet", possible=False),
        "redo": Plan(f"repeat the {info.redo}") if info.redo else Plan("nothing was undone", possible=False),
    }


# what is sent of the turns


def trim_turns(session: Session, turns: int | None) -> Change:
    """Leave out the oldest turns: down to about 0.6 of the limit, or to the newest ``turns``."""
    if turns is not None:
        check_whole_number("turns", turns)
    planned = session.next_plan()
    plan, cut = _cut_to(planned, turns)
    if not plan.possible:
        return _unchanged(f"Nothing to trim: {plan.text}")
    places = planned.past.places
    first = places[cut].id if cut < len(places) else None  # ``None``: no turn stays in view
    return _apply(session, events.Trimmed(first), f"Left out {plan.text.removeprefix(LEAVE_OUT)}")


def _cut_to(planned: RequestPlan, turns: int | None = None) -> tuple[Plan, int]:
    """Return what a trim would do now, and the position of the first turn that stays in view."""
    start, end, now = planned.first, planned.scope.at, planned.size
    cut = now.ledger.last(turns, start, end) if turns is not None else trim_by_size(now, planned.target.settings)
    if cut is not None and now.ledger.count(start, cut):
        gone = words.named_turns(planned.scope.loose(planned.past, start, cut))
        before, after = round(now.tokens_from(start)), round(now.tokens_from(cut))
        return Plan(f"{LEAVE_OUT}{gone}", before=before, after=after), cut
    why = NO_MORE_TURNS if turns is not None else "the request is below 60 % of the limit, or as near as turns can be"
    return Plan(why if planned.past.places else NOT_ONE_TURN, possible=False), start


def summarize(
    session: Session, instructions: str | None = None, method: Method | None = None, turns: int | None = None,
    by: str = "",
) -> Change:  # fmt: skip
    """Send the older turns as a summary, where a checked one can be written; the newest ``turns`` stay."""
    if turns is not None:
        check_whole_number("turns", turns)
    if method not in (None, *get_args(Method)):
        raise InvalidRequestError(f"method is {method!r}: it must be 'extractive', 'model' or None.")
    if not isinstance(instructions, str | None):
        raise InvalidRequestError(f"instructions is {instructions!r}: it must be text.")
    if instructions and method == "extractive":
        raise InvalidRequestError(
            "An extractive summary consists of your own lines and takes no instructions: leave one of them out."
        )
    stored = _stored_summary(session, by)
    if stored is not None:
        session.notebook.seen.add(stored.id)
        text, now = "The summary is stored; nothing was sent", session.conversation
        is_out = now.summary is None and stored.covers <= {place.turn.id for place in now.places}
        is_wanted = is_out and not session.is_behind
        return _apply(session, events.Summarized(stored), text) if is_wanted else _unchanged(text)
    draft = draft_summary(session, method, instructions, turns)
    return keep_summary(session, draft._replace(summary=draft.summary and replace(draft.summary, by=by)))


def _stored_summary(session: Session, by: str) -> Summary | None:
    """Return the summary that a cell asked for before this kernel."""
    cell = by.rpartition(" ")[0]
    for past in session.pasts_of(cell) if cell else ():
        summary = next((event.summary for event in past.newest(events.Summarized) if event.summary.by == by), None)
        if summary is not None:
            return summary if summary.id not in session.notebook.seen else None
    return None


def keep_summary(session: Session, draft: SummaryDraft, automatic: Literal["after"] | None = None) -> Change:
    """Record a summary that was drafted, where there is one."""
    if draft.summary is None:
        unchanged = draft.failed and automatic is None  # what was sent may lack turns all the same
        return _unchanged(f"{draft.text}. The conversation is as it was" if unchanged else draft.text)
    return _apply(session, events.Summarized(draft.summary, automatic), draft.text)


def clear(session: Session) -> Change:
    """Begin anew; system prompt, model and settings stay."""
    count = len(session.conversation.places)
    if not count:
        return _unchanged(f"Nothing to clear: {NOT_ONE_TURN}")
    return _apply(session, events.Cleared(), f"Cleared {words.turns(count)}")


def include_all(session: Session) -> Change:
    """Bring back all that was trimmed, cut or excluded."""
    past = session.conversation
    excluded = any(place.excluded or place.shortened for place in past.places)
    if not past.trimmed_to and not excluded and not session.snapshot().info.left_out:
        return _unchanged("Nothing to include: no turn is left out")
    return _apply(session, events.IncludedAll(), "Included all turns")


def mark(session: Session, numbers: Sequence[int], *, pinned: bool, on: bool) -> Change:
    """Keep these turns in every view (``pinned``), or leave them out of every view, or no longer."""
    places = _places(session, numbers)
    changed = tuple(place.id for place in places if (place.pinned if pinned else place.excluded) != on)
    done, named = MARKS_DONE[pinned, on], _named(session, places)
    if not changed:
        return _unchanged(f"Nothing to do: {named} {'are' if len(places) > 1 else 'is'} {done} already")
    event = events.Pinned(changed, on) if pinned else events.Excluded(changed, on)
    return _apply(session, event, f"{done.capitalize()} {named}")


def _named(session: Session, places: Sequence[TurnSlot]) -> str:
    return words.named_turns([session.conversation.index(place.id) + 1 for place in places])


# undo


def undo(session: Session) -> Change:
    """Undo the last action, whole."""
    if not session.conversation.undo_label:
        return _unchanged("Nothing to undo")
    return _apply(session, events.Undone(), f"Undid {_last(session)}")


def redo(session: Session) -> Change:
    """Redo the action that was last undone."""
    label = session.conversation.redo_label
    return _apply(session, events.Redone(), f"Redid the {label}") if label else _unchanged("Nothing to redo")


def _last(session: Session) -> str:
    """Return what undo takes back now, in words; a turn is named, and one whose earlier answer it restores."""
    past = session.conversation
    turn = next((event.turn for event in past.undo_events if isinstance(event, TurnAdded)), None)
    number = next((number for number, place in enumerate(past.places, 1) if place.turn is turn), None)
    if turn is None or number is None:
        return f"the {past.undo_label}"
    named = f"turn {number} ({shortened(turn.typed, MAX_NAMED)!r})"
    return named if past.undo_label == "turn" else f"the {past.undo_label} of {named}"


# answers


def pick(session: Session, number: int, version: int) -> Change:
    """Make an older answer of a turn the current one."""
    place, named = _places(session, (number,))[0], f"Turn {number}"
    answer = _answer_at(versions_of(session, number), version, named)
    if answer.record.id == place.turn.id:
        return _unchanged(f"{named} has answer {version} already")
    return _apply(session, events.Picked(place.id, answer.record.id), f"{named} has answer {version} again")


def choose_answer(session: Session, number: int, alternatives: str | None = None) -> Change:
    """Make one of several answers, by its number from 1, the turn; ``None``: of those that came last."""
    past, seen, offers = session.conversation, session.notebook.seen, list(session.conversation.offers.values())
    shown = [each for each in offers if not seen.isdisjoint(turn.id for turn in each.turns)]  # so far, in a Run All
    offered = past.offers.get(alternatives) if alternatives else next(reversed(shown or offers), None)
    if offered is None:
        earlier = (turn.id for each in past.newest(events.Offered) for turn in each.alternatives.turns)
        if session.is_behind and not seen.isdisjoint(earlier):
            return _unchanged("The answers above are stored, with the one that was taken")
        raise InvalidRequestError("No answers stand side by side: %%chat -m A -m B asks several models at once.")
    answer = _answer_at(offered.answers, number, "What stands side by side")
    place = past.place_of(offered)
    turn = f"turn {past.index(place.id) + 1}" if place is not None else "a turn again"
    if place is not None and place.turn.id == answer.record.id:
        return _unchanged(f"Answer {number} is {turn} already")
    taken = f"Answer {number} ({answer.label}) is taken: {turn}"
    return _apply(session, events.Chosen(offered.id, answer.record.id), taken)


def _answer_at(answers: Sequence[Alternative], number: int, named: str) -> Alternative:
    """Return an answer by its number, from 1. Raises InvalidRequestError where there is none, and for a failed one."""
    if not words.is_whole(number, 1, len(answers)):
        raise InvalidRequestError(f"{named} has no answer {number!r}: it has {words.counted(len(answers), 'answer')}.")
    answer = answers[number - 1]
    if answer.error:
        raise InvalidRequestError(f"Answer {number} ({answer.label}) failed, and cannot be taken: {answer.error}")
    return answer


# what stands beside the turns


def set_memory(session: Session, path: str | Path | None) -> Change:
    """Add a file's text to the system prompt; an empty path: no file's."""
    path = str(path or "")
    folder, chosen = session.notebook.folder, session.conversation.memory
    if path == chosen or (not path and memory_path(folder, chosen) is None):
        return _unchanged("There is no memory file" if not path else "That is the memory file already")
    file = memory_path(folder, path)
    if file is not None:
        memory_text(file)  # raises where it is no text
    text = f"{file} joins the system prompt" if file else "No memory file is read"
    return _apply(session, events.MemorySet(path), text)


def set_system(session: Session, text: str) -> Change:
    """Set the system prompt from here on; an empty one removes it. Raises InvalidRequestError: it is locked."""
    session.notebook.course.check_unlocked({"system"})
    if not isinstance(text, str):
        raise InvalidRequestError(f"The system prompt is {text!r}: it must be text, empty for none.")
    prompt_text(text)  # raises for a file that cannot be read
    if checked(text) == session.own_system:
        return _unchanged("The system prompt is that already")
    return _apply(session, events.SystemSet(text), "System prompt set" if text else "System prompt taken away")


# turns from elsewhere


def add(session: Session, added: Added) -> Change:
    """Take in turns of another conversation, with what it had beside them.

    They belong to the cell that runs: run again, it replaces what it added, and what is the same stays as it is.
    """
    if not added.turns and added.system is None:
        return _unchanged("Nothing to add: there are no messages")
    cell, past = here(), session.conversation
    older, same = past.older(cell.cell, cell.run), [turn.id for turn in _same(session, added, cell)]
    there = [place for place in past.of_cell(cell.cell) if place.turn.id in same]
    if there or (same and session.is_behind):
        session.notebook.seen.update(same)
        session.record(*(events.Kept(place.id, cell.run or "", cell.execution) for place in there))
        return _unchanged("Nothing to add: this cell added the same before")
    by: dict[str, Any] = {name: getattr(cell, name) for name in ("cell", "run", "execution", "source")}
    turns = tuple(replace(turn, record=replace(turn.record, **by)) for turn in added.turns)
    replaced = f" in place of {_named(session, older)}, which this cell added before" if older else ""
    return _apply(session, replace(added, turns=turns), f"Added {words.turns(len(turns))}{replaced}")


def _same(session: Session, added: Added, cell: Where) -> Sequence[Turn]:
    """Return the same turns that the unchanged cell added when it ran before; none: it adds others.

    What a clear or an undo took out counts as well.
    """
    by, seen = (cell.cell, cell.run), session.notebook.seen
    older = [place.turn for place in session.conversation.older(*by)]
    for past in session.pasts_of(cell.cell):
        if older:
            break
        older = [turn for turn in past.last_run(*by) if turn.id not in seen]
    same = older[: len(added.turns)]
    return same if same and same[0].record.source == cell.source and tuple(same) == added.turns else ()


# turns by their numbers


def versions_of(session: Session, number: int) -> tuple[Alternative, ...]:
    """Return all answers to a turn as they were written, which numbers them; the current one is among them."""
    return tuple(map(Alternative.of, _places(session, (number,))[0].versions))


def _places(session: Session, numbers: Sequence[int]) -> list[TurnSlot]:
    """Return the places of these turns, by their numbers from 1."""
    places = session.conversation.places
    if not numbers:
        raise InvalidRequestError("Which turn? Give its number.")
    for number in numbers:
        if not words.is_whole(number, 1, len(places)):
            none = f"There is no turn {number!r}: turns are 1 to {len(places)}."
            raise InvalidRequestError(none if places else "There are no turns yet.")
    return [places[number - 1] for number in dict.fromkeys(numbers)]
