"""What was learned of sizes is the same after a restart and in a fork: the next request is estimated alike."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from server import events, piece, send, serve, usage

from jupyter_ctx import Chat
from jupyter_ctx.errors import ChatError
from jupyter_ctx.storage.journal import close_stores

WORDS = ["ship", "sailed", "night", "привет", "größe", "12,345", "foo_bar()", "λόγος", "東京", "the", "a", "🙂", "x=1;"]
RATES = {"one": 3.1, "two": 2.2, "three": 4.0}  # bytes for a token
LIMIT, STEPS = 3_000, 30


def text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(words))


def a_server(rng: random.Random) -> Callable[[Any, dict[str, Any]], None]:
    """Counts in a way of its own for each model, refuses what is too long, fails, and does not always report."""

    def size(said: str, model: str) -> int:
        return round(len(said.encode()) / RATES[model]) + 4

    def answer(handler: Any, request: dict[str, Any]) -> None:
        model = request["model"]
        total = sum(size(message["content"], model) for message in request["messages"]) + 3
        if total > LIMIT:
            said = f"This model's maximum context length is {LIMIT} tokens. Your messages resulted in {total} tokens."
            error = {"message": said, "code": "context_length_exceeded"}
            send(handler, 400, json.dumps({"error": error}))
        elif rng.random() < 0.1:
            send(handler, 400, "{}")
        else:
            reply = text(rng, rng.randint(2, 40))
            report = [usage(total, size(reply, model))] if rng.random() < 0.85 else []
            send(handler, 200, events(piece(reply, "stop"), *report), "text/event-stream")

    return answer


def acted(chat: Chat, rng: random.Random, url: str) -> None:
    """Do something, which may fail."""
    other = {"model": rng.choice(list(RATES)), "base_url": url}
    deeds: list[tuple[float, Callable[[], object]]] = [
        (6, lambda: chat.send(text(rng, rng.randint(1, 60)))),
        (1, lambda: chat.send(text(rng, 20), record=False)),
        (1, lambda: chat.send(text(rng, 900))),
        (1, lambda: chat.send(text(rng, 9), **other)),
        (1, lambda: chat.configure(**other)),
        (1, lambda: chat.desk.set_system(text(rng, 15))),
        (1, lambda: chat.add_messages([{"role": role, "content": text(rng, 30)} for role in ("user", "assistant")])),
        (1, chat.undo),
        (1, lambda: chat.summarize(method="extractive")),
        (1, lambda: chat.trim(3)),
    ]
    ((_, deed),) = rng.choices(deeds, [weight for weight, _ in deeds])
    with suppress(ChatError):
        deed()


def estimates(chat: Chat, prompt: str, url: str) -> list[object]:
    info = chat.info()
    sizes = [chat.preview(prompt, model=model, base_url=url).input_tokens for model in RATES]
    return [info.used, info.exact, *sizes, *(row.tokens for row in chat.history())]


def test_the_next_request_is_estimated_alike_to_the_token(tmp_path: Path) -> None:
    rng = random.Random(3)
    with serve(a_server(rng)) as (url, _):

        def a_chat(model: str) -> Chat:
            return Chat(model, base_url=url, api_key="k", store=tmp_path / "s.sqlite", name="c", max_tokens=50)

        chat = a_chat("one")
        for step in range(STEPS):
            acted(chat, rng, url)
            prompt = text(rng, 25)
            now = estimates(chat, prompt, url)
            fork = a_chat(chat.config.model)  # as chat holds the conversation itself
            assert fork.name != "c"
            assert estimates(fork, prompt, url) == now
            fork.close()
            if step % 7 == 6:
                chat.close()
                close_stores()
                chat = a_chat(chat.config.model)
                assert chat.name == "c"
                assert estimates(chat, prompt, url) == now
