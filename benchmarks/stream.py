"""Measure the time to the first piece and the CPU time a piece: a Chat beside the bare SDK.

A server in another process sends 500 pieces, one every 5 ms.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1] / "tests" / "support"
sys.path.insert(0, str(TESTS))

from dialects import DIALECTS, KEY  # noqa: E402

PAIRS, PIECES, EVERY = 9, 500, 0.005
PROMPT = "Why is the sky blue?"


def serve(name: str) -> None:
    """Answer for ever, slowly."""
    from http.server import BaseHTTPRequestHandler

    from server import serve as serving

    dialect = DIALECTS[name]

    def answer(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        handler.close_connection = True
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        begun = time.monotonic()
        for number in range(PIECES):
            time.sleep(max(0.0, begun + number * EVERY - time.monotonic()))
            handler.wfile.write(dialect.pieces([f"word{number} "]).encode())
            handler.wfile.flush()
        handler.wfile.write(dialect.end(said=PIECES).encode())

    with serving(answer, path="") as (url, _):
        print(url, flush=True)
        sys.stdin.read()


def completions(url: str) -> Iterator[object]:
    import openai

    client = openai.OpenAI(base_url=f"{url}/v1", api_key=KEY)
    messages: Any = [{"role": "user", "content": PROMPT}]
    while True:
        yield client.chat.completions.create(
            model="m", messages=messages, stream=True, stream_options={"include_usage": True}
        )


def responses(url: str) -> Iterator[object]:
    import openai

    client = openai.OpenAI(base_url=f"{url}/openai/v1", api_key=KEY)
    while True:
        yield client.responses.create(model="m", input=PROMPT, stream=True, store=False)


def anthropic(url: str) -> Iterator[object]:
    import anthropic as sdk

    client = sdk.Anthropic(base_url=url, api_key=KEY)
    while True:
        yield client.messages.create(
            model="m", max_tokens=4_096, messages=[{"role": "user", "content": PROMPT}], stream=True
        )


def google(url: str) -> Iterator[object]:
    from google import genai

    client = genai.Client(api_key=KEY, http_options=genai.types.HttpOptions(base_url=url))
    while True:
        yield client.models.generate_content_stream(model="m", contents=PROMPT)


BARE: dict[str, Callable[[str], Iterator[object]]] = {
    "completions": completions,
    "responses": responses,
    "anthropic": anthropic,
    "google": google,
}


def text_of(name: str, event: Any) -> str:
    """Read an event as a user of the bare SDK does."""
    if name == "completions":
        return (event.choices and event.choices[0].delta.content) or ""
    if name == "responses":
        return str(event.delta) if event.type == "response.output_text.delta" else ""
    if name == "anthropic":
        return event.delta.text if event.type == "content_block_delta" else ""
    return event.text or ""


def timed(ask: Callable[[Callable[[str], object]], object]) -> tuple[float, float]:
    """Return milliseconds to the first piece, and microseconds of CPU time for each."""
    first: list[float] = []
    begun, used = time.perf_counter(), time.process_time()
    ask(lambda _: first or first.append(time.perf_counter()))
    return 1e3 * (first[0] - begun), 1e6 * (time.process_time() - used) / PIECES


def keep_to(core: int) -> None:
    """Pin the process to one core: moving between cores costs more than what is measured."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core % (os.cpu_count() or 1)})


def measure(name: str, url: str) -> None:
    """Print one row of the table."""
    chat, calls = DIALECTS[name].chat(url, window=100_000), BARE[name](url)

    def bare(on_piece: Callable[[str], object]) -> None:
        for event in next(calls):  # type: ignore[attr-defined]
            text = text_of(name, event)
            if text:
                on_piece(text)

    def ours(on_piece: Callable[[str], object]) -> None:
        chat.send(PROMPT, on_piece=on_piece, record=False)

    timed(bare), timed(ours)
    pairs = []
    for turn in range(PAIRS):  # who comes first takes turns
        first, second = (bare, ours) if turn % 2 else (ours, bare)
        one, two = timed(first), timed(second)
        pairs.append((one, two) if turn % 2 else (two, one))
    figures = [
        (statistics.median(one[i] for one, _ in pairs), statistics.median(two[i] for _, two in pairs)) for i in (0, 1)
    ]
    more = [statistics.median(two[i] - one[i] for one, two in pairs) for i in (0, 1)]
    (first, first_ours), (cpu, cpu_ours) = figures
    row = f"{name:<12}{first:>8.1f}{first_ours:>8.1f}{more[0]:>+8.1f}"
    print(f"{row}   {cpu:>8.0f}{cpu_ours:>8.0f}{more[1] / cpu:>+8.1%}", flush=True)


def main() -> None:
    """Print the table."""
    print(f"ms to the first piece, µs of CPU time a piece; medians of {PAIRS} pairs; more: of their differences")
    print(f"{'':<12}{'SDK':>8}{'ours':>8}{'more':>8}   {'SDK':>8}{'ours':>8}{'more':>8}")
    for name in sys.argv[1:] or BARE:
        command = [sys.executable, "-m", "benchmarks.stream", "--serve", name]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ)
        assert server.stdin is not None
        assert server.stdout is not None
        with server:
            keep_to(0)
            measure(name, server.stdout.readline().strip())
            server.stdin.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        keep_to(-1)
        serve(sys.argv[2])
    else:
        main()
