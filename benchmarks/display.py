"""Measure messages, bytes and browser time while an answer grows, beside chatlas and ``%%ai``.

A server in another process answers in one piece a token, a real JupyterLab in Chromium
shows it. ``--long``: ours alone with 50,000 characters.
``--columns N``: ours alone, and N answers side by side that come at the same speed each.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1] / "tests" / "support"
sys.path.insert(0, str(TESTS))

TOKENS, SPEED, ROUNDS = 2_000, 80.0, 3
LONG, LONG_SPEED = 11_000, 200.0  # tokens: just under 50,000 characters
WARM_UP = "A **word** with $x^2$ and\n\n```python\nprint(1)\n```\n"
IDLE_SECONDS, CELL_SECONDS = 10, 300
KEY = "key-0123456789abcdef-secret"
NEEDED = ("jupyterlab", "ipykernel", "playwright")
CHANGES = ("display_data", "update_display_data", "execute_result", "stream", "clear_output", "comm_")

# each token is a piece, by the pattern that o200k cuts text with: a word and one sign before it, and so on
TOKEN = re.compile(r"[^\w\n]?[^\W\d_]{1,14}|\(?§?\d{1,4}| ?[^\w\s]{1,6}\n*|_|\s+")
# numbered, so that the page can tell which sentence it shows
SENTENCES = (
    "A **cache** keeps responses that were requested before, so that following requests need not travel to the server",
    "The server decides how long a response remains *fresh*, with the directives of the header `Cache-Control`",
    "When the time is over the copy is *stale*, but that does not mean that it is wrong",
    "Browsers then revalidate conditionally, sending the identifier they received together with the previous response",
    "An answer of `304 Not Modified` transfers no content: it costs one round trip and practically no bandwidth",
    "Personalised content, for instance the contents of a shopping basket, must never be stored in shared caches",
    "Measure before you tune, because most of the waiting is often somewhere else",
    "Files with a hash in their name never change, and can be kept for a year",
    "A proxy near the reader helps most where the distance, not the bandwidth, is the limit",
    "If two readers ask at the same moment, a good cache sends only one request upstream",
    "The key normally consists of the complete address, together with those headers that `Vary` mentions explicitly",
    "Frequent manual invalidation indicates that expiration times were too generous, or that names were reused",
)
TABLE = """\
| header | who sends it | meaning | since |
|---|---|---|---:|
| `Cache-Control` | server | how long, and for whom | 1.1 |
| `ETag` | server | a version of the page | 1.1 |
| `If-None-Match` | browser | the version it has | 1.1 |
| `Expires` | server | a date, the older way | 1.0 |
| `Vary` | server | which headers make a difference | 1.1 |
"""
PYTHON = '''\
```python
class Cache:
    """A cache that keeps answers until they expire."""

    def __init__(self, seconds: float = 60.0) -> None:
        self.seconds = seconds
        self.kept: dict[str, tuple[float, bytes]] = {}

    def get(self, address: str) -> bytes:
        now = time.monotonic()
        until, body = self.kept.get(address, (0.0, b""))
        if until < now:  # stale, or never asked for
            body = fetch(address, timeout=10)
            self.kept[address] = (now + self.seconds, body)
        return body
```
'''
SQL = """\
```sql
-- the pages that were asked for most often without being found in the cache
SELECT address, count(*) AS misses, round(avg(milliseconds), 1) AS wait
FROM requests
WHERE NOT hit AND day >= date('now', '-7 days')
GROUP BY address
HAVING misses > 100
ORDER BY misses * wait DESC
LIMIT 20;
```
"""
MATHS = (
    "With a hit rate $h$, a wait $t_c$ at the cache and $t_s$ at the server, the mean wait is\n\n"
    "$$\\bar t = h\\,t_c + (1 - h)\\,(t_c + t_s) = t_c + (1 - h)\\,t_s$$\n\n"
    "so for $t_c \\ll t_s$ each percent of $h$ is worth $\\frac{t_s}{100}$.\n"
)


def write(tokens: int) -> list[str]:
    """Return a realistic answer in Markdown, a piece for each token."""
    numbers = itertools.count(1)
    sentences = itertools.cycle(SENTENCES)

    def prose(count: int) -> str:
        return " ".join(f"{next(sentences)} (§{next(numbers):03}).".replace("\n", " ") for _ in range(count)) + "\n"

    def items(mark: str, count: int) -> str:
        return "".join(f"{mark} {prose(1)}" for _ in range(count))

    def section(number: int) -> list[str]:
        return [
            f"## {number}. How it works\n", prose(5), items("-", 4),
            f"### {number}.1 In Python\n", prose(3), PYTHON, prose(3),
            f"## {number + 1}. What is sent\n", prose(3), TABLE, prose(4),
            f"### {number + 1}.1 What it is worth\n", prose(2), MATHS, prose(3), items("1.", 5),
            f"## {number + 2}. What to look at\n", prose(4), SQL, prose(6), items("-", 4), prose(16),
        ]  # fmt: skip

    pieces: list[str] = []
    for number in itertools.count(1, 3):
        if len(pieces) >= tokens:
            return pieces[:tokens]
        pieces += TOKEN.findall("\n".join(section(number)) + "\n")
    raise AssertionError


def marks(pieces: Sequence[str]) -> list[int]:
    """Return which piece completes each sentence's number."""
    text, ends = "".join(pieces), list(itertools.accumulate(map(len, pieces)))
    found = [match.end() for match in re.finditer(r"§\d{3,4}(?=\))", text)]
    return [next(i for i, end in enumerate(ends) if end >= place) for place in found]


def serve_answers(tokens: int, speed: float) -> None:
    """Answer for ever; ``GET /v1/times`` says when each piece of the last answer was sent."""
    from server import events, piece, send, serve, usage

    answer, times = write(tokens), list[float]()

    def reply(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        warm = "warm up" in json.dumps(request["messages"][-1])
        pieces = TOKEN.findall(WARM_UP) if warm else answer
        mine = list[float]()
        begun = time.monotonic()
        if not request.get("stream"):
            time.sleep(0 if warm else len(pieces) / speed)
            times[:] = (time.time() - (len(pieces) - i) / speed for i in range(1, len(pieces) + 1))
            whole = {"role": "assistant", "content": "".join(pieces)}
            chosen = {"choices": [{"index": 0, "message": whole, "finish_reason": "stop"}]}
            send(handler, 200, json.dumps({**usage(20, len(pieces)), "object": "chat.completion", **chosen}))
            return
        handler.close_connection = True
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        for number, text in enumerate(pieces):
            time.sleep(0 if warm else max(0.0, begun + number / speed - time.monotonic()))
            mine.append(time.time())
            handler.wfile.write(events(piece(text), end="").encode())
            handler.wfile.flush()
        times[:] = mine
        handler.wfile.write(events(piece("", "stop"), usage(20, len(pieces))).encode())

    with serve(reply, lists={"/v1/times": times}) as (url, _):
        print(url, flush=True)
        sys.stdin.read()


@dataclass(frozen=True)
class Way:
    """One way to ask in a cell: ``{url}`` and ``{prompt}`` are filled in."""

    title: str
    package: str
    setup: str
    cell: str


WAYS = {
    "ours": Way(
        "jupyter_ctx",
        "jupyter_ctx",
        "%load_ext jupyter_ctx\n%chat use m --base-url {url}",
        "%%chat -m m --base-url {url}\n{prompt}",
    ),
    "chatlas": Way(
        "chatlas",
        "chatlas",
        "from chatlas import ChatOpenAICompletions\n"
        "asked = ChatOpenAICompletions(base_url='{url}', api_key=KEY, model='m')",
        "_ = asked.chat('{prompt}')",
    ),
    "ai": Way(
        "%%ai",
        "jupyter_ai_magic_commands",
        "os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] = 'True'\n%load_ext jupyter_ai_magic_commands",
        "%%ai openai/gpt-4o-mini --api-base {url}\n{prompt}",
    ),
}


def side_by_side(count: int) -> Way:
    """Return the way to ask for ``count`` answers at once."""
    cell = f"%%chat -m m --base-url {{url}} -n {count}\n{{prompt}}"
    return Way(f"{count} beside", "jupyter_ctx", WAYS["ours"].setup, cell)


# counts what the kernel sends on the notebook's own websocket, and what it makes the page do
PROBE = """index => {
    const app = window.jupyterapp;
    const kernel = app.shell.currentWidget.sessionContext.session.kernel;
    const cell = document.querySelector(`.jp-Notebook .jp-Cell[data-windowed-list-index='${index}']`);
    const area = cell.querySelector('.jp-Cell-outputWrapper');
    const probe = {messages: [], sent: [], seen: [], on: true, changed: 0, gaps: 0};
    const decoder = new TextDecoder();
    const numbered = text => {
        const at = text.lastIndexOf('§'), found = text.slice(at).match(/^§(\\d{3,4})(?=\\))/);
        return at < 0 ? 0 : found ? Number(found[1]) : -1;  // -1: it is being written
    };
    let sent = 0;
    const count = ({data}) => {
        const view = new DataView(data);
        const offset = i => Number(view.getBigUint64(8 * (i + 1), true));
        const part = i => decoder.decode(new Uint8Array(data, offset(i), offset(i + 1) - offset(i)));
        if (part(0) === 'iopub') {
            const header = JSON.parse(part(1));
            const at = Date.parse(header.date), last = numbered(part(4));
            probe.messages.push([at, header.msg_type, data.byteLength]);
            if (last > sent) {
                probe.sent.push([at, last]);
                sent = last;
            }
        }
    };
    kernel._ws.addEventListener('message', count);
    let waits = false, before = 0;
    const painted = new MessageChannel();
    painted.port1.onmessage = () => {
        waits = false;
        const last = numbered(area.textContent);
        if (last > before) {
            probe.seen.push([Date.now(), last]);
            before = last;
        }
    };
    const watch = new MutationObserver(() => {
        probe.changed = performance.now();
        if (!waits) {
            waits = true;
            requestAnimationFrame(() => painted.port2.postMessage(0));
        }
    });
    watch.observe(area, {subtree: true, childList: true, characterData: true});
    let last = performance.now();
    const tick = now => {
        probe.gaps = Math.max(probe.gaps, now - last);
        last = now;
        performance.mark('jctx-frame');
        probe.on && requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    probe.begun = performance.now();
    probe.stop = () => {
        probe.on = false;
        performance.clearMarks();
        watch.disconnect();
        kernel._ws.removeEventListener('message', count);
        const {messages, sent, seen, gaps} = probe;
        return {messages, sent, seen, longest: gaps};
    };
    probe.quiet = () => performance.now() - Math.max(probe.changed, probe.begun);
    window.jctxProbe = probe;
}"""


@dataclass(frozen=True)
class Run:
    """The cost of one answer."""

    messages: int  # on iopub
    changes: int  # of these, what changes the page
    size: int  # bytes, all of iopub
    changes_a_second: int  # at most, in any second
    bytes_a_second: int  # so, before the largest change, which carries every form
    task: float  # seconds of the page's main thread
    longest: float  # ms from one frame to the next
    work: float  # ms of CPU time that the page's main thread takes for one, at most
    lag: float  # ms from a piece to its appearance: median and worst
    worst: float
    late: float  # the worst without the page: until the update is sent
    saved: int  # bytes in the notebook
    seconds: float


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


def worked(devtools: Any) -> float:
    """Return the seconds that the page's main thread has worked."""
    found = {entry["name"]: entry["value"] for entry in devtools.send("Performance.getMetrics")["metrics"]}
    return float(found["TaskDuration"])


def saved(notebook: Any, path: Path) -> int:
    """Return the size of the notebook's file."""
    notebook.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.save()")
    return path.stat().st_size


def measure(browser: Any, server: Any, way: Way, url: str, ends: Sequence[int]) -> Run:
    """Measure one answer in a new page and kernel, after a short one that loads what is loaded once."""
    from jupyter_page import RUN, NotebookPage

    def fill(source: str, prompt: str = "") -> str:
        return source.replace("{url}", url).replace("{prompt}", prompt)

    setup = f"import os\nKEY = os.environ['OPENAI_API_KEY'] = '{KEY}'\n{fill(way.setup)}"
    cells = [setup, fill(way.cell, "warm up"), fill(way.cell, "Explain caches.")]
    notebook = NotebookPage(browser, server, cells)
    try:
        page, path = notebook.page, newest(server.notebooks)
        notebook.run(0, 1)
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        before = saved(notebook, path)
        page.wait_for_timeout(2_000)
        page.evaluate(PROBE, 2)
        begun, start = time.monotonic(), worked(devtools)
        page.wait_for_timeout(1_000 * IDLE_SECONDS)
        idle = (worked(devtools) - start) / (time.monotonic() - begun)
        page.evaluate("() => window.jctxProbe.stop()")
        browser.start_tracing(page=page, categories=["toplevel", "blink.user_timing"])
        page.evaluate(PROBE, 2)
        begun, start = time.monotonic(), worked(devtools)
        page.evaluate(RUN, [2, CELL_SECONDS])
        page.wait_for_function("() => window.jctxProbe.quiet() > 1000", timeout=1_000 * CELL_SECONDS)
        seconds = time.monotonic() - begun
        task = worked(devtools) - start - idle * seconds
        found = page.evaluate("() => window.jctxProbe.stop()")
        work = longest_frame(json.loads(browser.stop_tracing())["traceEvents"])
        after = saved(notebook, path)
    finally:
        notebook.close()
    with urllib.request.urlopen(f"{url}/times") as response:
        times = json.load(response)
    moments = [times[end] for end in ends]
    median, worst = lags(found["seen"], moments)
    _, late = lags(found["sent"], moments)
    changes = [(at, size) for at, kind, size in found["messages"] if kind.startswith(CHANGES)]
    whole = max(range(len(changes)), key=lambda number: changes[number][1])  # buttons may come after it
    # what widgets change is no update of the answer
    updates = [at for at, kind, _ in found["messages"] if kind.startswith(CHANGES) and not kind.startswith("comm_")]
    return Run(
        len(found["messages"]), len(changes), sum(size for _, _, size in found["messages"]),
        peak([(at, 1) for at in updates if at <= changes[whole][0]]), peak(changes[:whole]), task, found["longest"],
        work, median, worst, late, after - before, seconds,
    )  # fmt: skip


def longest_frame(trace: Sequence[dict[str, Any]]) -> float:
    """Return milliseconds of CPU time, so that other programs on the machine do not count."""
    marks_at = sorted(event["ts"] for event in trace if event["name"] == "jctx-frame")
    thread = {(event["pid"], event["tid"]) for event in trace if event["name"] == "jctx-frame"}
    tasks = [
        (event["ts"], event["ts"] + event["dur"], event["tdur"])
        for event in trace
        if event["name"].endswith("::RunTask") and "tdur" in event and (event["pid"], event["tid"]) in thread
    ]
    longest = spent = number = 0
    for _, end, took in sorted(tasks):
        spent += took
        if number < len(marks_at) and end >= marks_at[number]:  # the task that drew a frame
            longest, spent = max(longest, spent), 0
            while number < len(marks_at) and end >= marks_at[number]:
                number += 1
    return longest / 1e3


def newest(folder: Path) -> Path:
    """Return the notebook that was written last."""
    return max(folder.glob("*.ipynb"), key=lambda path: path.stat().st_mtime_ns)


def lags(seen: Sequence[tuple[float, int]], sent: Sequence[float]) -> tuple[float, float]:
    """Return the delay from sending a sentence's number to showing it: median and worst, in ms."""
    if not seen or seen[-1][1] != len(sent):
        raise RuntimeError(f"{seen[-1:]} was shown last, of {len(sent)} sentences")
    found, shown = [], iter(seen)
    at, last = next(shown)
    for number, moment in enumerate(sent, 1):
        while last < number:
            at, last = next(shown)
        found.append(at - 1e3 * moment)
    return statistics.median(found), max(found)


def versions(names: Sequence[str]) -> str:
    """Return the versions of what is measured."""
    from importlib.metadata import version

    packages = [WAYS[name].package for name in names] + ["jupyterlab", "ipykernel", "openai"]
    return ", ".join(f"{package} {version(package)}" for package in packages)


def show(title: str, runs: Sequence[Run]) -> None:
    """Print one row: medians, and the worst value of what should never happen."""
    one = {name: statistics.median(getattr(run, name) for run in runs) for name in FIGURES}
    row = f"{title:<12}{one['messages']:>7.0f}{one['changes']:>9.0f}{one['size'] / 1e3:>8.0f}"
    row += f"{one['changes_a_second']:>10.0f}{one['bytes_a_second'] / 1e3:>6.0f}{one['task']:>8.1f}"
    row += f"{one['longest']:>8.0f}{one['work']:>7.0f}{max(run.work for run in runs):>7.0f}"
    row += f"{one['lag']:>8.0f}{one['worst']:>8.0f}{max(run.worst for run in runs):>8.0f}"
    row += f"{max(run.late for run in runs):>8.0f}"
    print(f"{row}{one['saved'] / 1e3:>8.1f}{one['seconds']:>7.1f}", flush=True)


FIGURES = list(Run.__dataclass_fields__)
HEAD = (
    f"{'':<12}{'iopub':>7}{'changes':>9}{'kB':>8}{'most a s':>10}{'kB':>6}{'busy s':>8}"
    f"{'frame':>8}{'CPU':>7}{'worst':>7}{'lag ms':>8}{'most':>8}{'worst':>8}{'update':>8}{'kB kept':>8}{'s':>7}"
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *WAYS], metavar="NAME", help="ours, chatlas, ai")
    parser.add_argument("--speed", type=float, help="tokens a second")
    parser.add_argument("--tokens", type=int)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--long", action="store_true", help="50,000 characters at 200 tokens a second, ours alone")
    parser.add_argument("--columns", type=int, help="so many answers side by side, and one of ours")
    options = parser.parse_args()
    names = options.names or (["ours"] if options.long or options.columns else list(WAYS))
    if options.columns:
        WAYS["columns"] = side_by_side(options.columns)
        names.append("columns")
    names = [name for name in names if importlib.util.find_spec(WAYS[name].package)]
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    missing += [] if shutil.which("chromium") else ["chromium"]
    if missing:
        print(f"left out: {', '.join(missing)} not installed")
        return
    tokens = options.tokens or (LONG if options.long else TOKENS)
    speed = options.speed or (LONG_SPEED if options.long else SPEED)
    command = [sys.executable, "-m", "benchmarks.display", "--serve", str(tokens), str(speed)]
    answers = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert answers.stdin is not None
    assert answers.stdout is not None
    with answers:
        url = answers.stdout.readline().strip()
        try:
            compare(names, url, write(tokens), speed, options.rounds)
        finally:
            answers.stdin.close()


def compare(names: Sequence[str], url: str, answer: Sequence[str], speed: float, rounds: int) -> None:
    """Measure every way in turn, repeatedly."""
    from jupyter_page import CHROMIUM, Server
    from playwright.sync_api import sync_playwright

    print(versions(names))
    print(f"{len(answer):,} tokens, {len(''.join(answer)):,} characters, {speed:g} a second; medians of {rounds}")
    runs: dict[str, list[Run]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, chromium_sandbox=False)
        server = Server(Path(folder), Path(folder))
        try:
            server.wait()
            for turn in range(rounds):
                for place in range(len(names)):
                    name = names[(place + turn) % len(names)]
                    runs[name].append(measure(browser, server, WAYS[name], url, marks(answer)))
                    print(
                        f"  {name}: {[round(getattr(runs[name][-1], figure), 2) for figure in FIGURES]}",
                        file=sys.stderr,
                    )
        finally:
            server.stop()
            browser.close()
    print(HEAD)
    for name in names:
        show(WAYS[name].title, runs[name])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve_answers(int(sys.argv[2]), float(sys.argv[3]))
    else:
        main()
