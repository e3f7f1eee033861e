"""No reply fills the memory: whatever a server sends, in each provider's wire format."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, KEY
from server import Quiet, events, piece, running, serve

from jupyter_ctx import Chat, ProviderError
from jupyter_ctx.providers.lookup import get_provider
from jupyter_ctx.providers.wire import json_values

MEGABYTE = 1 << 20
MEGABYTES = 700
FILL = b"x" * MEGABYTE
MOST_GROWTH = 100  # MB
SUPPORT = Path(__file__).resolve().parents[1] / "support"
FORMS, NAMES = ("error", "line"), "completions google"
ASKING = """
import json, resource, sys
from dialects import DIALECTS
from server import send, serve
from jupyter_ctx import ProviderError

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1_024

seen = []
for name in sys.argv[2].split():
    dialect = DIALECTS[name]
    with serve(dialect.answer("Hi"), path="") as (url, _):
        dialect.chat(url).send("x")  # all that is imported is in memory
    for form in sys.argv[3:]:
        before = peak()
        chat = dialect.chat(f"{sys.argv[1]}/{name}/{form}")
        try:
            chat.send("x")
            said = ""
        except ProviderError as error:
            said = str(error)
        kept = [(turn.reply[:20], turn.stop_reason) for turn in chat.turns]
        seen.append((name, form, said, kept, peak() - before))
print(json.dumps(seen))
"""


def packed() -> Iterator[bytes]:
    """A gzip bomb."""
    squeeze = zlib.compressobj(9, wbits=31)
    for _ in range(MEGABYTES):
        yield squeeze.compress(FILL)
    yield squeeze.flush()


class Endless(Quiet):
    """Answers /DIALECT/FORM/... with 700 MB."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def do_GET(self) -> None:
        _, name, form, *_ = self.path.split("/")
        self.send_response(400 if form == "error" else 200)
        self.send_header("Content-Type", "text/event-stream")
        if form in ("gzip", "br"):
            self.send_header("Content-Encoding", form)
        self.end_headers()
        with suppress(OSError):  # the client has read enough
            for part in self.parts(form, name):
                self.wfile.write(part)

    def parts(self, form: str, name: str) -> Iterator[bytes]:
        dialect = DIALECTS[name]
        if form == "gzip":
            yield from packed()
        elif form == "tokens":
            event = dialect.pieces(["word "]).encode()
            yield from repeat(event * (MEGABYTE // len(event)), MEGABYTES)
        elif form == "rows":
            yield from repeat(b'[{"id": "m"}],' * 70_000, MEGABYTES)
        else:
            yield b'{"error": {"message": "' if form == "error" else dialect.pieces(["Some text"]).encode()
            yield from repeat(FILL, MEGABYTES)


def asked(*forms: str) -> list[Any]:
    """What each dialect makes of endless replies, in a process whose memory is its own."""
    with running(Endless) as url:
        ran = subprocess.run(
            [sys.executable, "-c", ASKING, url, NAMES, *forms], cwd=SUPPORT, capture_output=True, text=True, check=True
        )
    return list(json.loads(ran.stdout))


def test_a_reply_without_end_is_cut_said_and_takes_no_memory() -> None:
    results = asked(*FORMS)
    assert len(results) == len(FORMS) * len(NAMES.split())
    for name, form, said, kept, _ in results:
        assert ("refused" if form == "error" else "16 MB") in said, (name, form, said)
        assert kept == ([["Some text", "cut"]] if form == "line" else []), (name, form)
    assert sum(growth for *_, growth in results) < MOST_GROWTH


@pytest.mark.load
def test_tokens_without_end_are_cut_and_kept() -> None:
    for name, _, said, kept, growth in asked("tokens"):
        assert "128 MB" in said, name
        assert [stop for _, stop in kept] == ["cut"]
        assert growth < 2 * MOST_GROWTH, name  # over a million pieces of text


@pytest.mark.parametrize(("form", "words"), [("rows", "8 MB"), ("gzip", "8 MB")])
def test_a_list_of_models_without_end_is_cut(form: str, words: str) -> None:
    with running(Endless) as url, pytest.raises(ProviderError, match=words):
        get_provider("m", base_url=f"{url}/completions/{form}", api_key=KEY).cards()


def test_an_answer_that_a_gateway_packs_unasked_is_read_as_it_comes() -> None:
    def answer(handler: BaseHTTPRequestHandler, _: Any) -> None:
        squeeze = zlib.compressobj(wbits=31)
        handler.send_response(200)
        handler.send_header("Content-Encoding", "gzip")
        handler.end_headers()
        for part in (events(piece("Some "), piece("text"), end=""), events(piece("", "stop"))):
            handler.wfile.write(squeeze.compress(part.encode()) + squeeze.flush(zlib.Z_SYNC_FLUSH))
        handler.wfile.write(squeeze.flush())

    with serve(answer) as (url, _):
        assert Chat("m", base_url=url).send("x").text == "Some text"


def test_an_answer_of_many_short_lines_is_read_in_time_that_grows_with_its_length() -> None:
    ((text, value),) = json_values([b"{\n", *[b'"a":\n}\n'] * 50_000])
    assert value == text
    assert len(text) > 300_000
