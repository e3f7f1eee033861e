"""What the user is told of a turn: one line for each thing that was done without being asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..context.context_info import ContextInfo
from ..context.overflow import Overflow
from ..models.target import KINDS_OF_FILES
from ..providers.base import Reply
from ..wording import counted, named_turns
from .complete import Completion
from .reply_checks import Verdict
from .request_plan import RequestPlan
from .view import megabytes, turn_tokens

ROOM_MAKERS = ("summarise", "trim", "clear")
READ_MORE = "Its own settings say how much it reads: look for a context length."
AFTER_OTHERS = "It was asked after other turns than those that stand before it here."


class Notice(NamedTuple):
    """One line for the user; where ``once`` is not empty, lines with the same ``once`` are shown a single time."""

    text: str
    once: str = ""


def notices_of(came: Completion, *, outdated: Sequence[int] = (), apart: bool = False) -> Iterator[Notice]:
    """Yield the lines that an answer calls for.

    outdated: the numbers of later turns that answered the version which this answer replaces
    apart: whether the request belongs to no conversation, so that there is no history
    """
    verdict = came.whole()
    yield from _of_the_model(came, verdict.reply)
    yield from _of_the_fit(came, apart=apart)
    yield from _of_the_report(came.sent, verdict)
    if came.sent.scope.at < came.sent.past.trimmed_to:
        yield Notice(f"Turn {came.sent.scope.at + 1} stands before your trim: later requests leave it out.")
    if outdated:
        later, are = (f"{len(outdated):,} later turns", "are") if len(outdated) > 1 else ("1 later turn", "is")
        yield Notice(f"{later} answered the older version: {named_turns(outdated)} {are} stale in %chat history.")


def _of_the_model(came: Completion, reply: Reply) -> Iterator[Notice]:
    """Yield what the user should know of the model."""
    target, lines = came.planned.target, list[str]()
    if target.window.source == came.sent.target.window.source == "assumed":
        lines.append(
            f"The window of {target.model} is not known: {target.window.tokens:,} tokens are {target.window.origin}. "
            f"Set it with %chat use {target.model} --window N, or in models.json."
        )
    if target.thinks is False:
        lines += target.differences()
    yield from (Notice(line, once=line) for line in lines)
    if came.sent.request.top_logprobs and not reply.tokens:
        yield Notice(f"{target.model} told no probabilities of its tokens.")
    unsent = [KINDS_OF_FILES[file.kind] for file in came.planned.past.files.values() if target.unsendable(file)]
    if unsent:
        what = f"does not take {' and '.join(unsent)}" if target.takes else "takes text only"
        text = f"{target.model} {what}: these files of earlier turns are not sent to it."
        yield Notice(text, once=text)


def _of_the_fit(came: Completion, *, apart: bool) -> Iterator[Notice]:
    """Yield what was done to make the request fit."""
    planned, sent, refusal = came.planned, came.sent, came.refusal
    gone = planned.lacks()
    if gone and planned.most_bytes is not None:
        most = megabytes(planned.most_bytes)
        yield Notice(f"Left out {gone} to stay below {most}, the most that the server may take.")
    elif gone:
        yield Notice(_fitted(planned, gone))
    if refusal is not None and refusal.by_bytes:
        lacks = sent.lacks(planned) or "files of earlier turns"
        yield Notice(f"Too large for the server: sent again without {lacks}.")
    elif refusal is not None:
        again = _recovered(planned, refusal.overflow or Overflow(), sent)
        yield Notice(again + ("." if apart else _kept(sent.gone(planned.cut.start))))
    if sent.scope.shortened > sent.first_whole and sent.past.has_calls:
        yield from _of_results(sent)
    if sent.dropped:
        names = " and ".join(dict.fromkeys(file.name for file in sent.dropped))
        size = megabytes(sum(len(file.data) for file in sent.dropped))
        text = f"Left out {names} ({size}) of earlier turns: the server takes no larger request. -a sends one again."
        yield Notice(text, once=text)


def _of_results(sent: RequestPlan) -> Iterator[Notice]:
    """Yield that results of older turns were shortened, and how many tokens that freed."""
    shortened, meter = sent.shortened(), sent.target.meter
    results = sum(len(each.results) for _, turn in shortened for each in turn.rounds)
    freed = sum(turn_tokens(turn, meter) - turn_tokens(turn.with_short_results(), meter) for _, turn in shortened)
    if freed >= 1:
        turns = named_turns([number for number, _ in shortened])
        yield Notice(
            f"{counted(results, 'result')} of {turns} shortened to a line: {freed:,.0f} tokens freed. "
            "%chat include all brings the whole back."
        )


def _of_the_report(sent: RequestPlan, verdict: Verdict) -> Iterator[Notice]:
    """Yield what a report tells of a prompt that was perhaps not read whole."""
    usage, target = verdict.reply.usage, sent.target
    if usage is None or verdict.reply.rounds:  # the report is of several requests
        return
    if verdict.truncated:
        cure = target.provider.truncates
        yield Notice(
            f"The server read {usage.input_tokens:,} of about {sent.tokens:,.0f} tokens and left out the rest without "
            f"saying so. {f'To end that, {cure}.' if cure else READ_MORE}",
            once=f"reads only a part: {target.provider.endpoint}",
        )
    elif usage.input_tokens > target.window.tokens and not usage.includes_tools:
        yield Notice(
            f"{usage.input_tokens:,} tokens were taken where the window is believed to hold {target.window.tokens:,} "
            f"({target.window.basis}): the model may not have seen all of it. "
            "If the window is larger, set it with --window."
        )


def _kept(numbers: Sequence[int]) -> str:
    """Return the end of a sentence: where turns are that were left out."""
    if len(numbers) == 1:
        return f", which is kept. %chat history shows it, %chat pin {numbers[0]} keeps it in view."
    return ", which are kept. %chat history shows them, %chat pin N keeps one in view." if numbers else "."


def _fitted(planned: RequestPlan, gone: str) -> str:
    """Return what was left out before the request was sent."""
    before, limit = planned.cut.before + planned.asked, planned.target.limit
    guarded = planned.size.with_margin(planned.first)
    decision, least = planned.decision, planned.target.settings.min_turns
    few = least > 1 and planned.scope.at - planned.cut.start < least
    note = f" min_turns={least} could not be kept." if few else ""
    is_for_the_limit = planned.cut.fits and (decision.too_large or not decision.reasons)
    is_guarded = is_for_the_limit and before <= limit < guarded
    size = f"{guarded:,.0f} with the margin for estimates" if is_guarded else f"{before:,.0f}"
    causes = [f"to fit {limit:,} tokens"] if is_for_the_limit else []
    causes += [f"because of {' and '.join(decision.reasons)}"] if decision.reasons else []
    over = "" if planned.cut.fits else f": still more than the limit of {limit:,}; %chat preview shows each part"
    why = f" {' and '.join(causes)}" if causes else ""
    return f"Left out {gone}{why} ({size} → {planned.tokens:,.0f}){over}.{note}"


def nearly_full(fill: float) -> str:
    """Return a line for a request that takes this share of the limit, before it is sent; above 1 it is too long."""
    if fill > 1:
        size = f"{fill:,.0f} times" if fill >= 2 else f"{100 * fill:.0f} % of"
        return f"This prompt, with what is always sent, is {size} the limit of a request: shorten it."
    return f"{100 * fill:,.0f} % after this: %chat summarise, trim or clear."


def _recovered(refused: RequestPlan, overflow: Overflow, sent: RequestPlan) -> str:
    """Return how a request was made smaller that was refused for its tokens."""
    size, limit = overflow.input_tokens, overflow.context_window or overflow.max_input_tokens
    figures = f" ({size:,} of {limit:,} tokens)" if size and limit and size > limit else ""
    if limit and not figures:
        figures = f" (the limit is {limit:,} tokens)"
    gone = sent.lacks(refused)
    if not gone:
        return f"Too long{figures}: sent again with a reply of at most {sent.request.max_tokens:,} tokens"
    return f"Too long{figures}: sent again without {gone}"


def threshold(info: ContextInfo) -> str:
    """Return the line that says how full the context window is."""
    about = "" if info.exact else "~"
    return f"Context {about}{info.fill * 100:.0f} % full: {info.used:,} of {info.limit:,} tokens."


def makes_room(commands: Sequence[str]) -> str:
    """Return a sentence about the commands that would make room now; empty: none would."""
    *some, last = commands or [""]
    return f"%chat {' or '.join(filter(None, [', '.join(some), last]))} makes room." if last else ""
