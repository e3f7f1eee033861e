"""The code in an answer, as it may stand in a cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PYTHON = frozenset({"python", "py", "python3", "ipython", "ipython3", "pycon", ""})
LANGUAGE_MAGICS = {
    "bash": "%%bash",
    "sh": "%%bash",
    "shell": "%%bash",
    "html": "%%html",
    "javascript": "%%javascript",
    "js": "%%javascript",
    "latex": "%%latex",
}


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """One fenced block of an answer.

    language: as the answer names it, in small letters; empty: it names none
    text: the code
    """

    language: str
    text: str

    @property
    def is_python(self) -> bool:
        """Whether it is Python, or does not say what it is."""
        return self.language in PYTHON

    @property
    def runs(self) -> bool:
        """Whether a cell can run it."""
        return self.is_python or self.language in LANGUAGE_MAGICS

    @property
    def cell(self) -> str:
        """The code as it may stand in a cell: below the magic of its language, where there is one."""
        return f"{LANGUAGE_MAGICS[self.language]}\n{self.text}" if self.language in LANGUAGE_MAGICS else self.text


def code_blocks(text: str) -> tuple[CodeBlock, ...]:
    """Return the fenced blocks of an answer, in order."""
    if "```" not in text and "~~~" not in text:
        return ()
    from markdown_it import MarkdownIt

    fences = [token for token in MarkdownIt().disable("inline").parse(text) if token.type == "fence"]
    return tuple(CodeBlock((token.info.split() or [""])[0].lower(), token.content.rstrip("\n")) for token in fences)


def eligible_blocks(blocks: Sequence[CodeBlock]) -> tuple[int, ...]:
    """Return the numbers, from 1, of the blocks that may be meant as the code: those that a cell can run, else all."""
    runs = tuple(number for number, block in enumerate(blocks, 1) if block.runs)
    return runs or tuple(range(1, len(blocks) + 1))


def code_of(text: str) -> str:
    """Return the Python in an answer's fenced blocks, in order; without any, the first block of another language."""
    blocks = code_blocks(text)
    python = [block.text for block in blocks if block.is_python]
    return "\n\n".join(python) if python else blocks[0].cell if blocks else ""
