"""Four services, each with the cell that a user of its SDK writes, and a server that answers in its wire format."""

from __future__ import annotations

import json
import sys
import time
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.measuring import KEY, SERVE, run_cell

if TYPE_CHECKING:
    from kernels import Kernel

PIECES = 50
LAST = "/last"  # the path at which the server tells when the last request began to arrive
SETTLED = 0.15  # seconds after a cell until its last message is out
KEYS = {
    "completions": "OPENAI_API_KEY", "responses": "AZURE_OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY",
    "google": "GEMINI_API_KEY",
}  # fmt: skip


class Service(NamedTuple):
    """How one service is asked: ``{url}`` is the server; the SDK's cell sends ``messages``."""

    options: str  # of %%chat and %chat use
    client: str
    cell: str
    convert: str = ""  # makes of ``messages`` what the SDK takes


SERVICES = {
    "completions": Service(
        "gpt-5.2 --base-url {url}/v1",
        "import openai\nclient = openai.OpenAI(base_url='{url}/v1')",
        """
stream = client.chat.completions.create(
    model="gpt-5.2", messages=messages, stream=True, stream_options={"include_usage": True}
)
for chunk in stream:
    print((chunk.choices and chunk.choices[0].delta.content) or "", end="")
""",
    ),
    "responses": Service(
        "azure/gpt-5.2",
        "import openai\nclient = openai.OpenAI(base_url='{url}/openai/v1')",
        """
for event in client.responses.create(model="gpt-5.2", input=messages, stream=True, store=False):
    if event.type == "response.output_text.delta":
        print(event.delta, end="")
""",
    ),
    "anthropic": Service(
        "anthropic/claude-sonnet-4-5 --base-url {url}",
        "import anthropic\nclient = anthropic.Anthropic(base_url='{url}')",
        """
stream = client.messages.create(model="claude-sonnet-4-5", max_tokens=4_096, messages=messages, stream=True)
for event in stream:
    if event.type == "content_block_delta":
        print(event.delta.text, end="")
""",
    ),
    "google": Service(
        "google/gemini-2.5-pro --base-url {url}",
        "from google import genai\nclient = genai.Client(http_options=genai.types.HttpOptions(base_url='{url}'))",
        """
for chunk in client.models.generate_content_stream(model="gemini-2.5-pro", contents=contents):
    print(chunk.text or "", end="")
""",
        'roles = {"user": "user", "assistant": "model"}\n'
        'contents = [{"role": roles[m["role"]], "parts": [{"text": m["content"]}]} for m in messages]\n',
    ),
}


def environment(name: str, url: str) -> dict[str, str]:
    """Return the variables with which a kernel reaches the server."""
    own = {"AZURE_OPENAI_ENDPOINT": url, "OPENAI_API_KEY": KEY} if name == "responses" else {}
    return {KEYS[name]: KEY, **own}


def timed(kernel: Kernel, cpu: Callable[[], float], url: str, source: str) -> tuple[float, float]:
    """Return the milliseconds of CPU time that a cell takes, and those until its request reaches the server."""
    time.sleep(SETTLED)
    used, begun = cpu(), time.monotonic()
    run_cell(kernel, source)
    time.sleep(SETTLED)
    spent = cpu() - used
    with urllib.request.urlopen(url + LAST) as answer:
        return 1e3 * spent, 1e3 * (json.load(answer) - begun)


def serve(name: str) -> None:
    """Answer in pieces, all at once, until the process is killed."""
    from dialects import DIALECTS
    from server import send

    dialect, last = DIALECTS[name], [0.0]
    words = [f"word{number} " for number in range(PIECES)]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def parse_request(self) -> bool:
            self.arrived = time.monotonic()
            return super().parse_request()

        def do_GET(self) -> None:
            send(self, 200, json.dumps(last[0] if self.path == LAST else {"data": []}))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            last[0] = self.arrived
            answer = dialect.answer(*words, sent=len(body) // 4, said=PIECES)
            send(self, 200, answer, "text/event-stream")

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__" and sys.argv[1] == SERVE:
    serve(sys.argv[2])
