"""Tokens of images, against what providers reported of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.context.vision import MAX_IMAGE_TOKENS, MIN_IMAGE_TOKENS, VISIONS, vision_of

MODELS = ("claude-opus-5-5", "claude-haiku-4-5", "gpt-6-astra", "gpt-5.5", "gemini-3.5-flash")
REPORTED = {  # tokens by each of the models
    (512, 512): (438, 426, 308, 308, 1_090),
    (1_024, 1_024): (1_446, 1_434, 1_229, 1_229, 1_090),
    (1_080, 1_920): (2_768, 1_625, 2_448, 2_448, 1_101),
    (3_840, 2_160): (3_069, 1_657, 9_792, 9_792, 1_101),
    (4_032, 3_024): (4_005, 1_661, 14_364, 11_868, 1_065),
}


@pytest.mark.parametrize("size", REPORTED)
def test_an_image_is_estimated_as_its_model_counts_it(size: tuple[int, int]) -> None:
    for model, reported in zip(MODELS, REPORTED[size], strict=True):
        exact = model in ("claude-opus-5-5", "gpt-6-astra", "gpt-5.5")
        assert vision_of(model).tokens(*size) == pytest.approx(reported, abs=1 if exact else 0.055 * reported), model


def test_the_largest_image_that_was_read_before_and_one_at_an_address() -> None:
    claude, gpt = vision_of("anthropic/claude-sonnet-5.5"), vision_of("openai/gpt-6.2-sol")
    assert (claude.tokens(1_568, 1_568), gpt.tokens(1_568, 1_568)) == (3_213, 2_881)
    assert (claude.tokens(0, 0), gpt.tokens(0, 0)) == (4_005, 14_364)


@pytest.mark.parametrize("model", ["mistral/pixtral-large", "gpt-4o", "gpt-oss:20b", "my-own"])
def test_any_other_model_counts_by_pixels(model: str) -> None:
    sizes = ((10, 10), (600, 500), (1_568, 1_568), (0, 0))
    assert [vision_of(model).tokens(*size) for size in sizes] == [MIN_IMAGE_TOKENS, 400, *[MAX_IMAGE_TOKENS] * 2]


@pytest.mark.parametrize(
    ("alike", "other"),
    [
        (("claude-3-5-sonnet-latest", "claude-sonnet-4-20250514", "claude-opus-4-6"), "claude-opus-4-7"),
        (("gpt-5.6", "openrouter/openai/gpt-6.1", "gpt-7-mini"), "gpt-5.5"),
        (("gemini-2.5-pro", "google/gemini-1.5-flash"), "gemini-flash-latest"),
        (("gpt-5", "gpt-5.1", "gpt-oss-120b"), "gpt-5-mini"),
    ],
)
def test_releases_are_told_apart_by_their_numbers(alike: tuple[str, ...], other: str) -> None:
    assert len({vision_of(model) for model in alike}) == 1
    assert vision_of(other) != vision_of(alike[0])


@given(st.sampled_from([vision for _, vision in VISIONS]), st.integers(1, 100_000), st.integers(1, 100_000))
def test_any_shape_has_an_estimate_that_the_other_way_round_has_too(vision: object, width: int, height: int) -> None:
    tokens = vision.tokens(width, height)  # type: ignore[attr-defined]
    assert tokens == vision.tokens(height, width) > 0  # type: ignore[attr-defined]
    if vision.patches < 20_000:  # type: ignore[attr-defined]
        assert tokens <= vision.factor * vision.patches + vision.base + vision.note + 1  # type: ignore[attr-defined]
