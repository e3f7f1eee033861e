"""Tab in a real JupyterLab: models in the line, and names inside ``{{ }}`` in the prompt below it."""

from __future__ import annotations

from jupyter_page import SCREENSHOTS, Open
from playwright.sync_api import expect

pytest_plugins = ("browsing",)

DATA = "%load_ext jupyter_ctx\nimport pandas\nx_value = 3\nprices = pandas.DataFrame({'price': [1.5], 'pieces': [2]})"
# Lab waits a second for the kernel; the first Tab imports what it needs
FIRST = """async () => {
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    for (const code of ['%chat use gpt', '%%chat\\n{{ x_va', '%%chat\\n{{ prices.pri'])
        await kernel.requestComplete({code, cursor_pos: code.length});
}"""


def test_tab_completes_models_with_their_windows_and_names_inside_braces_only(open_page: Open) -> None:
    page = open_page(DATA, "%chat use openai/gpt-5.", "%%chat\nTell me about ", "%%chat\nx_va")
    page.run(0)
    page.page.evaluate(FIRST)
    popup, keyboard = page.page.locator(".jp-Completer"), page.page.keyboard

    def typed(index: int, text: str, *, tab: bool = True) -> None:
        page.cell(index).locator(".cm-content").click()
        keyboard.press("Control+End")
        keyboard.type(text)
        if tab:
            keyboard.press("Tab")

    typed(1, "")
    wanted = popup.locator("li[data-value='openai/gpt-5.2']")
    expect(wanted).to_contain_text("window 400,000")
    described = wanted.locator(".jp-Completer-typeExtended")
    assert described.evaluate("element => element.scrollHeight <= element.clientHeight"), "in one line"
    page.page.screenshot(path=SCREENSHOTS / "completed-models.png")
    wanted.click()
    expect(page.cell(1).locator(".cm-content")).to_have_text("%chat use openai/gpt-5.2")
    for text, shown, whole in (
        ("{{ x_va", "x_value", "{{ x_value"),
        (" }} of {{ prices.pri", "price", "prices.price"),
    ):
        typed(2, text)
        expect(popup.locator("li code.jp-Completer-match").first).to_have_text(shown)
        keyboard.press("Enter")
        expect(page.cell(2).locator(".cm-content")).to_contain_text(whole)
    typed(3, "")
    page.page.wait_for_timeout(1_000)
    said = popup.inner_text() if popup.count() else ""
    assert "x_value" not in said
    assert "unknown" not in said
    page.page.screenshot(path=SCREENSHOTS / "completed-in-prose.png")
