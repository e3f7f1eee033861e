"""How many tokens: estimated from the text, corrected by what the provider reports.

A guess is never called a count. What one model makes of each kind of text is learned from
its reports and kept per endpoint and model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from .calibration import Calibration, Vector
from .families import O200K, UNKNOWN, Family
from .text_features import makeup
from .usage import Usage

PLAUSIBLE = 5.0  # a prompt's size is at most so many times larger or smaller than its estimate
OVERHEAD_AT_MOST = 32.0  # more than that in a first report is the prompt's own, not a template's
FEW_TOKENS = 8  # tokens that a size may be beside its estimate, whatever their ratio
FLOOR = 1 / 3  # tokens a character, while nothing at all is known of a model
FOREIGN_DOUBT = 0.3  # of what a vocabulary counts that is not the model's own
GENERIC = Calibration.of(UNKNOWN.prior)
Text: TypeAlias = tuple[Vector, int]  # what it is made of, and its characters


def estimate_tokens(text: str) -> float:
    """A guess of the tokens in ``text`` for a model of which nothing is known."""
    return GENERIC.estimate((*makeup(text), 0.0))


@dataclass(frozen=True, slots=True)
class Fixed:
    """What every request begins with: the texts that come before any turn."""

    system: str = ""
    summary: str = ""


class Counted(NamedTuple):
    """Sizes that were told, in tokens: of turns by their ids, and of what is fixed."""

    turns: dict[str, float]
    fixed: dict[Fixed, float]


class Learned(NamedTuple):
    """How a model counts: its calibration, the template's own tokens and the least tokens a character."""

    calibration: Calibration
    overhead: float | None
    floor: float


class Meter:
    """One model's token sizes, at one endpoint: of texts, of what is fixed, of seen turns.

    After every report the fixed part and the turns of that view sum to what the provider
    said, so that every smaller view is known at once.
    """

    def __init__(self, family: Family = UNKNOWN, count: Callable[[str], float] | None = None) -> None:
        """``count`` counts by the family's own vocabulary, where it is known, else by o200k's."""
        self._count = count
        self.calibration = _prior(family, counted=count is not None)
        self._floor = FLOOR if family is UNKNOWN and count is None else 0.0
        self.revision = 0
        self._overhead: float | None = None  # the template's own tokens: some add a system prompt
        self._fixed: dict[Fixed, float] = {}
        self._turns: dict[str, float] = {}
        self._told: tuple[str, float] = ("", 0.0)  # the last prompt whose size was told before it was taken
        self._news = Counted({}, {})
        self._guessed = False  # whether the size of a turn was given as it is estimated now
        self._texts: dict[str, tuple[Text, Text]] = {}  # of turns that are estimated again after each report

    def tokens(self, text: str) -> float:
        """Tokens of a text alone, estimated."""
        return self._estimate(text, 0.0)

    def message(self, text: str) -> float:
        """Tokens that a message with this text adds, estimated, its place for a reply included; 0 for none."""
        if text and text == self._told[0]:
            return self._told[1]
        return self._estimate(text, 1.0) if text else 0.0

    def margin(self, text: str) -> float:
        """What to keep free beside the estimate of this message, as a share of it."""
        return self.calibration.margin(self._vector(text, 1.0)) if text != self._told[0] else 0.0

    def fixed(self, fixed: Fixed) -> float:
        """Tokens of what is always sent: as last reported, else estimated."""
        known = self._fixed.get(fixed)
        if known is not None:
            return known
        return (self._overhead or 0.0) + self.message(fixed.system) + self.message(fixed.summary)

    def turn(self, turn_id: str, prompt: str, reply: str, attached: float = 0.0) -> float:
        """Tokens of a turn: as last reported, else estimated; ``attached``: those of its files."""
        size = self._turns.get(turn_id)
        if size is not None:
            return size
        self._guessed = True
        return self._guess(turn_id, prompt, reply) + attached

    def counted(self, part: Fixed | str) -> bool:
        """Whether the size of a turn, or of what is fixed, comes from a report."""
        return part in (self._fixed if isinstance(part, Fixed) else self._turns)

    def reported(self, sent: SentRequest, reply: str, usage: Usage, *, turn_id: str | None) -> None:
        """Learn from one reply; without a ``turn_id`` nothing but how this model counts.

        What the report leaves beside the parts that were counted before is shared out among
        those that were only estimated, the prompt among them. Where that makes no sense,
        all parts are scaled to sum to the report.
        """
        said = usage.output_tokens - usage.reasoning_tokens
        self._learn(self._vector(reply), said - 1)  # 1: the end of the reply
        if turn_id is None:
            return
        first = self._overhead is None
        if first:
            surplus = usage.input_tokens - sent.before - self.message(sent.prompt) - sent.attached
            self._overhead = 0.0 if sent.turns else min(max(surplus, 0.0), OVERHEAD_AT_MOST)
        # what a first prompt alone has taken beside its estimate may be the template's
        asked = self._share_out(sent, usage.input_tokens, learn=not first or bool(sent.turns))
        if asked is None:
            asked = self._scale_all(sent, usage.input_tokens)
        self._keep({turn_id: asked + said})
        self._told = ("", 0.0)  # what it was told of is a turn now

    def told(self, sent: SentRequest, total: int) -> None:
        """Learn how large a request is that was not answered: never about parts that were counted before."""
        asked = self._share_out(sent, total, learn=True)
        if asked is not None:
            self._told = (sent.prompt, max(asked - sent.attached, 0.0))

    def _share_out(self, sent: SentRequest, total: int, *, learn: bool) -> float | None:
        """Fit the estimated parts to a total; the prompt's share, or ``None`` where it makes no sense."""
        turns = {turn: size for turn, size in sent.turns.items() if turn not in self._turns}
        fixed = 0.0 if sent.fixed in self._fixed else self.fixed(sent.fixed)
        asked = self.message(sent.prompt) + sent.attached
        guessed = asked + fixed + sum(turns.values())
        left = total - (self.fixed(sent.fixed) - fixed) - (sum(sent.turns.values()) - sum(turns.values()))
        if not guessed / PLAUSIBLE - FEW_TOKENS <= left <= guessed * PLAUSIBLE + FEW_TOKENS or left < 1:
            return None
        factor = left / guessed
        if learn and not sent.attached:  # what an image takes says nothing of text
            texts = [self._vector(sent.prompt, 1.0)]
            for prompt, reply in sent.guessed:
                texts += [self._vector(prompt, 1.0), self._vector(reply)]
            self._learn(tuple(map(sum, zip(*texts, strict=True))), left - fixed * factor)
        if fixed or sent.fixed not in self._fixed:
            self._keep_fixed(sent.fixed, fixed * factor)
        self._rescale(turns, factor)
        return asked * factor

    def _scale_all(self, sent: SentRequest, total: int) -> float:
        fixed, asked = self.fixed(sent.fixed), self.message(sent.prompt) + sent.attached
        factor = total / max(fixed + asked + sum(sent.turns.values()), 1.0)
        self._keep_fixed(sent.fixed, fixed * factor)
        self._rescale(sent.turns, factor)
        return asked * factor

    def _guess(self, turn_id: str, prompt: str, reply: str) -> float:
        """Estimate a turn; what its texts are made of is looked at once."""
        texts = self._texts.get(turn_id)
        if texts is None:
            texts = (self._vector(prompt, 1.0 if prompt else 0.0), len(prompt)), (self._vector(reply), len(reply))
            self._texts[turn_id] = texts
        return self._weigh(texts[0]) + self._weigh(texts[1])

    def _estimate(self, text: str, messages: float) -> float:
        return self._weigh((self._vector(text, messages), len(text)))

    def _weigh(self, text: Text) -> float:
        vector, length = text
        return max(self.calibration.estimate(vector), self._floor * length)

    def _vector(self, text: str, messages: float = 0.0) -> Vector:
        kinds = makeup(text) if self._count is None else (float(self._count(text)),)
        return (*kinds, messages)

    def _learn(self, text: Vector, tokens: float) -> None:
        self.calibration = self.calibration.learned(text, tokens)
        self._floor = 0.0
        if self._guessed:
            self.revision += 1
            self._guessed = False

    def _rescale(self, turns: Mapping[str, float], factor: float) -> None:
        if turns:
            self._keep({turn: size * factor for turn, size in turns.items()})
            self.revision += 1

    def _keep(self, turns: Mapping[str, float]) -> None:
        self._turns.update(turns)
        self._news.turns.update(turns)
        for turn in turns:
            self._texts.pop(turn, None)

    def _keep_fixed(self, fixed: Fixed, tokens: float) -> None:
        self._fixed[fixed] = self._news.fixed[fixed] = tokens

    @property
    def learned(self) -> Learned:
        """How the model counts, as far as that is known."""
        return Learned(self.calibration, self._overhead, self._floor)

    @property
    def counted_parts(self) -> Counted:
        """All sizes that were told."""
        return Counted(dict(self._turns), dict(self._fixed))

    def news(self) -> Counted:
        """The sizes that were told since this was last asked."""
        news, self._news = self._news, Counted({}, {})
        return news

    def restore(self, learned: Learned, counted: Counted) -> None:
        """Know again what was known before; what was learned since holds."""
        if self._overhead is None and len(learned.calibration.weights) == len(self.calibration.weights):
            self.calibration, self._overhead, self._floor = learned
        self._turns = {**counted.turns, **self._turns}
        self._fixed = {**counted.fixed, **self._fixed}
        self.revision += 1


def _prior(family: Family, *, counted: bool) -> Calibration:
    """What is believed of a tokenizer before its first report."""
    if not counted:
        return Calibration.of(family.prior)
    if family.vocabulary:
        return Calibration.counted()
    return Calibration.of((family.prior[0] / O200K.prior[0],), (FOREIGN_DOUBT,), 0.0)


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request in parts: what is fixed, the tokens of each turn (by id), the new prompt."""

    fixed: Fixed
    turns: Mapping[str, float]
    prompt: str
    before: float  # tokens of all but the prompt
    attached: float = 0.0  # of the prompt's files
    guessed: tuple[tuple[str, str], ...] = ()  # prompt and reply of the turns that were only estimated
