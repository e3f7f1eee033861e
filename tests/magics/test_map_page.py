"""``%%chat map`` and ``%chat plot`` as a user sees them in JupyterLab: a bar while it runs, and a card at its end."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jupyter_page import SCREENSHOTS, NotebookPage, Open
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


def test_a_map_is_a_bar_that_an_interrupt_stops_and_in_its_place_a_card_that_is_saved(open_page: Open) -> None:
    with answering() as (url, goes_on):
        notebook = open_page(LOAD.format(url=url, rows=ROWS), MAP, AFTER, "%chat plot formal", "df = df[:4]")
        notebook.run(0)
        shown, behind = notebook.output(1), notebook.output(2)
        notebook.begin(1)
        expect(shown).to_contain_text(f"{AT_ONCE}/{ROWS}")
        expect(shown.locator(".progress-bar")).to_have_count(1)
        notebook.command("notebook:interrupt-kernel")
        expect(shown).to_contain_text("are kept; running it again asks only the other")
        expect(shown.locator(".jctx-card")).to_contain_text("not asked")
        notebook.begin(2)  # in the background, where no cell waits
        expect(behind).to_contain_text(f"{AT_ONCE}/{ROWS}")
        goes_on.set()
        expect(behind.locator(".jctx-card")).to_contain_text(f"{ROWS} rows")
        notebook.run(1)
    card = shown.locator(".jctx-card")
    expect(card.locator("p").first).to_contain_text('pass "has" (')
    expect(card.locator(".jctx-interval")).to_have_count(1)
    for output in (shown, behind):
        expect(output.locator(".progress-bar")).to_have_count(0)
    expect(card.locator(".jctx-answers")).to_contain_text("Is 29 prime?")
    look(notebook, card)
    notebook.run(3)
    expect(notebook.output(3).locator(".jctx-card")).to_have_count(1)
    assert notebook.page.title() != "1"
    check_saved(notebook)
    assert notebook.errors == []


def look(notebook: NotebookPage, card: Locator) -> None:
    """Readable in both themes and in a narrow pane, and axe finds nothing."""
    for width, theme in ((480, "Light"), (1200, "Dark"), (1200, "Light")):
        notebook.page.set_viewport_size({"width": width, "height": 900})
        notebook.use_theme(f"JupyterLab {theme}")
        card.scroll_into_view_if_needed()
        card.screenshot(path=SCREENSHOTS / f"map {theme.lower()} {width}.png")
        if width == 480:
            assert notebook.page.evaluate(OVERFLOWS) == []
        else:
            assert complaints(notebook, ("color-contrast",)) == ""


def check_saved(notebook: NotebookPage) -> None:
    """What a saved notebook has, without a kernel and without widgets."""
    notebook.save()
    notebook.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    cells = json.loads(notebook.path.read_text("utf-8"))["cells"]
    (card,) = (
        each for each in cells[1]["outputs"] if "jctx-card" in "".join(each.get("data", {}).get("text/html", ""))
    )
    plain = "".join(card["data"]["text/plain"])
    assert 'pass "has" (' in plain.splitlines()[0]
    assert f"formal: {ROWS} rows, 1 failed, " in plain
    assert "widget-view" not in json.dumps(cells)
