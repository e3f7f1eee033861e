"""What all adapters share: connecting when first needed, streaming, mapping errors, closing.

An adapter says what is sent to which path, and how the answers are read.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ..context.context_info import MoneyLeft
from ..conversation.schema import strict_form
from ..errors import AuthenticationError, ChatError, ProviderConnectionError, ProviderError
from ..runtime.redaction import without_address_keys
from ..wording import budget_line
from .base import BY_ENVIRONMENT, NO_KEY, Endpoint, ModelInfo, Piece, Provider, Reply, Request
from .error_mapping import TOO_LATE, Refusal
from .parameters import OF_A_PARAMETER, Form, effort_for, refused_at, tools_error, without
from .reply_builder import ReplyBuilder
from .request_body import encoded, in_prompt, prepared, schema_text, with_parameters
from .server_facts import key_path, money_left, read_cards
from .wire import ANSWER, Client, ResponseError, body_bytes, failure, is_this_machine

SECRET_LENGTH = 6  # what is shorter is no key, and may be a word of the message
DELAYS = (0.5, 2.0)  # seconds before a busy server is asked again, while no text has come
ASK_SECONDS = 2.0  # for what a server says of its models, or of what is left to spend
COUNTED = frozenset({"model", "messages", "input", "instructions", "system", "text", "output_config", "tools"})
NOT_SENT: tuple[Any, ...] = (None, "", [])  # values of fields that are not sent


class Adapter(Provider):
    """A model behind one provider's API."""

    api: ClassVar[str] = ""  # names the API where it is told what it wants back
    own_address: ClassVar[str] = ""  # of the provider itself, where the endpoint names no other
    path: ClassVar[str] = ""  # of requests for an answer
    list_path: ClassVar[str] = ""
    count_path: str = ""  # empty: the provider does not count
    efforts: Sequence[Form] = ()  # the ways in which this API is told how much to think, the newest first
    takes = frozenset({"image", "pdf"})
    takes_schema = True
    takes_tools = True
    tells_schema: ClassVar[bool] = False  # whether the prompt tells the schema of an answer in any case

    def __init__(self, at: Endpoint) -> None:
        self.at = at
        self.address = at.base_url or self.own_address
        self.model = f"{at.name}/{at.model}"
        self.endpoint = self.tokenizer = without_address_keys(f"{at.base_url or at.name} {at.model}")
        self.truncates = at.truncates
        self.catalogue = "" if at.self_hosted else (at.base_url or at.name)
        self._client = Client(self.address, at.timeout)
        self._missing: dict[str, Refusal] = {}  # how it refused paths that it has not
        self._key_path = key_path(at.name, {})  # where is told what is left to spend
        self._refused = refused_at(self.endpoint)

    # what each adapter implements: messages into a body, and events into pieces

    @abstractmethod
    def _body(self, request: Request, form: dict[str, Any] | None) -> dict[str, Any]:
        """Return a request as the API takes it; ``form``: its schema, where the API takes that apart."""

    @abstractmethod
    def _read(self, events: Iterator[dict[str, Any]], reply: ReplyBuilder) -> Iterator[Piece]:
        """Yield the pieces in the events, some of them empty; tell ``reply`` the rest on the way."""

    def _headers(self) -> dict[str, str]:
        """Return the headers that hold the key."""
        return {} if self.at.api_key == NO_KEY else {"Authorization": f"Bearer {self.at.api_key}"}

    def _send(self, body: dict[str, Any]) -> Any:
        """Send the body of a request and return the HTTP response, unread."""
        return self._client.open(self.path, self._with_key(), encoded(body))

    def _count(self, request: Request) -> int | None:
        """Return the tokens of a request, where the provider counts without answering."""
        if not self.count_path:
            return None
        asked = {name: value for name, value in self.body(request).items() if name in COUNTED}
        return int(self._ask(self.count_path, asked)["input_tokens"])

    def _learn(self, refusal: Refusal, request: Request, body: dict[str, Any]) -> None:
        """Learn from the refusal of a body what the model does not take."""
        self._refused.learn(refusal, request, body, self.efforts)

    # what all adapters share

    def stream(self, request: Request) -> Generator[Piece | Reply, None, None]:
        """Yield thoughts and text as they arrive, then exactly one Reply."""
        request = prepared(request)
        delays = list(DELAYS) if request.waits else []
        while True:
            body, closed = self.body(request), self._client.closed
            reply = ReplyBuilder(self.at.model, request, self.api)
            try:
                with closing(self._send(body)) as response:
                    self._key_path = key_path(self.at.name, response.headers) or self._key_path
                    for piece in self._read(reply.events(body_bytes(response, ANSWER)), reply):
                        shown = reply.add(piece)
                        if shown is not None:
                            yield shown
                if not (reply.pieces or reply.calls) and reply.stop_reason is None and reply.words is not None:
                    raise Refusal(None, reply.words)
                break
            except Exception as error:
                is_over = bool(reply.pieces or reply.calls) or closed.is_set()
                wait = None if is_over else self._wait(error, delays, request, body)
                if wait is None or (wait and closed.wait(wait)):
                    raise self._translated(error, request, begun=bool(reply.pieces)) from None
        yield replace(reply.reply(), notices=self._refused.untold(self.differences(request)))

    def body(self, request: Request) -> dict[str, Any]:
        """Return a request as the API takes it, with effort and the user's own parameters, without what is refused."""
        body = {name: each for name, each in self._body(*self._structured(request)).items() if each not in NOT_SENT}
        effort = effort_for(request.effort, self.efforts, self._refused.names)
        if effort is not None:
            body = with_parameters(body, effort.fields)
        return without(with_parameters(body, request.parameters), self._refused.names)

    def differences(self, request: Request) -> list[str]:
        """Return what of a request is not sent as it is asked for, a line each."""
        effort = effort_for(request.effort, self.efforts, self._refused.names)
        asked = {"temperature"} if request.temperature is not None else set[str]()
        asked |= request.parameters.keys()
        left_out = sorted([name for name in self._refused.names if name.partition(".")[0] in asked])
        lines = [f"{self.at.model} does not take {name}: sent without it." for name in left_out]
        sent = effort.level if effort is not None else None
        if request.effort != sent:
            instead = "sent without it" if sent is None else f"{sent} was sent"
            lines.append(f"{self.at.model} does not take effort {request.effort}: {instead}.")
        return lines

    def cards(self) -> tuple[ModelInfo, ...]:
        """Return the models there are, in one request."""
        try:
            return read_cards(self._ask(self.list_path))
        except Exception as error:
            raise self._translated(error) from None

    def count_tokens(self, request: Request) -> int | None:
        """Return the tokens of a request as the provider counts them; ``None`` where it does not, or fails."""
        with suppress(Exception):
            return self._count(prepared(request))
        return None

    def allowance(self) -> MoneyLeft | None:
        """Return what is left to spend with the key, as its gateway says when it is asked; ``None``: unknown."""
        if not self._key_path or self.at.api_key in ("", NO_KEY, BY_ENVIRONMENT):
            return None
        root = self.address.removesuffix("/v1")
        with suppress(Exception):  # whatever it answers
            return money_left(self._ask(root + self._key_path))
        return None

    def close(self) -> None:
        """End every open response and close the connections, from any thread; the next request opens new ones."""
        self._client.close()

    # what is sent, and sent again

    def _structured(self, request: Request) -> tuple[Request, dict[str, Any] | None]:
        """Return a request with the form of its schema; where there is none, its last message tells the schema."""
        form = None
        if request.schema is not None and schema_text(request.schema) not in self._refused.schemas:
            schema = request.schema.json  # servers of the user's own know all keywords, or pass over some
            form = dict(schema) if self.at.self_hosted else strict_form(schema)
        return (in_prompt(request) if form is None or self.tells_schema else request), form

    def _ask(self, path: str, body: Mapping[str, Any] | None = None, seconds: float = ASK_SECONDS) -> Any:
        """Return the JSON that the server answers at a path; it is not asked again at one that it has not."""
        if path in self._missing:
            raise self._missing[path]
        given = None if body is None else encoded({name: each for name, each in body.items() if each not in NOT_SENT})
        try:
            return self._client.json(path, self._with_key(), given, seconds=seconds)
        except Refusal as refusal:
            self._missing |= {path: refusal} if refusal.code == 404 else {}
            raise

    def _with_key(self) -> dict[str, str]:
        """Return the headers. Raises AuthenticationError where there is no key."""
        if not self.at.api_key:
            raise AuthenticationError(self.at.no_key)
        return self._headers()

    def _wait(self, error: Exception, delays: list[float], request: Request, body: dict[str, Any]) -> float | None:
        """Return the seconds to wait before a retry, or ``None``: no retry. ``delays`` are those left."""
        refusal = error if isinstance(error, Refusal) else None
        if refusal is not None and self._adapts(refusal, request, body):
            return 0.0
        may_be_billed = request.once and (refusal is None or refusal.code in TOO_LATE)
        if may_be_billed or isinstance(error, ChatError) or not delays:
            return None
        delay = delays.pop(0)
        if refusal is None:
            return delay if failure(error) == "reset" else None
        return refusal.wait(delay)

    def _adapts(self, refusal: Refusal, request: Request, body: dict[str, Any]) -> bool:
        """Return whether the request can be sent again at once, without what was refused of its body.

        What is refused may have been learned by another thread, until this one had read its own refusal.
        """
        if refusal.is_unpaid or refusal.overflow or refusal.code not in OF_A_PARAMETER:
            return False
        if self.body(request) == body:
            self._learn(refusal, request, body)
        return self.body(request) != body

    # errors

    def _translated(self, error: Exception, request: Request | None = None, *, begun: bool = False) -> ChatError:
        """Return an error as a ChatError without the key in it."""
        if isinstance(error, Refusal):
            left = None
            if error.is_unpaid:
                self._key_path = key_path(self.at.name, error.headers, str(error.body)) or self._key_path
                left = self.allowance()
            about_tools = tools_error(error, self.at.model) if request and request.tools else None
            error = about_tools or error.error(self.at, "" if left is None else budget_line(left))
        elif not isinstance(error, ChatError):
            error = self._connection_error(error, begun=begun)
        if len(self.at.api_key) >= SECRET_LENGTH and self.at.api_key != BY_ENVIRONMENT:
            error.args = tuple(str(text).replace(self.at.api_key, "***") for text in error.args)
        return error

    def _connection_error(self, error: Exception, *, begun: bool) -> ChatError:
        where, kind = self.at.shown_name, failure(error)
        if isinstance(error, ResponseError):
            return ProviderError(f"{where} {error}")
        if kind is None:
            return ProviderError(f"{where} sent a response that cannot be read ({type(error).__name__}: {error}).")
        if begun:
            why = f"The connection to {where} broke in the middle of the reply."
        elif "CERTIFICATE_VERIFY_FAILED" in str(error):
            why = f"The certificate of {where} is not trusted ({error}): name the one that signed it in SSL_CERT_FILE."
        elif kind == "timeout":
            why = f"{where} did not answer within {self.at.timeout:g} s: %chat use MODEL --timeout N allows more."
        elif proxy := _proxy_to(self.address):
            why = f"No connection to {where} through the proxy that {proxy} names ({error}). Check both addresses."
        else:
            why = f"No connection to {where}. Check the network, and that the server is running (%chat help servers)."
        return ProviderConnectionError(why)


def _proxy_to(base_url: str) -> str:
    """Return the variable of the environment that names a proxy on the way to a server; empty: none does."""
    address = urlsplit(base_url)
    host, named = address.hostname or "", getproxies()
    if is_this_machine(host) or proxy_bypass(host):
        return ""
    return next((f"{name.upper()}_PROXY" for name in (address.scheme, "all") if named.get(name)), "")
