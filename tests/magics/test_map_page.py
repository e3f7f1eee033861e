"""``%%chat map`` and ``%chat plot`` as a user sees them in JupyterLab, with a real model."""

from __future__ import annotations

import json

from jupyter_page import SCREENSHOTS, Open
from playwright.sync_api import expect

pytest_plugins = ("browsing",)

LOAD = (
    "%load_ext jupyter_ctx\n%chat use local/smollm2 --window 512 --max-tokens 60\n"
    "import pandas as pd\nfrom jupyter_ctx import contains\nhas = contains('word')\n"
    "df = pd.DataFrame({'q': ['sun', 'moon', 'rain', 'snow', 'wind', 'fog', 'hail', 'dew'], 'word': ['light'] * 8})"
)
MAP = "%%chat map df --as formal -o out --score has\nWhat is {{ q }}? Answer in one sentence."


def test_a_map_shows_a_bar_a_table_and_figures_and_is_saved_as_text(open_page: Open) -> None:
    notebook = open_page(LOAD, MAP, "%%chat\nSay hello.", "%chat plot", "%chat plot formal")
    notebook.run(0, 1)
    output = notebook.output(1)
    expect(output).to_contain_text("8 rows to local/smollm2")
    expect(output.locator(".jctx-live .widget-html").last).to_contain_text("8/8")
    expect(output.locator(".jctx-twin")).to_be_hidden()
    expect(output.locator("table.dataframe tbody tr")).to_have_count(8)
    expect(output).to_contain_text("8 rows, ")
    expect(output).not_to_contain_text("Warning")
    notebook.run(2, 3, 4)
    for index in (3, 4):
        expect(notebook.output(index).locator("img")).to_have_count(1)
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        notebook.use_theme(theme)
        expect(notebook.page.locator("#jupyterlab-splash, .jp-LabSplash, #galaxy")).to_have_count(0)
        output.locator(".jctx-live").screenshot(path=SCREENSHOTS / f"map bar {theme.split()[1].lower()}.png")
        notebook.cell(4).screenshot(path=SCREENSHOTS / f"map rates {theme.split()[1].lower()}.png")
    notebook.use_theme("JupyterLab Light")
    notebook.save()
    notebook.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    outputs = json.loads(notebook.path.read_text("utf-8"))["cells"][1]["outputs"]
    (twin,) = (each for each in outputs if "jctx-twin" in "".join(each.get("data", {}).get("text/html", "")))
    assert "".join(twin["data"]["text/plain"]).startswith("formal: 8 of 8 rows, ")
    assert notebook.errors == []
