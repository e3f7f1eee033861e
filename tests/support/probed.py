"""Providers that answer the questions of a probe as well as a test says."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

from jupyter_ctx import Request, Usage
from jupyter_ctx.testing import Answer, ScriptedProvider

CODE = r"The code of the ([\w ]+) is (\d+)\."
QUESTION = r"What is the code of the ([\w ]+)\?"
Score = Callable[[int], float]  # the share of right answers, by the tokens of the prompt


def read_codes(text: str, question: str, score: float = 1.0) -> str:
    """Answers to the questions, of which this share is right, whatever was asked before."""
    codes = dict(re.findall(CODE, text))
    lines = [f"{number}: {_told(codes, name, score)}" for number, name in enumerate(re.findall(QUESTION, question), 1)]
    return "\n".join(lines) if len(lines) > 1 else lines[0].partition(": ")[2]


def _told(codes: dict[str, str], name: str, score: float) -> str:
    drawn = int.from_bytes(hashlib.sha256(f"{name} {codes.get(name)}".encode()).digest()[:4]) / 2**32
    return codes.get(name, "not there") if drawn < score else "7"


def holding(score: Score, kind: Any = ScriptedProvider, **more: Any) -> Any:
    """A provider that finds a share of the codes that its prompt's length decides."""

    def answer(request: Request) -> str:
        text = request.messages[-1].content
        return read_codes(text, text, score(len(text) // 4))

    return kind(answer, **more)


def cutting(tokens: int, *, reports: bool = True) -> ScriptedProvider:
    """A provider that reads the end of a longer prompt, and does not say so."""

    def answer(request: Request) -> Answer:
        text = request.messages[-1].content
        read = text[-4 * tokens :]
        return Answer(read_codes(read, text), usage=Usage(len(read) // 4, 20) if reports else None)

    return ScriptedProvider(answer, model="scripted/cuts")


def falling(at: int) -> Score:
    """A score that is 0.85 of its base at this length, and falls steeply behind it."""
    return lambda tokens: 0.97 / (1 + 0.176 * (tokens / at) ** 3)
