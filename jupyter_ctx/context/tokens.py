"""How many tokens: estimated from the text, corrected by what the provider reports.

A guess is never called a count. The raw estimate is linear in characters and UTF-8 bytes,
which treats scripts of two and three bytes a character about right; what one model makes
of it is learned from its reports and kept per endpoint and model.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace

from .usage import Usage

PER_CHARACTER = 0.28
PER_EXTRA_BYTE = 0.22
PER_MESSAGE = 4.0  # role and separators in the common chat templates
PRIOR_WEIGHT = 60.0  # raw tokens that the prior is worth: one short reply outweighs it
MEMORY = 0.9  # how much of the evidence so far counts beside each new report
BOUNDS = (0.5, 3.0)
PLAUSIBLE = 5.0  # a prompt's size is at most so many times larger or smaller than its estimate
OVERHEAD_AT_MOST = 32.0  # more than that in a first report is the prompt's own, not a template's


def estimate_tokens(text: str) -> float:
    """A raw guess of the tokens in ``text``, before any model's correction."""
    extra = len(text.encode("utf-8", "surrogatepass")) - len(text)
    return PER_CHARACTER * len(text) + PER_EXTRA_BYTE * extra


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a model's reports say of our estimates: ``ratio`` = tokens / raw estimate."""

    tokens: float = PRIOR_WEIGHT
    raw: float = PRIOR_WEIGHT

    @property
    def ratio(self) -> float:
        """Tokens for each raw estimated one."""
        return min(max(self.tokens / self.raw, BOUNDS[0]), BOUNDS[1])

    def learned(self, tokens: float, raw: float) -> Calibration:
        """With one more observation: these tokens were reported for this raw estimate."""
        if tokens <= 0 or raw <= 0:
            return self
        return Calibration(self.tokens * MEMORY + tokens, self.raw * MEMORY + raw)

    def scaled(self, factor: float) -> Calibration:
        """With every estimate that much larger, as a refusal has shown."""
        return replace(self, tokens=self.tokens * factor)


class Ledger:
    """Sizes of turns in order, as running sums: append O(1), any span O(1), a cut O(log n).

    A turn that no view may hold counts as none, with 0 tokens; a pinned one counts apart,
    because it is sent wherever the cut is.
    """

    __slots__ = ("_counts", "_pinned", "_sums")

    def __init__(self) -> None:
        self._sums, self._pinned = [0.0], [0.0]
        self._counts = [0]

    def __len__(self) -> int:
        return len(self._sums) - 1

    def append(self, tokens: float | None, *, pinned: bool = False) -> None:
        """One more turn; ``None`` where no view may hold it."""
        loose = 0.0 if pinned or tokens is None else tokens
        self._sums.append(self._sums[-1] + loose)
        self._pinned.append(self._pinned[-1] + (tokens or 0.0 if pinned else 0.0))
        self._counts.append(self._counts[-1] + (tokens is not None and not pinned))

    def between(self, start: int, end: int) -> float:
        """Tokens of the unpinned turns from ``start`` up to ``end``."""
        return self._sums[end] - self._sums[start]

    def count(self, start: int, end: int) -> int:
        """How many unpinned turns a view from ``start`` up to ``end`` holds."""
        return self._counts[end] - self._counts[start]

    def pinned(self, end: int) -> float:
        """Tokens of the pinned turns before ``end``."""
        return self._pinned[end]

    def first_within(self, room: float, start: int, end: int) -> int:
        """The earliest start from which on the unpinned turns up to ``end`` take ``room`` at most."""
        return bisect_left(self._sums, self._sums[end] - max(room, 0.0), start, end)

    def last(self, turns: int, start: int, end: int) -> int:
        """The latest start with that many unpinned turns up to ``end``, or ``start``."""
        return max(start, bisect_right(self._counts, self._counts[end] - turns, start, end + 1) - 1)


@dataclass(frozen=True, slots=True)
class Fixed:
    """What every request begins with: the texts that come before any turn."""

    system: str = ""
    summary: str = ""


class Meter:
    """One model's token sizes, at one endpoint: of texts, of what is fixed, of seen turns.

    After every report the fixed part and the turns of that view sum to what the provider
    said, so that every smaller view is known at once.
    """

    def __init__(self, calibration: Calibration | None = None) -> None:
        self.calibration = calibration or Calibration()
        self.revision = 0
        self._overhead = 0.0  # the template's own tokens: some add a system prompt of their own
        self._fixed: dict[Fixed, float] = {}
        self._turns: dict[str, float] = {}

    def text(self, text: str) -> float:
        """Estimated tokens of one message with this text; 0 for none."""
        return (PER_MESSAGE + estimate_tokens(text)) * self.calibration.ratio if text else 0.0

    def fixed(self, fixed: Fixed) -> float:
        """Tokens of what is always sent: as last reported, else estimated."""
        known = self._fixed.get(fixed)
        if known is not None:
            return known
        return self._overhead + self.text(fixed.system) + self.text(fixed.summary)

    def turn(self, turn_id: str, prompt: str, reply: str) -> float:
        """Tokens of a turn: as last reported, else estimated."""
        size = self._turns.get(turn_id)
        return size if size is not None else self.text(prompt) + self.text(reply)

    def reported(self, sent: Sent, reply: str, usage: Usage, *, turn_id: str) -> None:
        """Learn from one reply.

        Where the sizes of all that came before the prompt are known, the prompt's is the
        difference; else, or where that makes no sense, all parts are scaled to sum to the
        report.
        """
        said = usage.output_tokens - usage.reasoning_tokens
        guess, asked = self.text(sent.prompt), usage.input_tokens - sent.before
        known = sent.fixed in self._fixed and all(turn in self._turns for turn in sent.turns)
        if known and guess / PLAUSIBLE <= asked + PER_MESSAGE <= guess * PLAUSIBLE + 2 * PER_MESSAGE:
            raw = 2 * PER_MESSAGE + estimate_tokens(sent.prompt) + estimate_tokens(reply)
            self.calibration = self.calibration.learned(asked + said, raw)
        else:
            self.calibration = self.calibration.learned(said, 1 + estimate_tokens(reply))
            asked = self._fit_parts(sent, usage.input_tokens)
        self._turns[turn_id] = asked + said

    def _fit_parts(self, sent: Sent, total: int) -> float:
        """Make all parts of a request sum to its report; the prompt's share is returned."""
        fixed, asked = self.fixed(sent.fixed), self.text(sent.prompt)
        if not sent.turns:
            self._overhead += min(max(total - fixed - asked, 0.0), OVERHEAD_AT_MOST)
            fixed = self.fixed(sent.fixed)
        factor = total / max(fixed + asked + sum(sent.turns.values()), 1.0)
        self._fixed[sent.fixed] = fixed * factor
        self._scale_turns(sent.turns, factor)
        return asked * factor

    def refused(self, sent: Sent, total: int) -> None:
        """Learn from a refusal that said how large the request was."""
        factor = total / max(sent.before + self.text(sent.prompt), 1.0)
        self._fixed[sent.fixed] = self.fixed(sent.fixed) * factor
        self._scale_turns(sent.turns, factor)
        self.calibration = self.calibration.scaled(factor)

    def _scale_turns(self, turns: Mapping[str, float], factor: float) -> None:
        if turns:
            self._turns.update({turn_id: size * factor for turn_id, size in turns.items()})
            self.revision += 1


@dataclass(frozen=True, slots=True)
class Sent:
    """A request in parts: what is fixed, the tokens of each turn (by id), the new prompt."""

    fixed: Fixed
    turns: Mapping[str, float]
    prompt: str
    before: float  # tokens of all but the prompt
