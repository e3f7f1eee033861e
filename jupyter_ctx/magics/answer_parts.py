"""What magics show of answers, with remarks, figures and next steps, and of other values of this package."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from IPython.lib.pretty import pretty

from ..chat import Chat
from ..conversation.messages import TurnRecord
from ..display.answer.attachment_summary import step_bundles
from ..display.answer.footer import Footer, footer_html, footer_line
from ..display.answer.markdown import MimeBundle, bundle, is_json_like, json_bundle, with_sources
from ..display.text import markdown_block, text_bundle
from ..display.token_page import certainty_bundle
from ..display.widgets.gauge import gauge_bundle
from ..errors import ChatError
from ..providers.base import Reply
from ..providers.lookup import is_self_hosted
from ..runtime.frontend import Where
from ..session.complete import StreamListener
from ..wording import counted
from .sent_parts import parts_bundle, steps_of

if TYPE_CHECKING:
    from ..experiments.run import Run

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


# figures


def figures_below(chat: Chat, reply: Reply, place: Where) -> Footer:
    """Return what stands below an answer: remarks and, where they are wanted, figures; few of a stored answer."""
    notes = remarks_on(reply)
    if not _shows_figures(chat, place):
        return Footer(notes=notes)
    figures = Footer() if reply.stored else figures_of(reply.model, reply)
    try:
        now = chat.session.latest().info
    except ChatError:  # the usual model is not there
        return replace(figures, notes=notes)
    fill = now.fill if now.limit and now.model == reply.model else None  # another model than the usual fills no window
    return replace(figures, fill=fill, guess=now.is_guess, notes=notes)


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


# values of this package, wherever a notebook shows them


def forms_of(value: Any) -> dict[str, str]:
    """Return a value in its forms, by media type."""
    kinds = (base.__name__ for base in type(value).__mro__)
    draw = next((DRAWN[kind] for kind in kinds if kind in DRAWN), _table)
    return {**draw(value), "text/plain": pretty(value)}


def _table(value: Any) -> dict[str, str]:
    """Return a value that draws its own HTML; its text keeps its columns in Markdown."""
    return {"text/html": value._repr_html_(), "text/markdown": markdown_block(pretty(value))}


def _reply(reply: Reply) -> dict[str, str]:
    notes = ("stored answer",) if reply.stored else ()
    forms = bundle(shown_bundle(reply) or reply.text, steps=step_bundles(steps_of(reply.rounds)))
    footer = footer_html(replace(figures_of(reply.model, reply), notes=notes))
    return {**forms, "text/html": forms["text/html"] + footer}


def _run(run: Run) -> dict[str, str]:
    """Return what a run has found; while it goes on, that it does."""
    if run.is_running:  # its bar goes on where it was begun; what stands here would stay as it is now
        return text_bundle(f"{run!r}: the bar where it was begun shows how far it is by now.")
    from ..display.run_page import card_bundle  # which a conversation does not need
    from ..experiments.asking.progress import run_card

    return card_bundle(run_card(run))


def _chat(chat: Chat) -> dict[str, str]:
    """Return the turns of a conversation."""
    try:
        return parts_bundle(chat.history().shown())
    except ChatError:  # the model is not there
        return text_bundle(repr(chat))


DRAWN: Mapping[str, Callable[[Any], dict[str, str]]] = MappingProxyType({  # by the name of a class of this package
    "Chat": _chat,
    "Reply": _reply,
    "ContextInfo": gauge_bundle,
    "Usage": lambda usage: text_bundle(footer_line(Footer(usage=usage))),
    "Change": lambda change: text_bundle(str(change)),
    "Run": _run,
    "History": lambda turns: parts_bundle(turns.shown()),
    "View": lambda view: parts_bundle(view.shown()),
})  # fmt: skip
