"""Answers side by side, as they are seen, heard and operated in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jupyter_page import SCREENSHOTS, NotebookPage, Open
from page_checks import FOREIGN, OVERFLOWS, RICH, THEMES, complaints
from playwright.sync_api import Locator, expect

pytest_plugins = ("browsing",)

SETUP = f"""
import threading, time
from jupyter_ctx.context.usage import Usage
from jupyter_ctx.display.answer.column_page import compared_forms
from jupyter_ctx.display.answer.columns import NotebookColumns
from jupyter_ctx.display.answer.footer import Footer
from jupyter_ctx.display.widgets.choice_bar import ChoiceBar
from jupyter_ctx.errors import ChatError
HEADS = ["openai/gpt-5.2 · t=0", "anthropic/claude-sonnet-4.5 · t=1", "local/smollm2", "a", "b", "c"]
RICH, FOREIGN = {RICH!r}, {FOREIGN!r}
def footer(number):
    return Footer(HEADS[number], Usage(1200, 340 + number), 2.5 + number, 0.0042 * (number + 1), "stop")
def stream(texts, above=(), pause=0.01, fails=()):
    view = NotebookColumns(HEADS[:len(texts)], above)
    view.begin()
    def answer(number):
        for at in range(0, len(texts[number]), 12):
            view.feed(number, texts[number][at:at + 12])
            time.sleep(pause)
        if number in fails:
            view.failed(number, "anthropic refused the key (401): set ANTHROPIC_API_KEY.")
        else:
            view.done(number, texts[number], "Let me think.", footer(number), ["The answer was cut at max_tokens."])
    workers = [threading.Thread(target=answer, args=(number,)) for number in range(len(texts))]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
    return view
"""
SKY = "The sky is **blue** because air scatters short waves more.\\n\\n- one\\n- two"
BAR = """
picked = []
def pick(number):
    if number == 2: raise ChatError("Answer 3 has no text.")
    picked.append(number); view.choose(number)
bar = ChoiceBar(HEADS[:3], pick, view.mark, chosen=chosen)
bar.show()
"""


def boxes(place: Locator) -> list[dict[str, Any]]:
    """Where the columns are on the page."""
    found = [column.bounding_box() for column in place.locator(".jctx-column").all()]
    assert all(found)
    return found  # type: ignore[return-value]


def is_beside(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(one["x"] + one["width"] <= other["x"] and abs(one["y"] - other["y"]) < 2)


def is_below(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(one["y"] + one["height"] <= other["y"] and abs(one["x"] - other["x"]) < 2)


def resize(notebook: NotebookPage, width: int, height: int = 900) -> None:
    notebook.page.set_viewport_size({"width": width, "height": height})
    notebook.page.wait_for_timeout(300)


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_columns_stand_side_by_side_and_below_each_other_where_the_page_is_narrow(open_page: Open, app: str) -> None:
    notebook = open_page(SETUP, f"stream([RICH, FOREIGN, '{SKY}'], pause=0.003).close(1)", app=app, alone=True)
    if app == "lab":
        notebook.command("application:toggle-left-area")
    resize(notebook, 1400)
    notebook.run(0, 1)
    output = notebook.output(1)
    expect(output.locator(".jctx-column")).to_have_count(3)
    expect(output.locator("mjx-container")).to_have_count(2)
    first, second, third = boxes(output)
    assert is_beside(first, second)
    assert is_beside(second, third)
    assert notebook.page.evaluate(OVERFLOWS) == []
    scrolling = output.locator(".jctx-column pre").first
    assert scrolling.evaluate("part => part.scrollWidth > part.clientWidth")
    output.screenshot(path=SCREENSHOTS / f"columns-{app}-wide.png")
    resize(notebook, 500)
    first, second, third = boxes(output)
    assert is_below(first, second)
    assert is_below(second, third)
    assert notebook.page.evaluate(OVERFLOWS) == []
    output.screenshot(path=SCREENSHOTS / f"columns-{app}-narrow.png")
    assert notebook.errors == []
    assert notebook.foreign_requests == []


def test_answers_grow_side_by_side_and_one_that_fails_harms_no_other(open_page: Open) -> None:
    texts = f"['{SKY} ' * 12, '{SKY}', '{SKY} ' * 12]"
    notebook = open_page(SETUP, f"view = stream({texts}, ['Sent along: x.'], 0.02, fails=[1])\nview.close(None)")
    notebook.run(0)
    notebook.page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1 }")
    notebook.command("notebook:run-cell")
    columns = notebook.output(1).locator(".jctx-column")
    expect(columns).to_have_count(3)
    expect(columns.nth(0)).to_contain_text("blue")
    expect(columns.nth(1)).to_contain_text("refused the key")
    assert not columns.nth(0).inner_text().count("max_tokens"), "the others are still growing"
    notebook.wait_idle()
    expect(columns.nth(0)).to_contain_text("1,200 in · 340 out · 2.5 s · $0.0042")
    expect(columns.nth(1)).to_contain_text("blue")
    expect(columns.nth(2)).to_contain_text("max_tokens")
    assert notebook.errors == []


def test_every_theme_is_readable_and_axe_finds_nothing_in_columns(open_page: Open) -> None:
    notebook = open_page(
        SETUP,
        f"view = stream([RICH, RICH.replace('Glomma', 'Tana'), '{SKY}'], ['Sent along: df.'], 0.001)\n"
        "view.close(chosen := 0)" + BAR,
        alone=True,
    )
    resize(notebook, 1400, 2000)
    notebook.run(0, 1)
    output = notebook.output(1)
    output.get_by_role("button", name="Mark differences").click()
    expect(output.locator("mark").first).to_be_visible()
    found = {}
    for name, theme in THEMES.items():
        notebook.use_theme(theme)
        notebook.page.mouse.move(0, 0)
        output.screenshot(path=SCREENSHOTS / f"columns-{name}.png")
        found[name] = complaints(notebook, ["color-contrast", "button-name"])
    assert found == dict.fromkeys(THEMES, "")
    notebook.page.emulate_media(forced_colors="active")
    output.screenshot(path=SCREENSHOTS / "columns-forced.png")
    assert notebook.errors == []
    assert notebook.foreign_requests == []


def test_buttons_take_an_answer_mark_the_differences_and_say_what_failed(open_page: Open) -> None:
    notebook = open_page(
        SETUP,
        f"view = stream(['{SKY}', '{SKY}'.replace('blue', 'red'), ''], pause=0.001)\nview.close(chosen := None)" + BAR,
        "picked",
    )
    notebook.run(0, 1)
    output, bar = notebook.output(1), notebook.output(1).locator(".jctx-choices")
    expect(bar).to_contain_text("No answer is used")
    expect(output.get_by_role("group", name="Answer 2 of 3: anthropic/claude-sonnet-4.5 · t=1")).to_have_count(1)
    bar.get_by_role("button", name="Use 2").click()
    expect(bar).to_contain_text("Answer 2 is used: %chat undo takes it back.")
    used = bar.get_by_role("button", name="✓ 2 is used")
    expect(used).to_be_focused()
    expect(output.locator(".jctx-used")).to_have_count(1)
    expect(output.locator(".jctx-column").nth(1)).to_contain_text("✓ used in the conversation")
    bar.get_by_role("button", name="Use 3").press("Enter")
    expect(bar.get_by_role("alert")).to_have_text("Answer 3 has no text.")
    expect(bar.locator(".jctx-choice")).to_have_text("Answer 3 has no text.")
    marker = bar.get_by_role("button", name="Mark differences")
    marker.click()
    expect(output.locator("mark")).to_have_text(["blue", "red"])
    expect(bar.get_by_role("button", name="✓ Differences marked")).to_be_focused()
    bar.screenshot(path=SCREENSHOTS / "choice-bar.png")
    bar.get_by_role("button", name="✓ Differences marked").press("Space")
    expect(output.locator("mark")).to_have_count(0)
    notebook.run(2)
    expect(notebook.output(2).locator("pre").last).to_have_text("[1]")
    assert notebook.errors == []


def test_a_saved_notebook_that_nobody_trusts_is_still_readable(open_page: Open, tmp_path: Path) -> None:
    notebook = open_page(
        SETUP, f"view = stream([RICH, '{SKY}', FOREIGN], pause=0.001)\nview.close(chosen := 1)\nview.mark(True)" + BAR
    )
    notebook.run(0, 1)
    expect(notebook.output(1).locator(".jctx-used")).to_have_count(1)
    notebook.save()
    notebook.page.wait_for_timeout(500)
    saved = notebook.path.read_text().replace(notebook.path.stem, "untrusted")
    copy = notebook.path.with_name("untrusted-columns.ipynb")
    copy.write_text(saved.replace('"execution_count": 2', '"execution_count": 7'))
    again = open_page(saved=copy, kernel=False, alone=True)
    output = again.output(1)
    expect(output).to_contain_text("2 · anthropic/claude-sonnet-4.5 · t=1 ✓ used in the conversation")
    expect(output).to_contain_text("1,200 in · 341 out")
    expect(output).to_contain_text("Answer 2 is used")
    expect(output.locator("mark").first).to_have_css("text-decoration-line", "underline")
    again.page.wait_for_timeout(300)
    output.screenshot(path=SCREENSHOTS / "columns-untrusted.png")
    assert again.page.evaluate(OVERFLOWS) == []
    assert again.errors == []
