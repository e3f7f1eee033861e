"""Side by side in JupyterLab: the answers grow, one is taken by its button, and the choice can be undone."""

from __future__ import annotations

from jupyter_page import SCREENSHOTS, Open
from playwright.sync_api import expect

pytest_plugins = ("browsing",)

LOAD = "%load_ext jupyter_ctx\nfrom jupyter_ctx import get_chat"
ASK = "%%chat -t 0 -t 1 --max-tokens 24\nName a fruit, and say why."
TURNS = """chat = get_chat()
print([turn.record.id for turn in chat.turns], chat.session.chosen([*chat.conversation.offers][-1]))"""


def test_an_answer_is_taken_by_its_button_and_given_back_by_undo(open_page: Open) -> None:
    page = open_page(LOAD, ASK, TURNS, "%chat undo", ASK.replace("-t 0 -t 1", "-n 3"), "%chat pick 3")
    page.run(0, 1, 2)
    expect(page.output(2)).to_contain_text("'] 1")
    page.output(1).get_by_role("button", name="Use 2").click()
    expect(page.output(1)).to_contain_text("Answer 2 is used")
    expect(page.output(1).get_by_role("button", name="✓ 2 is used")).to_be_focused()
    page.run(2)
    expect(page.output(2)).to_contain_text("'] 2")
    page.output(1).screenshot(path=SCREENSHOTS / "side-by-side-taken.png")
    page.run(3, 2)
    expect(page.output(1)).to_contain_text("Answer 1 is used")
    expect(page.output(2)).to_contain_text("'] 1")
    page.run(4, 5)
    expect(page.output(4)).to_contain_text("Answer 3 is used")
    page.output(4).screenshot(path=SCREENSHOTS / "side-by-side-three.png")
    assert page.errors == []
