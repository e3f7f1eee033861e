"""Long prompts: the key stands once in each part of the texts, and the lengths are about what was wanted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ctx import InvalidRequestError, long_prompts
from jupyter_ctx.models.tokenizer import counter

CODE = r"The code of the ([\w ]+) is (\d+)\."


def read(text: str) -> tuple[str, dict[str, str]]:
    """What is asked for, and the code of each thing."""
    (asked,) = re.findall(r"What is the code of the ([\w ]+)\?", text)
    return asked, dict(re.findall(CODE, text))


@settings(max_examples=30, deadline=None)
@given(length=st.integers(300, 6_000), per_length=st.integers(1, 15), seed=st.integers(0, 100))
def test_the_key_stands_once_in_each_part_among_keys_of_others(length: int, per_length: int, seed: int) -> None:
    rows = long_prompts([length], per_length, seed=seed)
    assert [int(row["position"] * per_length) for row in rows] == list(range(per_length))
    for row in rows:
        asked, codes = read(row["prompt"])
        assert codes[asked] == row["answer"]
        assert row["prompt"].count(row["answer"]) == 1
        assert len(codes) == len(re.findall(CODE, row["prompt"])) > 2
        _, text, _ = row["prompt"].split("\n\n")
        lines = text.split("\n")
        place = next(number for number, line in enumerate(lines) if row["answer"] in line) / (len(lines) - 1)
        assert place == pytest.approx(row["position"], abs=1 / len(lines))


@pytest.mark.parametrize("vocabulary", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("length", [250, 1_000, 30_000])
def test_a_length_is_met_within_a_tenth(vocabulary: Any, length: int) -> None:
    for row in long_prompts([length], 3):
        assert counter(vocabulary)(row["prompt"]) == pytest.approx(length, rel=0.1)


def test_a_seed_makes_the_same_rows_whatever_other_lengths_there_are() -> None:
    assert long_prompts([200, 400, 200]) == long_prompts(iter([200])) + long_prompts([400])
    assert long_prompts([200]) != long_prompts([200], seed=1)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (((),), "give at least one"), ((500,), "lengths is 500: .* such as"), (("2k",), "lengths is '2k'"),
        (([99],), "A length is 99: .* from 100"), (([500.5],), "A length is 500.5"), (([500], 0), "per_length is 0"),
    ],
)  # fmt: skip
def test_what_is_no_length_is_told_with_what_it_must_be(wrong: tuple[Any, ...], told: str) -> None:
    with pytest.raises(InvalidRequestError, match=told):
        long_prompts(*wrong)
