"""The errors where no request fits: what happened, the figures, the largest parts, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from ..context.budget import MARGIN, whole
from ..context.overflow import Overflow
from ..context.policy import compact_share
from ..conversation.places import Place
from ..errors import ContextOverflowError
from .messages_sent import megabytes, request_bytes
from .request_plan import RequestPlan
from .view import turn_tokens

MARGIN_FOR_ESTIMATES = f"of {MARGIN:.0%} for estimates".replace("%", " %")


def overflow_error(plan: RequestPlan, overflow: Overflow | None = None, *, kept: bool = False) -> ContextOverflowError:
    """Return the error for a request that does not fit, with figures and remedy; ``kept``: text was recorded."""
    target, limit = plan.target, plan.budget.limit
    stated = overflow.input_tokens if overflow else None
    used = stated if stated is not None else whole(plan.tokens)
    largest = _largest(plan, used)
    parts = ", ".join(f"{name} ({tokens:,})" for name, tokens in largest)
    holds = f"{target.model} takes {limit:,} ({_bounds(plan)})"
    figures = f"{'' if stated is not None else 'about '}{used:,} tokens do not fit: {holds}"
    if overflow is None:
        figures = _by_settings(plan, used) or _by_estimate(plan, used) or figures
    if overflow and stated is None and (target.window.refused or used <= limit):
        figures = f"the provider refused about {used:,} tokens as too many and gave no limit"
    return ContextOverflowError(
        f"{figures}. Largest parts: {parts}. "
        f"{'What came is kept, marked as cut' if kept else 'Nothing was recorded'}. {_remedy(plan, used, largest)}",
        used=used,
        limit=limit,
        largest=largest,
        prompt=plan.prompt,
        overflow=overflow,
    )


def heavy_error(plan: RequestPlan, refusal: ContextOverflowError) -> ContextOverflowError:
    """Return the error for a request that was refused for its bytes where none is smaller."""
    files = sorted(plan.message.attachments, key=lambda file: -len(file.data))
    largest = f" {files[0].name} has {megabytes(len(files[0].data))}." if files else ""
    size = megabytes(request_bytes(plan.request.messages))
    return ContextOverflowError(
        f"{plan.target.model}: the server takes no request of {size} ({refusal}).{largest} Nothing was recorded. "
        "Send a smaller file, shorten the prompt, or make room with %chat trim.",
        largest=_largest(plan, whole(plan.tokens)), prompt=plan.prompt, by_bytes=True,
    )  # fmt: skip


def _bounds(plan: RequestPlan) -> str:
    """Return what the limit is made of."""
    target, settings = plan.target, plan.target.settings
    bounds = [f"window {target.window.tokens:,} {target.window.basis}", f"{target.reserve:,} kept for the reply"]
    return ", ".join([*bounds, *(plan.decision.reasons if settings.on_overflow == "stop" else ())])


def _by_settings(plan: RequestPlan, used: int) -> str:
    """Return which settings hold a request back that would fit, with the figures; empty: it would not fit."""
    turns, limit, settings = _loose(plan), plan.budget.limit, plan.target.settings
    causes = list[str]()
    if plan.decision.too_large:
        return ""
    if settings.max_turns is not None and len(turns) > settings.max_turns:
        causes.append(f"max_turns is {settings.max_turns:,} and {len(turns):,} earlier turns are in view")
    if any(reason.startswith("compact_at") for reason in plan.decision.reasons):
        at, share = settings.compact_at, compact_share(settings, limit)
        more = "are more" if used > share * limit else f"and a margin {MARGIN_FOR_ESTIMATES} are more"
        room = f"{at:,.15g}" if at > 1 else f"{100 * at:.3g} % of {limit:,}"
        causes.append(f"about {used:,} tokens {more} than {room} (compact_at)")
    return "; ".join(causes)


def _by_estimate(plan: RequestPlan, used: int) -> str:
    """Return that only the margin for estimates does not fit; empty: so large a request would not, either."""
    if used > plan.budget.limit or not plan.decision.too_large:
        return ""
    holds = f"{plan.target.model} takes {plan.budget.limit:,} ({_bounds(plan)})"
    return f"about {used:,} tokens and a margin {MARGIN_FOR_ESTIMATES} do not fit: {holds}"


def _loose(plan: RequestPlan) -> list[Place]:
    """Return the turns in view that a cut may leave out."""
    return [place for place in plan.places if not place.pinned]


def _largest(plan: RequestPlan, used: int) -> tuple[tuple[str, int], ...]:
    """Return the three largest parts in tokens, together no more than ``used``.

    What a report counts beyond the other parts is the prompt's; where it counts less, every part is scaled down.
    """
    meter, sent = plan.target.meter, plan.sent
    parts = [("this prompt", max(plan.asked, used - sent.before))]
    parts += [
        ("the system prompt", meter.message(sent.fixed.system)),
        ("the summary", meter.message(sent.fixed.summary)),
    ]
    for place in plan.places:
        kind = "pinned turn" if place.pinned else "turn"
        parts.append((f"{kind} {plan.past.index(place.id) + 1}", turn_tokens(place.turn, meter)))
    scale = min(1.0, used / max(1.0, sent.before + plan.asked))
    ordered = sorted(((name, tokens * scale) for name, tokens in parts), key=lambda part: -part[1])[:3]
    return tuple((name, round(tokens)) for name, tokens in ordered if tokens >= 1)


def _remedy(plan: RequestPlan, used: int, largest: Sequence[tuple[str, int]]) -> str:
    """Return what the user can do so that the request is sent."""
    settings, name = plan.target.settings, largest[0][0] if largest else ""
    if settings.on_overflow == "stop" and _fits_alone(plan, used):
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
    if settings.max_turns is not None and len(_loose(plan)) > settings.max_turns:
        return f"%chat trim {settings.max_turns} or clear, or raise it with %chat config max_turns N"
    return "%chat summarise, trim N or clear, or raise it with %chat config compact_at"


def _fits_alone(plan: RequestPlan, used: int) -> bool:
    """Return whether a request of ``used`` tokens would fit without the turns that can be left out."""
    turns = plan.ledger.between(plan.cut.start, plan.scope.at)
    return used - turns <= plan.budget.limit
