"""Chat Completions, as OpenAI-compatible servers speak it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..context.usage import Usage
from ..context.windows import ContextWindow, Fact
from ..errors import ChatError
from .adapter import ASK_SECONDS, EMPTY_PIECES, Adapter, Endpoint
from .base import Card, Request, Thought
from .effort import COMPATIBLE_FORMS, EFFORT_ALONE, OWN_SERVER_FORMS, Form
from .endings import Ending
from .error_mapping import Refusal
from .model_lists import read_cards
from .request_body import as_part, content, in_prompt
from .sdk import Sdk
from .stream_events import DONE, EventError, count, dict_at, dicts_at, text_at, tokens_written
from .think_tags import Splitter, begins_inside
from .unsupported import says_not_taken


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
        optional = {
            NEWER_LENGTH if LENGTH in self._unsupported.names else LENGTH: request.max_tokens,
            "response_format": _response_format(request, form),
            "stream_options": {"include_usage": True},
            "temperature": request.temperature,
            "logprobs": True if request.top_logprobs else None,
            "top_logprobs": request.top_logprobs or None,
        }
        given = {name: value for name, value in optional.items() if value is not None}
        body = {"model": self.at.model, "stream": True, **self._asked_for(request), **given}
        return self._with_options(body, request)

    @property
    def _efforts(self) -> Sequence[Form]:
        return COMPATIBLE_FORMS.get(self.at.name) or (OWN_SERVER_FORMS if self.at.serves else (EFFORT_ALONE,))

    def _asked_for(self, request: Request) -> dict[str, Any]:
        """Return the part of the body that takes tokens."""
        request = in_prompt(request)  # many servers constrain the answer only, or do not heed the schema
        messages = [{"role": m.role, "content": content(m, as_part)} for m in request.messages]
        return {"model": self.at.model, "messages": messages}

    def _form(self, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return a schema as it is for a server of the user's own: these know all keywords, or pass over some."""
        return dict(schema) if self.at.serves else super()._form(schema)

    def _count(self, client: Any, request: Request) -> int | None:
        """Return the count of a server of the user's own: llama.cpp and vLLM have a path for it."""
        counted, tokenized = f"{self._root}/v1/chat/completions/input_tokens", f"{self._root}/tokenize"
        for path, name in ((counted, "input_tokens"), (tokenized, "count")):
            if self.at.serves and path not in self._missing:
                said = self._posted(client, path, self._asked_for(request))
                if isinstance(said.get(name), int):
                    return int(said[name])
                self._missing.add(path)
        return None

    def beside(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return what a server of the user's own answers at a path beside OpenAI's API; empty: nothing."""
        if not self.at.serves:
            return {}
        return self._asked_twice(lambda client: self._posted(client, self._root + path, body, self.at.timeout))

    def _posted(self, client: Any, path: str, body: dict[str, Any], seconds: float = ASK_SECONDS) -> dict[str, Any]:
        import openai

        try:
            said = client.with_options(timeout=seconds).post(path, body=body, cast_to=object)
        except openai.APIStatusError:
            return {}
        return said if isinstance(said, dict) else {}

    def _read(self, events: Iterator[dict[str, Any]], ending: Ending) -> Iterator[str | Thought]:
        splitter, refused, empty = Splitter(inside=self._inside), "", True
        for event in events:
            ending.whole = event is DONE and ending.usage is not None
            ending.model = text_at(event, "model") or ending.model
            choices = dicts_at(event, "choices")
            for place in (event, dict_at(event, "x_groq"), *choices):  # Moonshot reports in a choice
                ending.usage = usage_of(dict_at(place, "usage")) or ending.usage
            for choice in choices:
                said = _said(choice, whole=empty)
                refused += text_at(said, "refusal")
                for piece in _pieces(said):
                    empty = empty and piece in EMPTY_PIECES
                    if isinstance(piece, str):
                        yield from splitter.feed(piece)
                    elif piece.text:
                        splitter.apart()
                        yield piece
                ending.tokens += tokens_written(dicts_at(choice.get("logprobs"), "content"))
                if text_at(choice, "finish_reason"):
                    ending.end(choice["finish_reason"])
        yield splitter.end()
        yield self._corrected(splitter, ending)
        if refused:
            ending.stop_reason, ending.detail = "refusal", refused

    def _corrected(self, splitter: Splitter, ending: Ending) -> str:
        """Learn how this model marks thoughts. Return the text that was taken for a thought."""
        thinks, said = not splitter.assumed, splitter.corrected()
        if said is None or not (thinks or ending.stop_reason == "stop"):
            return ""
        self._inside, ending.said = thinks, said
        return "" if thinks else said[1]

    def _not_taken(self, refusal: Refusal, request: Request) -> set[str]:
        """Return what the model does not take; where that is the usual name of the reply's length, a newer is sent."""
        if NEWER_LENGTH in refusal.words or (says_not_taken(refusal) and LENGTH in refusal.words):
            return {LENGTH}
        return super()._not_taken(refusal, request)

    def says(self, fact: Fact, *, ask: bool) -> bool | None:
        """Return whether a fact holds of the model, as the server's list of models said; Ollama is asked for it."""
        path = f"{self._root}/api/show"
        if ask and self.at.loaded_at == OLLAMA_LOADED and self._shown is None:
            with suppress(ChatError):
                said = self._asked_twice(lambda client: self._posted(client, path, {"model": self.at.model}))
                self._shown, *_ = read_cards([{**said, "id": self.at.model}])
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


def _said(choice: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    """Return a piece of the answer, or the ``whole`` answer of a server that does not stream.

    MiniMax repeats the whole answer after the pieces.
    """
    if choice.get("error"):  # OpenRouter
        raise EventError(choice)
    return dict_at(choice, "delta") or (dict_at(choice, "message") if whole else {})


def _pieces(said: dict[str, Any]) -> Iterator[str | Thought]:
    """Yield the thoughts and texts in a piece of the answer; Mistral sends both in lists of parts."""
    yield Thought(_thought(said))
    yield text_at(said, "content")
    for part in dicts_at(said, "content"):
        thought = part.get("thinking")
        yield _texts([part]) if thought is None else Thought(_texts(thought))


def _thought(extra: Mapping[str, Any]) -> str:
    """Return the reasoning, which DeepSeek and llama.cpp name differently from OpenRouter, Groq and vLLM.

    OpenRouter repeats it in parts, some of them encrypted.
    """
    found = extra.get("reasoning_content") or extra.get("reasoning") or extra.get("reasoning_details")
    return found if isinstance(found, str) else _texts(found)


def _texts(parts: Any) -> str:
    """Return the text in a list of parts."""
    held = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    texts = [part.get("text") or part.get("summary") for part in held]
    return "".join(text for text in texts if isinstance(text, str))
