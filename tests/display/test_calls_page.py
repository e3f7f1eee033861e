"""The calls of functions on a page: a folded line each, while they run, when they are done, and in a saved notebook."""

from __future__ import annotations

import json
import re
from http.server import BaseHTTPRequestHandler
from typing import Any

from jupyter_page import Open
from page_checks import THEMES
from playwright.sync_api import expect
from server import events, piece, serve, usage
from tool_calls import Called, completions

pytest_plugins = ("browsing",)

MAKE = '''
import time
import matplotlib.pyplot as plt

def rows(country: str) -> list:
    """Return the rows of a country."""
    time.sleep(2.5)
    return [{"city": f"{country} {n}", "people": 1000 * n} for n in range(12)]

def note(text: str) -> str:
    """Look a text up."""
    return "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script>" + text

def fails(reason: str):
    """Fail."""
    raise ValueError(reason + " <b>bold</b>")

def curve() -> object:
    """Draw the curve."""
    fig, ax = plt.subplots()
    ax.plot([1, 3, 2])
    plt.close(fig)
    return fig
'''
HOSTILE = "<script>window.hacked=1</script>$x$ ![a](http://example.com/a.png)"
CALLS = (
    Called("c1", "note", json.dumps({"text": HOSTILE})),
    Called("c2", "fails", json.dumps({"reason": "no such country"})),
    Called("c3", "curve", "{}"),
)


def answer(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    rounds = sum(message["role"] == "tool" for message in body["messages"])
    if rounds == 0:
        text = completions([Called("c0", "rows", '{"country": "NO"}')], "I look the rows up first.")
    elif rounds == 1:
        text = completions(CALLS)
    else:
        text = events(piece("Norway has **twelve** rows."), piece("", "stop"), usage(90, 9))
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()
    handler.wfile.write(text.encode())


def test_calls_stand_above_the_answer_folded_and_harmless(open_page: Open) -> None:
    with serve(answer) as (url, _):
        notebook = open_page(
            f"%load_ext jupyter_ctx\n%chat use gpt-5.2 --base-url {url}",
            MAKE,
            "%%chat --tool rows --tool note --tool fails --tool curve\nHow many rows has Norway?",
        )
        notebook.run(0, 1)
        notebook.begin(2)
        output = notebook.output(2)
        expect(output.locator(".jctx-waiting")).to_have_text(re.compile(r"Calling rows\(country='NO'\)… \d s"))
        notebook.page.screenshot(path="/tmp/td/running.png")
        notebook.wait_idle()
    calls = output.locator(".jctx-call")
    expect(calls).to_have_count(4)
    for theme in ("dark", "light"):
        notebook.use_theme(THEMES[theme])
        notebook.page.screenshot(path=f"/tmp/td/{theme}.png")
    for n in range(4):
        calls.nth(n).locator("summary").click()
    notebook.page.set_viewport_size({"width": 1200, "height": 1600})
    for theme in ("dark", "light"):
        notebook.use_theme(THEMES[theme])
        notebook.page.screenshot(path=f"/tmp/td/{theme}-open.png")
