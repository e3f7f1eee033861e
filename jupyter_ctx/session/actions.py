"""What a user does to a conversation: each action is one event, and reports the tokens before and after.

An action that changes nothing records no event, and says so. Callers do them by :meth:`Session.act`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from .. import wording as words
from ..context.budget import HALF
from ..context.compaction import is_shorter, keep_verbatim, summary_cap
from ..context.compaction import trim as trim_by_size
from ..context.context_info import ContextInfo, Plan
from ..context.summary_facts import SUMMARY_ANSWER, summary_message
from ..context.tokens import Fixed
from ..conversation.events import (
    Added,
    Chosen,
    Cleared,
    Event,
    Excluded,
    IncludedAll,
    MemorySet,
    Picked,
    Pinned,
    Redone,
    Summarized,
    SystemSet,
    Trimmed,
    Undone,
)
from ..conversation.messages import Summary, Turn
from ..conversation.places import Place
from ..conversation.text_safety import checked
from ..errors import ChatError, InvalidRequestError, check_whole_number
from ..models.registry import Target
from ..providers.base import Reply
from ..runtime.interrupts import Stopper, uninterrupted
from ..shown_as import mimebundle
from .notices import ROOM_MAKERS, makes_room, threshold
from .prompt import memory_text, prompt_text
from .request_plan import RequestPlan
from .session import Session
from .summarizer import (
    Older,
    completed_summary,
    extractive_summary,
    keeps_enough,
    model_summary,
)

Method = Literal["extractive", "model"]
NOTHING_OLDER = "the newest turns stay as they are"
NOT_ONE_TURN = "there are no turns"
NO_MORE_TURNS = "no more turns than these are in view"


class Change(NamedTuple):
    """What an action did: ``before`` and ``after`` are tokens of the next request; ``note`` is a further sentence."""

    text: str
    changed: bool = True
    before: int = 0
    after: int = 0
    note: str = ""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return mimebundle(self, include, exclude)

    def __repr__(self) -> str:
        return f"Change({str(self)!r})"

    def __str__(self) -> str:
        moved = self.changed and self.before != self.after
        text = self.text.rstrip(".")
        line = f"{text} ({self.before:,} → {self.after:,} tokens)." if moved else f"{text}."
        return f"{line} {self.note}".rstrip()


class SummaryDraft(NamedTuple):
    """A summary that is not recorded yet, with a sentence about it; where there is none, the sentence says why.

    ``failed``: one was tried, and came to nothing.
    """

    text: str
    summary: Summary | None = None
    failed: bool = False


class _Cut(NamedTuple):
    """A trim: what it would do, the first place that stays in view (``None``: no turn does) and which go."""

    plan: Plan
    first: str | None = None
    gone: str = ""


class _Older(NamedTuple):
    """What a summary would stand for: turns by their ``numbers``, and the summary before them.

    ``material`` are both. ``covered`` are the turn versions that this summary stands for. ``instead_of`` are the
    tokens of the turns with all that is fixed now, ``beside`` those of turns that stay as they are.
    """

    numbers: tuple[int, ...]
    material: Older
    covered: frozenset[str]
    instead_of: float
    beside: float

    @property
    def covers(self) -> frozenset[str]:
        """The turn versions that the new summary stands for."""
        return self.covered | {turn.id for turn in self.material.turns}


def plans(session: Session) -> dict[str, Plan]:
    """Return what each action would do now, by command. No model is asked."""
    now = session.latest()
    info = now.info
    return {
        "summarise": _summary_plan(now.plan, info),
        "trim": _cut_to(now.plan, None).plan,
        "clear": _clear_plan(info),
        "undo": Plan(f"take back the {info.undo}") if info.undo else Plan("nothing was done yet", possible=False),
        "redo": Plan(f"repeat the {info.redo}") if info.redo else Plan("nothing was undone", possible=False),
    }


def trim_turns(session: Session, turns: int | None) -> Change:
    """Leave out the oldest turns: down to about 0.6 of the limit, or to the newest ``turns``."""
    if turns is not None:
        check_whole_number("turns", turns)
    cut = _cut_to(session.next_plan(), turns)
    if not cut.plan.possible:
        return Change(f"Nothing to trim: {cut.plan.text}", changed=False)
    return _apply(session, Trimmed(cut.first), f"Left out {cut.gone}")


def _cut_to(planned: RequestPlan, turns: int | None) -> _Cut:
    """Return where a trim would cut now."""
    past, scope, start, end = planned.past, planned.scope, planned.first, planned.scope.at
    if not past.places:
        return _Cut(Plan(NOT_ONE_TURN, possible=False))
    now = planned.size
    cut = now.ledger.last(turns, start, end) if turns is not None else trim_by_size(now, planned.target.settings)
    if cut is None:
        return _Cut(Plan("the view is within 60 % of the limit", possible=False))
    count = now.ledger.count(start, cut)
    if not count:
        near = "the view is as near to 60 % of the limit as whole turns can be"
        return _Cut(Plan(near if turns is None else NO_MORE_TURNS, possible=False))
    gone = words.named_turns(scope.loose(past, start, cut))
    plan = Plan(f"leave out {gone}", before=round(now.tokens_from(start)), after=round(now.tokens_from(cut)))
    return _Cut(plan, past.places[cut].id if cut < end else None, gone)


def summarize(
    session: Session,
    instructions: str | None = None,
    method: Method | None = None,
    stopper: Stopper | None = None,
    turns: int | None = None,
    by: str = "",
) -> Change:
    """Send the older turns as a summary, where a checked one can be written; the newest ``turns`` stay."""
    if turns is not None:
        check_whole_number("turns", turns)
    if method not in (None, *get_args(Method)):
        raise InvalidRequestError(f"method is {method!r}: it must be 'extractive', 'model' or None.")
    if not isinstance(instructions, str | None):
        raise InvalidRequestError(f"instructions is {instructions!r}: it must be text.")
    if instructions and method == "extractive":
        raise InvalidRequestError("instructions are for a model: an extractive summary consists of your own lines.")
    cell, _, source = by.rpartition(" ")
    before, seen = session.conversation.summary_by(by) if cell else None, session.notebook.seen
    if before is not None and before.id not in seen:
        seen.add(before.id)
        return Change("The summary is stored; nothing was sent", changed=False)
    handed = session.notebook.handout.summary(session.conversation, source)
    if handed is not None:
        handed = replace(handed, by=by)
        count = words.turns(len(handed.covers))
        return keep_summary(session, SummaryDraft(f"Summarised {count} as handed out with this notebook", handed))
    draft = draft_summary(session, method, instructions, stopper, turns)
    return keep_summary(session, draft._replace(summary=draft.summary and replace(draft.summary, by=by)))


def keep_summary(session: Session, draft: SummaryDraft, automatic: Literal["after"] | None = None) -> Change:
    """Record a summary that was drafted, where there is one."""
    if draft.summary is None:
        unchanged = draft.failed and automatic is None  # what was sent may lack turns all the same
        return Change(draft.text, changed=False, note="The conversation is as it was." if unchanged else "")
    return _apply(session, Summarized(draft.summary, automatic), draft.text)


def draft_summary(
    session: Session,
    method: Method | None = None,
    instructions: str | None = None,
    stopper: Stopper | None = None,
    kept: int | None = None,
) -> SummaryDraft:
    """Write a summary of the older turns and check it; nothing is recorded.

    The newest ``kept`` turns stay word for word.
    """
    stopper = stopper or Stopper()
    planned = session.next_plan()
    target = planned.target
    older, limit = _older(planned, kept), target.limit
    if not older.numbers:
        return SummaryDraft(f"Nothing to summarise: {_why_no_summary(planned, kept)}")
    material, cap = older.material, summary_cap(limit)
    before = session.state.spent.dollars or 0.0
    text, method, note = _written(session, material, target, cap, instructions, method, stopper)
    spent = (session.state.spent.dollars or 0.0) - before
    cost = f", although the model's text cost {words.dollars(spent)}" if spent else ""
    if stopper.stopped:
        return SummaryDraft(f"Stopped: no summary was written, and everything is as it was{cost}")
    text, kept, wanted = completed_summary(text, material, target, cap)
    fixed = target.meter.fixed(Fixed(session.system, summary_message(text) + SUMMARY_ANSWER))
    problem = _summary_problem(text, kept, wanted)
    if not is_shorter(fixed, older.instead_of, older.beside, limit):
        problem = problem or "it is no smaller than what it stands for, or leaves no room"
    if problem:
        return SummaryDraft(f"Summary dropped: {problem}{cost}", failed=True)
    named, paid = words.named_turns(older.numbers), f" for {words.dollars(spent)}" if spent else ""
    return SummaryDraft(f"Summarised {named}{paid}{note}", Summary(text, older.covers, method))


def _older(planned: RequestPlan, kept: int | None = None) -> _Older:
    """Return the turns that a summary written now would stand for; the newest ``kept`` in view stay."""
    past, scope, start = planned.past, planned.scope, planned.first
    target, ledger = planned.target, planned.ledger
    first, keep = scope.floor, keep_verbatim(ledger, target.limit, start, scope.at)
    keep = keep if kept is None else ledger.last(kept, start, scope.at)
    before = past.summary if scope.covers else None
    numbers = tuple(scope.loose(past, first, keep))
    turns = tuple(past.places[number - 1].turn for number in numbers)
    instead_of = target.meter.fixed(scope.fixed) + ledger.between(first, keep)
    beside = ledger.pinned(scope.at) + ledger.between(keep, scope.at)
    return _Older(numbers, Older(turns, before.text if before else ""), scope.covers, instead_of, beside)


def _why_no_summary(planned: RequestPlan, kept: int | None = None) -> str:
    if not planned.past.places:
        return NOT_ONE_TURN
    return NOTHING_OLDER if kept is None else NO_MORE_TURNS


def _summary_plan(planned: RequestPlan, info: ContextInfo) -> Plan:
    older, fixed = _older(planned), planned.scope.fixed
    if not older.numbers:
        return Plan(_why_no_summary(planned), possible=False)
    empty = planned.target.meter.fixed(Fixed(fixed.system, summary_message("") + SUMMARY_ANSWER))
    most = min(empty + summary_cap(info.limit), older.instead_of) + older.beside
    text = f"send {words.named_turns(older.numbers)} as a summary"
    return Plan(text, before=info.used, after=round(most), at_most=True)


def _written(
    session: Session, older: Older, target: Target, cap: int, instructions: str | None, method: Method | None,
    stopper: Stopper,
) -> tuple[str, Method, str]:  # fmt: skip
    """Return the text of a summary, how it was written, and what to say of that.

    Where the model fails, the user's own lines stand for the turns.
    """
    session, settings = session, session.settings
    name = settings.summary_model or settings.model
    if (method or ("model" if writer(session) else "extractive")) == "extractive":
        return extractive_summary(older, target, cap), "extractive", ""
    try:
        by = session.target({"model": settings.summary_model}, ask=True)

        def replied(reply: Reply) -> None:
            session.spend(by, replace(reply, cost=session.models.cost(by, reply.usage, reply.model)))
            stopper.check()

        with stopper.ends(by.provider.close):
            stopper.check()
            text = model_summary(session.models, older, by, cap, instructions, replied)
    except ChatError as error:
        lines = extractive_summary(older, target, cap)
        return lines, "extractive", f" by your own lines, for {name} wrote no summary: {error}"
    return text, "model", ""


def writer(session: Session) -> str:
    """Return the model that is asked for summaries; empty: none, as with the small local model."""
    settings = session.settings
    writer = settings.summary_model or settings.model
    return "" if writer.startswith("local/") else writer


def clear(session: Session) -> Change:
    """Begin anew; system prompt, model and settings stay."""
    session.begin_anew()
    count = len(session.conversation.places)
    if not count:
        return Change(f"Nothing to clear: {NOT_ONE_TURN}", changed=False)
    return _apply(session, Cleared(), f"Cleared {words.turns(count)}")


def undo(session: Session) -> Change:
    """Undo the last action, whole."""
    label = session.conversation.undo_label
    return _apply(session, Undone(), f"Undid the {label}") if label else Change("Nothing to undo", changed=False)


def redo(session: Session) -> Change:
    """Redo the action that was last undone."""
    label = session.conversation.redo_label
    return _apply(session, Redone(), f"Redid the {label}") if label else Change("Nothing to redo", changed=False)


def pin(session: Session, numbers: Sequence[int], *, on: bool) -> Change:
    """Keep these turns in every view, or no longer."""
    places = [place.id for place in _places(session, numbers) if place.pinned != on]
    return _mark(session, Pinned(tuple(places), on), numbers, "pinned" if on else "unpinned")


def exclude(session: Session, numbers: Sequence[int], *, on: bool) -> Change:
    """Leave these turns out of every view, or no longer."""
    places = [place.id for place in _places(session, numbers) if place.excluded != on]
    return _mark(session, Excluded(tuple(places), on), numbers, "excluded" if on else "included")


def include_all(session: Session) -> Change:
    """Bring back all that was trimmed, cut or excluded."""
    past = session.conversation
    excluded = any(place.excluded for place in past.places)
    if not past.trimmed_to and not excluded and not session.snapshot().info.left_out:
        return Change("Nothing to include: no turn is left out", changed=False)
    return _apply(session, IncludedAll(), "Included all turns")


def pick(session: Session, number: int, version: int) -> Change:
    """Make an older answer of a turn the current one."""
    place = _places(session, (number,))[0]
    if not words.is_whole(version, 1, len(place.versions)):
        raise InvalidRequestError(f"Turn {number} has no answer {version!r}: there are 1 to {len(place.versions)}.")
    turn = place.versions[version - 1]
    if turn is place.turn:
        return Change(f"Turn {number} has answer {version} already", changed=False)
    return _apply(session, Picked(place.id, turn.id), f"Turn {number} has answer {version} again")


def choose_answer(session: Session, number: int, alternatives: str | None = None) -> Change:
    """Make one of several answers, by its number from 1, the turn; ``None``: of those that came last."""
    past = session.conversation
    offered = past.offers.get(alternatives) if alternatives else next(reversed(past.offers.values()), None)
    if offered is None:
        raise InvalidRequestError("No answers stand side by side: %%chat -m A -m B asks several models at once.")
    if not words.is_whole(number, 1, len(offered.answers)):
        raise InvalidRequestError(f"There is no answer {number!r}: there are 1 to {len(offered.answers)}.")
    answer = offered.answers[number - 1]
    if answer.error:
        raise InvalidRequestError(f"Answer {number} ({answer.label}) failed, and cannot be taken: {answer.error}")
    place = past.place_of(offered)
    if place is not None and place.turn.id == answer.record.id:
        return Change(f"Answer {number} is turn {past.index(place.id) + 1} already", changed=False)
    change = _apply(session, Chosen(offered.id, answer.record.id), f"Answer {number} ({answer.label}) is taken")
    place = past.place_of(offered)
    if place is None:
        return change
    turn = past.index(place.id) + 1
    note = f"Turn {turn} is excluded from requests: %chat include {turn} brings it back." if place.excluded else ""
    return change._replace(text=f"{change.text}: turn {turn}", note=note)


def set_memory(session: Session, path: str | Path | None) -> Change:
    """Add a file's text to the system prompt; an empty path: no file's."""
    path = str(path or "")
    memory, chosen = session.memory, session.conversation.memory
    if path == chosen or (not path and memory.path(chosen) is None):
        return Change("There is no memory file" if not path else "That is the memory file already", changed=False)
    file = memory.path(path)
    if file is not None:
        memory_text(file)  # raises where it is no text
    return _apply(session, MemorySet(path), f"{file} joins the system prompt" if file else "No memory file is read")


def set_system(session: Session, text: str) -> Change:
    """Set the system prompt from here on; an empty one removes it. Raises InvalidRequestError: it is locked."""
    session.notebook.course.check_unlocked({"system"})
    if not isinstance(text, str):
        raise InvalidRequestError(f"The system prompt is {text!r}: it must be text, empty for none.")
    prompt_text(text)  # raises for a file that cannot be read
    if checked(text) == session.own_system:
        return Change("The system prompt is that already", changed=False)
    return _apply(session, SystemSet(text), "System prompt set" if text else "System prompt taken away")


def add(session: Session, added: Added, source: str = "", *, summary: bool = False) -> Change:
    """Take in turns of another conversation, with what it had beside them, or a ``summary`` of it as a turn.

    ``source`` names it in messages.
    """
    if summary:
        return _add_summary(session, added, source)
    if added.system is None and not added.turns:
        return Change("Nothing to add: there are no messages", changed=False)
    return _apply(session, added, f"Added {words.turns(len(added.turns))}")


def _add_summary(session: Session, added: Added, source: str) -> Change:
    if not added.turns:
        return Change(f"Nothing to add: nothing was said in {source}", changed=False)
    target = session.target({}, ask=False)
    older, cap = Older(added.turns, added.summary.text if added.summary else ""), summary_cap(target.limit)
    before = session.state.spent.dollars or 0.0
    text, _, note = _written(session, older, target, cap, None, None, Stopper())
    spent = (session.state.spent.dollars or 0.0) - before
    text, kept, wanted = completed_summary(text, older, target, cap)
    problem = _summary_problem(text, kept, wanted)
    if problem:
        cost = f", although the model's text cost {words.dollars(spent)}" if spent else ""
        return Change(f"Summary dropped: {problem}{cost}. The conversation is as it was", changed=False)
    turn = Turn(f"{source}:\n{summary_message(text)}", SUMMARY_ANSWER)
    return _apply(session, Added((turn,)), f"Added a summary of {words.turns(len(added.turns))} of {source}{note}")


def _mark(session: Session, event: Pinned | Excluded, numbers: Sequence[int], done: str) -> Change:
    numbers = tuple(dict.fromkeys(numbers))
    named = f"turn{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
    if not event.places:
        verb = "are" if len(numbers) > 1 else "is"
        return Change(f"Nothing to do: {named} {verb} {done} already", changed=False)
    note = _also(event, dict(zip(numbers, _places(session, numbers), strict=True)))
    return _apply(session, event, f"{done.capitalize()} {named}")._replace(note=note)


def _places(session: Session, numbers: Sequence[int]) -> list[Place]:
    """Return the places of these turns, by their numbers from 1."""
    places = session.conversation.places
    if not numbers:
        raise InvalidRequestError("Which turn? Give its number.")
    for number in numbers:
        if not words.is_whole(number, 1, len(places)):
            there = f"there are 1 to {len(places)}" if places else "there are none yet"
            raise InvalidRequestError(f"There is no turn {number!r}: {there}.")
    return [places[number - 1] for number in numbers]


def _apply(session: Session, event: Event, text: str) -> Change:
    before = _used(session)
    with uninterrupted():
        session.record(event)
    return Change(text, True, before, _used(session))


def _used(session: Session) -> int:
    try:
        return session.latest().info.used
    except ChatError:  # an action needs no model
        return 0


def _clear_plan(info: ContextInfo) -> Plan:
    if not info.turns:
        return Plan(NOT_ONE_TURN, possible=False)
    return Plan(f"begin anew without {words.turns(info.turns)}", before=info.used, after=info.segments[0].tokens)


def _also(event: Pinned | Excluded, turns: Mapping[int, Place]) -> str:
    """Return what a mark takes away, since no turn is both pinned and excluded, and where it has no effect."""
    if not event.on:
        return ""

    def named(*, excluded: bool) -> str:
        return " ".join(str(n) for n, place in turns.items() if (place.excluded if excluded else place.pinned))

    if isinstance(event, Excluded):
        pinned = named(excluded=False)
        return f"No longer pinned: {pinned}; %chat pin {pinned} brings it back and keeps it in view." if pinned else ""
    out, empty = named(excluded=True), " ".join(str(n) for n, place in turns.items() if not place.turn.reply)
    notes = [f"No longer excluded: {out}."] if out else []
    notes += [f"Pinned or not, a turn without an answer is not sent: {empty}."] if empty else []
    return " ".join(notes)


def _summary_problem(text: str, kept: int, wanted: int) -> str | None:
    """Return why a summary cannot stand for the turns, or ``None``."""
    if not text.strip():
        return "it is empty"
    return None if keeps_enough(kept, wanted) else f"it kept {kept} of {wanted} numbers and names"


def threshold_notice(session: Session, *, has_figure: bool = False) -> str | None:
    """Return one line where the conversation first passes half of its limit.

    ``has_figure``: how full it is stands beside the line.
    """
    try:
        info = session.latest().info
    except ChatError:  # the cell used another model, and the conversation's own is not available
        return None
    if not session.is_first_above(HALF, info.fill):
        return None
    session.save()
    possible = plans(session)
    room = makes_room([name for name in ROOM_MAKERS if possible[name].possible])
    return " ".join(filter(None, ["" if has_figure else threshold(info), room])) or None


def turn_of(session: Session, number: int) -> Turn:
    """Return a turn by its number, from 1."""
    return _places(session, (number,))[0].turn


def versions_of(session: Session, number: int) -> tuple[Turn, ...]:
    """Return all answers to a turn in the order in which they were written, the current one among them."""
    return tuple(_places(session, (number,))[0].versions)
