"""One thing that goes with a prompt, and the room that it may take."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..conversation.messages import Attachment


@dataclass(frozen=True, slots=True)
class Attached:
    """One thing that goes with a prompt: a text that joins it, files beside it, or both.

    name: as the user named it, such as ``plot.png``, ``df`` or ``Out[3]``
    text: joins the prompt below what was typed; empty: none
    files: images and PDFs
    what: what was sent of what, such as ``40 of 12,000 rows, about 3,100 tokens``; empty: the whole of a file
    notices: further lines for the user, such as one about keys that were blanked
    """

    name: str
    text: str = ""
    files: tuple[Attachment, ...] = ()
    what: str = ""
    notices: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """The name, with what was sent of what."""
        return f"{self.name} ({self.what})" if self.what else self.name


@dataclass(frozen=True, slots=True)
class TextRoom:
    """How much room one thing may take in a prompt.

    tokens: most that a text may take
    count: returns the estimated tokens of a text
    """

    tokens: int
    count: Callable[[str], float]


def with_attached(prompt: str, attached: Iterable[Attached]) -> tuple[str, tuple[Attachment, ...]]:
    """Return a prompt with the texts that go with it, and the files beside it."""
    parts = tuple(attached)
    texts = (prompt, *(part.text for part in parts if part.text))
    return "\n\n".join(texts), tuple(file for part in parts for file in part.files)
