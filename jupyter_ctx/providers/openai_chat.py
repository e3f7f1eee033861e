"""Chat Completions, as OpenAI-compatible servers speak it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..context.usage import Usage
from ..context.windows import ContextWindow, Fact
from ..errors import ChatError
from .adapter import ASK_SECONDS, Adapter, Endpoint
from .base import Card, Piece, Request, Thought
from .error_mapping import Refusal
from .http_client import Sdk
from .logprobs import reported_tokens
from .model_lists import read_cards
from .parameters import COMPATIBLE_FORMS, EFFORT_ALONE, OWN_SERVER_FORMS, Form, says_not_taken
from .reply_builder import ReplyBuilder
from .request_body import as_part, content, in_prompt
from .stream_events import DONE, EventError, count, dict_at, dicts_in, text_at
from .think_tags import Splitter, begins_inside


class OpenAIAdapter(Adapter):
    """A model behind one of the APIs that OpenAI's SDK speaks."""

    sdk = Sdk("openai", oldest=(2, 16), newest=3, on_httpx2=3)
    reports_logprobs = True

    def _new_client(self, http: Any) -> Any:
        import openai

        at = self.at
        return openai.OpenAI(
            base_url=at.base_url, api_key=at.api_key, http_client=http, timeout=http.timeout, max_retries=0
        )

    def _listing(self, client: Any) -> Any:
        """Return the unparsed list: Together's is a bare array, which the SDK's own method refuses."""
        return client.with_options(timeout=ASK_SECONDS).get("/models", cast_to=object)


def usage_of(reported: Mapping[str, Any]) -> Usage | None:
    """Return the usage that OpenAI's two APIs and compatible servers report, or ``None``.

    Cached tokens are inside what was sent, and reasoning inside what was said, except where the
    total shows that it stands beside it (xAI).
    """
    sent = count(reported, "prompt_tokens", "input_tokens") if reported else 0
    if not sent:
        return None
    said, total = count(reported, "completion_tokens", "output_tokens"), count(reported, "total_tokens")
    inside = dict_at(reported, "prompt_tokens_details") or dict_at(reported, "input_tokens_details")
    outside = dict_at(reported, "completion_tokens_details") or dict_at(reported, "output_tokens_details")
    thought = count(outside, "reasoning_tokens") or count(reported, "reasoning_tokens")
    if thought and (thought > said or total == sent + said + thought):
        said += thought
    read = count(inside, "cached_tokens") or count(
        reported,
        "prompt_cache_hit_tokens",  # DeepSeek
        "cached_tokens",  # Moonshot
        "cache_read_input_tokens",  # gateways to Anthropic
    )
    written = count(inside, "cache_write_tokens") or count(reported, "cache_creation_input_tokens")
    read = min(read, sent)
    return Usage(sent, said, read, min(written, sent - read), thought)


LENGTH, NEWER_LENGTH = "max_tokens", "max_completion_tokens"
OLLAMA_LOADED = "/api/ps"


class ChatCompletions(OpenAIAdapter):
    """A model behind an OpenAI-compatible endpoint."""

    def __init__(self, at: Endpoint) -> None:
        super().__init__(at)
        self._missing: set[str] = set()  # paths that this server has not
        self._inside = begins_inside(at.model)
        self._shown: Card | None = None  # what Ollama says of the model

    def _start(self, client: Any, request: Request) -> Any:
        return self._post(client, "/chat/completions", self.body(request))

    def body(self, request: Request) -> dict[str, Any]:
        """Return a request as the API takes it."""
        _, form = self._structured(request)
        body = {
            "model": self.at.model,
            "stream": True,
            "messages": _messages(request),
            NEWER_LENGTH if LENGTH in self._refused.names else LENGTH: request.max_tokens,
            "response_format": _response_format(request, form),
            "stream_options": {"include_usage": True},
            "temperature": request.temperature,
            "logprobs": True if request.top_logprobs else None,
            "top_logprobs": request.top_logprobs or None,
        }
        return self._with_options(body, request)

    @property
    def _efforts(self) -> Sequence[Form]:
        return COMPATIBLE_FORMS.get(self.at.name) or (OWN_SERVER_FORMS if self.at.self_hosted else (EFFORT_ALONE,))

    def _form(self, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return a schema as it is for a server of the user's own: these know all keywords, or pass over some."""
        return dict(schema) if self.at.self_hosted else super()._form(schema)

    def _count(self, client: Any, request: Request) -> int | None:
        """Return the count of a server of the user's own: llama.cpp and vLLM have a path for it."""
        counted, tokenized = f"{self._root}/v1/chat/completions/input_tokens", f"{self._root}/tokenize"
        for path, name in ((counted, "input_tokens"), (tokenized, "count")):
            if self.at.self_hosted and path not in self._missing:
                said = self._posted(client, path, {"model": self.at.model, "messages": _messages(request)})
                if isinstance(said.get(name), int):
                    return int(said[name])
                self._missing.add(path)
        return None

    def beside(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return what a server of the user's own answers at a path beside OpenAI's API; empty: nothing."""
        if not self.at.self_hosted:
            return {}
        return self._ask(lambda client: self._posted(client, self._root + path, body, self.at.timeout))

    def _posted(self, client: Any, path: str, body: dict[str, Any], seconds: float = ASK_SECONDS) -> dict[str, Any]:
        import openai

        try:
            said = client.with_options(timeout=seconds).post(path, body=body, cast_to=object)
        except openai.APIStatusError:
            return {}
        return said if isinstance(said, dict) else {}

    def _read(self, events: Iterator[dict[str, Any]], reply: ReplyBuilder) -> Iterator[Piece]:
        splitter, reports, refused = Splitter(inside=self._inside), list[dict[str, Any]](), ""
        for event in events:
            choice = _choice(event)
            for place in (event, event.get("x_groq"), choice):  # Groq's, and Moonshot's
                if isinstance(place, dict) and isinstance(place.get("usage"), dict):
                    reports.append(place["usage"])
            reply.whole = event is DONE and bool(reports)
            reply.model = text_at(event, "model") or reply.model
            delta = _delta(choice, is_first=not reply.pieces) if choice else {}
            refused += delta.get("refusal") or ""
            for piece in _pieces(delta):
                if isinstance(piece, str):
                    yield from splitter.feed(piece)
                else:
                    splitter.apart()
                    yield piece
            if choice.get("logprobs"):
                reply.logprobs += reported_tokens(dict_at(choice, "logprobs").get("content"))
            if choice.get("finish_reason"):
                reply.end(str(choice["finish_reason"]))
        reply.usage = next(filter(None, map(usage_of, reversed(reports))), None)
        yield splitter.end()
        yield self._corrected(splitter, reply)
        reply.refuse(refused)

    def _corrected(self, splitter: Splitter, reply: ReplyBuilder) -> str:
        """Learn how this model marks thoughts. Return the text that was taken for a thought."""
        thinks, corrected = not splitter.assumed, splitter.corrected()
        if corrected is None or not (thinks or reply.stop_reason == "stop"):
            return ""
        self._inside, reply.corrected = thinks, corrected
        return "" if thinks else corrected[1]

    def _learn(self, refusal: Refusal, request: Request) -> None:
        """Learn what the model does not take; where that is the usual name of the reply's length, a newer is sent."""
        if NEWER_LENGTH in refusal.words or (says_not_taken(refusal) and LENGTH in refusal.words):
            self._refused.names.add(LENGTH)
        else:
            super()._learn(refusal, request)

    def says(self, fact: Fact, *, ask: bool) -> bool | None:
        """Return whether a fact holds of the model, as the server's list of models said; Ollama is asked for it."""
        path = f"{self._root}/api/show"
        if ask and self.at.loaded_at == OLLAMA_LOADED and self._shown is None:
            with suppress(ChatError):
                shown = self._ask(lambda client: self._posted(client, path, {"model": self.at.model}))
                self._shown, *_ = read_cards([{**shown, "id": self.at.model}])
        return super().says(fact, ask=ask) if self._shown is None else self._shown.facts[fact]

    def _loaded(self, client: Any) -> tuple[Card, ...]:
        asked = client.with_options(timeout=ASK_SECONDS)
        if self.at.loaded_at:
            return read_cards(asked.get(self._root + self.at.loaded_at, cast_to=object), loaded=True)
        cards = read_cards(self._listing(client))
        return cards if any(card.served for card in cards) else (*self._properties(asked), *cards)

    def _properties(self, asked: Any) -> tuple[Card, ...]:
        """Return what llama.cpp reports of its one model where its list of models says nothing."""
        import openai

        path = f"{self._root}/props"
        try:
            said = asked.get(path, cast_to=object) if path not in self._missing else {}
        except openai.APIStatusError:
            self._missing.add(path)
            return ()
        n_ctx = count(dict_at(said, "default_generation_settings"), "n_ctx")
        cards = read_cards([{**said, "id": self.at.model}])
        return tuple(card._replace(served=ContextWindow(n_ctx, source="server")) for card in cards if n_ctx)

    @property
    def _root(self) -> str:
        """The address of what a server offers beside OpenAI's API."""
        return (self.at.base_url or "").removesuffix("/v1")


def _response_format(request: Request, form: dict[str, Any] | None) -> dict[str, Any] | None:
    if request.schema is None or form is None:
        return None
    return {"type": "json_schema", "json_schema": {"name": request.schema.name, "schema": form, "strict": True}}


def _messages(request: Request) -> list[dict[str, Any]]:
    """Return the messages; the last tells the schema, since many servers constrain the answer only, or heed it not."""
    return [{"role": message.role, "content": content(message, as_part)} for message in in_prompt(request).messages]


def _choice(event: dict[str, Any]) -> dict[str, Any]:
    """Return the first of the answers in an event, else an empty object. Raises EventError where it is an error."""
    choices = event.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and not choice.get("index"):
            if choice.get("error"):  # OpenRouter
                raise EventError(choice)
            return choice
    return {}


def _delta(choice: dict[str, Any], *, is_first: bool) -> dict[str, Any]:
    """Return a piece of the answer, or the whole answer of a server that does not stream.

    MiniMax repeats the whole answer after the pieces.
    """
    delta = choice.get("delta")
    if delta and isinstance(delta, dict):
        return delta
    return dict_at(choice, "message") if is_first else {}


def _pieces(delta: dict[str, Any]) -> list[Piece]:
    """Return the thoughts and texts in a piece of the answer; Mistral sends both in lists of parts.

    Reasoning has one name at DeepSeek and llama.cpp, another at OpenRouter, Groq and vLLM; OpenRouter repeats it in
    parts, some of them encrypted.
    """
    pieces = list[Piece]()
    thought = delta.get("reasoning_content") or delta.get("reasoning") or delta.get("reasoning_details")
    if thought:
        pieces.append(Thought(thought if isinstance(thought, str) else _texts(thought)))
    text = delta.get("content")
    if text and isinstance(text, str):
        pieces.append(text)
    elif text:
        for part in dicts_in(text):
            thinking = part.get("thinking")
            pieces.append(_texts([part]) if thinking is None else Thought(_texts(thinking)))
    return pieces


def _texts(parts: Any) -> str:
    """Return the text in a list of parts."""
    texts = [part.get("text") or part.get("summary") for part in dicts_in(parts)]
    return "".join([text for text in texts if isinstance(text, str)])
