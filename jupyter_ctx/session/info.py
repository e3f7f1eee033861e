"""What is told of a turn: how full the context window is with the next request, and what was done unasked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..context.budget import Budget
from ..context.compaction import compact_share
from ..context.context_info import ContextInfo, MoneyLeft, segments_of
from ..context.overflow import Overflow
from ..context.usage import Spending
from ..errors import ContextOverflowError
from ..models.target import KINDS_OF_FILES
from ..wording import counted, named_turns
from .complete import Completion
from .plan import RequestPlan
from .view import turn_tokens

READ_MORE = "its own settings say how much it reads: look for a context length"


class NextRequest(NamedTuple):
    """The next request with an empty prompt, at one moment, and how full the window is with it."""

    plan: RequestPlan
    info: ContextInfo


def info_of(plan: RequestPlan, spent: Spending, counted_view: str, allowance: MoneyLeft | None = None) -> ContextInfo:
    """Return how full the next request is; ``allowance``: what is left of ``max_cost``, where there is a cap."""
    past, scope, size, target, start = plan.past, plan.scope, plan.size, plan.target, plan.first
    used, ledger, beside = size.tokens_from(start), size.ledger, target.beside_tokens
    last = past.places[-1].turn if scope.at else None
    is_of_the_model = last is not None and last.record.model == target.model  # its cache is no other model's
    usage = last.record.usage if last is not None and is_of_the_model and not last.rounds else None
    exact = bool(counted_view) and not beside and plan.uncut().key() == counted_view
    fixed, total = round(used - ledger.between(start, scope.at) + beside), round(used + beside)
    will_stop = plan.cut.means == "refuse"
    return ContextInfo(
        target.model,
        Budget(target.window, target.reserve, fixed, total, exact, target.settings.budget_share),
        segments_of(_sizes(plan)),
        turns=len(past.places),
        in_view=ledger.count(start, scope.at) + len(past.pins),
        left_out=ledger.count(0, start),
        will_leave=0 if will_stop else plan.cut.left_out,
        will_stop=will_stop,
        room_ends=size.most(compact_share(target.settings, size.limit)),
        on_overflow=target.settings.on_overflow,
        cached=usage.cache_read_tokens if usage else None,
        sent=usage.input_tokens if usage else None,
        undo=past.undo_label,
        redo=past.redo_label,
        cost=spent.dollars,
        unpriced=spent.unknown,
        allowance=allowance,
    )


def _sizes(plan: RequestPlan) -> Iterator[tuple[str, float]]:
    """Yield the parts of the next request with their tokens."""
    ledger, start, end = plan.size.ledger, plan.first, plan.scope.at
    template, system, summary = plan.target.meter.fixed_parts(plan.scope.fixed)
    yield from (("template", template), ("system", system), ("pinned", ledger.pinned(end)), ("summary", summary))

    spans = (start, max(start, end - 1)), (max(start, end - 1), end)
    earlier, newest = (max(0.0, ledger.between(*span) - sum(ledger.within(*span))) for span in spans)
    cells = ledger.within(start, end).cells
    tools = plan.target.beside_tokens + ledger.between(start, end) - earlier - newest - cells
    if tools >= 1:
        yield "tools", tools
    yield from (("cells", cells), ("earlier turns", earlier), ("this turn", newest))


# what was done without being asked


def notices_of(came: Completion, once: Callable[[str], object] | None = None) -> Iterator[str]:
    """Yield the lines that an answer calls for: of the model, of what made the request fit, and of what was read.

    ``once`` says whether a key is new to the conversation; ``None``: the request belongs to none.
    """
    reply, sent, target = came.whole(), came.sent, came.sent.target
    is_new = once or bool
    yield from filter(is_new, _about_the_model(sent))
    if sent.request.top_logprobs and not reply.tokens:
        yield f"{target.model} told no probabilities of its tokens."
    if came.refusal is not None:
        yield _recovered(came.refusal, sent, apart=once is None)
    elif sent.lacks:
        yield _left_out(sent)
    if sent.scope.shortened > sent.allowed.shortened:
        yield from _results_shortened(sent)

    read = reply.usage.input_tokens if reply.usage is not None and not sent.again else 0  # of one request alone
    if came.is_truncated and read:
        if is_new(f"reads only a part: {target.provider.endpoint}"):
            part = (
                f"The server read {read:,} of about {sent.tokens:,.0f} tokens and left out the rest without saying so"
            )
            yield f"{part}: {target.provider.truncates or READ_MORE}."
    elif read > target.window.tokens and reply.usage and not reply.usage.includes_tools:
        window = f"the window is believed to hold {target.window.tokens:,} ({target.window.origin})"
        seen = "the model may not have seen all of it. If the window is larger, set it with --window."
        yield f"{read:,} tokens were taken where {window}: {seen}"
    if sent.scope.at < sent.past.trimmed_to:
        yield f"Turn {sent.scope.at + 1} stands before your trim: later requests leave it out."


def _about_the_model(sent: RequestPlan) -> Iterator[str]:
    """Yield what the user should know of the model."""
    target, window = sent.target, sent.target.window
    if window.source == "assumed":
        yield (
            f"The window of {target.model} is not known: {window.tokens:,} tokens are assumed. "
            f"Set it with %chat use {target.model} --window N, or in models.json."
        )
    if target.thinks is False:
        yield from target.differences()
    unsent = [KINDS_OF_FILES[file.kind] for file in sent.past.files.values() if target.unsendable(file)]
    if unsent:
        yield f"{target.model} does not take {' and '.join(unsent)}: these files of earlier turns are not sent to it."


def _results_shortened(sent: RequestPlan) -> Iterator[str]:
    """Yield which results of older turns were shortened, and how many tokens that freed."""
    start, meter = sent.allowed.shortened, sent.target.meter
    places = enumerate(sent.past.places[start : sent.scope.shortened], start + 1)
    turns = {number: place.turn for number, place in places if place.turn.rounds and place in sent.places}
    results = counted(sum(len(each.results) for turn in turns.values() for each in turn.rounds), "result")
    freed = sum(turn_tokens(turn, meter) - turn_tokens(turn.with_short_results(), meter) for turn in turns.values())
    if freed >= 1:
        shortened = f"{results} of {named_turns([*turns])} shortened to a line: {freed:,.0f} tokens freed"
        yield f"{shortened}. %chat include all brings the whole back."


def _left_out(sent: RequestPlan) -> str:
    """Return what was left out before the request was sent, and why; the size before has the margin for estimates."""
    limit, cut, most = sent.target.limit, sent.cut, sent.target.settings.min_turns
    is_set = cut.reasons and not cut.too_large
    why = f"because of {' and '.join(cut.reasons)}" if is_set else f"to fit {limit:,} tokens"
    size = f"{sent.size.with_margin(sent.first):,.0f} → {sent.tokens:,.0f} tokens"
    is_less = most > 1 and sent.scope.at - cut.start < most
    few = f" min_turns={most} could not be kept." if is_less else ""
    return f"Left out {sent.lacks} {why} ({size}).{few}"


def _recovered(refusal: ContextOverflowError, sent: RequestPlan, *, apart: bool) -> str:
    """Return how a request was made smaller that was refused, and where turns are that were left out."""
    overflow = refusal.overflow or Overflow()
    size, limit = overflow.input_tokens, overflow.context_window or overflow.max_input_tokens
    figures = f" (the limit is {limit:,} tokens)" if limit else ""
    if size and limit and size > limit:
        figures = f" ({size:,} of {limit:,} tokens)"
    most = sent.request.max_tokens
    less = f"with a reply of at most {most:,} tokens" if most else "with shortened results"
    less = f"without {sent.lacks}" if sent.lacks else less
    are = "is" if len(sent.gone) == 1 else "are"
    kept = f", which {are} kept: %chat history lists all turns, %chat pin N keeps one in view"
    end = kept if sent.gone and not apart else ""
    return f"Too {'large' if refusal.by_bytes else 'long'}{figures}: sent again {less}{end}."
