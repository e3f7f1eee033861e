"""Answers as magics show them: structured ones as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
