"""The memory file: the user's own notes, which join the system prompt of every request."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import NamedTuple

from ..context.budget import MARGIN
from ..conversation.text_safety import clean

USUAL = "preferences.md"  # beside the notebook
SHARE = 0.2  # of the limit, at most


class Ruler(NamedTuple):
    """Who measures texts in tokens: always alike, so that a file is cut after a restart where it was before."""

    name: str
    measure: Callable[[str], float]


class _Read(NamedTuple):
    key: tuple[object, ...]
    text: str


class MemoryFile:
    """Reads it again when it has changed. ``folder`` is the notebook's; without one nothing is looked for."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.problems: list[str] = []  # a line each, of the file as it is now
        self._read = _Read((), "")
        self.size = 0.0  # of what is sent, estimated

    def path(self, said: str | None) -> Path | None:
        """The file: what was said, else the usual one where it is there."""
        if said:
            return (self.folder or Path()) / Path(said).expanduser()
        usual = self.folder / USUAL if self.folder is not None and said is None else None
        return usual if usual is not None and usual.is_file() else None

    def forget(self) -> None:
        """There is no file now."""
        self.problems, self._read = [], _Read((), "")

    def text(self, path: Path, limit: int, ruler: Ruler) -> str:
        """What the file says now, as much of it as may be sent; ``limit`` is that of the whole prompt."""
        cap = int(limit * SHARE * (1 - MARGIN))
        try:
            found = path.stat()
            key = (path, found.st_mtime_ns, found.st_size, cap, ruler.name)
            if key != self._read.key:
                self.problems = []
                self._read = _Read(key, self._capped(path, cap, ruler.measure))
        except (OSError, ValueError) as error:
            why = "is not UTF-8 text" if isinstance(error, ValueError) else "cannot be read"
            self._read, self.problems = _Read((), ""), [f"The memory file {path} {why}: nothing of it is sent."]
        return self._read.text

    def _capped(self, path: Path, cap: int, measure: Callable[[str], float]) -> str:
        text = clean(path.read_text("utf-8-sig")).strip()
        size = measure(text)
        if size <= cap:
            self.size = size
            return text
        head = _head(text, cap, measure)
        self.size = measure(head)
        self.problems = [
            f"The memory file {path.name} has about {size:,.0f} tokens: its first {self.size:,.0f} are sent, "
            f"for it may take a fifth of what a prompt may have, less a margin for the estimate ({cap:,})."
        ]
        return head


def _head(text: str, cap: int, measure: Callable[[str], float]) -> str:
    """The beginning of a text that takes at most so many tokens: whole lines, or words where those are long."""
    end = bisect_right(range(len(text)), cap, key=lambda length: ceil(measure(text[:length]))) - 1
    line, word = text.rfind("\n", 0, end), text.rfind(" ", 0, end)
    return text[: line if line > end // 2 else max(word, line) if max(word, line) > 0 else end].rstrip()
