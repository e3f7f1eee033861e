"""Cells run in a plain IPython shell."""

from __future__ import annotations

from collections.abc import Callable

from IPython.core.completer import Completion, provisionalcompleter
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

    def outcome(self, source: str) -> tuple[BaseException | None, str]:
        """Run a cell, and return its error, if any, and what it printed and displayed."""
        with capture_output() as output:
            result = self.shell.run_cell(source)
        error = result.error_before_exec or result.error_in_exec
        forms = [display.data.get("text/plain", "") for display in output.outputs]
        text = "\n".join([str(output.stdout), *forms])
        assert error is None or "Traceback" not in text + output.stderr, text + output.stderr
        return error, text

    def run(self, source: str) -> str:
        """Run a cell that must succeed, and return what it printed and displayed."""
        error, text = self.outcome(source)
        assert error is None, f"{source!r}: {error!r}"
        return text

    def fail(self, source: str) -> BaseException:
        """Run a cell that must fail, and return its error."""
        error, text = self.outcome(source)
        assert error is not None, f"{source!r} did not fail: {text}"
        return error

    def completed(self, text: str, after: str = "") -> list[Completion]:
        """Return what Tab offers at the end of a text, before what stands after it."""
        self.shell.Completer.use_jedi = False
        with provisionalcompleter():
            return list(self.shell.Completer.completions(text + after, len(text)))

    def lines(self, text: str, after: str = "") -> list[str]:
        """Return what the last line of a text is with each word that Tab offers."""
        return [(text[: word.start] + word.text).rpartition("\n")[2] for word in self.completed(text, after)]


Open = Callable[..., Cells]
