"""OpenAI's Responses API, at its own endpoint and at Azure's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..conversation.messages import Attachment, Message
from .adapter import Adapter
from .base import Piece, Request, Thought
from .error_mapping import Refusal
from .openai_chat import OPENAI, usage_of
from .parameters import RESPONSES_FORMS
from .reply_builder import ReplyBuilder
from .request_body import Parts, as_message, content, data_url, is_call, sent_calls, sent_parts, tool_fields
from .server_facts import reported_tokens
from .wire import dict_at, dicts_in, text_at

ENDS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
_API = "responses"
ENCRYPTED, LOGPROBS = "reasoning.encrypted_content", "message.output_text.logprobs"
SENT_BACK = ("reasoning", "message", "function_call")
FAILED = {"message": "the response failed, and no reason was given"}
THOUGHTS = {  # what comes as a thought, and what numbers its parts
    "response.reasoning_summary_text.delta": "summary_index",
    "response.reasoning_text.delta": "content_index",
}


class Responses(Adapter):
    """A model behind the Responses API. Nothing of a conversation is kept there (``store`` is off)."""

    own_address, list_path, path = OPENAI, "/models", "/responses"
    count_path = "/responses/input_tokens"
    api, reports_logprobs = _API, True
    efforts = RESPONSES_FORMS

    def _body(self, request: Request, form: dict[str, Any] | None) -> dict[str, Any]:
        schema = {"name": request.schema.name, "schema": form, "strict": True} if request.schema and form else None
        return {
            "model": self.at.model,
            "stream": True,
            "input": [item for message in request.said for item in _items(message)],
            "instructions": request.system,
            "max_output_tokens": request.max_tokens,
            "prompt_cache_key": request.cache_key,
            "store": False,
            "temperature": request.temperature,
            "include": [LOGPROBS] * bool(request.top_logprobs) + [ENCRYPTED] * bool(request.tools),
            "top_logprobs": request.top_logprobs or None,
            "text": schema and {"format": {"type": "json_schema", **schema}},
            # parameters may be left out: a strict mode has none
            "tools": [{"type": "function", **each, "strict": False} for each in tool_fields(request)],
        }

    def _read(self, events: Iterator[dict[str, Any]], reply: ReplyBuilder) -> Iterator[Piece]:
        refused, items = "", dict[object, dict[str, Any]]()
        for event in events:
            kind, item = event.get("type"), event.get("item")
            if isinstance(item, dict):
                items[event.get("output_index")] = item
            if kind == "response.output_text.delta":
                reply.place = event.get("output_index")
                reply.logprobs += reported_tokens(event.get("logprobs"))
                yield text_at(event, "delta")
            elif kind in THOUGHTS:
                reply.place = kind, event.get("output_index"), event.get(THOUGHTS[kind])
                yield Thought(text_at(event, "delta"))
            elif kind == "response.refusal.delta":
                refused += text_at(event, "delta")
            elif kind in ENDS:
                response = dict_at(event, "response")
                if kind == "response.failed" or response.get("status") == "failed":
                    raise Refusal(None, response.get("error") or FAILED)
                reply.usage = usage_of(dict_at(response, "usage"))
                reply.model = text_at(response, "model") or reply.model
                why = text_at(dict_at(response, "incomplete_details"), "reason")
                reply.end(why or text_at(response, "status") or "completed")
                items = dict[object, dict[str, Any]](enumerate(dicts_in(response.get("output")))) or items
        _take_calls(items, reply)
        reply.refuse(refused)


def _items(message: Message) -> Parts:
    """Return a message, or calls and their results; reasoning goes back as it came, before them."""
    each = message.round
    if each is None:
        return [{"role": message.role, "content": content(message, _part, "input_text")}]
    calls, results = Parts(), Parts()
    for call in sent_calls(each):
        written = json.dumps(call.arguments, ensure_ascii=False)
        output = content(as_message(call.result), _part, "input_text")
        calls.append({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": written})
        results.append({"type": "function_call_output", "call_id": call.id, "output": output})
    said = [{"role": "assistant", "content": message.content}] if message.content else []
    return [*sent_parts(each, _API, calls, said), *results]


def _take_calls(items: dict[object, dict[str, Any]], reply: ReplyBuilder) -> None:
    """Tell the reply its calls, and what goes back with their results; reasoning that is not in it cannot."""
    for place, item in items.items():
        if is_call(item):
            reply.call(place, text_at(item, "call_id"), text_at(item, "name"), text_at(item, "arguments"))
    kept = [item for item in items.values() if text_at(item, "type") in SENT_BACK]
    reply.state = [item for item in kept if item["type"] != "reasoning" or item.get("encrypted_content")]


def _part(attachment: Attachment) -> dict[str, Any]:
    url = data_url(attachment)
    if attachment.kind == "image":
        return {"type": "input_image", "image_url": url}
    return {"type": "input_file", "filename": attachment.name, "file_data": url}
