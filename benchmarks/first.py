"""Measure the CPU time of a kernel's first %%chat cell beside the bare SDK: its import, a client, and the same call.

Every figure is of a fresh kernel with ipykernel; a server in another process streams a short answer. The bare cell
prints the text as it comes. The store, a file of a notebook of its own, is there from an earlier kernel.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

TESTS = Path(__file__).resolve().parents[1] / "tests" / "support"
sys.path.insert(0, str(TESTS))

PAIRS = 7
PROMPT = "Why is the sky blue?"
WORDS = [f"word{number} " for number in range(40)]
KEY = "key-0123456789abcdef-secret"
CPU = "__import__('time').process_time()"


class Service(NamedTuple):
    """How one service is asked: ``{url}`` is the server, ``{prompt}`` the prompt."""

    line: str  # of the %%chat cell
    bare: str  # the cell that a user of the SDK writes


SERVICES = {
    "completions": Service(
        "-m gpt-5.2 --base-url {url}/v1",
        """
import openai
client = openai.OpenAI(base_url="{url}/v1")
messages = [{{"role": "user", "content": {prompt!r}}}]
options = {{"include_usage": True}}
for event in client.chat.completions.create(model="gpt-5.2", messages=messages, stream=True, stream_options=options):
    print((event.choices and event.choices[0].delta.content) or "", end="")
""",
    ),
    "responses": Service(
        "-m azure/gpt-5.2",
        """
import openai
client = openai.OpenAI(base_url="{url}/openai/v1")
for event in client.responses.create(model="gpt-5.2", input={prompt!r}, stream=True, store=False):
    if event.type == "response.output_text.delta":
        print(event.delta, end="")
""",
    ),
    "anthropic": Service(
        "-m anthropic/claude-sonnet-4-5 --base-url {url}",
        """
import anthropic
client = anthropic.Anthropic(base_url="{url}")
messages = [{{"role": "user", "content": {prompt!r}}}]
for event in client.messages.create(model="claude-sonnet-4-5", max_tokens=4_096, messages=messages, stream=True):
    if event.type == "content_block_delta":
        print(event.delta.text, end="")
""",
    ),
    "google": Service(
        "-m google/gemini-2.5-pro --base-url {url}",
        """
from google import genai
client = genai.Client(http_options=genai.types.HttpOptions(base_url="{url}"))
for event in client.models.generate_content_stream(model="gemini-2.5-pro", contents={prompt!r}):
    print(event.text or "", end="")
""",
    ),
}


def serve(name: str) -> None:
    """Answer for ever."""
    from dialects import DIALECTS
    from server import send
    from server import serve as serving

    answer = DIALECTS[name].answer(*WORDS, sent=13, said=len(WORDS))

    def reply(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        send(handler, 200, answer, "text/event-stream")

    with serving(reply, path="") as (url, _):
        print(url, flush=True)
        sys.stdin.read()


def seconds(cells: list[str], environment: dict[str, str]) -> list[float]:
    """Return the CPU time that each cell takes in one fresh kernel."""
    from jupyter_client import KernelManager
    from kernels import Kernel, error

    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(
        stderr=subprocess.DEVNULL, env={**environment, "JPY_SESSION_NAME": str(Path.cwd() / f"{uuid4()}.ipynb")}
    )
    kernel = Kernel(manager)
    try:
        kernel.value(CPU)  # what the first cell of any kernel costs
        times = [float(kernel.value(CPU))]
        for cell in cells:
            failed = error(kernel.run(cell))
            assert failed is None, "\n".join(failed["traceback"])
            times.append(float(kernel.value(CPU)))
        return [after - before for before, after in pairwise(times)]
    finally:
        kernel.client.stop_channels()
        manager.shutdown_kernel(now=True)


def measure(name: str, url: str, folder: str) -> None:
    """Print one row of the table."""
    hidden = {"PYTHONDONTWRITEBYTECODE", "JUPYTER_CTX_STORE"}
    keys = ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
    environment = {
        **{key: value for key, value in os.environ.items() if key not in hidden},
        **dict.fromkeys(keys, KEY), "AZURE_OPENAI_ENDPOINT": url, "JUPYTER_DATA_DIR": folder,
    }  # fmt: skip
    service = SERVICES[name]
    bare = ["import ipywidgets", service.bare.format(url=url, prompt=PROMPT)]
    ours = ["import ipywidgets", "%load_ext jupyter_ctx", f"%%chat {service.line.format(url=url)}\n{PROMPT}"]
    seconds(bare, environment), seconds(ours, environment)  # compiles, fills the page cache, makes the store
    pairs = []
    for turn in range(PAIRS):  # who comes first takes turns
        if turn % 2:
            pairs.append((seconds(bare, environment)[1], *seconds(ours, environment)[1:]))
        else:
            mine = seconds(ours, environment)[1:]
            pairs.append((seconds(bare, environment)[1], *mine))
    shown = [statistics.median(column) for column in zip(*pairs, strict=True)]
    alone, both = (
        statistics.median(figure)
        for figure in zip(*((cell / base, (load + cell) / base) for base, load, cell in pairs), strict=True)
    )
    figures = "".join(f"{1_000 * figure:>8.0f}" for figure in shown)
    print(f"{name:<12}{figures}{alone:>9.2f}×{both:>8.2f}×", flush=True)


def main() -> None:
    """Print the table."""
    print(f"CPU time in ms, medians of {PAIRS} pairs of kernels; ratios: medians, pair by pair")
    print(f"{'':<12}{'SDK':>8}{'load':>8}{'cell':>8}{'cell':>10}{'both':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or SERVICES:
            command = [sys.executable, "-m", "benchmarks.first", "--serve", name]
            server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            assert server.stdin is not None
            assert server.stdout is not None
            with server:
                measure(name, server.stdout.readline().strip(), folder)
                server.stdin.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    else:
        main()
