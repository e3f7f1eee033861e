"""Thinking that comes inside the text: ``<think>`` … ``</think>`` at the beginning of a reply.

Servers that are not told how a model thinks (Ollama, LM Studio, llama.cpp with reasoning off,
with distilled R1s and Qwens) send the tags as the model wrote them. Anywhere else they are text.
Some templates put the first tag into the prompt, so that a reply has only the second one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from .base import Piece, Thought

OPEN, CLOSE = "<think>", "</think>"
# the second tag alone: on a line of its own, or right after a sentence. Elsewhere it is talked about.
LATE = re.compile(r"(?:^[ \t]*|(?<=[.!?…。！？)\]]))</think>(?![`\"'])", re.M)
CODE_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.M)


class Splitter:
    """Tells what was thought from the text, in the same way however both are cut into pieces.

    Whitespace around the thinking belongs to neither. What may still become a tag is held back.
    """

    def __init__(self) -> None:
        self._held = ""
        self._has_begun = False  # to think
        self._at: Literal["begin", "thinking", "closed", "text"] = "begin"

    def feed(self, piece: str) -> Sequence[Piece]:
        """Return what is certain once this piece has arrived."""
        if self._at == "text":
            return (piece,)
        self._held += piece
        found: list[Piece] = []
        if self._at == "begin":
            begun = self._held.lstrip()
            if begun.startswith(OPEN):
                self._held, self._at = begun.removeprefix(OPEN), "thinking"
            elif not OPEN.startswith(begun):
                self._at = "text"
        if self._at == "thinking":
            found.append(Thought(self._thought()))
        if self._at == "closed":
            self._held = self._held.lstrip()
            self._at = "text" if self._held else "closed"
        if self._at == "text":
            found.append(self._held)
            self._held = ""
        return found

    def end(self) -> Piece:
        """Return what was held back, at the end of the stream; an unclosed thought is all thought."""
        return self._held if self._at == "begin" else Thought(self._held.rstrip())

    def _thought(self) -> str:
        """Return what is certainly thought of what is held, without the white space at its beginning and end."""
        if not self._has_begun:
            self._held = self._held.lstrip()
        before, tag, after = self._held.partition(CLOSE)
        if tag:
            self._held, self._at = after, "closed"
            return before.rstrip()
        begun = max(n for n in range(len(CLOSE)) if self._held.endswith(CLOSE[:n]))
        sure = self._held[: len(self._held) - begun].rstrip()
        self._held = self._held[len(sure) :]
        self._has_begun = self._has_begun or bool(sure)
        return sure


def late_thought(text: str) -> tuple[str, str] | None:
    """Return thinking and text of a whole reply that has the second tag alone; ``None``: it has not."""
    before, tag, after = text.partition(CLOSE)
    if not tag or OPEN in before or len(CODE_FENCE.findall(before)) % 2:
        return None
    line = before.rpartition("\n")[2] + tag + after[:1]
    return (before.strip(), after.lstrip()) if LATE.search(line) else None
