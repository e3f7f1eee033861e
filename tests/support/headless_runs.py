"""Notebooks that run without a reader, as nbclient runs them, one or many at once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbclient
import nbformat

# seconds for a kernel to start, and for a cell: another process may take the TCP port that was chosen for a kernel
# before that binds it ("Address already in use"); the kernel ends, and nbclient waits for it
LONGEST = 120


def executed(*paths: Path, **variables: str) -> list[list[str]]:
    """Run notebooks at once, each in its folder; what each of their cells has shown."""
    return asyncio.run(_all_executed(paths, variables))


async def _all_executed(paths: Sequence[Path], variables: dict[str, str]) -> list[list[str]]:
    notebooks = [nbformat.read(path, 4) for path in paths]
    runs = []
    for path, notebook in zip(paths, notebooks, strict=True):
        client = nbclient.NotebookClient(
            notebook, timeout=LONGEST, kernel_name="python3", startup_timeout=LONGEST,
            resources={"metadata": {"path": str(path.parent)}},
        )  # fmt: skip
        runs.append(client.async_execute(env={**os.environ, **variables}))
    await asyncio.gather(*runs)
    return [[_text(cell) for cell in notebook.cells] for notebook in notebooks]


def _text(cell: Any) -> str:
    return "".join(each.get("text") or each.get("data", {}).get("text/plain", "") for each in cell.outputs)
