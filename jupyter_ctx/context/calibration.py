"""How many tokens one tokenizer makes of each kind of text, learned from every usage report.

A Kalman filter estimates a weight for each kind of a text's makeup, and one for the tokens that a
message costs beside its text, each with its variance. The filter starts from the model's family.
A report on Russian text corrects the weight of Cyrillic most, and every other weight a little.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass

from .budget import LEAST_MARGIN, MARGIN

Vector = tuple[float, ...]

MESSAGE, MESSAGE_DOUBT = 8.0, 4.0  # tokens that common chat templates add to a prompt and its reply
COMMON_DOUBT = 0.30  # relative standard deviation that all weights share
OWN_DOUBTS = (0.10, 0.35, *[0.5] * 10, 0.4, 0.4)  # of each weight alone: words, digits, scripts, the rest
KNOWN_DOUBT = 0.02  # where the model's own vocabulary counts
NOISE = 0.135  # relative error that the makeup of a text leaves unexplained, before the first report
LEAST_NOISE = 0.01
NOISE_WEIGHT, NOISE_MEMORY = 2.0, 12.0  # observations that the initial noise counts as, and that are remembered at most
DRIFT = 0.02  # relative change of a weight from one report to the next
OUTLIER = 3.0  # standard deviations: larger errors count as this large
SAFETY = 1.5  # standard deviations that the margin covers
LEAST_WEIGHT = 1e-3
UNCALIBRATED: Vector = (1.0,)


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is known of one tokenizer. Texts are vectors: their makeup, then the number of messages.

    ``weights``: tokens for each unit of a text's vector.
    ``covariance``: of the weights, in tokens squared.
    ``noise``: relative variance that the weights leave unexplained.
    ``observations``: how many reports the noise rests on.
    """

    weights: Vector
    covariance: tuple[Vector, ...]
    noise: float = NOISE**2
    observations: float = NOISE_WEIGHT

    @classmethod
    def of(cls, prior: Vector, doubts: Sequence[float] = OWN_DOUBTS, common: float = COMMON_DOUBT) -> Calibration:
        """Return the calibration before any report, from tokens for each kind of text and their relative doubts."""
        weights = (*prior, MESSAGE)
        shared = (*(common * weight for weight in prior), 0.0)
        own = (*(doubt * weight for doubt, weight in zip(doubts, prior, strict=True)), MESSAGE_DOUBT)
        rows = range(len(weights))
        return cls(weights, tuple(tuple(shared[i] * shared[j] + (i == j) * own[i] ** 2 for j in rows) for i in rows))

    @classmethod
    def counted(cls) -> Calibration:
        """Return the calibration for texts that the model's own vocabulary counts: one kind, a token each."""
        return cls.of(UNCALIBRATED, (KNOWN_DOUBT,), 0.0)

    def estimate(self, text: Vector) -> float:
        """Return the estimated tokens of a text."""
        return _dot(self.weights, text)

    def margin(self, text: Vector) -> float:
        """Return the share of an estimate to keep free: from 20 % down to 3 % as the estimates prove right."""
        tokens = max(self.estimate(text), 1.0)
        doubt = math.sqrt(max(_dot(text, self._spread(text)), 0.0) + self.noise * tokens**2)
        return min(max(SAFETY * doubt / tokens, LEAST_MARGIN), MARGIN)

    def learned(self, text: Vector, tokens: float) -> Calibration:
        """Return the calibration after a report of this many tokens for a text."""
        expected = self.estimate(text)
        if tokens <= 0 or expected <= 0:
            return self
        spread = self._spread(text)
        scatter = max(self.noise, LEAST_NOISE**2) * expected**2 + 1.0  # 1: counts are whole
        total = max(_dot(text, spread), 0.0) + scatter
        most = OUTLIER * math.sqrt(total)
        off = min(max(tokens - expected, -most), most)
        gains = [value / total for value in spread]
        weights = tuple(max(w + gain * off, LEAST_WEIGHT) for w, gain in zip(self.weights, gains, strict=True))
        covariance = tuple(
            tuple(
                value - gain * there + (i == j) * (DRIFT * weights[i]) ** 2
                for j, (value, there) in enumerate(zip(row, spread, strict=True))
            )
            for i, (row, gain) in enumerate(zip(self.covariance, gains, strict=True))
        )
        unexplained = off**2 * scatter / total / expected**2  # the part of the error that is not due to the weights
        telling = min(1.0, expected / 100)  # short texts tell little
        seen = self.observations + telling
        noise = (self.noise * self.observations + unexplained * telling) / seen
        return Calibration(weights, covariance, noise, min(seen, NOISE_MEMORY))

    def _spread(self, text: Vector) -> Vector:
        return tuple(_dot(row, text) for row in self.covariance)


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(map(operator.mul, one, other))
