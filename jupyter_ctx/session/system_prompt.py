"""What every request begins with: the system prompt, perhaps from a file, and the text of the memory file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from math import ceil
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


def check_memory(path: Path) -> None:
    """Raise InvalidRequestError where a file cannot be the memory file, saying why."""
    if path.is_dir():
        raise InvalidRequestError(f"{path} is a folder: name a text file. The memory file has not changed.")
    if not path.is_file():
        raise InvalidRequestError(f"There is no memory file {path}: make it, or name another one.")
    try:
        binary = "\0" in path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        binary = True
    except OSError as error:
        why = f"cannot be read ({error.strerror})"
        raise InvalidRequestError(f"{path} {why}: name another file. The memory file has not changed.") from None
    if binary:
        raise InvalidRequestError(f"{path} is not UTF-8 text: name a text file. The memory file has not changed.")


class _Read(NamedTuple):
    """The part of a memory file that is sent, with its size in estimated tokens and its problem, if any."""

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
        cap = int(where.budget().limit * MEMORY_SHARE * (1 - MARGIN))
        try:
            status = path.stat()
            key = (path, status.st_mtime_ns, status.st_size, cap, where.provider.tokenizer)
            if self._read is None or self._read.key != key:
                # a meter that has learned nothing cuts the file after a restart where it was cut before
                meter = Models().meter(where.provider, where.settings)
                self._read = _capped(path, key, cap, meter.tokens)
        except (OSError, ValueError) as error:
            why = "is not UTF-8 text" if isinstance(error, ValueError) else "cannot be read"
            self._read = _Read(path, problem=f"The memory file {path} {why}: nothing of it is sent.")
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


def _capped(path: Path, key: tuple[object, ...], cap: int, measure: Callable[[str], float]) -> _Read:
    text = clean(path.read_text("utf-8-sig")).strip()
    whole = measure(text)
    if whole <= cap:
        return _Read(path, key, text, whole)
    head = _head(text, cap, measure)
    size = measure(head)
    problem = (
        f"The memory file {path.name} has about {whole:,.0f} tokens, of which the first {size:,.0f} are sent: "
        f"it may take a fifth of the limit of a prompt, less a margin for the estimate ({cap:,}). Shorten it."
    )
    return _Read(path, key, head, size, problem)


def _head(text: str, cap: int, measure: Callable[[str], float]) -> str:
    """Return the beginning of a text in at most ``cap`` tokens: whole lines, or words where lines are long."""
    end = bisect_right(range(len(text)), cap, key=lambda length: ceil(measure(text[:length]))) - 1
    line, word = text.rfind("\n", 0, end), text.rfind(" ", 0, end)
    return text[: line if line > end // 2 else max(word, line) if max(word, line) > 0 else end].rstrip()
