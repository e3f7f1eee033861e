"""One thing that goes with a prompt, the room that it may take, and the user's own code that reading it runs."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import NamedTuple
from warnings import catch_warnings

from ..context.vision import UNKNOWN_VISION, Vision
from ..conversation.messages import Attachment
from ..conversation.text_safety import clean
from ..runtime.redaction import Redactor, blanked_line
from ..wording import counted

LONG_ERROR = 300  # characters
ATTACH_INSTEAD = "Attach a part of it, or its text: store that in a variable first. Nothing was sent."
MOST_SHARE = 0.5  # of the limit: for several attachments together, and for one that is asked for whole
_ONLY_A_PART = re.compile(r"\d of [\d,]+ ")
_CHANGED = re.compile(r"shortened|reduced|by its own|by their sizes|not run|not computed")


@dataclass(frozen=True, slots=True)
class Attached:
    """One thing that goes with a prompt: a text that joins it, files beside it, or both."""

    name: str  # as the user named it, such as ``plot.png``, ``df`` or ``Out[3]``
    text: str = ""  # joins the prompt below what was typed
    files: tuple[Attachment, ...] = ()  # images and PDFs
    what: str = ""  # was sent of what, such as ``40 of 12,000 rows, about 3,100 tokens``; empty: the whole of a file
    more: str = ""  # how to send more of it; empty: it is whole, or there is no way
    notices: tuple[str, ...] = ()  # further lines for the user, such as one about keys that were blanked

    @property
    def said(self) -> str:
        """The name, with what was sent of what."""
        return f"{self.name} ({self.what})" if self.what else self.name

    @property
    def is_part(self) -> bool:
        """Whether some of it was left out for want of room."""
        return _ONLY_A_PART.search(self.what) is not None

    @property
    def is_changed(self) -> bool:
        """Whether it is not sent as it is."""
        return self.is_part or _CHANGED.search(self.what) is not None


@dataclass(frozen=True, slots=True)
class TextRoom:
    """How much room one thing may take in a prompt."""

    tokens: int  # most that a text may take
    count: Callable[[str], float]  # returns the estimated tokens of a text
    most_data: int | None = None  # that a table, an array or another collection may take; ``None``: as much as a text
    vision: Vision = UNKNOWN_VISION  # how the model reads images
    reads_images: Callable[[], bool] = lambda: True  # whether it takes any, as far as is known; a server may be asked

    def for_data(self) -> TextRoom:
        """Return the room for a table, an array or another collection."""
        return self if self.most_data is None else replace(self, tokens=min(self.tokens, self.most_data))


def about_tokens(count: float) -> str:
    """Return an estimate in words."""
    return f"about {counted(round(count), 'token')}"


class Draft(NamedTuple):
    """A value as text, what was sent of what, and whether nothing was left out."""

    text: str
    what: str
    is_whole: bool


def with_attached(prompt: str, attached: Iterable[Attached]) -> tuple[str, tuple[Attachment, ...]]:
    """Return a prompt with the texts that go with it, and the files beside it."""
    parts = tuple(attached)
    texts = (prompt, *(part.text for part in parts if part.text))
    return "\n\n".join(texts), tuple(file for part in parts for file in part.files)


def attached_redacted(
    name: str, text: str, redactor: Redactor, files: tuple[Attachment, ...] = (), what: str = ""
) -> Attached:
    """Return a thing with a line about the secrets that a redactor has blanked in its ``text``, if there were any."""
    notice = blanked_line(name, redactor.blanked)
    return Attached(name, clean(text), files, what, notices=(notice,) if notice else ())


def format_error(error: BaseException, masked: Callable[[str], str] = str) -> str:
    """Return an exception's class and the beginning of its message, on one line; ``masked`` blanks keys in it."""
    message = ""
    with suppress(Exception):  # its class may be as broken as the value's
        message = " ".join(masked(str(error)).split())
    return f"{type(error).__name__}: {message[:LONG_ERROR]}".rstrip(": .")


@contextmanager
def silent() -> Iterator[None]:
    """Drop what the block prints, warns of and displays in the main thread, where cells run."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    from IPython.utils.capture import capture_output

    with catch_warnings(action="ignore"), capture_output():
        yield
