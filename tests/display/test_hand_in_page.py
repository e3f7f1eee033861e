"""A conversation that is handed in, in a real browser: readable in light and dark, and harmless whatever it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from hostile import ANSWERS, NAMES
from jupyter_page import SCREENSHOTS, new_page
from page_checks import FOREIGN, RICH
from playwright.sync_api import Page, expect

from jupyter_ctx import Chat
from jupyter_ctx.conversation.events import Offered, Said, SystemSet, Undone
from jupyter_ctx.conversation.messages import Alternative, Alternatives, Attachment, Turn, TurnRecord
from jupyter_ctx.export.hand_in import load_hand_in
from jupyter_ctx.magics.hand_in import hand_in

if TYPE_CHECKING:
    from browsing import Browsing

pytest_plugins = ("browsing",)

MORE = [
    "</script><script>window.hacked=1</script>",
    "<!--<script>",
    "]]>",
    "a\u2028b\u2029c",
    "</pre></section></details>",
]
SAID = [text.encode("utf-8", "replace").decode()[:2_000] for text in (*ANSWERS.values(), *NAMES.values(), *MORE)]


@pytest.fixture
def page(browsing: Browsing) -> Iterator[Page]:
    with browsing.awake() as browser:
        page = new_page(browser)
        yield page
        page.close()


def turn_of(prompt: str, reply: str, name: str = "plain", **record: object) -> Turn:
    kept = TurnRecord("openai/gpt-5.2", window=400_000, cost=0.01, seconds=4.2, at=1.7e9, digest="d", typed=len(prompt))
    file = Attachment(name, "image/png", b"PNG")
    whole = f"{prompt}\n\n{name}"
    return Turn(whole, reply, (file,), name, replace(kept, sources=(name,), **record))  # type: ignore[arg-type]


def opened(page: Page, path: Path) -> list[str]:
    """Open a page with everything unfolded; return the addresses that it asked for."""
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
    return requests


def test_hostile_texts_do_nothing_in_a_page_that_is_handed_in(page: Page, tmp_path: Path) -> None:
    chat = Chat("openai/gpt-4o")
    chat.desk.session.record(SystemSet(MORE[0]))
    for number, text in enumerate(SAID):
        turn = turn_of(text, text, text[:200], cell=text[:9], run="r", model=text[:99])
        chat.desk.session.record(Said(turn), *([Undone()] if number % 3 == 0 else []))
        answers = (Alternative(text, text, text, error=text),)
        chat.desk.session.record(*([Offered(Alternatives(turn, answers))] if number % 3 == 1 else []))
    path = tmp_path / "work.html"
    hand_in(chat, str(path))
    assert load_hand_in(path)[1] == ""
    requests = opened(page, path)
    assert (
        page.locator("script:not([type='application/json']), img, iframe, svg, object, form, base, link").count() == 0
    )
    assert page.locator("script, main > h1").count() == 2
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert requests == [path.as_uri()]


def test_a_page_that_is_handed_in_is_readable_in_light_and_dark(page: Page, tmp_path: Path) -> None:
    chat = Chat("openai/gpt-4o", system="Be a patient teacher.")
    for prompt, reply in (("Show me all.", f"## It is so\n\n{RICH}"), ("In other words?", FOREIGN), ("And?", "Yes.")):
        for run in ("first", "second"):
            chat.desk.session.record(Said(turn_of(prompt, reply, "plot.png", cell=prompt, run=run)))
    chat.undo()
    path = tmp_path / "work.html"
    hand_in(chat, str(path))
    opened(page, path)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    for scheme, width in (("light", 1200), ("dark", 1200), ("light", 400), ("dark", 400)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": 3000})
        page.screenshot(path=SCREENSHOTS / f"hand-in-{scheme}-{width}.png")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert "color-contrast" in {rule["id"] for rule in found.response["passes"]}
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_notebook_that_is_handed_in_fits_once_a_browser_has_written_it(page: Page, tmp_path: Path) -> None:
    chat = Chat("openai/gpt-4o")
    for cost in (0.0, 1e-7, 0.1 + 0.2, 12.0):
        chat.desk.session.record(Said(turn_of("What?", "a\u2028b \x7f 😀", cost=cost, seconds=4.0)))
    path = tmp_path / "work.ipynb"
    hand_in(chat, str(path))
    path.write_text(page.evaluate("text => JSON.stringify(JSON.parse(text))", path.read_text("utf-8")), "utf-8")
    assert load_hand_in(path)[1] == ""
