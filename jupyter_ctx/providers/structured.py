"""Structured answers where a provider has no mode for them, or refuses the schema: the prompt tells it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .base import AnswerSchema, Request
from .error_mapping import Refusal

REFUSES_SCHEMA = re.compile(
    r"(?i)response.?format|output.?(?:config|format)|text\.format|schema|json.?mode|structured.?output|mime.?type|grammar"
)
OF_A_PARAMETER = frozenset({400, 404, 422, 500, 501})  # llama.cpp fails with 500 on what it cannot make a grammar of


def schema_text(schema: AnswerSchema) -> str:
    """Return a schema as JSON, which also tells one from another."""
    return json.dumps(schema.json, ensure_ascii=False)


def told(schema: AnswerSchema) -> str:
    """Return the words that ask for an answer of a schema."""
    return f"Answer with one JSON object that matches this JSON Schema, and with nothing else:\n{schema_text(schema)}"


def in_prompt(request: Request) -> Request:
    """Return a request whose last message asks for its schema; one without a schema as it is."""
    if request.schema is None:
        return request
    *before, last = request.messages
    content = "\n\n".join(filter(None, (last.content, told(request.schema))))
    return replace(request, messages=(*before, replace(last, content=content)))


def refuses_schema(refusal: Refusal) -> bool:
    """Return whether a refusal is about the schema, or about the parameter that holds it."""
    return refusal.code in OF_A_PARAMETER and not refusal.overflow and bool(REFUSES_SCHEMA.search(refusal.text))


def with_parameters(body: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body with further parameters; one that is an object in both has the fields of both."""
    joined = {
        name: {**body[name], **value}
        for name, value in given.items()
        if isinstance(value, Mapping) and isinstance(body.get(name), Mapping)
    }
    return {**body, **given, **joined}
