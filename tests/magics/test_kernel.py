"""A real kernel, driven as a notebook drives it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from kernels import VIEW, Kernel, answers, error, text, twins, widgets

from jupyter_ctx.display.answer.growing_answer import GROWING
from jupyter_ctx.export.hand_in import load_hand_in

LESSON = Path(__file__).parents[2] / "notebooks/02-when-the-window-fills.ipynb"


@pytest.fixture
def kernel(kernel: Kernel, local_model: str) -> Kernel:
    """The kernel with a conversation of this test's own."""
    kernel.run(f"%chat use {local_model} --max-tokens 16")
    return kernel


def test_an_answer_streams_and_stays_in_the_cell_in_three_forms(kernel: Kernel) -> None:
    outputs = kernel.run("%%chat\nSay hello.")
    shown = answers(outputs)
    assert len([o for o in outputs if o["msg_type"] == "display_data"]) == 3  # the answer, the gauge and its twin
    assert all(set(forms) == {"text/html", *GROWING} for forms in shown[:-1])
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


def test_the_gauge_is_below_the_newest_chat_cell_and_leaves_nothing_in_older_ones(kernel: Kernel) -> None:
    first = kernel.run("%%chat\nSay hello.")
    assert len(widgets(first)) == 1
    assert twins(first)[-1]["text/plain"].startswith("Context [")
    assert ">after turn 1</div>" in twins(first)[-1]["text/html"]
    second = kernel.run("%%chat\nAnd again?")
    assert len(widgets(second)) == 1
    assert [">after turn 2</div>" in twin["text/html"] for twin in twins(second)] == [True]
    assert emptied(second) == 1
    assert places(kernel) == "[0, 1]", "one place holds the panel"
    assert len(widgets(kernel.run("%chat"))) == 1
    kernel.run("%chat config gauge off")
    assert not widgets(kernel.run("%%chat\nSay three."))


def test_a_cell_that_failed_with_something_recorded_shows_the_gauge_and_another_does_not(kernel: Kernel) -> None:
    kernel.run("%%chat\nSay hello.")
    failed = kernel.run("%%chat --window 40 --on-overflow stop\n" + "word " * 100)
    assert error(failed)
    assert not widgets(failed)
    assert places(kernel) == "[1]"


def emptied(outputs: list[dict[str, Any]]) -> int:
    """How many outputs of older cells were taken away."""
    return sum(o["msg_type"] == "update_display_data" and not o["content"]["data"] for o in outputs)


@pytest.mark.parametrize("shows", ["", "history", "preview"])
def test_what_a_cell_shows_is_true_for_its_moment(kernel: Kernel, shows: str) -> None:
    kernel.run("%%chat\nSay hello.")
    shown = kernel.run(f"%chat {shows}")
    (twin,) = twins(shown)
    assert twin["text/plain"].endswith("\n(after turn 1)")
    turn = kernel.run("%%chat\nAnd again?")
    assert [each["text/plain"].rpartition("\n")[2] for each in twins(turn)] == ["(after turn 2)"], "the new gauge's"
    assert stills(turn) == 1
    assert stills(kernel.run("%%chat\nAnd again?")) == 0


def test_an_action_of_another_cell_makes_a_place_still_and_a_click_in_it_draws_it_anew(kernel: Kernel) -> None:
    kernel.run("%chat config gauge off")
    kernel.run("%%chat\nSay hello.")
    kernel.run("%chat")
    panel = "get_ipython()._jupyter_ctx.magic.panel()"
    clear = kernel.value(f"{panel}._buttons['Clear'].model_id")
    clicked = kernel.outputs(kernel.click_on(clear))
    assert [twin["text/plain"].rpartition("\n")[2] for twin in twins(clicked)] == ["(after clear)"]
    assert stills(clicked) == 0
    acted = kernel.run("%chat undo")
    assert (stills(acted), len(twins(acted))) == (1, 0)


def test_stills_cost_one_message_a_turn_however_many_there_are(kernel: Kernel) -> None:
    counts = list[int]()
    for number in (1, 20):
        for _ in range(number):
            kernel.run("%chat")
        kernel.run("%%chat\nSay hello.")
        told = [o for o in kernel.run("%%chat\nSay hello.") if "jctx-now" in str(o["content"])]
        counts.append(len(told))
    assert counts == [1, 1]


@pytest.mark.load
def test_every_gauge_of_the_lesson_on_full_windows_says_what_was_true_in_its_cell(kernel: Kernel) -> None:
    lesson = nbformat.read(LESSON, 4)
    drawn, known = dict[str, str](), list[str]()
    for cell in (cell for cell in lesson.cells if cell.cell_type == "code"):
        outputs = kernel.run(cell.source, cell.id)
        assert error(outputs) is None
        for output in outputs:
            name = output["content"].get("transient", {}).get("display_id")
            if name in drawn or (cell.source == "%chat" and output in shown_twins(outputs)):
                drawn[name] = output["content"]["data"]["text/plain"]
        if cell.source == "%chat":
            known.append(
                kernel.value(
                    "f'{get_chat().info().used:,} of {get_chat().info().limit:,} tokens', len(get_chat().turns)"
                )
            )
    told = [re.search(r"([\d,]+ of [\d,]+ tokens).*\n\(after turn (\d+)", picture, re.S) for picture in drawn.values()]
    assert [f"{found[1]} {found[2]}" for found in told if found] == known
    assert len(set(known)) == len(known) == 4


def shown_twins(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [o for o in outputs if "jctx-twin" in str(o["content"].get("data", {}).get("text/html", ""))]


def stills(outputs: list[dict[str, Any]]) -> int:
    """How many places became still."""
    return sum(o["msg_type"] == "comm_msg" and "jctx-still" in str(o["content"]) for o in outputs)


def test_an_answer_that_was_undone_or_replaced_says_so_in_its_cell_as_long_as_it_is(kernel: Kernel) -> None:
    kernel.run("%%chat\nSay hello.", "a")

    def marks(source: str, cell: str | None = None) -> list[str]:
        updates = [o for o in kernel.run(source, cell) if o["msg_type"] == "update_display_data"]
        return [o["content"]["data"]["text/plain"].rpartition("\n")[2] for o in updates if o["content"]["data"].keys()
                >= {"text/markdown"} and "jctx-waiting" not in str(o)]  # fmt: skip

    assert marks("%chat undo") == ["[ctx] Undone."]
    (redone,) = marks("%chat redo")
    assert "Undone" not in redone
    assert marks("%chat pin 1") == []
    assert marks("%chat clear") == []


def places(kernel: Kernel) -> str:
    """Whether each place holds the panel, the oldest first."""
    kernel.run("import ipywidgets, ipywidgets.widgets.widget as w")
    boxes = "[x for x in w._instances.values() if type(x) is ipywidgets.Box and 'jctx-place' in x._dom_classes]"
    return kernel.value(f"[sum('jctx-panel' in held._dom_classes for held in box.children) for box in {boxes}]")


def test_a_turn_costs_the_gauge_few_messages(kernel: Kernel) -> None:
    """The buttons are disabled and enabled again, the bar and its lines drawn, and a place opened."""
    kernel.run("%%chat\nSay hello.")
    for act in ("", "%chat trim 1", "%chat pin 1", "%chat undo", ""):
        kernel.run(act)
        outputs = kernel.run("%%chat\nAnd again?")
        messages = [o for o in outputs if o["msg_type"].startswith("comm_")]
        assert 10 <= len(messages + twins(outputs)) <= 30, act


def test_a_send_that_nearly_fills_the_context_says_so_once_above_its_answer(kernel: Kernel) -> None:
    kernel.run("%chat config thresholds 0.9")
    for words in (150, 150):
        assert "after this" not in str(kernel.run("%%chat\n" + "word " * words))
    outputs = kernel.run("%%chat\n" + "word " * 60)
    shown = [o["content"]["data"] for o in outputs if o["msg_type"] == "display_data"]
    shown = shown["jctx-waiting" in str(shown[0]) :]  # on a slow machine it was waited for before
    assert re.fullmatch(r"\[ctx\] (8[5-9]|9\d) % after this: %chat summarise, trim or clear.", shown[0]["text/plain"])
    assert re.search("jctx-(answer|waiting)", shown[1]["text/html"])
    assert "jctx-twin" in shown[2]["text/html"]
    assert VIEW in shown[3]
    assert len(shown) == 4
    kernel.run("%chat undo")
    assert "after this" not in str(kernel.run("%%chat\n" + "word " * 60)), "it is said once"


def test_a_loop_in_one_cell_adds_turns_and_its_rerun_replaces_them_all(kernel: Kernel) -> None:
    loop = "for n in {}: get_ipython().run_cell_magic('chat', '', f'Say {{n}}.')"
    kernel.run(loop.format([1, 2]), "a")
    kernel.run("%%chat\nSay b.", "b")
    kernel.run(loop.format([3, 4]), "a")
    assert kernel.value("[t.prompt for t in get_chat().turns]") == "['Say 3.', 'Say 4.', 'Say b.']"


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
    assert re.search(r'class="jctx-footer"[^>]*>[\d.]+ s · interrupted</div>', shown["text/html"])
    assert not any("interrupted" in shown[form].lower() for form in ("text/plain", "text/markdown")), "one line says so"
    kernel.outputs(second)
    assert kernel.value("'ran' in globals(), get_chat().turns[0].stop_reason") == "False interrupted"
    assert not error(kernel.run("%%chat\nSay hello."))


def test_an_error_is_its_message_without_a_traceback_and_fails_the_cell(kernel: Kernel) -> None:
    failed = error(kernel.run("%%chat -m openai/gpt-4o\nhi"))
    assert failed is not None
    assert failed["ename"] == "AuthenticationError"
    assert len(failed["traceback"]) == 1
    assert failed["traceback"][0].replace("\n", " ") == f"\x1b[31mAuthenticationError\x1b[0m: {failed['evalue']}"


def test_a_click_while_a_cell_runs_is_not_lost_and_the_turn_is_whole(kernel: Kernel, real_model: str) -> None:
    kernel.run("%%chat\nSay hello.")
    kernel.run(
        "from jupyter_ctx.magics.registration import door_of\n"
        "row = door_of(get_ipython()).magic.panel().widget.children[1].children[1].children[0]"
    )
    clear = kernel.value("next(b for b in row.children if b.description == 'Clear').model_id")
    message = kernel.ask(f"%%chat -m {real_model} --max-tokens 150\nWrite a long story about a lighthouse.", "story")
    kernel.click_on(clear)
    kernel.outputs(message)
    kernel.run("pass")
    assert kernel.value("len(get_chat().turns), len(get_chat().conversation.cleared)") == "0 2"
    assert kernel.value("get_chat().conversation.cleared[-1].turn.stop_reason in ('stop', 'max_tokens')") == "True"


@pytest.mark.parametrize("source", ["%%chat map?", "%chat map ?", "%chat help map"])
def test_a_commands_page_comes_through_the_kernel(kernel: Kernel, source: str) -> None:
    said = text(kernel.run(source))
    assert "--dry-run" in said
    assert "--samples" not in said


def test_the_page_of_a_prompt_comes_through_the_kernel(kernel: Kernel) -> None:
    kernel.run("%%chat?")
    (page,) = (each["data"]["text/plain"] for each in kernel.reply["payload"])
    inspected = kernel.client.inspect("%%chat", reply=True, timeout=30)["content"]["data"]["text/plain"]
    for shown in (page, inspected):
        assert "--samples" in shown
        assert "--dry-run" not in shown


def test_what_was_asked_in_a_kernel_is_handed_in_with_reruns_and_undone_turns(kernel: Kernel, tmp_path: Path) -> None:
    for prompt, cell in (("Say one.", "a"), ("Say two.", "a"), ("Say three.", "b")):
        assert error(kernel.run(f"%%chat\n{prompt}", cell)) is None
    kernel.run("%chat undo")
    for suffix in (".html", ".ipynb", ".json"):
        path = tmp_path / f"work{suffix}"
        assert "Wrote 3 answers to" in text(kernel.run(f"%chat handin {str(path)!r}"))
        assert "fits its digest" in text(kernel.run(f"%chat handin {str(path)!r} --check"))
        assert [(each.prompt, each.state) for each in load_hand_in(path)[0].record.answers] == [
            ("Say one.", "older version"),
            ("Say two.", "current"),
            ("Say three.", "undone"),
        ]
