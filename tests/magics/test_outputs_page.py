"""What stands in a notebook of JupyterLab goes into its prompts: plots, the last error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from dialects import DIALECTS
from jupyter_page import SCREENSHOTS, Open
from playwright.sync_api import expect
from server import serve

pytest_plugins = ("browsing",)


@pytest.fixture
def asked() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address of a server, and its requests."""

    with serve(DIALECTS["completions"].answer("```python\nx = 2\n1 / x\n```\nFine.")) as (url, seen):
        yield f"%load_ext jupyter_ctx\n%chat use gpt-5.2 --base-url {url}", seen


def test_the_corrected_cell_comes_below_the_one_that_asked(
    open_page: Open, asked: tuple[str, list[dict[str, Any]]]
) -> None:
    load, seen = asked
    notebook = open_page(load, "x = 0\n1 / x", "%chat fix", "%chat history", alone=True)
    notebook.run(0)
    with pytest.raises(Exception, match=r"(?i)failed|error"):
        notebook.run(1)
    notebook.reload()
    notebook.run(2)
    assert "The cell that failed:\n```\nx = 0\n1 / x\n```" in seen[-1]["messages"][-1]["content"]
    expect(notebook.cell(3).locator(".cm-content")).to_have_text("x = 21 / x")
    expect(notebook.prompt(3)).to_have_text("[ ]:")
    expect(notebook.output(2)).to_contain_text(
        "The next cell holds the failed cell as corrected, not run: read it first."
    )
    notebook.page.screenshot(path=SCREENSHOTS / "fix.png")
