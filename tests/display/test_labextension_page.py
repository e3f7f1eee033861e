"""What the labextension does to answers and toolbars on a page."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from jupyter_page import Open
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.page

pytest_plugins = ("browsing",)

HOSTILE = (
    '<div class="jctx-answer"><img src="x" onerror="window.hacked = 1"><script>window.hacked = 2</script>'
    '<div class="highlight"><pre>print(1)\n</pre></div></div>'
)


def test_code_is_copied_and_put_into_a_cell_by_pointer_and_by_keyboard_without_a_kernel_and_untrusted(
    open_page: Open, tmp_path: Path
) -> None:
    saved = _untrusted(tmp_path)
    first = open_page("1")
    path = first.path.with_name(saved.name)
    path.write_bytes(saved.read_bytes())
    notebook = open_page(saved=path, kernel=False)
    page = notebook.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for index in (0, 1):  # as text/html, and as an answer that was growing when it was saved
        block, button = notebook.output(index).locator(".highlight"), notebook.output(index).locator(".jctx-copy")
        expect(block).to_be_visible()
        expect(button).to_have_count(0)
        block.hover()
        button.click()
        expect(button).to_have_text("Copied")
        assert _clipboard(page) == "print(1)"
        page.mouse.move(0, 0)
        page.evaluate("() => { document.activeElement.blur(); navigator.clipboard.writeText('') }")
        expect(button).to_have_count(0)
    assert page.evaluate("() => window.hacked") is None
    notebook.cell(1).locator(".jp-InputPrompt").click()
    page.keyboard.press("Tab")
    for _ in range(6):
        if page.evaluate("() => document.activeElement.matches('.highlight pre')"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(notebook.page.locator(".jctx-copy:focus")).to_have_text("Copy")
    page.keyboard.press("Enter")
    expect(notebook.page.locator(".jctx-copy")).to_have_text("Copied")
    assert _clipboard(page) == "print(1)"
    page.keyboard.press("Tab")
    expect(notebook.page.locator(".jctx-insert")).to_be_focused()
    page.keyboard.press("Enter")
    expect(notebook.cell(2).locator(".cm-content")).to_have_text("print(1)")
    expect(notebook.prompt(2)).to_have_text("[ ]:")
    expect(notebook.page.locator(".jctx-copy")).to_have_count(0)


def _clipboard(page: Page) -> str:
    return str(page.evaluate("() => navigator.clipboard.readText()"))


def _untrusted(folder: Path) -> Path:
    """Write a notebook that this server has not run: what it shows is sanitized."""
    forms = ({"text/html": HOSTILE}, {"text/html": f" {HOSTILE}"})  # drawn by our class, and by the application's
    outputs = [[nbformat.v4.new_output("display_data", data=form)] for form in forms]
    cells = [nbformat.v4.new_code_cell("1", outputs=output, execution_count=1) for output in outputs]
    path = folder / "untrusted.ipynb"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}  # else the page asks for one
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
    return path
