"""Everything hostile that a model may say, shown at once in a real browser: none of it acts."""

from __future__ import annotations

import re

import pytest
from hostile import ANSWERS
from jupyter_page import NotebookPage, Open
from playwright.sync_api import expect

pytest_plugins = ("browsing",)

LONGEST = 5_000  # characters of an answer that is shown here; how long ones are borne is measured elsewhere
SHORT = {name: text for name, text in ANSWERS.items() if len(text) <= LONGEST}
OURS = ".jctx-answer, .jctx-status, .jctx-table, .jctx, .jctx-twin, .jp-RenderedMarkdown"
ACTIVE = "script, img, iframe, object, embed, form, input, button, video, audio, svg, meta, base, link, template"
# every element in what others have said, with what it could do
WHAT_ACTS = """([ours, active]) => {
    const found = [];
    for (const box of document.querySelectorAll(ours)) for (const part of [box, ...box.querySelectorAll('*')]) {
        if (part.matches(active) && !part.closest('mjx-container')) found.push(part.outerHTML.slice(0, 200));
        for (const {name, value} of part.attributes) {
            const leads = name === 'href' || name === 'xlink:href';
            const loads = /^(src|srcset|srcdoc|data|action|formaction|poster|background|ping)$/.test(name);
            const sheet = name === 'style' && /url\\s*\\(|position:\\s*fixed|expression/i.test(value);
            if (/^on/.test(name) || /^data-(commandlinker|lm-)/.test(name) || loads || sheet
                || leads && !/^(https?:|mailto:|#)/i.test(value)) found.push(`${name}=${value.slice(0, 200)}`);
        }
    }
    return found;
}"""
FORGED = """() => [...document.querySelectorAll('.jctx-answer, .jctx-table, .jp-RenderedMarkdown')]
    .flatMap(box => [...box.querySelectorAll(
        '[class*=jctx]:not(td.jctx-text, mark.jctx-differs), [id^=jctx]')])
    .map(part => part.outerHTML.slice(0, 200))"""
SHOW = """
import sys
sys.path.insert(0, {tests!r})
from hostile import ANSWERS
from IPython.display import display
from jupyter_ctx.display.answer.markdown import bundle
short = [text for text in ANSWERS.values() if len(text) <= {longest}]
parts = [short[:30], short[30:60], short[60:]]
"""


def watched(notebook: NotebookPage) -> list[str]:
    """What a page does that no answer may make it do: it fills while the test goes on."""
    seen: list[str] = []
    notebook.on("dialog", lambda dialog: (seen.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    notebook.on("framenavigated", lambda frame: seen.append(f"navigation: {frame.url}"))
    notebook.on("popup", lambda popup: seen.append(f"popup: {popup.url}"))
    return seen


def expect_harmless(notebook: NotebookPage, seen: list[str]) -> None:
    page = notebook.page
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.evaluate(WHAT_ACTS, [OURS, ACTIVE]) == []
    assert page.evaluate(FORGED) == []
    assert notebook.foreign_requests == []
    assert seen == []
    assert page.locator(".jp-Notebook").is_visible()


@pytest.fixture
def load(request: pytest.FixtureRequest) -> str:
    """A cell that has the hostile answers in the notebook's kernel."""
    return SHOW.format(tests=str(request.path.parent.parent / "support"), longest=LONGEST)


ANSWERS_CELL = (
    "for text in parts[{part}]: display({{{form!r}: bundle(text)[{form!r}]}}, raw=True)\nprint('all', 'shown')"
)
COLUMNS_CELL = """
from jupyter_ctx.display.answer.columns import Column, Frame, columns_bundle
for at in range(0, len(short), 18):
    columns = [Column(text[:80], text, text, notices=[text[:80]], error=text) for text in short[at + 2:at + 18:3]]
    forms = columns_bundle(columns, Frame([short[at]], [short[at]], 1), compared=True)
    display({"text/html": forms["text/html"]}, raw=True)
print('all', 'shown')"""
HTML, MARKDOWN = "text/html", "text/markdown"


def test_no_answer_acts_loads_or_forges_anything(open_page: Open, load: str) -> None:
    """Answers, and answers beside others, each in a cell of its own."""
    cells = [ANSWERS_CELL.format(form=form, part=part) for form in (HTML, MARKDOWN) for part in range(3)]
    notebook = open_page(load, *cells, COLUMNS_CELL)
    seen = watched(notebook)
    notebook.run(*range(8))
    *alone, columns = map(notebook.output, range(1, 8))
    for output in (*alone, columns):
        expect(output).to_contain_text("all shown")
    typeset = notebook.page.locator(".jp-Cell-outputArea mjx-container")
    expect(typeset.first).to_be_attached()
    expect(columns.locator("mjx-container").first).to_be_attached()
    expect_harmless(notebook, seen)
    for output in alone:
        expect(output.locator(".jctx-note, .jctx-badge")).to_have_count(0)
    for of_form in (alone[:3], alone[3:]):
        assert any(output.locator("a[href]").count() for output in of_form)
    shown = columns.locator(".jctx-column")
    assert shown.count() == len(range(2, len(SHORT), 3)), "the others are looked at without a browser"
    assert shown.evaluate_all("shown => shown.every(column => column.parentElement.matches('.jctx-columns'))")
    links = notebook.page.locator(".jp-Cell-outputArea a[href]").evaluate_all("links => links.map(link => link.href)")
    assert [link for link in links if not re.match("https?:|mailto:", link)] == []
