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
from dialects import DIALECTS
from server import KEY, send, serve

from jupyter_ctx import sweep

LEAST = 4_096  # characters that are cached
ANSWER = DIALECTS["anthropic"].answer("Yes")


def text_of(characters: int, seed: int = 0) -> str:
    return "".join(random.Random(seed).choices("abcdefgh ", k=characters))


class Cache:
    """A prompt cache that keeps to the documents: an entry is there once the first response begins.

    ``writes`` and ``reads`` are requests that did so; ``most`` waited for a response at once.
    """

    def __init__(self) -> None:
        self.entries = set[str]()
        self.writes = self.reads = self.open = self.most = 0
        self._lock = threading.Lock()

    def answer(self, handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        with self._lock:
            marked = set(prefixes(request))
            new = {text for text in marked - self.entries if len(text) >= LEAST}
            self.reads += bool(marked & self.entries)
            self.writes += bool(new)
            self.open += 1
            self.most = max(self.most, self.open)
        time.sleep(0.05)
        with self._lock:
            self.open -= 1
            self.entries |= new
        send(handler, 200, ANSWER, "text/event-stream")


def prefixes(request: dict[str, Any]) -> Iterator[str]:
    """The beginnings of a request that it asks to keep."""
    whole = ""
    for content in (request.get("system", ""), *(message["content"] for message in request["messages"])):
        for block in [{"text": content}] if isinstance(content, str) else content:
            whole += block["text"]
            if "cache_control" in block:
                yield whole


@contextmanager
def caching() -> Iterator[tuple[Cache, dict[str, Any]]]:
    cache = Cache()
    with serve(cache.answer, path="") as (url, _):
        yield cache, {"model": "anthropic/m", "base_url": url, "api_key": KEY, "concurrency": 20, "yes": True}


QUESTIONS = [f"Question {number}?" for number in range(60)]
LONG = text_of(20_000)


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
    assert (cache.writes, cache.reads) == (1, 59)


def test_each_of_a_few_long_documents_is_written_once() -> None:
    documents = [text_of(8_000, seed) for seed in range(4)]
    rows = [{"document": document, "text": question} for question in QUESTIONS[:20] for document in documents]
    with caching() as (cache, model):
        assert len(sweep("{{ document }}\n{{ text }}", rows, **model).result(60)) == 80
    assert (cache.writes, cache.reads) == (4, 76)


def test_rows_that_share_too_little_do_not_wait_for_one_another() -> None:
    with caching() as (cache, model):
        assert len(sweep("{{ text }}", QUESTIONS[:20], **model).result(60)) == 20
    assert cache.writes == 0
    assert cache.most > 1
