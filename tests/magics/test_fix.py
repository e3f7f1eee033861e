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
    """Requests of a cell that has failed, to a server that says this."""

    with capture_output():
        cells.shell.run_cell("x = 0\n1 / x", store_history=True)
    with serve(DIALECTS["completions"].answer(text)) as (url, seen):
        cells.run(f"%chat use gpt-5.2 --base-url {url}")
        yield seen


def test_the_corrected_cell_is_the_next_one_and_a_turn_like_any_other(cells: Cells) -> None:
    with answering(cells, "```python\nx = 2\n1 / x\n```\nx was 0.") as seen:
        shown = cells.run("%chat fix")
    asked = seen[0]["messages"][-1]["content"]
    assert asked.startswith("Correct the cell that raised this error.")
    assert "Python code block" in asked
    assert "ZeroDivisionError: division by zero" in asked
    assert "The cell that failed:\n```\nx = 0\n1 / x\n```" in asked
    assert cells.shell.rl_next_input == "x = 2\n1 / x"
    assert "The next cell holds cell [1] as corrected, not run: read it first." in shown
    assert "With error of cell [1] (ZeroDivisionError, " in shown
    assert cells.shell.user_ns["x"] == 0
    (turn,) = get_chat().turns
    assert turn.reply.endswith("x was 0.")
    assert turn.record.sources[0].startswith("error of cell [1]")


def test_the_whole_cell_is_taken_among_several_blocks(cells: Cells) -> None:
    with answering(cells, "Write\n```python\nx = 2\n```\nso that\n```python\nx = 2\n1 / x\n```\n```\n0.5\n```"):
        cells.run("%chat fix")
    assert cells.shell.rl_next_input == "x = 2\n1 / x"


def test_the_text_below_it_says_what_else_is_wanted(cells: Cells) -> None:
    with answering(cells, "```\nx = 3\n```") as seen:
        cells.shell.user_ns["n"] = 3
        cells.run("%%chat fix --no-history\nLet x be {{ n }}.")
        cells.run("%%chat fix --append")
    assert "what was wrong.\n\nLet x be 3.\n\nThe error, without" in seen[0]["messages"][-1]["content"]
    assert "what was wrong.\n\nThe error, without" in seen[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Do not divide by x.", "The answer has no code: nothing was put into a cell, and cell [1] is as it was."),
        ("```python\nx = 0\n1 / x\n```", "The answer repeats cell [1] unchanged: nothing was put into a cell."),
    ],
)
def test_without_a_correction_nothing_is_put_anywhere(cells: Cells, text: str, said: str) -> None:
    with answering(cells, text):
        assert said in cells.run("%chat fix")
    assert not hasattr(cells.shell, "rl_next_input")


PRICE = """rate = 0

def price(n):
    # how many fit
    a = n + 1
    b = a * 2
    return b / rate

def other():
    pass"""


def of_two_cells(cells: Cells, text: str) -> tuple[str, str]:
    """What is asked, and shown, where a function of an earlier cell fails."""

    with capture_output():
        cells.shell.run_cell(PRICE, store_history=True)
        cells.shell.run_cell("price(3)", store_history=True)
    with serve(DIALECTS["completions"].answer(text)) as (url, seen):
        cells.run(f"%chat use gpt-5.2 --base-url {url}")
        shown = cells.run("%chat fix")
    return seen[0]["messages"][-1]["content"], shown


def test_the_cell_that_defines_the_failing_function_is_sent_and_put_right(cells: Cells) -> None:
    fixed = PRICE.replace("rate = 0", "rate = 2")
    asked, shown = of_two_cells(cells, f"```python\n{fixed}\n```\nIn cell [1], rate was 0; cell [2] is right.")
    assert "The mistake may be in cell A or in the cell that failed" in asked
    assert f"Cell A:\n```\n{PRICE}\n```" in asked
    assert "The cell that failed:\n```\nprice(3)\n```" in asked
    assert "error of cell [2] (ZeroDivisionError, with cell [1], ~" in shown
    assert cells.shell.rl_next_input == fixed
    line = "The next cell holds cell [1] as corrected, not run: read it first, run it, then run cell [2] again."
    assert line in " ".join(shown.split())
