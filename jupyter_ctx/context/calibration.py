"""What one tokenizer makes of each kind of text, learned from every report.

A Kalman filter: a weight for each kind of a text's makeup and one for what a message costs
beside its text, with how sure we are of each. It begins with what is known of the model's
family. A report of Russian teaches about Russian, and a little about everything.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass

from .budget import LEAST_MARGIN, MARGIN

Vector = tuple[float, ...]

MESSAGE, MESSAGE_DOUBT = 8.0, 4.0  # tokens of the common chat templates for a prompt and its reply
COMMON_DOUBT = 0.30  # of all weights together
OWN_DOUBTS = (0.10, 0.35, *[0.5] * 10, 0.4, 0.4)  # of each weight beside the others: words, digits, scripts, rest
KNOWN_DOUBT = 0.02  # of a vocabulary's own count
NOISE = 0.135  # of what a text's makeup does not tell: relative, before anything was measured
LEAST_NOISE = 0.01
NOISE_WEIGHT, NOISE_MEMORY = 2.0, 12.0  # observations that the first guess is worth, and that are remembered
DRIFT = 0.02  # how much a weight may change from one report to the next
ODD = 3.0  # standard deviations: what is further off counts as that far
SAFETY = 1.5  # standard deviations of the margin
LEAST_WEIGHT = 1e-3
UNCALIBRATED: Vector = (1.0,)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Tokens for each kind of text, with their covariance and the noise (relative variance) beside.

    Texts are vectors of the same length: their makeup, and last how many messages they are.
    """

    weights: Vector
    covariance: tuple[Vector, ...]
    noise: float = NOISE**2
    observations: float = NOISE_WEIGHT

    @classmethod
    def of(cls, prior: Vector, doubts: Sequence[float] = OWN_DOUBTS, common: float = COMMON_DOUBT) -> Calibration:
        """What is believed before any report: tokens for each kind; ``doubts`` are relative."""
        weights = (*prior, MESSAGE)
        shared = (*(common * weight for weight in prior), 0.0)
        own = (*(doubt * weight for doubt, weight in zip(doubts, prior, strict=True)), MESSAGE_DOUBT)
        rows = range(len(weights))
        return cls(weights, tuple(tuple(shared[i] * shared[j] + (i == j) * own[i] ** 2 for j in rows) for i in rows))

    @classmethod
    def counted(cls) -> Calibration:
        """For texts that are counted by the model's own vocabulary: one kind, a token each."""
        return cls.of(UNCALIBRATED, (KNOWN_DOUBT,), 0.0)

    def estimate(self, text: Vector) -> float:
        """Tokens of a text."""
        return _dot(self.weights, text)

    def margin(self, text: Vector) -> float:
        """What to keep free beside an estimate, as a share: from 20 % down to 3 % as the estimates prove right."""
        tokens = max(self.estimate(text), 1.0)
        doubt = math.sqrt(max(_dot(text, self._spread(text)), 0.0) + self.noise * tokens**2)
        return min(max(SAFETY * doubt / tokens, LEAST_MARGIN), MARGIN)

    def learned(self, text: Vector, tokens: float) -> Calibration:
        """With one more observation: so many tokens were reported for a text like that."""
        expected = self.estimate(text)
        if tokens <= 0 or expected <= 0:
            return self
        spread = self._spread(text)
        scatter = max(self.noise, LEAST_NOISE**2) * expected**2 + 1.0  # 1: counts are whole
        total = max(_dot(text, spread), 0.0) + scatter
        most = ODD * math.sqrt(total)
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
        unexplained = off**2 * scatter / total / expected**2  # the part of the error that is not the weights'
        telling = min(1.0, expected / 100)  # short texts say little
        seen = self.observations + telling
        noise = (self.noise * self.observations + unexplained * telling) / seen
        return Calibration(weights, covariance, noise, min(seen, NOISE_MEMORY))

    def _spread(self, text: Vector) -> Vector:
        return tuple(_dot(row, text) for row in self.covariance)


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(map(operator.mul, one, other))
