"""Everything that we show, on one page: readable in every theme and width, with nothing for axe to find."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from typing import Any

import pytest
from filled_pages import BAR, COLUMNS, LOAD, SKY, button, ended
from jupyter_page import APPS, NotebookPage, Open
from page_checks import FOREIGN, LOOKED_AT, OVERFLOWS, RICH, THEMES, complaints
from playwright.sync_api import Locator, expect
from server import events, piece, send, serve
from tool_calls import Called, completions

pytest_plugins = ("browsing",)

LONG_NAME = "openai/" + "-".join(f"a-very-long-name-of-a-model-{n}" for n in range(12))
TYPES = """
import pydantic
class Film(pydantic.BaseModel):
    title: str
    plot: str
    money: dict[str, int]
    cast: list[dict[str, str]]
"""
FILM = {
    "title": "<b onmouseover=hacked=1>Up</b> *and* $x$ \\(y\\) away",
    "plot": "Seventy-eight year old Carl travels to Paradise Falls in his house equipped with balloons. " * 5,
    "money": {"budget": 175_000_000, "gross": 735_100_000},
    "cast": [{"name": "كريستوفر بلامر"}, *({"name": f"Dog {number}"} for number in range(50))],
}
PARTS = """
import matplotlib.pyplot as plt, pandas as pd
fig, ax = plt.subplots()
ax.plot([1, 3, 2])
plt.close(fig)
df = pd.DataFrame({"day": range(12_000), "<b>sold</b>": ["<script>window.hacked=1</script>"] * 12_000})
def rows(country: str) -> list:
    'Return the rows of a country.'
    return [{"city": f"{country} {n}", "people": 1000 * n} for n in range(12)]
from jupyter_ctx import contains
words, has = ["sun", "<img src=x onerror=window.hacked=1>"], contains(text="radius")
"""
LIKELY = [{"token": "Oslo", "logprob": -0.5}, {"token": "<b>", "logprob": -1.5}]
SURE = piece("Oslo")
SURE["choices"][0]["logprobs"] = {"content": [{**LIKELY[0], "top_logprobs": LIKELY}]}
CALLS = "parts => parts.map(part => part.classList.contains('jctx-call'))"
BACKSLASH = "\\"
CODE = "First:\n\n```bash\npip install x\n```\n\nthen\n\n```python\nimport x\nx.run()\n```"


def boxes(place: Locator) -> list[dict[str, Any]]:
    """Where the columns are on the page."""
    found = [column.bounding_box() for column in place.locator(".jctx-column").all()]
    assert all(found)
    return found  # type: ignore[return-value]


def resize(notebook: NotebookPage, width: int, height: int = 900) -> None:
    notebook.page.set_viewport_size({"width": width, "height": height})
    notebook.page.wait_for_timeout(300)


def told(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
    """Answer with an object, code, what reads from the right, or all that Markdown has, as it is asked for."""
    if not handler.path.endswith("/chat/completions"):
        return send(handler, 404, "{}")
    if request.get("logprobs"):
        return send(handler, 200, events(SURE, end="") + ended(request, "Oslo"), "text/event-stream")
    last = request["messages"][-1]
    prompt = json.dumps(last["content"])
    if "rows" in prompt and last["role"] == "user":
        called = completions([Called("c0", "rows", '{"country": "NO"}'), Called("c1", "rows", "{}")], "I look them up.")
        return send(handler, 200, called, "text/event-stream")
    answers = {"film": json.dumps(FILM), "code": CODE, "foreign": FOREIGN}
    text = next((answer for word, answer in answers.items() if word in prompt), RICH)
    return send(handler, 200, events(piece(text), end="") + ended(request, text), "text/event-stream")


def check_structured(answer: Locator, listed: Locator) -> None:
    expect(answer.locator("pre")).to_contain_text(f'"title": "{FILM["title"].replace(BACKSLASH, 2 * BACKSLASH)}"')
    expect(answer.locator("pre")).to_contain_text('"budget": 175000000')
    assert answer.locator("mjx-container, b, em").count() == 0
    expect(listed.locator(".jctx-table").locator("visible=true")).to_have_count(1)
    expect(listed).to_contain_text("%chat code 2")


def check_columns(notebook: NotebookPage, output: Locator) -> None:
    """Side by side where there is room, else below each other; nothing leaves its box."""
    for width, along, size, across in ((1400, "x", "width", "y"), (500, "y", "height", "x")):
        resize(notebook, width)
        for one, other in pairwise(boxes(output)):
            assert one[along] + one[size] <= other[along]
            assert abs(one[across] - other[across]) < 2
        assert notebook.page.evaluate(OVERFLOWS) == []
    scrolling = output.locator(".jctx-column pre").first
    assert scrolling.evaluate("part => part.scrollWidth > part.clientWidth")


@pytest.mark.parametrize("app", APPS)
def test_everything_is_readable_in_every_theme_and_width_and_axe_finds_nothing(open_page: Open, app: str) -> None:
    with serve(told) as (url, _):
        notebook = open_page(
            LOAD,
            f"%chat use {LONG_NAME} --base-url {url} --window 2000\n%chat config summary_model local/smollm2",
            TYPES,
            "%%chat --no-history --schema Film -o film\nA film?",
            "%%chat\nSome code?",
            "%chat code",
            "%%chat --no-history\nSome foreign text",
            f"{COLUMNS}\nview = stream([RICH, FOREIGN, '{SKY}'], ['Along: df.'], 0.001)\nview.close(chosen := 0){BAR}",
            "fill(9)",
            "%%chat\nShow me all.",
            "%chat plot",
            "%chat history",
            "%chat preview",
            "%chat status",
            PARTS,
            "%%chat --no-history -a fig -a df --tool rows\nHow many rows?",
            "%%chat tokens -m gpt-4o -m claude-sonnet-4-5\nStraße\n",
            "%%chat next\nWhat is the capital of Norway?",
            "%%chat --no-history --certainty\nWhat is the capital of Norway?",
            "%chat",
            "%%chat map words --as formal --score has\nIn a word: {{ text }}",
            app=app,
        )
        notebook.run(*range(21))
        odds = notebook.output(17)
        odds.get_by_role("button", name="Oslo").press("Enter")
        expect(odds.locator(".jctx-live b").first).to_have_text("Oslo")
    structured, listed, foreign, columns, panel = map(notebook.output, (3, 5, 6, 7, 19))
    status = notebook.output(13)
    expect(notebook.answer(9).locator("mjx-container")).to_have_count(2)
    expect(foreign.locator(".jctx-answer p").first).to_have_css("direction", "rtl")
    expect(notebook.output(10)).to_contain_text("Tokens of each turn")
    check_structured(structured.locator(".jctx-answer"), listed)
    for summary in notebook.output(15).locator(".jctx-sent summary, .jctx-call summary").all():
        summary.click()
    picture = notebook.output(15).locator(".jctx-sent img").first
    assert picture.evaluate("async img => { await img.decode(); return img.naturalWidth > 0; }")
    assert notebook.page.evaluate("typeof window.hacked") == "undefined"
    order = notebook.output(15).locator(".jctx-answer, .jctx-call").evaluate_all(CALLS)
    assert order == [False, True, True, False], "what was written, the calls, and the answer"
    expect(notebook.output(16).get_by_role("img")).to_have_count(1)
    expect(notebook.output(18).locator(".jctx-unsure")).to_have_text("Oslo")
    card = notebook.output(20).locator(".jctx-card")
    expect(card.locator("p").first).to_contain_text('pass "has" (')
    expect(notebook.output(20).locator(".progress-bar")).to_have_count(0)
    button(panel, "Trim").click()
    expect(panel.locator(".jctx-said")).to_contain_text("→")
    check_columns(notebook, columns)
    resize(notebook, 1200, 12000)  # what is out of view has no colours to axe
    notebook.cell(0).scroll_into_view_if_needed()
    notebook.page.mouse.move(0, 0)
    found = {}
    themes = THEMES if app == "notebook" else {name: THEMES[name] for name in ("dark", "light")}
    for name, theme in themes.items():
        notebook.use_theme(theme)
        found[name] = complaints(notebook, (*LOOKED_AT, "label"))
    assert found == dict.fromkeys(themes, "")
    notebook.page.emulate_media(forced_colors="active")
    for output in (panel, status):
        painted = output.locator("[title*=tokens]").evaluate_all(
            "all => all.map(e => getComputedStyle(e).backgroundColor)"
        )
        assert len(set(painted)) > 2, "the parts of a bar have their colours in high contrast, too"
    notebook.page.emulate_media(forced_colors="none")
    assert notebook.errors == []
    assert notebook.foreign_requests == []
