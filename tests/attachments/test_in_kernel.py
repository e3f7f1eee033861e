"""Figures, values and errors of a real kernel: shown once, told apart, and stopped by Ctrl-C."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from dialects import DIALECTS
from kernels import Kernel, error, shown
from server import serve

BODY = DIALECTS["completions"].answer("I see.")
LOAD = "%load_ext jupyter_ctx\n%chat use m --base-url {url}\nfrom jupyter_ctx import get_chat"
PLOT = """
%matplotlib inline
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.plot([1, 3, 2]);
"""
ASK = "%%chat -a fig\nWhat does it show?"
SENT = (
    "from jupyter_ctx.session.attaching import attachment_of_error as sent; "
    "print(sent(get_chat().session, get_ipython()._jupyter_ctx.magic.prompts.last_error(), model='gpt-5.2').text)"
)


@pytest.fixture
def asked(kernel: Kernel) -> Iterator[tuple[Kernel, list[dict[str, Any]]]]:
    """A kernel, and what its server was asked."""
    with serve(BODY) as (url, seen):
        kernel.run(LOAD.format(url=url))
        yield kernel, seen


def pictures(outputs: list[dict[str, Any]]) -> int:
    return sum("image/png" in output["content"].get("data", {}) for output in outputs)


def test_a_figure_of_an_earlier_cell_goes_along_and_is_shown_once(asked: Any) -> None:
    kernel, seen = asked
    assert pictures(kernel.run(PLOT)) == 1
    outputs = kernel.run(ASK, "a")
    assert not error(outputs)
    assert pictures(outputs) == 0
    assert "With fig (556 × 413, ~" in shown(outputs)
    assert "data:image/png;base64," in json.dumps(seen[-1])
    assert pictures(kernel.run("ax.plot([2, 2, 2]); fig")) == 1
    assert kernel.value("fig.dpi, plt.get_fignums()") == "100.0 []"


def test_ctrl_c_stops_what_is_slow_to_read_and_the_cell_says_what_it_reads(
    asked: Any, request: pytest.FixtureRequest
) -> None:
    kernel, seen = asked
    silent = socket.create_server(("127.0.0.1", 0))  # takes connections and says nothing
    request.addfinalizer(silent.close)
    word = f"http://127.0.0.1:{silent.getsockname()[1]}/page"
    message = kernel.ask(f"%%chat --allow-local -a {word}\nLook:", "a")
    while f"Reading {word}" not in str(kernel.client.get_iopub_msg(timeout=60)["content"]):
        pass  # that line comes after a second
    begun = time.monotonic()
    kernel.manager.interrupt_kernel()
    failed = error(kernel.outputs(message))
    assert failed is not None
    assert failed["ename"] == "ChatInterrupted"
    assert time.monotonic() - begun < 5
    assert len(failed["traceback"]) == 1
    assert seen == []
    assert kernel.value("40 + 2") == "42"


def test_the_failing_cell_and_another_one_are_told_apart(kernel: Kernel) -> None:
    kernel.run("def half(n):\n    return 1 / n")
    kernel.run("x = 0\nhalf(x)")
    sent = shown(kernel.run(SENT))
    assert '  File "Cell", line 2\n    half(x)\n  File "Another cell", line 2, in half\n    return 1 / n\n' in sent
    assert "The cell that failed:\n```\nx = 0\nhalf(x)\n```" in sent
    assert "ipykernel" not in sent
