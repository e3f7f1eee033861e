"""Figures and values of a real kernel: shown once, kept over a restart, and stopped by Ctrl-C."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS
from jupyter_client import KernelManager
from kernels import Kernel, error, shown
from server import send, serve

BODY = DIALECTS["completions"].answer("I see.")
LOAD = "%load_ext jupyter_ctx\n%chat use m --base-url {url}\nfrom jupyter_ctx import get_chat"
PLOT = """
%matplotlib inline
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.plot([1, 3, 2]);
"""
ASK = "%%chat -a fig\nWhat does it show?"


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[KernelManager]:
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env={**os.environ, "JPY_SESSION_NAME": str(tmp_path / "x.ipynb")})
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.fixture
def asked(manager: KernelManager) -> Iterator[tuple[Kernel, str, list[dict[str, Any]]]]:
    """A kernel, the address of a server, and what the server was asked."""
    with serve(lambda handler, _: send(handler, 200, BODY, "text/event-stream")) as (url, seen):
        kernel = Kernel(manager)
        kernel.run(LOAD.format(url=url))
        yield kernel, url, seen
        kernel.client.stop_channels()


def pictures(outputs: list[dict[str, Any]]) -> int:
    return sum("image/png" in output["content"].get("data", {}) for output in outputs)


def test_a_figure_of_an_earlier_cell_goes_along_and_a_restart_keeps_its_answer(
    asked: tuple[Kernel, str, list[dict[str, Any]]],
) -> None:
    kernel, url, seen = asked
    assert pictures(kernel.run(PLOT)) == 1
    outputs = kernel.run(ASK, "a")
    assert not error(outputs)
    assert pictures(outputs) == 0
    assert "fig (image, " in shown(outputs)
    assert "data:image/png;base64," in json.dumps(seen[-1])
    assert pictures(kernel.run("ax.plot([2, 2, 2]); fig")) == 1
    assert kernel.value("fig.dpi, plt.get_fignums()") == "100.0 []"
    before = len(seen)
    kernel.client.stop_channels()
    kernel.manager.restart_kernel(now=True)
    again = Kernel(kernel.manager)
    again.run(LOAD.format(url=url))
    assert again.value("get_chat().turns[0].record.sources[0][:10]") == "fig (image"
    assert again.value("get_chat().turns[0].attachments[0].name") == "fig"
    again.run(PLOT)
    assert "tored answer; nothing was sent" in shown(again.run(ASK, "a"))
    assert len(seen) == before
    again.run("ax.plot([2, 2, 2])")
    assert "tored answer" not in shown(again.run(ASK, "a"))
    assert len(seen) == before + 1
    again.client.stop_channels()


SLOW = """
import time
class Slow:
    def __repr__(self):
        time.sleep(30)
slow = Slow()
import jupyter_ctx.attachments.values
"""


def test_a_value_that_is_slow_to_show_itself_is_stopped_and_ctrl_c_stops_it_at_once(
    asked: tuple[Kernel, str, list[dict[str, Any]]],
) -> None:
    kernel, _, seen = asked
    kernel.run(SLOW)
    message = kernel.ask("%%chat -a slow\nLook:", "a")
    time.sleep(1)
    begun = time.monotonic()
    kernel.manager.interrupt_kernel()
    failed = error(kernel.outputs(message))
    assert failed is not None
    assert failed["ename"] == "ChatInterrupted"
    assert time.monotonic() - begun < 5
    kernel.run("jupyter_ctx.attachments.values.READ_SECONDS = 0.3")
    failed = error(kernel.run("%%chat -a slow\nLook:"))
    assert failed is not None
    assert failed["evalue"].startswith("slow took more than 0.3 s to be shown, and was stopped.")
    assert len(failed["traceback"]) == 1
    assert seen == []
