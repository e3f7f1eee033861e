"""What reports of a provider tell of prompts: how many tokens they have, and whether all of them were read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from ...context.tokens import READ_WHOLE
from ..table.results import Result

TrialMark = Literal["", "refused", "cut", "empty", "truncated", "failed"]
READ_AGAIN = 0.98  # of the tokens that were read of a longer prompt: a report of as many tells of another cut
DENSEST = 0.6  # of the estimate before the first report: no tokenizer needs fewer tokens for such texts


class PromptSizes:
    """The sizes of texts, corrected by each report.

    read: most tokens that the server read of a prompt of which it left out a part; 0: it read all whole
    """

    def __init__(self, estimate: Callable[[str], float]) -> None:
        self._estimate = estimate
        self._reported = self._estimated = 0.0
        self._sent = self.read = 0

    @property
    def is_reported(self) -> bool:
        """Whether a report has told the size of any prompt."""
        return self._estimated > 0 or self.read > 0

    @property
    def _ratio(self) -> float:
        """Tokens for each that is estimated; rounded, so that the same probe makes the same texts."""
        return round(self._reported / self._estimated, 2) if self._estimated else 1.0

    def tokens(self, text: str) -> float:
        """Return the tokens of a text, as far as is known by now."""
        return self._estimate(text) * self._ratio

    def sent(self, text: str, result: Result) -> int:
        """Return the tokens of a prompt: as reported, else as estimated."""
        usage = result.reply.usage if result.reply is not None else None
        return round(self.tokens(text)) if usage is None else usage.input_tokens

    def taken(self, text: str, result: Result) -> int:
        """Return the tokens of a prompt and its answer; 0 where no answer came."""
        reply = result.reply
        if reply is None:
            return 0
        return self.sent(text, result) + (reply.usage.output_tokens if reply.usage else round(self.tokens(reply.text)))

    def mark(self, text: str, result: Result, *, refused: bool) -> TrialMark:
        """Return why an answer is not counted, and learn from its report; empty: it is counted.

        ``refused``: whether so long a prompt is known to be too long.
        """
        reply = result.reply
        if reply is None:
            return "refused" if refused else "failed"
        if reply.usage is not None and not self._is_whole(text, reply.usage.input_tokens):
            return "truncated"
        if reply.stop_reason != "stop":
            return "refused" if reply.stop_reason == "refusal" else "cut"
        if result.truncated:
            return "truncated"
        return "" if reply.text.strip() else "empty"

    def _is_whole(self, text: str, reported: int) -> bool:
        """Return whether a prompt was read whole, and learn from its report."""
        expected = self.tokens(text)
        if reported < (READ_WHOLE if self._estimated else DENSEST) * expected:
            self.read, self._sent = max(self.read, reported), round(expected)
            return False
        self._reported += reported
        self._estimated += self._estimate(text)
        return True

    def fits(self, answer: int) -> int:
        """Return the tokens of the longest prompt that a server which leaves out parts reads whole, and answers."""
        return max(0, min(self.read - min(answer, self.read // 8), int(READ_AGAIN * self.read) - 1))

    def cut_line(self, end: int, remedy: str) -> str:
        """Return what to know of a server that left out a part of prompts; ``end``: the longest that it answers."""
        said = (
            f"The server read {self.read:,} of about {self._sent:,} tokens and left out the rest without saying so: "
            f"the range ends at {end:,}, which leaves room for the answer. That is no bad memory."
        )
        return f"{said} To end that, {remedy}." if remedy else said
