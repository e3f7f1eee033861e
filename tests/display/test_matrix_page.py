"""A report of hostile answers in a real browser: readable and harmless."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from hostile import ANSWERS, NAMES
from jupyter_page import SCREENSHOTS, new_page
from playwright.sync_api import Page, expect

from jupyter_ctx import Reply
from jupyter_ctx.experiments.results.export import RunRecord, export_run
from jupyter_ctx.experiments.table.results import Result

pytest_plugins = ("browsing",)

ROWS = 60
SCROLLED = "async box => { while (box.scrollTop < 300) await new Promise(requestAnimationFrame); }"
MORE = ["</script><script>window.hacked=1</script>", "--><!--", "a\u2028b\u2029c", "</td></table></form><h1>x</h1>"]


def record() -> RunRecord:
    """A run with hostile answers, names, columns and settings; the arms differ in every tenth row."""
    said = [*ANSWERS.values(), *NAMES.values(), *MORE]
    said = [text.encode("utf-8", "replace").decode()[:3_000] for text in said]
    rows = [{MORE[0]: said[number % len(said)]} for number in range(ROWS)]
    results = []
    for number, row in enumerate(rows):
        text = said[number % len(said)]
        for arm in (MORE[0], "plain"):
            scores = {MORE[3]: arm == "plain" or number % 10 > 0}
            results.append(Result(number, arm, 0, row, {}, text, Reply(text, stop_reason="stop"), scores=scores))
    return RunRecord(MORE[0], rows, results, {"model": MORE[0]}, grid={"x": [MORE[0], "plain"]}, name=MORE[0])


@pytest.fixture
def page(browsing: Any) -> Iterator[Page]:
    with browsing.awake() as browser:
        page = new_page(browser)
        yield page
        page.close()


def test_hostile_answers_are_scrolled_and_read(page: Page, tmp_path: Path) -> None:
    path = export_run(record(), tmp_path / "report.html")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    box = page.get_by_role("region", name="Answers")
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(box.locator("tbody tr")).to_have_count(ROWS)
    box.focus()
    page.keyboard.press("PageDown")
    box.evaluate(SCROLLED)
    for scheme, width in (("light", 1200), ("dark", 480)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": 3000})
        page.screenshot(path=SCREENSHOTS / f"report-{scheme}.png")  # drawn, so that axe sees its colours
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert "color-contrast" in {rule["id"] for rule in found.response["passes"]}
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("script, img, iframe, svg, h1:not(main > h1)").count() == 0
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert requests == [path.as_uri()]
