"""The calls of functions on a page: a folded line each, while they run, when they are done, and in a saved notebook."""

from __future__ import annotations

import json
import re
from http.server import BaseHTTPRequestHandler
from typing import Any

from jupyter_page import Open
from nbconvert import HTMLExporter
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


def test_calls_stand_above_the_answer_folded_harmless_and_are_kept(open_page: Open) -> None:
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
        expect(output.locator(".jctx-footer")).to_be_visible()
        notebook.wait_idle()
    calls = output.locator(".jctx-call")
    expect(calls).to_have_count(4)
    before, after = output.locator(".jctx-answer").first, output.locator(".jctx-answer").last
    tops = [(place.bounding_box() or {"y": 0.0})["y"] for place in (before, *calls.all(), after)]
    assert tops == sorted(tops)
    expect(calls.nth(0)).to_contain_text(re.compile(r"rows\(country='NO'\) → 12 items, [23]\.\d s"))
    expect(calls.nth(1).get_by_role("group", name="result", include_hidden=True)).to_be_hidden()
    expect(calls.nth(2).locator("summary")).to_contain_text("✗ fails(reason='no such country') → ValueError")
    assert calls.nth(3).locator("img").evaluate("async img => { await img.decode(); return img.naturalWidth > 0; }")
    for n in range(4):
        calls.nth(n).locator("summary").click()
    expect(calls.nth(1).get_by_role("group", name="arguments")).to_contain_text("<script>window.hacked=1</script>$x$")
    expect(calls.nth(1).get_by_role("group", name="result")).to_contain_text("<img src=x onerror=")
    assert notebook.page.evaluate("typeof window.hacked") == "undefined"
    assert notebook.errors == []
    assert notebook.foreign_requests == []
    notebook.save()
    page, _ = HTMLExporter().from_filename(str(notebook.path))
    assert page.count('class="jctx-call"') == 4
    assert "<script>window.hacked" not in page
