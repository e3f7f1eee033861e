"""Families of models that share a vocabulary: how many tokens a text takes before the model has reported any."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from .text_features import Makeup

Vocabulary = Literal["o200k_base", "cl100k_base"]


@dataclass(frozen=True, slots=True)
class Family:
    """A family: tokens for each kind of a text's makeup, and the vocabulary it counts by where that is public."""

    prior: Makeup
    vocabulary: Vocabulary | None = None


# Tokens for each unit of: words, digits; Latin, Greek, Cyrillic, Hebrew, Arabic; kana, Chinese, Hangul; Thai, Indic;
# other characters, emoji. Measured on the public vocabularies.
UNKNOWN = Family((1.05, 1.0, 1.5, 0.85, 0.45, 0.85, 0.70, 1.05, 1.05, 1.0, 0.8, 1.0, 1.3, 3.0))
O200K = Family((0.96, 0.67, 0.9, 0.41, 0.28, 0.46, 0.37, 0.72, 0.69, 0.66, 0.41, 0.42, 1.06, 2.37), "o200k_base")
CL100K = Family((0.95, 0.67, 1.7, 1.06, 0.48, 1.18, 0.87, 0.98, 1.00, 1.04, 0.95, 1.40, 1.38, 2.97), "cl100k_base")
# Vocabularies of 100,000 entries and more, for many languages
LARGE_VOCABULARY = Family((1.00, 1.00, 1.3, 0.60, 0.34, 0.52, 0.42, 0.70, 0.70, 0.75, 0.50, 0.75, 1.10, 2.60))
# Vocabularies of 32,000 to 50,000 entries, for English
SMALL_VOCABULARY = Family((1.06, 1.19, 2.5, 1.08, 0.75, 1.28, 1.15, 1.80, 1.75, 2.00, 1.50, 1.50, 1.60, 3.10))
# Anthropic's vocabularies are not public: 1.3 and 1.6 times the tokens of o200k_base for the same text
CLAUDE = Family((1.25, 0.87, 1.3, 0.85, 0.45, 0.85, 0.75, 0.95, 0.95, 1.00, 1.00, 1.00, 1.38, 3.1))
NEW_CLAUDE = Family((1.54, 1.07, 1.5, 1.00, 0.52, 1.00, 0.90, 1.15, 1.10, 1.20, 1.20, 1.20, 1.70, 3.8))
# The first pattern that matches at the beginning of a word of the model's name decides
FAMILIES = (
    (r"gpt-(?:4o|4[.-]1|oss|[5-9])|chatgpt-4o|o\d|codex", O200K),
    (r"gpt-(?:4|3[.-]?5)", CL100K),
    (r"claude-(?:\w+-)?(?:4[.-][7-9]|[5-9])|claude-fable", NEW_CLAUDE),
    (r"claude", CLAUDE),
    (r"smollm|tinyllama|phi-[1-3]|llama-?2|olmo|mi[sx]tral-7b", SMALL_VOCABULARY),
    (r"gemini|gemma|llama|\w*str[ao]l|qwen|deepseek|grok|kimi|glm|phi|command|nova|granite|nemotron", LARGE_VOCABULARY),
    (r"minimax|sonar|yi|falcon|jamba|hermes|\w*xtral", LARGE_VOCABULARY),
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
