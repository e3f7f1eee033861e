"""``%chat probe``: how far the model holds, asked of it, with the price told before and the progress in one line."""

from __future__ import annotations

from typing import Any

from IPython.display import display

from ..display.text import plain_forms
from ..runtime.frontend import where
from .command_table import Call, say
from .line_options import settings_of
from .run_commands import agreed
from .variables import check_new_name

OF_A_PROBE = ("task", "max_total", "longest", "seed")


def probe_model(call: Call) -> object:
    """Probe a model, show what was found, and store it. Raises UsageError and a ChatError."""
    options, shell = call.options, call.host.shell
    if options.out is not None:
        check_new_name("-o", options.out)
    own = {name: getattr(options, name) for name in OF_A_PROBE}
    given = {**settings_of(options), **own, "max_cost": options.cap}
    if call.words:
        given["model"] = call.one("a model, such as openai/gpt-5.2")
    given = {name: value for name, value in given.items() if value is not None}
    told = ProgressLine(shell)
    found = call.chat.probe(**given, grid=options.grid, yes=options.yes, agree=agreed, tell=told.tell)
    if options.out is not None:
        shell.user_ns[options.out] = found
    display(found)
    return None


class ProgressLine:
    """The price in a line, and in an open notebook below it one that is written anew after each step."""

    def __init__(self, shell: Any) -> None:
        self._is_live = where(shell).kind == "notebook"
        self._price, self._handle = "", None

    def tell(self, line: str) -> None:
        """Show the price, which is the first line, or how far the probe is."""
        if not self._price:
            self._price = line
            say(line)
        elif self._handle is not None:
            self._handle.update(plain_forms(line), raw=True)
        elif self._is_live:
            self._handle = display(plain_forms(line), raw=True, display_id=True)
