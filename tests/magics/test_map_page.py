"""``%%chat map`` and ``%chat plot`` as a user sees them in JupyterLab: one card, while it runs and when it is saved."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jupyter_page import SCREENSHOTS, NotebookPage, Open
from nbconvert import HTMLExporter
from page_checks import OVERFLOWS, complaints
from playwright.sync_api import Locator, expect
from server import events, piece, send, serve, usage

pytest_plugins = ("browsing",)

ROWS, AT_ONCE = 30, 20
LOAD = """%load_ext jupyter_ctx
%chat use m --base-url {url} --window 4000 --max-tokens 60
%chat config prices 2.5,10,0.25
from jupyter_ctx import contains, get_chat
has = contains('word')
words = ['yes', 'no', '<img src=x onerror=document.title=1>']
think = 'Think of all that divides it. ' * 9
df = [{{'q': f'Is {{n}} prime? {{think}}', 'word': words[n % 3]}} for n in range({rows})]"""
MAP = "%%chat map df --as formal -o out --score has --max-cost 0.05\nIn a word: {{ q }}"
AFTER = f"run = get_chat().map('In short: {{{{ q }}}}', df, name='behind', limit={ROWS})"


@contextmanager
def answering() -> Iterator[tuple[str, threading.Event]]:
    """A server that says yes, refuses one row, and holds every row from the twentieth on until it is let go."""
    goes_on = threading.Event()

    def answer(handler: Any, asked: dict[str, Any]) -> None:
        number = int(asked["messages"][-1]["content"].split("Is ")[1].split()[0])
        if number >= AT_ONCE:
            goes_on.wait(20)
        if number == 7:
            send(handler, 400, json.dumps({"error": {"message": "the <b>seventh</b> is not for us"}}))
            return
        said = "yes, as <img src=x onerror=document.title=1> says, for $5 to $10" if number % 2 else "no"
        send(handler, 200, events(piece(said), piece("", "stop"), usage(40, 9)), "text/event-stream")

    with serve(answer) as (url, _):
        yield url, goes_on
        goes_on.set()


def test_a_map_is_one_card_that_stops_unfolds_and_is_saved_whole(open_page: Open) -> None:
    with answering() as (url, goes_on):
        notebook = open_page(LOAD.format(url=url, rows=ROWS), MAP, AFTER, "%chat plot formal", "df = df[:4]")
        notebook.run(0)
        card = notebook.output(1).locator(".jctx-run")
        notebook.begin(1)
        expect(card).to_contain_text(f"{AT_ONCE} of {ROWS} answers")
        expect(card.get_by_role("progressbar")).to_have_attribute("aria-valuenow", str(AT_ONCE))
        expect(card.locator(".jctx-answers tbody tr")).to_have_count(8)
        expect(card.locator(".jctx-answers tbody tr").first).to_contain_text("the <b>seventh</b> is not for us")
        expect(notebook.output(1).locator(".jctx-twin")).to_be_hidden()
        look(notebook, card, "running")
        stop = card.get_by_role("button", name="Stop")
        stop.focus()
        notebook.page.keyboard.press("Enter")
        expect(notebook.output(1)).to_contain_text("are kept; running it again asks only the other")
        expect(notebook.prompt(1)).not_to_have_text("[*]:")
        notebook.begin(2)  # in the background, where no cell waits that could be interrupted
        behind = notebook.output(2).locator(".jctx-run")
        expect(behind).to_contain_text(f"{AT_ONCE} of {ROWS} answers")
        behind.get_by_role("button", name="Stop").click()
        expect(behind).to_contain_text("not asked")
        goes_on.set()
        notebook.run(1)
    check_end(notebook, card)
    notebook.run(3)
    expect(notebook.output(3).locator("img")).to_have_count(1)
    assert notebook.page.title() != "1"
    check_saved(notebook)
    assert notebook.errors == []


def check_end(notebook: NotebookPage, card: Locator) -> None:
    """The sentence on top, the answers folded below it, in pages and sorted, and a row unfolded by the keyboard."""
    quote = card.locator(".jctx-quote p").first
    expect(quote).to_contain_text('pass "has" (')
    expect(card.get_by_role("button", name="Stop")).to_have_count(0)
    expect(card.get_by_role("status")).to_have_count(1)
    fold = card.locator(".jctx-fold > summary")
    expect(fold).to_have_text(f"{ROWS} answers, 1 failed")
    expect(card.get_by_label("Sort by")).to_be_hidden()
    fold.focus()
    notebook.page.keyboard.press("Enter")
    rows = card.locator(".jctx-answers > tbody > tr")
    expect(rows).to_have_count(10)
    card.get_by_role("button", name="Next").click()
    expect(card).to_contain_text("rows 11 to 20 of 30")
    card.get_by_label("Sort by").select_option("row, descending")
    expect(rows.first).to_contain_text("29")
    answer = rows.first.locator("summary")
    answer.focus()
    notebook.page.keyboard.press("Enter")
    expect(rows.first).to_contain_text("In a word: Is 29 prime?")
    look(notebook, card, "ended")


def look(notebook: NotebookPage, card: Locator, state: str) -> None:
    """Readable in both themes and in a narrow pane, and axe finds nothing."""
    for width, theme in ((480, "Light"), (1200, "Dark"), (1200, "Light")):
        notebook.page.set_viewport_size({"width": width, "height": 900})
        notebook.use_theme(f"JupyterLab {theme}")
        card.scroll_into_view_if_needed()
        card.screenshot(path=SCREENSHOTS / f"map {state} {theme.lower()} {width}.png")
        if width == 480:
            assert notebook.page.evaluate(OVERFLOWS) == []
        else:
            assert complaints(notebook, ("color-contrast", "aria-progressbar-name")) == ""


def check_saved(notebook: NotebookPage) -> None:
    """What a saved notebook and its export have, without a kernel and without scripts."""
    notebook.save()
    notebook.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    outputs = json.loads(notebook.path.read_text("utf-8"))["cells"][1]["outputs"]
    (twin,) = (each for each in outputs if "jctx-twin" in "".join(each.get("data", {}).get("text/html", "")))
    plain = "".join(twin["data"]["text/plain"])
    assert 'pass "has" (' in plain.splitlines()[0]
    assert f"formal: {ROWS} rows, 1 failed, " in plain
    page = HTMLExporter().from_filename(str(notebook.path))[0]
    assert page.count('class="jctx-fold"') == 2
    assert "<b>seventh" not in page
