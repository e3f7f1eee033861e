"""Summaries: what they stand for, who writes them, and whether one may stand for the turns."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace
from typing import Literal, NamedTuple

from ..context import summary_facts as facts
from ..context.budget import MARGIN
from ..context.compaction import keep_verbatim, summary_cap
from ..context.context_info import Plan
from ..conversation.messages import Message, Summary, Turn
from ..errors import ChatError, ProviderError
from ..models.target import Target
from ..providers.base import Reply
from ..wording import named_turns
from .complete import paid_stream
from .plan import RequestPlan
from .session import Session

Method = Literal["extractive", "model"]
LEAST_ROOM = 64  # tokens of transcript: where a model has less, it refuses the request
NOTHING_OLDER = "the newest turns are always kept in full"


class SummaryInput(NamedTuple):
    """What a summary is written from: turns, with their ``numbers``, and the summary that stands for those ``before``.

    ``instead_of``: tokens of these turns with all that is fixed now; ``beside``: of the turns that stay as they are.
    """

    turns: tuple[Turn, ...]
    before: str = ""
    numbers: tuple[int, ...] = ()
    instead_of: float = 0.0
    beside: float = 0.0

    @property
    def prompts(self) -> list[str]:
        """The summary so far and what the user typed: what has facts to keep."""
        return [self.before, *(_with_names(turn, turn.typed) for turn in self.turns)]


class SummaryDraft(NamedTuple):
    """A summary that is not recorded yet, with a sentence about it; where there is none, the sentence says why.

    ``failed``: one was tried, and came to nothing.
    """

    text: str
    summary: Summary | None = None
    failed: bool = False


def draft_summary(
    session: Session, method: Method | None = None, instructions: str | None = None, kept: int | None = None
) -> SummaryDraft:
    """Write a summary of the older turns and check it; nothing is recorded.

    The user's own lines complete it, or stand where a model fails. ``method``: as the setting ``summary_model`` says,
    where it is ``None``. The newest ``kept`` turns stay word for word.
    """
    planned, text = session.next_plan(), ""
    older, cap = _older(planned, kept), summary_cap(planned.target.limit)
    if not older.turns:
        return SummaryDraft(f"Nothing to summarise: {NOTHING_OLDER}")
    done, used = f"Summarised {named_turns(older.numbers)}", method or ("model" if writer(session) else "extractive")
    if used == "model":
        try:
            text = model_summary(session, older, cap, instructions)
        except ChatError as error:
            used, done = "extractive", f"{done} by your own lines, for the model wrote no summary: {error}"
    text = with_own_lines(text, older, planned.target, cap)
    problem = _problem(text, older, planned)
    if problem:
        return SummaryDraft(f"Summary dropped: {problem}", failed=True)
    covers = planned.scope.covers.union(turn.id for turn in older.turns)
    return SummaryDraft(done, Summary(text, covers, used))


def summary_plan(planned: RequestPlan, used: int) -> Plan:
    """Return what a summary would do now, where ``used`` tokens are; no model is asked."""
    older = _older(planned)
    if not older.turns:
        return Plan(NOTHING_OLDER, possible=False)
    longest = _fixed_with("", planned) + summary_cap(planned.target.limit)
    most = min(longest, older.instead_of) + older.beside
    text = f"send {named_turns(older.numbers)} as a summary"
    return Plan(text, before=used, after=round(most), at_most=True)


def _older(planned: RequestPlan, kept: int | None = None) -> SummaryInput:
    """Return what a summary written now would stand for; the newest ``kept`` turns in view stay."""
    past, scope, start, ledger, target = planned.past, planned.scope, planned.first, planned.size.ledger, planned.target
    keep = keep_verbatim(ledger, target.limit, start, scope.at) if kept is None else ledger.last(kept, start, scope.at)
    numbers = tuple(scope.loose(past, scope.floor, keep))
    return SummaryInput(
        tuple(past.places[number - 1].turn for number in numbers),
        scope.summary.text if scope.summary is not None else "",
        numbers,
        instead_of=target.meter.fixed(scope.fixed) + ledger.between(scope.floor, keep),
        beside=ledger.pinned(scope.at) + ledger.between(keep, scope.at),
    )


def _fixed_with(text: str, planned: RequestPlan) -> float:
    """Return the tokens of what every request would begin with, with a summary and what stands around it."""
    summary = Summary(text, frozenset(), "extractive")
    return planned.target.meter.fixed(replace(planned.scope, summary=summary).fixed)


def writer(session: Session) -> str:
    """Return the model that is asked for summaries; empty: none, as with the small local model."""
    name = session.settings.summary_model or session.settings.model
    return "" if name.startswith("local/") else name


def model_summary(session: Session, older: SummaryInput, cap: int, instructions: str | None) -> str:
    """Ask a model for a summary of at most ``cap`` tokens, and count what it costs. Raises ChatError.

    It is one request, which fits the model's window: the middle of longer turns is left out.
    """
    target = session.target({"model": session.settings.summary_model}, ask=True)
    measure, small = target.meter.tokens, target.window.tokens <= facts.SMALL_WINDOW
    length = cap + target.reserve if target.thinks else cap  # thinking needs room, too
    asked = facts.task(older.before, cap, instructions, small=small)
    room = max(LEAST_ROOM, (target.window.tokens - length) * (1 - MARGIN) - measure(asked))
    lines = list[str]()
    for turn in older.turns:
        lines.append(f"User: {_with_names(turn, turn.prompt)}")
        lines += [f"Assistant: {turn.reply}"] if turn.reply and not small else []
    data = facts.clipped("\n".join(lines), room, measure)
    prompt = f"{asked}\n\n{facts.fenced(data)}"
    request = target.request((Message("user", prompt),), max_tokens=length, cache_key=None)
    with closing(paid_stream(session.models, target, request, target.meter.message(prompt))) as stream:
        reply = next(item for item in stream if isinstance(item, Reply))
    session.spend(target, reply)
    text = reply.text.strip()
    if not text:
        raise ProviderError("its answer is empty")
    if reply.stop_reason != "stop":
        text = text.rpartition("\n")[0] or text  # it ends with its last whole line
    return facts.clipped(text, cap, measure)


def with_own_lines(text: str, older: SummaryInput, target: Target, cap: int) -> str:
    """Return a summary, completed with the user's own lines that hold facts it lacks."""
    measure = target.meter.tokens
    _, missing = facts.missing_facts(older.prompts, text)
    if text and not missing:
        return text
    lines = facts.pick_lines(older.prompts, missing, cap - measure(text), measure)
    return "\n".join([text, *(line for line in lines if line not in text)]).strip()


def _problem(text: str, older: SummaryInput, planned: RequestPlan) -> str:
    """Return why a summary may not stand for the turns; empty: it may."""
    wanted, lost = facts.missing_facts(older.prompts, text)
    kept = len(wanted) - len(lost)
    if not text or kept < facts.MUST_KEEP * len(wanted):
        return f"it kept {kept} of {len(wanted)} numbers and names"
    fixed = _fixed_with(text, planned)
    if fixed >= older.instead_of or fixed + older.beside > planned.target.limit:
        return "it is no smaller than what it stands for, or leaves no room"
    return ""


def _with_names(turn: Turn, asked: str) -> str:
    """Return what was asked, with the names of what went with it; what was sent of it is no fact to keep."""
    names = ", ".join(re.sub(r" \([^()]*\)\Z", "", source) for source in turn.sources)
    return f"{asked}\n[attached: {names}]" if names else asked
