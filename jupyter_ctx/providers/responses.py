"""OpenAI's Responses API, at its own endpoint and at Azure's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..conversation import Attachment, StopReason
from .adapter import ASK_SECONDS, Adapter, Ending, EventError
from .encoding import content, data_url
from .openai_sdk import new_client, refusal_of, usage_of
from .refusals import Refusal
from .shape import Request, Thought

STOP_REASONS: dict[str, StopReason] = {
    "max_output_tokens": "max_tokens",
    "content_filter": "refusal",
}
THOUGHTS = {  # what comes as a thought, and what numbers its parts
    "response.reasoning_summary_text.delta": "summary_index",
    "response.reasoning_text.delta": "content_index",
}


class Responses(Adapter):
    """A model behind the Responses API. Nothing of a conversation is kept there (``store`` is off)."""

    install = "pip install openai"

    def _new_client(self, http: Any) -> Any:
        return new_client(self.at, http)

    def _start(self, client: Any, request: Request) -> Iterator[Any]:
        optional = {
            "max_output_tokens": request.max_tokens,
            "temperature": request.temperature,
            "prompt_cache_key": request.cache_key,
        }
        return iter(
            client.responses.create(
                **self._asked_for(request),
                stream=True,
                store=False,
                extra_body={**self.at.own, **request.parameters} or None,
                **{name: value for name, value in optional.items() if value is not None},
            )
        )

    def _asked_for(self, request: Request) -> dict[str, Any]:
        """What is sent, and counted."""
        said = [{"role": m.role, "content": content(m, _part, "input_text")} for m in request.said]
        return {"model": self.at.model, "input": said, **({"instructions": request.system} if request.system else {})}

    def _count(self, client: Any, request: Request) -> int:
        return int(client.responses.input_tokens.count(**self._asked_for(request)).input_tokens)

    def _read(self, events: Iterator[Any], ending: Ending) -> Iterator[str | Thought]:
        part: object = None
        for event in events:
            kind = event.type
            if kind == "response.output_text.delta":
                yield event.delta
            elif kind in THOUGHTS and event.delta:
                before, part = part, _part_of(event)
                yield Thought(event.delta if before in (None, part) else f"\n\n{event.delta}")
            elif kind == "response.refusal.delta":
                ending.detail += event.delta
            elif kind == "error":  # yielded by the SDK, not raised
                raise EventError({"code": event.code, "message": event.message})
            elif kind == "response.failed":
                raise EventError(event.response.error.model_dump())
            elif kind in ("response.completed", "response.incomplete"):
                _end(event.response, ending)

    def _refusal(self, error: Exception) -> Refusal | None:
        return refusal_of(error)

    def _listing(self, client: Any) -> Any:
        return client.with_options(timeout=ASK_SECONDS).get("/models", cast_to=object)


def _part_of(event: Any) -> tuple[object, ...]:
    """Which part of what was thought an event goes on with; not by item_id, for which Azure has made up new ones."""
    return event.type, *(getattr(event, name, None) for name in ("output_index", THOUGHTS[event.type]))


def _end(response: Any, ending: Ending) -> None:
    ending.usage, ending.model = usage_of(response.usage, "input", "output"), response.model or ending.model
    why = getattr(response.incomplete_details, "reason", None) or ""
    ending.stop_reason = "refusal" if ending.detail else STOP_REASONS.get(why, "stop")


def _part(attachment: Attachment) -> dict[str, Any]:
    url = data_url(attachment)
    if attachment.kind == "image":
        return {"type": "input_image", "image_url": url}
    return {"type": "input_file", "filename": attachment.name, "file_data": url}
