"""What tests of one's own are given: a scripted provider, and a check of any provider's contract."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from jupyter_ctx import (
    Chat,
    ChatError,
    ContextOverflowError,
    Message,
    Overflow,
    ProviderConnectionError,
    ProviderError,
    Reply,
    Usage,
)
from jupyter_ctx.providers.base import Request, Thought
from jupyter_ctx.testing import (
    REFUSES_WITH_FIGURES,
    REFUSES_WITHOUT_FIGURES,
    Answer,
    ScriptedProvider,
    check_provider,
    count_characters,
)

HELLO = Request((Message("user", "Say hello."),))
LONG = Request((Message("user", "word " * 2_000),), max_tokens=16)


def test_answers_come_in_order_and_the_last_is_repeated() -> None:
    chat = Chat(provider=ScriptedProvider(["One.", lambda request: request.messages[-1].content.upper(), "Three."]))
    assert [chat.send("and?").text for _ in range(4)] == ["One.", "AND?", "Three.", "Three."]


def test_a_provider_without_answers_is_refused() -> None:
    with pytest.raises(ValueError, match="Yes"):
        ScriptedProvider([])


@pytest.mark.parametrize("window", [0, 100, 255])
def test_a_window_that_no_chat_would_believe_is_refused(window: int) -> None:
    with pytest.raises(ValueError, match=f"window={window} .*256"):
        ScriptedProvider(window=window)


def test_an_answer_is_streamed_as_told() -> None:
    provider = ScriptedProvider(Answer([Thought("Hm."), "It ", "is."], stop_reason="max_tokens", usage=Usage(9, 3)))
    shown: list[str] = []
    reply = Chat(provider=provider).send("Is it?", on_piece=shown.append, on_thought=shown.append)
    assert shown == ["Hm.", "It ", "is."]
    assert (reply.text, reply.thinking, reply.stop_reason, reply.usage) == ("It is.", "Hm.", "max_tokens", Usage(9, 3))


def test_tokens_are_counted_by_the_stated_rule() -> None:
    *_, reply = ScriptedProvider("12345").stream(Request((Message("system", "1234"), Message("user", ""))))
    assert isinstance(reply, Reply)
    assert (count_characters(""), count_characters("1234"), count_characters("12345")) == (0, 1, 2)
    assert reply.usage == Usage(1 + 4 + 4, 2)
    assert Chat(provider=ScriptedProvider(Answer(usage=None))).send("Hi.").usage is None


@pytest.mark.parametrize("refusal", [REFUSES_WITH_FIGURES, REFUSES_WITHOUT_FIGURES])
def test_it_refuses_what_is_longer_than_its_window_as_providers_do(refusal: str) -> None:
    provider = ScriptedProvider(window=1_000, refusal=refusal)
    chat = Chat(provider=provider, max_tokens=50, window=10**6)
    chat.add_messages({"role": role, "content": "a word " * 60} for _ in range(10) for role in ("user", "assistant"))
    assert chat.send("And now?").text == "Yes."
    assert len(provider.refused) in (1, 2)
    assert provider.taken <= 1_000 < provider.size(provider.refused[0])
    assert len(chat.turns) == 11


def test_the_figures_of_a_refusal_are_read_or_given() -> None:
    with pytest.raises(ContextOverflowError) as raised:
        list(ScriptedProvider(window=1_000).stream(LONG))
    assert raised.value.overflow == Overflow(context_window=1_000, input_tokens=2_504, output_tokens=16)
    with pytest.raises(ContextOverflowError) as raised:
        list(ScriptedProvider(window=1_000, refusal=lambda size: Overflow(excess=size - 1_000)).stream(LONG))
    assert raised.value.overflow == Overflow(excess=1_504)


def test_closing_it_ends_a_delay() -> None:
    provider = ScriptedProvider(Answer(["One", "two"], delay=60))
    threading.Timer(0.1, provider.close).start()
    begun = time.monotonic()
    with pytest.raises(ProviderConnectionError):
        list(provider.stream(HELLO))
    assert time.monotonic() - begun < 30
    assert provider.closed == 1


# the contract


def test_the_scripted_provider_keeps_the_contract() -> None:
    thinking = Answer([Thought("Hm."), "It is."])
    check_provider(ScriptedProvider(thinking, window=1_000), too_long=LONG)


def test_the_least_provider_keeps_the_contract() -> None:
    class Least:
        def stream(self, request: Request) -> Iterator[Reply]:
            yield Reply("Hello.")

    check_provider(Least())


class Sloppy:
    """A provider that yields what it was given."""

    def __init__(self, *items: Any, **members: Any) -> None:
        self.items = items
        for name, value in members.items():
            setattr(self, name, value)

    def stream(self, request: Request) -> Iterator[Any]:
        yield from self.items


@pytest.mark.parametrize(
    ("provider", "says"),
    [
        (Sloppy("Hello."), "ends with a Reply"),
        (Sloppy(), "ends with a Reply"),
        (Sloppy(1, 2), r"stream\(\) yielded int"),
        (Sloppy("Hello.", Reply("Hello."), Reply("Hello.")), "then one Reply"),
        (Sloppy("", Reply("")), "no piece is empty"),
        (Sloppy("Hello.", Reply("Good day.")), "the texts joined are Reply"),
        (Sloppy("Hello.", Reply("Hello.", thinking="Hm.")), "the thoughts joined"),
        (Sloppy(Reply("Hello.", Usage(0, 2))), "usage is None"),
        (Sloppy(Reply("Hello.", Usage(5, 2, cache_read_tokens=6))), "part of input_tokens"),
        (Sloppy(Reply("Hello.", Usage(5, 2, reasoning_tokens=3))), "part of output_tokens"),
        (Sloppy(Reply("Hello."), takes=frozenset({"video"})), "takes holds"),
        (Sloppy(Reply("Hello."), served_window=lambda ask: 4_096), "returns a ContextWindow"),
        (Sloppy(Reply("Hello."), cards=lambda: ("large",)), "returns Cards"),
        (Sloppy(Reply("Hello."), count_tokens=lambda request: 0), "positive number"),
        (Sloppy(Reply("Hello.")), "too long a request raises ContextOverflowError; this one was answered"),
        (ScriptedProvider(["Hello.", "Hello.", "Hello.", Answer(error=ProviderError("no"))]), "two threads"),
    ],
)
def test_each_breach_of_the_contract_is_named(provider: object, says: str) -> None:
    with pytest.raises((AssertionError, ChatError), match=says):
        check_provider(provider, HELLO, too_long=LONG)


def broken(*_: object, **__: object) -> Any:
    raise KeyError("choices")


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({"stream": broken}, "raises a ChatError where something goes wrong; KeyError: 'choices'"),
        ({"stream": lambda request: None}, "TypeError: 'NoneType' object is not iterable"),
        ({"served_window": broken}, "KeyError"),
        ({"cards": lambda: None}, "TypeError"),
        ({"count_tokens": broken}, "KeyError"),
        ({"close": broken}, "KeyError"),
    ],
)
def test_an_error_of_another_kind_is_a_breach(members: dict[str, Any], says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        check_provider(Sloppy(Reply("Hello."), **members), HELLO)


def test_a_refusal_of_another_kind_is_a_breach() -> None:
    def answer(request: Request) -> Answer:
        return Answer("", error=ProviderError("too long")) if request is LONG else Answer("Hello.")

    with pytest.raises(AssertionError, match="this one raised ProviderError"):
        check_provider(ScriptedProvider(answer), too_long=LONG)
