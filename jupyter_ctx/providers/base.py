"""What a provider takes and gives: a request goes in; thoughts, text and one reply come out."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from ..context.context_info import MoneyLeft
from ..context.logprobs import TokenLogprob
from ..context.usage import Usage
from ..context.windows import ContextWindow, Fact
from ..conversation.messages import Message, StopReason, ToolCall, ToolRound, ToolSpec
from ..shown_as import mimebundle
from ..wording import visible

NO_KEY = "none"  # where a server needs none
BY_ENVIRONMENT = "environment"  # Google's own package finds the way in
REPR_CHARACTERS = 60  # characters of a text in a terminal's one line


class AnswerSchema(NamedTuple):
    """What an answer must be: a JSON object."""

    name: str  # of letters, digits, ``_`` and ``-``
    json: Mapping[str, Any]  # the JSON Schema of the object


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model.

    ``messages``: the system prompt first, where there is one, then user and assistant in turn.
    ``max_tokens``: the longest reply, in tokens; ``None``: the provider's default.
    ``temperature``: ``None``: the provider's default.
    ``parameters``: further parameters of the provider's own, to be passed on as given.
    ``cache_key``: names the conversation to a prompt cache; ``None``: nothing is to be cached.
    ``cache_ttl``: how long a cached prompt is kept; ``None``: it is not cached.
    ``shared``: characters with which the last message begins like those of other requests: a prompt cache ends behind
    them, or before that message where it is 0; ``None``: all of the request begins the next one, as in a conversation.
    ``schema``: what the answer must be; ``None``: text.
    ``waits``: whether the provider itself waits and asks a busy server again; not where many requests are sent at once.
    ``top_logprobs``: how many of the likeliest tokens to report in the place of each token of the answer; 0: none.
    ``once``: whether it is sent again only where it was surely not billed: what it may cost was reserved once.
    ``effort``: how much the model thinks, from ``none`` to ``max``; ``None``: as its provider has it.
    ``tools``: the functions that the model may call.
    """

    messages: tuple[Message, ...]
    max_tokens: int | None = None
    temperature: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    cache_key: str | None = None
    cache_ttl: Literal["5m", "1h"] | None = "5m"
    shared: int | None = None
    schema: AnswerSchema | None = None
    waits: bool = True
    top_logprobs: int = 0
    once: bool = False
    effort: str | None = None
    tools: tuple[ToolSpec, ...] = ()

    @property
    def system(self) -> str:
        """The system prompt, or an empty text."""
        return self.messages[0].content if self.messages and self.messages[0].role == "system" else ""

    @property
    def said(self) -> tuple[Message, ...]:
        """The messages without the system prompt."""
        return self.messages[1:] if self.system else self.messages


@dataclass(frozen=True, slots=True)
class Thought:
    """A piece of what a model thought before it answered: shown apart, and never sent again."""

    text: str


Piece = str | Thought  # what a stream yields before its reply
ReplySource = Literal["model", "store", "handout"]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, with the tokens it took and why it ended.

    A provider fills in the first group; the rest is filled in by the chat.

    ``text``: the whole answer, without thoughts.
    ``usage``: tokens as the provider reports them; ``None``: it does not.
    ``stop_reason``: why the answer ended.
    ``model``: what the provider calls the model that answered; later the model's full name.
    ``thinking``: the whole of what the model thought, where the provider sends that.
    ``detail``: the provider's own reason for a refusal or a cut.
    ``tokens``: the answer's tokens with their probabilities, where these were asked for and reported.
    ``citations``: the pages of the web that the answer cites, as pairs of an address and a title.
    ``calls``: the functions that the model wants called before it goes on; ``stop_reason`` is then ``tool_calls``.
    ``state``: what the API wants back with the results: see :class:`~jupyter_ctx.conversation.messages.ToolRound`.

    ``rounds``: the functions that were called for this answer, with their results.
    ``notices``: what was done to make the request fit, and what went wrong with the store, a line each.
    ``cost``: in US dollars; ``None``: unknown.
    ``source``: who gave the answer: the model, the store or the handout in this notebook, for which nothing was sent.
    ``seconds``: from the request being sent to the answer's end; ``None``: not measured.
    ``parsed``: the value of a structured answer; ``None`` where none was asked for.
    """

    text: str = ""
    usage: Usage | None = None
    stop_reason: StopReason = "stop"
    model: str = ""
    notices: tuple[str, ...] = ()
    detail: str = ""
    cost: float | None = None
    source: ReplySource = "model"
    thinking: str = ""
    seconds: float | None = None
    parsed: Any = None
    tokens: tuple[TokenLogprob, ...] = ()
    citations: tuple[tuple[str, str], ...] = ()
    calls: tuple[ToolCall, ...] = ()
    state: str = ""
    rounds: tuple[ToolRound, ...] = ()

    _repr_mimebundle_ = mimebundle

    @property
    def stored(self) -> bool:
        """Whether the answer was there already, and nothing was sent."""
        return self.source != "model"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        tokens = f", {self.usage.input_tokens:,} → {self.usage.output_tokens:,} tokens" if self.usage else ""
        text = self.text if len(self.text) <= REPR_CHARACTERS else f"{self.text[: REPR_CHARACTERS - 1]}…"
        return f"Reply({text!r}, {self.model}, {self.stop_reason}{tokens})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Write the whole answer and a line of figures; in a list, the short form."""
        if cycle or len(getattr(printer, "stack", ())) > 1 or not self.text:
            printer.text(repr(self))
            return
        taken = f"{self.usage.input_tokens:,} in · {self.usage.output_tokens:,} out" if self.usage else ""
        seconds = "" if self.seconds is None else f"{self.seconds:,.1f} s"
        ending = "" if self.stop_reason == "stop" else self.stop_reason
        figures = " · ".join(filter(None, (self.model, taken, seconds, ending)))
        printer.text(f"{visible(self.text)}\n\n[{figures}]" if figures else visible(self.text))


class ModelInfo(NamedTuple):
    """A model in a provider's list, with its windows where they are known.

    ``served``: what the server that runs the model is started with; ``stated``: what the list says of the model.
    ``images``: whether the model reads images; ``None``: the list does not say.
    ``thinks``: whether it thinks before it answers; ``None``: the list does not say.
    ``tools``: whether it calls functions; ``None``: the list does not say.
    """

    id: str
    served: ContextWindow | None = None
    stated: ContextWindow | None = None
    images: bool | None = None
    thinks: bool | None = None
    tools: bool | None = None

    @property
    def facts(self) -> dict[Fact, bool | None]:
        """What the list says of the model, under the keys of a models file."""
        return {"images": self.images, "thinking": self.thinks, "tools": self.tools}


@dataclass(frozen=True, slots=True, eq=False)
class Endpoint:
    """Where a model is served, and the peculiarities of that server; without a model, a service."""

    name: str  # what messages call the server
    model: str = ""  # its name there
    base_url: str | None = None  # ``None``: the API's own address
    api_key: str = field(default="", repr=False)  # empty: there is none
    keys: tuple[str, ...] = ()  # environment variables that may hold the key
    adapter: Callable[[Endpoint], Provider] | None = None  # ``None``: that of Chat Completions
    variable: str = ""  # an environment variable that may hold another address, with ``path`` appended
    path: str = ""
    example: str = ""  # such an address, where there is no other
    self_hosted: bool = False  # whether it is the user's own: it needs no key and may report its window
    loaded_at: str = ""  # the path of the list of loaded models, where that is not the usual list
    truncates: str = ""  # how to end the server's silent truncation
    prices: str | None = None  # its name in the table of prices
    timeout: float = 600.0  # seconds that the server may be silent

    @property
    def shown_name(self) -> str:
        """The server's name in messages: its address for a server of the user's own, without what may be a key."""
        shown = self.base_url if self.base_url and self.self_hosted else self.name
        return re.sub(r"(?<=://)[^/@]*@", "", shown)

    @property
    def no_key(self) -> str:
        """What to do where the key is needed and missing."""
        return f"{self.name} needs a key: set {' or '.join(self.keys)}, or enter one with %chat key {self.name}."


class SupportsStream(Protocol):
    """What ``Chat(provider=…)`` takes: any object with the method ``stream`` of a :class:`Provider`."""

    @abstractmethod
    def stream(self, request: Request, /) -> Iterable[Piece | Reply]:
        """Return thoughts and text, then exactly one Reply, as :meth:`Provider.stream` does."""
        ...


class Provider(ABC):
    """Where a model answers. Inherit from it and write :meth:`stream`; all else has a default.

    ``Chat(provider=…)`` takes any object that has ``stream``, and uses the other members where they are there. A
    package offers a provider to ``%chat use NAME/MODEL`` by an entry point NAME in the group
    ``jupyter_ctx.providers``: a class or function that is called as ``make(model, api_key=…, timeout=…)``.
    ``%chat models NAME`` calls it with the model ``"any"``, and then :meth:`cards`.
    ``jupyter_ctx.testing.check_provider`` runs what follows against a provider.

    The contract:

    - :meth:`stream` yields pieces as they arrive, each a non-empty ``str`` or a :class:`Thought`, then exactly one
      :class:`Reply`. The texts joined are ``Reply.text``, the thoughts joined are ``Reply.thinking``. A provider
      that cannot stream yields the Reply alone.
    - Nothing is connected or started before the first request.
    - A request that is longer than the model's window raises ``ContextOverflowError``, with
      ``overflow=classify_overflow(status, body)`` or an ``Overflow`` of what the refusal says: the chat then makes
      room and sends again. Anything else that goes wrong raises another ``ChatError``: ``AuthenticationError``,
      ``RateLimitError``, ``ModelNotFoundError``, ``ProviderConnectionError``, else ``ProviderError``. No message
      holds a key.
    - A reply that calls functions of ``Request.tools`` has them in ``Reply.calls``, each with an id of its own in the
      conversation, and the stop reason ``"tool_calls"``; the next request has their results in a message's ``round``.
    - An answer that breaks off is a Reply with the stop reason ``"cut"``, or a ``ProviderConnectionError``.
    - A generator that is closed before its end (Ctrl-C) lets go of its connection; the next request works.
    - Several threads may stream at once. :meth:`close` may be called from any thread, more than once, and wakes up
      a stream that waits; the next request connects anew.
    - ``Usage.input_tokens`` includes cached tokens, ``output_tokens`` includes reasoning.

    The attributes:

    ``model``: the full name ``provider/model``, for ``Chat(provider=…)`` without a model's name.
    ``endpoint``: names who enforces the window; what refusals teach is kept under this name.
    ``tokenizer``: names who counts tokens; models with the same one share what replies teach of their counts.
    ``sends_reserve``: whether the API needs ``max_tokens``, so that the room kept for a reply is sent.
    ``takes``: the kinds of attachments that can be sent, of ``"image"`` and ``"pdf"``.
    ``takes_schema``: whether :meth:`stream` heeds ``Request.schema``; where not, the last message tells it.
    ``takes_tools``: whether :meth:`stream` heeds ``Request.tools`` and messages with a ``round``.
    ``reports_logprobs``: whether :meth:`stream` heeds ``Request.top_logprobs``.
    ``truncates``: for servers that silently cut what is too long, a sentence on how to end that.
    ``catalogue``: names the list of models, which is kept for a day; empty: it changes by the hour, or costs nothing.
    """

    model: str = ""
    endpoint: str = ""
    tokenizer: str = ""
    sends_reserve: bool = False
    takes: frozenset[str] = frozenset()
    takes_schema: bool = False
    takes_tools: bool = False
    reports_logprobs: bool = False
    truncates: str = ""
    catalogue: str = ""

    @abstractmethod
    def stream(self, request: Request) -> Iterator[Piece | Reply]:
        """Send a request; yield thoughts and text as they arrive, then exactly one Reply. Raise a ChatError."""
        ...

    def served_window(self, *, ask: bool) -> ContextWindow | None:
        """Return the window that the server runs the model with, or ``None``: unknown.

        Without ``ask``, only what is known already: nothing may be connected.
        """
        return None

    def says(self, fact: Fact, *, ask: bool) -> bool | None:
        """Return whether a fact holds of the model, as its server says, or ``None``: unknown. ``ask``: as above."""
        return None

    def forget_window(self) -> None:
        """Ask the server for its window again the next time."""
        return  # type checkers take a method without a body for abstract

    def cards(self) -> tuple[ModelInfo, ...]:
        """Return the models there are, in one request. Raise a ChatError."""
        return ()

    def count_tokens(self, request: Request) -> int | None:
        """Return the tokens of a request as the provider counts them, or ``None``: not counted. Never raise."""
        return None

    def beside(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return what a server of the user's own answers at a path beside its API; empty: it has none there."""
        return {}

    def allowance(self) -> MoneyLeft | None:
        """Return what is left to spend with the key, as its gateway says now, or ``None``: unknown."""
        return None

    def differences(self, request: Request) -> list[str]:
        """Return what of a request is not sent as it is asked for, a line each: what the model refused before."""
        return []

    def close(self) -> None:
        """End every open response and close the connections; safe from any thread, and more than once."""
        return  # as above
