"""Take README's pictures in a real JupyterLab, light and dark, into ``docs/``.

``python -m scripts.pictures`` needs what the tests of pages need: Chromium, and the extras for tests.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
WIDTH, HEIGHT = 1000, 702  # pixels of the page, which ends below the sum of the status
ANSWER = r"""Sales follow the school year, $s(t) = a + b\cos\tfrac{2\pi t}{52}$, and stop when it ends:

| month | sold | of the peak |
|---|--:|--:|
| May | 1,310 | 97 % |
| June | 1,344 | 100 % |
| July | 402 | 30 % |

```python
sold.loc[5:7] / sold.max()
```
"""
LOG = "The warehouse counted shoes on day {day} and wrote {sold} of them into its book. " * 12
SETUP = """# ctx: skip
import warnings; warnings.simplefilter("ignore")
%load_ext jupyter_ctx
%chat use openai/gpt-6.2-sol --base-url {url} --window 6000 --max-tokens 900
%chat config prices 2,10,0.1
import pandas as pd
from matplotlib.figure import Figure
from jupyter_ctx import get_chat
counts = [610, 700, 905, 1120, 1310, 1344, 402, 385, 890, 1105, 930, 680]
sales = pd.DataFrame({{"month": range(1, 13), "sold": counts}})
fig = Figure(figsize=(5, 3)); axes = fig.subplots()
axes.plot(sales.month, sales.sold, linewidth=3)
log = {log!r}
get_chat().add_messages([message for day in range(8) for message in (
    {{"role": "user", "content": log.format(day=day, sold=90 - day)}},
    {{"role": "assistant", "content": f"Day {{day}}: {{90 - day}} shoes."}})])"""
CELL = """sold = sales.set_index("month").sold
print(sold.loc[5:7].to_dict())"""
PROMPT = """%%chat -a cells -a fig
Why does the **curve** fall after June, if {{ sales.sold.sum() }} were sold?"""


def main() -> None:
    """Open a notebook, ask, and take each picture in both themes."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    from jupyter_page import CHROMIUM, NotebookPage, Server  # type: ignore[import-not-found]
    from playwright.sync_api import sync_playwright
    from server import events, piece, send, serve, usage  # type: ignore[import-not-found]

    def answer(handler: Any, request: dict[str, Any]) -> None:
        contents = [message["content"] for message in request["messages"]]
        texts = [part.get("text", "") for content in contents if isinstance(content, list) for part in content]
        texts += [content for content in contents if isinstance(content, str)]
        taken = usage(sum(map(len, texts)) // 4, len(ANSWER) // 4)
        send(handler, 200, events(piece(ANSWER), piece("", "stop"), taken), "text/event-stream")

    with tempfile.TemporaryDirectory() as folder, serve(answer) as (url, _), sync_playwright() as playwright:
        server = Server(Path(folder), Path(folder), [ROOT], chip=True)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, chromium_sandbox=False)
        try:
            server.wait()
            cells = [SETUP.format(url=url, log=LOG), CELL, PROMPT, "%chat status"]
            notebook = NotebookPage(browser, server, cells)
            notebook.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            notebook.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
            notebook.run(0, 1, 2, 3)
            take(notebook)
            notebook.close()
        finally:
            browser.close()
            server.stop()


def take(notebook: Any) -> None:
    """Take the pictures of a notebook whose cells have run."""
    for name, theme in THEMES.items():
        notebook.use_theme(theme)
        for what, show in SHOWS.items():
            place = show(notebook)
            notebook.page.wait_for_timeout(500)
            place.screenshot(path=ROOT / "docs" / f"{what}-{name}.png")


def answered(notebook: Any) -> Any:
    """Show the prompt with its answer, from the toolbar on."""
    notebook.page.keyboard.press("Escape")
    notebook.page.evaluate("() => document.activeElement.blur()")
    notebook.page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1; }")
    notebook.cell(1).evaluate("cell => cell.scrollIntoView({ block: 'start' })")
    return notebook.page.locator(".jp-NotebookPanel:visible")


def opened(notebook: Any) -> Any:
    """Show the panel below the chip, open."""
    notebook.page.locator(".jctx-chip button").first.click()
    return notebook.page.locator(".jp-NotebookPanel:visible")


SHOWS: dict[str, Callable[[Any], Any]] = {"answer": answered, "panel": opened}

if __name__ == "__main__":
    main()
