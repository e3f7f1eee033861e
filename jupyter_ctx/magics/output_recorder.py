"""Record what the cells of a shell show: the error and the displays, beside what IPython keeps itself."""

from __future__ import annotations

import re
import sys
from binascii import b2a_base64
from dataclasses import dataclass
from time import time
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..attachments.errors import Failure

IMAGE_FORMS = ("image/png", "image/jpeg")
A_WIDGET = "application/vnd.jupyter.widget-view+json"
REGISTRATION = f"{__package__}.registration"  # whose ChatMagics.chat every use of %%chat passes through
OWN_HTML = "jctx-"  # in the HTML of answers, gauges and tables; their widgets have no text beside them
MOST_KEPT_BYTES = 20_000_000  # of all displays
DISPLAY_BYTES = 500  # that one takes beside its text
MOST_TEXT = 20_000  # characters of a display without an image
DROPPED = "(what was displayed here is not kept: later displays took its room)"


@dataclass(slots=True)
class Display:
    """One display of a cell, an image in base64 or a text, as IPython keeps outputs.

    number: of the cell
    name: by which it may be brought up to date
    """

    number: int
    name: str | None
    bundle: dict[str, str]
    output_type: str = "display_data"

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return DISPLAY_BYTES + sum(map(len, self.bundle.values()))


class Execution(NamedTuple):
    """One execution of a cell.

    number: as the notebook shows it
    cell: the cell's id; ``None`` where the front end does not tell
    code: as typed
    at: when it began, in seconds since 1970
    error: its traceback; empty where it raised nothing
    """

    number: int
    cell: str | None
    code: str
    at: float
    error: str = ""

    @property
    def key(self) -> str:
        """What tells the cell from others: its id, else its text."""
        return self.cell or self.code


class OutputRecorder:
    """Hears from IPython what the cells of one shell show.

    failure: the last error that a cell showed
    number: of the cell that runs, where it is counted
    executions: of cells, in order
    prompts: the numbers of those which sent a prompt
    marks: the verb that a cell was marked by last, by its key: ``pin``, ``exclude``, or what takes that back
    """

    def __init__(self, shell: Any) -> None:
        self.failure: Failure | None = None
        self.number: int | None = None
        self.executions: list[Execution] = []
        self.prompts: set[int] = set()
        self.marks: dict[str, str] = {}
        self._shell = shell
        self._displays: list[Display] = []
        self._size = 0  # of all of them
        self._outputs: dict[int, list[Any]] = {}
        self._error = id(getattr(sys, "last_value", None))  # of the last that IPython has shown, without holding it
        self._message: str | None = None  # which asked for the cell that runs

    @property
    def last_failure(self) -> Failure | None:
        """The last error: of a cell, else what Python keeps from before the extension; ``None``: there is none."""
        error = getattr(sys, "last_value", None)
        return self.failure or (failure_in(self._shell, error) if isinstance(error, BaseException) else None)

    @property
    def outputs(self) -> dict[int, list[Any]]:
        """What the cells showed, in order, by their numbers: what IPython keeps from 9 on, and displays among it."""
        outputs: dict[int, list[Any]] = getattr(self._shell.history_manager, "outputs", self._outputs)
        return outputs

    def before_cell(self, info: Any = None) -> None:
        """Note which cell runs: IPython counts it before it runs since 9.8, and after that before."""
        is_counted = getattr(info, "store_history", True)
        self.number = self._shell.displayhook.prompt_count if is_counted else None
        if self.number is not None:
            self.outputs.pop(self.number, None)  # of another cell, before %reset
        parent = self._shell.get_parent() if hasattr(self._shell, "kernel") else None
        self._message = ((parent or {}).get("header") or {}).get("msg_id")

    def after_cell(self, result: Any = None) -> None:
        """Note the error that a cell ended with, or showed and survived, as %run does."""
        last = getattr(sys, "last_value", None)
        raised = getattr(result, "error_before_exec", None) or getattr(result, "error_in_exec", None)
        error = raised or (last if id(last) != self._error else None)
        self._error = id(last)
        failure = failure_in(self._shell, error, result) if error is not None else None
        self.failure = failure or self.failure
        if self.number is not None and result is not None:
            ran, traceback = result.info, "".join(failure.parts) if failure is not None else ""
            self.executions.append(Execution(self.number, ran.cell_id, ran.raw_cell, time(), traceback))

    def on_display(self, message: dict[str, Any]) -> dict[str, Any]:
        """Note what a cell displays; the message goes on as it is."""
        kind, content = message.get("msg_type"), message.get("content", {})
        is_of_the_cell = (message.get("parent_header") or {}).get("msg_id") == self._message
        number = self.number if is_of_the_cell else None
        name = content.get("transient", {}).get("display_id")
        if kind == "update_display_data":
            for display in [each for each in self._displays if name and each.name == name]:
                display.bundle = _forms(content) or display.bundle
            self._size = sum(each.size for each in self._displays)
        elif kind == "display_data" and number is not None:
            self._keep(Display(number, name, _forms(content)))
        elif kind == "clear_output" and number is not None:
            self._displays = [each for each in self._displays if each.number != number]
            self._size = sum(each.size for each in self._displays)
            self.outputs.pop(number, None)
        return message

    def _keep(self, display: Display) -> None:
        """Keep a display, and forget the oldest where they are too large."""
        if not display.bundle:
            return
        self.outputs.setdefault(display.number, []).append(display)
        self._displays.append(display)
        self._size += display.size
        while self._size > MOST_KEPT_BYTES:
            oldest = self._displays.pop(0)
            self._size -= oldest.size
            oldest.bundle = {"text/plain": DROPPED}


def _forms(content: dict[str, Any]) -> dict[str, str]:
    """Return what a message displays; nothing where that is nothing to send, as a progress bar or an answer."""
    data, name = content.get("data", {}), content.get("transient", {}).get("display_id")
    for kind in IMAGE_FORMS:
        image = data.get(kind)
        if isinstance(image, str | bytes):
            return {kind: image if isinstance(image, str) else b2a_base64(image, newline=False).decode()}
    if name is not None or OWN_HTML in str(data.get("text/html", "")):
        return {}
    from ..attachments.printing import text_in

    other = next((kind for kind in data if kind.startswith("application/vnd.")), "")  # a chart, or a widget
    text = data.get("text/plain", "") if other else text_in(data)
    if not text and other in ("", A_WIDGET):
        return {}
    more = len(text) - MOST_TEXT
    cut = f"{text[:MOST_TEXT]}\n… {more:,} characters left out …" if more > 0 else text
    return {"text/plain": cut or f"({other})"}


def failure_in(shell: Any, error: BaseException, result: Any = None) -> Failure | None:
    """Return an exception that a cell showed; ``None`` for those of %%chat itself, and those that only end something.

    ``result`` is IPython's of the cell; without it, the cell is the first one in the traceback.
    """
    from ..attachments.errors import FAILED_CELL, IN_A_CELL, OTHER_CELL, failure_of

    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    is_ours = any(frame.f_globals.get("__name__") == REGISTRATION for frame in frames)
    is_exit = isinstance(error, SystemExit) and not error.code
    if is_ours or is_exit or isinstance(error, GeneratorExit):
        return None

    def number_of(file: str) -> int | None:
        named = shell.compile.format_code_name(file)
        digits = re.search(r"\d+", named[1]) if named else None
        return int(digits.group()) if digits else None

    numbers = (number_of(frame.f_code.co_filename) for frame in frames)
    number = getattr(result, "execution_count", None) or next(filter(None, numbers), None)
    if result is not None:
        cell = str(result.info.raw_cell)
    else:
        cell = "" if number is None else "".join(shell.history_manager.input_hist_raw[number : number + 1])

    def cell_name(file: str) -> str:
        other = number if file in IN_A_CELL else number_of(file)
        return "" if other is None else FAILED_CELL if number in (None, other) else OTHER_CELL

    cell = re.sub(r"^(\s*\n)+", "", cell)  # from its first line on that is not empty IPython counts
    return failure_of(error, cell_name, cell, number)
