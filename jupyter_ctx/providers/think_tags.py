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
# models whose templates open the thinking themselves: what such a reply begins with is a thought
BEGINS_INSIDE = r"(?i)(?:^|[/_:.-])(?:deepseek[-_.]?r1|r1[-_]|r1$|qwq|qwen3[^/]*thinking)"
# the second tag alone: on a line of its own, or right after a sentence. Elsewhere it is talked about.
LATE = re.compile(r"(?:^[ \t]*|(?<=[.!?…。！？)\]]))</think>(?![`\"'])")
CODE_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.M)


def begins_inside(model: str) -> bool:
    """Return whether a model of this name is known to begin a reply with a thought, without a tag."""
    return re.search(BEGINS_INSIDE, model) is not None


class Splitter:
    """Tells what was thought from the text, in the same way however both are cut into pieces.

    Whitespace around the thinking belongs to neither. What may still become a tag is held back.
    ``inside``: the reply is taken to begin with a thought; ``assumed``: nothing has shown so yet.
    """

    def __init__(self, *, inside: bool = False) -> None:
        self.assumed = inside
        self._held = ""
        self._came: list[str] = []
        self._apart = False
        self._has_begun = False  # to think
        self._at: Literal["begin", "thinking", "closed", "text"] = "begin"

    def feed(self, piece: str) -> Sequence[Piece]:
        """Return what is certain once this piece has arrived."""
        self._came.append(piece)
        if self._at == "text":
            return (piece,)
        self._held += piece
        found: list[Piece] = []
        if self._at == "begin":
            self._begin()
        if self._at == "thinking":
            found.append(Thought(self._thought()))
        if self._at == "closed":
            self._held = self._held.lstrip()
            self._at = "text" if self._held else "closed"
        if self._at == "text":
            found.append(self._held)
            self._held = ""
        return found

    def apart(self) -> None:
        """Take note that the server sends thoughts apart: the text holds none."""
        self._apart, self.assumed = True, False

    def end(self) -> Piece:
        """Return what was held back, at the end of the stream; an unclosed thought is all thought."""
        return self._held if self._at == "begin" else Thought(self._held.rstrip())

    def corrected(self) -> tuple[str, str] | None:
        """Thinking and text, where only the whole reply shows that they are not what they were taken for."""
        text = "".join(self._came)
        if self.assumed:
            return ("", text.strip()) if text.strip() else None
        before, tag, after = text.partition(CLOSE)
        is_open = self._at == "text" and not self._apart and tag and OPEN not in before
        if not is_open or len(CODE_FENCE.findall(before)) % 2:
            return None
        line = before.rpartition("\n")[2] + tag + after[:1]
        return (before.strip(), after.lstrip()) if LATE.search(line) else None

    def _begin(self) -> None:
        begun = self._held.lstrip()
        if begun.startswith(OPEN):
            self._held, self._at, self.assumed = begun.removeprefix(OPEN), "thinking", False
        elif not OPEN.startswith(begun):
            self._at = "thinking" if self.assumed else "text"

    def _thought(self) -> str:
        """Return what is certainly thought of what is held, without the white space at its beginning and end."""
        if not self._has_begun:
            self._held = self._held.lstrip()
        before, tag, after = self._held.partition(CLOSE)
        if tag:
            self._held, self._at, self.assumed = after, "closed", False
            return before.rstrip()
        begun = max(n for n in range(len(CLOSE)) if self._held.endswith(CLOSE[:n]))
        sure = self._held[: len(self._held) - begun].rstrip()
        self._held = self._held[len(sure) :]
        self._has_begun = self._has_begun or bool(sure)
        return sure
