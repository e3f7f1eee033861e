"""The body of a request: files, parameters, the schema where the prompt must tell it, and all of it as JSON."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from ..conversation.messages import Attachment, Message
from ..errors import InvalidRequestError
from .base import AnswerSchema, Request
from .error_mapping import Refusal

LISTS = ("tools", "include")
REFUSES_SCHEMA = (
    r"(?i)response.?format|output.?(?:config|format)|text\.format|schema|json.?mode|structured.?output|mime.?type"
    r"|grammar"
)
OF_A_PARAMETER = frozenset({400, 404, 422, 500, 501})  # llama.cpp fails with 500 on what it cannot make a grammar of


def as_base64(attachment: Attachment) -> str:
    """Return a file's bytes in base64."""
    return base64.b64encode(attachment.data).decode()


def data_url(attachment: Attachment) -> str:
    """Return a file as a data URL."""
    return f"data:{attachment.media_type};base64,{as_base64(attachment)}"


def as_part(attachment: Attachment) -> dict[str, Any]:
    """Return a file as a part of a message of Chat Completions."""
    url = data_url(attachment)
    if attachment.kind == "image":
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"filename": attachment.name, "file_data": url}}


def content(message: Message, part: Callable[[Attachment], dict[str, Any]], text: str = "text") -> Any:
    """Return a message's text, or with files a list of parts; ``text`` is what a part of text is called."""
    if not message.attachments:
        return message.content
    said = [{"type": text, "text": message.content}] if message.content else []
    return [*map(part, message.attachments), *said]


def schema_text(schema: AnswerSchema) -> str:
    """Return a schema as JSON, which also tells one from another."""
    return json.dumps(schema.json, ensure_ascii=False)


def in_prompt(request: Request) -> Request:
    """Return a request whose last prompt asks for its schema; one without a schema as it is."""
    if request.schema is None:
        return request
    prompts = [number for number, message in enumerate(request.messages) if message.role == "user"]
    number = prompts[-1] if prompts else len(request.messages) - 1
    asked = request.messages[number]
    demand = "Answer with one JSON object that matches this JSON Schema, and with nothing else:"
    content = "\n\n".join(filter(None, (asked.content, f"{demand}\n{schema_text(request.schema)}")))
    told = replace(asked, content=content)
    return replace(request, messages=(*request.messages[:number], told, *request.messages[number + 1 :]))


def refuses_schema(refusal: Refusal) -> bool:
    """Return whether a refusal is about the schema, or about the parameter that holds it."""
    return refusal.code in OF_A_PARAMETER and not refusal.overflow and bool(re.search(REFUSES_SCHEMA, refusal.text))


def with_parameters(body: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body with further parameters; one that is an object in both has the fields of both.

    Tools of the provider's own, and what to include, go beside those that are there.
    """
    joined = {
        name: {**body[name], **value}
        for name, value in given.items()
        if isinstance(value, Mapping) and isinstance(body.get(name), Mapping)
    }
    lists = {
        name: [*body[name], *given[name]] for name in LISTS if type(body.get(name)) is type(given.get(name)) is list
    }
    return {**body, **given, **joined, **lists}


@cache
def _json_writer() -> Callable[[Any], bytes]:
    from pydantic import TypeAdapter

    return TypeAdapter(Any).dump_json


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return a body as JSON. Raises InvalidRequestError for a value that JSON cannot hold."""
    write = _json_writer()
    fields = []
    for name, value in body.items():
        try:
            fields.append(write(name) + b":" + write(value))
        except ValueError as error:
            raise InvalidRequestError(f"{name} cannot be sent as JSON: {error}.") from None
    return b"{" + b",".join(fields) + b"}"
