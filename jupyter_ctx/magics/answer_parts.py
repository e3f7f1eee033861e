"""What magics show of an answer: JSON where it is structured, and below it remarks, figures and next steps."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..chat import Chat
from ..config.settings import typed_value
from ..conversation.messages import TurnRecord
from ..display.answer.footer import Footer
from ..display.answer.markdown import MimeBundle, is_json_like, json_bundle, with_sources
from ..display.token_page import certainty_bundle
from ..display.widgets.gauge import share_or_next
from ..errors import ChatError
from ..models.registry import settings_with
from ..providers.base import Reply
from ..providers.lookup import is_self_hosted
from ..runtime.frontend import Where
from ..session.complete import StreamListener
from ..wording import counted

SAMPLING = ("temperature", "effort", "max_tokens", "parameters")  # with the model, what reproduces an answer
REMARKS = {  # by the source of an answer
    "handout": "handed out with this notebook; nothing was sent: --ask asks the model",
    "store": "stored answer; nothing was sent: run the cell again to ask anew",
}


def shown_bundle(reply: Reply) -> MimeBundle | None:
    """Return a structured answer as JSON, reported tokens as these, and sources below; ``None``: it is text."""
    forms = json_bundle(reply.text) if reply.parsed is not None and is_json_like(reply.text) else None
    if reply.parsed is None and reply.tokens and reply.text:
        forms = certainty_bundle(reply.text, reply.tokens)
    return with_sources(forms or reply.text, reply.citations) if reply.citations else forms


def remarks_on(reply: Reply) -> tuple[str, ...]:
    """Return what is routine about an answer, for its footer."""
    remarks = [REMARKS[reply.source]] if reply.stored else []
    if reply.stop_reason == "max_tokens" and reply.text:
        length = counted(reply.usage.output_tokens, "token") if reply.usage else "the longest length allowed"
        remarks.append(f"stopped at {length}: %chat continue asks for the rest, --max-tokens N allows more")
    return tuple(remarks)


def ending(reply: Reply) -> tuple[str, ...]:
    """Return why an answer ended early or is empty, with the next step."""
    if reply.stop_reason == "refusal":
        why = f": {reply.detail.rstrip('.')}" if reply.detail else ""
        return (f"The model refused to answer{why}. Rephrase the prompt, or ask another model (-m).",)
    if not reply.text and reply.stop_reason in ("max_tokens", "context_window"):
        return (
            "The reply was stopped for its length before its first token: the prompt probably fills the context "
            "window. Make room with %chat trim N, and set the window (%chat config window N) where no server says it.",
        )
    if not reply.text and reply.usage and reply.usage.includes_tools:
        return ("The model only called a tool, and none is run here: ask without tools (--set), or rephrase.",)
    if not reply.text and not reply.rounds:
        return ("The model sent an empty reply. Run the cell again, or rephrase the prompt.",)
    if reply.stop_reason == "context_window":
        return ("The reply filled the context window: make room with %chat trim, then use %chat continue.",)
    return ()


def figures_below(chat: Chat, reply: Reply, place: Where, options: Mapping[str, Any]) -> Footer:
    """Return what stands below an answer: remarks and, where they are wanted, figures; few of a stored answer.

    ``options``: settings of the request alone.
    """
    notes = remarks_on(reply)
    if not _shows_figures(chat, place):
        return Footer(notes=notes)
    share = _share(chat, reply.model)
    if reply.stored:
        return Footer(share=share, notes=notes)
    used = settings_with(chat.config, {name: value for name, value in options.items() if value is not None})
    given = {name: getattr(used, name) for name in SAMPLING if getattr(used, name) not in (None, {})}
    settings = ", ".join(f"{name} {typed_value(value)}" for name, value in given.items())
    return replace(figures_of(reply.model, reply), settings=settings, share=share, notes=notes)


def figures_of(model: str, of: Reply | TurnRecord) -> Footer:
    """Return the figures of an answer of a model."""
    return Footer(model, of.usage, of.seconds, of.cost, of.stop_reason, is_free=is_self_hosted(model))


def broken_below(chat: Chat, coming: StreamListener, place: Where, how: str) -> Footer:
    """Return what stands below an answer that is not whole; ``how``: what ended it."""
    seconds = time.monotonic() - coming.asked
    return Footer(seconds=seconds if _shows_figures(chat, place) else None, broken=how)


def _shows_figures(chat: Chat, place: Where) -> bool:
    """Return whether figures are wanted below answers."""
    return chat.config.gauge == "on" or (chat.config.gauge == "auto" and place.kind != "headless")


def _share(chat: Chat, model: str) -> str:
    """Return how much of the limit is used; nothing after an answer of another model than the usual."""
    try:
        now = chat.session.latest().info
    except ChatError:  # the usual one is not there
        return ""
    return share_or_next(now) if now.limit and now.model == model else ""
