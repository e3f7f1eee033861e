"""Sizes in tokens: estimated from the text, corrected by the usage that the provider reports.

An estimate is never called a count. A meter learns from each report how many tokens one model, at
one endpoint, makes of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import fsum
from operator import add, itemgetter, mul
from typing import NamedTuple

from .budget import MARGIN
from .families import UNKNOWN, Vector, Vocabulary, text_features
from .usage import Usage
from .vision import UNKNOWN_VISION, Vision

MESSAGE = 8.0  # tokens that common chat templates add to a prompt and its reply
PRIOR = 30.0  # tokens that the estimate before any report counts as
MOST_REPORTS = 20  # that count, so that another tokenizer behind the same name is learned, too
SHORT_REPORT = 100.0  # tokens: shorter texts tell little, and are taken together
OUTLIER = 2.0  # a report of more than so many times what was expected, or less than that part of it, counts as that
SEEN = 300.0  # tokens of a kind of text that make half of it seen
PLAUSIBLE = 5.0  # a reported size further from its estimate than by this factor is not believed
OVERHEAD_AT_MOST = 32.0  # tokens of a chat template; what a first report has beyond them belongs to the prompt
MOSTLY_TEXT = 320.0  # tokens of a request in which those of the template are a small part


class Report(NamedTuple):
    """What a text is made of, and the tokens that were reported for it."""

    text: Vector
    tokens: float


class Calibration:
    """What is known of one tokenizer: the ratios that fit its latest reports best, and one factor that they teach.

    A text is a vector: its tokens, as far as they are counted, then its features and the number of messages.
    ``options``: the ratios that the vocabulary may have; the first hold until reports have shown which fit.
    """

    def __init__(self, options: tuple[Vector, ...], reports: tuple[Report, ...] = ()) -> None:
        self._options, self.reports = options, reports
        nothing = Report((0.0,) * (len(options[0]) + 1), 0.0)
        texts, tokens = zip(nothing, *reports, strict=True)
        total, fits = tuple(map(sum, zip(*texts, strict=True))), list[tuple[float, float, Vector]]()
        for ratios in [(*each, MESSAGE) for each in options]:
            factor = (sum(tokens) + PRIOR) / (sum(map(mul, ratios, total)) + PRIOR)
            error = (factor - 1) ** 2  # ratios that need no factor are likelier
            for text, told in reports:
                error += (told / max(factor * sum(map(mul, ratios, text)), 1.0) - 1) ** 2
            fits.append((error, factor, ratios))
        _, self.factor, self.ratios = min(fits, key=itemgetter(0))
        # the share of each kind of text of which little is known
        self._unseen = [SEEN / (SEEN + told) for told in map(mul, self.ratios, total)]

    def estimate(self, text: Vector) -> float:
        """Return the estimated tokens of a text."""
        return text[0] + self.factor * fsum(map(mul, self.ratios, text[1:]))

    def unseen(self, text: Vector) -> float:
        """Return the tokens of an estimate that rest on kinds of text of which reports have told little."""
        return self.factor * fsum(map(mul, map(mul, self.ratios, text[1:]), self._unseen))

    def learned(self, text: Vector, tokens: float) -> Calibration:
        """Return the calibration after a report of this many tokens for a text."""
        guess, told, kinds = self.estimate(text) - text[0], tokens - text[0], tuple(map(float, text[1:]))
        if told < 1 or guess <= 0 or len(kinds) != len(self.ratios):  # measured before the vocabulary counted
            return self
        if len(self.reports) > 1:  # an odd one does not outweigh a conversation
            told = min(max(told, guess / OUTLIER), guess * OUTLIER)
        earlier, last = self.reports[:-1], self.reports[-1:]
        if last and last[0].tokens < SHORT_REPORT:
            last = (Report(tuple(map(add, kinds, last[0].text)), told + last[0].tokens),)
        else:
            last = (*last, Report(kinds, float(told)))
        return self.after((*earlier, *last)[-MOST_REPORTS:])

    def after(self, reports: tuple[Report, ...]) -> Calibration:
        """Return the calibration of the same tokenizer after these reports."""
        is_settled = len(self.reports) == MOST_REPORTS  # which ratios fit is known by now
        return Calibration((self.ratios[:-1],) if is_settled else self._options, reports)


class Fixed(NamedTuple):
    """The texts with which every request begins, before any turn."""

    system: str = ""
    summary: str = ""


PartSizes = dict[Fixed | str, float]  # tokens of parts of requests: of the fixed texts, and of turns by their ids
NEW_PROMPT = ""  # in place of an id: the new prompt


class SentRequest(NamedTuple):
    """A request in parts, as its size was planned.

    ``fixed``: the texts with which every request begins.
    ``prompt``: the new prompt.
    ``counted``, ``guessed``: the tokens of the turns whose sizes come from reports, and of the others.
    ``turns``: returns the tokens of each turn, by its id; for the rare report that changes them.
    ``attached``: the tokens of the prompt's files.
    """

    fixed: Fixed
    prompt: str
    counted: float = 0.0
    guessed: float = 0.0
    turns: Callable[[], PartSizes] = dict
    attached: float = 0.0


class Meter:
    """The sizes of texts, fixed parts and turns for one model at one endpoint.

    After every report the sizes of the fixed part and of the turns in that view sum to the reported
    tokens, so that the size of every smaller view is known at once.

    ``sizes``: those known from reports.
    ``vocabulary``: the model's own, by which texts are to be counted after the first reply.
    ``overhead``: tokens of the chat template, some of which add a system prompt; ``None``: nothing was reported yet.
    ``revision``: another number after each change of a size that was known or estimated before.
    """

    def __init__(self, ratios: tuple[Vector, ...] = UNKNOWN, vision: Vision = UNKNOWN_VISION) -> None:
        self.vision = vision
        self.vocabulary: Vocabulary | None = None
        self._count: Callable[[str], float] | None = None
        self._calibration = self._of_turns = Calibration(ratios)  # by which texts are estimated, and turns
        self.sizes, self._unsaved = PartSizes(), PartSizes()
        self._prompt = NEW_PROMPT, 0.0  # the last one whose size was counted before it was accepted
        self.overhead: float | None = None
        self._surplus = 1.0  # the most that a request had for each token of its estimate as it is known now
        self._reports = 0
        self.revision = 0

    def count_by(self, count: Callable[[str], float]) -> None:
        """Count texts by the model's own vocabulary from now on: only what messages add is a guess."""
        if self._count is None:
            self._count, self._calibration = count, Calibration(((),))
            self._estimate_turns_anew()

    def _vector(self, text: str, messages: float = 0.0) -> Vector:
        if self._count is None:
            return 0.0, *text_features(text), messages
        return float(self._count(text)), messages

    def tokens(self, text: str) -> float:
        """Return the estimated tokens of a text alone."""
        return self._calibration.estimate(self._vector(text))

    def message(self, text: str) -> float:
        """Return the tokens that a message with this text adds, those around it included; 0 for an empty text."""
        if text and text == self._prompt[0]:
            return self._prompt[1]
        return self._calibration.estimate(self._vector(text, 1.0)) if text else 0.0

    def most(self, tokens: float, texts: Iterable[str]) -> float:
        """Return the most tokens of a request of so many: what reports have not told of its texts may be twice that."""
        unseen = sum(self._calibration.unseen(self._vector(text, 1.0)) for text in texts)
        return self._surplus * max(tokens + unseen, tokens / (1 - MARGIN)) + OVERHEAD_AT_MOST

    def fixed(self, fixed: Fixed) -> float:
        """Return the tokens of what is always sent: as last reported, else estimated."""
        size = self.sizes.get(fixed)
        if size is not None:
            return size
        return (self.overhead or 0.0) + self.message(fixed.system) + self.message(fixed.summary)

    def fixed_parts(self, fixed: Fixed) -> tuple[float, float, float]:
        """Return the tokens of what the model's template adds, of the system prompt, and of the summary."""
        total = self.fixed(fixed)
        summary = max(0.0, total - self.fixed(Fixed(fixed.system))) if fixed.summary else 0.0
        template = min(total - summary, self.overhead or 0.0) if fixed.system else total - summary
        return template, total - summary - template, summary

    def turn(self, turn_id: str, prompt: str, reply: str, attached: float = 0.0) -> float:
        """Return the tokens of a turn: as last reported, else estimated with ``attached`` tokens for its files."""
        size = self.sizes.get(turn_id)
        if size is not None:
            return size
        estimate = self._of_turns.estimate
        return estimate(self._vector(prompt, 1.0 if prompt else 0.0)) + estimate(self._vector(reply)) + attached

    def counted(self, part: Fixed | str) -> bool:
        """Return whether the size of a turn (by its id), or of the fixed texts, comes from a report."""
        return part in self.sizes

    def reported(self, sent: SentRequest, reply: str, usage: Usage, *, turn_id: str | None) -> None:
        """Learn from the usage of one reply, which becomes a turn with a ``turn_id``.

        The reported input, less the parts that were counted before, is shared out among the estimated
        parts, the prompt included. Where the shares would be implausible, all parts are scaled to sum
        to the report; one of far too many tokens is not believed.
        """
        total, parts, is_first = usage.input_tokens, self._beside_turns(sent), self.overhead is None
        expected = sum(parts.values()) + sent.counted + sent.guessed
        if not is_first and total > PLAUSIBLE * expected + OVERHEAD_AT_MOST:
            return  # before the first report a server may add a system prompt of its own
        if is_first and turn_id is not None:
            self.overhead = min(max(total - expected, 0.0), OVERHEAD_AT_MOST)
            parts = self._beside_turns(sent)
        answered = usage.output_tokens - usage.reasoning_tokens
        # a token ends the reply; thoughts may be counted in it, too
        self._calibration = self._calibration.learned(self._vector(reply), min(answered - 1, 2 * self.tokens(reply)))
        is_text = not is_first or (turn_id is None and expected > MOSTLY_TEXT)  # and not perhaps the template's
        shares = self._shares(sent, parts, total, learn=is_text)
        if turn_id is not None:
            if shares is None:  # all parts are scaled
                parts |= sent.turns()
                shares = {part: tokens * total / max(sum(parts.values()), 1.0) for part, tokens in parts.items()}
            self.sizes[turn_id] = self._unsaved[turn_id] = shares.pop(NEW_PROMPT) + answered
            self._keep(shares)
            self._prompt = NEW_PROMPT, 0.0  # that prompt is a turn now
        now_expected = sum(self._beside_turns(sent).values()) + sent.counted + sent.guessed
        most = min(total, PLAUSIBLE * expected) - OVERHEAD_AT_MOST
        self._surplus = max(self._surplus, most / max(now_expected, 1.0))
        self._settle()

    def record_count(self, sent: SentRequest, total: int) -> bool:
        """Learn from the total of a request that was counted but not answered, and return whether it is plausible.

        Parts counted before keep their size.
        """
        shares = self._shares(sent, self._beside_turns(sent), total)
        if shares is not None:
            self._prompt = sent.prompt, max(shares.pop(NEW_PROMPT) - sent.attached, 0.0)
            self._keep(shares)
            self._settle()
        return shares is not None

    def _beside_turns(self, sent: SentRequest) -> PartSizes:
        return {NEW_PROMPT: self.message(sent.prompt) + sent.attached, sent.fixed: self.fixed(sent.fixed)}

    def _shares(self, sent: SentRequest, beside: PartSizes, total: int, *, learn: bool = True) -> PartSizes | None:
        """Fit the parts that are estimated to a total, and return their sizes; ``None`` where that is implausible."""
        guesses = beside | sent.turns() if sent.guessed else beside
        guesses = {part: tokens for part, tokens in guesses.items() if part not in self.sizes}
        guessed = sum(guesses.values())
        left = total - (sum(beside.values()) + sent.counted + sent.guessed - guessed)
        if not max(guessed / PLAUSIBLE, 1) <= left <= PLAUSIBLE * guessed + OVERHEAD_AT_MOST:
            return None
        shares = {part: tokens * left / guessed for part, tokens in guesses.items()}
        if learn and not sent.guessed and not sent.attached:  # tokens of images say nothing about text
            self._calibration = self._calibration.learned(self._vector(sent.prompt, 1.0), shares[NEW_PROMPT])
        return shares

    def _keep(self, sizes: PartSizes) -> None:
        self.sizes |= sizes
        self._unsaved |= sizes
        if any(isinstance(part, str) for part in sizes):  # turns of before
            self.revision += 1

    def _settle(self) -> None:
        """Estimate turns anew after the first report, the second, the fourth and so on, each of which teaches less.

        After every report it would cost as much as there are turns.
        """
        self._reports += 1
        if self._reports.bit_count() == 1:
            self._estimate_turns_anew()

    def _estimate_turns_anew(self) -> None:
        self._of_turns = self._calibration
        self.revision += 1

    @property
    def reports(self) -> tuple[Report, ...]:
        """What the latest reports told."""
        return self._calibration.reports

    def pop_unsaved(self) -> PartSizes:
        """Return the sizes learned from reports since the last call."""
        unsaved, self._unsaved = self._unsaved, PartSizes()
        return unsaved

    def restore(self, reports: tuple[Report, ...], overhead: float | None, sizes: PartSizes) -> None:
        """Restore what was learned before a restart; what was learned since is kept."""
        if self.overhead is None:
            self.overhead = overhead
            if all(len(report.text) == len(self._calibration.ratios) for report in reports):
                self._calibration = self._calibration.after(reports)
        self.sizes = sizes | self.sizes
        self._estimate_turns_anew()


_generic = Meter()


def estimate_tokens(text: str) -> float:
    """Return an estimate of the tokens in ``text`` for a model of which nothing is known."""
    return _generic.tokens(text)
