"""What every request begins with: the system prompt, perhaps from a file, and the text of the memory file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ..context.budget import MARGIN
from ..conversation.text_safety import checked, clean
from ..errors import InvalidRequestError
from ..models.registry import Models, Target

DEFAULT_MEMORY = "preferences.md"  # beside the notebook
MEMORY_SHARE = 0.2  # of the limit, at most


def joined_system(system: str, memory: str) -> str:
    """Return the system prompt, read from its file where a line ``@PATH`` names one, with the memory file's text."""
    text = prompt_text(system)
    return checked(f"{text}\n\n{memory}".strip() if memory else text)


def prompt_text(system: str) -> str:
    """Return the text of the file where a system prompt is one line ``@PATH``, else the prompt itself.

    Raises InvalidRequestError for a file that cannot be read.
    """
    if not isinstance(system, str) or not system.startswith("@") or "\n" in system.strip():
        return system
    path = Path(system.strip()[1:]).expanduser()
    try:
        return path.read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        why = "is not text" if isinstance(error, ValueError) else "cannot be read"
        raise InvalidRequestError(
            f"The system prompt {system.strip()} names a file, and {path} {why} "
            f"(looked for in {Path.cwd() if not path.is_absolute() else path.parent})."
        ) from None


class _Read(NamedTuple):
    """What was read of a memory file: ``key`` tells whether that has changed, ``size`` is in estimated tokens."""

    path: Path
    key: tuple[object, ...] = ()
    text: str = ""
    size: float = 0.0
    problem: str = ""


class MemoryFile:
    """The user's own notes, which join every system prompt; read again when the file has changed.

    ``folder`` is the notebook's: the default file is looked for there, and nowhere without a folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._read: _Read | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the file as it was last read, a line each."""
        return (self._read.problem,) if self._read is not None and self._read.problem else ()

    def path(self, chosen: str | None) -> Path | None:
        """Return the chosen file, else the default one where it exists; an empty choice is no file."""
        if chosen:
            return (self._folder or Path()) / Path(chosen).expanduser()
        usual = self._folder / DEFAULT_MEMORY if self._folder is not None and chosen is None else None
        return usual if usual is not None and usual.is_file() else None

    def read(self, chosen: str | None, target: Callable[[], Target]) -> tuple[Path | None, str]:
        """Return the file and as much of its text as may be sent; ``target`` gives the limit and the tokenizer."""
        path = self.path(chosen)
        if path is None:
            self._read = None
            return None, ""
        where = target()
        cap = int(where.limit * MEMORY_SHARE * (1 - MARGIN))
        try:
            written = path.stat().st_mtime_ns if path.exists() else 0
            key = (path, written, cap, where.provider.tokenizer)
            if self._read is None or self._read.key != key:
                # a meter that has learned nothing cuts the file after a restart where it was cut before
                self._read = _fitted(path, key, cap, Models().meter(where.provider, where.settings).tokens)
        except InvalidRequestError as error:
            self._read = _Read(path, problem=f"{error} Nothing of it is sent.")
        return path, self._read.text

    def notice(self, *, changed: bool) -> str:
        """Return the line that says that the file last read joins the system prompt."""
        if self._read is None:
            return ""
        what = "has changed: it joins the system prompt with" if changed else "joins the system prompt:"
        return (
            f"{self._read.path.name} beside this notebook {what} about {self._read.size:,.0f} tokens of every request. "
            "%chat memory shows them, %chat memory off leaves them out."
        )


def memory_text(path: Path) -> str:
    """Return the text of a memory file. Raises InvalidRequestError where it is none."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        why = "is not UTF-8 text" if isinstance(error, ValueError) else f"cannot be read ({error.strerror})"
        raise InvalidRequestError(f"The memory file {path} {why}: name a text file.") from None
    if "\0" in text:
        raise InvalidRequestError(f"The memory file {path} is not UTF-8 text: name a text file.")
    return clean(text).strip()


def _fitted(path: Path, key: tuple[object, ...], cap: int, measure: Callable[[str], float]) -> _Read:
    """Return a memory file, or its first lines where it takes more than ``cap`` tokens."""
    text = memory_text(path)
    whole = measure(text)
    if whole <= cap:
        return _Read(path, key, text, whole)
    head = text[: int(len(text) * cap / whole)]
    while measure(head) > cap:
        head = head[: -max(len(head) // 20, 1)]
    head = head[: head.rfind("\n")] if "\n" in head else head
    size = measure(head)
    problem = (
        f"The memory file {path.name} has about {whole:,.0f} tokens, of which the first {size:,.0f} are sent: "
        f"it may take a fifth of the limit of a prompt, less a margin for the estimate ({cap:,}). Shorten it."
    )
    return _Read(path, key, head, size, problem)
