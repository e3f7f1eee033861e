"""Measure messages, bytes and browser time while an answer grows, beside chatlas and ``%%ai``.

A server in another process answers in one piece a token, a real JupyterLab in Chromium shows it.
``python -m benchmarks.display ours --tokens 11000 --speed 200``: a long answer, ours alone.
``--columns N``: ours alone, and N answers side by side that come at the same speed each.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import shutil
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measuring import KEY, SERVE, is_installed, serving

TOKENS, SPEED, ROUNDS = 2_000, 80.0, 3
WARM_UP = "A **word** with $x^2$ and\n\n```python\nprint(1)\n```\n"
IDLE_SECONDS, CELL_SECONDS = 10, 300
NEEDED = ("jupyterlab", "ipykernel", "playwright")
CHANGES = ("display_data", "update_display_data", "execute_result", "stream", "clear_output", "comm_")

# each token is a piece, by the pattern that o200k cuts text with: a word and one sign before it, and so on
TOKEN = re.compile(r"[^\w\n]?[^\W\d_]{1,14}|\(?§?\d{1,4}| ?[^\w\s]{1,6}\n*|_|\s+")
# numbered, so that the page can tell which sentence it shows
SENTENCES = (
    "A **cache** keeps responses that were requested before, so that following requests need not travel to the server",
    "The server decides how long a response remains *fresh*, with the directives of the header `Cache-Control`",
    "When the time is over the copy is *stale*, but that does not mean that it is wrong",
    "An answer of `304 Not Modified` transfers no content: it costs one round trip and practically no bandwidth",
    "Files with a hash in their name never change, and can be kept for a year",
)
TABLE = """\
| header | who sends it | meaning | since |
|---|---|---|---:|
| `Cache-Control` | server | how long, and for whom | 1.1 |
| `ETag` | server | a version of the page | 1.1 |
| `If-None-Match` | browser | the version it has | 1.1 |
"""
CODE = '''\
```python
class Cache:
    """A cache that keeps answers until they expire."""

    def get(self, address: str) -> bytes:
        now = time.monotonic()
        until, body = self.kept.get(address, (0.0, b""))
        if until < now:  # stale, or never asked for
            body = fetch(address, timeout=10)
            self.kept[address] = (now + self.seconds, body)
        return body
```
'''
MATHS = (
    "With a hit rate $h$, a wait $t_c$ at the cache and $t_s$ at the server, the mean wait is\n\n"
    "$$\\bar t = h\\,t_c + (1 - h)\\,(t_c + t_s) = t_c + (1 - h)\\,t_s$$\n\n"
)


def write(tokens: int) -> list[str]:
    """Return a realistic answer in Markdown, a piece for each token."""
    numbers, sentences = itertools.count(1), itertools.cycle(SENTENCES)

    def prose(count: int, mark: str = "") -> str:
        texts = [f"{mark}{next(sentences)} (§{next(numbers):03})." for _ in range(count)]
        return ("\n" if mark else " ").join(texts) + "\n"

    pieces: list[str] = []
    while len(pieces) < tokens:
        section = [
            "## How it works\n", prose(5), prose(4, "- "), "### In Python\n", prose(3), CODE, prose(6), TABLE,
            prose(4), MATHS, prose(3), prose(5, "1. "), prose(12), CODE, prose(4),
        ]  # fmt: skip
        pieces += TOKEN.findall("\n".join(section) + "\n")
    return pieces[:tokens]


def sentence_ends(pieces: Sequence[str]) -> list[int]:
    """Return which piece completes each sentence's number."""
    text, ends = "".join(pieces), list(itertools.accumulate(map(len, pieces)))
    places = [match.end() for match in re.finditer(r"§\d{3,4}(?=\))", text)]
    return [next(i for i, end in enumerate(ends) if end >= place) for place in places]


def serve_answers(tokens: int, speed: float) -> None:
    """Answer for ever; ``GET /v1/times`` says when each piece of the last answer was sent."""
    from server import begin_stream, events, piece, send, serve, usage

    answer, times = write(tokens), list[float]()

    def reply(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        warm = "warm up" in json.dumps(request["messages"][-1])
        pieces = TOKEN.findall(WARM_UP) if warm else answer
        begun, sent = time.time(), list[float]()
        if request.get("stream"):
            begin_stream(handler, "")
        for number, text in enumerate(pieces):
            time.sleep(0 if warm else max(0.0, begun + number / speed - time.time()))
            sent.append(time.time())
            if request.get("stream"):
                handler.wfile.write(events(piece(text), end="").encode())
                handler.wfile.flush()
        times[:] = sent
        if request.get("stream"):
            handler.wfile.write(events(piece("", "stop"), usage(20, len(pieces))).encode())
        else:
            whole = {"role": "assistant", "content": "".join(pieces)}
            chosen = {"choices": [{"index": 0, "message": whole, "finish_reason": "stop"}]}
            send(handler, 200, json.dumps({**usage(20, len(pieces)), "object": "chat.completion", **chosen}))

    with serve(reply, lists={"/v1/times": times}) as (url, _):
        print(url, flush=True)
        sys.stdin.read()


class Way(NamedTuple):
    """One way to ask in a cell: ``{url}`` and ``{prompt}`` are filled in."""

    package: str
    setup: str
    cell: str


WAYS = {
    "ours": Way(
        "jupyter_ctx",
        "%load_ext jupyter_ctx\n%chat use m --base-url {url}",
        "%%chat -m m --base-url {url}\n{prompt}",
    ),
    "chatlas": Way(
        "chatlas",
        "from chatlas import ChatOpenAICompletions\n"
        "asked = ChatOpenAICompletions(base_url='{url}', api_key=KEY, model='m')",
        "_ = asked.chat('{prompt}')",
    ),
    "ai": Way(
        "jupyter_ai_magic_commands",
        "os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] = 'True'\n%load_ext jupyter_ai_magic_commands",
        "%%ai openai/gpt-4o-mini --api-base {url}\n{prompt}",
    ),
}


# counts what the kernel sends on the notebook's own websocket, and what it makes the page do
PROBE = """index => {
    const app = window.jupyterapp;
    const kernel = app.shell.currentWidget.sessionContext.session.kernel;
    const cell = document.querySelector(`.jp-Notebook .jp-Cell[data-windowed-list-index='${index}']`);
    const area = cell.querySelector('.jp-Cell-outputWrapper');
    const probe = {messages: [], seen: [], on: true, changed: 0, begun: performance.now()};
    const decoder = new TextDecoder();
    const count = ({data}) => {
        const view = new DataView(data);
        const offset = i => Number(view.getBigUint64(8 * (i + 1), true));
        const part = i => decoder.decode(new Uint8Array(data, offset(i), offset(i + 1) - offset(i)));
        if (part(0) === 'iopub') {
            const header = JSON.parse(part(1));
            probe.messages.push([Date.parse(header.date), header.msg_type, data.byteLength]);
        }
    };
    kernel._ws.addEventListener('message', count);
    let waits = false, before = 0;
    const painted = () => {
        waits = false;
        const text = area.textContent;
        const found = text.slice(text.lastIndexOf('§')).match(/^§(\\d{3,4})(?=\\))/);
        const last = found ? Number(found[1]) : 0;  // 0: it is being written
        if (last > before) {
            probe.seen.push([Date.now(), before = last]);
        }
    };
    const watch = new MutationObserver(() => {
        probe.changed = performance.now();
        if (!waits) {
            waits = true;
            requestAnimationFrame(() => setTimeout(painted));
        }
    });
    watch.observe(area, {subtree: true, childList: true, characterData: true});
    const tick = () => {
        performance.mark('jctx-frame');
        probe.on && requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    probe.stop = () => {
        probe.on = false;
        performance.clearMarks();
        watch.disconnect();
        kernel._ws.removeEventListener('message', count);
        return {messages: probe.messages, seen: probe.seen};
    };
    probe.quiet = () => performance.now() - Math.max(probe.changed, probe.begun);
    window.jctxProbe = probe;
}"""


class Run(NamedTuple):
    """The cost of one answer: its names are the heads of the table."""

    iopub: int  # messages
    updates: int  # of these, what changes the page
    kb: float  # all of iopub
    a_second: int  # updates at most, in any second
    kb_a_second: float  # so, before the largest change, which carries every form
    busy_s: float  # of the page's main thread
    frame_ms: float  # of CPU time that the page's main thread takes for one, at most
    lag_ms: float  # from a piece to its appearance: median, and worst
    worst_ms: float
    kept_kb: float  # in the notebook
    done_s: float


def peak(events: Sequence[tuple[float, int]], window: float = 1_000) -> int:
    """Return the largest weight within any second; events are (milliseconds, weight)."""
    most = total = first = 0
    for at, weight in events:
        total += weight
        while events[first][0] <= at - window:
            total -= events[first][1]
            first += 1
        most = max(most, total)
    return most


def measure(browser: Any, server: Any, way: Way, url: str, ends: Sequence[int]) -> Run:
    """Measure one answer in a new page and kernel, after a short one that loads what is loaded once."""
    from jupyter_page import RUN, NotebookPage

    setup = f"import os\nKEY = os.environ['OPENAI_API_KEY'] = '{KEY}'\n{way.setup}"
    cells = [setup, way.cell.replace("{prompt}", "warm up"), way.cell.replace("{prompt}", "Explain caches.")]
    notebook = NotebookPage(browser, server, [cell.replace("{url}", url) for cell in cells])
    try:
        page = notebook.page
        path = max(server.notebooks.glob("*.ipynb"), key=lambda path: path.stat().st_mtime_ns)
        devtools = page.context.new_cdp_session(page)

        def file_size() -> int:
            page.evaluate("() => window.jupyterapp.shell.currentWidget.context.save()")
            return int(path.stat().st_size)

        def worked() -> float:
            figures = devtools.send("Performance.getMetrics")["metrics"]
            return next(float(each["value"]) for each in figures if each["name"] == "TaskDuration")

        notebook.run(0, 1)
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        before = file_size()
        page.wait_for_timeout(2_000)
        page.evaluate(PROBE, 2)
        begun, start = time.monotonic(), worked()
        page.wait_for_timeout(1_000 * IDLE_SECONDS)
        idle = (worked() - start) / (time.monotonic() - begun)
        page.evaluate("() => window.jctxProbe.stop()")
        browser.start_tracing(page=page, categories=["toplevel", "blink.user_timing"])
        page.evaluate(PROBE, 2)
        begun, start = time.monotonic(), worked()
        page.evaluate(RUN, [2, CELL_SECONDS])
        page.wait_for_function("() => window.jctxProbe.quiet() > 1000", timeout=1_000 * CELL_SECONDS)
        seconds = time.monotonic() - begun
        busy = worked() - start - idle * seconds
        seen = page.evaluate("() => window.jctxProbe.stop()")
        frame = longest_frame(json.loads(browser.stop_tracing())["traceEvents"])
        kept = file_size() - before
    finally:
        notebook.close()
    with urllib.request.urlopen(f"{url}/times") as response:
        times = json.load(response)
    changes = [(at, size, kind) for at, kind, size in seen["messages"] if kind.startswith(CHANGES)]
    largest = max(range(len(changes)), key=lambda number: changes[number][1])  # buttons may come after it
    # what widgets change is no update of the answer
    updates = [(at, 1) for at, _, kind in changes[: largest + 1] if not kind.startswith("comm_")]
    bytes_a_second = peak([(at, size) for at, size, _ in changes[:largest]])
    return Run(
        len(seen["messages"]), len(changes), sum(size for _, _, size in seen["messages"]) / 1e3, peak(updates),
        bytes_a_second / 1e3, busy, frame, *lags(seen["seen"], [times[end] for end in ends]), kept / 1e3, seconds,
    )  # fmt: skip


def longest_frame(trace: Sequence[dict[str, Any]]) -> float:
    """Return milliseconds of CPU time, so that other programs on the machine do not count."""
    frames = [event for event in trace if event["name"] == "jctx-frame"]
    ends, thread = sorted(event["ts"] for event in frames), (frames[0]["pid"], frames[0]["tid"])
    tasks = [event for event in trace if event["name"].endswith("::RunTask") and "tdur" in event]
    spent: dict[int, float] = {}  # by the number of the frame that a task ends in
    number = 0
    for task in sorted((task for task in tasks if (task["pid"], task["tid"]) == thread), key=lambda task: task["ts"]):
        spent[number] = spent.get(number, 0) + task["tdur"]
        while number < len(ends) and ends[number] <= task["ts"] + task["dur"]:
            number += 1
    return max(spent.values()) / 1e3


def lags(seen: Sequence[tuple[float, int]], sent: Sequence[float]) -> tuple[float, float]:
    """Return the delay from sending a sentence's number to showing it: median and worst, in ms."""
    if not seen or seen[-1][1] != len(sent):
        raise RuntimeError(f"{seen[-1:]} was shown last, of {len(sent)} sentences")
    shown_at = (next(at for at, last in seen if last >= number) for number in range(1, len(sent) + 1))
    delays = [at - 1e3 * moment for at, moment in zip(shown_at, sent, strict=True)]
    return statistics.median(delays), max(delays)


def compare(names: Sequence[str], url: str, answer: Sequence[str], rounds: int) -> dict[str, list[Run]]:
    """Measure every way in turn, repeatedly."""
    from jupyter_page import CHROMIUM, Server
    from playwright.sync_api import sync_playwright

    runs: dict[str, list[Run]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, chromium_sandbox=False)
        server = Server(Path(folder), Path(folder))
        try:
            server.wait()
            for turn in range(rounds):
                for name in (*names[turn % len(names) :], *names[: turn % len(names)]):
                    runs[name].append(measure(browser, server, WAYS[name], url, sentence_ends(answer)))
        finally:
            server.stop()
            browser.close()
    return runs


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *WAYS], metavar="NAME", help="ours, chatlas, ai")
    parser.add_argument("--speed", type=float, default=SPEED, help="tokens a second")
    parser.add_argument("--tokens", type=int, default=TOKENS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--columns", type=int, help="so many answers side by side, and one of ours")
    options = parser.parse_args()
    names = options.names or (["ours"] if options.columns else [*WAYS])
    if options.columns:
        WAYS["columns"] = WAYS["ours"]._replace(cell=f"%%chat -m m --base-url {{url}} -n {options.columns}\n{{prompt}}")
        names.append("columns")
    names = [name for name in names if is_installed(WAYS[name].package)]
    missing = [name for name in NEEDED if not is_installed(name)] + ["chromium"] * (shutil.which("chromium") is None)
    if missing:
        print(f"left out: {', '.join(missing)} not installed")
        return
    answer = write(options.tokens)
    print(", ".join(f"{package} {version(package)}" for package in {*NEEDED, *(WAYS[name].package for name in names)}))
    size = f"{len(answer):,} tokens, {len(''.join(answer)):,} characters"
    print(f"{size}, {options.speed:g} a second; medians of {options.rounds}")
    with serving("benchmarks.display", options.tokens, options.speed) as url:
        runs = compare(names, url, answer, options.rounds)
    print(f"{'':<10}" + "".join(f"{head:>13}" for head in Run._fields))
    for name in names:
        medians = map(statistics.median, zip(*runs[name], strict=True))
        print(f"{name:<10}" + "".join(f"{figure:>13.1f}" for figure in medians))


if __name__ == "__main__":
    if sys.argv[1:2] == [SERVE]:
        serve_answers(int(sys.argv[2]), float(sys.argv[3]))
    else:
        main()
