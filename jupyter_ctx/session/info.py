"""What is told of a turn: how full the context window is with the next request, and what was done unasked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..context.budget import Budget
from ..context.compaction import Ledger, Within, compact_share
from ..context.context_info import ContextInfo, MoneyLeft, Segment, segments_of
from ..context.overflow import Overflow
from ..context.tokens import Meter
from ..context.usage import Spending
from ..context.windows import ContextWindow
from ..errors import ContextOverflowError
from ..models.target import KINDS_OF_FILES
from ..providers.base import Reply
from ..wording import counted, named_turns
from .complete import Completion
from .plan import RequestPlan
from .view import Scope, turn_tokens

READ_MORE = "Its own settings say how much it reads: look for a context length."


class NextRequest(NamedTuple):
    """The next request with an empty prompt, at one moment, and how full the window is with it."""

    plan: RequestPlan
    info: ContextInfo


def info_of(plan: RequestPlan, spent: Spending, counted_view: str, allowance: MoneyLeft | None = None) -> ContextInfo:
    """Return how full the next request is; ``allowance``: what is left of ``max_cost``, where there is a cap."""
    past, scope, size, target, start = plan.past, plan.scope, plan.size, plan.target, plan.first
    used, ledger, last = size.tokens_from(start), size.ledger, past.places[-1].turn if scope.at else None
    before = max(start, scope.at - 1)
    newest, always = ledger.between(before, scope.at), used - ledger.between(start, scope.at)
    earlier = used - always - newest
    usage = last.record.usage if last and not last.rounds else None  # of several requests
    beside = target.beside_tokens
    is_of_the_model = last is not None and last.record.model == target.model  # its cache is no other model's
    exact = bool(counted_view) and plan.uncut().key() == counted_view
    fixed, total, share = round(always + beside), round(used + beside), target.settings.budget_share
    budget = Budget(target.window, target.reserve, fixed, total, exact and not beside, share)
    within = ledger.within(start, before), ledger.within(before, scope.at)
    is_refused = plan.cut.means == "refuse"
    return ContextInfo(
        target.model,
        budget,
        segments_within(target.meter, scope, ledger, (earlier, newest), within, beside),
        turns=len(past.places),
        in_view=ledger.count(start, scope.at) + len(past.pins),
        left_out=ledger.count(0, start),
        will_leave=0 if is_refused else plan.cut.left_out,
        will_stop=is_refused,
        room_ends=size.most(compact_share(target.settings, size.limit)),
        on_overflow=target.settings.on_overflow,
        cached=usage.cache_read_tokens if usage and is_of_the_model else None,
        sent=usage.input_tokens if usage and is_of_the_model else None,
        undo=past.undo_label,
        redo=past.redo_label,
        cost=spent.dollars,
        unpriced=spent.unknown,
        allowance=allowance,
    )


def segments_within(
    meter: Meter,
    scope: Scope,
    ledger: Ledger,
    turns: tuple[float, float],
    within: tuple[Within, Within],
    beside: float = 0.0,
) -> tuple[Segment, ...]:
    """Return the parts of a request.

    ``turns``: tokens of earlier turns and of the newest; ``within``: which of them are cells and calls; ``beside``:
    those of the functions that are offered.
    """
    template, system, summary = meter.fixed_parts(scope.fixed)
    sizes = (("template", template), ("system", system), ("pinned", ledger.pinned(scope.at)), ("summary", summary))
    earlier, newest = (max(0.0, size - sum(inside)) for size, inside in zip(turns, within, strict=True))
    cells = sum(inside.cells for inside in within)
    tools = beside + sum(turns) - earlier - newest - cells
    called = [("tools", tools)] if tools >= 1 else []
    return segments_of((*sizes, *called, ("cells", cells), ("earlier turns", earlier), ("this turn", newest)))


# what was done without being asked


class Notice(NamedTuple):
    """One line for the user; where ``once`` is not empty, lines with the same ``once`` are shown a single time."""

    text: str
    once: str = ""


def notices_of(came: Completion, *, apart: bool = False) -> Iterator[Notice]:
    """Yield the lines that an answer calls for.

    apart: whether the request belongs to no conversation, so that there is no history
    """
    reply, sent = came.whole(), came.sent
    yield from _of_the_model(came, reply)
    yield from _of_the_fit(came, apart=apart)
    yield from _of_the_report(came, reply)
    if sent.scope.at < sent.past.trimmed_to:
        yield Notice(f"Turn {sent.scope.at + 1} stands before your trim: later requests leave it out.")


def _of_the_model(came: Completion, reply: Reply) -> Iterator[Notice]:
    """Yield what the user should know of the model."""
    target, lines = came.sent.target, list[str]()
    if target.window.source == "assumed":
        lines.append(_about_window(target.model, target.window))
    if target.thinks is False:
        lines += target.differences()
    unsent = [KINDS_OF_FILES[file.kind] for file in came.sent.past.files.values() if target.unsendable(file)]
    if unsent:
        what = f"does not take {' and '.join(unsent)}" if target.takes else "takes text only"
        lines.append(f"{target.model} {what}: these files of earlier turns are not sent to it.")
    yield from (Notice(line, once=line) for line in lines)
    if came.sent.request.top_logprobs and not reply.tokens:
        yield Notice(f"{target.model} told no probabilities of its tokens.")


@lru_cache
def _about_window(model: str, window: ContextWindow) -> str:
    """Return what is said of an assumed window: many rows are told the same."""
    return (
        f"The window of {model} is not known: {window.tokens:,} tokens are {window.origin}. "
        f"Set it with %chat use {model} --window N, or in models.json."
    )


def _of_the_fit(came: Completion, *, apart: bool) -> Iterator[Notice]:
    """Yield what was done to make the request fit."""
    sent, refusal = came.sent, came.refusal
    if refusal is not None:
        yield Notice(_recovered(refusal, sent) + ("." if apart else _kept(sent.gone)))
    elif sent.lacks:
        yield Notice(_left_out(sent))
    if sent.scope.shortened > sent.first_whole and sent.past.has_calls:
        yield from _of_results(sent)


def _of_results(sent: RequestPlan) -> Iterator[Notice]:
    """Yield that results of older turns were shortened, and how many tokens that freed."""
    meter, places = sent.target.meter, sent.past.places[sent.first_whole : sent.scope.shortened]
    numbered = enumerate(places, sent.first_whole + 1)
    shortened = [(number, place.turn) for number, place in numbered if place in sent.places and place.turn.rounds]
    results = sum(len(each.results) for _, turn in shortened for each in turn.rounds)
    freed = sum(turn_tokens(turn, meter) - turn_tokens(turn.with_short_results(), meter) for _, turn in shortened)
    if freed >= 1:
        turns = named_turns([number for number, _ in shortened])
        yield Notice(
            f"{counted(results, 'result')} of {turns} shortened to a line: {freed:,.0f} tokens freed. "
            "%chat include all brings the whole back."
        )


def _of_the_report(came: Completion, reply: Reply) -> Iterator[Notice]:
    """Yield what a report tells of a prompt that was perhaps not read whole."""
    usage, sent, target = reply.usage, came.sent, came.sent.target
    if usage is None or reply.rounds:  # the report is of several requests
        return
    if came.is_truncated:
        cure = target.provider.truncates
        yield Notice(
            f"The server read {usage.input_tokens:,} of about {sent.tokens:,.0f} tokens and left out the rest without "
            f"saying so. {f'To end that, {cure}.' if cure else READ_MORE}",
            once=f"reads only a part: {target.provider.endpoint}",
        )
    elif usage.input_tokens > target.window.tokens and not usage.includes_tools:
        yield Notice(
            f"{usage.input_tokens:,} tokens were taken where the window is believed to hold {target.window.tokens:,} "
            f"({target.window.origin}): the model may not have seen all of it. "
            "If the window is larger, set it with --window."
        )


def _kept(numbers: Sequence[int]) -> str:
    """Return the end of a sentence: where turns are that were left out."""
    are = "is" if len(numbers) == 1 else "are"
    return f", which {are} kept: %chat history lists all turns, %chat pin N keeps one in view." if numbers else "."


def _left_out(sent: RequestPlan) -> str:
    """Return what was left out before the request was sent, and why; the size before has the margin for estimates."""
    limit, settings, cut = sent.target.limit, sent.target.settings, sent.cut
    causes = [f"to fit {limit:,} tokens"] if cut.fits and (cut.too_large or not cut.reasons) else []
    causes += [f"because of {' and '.join(cut.reasons)}"] if cut.reasons else []
    why = f" {' and '.join(causes)}" if causes else ""
    over = "" if cut.fits else f": still more than the limit of {limit:,}; %chat preview shows each part"
    few = sent.scope.at - cut.start < settings.min_turns and settings.min_turns > 1
    note = f" min_turns={settings.min_turns} could not be kept." if few else ""
    size = f"{sent.size.with_margin(sent.first):,.0f} → {sent.tokens:,.0f} tokens"
    return f"Left out {sent.lacks}{why} ({size}){over}.{note}"


def _recovered(refusal: ContextOverflowError, sent: RequestPlan) -> str:
    """Return how a request was made smaller that was refused."""
    overflow = refusal.overflow or Overflow()
    size, limit = overflow.input_tokens, overflow.context_window or overflow.max_input_tokens
    figures = f" (the limit is {limit:,} tokens)" if limit else ""
    if size and limit and size > limit:
        figures = f" ({size:,} of {limit:,} tokens)"
    less = f"without {sent.lacks}" if sent.lacks else f"with a reply of at most {sent.request.max_tokens:,} tokens"
    return f"Too {'large' if refusal.by_bytes else 'long'}{figures}: sent again {less}"
