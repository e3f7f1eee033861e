"""A user's script, as mypy --strict reads it: what the public names promise to a type checker. It is never run."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import assert_type

from jupyter_ctx import (
    Chat,
    ChatError,
    ContextInfo,
    ContextOverflowError,
    ContextWindow,
    Library,
    Overflow,
    Provider,
    RateLimitError,
    Reply,
    Results,
    Settings,
    Usage,
    ask,
    assert_not_worse,
    classify_overflow,
    compare,
    get_chat,
    load_run,
    resolve_window,
    sweep,
)
from jupyter_ctx.experiments.table.results import Result
from jupyter_ctx.providers.base import Request, SupportsStream, Thought
from jupyter_ctx.session.actions import Change
from jupyter_ctx.session.tables import View
from jupyter_ctx.testing import Answer, ScriptedProvider, check_provider

chat = Chat("local/smollm2", window=2_048, store=Path("talk.sqlite"), name="notes")
pieces: list[str] = []


def asked(prompt: str) -> str:
    try:
        reply = chat.send(prompt, on_piece=pieces.append, max_tokens=64, attachments=[Path("notes.md")])
    except ContextOverflowError as error:
        assert_type(error.used, int | None)
        assert_type(error.overflow, Overflow | None)
        return error.prompt
    except RateLimitError as error:
        assert_type(error.retry_after, float | None)
        raise
    except ChatError as error:
        return str(error)
    assert_type(reply, Reply)
    assert_type(reply.text, str)
    assert_type(reply.usage, Usage | None)
    assert_type(reply.cost, float | None)
    return reply.text


def look() -> None:
    info = chat.info()
    assert_type(info, ContextInfo)
    assert_type(chat.preview("Hello.").price.high, float | None)
    assert_type(chat.summarize(turns=2, method="extractive").changed, bool)
    assert_type((info.used, info.limit, info.context_window), tuple[int, int, int])
    assert_type((info.fill, info.exact), tuple[float, bool])
    view = chat.preview("Why is the sky blue?")
    assert_type(view, View)
    assert_type(view.input_tokens, int)
    assert_type(chat.config, Settings)
    assert_type(chat.config.max_tokens, int | None)
    assert_type(resolve_window("gpt-4o"), ContextWindow)
    assert_type(classify_overflow(400, {"error": {"message": "prompt is too long"}}), Overflow | None)
    assert_type(get_chat(), Chat)


def act() -> Change:
    chat.add_messages([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}])
    assert_type(chat.trim(), Change)
    assert_type(chat.undo(), Change)
    return chat.clear()


def text_of(provider: Provider, request: Request) -> str:
    text = ""
    for part in provider.stream(request):
        if isinstance(part, Thought):
            continue
        text += part.text if isinstance(part, Reply) else part
    return text


class Acme(Provider):
    """The provider of CONTRIBUTING.md: no more than its stream."""

    def __init__(self, model: str, *, api_key: str | None = None, timeout: float = 600.0) -> None:
        self.model = f"acme/{model}"

    def stream(self, request: Request) -> Iterator[str | Reply]:
        text = f"You said: {request.messages[-1].content}"
        yield text
        yield Reply(text)


class Generating(Provider):
    def stream(self, request: Request) -> Generator[str | Thought | Reply, None, None]:
        yield Reply("Hello.")


class Whole:
    """Not a Provider, but an object with a stream."""

    def stream(self, asked: Request) -> list[Reply]:
        return [Reply("Hello.")]


def providers(anything: SupportsStream) -> list[Chat]:
    acme, scripted = Acme("large"), ScriptedProvider(["Blue.", Answer("Green.")], window=1_000)
    assert_type(scripted.requests, list[Request])
    check_provider(acme)
    acme.close()
    return [Chat(provider=given) for given in (acme, Generating(), Whole(), scripted, anything)]


def refused() -> None:
    Chat(provider=object())  # type: ignore[arg-type]


def others(library: Library) -> Chat:
    return library.switch("side")


def experiments(chat: Chat, rows: list[dict[str, str]]) -> str:
    assert_type(ask("Why?", model="local/smollm2"), Reply)
    run = chat.map("{{ text }}", rows, scorers={"long": lambda row, reply: len(reply.text) > 80})
    assert_type(run.results, Results)
    assert_type(run.results[0], Result)
    other = sweep("{{ text }} {{ tone }}", rows, {"tone": ["Politely."]}, model="local/smollm2")
    again = run.repeat(model="openai/gpt-5.2")
    assert_type(again.unasked, int)
    saved = load_run(again.export(Path("run.json")))
    assert_type(saved.results, Results)
    assert_type(saved.cost, float | None)
    assert_not_worse(saved, run, margin=0.05, scorer="long", strict=True)
    return str(compare(saved, other, scorer="long").sentences + saved.summary().sentences)
