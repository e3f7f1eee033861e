"""Measure how often a probe's 90 % interval holds the true effective length, how wide it is and what it takes.

``python -m benchmarks.probing [RUNS [SEED]]``: scripted models whose score by length, and by position, is known, in a
window of 131,072 tokens, at most 500,000 tokens and four questions a request. The true length is the longest at which
the mean over all positions is 0.85 of that at 1,024 tokens. Where the base is too low for any length, a run is right
that says so.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from time import process_time

from jupyter_ctx.experiments.probing.curve import ABLE_SHARE, HELD_SHARE, HeldLength, Posterior, answered_lengths
from jupyter_ctx.experiments.probing.design import ProbeStep, next_step, probe_lengths
from jupyter_ctx.experiments.probing.trial import Trial

RUNS, SEED = 40, 20_261
LONGEST, CAP, QUESTIONS, ANSWER = 131_072, 500_000, 4, 80
ENDS = "narrow / cap / base"
HEADS = (
    "model",
    "true",
    "covered",
    "median within 1 octave",
    "octaves",
    "tokens",
    "most",
    "questions",
    "rounds",
    ENDS,
    "CPU ms",
)
LENGTHS = probe_lengths(LONGEST)
EVENLY = [(i + 0.5) / 200 for i in range(200)]  # positions
FINE = [LENGTHS[0] * 2 ** (i / 64) for i in range(64 * 7 + 1)]  # lengths
Curve = Callable[[float, float], float]  # of length and position


@dataclass(frozen=True)
class Model:
    """Scores by length and position; ``correlation``: of two answers of one request."""

    curve: Curve
    correlation: float = 0.0

    def mean(self, length: float) -> float:
        return fmean(self.curve(length, position) for position in EVENLY)

    def truth(self) -> float:
        base = self.mean(LENGTHS[0])
        return max(length for length in FINE if self.mean(length) >= HELD_SHARE * base - 1e-9)

    def answers(self, length: int, positions: tuple[float, ...], rng: random.Random) -> list[float]:
        """Answer the questions of one request: each copies the request's luck in place of its own now and then.

        Two of them do so both at ``correlation``; what each is on its own stays as the curve says.
        """
        shared, copies = rng.random(), math.sqrt(self.correlation)
        lucks = (shared if rng.random() < copies else rng.random() for _ in positions)
        return [float(luck < self.curve(length, at)) for luck, at in zip(lucks, positions, strict=True)]


def falls(at: float, steepness: float, base: float = 0.98) -> Curve:
    """A logistic curve of the logarithm of the length, which is half its base at so many tokens."""
    return lambda length, _: base / (1 + (length / at) ** steepness)


def sharp(at: float, base: float = 0.98, after: float = 0.3) -> Curve:
    return lambda length, _: base if length <= at else after


def flat(base: float) -> Curve:
    return lambda _, __: base


def u_shaped(at: float, steepness: float = 2, floor: float = 0.2) -> Curve:
    """A curve whose middle falls earlier: facts at the ends of a text are found up to a length 16 times as long."""

    def curve(length: float, position: float) -> float:
        edge = abs(2 * position - 1) ** 2
        return floor * edge + (0.98 - floor * edge) / (1 + (length / (at * 16**edge)) ** steepness)

    return curve


def noisy(curve: Curve, spread: float = 0.25) -> Curve:
    """Make each of twenty parts of a text harder or easier than others, by chance."""
    shifts = [random.Random(part).uniform(-spread, spread) for part in range(20)]
    return lambda length, position: min(1.0, max(0.0, curve(length, position) + shifts[int(position * 20)]))


MODELS = {
    "sharp, 4k": Model(sharp(4_500)),
    "sharp, 16k": Model(sharp(20_000)),
    "sharp, 7.5k to 0": Model(sharp(7_500, 1.0, 0.0)),
    "steep, 24k": Model(falls(45_000, 3)),
    "steep, 2k": Model(falls(3_500, 3)),
    "ordinary, 5k": Model(falls(16_384, 1.5)),
    "ordinary, 27k": Model(falls(65_536, 2)),
    "shallow, 2k": Model(falls(16_384, 0.8)),
    "shallow, 15k": Model(falls(150_000, 0.8)),
    "flat, 0.98": Model(flat(0.98)),
    "flat, 1": Model(flat(1.0)),
    "flat, 0.85": Model(flat(0.85)),
    "base 0.75, 8k": Model(falls(20_000, 2, 0.75)),
    "base 0.75, flat": Model(flat(0.75)),
    "none, 0.5": Model(flat(0.5)),
    "none, 0.2": Model(flat(0.2)),
    "U, 4k": Model(u_shaped(4_000)),
    "U, 30k": Model(u_shaped(20_000, 2, 0.5)),
    "noise by position, 5k": Model(noisy(falls(16_384, 1.5))),
    "noise by position, flat": Model(noisy(flat(0.8))),
    "dependent 0.3, 5k": Model(falls(16_384, 1.5), 0.3),
    "dependent 0.3, 27k": Model(falls(65_536, 2), 0.3),
    "dependent 0.6, 5k": Model(falls(16_384, 1.5), 0.6),
    "dependent 0.3, flat": Model(flat(0.95), 0.3),
}


@dataclass(frozen=True)
class Outcome:
    """What one run says, and what it took."""

    held: HeldLength
    reason: str
    tokens: int
    requests: int
    rounds: int
    seconds: float  # of CPU, a decision


def probe(model: Model, rng: random.Random, cap: int = CAP) -> Outcome:
    trials, tokens, requests, rounds = list[Trial](), 0, 0, 0
    began = process_time()
    while isinstance(step := next_step(trials, LENGTHS, tokens, cap, questions=QUESTIONS), ProbeStep):
        rounds += 1
        for positions in step.positions:
            requests += 1
            took = step.length + ANSWER
            tokens += took
            scores = model.answers(step.length, positions, rng)
            trials += [Trial(step.length, step.length, str(requests), score, took) for score in scores]
    held = Posterior.of(trials, answered_lengths(trials, LENGTHS)).effective()
    return Outcome(held, step.reason, tokens, requests, rounds, (process_time() - began) / (rounds + 1))


def covers(outcome: Outcome, model: Model, truth: float) -> bool:
    """Whether a run is right, but for rounding of the true length."""
    held, near = outcome.held, 2 ** (1 / 64)
    if model.mean(LENGTHS[0]) < ABLE_SHARE or outcome.reason == "base":
        return outcome.reason == "base" and model.mean(LENGTHS[0]) < ABLE_SHARE
    return held.low / near <= min(truth, held.longest) <= held.high * near


def row(name: str, model: Model, runs: int, seed: int) -> str:
    truth = model.truth()
    outcomes = [probe(model, random.Random(f"{seed} {name} {run}")) for run in range(runs)]
    right = fmean(covers(outcome, model, truth) for outcome in outcomes)
    octaves = [math.log2(outcome.held.high / outcome.held.low) for outcome in outcomes]
    near = fmean(abs(math.log2(outcome.held.median / truth)) <= 1.01 for outcome in outcomes)
    ended = {reason: sum(outcome.reason == reason for outcome in outcomes) for reason in ENDS.split(" / ")}
    figures = (
        f"{truth / 1000:.1f}k", f"{100 * right:.0f} %", f"{100 * near:.0f} %", f"{fmean(octaves):.1f}",
        f"{fmean(outcome.tokens for outcome in outcomes) / 1000:.0f}k",
        f"{max(outcome.tokens for outcome in outcomes) / 1000:.0f}k",
        f"{QUESTIONS * fmean(outcome.requests for outcome in outcomes):.0f}",
        f"{fmean(outcome.rounds for outcome in outcomes):.0f}", " / ".join(str(count) for count in ended.values()),
        f"{1000 * fmean(outcome.seconds for outcome in outcomes):.0f}",
    )  # fmt: skip
    return f"| {name} | {' | '.join(figures)} |"


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else SEED
    print(f"| {' | '.join(HEADS)} |\n|---{'|--:' * (len(HEADS) - 1)}|")
    for name, model in MODELS.items():
        print(row(name, model, runs, seed), flush=True)


if __name__ == "__main__":
    main()
