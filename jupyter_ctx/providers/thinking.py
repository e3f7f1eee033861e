"""Thinking that comes inside the text: ``<think>`` … ``</think>`` at the beginning of a reply.

Servers that are not told how a model thinks (Ollama, LM Studio, llama.cpp with reasoning off,
with distilled R1s and Qwens) send the tags as the model wrote them. Anywhere else they are text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from .shape import Thought

OPEN, CLOSE = "<think>", "</think>"


class Splitter:
    """Tells what was thought from the text, in the same way however both are cut into pieces.

    Whitespace around the thinking belongs to neither. What may still become a tag is held back.
    """

    def __init__(self) -> None:
        self._held = ""
        self._at: Literal["begin", "open", "thinking", "closed", "text"] = "begin"

    def feed(self, piece: str) -> Iterator[str | Thought]:
        """What is certain once this piece has come."""
        self._held += piece
        if self._at == "begin":
            self._begin()
        if self._at == "open":
            self._skip("thinking")
        if self._at == "thinking":
            yield self._think()
        if self._at == "closed":
            self._skip("text")
        if self._at == "text":
            yield self._taken(len(self._held))

    def end(self) -> str | Thought:
        """What was held back, where nothing more comes; thinking that was never closed is all thinking."""
        rest = self._taken(len(self._held))
        return rest if self._at == "begin" else Thought(rest.rstrip())

    def _begin(self) -> None:
        begun = self._held.lstrip()
        if begun.startswith(OPEN):
            self._held, self._at = begun.removeprefix(OPEN), "open"
        elif not OPEN.startswith(begun):
            self._at = "text"

    def _skip(self, then: Literal["thinking", "text"]) -> None:
        self._held = self._held.lstrip()
        if self._held:
            self._at = then

    def _think(self) -> Thought:
        before, tag, after = self._held.partition(CLOSE)
        if tag:
            self._held, self._at = after, "closed"
            return Thought(before.rstrip())
        begun = max(n for n in range(len(CLOSE)) if self._held.endswith(CLOSE[:n]))
        return Thought(self._taken(len(self._held[: len(self._held) - begun].rstrip())))

    def _taken(self, length: int) -> str:
        taken, self._held = self._held[:length], self._held[length:]
        return taken
