"""A screen in place of the page: keeps all that a live output displays, and when."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

PARAGRAPH = (
    "The **quick** brown fox jumps over the lazy dog, and then it sits down to think about "
    "what it has done for a while, as `foxes` do, until the evening comes.\n\n"
)
CODE = "```python\ndef area(radius: float) -> float:\n    return math.pi * radius**2\n```\n\n"
ANSWER = (4 * PARAGRAPH + "## And so on\n\n" + CODE + "- one\n- two\n- *three*\n\n") * 20
LETTERS_A_TOKEN = 4.4


class Screen:
    """What was shown, each time in all its forms, and when by this clock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.shown: list[dict[str, str]] = []
        self.times: list[float] = []
        self.clock = clock

    def display(self, forms: dict[str, str], **_: Any) -> Screen:
        self.update(forms)
        return self

    def update(self, forms: dict[str, str], **_: Any) -> None:
        self.shown.append(forms)
        self.times.append(self.clock())

    @property
    def text(self) -> str:
        """The words that are shown now."""
        page = next(iter(self.shown[-1].values()), "") if self.shown else ""
        return re.sub(r"<style>.*?</style>|<[^>]*>", "", page)

    def wait_for(self, text: str) -> float:
        """How long it took until the last update had it."""
        begun = time.monotonic()
        while not self.shown or not any(text in form for form in self.shown[-1].values()):
            assert time.monotonic() - begun < 10, f"{text!r} was never shown"
            time.sleep(0.005)
        return time.monotonic() - begun


class Unshown:
    """A watcher of answers side by side that shows nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None
