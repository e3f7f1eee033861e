"""The answers of a run, one for each row, arm and repeat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..providers.base import Reply

Score = bool | float | None


@dataclass(frozen=True, slots=True)
class Result:
    """One answer to one row of the table, in one arm, in one repeat.

    row: the position of the row in the table, from 0
    arm: the label of the arm, such as "tone=formal"; empty where a run has one arm only
    repeat: the number of the repeat, from 0
    inputs: the columns of the row
    values: the values of the grid in this arm
    prompt: the text that was sent
    reply: the answer; ``None`` where the row failed
    error: what went wrong; empty where nothing did
    cached: whether the answer was stored already, so that nothing was sent
    truncated: whether a part of the prompt was left out or not read, or the answer was cut
    scores: what each scorer said; ``None`` where it could not say
    problems: what went wrong in scoring, a line each
    """

    row: int
    arm: str
    repeat: int
    inputs: Mapping[str, Any]
    values: Mapping[str, Any]
    prompt: str
    reply: Reply | None = None
    error: str = ""
    cached: bool = False
    truncated: bool = False
    scores: Mapping[str, Score] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether there is no answer, or none that its schema allows."""
        return self.reply is None or bool(self.error)

    @property
    def counts(self) -> bool:
        """Whether the answer may be counted as right or wrong: it came, and nothing of it or its prompt is missing."""
        return not self.failed and not self.truncated
