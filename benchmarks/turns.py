"""Measure a whole ``%%chat`` turn in a kernel beside a cell that makes the bare SDK's own call.

A server in another process answers in 50 pieces at once. Both cells send the same messages; ours has the gauge shown
and a store. CPU time is that of the whole kernel; the time until the request leaves is from the message that runs the
cell to the first byte at the server.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from dialects import DIALECTS, KEY  # noqa: E402
from kernels import Kernel, error  # noqa: E402

SIZES, PAIRS, PIECES = (2, 200, 2_000), 9, 50
SETTLED = 0.15  # seconds after a cell until its last message is out
PROMPT = "And what follows from that for the next one?"
LAST = "/last"

# prompts of 200 and replies of 800 characters, as in the benchmark of the store
SEED = """
from jupyter_ctx import get_chat
chat = get_chat()
chat.clear()
words = "every word here is one of a sentence that says little and says it in no great hurry ".split()
text = lambda number, length: (f"{{number}} " + " ".join(words) * 10)[:length]
said = [{{"role": ("user", "assistant")[i % 2], "content": text(i, (200, 800)[i % 2])}} for i in range({count} - 2)]
if said:
    chat.add_messages(said)
"""
SAME = """
said = [m for turn in chat.turns for m in (("user", turn.prompt), ("assistant", turn.reply))] + [("user", {prompt!r})]
assert len(said) == {count} + 1, len(said)
messages = [{{"role": role, "content": text}} for role, text in said]
"""


@dataclass(frozen=True)
class Bare:
    """How the bare SDK is used: what is run once, and the cell; ``model`` and ``path`` are ours for the same server."""

    model: str
    path: str
    begin: str
    cell: str
    prepare: str = ""


BARE = {
    "completions": Bare(
        "groq/openai/gpt-oss-120b", "/v1",
        "import openai\nclient = openai.OpenAI(base_url={url!r}, api_key={key!r})",
        """
stream = client.chat.completions.create(
    model="openai/gpt-oss-120b", messages=messages, stream=True, stream_options={"include_usage": True}
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")
""",
    ),
    "responses": Bare(
        "azure/gpt-4o", "/openai/v1",
        "import openai\nclient = openai.OpenAI(base_url={url!r}, api_key={key!r})",
        """
for event in client.responses.create(model="gpt-4o", input=messages, stream=True, store=False):
    if event.type == "response.output_text.delta":
        print(event.delta, end="")
""",
    ),
    "anthropic": Bare(
        "anthropic/claude-sonnet-4-5", "",
        "import anthropic\nclient = anthropic.Anthropic(base_url={url!r}, api_key={key!r})",
        """
stream = client.messages.create(model="claude-sonnet-4-5", max_tokens=4_096, messages=messages, stream=True)
for event in stream:
    if event.type == "content_block_delta":
        print(event.delta.text, end="")
""",
    ),
    "google": Bare(
        "google/gemini-2.5-pro", "",
        "from google import genai\n"
        "client = genai.Client(api_key={key!r}, http_options=genai.types.HttpOptions(base_url={url!r}))",
        """
for chunk in client.models.generate_content_stream(model="gemini-2.5-pro", contents=contents):
    print(chunk.text or "", end="")
""",
        'roles = {"user": "user", "assistant": "model"}\n'
        'contents = [{"role": roles[m["role"]], "parts": [{"text": m["content"]}]} for m in messages]',
    ),
}  # fmt: skip


def serve(name: str) -> None:
    """Answer for ever, and tell when the last request began to arrive."""
    dialect, last = DIALECTS[name], [0.0]
    words = [f"word{number} " for number in range(PIECES)]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def parse_request(self) -> bool:
            self.arrived = time.monotonic()
            return super().parse_request()

        def do_GET(self) -> None:
            self.say(json.dumps(last[0] if self.path == LAST else {"data": []}).encode(), "application/json")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            last[0] = self.arrived
            self.say(dialect.answer(*words, sent=len(body) // 4, said=PIECES).encode(), "text/event-stream")

        def say(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


@contextmanager
def serving(name: str) -> Iterator[str]:
    """The address of a server in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.turns", "--serve", name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


@contextmanager
def kernel_in(folder: str) -> Iterator[tuple[Kernel, Callable[[], float]]]:
    """A kernel of a notebook in a folder, with folders of its own, and a clock of its CPU seconds."""
    from jupyter_client import KernelManager

    own = {name: f"{folder}/{name.lower()}" for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    notebook = {"JPY_SESSION_NAME": f"{folder}/turns.ipynb", "PYTHONPATH": str(ROOT)}
    manager = KernelManager(kernel_name="python3", transport="ipc")
    manager.start_kernel(env={**os.environ, **own, **notebook})
    kernel = Kernel(manager)
    clock = ~int(kernel.value("__import__('os').getpid()")) << 3 | 2  # Linux: a process's clock, from outside
    try:
        yield kernel, lambda: time.clock_gettime(clock)
    finally:
        kernel.client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(kernel: Kernel, source: str) -> None:
    """Run a cell that must not fail."""
    failed = error(kernel.run(source))
    assert failed is None, failed


def timed(kernel: Kernel, cpu: Callable[[], float], url: str, source: str) -> tuple[float, float]:
    """Return the milliseconds of CPU time that a cell takes, and those until its request leaves."""
    time.sleep(SETTLED)
    used, begun = cpu(), time.monotonic()
    run(kernel, source)
    time.sleep(SETTLED)
    spent = cpu() - used
    with urllib.request.urlopen(url + LAST) as answer:
        return 1e3 * spent, 1e3 * (json.load(answer) - begun)


def measure(name: str, url: str, count: int) -> None:
    """Print one row of the table."""
    bare = BARE[name]
    ours_cell = f"%%chat\n{PROMPT}"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, kernel_in(folder) as (kernel, cpu):
        run(kernel, f"%load_ext jupyter_ctx\n%chat use {bare.model} --base-url {url}{bare.path} --window 4000000")
        run(kernel, f"chat = __import__('jupyter_ctx').get_chat()\nchat.models.set_key({url + bare.path!r}, {KEY!r})")
        run(kernel, bare.begin.format(url=url + bare.path, key=KEY))
        pairs = []
        for number in range(PAIRS + 1):
            run(kernel, SEED.format(count=count))
            run(kernel, ours_cell)
            run(kernel, SAME.format(count=count, prompt=PROMPT) + bare.prepare)
            cells = (ours_cell, bare.cell) if number % 2 else (bare.cell, ours_cell)  # who comes first takes turns
            figures = [timed(kernel, cpu, url, cell) for cell in cells]
            pairs.append(figures[::-1] if number % 2 else figures)
    pairs = pairs[1:]  # the first loads what is loaded once
    (cpu_bare, left_bare), (cpu_ours, left_ours) = (
        [statistics.median(pair[who][what] for pair in pairs) for what in (0, 1)] for who in (0, 1)
    )
    ratio = statistics.median(ours[0] / theirs[0] for theirs, ours in pairs)
    more = statistics.median(ours[1] - theirs[1] for theirs, ours in pairs)
    row = f"{name:<12}{count:>6,}{cpu_bare:>9.1f}{cpu_ours:>8.1f}{ratio:>8.2f}"
    print(f"{row}   {left_bare:>8.1f}{left_ours:>8.1f}{more:>+8.1f}", flush=True)


def main() -> None:
    """Print the table; ``NAME``s of dialects and numbers of messages as arguments choose among the rows."""
    sizes = [int(word) for word in sys.argv[1:] if word.isdigit()] or SIZES
    names = [word for word in sys.argv[1:] if not word.isdigit()] or list(BARE)
    print(f"CPU ms of a turn, ms until its request leaves; medians of {PAIRS} pairs: the ratio's and the difference's")
    print(f"{'':<12}{'view':>6}{'SDK':>9}{'ours':>8}{'ratio':>8}   {'SDK':>8}{'ours':>8}{'more':>8}")
    for name in names:
        with serving(name) as url:
            for count in sizes:
                measure(name, url, count)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    else:
        main()
