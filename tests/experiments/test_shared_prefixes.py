"""Rows that begin alike: a prompt cache is written once, and read by all the others."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from answering_rows import KEY
from dialects import DIALECTS
from server import serve

from jupyter_ctx import sweep

ANTHROPIC = DIALECTS["anthropic"]
CHARACTERS = 4  # of a token
LEAST = 1_024  # tokens that are cached
AT_ONCE = 20


def text_of(tokens: int, seed: int = 0) -> str:
    chance = random.Random(seed)
    return "".join(chance.choice("abcdefgh ") for _ in range(tokens * CHARACTERS))


class Cache:
    """A prompt cache that keeps to the documents: an entry is there once the first response begins.

    ``written`` and ``read`` are tokens, ``sent`` all that were sent; ``most`` waited for a response at once.
    """

    def __init__(self) -> None:
        self.entries = set[str]()
        self.written = self.read = self.sent = self.writes = 0
        self.open = self.most = 0
        self._lock = threading.Lock()

    def answer(self, handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        whole, ends = "", list[int]()
        for block in blocks(request):
            whole += block["text"]
            ends += [len(whole)] if "cache_control" in block else []
        known = [end for end in ends if whole[:end] in self.entries]
        new = [end for end in ends if end / CHARACTERS >= LEAST and end not in known]
        read = max(known, default=0) // CHARACTERS
        written = max(new, default=0) // CHARACTERS - read if new else 0
        self.open += 1
        self.most = max(self.most, self.open)
        time.sleep(0.05)
        with self._lock:
            self.open -= 1
            self.entries |= {whole[:end] for end in new}  # the response begins
            self.read, self.written = self.read + read, self.written + written
            self.sent += len(whole) // CHARACTERS
            self.writes += written > 0
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(ANTHROPIC.pieces(["Yes"]).encode())
        handler.wfile.flush()
        time.sleep(0.02)
        end = ANTHROPIC.end(sent=len(whole) // CHARACTERS, cached=read, written=written)
        handler.wfile.write(end.encode())


def blocks(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The blocks of text that a request consists of, in the order in which they are cached."""
    for content in (request.get("system", ""), *(message["content"] for message in request["messages"])):
        yield from [{"text": content}] if isinstance(content, str) else content


@contextmanager
def caching() -> Iterator[tuple[Cache, dict[str, Any]]]:
    cache = Cache()
    with serve(cache.answer, path="") as (url, _):
        yield cache, {"model": "anthropic/m", "base_url": url, "api_key": KEY, "concurrency": AT_ONCE, "yes": True}


QUESTIONS = [f"Question {number}?" for number in range(60)]
LONG = text_of(5_000)


@pytest.mark.parametrize(
    ("template", "rows", "system"),
    [
        ("{{ text }}", QUESTIONS, LONG),
        ("{{ document }}\n{{ text }}", [{"document": LONG, "text": question} for question in QUESTIONS], None),
    ],
    ids=["system", "column"],
)
def test_a_shared_text_is_written_once_and_read_by_all_others(template: str, rows: Any, system: str | None) -> None:
    with caching() as (cache, model):
        run = sweep(template, rows, system=system, **model)
        assert len(run.result(60)) == 60
    assert not run.results.failed
    assert cache.writes == 1
    assert cache.read / cache.sent >= 0.95
    usages = [result.reply.usage for result in run.results if result.reply is not None and result.reply.usage]
    assert sum(usage.cache_write_tokens > 0 for usage in usages) == 1


def test_each_of_a_few_long_documents_is_written_once() -> None:
    documents = [text_of(2_000, seed) for seed in range(4)]
    rows = [{"document": document, "text": question} for question in QUESTIONS[:20] for document in documents]
    with caching() as (cache, model):
        assert len(sweep("{{ document }}\n{{ text }}", rows, **model).result(60)) == 80
    assert cache.writes == 4
    assert cache.read / cache.sent >= 0.9


def test_rows_that_share_too_little_do_not_wait_for_one_another() -> None:
    with caching() as (cache, model):
        assert len(sweep("{{ text }}", QUESTIONS[:20], **model).result(60)) == 20
    assert cache.writes == 0
    assert cache.most > 1
