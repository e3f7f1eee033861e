"""What a text is made of."""

from __future__ import annotations

import random
from string import ascii_letters

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.context.families import KINDS, text_features

texts = st.text(st.characters(codec="utf-8"), max_size=80)


@pytest.mark.parametrize(
    ("text", "kind", "count"),
    [
        ("1 234.5", "digits", 5),
        ("déjà", "Latin letters with marks", 2),
        ("Привет", "Cyrillic", 6),
        ("سلام", "Arabic", 4),
        ("नमस्ते", "Devanagari", 6),
        ("漢字", "Chinese characters", 2),
        ("한국어", "Hangul", 3),
        ("→…。，", "symbols", 4),
        ("👍🏽", "emoji", 2),
    ],
)
def test_each_kind_is_counted_by_its_characters(text: str, kind: str, count: int) -> None:
    assert text_features(text)[list(KINDS).index(kind)] == count


SEQUENCES = {"DNA": "ACGT", "proteins": "ACDEFGHIKLMNPQRSTVWY", "hashes": "0123456789abcdef", "letters": ascii_letters}


@pytest.mark.parametrize("alphabet", SEQUENCES.values(), ids=SEQUENCES)
def test_sequences_without_words_count_by_their_letters_and_are_no_words(alphabet: str) -> None:
    lines = ["".join(random.Random(seed).choices(alphabet, k=60)) for seed in range(50)]
    words, runs = text_features(" ".join(lines))[0], text_features(" ".join(lines))[-1]
    assert 0.5 * 60 * 50 < runs < 0.7 * 60 * 50
    assert words < 0.1 * runs


@pytest.mark.parametrize(
    "word",
    [
        "AbstractAuthenticationProviderFactory", "Rechtsschutzversicherungsgesellschaften",
        "lentokonesuihkuturbiinimoottori", "A" * 60, "3" * 60,
    ],
)  # fmt: skip
def test_long_identifiers_compounds_and_repetitions_are_no_sequences(word: str) -> None:
    assert text_features(f"the {word} of")[-1] == 0
    assert text_features(f"the {word} of") != text_features("the of")


@given(texts)
def test_nothing_is_negative_and_every_character_but_blanks_counts(text: str) -> None:
    vector = text_features(text)
    assert len(vector) == len(KINDS)
    assert min(vector) >= 0
    assert (sum(vector) > 0) or not text.strip(" \t\r\x00\x0b\x0c") or text.isascii()


@given(texts, texts)
def test_two_texts_on_two_lines_are_made_of_both(one: str, other: str) -> None:
    joined, apart = (
        text_features(f"{one}\n{other}"),
        [a + b for a, b in zip(text_features(one), text_features(other), strict=True)],
    )
    assert joined[1:] == tuple(apart[1:])
    assert joined[0] - apart[0] == pytest.approx(0.7, abs=0.31)  # the line's end, and a blank that begins the next


def test_a_damaged_text_is_read_too() -> None:
    assert sum(text_features("a\ud800b")) > 0
