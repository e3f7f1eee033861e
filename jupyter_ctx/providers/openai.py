"""OpenAI's Chat Completions, as OpenAI and a hundred compatible servers speak it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..context.overflow import classify_overflow
from ..context.usage import Usage
from ..context.windows import ContextWindow
from ..conversation import StopReason
from ..errors import (
    AuthenticationError,
    ChatError,
    ContextOverflowError,
    MissingDependencyError,
    ModelNotFoundError,
    ProviderConnectionError,
    ProviderError,
    RateLimitError,
)
from .shape import Reply, Request, clean

if TYPE_CHECKING:
    import openai

STOP_REASONS: dict[str | None, StopReason] = {
    None: "cut",  # the stream ended without saying why
    "length": "max_tokens",
    "content_filter": "refusal",
    "model_context_window_exceeded": "context_window",
}
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
SECRET_LENGTH = 6
ASK_SECONDS = 2.0  # for a server's own report of its window


class OpenAIProvider:
    """A model behind an OpenAI-compatible endpoint."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None,
        api_key: str,
        no_key: str = "",
        extra: dict[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.endpoint = f"{base_url or 'openai'} {model}"
        self.tokenizer = self.endpoint
        self.sends_reserve = False
        self._base_url, self._api_key, self._no_key = base_url, api_key, no_key
        self._extra = extra or {}
        self._client: openai.OpenAI | None = None
        self._window: ContextWindow | None = None
        self._asked = base_url is None  # OpenAI's own endpoint reports no windows
        self._open: set[openai.Stream[Any]] = set()
        self._lock = threading.Lock()

    def stream(self, request: Request) -> Generator[str | Reply, None, None]:
        """Text pieces as they come, then exactly one Reply."""
        pieces: list[str] = []
        usage, finish, model = None, None, self.model
        with self._errors(pieces):
            response = self._connect().chat.completions.create(**self._arguments(request))
            with self._opened(response):
                for chunk in response:
                    usage, model = chunk.usage or usage, chunk.model or model
                    for choice in (chunk.choices or [])[:1]:  # some servers send null
                        finish = choice.finish_reason or finish
                        text = clean((choice.delta and choice.delta.content) or "")
                        if text:
                            pieces.append(text)
                            yield text
        reason = STOP_REASONS.get(finish, "stop")
        yield Reply("".join(pieces), _usage(usage), reason, model)

    def _arguments(self, request: Request) -> dict[str, Any]:
        optional = {"max_tokens": request.max_tokens, "temperature": request.temperature}
        return {
            "model": self.model,
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "extra_body": self._extra or None,
            **{name: value for name, value in optional.items() if value is not None},
        }

    def served_window(self, *, ask: bool) -> ContextWindow | None:
        """llama.cpp's ``meta.n_ctx`` or vLLM's ``max_model_len``, where the server says."""
        if ask and not self._asked:
            self._asked = True  # a server that does not say it is not asked at every turn
            with suppress(ChatError), self._errors():
                client = self._connect().with_options(timeout=ASK_SECONDS, max_retries=0)
                self._window = _reported_window(client.get("/models", cast_to=object), self.model)
        return self._window

    def close(self) -> None:
        """End every open response: shut the socket, so that a blocked reader wakes up."""
        with self._lock:
            responses, self._open = self._open, set()
            client, self._client = self._client, None
        for response in responses:
            with suppress(Exception):  # it may have ended meanwhile
                network = response.response.extensions["network_stream"]
                network.get_extra_info("socket").shutdown(SHUT_RDWR)
            with suppress(Exception):
                response.close()
        if client is not None:
            client.close()

    @contextmanager
    def _opened(self, response: openai.Stream[Any]) -> Iterator[None]:
        with self._lock:
            self._open.add(response)
        try:
            yield
        finally:
            response.close()
            with self._lock:
                self._open.discard(response)

    def _connect(self) -> openai.OpenAI:
        if not self._api_key:
            raise AuthenticationError(self._no_key)
        if self._client is None:
            sdk = _sdk()
            local = self._base_url is not None and urlsplit(self._base_url).hostname in LOOPBACK
            # a proxy set for the outside world must not get what is meant for this machine
            http = sdk.DefaultHttpxClient(trust_env=False) if local else None
            self._client = sdk.OpenAI(base_url=self._base_url, api_key=self._api_key, http_client=http)
            weakref.finalize(self, self._client.close)
        return self._client

    @contextmanager
    def _errors(self, pieces: Sequence[str] = ()) -> Iterator[None]:
        """Every error of the SDK as one of ours, without the key; ``pieces``: what came before it."""
        sdk = _sdk()
        try:
            yield
        except sdk.APIConnectionError as error:
            if not pieces:
                raise self._translated(error) from None
            raise ProviderConnectionError(
                f"The connection to {self._where} broke in the middle of the reply."
            ) from None
        except sdk.OpenAIError as error:
            raise self._translated(error) from None
        except (ValueError, TypeError, AttributeError, KeyError):  # events that are none: the SDK checks no types
            raise ProviderError(f"{self._where} sent what is no answer.") from None
        except OSError:
            raise ProviderConnectionError(f"The connection to {self._where} broke.") from None

    def _translated(self, error: Exception) -> ChatError:
        sdk, where = _sdk(), self._where
        if isinstance(error, sdk.APITimeoutError):
            return ProviderConnectionError(f"{where} did not answer in time.")
        if isinstance(error, sdk.APIConnectionError):
            return ProviderConnectionError(f"No connection to {where}: is the address right and the server up?")
        if not isinstance(error, sdk.APIError):
            return ProviderError(f"{where} sent what is no answer.")
        status = getattr(error, "status_code", None)
        said = self._said(error)
        overflow = classify_overflow(status, error.body if error.body is not None else error.message)
        if overflow:
            return ContextOverflowError(
                said, used=overflow.input_tokens, limit=overflow.context_window, overflow=overflow
            )
        return self._refused(status, said, error)

    def _refused(self, status: int | None, said: str, error: Exception) -> ChatError:
        if status in (401, 403):
            return AuthenticationError(f"{self._where} does not take the key ({said}): %chat key sets another.")
        if status == 404:
            return ModelNotFoundError(f"{self.model} is not served at {self._where} ({said}).", model=self.model)
        if status == 429:
            wait = getattr(error, "response", None)
            header = wait.headers.get("retry-after") if wait is not None else None
            seconds = float(header) if header and header.replace(".", "", 1).isdigit() else None
            return RateLimitError(f"Too many requests ({said}): try again later.", retry_after=seconds)
        return ProviderError(f"The provider refused ({status or 'in the stream'}): {said}", status=status)

    def _said(self, error: openai.APIError) -> str:
        """The provider's own words in one line, never with the key."""
        body = error.body
        words = body.get("message") if isinstance(body, dict) else body
        text = words if isinstance(words, str) and words.strip() else error.message
        if len(self._api_key) >= SECRET_LENGTH:  # a placeholder is no secret
            text = text.replace(self._api_key, "***")
        return " ".join(text.split())[:300]

    @property
    def _where(self) -> str:
        """The address as it may be shown: what stands behind a question mark may be a key."""
        return self._base_url.partition("?")[0] if self._base_url else "OpenAI"


def _sdk() -> Any:
    try:
        import openai
    except ImportError:
        raise MissingDependencyError("The openai package is missing: pip install openai") from None
    return openai


def _usage(reported: Any) -> Usage | None:
    """Cached tokens are inside prompt_tokens, reasoning inside completion_tokens."""
    inside = getattr(reported, "prompt_tokens_details", None)
    outside = getattr(reported, "completion_tokens_details", None)
    if not _count(reported, "prompt_tokens"):
        return None
    return Usage(
        _count(reported, "prompt_tokens"),
        _count(reported, "completion_tokens"),
        cache_read_tokens=_count(inside, "cached_tokens"),
        cache_write_tokens=_count(inside, "cache_write_tokens"),
        reasoning_tokens=_count(outside, "reasoning_tokens"),
    )


def _count(reported: Any, name: str) -> int:
    """A number of tokens; the SDK hands on whatever a server sent."""
    value = getattr(reported, name, None)
    return value if type(value) is int and value > 0 else 0


def _reported_window(listing: Any, model: str) -> ContextWindow | None:
    """The window of ``model`` in a server's list of models."""
    rows = listing.get("data") if isinstance(listing, dict) else listing
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    mine = [row for row in rows if row.get("id") == model] or (rows if len(rows) == 1 else [])
    for row in mine:
        meta = row.get("meta")
        for value in (meta.get("n_ctx") if isinstance(meta, dict) else None, row.get("max_model_len")):
            if isinstance(value, int) and value > 0:
                return ContextWindow(value, source="server")
    return None
