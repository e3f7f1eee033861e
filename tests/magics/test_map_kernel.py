"""``%%chat map`` in a real kernel: its bar and its card, Ctrl-C, and a run without a reader."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest
from jupyter_client import KernelManager
from kernels import VIEW, Kernel, error, shown
from server import events, piece, send, serve, usage

BODY = events(piece("Yes."), piece("", "stop"), usage(20, 2))


def slow(handler: Any, _: Any) -> None:
    time.sleep(0.15)
    send(handler, 200, BODY, "text/event-stream")


def load(url: str) -> str:
    return (
        f"%load_ext jupyter_ctx\n%chat use m --base-url {url} --window 4000\nmany = [f'word {{i}}' for i in range(400)]"
    )


def test_a_card_with_the_answers_stands_in_the_place_of_the_bar(kernel: Kernel) -> None:
    with serve(slow) as (url, _):
        kernel.run(load(url))
        outputs = kernel.run("%%chat map many --limit 5 --as few -o out\nSay {{ text }}")
        (bar,) = (each["content"] for each in outputs if VIEW in each["content"].get("data", {}))
        (card,) = (each["content"] for each in outputs if each["msg_type"] == "update_display_data")
        assert card["transient"] == bar["transient"]
        assert card["data"]["text/plain"].startswith("few: 5 rows, ")
        assert "jctx-card" in card["data"]["text/html"]
        assert card["data"]["text/html"].count('<th scope="row">') == 5
        said = [*filter(None, shown(outputs).splitlines())]
        assert said[0].startswith("5 requests to m: ")
        assert said[1].startswith("few: 5 rows, ")
        assert said[2:] == [], "the answers are on the card"
        assert kernel.value("len(out), _.equals(out)") == "5 True"
        assert kernel.value("get_ipython().user_ns['few']").startswith("Run(few: 5 of 5 answers")


def test_a_run_that_code_begins_has_its_card_when_it_has_ended_though_no_cell_waits(kernel: Kernel) -> None:
    with serve(slow) as (url, _):
        kernel.run(load(url) + "\nfrom jupyter_ctx import get_chat")
        begun = kernel.run("run = get_chat().map('Say {{ text }}', many, limit=5, name='behind')")
        (bar,) = (each["content"] for each in begun if VIEW in each["content"].get("data", {}))
        while (said := kernel.client.get_iopub_msg(timeout=60))["msg_type"] != "update_display_data":
            pass
    assert said["content"]["transient"] == bar["transient"]
    assert said["content"]["data"]["text/plain"].startswith("behind: 5 rows, ")


def test_a_cap_holds_for_all_runs_of_one_cell(kernel: Kernel) -> None:
    cell = "%%chat map many --limit 4 --prices 1000.0,10000 --max-tokens 100 --max-cost 1.2\nSay {{ text }}"
    with serve(slow) as (url, seen):
        kernel.run(load(url))
        assert error(kernel.run(cell)) is None
        kernel.run("many = [f'other {i}' for i in range(5)]")
        failed = error(kernel.run(cell))
        assert failed is not None
        assert failed["ename"] == "BudgetExceededError"
        assert "$1.04 is left of the limit" in failed["evalue"]
        assert len(seen) == 4


def test_an_interrupt_is_back_within_a_second_and_says_what_is_kept(kernel: Kernel, manager: KernelManager) -> None:
    with serve(slow) as (url, _):
        kernel.run(load(url))
        message = kernel.ask("%%chat map many --yes --as run -o out\nInterrupt {{ text }}", "cell")
        time.sleep(1.5)
        manager.interrupt_kernel()
        begun = time.monotonic()
        failed = error(kernel.outputs(message))
        took = time.monotonic() - begun
        assert failed is not None
        assert failed["ename"] == "ChatInterrupted"
        assert len(failed["traceback"]) == 1
        assert "of 400 answers are kept; running it again asks only the other" in failed["evalue"]
        assert took < 1.5, took  # a second, on a machine that has other work
        assert int(kernel.value("len(out)")) == 400
        assert 0 < int(kernel.value("out.asked.sum()")) == int(kernel.value("run.progress.done")) < 400


def test_a_map_without_a_reader_shows_no_widget_and_one_line_of_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_CTX_STORE", "memory")
    with serve(slow) as (url, _):
        notebook = nbformat.v4.new_notebook()
        plain_map = "from jupyter_ctx import get_chat\n_ = get_chat().map('Tell {{ text }}', many, limit=2).result()"
        sources = (load(url), "%%chat map many --limit 3\nSay {{ text }}", plain_map)
        notebook.cells = [nbformat.v4.new_code_cell(source) for source in sources]
        nbclient.NotebookClient(notebook, kernel_name="python3").execute(cwd=str(tmp_path))
    _, mapped, plain = (cell.outputs for cell in notebook.cells)
    assert [each.output_type for each in mapped] == ["stream", "display_data", "stream"]
    assert mapped[-1].text.startswith("3 rows, ")
    assert plain == [], "the code has the run's table, and may print it"
