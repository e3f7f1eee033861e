"""Cells stand where the notebook's file has them, by their ids or by their texts, else as they ran first."""

from __future__ import annotations

import math
import os
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from jupyter_ctx.magics.cell_prompts import is_context, page_of
from jupyter_ctx.magics.output_recorder import Execution
from jupyter_ctx.runtime.frontend import Where, fingerprint

ASK = "%%chat -a cells\nWhy?"
BOOK = ("a = 1", "a", ASK, "a = 2", "a", ASK)
SAVED = 1_000.0


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "x.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(source, id=f"id-{at}") for at, source in enumerate(BOOK)]), path)
    os.utime(path, (SAVED, SAVED))
    return str(path)


def chat_cell(cell: str | None = None) -> Where:
    return Where("notebook", cell=cell, source=fingerprint(ASK))


def test_cells_whose_ids_the_file_has_stand_there_and_deleted_ones_nowhere(file: str) -> None:
    ran = [Execution(1, "id-3", "a = 3", 5), Execution(2, "gone", "b", 6), Execution(3, "id-0", "a = 1", 7)]
    new = [Execution(4, "new", "c", SAVED + 1), Execution(5, "newer", "d", SAVED + 2)]
    page = page_of([*ran, *new], chat_cell("id-2"), file)
    assert [page.standing[at].number for at in sorted(page.standing)] == [3, 4, 5, 1]
    assert page.own == 2


def test_cells_without_the_files_ids_stand_by_their_texts_in_the_order_in_which_they_ran(file: str) -> None:
    ran = [Execution(number, None, source, 5) for number, source in enumerate(BOOK[:5], 1)]
    page = page_of(ran, chat_cell(), file)
    assert [page.standing[at].number for at in sorted(page.standing)] == [1, 2, 3, 4, 5]
    assert page.own == 5
    assert page_of(ran[:2], chat_cell(), file).own == 2


def test_a_chat_cell_that_the_file_lacks_stands_below_all_and_then_where_it_ran(file: str) -> None:
    ran = [Execution(1, "id-0", "a = 1", 5)]
    assert page_of(ran, chat_cell("new"), file).own == math.inf
    ran += [Execution(2, "new", ASK, SAVED + 1), Execution(3, "id-1", "a", SAVED + 2)]
    page = page_of(ran, chat_cell("new"), file)
    assert 0 < page.own < 1


def test_where_no_file_tells_a_cell_that_ran_again_stays_where_it_ran_first() -> None:
    ran = [Execution(1, "one", "a", 1), Execution(2, "two", "b", 2), Execution(3, "one", "a = 1", 3)]
    page = page_of(ran, chat_cell("chat"), None)
    assert {at: each.number for at, each in page.standing.items()} == {0: 3, 1: 2}


@pytest.mark.parametrize(
    ("code", "goes"),
    [
        ("a = 1", True),
        (ASK, False),
        ("%chat use m\n%load_ext jupyter_ctx", False),
        ("%chat use m\na = 1", True),
        ("# ctx: skip\na = 1", False),
        ("chat = get_chat()\nchat.add_messages(messages)", False),
    ],
)
def test_chat_cells_and_lines_are_no_context_nor_what_the_user_leaves_out(code: str, goes: bool) -> None:
    assert is_context(Execution(1, None, code, 0)) == goes
