"""How many tokens a text takes: by the ratios of the model's family, and one factor that reports teach.

A text is a vector: its features, then the number of messages.
"""

from __future__ import annotations

import math
import re
import string
from bisect import bisect_right
from collections import Counter
from functools import lru_cache
from operator import add, itemgetter, mul
from typing import Literal, NamedTuple

from .budget import LEAST_MARGIN, MARGIN

Vector = tuple[float, ...]

CHARACTER_KINDS = (
    "words", "digits", "Latin letters with marks", "Greek", "Cyrillic", "Hebrew", "Arabic", "kana",
    "Chinese characters", "Hangul", "Thai", "Devanagari", "other Indic scripts", "other scripts", "symbols", "emoji",
    "long runs",
)  # fmt: skip
SCRIPTS = (  # the first character beyond ASCII that is of a kind, up to the next one
    (0x80, "Latin letters with marks"), (0x380, "Greek"), (0x400, "Cyrillic"), (0x500, "other scripts"),
    (0x5C0, "Hebrew"), (0x600, "Arabic"), (0x800, "other Indic scripts"), (0x900, "Devanagari"),
    (0x980, "other Indic scripts"), (0xE00, "Thai"), (0xE80, "other Indic scripts"), (0x1000, "other scripts"),
    (0x1E80, "Latin letters with marks"), (0x1F00, "other scripts"), (0x2000, "symbols"), (0x3040, "kana"),
    (0x4000, "Chinese characters"), (0xA000, "Hangul"), (0xE000, "symbols"), (0x10000, "emoji"),
)  # fmt: skip
SCRIPT_STARTS = [start for start, _ in SCRIPTS]
SCRIPT_KINDS = [CHARACTER_KINDS.index(kind) for _, kind in SCRIPTS]


def _only(wanted: str) -> bytes:
    """Return a translation table that turns every other byte into a space."""
    return bytes(byte if byte in wanted.encode() else 32 for byte in range(256))


def _but(wanted: str) -> bytes:
    """Return every byte but these, for ``bytes.translate`` to delete."""
    return bytes(set(range(256)).difference(wanted.encode()))


LETTERS, PUNCTUATION = _only(string.ascii_letters), _only(string.punctuation)
NO_LETTERS, NO_MARKS, NO_DIGITS = _but(string.ascii_letters), _but(string.punctuation), _but(string.digits)
LONG_RUN = b"x" * 20  # letters and digits without a break: an identifier, or a sequence, a hash and such
RUNS = bytes(ord("x" if chr(byte).isalnum() and byte < 128 else " ") for byte in range(256))
VOWELS = bytes(ord("v" if byte in b"AEIOUaeiou" else "c") for byte in range(256))
ALTERNATION = 0.47  # of a run's letters, those after which a vowel follows a consonant or the reverse: of words more
FEW_LETTERS = 7  # that a sequence of nucleotides is made of; no word as long as a run has so few
WORD_LETTERS = 7  # letters of each word in an identifier or a compound
ONE_CASE, BOTH_CASES = 0.52, 0.69  # tokens of o200k_base a letter of other runs, by their case
TEXTS_CACHED = 512  # texts: a turn asks for the same few again and again


@lru_cache(TEXTS_CACHED)
def text_features(text: str) -> Vector:
    """Return the features of a text: the tokens of its words, then the count of each other kind of character.

    Words are runs of letters, runs of punctuation and line ends. Their weights were fitted to eight
    vocabularies: the first number is within 15 % of the tokens that each of them makes of English and code.
    The last number, of DNA, hashes, base64 and such, is in tokens, too.
    """
    data, long_runs = _without_long(text.encode("utf-8", "surrogatepass"))
    words = 0.9 * len(data.translate(LETTERS).split()) + 0.036 * len(data.translate(None, NO_LETTERS))
    marks = 0.75 * len(data.translate(PUNCTUATION).split()) + 0.12 * len(data.translate(None, NO_MARKS))
    lines = 0.7 * data.count(b"\n") + 0.3 * (data.count(b"\n  ") + data.count(b"\n\t"))
    features = [0.0] * len(CHARACTER_KINDS)
    features[0], features[1], features[-1] = words + marks + lines, len(data.translate(None, NO_DIGITS)), long_runs
    for character, count in Counter("" if text.isascii() else text).items():
        if character > "\x7f":
            features[SCRIPT_KINDS[bisect_right(SCRIPT_STARTS, ord(character)) - 1]] += count
    return tuple(features)


def _without_long(data: bytes) -> tuple[bytes, float]:
    """Return a text without its long runs of letters and digits that are no words, and their tokens."""
    runs, rest, tokens, end = data.translate(RUNS) + b" ", list[bytes](), 0.0, 0
    while (start := runs.find(LONG_RUN, end)) >= 0:
        rest.append(data[end:start])
        end = runs.index(b" ", start)
        run = data[start:end]
        if run.isdigit() or _is_wordlike(run):
            rest += [run[at : at + WORD_LETTERS] for at in range(0, len(run), WORD_LETTERS)]
        else:
            tokens += (ONE_CASE if run.isupper() or run.islower() else BOTH_CASES) * len(run)
    return b" ".join((*rest, data[end:])), tokens


def _is_wordlike(run: bytes) -> bool:
    """Return whether a run can be pronounced, or repeats one letter or two: vocabularies have long tokens for it."""
    letters, vowels = len(set(run)), run.translate(VOWELS)
    alternates = vowels.count(b"vc") + vowels.count(b"cv") > ALTERNATION * len(run)
    return letters <= 2 or (alternates and letters > FEW_LETTERS)


Vocabulary = Literal["o200k_base", "cl100k_base"]


class Family(NamedTuple):
    """A family: the ratios that its vocabulary may have, and the vocabulary it counts by where that is public.

    Ratios are tokens for each kind of a text's features; the first hold until reports have shown which fit.
    """

    ratios: tuple[Vector, ...]
    vocabulary: Vocabulary | None = None


# Tokens for each unit of: words, digits; Latin, Greek, Cyrillic, Hebrew, Arabic; kana, Chinese, Hangul; Thai,
# Devanagari, other Indic; other scripts, symbols, emoji; long runs. Fitted to what each public vocabulary makes of
# handbooks and user interfaces in thirty languages (Debian packages of LibreOffice, GNOME, Firefox, the FAQ), code and
# JSON; of DNA, proteins, hashes and base64, of which a vocabulary that splits digits makes more.
O200K_RATIOS = (0.95, 0.81, 0.46, 0.4, 0.32, 0.45, 0.37, 0.72, 0.71, 0.71, 0.4, 0.43, 0.4, 0.4, 0.7, 2.18, 1)
CL100K_RATIOS = (0.96, 0.8, 1.49, 1.03, 0.54, 1.17, 0.85, 0.98, 1.04, 1.08, 0.95, 1.18, 1.61, 2.1, 0.88, 2.77, 1.03)
QWEN = (0.96, 1.31, 0.83, 1, 0.43, 0.44, 0.5, 0.62, 0.59, 0.82, 0.59, 1.09, 1.37, 1.23, 1.1, 2.06, 1.18)
LLAMA_3 = (0.96, 0.78, 0.51, 0.42, 0.33, 1.17, 0.43, 0.66, 0.75, 0.74, 0.49, 0.65, 1.61, 2.01, 0.63, 2.77, 1.03)
LLAMA_4 = (0.96, 0.8, 0.26, 0.38, 0.28, 0.53, 0.42, 0.5, 0.59, 0.6, 0.32, 0.44, 0.6, 0.57, 0.54, 2.25, 0.97)
DEEPSEEK = (0.99, 0.8, 0.93, 0.51, 0.38, 0.54, 0.45, 0.65, 0.58, 0.78, 0.38, 0.71, 0.6, 0.75, 0.88, 2.2, 1)
TEKKEN = (0.98, 1.33, 0.53, 0.42, 0.35, 0.52, 0.35, 0.62, 0.96, 0.67, 0.54, 0.52, 0.52, 0.49, 0.72, 3.42, 1.18)
LLAMA_2 = (1.13, 1.42, 1.65, 1.16, 0.46, 1.19, 1.1, 1.11, 1.15, 1.37, 1.04, 1.18, 1.5, 1.28, 0.76, 3.33, 1.22)
SMOLLM = (1.06, 1.19, 2.8, 0.99, 0.88, 1.3, 1.18, 1.71, 1.78, 2.49, 1.85, 1.31, 2.3, 2.29, 1.09, 2.83, 1.22)
# Anthropic's newer vocabularies are not public: 1.3 and 1.6 times the tokens of o200k_base for the same text; in long
# runs, where all vocabularies are alike, less is taken
CLAUDE_3 = (1.25, 0.87, 1.3, 0.85, 0.45, 0.85, 0.75, 0.95, 0.95, 1, 1, 1, 1.2, 1.4, 1.1, 3.1, 1.15)
CLAUDE_5 = (1.54, 1.07, 1.5, 1, 0.52, 1, 0.9, 1.15, 1.1, 1.2, 1.2, 1.2, 1.4, 1.7, 1.3, 3.8, 1.18)


def _mean(*rows: Vector) -> Vector:
    return tuple(sum(ratios) / len(rows) for ratios in zip(*rows, strict=True))


# Most models of today have vocabularies of 100,000 entries and more, for many languages
LARGE_VOCABULARIES = (O200K_RATIOS, QWEN, LLAMA_3, LLAMA_4, DEEPSEEK, TEKKEN)
UNKNOWN = Family((_mean(*LARGE_VOCABULARIES), *LARGE_VOCABULARIES, CL100K_RATIOS, LLAMA_2, SMOLLM))
# The first pattern that matches at the beginning of a word of the model's name decides
FAMILIES = (
    (r"gpt-(?:4o|4[.-]1|oss|[5-9])|chatgpt-4o|o\d|codex", Family((O200K_RATIOS,), "o200k_base")),
    (r"gpt-(?:4|3[.-]?5)", Family((CL100K_RATIOS,), "cl100k_base")),
    (r"claude-(?:[a-z]+-)?(?:4[.-][7-9]|[5-9])|claude-fable", Family((CLAUDE_5,))),
    (r"claude", Family((CLAUDE_3,))),
    (r"smollm", Family((SMOLLM,))),
    (r"tinyllama|llama-?2|phi-3|mi[sx]tral[-:](?:7b|8x)", Family((LLAMA_2,))),
    (r"llama-?3|hermes-?3", Family((LLAMA_3,))),
    (r"llama-?4", Family((LLAMA_4,))),
    (r"qwen|qwq", Family((QWEN,))),
    (r"deepseek", Family((DEEPSEEK,))),
    (r"\w*str[ao]l|\w*xtral", Family((TEKKEN,))),
)


@lru_cache(maxsize=1_000)
def family_of(model: str) -> Family:
    """Return the family of a model, judged by its name, whoever serves the model."""
    name = model.lower()
    return next((family for words, family in FAMILIES if re.search(rf"(?<![a-z0-9])(?:{words})", name)), UNKNOWN)


MESSAGE = 8.0  # tokens that common chat templates add to a prompt and its reply
PRIOR_TOKENS = 30.0  # tokens that the estimate before any report counts as
NOISE, KNOWN_NOISE, LEAST_NOISE = 0.135, 0.07, 0.01  # relative error: by ratios, by the vocabulary itself, and least
NOISE_WEIGHT = 2.0  # reports that the initial noise counts as
MOST_REPORTS = 20  # that count, so that another tokenizer behind the same name is learned, too
SHORT_REPORT = 100.0  # tokens: shorter texts tell little, and are taken together
OUTLIER = 4.0  # standard deviations: later errors count as at most this large
SAFETY = 1.5  # standard deviations that the margin covers
SEEN = 300.0  # tokens of a kind of text that make half of it seen


class Report(NamedTuple):
    """A text, as a vector, and the tokens that were reported for it."""

    text: Vector
    tokens: float


class Calibration:
    """What is known of one tokenizer: the ratios that fit its latest reports best, and one factor that they teach.

    ``options``: the ratios that its vocabulary may have; the first hold until reports have shown which fit.
    ``doubt``: the relative error to expect before any report.
    ``is_exact``: texts are counted by the model's own vocabulary, and only what messages add is a guess.
    """

    def __init__(
        self, options: tuple[Vector, ...], reports: tuple[Report, ...] = (), *,
        doubt: float = NOISE, is_exact: bool = False,
    ) -> None:  # fmt: skip
        self._options, self.reports, self._doubt, self._is_exact = options, reports, doubt, is_exact
        nothing = ((0.0,) * (len(options[0]) + 1), 0.0)
        texts, tokens = zip(nothing, *reports, strict=True)
        self._total, self._reported = tuple(map(sum, zip(*texts, strict=True))), sum(tokens)
        self.noise, self.factor, self.ratios = self._best_fit()
        # the share of each kind of text of which little is known
        self._unseen = [SEEN / (SEEN + told) for told in map(mul, self.ratios, self._total)]

    def _best_fit(self) -> tuple[float, float, Vector]:
        """Return the ratios that fit the reports best, with their relative variance and the factor for them."""
        prior, fits = MESSAGE if self._is_exact else PRIOR_TOKENS, []
        for ratios in [(*each, MESSAGE) for each in self._options]:
            sure = self._total[0] if self._is_exact else 0.0
            guessed = math.fsum(map(mul, ratios, self._total)) - sure
            factor = (max(self._reported - sure, 0.0) + prior) / (guessed + prior)
            noise, weights = NOISE_WEIGHT * self._doubt**2, NOISE_WEIGHT
            for text, tokens in self.reports:
                sure = text[0] if self._is_exact else 0.0
                expected = sure + factor * (math.fsum(map(mul, ratios, text)) - sure)
                weight = min(1.0, expected / SHORT_REPORT)
                noise, weights = noise + weight * (tokens / max(expected, 1.0) - 1) ** 2, weights + weight
            fits.append(((noise + (factor - 1) ** 2) / weights, noise / weights, factor, ratios))
        return min(fits, key=itemgetter(0))[1:]  # ratios that need no factor are likelier

    def estimate(self, text: Vector) -> float:
        """Return the estimated tokens of a text."""
        sure = text[0] if self._is_exact else 0.0
        return sure + self.factor * (math.fsum(map(mul, self.ratios, text)) - sure)

    def margin(self, text: Vector) -> float:
        """Return the share of an estimate to keep free: from 20 % down to 3 % as the estimates prove right."""
        unseen = self.unseen(text) / max(self.estimate(text), 1.0)
        return min(max(SAFETY * math.hypot(math.sqrt(self.noise), NOISE * unseen), LEAST_MARGIN), MARGIN)

    def unseen(self, text: Vector) -> float:
        """Return the tokens of an estimate that rest on kinds of text of which reports have told little."""
        return self.factor * math.fsum(map(mul, map(mul, self.ratios, text), self._unseen))

    def learned(self, text: Vector, tokens: float) -> Calibration:
        """Return the calibration after a report of this many tokens for a text."""
        expected, last = self.estimate(text), self.reports[-1:]
        if tokens < 1 or expected <= 0:
            return self
        if len(self.reports) > 1:  # an odd one does not outweigh a conversation
            most = OUTLIER * math.sqrt(max(self.noise, LEAST_NOISE**2) * expected**2 + expected)
            tokens = min(max(tokens, expected - most, 1.0), expected + most)
        report, earlier = Report(tuple(map(float, text)), float(tokens)), self.reports  # as JSON has them
        if last and last[0].tokens < SHORT_REPORT:
            report = Report(tuple(map(add, text, last[0].text)), tokens + last[0].tokens)
            earlier = self.reports[:-1]
        return self.after((*earlier, report)[-MOST_REPORTS:])

    def after(self, reports: tuple[Report, ...]) -> Calibration:
        """Return the calibration of the same tokenizer after these reports."""
        is_settled = len(self.reports) == MOST_REPORTS  # which ratios fit is known by now
        options = (self.ratios[:-1],) if is_settled else self._options
        return Calibration(options, reports, doubt=self._doubt, is_exact=self._is_exact)
