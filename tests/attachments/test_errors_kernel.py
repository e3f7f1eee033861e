"""The last error in a real kernel: its cells have file names of their own, run asynchronously, are interrupted."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client import KernelManager
from kernels import Kernel, shown

SENT = "print(get_chat().attached_error(get_ipython()._jupyter_ctx.magic.last_error(), model='gpt-5').text)"


@pytest.fixture(scope="module")
def manager() -> Iterator[KernelManager]:
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env={**os.environ, "JUPYTER_CTX_STORE": "memory"})
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(manager: KernelManager) -> Iterator[Kernel]:
    manager.restart_kernel(now=True)
    kernel = Kernel(manager)
    kernel.run("%load_ext jupyter_ctx\nfrom jupyter_ctx import get_chat")
    yield kernel
    kernel.client.stop_channels()


def told(kernel: Kernel, source: str) -> str:
    """What is sent of the error of a cell."""
    kernel.run(source)
    return shown(kernel.run(SENT))


def test_functions_of_other_cells_are_told_by_the_numbers_of_their_cells(kernel: Kernel) -> None:
    kernel.run("def half(n):\n    return 1 / n")
    sent = told(kernel, "x = 0\nhalf(x)")
    assert "Cell [3], line 2\n    1 x = 0\n--> 2 half(x)\nCell [2], line 2, in half\n" in sent
    assert "The cell [3]:\n```\nx = 0\nhalf(x)\n```" in sent
    assert "ipykernel" not in sent


def test_a_cell_that_runs_asynchronously_is_told_as_any_other(kernel: Kernel) -> None:
    sent = told(
        kernel, "import asyncio\nasync def wait():\n    await asyncio.sleep(0)\n    raise OSError('gone')\nawait wait()"
    )
    assert "Cell [2], line 5\n" in sent
    assert "Cell [2], line 4, in wait\n" in sent
    assert "OSError: gone" in sent


def test_a_group_of_errors_is_told_with_each_of_them(kernel: Kernel) -> None:
    sent = told(
        kernel,
        "def f(n):\n    raise ValueError(n)\nimport asyncio\nasync def run():\n"
        "    async with asyncio.TaskGroup() as group:\n"
        "        group.create_task(asyncio.to_thread(f, 1))\nawait run()",
    )
    assert "ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)" in sent
    assert "  Cell [2], line 2, in f\n" in sent
    assert "  ValueError: 1\n" in sent


def test_where_an_interrupted_cell_was_is_told(kernel: Kernel) -> None:
    message = kernel.ask("import time\nprint('begun')\ntime.sleep(60)", "slow")
    time.sleep(0.5)
    kernel.manager.interrupt_kernel()
    kernel.outputs(message)
    sent = shown(kernel.run(SENT))
    assert "--> 3 time.sleep(60)\nKeyboardInterrupt" in sent


def test_a_module_that_cannot_be_imported_is_told_with_its_line(kernel: Kernel, tmp_path: Path) -> None:
    (tmp_path / "broken_module.py").write_text("x = 1\ny = (\n")
    sent = told(kernel, f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport broken_module")
    assert "--> 3 import broken_module\n" in sent
    assert "broken_module.py, line 2\n  y = (\n      ^\nSyntaxError: '(' was never closed" in sent


def test_the_cell_goes_along_without_its_variables_after_the_page_is_gone(kernel: Kernel) -> None:
    kernel.run(
        "secret = 'value' + ' of a variable'\nimport numpy\nlarge = numpy.ones(10**7)\nlarge + numpy.ones(3)", "a"
    )
    other = Kernel(kernel.manager)  # as a page that is loaded anew
    sent = shown(other.run(SENT))
    other.client.stop_channels()
    assert "ValueError: operands could not be broadcast together" in sent
    assert "value of a variable" not in sent
