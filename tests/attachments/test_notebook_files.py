"""A notebook's file goes as its cells and what they show, of nbformat 4 and 3, without its other data."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

import nbformat
import pytest
from images import PIXEL
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from jupyter_ctx import Chat
from jupyter_ctx.attachments.attached import TextRoom
from jupyter_ctx.attachments.files_and_pages import attached_file
from jupyter_ctx.attachments.notebook_cells import notebook_text
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.testing import ScriptedProvider, count_characters

ROOM = TextRoom(2_000, count_characters)
PLOT = {"image/png": b64encode(PIXEL).decode(), "text/plain": "<Figure size 640x480 with 1 Axes>"}
WIDGET = {"application/vnd.jupyter.widget-view+json": {"model_id": "abc"}, "text/plain": "Button()"}
TABLE = {"text/html": "<table><tr><td>1</td></tr></table>", "text/plain": "   a\n0  1"}


def book(*outputs: Any) -> nbformat.NotebookNode:
    """A notebook with a heading and a cell with these outputs."""
    cells = [new_markdown_cell("# Sales"), new_code_cell("df.head()", outputs=[*outputs], execution_count=7)]
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "P"}})


def test_cells_go_in_order_with_what_they_show(tmp_path: Path) -> None:
    stream = new_output("stream", name="stdout", text="10%\r50%\r\x1b[32m100%\x1b[0m\ndone\n")
    error = new_output("error", ename="KeyError", evalue="'b'", traceback=["\x1b[31mlong\x1b[0m"] * 50)
    outputs = (stream, new_output("execute_result", TABLE), new_output("display_data", PLOT), error)
    path = tmp_path / "sales.ipynb"
    nbformat.write(book(*outputs, new_output("display_data", WIDGET)), path)
    found = attached_file(path, Redactor(), ROOM)
    text = found.text
    assert text.index("# Sales") < text.index("```python\ndf.head()") < text.index("100%\ndone")
    assert text.index("0  1") < text.index("[image 1: sales.ipynb, 1,024 × 768]") < text.index("KeyError: 'b'")
    for data in (PLOT["image/png"], "50%", "\x1b", "long", "Button", "kernelspec", "execution_count", "<table"):
        assert data not in text
    assert len(text) < len(path.read_text()) / 3


def test_the_first_pictures_go_as_images_in_order_for_a_model_that_reads_them(tmp_path: Path) -> None:
    plots = [{"image/png": b64encode(PIXEL + bytes([number])).decode()} for number in range(12)]
    lines = new_output("stream", text="\n".join(map(str, range(50))))
    path = tmp_path / "a.ipynb"
    cells = [new_code_cell("", outputs=[lines, new_output("display_data", PLOT), lines])]  # in the part left out
    cells += [new_code_cell("", outputs=[new_output("display_data", plot)]) for plot in plots]
    nbformat.write(new_notebook(cells=cells), path)
    found = attached_file(path, Redactor(), ROOM)
    assert [file.data[-1] for file in found.files] == list(range(10))
    assert found.text.index("[image 2: a.ipynb, 1,024 × 768]") < found.text.index("[image 10: a.ipynb")
    assert found.text.count("[image, 1,024 × 768 pixels]") == 2
    assert "10 of its 12 images" in found.what

    provider = ScriptedProvider("Yes.", window=40_000)
    Chat(provider=provider).send("Look.", attachments=path)
    sent = provider.requests[0].messages[-1]
    assert sent.attachments == ()
    assert sent.content.count("[image, 1,024 × 768 pixels]") == 12


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"cells": [1]}', '{"cells": [{"cell_type": "code", "outputs": 3}]}']
)
def test_what_is_no_notebook_is_none(text: str) -> None:
    assert notebook_text(text) is None
