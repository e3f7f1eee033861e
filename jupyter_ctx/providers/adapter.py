"""What all adapters share: connecting when first needed, streaming, mapping errors, closing.

An adapter says how its SDK is called and its answers are read; nothing of the SDK leaves it. The SDKs'
own retries are off: theirs would wait two minutes for a rate limit in silence, and would repeat a
request that overflowed with status 500. Retries are decided here.
"""

from __future__ import annotations

import re
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

from ..context.windows import ContextWindow
from ..conversation.schema_forms import OPENAI_FORM, strict_form
from ..conversation.text_safety import clean, without_keys
from ..errors import (
    AuthenticationError,
    ChatError,
    InvalidRequestError,
    MissingDependencyError,
    ProviderConnectionError,
    ProviderError,
)
from ..runtime.importing import quick_imports
from .base import Card, Reply, Request, Thought
from .endings import Ending
from .error_mapping import Refusal
from .http_client import Connections, OpenResponses, new_http
from .json_body import ENCODER, encoded, unwritable
from .model_lists import find_card, read_cards
from .stream_events import AnswerParts, EventError
from .structured import OF_A_PARAMETER, in_prompt, refuses_schema, schema_text

NO_KEY = "none"  # what servers without keys are sent: the SDKs want something
BY_ENVIRONMENT = "environment"  # the SDK finds its own way in
SECRET_LENGTH = 6  # what is shorter is no key, and may be a word of the message
T = TypeVar("T")
DELAYS = (0.5, 2.0)  # seconds before a busy server is asked again, while no text has come
ASK_SECONDS = 2.0  # for what a server says of its models
EMPTY_PIECES = ("", Thought(""))
ASK_TIMES = 3  # some know a window only once the model is loaded


@dataclass(frozen=True, slots=True, eq=False)
class Endpoint:
    """Where a model is served, and the peculiarities of that server.

    ``name``: what messages call the server.
    ``model``: the model's name there.
    ``base_url``: the address; ``None``: the SDK's own.
    ``api_key``: the key; empty: there is none.
    ``other``: another address to try where the first has no such API.
    ``no_key``: the message where a key is needed and missing.
    ``timeout``: seconds that the server may be silent.
    ``serves``: whether the server runs the model itself and may report its window.
    ``loaded_at``: the path of the list of loaded models, where that is not the usual list.
    ``truncates``: how to end the server's silent truncation.
    ``own``: parameters sent with every request.
    """

    name: str
    model: str
    base_url: str | None = None
    api_key: str = field(default="", repr=False)
    other: str = ""
    no_key: str = ""
    timeout: float = 600.0
    serves: bool = False
    loaded_at: str = ""
    truncates: str = ""
    own: dict[str, Any] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The server's name in messages: its address for a server of the user's own, without what may be a key."""
        shown = self.base_url if self.base_url and self.serves else self.name
        return re.sub(r"(?<=://)[^/@]*@", "", shown).partition("?")[0]


class Adapter(ABC):
    """A model behind one provider's SDK."""

    install: ClassVar[str]  # the command that installs the SDK
    sends_reserve = False
    takes = frozenset({"image", "pdf"})
    takes_schema = True

    def __init__(self, at: Endpoint) -> None:
        self.at = at
        self.model = f"{at.name}/{at.model}"
        self.endpoint = self.tokenizer = without_keys(f"{at.base_url or at.name} {at.model}")
        self.truncates = at.truncates
        self.catalogue = "" if at.serves else (at.base_url or at.name)
        self._client: Any = None
        self._close: Callable[[], object] | None = None
        self._responses = OpenResponses()
        self._connecting = threading.Lock()  # the first requests may be several at once
        self._window: ContextWindow | None = None
        self._asked = 0
        self._closed = 0  # times: what ends for that is not asked again
        self._moved = False
        self._spared: set[str] = set()  # parameters, and schemas, that were refused here and are not sent again
        self._forms: dict[str, dict[str, Any] | None] = {}  # of schemas, as they are sent

    # what each adapter implements

    @abstractmethod
    def _new_client(self, http: Any) -> Any:
        """Return the SDK's client, using ``http``, with retries off."""

    @abstractmethod
    def _start(self, client: Any, request: Request) -> Any:
        """Send a request and return the HTTP response, unread."""

    @abstractmethod
    def _read(self, events: Iterator[dict[str, Any]], ending: Ending) -> Iterator[str | Thought]:
        """Yield the text and thoughts in the events; fill in ``ending`` on the way."""

    @abstractmethod
    def _listing(self, client: Any) -> Any:
        """Return the provider's list of models, unparsed."""

    def _count(self, client: Any, request: Request) -> int | None:
        """Return the tokens of a request, where the provider counts without answering."""
        del client, request
        return None

    def _loaded(self, client: Any) -> tuple[Card, ...]:
        """Return the models that a server of the user's own runs."""
        return read_cards(self._listing(client))

    def _form(self, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return a schema as this API takes it; ``None``: it cannot."""
        return strict_form(schema, OPENAI_FORM)

    def _relent(self, refusal: Refusal, request: Request) -> bool:
        """Return whether to send the request again at once, without the parameter that was refused."""
        if request.schema is None or not refuses_schema(refusal):
            return False
        return self._spare(schema_text(request.schema))

    def _spare(self, name: str) -> bool:
        """Leave a parameter or a schema out from now on; return whether it was sent until now."""
        was_sent = name not in self._spared
        self._spared.add(name)
        return was_sent

    def _structured(self, request: Request) -> tuple[Request, dict[str, Any] | None]:
        """Return a request with the form of its schema; where there is none, its last message tells the schema."""
        if request.schema is None:
            return request, None
        text = schema_text(request.schema)
        if text not in self._forms:
            self._forms[text] = self._form(request.schema.json)
        form = None if text in self._spared else self._forms[text]
        return (request if form is not None else in_prompt(request)), form

    # what all adapters share

    def stream(self, request: Request) -> Generator[str | Thought | Reply, None, None]:
        """Yield thoughts and text as they arrive, then exactly one Reply."""
        pieces: list[str | Thought] = []
        delays = list(DELAYS) if request.waits else []
        with self._translating(pieces):
            while True:
                ending, closed, spared = Ending(self.at.model), self._closed, len(self._spared)
                try:
                    for piece in self._answer(request, ending):
                        pieces.append(_clean(piece))
                        yield pieces[-1]
                    break
                except Exception as error:
                    left = pieces or self._closed > closed
                    wait = None if left else self._wait(error, delays, request, others=len(self._spared) > spared)
                    if wait is None:
                        raise
                self._responses.release()
                time.sleep(wait)
        yield ending.reply(pieces)

    def served_window(self, *, ask: bool) -> ContextWindow | None:
        """Return the window that the server reports for the model it runs; hosted services report none."""
        if ask and self.at.serves and self._window is None and self._asked < ASK_TIMES:
            self._asked += 1
            with suppress(ChatError):
                cards = self._asked_twice(self._loaded)
                card = find_card(cards, self.at.model, among_many=bool(self.at.loaded_at))
                self._window = card.served if card else None
        return self._window

    def forget_window(self) -> None:
        """Ask the server for its window again the next time."""
        self._window, self._asked = None, 0

    def cards(self) -> tuple[Card, ...]:
        """Return the models there are, in one request."""
        return self._asked_twice(lambda client: read_cards(self._listing(client)))

    def count_tokens(self, request: Request) -> int | None:
        """Return the tokens of a request as the provider counts them; ``None`` where it does not, or fails."""
        with suppress(ChatError):
            return self._asked_twice(lambda client: self._count(client, request))
        return None

    def close(self) -> None:
        """End every open response and close the connections, from any thread; the next request opens new ones."""
        self._closed += 1
        closes, self._client, self._close = self._close, None, None
        self._responses.end()
        if closes is not None:
            with suppress(Exception):  # another thread may be reading
                closes()

    def _asked_twice(self, ask: Callable[[Any], T]) -> T:
        """Return what ``ask`` gets through the client; on a connection that the server had closed it asks again."""
        with self._translating():
            try:
                return ask(self._connect())
            except Exception as error:
                if not _is_reset(error):
                    raise
                return ask(self._connect())

    def call(self, ask: Callable[[Any], T]) -> T:
        """Return what ``ask`` gets through the SDK's client; nothing is asked twice. Raises a ChatError."""
        with self._translating():
            return ask(self._connect())

    def whole_reply(self, status: int, body: Mapping[str, Any]) -> Reply:
        """Return the reply in an answer that came in one piece. Raises a ChatError where it is a refusal."""
        ending = Ending(self.at.model)
        with self._translating():
            if status >= 300:
                refusal = Refusal(status, dict(body))
                raise refusal.error(
                    self.at.address, self.at.model, self.at.name, own=self.at.serves, keyless=self.at.api_key == NO_KEY
                )
            pieces = [_clean(piece) for piece in self._pieces([ENCODER.encode(body).encode()], ending)]
        return ending.reply(pieces)

    def _answer(self, request: Request, ending: Ending) -> Iterator[str | Thought]:
        """Yield the non-empty pieces of one answer."""
        yield from self._pieces(self._start(self._connect(), request).iter_bytes(), ending)

    def _pieces(self, chunks: Iterable[bytes], ending: Ending) -> Iterator[str | Thought]:
        answer = AnswerParts(chunks)
        empty = True
        for piece in self._read(iter(answer), ending):
            if piece not in EMPTY_PIECES:
                empty = False
                yield piece
        if empty and ending.stop_reason is None and answer.words is not None:
            raise EventError(answer.words)

    def _post(self, client: Any, path: str, body: Mapping[str, Any], messages: str = "messages") -> Any:
        """Send a request through the client of OpenAI or Anthropic; ``messages`` names its list of messages.

        Their methods for a chat would walk every message, and make an object of every event, which is slow.
        """
        import httpx2

        try:
            try:
                written: dict[str, Any] = {"content": encoded(body, messages)}
            except TypeError:  # a parameter that only the SDK knows how to write, such as a date
                written = {"body": body}
            return client.post(path, **written, cast_to=httpx2.Response, stream=True, stream_cls=object)
        except (TypeError, ValueError, RecursionError) as error:
            names = ", ".join(unwritable(body))
            if not names:
                raise
            raise InvalidRequestError(f"{names} cannot be sent as JSON: {error}.") from None

    def _wait(self, error: Exception, delays: list[float], request: Request, *, others: bool) -> float | None:
        """Return the seconds to wait before a retry, or ``None``: no retry. ``delays`` are those left.

        ``others``: whether another thread has learned meanwhile what the server refuses.
        """
        if isinstance(error, ChatError):
            return None
        refusal = self._refused(error)
        if refusal is not None and self._spares(refusal, request, others=others):
            return 0.0
        if not delays:
            return None
        first, delay = len(delays) == len(DELAYS), delays.pop(0)
        if refusal is None:
            return delay if _is_reset(error) else None
        return refusal.wait(delay, DELAYS[-1] if first else None)

    def _spares(self, refusal: Refusal, request: Request, *, others: bool) -> bool:
        """Return whether the request can be sent again at once: elsewhere, or without what was refused."""
        if self._relent(refusal, request) or (refusal.is_misplaced(self.at.model) and self._moves()):
            return True
        return others and refusal.code in OF_A_PARAMETER and not refusal.overflow

    def _connect(self) -> Any:
        if not self.at.api_key:
            raise AuthenticationError(self.at.no_key)
        if not self.at.api_key.isascii():
            raise AuthenticationError(
                f"The key for {self.at.name} has characters that no key has: %chat key sets another."
            )
        with self._connecting:
            if self._client is None:
                self._client, self._close = self._connected()
            return self._client

    def _connected(self) -> tuple[Any, Callable[[], object]]:
        """Return a new client, and what closes its connections."""
        connections = Connections()
        try:
            with quick_imports():  # of the SDK
                http = new_http(self.at.base_url, self.at.timeout, self._responses, connections)
                client = self._new_client(http)
        except ImportError:
            raise MissingDependencyError(f"{self.at.name} needs a package: {self.install}") from None
        return client, weakref.finalize(self, connections.close, http)

    def _moves(self) -> bool:
        """Switch to the other address and return True; the second time, switch back and return False."""
        if not self.at.other:
            return False
        self.close()
        self.at = replace(self.at, base_url=self.at.other, other=self.at.base_url or "")
        self._moved = not self._moved
        return self._moved

    @contextmanager
    def _translating(self, pieces: Sequence[str | Thought] = ()) -> Iterator[None]:
        """Raise every error as a ChatError without the key in it; ``pieces`` arrived before the error."""
        try:
            yield
        except ChatError:
            raise
        except Exception as error:
            ours = self._translated(error, begun=bool(pieces))
            if len(self.at.api_key) >= SECRET_LENGTH and self.at.api_key != BY_ENVIRONMENT:
                ours.args = tuple(str(said).replace(self.at.api_key, "***") for said in ours.args)
            raise ours from None
        finally:
            self._responses.release()

    def _translated(self, error: Exception, *, begun: bool) -> ChatError:
        import httpx2

        refusal, where = self._refused(error), self.at.address
        if refusal is not None:
            return refusal.error(
                where, self.at.model, self.at.name, own=self.at.serves, keyless=self.at.api_key == NO_KEY
            )
        cause = _cause(error)
        if not isinstance(cause, httpx2.HTTPError | OSError):
            return ProviderError(f"{where} sent a response that cannot be read ({type(error).__name__}).")
        if begun:
            return ProviderConnectionError(f"The connection to {where} broke in the middle of the reply.")
        if isinstance(cause, httpx2.TimeoutException):
            return ProviderConnectionError(f"{where} did not answer in time.")
        return ProviderConnectionError(f"No connection to {where}. Check the address, and that the server is running.")

    def _refused(self, error: Exception) -> Refusal | None:
        """Return the provider's refusal in an error, or ``None`` for any other error."""
        import httpx2

        if isinstance(error, EventError):
            return Refusal(None, error.body)
        response = getattr(error, "response", None)  # the errors of all three SDKs have it
        if not isinstance(response, httpx2.Response) or response.status_code < 300:
            return None
        return Refusal(response.status_code, response.text, response.headers)


def _cause(error: Exception) -> BaseException | None:
    """Return the HTTP or system error inside an SDK's error; OpenAI's and Anthropic's clients wrap them."""
    import httpx2

    return error if isinstance(error, httpx2.HTTPError | OSError) else error.__cause__


def _is_reset(error: Exception) -> bool:
    """Return whether the server hung up. One that cannot be reached, or is silent, is not asked again."""
    import httpx2

    return isinstance(_cause(error), httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError)


def _clean(piece: str | Thought) -> str | Thought:
    return clean(piece) if isinstance(piece, str) else Thought(clean(piece.text))
