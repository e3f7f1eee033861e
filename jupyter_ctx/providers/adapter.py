"""What all adapters share: connecting when first needed, streaming, mapping errors, closing.

An adapter says how its SDK is called and its answers are read; nothing of the SDK leaves it. The SDKs'
own retries are off: theirs would wait two minutes for a rate limit in silence, and would repeat a
request that overflowed with status 500. Retries are decided here.
"""

from __future__ import annotations

import re
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from ..context.context_info import MoneyLeft
from ..context.windows import ContextWindow, Fact
from ..conversation.schema_forms import OPENAI_FORM, strict_form
from ..conversation.text_safety import clean
from ..errors import (
    AuthenticationError,
    ChatError,
    InvalidRequestError,
    ProviderConnectionError,
    ProviderError,
)
from ..runtime.importing import quick_imports
from ..runtime.redaction import without_address_keys
from ..wording.budget_line import budget_line
from .base import Card, Reply, Request, Thought
from .credit import allowance_in, gateway_of
from .effort import BESIDE_THINKING, Effort, Form, effort_for, refused_levels
from .endings import Ending, Parts
from .error_mapping import TOO_LATE, Refusal
from .http_client import Connections, OpenResponses, new_http
from .model_lists import find_card, read_cards
from .reply_bounds import PART, BodyError, answer_bytes, cut_of, too_long
from .request_body import (
    OF_A_PARAMETER,
    encoded,
    in_prompt,
    refuses_schema,
    schema_text,
    unwritable,
    with_parameters,
)
from .sdk import Sdk
from .stream_events import AnswerParts, EventError
from .unsupported import named_field, says_not_taken, unsupported_at, without

NO_KEY = "none"  # what servers without keys are sent: the SDKs want something
BY_ENVIRONMENT = "environment"  # the SDK finds its own way in
SECRET_LENGTH = 6  # what is shorter is no key, and may be a word of the message
T = TypeVar("T")
DELAYS = (0.5, 2.0)  # seconds before a busy server is asked again, while no text has come
ASK_SECONDS = 2.0  # for what a server says of its models, or of what is left to spend
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
    ``converts``: the kinds of files that a host of others' models turns into text for those that read text only.
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
    converts: frozenset[str] = frozenset()

    @property
    def address(self) -> str:
        """The server's name in messages: its address for a server of the user's own, without what may be a key."""
        shown = self.base_url if self.base_url and self.serves else self.name
        return re.sub(r"(?<=://)[^/@]*@", "", shown).partition("?")[0]


class Adapter(ABC):
    """A model behind one provider's SDK."""

    sdk: ClassVar[Sdk]
    sends_reserve = False
    takes = frozenset({"image", "pdf"})
    takes_schema = True
    reports_logprobs = False

    def __init__(self, at: Endpoint) -> None:
        self.at = at
        self.model = f"{at.name}/{at.model}"
        self.endpoint = self.tokenizer = without_address_keys(f"{at.base_url or at.name} {at.model}")
        self.truncates, self.converts = at.truncates, at.converts
        self._facts: dict[Fact, bool | None] = {}
        self.catalogue = "" if at.serves else (at.base_url or at.name)
        self._client: Any = None
        self._close: Callable[[], object] | None = None
        self._responses = OpenResponses()
        self._connecting = threading.Lock()  # the first requests may be several at once
        self._window: ContextWindow | None = None
        self._asked = 0
        self._closed = threading.Event()  # what ends for that is not asked again; each close sets up another
        self._moved = False
        self._gateway = gateway_of(at.name, {})  # which tells what is left to spend
        self._unsupported = unsupported_at(self.endpoint)
        self._forms: dict[str, dict[str, Any] | None] = {}  # of schemas, as they are sent

    # what each adapter implements

    @abstractmethod
    def _new_client(self, http: Any) -> Any:
        """Return the SDK's client, using ``http``, with retries off."""

    @property
    def _efforts(self) -> Sequence[Form]:
        """The ways in which this API is told how much to think, the newest first."""
        return ()

    def body(self, request: Request) -> dict[str, Any]:
        """Return a request as the API takes it; where it is empty, nothing that is refused can be left out."""
        del request
        return {}

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

    def _learn(self, refusal: Refusal, request: Request) -> None:
        """Learn from a refusal which field, level of effort or schema the model does not take."""
        names = self._not_taken(refusal, request)
        self._unsupported.names |= names
        if not names and request.schema is not None and refuses_schema(refusal):
            self._unsupported.schemas.add(schema_text(request.schema))

    def _not_taken(self, refusal: Refusal, request: Request) -> set[str]:
        """Return what a refusal says that the model does not take of a request; nothing where it says other things."""
        if not says_not_taken(refusal):
            return set()
        name, effort = named_field(refusal, self.body(request)), self._effort(request)
        if effort is not None and effort.is_meant(name, refusal.places):
            return refused_levels(refusal.places, effort, self._efforts)
        if name is None:
            return set()
        is_for_thinking = effort is not None and effort.level != "none" and effort.is_meant(None, refusal.places)
        return {f"{name}{BESIDE_THINKING}" if is_for_thinking else name}

    def _effort(self, request: Request) -> Effort | None:
        """Return how much a request says to think, as the model takes it."""
        return effort_for(request.effort, self._efforts, self._unsupported.names)

    def _with_options(self, body: Mapping[str, Any], request: Request) -> dict[str, Any]:
        """Return a body with effort and the user's own parameters, without what is refused here."""
        effort = self._effort(request)
        body = with_parameters(body, effort.fields) if effort is not None else body
        return without(with_parameters(body, {**self.at.own, **request.parameters}), self._left_out(effort))

    def _left_out(self, effort: Effort | None) -> set[str]:
        """Return the names of the fields that are not sent, some of them only beside thinking."""
        names = self._unsupported.names
        is_off = effort is None or effort.level == "none"
        return names if is_off else names | {name.removesuffix(BESIDE_THINKING) for name in names}

    def differences(self, request: Request) -> list[str]:
        """Return what of a request is not sent as it is asked for, a line each."""
        effort, asked = self._effort(request), {"temperature"} if request.temperature is not None else set[str]()
        asked |= request.parameters.keys()
        left_out = sorted(name for name in self._left_out(effort) if name.partition(".")[0] in asked)
        lines = [f"{self.at.model} does not take {name}: sent without it." for name in left_out]
        if request.effort is not None and (effort is None or not effort.is_as_asked(request.effort)):
            instead = "sent without it" if effort is None else f"{effort.level} was sent"
            lines.append(f"{self.at.model} does not take effort {request.effort}: {instead}.")
        return lines

    def _structured(self, request: Request) -> tuple[Request, dict[str, Any] | None]:
        """Return a request with the form of its schema; where there is none, its last message tells the schema."""
        if request.schema is None:
            return request, None
        text = schema_text(request.schema)
        if text not in self._forms:
            self._forms[text] = self._form(request.schema.json)
        form = None if text in self._unsupported.schemas else self._forms[text]
        return (request if form is not None else in_prompt(request)), form

    # what all adapters share

    def stream(self, request: Request) -> Generator[str | Thought | Reply, None, None]:
        """Yield thoughts and text as they arrive, then exactly one Reply."""
        pieces: list[str | Thought] = []
        delays = list(DELAYS) if request.waits else []
        with self._translating():
            while True:
                ending, closed, known = Ending(self.at.model), self._closed, len(self._unsupported)
                try:
                    response = self._start(self._connect(), request)
                    self._gateway = gateway_of(self.at.name, response.headers) or self._gateway
                    for piece in self._pieces(answer_bytes(response), ending):
                        pieces.append(_clean(piece))
                        yield pieces[-1]
                    break
                except Exception as error:
                    refusal, left = self._refused(error), pieces or closed.is_set()
                    wait = None if left else self._wait(error, refusal, delays, request, known)
                    self._responses.release()
                    if wait is None or (wait and closed.wait(wait)):
                        raise self._translated(error, refusal, begun=bool(pieces)) from None
        yield replace(ending.reply(pieces), notices=self._unsupported.untold(self.differences(request)))

    def served_window(self, *, ask: bool) -> ContextWindow | None:
        """Return the window that the server reports for the model it runs; hosted services report none."""
        if ask and self.at.serves and self._window is None and self._asked < ASK_TIMES:
            self._asked += 1
            with suppress(ChatError):
                cards = self._asked_twice(self._loaded)
                card = find_card(cards, self.at.model, among_many=bool(self.at.loaded_at))
                self._window = card.served if card else None
                self._facts = card.facts if card else {}
        return self._window

    def says(self, fact: Fact, *, ask: bool) -> bool | None:
        """Return whether a fact holds of the model, as the server's list of models said."""
        del ask
        return self._facts.get(fact)

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

    def beside(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return what a server of the user's own answers at a path beside its API; empty: nothing."""
        del path, body
        return {}

    def allowance(self) -> MoneyLeft | None:
        """Return what is left to spend with the key, as its gateway says when it is asked; ``None``: unknown."""
        with suppress(Exception):  # whatever it answers
            return allowance_in(self._gateway, self._fetched(self._gateway.path)) if self._gateway else None
        return None

    def _fetched(self, path: str) -> bytes:
        """Return what the server answers at a path, on a connection of its own; no redirect is followed."""
        if self.at.api_key in ("", NO_KEY, BY_ENVIRONMENT):
            return b""
        address = f"{(self.at.base_url or '').partition('?')[0].rstrip('/').removesuffix('/v1')}{path}"
        headers = {"Authorization": f"Bearer {self.at.api_key}"}
        with new_http(self.http, self.at.base_url, ASK_SECONDS, OpenResponses(), Connections()) as http:
            response = http.get(address, headers=headers, follow_redirects=False)
            return bytes(response.content) if response.status_code == 200 else b""

    def close(self) -> None:
        """End every open response and close the connections, from any thread; the next request opens new ones."""
        ended, self._closed = self._closed, threading.Event()
        ended.set()
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
                if not self._is_reset(error):
                    raise
                return ask(self._connect())

    @cached_property
    def http(self) -> Any:
        """The HTTP library that the installed SDK is built on. Raises MissingDependencyError."""
        return self.sdk.http_library()

    def _pieces(self, chunks: Iterable[bytes], ending: Ending) -> Iterator[str | Thought]:
        """Yield the non-empty pieces of one answer."""
        answer = AnswerParts(chunks)
        length, text = 0, Parts()
        for read in self._read(map(ending.noted, answer), ending):
            piece = text.next(read, ending.calls) if isinstance(read, str) else read
            if piece not in EMPTY_PIECES:
                length += len(piece if isinstance(piece, str) else piece.text)
                if length > PART:
                    raise too_long("a text", PART)
                yield piece
        if not length and ending.stop_reason is None and answer.words is not None:
            raise EventError(answer.words)

    def _post(self, client: Any, path: str, body: Mapping[str, Any], messages: str = "messages") -> Any:
        """Send a request through the client of OpenAI or Anthropic; ``messages`` names its list of messages.

        Their methods for a chat would walk every message, and make an object of every event, which is slow.
        """
        try:
            try:
                written: dict[str, Any] = {"content": encoded(body, messages)}
            except TypeError:  # a parameter that only the SDK knows how to write, such as a date
                written = {"body": body}
            return client.post(path, **written, cast_to=self.http.Response, stream=True, stream_cls=object)
        except (TypeError, ValueError, RecursionError) as error:
            names = ", ".join(unwritable(body))
            if not names:
                raise
            raise InvalidRequestError(f"{names} cannot be sent as JSON: {error}.") from None

    def _wait(
        self, error: Exception, refusal: Refusal | None, delays: list[float], request: Request, known: int
    ) -> float | None:
        """Return the seconds to wait before a retry, or ``None``: no retry. ``delays`` are those left.

        ``known``: how many parameters and schemas were known to be refused when the request was sent.
        """
        if isinstance(error, ChatError):
            return None
        if refusal is not None and self._adapts(refusal, request, known):
            return 0.0
        if not delays:
            return None
        first, delay = len(delays) == len(DELAYS), delays.pop(0)
        if request.once and (refusal is None or refusal.code in TOO_LATE):
            return None
        if refusal is None:
            return delay if self._is_reset(error) else None
        return refusal.wait(delay, DELAYS[-1] if first else None)

    def _adapts(self, refusal: Refusal, request: Request, known: int) -> bool:
        """Return whether the request can be sent again at once: elsewhere, or without what was refused.

        What is refused may have been learned by another thread, until this one had read its own refusal.
        """
        if refusal.is_unpaid or refusal.overflow:
            return False
        if refusal.code in OF_A_PARAMETER:
            if len(self._unsupported) == known:  # else it is about a request as it would not be sent any more
                self._learn(refusal, request)
            if len(self._unsupported) > known:
                return True
        return refusal.is_misplaced(self.at.model) and self._moves()

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
        with quick_imports():  # of the SDK
            http = new_http(self.http, self.at.base_url, self.at.timeout, self._responses, connections)
            try:
                client = self._new_client(http)
            except (AttributeError, TypeError) as error:  # of a version that was not known here
                raise self.sdk.misfit(error) from None
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
    def _translating(self) -> Iterator[None]:
        """Raise every error as a ChatError without the key in it."""
        try:
            yield
        except ChatError as error:
            raise self._without_key(error) from None
        except Exception as error:
            raise self._without_key(self._translated(error, self._refused(error))) from None
        finally:
            self._responses.release()

    def _without_key(self, error: ChatError) -> ChatError:
        if len(self.at.api_key) >= SECRET_LENGTH and self.at.api_key != BY_ENVIRONMENT:
            error.args = tuple(str(said).replace(self.at.api_key, "***") for said in error.args)
        return error

    def _translated(self, error: Exception, refusal: Refusal | None, *, begun: bool = False) -> ChatError:
        where = self.at.address
        if isinstance(error, ChatError):
            return error
        if refusal is not None:
            return self._refusal_error(refusal)
        cause = self._cause(error)
        if isinstance(cause, BodyError):
            return ProviderError(f"{where} {cause}")
        if not isinstance(cause, self.http.HTTPError | OSError):
            if self.sdk.is_unknown():
                return self.sdk.misfit()
            text = f"{where} sent a response that {self.sdk.installed} cannot read ({type(error).__name__})."
            return ProviderError(text)
        if begun:
            return ProviderConnectionError(f"The connection to {where} broke in the middle of the reply.")
        if isinstance(cause, self.http.TimeoutException):
            return ProviderConnectionError(f"{where} did not answer in time.")
        return ProviderConnectionError(
            f"No connection to {where}. Check the address, and that the server is running (%chat help servers)."
        )

    def _refusal_error(self, refusal: Refusal) -> ChatError:
        at, left = self.at, ""
        if refusal.is_unpaid:
            self._gateway = gateway_of(at.name, refusal.headers, str(refusal.body)) or self._gateway
            found = self.allowance()
            left = budget_line(found) if found is not None else ""
        return refusal.error(at.address, at.model, at.name, own=at.serves, keyless=at.api_key == NO_KEY, left=left)

    def _refused(self, error: Exception) -> Refusal | None:
        """Return the provider's refusal in an error, or ``None`` for any other error."""
        if isinstance(error, EventError):
            return Refusal(None, error.body)
        response = getattr(error, "response", None)  # the errors of all three SDKs have it
        if not isinstance(response, self.http.Response) or response.status_code < 300:
            return None
        return Refusal(response.status_code, response.text, response.headers, cut_of(response))

    def _cause(self, error: Exception) -> BaseException | None:
        """Return the HTTP or system error inside an SDK's error; OpenAI's and Anthropic's clients wrap them."""
        own = isinstance(error, self.http.HTTPError | OSError | BodyError)
        return error if own else error.__cause__

    def _is_reset(self, error: Exception) -> bool:
        """Return whether the server hung up. One that cannot be reached, or is silent, is not asked again."""
        resets = self.http.ReadError | self.http.WriteError | self.http.RemoteProtocolError
        return isinstance(self._cause(error), resets)


def _clean(piece: str | Thought) -> str | Thought:
    return clean(piece) if isinstance(piece, str) else Thought(clean(piece.text))
