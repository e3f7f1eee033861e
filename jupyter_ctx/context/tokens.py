"""How many tokens: estimated from the text, corrected by what the provider reports.

A guess is never called a count. The raw estimate is linear in characters and UTF-8 bytes,
which treats scripts of two and three bytes a character about right; what one model makes
of it is learned from its reports and kept per endpoint and model.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from .usage import Usage

PER_CHARACTER = 0.28
PER_EXTRA_BYTE = 0.22
PER_MESSAGE = 4.0  # role and separators in the common chat templates
PRIOR_WEIGHT = 60.0  # raw tokens that the prior is worth: one short reply outweighs it
MEMORY = 0.9  # how much of the evidence so far counts beside each new report
WEIGHT_AT_MOST = 300.0
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
        """With one more observation: these tokens were reported for this raw estimate.

        One odd prompt must not outweigh a conversation, so no observation counts for more
        than ``WEIGHT_AT_MOST`` raw tokens.
        """
        if tokens <= 0 or raw <= 0:
            return self
        weight = min(1.0, WEIGHT_AT_MOST / raw)
        return Calibration(self.tokens * MEMORY + tokens * weight, self.raw * MEMORY + raw * weight)


class Ledger:
    """Sizes of turns in order, as running sums: append O(1), any span O(1), a cut O(log n).

    A turn that no view may hold counts as none, with 0 tokens; a pinned one counts apart,
    because it is sent wherever the cut is. What is only estimated is summed beside.
    """

    __slots__ = ("_counts", "_guesses", "_pinned", "_pinned_guesses", "_sums")

    def __init__(self) -> None:
        self._sums, self._guesses = [0.0], [0.0]
        self._pinned, self._pinned_guesses = [0.0], [0.0]
        self._counts = [0]

    def __len__(self) -> int:
        return len(self._sums) - 1

    def append(self, tokens: float | None, *, pinned: bool = False, counted: bool = True) -> None:
        """One more turn; ``None`` where no view may hold it."""
        size, loose = tokens or 0.0, not pinned
        self._sums.append(self._sums[-1] + size * loose)
        self._guesses.append(self._guesses[-1] + size * loose * (not counted))
        self._pinned.append(self._pinned[-1] + size * pinned)
        self._pinned_guesses.append(self._pinned_guesses[-1] + size * pinned * (not counted))
        self._counts.append(self._counts[-1] + (tokens is not None and loose))

    def between(self, start: int, end: int) -> float:
        """Tokens of the unpinned turns from ``start`` up to ``end``."""
        return self._sums[end] - self._sums[start]

    def count(self, start: int, end: int) -> int:
        """How many unpinned turns a view from ``start`` up to ``end`` holds."""
        return self._counts[end] - self._counts[start]

    def pinned(self, end: int) -> float:
        """Tokens of the pinned turns before ``end``."""
        return self._pinned[end]

    def guessed(self, start: int, end: int) -> float:
        """How many of a view's tokens, pinned turns included, are only estimated."""
        return self._guesses[end] - self._guesses[start] + self._pinned_guesses[end]

    def first_within(self, room: float, start: int, end: int, *, guess_weight: float = 0.0) -> int:
        """The earliest start from which on the unpinned turns up to ``end`` take ``room`` at most.

        Each estimated token counts ``guess_weight`` more.
        """

        def weight(i: int) -> float:
            return self._sums[i] + guess_weight * self._guesses[i]

        return bisect_left(range(len(self._sums)), weight(end) - max(room, 0.0), start, end, key=weight)

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
        self._overhead: float | None = None  # the template's own tokens: some add a system prompt
        self._fixed: dict[Fixed, float] = {}
        self._turns: dict[str, float] = {}
        self._refused: tuple[str, float] = ("", 0.0)  # the last prompt whose size a refusal told

    def text(self, text: str) -> float:
        """Tokens of one message with this text, estimated; 0 for none."""
        if text and text == self._refused[0]:
            return self._refused[1]
        return (PER_MESSAGE + estimate_tokens(text)) * self.calibration.ratio if text else 0.0

    def fixed(self, fixed: Fixed) -> float:
        """Tokens of what is always sent: as last reported, else estimated."""
        known = self._fixed.get(fixed)
        if known is not None:
            return known
        return (self._overhead or 0.0) + self.text(fixed.system) + self.text(fixed.summary)

    def turn(self, turn_id: str, prompt: str, reply: str) -> float:
        """Tokens of a turn: as last reported, else estimated."""
        size = self._turns.get(turn_id)
        return size if size is not None else self.text(prompt) + self.text(reply)

    def counted(self, part: Fixed | str) -> bool:
        """Whether the size of a turn, or of what is fixed, comes from a report."""
        return part in (self._fixed if isinstance(part, Fixed) else self._turns)

    def reported(self, sent: Sent, reply: str, usage: Usage, *, turn_id: str | None) -> None:
        """Learn from one reply; without a ``turn_id`` nothing but how this model counts.

        What the report leaves beside the parts that were counted before is shared out among
        those that were only estimated, the prompt among them. Where that makes no sense,
        all parts are scaled to sum to the report.
        """
        said = usage.output_tokens - usage.reasoning_tokens
        self._learn(said, 1 + estimate_tokens(reply))
        if turn_id is None:
            return
        if self._overhead is None:
            surplus = usage.input_tokens - sent.before - self.text(sent.prompt)
            self._overhead = 0.0 if sent.turns else min(max(surplus, 0.0), OVERHEAD_AT_MOST)
        asked = self._share_out(sent, usage.input_tokens)
        if asked is None:
            asked = self._scale_all(sent, usage.input_tokens)
        self._turns[turn_id] = asked + said

    def refused(self, sent: Sent, total: int) -> None:
        """Learn from a refusal that said how large the request was: never about counted parts."""
        asked = self._share_out(sent, total)
        if asked is not None:
            self._refused = (sent.prompt, asked)

    def _share_out(self, sent: Sent, total: int) -> float | None:
        """Fit the estimated parts to a total; the prompt's share, or ``None`` where it makes no sense."""
        turns = {turn: size for turn, size in sent.turns.items() if turn not in self._turns}
        fixed = 0.0 if sent.fixed in self._fixed else self.fixed(sent.fixed)
        asked = self.text(sent.prompt)
        guessed = asked + fixed + sum(turns.values())
        left = total - (self.fixed(sent.fixed) - fixed) - (sum(sent.turns.values()) - sum(turns.values()))
        if not guessed / PLAUSIBLE - PER_MESSAGE <= left <= guessed * PLAUSIBLE + PER_MESSAGE or left < 1:
            return None
        factor = left / guessed
        self._learn(left - fixed * factor, (guessed - fixed) / self.calibration.ratio)
        if fixed or sent.fixed not in self._fixed:
            self._fixed[sent.fixed] = fixed * factor
        self._keep(turns, factor)
        return asked * factor

    def _scale_all(self, sent: Sent, total: int) -> float:
        fixed, asked = self.fixed(sent.fixed), self.text(sent.prompt)
        factor = total / max(fixed + asked + sum(sent.turns.values()), 1.0)
        self._fixed[sent.fixed] = fixed * factor
        self._keep(sent.turns, factor)
        return asked * factor

    def _learn(self, tokens: float, raw: float) -> None:
        self.calibration = self.calibration.learned(tokens, raw)

    def _keep(self, turns: Mapping[str, float], factor: float) -> None:
        if turns:
            self._turns.update({turn: size * factor for turn, size in turns.items()})
            self.revision += 1


@dataclass(frozen=True, slots=True)
class Sent:
    """A request in parts: what is fixed, the tokens of each turn (by id), the new prompt."""

    fixed: Fixed
    turns: Mapping[str, float]
    prompt: str
    before: float  # tokens of all but the prompt
