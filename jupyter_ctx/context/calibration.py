"""How many tokens one tokenizer makes of each kind of text, learned from every usage report.

A text is a vector: its makeup, then the number of messages. Each kind of text has a weight, in
tokens, and a doubt. A report corrects the weights that it is about, the more the less is known of
them. Kinds that no report was about take their weights from the known vocabularies whose other
ratios agree with the reports; a model's name only says which of these are likely.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .budget import LEAST_MARGIN, MARGIN

Vector = tuple[float, ...]

MESSAGE, MESSAGE_DOUBT = 8.0, 0.5  # tokens that common chat templates add to a prompt and its reply
DOUBT = 0.25  # relative standard deviation of a ratio that is taken from a vocabulary's
KNOWN_DOUBT = 0.02  # where the model's own vocabulary counts
ODDS = 6.0  # natural logarithm: how much likelier a vocabulary is that the model's name suggests
NOISE = 0.135  # relative error that the makeup of a text leaves unexplained, before the first report
LEAST_NOISE = 0.01
NOISE_WEIGHT = 2.0  # observations that the initial noise counts as
MOST_OBSERVATIONS = 12.0  # that count, so that another tokenizer behind the same name is learned, too
OUTLIER = 4.0  # standard deviations: larger errors count as this large
SAFETY = 1.5  # standard deviations that the margin covers
UNSEEN_DOUBT = 0.1  # relative standard deviation of what reports tell of a kind that is half unseen then
LEAST_SHARE = 0.01  # of a weight, that one report leaves of it


@dataclass(frozen=True, slots=True)
class Reports:
    """What usage reports have told of one tokenizer.

    ``logs``: the logarithm of the tokens for each unit of a text's vector, by the reports alone.
    ``precisions``: of these, one over their variance; 0 where nothing was reported.
    ``noise``: relative variance that the weights leave unexplained.
    ``observations``: how many reports the noise rests on.
    """

    logs: Vector = ()
    precisions: Vector = ()
    noise: float = NOISE**2
    observations: float = NOISE_WEIGHT


class Prior(NamedTuple):
    """What may be expected before any report.

    ``logs``: of each vocabulary that the model may have, the logarithms of its ratios.
    ``odds``: how likely each is, a natural logarithm.
    ``variances``: of a ratio's logarithm, once the vocabulary is known.
    """

    logs: tuple[Vector, ...]
    odds: Vector
    variances: Vector


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is known of one tokenizer: ``weights``, in tokens for each unit of a text's vector, and their ``variances``.

    Variances are of the logarithms.
    """

    prior: Prior
    reports: Reports
    weights: Vector
    variances: Vector

    @classmethod
    def of(cls, likely: Sequence[Vector], others: Sequence[Vector] = (), doubt: float = DOUBT) -> Calibration:
        """Return the calibration before any report, from the ratios of the likely vocabularies and of others."""
        rows = [*likely, *(row for row in others if row not in likely)]
        logs = tuple((*map(math.log, row), math.log(MESSAGE)) for row in rows)
        kinds = len(rows[0])
        odds = tuple(ODDS if row in likely else 0.0 for row in rows)
        prior = Prior(logs, odds, (*[doubt**2] * kinds, MESSAGE_DOUBT**2))
        return cls.told(prior, Reports((0.0,) * (kinds + 1), (0.0,) * (kinds + 1)))

    @classmethod
    def counted(cls) -> Calibration:
        """Return the calibration for texts that the model's own vocabulary counts: one kind, a token each."""
        return cls.of(((1.0,),), doubt=KNOWN_DOUBT)

    @classmethod
    def told(cls, prior: Prior, reports: Reports) -> Calibration:
        """Return what is known after these reports."""
        shares = _shares(prior, reports)
        weights, variances = [], []
        columns = zip(*prior.logs, strict=True)
        for column, own, log, precision in zip(columns, prior.variances, reports.logs, reports.precisions, strict=True):
            mean = _dot(shares, column)
            variance = own + max(0.0, _dot(shares, map(operator.mul, column, column)) - mean**2)
            both = 1 / variance + precision
            weights.append(math.exp((mean / variance + log * precision) / both))
            variances.append(1 / both)
        return cls(prior, reports, tuple(weights), tuple(variances))

    def estimate(self, text: Vector) -> float:
        """Return the estimated tokens of a text."""
        return _dot(self.weights, text)

    def margin(self, text: Vector) -> float:
        """Return the share of an estimate to keep free: from 20 % down to 3 % as the estimates prove right."""
        tokens = max(self.estimate(text), 1.0)
        doubt = math.sqrt(sum(self._spread(text)) + self.reports.noise * tokens**2)
        return min(max(SAFETY * doubt / tokens, LEAST_MARGIN), MARGIN)

    def unseen(self, text: Vector) -> float:
        """Return the tokens of an estimate that rest on kinds of which reports have told little."""
        shares = [1 / (1 + UNSEEN_DOUBT**2 * precision) for precision in self.reports.precisions]
        return _dot(map(operator.mul, self.weights, text), shares)

    def learned(self, text: Vector, tokens: float) -> Calibration:
        """Return the calibration after a report of this many tokens for a text."""
        expected = self.estimate(text)
        if tokens <= 0 or expected <= 0:
            return self
        old, spread = self.reports, self._spread(text)
        scatter = max(old.noise, LEAST_NOISE**2) * expected**2 + 1.0  # 1: counts are whole
        logs, precisions = list(old.logs), list(old.precisions)
        # what is beyond the margin is due to kinds of which reports have told less than the vocabularies
        beyond = max(1.0, (tokens - expected) ** 2 / (sum(spread) + scatter) / SAFETY**2)
        doubts = [beyond if told * own < 1 else 1.0 for told, own in zip(precisions, self.prior.variances, strict=True)]
        spread = tuple(map(operator.mul, doubts, spread))
        total = sum(spread) + scatter
        most = OUTLIER * math.sqrt(total)
        off = min(max(tokens - expected, -most), most)
        for kind, part in enumerate(spread):
            gain, weight, before = part / total, self.weights[kind], 1 / self.variances[kind]
            gained = before / doubts[kind] * gain / max(1 - gain, LEAST_SHARE)
            if gained:
                step = math.log(max(1 + gain * off / (weight * text[kind]), LEAST_SHARE))
                told = precisions[kind] * logs[kind] + gained * math.log(weight) + (before + gained) * step
                precisions[kind] += gained
                logs[kind] = told / precisions[kind]
        unexplained = off**2 * scatter / total / expected**2  # the part of the error that is not due to the weights
        telling = min(1.0, expected / 100)  # short texts tell little
        seen = old.observations + telling
        noise = (old.noise * old.observations + unexplained * telling) / seen
        surest = MOST_OBSERVATIONS / max(noise, LEAST_NOISE**2)
        precisions = [min(precision, surest) for precision in precisions]
        return Calibration.told(
            self.prior, Reports(tuple(logs), tuple(precisions), noise, min(seen, MOST_OBSERVATIONS))
        )

    def _spread(self, text: Vector) -> Vector:
        """Return the variance of each kind's part of a text, in tokens squared."""
        parts = list(map(operator.mul, self.weights, text))
        return tuple(map(operator.mul, self.variances, map(operator.mul, parts, parts)))


def _shares(prior: Prior, reports: Reports) -> Vector:
    """Return how likely each vocabulary is, by what the reports have told of single kinds; in all 1."""
    fits = []
    for odds, row in zip(prior.odds, prior.logs, strict=True):
        for log, precision, ratio, own in zip(reports.logs, reports.precisions, row, prior.variances, strict=True):
            if precision:
                odds -= (log - ratio) ** 2 / (own + 1 / precision) / 2
        fits.append(odds)
    best = max(fits)
    likelihoods = [math.exp(fit - best) for fit in fits]
    return tuple(likelihood / sum(likelihoods) for likelihood in likelihoods)


def _dot(one: Iterable[float], other: Iterable[float]) -> float:
    return math.fsum(map(operator.mul, one, other))
