"""The errors where no request fits: what happened, the figures, the largest parts, and what to do."""

from __future__ import annotations

from ..context.budget import MARGIN, whole
from ..context.compaction import compact_share
from ..context.overflow import Overflow
from ..errors import ContextOverflowError
from .request_plan import RequestPlan
from .view import megabytes, request_bytes, turn_tokens

MARGIN_FOR_ESTIMATES = f"of {MARGIN:.0%} for estimates".replace("%", " %")


def overflow_error(plan: RequestPlan, overflow: Overflow | None = None, *, kept: bool = False) -> ContextOverflowError:
    """Return the error for a request that does not fit, with figures and remedy; ``kept``: text was recorded."""
    limit, stated = plan.target.limit, overflow.input_tokens if overflow else None
    used = whole(plan.tokens) if stated is None else stated
    largest = _largest(plan, used)
    parts = ", ".join(f"{name} ({tokens:,})" for name, tokens in largest)
    recorded = "What came is kept, marked as cut" if kept else "Nothing was recorded"
    return ContextOverflowError(
        f"{_figures(plan, overflow, used)}. Largest parts: {parts}. {recorded}. {_remedy(plan, used, largest)}",
        used=used, limit=limit, largest=largest, prompt=plan.message.content, overflow=overflow,
    )  # fmt: skip


def heavy_error(plan: RequestPlan, refusal: ContextOverflowError) -> ContextOverflowError:
    """Return the error for a request that was refused for its bytes where none is smaller."""
    files = sorted(plan.message.attachments, key=lambda file: -len(file.data))
    largest = f" {files[0].name} has {megabytes(len(files[0].data))}." if files else ""
    size = megabytes(request_bytes(plan.request.messages))
    return ContextOverflowError(
        f"{plan.target.model}: the server takes no request of {size} ({refusal}).{largest} Nothing was recorded. "
        "Send a smaller file, shorten the prompt, or make room with %chat trim.",
        largest=_largest(plan, whole(plan.tokens)), prompt=plan.message.content, by_bytes=True,
    )  # fmt: skip


def _figures(plan: RequestPlan, overflow: Overflow | None, used: int) -> str:
    """Return what does not fit: because of a setting, of the margin for estimates alone, or as it is."""
    target, decision, limit = plan.target, plan.decision, plan.target.limit
    stop = decision.reasons if target.settings.on_overflow == "stop" else ()
    window = f"window {target.window.tokens:,} {target.window.basis}"
    bounds = ", ".join((window, f"{target.reserve:,} kept for the reply", *stop))
    holds = f"do not fit: {target.model} takes {limit:,} ({bounds})"
    if overflow is not None:
        if overflow.input_tokens is not None:
            return f"{used:,} tokens {holds}"
        if target.window.refused or used <= limit:
            return f"the provider refused about {used:,} tokens as too many and gave no limit"
    elif decision.too_large and used <= limit:
        return f"about {used:,} tokens and a margin {MARGIN_FOR_ESTIMATES} {holds}"
    elif not decision.too_large:
        return _by_settings(plan, used) or f"about {used:,} tokens {holds}"
    return f"about {used:,} tokens {holds}"


def _by_settings(plan: RequestPlan, used: int) -> str:
    """Return which settings hold a request back that would fit, with the figures; empty: none does."""
    turns, limit, settings = _loose_turns(plan), plan.target.limit, plan.target.settings
    causes = list[str]()
    if settings.max_turns is not None and turns > settings.max_turns:
        causes.append(f"max_turns is {settings.max_turns:,} and {turns:,} earlier turns are in view")
    if any(reason.startswith("compact_at") for reason in plan.decision.reasons):
        at, share = settings.compact_at, compact_share(settings, limit)
        more = "are more" if used > share * limit else f"and a margin {MARGIN_FOR_ESTIMATES} are more"
        room = f"{at:,.15g}" if at > 1 else f"{100 * at:.3g} % of {limit:,}"
        causes.append(f"about {used:,} tokens {more} than {room} (compact_at)")
    return "; ".join(causes)


def _loose_turns(plan: RequestPlan) -> int:
    """Return how many turns in view a cut may leave out."""
    return sum(not place.pinned for place in plan.places)


def _largest(plan: RequestPlan, used: int) -> tuple[tuple[str, int], ...]:
    """Return the three largest parts in tokens, together no more than ``used``.

    What a report counts beyond the other parts is the prompt's; where it counts less, every part is scaled down.
    """
    meter, fixed = plan.target.meter, plan.scope.fixed
    before = plan.size.tokens_from(plan.cut.start)
    parts = [("this prompt", max(plan.asked, used - before))]
    parts += [("the system prompt", meter.message(fixed.system)), ("the summary", meter.message(fixed.summary))]
    for place in plan.places:
        kind = "pinned turn" if place.pinned else "turn"
        parts.append((f"{kind} {plan.past.index(place.id) + 1}", turn_tokens(place.turn, meter)))
    scale = min(1.0, used / max(1.0, before + plan.asked))
    ordered = sorted(((name, round(tokens * scale)) for name, tokens in parts), key=lambda part: -part[1])
    return tuple((name, tokens) for name, tokens in ordered[:3] if tokens)


def _remedy(plan: RequestPlan, used: int, largest: tuple[tuple[str, int], ...]) -> str:
    """Return what the user can do so that the request is sent."""
    settings, name = plan.target.settings, largest[0][0] if largest else ""
    without_turns = used - plan.ledger.between(plan.cut.start, plan.scope.at)
    if settings.on_overflow == "stop" and without_turns <= plan.target.limit:
        learned = plan.target.window.source == "learned"
        grown = " If the limit has grown, set it with %chat config window N." if learned else ""
        return f"Make room with {_room(plan)}; on_overflow=stop leaves that to you.{grown}"
    if name.startswith("pinned"):
        return f"Take a pin off with %chat unpin {name.split()[-1]}."
    longest = name if name.startswith("the system") else "this prompt"
    pinned = next((part.split()[-1] for part, _ in largest if part.startswith("pinned")), "")
    unpin = f", take a pin off (%chat unpin {pinned})" if pinned else ""
    return f"Shorten {longest}{unpin}, or ask a model with a larger window (-m)."


def _room(plan: RequestPlan) -> str:
    """Return the commands that make room: those that reach what the settings demand."""
    decision, settings = plan.decision, plan.target.settings
    if decision.too_large or not decision.reasons:
        return "%chat summarise, trim or clear"
    if settings.max_turns is not None and _loose_turns(plan) > settings.max_turns:
        return f"%chat trim {settings.max_turns} or clear, or raise it with %chat config max_turns N"
    return "%chat summarise, trim N or clear, or raise it with %chat config compact_at"
