"""The tables of turns in a real browser: where their boxes stand, and what they do."""

from __future__ import annotations

from typing import Any

from jupyter_page import NotebookPage, Open
from playwright.sync_api import Locator, expect

pytest_plugins = ("browsing",)

LOAD = "%load_ext jupyter_ctx\nfrom jupyter_ctx import get_chat"
USE = "%chat use local/smollm2 --window 4000\n%chat config min_turns 0"
FILL = """def say(*said):
    roles = ("user", "assistant") * len(said)
    get_chat().add_messages({"role": role, "content": text} for role, text in zip(roles, said))
def turn(n):
    return (f"Question {n}, long enough to be cut: " + "why " * 30, f"Answer {n}. " + "because " * 20 + f"end of {n}")
say(*(text for n in range(1, 501) for text in turn(n)))"""
MEASURE = """area => {
    const middle = each => {
        const box = each.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const heads = [...area.querySelectorAll('th')].slice(0, 2).map(middle);
    const rows = new Map();  // of a turn, its first row
    for (const row of area.querySelectorAll('tbody tr')) {
        const number = row.querySelectorAll('td')[3].textContent;
        if (!rows.has(number)) rows.set(number, middle(row)[1]);
    }
    const inputs = [...area.querySelectorAll('.jctx-boxes input')];
    const off = inputs.filter(box => box.checkVisibility({visibilityProperty: true})).map(box => {
        const [name, number] = box.parentElement.textContent.trim().split(' ');
        const [x, y] = middle(box);
        return [x - heads[name === 'pin' ? 0 : 1][0], y - rows.get(number)];
    });
    const scrolls = [...area.querySelectorAll('*')].filter(
        each => /auto|scroll/.test(getComputedStyle(each).overflowX) && each.querySelector('table'));
    return {tables: area.querySelectorAll('table').length, scrolls: scrolls.length, boxes: off.length,
            most: Math.max(...off.flat().map(Math.abs)), wide: area.scrollWidth - area.clientWidth};
}"""


def measured(area: Locator) -> dict[str, Any]:
    found: dict[str, Any] = area.locator(".jctx-turns").evaluate(MEASURE)
    return found


def narrow(notebook: NotebookPage, width: int) -> None:
    notebook.page.set_viewport_size({"width": width, "height": 1600})
    notebook.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_boxes_stand_in_their_rows_and_views_of_500_turns_agree(open_page: Open) -> None:
    notebook = open_page(
        LOAD, USE, FILL, "%chat history", "%chat preview", "%chat",
        "get_chat().exclude(498); get_chat().trim(3); say('Newest.', 'Yes.')",
        "print([m.number for m in get_chat().preview('x').messages if m.state == 'pinned'])",
        "%chat history", "%chat preview", "%chat",
    )  # fmt: skip
    notebook.run(0, 1, 2, 3, 4, 5)
    history, preview, panel = (notebook.output(index) for index in (3, 4, 5))
    panel.get_by_role("button", name="More").click()
    panel.get_by_role("button", name="History").click()
    expect(panel.get_by_role("button", name="History")).to_have_attribute("title", "open: shown below")
    for area in (history, preview, panel):
        expect(area.get_by_label("pin 500")).to_be_visible()
        found = measured(area)
        assert (found["tables"], found["scrolls"], found["wide"]) == (1, 1, 0)
        assert found["boxes"] >= 14
        assert found["most"] <= 1.5, found

    history.get_by_label("pin 499").focus()
    notebook.page.keyboard.press("Space")
    expect(panel.get_by_label("pin 499")).to_be_checked()
    expect(preview.get_by_label("pin 499")).to_be_checked()
    expect(history.get_by_label("pin 499")).to_be_focused()
    notebook.run(6, 7)
    expect(notebook.output(7)).to_contain_text("[499, 499]")
    for area in (history, preview, panel):  # what those cells show is still now
        expect(area.locator(".jctx-when:visible")).to_have_count(1)
        expect(area.get_by_role("checkbox")).to_have_count(0)
    notebook.run(8, 9, 10)
    history, preview, panel = (notebook.output(index) for index in (8, 9, 10))
    for area in (history, panel):
        expect(area.get_by_label("exclude 498")).to_be_checked()
        expect(area.locator("tbody tr:visible").last).to_contain_text("Newest.")
    expect(preview.locator(".jctx-turns tbody")).to_contain_text("Newest.")

    unfold = history.get_by_role("button", name="full text of turn 490", exact=False)
    expect(history.get_by_text("end of 490")).to_have_count(0)
    unfold.focus()
    notebook.page.keyboard.press("Enter")
    expect(history.get_by_role("region", name="Turn 490")).to_contain_text("end of 490")
    expect(unfold).to_be_focused()
    history.get_by_role("button", name="Older").click()
    expect(history.get_by_label("pin 486")).to_be_visible()
    expect(history.get_by_role("button", name="Older")).to_be_focused()
    history.get_by_role("button", name="Newer").click()
    expect(history.get_by_label("pin 501")).to_be_visible()
    expect(history.get_by_role("region", name="Turn 490")).to_have_count(0)
    sort_by = history.get_by_label("Sort by")
    sort_by.focus()
    sort_by.press("t")  # the first order that begins so: by the number of the turn
    for area in (history, panel):
        expect(area.get_by_label("pin 1", exact=True)).to_be_visible()
        assert measured(area)["most"] <= 1.5
    sort_by.select_option("tokens, descending")
    expect(history.get_by_label("pin 1", exact=True)).to_have_count(0)
    tokens = history.locator("tbody:visible td:nth-child(8)").all_inner_texts()
    sizes = [int(text.strip("~").replace(",", "")) for text in tokens]
    assert sizes == sorted(sizes, reverse=True)
    sort_by.select_option("as sent")
    expect(history.get_by_label("pin 501")).to_be_visible()

    notebook.page.emulate_media(forced_colors="active")
    for width in (400, 320):
        narrow(notebook, width)
        for area in (history, preview):
            found = measured(area)
            assert found["most"] <= 1.5, found
            assert found["wide"] == 0, found
    notebook.page.emulate_media(forced_colors="none")
    notebook.page.set_viewport_size({"width": 1200, "height": 1600})
    panel.get_by_role("button", name="Settings").click()
    panel.get_by_label("Model").fill("nobody/nothing")
    panel.get_by_label("Model").press("Enter")
    expect(panel.locator(".jctx-settings").get_by_role("alert")).to_contain_text("nobody")
    expect(panel.get_by_label("Model")).to_have_value("local/smollm2")
    panel.get_by_label("Longest reply").fill("100")
    panel.get_by_label("Longest reply").press("Enter")
    expect(panel.locator(".jctx-settings").get_by_role("status")).to_contain_text("Longest reply: 100.")
    panel.get_by_label("When it is full").select_option("send nothing")
    expect(panel.locator(".jctx-settings").get_by_role("status")).to_contain_text("When it is full")

    expect(history.locator(".jctx-when:visible")).to_have_count(1)
    twin = history.locator(".jctx-twin")
    expect(twin).to_be_hidden()
    notebook.restart()
    expect(twin.locator("thead")).to_contain_text("state")
    expect(history.locator(".jctx-turns")).to_be_hidden()
    assert notebook.errors == []
