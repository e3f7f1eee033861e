"""What every adapter does alike: connect when first needed, stream, translate errors, let go.

An adapter says how its SDK is called and read; nothing of the SDK leaves it. The SDKs are
told not to retry: what is worth asking again, and for how long, is decided here (theirs
would wait two minutes for a rate limit without a word, and ask again after an overflow
that comes as a 500).
"""

from __future__ import annotations

import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..context.usage import Usage
from ..context.windows import ContextWindow
from ..conversation import StopReason
from ..errors import AuthenticationError, ChatError, MissingDependencyError, ProviderConnectionError, ProviderError
from ..records import without_keys
from ..sendable import clean
from .http import OpenResponses, new_http
from .metadata import find_card, read_cards
from .refusals import Refusal
from .shape import Card, Reply, Request, Thought

NO_KEY = "none"  # what servers without keys are sent: the SDKs want something
BY_ENVIRONMENT = "environment"  # the SDK finds its own way in
SECRET_LENGTH = 6  # what is shorter is no key, and may be a word of the message
DELAYS = (0.5, 2.0)  # seconds before a busy server is asked again, while no text has come
ASK_SECONDS = 2.0  # for what a server says of its models
NOTHING = ("", Thought(""))
ASK_TIMES = 3  # some know a window only once the model is loaded


@dataclass(frozen=True, slots=True, eq=False)
class Endpoint:
    """Where a model is, how to get in, and what is peculiar there.

    ``name`` is what messages call it, ``no_key`` what they say where there is no key;
    ``timeout`` is how many seconds a server may be silent. ``serves``: it runs the model
    itself and may report the window, in a list of its own where ``loaded_at`` is a path;
    ``truncates`` is the setting that ends its silent truncation; ``own`` are parameters sent
    with every request.
    """

    name: str
    model: str
    base_url: str | None = None
    api_key: str = field(default="", repr=False)
    no_key: str = ""
    timeout: float = 600.0
    serves: bool = False
    loaded_at: str = ""
    truncates: str = ""
    own: dict[str, Any] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """How messages name it: a server of one's own by its address, without what may be a key."""
        shown = self.base_url if self.base_url and self.serves else self.name
        return shown.partition("?")[0]


@dataclass(slots=True)
class Ending:
    """What is known of a reply while it comes; one that never says why it ended is cut."""

    model: str
    usage: Usage | None = None
    stop_reason: StopReason = "cut"
    detail: str = ""

    def reply(self, text: str, thinking: str) -> Reply:
        """The whole reply."""
        usage = self.usage
        if usage is not None and thinking and not usage.reasoning_tokens:
            usage = usage.with_reasoning(len(thinking) / len(thinking + text))
        return Reply(text, usage, self.stop_reason, self.model, detail=self.detail, thinking=thinking)


class EventError(Exception):
    """An error that came as an event of the answer."""

    def __init__(self, body: Any) -> None:
        super().__init__("an error event")
        self.body = body


class Adapter(ABC):
    """A model behind one provider's SDK."""

    install: ClassVar[str]  # the command that installs the SDK
    sends_reserve = False
    takes = frozenset({"image", "pdf"})

    def __init__(self, at: Endpoint) -> None:
        self.at = at
        self.endpoint = self.tokenizer = without_keys(f"{at.base_url or at.name} {at.model}")
        self.truncates = at.truncates
        self.catalogue = "" if at.serves else (at.base_url or at.name)
        self._client: Any = None
        self._responses = OpenResponses()
        self._window: ContextWindow | None = None
        self._asked = 0

    # what an adapter says of its SDK

    @abstractmethod
    def _new_client(self, http: Any) -> Any:
        """The SDK's client, speaking through ``http``, without retries of its own."""

    @abstractmethod
    def _start(self, client: Any, request: Request) -> Iterator[Any]:
        """Send a request: the events of its answer."""

    @abstractmethod
    def _read(self, events: Iterator[Any], ending: Ending) -> Iterator[str | Thought]:
        """The text in the events, and what was thought; ``ending`` is filled in meanwhile."""

    @abstractmethod
    def _refusal(self, error: Exception) -> Refusal | None:
        """What a provider's refusal says; ``None`` for any other error."""

    @abstractmethod
    def _listing(self, client: Any) -> Any:
        """The provider's list of models, as it came."""

    def _count(self, client: Any, request: Request) -> int | None:
        """The tokens of a request, where the provider counts without answering."""
        del client, request
        return None

    def _loaded(self, client: Any) -> tuple[Card, ...]:
        """The models that a server of one's own runs."""
        return read_cards(self._listing(client))

    def _relent(self, refusal: Refusal) -> bool:
        """Whether the request is worth sending at once without what was refused in it."""
        del refusal
        return False

    # what all of them do

    def stream(self, request: Request) -> Generator[str | Thought | Reply, None, None]:
        """Thoughts and text pieces as they come, then exactly one Reply."""
        pieces: list[str | Thought] = []
        ending = Ending(self.at.model)
        with self._translating(pieces):
            for piece in self._read(self._started(request), ending):
                if piece not in NOTHING:
                    pieces.append(_clean(piece))
                    yield pieces[-1]
        thinking = "".join(piece.text for piece in pieces if isinstance(piece, Thought))
        yield ending.reply("".join(piece for piece in pieces if isinstance(piece, str)), thinking)

    def served_window(self, *, ask: bool) -> ContextWindow | None:
        """What the server that runs the model reports; other services report nothing of the kind."""
        if ask and self.at.serves and self._window is None and self._asked < ASK_TIMES:
            self._asked += 1
            with suppress(ChatError), self._translating():
                card = find_card(self._loaded(self._connect()), self.at.model)
                self._window = card.served if card else None
        return self._window

    def forget_window(self) -> None:
        """Ask the server again the next time: what it said was not so, or is not any more."""
        self._window, self._asked = None, 0

    def cards(self) -> tuple[Card, ...]:
        """The models there are, asked for in one request."""
        with self._translating():
            return read_cards(self._listing(self._connect()))

    def count_tokens(self, request: Request) -> int | None:
        """Tokens of a request as the provider counts them; ``None`` where it does not, or not now."""
        with suppress(ChatError), self._translating():
            return self._count(self._connect(), request)
        return None

    def close(self) -> None:
        """End every open response, from any thread."""
        self._responses.end()
        self._client = None

    def _started(self, request: Request) -> Iterator[Any]:
        """The events of an answer; a busy server is asked again."""
        delays = list(DELAYS)
        while True:
            try:
                return self._start(self._connect(), request)
            except ChatError:
                raise
            except Exception as error:
                refusal = self._refused(error)
                if refusal is not None and self._relent(refusal):
                    continue
                wait = refusal.wait(delays.pop(0)) if refusal is not None and delays else None
                if wait is None:
                    raise
            time.sleep(wait)

    def _connect(self) -> Any:
        if not self.at.api_key:
            raise AuthenticationError(self.at.no_key)
        if self._client is None:
            try:
                http = new_http(self.at.base_url, self.at.timeout, self._responses)
                self._client = self._new_client(http)
            except ImportError:
                raise MissingDependencyError(f"{self.at.name} needs a package: {self.install}") from None
            weakref.finalize(self, http.close)
        return self._client

    @contextmanager
    def _translating(self, pieces: Sequence[str | Thought] = ()) -> Iterator[None]:
        """Every error as one of ours, without the key; ``pieces``: what came before it."""
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
            return refusal.error(where, self.at.model)
        cause = error if isinstance(error, httpx2.HTTPError | OSError) else error.__cause__
        if not isinstance(cause, httpx2.HTTPError | OSError):
            return ProviderError(f"{where} sent what is no answer ({type(error).__name__}).")
        if begun:
            return ProviderConnectionError(f"The connection to {where} broke in the middle of the reply.")
        if isinstance(cause, httpx2.TimeoutException):
            return ProviderConnectionError(f"{where} did not answer in time.")
        return ProviderConnectionError(f"No connection to {where}: is the address right and the server up?")

    def _refused(self, error: Exception) -> Refusal | None:
        return Refusal(None, error.body) if isinstance(error, EventError) else self._refusal(error)


def _clean(piece: str | Thought) -> str | Thought:
    return clean(piece) if isinstance(piece, str) else Thought(clean(piece.text))
