"""Cells that ran go with a prompt in the order in which they stand, shortened to the room that they share."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from images import PIXEL

from jupyter_ctx import InvalidRequestError
from jupyter_ctx.attachments.attached import TextRoom
from jupyter_ctx.attachments.notebook_cells import RanCell, attached_cells, cells_named
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.testing import count_characters

CELLS = tuple(RanCell(number, f"x = {number}") for number in (1, 2, 4, 7))
OTHER_PLOT = {"output_type": "display_data", "data": {"image/png": b64encode(PIXEL + b"!").decode()}}
PLOT = {"output_type": "display_data", "data": {"image/png": b64encode(PIXEL).decode()}}


def printed(lines: int) -> dict[str, str]:
    """What a cell shows that prints so many lines."""
    return {"output_type": "stream", "text": "\n".join(f"line {line}" for line in range(lines))}


@pytest.mark.parametrize(
    ("word", "numbers"),
    [("cells", [7]), ("cells:all", [1, 2, 4, 7]), ("cells:2-4", [2, 4]), ("In[2:8]", [2, 4, 7]), ("cells:4", [4])],
)
def test_a_word_names_cells_by_their_numbers(word: str, numbers: list[int]) -> None:
    assert [cell.number for cell in cells_named(word, CELLS, CELLS[3:])] == numbers


@pytest.mark.parametrize("word", ["cells:3", "cells:9-12", "In[4:2]", "cells:7-3", "cells:x"])
def test_numbers_that_did_not_run_and_ranges_backwards_are_named_in_the_error(word: str) -> None:
    with pytest.raises(InvalidRequestError, match=word.replace("[", r"\[")):
        cells_named(word, CELLS, ())


def test_a_cell_goes_with_what_it_showed_and_without_its_number() -> None:
    room = TextRoom(2_000, count_characters)
    (part,) = attached_cells([RanCell(43, "print(f(1))", (printed(3), PLOT))], room, Redactor())
    assert part.name == "In[43]"
    assert part.text.index("print(f(1))") < part.text.index("line 2") < part.text.index("image 1")
    assert "43" not in part.text
    assert len(part.files) == 1


def test_outputs_of_older_cells_are_shortened_first_then_those_of_newer_ones_and_code_last() -> None:
    code = "\n".join(f"a{line} = {line}" for line in range(20))
    cells = [RanCell(number, code, (printed(50),)) for number in (1, 2)]
    whole = attached_cells(cells, TextRoom(10_000, len), Redactor())
    assert not any("shortened" in part.what or part.more for part in whole)
    tight = attached_cells(cells, TextRoom(1_100, len), Redactor())
    assert ["line 30" in part.text for part in tight] == [False, True]
    assert ["shortened" in part.what for part in tight] == [True, False]
    assert [bool(part.more) for part in tight] == [False, True]
    tighter = attached_cells(cells, TextRoom(600, len), Redactor())
    assert ["line 30" in part.text for part in tighter] == [False, False]
    assert all(code in part.text for part in tighter)


@given(st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), min_size=1, max_size=12), st.integers(0, 4_000))
def test_property_the_newest_cells_go_in_order_within_the_room(sizes: list[tuple[int, int]], room: int) -> None:
    cells = [RanCell(n, "pass\n" * code + f"end{n}", (printed(out),)) for n, (code, out) in enumerate(sizes)]
    parts = attached_cells(cells, TextRoom(room, len), Redactor())
    assert [part.name for part in parts] == [cell.name for cell in cells[-len(parts) :]]
    assert len(parts) == 1 or sum(len(part.text) for part in parts) <= room


def test_the_newest_pictures_go_first_and_one_in_any_case() -> None:
    plots = [
        RanCell(n, "plot()", ({**PLOT, "data": {"image/png": b64encode(PIXEL + bytes([n])).decode()}},))
        for n in range(4)
    ]
    one = attached_cells(plots, TextRoom(400, len), Redactor())
    assert [len(part.files) for part in one] == [0, 0, 0, 1]
    more = attached_cells(plots, TextRoom(400 + 2 * 2_000, len), Redactor())
    sent = [len(part.files) for part in more]
    assert sent == sorted(sent)
    assert 1 < sum(sent) <= 4
    names = [file.name for part in more for file in part.files]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("now", "again"),
    [
        ((printed(80), PLOT), False),
        ((printed(80), PLOT, OTHER_PLOT), False),
        ((printed(80), OTHER_PLOT), True),
        ((printed(81), PLOT), True),
        ((), True),
    ],
)
def test_a_cell_counts_as_sent_when_its_text_went_and_it_has_the_pictures_that_went(now: Any, again: bool) -> None:
    room = TextRoom(2_000, count_characters)
    first = attached_cells([RanCell(1, "a = 1"), RanCell(2, "plot()", (printed(80), PLOT))], room, Redactor())
    sent = [(part.text, part.files) for part in first]
    if len(now) == 3:  # the second picture did not fit
        whole = attached_cells([RanCell(2, "plot()", now)], TextRoom(0, count_characters), Redactor())
        sent = [(part.text, part.files) for part in whole]
    cells = [RanCell(1, "a = 1"), RanCell(7, "plot()", now)]
    assert ("In[7]" in [part.name for part in attached_cells(cells, room, Redactor(), sent)]) == again


def test_a_huge_line_is_cut_and_what_shows_nothing_readable_is_a_line() -> None:
    outputs = (
        {"output_type": "stream", "text": "x" * 1_000_000 + "\nend"},
        {
            "output_type": "display_data",
            "data": {"text/html": "<video src='data:,x'></video>", "text/plain": "<Video object>"},
        },
    )
    (part,) = attached_cells([RanCell(1, "show()", outputs)], TextRoom(100_000, len), Redactor())
    assert "x … the rest of the line left out …" in part.text
    assert "end\n<Video object>" in part.text
    assert len(part.text) < 3_000


def test_a_key_in_a_cell_is_blanked() -> None:
    key = "sk-ant-¬api03-Qw7ErTyUiOpAsDfGhJkLzXcVbNm1234567890".replace("¬", "")
    (part,) = attached_cells([RanCell(1, f"client = Client({key!r})")], TextRoom(2_000, len), Redactor())
    assert key not in part.text
    assert part.notices
