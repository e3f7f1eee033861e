"""OpenAI's Responses API, at its own endpoint and at Azure's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..conversation.messages import Attachment
from .base import Request, Thought
from .effort import RESPONSES_FORMS
from .endings import Ending, Parts
from .openai_chat import OpenAIAdapter, usage_of
from .request_body import content, data_url
from .stream_events import EventError, dict_at, dicts_at, text_at, tokens_written

ENDS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
FAILED = {"message": "the response failed, and no reason was given"}
THOUGHTS = {  # what comes as a thought, and what numbers its parts
    "response.reasoning_summary_text.delta": "summary_index",
    "response.reasoning_text.delta": "content_index",
}


class Responses(OpenAIAdapter):
    """A model behind the Responses API. Nothing of a conversation is kept there (``store`` is off)."""

    _efforts = RESPONSES_FORMS

    def _start(self, client: Any, request: Request) -> Any:
        return self._post(client, "/responses", self.body(request), "input")

    def body(self, request: Request) -> dict[str, Any]:
        """Return a request as the API takes it."""
        told, form = self._structured(request)
        optional = {
            "max_output_tokens": request.max_tokens,
            "prompt_cache_key": request.cache_key,
            "store": False,
            "temperature": request.temperature,
            "include": ["message.output_text.logprobs"] if request.top_logprobs else None,
            "top_logprobs": request.top_logprobs or None,
            "text": _text_format(request, form),
        }
        given = {name: value for name, value in optional.items() if value is not None}
        body = {"model": self.at.model, "stream": True, **self._asked_for(told), **given}
        return self._with_options(body, request)

    def _asked_for(self, request: Request) -> dict[str, Any]:
        """Return the part of the body that takes tokens."""
        said = [{"role": m.role, "content": content(m, _part, "input_text")} for m in request.said]
        return {"model": self.at.model, "input": said, **({"instructions": request.system} if request.system else {})}

    def _count(self, client: Any, request: Request) -> int:
        told, form = self._structured(request)
        text = {"text": _text_format(request, form)} if form is not None else {}
        return int(client.responses.input_tokens.count(**self._asked_for(told), **text).input_tokens)

    def _read(self, events: Iterator[dict[str, Any]], ending: Ending) -> Iterator[str | Thought]:
        text, thought, refused = Parts(), Parts(), ""
        for event in events:
            kind = text_at(event, "type")
            if kind == "response.output_text.delta":
                ending.tokens += tokens_written(dicts_at(event, "logprobs"))
                yield text.next(text_at(event, "delta"), event.get("output_index"))
            elif kind in THOUGHTS:
                place = kind, event.get("output_index"), event.get(THOUGHTS[kind])
                yield Thought(thought.next(text_at(event, "delta"), place))
            elif kind == "response.refusal.delta":
                refused += text_at(event, "delta")
            elif kind in ENDS or event.get("object") == "response":  # a whole one, from servers that do not stream
                response = dict_at(event, "response") or event
                if kind == "response.failed" or response.get("status") == "failed":
                    raise EventError(response.get("error") or FAILED)
                yield from () if text.last else _whole(response, ending, thought)
                _end(response, ending)
        if refused:
            ending.stop_reason, ending.detail = "refusal", refused


def _text_format(request: Request, form: dict[str, Any] | None) -> dict[str, Any] | None:
    if request.schema is None or form is None:
        return None
    return {"format": {"type": "json_schema", "name": request.schema.name, "schema": form, "strict": True}}


def _end(response: dict[str, Any], ending: Ending) -> None:
    ending.usage = usage_of(dict_at(response, "usage")) or ending.usage
    ending.model = text_at(response, "model") or ending.model
    why = text_at(dict_at(response, "incomplete_details"), "reason")
    if ending.stop_reason is None:
        ending.end(why or text_at(response, "status") or "completed")


def _whole(response: dict[str, Any], ending: Ending, thought: Parts) -> Iterator[str | Thought]:
    """Yield what a response holds, where none of its text arrived in pieces."""
    text, thinks = Parts(), thought.last is None
    for number, item in enumerate(dicts_at(response, "output")):
        for part in (*dicts_at(item, "summary"), *dicts_at(item, "content")):
            kind, said = text_at(part, "type"), text_at(part, "text")
            if kind == "refusal":
                ending.stop_reason, ending.detail = "refusal", text_at(part, "refusal")
            elif kind == "output_text":
                yield text.next(said, number)
            elif thinks and kind in ("summary_text", "reasoning_text"):
                yield Thought(thought.next(said, (number, kind)))


def _part(attachment: Attachment) -> dict[str, Any]:
    url = data_url(attachment)
    if attachment.kind == "image":
        return {"type": "input_image", "image_url": url}
    return {"type": "input_file", "filename": attachment.name, "file_data": url}
