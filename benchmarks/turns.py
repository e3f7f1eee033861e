"""Measure a whole ``%%chat`` turn in a kernel beside a cell that makes the bare SDK's own call.

A server in another process answers in 50 pieces at once. Both cells send the same messages; ours has the gauge shown
and a store. CPU time is that of the whole kernel; the time until the request leaves is from the message that runs the
cell to the first byte at the server.

``python -m benchmarks.turns [MESSAGES]... [SERVICE]...`` chooses among the rows.
"""

from __future__ import annotations

import statistics
import sys
import tempfile

from benchmarks.measuring import in_turn, kernel_in, median_difference, median_ratio, run_cell, serving
from benchmarks.services import SERVICES, environment, timed

SIZES, PAIRS = (2, 200, 2_000), 9
PROMPT = "And what follows from that for the next one?"

# prompts of 200 and replies of 800 characters, as in the benchmark of the store
SEED = """
from jupyter_ctx import get_chat
chat = get_chat()
chat.clear()
words = "every word here is one of a sentence that says little and says it in no great hurry ".split()
text = lambda number, length: (f"{{number}} " + " ".join(words) * 10)[:length]
past = [{{"role": ("user", "assistant")[i % 2], "content": text(i, (200, 800)[i % 2])}} for i in range({count} - 2)]
if past:
    chat.add_messages(past)
"""
SAME = """
sent = [m for turn in chat.turns for m in (("user", turn.prompt), ("assistant", turn.reply))] + [("user", {prompt!r})]
assert len(sent) == {count} + 1, len(sent)
messages = [{{"role": role, "content": text}} for role, text in sent]
"""


def measure(name: str, url: str, count: int) -> None:
    """Print one row of the table."""
    service, ours = SERVICES[name], f"%%chat\n{PROMPT}"
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        kernel_in(folder, **environment(name, url)) as (kernel, cpu),
    ):
        options = service.options.format(url=url)
        run_cell(kernel, f"%load_ext jupyter_ctx\n%chat use {options} --window 4000000")
        run_cell(kernel, service.client.format(url=url))
        acts = [lambda cell=cell: timed(kernel, cpu, url, cell) for cell in (service.cell, ours)]  # type: ignore[misc]
        rounds = []
        for number in range(PAIRS + 1):
            run_cell(kernel, SEED.format(count=count))
            run_cell(kernel, ours)
            run_cell(kernel, SAME.format(count=count, prompt=PROMPT) + service.convert)
            rounds.append(in_turn(number, *acts))
    cpus, sent = zip(
        *(zip(*pair, strict=True) for pair in rounds[1:]), strict=True
    )  # the first loads what is loaded once
    (sdk, mine), (sdk_sent, our_sent) = (map(statistics.median, zip(*pairs, strict=True)) for pairs in (cpus, sent))
    row = f"{name:<12}{count:>6,}{sdk:>9.1f}{mine:>8.1f}{median_ratio(cpus):>8.2f}"
    print(f"{row}   {sdk_sent:>8.1f}{our_sent:>8.1f}{median_difference(sent):>+8.1f}", flush=True)


def main() -> None:
    """Print the table."""
    sizes = [int(word) for word in sys.argv[1:] if word.isdigit()] or SIZES
    names = [word for word in sys.argv[1:] if not word.isdigit()] or [*SERVICES]
    print(f"CPU ms of a turn, ms until its request leaves; medians of {PAIRS} pairs: the ratio's and the difference's")
    print(f"{'':<12}{'view':>6}{'SDK':>9}{'ours':>8}{'ratio':>8}   {'SDK':>8}{'ours':>8}{'more':>8}")
    for name in names:
        with serving("benchmarks.services", name) as url:
            for count in sizes:
                measure(name, url, count)


if __name__ == "__main__":
    main()
