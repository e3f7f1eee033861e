"""What values of this package show of themselves in a notebook: HTML, Markdown and plain text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from IPython.lib.pretty import pretty

from ..chat import Chat
from ..context.usage import Usage
from ..conversation.events import Added
from ..conversation.messages import Turn
from ..display.answer.calls import step_bundles
from ..display.answer.footer import Footer, footer_html, footer_line
from ..display.answer.markdown import bundle, to_markdown
from ..display.run_page import card_bundle
from ..display.text import markdown_block, markdown_line, text_bundle
from ..display.transcript import IN_FULL, Transcript, TurnShown, total_line, transcript_html, transcript_text
from ..display.widgets.gauge import gauge_bundle
from ..errors import ChatError
from ..export.conversation_files import carried, redacted
from ..export.markdown_text import conversation_markdown
from ..providers.base import Reply
from ..wording import turns
from .answer_parts import figures_of, shown_bundle
from .conversation_tables import parts_bundle
from .sent_parts import steps_of

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
    """Return the conversation, with keys blanked as in exports."""
    whole = replace(carried(chat.conversation), system=chat.system or None)
    said = redacted(whole, chat.session.redactor())
    if not said.turns:
        return text_bundle(repr(chat))
    talk = _transcript(chat, said)
    return {
        "text/html": transcript_html(talk),
        "text/markdown": _as_markdown(said, talk),
        "text/plain": transcript_text(talk, repr(chat)),
    }


def _transcript(chat: Chat, said: Added) -> Transcript:
    total = chat.usage().total
    taken = Usage(total.input_tokens, total.output_tokens) if total.input_tokens else None
    states = _states(chat)
    shown = [
        TurnShown(number, turn, figures_of(turn.model, turn.record), states[number - 1], steps_of(turn.rounds))
        for number, turn in enumerate(said.turns, 1)
    ]
    summary = said.summary.text if said.summary is not None else ""
    figures = Footer(usage=taken, seconds=total.seconds or None, cost=total.cost)
    return Transcript(chat.config.model, shown, figures, chat.name, said.system or "", summary)


def _states(chat: Chat) -> list[tuple[str, ...]]:
    """Return what becomes of each turn; nothing is said of those that are simply sent, nor where that is unknown."""
    try:
        return [tuple(state for state in row.states if state != "sent") for row in chat.history()]
    except ChatError:  # the model is not there
        return [()] * len(chat.turns)


def _as_markdown(said: Added, talk: Transcript) -> str:
    """Return the newest turns as an export writes them, without pictures; nothing in it can act."""
    newest = [_harmless(turn) for turn in said.turns[-IN_FULL:]]
    older = len(said.turns) - len(newest)
    told = [f"{turns(older)} before these: chat.export('talk.md') writes all."] if older else []
    system = None if said.system is None else to_markdown(said.system)
    text = conversation_markdown(Added(tuple(newest), system))
    return "\n\n".join([*map(markdown_line, told), text.rstrip(), markdown_line(total_line(talk))])


def _harmless(turn: Turn) -> Turn:
    record = replace(turn.record, typed=None)
    return replace(turn, prompt=to_markdown(turn.typed), reply=to_markdown(turn.reply), record=record)


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
