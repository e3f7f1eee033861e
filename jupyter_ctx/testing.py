"""For tests: a provider that counts, refuses and answers as told, and a check of any provider's contract.

from jupyter_ctx import Chat
from jupyter_ctx.testing import Answer, ScriptedProvider, check_provider

provider = ScriptedProvider(["Blue.", Answer(["It ", "depends."], stop_reason="max_tokens")], window=1_000)
chat = Chat(provider=provider)
assert chat.send("Which colour is the sky?").text == "Blue."
assert provider.requests[-1].messages[-1].content == "Which colour is the sky?"

check_provider(MyProvider("my-model"))
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

from .context.learned_limit import LEAST_WINDOW
from .context.overflow import Overflow, classify_overflow
from .context.usage import Usage
from .context.windows import ContextWindow
from .conversation.messages import Message, StopReason, ToolCall, ToolResult, ToolRound, ToolSpec
from .errors import ChatError, ContextOverflowError, InvalidRequestError, ProviderConnectionError, in_words
from .providers.base import ModelInfo, Provider, Reply, Request, Thought
from .providers.plugins import PluginProvider, streaming

MESSAGE_TOKENS = 4  # that every message takes beside its text
CHARACTERS = 4  # of a token
REFUSES_WITH_FIGURES = (
    "This model's maximum context length is {window} tokens. However, you requested {total} tokens "
    "({size} in the messages, {asked} in the completion). Please reduce the length of the messages."
)
REFUSES_WITHOUT_FIGURES = "Your input exceeds the context window of this model. Please adjust your input and try again."
ASKED = Request((Message("system", "Be brief."), Message("user", "Say hello.")), max_tokens=16)


DAY = ToolSpec("name_of_the_day", "Name of the current day.", {"type": "object", "properties": {}})


def count_characters(text: str) -> int:
    """Return the tokens of a text by the simplest rule: one for every four characters begun."""
    return -(-len(text) // CHARACTERS)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a scripted provider does with one request.

    ``pieces``: a text, or texts and Thoughts in order, each yielded by itself; ``None``: "Yes.", or nothing before
    calls.
    ``stop_reason``: why the reply ended.
    ``usage``: the tokens it reports; "counted": its own count; ``None``: it reports none.
    ``delay``: seconds before each piece; ``close()`` ends the wait.
    ``error``: raised behind the pieces, instead of a reply.
    ``calls``: the functions that it wants called; the stop reason is then ``tool_calls``.
    """

    pieces: str | Sequence[str | Thought] | None = None
    stop_reason: StopReason = "stop"
    usage: Usage | Literal["counted"] | None = "counted"
    delay: float = 0.0
    error: Exception | None = None
    calls: Sequence[ToolCall] = ()


Script = str | Answer | Callable[[Request], "str | Answer"]


class ScriptedProvider(Provider):
    """A provider that answers as told, and refuses what is longer than its window.

    ``answers``: one text, :class:`Answer` or function of the request, or several; the last one is repeated.
    ``window``: tokens of prompt and reply together, 256 or more: a chat takes a smaller limit for a server's mistake.
    A request that needs more raises ContextOverflowError.
    ``refusal``: the words of that refusal, which are read as any provider's are, with ``{window}``, ``{size}``,
    ``{asked}`` and ``{total}`` in them (``REFUSES_WITH_FIGURES``, ``REFUSES_WITHOUT_FIGURES``); or a function of the
    request's size in tokens that returns an Overflow.
    ``count``: the tokens of a text; each message takes four more.
    ``model``, ``sends_reserve``, ``takes``, ``takes_schema``, ``takes_tools``: as of any
    :class:`~jupyter_ctx.Provider`.

    ``requests`` are all requests in order, ``refused`` those that were refused, ``taken`` the size of the last one
    that was answered, ``closed`` how often the provider was closed. Raises ValueError for a smaller window, and where
    there are no answers.
    """

    def __init__(
        self,
        answers: Script | Sequence[Script] = "Yes.",
        *,
        window: int | None = None,
        refusal: str | Callable[[int], Overflow] = REFUSES_WITH_FIGURES,
        count: Callable[[str], int] = count_characters,
        model: str = "scripted/model",
        sends_reserve: bool = False,
        takes: frozenset[str] = frozenset(),
        takes_schema: bool = True,
        takes_tools: bool = True,
    ) -> None:
        if window is not None and window < LEAST_WINDOW:
            raise ValueError(f"window={window} is too small to be believed: give {LEAST_WINDOW} tokens or more.")
        scripts = answers if isinstance(answers, Sequence) and not isinstance(answers, str) else [answers]
        if not scripts:
            raise ValueError("There are no answers: give one or more, such as ScriptedProvider('Yes.').")
        self.answers: list[Script] = list(scripts)
        self.window, self.refusal, self.count = window, refusal, count
        self.model, self.sends_reserve, self.takes, self.takes_schema = model, sends_reserve, takes, takes_schema
        self.takes_tools = takes_tools
        self.endpoint = self.tokenizer = f"{model} {id(self):x}"  # no two share what is learned of them
        self.requests: list[Request] = []
        self.refused: list[Request] = []
        self.taken = self.closed = 0
        self._ends = threading.Event()

    def size(self, request: Request) -> int:
        """Return the tokens of a request."""
        tools = sum(self.count(f"{tool.name} {tool.description} {json.dumps(tool.json)}") for tool in request.tools)
        return tools + sum(map(self._message_size, request.messages))

    def _message_size(self, message: Message) -> int:
        """Return the tokens of a message; each result of a call is a message of its own."""
        results = message.round.results if message.round is not None else ()
        files = (*message.attachments, *(file for result in results for file in result.attachments))
        text = message.content if message.round is None else str(message.round)
        return self.count(text) + MESSAGE_TOKENS * (1 + len(results)) + sum(file.tokens for file in files)

    def stream(self, request: Request) -> Generator[str | Thought | Reply, None, None]:
        """Yield what the script says. Raise ContextOverflowError where the request does not fit."""
        self.requests.append(request)
        size, ends = self.size(request), self._ends
        if self.window is not None and size + (request.max_tokens or 0) > self.window:
            self.refused.append(request)
            raise self._refusal(self.window, size, request.max_tokens or 0)
        answer = self._answer(request)
        self.taken = size
        said = ("" if answer.calls else "Yes.") if answer.pieces is None else answer.pieces
        pieces = tuple(filter(None, [said])) if isinstance(said, str) else said
        for piece in pieces:
            if answer.delay and ends.wait(answer.delay):
                raise ProviderConnectionError("The connection was closed in the middle of the reply.")
            yield piece
        if answer.error is not None:
            raise answer.error
        yield self._reply(answer, tuple(pieces), size)

    def cards(self) -> tuple[ModelInfo, ...]:
        """Return its one model."""
        return (ModelInfo(self.model.partition("/")[2]),)

    def count_tokens(self, request: Request) -> int:
        """Return the tokens that a reply to this request would report."""
        return self.size(request)

    def close(self) -> None:
        """End the delays of all answers."""
        self.closed += 1
        self._ends.set()
        self._ends = threading.Event()

    def _answer(self, request: Request) -> Answer:
        script = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        answer = script(request) if callable(script) else script
        return Answer(answer) if isinstance(answer, str) else answer

    def _reply(self, answer: Answer, pieces: tuple[str | Thought, ...], size: int) -> Reply:
        text = "".join(piece for piece in pieces if isinstance(piece, str))
        thinking = "".join(piece.text for piece in pieces if isinstance(piece, Thought))
        thought = self.count(thinking) if thinking else 0
        called = sum(self.count(str(call)) for call in answer.calls)
        counted = Usage(size, self.count(text) + thought + called, reasoning_tokens=thought)
        usage = counted if answer.usage == "counted" else answer.usage
        reason = "tool_calls" if answer.calls else answer.stop_reason
        return Reply(text, usage, reason, thinking=thinking, calls=tuple(answer.calls))

    def _refusal(self, window: int, size: int, asked: int) -> ContextOverflowError:
        if callable(self.refusal):
            return ContextOverflowError("The request is too long.", overflow=self.refusal(size))
        words = self.refusal.format(window=window, size=size, asked=asked, total=size + asked)
        return ContextOverflowError(words, overflow=classify_overflow(400, words) or Overflow())


def check_provider(provider: object, request: Request = ASKED, *, too_long: Request | None = None) -> None:
    """Check that a provider keeps the contract of :class:`~jupyter_ctx.Provider`. Raises AssertionError where not.

    ``request`` is sent several times, from two threads too; ``too_long`` is a request that the model must refuse.
    A ChatError of the provider's own, such as a missing key, is raised as it is.
    """
    with _raising_chat_errors():
        _check(provider, _Checked(provider, "checked/model"), request, too_long)


def _check(provider: object, kept: Provider, request: Request, too_long: Request | None) -> None:
    assert kept.served_window(ask=False) is None or isinstance(kept.served_window(ask=False), ContextWindow), (
        "served_window() returns a ContextWindow or None"
    )
    _check_reply(_streamed(provider, request))
    _check_lists(kept, request)
    with streaming(kept, request) as stream:  # closed at its beginning, as by Ctrl-C
        next(iter(stream))
    _check_reply(_streamed(provider, request))
    for _ in range(2):
        kept.close()
    _check_threads(provider, request)
    if kept.takes_tools:
        _check_tools(provider, request)
    if too_long is not None:
        _check_refusal(kept, too_long)


def _check_tools(provider: object, request: Request) -> None:
    """Check a request with a function, and one with a call and its result, unless the model calls none."""
    call = ToolCall("call1", "name_of_the_day", "{}")
    called = Message("assistant", "", round=ToolRound((call,), (ToolResult("Monday"),)))
    offered = replace(request, tools=(DAY,))
    for asked in (offered, replace(offered, messages=(*request.messages, called))):
        try:
            items = _streamed(provider, asked)
        except InvalidRequestError:
            return
        _check_reply(items)
        reply = items[-1]
        assert isinstance(reply, Reply)
        assert bool(reply.calls) == (reply.stop_reason == "tool_calls"), "calls go with the stop reason 'tool_calls'"
        names = [each.id for each in (*reply.calls, *(called.round.calls if called.round else ()))]
        assert len({*names, ""}) == len(names) + 1, "each call has an id of its own"


class _Checked(PluginProvider):
    """A guest that takes an error of any other kind than ChatError for a breach of the contract."""

    @contextmanager
    def _naming(self) -> Iterator[None]:
        with _raising_chat_errors():
            yield


@contextmanager
def _raising_chat_errors() -> Iterator[None]:
    """Raise AssertionError for an error that is no ChatError."""
    try:
        yield
    except (AssertionError, ChatError):
        raise
    except Exception as error:
        raise AssertionError(f"a provider raises a ChatError where something goes wrong; {in_words(error)}") from error


def _streamed(provider: Any, request: Request) -> list[object]:
    with _raising_chat_errors(), streaming(provider, request) as stream:
        return list(stream)


def _check_reply(items: Sequence[object]) -> None:
    for item in items:
        assert isinstance(item, str | Thought | Reply), f"stream() yielded {type(item).__name__}"
    *pieces, reply = items or [None]
    assert isinstance(reply, Reply), "stream() ends with a Reply"
    assert all(isinstance(piece, str | Thought) for piece in pieces), "stream() yields str or Thought, then one Reply"
    texts = [piece for piece in pieces if isinstance(piece, str)]
    thoughts = [piece.text for piece in pieces if isinstance(piece, Thought)]
    assert all((*texts, *thoughts)), "no piece is empty"
    assert not pieces or "".join(texts) == reply.text, "the texts joined are Reply.text"
    assert not pieces or "".join(thoughts) == reply.thinking, "the thoughts joined are Reply.thinking"
    if reply.usage is not None:
        usage = reply.usage
        assert usage.input_tokens > 0, "a report of no input is none: usage is None"
        cached = usage.cache_read_tokens + usage.cache_write_tokens
        assert cached <= usage.input_tokens, "cached tokens are a part of input_tokens"
        assert usage.reasoning_tokens <= usage.output_tokens, "reasoning is a part of output_tokens"


def _check_lists(provider: Provider, request: Request) -> None:
    assert all(isinstance(card, ModelInfo) for card in provider.cards()), "cards() returns Cards"
    counted = provider.count_tokens(request)
    assert counted is None or counted > 0, "count_tokens() returns a positive number or None"
    assert set(provider.takes) <= {"image", "pdf"}, "takes holds 'image' and 'pdf' only"


def _check_threads(provider: object, request: Request) -> None:
    """Check two streams at once, on a provider that was closed before."""
    outcomes: list[list[object] | Exception] = []

    def run() -> None:
        try:
            outcomes.append(_streamed(provider, request))
        except Exception as error:
            outcomes.append(error)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for items in outcomes:
        assert not isinstance(items, Exception), f"two threads may stream at once, after close() too: {items!r}"
        _check_reply(items)


def _check_refusal(provider: Provider, too_long: Request) -> None:
    raised: ChatError | None = None
    try:
        _streamed(provider, too_long)
    except ChatError as error:
        raised = error
    did = "was answered" if raised is None else f"raised {raised!r}"
    assert isinstance(raised, ContextOverflowError), f"too long a request raises ContextOverflowError; this one {did}"
    assert raised.overflow is not None, "ContextOverflowError carries an Overflow, even if an empty one"
