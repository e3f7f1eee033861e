"""The body of a request: files, calls of functions, parameters, the schema where the prompt must tell it, and JSON.

Sources: openai 3.57 ``types/responses``; anthropic 2.14 ``types``; google-genai 3.6 ``types``; Anthropic's "Thinking",
Gemini's "Thought signatures", DeepSeek's "Thinking mode", OpenRouter's "Preserving reasoning", read in November 2026.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

from ..conversation.messages import Attachment, Message, ToolCall, ToolResult, ToolRound
from ..conversation.text_safety import clean
from ..errors import InvalidRequestError
from .base import AnswerSchema, Request

LISTS = ("tools", "include")
NO_ANSWER = "[no answer]"  # stands behind calls that no answer followed
CALL_ID = r"[A-Za-z0-9_-]{1,40}"
Parts = list[dict[str, Any]]  # of a message, as an API has them


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
    last = len(request.messages) - 1
    number = max((n for n, message in enumerate(request.messages) if message.role == "user"), default=last)
    asked = request.messages[number]
    demand = "Answer with one JSON object that matches this JSON Schema, and with nothing else:"
    content = "\n\n".join(filter(None, (asked.content, f"{demand}\n{schema_text(request.schema)}")))
    told = replace(asked, content=content)
    return replace(request, messages=(*request.messages[:number], told, *request.messages[number + 1 :]))


# functions that a model may call


def tool_fields(request: Request, schema: str = "parameters") -> Parts:
    """Return what every API is told of a function; ``schema``: what it calls the JSON Schema of the parameters."""
    return [{"name": tool.name, "description": tool.description, schema: tool.json} for tool in request.tools]


def arguments(call: ToolCall) -> dict[str, Any]:
    """Return the arguments as an object, in which a text that is none stands under ``arguments``."""
    try:
        written = json.dumps(json.loads(call.arguments), ensure_ascii=False, allow_nan=False)
        given = json.loads(clean(written))
    except (ValueError, RecursionError):
        given = None
    return given if isinstance(given, dict) else {"arguments": call.arguments}


class SentCall(NamedTuple):
    """A call as every API takes it, with its result."""

    id: str
    name: str
    arguments: dict[str, Any]
    result: ToolResult


def sent_calls(each: ToolRound, pattern: str = CALL_ID) -> list[SentCall]:
    """Return the calls of a round; a name may be made up, and an id another API's, which have other forms."""
    return [
        SentCall(
            call.id if re.fullmatch(pattern, call.id) else sha256(call.id.encode()).hexdigest()[:9],
            re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:64] or "_",
            arguments(call),
            result,
        )
        for call, result in zip(each.calls, each.results, strict=True)
    ]


def as_message(result: ToolResult, *, marks_failed: bool = False) -> Message:
    """Return a result as a message, which says that it failed where the API has no mark for that."""
    text = f"Error: {result.text}" if result.failed and not marks_failed else result.text
    return Message("user", text, result.attachments)


def written_state(api: str, state: Any) -> str:
    """Return what an API wants back as the state of a round; empty: nothing."""
    return clean(json.dumps({"api": api, "state": state}, ensure_ascii=False)) if state else ""


def sent_state(each: ToolRound, api: str) -> Any:
    """Return what an API wants back with a round; ``None``: nothing, or it is another API's."""
    said = json.loads(each.state) if each.state else {}
    return said["state"] if said.get("api") == api else None


def is_call(part: dict[str, Any]) -> bool:
    """Return whether a part of a message, as an API has it, calls a function that is offered."""
    return part.get("type") in ("function_call", "tool_use") or "functionCall" in part


def sent_parts(each: ToolRound, api: str, calls: Parts, text: Parts) -> Parts:
    """Return the parts of an answer that ends in ``calls``: as the API sent them, where it wants that, else the text.

    Each call takes the place of the one that came.
    """
    parts, left = sent_state(each, api), iter(calls)
    if parts is None or sum(map(is_call, parts)) != len(calls):
        return [*text, *calls]
    return [{**part, **next(left)} if is_call(part) else part for part in parts]


def prepared(request: Request) -> Request:
    """Return a request whose calls can be sent.

    Where no tools are offered, which APIs want beside calls, they are text behind the prompt that they are made for,
    with the files of their results. A text stands for an answer that never came, since some refuse a prompt right
    behind results.
    """
    if not any(message.round for message in request.messages):
        return request
    messages, is_behind_calls = list[Message](), False
    for message in request.messages:
        if is_behind_calls and message.role == "user":
            messages.append(Message("assistant", NO_ANSWER))
        is_behind_calls = message.round is not None
        if message.round is None or request.tools or not messages:
            messages.append(message)
        else:
            prompt = messages[-1]
            text = "\n\n".join(filter(None, (prompt.content, str(message.round))))
            files = (*prompt.attachments, *message.round.files)
            messages[-1] = replace(prompt, content=text, attachments=files)
    return replace(request, messages=tuple(messages))


# parameters, and JSON


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
    try:
        return _json_writer()(body)
    except ValueError as error:
        raise InvalidRequestError(f"A parameter cannot be sent as JSON: {error}.") from None
