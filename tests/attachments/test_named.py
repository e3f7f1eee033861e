"""``-a NAME`` finds variables, their parts and files, and says what was sent of what."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cells import Cells
from dialects import DIALECTS
from images import PIXEL
from server import serve

from jupyter_ctx import Chat, ChatInterrupted, InvalidRequestError

ANSWER = DIALECTS["completions"].answer("I see.")
Seen = list[dict[str, Any]]


@pytest.fixture
def asked(cells: Cells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Seen]:
    """What a server was asked by cells that run in an empty folder."""
    monkeypatch.chdir(tmp_path)
    with serve(ANSWER) as (url, seen):
        cells.run(f"%chat use m --base-url {url}")
        yield seen


def sent(seen: Seen) -> str:
    """The text of the last message of the last request."""
    content = seen[-1]["messages"][-1]["content"]
    return content if isinstance(content, str) else str(content[-1]["text"])


NOTEBOOK = """
import types
text, numbers, nothing = "Some text.", [1, 2, 3], None
results = {"fig": "a text in a dict", "my fig": "one with a space", 3: "three"}
held = types.SimpleNamespace(inner=types.SimpleNamespace(value="deep down"))
def function(): ...
class Kind: ...
import pandas
frame = pandas.DataFrame({"a": [1], "b": [2], "c": [3]})
"""


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("text", "Some text."),
        ("numbers[1:]", "[2, 3]"),
        ("results['fig']", "a text in a dict"),
        ('results["my fig"]', "one with a space"),
        ("held.inner.value", "deep down"),
        ("frame[['a','c']]", "| 0 | 1 | 3 |"),
        ("results['fig'][2:6]", "text"),
    ],
)
def test_a_variable_a_part_of_one_and_an_item_go_along(cells: Cells, asked: Seen, word: str, text: str) -> None:
    cells.run(NOTEBOOK)
    shown = cells.run(f"%%chat -a {word}\nLook:")
    assert f"\n{text}\n" in sent(asked) or f"'{text}'" in sent(asked)
    assert sent(asked).startswith("Look:\n\n")
    assert "tokens" in shown


def test_what_a_library_has_registered_to_display_as_an_image_goes_as_one(cells: Cells, asked: Seen) -> None:
    cells.shell.user_ns["PIXEL"] = PIXEL
    cells.run("""import IPython
class Drawing: pass
drawing = Drawing()
IPython.get_ipython().display_formatter.formatters["image/png"].for_type(Drawing, lambda drawing: PIXEL);""")
    assert "With drawing (1,024 × 768, ~" in cells.run("%%chat -a drawing\nLook:")
    assert b64encode(PIXEL).decode() in str(asked[-1])


def test_a_line_tells_how_to_send_more_and_that_sends_more(cells: Cells, asked: Seen) -> None:
    cells.run("import pandas\nlong = pandas.DataFrame({'n': range(10_000)})")
    assert "-a long:all sends more." in cells.run("%%chat --window 400000 -a long\nLook:")
    few = len(sent(asked))
    assert "sends more" not in cells.run("%%chat --window 400000 -a long:all\nLook:")
    assert len(sent(asked)) > 10 * few


def test_a_variable_goes_before_a_file_of_its_name(cells: Cells, asked: Seen) -> None:
    Path("text").write_text("From the file.")
    cells.run(NOTEBOOK)
    cells.run("%%chat -a text\nLook:")
    assert "Some text." in sent(asked)
    cells.run("%%chat --append -a ./text\nLook:")
    assert "From the file." in sent(asked)


SLOW = """
import os, signal, threading, time
class Slow:
    def __repr__(self):
        threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
        time.sleep(9)
slow = Slow()
"""


@pytest.mark.parametrize("prompt", ["%%chat -a slow\nLook:", "%%chat\nLook: {{ slow }}"])
def test_ctrl_c_stops_a_slow_repr_in_a_plain_shell_and_sends_nothing(cells: Cells, asked: Seen, prompt: str) -> None:
    cells.run(SLOW)
    begun = time.monotonic()
    assert isinstance(cells.fail(prompt), ChatInterrupted)
    assert time.monotonic() - begun < 3
    assert asked == []
    assert cells.run("print(42)") == "42\n"


def test_an_expression_goes_as_its_value_and_what_acts_does_not(cells: Cells, asked: Seen) -> None:
    cells.run(NOTEBOOK)
    cells.run('%%chat -a "frame[frame.a > 3]"\nWhat is it?')
    assert "frame[frame.a > 3]:\n```\nDataFrame with 0 rows and 3 columns" in sent(asked)
    assert "append() is not called" in str(cells.fail("%%chat -a numbers.append(2)\nWhat is it?"))
    assert cells.shell.user_ns["numbers"] == [1, 2, 3]


def test_tab_offers_variables_that_can_be_attached_and_files(cells: Cells, asked: Seen) -> None:
    Path("notes.txt").touch()
    cells.run(NOTEBOOK)
    found = {each.text for each in cells.completed("%%chat -a ")}
    assert {"text", "numbers", "results", "notes.txt"} <= found
    assert not found & {"function", "Kind", "types", "nothing", "get_ipython"}


def test_a_file_is_named_with_its_tokens_before_it_is_sent(cells: Cells, asked: Seen) -> None:
    Path("short.txt").write_text("One line.")
    Path("table.csv").write_text("a,b\n" + "1234,5678\n" * 20_000)
    shown = " ".join(cells.run("%%chat preview -a short.txt\nWhat is in it?").split())
    assert "↳ short.txt ~" in shown
    with pytest.raises(AssertionError, match=r"table\.csv.* 1\d\d,\d{3} tokens.*-a df"):
        cells.run("%%chat -a table.csv\nWhat is in it?")
    with pytest.raises(InvalidRequestError, match="DataFrame"):
        Chat("gpt-5-none", window=32_000).send("What?", attachments=["table.csv"])
    assert not asked
