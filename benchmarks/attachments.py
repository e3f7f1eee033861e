"""Measure what attaching values costs: a brief of a table beside counting its missing values, a figure beside savefig.

``python -m benchmarks.attachments`` prints the table.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any

from benchmarks.measuring import is_installed, median_ms
from jupyter_ctx.attachments.attached import TextRoom
from jupyter_ctx.attachments.attached_values import attached_value
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.testing import count_characters

RUNS = 7
ROOM = TextRoom(3_200, count_characters)  # a tenth of 32,000


def attach(value: Any) -> str:
    return attached_value("df", value, ROOM, Redactor()).said


def table(rows: int, texts: int = 1) -> Any:
    import numpy as np
    import pandas as pd

    words = [None if n % 7 == 0 else f"text {n}" for n in range(rows)]
    return pd.DataFrame({
        "number": np.arange(rows), "value": np.random.default_rng(1).random(rows),
        "time": pd.date_range("2020", periods=rows, freq="s"), "kind": pd.Categorical(["a"] * rows),
        **{f"text{n}": words for n in range(texts)},
    })  # fmt: skip


def cases() -> dict[str, Callable[[], object]]:
    small, million, texts = table(12), table(1_000_000), table(1_000_000, texts=8)
    numbers, text = list(range(1_000_000)), "word " * 2_000_000
    found: dict[str, Callable[[], object]] = {
        "frame of 12 rows": lambda: attach(small),
        "frame of 1,000,000 rows": lambda: attach(million),
        "  its repr": lambda: repr(million),
        "  its missing values alone": lambda: million.isna().sum(),
        "frame of 1,000,000 rows, 8 columns of texts": lambda: attach(texts),
        "  its missing values alone ": lambda: texts.isna().sum(),
        "list of 1,000,000 numbers": lambda: attach(numbers),
        "text of 10,000,000 characters": lambda: attach(text),
    }
    if is_installed("polars"):
        import polars as pl

        polars = pl.DataFrame({"n": range(1_000_000), "text": [f"text {n}" for n in range(1_000_000)]})
        found["Polars frame of 1,000,000 rows"] = lambda: attach(polars)
    if is_installed("matplotlib"):
        import matplotlib as mpl

        mpl.use("agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(2, 2)
        axes[0, 0].plot(range(100))
        found["figure"] = lambda: attach(figure)
        found["  its savefig, as a cell shows it"] = lambda: figure.savefig(io.BytesIO(), bbox_inches="tight")
    return found


def main() -> None:
    """Print the table."""
    print(f"CPU time in ms, medians of {RUNS}")
    for name, work in cases().items():
        print(f"{name:<46}{median_ms(work, RUNS, clock=time.process_time):>8.1f}", flush=True)


if __name__ == "__main__":
    main()
