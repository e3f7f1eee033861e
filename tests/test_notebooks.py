"""Notebooks that run by themselves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))
LONG = "The ship sailed on through the night and nobody could sleep for the noise of the wind. " * 4


def execute(*cells: str) -> list[Any]:
    """The outputs of each cell; no widget and no line of the chip is left in the notebook."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(made, timeout=120, kernel_name="python3").execute()
    assert "widgets" not in made.metadata
    assert "jupyter_ctx.chip" not in nbformat.writes(made)
    return [cell.outputs for cell in made.cells]


def test_a_headless_turn_is_one_final_output_without_widget_or_threshold(local_model: str) -> None:
    _, _, *turns = execute(
        "%load_ext jupyter_ctx", f"%chat use {local_model} --max-tokens 16", *[f"%%chat\n{n}. {LONG}" for n in range(4)]
    )
    for outputs in turns:
        (output,) = outputs
        assert set(output.data) == {"text/html", "text/markdown", "text/plain"}
        assert "full:" not in output.data["text/plain"]


def test_an_error_stops_a_headless_run(local_model: str) -> None:
    with pytest.raises(CellExecutionError, match="ContextOverflowError"):
        execute("%load_ext jupyter_ctx", f"%chat use {local_model}", "%%chat\n" + LONG * 40, "print('ran')")


def test_an_executed_notebook_takes_no_new_cell_and_shows_the_code() -> None:
    said = [{"role": "user", "content": "Code?"}, {"role": "assistant", "content": "```python\nx = 21\n```"}]
    _, _, (output,) = execute(
        "%load_ext jupyter_ctx", f"from jupyter_ctx import get_chat\nget_chat().add_messages({said})", "%chat code"
    )
    assert "\nx = 21\n" in output.text


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_clean_and_its_prompts_are_short(path: Path) -> None:
    cells = nbformat.read(path, 4).cells
    assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in cells)
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    if any(re.search(r"^%%?chat", source, re.MULTILINE) for source in sources):
        assert "%load_ext jupyter_ctx" in sources
