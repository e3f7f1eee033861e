"""What the cells of a shell have shown: the last error, the newest images, and the text of what else they displayed."""

from __future__ import annotations

import sys
from binascii import a2b_base64
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..attachments.errors import Failure

IMAGE_FORMS = ("image/png", "image/jpeg", "image/gif", "image/webp")
A_WIDGET, AN_SVG = "a widget", "an SVG picture"
OTHER_FORMS = {  # what is shown as a picture, and is not sent as one
    "image/svg+xml": AN_SVG,
    "application/vnd.plotly.v1+json": "a plotly chart",
    "application/vnd.vegalite": "an Altair chart",
    "application/vnd.bokehjs_exec.v0+json": "a Bokeh chart",
    "application/vnd.jupyter.widget-view+json": A_WIDGET,
}
OWN_HTML = "jctx-"  # in the HTML of answers, gauges and tables; their widgets have no text beside them
MOST_IMAGES, MOST_TEXTS = 20, 40
MOST_BASE64 = 66_000_000  # of all images in base64: 50 MB
MOST_TEXT = 20_000  # characters of a display without an image


class Display(NamedTuple):
    """One display of a cell.

    image: as in the message, bytes or base64; ``None`` where it is no image
    text: of what is no image
    what: what it is in words, where its text does not say much
    """

    number: int
    image: str | bytes | None = None
    text: str = ""
    what: str = ""
    display_id: str | None = None

    def content(self) -> bytes:
        """Return the bytes of the image."""
        return a2b_base64(self.image) if isinstance(self.image, str) else self.image or b""


class Displays:
    """What cells have displayed, the newest of it; ``dropped``: the cells of which something was forgotten for that."""

    def __init__(self) -> None:
        self._kept: list[Display] = []
        self.dropped: set[int] = set()

    def __iter__(self) -> Iterator[Display]:
        return iter(self._kept)

    def note(self, content: dict[str, Any], number: int) -> None:
        """Keep what a message displays in the cell of a number, and forget the oldest where it is too much."""
        display = _display(content, number)
        if display is None:
            return
        self._kept.append(display)
        same = [each for each in self._kept if (each.image is None) == (display.image is None)]
        if len(same) > (MOST_TEXTS if display.image is None else MOST_IMAGES):
            self._drop(same[0])
        while sum(len(each.image or each.text) for each in self._kept) > MOST_BASE64:
            self._drop(self._kept[0])

    def _drop(self, display: Display) -> None:
        self.dropped.add(display.number)
        self._kept.remove(display)

    def update(self, content: dict[str, Any]) -> None:
        """Replace a display that a message brings up to date."""
        name = content.get("transient", {}).get("display_id")
        for at, old in enumerate(self._kept):
            if name and old.display_id == name:
                self._kept[at] = _display(content, old.number) or old

    def clear(self, number: int) -> None:
        """Forget what a cell displayed."""
        self._kept = [each for each in self._kept if each.number != number]


def _display(content: dict[str, Any], number: int) -> Display | None:
    """Return what a message displays; ``None`` where that is nothing to send, as a progress bar or an answer."""
    from ..attachments.rich_text import text_in

    data, name = content.get("data", {}), content.get("transient", {}).get("display_id")
    for kind in IMAGE_FORMS:
        if isinstance(data.get(kind), str | bytes):
            return Display(number, data[kind], display_id=name)
    what = next((words for form, words in OTHER_FORMS.items() if any(key.startswith(form) for key in data)), "")
    if name is not None or OWN_HTML in str(data.get("text/html", "")):
        return None
    text = data.get("text/plain", "") if what else text_in(data)
    if what == AN_SVG:
        text = text_in({kind: data[kind] for kind in data if kind != "text/plain"})
        what = "" if text else what
    if not text and what in ("", A_WIDGET):
        return None
    more = len(text) - MOST_TEXT
    cut = f"{text[:MOST_TEXT]}\n… {more:,} characters left out …" if more > 0 else text
    return Display(number, None, cut, what, name)


class Shown:
    """What was shown in one shell; :meth:`before_cell`, :meth:`after_cell` and :meth:`on_display` are told of it.

    failure: the last error that a cell showed
    displays: the newest of what cells displayed
    number: of the cell that runs, where it is counted
    """

    def __init__(self, shell: Any) -> None:
        self.failure: Failure | None = None
        self.displays = Displays()
        self.number: int | None = None
        self._shell = shell
        self._error = id(getattr(sys, "last_value", None))  # of the last that IPython has shown, without holding it
        self._message: str | None = None  # which asked for the cell that runs

    def before_cell(self, info: Any = None) -> None:
        """Note which cell runs: IPython counts it before it runs since 9.8, and after that before."""
        is_counted = getattr(info, "store_history", True)
        self.number = self._shell.displayhook.prompt_count if is_counted else None
        parent = self._shell.get_parent() if hasattr(self._shell, "kernel") else None
        self._message = ((parent or {}).get("header") or {}).get("msg_id")

    def after_cell(self, result: Any = None) -> None:
        """Note the error that a cell ended with, or showed and survived, as %run does."""
        last = getattr(sys, "last_value", None)
        error = getattr(result, "error_before_exec", None) or getattr(result, "error_in_exec", None)
        if error is None and id(last) != self._error:
            error = last
        self._error = id(last)
        if error is not None:
            from .last_error import failure_in

            self.failure = failure_in(self._shell, error, result) or self.failure

    def on_display(self, message: dict[str, Any]) -> dict[str, Any]:
        """Note what a cell displays; the message goes on as it is."""
        kind = message.get("msg_type")
        number = self.number if (message.get("parent_header") or {}).get("msg_id") == self._message else None
        if kind == "update_display_data":
            self.displays.update(message["content"])
        elif kind == "display_data" and number is not None:
            self.displays.note(message["content"], number)
        elif kind == "clear_output" and number is not None:
            self.displays.clear(number)
        return message
