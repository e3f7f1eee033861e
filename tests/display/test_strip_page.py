"""The strip of what went with a prompt in JupyterLab: there from the moment of sending, folded, kept, and harmless."""

from __future__ import annotations

import json

from gauge_pages import gate
from jupyter_page import Open
from playwright.sync_api import Locator, expect
from server import serve

pytest_plugins = ("browsing",)

MAKE = """import matplotlib.pyplot as plt, pandas as pd
fig, ax = plt.subplots()
ax.plot([1, 3, 2])
plt.close(fig)
df = pd.DataFrame({"day": range(12_000), "<b>sold</b>": ["<script>window.hacked=1</script>"] * 12_000})
axes = dict(zip("ab", (fig, fig)))
open("notes.txt", "w").write("The sea is blue. " * 40)
note = "a value of the notebook"
"""


def is_drawn(picture: Locator) -> bool:
    return bool(picture.evaluate("async img => { await img.decode(); return img.naturalWidth > 0; }"))


def test_the_strip_stands_above_the_answer_from_sending_on_and_is_kept(open_page: Open) -> None:
    with gate("The curve", " falls.") as (answer, _, go_on), serve(answer) as (url, _):
        notebook = open_page(
            f"%load_ext jupyter_ctx\n%chat use gpt-5.2 --base-url {url}",
            MAKE,
            "%%chat -a fig -a df -a axes -a notes.txt -a note\nWhy does the curve fall?",
        )
        notebook.run(0, 1)
        notebook.page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 2 }")
        notebook.command("notebook:run-cell")
        output = notebook.output(2)
        strip = output.locator(".jctx-sent")
        expect(output).to_contain_text("The curve")
        assert is_drawn(strip.locator("img").first)
        summary = strip.locator("summary", has_text="of 12,000 rows")
        sent = strip.get_by_role("group", name="df, as sent", include_hidden=True)
        expect(sent).to_be_hidden()
        drawn_as = summary.evaluate("summary => getComputedStyle(summary).display")
        assert drawn_as == "list-item"  # with the sign that says that it unfolds
        summary.click()
        expect(sent).to_contain_text("<script>window.hacked=1</script>")
        go_on.set()
        notebook.wait_idle()
    expect(notebook.answer(2)).to_have_text("The curve falls.")
    expect(sent).to_be_visible()
    below = notebook.answer(2).bounding_box() or {"y": 0.0}
    assert (strip.bounding_box() or {"y": 0.0})["y"] < below["y"]
    assert notebook.page.evaluate("typeof window.hacked") == "undefined"
    notebook.save()
    outputs = json.loads(notebook.path.read_text("utf-8"))["cells"][2]["outputs"]
    pages = ["".join(output.get("data", {}).get("text/html", "")) for output in outputs]
    (kept,) = (page for page in pages if "jctx-sent" in page)
    assert len(kept) < 60_000
    assert notebook.errors == []
    assert notebook.foreign_requests == []
