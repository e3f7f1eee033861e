"""Measure the CPU time of a kernel's first %%chat cell beside the bare SDK: its import, a client, and the same call.

Every figure is of a fresh kernel with ipykernel; a server in another process streams a short answer. The bare cell
prints the text as it comes. The store, a file of a notebook of its own, is there from an earlier kernel.

``python -m benchmarks.first [PAIRS] [SERVICE]...``
"""

from __future__ import annotations

import statistics
import sys
import tempfile

from benchmarks.measuring import in_turn, kernel_in, median_ratio, run_cell, serving
from benchmarks.services import SERVICES, environment, timed

PAIRS = 7
PROMPT = "Why is the sky blue?"
MESSAGES = f"messages = [{{'role': 'user', 'content': {PROMPT!r}}}]\n"


def cpu_ms(name: str, url: str, folder: str, cells: list[str]) -> list[float]:
    """Return the CPU time that each cell takes in one fresh kernel."""
    with kernel_in(folder, **environment(name, url)) as (kernel, cpu):
        run_cell(kernel, "import ipywidgets")
        return [timed(kernel, cpu, url, cell)[0] for cell in cells]


def measure(name: str, url: str, folder: str, count: int) -> None:
    """Print one row of the table."""
    service = SERVICES[name]
    bare = [service.client.format(url=url) + "\n" + MESSAGES + service.convert + service.cell]
    ours = ["%load_ext jupyter_ctx", f"%%chat -m {service.options.format(url=url)}\n{PROMPT}"]
    acts = (lambda: cpu_ms(name, url, folder, bare), lambda: cpu_ms(name, url, folder, ours))
    in_turn(0, *acts)  # compiles, fills the page cache, makes the store
    rounds = [(*sdk, *mine) for sdk, mine in (in_turn(number, *acts) for number in range(count))]
    figures = "".join(f"{statistics.median(column):>8.0f}" for column in zip(*rounds, strict=True))
    cell = median_ratio((sdk, cell) for sdk, _, cell in rounds)
    both = median_ratio((sdk, load + cell) for sdk, load, cell in rounds)
    print(f"{name:<12}{figures}{cell:>9.2f}×{both:>8.2f}×", flush=True)


def main() -> None:
    """Print the table."""
    count = next((int(word) for word in sys.argv[1:] if word.isdigit()), PAIRS)
    names = [word for word in sys.argv[1:] if not word.isdigit()] or [*SERVICES]
    print(f"CPU time in ms, medians of {count} pairs of kernels; ratios: medians, pair by pair")
    print(f"{'':<12}{'SDK':>8}{'load':>8}{'cell':>8}{'cell':>10}{'both':>9}")
    for name in names:
        with serving("benchmarks.services", name) as url, tempfile.TemporaryDirectory() as folder:
            measure(name, url, folder, count)


if __name__ == "__main__":
    main()
