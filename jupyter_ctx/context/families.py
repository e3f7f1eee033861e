"""Families of models that share a vocabulary: how many tokens a text takes before the model has reported any."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from .text_features import Makeup

Vocabulary = Literal["o200k_base", "cl100k_base"]


@dataclass(frozen=True, slots=True)
class Family:
    """A family: the ratios that its vocabulary may have, and the vocabulary it counts by where that is public.

    Ratios are tokens for each kind of a text's makeup. Which of them fit the model's reports, ``calibration`` learns.
    """

    ratios: tuple[Makeup, ...]
    vocabulary: Vocabulary | None = None


# Tokens for each unit of: words, digits; Latin, Greek, Cyrillic, Hebrew, Arabic; kana, Chinese, Hangul; Thai,
# Devanagari, other Indic; other scripts, symbols, emoji. Fitted to what each public vocabulary makes of handbooks and
# user interfaces in thirty languages (Debian packages of LibreOffice, GNOME, Firefox, the FAQ), code and JSON.
O200K_RATIOS = (0.95, 0.81, 0.46, 0.4, 0.32, 0.45, 0.37, 0.72, 0.71, 0.71, 0.4, 0.43, 0.4, 0.4, 0.7, 2.18)
CL100K_RATIOS = (0.96, 0.8, 1.49, 1.03, 0.54, 1.17, 0.85, 0.98, 1.04, 1.08, 0.95, 1.18, 1.61, 2.1, 0.88, 2.77)
QWEN = (0.96, 1.31, 0.83, 1, 0.43, 0.44, 0.5, 0.62, 0.59, 0.82, 0.59, 1.09, 1.37, 1.23, 1.1, 2.06)
LLAMA_3 = (0.96, 0.78, 0.51, 0.42, 0.33, 1.17, 0.43, 0.66, 0.75, 0.74, 0.49, 0.65, 1.61, 2.01, 0.63, 2.77)
LLAMA_4 = (0.96, 0.8, 0.26, 0.38, 0.28, 0.53, 0.42, 0.5, 0.59, 0.6, 0.32, 0.44, 0.6, 0.57, 0.54, 2.25)
DEEPSEEK = (0.99, 0.8, 0.93, 0.51, 0.38, 0.54, 0.45, 0.65, 0.58, 0.78, 0.38, 0.71, 0.6, 0.75, 0.88, 2.2)
TEKKEN = (0.98, 1.33, 0.53, 0.42, 0.35, 0.52, 0.35, 0.62, 0.96, 0.67, 0.54, 0.52, 0.52, 0.49, 0.72, 3.42)
CLAUDE_2 = (1.03, 0.57, 2.31, 1.29, 0.62, 1.05, 1.14, 1.02, 0.98, 1.28, 1.75, 1.34, 2.26, 1.31, 0.91, 2.84)
LLAMA_2 = (1.13, 1.42, 1.65, 1.16, 0.46, 1.19, 1.1, 1.11, 1.15, 1.37, 1.04, 1.18, 1.5, 1.28, 0.76, 3.33)
SMOLLM = (1.06, 1.19, 2.8, 0.99, 0.88, 1.3, 1.18, 1.71, 1.78, 2.49, 1.85, 1.31, 2.3, 2.29, 1.09, 2.83)
# Anthropic's newer vocabularies are not public: 1.3 and 1.6 times the tokens of o200k_base for the same text
CLAUDE_3 = (1.25, 0.87, 1.3, 0.85, 0.45, 0.85, 0.75, 0.95, 0.95, 1, 1, 1, 1.2, 1.4, 1.1, 3.1)
CLAUDE_5 = (1.54, 1.07, 1.5, 1, 0.52, 1, 0.9, 1.15, 1.1, 1.2, 1.2, 1.2, 1.4, 1.7, 1.3, 3.8)

ALL_RATIOS = (
    O200K_RATIOS, CL100K_RATIOS, QWEN, LLAMA_3, LLAMA_4, DEEPSEEK, TEKKEN, CLAUDE_2, LLAMA_2, SMOLLM,
)  # fmt: skip
UNKNOWN = Family(ALL_RATIOS)
O200K = Family((O200K_RATIOS,), "o200k_base")
CL100K = Family((CL100K_RATIOS,), "cl100k_base")
CLAUDE, NEW_CLAUDE = Family((CLAUDE_3,)), Family((CLAUDE_5,))
# Vocabularies of 100,000 entries and more, for many languages
LARGE_VOCABULARY = Family((O200K_RATIOS, QWEN, LLAMA_3, LLAMA_4, DEEPSEEK, TEKKEN))
# Vocabularies of 32,000 to 50,000 entries, for English
SMALL_VOCABULARY = Family((LLAMA_2, SMOLLM))
# The first pattern that matches at the beginning of a word of the model's name decides
FAMILIES = (
    (r"gpt-(?:4o|4[.-]1|oss|[5-9])|chatgpt-4o|o\d|codex", O200K),
    (r"gpt-(?:4|3[.-]?5)", CL100K),
    (r"claude-(?:\w+-)?(?:4[.-][7-9]|[5-9])|claude-fable", NEW_CLAUDE),
    (r"claude-(?:instant|v?[12])", Family((CLAUDE_2,))),
    (r"claude", CLAUDE),
    (r"smollm", Family((SMOLLM,))),
    (r"tinyllama|llama-?2|phi-3|mi[sx]tral[-:](?:7b|8x)", Family((LLAMA_2,))),
    (r"phi-[12]|olmo", SMALL_VOCABULARY),
    (r"llama-?3|hermes-?3", Family((LLAMA_3,))),
    (r"llama-?4", Family((LLAMA_4,))),
    (r"qwen|qwq", Family((QWEN,))),
    (r"deepseek", Family((DEEPSEEK,))),
    (r"\w*str[ao]l|\w*xtral", Family((TEKKEN,))),
    (r"gemini|gemma|llama|grok|kimi|glm|phi|command|nova|granite|nemotron", LARGE_VOCABULARY),
    (r"minimax|sonar|yi|falcon|jamba|hermes", LARGE_VOCABULARY),
)
REASONING_MODELS = (
    r"(?:^|/)(?:o\d|gpt-[5-9](?!.*-chat)|gpt-oss|gemini-(?:2\.5(?!.*lite)|[3-9])|grok-[4-9]|qwq|magistral)"
    r"|reasoner|thinking|[-/]r1\b"
)


def thinks(model: str) -> bool:
    """Return whether a model reasons before it answers; reasoning is billed and limited as output."""
    return re.search(REASONING_MODELS, model.lower()) is not None


def family_of(model: str) -> Family:
    """Return the family of a model, judged by its name, whoever serves the model."""
    name = model.lower()
    return next((family for words, family in FAMILIES if re.search(rf"(?<![a-z0-9])(?:{words})", name)), UNKNOWN)
