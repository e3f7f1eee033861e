"""Notebooks that run by themselves."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

LONG = "The ship sailed on through the night and nobody could sleep for the noise of the wind. " * 4


def test_a_headless_run_has_final_outputs_alone_and_stops_at_an_error(local_model: str) -> None:
    said = [{"role": "user", "content": "Code?"}, {"role": "assistant", "content": "```python\nx = 21\n```"}]
    turns = [f"%%chat\n{n}. {LONG}" for n in range(4)]
    begin = f"%load_ext jupyter_ctx\n%chat use {local_model} --max-tokens 16\nfrom jupyter_ctx import get_chat"
    code = f"_ = get_chat().add_messages({said})\n%chat code"
    made = nbformat.v4.new_notebook()
    made.cells = [*map(nbformat.v4.new_code_cell, (begin, *turns, code, f"%%chat\n{LONG * 40}", "print('ran')"))]
    with pytest.raises(CellExecutionError, match="ContextOverflowError"):
        NotebookClient(made, timeout=120, kernel_name="python3").execute()
    _, *answers, (shown,), _, never = (cell.outputs for cell in made.cells)
    for (output,) in answers:  # no widget, and no line that says how full it is
        assert set(output.data) == {"text/html", "text/markdown", "text/plain"}
        assert "full:" not in output.data["text/plain"]
    assert "\nx = 21\n" in shown.text, "it takes no new cell, so the code is shown"
    assert never == []
    assert "widgets" not in made.metadata
    assert "jupyter_ctx.chip" not in nbformat.writes(made)
