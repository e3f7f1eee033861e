"""Answers as magics show them: structured ones as tables, and code blocks to choose from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..chat import Chat
from ..conversation.code_blocks import code_blocks, eligible_blocks
from ..conversation.json_answers import read_object
from ..conversation.schema import as_json
from ..display.answer.markdown import AnswerForms
from ..display.answer.structured import structured_forms
from ..providers.base import Reply


def shown_forms(reply: Reply) -> AnswerForms | None:
    """Return a structured answer as tables; ``None``: the answer is text."""
    return None if reply.parsed is None else structured_forms(_values(reply), reply.text)


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
