"""What magics show of prompts and answers: what went along, calls, figures and next steps, and tables of turns."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from io import BytesIO
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from IPython.lib.pretty import pretty

from ..attachments.attached import Attached
from ..chat import Chat
from ..config.settings import typed_value
from ..context.vision import image_size
from ..conversation.messages import Attachment, ToolCall, ToolResult, ToolRound, TurnRecord
from ..display.answer.attachment_summary import (
    AnswerStep,
    AttachmentSummary,
    CallShown,
    step_bundles,
    summary_bundle,
    table_with_parts,
)
from ..display.answer.footer import Footer, footer_html, footer_line, in_seconds
from ..display.answer.markdown import MimeBundle, bundle, is_json_like, json_bundle, with_sources
from ..display.tables import first_words, shortened
from ..display.text import markdown_block, text_bundle
from ..display.token_page import certainty_bundle
from ..display.widgets.gauge import gauge_bundle, share_or_next
from ..errors import ChatError
from ..providers.base import Reply
from ..providers.lookup import is_self_hosted
from ..runtime.frontend import Where
from ..session.attaching import along_line
from ..session.complete import StreamListener
from ..session.tables import TableWithParts
from ..session.view import PART_MARK
from ..wording import counted

if TYPE_CHECKING:
    from ..experiments.run import Run

FENCE = "```"  # around each text but the lines that only name images and PDFs to the model
MOST_CALL = 100  # characters of a call in its line
_EDGE = 240  # pixels, so that they are sharp on a dense screen, too
_MOST_BYTES = 11_000  # 15 kB as an address
_MOST_PIXELS = 40_000_000  # that are read for a small picture
SAMPLING = ("temperature", "effort", "max_tokens", "parameters")  # with the model, what reproduces an answer
REMARKS = {  # by the source of an answer
    "handout": "handed out with this notebook; nothing was sent: --ask asks the model",
    "store": "stored answer; nothing was sent: run the cell again to ask anew",
}


# what went with a prompt


def attachment_summary(name: str, text: str, files: Sequence[Attachment], more: str = "") -> AttachmentSummary:
    """Return one thing that goes with a prompt, with small pictures of its images; ``text``, ``files``: as sent."""
    only_names = bool(files) and FENCE not in text
    return AttachmentSummary(name, "" if only_names else text, tuple(filter(None, map(thumbnail, files))), more)


def along_bundle(along: Sequence[Attached], *, plain: bool) -> dict[str, str]:
    """Return what goes with a prompt, as it is shown above the answer; ``plain``: as plain text alone."""
    shown = [(part, () if plain else part.files) for part in along]
    parts = [attachment_summary(part.name, part.text, files, part.more) for part, files in shown]
    return summary_bundle(along_line(along), parts, plain=plain)


def call_shown(call: ToolCall, result: ToolResult) -> CallShown:
    """Return a call and what came of it, as a page shows them."""
    how_long = [] if result.seconds is None else [in_seconds(result.seconds)]
    came = ", ".join([shortened(result.brief, MOST_CALL) or first_words(result.text), *how_long])
    line = f"{'✗ ' if result.failed else ''}{shortened(str(call), MOST_CALL)} → {came}"
    pictures = tuple(filter(None, map(thumbnail, result.attachments)))
    parts = (AttachmentSummary("arguments", call.arguments), AttachmentSummary("result", result.text, pictures))
    return CallShown(line, parts)


def steps_of(rounds: Iterable[ToolRound]) -> list[AnswerStep]:
    """Return what a model wrote and called before its answer, as a page shows it."""
    steps = list[AnswerStep]()
    for each in rounds:
        steps += [each.text] if each.text.strip() else []
        steps += map(call_shown, each.calls, each.results)
    return steps


@lru_cache(maxsize=128)  # tables of turns are drawn again and again
def thumbnail(file: Attachment) -> str:
    """Return an image that is sent, made small, as a ``data:`` address; empty where it cannot be shown."""
    width, height = image_size(file.data) if file.kind == "image" else (0, 0)
    if not 0 < width * height <= _MOST_PIXELS:
        return ""
    try:
        from PIL import Image, ImageOps

        with Image.open(BytesIO(file.data)) as image:
            small, made = ImageOps.exif_transpose(image).convert("RGBA"), BytesIO()
        small.thumbnail((_EDGE, _EDGE))
        small.save(made, format="WEBP", quality=50)
    except Exception:  # no Pillow, or an image that is cut off or odd: it goes without a picture
        return ""
    return f"data:image/webp;base64,{b64encode(made.getvalue()).decode()}" if made.tell() <= _MOST_BYTES else ""


def parts_bundle(shown: TableWithParts) -> dict[str, str]:
    """Return a table of messages as HTML, where their parts unfold, as Markdown and as plain text."""
    parts = {
        index: attachment_summary(part.line.removeprefix(PART_MARK), part.text, part.files)
        for index, part in shown.parts.items()
    }
    return table_with_parts(shown.head, shown.rows, shown.caption, parts)


# answers


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


def figures_below(chat: Chat, reply: Reply, place: Where, options: Mapping[str, Any]) -> Footer:
    """Return what stands below an answer: remarks and, where they are wanted, figures; few of a stored answer.

    ``options``: settings of the request alone.
    """
    notes = remarks_on(reply)
    if not _shows_figures(chat, place):
        return Footer(notes=notes)
    figures = Footer() if reply.stored else replace(figures_of(reply), settings=_sampling(chat, options))
    return replace(figures, share=_share(chat, reply.model), notes=notes)


def _share(chat: Chat, model: str) -> str:
    """Return how much of the limit is used; nothing after an answer of another model than the usual."""
    try:
        now = chat.session.latest().info
    except ChatError:  # the usual one is not there
        return ""
    return share_or_next(now) if now.limit and now.model == model else ""


def _sampling(chat: Chat, options: Mapping[str, Any]) -> str:
    """Return the settings that, with the model, reproduce an answer."""
    used = chat.session.settings_for(options)
    values = ((name, getattr(used, name)) for name in SAMPLING)
    line = ", ".join(f"{name} {typed_value(value)}" for name, value in values if value not in (None, {}))
    return chat.session.redactor().masked(line) if used.parameters else line  # which may hold a key


def figures_of(of: Reply | TurnRecord) -> Footer:
    """Return the figures of an answer."""
    return Footer(of.model, of.usage, of.seconds, of.cost, of.stop_reason, is_free=is_self_hosted(of.model))


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
    footer = footer_html(replace(figures_of(reply), notes=notes))
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
