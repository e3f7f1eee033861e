"""Which refusals are overflows, and what they say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import SHARED
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx import Overflow, classify_overflow


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


CASES = {
    "llama.cpp's fields": (
        400,
        {"type": "exceed_context_size_error", "message": "too long", "n_prompt_tokens": 900, "n_ctx": 512},
        Overflow(context_window=512, input_tokens=900),
    ),
    "messages alone": (
        400,
        error("This model's maximum context length is 1,000 tokens. However, your messages resulted in 1,200 tokens."),
        Overflow(context_window=1_000, input_tokens=1_200),
    ),
    "messages and completion": (
        400,
        error(
            "This model's maximum context length is 1000 tokens. However, you requested 1300 tokens "
            "(900 in the messages, 400 in the completion).",
            code="context_length_exceeded",
        ),
        Overflow(context_window=1_000, input_tokens=900, output_tokens=400),
    ),
    "an input cap": (
        400,
        error("Input tokens exceed the configured limit of 700 tokens. Your messages resulted in 800 tokens."),
        Overflow(context_window=700, max_input_tokens=700, input_tokens=800),
    ),
    "input and max_tokens": (
        400,
        error("input length and `max_tokens` exceed context limit: 900 + 200 > 1000, decrease either"),
        Overflow(context_window=1_000, input_tokens=900, output_tokens=200),
    ),
    "a comparison": (
        400,
        {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": "prompt is too long: 11 tokens > 10 maximum"},
        },
        Overflow(context_window=10, input_tokens=11),
    ),
    "only a code": (400, error("No.", code="context_length_exceeded"), Overflow()),
    "JSON in a string": (400, json.dumps(error("no", code="context_length_exceeded")), Overflow()),
    "a list around it": (400, [error("prompt is too long")], Overflow()),
    "an error that is text": (400, {"error": "the request exceeds the available context size"}, Overflow()),
    "in a stream, without a status": (None, error("Context size has been exceeded."), Overflow()),
}


@pytest.mark.parametrize("case", CASES)
def test_an_overflow_is_recognised_with_its_numbers(case: str) -> None:
    status, body, overflow = CASES[case]
    assert classify_overflow(status, body) == overflow


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, error("Request too large: maximum context length", code="rate_limit_exceeded")),
        (400, error("Limit 30,000 tokens per minute, please reduce the length of the messages")),
        (402, error("prompt is too long for your credits")),
        (401, error("Invalid token")),
        (400, error("max_tokens is too large", code="unsupported_parameter")),
        (413, "<html>Request Entity Too Large</html>"),
        (400, error("The image is too large")),
        (404, error("no such model")),
        (500, None),
    ],
)
def test_what_only_looks_like_one_is_none(status: int, body: Any) -> None:
    assert classify_overflow(status, body) is None


bodies = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(st.none() | st.integers(), bodies)
def test_no_body_is_ever_an_error(status: int | None, body: Any) -> None:
    result = classify_overflow(status, body)
    assert result is None or isinstance(result, Overflow)


@pytest.mark.skipif(not (SHARED / "overflow_errors.jsonl").is_file(), reason="the collected refusals are not here")
def test_most_collected_refusals_are_found_and_no_look_alike_is() -> None:
    rows = [json.loads(line) for line in (SHARED / "overflow_errors.jsonl").read_text("utf-8").splitlines()]
    found = {row["id"]: classify_overflow(row["status"], row["body"]) is not None for row in rows}
    real = [row["id"] for row in rows if row["overflow"] is True]
    alike = [row["id"] for row in rows if row["overflow"] is False]
    assert not [name for name in alike if found[name]]
    assert sum(found[name] for name in real) >= 0.8 * len(real)
