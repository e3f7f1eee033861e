"""Answers as magics show them: structured ones as tables, and code blocks to choose from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..chat import Chat
from ..conversation.code_blocks import code_blocks, eligible_blocks
from ..conversation.json_answers import read_object
from ..conversation.schema import as_json
from ..display.answer.markdown import AnswerForms
from ..display.answer.structured import is_json_like, structured_forms
from ..providers.base import Reply

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
        found = as_json(reply.parsed)
    except Exception:  # whatever the user's own class raises: the answer is there, and is shown
        found = None
    return found if isinstance(found, Mapping) else read_object(reply.text)


def blocks_below(chat: Chat, reply: Reply) -> int:
    """Return how many code blocks an answer has where ``%chat code`` would list them, else 0."""
    places = chat.conversation.places
    if reply.parsed is not None or not places or places[-1].turn.reply != reply.text:
        return 0
    blocks = code_blocks(reply.text)
    return len(blocks) if len(eligible_blocks(blocks)) > 1 else 0


def remarks_on(reply: Reply) -> tuple[str, ...]:
    """Return what is routine about an answer, for its footer."""
    said = [STORED_REMARK] if reply.stored else []
    if reply.stop_reason == "max_tokens" and reply.text:
        length = f"{reply.usage.output_tokens:,} tokens" if reply.usage else "the longest length allowed"
        said.append(f"stopped at {length}: %chat continue asks for the rest")
    return tuple(said)


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
