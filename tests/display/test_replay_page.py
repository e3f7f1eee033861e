"""The replay of a conversation in a real browser: by mouse, keys and play, at every width, in light and dark."""

from __future__ import annotations

from jupyter_page import SCREENSHOTS, Open
from page_checks import OVERFLOWS, THEMES, complaints
from playwright.sync_api import expect

pytest_plugins = ("browsing",)

ASK = """from jupyter_ctx import get_chat
chat = get_chat()
for i in range(len(chat.turns), 12):
    chat.send(f"Crate {i} weighs {100 + i} <img src=x onerror=alert(1)> kg. " + "Please note it. " * (i % 4 * 3))"""


def test_a_replay_shows_each_request_by_keys_and_by_itself_and_axe_finds_nothing(open_page: Open) -> None:
    use = "%load_ext jupyter_ctx\n%chat use local/smollm2@512 --max-tokens 16\n%chat config on_overflow summarise"
    notebook = open_page(use, ASK, "%chat replay", "chat.pin(12)", ASK.replace("12", "1"), "%chat replay")
    notebook.run(0, 4, 5)
    expect(notebook.output(5).get_by_role("status")).to_contain_text("Turn 1")
    notebook.run(1, 2)
    output = notebook.output(2)
    view, field = output.locator(".jctx-replay"), output.get_by_label("Request")
    said = view.get_by_role("status")
    expect(said).to_contain_text("A summary stands for turns 1 to 9.")
    expect(output.locator(".jctx-twin")).to_be_hidden()
    box = view.locator(".noUi-handle").bounding_box()
    assert box is not None
    notebook.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    notebook.page.mouse.down()
    notebook.page.mouse.move(box["x"] - 200, box["y"] + 5)
    notebook.page.mouse.up()
    expect(said).not_to_contain_text("Turn 12")
    field.fill("12")
    field.press("Tab")
    expect(said).to_contain_text("Turn 12")
    field.focus()
    for number in (11, 10, 9, 8):
        notebook.page.keyboard.press("ArrowDown")
        expect(said).to_contain_text(f"Turn {number}")
    expect(said).to_contain_text("Turns 1 to 4 fell out now.")
    notebook.page.keyboard.press("Shift+Tab")
    notebook.page.keyboard.press("Space")
    expect(view.get_by_role("button", name="Pause")).to_be_visible()
    expect(said).to_contain_text("Turn 9")
    notebook.page.keyboard.press("Space")
    expect(view.get_by_role("button", name="Play")).to_be_visible()
    message = view.locator("details", has_text="Crate 8").first
    message.locator("summary").focus()
    notebook.page.keyboard.press("Enter")
    expect(message.get_by_role("region")).to_contain_text("<img src=x onerror=alert(1)>")
    found = {}
    for name in ("dark", "light"):
        notebook.use_theme(THEMES[name])
        for width in (400, 1400):
            notebook.page.set_viewport_size({"width": width, "height": 1400})
            notebook.page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 200)))")
            output.screenshot(path=SCREENSHOTS / f"replay-{name}-{width}.png")
            assert notebook.page.evaluate(OVERFLOWS) == []
        found[name] = complaints(notebook, ("color-contrast", "button-name", "label"))
    assert found == {"dark": "", "light": ""}
    notebook.run(3)  # from now on it is still
    expect(output.locator(".jctx-replay")).to_be_hidden()
    expect(output.locator(".jctx-table:visible tbody tr")).to_have_count(12)
    output.screenshot(path=SCREENSHOTS / "replay-still.png")
    assert notebook.errors == []
    assert notebook.foreign_requests == []
