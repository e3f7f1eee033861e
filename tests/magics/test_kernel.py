"""A real kernel, driven as a notebook drives it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from kernels import Kernel, answers, error, twins


@pytest.fixture
def kernel(kernel: Kernel, local_model: str) -> Kernel:
    """The kernel with a conversation of this test's own."""
    kernel.run(f"%chat use {local_model} --max-tokens 16")
    return kernel


def test_an_answer_streams_and_stays_in_the_cell_in_three_forms(kernel: Kernel) -> None:
    outputs = kernel.run("%%chat\nSay hello.")
    shown = answers(outputs)
    assert len([o for o in outputs if o["msg_type"] == "display_data"]) == 1
    assert all(set(forms) == {"text/html"} for forms in shown[:-1])
    assert set(shown[-1]) == {"text/html", "text/markdown", "text/plain"}
    assert shown[-1]["text/plain"].split("\n[ctx] ")[0] == kernel.value("get_chat().turns[0].reply")


def test_a_turn_has_the_number_that_its_cell_shows(kernel: Kernel) -> None:
    """IPython has counted before a cell runs since 9.8, and after it before that."""
    numbers = []
    for source in ("%%chat\nSay one.", "for _ in range(2): get_ipython().run_cell_magic('chat', '', 'Say two.')"):
        kernel.run(source)
        numbers.append(f"[{kernel.reply['execution_count']}]")
    first, loop = numbers
    assert kernel.value("[row.cell for row in get_chat().history()]") == str([first, loop, loop])


def test_a_gauge_is_live_until_the_next_turn_and_then_a_snapshot(kernel: Kernel) -> None:
    kernel.run("%%chat\nSay hello.")
    (twin,) = twins(kernel.run("%chat"))
    assert twin["text/plain"].endswith("\n(after turn 1)")
    clear = kernel.value("get_ipython()._jupyter_ctx.magic.gauge._panel._buttons['Clear'].model_id")
    for outputs in (kernel.outputs(kernel.click_on(clear)), kernel.run("%chat undo\n%chat clear")):
        assert [each["text/plain"].rpartition("\n")[2] for each in twins(outputs)][-1] == "(before the first turn)"
        assert stills(outputs) == 0
    turn = kernel.run("%%chat\nAnd again?")
    assert (len(twins(turn)), stills(turn)) == (0, 1)
    assert (len(twins(kernel.run("%chat"))), stills(kernel.run("%%chat\nAnd again?"))) == (1, 1)


@pytest.mark.parametrize(("source", "most"), [("%chat", 1), ("%%chat -n 2\nHi.", 8)])
def test_however_many_cells_run_the_number_of_widgets_is_bounded(kernel: Kernel, source: str, most: int) -> None:
    kernel.run("%chat config max_tokens 2\nfrom ipywidgets.widgets.widget import _instances")
    alive = []
    for _ in range(most + 2):
        kernel.run(source)
        alive.append(int(kernel.value("len(_instances)")))
    assert alive[-1] == alive[-2] == alive[most - 1]


def stills(outputs: list[dict[str, Any]]) -> int:
    """Whether a live gauge became a snapshot: its widgets are gone."""
    return int(any(o["msg_type"] == "comm_close" for o in outputs))


def test_an_interrupt_keeps_what_was_shown_and_stops_the_cells_behind_it(kernel: Kernel, real_model: str) -> None:
    options = f"-m {real_model} --max-tokens 400 --set ignore_eos=true"
    first = kernel.ask(f"%%chat {options}\nCount from one to two hundred in words.", "a")
    second = kernel.ask("ran = True", "b")
    while True:
        said = kernel.client.get_iopub_msg(timeout=60)
        if said["msg_type"] == "update_display_data" and "jctx-answer" in str(said["content"]):
            break
    kernel.manager.interrupt_kernel()
    outputs = kernel.outputs(first)
    failed = error(outputs)
    assert failed is not None
    assert failed["ename"] == "ChatInterrupted"
    (line,) = failed["traceback"]
    lines, line = line.split("\n"), line.replace("\n", " ")
    assert max(map(len, lines)) < 100, "a page would break longer lines within a word"
    said = ": the text so far is kept. Run the cell again for another answer; %chat continue goes on with this one."
    assert line == f"\x1b[33mInterrupted\x1b[0m{said}"
    shown = answers(outputs)[-1]
    assert re.search(r'class="jctx-footer"[^>]*><span[^>]*>[\d.]+ s · </span>interrupted</div>', shown["text/html"])
    assert not any("interrupted" in shown[form].lower() for form in ("text/plain", "text/markdown")), "one line says so"
    kernel.outputs(second)
    assert kernel.value("'ran' in globals(), get_chat().turns[0].stop_reason") == "False interrupted"
    assert not error(kernel.run("%%chat\nSay hello."))
