"""What every request begins with: the system prompt, perhaps from a file, and the text of the memory file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

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


def memory_text(path: Path) -> str:
    """Return the text of a memory file. Raises InvalidRequestError where it is none."""
    try:
        text = path.read_text("utf-8-sig")
        why = "is not UTF-8 text" if "\0" in text else ""
    except (OSError, ValueError) as error:
        why = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else "is not UTF-8 text"
    if why:
        raise InvalidRequestError(f"The memory file {path} {why}: name a text file.")
    return clean(text).strip()


class MemoryFile:
    """The user's own notes, which join every system prompt; read again when the file has changed.

    ``folder`` is the notebook's: the default file is looked for there, and nowhere without a folder.
    ``problems`` says what is wrong with the file as it was last read, a line each.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._key: tuple[object, ...] = ()  # what decides the text that was read last
        self._text, self._size = "", 0.0
        self.problems: tuple[str, ...] = ()

    def path(self, chosen: str | None) -> Path | None:
        """Return the chosen file, else the default one where it exists; an empty choice is no file."""
        if chosen:
            return (self._folder or Path()) / Path(chosen).expanduser()
        if chosen is not None or self._folder is None:
            return None
        usual = self._folder / DEFAULT_MEMORY
        return usual if usual.is_file() else None

    def read(self, chosen: str | None, target: Callable[[], Target]) -> tuple[Path | None, str]:
        """Return the file and as much of its text as may be sent; ``target`` gives the limit and the tokenizer."""
        path = self.path(chosen)
        if path is None:
            self._key, self.problems = (), ()
            return None, ""
        where = target()
        cap = int(where.limit * MEMORY_SHARE * (1 - MARGIN))
        written = path.stat().st_mtime_ns if path.exists() else 0
        key = (path, written, cap, where.provider.tokenizer)
        if key != self._key:
            self._key, self._text, self.problems = key, "", ()
            # a meter that has learned nothing cuts the file after a restart where it was cut before
            measure = Models().meter(where.provider, where.settings).tokens
            try:
                self._fit(path, cap, measure)
            except InvalidRequestError as error:
                self.problems = (f"{error} Nothing of it is sent.",)
        return path, self._text

    def _fit(self, path: Path, cap: int, measure: Callable[[str], float]) -> None:
        """Read the file, or its first lines where it takes more than ``cap`` tokens."""
        text = memory_text(path)
        whole = size = measure(text)
        if whole > cap:
            text = text[: int(len(text) * cap / whole)]
            while measure(text) > cap:
                text = text[: -max(len(text) // 20, 1)]
            text = text[: text.rfind("\n")] if "\n" in text else text
            size = measure(text)
            self.problems = (
                f"The memory file {path.name} has about {whole:,.0f} tokens, of which the first {size:,.0f} are sent: "
                f"it may take a fifth of the limit of a prompt, less a margin for the estimate ({cap:,}). Shorten it.",
            )
        self._text, self._size = text, size

    def notice(self, path: Path, *, changed: bool) -> str:
        """Return the line that says that the file last read joins the system prompt."""
        what = "has changed: it joins the system prompt with" if changed else "joins the system prompt:"
        return (
            f"{path.name} beside this notebook {what} about {self._size:,.0f} tokens of every request. "
            "%chat memory shows them, %chat memory off leaves them out."
        )
