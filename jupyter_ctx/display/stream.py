"""An answer while it grows, and as it stays in the cell."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from IPython.display import display

from .markdown import bundle, plain_bundle, to_plain

UPDATES_A_SECOND = 12
BYTES_A_SECOND = 200_000


class AnswerView(Protocol):
    """Where an answer is shown: pieces as they come, then our lines below it."""

    @property
    def started(self) -> bool:
        """Whether any text came."""
        ...

    def begin(self) -> None:
        """Our own lines that stand above, before anything is sent."""
        ...

    def feed(self, piece: str) -> None:
        """One more piece."""
        ...

    def close(self, below: Sequence[str] = ()) -> None:
        """The end; with no text and no lines nothing is left in the cell."""
        ...


class NotebookView:
    """One output of the cell, updated by time and size, never for each token.

    ``above`` are our lines before the answer. ``streaming=False`` shows all once, at the
    end: headless runs keep every update.
    """

    def __init__(
        self,
        above: Sequence[str] = (),
        *,
        streaming: bool = True,
        plain: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._above = above
        self._pieces: list[str] = []
        self._length = 0
        self._streaming = streaming
        self._render = plain_bundle if plain else bundle
        self._clock = clock
        self._next = 0.0
        self._handle: Any = None

    @property
    def started(self) -> bool:
        """Whether any text came."""
        return bool(self._pieces)

    def begin(self) -> None:
        """Show the lines above the answer, where there are any."""
        if self._above and self._streaming:
            self._show(self._render("", self._above))

    def feed(self, piece: str) -> None:
        """One more piece; shown when it is time."""
        self._pieces.append(piece)
        self._length += len(piece)
        begun = self._clock()
        if self._streaming and begun >= self._next:
            forms = self._render("".join(self._pieces), self._above)
            self._show({name: forms[name] for name in ("text/html", "text/plain") if name in forms})
            cost = self._clock() - begun
            # slower for long answers: in bytes sent, and in the time that rendering takes
            self._next = begun + max(1 / UPDATES_A_SECOND, 1.3 * self._length / BYTES_A_SECOND, 4 * cost)

    def close(self, below: Sequence[str] = ()) -> None:
        """The whole answer in all its forms."""
        if self._pieces or below:
            self._show(self._render("".join(self._pieces), self._above, below))

    def _show(self, forms: dict[str, str]) -> None:
        if self._handle is None:
            self._handle = display(forms, raw=True, display_id=True)
        else:
            self._handle.update(forms, raw=True)


class TerminalView:
    """Plain text as it comes."""

    def __init__(self, above: Sequence[str] = ()) -> None:
        self._above = above
        self.started = False

    def begin(self) -> None:
        """Print the lines above the answer."""
        self._say(self._above)

    def feed(self, piece: str) -> None:
        """Print one more piece."""
        self.started = True
        print(to_plain(piece), end="", flush=True)

    def close(self, below: Sequence[str] = ()) -> None:
        """End the line; our own lines follow."""
        if self.started:
            print()
        self._say(below)

    def _say(self, lines: Sequence[str]) -> None:
        for line in lines:
            print(f"[{to_plain(line)}]")
