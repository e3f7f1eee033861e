"""One question about a text of a known length, and how it was answered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trial:
    """One question of a probe.

    wanted, length: tokens of the whole prompt: those of the probe's lengths, and as measured
    request: which request the question was part of; questions of one request may be right or wrong together
    score: the share that is right, from 0 to 1; ``None``: the answer was refused, cut or empty, and is not counted
    tokens: what the request took, prompt and answer; the same for each of its questions
    """

    wanted: int
    length: int
    request: str
    score: float | None
    tokens: int
