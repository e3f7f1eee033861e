"""The card of %chat status and the transcript in a real browser: at every width, in light and dark."""

from __future__ import annotations

from jupyter_page import SCREENSHOTS, Open
from page_checks import OVERFLOWS, RICH, THEMES, complaints
from playwright.sync_api import expect

pytest_plugins = ("browsing",)

LOAD = "%load_ext jupyter_ctx\nfrom jupyter_ctx import get_chat"
USE = "%chat use openai/gpt-5.2 -t 0.2\n%chat config on_overflow summarise\n%chat config prices 1.75,14,0.175"
FILL = f"""get_chat().add_messages([
    {{"role": role, "content": text}} for n in range(25) for role, text in
    (("user", f"Question {{n}}: why does the curve fall? " * (1 + n)), ("assistant", {RICH!r} if n > 23 else "Yes."))
])
get_chat().pin(3), get_chat().exclude(24); get_chat().desk.set_system("You are brief.")"""
# words that stand in more than one line
BROKEN = """card => {
    const broken = [];
    const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) for (const word of walker.currentNode.data.matchAll(/[\\w,.]+/g)) {
        const range = document.createRange();
        range.setStart(walker.currentNode, word.index);
        range.setEnd(walker.currentNode, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map(box => Math.round(box.y))).size > 1) broken.push(word[0]);
    }
    return broken;
}"""


def test_card_and_transcript_are_readable_in_every_theme_and_width_and_axe_finds_nothing(open_page: Open) -> None:
    notebook = open_page(LOAD, USE, FILL, "%chat status", "chat = get_chat()\nchat")
    notebook.run(0, 1, 2, 3, 4)
    card, talk = notebook.output(3).locator(".jctx-status:visible"), notebook.output(4).locator(".jctx-transcript")
    expect(talk.locator(".jctx-turn")).to_have_count(20)
    expect(talk).to_contain_text("5 turns before these")
    expect(card).to_contain_text("272,000")
    found = {}
    for name in ("dark", "light"):
        notebook.use_theme(THEMES[name])
        for width in (400, 800, 1400):
            notebook.page.set_viewport_size({"width": width, "height": 1600})
            notebook.page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 100)))")
            card.screenshot(path=SCREENSHOTS / f"status-{name}-{width}.png")
            talk.screenshot(path=SCREENSHOTS / f"transcript-{name}-{width}.png")
            assert card.evaluate(BROKEN) == []
            assert notebook.page.evaluate(OVERFLOWS) == []
        found[name] = complaints(notebook, ("color-contrast",))
    assert found == {"dark": "", "light": ""}
    page = card.evaluate("card => card.outerHTML")
    clean = "window.jupyterapp.shell.currentWidget.content.rendermime.sanitizer.sanitize(html)"
    card.evaluate(f"(card, html) => {{ card.outerHTML = {clean} }}", page)  # as in a notebook that is not trusted
    notebook.output(3).screenshot(path=SCREENSHOTS / "status-untrusted.png")
    figures = notebook.output(3).locator("td:first-child:visible")
    assert set(figures.evaluate_all("all => all.map(each => getComputedStyle(each).textAlign)")) == {"right"}
    assert notebook.errors == []
    assert notebook.foreign_requests == []
