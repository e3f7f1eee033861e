"""How many tokens one tokenizer makes of a text: a known vocabulary's ratios, and one factor that reports teach.

A text is a vector: its features, then the number of messages. Of the vocabularies that a model may have,
those count whose estimates have been nearest to the reports; a model's name only says which are likely.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import add, mul

from .budget import LEAST_MARGIN, MARGIN

Vector = tuple[float, ...]

MESSAGE = 8.0  # tokens that common chat templates add to a prompt and its reply
MESSAGES = tuple(map(float, range(2, 13)))  # what a template may add, where all else is known
PRIOR_TOKENS = 30.0  # tokens that the estimate before any report counts as
UNLIKELY = 6.0  # how badly a vocabulary fits that the model's name does not suggest, before any report
FIT, KNOWN_FIT = 0.1, 0.02  # relative error of estimates by the right ratios, and of counts with the right template
NOISE, KNOWN_NOISE, LEAST_NOISE = 0.135, 0.07, 0.01  # relative error: by ratios, by the vocabulary itself, and least
NOISE_WEIGHT = 2.0  # observations that the initial noise counts as
MOST_OBSERVATIONS = 12.0  # that count, so that another tokenizer behind the same name is learned, too
OUTLIER = 4.0  # standard deviations: later errors count as at most this large
SAFETY = 1.5  # standard deviations that the margin covers
SEEN = 300.0  # reported tokens of a kind of text that make half of it seen


@dataclass(frozen=True, slots=True)
class Reports:
    """What the latest usage reports have told of one tokenizer.

    ``reported``: their tokens; ``estimated``: what each vocabulary made of their texts.
    ``misses``: how badly each vocabulary fits, a negative logarithm.
    ``seen``: the tokens of each kind of text.
    ``noise``: relative variance of the estimates; ``observations``: how many reports it rests on.
    """

    reported: float = 0.0
    estimated: Vector = ()
    misses: Vector = ()
    seen: Vector = ()
    noise: float = NOISE**2
    observations: float = NOISE_WEIGHT


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is known of one tokenizer: ``weights``, in tokens for each unit of a text's vector.

    ``vocabularies``: the ratios of each vocabulary that it may have.
    ``factors``: the tokens that were reported for each that a vocabulary makes.
    """

    vocabularies: tuple[Vector, ...]
    reports: Reports
    factors: Vector
    weights: Vector

    @classmethod
    def of(
        cls,
        likely: Sequence[Vector],
        others: Sequence[Vector] = (),
        noise: float = NOISE,
        messages: Iterable[float] = (MESSAGE,),
    ) -> Calibration:
        """Return the calibration before any report, from the ratios of the likely vocabularies and of others.

        ``messages``: the tokens that a template may add to a prompt and its reply.
        """
        likely = [(*row, message) for row in likely for message in messages]
        misses = dict.fromkeys(likely, 0.0)
        for row in others:
            misses.setdefault((*row, MESSAGE), UNLIKELY)
        nothing = Reports(0.0, (0.0,) * len(misses), tuple(misses.values()), (0.0,) * len(likely[0]), noise**2)
        return cls.after(tuple(misses), nothing)

    @classmethod
    def after(cls, vocabularies: tuple[Vector, ...], reports: Reports) -> Calibration:
        """Return what is known after these reports."""
        best, reported = min(reports.misses), reports.reported + PRIOR_TOKENS
        factors = tuple([reported / (made + PRIOR_TOKENS) for made in reports.estimated])
        fits = [math.exp(best - miss) for miss in reports.misses]
        total = sum(fits)
        weights = [math.fsum(map(mul, map(mul, fits, factors), ratios)) for ratios in zip(*vocabularies, strict=True)]
        return cls(vocabularies, reports, factors, tuple([weight / total for weight in weights]))

    def estimate(self, text: Vector) -> float:
        """Return the estimated tokens of a text."""
        return math.fsum(map(mul, self.weights, text))

    def margin(self, text: Vector) -> float:
        """Return the share of an estimate to keep free: from 20 % down to 3 % as the estimates prove right."""
        unseen = self.unseen(text) / max(self.estimate(text), 1.0)
        return min(max(SAFETY * math.hypot(math.sqrt(self.reports.noise), NOISE * unseen), LEAST_MARGIN), MARGIN)

    def unseen(self, text: Vector) -> float:
        """Return the tokens of an estimate that rest on kinds of text of which reports have told little."""
        shares = [SEEN / (SEEN + tokens) for tokens in self.reports.seen]
        return math.fsum(map(mul, map(mul, self.weights, text), shares))

    def learned(self, text: Vector, tokens: float) -> Calibration:
        """Return the calibration after a report of this many tokens for a text."""
        old, expected = self.reports, self.estimate(text)
        if tokens < 1 or expected <= 0:
            return self
        if old.observations > NOISE_WEIGHT + 1:  # an odd one does not outweigh a conversation
            most = OUTLIER * math.sqrt(max(old.noise, LEAST_NOISE**2) * expected**2 + expected)
            tokens = min(max(tokens, expected - most, 1.0), expected + most)
        made = [math.fsum(map(mul, row, text)) for row in self.vocabularies]
        fit = FIT if len(text) > 2 else KNOWN_FIT
        telling = min(1.0, expected / 100)  # short texts tell little
        kept = 1 - telling / MOST_OBSERVATIONS
        misses, estimated = [], []
        for miss, before, now, factor in zip(old.misses, old.estimated, made, self.factors, strict=True):
            error = min(abs(math.log(tokens / (factor * now))) / fit, OUTLIER)
            misses.append(kept * miss + telling * error**2 / 2)
            estimated.append(kept * before + now)
        observations = old.observations + telling
        noise = (old.noise * old.observations + (tokens / expected - 1) ** 2 * telling) / observations
        seen = tuple(map(add, old.seen, map(mul, self.weights, text)))
        latest = min(observations, MOST_OBSERVATIONS)
        reports = Reports(kept * old.reported + tokens, tuple(estimated), tuple(misses), seen, noise, latest)
        return Calibration.after(self.vocabularies, reports)
