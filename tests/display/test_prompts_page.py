"""Prompts as a user edits them, in JupyterLab and Notebook 7."""

from __future__ import annotations

from pathlib import Path

import pytest
from jupyter_page import APPS, NotebookPage, Open, Server
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.page

pytest_plugins = ("browsing",)

PROMPT, PYTHON = "jupyter-ctx-prompt", "python"
FILES = Path(__file__).resolve().parents[2] / "labextension"
ASK = "%%chat -m local/smollm2\nIt's `{{ x }}`, \\{{ x }}, {{x}} and\n```python\nprint({{ df.head() }})\n```"
RAW = "  %%chat --raw\nLeave {{ a }}"
CELLS = (ASK, "%%ctx\n---\nFor whom?", "x_value = 1\n%load_ext jupyter_ctx", "%%chatter\nx", "\n%%chat\nHello", RAW)
PLAIN = "%%chat tokens -m local/smollm2\nStraße\n---\n**street** {{ x }}"  # a heading, were it Markdown
SOURCE = "index => window.jupyterapp.shell.currentWidget.content.widgets[index].model.sharedModel.getSource()"
SET_SOURCE = """([index, source]) => {
    window.jupyterapp.shell.currentWidget.content.widgets[index].model.sharedModel.setSource(source);
}"""

SET_OPTION = """async ([address, token, settings]) => {
    const headers = {Authorization: `token ${token}`, 'Content-Type': 'application/json'};
    const body = JSON.stringify({raw: JSON.stringify(settings)});
    const url = `${address}/lab/api/settings/@jupyterlab/codemirror-extension:plugin`;
    const answer = await fetch(url, {method: 'PUT', headers, body});
    if (!answer.ok) throw Error(await answer.text());
}"""


def _language(notebook: NotebookPage, index: int, name: str) -> None:
    expect(_editor(notebook, index)).to_have_attribute("data-language", name)


def _editor(notebook: NotebookPage, index: int) -> Locator:
    return notebook.cell(index).locator(".cm-content")


@pytest.mark.parametrize("app", APPS)
def test_what_stands_below_the_magic_is_markdown_and_is_sent_as_typed(
    open_page: Open, server: Server, app: str
) -> None:
    notebook = open_page(*CELLS, PLAIN, app=app, alone=True)
    told: list[str] = []
    notebook.on("console", lambda message: told.append(message.text))
    page, keys = notebook.page, notebook.page.keyboard
    for index, name in enumerate((PROMPT, PROMPT, PYTHON, PYTHON, PROMPT, PROMPT)):
        _language(notebook, index, name)
    expect(notebook.cell(5).locator(".jctx-expression")).to_have_count(0)
    expect(notebook.cell(0).locator(".jctx-expression")).to_have_text(["{{ x }}", "{{ df.head() }}"])
    expect(_editor(notebook, 0)).to_have_class("cm-content cm-lineWrapping")
    below = _editor(notebook, 6).locator(".cm-line:nth-child(n + 2) span")  # what is coloured
    expect(below).to_have_count(0)
    page.evaluate(SET_SOURCE, [6, PLAIN.replace(" tokens", "")])
    expect(below.first).to_have_text("Straße")
    page.evaluate(SET_SOURCE, [6, PLAIN])
    expect(below).to_have_count(0)

    _editor(notebook, 0).locator(".cm-line").first.click()
    keys.press("Home")
    for _ in "%%chat":
        keys.press("ArrowRight")
    keys.type("s")
    _language(notebook, 0, PYTHON)
    for key, name in (("Control+z", PROMPT), ("Control+Shift+z", PYTHON), ("Backspace", PROMPT)):
        keys.press(key)
        _language(notebook, 0, name)
    assert page.evaluate(SOURCE, 0) == ASK

    page.evaluate(SET_SOURCE, [1, "print(1)"])
    _language(notebook, 1, PYTHON)
    page.evaluate(SET_SOURCE, [1, "%%chat"])
    _language(notebook, 1, PROMPT)
    _editor(notebook, 1).click()
    keys.press("Control+End")
    keys.type("\nSay \"it's (so,\n- one:\n\n{{ x_val")
    assert page.evaluate(SOURCE, 1) == "%%chat\nSay \"it's (so,\n- one:\n\n{{ x_val"

    for above, below in (
        ("%%chat\n    Indented", ""),
        ("%%chat\n\nSay:\n\n    Indented", ""),
        ("%%chat\n```python\nfor x in y:\n    print(x)", "    "),
        ("%%chat\n```python\nfor x in y:\n    print(x)\n```", ""),
    ):
        page.evaluate(SET_SOURCE, [1, above])
        keys.press("Control+End")
        keys.type("\nOn")
        assert page.evaluate(SOURCE, 1) == f"{above}\n{below}On"
    keys.press("Control+/")
    assert page.evaluate(SOURCE, 1).endswith("\nOn")

    _editor(notebook, 0).locator(".cm-line").nth(1).click()
    keys.press("Home")
    notebook.command("notebook:split-cell-at-cursor")
    _language(notebook, 1, PYTHON)  # what was below the magic is a cell of its own now
    _language(notebook, 0, PROMPT)
    _language(notebook, 2, PROMPT)
    notebook.save()
    notebook.reload()
    for index, name in enumerate((PROMPT, PYTHON, PROMPT)):
        _language(notebook, index, name)
    if app == "lab":
        page.evaluate(SET_OPTION, [server.address, server.token, {"defaultConfig": {"jupyterCtxPrompts": False}}])
        try:
            notebook.reload()
            _language(notebook, 0, PYTHON)
        finally:
            page.evaluate(SET_OPTION, [server.address, server.token, {}])
    for file in FILES.glob("*.js"):
        served = page.request.get(f"{server.address}/lab/extensions/jupyter-ctx/{file.name}")
        assert (served.text(), served.headers["cache-control"]) == (file.read_text("utf-8"), "no-cache")
    assert [text for text in told if "jupyter-ctx" in text or "jctx" in text] == []
    assert notebook.errors == []
