"""What a reader sees and does while an answer is waited for and grows, in JupyterLab and Notebook 7."""

from __future__ import annotations

import queue
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import nbformat
import pytest
from jupyter_page import APPS, NotebookPage, Open
from playwright.sync_api import expect
from server import events, piece, serve, usage

pytestmark = pytest.mark.page

pytest_plugins = ("browsing",)

LONG_LINE = "total = " + " + ".join(f"number_{n}" for n in range(80))
# when the cell was sent to the kernel, and when its output first showed each text, in ms
WATCH = """index => {
    const area = document.querySelector(`.jp-Cell[data-windowed-list-index='${index}'] .jp-Cell-outputWrapper`);
    const begun = performance.now(), seen = (window.jctxSeen = {});
    const note = () => { seen[area.innerText.trim()] ??= performance.now() - begun; };
    new MutationObserver(note).observe(area, {subtree: true, childList: true, characterData: true});
}"""
SELECT = """([selector, word]) => {
    const element = [...document.querySelectorAll(selector)].at(-1);
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const at = texts.currentNode.data.indexOf(word);
        if (at >= 0) getSelection().setBaseAndExtent(texts.currentNode, at, texts.currentNode, at + word.length);
    }
    return getSelection().toString();
}"""
SELECTED = "() => getSelection().toString()"


class Teller:
    """A server whose answers go on when a test says so: with text, a thought, or their end."""

    def __init__(self) -> None:
        self._said: queue.Queue[dict[str, Any]] = queue.Queue()

    def say(self, text: str) -> None:
        self._said.put(piece(text))

    def think(self, text: str) -> None:
        thought = piece("")
        thought["choices"][0]["delta"] = {"reasoning_content": text}
        self._said.put(thought)

    def end(self) -> None:
        self._said.put(piece("", "stop"))

    def answer(self, handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        chunk = self._said.get(timeout=60)
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        while chunk["choices"][0]["finish_reason"] is None:
            handler.wfile.write(events(chunk, end="").encode())
            handler.wfile.flush()
            chunk = self._said.get(timeout=60)
        handler.wfile.write(events(chunk, usage(5, 5)).encode())


@contextmanager
def asking(open_page: Open, app: str) -> Iterator[tuple[Teller, NotebookPage]]:
    teller = Teller()
    with serve(teller.answer) as (url, _):
        notebook = open_page(f"%load_ext jupyter_ctx\n%chat use gpt-5.2 --base-url {url}", "%%chat\nhello", app=app)
        notebook.run(0)
        notebook.page.evaluate(WATCH, 1)
        notebook.begin(1)
        yield teller, notebook


@pytest.mark.parametrize("app", APPS)
def test_what_is_unfolded_selected_and_scrolled_stays_so_while_an_answer_grows(open_page: Open, app: str) -> None:
    with asking(open_page, app) as (teller, notebook):
        page, output = notebook.page, notebook.output(1)
        expect(output.locator(".jctx-waiting")).to_have_text(re.compile(r"Waiting for gpt-5.2… \d+ s"))
        seen = page.evaluate("() => window.jctxSeen")
        assert 900 < seen["Waiting for gpt-5.2… 1 s"] < 2_500, "the first sign of life"
        thought, code = output.locator("details.jctx-thinking"), output.locator("pre").last

        teller.think("Let me see. ")
        thought.locator("summary").click()
        teller.think("It is about caches. ")
        expect(thought).to_contain_text("It is about caches.")
        teller.say("Caches keep **responses** in $O(1)$.\n\n")
        expect(notebook.answer(1)).to_contain_text("Caches keep")
        expect(notebook.answer(1).locator("mjx-container")).to_have_count(1)
        page.evaluate("() => { window.formula = document.querySelector('.jctx-answer mjx-container') }")
        expect(thought.locator("summary")).to_contain_text("Thought for")
        expect(thought).to_have_attribute("open", "")
        expect(thought).to_contain_text("It is about caches.")

        teller.say(f"```python\n{LONG_LINE}\n```\n\nThe second para")
        expect(notebook.answer(1)).to_contain_text("second para")
        code.evaluate("element => { element.scrollLeft = 90; }")
        for selector, word in ((".jctx-answer p", "second"), (".jctx-answer p:first-of-type", "Caches")):
            assert page.evaluate(SELECT, [selector, word]) == word
            teller.say(f"graph grows, {word}ly")
            expect(notebook.answer(1)).to_contain_text(f"{word}ly")
            teller.say(f" on *and* on, {word}ish.\n\nAnother para")
            expect(notebook.answer(1)).to_contain_text(f"{word}ish")
            assert page.evaluate(SELECTED) == word
            assert code.evaluate("element => element.scrollLeft") == 90
        expect(thought).to_have_attribute("open", "")

        assert page.evaluate("() => window.formula.isConnected")
        teller.end()
        expect(output.locator(".jctx-footer")).to_be_visible()
        notebook.wait_idle()
        expect(thought).to_have_attribute("open", "")
        expect(thought).to_contain_text("It is about caches.")
        assert page.evaluate(SELECTED) == "Caches"
        assert code.evaluate("element => element.scrollLeft") == 90
        expect(output.locator(".jctx-waiting")).to_have_count(0)
        notebook.save()
        assert "Waiting for" not in notebook.path.read_text()
        (saved,) = nbformat.read(notebook.path, 4).cells[1].outputs
        assert set(saved["data"]) == {"text/html", "text/markdown", "text/plain"}
        assert notebook.errors == []
