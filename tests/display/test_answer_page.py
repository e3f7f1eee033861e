"""What an answer looks like on a page, and where its notebook is untrusted."""

from __future__ import annotations

from typing import Any

import nbformat
from jupyter_page import NotebookPage, Open, Server

pytest_plugins = ("browsing",)

TEXT = """\
# Colours

### Blue

| colour | wavelength | scattered |
|---|---|--:|
| red | 700 nm | 1.0 |

```python
def scattered(nm): ...
```

The end."""
WHOLE = f"""
from IPython.display import display
from jupyter_ctx.display.answer.markdown import bundle
display(bundle({TEXT!r}, below=["Left out turns 4 to 6."]), raw=True)"""
LOOKS = """every => every.map(one => {
    const {backgroundColor, padding, margin, borderRadius, fontSize, fontWeight, textAlign} = getComputedStyle(one);
    return {backgroundColor, padding, margin, borderRadius, fontSize, fontWeight, textAlign};
})"""


def looks(page: NotebookPage, index: int, selector: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = page.output(index).locator(f".jctx-answer {selector}").evaluate_all(LOOKS)
    assert found, selector
    return found


def check(page: NotebookPage) -> None:
    """The whole answer in the first cell: code in a box, cells from the left, headings small, a badge apart."""
    (code,) = looks(page, 0, ".highlight pre")
    assert code["padding"] == "8px 12px"
    assert code["borderRadius"] == "4px"
    assert code["margin"] == "7px 0px 14px"
    ground = page.output(0).locator(".jctx-answer").evaluate("e => getComputedStyle(e).backgroundColor")
    assert code["backgroundColor"] not in (ground, "rgba(0, 0, 0, 0)")
    assert [cell["textAlign"] for cell in looks(page, 0, "td")] == ["left", "left", "right"]
    one, three, text = (float(looks(page, 0, tag)[0]["fontSize"].removesuffix("px")) for tag in ("h4", "h6", "p"))
    assert text == three < one < 1.25 * text
    badge = page.output(0).locator(".jctx-badge")
    outline: Any = badge.evaluate("e => [getComputedStyle(e).borderTopWidth, getComputedStyle(e).backgroundColor]")
    assert outline == ["1px", "rgba(0, 0, 0, 0)"]
    assert page.output(0).locator(".jctx-note").inner_text() == "ctx Left out turns 4 to 6."


def test_an_answer_looks_the_same_in_dark_in_light_and_untrusted(open_page: Open, server: Server) -> None:
    page = open_page(WHOLE)
    page.run(0)
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        page.use_theme(theme)
        check(page)
    page.save()
    page.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    saved = nbformat.read(page.path, 4)
    (output,) = saved.cells[0].outputs
    output["data"]["text/html"] += " "  # another output than that which was signed
    copy = page.path.with_name(f"copy-of-{page.path.name}")
    nbformat.write(saved, copy)
    untrusted = open_page(saved=copy, kernel=False, alone=True)
    assert "var(" not in untrusted.output(0).locator("pre").get_attribute("style")
    check(untrusted)
