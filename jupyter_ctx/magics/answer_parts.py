"""What magics show of an answer: its tables where it is structured, and below it remarks, figures and next steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..chat import Chat
from ..conversation.code_blocks import code_blocks, eligible_blocks
from ..conversation.messages import TurnRecord
from ..conversation.schema import as_json, read_object
from ..display.answer.footer import Footer, footer_html
from ..display.answer.markdown import AnswerForms, bundle
from ..display.answer.object_tables import is_json_like, structured_forms
from ..errors import ChatError
from ..providers.base import Reply
from ..runtime.frontend import Where
from ..session.exchange import Coming

STORED_REMARK = "stored answer; nothing was sent: run the cell again to ask anew"


def shown_forms(reply: Reply) -> AnswerForms | None:
    """Return a structured answer as tables; ``None``: the answer is text."""
    return None if reply.parsed is None else structured_forms(_values(reply), reply.text)


def object_forms(text: str) -> AnswerForms | None:
    """Return an answer that is a JSON object and nothing else as tables, as it was shown; ``None``: it is text."""
    if not is_json_like(text):
        return None
    try:
        return structured_forms(read_object(text), text)
    except ValueError:
        return None


def _values(reply: Reply) -> Mapping[str, Any]:
    """Return a structured answer as JSON values: those of its value, else what the model wrote."""
    try:
        value = as_json(reply.parsed)
    except Exception:  # whatever the user's own class raises: the answer is there, and is shown
        value = None
    return value if isinstance(value, Mapping) else read_object(reply.text)


def blocks_below(chat: Chat, reply: Reply) -> int:
    """Return how many code blocks an answer has where ``%chat code`` would list them, else 0."""
    places = chat.conversation.places
    if reply.parsed is not None or not places or places[-1].turn.reply != reply.text:
        return 0
    blocks = code_blocks(reply.text)
    return len(blocks) if len(eligible_blocks(blocks)) > 1 else 0


def remarks_on(reply: Reply) -> tuple[str, ...]:
    """Return what is routine about an answer, for its footer."""
    remarks = [STORED_REMARK] if reply.stored else []
    if reply.stop_reason == "max_tokens" and reply.text:
        length = f"{reply.usage.output_tokens:,} tokens" if reply.usage else "the longest length allowed"
        remarks.append(f"stopped at {length}: %chat continue asks for the rest")
    return tuple(remarks)


def ending(reply: Reply) -> tuple[str, ...]:
    """Return why an answer ended early or is empty, with the next step."""
    length = f" ({reply.usage.output_tokens:,} tokens)" if reply.usage else ""
    if reply.stop_reason == "refusal":
        why = f": {reply.detail.rstrip('.')}" if reply.detail else ""
        return (f"The model refused to answer{why}. Rephrase the prompt, or ask another model (-m).",)
    thought = reply.thinking or (reply.usage is not None and reply.usage.output_tokens > 0)
    if not reply.text and thought and reply.stop_reason in ("max_tokens", "context_window"):
        return (f"The model thought for the whole length of the reply{length}, without an answer: raise --max-tokens.",)
    if not reply.text:
        return ("The model sent an empty reply. Run the cell again, or rephrase the prompt.",)
    if reply.stop_reason == "context_window":
        return ("The reply filled the context window: make room with %chat trim, then use %chat continue.",)
    return ()


def figures_below(chat: Chat, reply: Reply, place: Where, blocks: int = 0) -> Footer:
    """Return what stands below an answer: remarks and, where they are wanted, figures; few of a stored answer.

    ``blocks``: how many code blocks it offers.
    """
    notes = remarks_on(reply)
    if not _shows_figures(chat, place):
        return Footer(notes=notes)
    fill, guess = _fill(chat)
    if reply.stored:
        return Footer(fill=fill, guess=guess, notes=notes)
    return replace(figures_of(reply.model, reply), blocks=blocks, fill=fill, guess=guess, notes=notes)


def figures_of(model: str, of: Reply | TurnRecord) -> Footer:
    """Return the figures of an answer of a model."""
    return Footer(model, of.usage, of.seconds, of.cost, of.stop_reason)


def broken_below(chat: Chat, coming: Coming, place: Where, how: str) -> Footer:
    """Return what stands below an answer that is not whole; ``how``: what ended it."""
    seconds = time.monotonic() - coming.asked
    return Footer(seconds=seconds if _shows_figures(chat, place) else None, broken=how)


def _shows_figures(chat: Chat, place: Where) -> bool:
    """Return whether figures are wanted below answers."""
    return chat.config.footer == "on" or (chat.config.footer == "auto" and place.kind != "headless")


def _fill(chat: Chat) -> tuple[float | None, bool]:
    """Return the used share of the limit, and whether it is a guess; ``None`` where the usual model is not there."""
    try:
        now = chat.info()
    except ChatError:  # another model was asked
        return None, False
    return now.fill if now.limit else None, now.source == "assumed"


def reply_as(form: str) -> Callable[[Reply], str]:
    """Return the function that renders a Reply in one form."""

    def shown(reply: Reply) -> str:
        answer = bundle(shown_forms(reply) or reply.text)[form]
        if form != "text/html":
            return answer
        notes = ("stored answer",) if reply.stored else ()
        return answer + footer_html(replace(figures_of(reply.model, reply), notes=notes))

    return shown
