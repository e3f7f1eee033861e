"""-a cell:image.png sends an image that was pasted into a Markdown cell, from the notebook's file."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest
from cells import Cells, Open
from dialects import DIALECTS
from hypothesis import given
from hypothesis import strategies as st
from images import PIXEL
from server import serve

from jupyter_ctx import InvalidRequestError
from jupyter_ctx.attachments.pasted_images import saved_cells

ONE, TWO, THREE = PIXEL, PIXEL + b"2", PIXEL + b"3"


def markdown(cell: str, text: str, **images: bytes) -> dict[str, Any]:
    """A Markdown cell as JupyterLab saves it."""
    attached = {f"{key}.png": {"image/png": b64encode(data).decode()} for key, data in images.items()}
    return {"cell_type": "markdown", "id": cell, "metadata": {}, "source": text, "attachments": attached}


def code(cell: str) -> dict[str, Any]:
    return {"cell_type": "code", "id": cell, "metadata": {}, "source": "%%chat", "outputs": [], "execution_count": None}


CELLS = [
    markdown("a", "![image.png](attachment:key1.png)", key1=ONE),
    code("b"),
    markdown("c", "![image.png](attachment:key2.png) and ![my plot.png](attachment:key3.png)", key2=TWO, key3=THREE),
    code("d"),
    markdown("e", "![Image.PNG](attachment:key4.png)", key4=ONE),
]


@pytest.fixture
def notebook(opened: Open, tmp_path: Path) -> Cells:
    """A shell whose front end tells the path of a notebook that has images in its cells."""
    (tmp_path / "x.ipynb").write_text(json.dumps({"cells": CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    cells = opened("x.ipynb")
    cells.run("%chat use gpt-5.2")
    return cells


def sent(notebook: Cells, options: str) -> tuple[list[bytes], str]:
    """The images of a request, and what the cell shows."""

    with serve(DIALECTS["completions"].answer("Fine.")) as (url, seen):
        shown = notebook.run(f"%%chat --base-url {url} --no-history {options}\nWhat is it?")
    content = seen[0]["messages"][-1]["content"]
    return [b64decode(part["image_url"]["url"].partition(",")[2]) for part in content if "image_url" in part], shown


def test_an_image_is_found_by_the_name_that_its_cell_shows_or_by_its_key(notebook: Cells) -> None:
    assert sent(notebook, '-a "cell:my plot.png"')[0] == [THREE]
    assert sent(notebook, "-a cell:key1.png")[0] == [ONE]
    assert sent(notebook, "-a cell:KEY2.png -a cell:key3.png")[0] == [TWO, THREE]
    assert "With the prompt: cell:key1.png (image, 1,024 × 768 pixels, " in sent(notebook, "-a cell:key1.png")[1]


def test_of_several_images_of_a_name_the_nearest_above_the_cell_is_sent(
    notebook: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    images, shown = sent(notebook, "-a cell:image.png")
    assert images == [TWO], "the last, where the front end does not tell the cell"
    assert "2 images are named image.png: the last was sent." in shown
    cells = saved_cells(Path("x.ipynb"))
    assert [cells.find("image.png", cell)[0].content() for cell in ("a", "b", "c", "d", "new")] == [
        TWO, ONE, ONE, TWO, TWO
    ]  # fmt: skip
    assert cells.find("IMAGE.PNG", "d")[1] == 3, "in any case, where none is spelt so"


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("cell:imag.png", "holds no image 'imag.png': there are Image.PNG, my plot.png, image.png. Did you mean cell:"),
        ("cell:", "is asked for an image without its name: there are Image.PNG"),
    ],
)
def test_an_image_that_is_not_there_is_told_with_those_that_are(notebook: Cells, word: str, says: str) -> None:
    said = str(notebook.fail(f"%%chat -a {word}\nx"))
    assert says in said
    assert "If it was pasted just now, save the notebook first." in said


def test_where_no_file_is_known_that_is_said(cells: Cells) -> None:
    said = str(cells.fail("%%chat -m gpt-5.2 -a cell:image.png\nx"))
    assert "takes an image from the notebook's file, and a terminal has no cells. Save the image to a file" in said


def test_tab_knows_the_images_of_the_notebook(notebook: Cells) -> None:
    assert notebook.lines("%%chat -a cell:im") == ["%%chat -a cell:image.png"]


@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["cells", "attachments", "source", "id", "image/png", "x"]), inner
)))  # fmt: skip
def test_any_json_is_a_notebook_or_an_error_in_words(tmp_path_factory: pytest.TempPathFactory, content: Any) -> None:
    path = tmp_path_factory.mktemp("odd") / "x.ipynb"
    path.write_text(json.dumps({"cells": content}))
    try:
        found = saved_cells(path)
    except InvalidRequestError as error:
        said = str(error)
    else:
        said = ""
    if said:
        assert "is not a notebook" in said
        return
    for image in found.images:
        with pytest.raises(InvalidRequestError):
            image.content()
