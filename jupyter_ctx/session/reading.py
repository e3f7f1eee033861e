"""What readers ask of a conversation: previews and their prices, requests of then, and where a setting comes from."""

from __future__ import annotations

from typing import Literal

from ..config.settings import Settings, check_setting
from ..models.pricing import RequestPrice, request_price, worst_case
from ..models.target import Target
from .info import Replayed, replayed
from .plan import RequestPlan
from .preview import View, preview
from .prompt import Prompt
from .session import Session

MAY_BE_CACHED = 600.0  # seconds after which no cache is hoped for whose provider does not say how long it lasts


def preview_of(session: Session, prompt: Prompt) -> View:
    """Return the request for a prompt before it is sent, part by part, with what it leaves out."""
    said = prompt.said()
    target = session.target(prompt.options, ask=False, prompt=prompt)
    planned = session.plan(said, target, session.system_for(prompt.options), record=prompt.record)
    counted = planned.key() == session.counted
    return preview(
        planned,
        said.turn,
        is_counted=counted,
        price=request_price_of(session, planned, tries=1 if prompt.schema is None else 2),
    )


def request_price_of(session: Session, planned: RequestPlan, *, tries: int = 1) -> RequestPrice:
    """Return what a request may cost, before it is sent; ``tries``: how often it may be asked."""
    cached, target = _cached(session, planned), planned.target
    price = request_price(session.models, target, planned.tokens, planned.most_tokens, cached, tries=tries)
    if target.cost_budget is None or not target.is_capped or price.high is None:
        return price
    reserved = target.cost_budget.needed(
        worst_case(session.models, target, planned.tokens, planned.request.messages) or 0.0
    )
    return price._replace(high=max(price.high, reserved))


def _cached(session: Session, planned: RequestPlan) -> tuple[int, float | None]:
    """Return how many tokens of a request a cache holds, as the last report shows, and until when, if known."""
    turn, documented = session.previous(planned), planned.target.cache_seconds
    if session.sent_at is None or turn is None or turn.usage is None or turn.model != planned.target.model:
        return 0, None
    usage, until = turn.usage, session.sent_at + (documented or MAY_BE_CACHED)
    if not usage.cache_read_tokens + usage.cache_write_tokens or session.clock() >= until:
        return 0, None
    return usage.input_tokens, until if documented else None


def replayed_turns(session: Session) -> list[Replayed]:
    """Return the requests of the turns since the last clear; turns for which nothing was sent have none."""
    usual = session.target({}, ask=False)

    def target_of(model: str) -> Target:
        return usual if model in ("", usual.model) else session.target({"model": model}, ask=False)

    return replayed(session.conversation, target_of, session.system_of)


def chosen_answer(session: Session, alternatives: str) -> int | None:
    """Return the number of the answer that is the turn, of several answers with this id; ``None``: none is."""
    offered = session.conversation.offers.get(alternatives)
    place = session.conversation.place_of(offered) if offered is not None else None
    ids = [answer.record.id for answer in offered.answers] if offered is not None else []
    return ids.index(place.turn.id) + 1 if place is not None and place.turn.id in ids else None


def source_of(session: Session, name: str) -> Literal["default", "at the start", "jupyter_ctx.toml", "set here"]:
    """Return where a setting's value comes from.

    "at the start" means keywords, IPython's configuration or environment variables; "jupyter_ctx.toml" the file
    beside the notebook. Raises InvalidRequestError for an unknown setting.
    """
    check_setting(name)
    begun = getattr(session.defaults, name)
    is_own_system = name == "system" and session.has_own_system
    if getattr(session.settings, name) != begun or is_own_system:
        return "set here"
    if name in session.notebook.course.named:
        return "jupyter_ctx.toml"
    return "default" if begun == getattr(Settings(), name) else "at the start"
