"""Sizes in tokens: estimated from the text, corrected by the usage that the provider reports.

An estimate is never called a count. A meter learns from each report how many tokens one model, at
one endpoint, makes of each kind of text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import add
from types import MappingProxyType
from typing import NamedTuple

from .budget import MARGIN
from .families import KNOWN_NOISE, O200K_RATIOS, UNKNOWN, Calibration, Family, Report, Vector, text_features
from .usage import Usage
from .vision import UNKNOWN_VISION, Vision

PLAUSIBLE = 5.0  # a reported size further from its estimate than by this factor is not believed, unless bytes allow it
OVERHEAD_AT_MOST = 32.0  # tokens of a chat template; what a first report has beyond them belongs to the prompt
READ_WHOLE = 0.8  # of the tokens that were expected: a server that read as many has read all
MOSTLY_TEXT = 10  # times the largest template: of a longer prompt the template is a small part
FOREIGN_DOUBT = 0.3  # relative doubt of counts by a vocabulary that is not the model's own
GENERIC = Calibration(UNKNOWN.ratios)


def estimate_tokens(text: str) -> float:
    """Return an estimate of the tokens in ``text`` for a model of which nothing is known."""
    return GENERIC.estimate((*text_features(text), 0.0))


class Fixed(NamedTuple):
    """The texts with which every request begins, before any turn."""

    system: str = ""
    summary: str = ""


class Guess(NamedTuple):
    """A turn whose size is an estimate: its tokens, and its two texts."""

    tokens: float
    prompt: str = ""
    reply: str = ""


NO_GUESSES: Mapping[str, Guess] = MappingProxyType({})


class SentRequest(NamedTuple):
    """A request in parts, as its size was planned.

    ``fixed``: the texts with which every request begins.
    ``prompt``: the new prompt.
    ``before``: the tokens of all but the prompt.
    ``counted``: the tokens of the turns whose sizes come from reports.
    ``guessed``: the other turns, by their ids.
    ``turns``: returns the tokens of each turn, by its id; for the rare report that changes all of them.
    ``attached``: the tokens of the prompt's files.
    """

    fixed: Fixed
    prompt: str
    before: float
    counted: float = 0.0
    guessed: Mapping[str, Guess] = NO_GUESSES
    turns: Callable[[], Mapping[str, float]] = dict
    attached: float = 0.0

    @property
    def most_text(self) -> float:
        """The most tokens of what no report has counted: no tokenizer makes more tokens than bytes of a text."""
        most = OVERHEAD_AT_MOST + len(self.prompt.encode("utf-8", "surrogatepass"))
        for guess in self.guessed.values():
            most += len(f"{guess.prompt}{guess.reply}".encode("utf-8", "surrogatepass"))
        return most


class Counted(NamedTuple):
    """Sizes known from reports, in tokens: of turns by their ids, and of the fixed texts."""

    turns: dict[str, float]
    fixed: dict[Fixed, float]


class Learned(NamedTuple):
    """How a model counts: what the latest reports told, and the tokens of its chat template."""

    latest: tuple[Report, ...]
    overhead: float | None


class Meter:
    """The sizes of texts, fixed parts and turns for one model at one endpoint.

    After every report the sizes of the fixed part and of the turns in that view sum to the reported
    tokens, so that the size of every smaller view is known at once.
    """

    def __init__(
        self,
        family: Family = UNKNOWN,
        count: Callable[[str], float] | None = None,
        vision: Vision = UNKNOWN_VISION,
        *,
        at_once: bool = True,
    ) -> None:
        """Start from a family; ``count`` counts by its vocabulary, or by o200k_base where that is not public.

        ``at_once``: it counts from now on, rather than from the first report on.
        """
        self._family, self.vision = family, vision
        self._count = count if at_once else None
        self._later = None if at_once else count
        self.calibration = _calibration(family, counted=self._count is not None)
        self._settled = self.calibration  # by which turns are estimated: see _settle
        self._turns: dict[str, float] = {}
        self._fixed: dict[Fixed, float] = {}
        self._unsaved = Counted({}, {})
        self._estimates: dict[str, float] = {}  # of turns that no report has counted, by id
        self._prompt: tuple[str, float] = ("", 0.0)  # the last one whose size was counted before it was accepted
        self._overhead: float | None = None  # tokens of the chat template; some templates add a system prompt
        self._surplus = 1.0  # the most that a request had for each token of its estimate as it is known now
        self._reports = 0
        self.revision = 0  # another number after each change of a size that was known or estimated before

    def _vector(self, text: str, messages: float = 0.0) -> Vector:
        kinds = text_features(text) if self._count is None else (float(self._count(text)),)
        return (*kinds, messages)

    def _turn_vector(self, prompt: str, reply: str) -> Vector:
        return tuple(map(add, self._vector(prompt, 1.0 if prompt else 0.0), self._vector(reply)))

    def tokens(self, text: str) -> float:
        """Return the estimated tokens of a text alone."""
        return self.calibration.estimate(self._vector(text))

    def message(self, text: str) -> float:
        """Return the tokens that a message with this text adds, those around it included; 0 for an empty text."""
        if text and text == self._prompt[0]:
            return self._prompt[1]
        return self.calibration.estimate(self._vector(text, 1.0)) if text else 0.0

    def margin(self, text: str) -> float:
        """Return the share of a message's estimate to keep free; 0 where the message was counted."""
        return self.calibration.margin(self._vector(text, 1.0)) if text != self._prompt[0] else 0.0

    def most(self, tokens: float, texts: Iterable[str]) -> float:
        """Return the most tokens of a request of so many: what reports have not told of its texts may be twice that."""
        unseen = sum([self.calibration.unseen(self._vector(text, 1.0)) for text in texts])
        return self._surplus * max(tokens + unseen, tokens / (1 - MARGIN)) + OVERHEAD_AT_MOST

    def fixed(self, fixed: Fixed) -> float:
        """Return the tokens of what is always sent: as last reported, else estimated."""
        known = self._fixed.get(fixed)
        if known is not None:
            return known
        return (self._overhead or 0.0) + self.message(fixed.system) + self.message(fixed.summary)

    def fixed_parts(self, fixed: Fixed) -> tuple[float, float, float]:
        """Return the tokens of what the model's template adds, of the system prompt, and of the summary."""
        total = self.fixed(fixed)
        summary = max(0.0, total - self.fixed(Fixed(fixed.system))) if fixed.summary else 0.0
        template = min(total - summary, self._overhead or 0.0) if fixed.system else total - summary
        return template, total - summary - template, summary

    def turn(self, turn_id: str, prompt: str, reply: str, attached: float = 0.0) -> float:
        """Return the tokens of a turn: as last reported, else estimated with ``attached`` tokens for its files."""
        size = self._turns.get(turn_id)
        if size is not None:
            return size
        if turn_id not in self._estimates:
            self._estimates[turn_id] = self._settled.estimate(self._turn_vector(prompt, reply))
        return self._estimates[turn_id] + attached

    def turn_parts(
        self, turn_id: str, prompt: str, reply: str, attached: float = 0.0, returned: float = 0.0
    ) -> tuple[float, float]:
        """Return the tokens of a turn's prompt and of what answers it: its size, divided as both are estimated.

        ``attached``, ``returned``: those of the files that went with the prompt, and that functions returned.
        """
        asked, answered = self.message(prompt) + attached, self.tokens(reply) + returned
        weight = self.turn(turn_id, prompt, reply, attached + returned) / max(asked + answered, 1.0)
        return asked * weight, answered * weight

    def counted(self, part: Fixed | str) -> bool:
        """Return whether the size of a turn (by its id), or of the fixed texts, comes from a report."""
        return part in (self._fixed if isinstance(part, Fixed) else self._turns)

    def reported(self, sent: SentRequest, reply: str, usage: Usage, *, turn_id: str | None) -> None:
        """Learn from the usage of one reply, which becomes a turn with a ``turn_id``.

        The reported input, less the parts that were counted before, is shared out among the estimated
        parts, the prompt included, as they are estimated after it was learned from. Where the shares
        would be implausible, all parts are scaled to sum to the report; one of far too many tokens is not believed.
        """
        total, known, most_text = usage.input_tokens, sent.before + sent.attached, sent.most_text
        if self._overhead is not None and total > PLAUSIBLE * known + most_text:
            return  # before the first report a server may add a system prompt of its own
        answered = usage.output_tokens - usage.reasoning_tokens
        text = self._vector(reply)
        # a token ends the reply; thoughts may be counted in it, too
        self.calibration = self.calibration.learned(text, min(answered - 1, 2 * self.calibration.estimate(text)))
        if turn_id is None:
            is_text = self._overhead is not None or self.message(sent.prompt) > MOSTLY_TEXT * OVERHEAD_AT_MOST
            self._share_out(sent, total, learn=is_text, keep=False)
        else:
            self._keep({turn_id: self._reported_prompt(sent, total) + answered})
            self._prompt = ("", 0.0)  # that prompt is a turn now
        most = min(total, known + most_text) - OVERHEAD_AT_MOST
        self._surplus = max(self._surplus, most / max(known + self.message(sent.prompt), 1.0))
        self._settle()

    def record_count(self, sent: SentRequest, total: int) -> None:
        """Learn from the total of a request that was counted but not answered. Parts counted before keep their size."""
        asked = self._share_out(sent, total, learn=True)
        if asked is not None:
            self._prompt = (sent.prompt, max(asked - sent.attached, 0.0))
            self._settle()

    def _reported_prompt(self, sent: SentRequest, total: int) -> float:
        """Make the parts of a request sum to its reported total, and return the prompt's share."""
        is_first = self._overhead is None and not sent.counted and not sent.guessed
        if self._overhead is None:
            surplus = total - sent.before - self.message(sent.prompt) - sent.attached
            self._overhead = min(max(surplus, 0.0), OVERHEAD_AT_MOST) if is_first else 0.0
        # in a first prompt, tokens beyond the estimate may be the template's
        asked = self._share_out(sent, total, learn=not is_first)
        if asked is not None:
            return asked
        turns, asked = sent.turns(), self.message(sent.prompt) + sent.attached
        fixed = self.fixed(sent.fixed)
        factor = total / max(fixed + asked + sum(turns.values()), 1.0)
        self._keep_view(sent.fixed, fixed * factor, turns, factor)
        return asked * factor

    def _share_out(self, sent: SentRequest, total: int, *, learn: bool, keep: bool = True) -> float | None:
        """Fit the estimated parts to a total and return the prompt's share; ``None`` where that is implausible.

        ``learn`` from the text; ``keep`` the sizes.
        """
        known = self.fixed(sent.fixed)
        fixed = 0.0 if sent.fixed in self._fixed else known
        asked = self.message(sent.prompt) + sent.attached
        turns = {turn: guess.tokens for turn, guess in sent.guessed.items()}
        guessed = asked + fixed + sum(turns.values())
        left = total - (known - fixed) - sent.counted
        if not max(guessed / PLAUSIBLE, 1) <= left <= max(guessed * PLAUSIBLE, sent.most_text):
            return None
        factor = left / guessed
        if learn and not sent.attached:  # tokens of images say nothing about text
            text = self._vector(sent.prompt, 1.0)
            for guess in sent.guessed.values():
                text = tuple(map(add, text, self._turn_vector(guess.prompt, guess.reply)))
            self.calibration = self.calibration.learned(text, left - fixed * factor)
        if keep:
            self._keep_view(sent.fixed, fixed * factor if fixed else known, turns, factor)
        return asked * factor

    def _keep_view(self, fixed: Fixed, tokens: float, turns: Mapping[str, float], factor: float) -> None:
        """Keep the size of the fixed texts, and those of turns times a factor."""
        if self._fixed.get(fixed) != tokens:
            self._fixed[fixed] = self._unsaved.fixed[fixed] = tokens
        if turns:
            self._keep({turn: size * factor for turn, size in turns.items()})
            self.revision += 1

    def _keep(self, turns: Mapping[str, float]) -> None:
        self._turns.update(turns)
        self._unsaved.turns.update(turns)

    def _settle(self) -> None:
        """Estimate turns anew after the first report, the second, the fourth and so on, each of which teaches less.

        After every report it would cost as much as there are turns.
        """
        self._reports += 1
        if self._later is not None:
            self._count, self._later = self._later, None
            self.calibration = _calibration(self._family, counted=True)
        if self._reports.bit_count() == 1:
            self._settled = self.calibration
            self.revision += 1
            self._estimates.clear()

    @property
    def learned(self) -> Learned:
        """How the model counts, as far as that is known."""
        return Learned(self.calibration.reports, self._overhead)

    @property
    def counted_parts(self) -> Counted:
        """All sizes known from reports."""
        return Counted(dict(self._turns), dict(self._fixed))

    def pop_unsaved(self) -> Counted:
        """Return the sizes learned from reports since the last call."""
        unsaved, self._unsaved = self._unsaved, Counted({}, {})
        return unsaved

    def restore(self, learned: Learned, counted: Counted) -> None:
        """Restore what was learned before a restart; what was learned since is kept."""
        if self._overhead is None:
            self._overhead = learned.overhead
            if all(len(report.text) == len(self.calibration.ratios) for report in learned.latest):
                self._settled = self.calibration = self.calibration.after(learned.latest)
        self._turns = {**counted.turns, **self._turns}
        self._fixed = {**counted.fixed, **self._fixed}
        self.revision += 1


def _calibration(family: Family, *, counted: bool) -> Calibration:
    """Return the calibration of a tokenizer before its first report."""
    if not counted:
        return Calibration(family.ratios)
    if family.vocabulary:  # only the template is unknown
        return Calibration(((1.0,),), doubt=KNOWN_NOISE, is_exact=True)
    return Calibration(((family.ratios[0][0] / O200K_RATIOS[0],),), doubt=FOREIGN_DOUBT)
