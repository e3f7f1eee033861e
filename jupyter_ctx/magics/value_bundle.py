"""What values of this package show of themselves in a notebook: HTML, Markdown and plain text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from IPython.lib.pretty import pretty

from ..chat import Chat
from ..context.usage import Usage
from ..display.answer.attachment_summary import step_bundles
from ..display.answer.footer import Footer, footer_html, footer_line
from ..display.answer.markdown import bundle
from ..display.run_page import card_bundle
from ..display.text import markdown_block, text_bundle
from ..display.widgets.gauge import gauge_bundle
from ..errors import ChatError
from ..providers.base import Reply
from .answer_parts import figures_of, shown_bundle
from .sent_parts import parts_bundle, steps_of

if TYPE_CHECKING:
    from ..experiments.run import Run


def forms_of(value: Any) -> dict[str, str]:
    """Return a value in its forms, by media type."""
    kinds = (base.__name__ for base in type(value).__mro__)
    draw = next((DRAWN[kind] for kind in kinds if kind in DRAWN), _table)
    return draw(value)


def _table(value: Any) -> dict[str, str]:
    """Return a value that draws its own HTML; its text keeps its columns in Markdown."""
    text = pretty(value)
    return {"text/html": value._repr_html_(), "text/markdown": markdown_block(text), "text/plain": text}


def _reply(reply: Reply) -> dict[str, str]:
    notes = ("stored answer",) if reply.stored else ()
    forms = bundle(shown_bundle(reply) or reply.text, steps=step_bundles(steps_of(reply.rounds)))
    footer = footer_html(replace(figures_of(reply.model, reply), notes=notes))
    return {**forms, "text/html": forms["text/html"] + footer, "text/plain": pretty(reply)}


def _usage(usage: Usage) -> dict[str, str]:
    return {**text_bundle(footer_line(Footer(usage=usage))), "text/plain": repr(usage)}


def _run(run: Run) -> dict[str, str]:
    """Return what a run has found; while it goes on, that it does."""
    if run.is_running:  # its bar goes on where it was begun; what stands here would stay as it is now
        return text_bundle(f"{run!r}: the bar where it was begun shows how far it is by now.")
    from ..experiments.asking.progress import run_card  # which a conversation does not need

    return {**card_bundle(run_card(run)), "text/plain": repr(run)}


def _chat(chat: Chat) -> dict[str, str]:
    """Return the turns of a conversation."""
    try:
        return {**parts_bundle(chat.history().shown()), "text/plain": repr(chat)}
    except ChatError:  # the model is not there
        return text_bundle(repr(chat))


DRAWN: Mapping[str, Callable[[Any], dict[str, str]]] = MappingProxyType({  # by the name of a class of this package
    "Chat": _chat,
    "Reply": _reply,
    "ContextInfo": lambda info: {**gauge_bundle(info), "text/plain": repr(info)},
    "Usage": _usage,
    "Change": lambda change: {**text_bundle(str(change)), "text/plain": repr(change)},
    "Run": _run,
    "History": lambda turns: parts_bundle(turns.shown()),
    "View": lambda view: parts_bundle(view.shown()),
})  # fmt: skip
