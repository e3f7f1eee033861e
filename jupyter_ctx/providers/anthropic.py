"""Anthropic's Messages API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..context.usage import Usage
from ..conversation.messages import Attachment, Message, ToolCall
from .adapter import Adapter
from .base import Piece, Request, Thought
from .parameters import CLAUDE_FORMS
from .reply_builder import ReplyBuilder
from .request_body import Parts, arguments, as_base64, as_message, content, is_call, sent_calls, sent_parts, tool_fields
from .wire import count, dict_at, text_at

SENT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
API_VERSION = "2023-06-01"
MAX_TOKENS = 4_096  # the API demands one
LEAST_BUDGET = 1_024  # tokens of thinking
_API = "anthropic"
EMPTY = {"type": "text", "text": ""}
DELTAS = ("text", "thinking", "signature", "partial_json")  # fields that come in pieces


class Anthropic(Adapter):
    """A model behind the Messages API."""

    own_address = "https://api.anthropic.com"
    path = "/v1/messages"
    list_path = "/v1/models?limit=1000"
    count_path = "/v1/messages/count_tokens"
    api, sends_reserve = _API, True
    efforts = CLAUDE_FORMS

    def _headers(self) -> dict[str, str]:
        return {"anthropic-version": API_VERSION, "x-api-key": self.at.api_key}

    def body(self, request: Request) -> dict[str, Any]:
        """Return a request as the API takes it; a budget for thinking, of older models, leaves room for the answer."""
        body = super().body(request)
        thinking, most = body.get("thinking"), body["max_tokens"]
        if isinstance(thinking, dict) and thinking.get("budget_tokens", 0) >= most:
            body["thinking"] = {**thinking, "budget_tokens": max(LEAST_BUDGET, most // 2)}
        return body

    def _body(self, request: Request, form: dict[str, Any] | None) -> dict[str, Any]:
        messages, system, whole = _cached(request)
        return {
            "max_tokens": request.max_tokens or MAX_TOKENS,
            "messages": messages,
            "model": self.at.model,
            "cache_control": whole,
            "output_config": form and {"format": {"schema": form, "type": "json_schema"}},
            "stream": True,
            "system": system,
            "temperature": request.temperature,
            "tools": tool_fields(request, "input_schema"),
        }

    def _read(self, events: Iterator[dict[str, Any]], reply: ReplyBuilder) -> Iterator[Piece]:
        reported, blocks = dict[str, Any](), dict[object, dict[str, Any]]()
        for event in events:
            kind, message, delta = event.get("type"), dict_at(event, "message"), dict_at(event, "delta")
            reply.model = text_at(message, "model") or reply.model
            yield _piece(delta or dict_at(event, "content_block"))
            if reply.offers_tools:
                _take(event, blocks)
            for place in (message, event):  # what is reported later counts, but for zeros that gateways fill in
                reported |= {name: value for name, value in dict_at(place, "usage").items() if value}
            if kind == "message_delta" and text_at(delta, "stop_reason"):
                details = dict_at(delta, "stop_details")
                told = filter(None, (text_at(details, name) for name in ("category", "explanation")))
                reply.end(delta["stop_reason"], ": ".join(told))
            reply.whole = reply.whole or kind == "message_stop"
        reply.usage = _usage(reported)
        whole = [_whole(block) for block in blocks.values() if block != EMPTY]
        for number, block in enumerate(whole):
            if is_call(block):
                reply.call(number, text_at(block, "id"), text_at(block, "name"), block["input"])
        reply.state = whole


def _take(event: dict[str, Any], blocks: dict[object, dict[str, Any]]) -> None:
    """Take what an event begins, or adds to a block."""
    place, begun, delta = event.get("index"), event.get("content_block"), dict_at(event, "delta")
    if isinstance(begun, dict):
        blocks[place] = {name: value for name, value in begun.items() if value is not None}
    elif place in blocks:
        added = {name: text_at(blocks[place], name) + text_at(delta, name) for name in DELTAS if name in delta}
        blocks[place].update(added)


def _whole(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block as it is sent back; the input of a call is JSON as the model wrote it."""
    written = block.pop("partial_json", "") or json.dumps(block.get("input") or {}, ensure_ascii=False)
    if "input" not in block:
        return block
    # of a call, or of a tool that the server runs itself
    return {**block, "input": written if is_call(block) else arguments(ToolCall("", "", written))}


def _sent(message: Message) -> Parts:
    """Return a message; of calls, a second one of their results. Thoughts go back as they came, before the calls."""
    each = message.round
    if each is None:
        return [{"role": message.role, "content": content(message, _part)}]
    uses, results = Parts(), Parts()
    for call in sent_calls(each):
        uses.append({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments})
        output = content(as_message(call.result, marks_failed=True), _part)
        failed = {"is_error": True} if call.result.failed else {}
        results.append({"type": "tool_result", "tool_use_id": call.id, "content": output, **failed})
    text = [{"type": "text", "text": message.content}] if message.content.strip() else []
    said = sent_parts(each, _API, uses, text)
    return [{"role": "assistant", "content": said}, {"role": "user", "content": results}]


def _cached(request: Request) -> tuple[list[dict[str, Any]], Any, dict[str, Any] | None]:
    """Return the messages, the system prompt and what marks the whole request as one to be cached.

    Of requests that begin alike, the mark stands where they part: behind the shared text of the last message, else
    behind the messages before, else behind the system prompt.
    """
    messages, system = [each for message in request.said for each in _sent(message)], request.system
    if not request.cache_key or not request.cache_ttl:
        return messages, system, None
    mark: dict[str, Any] = {"type": "ephemeral", "ttl": request.cache_ttl}
    if request.shared is None or any(message.round for message in request.said[-2:]):
        return messages, system, mark
    last, shared = request.said[-1], request.said[-1].content[: request.shared]
    rest = last.content[len(shared) :]
    if shared.strip() and not last.attachments:
        parted = [{"type": "text", "text": shared, "cache_control": mark}, {"type": "text", "text": rest}]
        messages[-1]["content"] = parted if rest.strip() else parted[:1]  # the API refuses parts of nothing but spaces
    elif len(messages) > 1 and request.said[-2].content.strip():
        before = content(request.said[-2], _part)
        parts = [{"type": "text", "text": before}] if isinstance(before, str) else before
        messages[-2]["content"] = [*parts[:-1], {**parts[-1], "cache_control": mark}]
    elif system.strip():
        return messages, [{"type": "text", "text": system, "cache_control": mark}], None
    return messages, system, None


def _piece(block: dict[str, Any]) -> Piece:
    """Return text or a thought; signatures and redacted thinking have nothing to show."""
    kind = block.get("type")
    if kind in ("thinking", "thinking_delta"):
        return Thought(text_at(block, "thinking"))
    return text_at(block, "text") if kind in ("text", "text_delta") else ""


def _part(attachment: Attachment) -> dict[str, Any]:
    source = {"type": "base64", "media_type": attachment.media_type, "data": as_base64(attachment)}
    if attachment.kind == "image":
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, "title": attachment.name}


def _usage(reported: dict[str, Any]) -> Usage | None:
    """Return the usage; cached tokens are reported beside ``input_tokens``, and are added here."""
    fresh, read, written = (count(reported, name) for name in SENT)
    if not fresh + read + written:
        return None
    thought = count(dict_at(reported, "output_tokens_details"), "thinking_tokens")
    return Usage(fresh + read + written, count(reported, "output_tokens"), read, written, thought)
