"""The chip in the toolbar of a notebook, as its user sees it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from filled_pages import LOAD, USE
from hostile import ANSWERS
from jupyter_page import APPS, NotebookPage, Open, Server
from page_checks import THEMES, WHOLE_PAGE
from playwright.sync_api import Locator, expect

if TYPE_CHECKING:
    from browsing import Browsing

pytest_plugins = ("browsing",)

SUPPORT = Path(__file__).resolve().parents[1] / "support"
WAITS = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.05)"
AXE = {"rules": {name: {"enabled": False} for name in WHOLE_PAGE}}


@pytest.fixture(scope="module")
def server(browsing: Browsing, small_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with the chip, and meanwhile its JupyterLab in place of the other's."""
    server = Server(tmp_path_factory.mktemp("chips"), small_model, [SUPPORT], chip=True)
    other, browsing.lab = browsing.lab, None
    try:
        server.wait()
        yield server
    finally:
        browsing.lab = other
        server.stop()


class Chip:
    """The chip of the notebook in sight, and what it opens."""

    def __init__(self, notebook: NotebookPage) -> None:
        self.notebook, self.page = notebook, notebook.page
        self.node = self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jctx-chip")
        self.main, self.more = self.node.locator(".jctx-chip-main"), self.node.locator(".jctx-chip-more")
        self.undo, self.redo = self.node.locator(".jctx-chip-undo"), self.node.locator(".jctx-chip-redo")
        self.spoken = self.node.locator(".jctx-spoken")
        self.panel = self.page.locator(".jctx-popup:popover-open")
        self.said = self.panel.locator(".jctx-popup-said")
        self.rows = self.panel.locator(".jctx-request > ul > li")
        self.menu = self.page.locator(".jctx-models .lm-Menu-itemLabel")

    def button(self, name: str) -> Locator:
        return self.panel.get_by_role("button", name=re.compile(f"^{name}"))


@pytest.mark.parametrize("app", APPS)
def test_the_chip_shows_a_panel_that_is_used_by_pointer_and_by_keyboard(open_page: Open, app: str) -> None:
    notebook = open_page(LOAD, USE, "fill(10)", "%chat", app=app)
    chip = Chip(notebook)
    expect(chip.node).to_be_hidden()
    notebook.run(0)
    expect(chip.main).to_have_text("○chat")
    expect(chip.undo).to_be_hidden()
    chip.main.click()
    expect(chip.said).to_contain_text("%%chat starts one")
    chip.page.keyboard.press("Escape")
    notebook.run(1, 2)
    expect(chip.main).to_have_text("■~94 %gpt-4o")
    chip.main.click()
    expect(chip.button("Summarise")).to_be_focused()
    expect(chip.panel.locator(".jctx")).to_contain_text("of 1,500 tokens")
    expect(chip.rows).to_have_count(12)
    chip.page.keyboard.press("Escape")
    expect(chip.panel).to_be_hidden()
    expect(chip.main).to_be_focused()
    chip.page.keyboard.press("Enter")
    chip.page.keyboard.press("ArrowRight")
    expect(chip.panel.locator(".jctx-of-trim")).to_be_visible()
    chip.page.keyboard.press("Enter")
    expect(chip.said).to_contain_text("Left out turns 1 to 4")
    expect(chip.main).to_contain_text(re.compile(r"◐~5\d %"))
    expect(chip.button("Undo: trim")).to_be_visible()
    chip.main.click()
    expect(chip.panel).to_be_hidden()
    chip.undo.click()
    expect(chip.main).to_contain_text("~94 %")
    expect(chip.undo).to_have_accessible_name("Undo: added messages")
    expect(chip.spoken).to_contain_text("Undid the trim")
    expect(chip.main).to_contain_text("Undid the trim")
    expect(chip.redo).to_have_accessible_name("Redo: trim")
    chip.main.click()
    expect(chip.panel).to_be_visible()
    chip.page.locator(".jp-Notebook").first.click(position={"x": 5, "y": 300})
    expect(chip.panel).to_be_hidden()
    notebook.run(3)
    expect(notebook.output(3).locator(".jctx-meter")).to_be_visible()
    expect(chip.main).to_contain_text("gpt-4o")
    assert not notebook.errors


def test_no_answer_repeats_the_chip_and_its_figures_unfold(open_page: Open, local_model: str) -> None:
    prompts = [f"%%chat -m {local_model} --max-tokens 8\nSay hello."] * 3
    notebook = open_page("%load_ext jupyter_ctx", *prompts, "%chat")
    notebook.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells') }")
    expect(notebook.output(4).locator(".jctx-meter")).to_be_visible()
    expect(Chip(notebook).main).to_contain_text("%")
    for index in (1, 2, 3):
        expect(notebook.output(index).locator(".jctx-answer")).to_be_visible()
        expect(notebook.output(index).locator(".jctx-twin, .jctx-panel")).to_have_count(0)
    summary = notebook.output(3).locator(".jctx-footer summary")
    assert notebook.output(3).locator(".jctx-figures").evaluate("node => node.clientWidth") <= 1
    summary.focus()
    notebook.page.keyboard.press("Enter")
    expect(notebook.output(3).get_by_text("Cost: free")).to_be_visible()


def test_the_menu_changes_the_model_and_asks_for_a_key_that_is_missing(open_page: Open) -> None:
    notebook = open_page(LOAD, USE, "fill(3)", WAITS)
    notebook.run(0, 1, 2)
    chip = Chip(notebook)
    _begin_waiting(notebook, 3)
    chip.more.click()
    expect(chip.menu.first).to_have_text("A cell is running: models are listed when it has ended")
    _go_on(notebook)
    expect(chip.menu.first).to_have_text("openai/gpt-4o · 2,000 · needs a key")
    expect(notebook.page.locator(".jctx-models .lm-mod-toggled")).to_have_count(1)
    chip.menu.filter(has_text="anthropic/").first.click()
    expect(chip.main).to_contain_text("claude")
    expect(notebook.page.get_by_text("Key for anthropic")).to_be_visible()
    notebook.page.keyboard.type("sk-ant-0123456789abcdef")
    notebook.page.keyboard.press("Enter")
    expect(chip.spoken).to_contain_text("anthropic is kept until this kernel ends")
    chip.more.click()
    expect(chip.menu.first).to_contain_text("anthropic/")
    expect(chip.menu.first).not_to_contain_text("key")
    expect(chip.menu.last).to_have_text("Undo does not change the model.")
    chip.menu.filter(has_text="Another model").click()
    notebook.page.keyboard.type("acme/large")
    notebook.page.keyboard.press("Enter")
    expect(chip.said).to_contain_text("acme")
    expect(chip.said).to_be_focused()
    expect(chip.main).to_contain_text("claude")


@pytest.mark.parametrize("app", APPS)
def test_a_chip_survives_reloads_and_goes_with_its_kernel_or_by_a_setting(open_page: Open, app: str) -> None:
    notebook = open_page(LOAD, USE, "fill(10)", WAITS, "%unload_ext jupyter_ctx", app=app, alone=True)
    notebook.run(0, 1, 2)
    chip = Chip(notebook)
    expect(chip.main).to_contain_text("~94 %")
    _begin_waiting(notebook, 3)
    expect(notebook.prompt(3)).to_have_text("[*]:")
    chip.main.click()
    expect(chip.panel.locator(".jctx-popup-waits")).to_be_visible()
    _go_on(notebook)
    notebook.page.reload()
    expect(chip.main).to_contain_text("~94 %")
    notebook.page.wait_for_function("() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session")
    notebook.wait_idle()
    notebook.errors.clear()  # Notebook 7 stumbles by itself while it starts
    chip.main.click()
    expect(chip.rows).to_have_count(12)
    notebook.page.keyboard.press("Escape")
    notebook.run(4)
    expect(chip.node).to_be_hidden()
    notebook.run(0, 2)
    expect(chip.node).to_be_visible()
    notebook.restart()
    expect(chip.node).to_be_hidden()
    expect(notebook.page.locator(".jctx-has-chip")).to_have_count(0)
    notebook.run(0)
    expect(chip.node).to_be_visible()
    notebook.shut_down()
    expect(chip.node).to_be_hidden()
    assert not notebook.errors
    _put(notebook, '{"shown": false}')
    try:
        notebook.reload()
        notebook.run(0)
        expect(chip.node).to_be_hidden()
        expect(notebook.page.locator(".jctx-has-chip")).to_have_count(0)
    finally:
        _put(notebook, "{}")


def test_a_panel_pins_and_leaves_out_unfolds_whole_texts_and_folds_what_is_not_sent(open_page: Open) -> None:
    notebook = open_page(LOAD, USE, "fill(5)")
    notebook.run(0, 1, 2)
    chip = Chip(notebook)
    chip.main.click()
    chip.rows.first.locator("summary").click()
    expect(chip.rows.first.locator("details > div")).to_have_text(re.compile(r"On day 0 .*(Why\? ){29}Why\?"))
    chip.button("Pin: turn 1").click()
    expect(chip.button("Unpin: turn 1")).to_be_visible()
    expect(chip.said).to_contain_text("Pinned turn 1")
    expect(chip.rows.first.locator("details > div"), "what was unfolded stays so").to_be_visible()
    chip.button("Leave out: turn 2").click()
    expect(chip.rows).to_have_count(8)
    folded = chip.panel.locator(".jctx-left-out")
    expect(folded.locator("li").first).to_be_hidden()
    folded.locator("summary").first.click()
    chip.button("Include: turn 2").click()
    expect(chip.rows).to_have_count(10)
    chip.page.keyboard.press("Escape")
    notebook.command("jupyter-ctx:trim-the-conversation")
    expect(chip.undo).to_have_accessible_name(re.compile("Undo: "))
    notebook.command("jupyter-ctx:show-the-context")
    expect(chip.panel).to_be_visible()
    assert not notebook.errors


def test_where_a_prompt_waits_for_the_extension_the_chip_loads_it(open_page: Open) -> None:
    notebook = open_page("1", "%%chat\nHello.")
    chip = Chip(notebook)
    expect(chip.main).to_have_text("○load chat")
    chip.main.click()
    expect(chip.main).to_have_text("○chat")
    assert not notebook.errors


def test_the_chip_is_in_reach_at_every_width_and_axe_finds_nothing_wrong(open_page: Open) -> None:
    from axe_playwright_python.sync_playwright import Axe

    notebook = open_page(LOAD, USE, "fill(10)")
    notebook.run(0, 1, 2)
    chip = Chip(notebook)
    places: dict[str, Any] = {"include": [[".jctx-chip"], [".jctx-popup:popover-open"]]}
    for width in (1400, 800, 514, 400):
        notebook.page.set_viewport_size({"width": width, "height": 900})
        for theme in THEMES.values() if width in (1400, 400) else [THEMES["light"]]:
            notebook.use_theme(theme)
            chip.main.click()
            expect(chip.panel.locator(".jctx")).to_be_visible()
            right, shown = (where.bounding_box() for where in (chip.node, chip.panel))
            assert right is not None
            assert shown is not None
            assert right["x"] + right["width"] <= width
            whole = chip.node.evaluate("node => node.clientWidth - node.getBoundingClientRect().width")
            margins = chip.node.evaluate("node => getComputedStyle(node).margin")
            assert (abs(whole) < 1, margins) == (True, "0px")  # the toolbar makes room for its clientWidth
            assert shown["x"] >= 0
            assert shown["x"] + shown["width"] <= width
            found = Axe().run(notebook.page, context=places, options=AXE)
            assert not found.violations_count, found.generate_report()
            notebook.page.keyboard.press("Escape")
        expect(chip.node.locator(".jctx-chip-model")).to_be_visible(visible=width > 700)


def test_hostile_names_are_text_in_the_chip_the_menu_and_the_panel(open_page: Open) -> None:
    names = [re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", " ", text)[:200] for text in ANSWERS.values()]
    show = f"""import json
from jupyter_ctx.magics import cell_gauge
names = json.loads({json.dumps(names)!r})
cell_gauge.load_aliases = lambda: {{n: "local/" + n for n in names}}
cell_gauge.MOST_MODELS = len(names)
get_chat().add_messages([m for n in names for m in (
    {{"role": "user", "content": n}}, {{"role": "assistant", "content": n}})])
get_chat().configure(model="openai/<img src=x onerror=window.hacked=1>", window=1_000_000)"""
    notebook = open_page(LOAD, show)
    notebook.run(0, 1)
    chip = Chip(notebook)
    expect(chip.main).to_contain_text("<img src=x onerror=window.hacked=1>")
    chip.main.click()
    expect(chip.rows).to_have_count(2 * len(names))
    expect(chip.panel.locator(".jctx-request img, .jctx-request script, .jctx-request a")).to_have_count(0)
    notebook.page.keyboard.press("Escape")
    chip.more.click()
    chip.menu.nth(3).click()
    expect(chip.said).not_to_be_empty()
    strange = notebook.page.locator(":is(.jctx-popup, .jctx-chip) :is(img, script, iframe, svg, a, style)")
    expect(strange).to_have_count(0)
    assert notebook.page.evaluate("() => window.hacked") is None
    assert not notebook.foreign_requests


def _begin_waiting(notebook: NotebookPage, index: int) -> None:
    """Begin a cell that waits until it is told to go on."""
    notebook.path.with_name("go").unlink(missing_ok=True)
    notebook.begin(index)


def _go_on(notebook: NotebookPage) -> None:
    notebook.path.with_name("go").touch()


def _put(notebook: NotebookPage, settings: str) -> None:
    """Write the settings of the plugin, as the settings editor does."""
    notebook.page.evaluate(
        "settings => window.jupyterapp.serviceManager.settings.save('jupyter-ctx:chip', settings)", settings
    )
