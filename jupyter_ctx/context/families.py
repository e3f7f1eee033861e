"""What a text is made of, and how many tokens the vocabulary of each family of models makes of that."""

from __future__ import annotations

import re
import string
from bisect import bisect
from collections import Counter
from functools import lru_cache
from typing import Literal

Vector = tuple[float, ...]
Vocabulary = Literal["o200k_base", "cl100k_base"]

KINDS = {  # of text: the first characters beyond ASCII of each range that is of the kind
    "words": (), "digits": (), "Latin letters with marks": (0x80, 0x1E80), "Greek": (0x380,), "Cyrillic": (0x400,),
    "Hebrew": (0x5C0,), "Arabic": (0x600,), "kana": (0x3040,), "Chinese characters": (0x4000,), "Hangul": (0xA000,),
    "Thai": (0xE00,), "Devanagari": (0x900,), "other Indic scripts": (0x800, 0x980, 0xE80),
    "other scripts": (0x500, 0x1000, 0x1F00), "symbols": (0x2000, 0xE000), "emoji": (0x10000,), "long runs": (),
}  # fmt: skip
RANGES = sorted((first, number) for number, starts in enumerate(KINDS.values()) for first in starts)
LONG_RUN = r"[A-Za-z0-9]{20,}"  # an identifier, or a sequence, a hash and such
PUNCTUATION = r"[!-/:-@\[-`{-~]+"
ALTERNATING = r"(?i)(?<=[aeiou])[^aeiou]|(?<=[^aeiou])[aeiou]"
ALTERNATION = 0.47  # of a run's letters, those that are a vowel after a consonant or the reverse: of words more
FEW_LETTERS = 7  # that a sequence of nucleotides is made of; no word as long as a run has so few
PART_OF_RUN = r".{1,7}"  # the letters of each word in an identifier or a compound
ONE_CASE, BOTH_CASES = 0.52, 0.69  # tokens of o200k_base a letter of other runs, by their case


@lru_cache(512)  # a turn asks for the same few texts again and again
def text_features(text: str) -> Vector:
    """Return the features of a text: the tokens of its words, then the count of each other kind of character.

    Words are runs of letters, runs of punctuation and line ends. Their weights were fitted to eight
    vocabularies: the first number is within 15 % of the tokens that each of them makes of English and code.
    The last number, of DNA, hashes, base64 and such, is in tokens, too.
    """
    features = [0.0] * len(KINDS)
    for character, count in Counter("" if text.isascii() else text).items():
        if character > "\x7f":
            features[RANGES[bisect(RANGES, (ord(character), len(KINDS))) - 1][1]] += count

    def without(run: re.Match[str]) -> str:
        if _is_wordlike(run[0]):
            return " ".join(re.findall(PART_OF_RUN, run[0]))
        features[-1] += len(run[0]) * (ONE_CASE if run[0].isupper() or run[0].islower() else BOTH_CASES)
        return " "

    text = re.sub(LONG_RUN, without, text)
    words, marks = re.findall("[A-Za-z]+", text), re.findall(PUNCTUATION, text)
    features[0] = 0.9 * len(words) + 0.036 * len("".join(words)) + 0.75 * len(marks) + 0.12 * len("".join(marks))
    features[0] += 0.7 * text.count("\n") + 0.3 * (text.count("\n  ") + text.count("\n\t"))
    features[1] = sum(map(text.count, string.digits))
    return tuple(features)


def _is_wordlike(run: str) -> bool:
    """Return whether a run is a number, can be pronounced, or repeats a letter or two: these have long tokens."""
    letters = len(set(run))
    if letters <= 2 or run.isdigit():
        return True
    return letters > FEW_LETTERS and len(re.findall(ALTERNATING, run)) > ALTERNATION * len(run)


# Tokens for each unit of a kind, in the order of KINDS. Fitted to what each public vocabulary makes of handbooks and
# user interfaces in thirty languages (Debian packages of LibreOffice, GNOME, Firefox, the FAQ), code and JSON; of DNA,
# proteins, hashes and base64, of which a vocabulary that splits digits makes more.
O200K = (0.95, 0.81, 0.46, 0.4, 0.32, 0.45, 0.37, 0.72, 0.71, 0.71, 0.4, 0.43, 0.4, 0.4, 0.7, 2.18, 1)
CL100K = (0.96, 0.8, 1.49, 1.03, 0.54, 1.17, 0.85, 0.98, 1.04, 1.08, 0.95, 1.18, 1.61, 2.1, 0.88, 2.77, 1.03)
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
# Most models of today have vocabularies of 100,000 entries and more, for many languages: their mean is the first guess
LARGE = (O200K, QWEN, LLAMA_3, LLAMA_4, DEEPSEEK, TEKKEN)
MEAN = tuple(sum(ratios) / len(LARGE) for ratios in zip(*LARGE, strict=True))
UNKNOWN = (MEAN, *LARGE, CL100K, LLAMA_2, SMOLLM)
# The first pattern that matches at the beginning of a word of the model's name decides
FAMILIES = (
    (r"gpt-(?:4o|4[.-]1|oss|[5-9])|chatgpt-4o|o\d|codex", O200K),
    (r"gpt-(?:4|3[.-]?5)", CL100K),
    (r"claude-(?:[a-z]+-)?(?:4[.-][7-9]|[5-9])|claude-fable", CLAUDE_5),
    (r"claude", CLAUDE_3),
    (r"smollm", SMOLLM),
    (r"tinyllama|llama-?2|phi-3|mi[sx]tral[-:](?:7b|8x)", LLAMA_2),
    (r"llama-?3|hermes-?3", LLAMA_3),
    (r"llama-?4", LLAMA_4),
    (r"qwen|qwq", QWEN),
    (r"deepseek", DEEPSEEK),
    (r"\w*str[ao]l|\w*xtral", TEKKEN),
)
PUBLIC: dict[Vector, Vocabulary] = {O200K: "o200k_base", CL100K: "cl100k_base"}


@lru_cache(maxsize=1_000)
def ratios_of(model: str) -> tuple[Vector, ...]:
    """Return the ratios that a model's vocabulary may have, judged by its name, whoever serves the model.

    The first hold until reports have shown which fit.
    """
    name = model.lower()
    family = (ratios for words, ratios in FAMILIES if re.search(rf"(?<![a-z0-9])(?:{words})", name))
    known = next(family, None)
    return UNKNOWN if known is None else (known,)


def vocabulary_of(model: str) -> Vocabulary | None:
    """Return the vocabulary by which a model counts, where that is public."""
    return PUBLIC.get(ratios_of(model)[0])
