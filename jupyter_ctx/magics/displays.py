"""The newest images that cells displayed, and the text of what else they displayed."""

from __future__ import annotations

from base64 import b64decode
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

IMAGE_FORMS = ("image/png", "image/jpeg", "image/gif", "image/webp")
A_WIDGET = "a widget"
OTHER_FORMS = {  # what is shown as a picture, and is not sent as one
    "image/svg+xml": "an SVG picture",
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

    @property
    def size(self) -> int:
        """The bytes or characters that it takes."""
        return len(self.image or self.text)

    def content(self) -> bytes:
        """Return the bytes of the image."""
        return b64decode(self.image) if isinstance(self.image, str) else self.image or b""


class Displays:
    """What cells have displayed, the newest of it."""

    def __init__(self) -> None:
        self._kept: deque[Display] = deque()
        self.dropped: set[int] = set()  # cells of whose displays something was forgotten to make room

    def __iter__(self) -> Iterator[Display]:
        return iter(self._kept)

    def note(self, content: dict[str, Any], number: int) -> None:
        """Keep what a message displays in the cell of a number, and forget the oldest where it is too much."""
        found = _display(content, number)
        if found is None:
            return
        self._kept.append(found)
        same = [at for at, each in enumerate(self._kept) if (each.image is None) == (found.image is None)]
        if len(same) > (MOST_TEXTS if found.image is None else MOST_IMAGES):
            self.dropped.add(self._kept[same[0]].number)
            del self._kept[same[0]]
        while sum(each.size for each in self._kept) > MOST_BASE64:
            self.dropped.add(self._kept.popleft().number)

    def update(self, content: dict[str, Any]) -> None:
        """Replace a display that a message brings up to date."""
        name = content.get("transient", {}).get("display_id")
        for at, old in enumerate(self._kept):
            if name and old.display_id == name:
                self._kept[at] = _display(content, old.number) or old

    def clear(self, number: int) -> None:
        """Forget what a cell displayed."""
        self._kept = deque(each for each in self._kept if each.number != number)


def _display(content: dict[str, Any], number: int) -> Display | None:
    """Return what a message displays; ``None`` where that is nothing to send, as a progress bar or an answer."""
    data, name = content.get("data", {}), content.get("transient", {}).get("display_id")
    for kind in IMAGE_FORMS:
        if isinstance(data.get(kind), str | bytes):
            return Display(number, data[kind], display_id=name)
    what = next((words for form, words in OTHER_FORMS.items() if any(key.startswith(form) for key in data)), "")
    text = data.get("text/plain", "")
    ours = OWN_HTML in str(data.get("text/html", "")) or (what == A_WIDGET and not text)
    if name is not None or ours or not isinstance(text, str) or not (what or text):
        return None
    more = len(text) - MOST_TEXT
    cut = f"{text[:MOST_TEXT]}\n… {more:,} characters left out …" if more > 0 else text
    return Display(number, None, cut, what, name)
