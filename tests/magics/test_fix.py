"""%chat fix asks for the failed cell as it should be, and puts that into the next cell, not run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from cells import Cells
from dialects import DIALECTS
from IPython.utils.capture import capture_output
from server import serve

from jupyter_ctx import get_chat


@contextmanager
def answering(cells: Cells, text: str) -> Iterator[list[dict[str, Any]]]:
    """Requests of a cell that has failed in a function of another one, to a server that answers with a text."""
    with capture_output():
        cells.shell.run_cell("def invert(x):\n    return 1 / x", store_history=True)
        cells.shell.run_cell("x = 0\ninvert(x)", store_history=True)
    with serve(DIALECTS["completions"].answer(text)) as (url, seen):
        cells.run(f"%chat use gpt-5.2 --base-url {url}")
        yield seen


def test_the_corrected_cell_is_the_next_one_and_a_turn_like_any_other(cells: Cells) -> None:
    with answering(cells, "```python\nx = 2\ninvert(x)\n```\nx was 0.") as seen:
        shown = cells.run("%chat fix")
    asked = seen[0]["messages"][-1]["content"]
    assert asked.startswith("Correct the cell that raised this error.")
    assert 'File "Another cell", line 2, in invert\n    return 1 / x\nZeroDivisionError: division by zero' in asked
    assert asked.endswith("The cell that failed:\n```\nx = 0\ninvert(x)\n```")
    assert cells.shell.rl_next_input == "x = 2\ninvert(x)"
    assert "The next cell holds the failed cell as corrected, not run: read it first." in shown
    assert cells.shell.user_ns["x"] == 0
    (turn,) = get_chat().turns
    assert turn.reply.endswith("x was 0.")
    assert [source.partition(" (")[0] for source in turn.record.sources] == ["In[1]", "error of cell [2]"]


def test_the_longest_new_python_is_taken_and_what_was_there_or_is_printed_is_not(cells: Cells) -> None:
    unchanged = "Of\n```python\nx = 0\ninvert(x)\n```\nmake\n```python\nx = 2\n```\nor\n```py\nx = 4.0\n```\n"
    with answering(cells, f"{unchanged}so that it prints\n```\n[0.25, 0.25, 0.25, 0.25]\n```"):
        cells.run("%chat fix")
    assert cells.shell.rl_next_input == "x = 4.0"


def test_the_text_below_it_says_what_else_is_wanted(cells: Cells) -> None:
    with answering(cells, "```\nx = 3\n```") as seen:
        cells.shell.user_ns["n"] = 3
        cells.run("%%chat fix --no-history\nLet x be {{ n }}.")
    assert (
        "what was wrong.\n\nLet x be 3.\n\nCells of the notebook, in its order:" in seen[0]["messages"][-1]["content"]
    )


@pytest.mark.parametrize(
    "text", ["Do not divide by x.", "```\naccuracy: 0.93\n```", "```python\nx = 0\ninvert(x)\n```"]
)
def test_without_a_correction_nothing_is_put_anywhere(cells: Cells, text: str) -> None:
    with answering(cells, text):
        assert "nothing was put into a cell." in cells.run("%chat fix")
    assert not hasattr(cells.shell, "rl_next_input")
