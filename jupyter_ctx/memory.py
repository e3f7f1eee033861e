"""The memory file: the user's own notes, which join the system prompt of every request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from .context.summary import within
from .sendable import clean

USUAL = "preferences.md"  # beside the notebook
SHARE = 0.2  # of the limit, at most


class _Read(NamedTuple):
    key: tuple[object, ...]
    text: str


class MemoryFile:
    """Reads it again when it has changed. ``folder`` is the notebook's; without one nothing is looked for."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.problems: list[str] = []  # a line each, of the file as it is now
        self._read = _Read((), "")

    def path(self, said: str | None) -> Path | None:
        """The file: what was said, else the usual one where it is there."""
        if said:
            return (self.folder or Path()) / Path(said).expanduser()
        usual = self.folder / USUAL if self.folder is not None and said is None else None
        return usual if usual is not None and usual.is_file() else None

    def text(self, path: Path, limit: int, measure: Callable[[str], float]) -> str:
        """What the file says now, as much of it as may be sent; ``limit`` is that of the whole prompt."""
        cap = int(limit * SHARE)
        try:
            found = path.stat()
            key = (path, found.st_mtime_ns, found.st_size, cap)
            if key != self._read.key:
                self._read = _Read(key, self._capped(path, clean(path.read_text("utf-8")), cap, measure))
        except (OSError, ValueError) as error:
            why = "is not UTF-8 text" if isinstance(error, ValueError) else "cannot be read"
            self._read, self.problems = _Read((), ""), [f"The memory file {path} {why}: nothing of it is sent."]
        return self._read.text

    def _capped(self, path: Path, text: str, cap: int, measure: Callable[[str], float]) -> str:
        size, self.problems = measure(text), []
        if size <= cap:
            return text.strip()
        text = within(text, cap, measure)
        if measure(text) > cap:
            text = ""
        self.problems = [
            f"The memory file {path.name} has about {size:,.0f} tokens: its first {measure(text):,.0f} are sent, "
            f"for it may take a fifth of what a prompt may have ({cap:,})."
        ]
        return text
