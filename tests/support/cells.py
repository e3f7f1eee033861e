"""Cells run in a plain IPython shell."""

from __future__ import annotations

from collections.abc import Callable

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config


def plain_shell() -> InteractiveShell:
    """Return a new IPython shell without a history, in the place of the one before it."""
    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    return InteractiveShell.instance(config=config)


class Cells:
    """Cells run one after the other in a plain shell."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell

    def run(self, source: str) -> str:
        """Run a cell that must succeed, and return what it printed and displayed."""
        with capture_output() as said:
            result = self.shell.run_cell(source)
        assert result.success, f"{source!r}: {said.stdout}{said.stderr}{result.error_in_exec!r}"
        shown = [output.data.get("text/plain", "") for output in said.outputs]
        return "\n".join([str(said.stdout), *shown])

    def fail(self, source: str) -> BaseException:
        """Run a cell that must fail, and return its error."""
        with capture_output() as said:
            result = self.shell.run_cell(source)
        error = result.error_before_exec or result.error_in_exec
        assert error is not None, f"{source!r} did not fail: {said.stdout}"
        shown = said.stdout + said.stderr
        assert "Traceback" not in shown, shown
        return error


Open = Callable[..., Cells]
