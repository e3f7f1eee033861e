"""Summaries: what they stand for, who writes them, and whether one may stand for the turns."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Literal, NamedTuple

from .. import wording as words
from ..context.budget import MARGIN
from ..context.compaction import is_shorter, keep_verbatim, summary_cap
from ..context.context_info import Plan
from ..context.summary_facts import (
    MUST_KEEP,
    SMALL_WINDOW,
    SUMMARY_ANSWER,
    Exchange,
    clipped,
    fenced,
    missing_facts,
    pick_lines,
    summary_message,
    task,
    transcript,
    whole_lines,
    within,
)
from ..context.tokens import Fixed
from ..conversation.messages import Message, Summary, Turn
from ..errors import ChatError, ContextOverflowError
from ..models.registry import Models, Target
from ..providers.base import Reply
from ..runtime.interrupts import Stopper
from .complete import paid_stream
from .request_plan import RequestPlan
from .session import Session

Method = Literal["extractive", "model"]
MOST_ATTACHED = 1_000  # characters of attached text whose figures and names a summary must keep as the user's own
LEAST_ROOM = 64  # tokens of transcript that are worth a request
NOTHING_OLDER = "the newest turns stay as they are"
NOT_ONE_TURN = "there are no turns"
NO_MORE_TURNS = "no more turns than these are in view"


class SummaryInput(NamedTuple):
    """What a summary is written from: turns, and the summary that stood for those ``before`` them."""

    turns: tuple[Turn, ...]
    before: str = ""

    @property
    def worded(self) -> list[Exchange]:
        """Return prompt and reply of each turn, with the names of what went with it, but without long texts of it."""
        return [(with_names(turn, _worded(turn)), turn.reply) for turn in self.turns]

    @property
    def prompts(self) -> list[str]:
        """Return the user's texts and the summary so far: a new summary must keep enough of their facts."""
        return [text for text in (self.before, *(prompt for prompt, _ in self.worded)) if text]


class WrittenSummary(NamedTuple):
    """The text of a summary, how it was written and what that cost, a ``note`` on it, and why it will not do."""

    text: str
    method: Method
    note: str
    cost: float
    problem: str

    @property
    def cost_of_nothing(self) -> str:
        """The end of a sentence on a summary that is not used."""
        return f", although the model's text cost {words.dollars(self.cost)}" if self.cost else ""


class SummaryDraft(NamedTuple):
    """A summary that is not recorded yet, with a sentence about it; where there is none, the sentence says why.

    ``failed``: one was tried, and came to nothing.
    """

    text: str
    summary: Summary | None = None
    failed: bool = False


class _Older(NamedTuple):
    """Turns by their ``numbers`` that a summary would stand for, as ``material``, and all versions it ``covers``.

    ``instead_of``: tokens of these turns with all that is fixed now; ``beside``: of the turns that stay as they are.
    """

    numbers: tuple[int, ...]
    material: SummaryInput
    covers: frozenset[str]
    instead_of: float
    beside: float


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
    stopper, planned = stopper or Stopper(), session.next_plan()
    target, older = planned.target, _older(planned, kept)
    if not older.numbers:
        return SummaryDraft(f"Nothing to summarise: {_why_not(planned, kept)}")
    written = write_summary(session, older.material, target, method, instructions, stopper)
    if stopper.stopped:
        left = "Stopped: no summary was written, and everything is as it was"
        return SummaryDraft(left + written.cost_of_nothing)
    fixed = target.meter.fixed(Fixed(session.system, summary_message(written.text) + SUMMARY_ANSWER))
    problem = written.problem
    if not is_shorter(fixed, older.instead_of, older.beside, target.limit):
        problem = problem or "it is no smaller than what it stands for, or leaves no room"
    if problem:
        return SummaryDraft(f"Summary dropped: {problem}{written.cost_of_nothing}", failed=True)
    paid = f" for {words.dollars(written.cost)}" if written.cost else ""
    text = f"Summarised {words.named_turns(older.numbers)}{paid}{written.note}"
    return SummaryDraft(text, Summary(written.text, older.covers, written.method))


def summary_plan(planned: RequestPlan, used: int) -> Plan:
    """Return what a summary would do now, where ``used`` tokens are; no model is asked."""
    older, target = _older(planned), planned.target
    if not older.numbers:
        return Plan(_why_not(planned), possible=False)
    empty = target.meter.fixed(Fixed(planned.scope.fixed.system, summary_message("") + SUMMARY_ANSWER))
    most = min(empty + summary_cap(target.limit), older.instead_of) + older.beside
    text = f"send {words.named_turns(older.numbers)} as a summary"
    return Plan(text, before=used, after=round(most), at_most=True)


def _older(planned: RequestPlan, kept: int | None = None) -> _Older:
    """Return what a summary written now would stand for; the newest ``kept`` turns in view stay."""
    past, scope, start, ledger, target = planned.past, planned.scope, planned.first, planned.ledger, planned.target
    keep = keep_verbatim(ledger, target.limit, start, scope.at) if kept is None else ledger.last(kept, start, scope.at)
    numbers = tuple(scope.loose(past, scope.floor, keep))
    turns = tuple(past.places[number - 1].turn for number in numbers)
    before = past.summary.text if past.summary is not None and scope.covers else ""
    instead_of = target.meter.fixed(scope.fixed) + ledger.between(scope.floor, keep)
    beside = ledger.pinned(scope.at) + ledger.between(keep, scope.at)
    covers = scope.covers | {turn.id for turn in turns}
    return _Older(numbers, SummaryInput(turns, before), covers, instead_of, beside)


def _why_not(planned: RequestPlan, kept: int | None = None) -> str:
    if not planned.past.places:
        return NOT_ONE_TURN
    return NOTHING_OLDER if kept is None else NO_MORE_TURNS


def writer(session: Session) -> str:
    """Return the model that is asked for summaries; empty: none, as with the small local model."""
    name = session.settings.summary_model or session.settings.model
    return "" if name.startswith("local/") else name


def write_summary(
    session: Session,
    older: SummaryInput,
    target: Target,
    method: Method | None = None,
    instructions: str | None = None,
    stopper: Stopper | None = None,
) -> WrittenSummary:
    """Write a summary for a target, and complete it with the user's own lines, which stand alone where a model fails.

    ``method``: as the setting ``summary_model`` says, where it is ``None``.
    """
    stopper, cap, note = stopper or Stopper(), summary_cap(target.limit), ""
    before, text = session.state.spent.dollars or 0.0, None
    if (method or ("model" if writer(session) else "extractive")) == "model":
        try:
            text = _asked(session, older, cap, instructions, stopper)
        except ChatError as error:
            name = session.settings.summary_model or session.settings.model
            note = f" by your own lines, for {name} wrote no summary: {error}"
    used: Method = "extractive" if text is None else "model"
    text = extractive_summary(older, target, cap) if text is None else text
    text, kept, wanted = completed_summary(text, older, target, cap)
    problem = "" if keeps_enough(kept, wanted) else f"it kept {kept} of {wanted} numbers and names"
    spent = (session.state.spent.dollars or 0.0) - before
    return WrittenSummary(text, used, note, spent, problem if text.strip() else "it is empty")


def _asked(session: Session, older: SummaryInput, cap: int, instructions: str | None, stopper: Stopper) -> str:
    """Ask a model for a summary, and count what it costs. Raises ChatError."""
    target = session.target({"model": session.settings.summary_model}, ask=True)

    def replied(reply: Reply) -> None:
        session.spend(target, replace(reply, cost=session.models.cost(target, reply.usage, reply.model)))
        stopper.check()

    with stopper.ends(target.provider.close):
        stopper.check()
        return model_summary(session.models, older, target, cap, instructions, replied)


def model_summary(
    models: Models,
    older: SummaryInput,
    target: Target,
    cap: int,
    instructions: str | None,
    replied: Callable[[Reply], object],
) -> str:
    """Return a model's summary of the older turns, at most ``cap`` tokens; ``replied`` gets the reply.

    It is one request, which fits the model's window: the middle of longer turns is left out. Raises ChatError.
    """
    measure, small = target.meter.tokens, target.window.tokens <= SMALL_WINDOW
    length = cap + target.reserve if target.thinks else cap  # thinking needs room, too
    asked = task(older.before, cap, instructions, small=small)
    room = (target.window.tokens - length) * (1 - MARGIN) - measure(asked)
    if room < LEAST_ROOM:
        raise ContextOverflowError(f"{target.model} holds {target.window.tokens:,} tokens: too few to summarise in.")
    exchanges = [(with_names(turn, turn.prompt), turn.reply) for turn in older.turns]
    data = clipped("\n".join(transcript(exchanges, small=small)), room, measure)
    prompt = f"{asked}\n\n{fenced(data)}"
    request = target.request((Message("user", prompt),), max_tokens=length, cache_key=None)
    with closing(paid_stream(models, target, request, target.meter.message(prompt))) as stream:
        reply = next(item for item in stream if isinstance(item, Reply))
    replied(reply)
    text = reply.text.strip() if reply.stop_reason == "stop" else whole_lines(reply.text)
    return within(text, cap, measure)


def extractive_summary(older: SummaryInput, target: Target, cap: int) -> str:
    """Return the lines with the most numbers, names, decisions and definitions; no model is asked.

    Small models' replies are left out: there is little room, and their replies are worth less of it.
    """
    small = target.window.tokens <= SMALL_WINDOW
    exchanges = [(older.before, ""), *((prompt, "" if small else reply) for prompt, reply in older.worded)]
    wanted, _ = missing_facts(older.prompts, "")
    text = "\n".join(pick_lines(exchanges, wanted, cap, target.meter.tokens))
    _, lost = missing_facts(older.prompts, text)
    if keeps_enough(len(wanted) - len(lost), len(wanted)):
        return text
    return "\n".join(pick_lines(exchanges, wanted, cap, target.meter.tokens, evenly=False))


def completed_summary(text: str, older: SummaryInput, target: Target, cap: int) -> tuple[str, int, int]:
    """Return the summary with lost facts as the user's own lines while they fit, with the facts kept and wanted."""
    prompts = older.prompts
    wanted, lost = missing_facts(prompts, text)
    room = cap - target.meter.tokens(text)
    if lost and room > 0:
        lines = pick_lines([(prompt, "") for prompt in prompts], lost, room, target.meter.tokens)
        text = "\n".join([text, *(line for line in lines if line not in text)]).strip()
        _, lost = missing_facts(prompts, text)
    return text, len(wanted) - len(lost), len(wanted)


def keeps_enough(kept: int, wanted: int) -> bool:
    """Return whether a summary with ``kept`` of the ``wanted`` facts may stand for the turns."""
    return kept >= MUST_KEEP * wanted


def _worded(turn: Turn) -> str:
    """Return the prompt as a person worded it: long texts that went with it are data, and not to be kept whole."""
    attached = len(turn.prompt) - len(turn.typed)
    return turn.typed if attached > MOST_ATTACHED else turn.prompt


def with_names(turn: Turn, asked: str) -> str:
    """Return what was asked, with the names of what went with it; what was sent of it is no fact to keep."""
    names = ", ".join(re.sub(r" \([^()]*\)\Z", "", source) for source in turn.sources)
    return f"{asked}\n[attached: {names}]" if names else asked
