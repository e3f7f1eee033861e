"""``%%chat -m A -m B``, ``-t``, ``-n`` and ``%chat pick`` in a terminal, in a kernel, and in a run without a reader."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from cells import Cells
from kernels import Kernel, error, shown
from server import events, piece, send, serve, usage


def answer(handler: Any, body: Any) -> None:
    """Say which model was asked, at what temperature; refuse one of them, and never answer as another."""
    if body["model"] == "refuses":
        return send(handler, 400, '{"error":{"message":"This model is not for you."}}', "application/json")
    if body["model"] == "sleeps":
        time.sleep(3)
    if body["model"].startswith("json"):
        named = events(piece(json.dumps({"name": body["model"]})), piece("", "stop"), usage(20, 2))
        return send(handler, 200, named, "text/event-stream")
    said = f"{body['model']} at {body.get('temperature')} heard {len(body['messages'])}."
    return send(handler, 200, events(piece(said), piece("", "stop"), usage(20, 2)), "text/event-stream")


@pytest.fixture
def url() -> Iterator[str]:
    with serve(answer) as (url, _):
        yield url


@pytest.fixture
def terminal(cells: Cells, url: str) -> Cells:
    cells.run(f"%chat use one --base-url {url} --window 4000")
    return cells


@pytest.fixture
def kernel(kernel: Kernel, url: str) -> Kernel:
    kernel.run(f"%chat use one --base-url {url} --window 4000\nfrom jupyter_ctx import get_chat")
    return kernel


def replies(kernel: Kernel) -> str:
    return kernel.value("[turn.reply for turn in get_chat().turns]")


# in a terminal


def test_a_terminal_prints_one_after_the_other_and_takes_the_first(terminal: Cells) -> None:
    said = terminal.run("%%chat -m one -m two -t 0 -t 1\nHello?")
    heads = [line for line in said.splitlines() if "──" in line]
    assert [f"{i} · " in head for i, head in enumerate(heads, 1)] == [True] * 4
    order = [said.index(f"{model} at {t} heard 1.") for model in ("one", "two") for t in (0.0, 1.0)]
    assert order == sorted(order)
    assert "The first whole answer is the turn: %chat pick N takes another" in said
    chat = terminal.shell.user_ns["_"]
    assert next(reply.text for reply in chat) == "one at 0.0 heard 1."


def test_one_that_fails_is_named_and_the_first_that_answers_is_taken_and_compared(terminal: Cells) -> None:
    said = terminal.run("%%chat -m refuses -m one -m two -o three\nWho are you?")
    compared = terminal.run("%chat compare")
    assert "This model is not for you." in said
    assert "This model is not for you." in compared
    assert "Answers to: Who are you?" in compared
    assert "two at None heard 1." in compared
    heard = [reply and reply.text for reply in terminal.shell.user_ns["three"]]
    assert heard == [None, "one at None heard 1.", "two at None heard 1."]
    assert "one at None heard 1." in terminal.run("%chat history")
    assert "1 (refuses)" in str(terminal.fail("%chat pick 1"))
    assert "This model is not for you." in str(terminal.fail("%%chat -m refuses -n 2\nHello?"))


# in a kernel


def test_a_reason_why_no_answer_came_is_told_once(kernel: Kernel) -> None:
    kernel.run("%chat config prices 10.0,100\n%chat config max_cost 0.0001", "cap")
    outputs = kernel.run("%%chat -n 3\nHello?", "c")
    kernel.run("%chat config prices none\n%chat config max_cost none", "no cap")
    failed = error(outputs)
    assert failed is not None
    assert failed["ename"] == "BudgetExceededError"
    assert shown(outputs).count("max_cost is") == 1, shown(outputs)
