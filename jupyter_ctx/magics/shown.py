"""What the cells of a shell have shown: the last error, and the newest images that were displayed."""

from __future__ import annotations

import sys
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..attachments.tracebacks import Failure

IMAGE_FORMS = ("image/png", "image/jpeg", "image/gif", "image/webp")
OTHER_FORMS = {  # what is shown as a picture, and is not sent as one
    "image/svg+xml": "an SVG picture",
    "application/vnd.plotly.v1+json": "a plotly chart",
    "application/vnd.vegalite": "an Altair chart",
    "application/vnd.bokehjs_exec.v0+json": "a Bokeh chart",
    "application/vnd.jupyter.widget-view+json": "a widget",
}
MOST_IMAGES = 20
MOST_BASE64 = 66_000_000  # of all images in base64: 50 MB
MOST_TEXT = 20_000  # characters of a display without an image


class Display(NamedTuple):
    """One display of a cell: ``kind`` is the media type of ``data``, an image in base64, or "" where that is text.

    ``what`` says in words what it is where it is neither.
    """

    number: int
    kind: str
    data: str
    what: str = ""
    display_id: str | None = None


class Shown:
    """What was shown in one shell; :meth:`before_cell`, :meth:`after_cell` and :meth:`on_display` are told of it."""

    def __init__(self, shell: Any) -> None:
        self.failure: Failure | None = None
        self.displays: deque[Display] = deque()
        self._shell = shell
        self._error = id(getattr(sys, "last_value", None))  # of the last that IPython has shown, without holding it
        self._number: int | None = None
        self._message: str | None = None  # which asked for the cell that runs

    def before_cell(self, info: Any = None) -> None:
        """Note which cell runs: IPython counts it before it runs since 9.8, and after that before."""
        is_counted = getattr(info, "store_history", True)
        self._number = self._shell.displayhook.prompt_count if is_counted else None
        parent = self._shell.get_parent() if hasattr(self._shell, "kernel") else None
        self._message = ((parent or {}).get("header") or {}).get("msg_id")

    def after_cell(self, result: Any = None) -> None:
        """Note the error that a cell ended with, or showed and survived, as %run does."""
        error, last = _error_of(result), getattr(sys, "last_value", None)
        if error is None and last is not None and id(last) != self._error:
            error = last
        self._error = id(last)
        if error is not None:
            from .last_error import failure_in

            self.failure = failure_in(self._shell, error, result) or self.failure

    def on_display(self, message: dict[str, Any]) -> dict[str, Any]:
        """Note an image that a cell displays; the message goes on as it is."""
        kind = message.get("msg_type")
        if self._number is not None and (message.get("parent_header") or {}).get("msg_id") == self._message:
            if kind == "display_data":
                self._note(message["content"])
            elif kind == "clear_output":
                self._forget(lambda each: each.number == self._number)
        if kind == "update_display_data":
            self._update(message["content"])
        return message

    def _note(self, content: dict[str, Any], number: int | None = None) -> None:
        found = _display(content, self._number if number is None else number)
        if found is None:
            return
        self.displays.append(found)
        while len(self.displays) > MOST_IMAGES or sum(len(each.data) for each in self.displays) > MOST_BASE64:
            self.displays.popleft()

    def _update(self, content: dict[str, Any]) -> None:
        """Replace what a display showed that is brought up to date."""
        name = content.get("transient", {}).get("display_id")
        at = next((i for i, each in enumerate(self.displays) if name and each.display_id == name), None)
        if at is not None:
            found = _display(content, self.displays[at].number)
            self.displays[at] = found or self.displays[at]

    def _forget(self, fits: Any) -> None:
        self.displays = deque(each for each in self.displays if not fits(each))


def _display(content: dict[str, Any], number: int | None) -> Display | None:
    """Return what a message displays; ``None`` where that is nothing to send, as a progress bar or an answer."""
    data, name = content.get("data", {}), content.get("transient", {}).get("display_id")
    for kind in IMAGE_FORMS:
        if isinstance(data.get(kind), str) and number is not None:
            return Display(number, kind, data[kind], "", name)
    what = next((words for form, words in OTHER_FORMS.items() if any(key.startswith(form) for key in data)), "")
    text = data.get("text/plain", "")
    if number is None or name is not None or not isinstance(text, str) or not (what or text):
        return None
    return Display(number, "", text[:MOST_TEXT], what, name)


def _error_of(result: Any) -> BaseException | None:
    """Return the exception that a cell ended with."""
    found: BaseException | None = getattr(result, "error_before_exec", None) or getattr(result, "error_in_exec", None)
    return found
