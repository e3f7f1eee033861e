"""Chat Completions, as a hundred servers that are compatible with OpenAI's speak it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..conversation import StopReason
from .adapter import ASK_SECONDS, Adapter, Ending, Endpoint
from .encoding import as_part, content
from .metadata import read_cards
from .openai_sdk import new_client, refusal_of, usage_of
from .refusals import Refusal
from .shape import Card, Request, Thought
from .thinking import Splitter

STOP_REASONS: dict[str, StopReason] = {
    "length": "max_tokens",
    "content_filter": "refusal",
    "model_context_window_exceeded": "context_window",
    "error": "cut",  # OpenRouter, where the provider behind it broke off
}
BAD_PARAMETER = frozenset({400, 404, 422})


class ChatCompletions(Adapter):
    """A model behind an OpenAI-compatible endpoint."""

    install = "pip install openai"

    def __init__(self, at: Endpoint) -> None:
        super().__init__(at)
        self._options: dict[str, Any] = {"stream_options": {"include_usage": True}}
        self._length = "max_tokens"
        self._missing: set[str] = set()  # paths that this server has not

    def _new_client(self, http: Any) -> Any:
        return new_client(self.at, http)

    def _start(self, client: Any, request: Request) -> Iterator[Any]:
        optional = {self._length: request.max_tokens, "temperature": request.temperature, **self._options}
        return iter(
            client.chat.completions.create(
                **self._asked_for(request),
                stream=True,
                extra_body={**self.at.own, **request.parameters} or None,
                **{name: value for name, value in optional.items() if value is not None},
            )
        )

    def _asked_for(self, request: Request) -> dict[str, Any]:
        """What is sent, and counted."""
        messages = [{"role": m.role, "content": content(m, as_part)} for m in request.messages]
        return {"model": self.at.model, "messages": messages}

    def _count(self, client: Any, request: Request) -> int | None:
        """Servers of one's own count: llama.cpp in a path of its own, vLLM where it shows tokens."""
        root = (self.at.base_url or "").removesuffix("/v1")
        for path, name in ((f"{root}/v1/chat/completions/input_tokens", "input_tokens"), (f"{root}/tokenize", "count")):
            if self.at.serves and path not in self._missing:
                said = self._posted(client, path, self._asked_for(request))
                if isinstance(said.get(name), int):
                    return int(said[name])
                self._missing.add(path)
        return None

    def _posted(self, client: Any, path: str, body: dict[str, Any]) -> dict[str, Any]:
        import openai

        try:
            said = client.with_options(timeout=ASK_SECONDS).post(path, body=body, cast_to=object)
        except openai.APIStatusError:
            return {}
        return said if isinstance(said, dict) else {}

    def _read(self, events: Iterator[Any], ending: Ending) -> Iterator[str | Thought]:
        splitter = Splitter()
        for chunk in events:
            if chunk.usage:
                ending.usage = usage_of(chunk.usage, "prompt", "completion") or ending.usage
            if chunk.model:
                ending.model = chunk.model
            for choice in chunk.choices or ():  # some servers send null
                if choice.finish_reason:
                    ending.stop_reason = STOP_REASONS.get(choice.finish_reason, "stop")
                for piece in _pieces(choice.delta, ending) if choice.delta else ():
                    yield from splitter.feed(piece) if isinstance(piece, str) else (piece,)
        yield splitter.end()
        if ending.detail:
            ending.stop_reason = "refusal"

    def _refusal(self, error: Exception) -> Refusal | None:
        return refusal_of(error)

    def _relent(self, refusal: Refusal) -> bool:
        """Some servers refuse stream_options; OpenAI's reasoning models want max_completion_tokens."""
        if refusal.code not in BAD_PARAMETER:
            return False
        if "stream_options" in refusal.words and self._options:
            self._options = {}
            return True
        if "max_completion_tokens" in refusal.words and self._length == "max_tokens":
            self._length = "max_completion_tokens"
            return True
        return False

    def _listing(self, client: Any) -> Any:
        """As it comes: Together's is a bare array, which the SDK's own list does not take."""
        return client.with_options(timeout=ASK_SECONDS).get("/models", cast_to=object)

    def _loaded(self, client: Any) -> tuple[Card, ...]:
        if not self.at.loaded_at:
            return super()._loaded(client)
        path = (self.at.base_url or "").removesuffix("/v1") + self.at.loaded_at
        return read_cards(client.with_options(timeout=ASK_SECONDS).get(path, cast_to=object), loaded=True)


def _pieces(delta: Any, ending: Ending) -> Iterator[str | Thought]:
    """What a piece of the answer holds: a thought, or text; Mistral sends both in lists of parts."""
    if delta.refusal:
        ending.detail += delta.refusal
    yield Thought(_thought(delta.model_extra or {}))
    if not isinstance(delta.content, list):
        yield delta.content or ""
        return
    for part in delta.content:
        thought = part.get("thinking") if isinstance(part, dict) else None
        yield _texts([part]) if thought is None else Thought(_texts(thought))


def _thought(extra: Mapping[str, Any]) -> str:
    """Reasoning has one name with DeepSeek and llama.cpp, another with OpenRouter, Groq and vLLM.

    OpenRouter has it once more in parts, some of them encrypted.
    """
    found = extra.get("reasoning_content") or extra.get("reasoning") or extra.get("reasoning_details")
    return found if isinstance(found, str) else _texts(found)


def _texts(parts: Any) -> str:
    """The text in a list of parts; nothing where there is none."""
    held = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    texts = [part.get("text") or part.get("summary") for part in held]
    return "".join(text for text in texts if isinstance(text, str))
