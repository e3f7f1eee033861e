"""The kernel's end of the chip in the toolbar: what it sends, when, and how much of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from kernels import Kernel, error, widgets

COMM = "jupyter_ctx.chip"
TALK = """get_chat().add_messages([{"role": role, "content": f"On day {n} there are {3 * n} birds. " + "Why? " * 20}
    for n in range(8) for role in ("user", "assistant")])"""
Outputs = list[dict[str, Any]]


@pytest.fixture
def kernel(kernel: Kernel, local_model: str) -> Iterator[Kernel]:
    """The kernel with a conversation of this test's own."""
    kernel.run(f"%chat use {local_model} --max-tokens 16")
    yield kernel
    kernel.run("%unload_ext jupyter_ctx\n%load_ext jupyter_ctx")  # no page has asked


def said(outputs: Outputs) -> Outputs:
    """What was sent to the chip."""
    return [o["content"]["data"] for o in outputs if o["msg_type"] == "comm_msg" and o["content"]["comm_id"] == COMM]


def size(outputs: Outputs) -> int:
    return sum(len(json.dumps(data)) for data in said(outputs))


def page(kernel: Kernel, **data: Any) -> Outputs:
    """What a page is answered that sends a message."""
    message = kernel.client.session.msg("comm_msg", {"comm_id": COMM, "data": data})
    kernel.client.shell_channel.send(message)
    return said(kernel.outputs(message["header"]["msg_id"]))


def test_a_turn_sends_nothing_before_a_page_asks_and_one_small_message_afterwards(kernel: Kernel) -> None:
    before = kernel.run("%%chat\nSay hello.", "first")
    assert said(before) == []
    assert widgets(before) == [], "below an answer stand its figures"
    asked = page(kernel, ask=True)
    [figures] = asked
    assert (figures["share"][-1], figures["undo"]) == ("%", "turn")
    assert f"local/{figures['model']}" == kernel.value("get_chat().config.model")
    after = kernel.run("%%chat\nAnd again?", "second")
    assert len(said(after)) == 1
    assert size(after) < 500
    [figures] = said(kernel.run("%chat config max_cost 2"))
    assert "$2 of $2 left" in figures["title"]
    assert said(kernel.run("1 + 1")) == []
    assert len(widgets(kernel.run("%chat"))) == 1, "it can be asked for all the same"


def test_a_page_with_an_open_panel_asks_for_what_that_shows(kernel: Kernel) -> None:
    page(kernel, ask=True)
    kernel.run("%%chat\nSay hello.")
    [first], [again] = page(kernel, panel=True), page(kernel, panel=True)
    assert first["panel"]["style"].startswith("<style>")
    assert first == again
    assert [is_possible for _, is_possible in first["panel"]["buttons"]] == [False, False, True, True, False]
    assert "Say hello." in first["panel"]["request"]


def test_a_click_pins_a_cell_or_leaves_it_out_of_what_goes_with_the_next_prompt(kernel: Kernel) -> None:
    page(kernel, ask=True)
    kernel.run("%%chat\nSay hello.")
    kernel.run("pinned = 1")
    first = kernel.reply["execution_count"]
    kernel.run("left_out = '<b>'")
    second = kernel.reply["execution_count"]
    line, [_, panel] = page(kernel, press="pin", cell=first), page(kernel, press="exclude", cell=second)
    assert line[0]["role"] == "status"
    request = panel["panel"]["request"]
    assert f'data-press="unpin" data-cell="{first}"' in request
    assert f'data-press="include" data-cell="{second}"' in request
    assert "<b>" not in request
    [line, _] = page(kernel, press="pin", cell=9_999)
    assert line["role"] == "alert"
    assert page(kernel, press="__class__", cell=first) == []


def test_buttons_act_and_tell_their_results(kernel: Kernel) -> None:
    page(kernel, ask=True)
    kernel.run("%%chat\nSay hello.")
    for press, undo, redo in (("Clear", "clear", ""), ("Undo", "turn", "clear"), ("Redo", "clear", "")):
        figures, line = page(kernel, press=press)
        assert (figures["undo"], figures["redo"]) == (undo, redo)
        assert line["said"]
        assert line["role"] == "status"
    [line] = page(kernel, press="Trim")
    assert line["said"].startswith("Nothing to trim")
    assert page(kernel, press="__class__") == []


def test_a_model_is_chosen_and_its_missing_key_is_told(kernel: Kernel) -> None:
    page(kernel, ask=True)
    [offered] = page(kernel, menu=True)
    assert len(offered["models"]) <= 15
    assert [name for name, _, current in offered["models"] if current] == [kernel.value("get_chat().config.model")]
    assert "key" in next(label for name, label, _ in offered["models"] if name.startswith("openai/"))
    figures, missing, line = page(kernel, model="openai/gpt-4o")
    assert figures["model"] == "gpt-4o"
    assert "OPENAI_API_KEY" in line["said"]
    assert missing == {"key_for": "openai"}
    [line] = page(kernel, key="sk-0123456789abcdef", owner="openai")
    assert (line["role"], "sk-" in line["said"]) == ("status", False)
    assert kernel.value("get_chat().models.missing_key(get_chat().config)") == ""
    [line] = page(kernel, model="no such model")
    assert line["role"] == "alert"


def test_a_summary_is_announced_and_then_told(kernel: Kernel) -> None:
    page(kernel, ask=True)
    kernel.run(TALK)
    begun, figures, ended = page(kernel, press="Summarise")
    assert (begun["said"], figures["undo"], ended["role"]) == ("Summarising…", "summary", "status")


def test_the_chip_shows_the_current_conversation_with_its_name(kernel: Kernel) -> None:
    page(kernel, ask=True)
    kernel.run("%%chat\nSay hello.", "hello")
    [figures] = said(kernel.run("%chat new other"))
    assert "'other'" in figures["title"]
    assert figures["undo"] == ""
    assert said(kernel.run("%%chat -i third\nSay hello.")) == [], "one cell's conversation is not the notebook's"
    [figures] = page(kernel, ask=True)
    assert "'other'" in figures["title"]


def test_a_kernel_without_a_conversation_opens_none_for_a_page(kernel: Kernel) -> None:
    kernel.begin_anew()
    for asked in ({"ask": True}, {"panel": True}, {"menu": True}, {"press": "Clear"}):
        assert page(kernel, **asked) == [{"shape": "○", "model": "chat"}]
    assert kernel.value("get_ipython()._jupyter_ctx._magic") == "None"


def test_unloading_takes_the_chip_away_and_loading_brings_it_back(kernel: Kernel) -> None:
    page(kernel, ask=True)
    assert said(kernel.run("%unload_ext jupyter_ctx")) == [{"shape": None}]
    assert page(kernel, ask=True) == []
    assert said(kernel.run("%load_ext jupyter_ctx")) == [{"loaded": True}]
    assert said(kernel.run("%%chat\nSay hello.")) == [], "no page has asked since"
    assert page(kernel, ask=True)[0]["undo"] == "turn"


def test_what_is_shown_in_a_cell_is_not_flushed_by_a_page_that_asks(kernel: Kernel) -> None:
    kernel.run("told = []\ndef tell(): told.append(1)\nget_ipython().events.register('pre_execute', tell)")
    try:
        kernel.run("told.clear()")
        page(kernel, ask=True)
        assert kernel.value("len(told)") == "1", "that of the cell which looks"
    finally:
        kernel.run("get_ipython().events.unregister('pre_execute', tell)")


def test_a_turn_does_not_fail_where_the_chip_cannot_be_drawn(kernel: Kernel) -> None:
    page(kernel, ask=True)
    kernel.run("line = get_ipython()._jupyter_ctx.chip._comm\nline.send, send = None, line.send")
    try:
        assert error(kernel.run("%%chat\nSay hello.")) is None
    finally:
        kernel.run("line.send = send")
