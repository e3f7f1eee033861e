"""Measure the CPU time of loading the extension: processes with it against processes without."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys

from benchmarks.measuring import is_installed, median_difference, median_ratio

PAIRS = 11
BASE = "import IPython, ipywidgets; from IPython.core.interactiveshell import InteractiveShell as S; s = S.instance()"
CASES = {"IPython + ipywidgets": BASE, "jupyter_ctx": f"{BASE}; s.run_line_magic('load_ext', 'jupyter_ctx')"}
if is_installed("jupyter_ai_magics"):
    CASES["jupyter_ai_magics"] = f"{BASE}; s.run_line_magic('load_ext', 'jupyter_ai_magics')"
REPORT = (
    "; import resource, json; u = resource.getrusage(resource.RUSAGE_SELF); print(json.dumps(u.ru_utime + u.ru_stime))"
)


def cpu_seconds(script: str) -> float:
    """Return the user and system time of a new process."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", script + REPORT]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(json.loads(run.stdout.strip().splitlines()[-1]))


def main() -> None:
    """Print the table."""
    for script in CASES.values():
        cpu_seconds(script)  # compiles, and fills the page cache
    times: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(PAIRS):
        for name, script in CASES.items():
            times[name].append(cpu_seconds(script))
    base = times["IPython + ipywidgets"]
    print(f"CPU time in ms, medians of {PAIRS}; more, share: medians of the differences, pair by pair")
    for name, seconds in times.items():
        pairs = list(zip(base, seconds, strict=True))
        more, share = median_difference(pairs), median_ratio(pairs) - 1
        print(f"{name:<22}{1_000 * statistics.median(seconds):>8.0f}{1_000 * more:>+8.0f} more{share:>8.2f} share")


if __name__ == "__main__":
    main()
