"""Answers side by side, as they are seen, heard and operated in a real browser."""

from __future__ import annotations

from column_pages import BAR, SETUP, SKY
from jupyter_page import SCREENSHOTS, Open
from playwright.sync_api import expect

pytest_plugins = ("browsing",)


def test_buttons_take_an_answer_and_say_what_failed(open_page: Open) -> None:
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
    bar.screenshot(path=SCREENSHOTS / "choice-bar.png")
    notebook.run(2)
    expect(notebook.output(2).locator("pre").last).to_have_text("[1]")
    assert notebook.errors == []
