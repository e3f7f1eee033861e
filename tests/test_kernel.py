"""A real kernel, driven as a notebook drives it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
from jupyter_client import KernelManager
from kernels import Kernel, answers, error, widgets


@pytest.fixture(scope="module")
def manager() -> Iterator[KernelManager]:
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env={**os.environ, "JUPYTER_CTX_STORE": "memory"})
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(manager: KernelManager, local_model: str) -> Iterator[Kernel]:
    """The kernel with a conversation of this test's own."""
    manager.restart_kernel(now=True)
    kernel = Kernel(manager)
    kernel.run(f"%load_ext jupyter_ctx\n%chat use {local_model} --max-tokens 16\nfrom jupyter_ctx import get_chat")
    yield kernel
    kernel.client.stop_channels()


def test_an_answer_streams_and_stays_in_the_cell_in_three_forms(kernel: Kernel) -> None:
    outputs = kernel.run("%%chat\nSay hello.")
    shown = answers(outputs)
    assert len([o for o in outputs if o["msg_type"] == "display_data"]) == 2  # the answer and the gauge
    assert set(shown[-1]) == {"text/html", "text/markdown", "text/plain"}
    assert shown[-1]["text/plain"].split("\n[")[0] == kernel.value("get_chat().turns[0].reply")


def test_the_gauge_is_shown_with_the_first_chat_cell_only(kernel: Kernel) -> None:
    (gauge,) = widgets(kernel.run("%%chat\nSay hello."))
    assert gauge["text/plain"].startswith("Context [")
    assert "of the bar" in gauge["text/html"]
    assert not widgets(kernel.run("%%chat\nAnd again?"))
    assert len(widgets(kernel.run("%chat gauge"))) == 1


def test_running_a_cell_again_replaces_its_turn_and_sends_what_came_before(kernel: Kernel) -> None:
    kernel.run("%%chat\nSay one.", "a")
    kernel.run("%%chat\nSay two.", "b")
    kernel.run("%%chat\nSay three.", "a")
    assert kernel.value("[t.prompt for t in get_chat().turns]") == "['Say three.', 'Say two.']"
    assert kernel.value("len(get_chat().conversation.places[0].versions)") == "2"


def test_a_loop_in_one_cell_adds_turns_and_its_rerun_replaces_them_all(kernel: Kernel) -> None:
    loop = "for n in {}: get_ipython().run_cell_magic('chat', '', f'Say {{n}}.')"
    kernel.run(loop.format([1, 2]), "a")
    kernel.run("%%chat\nSay b.", "b")
    kernel.run(loop.format([3, 4]), "a")
    assert kernel.value("[t.prompt for t in get_chat().turns]") == "['Say 3.', 'Say 4.', 'Say b.']"


def test_an_interrupt_keeps_what_was_shown_and_stops_the_cells_behind_it(kernel: Kernel) -> None:
    first = kernel.ask("%%chat --max-tokens 400 --set ignore_eos=true\nCount from one to two hundred in words.", "a")
    second = kernel.ask("ran = True", "b")
    while True:
        said = kernel.client.get_iopub_msg(timeout=60)
        if said["msg_type"] == "update_display_data":
            break
    kernel.manager.interrupt_kernel()
    outputs = kernel.outputs(first)
    failed = error(outputs)
    assert failed is not None
    assert failed["ename"] == "ChatInterrupted"
    assert len(failed["traceback"]) == 1
    assert "Interrupted: the text so far is kept." in answers(outputs)[-1]["text/plain"]
    kernel.outputs(second)
    assert kernel.value("'ran' in globals(), get_chat().turns[0].stop_reason") == "False interrupted"
    assert not error(kernel.run("%%chat\nSay hello."))


def test_an_error_is_one_line_without_a_traceback_and_fails_the_cell(kernel: Kernel) -> None:
    failed = error(kernel.run("%%chat -m openai/gpt-4o\nhi"))
    assert failed is not None
    assert failed["ename"] == "AuthenticationError"
    assert len(failed["traceback"]) == 1
    assert "\n" not in failed["traceback"][0]


def test_a_click_acts_at_once_and_says_before_and_after(kernel: Kernel) -> None:
    kernel.run("%%chat\nSay hello.")
    kernel.run("%%chat\nAnd again?")
    kernel.run(
        "from jupyter_ctx.magic import magic_of\npanel = magic_of(get_ipython()).panel()\n"
        "bar, row, status = panel.widget.children\nbuttons = {b.tooltip[:5]: b for b in row.children}"
    )
    before = kernel.value("bar.value")
    button = kernel.value("[b.model_id for b in row.children if b.description == 'Clear'][0]")
    message = kernel.client.session.msg(
        "comm_msg", {"comm_id": button, "data": {"method": "custom", "content": {"event": "click"}}}
    )
    kernel.client.shell_channel.send(message)
    kernel.outputs(message["header"]["msg_id"])
    assert "Cleared 2 turns (" in kernel.value("status.value")
    assert kernel.value("bar.value") != before
    assert kernel.value("len(get_chat().turns), row.children[-1].description") == "0 Undo clear"


def test_each_threshold_is_said_once_in_a_notebook(kernel: Kernel) -> None:
    ask = "%%chat\n" + "The ship sailed on through the night. " * 10
    said = "".join(answers(kernel.run(ask))[-1]["text/plain"] for _ in range(5))
    fills = [int(percent) for percent in re.findall(r"Context ~?(\d+) % full", said)]
    passed = [max(share for share in (50, 75, 90) if fill >= share) for fill in fills]
    assert passed
    assert len(set(passed)) == len(passed)


def test_plain_shows_text_only(kernel: Kernel) -> None:
    outputs = kernel.run("%%chat --plain\nSay hello.")
    shown = [o["content"]["data"] for o in outputs if o["msg_type"] == "update_display_data"]
    assert shown
    assert all(set(data) == {"text/plain"} for data in shown)


def test_completions_come_through_the_kernel(kernel: Kernel) -> None:
    typed = "%%chat --max"
    reply = kernel.client.complete(typed, reply=True, timeout=30)["content"]
    (match,) = reply["matches"]
    assert typed[: reply["cursor_start"]] + match == "%%chat --max-tokens"


def test_help_reads_well_in_the_kernel(kernel: Kernel) -> None:
    reply = kernel.client.inspect("%%chat", reply=True, timeout=30)["content"]
    assert "Why is the sky blue?" in reply["data"]["text/plain"]
