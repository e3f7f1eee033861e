"""Anthropic's Messages API."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from ..context.usage import Usage
from ..conversation import Attachment, StopReason
from .adapter import ASK_SECONDS, Adapter, Ending
from .encoding import as_base64, content, count
from .refusals import Refusal
from .shape import Request, Thought

STOP_REASONS: dict[str, StopReason] = {
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "context_window",
    "refusal": "refusal",
}
MAX_TOKENS = 4_096  # the API demands one


class Anthropic(Adapter):
    """A model behind the Messages API.

    Always streamed: the SDK refuses to wait for replies above 21,333 tokens in one piece.
    """

    install = "pip install 'jupyter_ctx[anthropic]'"
    sends_reserve = True

    def _new_client(self, http: Any) -> Any:
        import anthropic

        # it warns of models that will be retired one day, in the cell
        warnings.filterwarnings("ignore", category=DeprecationWarning, module=__name__)
        address = self.at.base_url and self.at.base_url.removesuffix("/v1")  # the SDK adds it
        return anthropic.Anthropic(
            base_url=address, api_key=self.at.api_key, http_client=http, timeout=http.timeout, max_retries=0
        )

    def _start(self, client: Any, request: Request) -> Iterator[Any]:
        temperature = {} if request.temperature is None else {"temperature": request.temperature}  # no argument has it
        caching = {"type": "ephemeral", "ttl": request.cache_ttl} if request.cache_key and request.cache_ttl else None
        optional = {"cache_control": caching} if caching else {}
        return iter(
            client.messages.create(
                **self._asked_for(request),
                max_tokens=request.max_tokens or MAX_TOKENS,
                stream=True,
                extra_body={**self.at.own, **temperature, **request.parameters} or None,
                **optional,
            )
        )

    def _asked_for(self, request: Request) -> dict[str, Any]:
        """What is sent, and counted."""
        messages = [{"role": m.role, "content": content(m, _part)} for m in request.said]
        return {"model": self.at.model, "messages": messages, **({"system": request.system} if request.system else {})}

    def _count(self, client: Any, request: Request) -> int:
        return int(client.messages.count_tokens(**self._asked_for(request)).input_tokens)

    def _read(self, events: Iterator[Any], ending: Ending) -> Iterator[str | Thought]:
        reported: list[Any] = []
        for event in events:
            if event.type == "message_start":
                reported.append(event.message.usage)
                ending.model = event.message.model or ending.model
            elif event.type == "content_block_delta":
                yield _piece(event.delta)
            elif event.type == "message_delta":
                reported.append(event.usage)
                _end(event.delta, ending)
        ending.usage = _usage(reported)

    def _refusal(self, error: Exception) -> Refusal | None:
        """The whole body; an error event carries the status 200 of the stream it came in."""
        import anthropic

        if not isinstance(error, anthropic.APIStatusError):
            return None
        status = error.status_code if error.status_code != 200 else None
        return Refusal(status, error.body if error.body is not None else error.message, error.response.headers)

    def _listing(self, client: Any) -> Any:
        return client.with_options(timeout=ASK_SECONDS).get("/v1/models?limit=1000", cast_to=object)


def _piece(delta: Any) -> str | Thought:
    """Text or a thought; signatures, and thinking that is redacted, show nothing."""
    if delta.type == "thinking_delta":
        return Thought(delta.thinking or "")
    return delta.text or "" if delta.type == "text_delta" else ""


def _end(delta: Any, ending: Ending) -> None:
    if delta.stop_reason is None:
        return
    ending.stop_reason = STOP_REASONS.get(delta.stop_reason, "stop")
    details = getattr(delta, "stop_details", None)
    said = [getattr(details, name, None) for name in ("category", "explanation")]
    ending.detail = ": ".join(str(part) for part in said if part)


def _part(attachment: Attachment) -> dict[str, Any]:
    source = {"type": "base64", "media_type": attachment.media_type, "data": as_base64(attachment)}
    if attachment.kind == "image":
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, "title": attachment.name}


def _usage(reported: list[Any]) -> Usage | None:
    """Cached tokens stand beside input_tokens. What is reported again replaces what was before."""

    def last(name: str) -> int:
        return next((count(usage, name) for usage in reversed(reported) if count(usage, name)), 0)

    read, written = last("cache_read_input_tokens"), last("cache_creation_input_tokens")
    sent = last("input_tokens") + read + written
    if not sent:
        return None
    details = [getattr(usage, "output_tokens_details", None) for usage in reported]
    thought = max((count(detail, "thinking_tokens") for detail in details), default=0)
    return Usage(sent, last("output_tokens"), read, written, thought)
