"""Which refusals are overflows, and what they say."""

from __future__ import annotations

import json
import time
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusal_wordings import (
    CORPUS,
    LONG_CONTEXTS,
    LOOK_ALIKES,
    MORE,
    NO_SIZES,
    SIZES,
    WORDINGS,
    corpus,
    error,
    says,
)

from jupyter_ctx import Overflow, classify_overflow
from jupyter_ctx.providers.error_mapping import Refusal

TOO_LONG = "prompt is too long: 11 tokens > 10 maximum"


# messages that servers send: with figures of input, output, tools, an excess or a bound
MESSAGES = {
    "The maximum context length is 1,000 tokens here. Yet your messages resulted in 1,200 tokens.": says(1000, 1200),
    "The maximum context length is 1000 tokens; 1300 requested (900 in the messages, 400 in the completion).":
        says(1000, 900, 400),
    "Context length: 999 tokens; 1100 (700 in the messages, 300 in the functions, 100 in the completion)":
        says(999, 1000, 100),
    "Context length is 999 tokens, messages resulted in 1100 tokens (800 in the messages, 300 in the functions)":
        says(999, 1100),
    "Maximum context length is 999; about 1500 (800 of text input, 300 of tool input, 400 in the output)":
        says(999, 1100, 400),
    "Input tokens exceed the limit of 700 tokens that is configured. Your messages resulted in 800 tokens.":
        says(cap=700, sent=800),
    "input length and `max_tokens` are over the context limit: 900 + 200 > 1000": says(1000, 900, 200),
    "'max_tokens' is too large: 900. The context length is 1000, with 200 input tokens (900 > 1000 - 200)":
        says(1000, 200, 900),
    "max_tokens must be at least 1, got -186 (value=-186)": says(),
    "context length is 1000 tokens; 300 output tokens requested, prompt contains at least 701 input "
    "tokens, a total of at least 1001 tokens (parameter=input_tokens, value=701)": says(1000, 701, 300, bound=True),
    "maximum context length is 3 tokens; 900 output tokens requested, prompt contains at least 4 input tokens":
        says(3, 4, 900, bound=True),
    "exceeded the model token limit: 1000 (requested: 1200)": says(1000, 1200),
    "context window exceeds limit (2013)": says(),
}  # fmt: skip
# the shapes that they send
SHAPES: dict[str, tuple[int | None, Any, Overflow]] = {
    "numbers as fields": (
        400,
        {"type": "exceed_context_size_error", "message": "too long", "n_prompt_tokens": 900, "n_ctx": 512},
        says(512, 900),
    ),
    "a cap on the input's count": (
        400,
        [error("Input token count (1200) exceeds the maximum number of tokens (1000).", code=400)],
        says(cap=1000, sent=1200),
    ),
    "a range": (
        400,
        error("<400> Range of input length must be [1, 8000]", code="invalid_parameter_error"),
        says(cap=8000),
    ),
    "inputs and max_new_tokens": (
        422,
        {"error": "`inputs` + `max_new_tokens` must be <= 800. Given: 700 `inputs` tokens and 200 `max_new_tokens`"},
        says(800, 700, 200),
    ),
    "a total of both": (
        400,
        {"message": "too many tokens: prompt and prediction together cannot exceed 2000 - received 2100"},
        says(2000),
    ),
    "an excess": (400, {"error": "prompt too long; by 540 tokens (ref: 00000000-1111-0000)"}, says(excess=540)),
    "a comparison": (
        400,
        {"type": "error", "error": {"type": "invalid_request_error", "message": TOO_LONG}},
        says(10, 11),
    ),
    "words with a 413": (413, error("Request size exceeds the context window"), says()),
    "a code with a 413": (413, error("Max size: 8000 tokens", code="tokens_limit_reached"), says(8000)),
    "only a code": (400, error("No.", code="context_length_exceeded"), says()),
    "a type": (400, {"message": "No.", "type": "invalid_request_prompt_too_long", "code": "3059"}, says()),
    "a number for a code": (400, error("No.", code="1261"), says()),
    "in a stream, without a status": (None, error("Context size has been exceeded."), says()),
    "a 429 that a shorter prompt cures": (429, error("Extra usage is required for long context requests."), says()),
    "other fields": (
        400,
        {"detail": "prompt refused", "prompt_tokens": 9000, "context_window": 8192},
        says(8192, 9000),
    ),
}
SHAPES |= {text: (400, error(text), overflow) for text, overflow in MESSAGES.items()}

# where a message may be
ENVELOPES: dict[str, Any] = {
    "plain text": TOO_LONG,
    "bytes": TOO_LONG.encode(),
    "JSON in JSON": json.dumps(error(json.dumps(error(TOO_LONG)))),
    "an upstream's JSON": error("Provider error", code=400, metadata={"raw": json.dumps(error(TOO_LONG))}),
    "JSON in a sentence": error(f"BadRequestError: XException - {json.dumps(error(TOO_LONG))}. Model Group=x"),
    "the repr of bytes": error(
        f"BadRequestError: XException - {json.dumps(error(TOO_LONG), indent=1).encode()!r}. Group=x"
    ),
    "the repr of a dict": repr({"type": "error", "code": 413, **error(TOO_LONG)}),
    "escapes of Go": error("upstream: " + json.dumps(error(TOO_LONG)).replace(">", "\\u003e")),
    "an event stream": f"event: error\ndata: {json.dumps(error(TOO_LONG))}\n\n",
    "a page": f"<html><pre>{TOO_LONG.replace('>', '&gt;')}</pre></html>",
    "line breaks": TOO_LONG.replace(" ", " \n "),
    "the end of much else": "x" * 100_000 + " " + TOO_LONG,
    "a gateway's status in a page": f"<html><h1>502 Bad Gateway</h1><p>{TOO_LONG}</p></html>",
    "a deep place": json.loads("[" * 300 + json.dumps(error(TOO_LONG)) + "]" * 300),
}


OTHERS: list[tuple[int | None, Any]] = [
    *((status, error(TOO_LONG)) for status in (401, 402, 403, 404, 408, 429, 529)),
    (429, error("Request too large: maximum context length", code="rate_limit_exceeded")),
    (401, error("Invalid token")),
    (400, error("max_tokens is too large", code="unsupported_parameter")),
    (413, "<html>Request Entity Too Large</html>"),
    (413, None),
    (500, None),
    (200, error("Prompt limit exceeded: 9000 > 8000 tokens", code=402)),
    (400, error("tokens in the prompt: 9000, limit 8000", status="429")),
    (422, {"detail": [{"msg": "Field required", "input": {"messages": "the context length is exceeded"}}]}),
    (400, error("Expected a string with maximum length 64, got one of 80", code="string_above_max_length")),
]


@pytest.mark.parametrize("shape", SHAPES)
def test_an_overflow_is_recognised_with_its_numbers(shape: str) -> None:
    status, body, overflow = SHAPES[shape]
    assert classify_overflow(status, body) == overflow


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_a_message_is_found_wherever_it_is(envelope: str) -> None:
    assert classify_overflow(400, ENVELOPES[envelope]) == says(10, 11)


@pytest.mark.parametrize("wording", WORDINGS)
def test_an_overflow_is_recognised_in_other_words(wording: str) -> None:
    assert classify_overflow(400, error(wording)) == WORDINGS[wording]


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_what_sounds_like_one_is_none(text: str) -> None:
    assert classify_overflow(400, error(text)) is None


@pytest.mark.parametrize("text", LONG_CONTEXTS)
def test_what_needs_a_higher_tier_for_its_length_is_too_long(text: str) -> None:
    assert all(classify_overflow(status, error(text)) is not None for status in (400, 403, 429))


@pytest.mark.parametrize(("status", "body"), OTHERS)
def test_what_only_looks_like_one_is_none(status: int | None, body: Any) -> None:
    assert classify_overflow(status, body) is None


VERBS = (
    "exceeds", "is greater than", "is over", "surpasses", "is above", "overflows", "goes beyond", "does not fit in",
    ">", "is more than", "must not exceed", "is in excess of", "would exceed", "crosses",
)  # fmt: skip
SUBJECTS = (
    "The prompt (9,000 tokens)", "Your prompt has 9000 tokens, which", "input_tokens=9000", "The chat is 9k tokens and",
)  # fmt: skip
LIMITS = ("the maximum context length of 8,192", "the limit of 8192 tokens", "n_ctx 8192", "the 8192-token limit")


def test_any_verb_of_too_much_makes_an_overflow_of_a_size_and_a_limit() -> None:
    for subject, verb, limit in product(SUBJECTS, VERBS, LIMITS):
        found = classify_overflow(400, error(f"{subject} {verb} {limit}."))
        assert found is not None
        assert (found.context_window, found.input_tokens) == (8_192, 9_000)


BYTES: list[tuple[int | None, Any]] = [
    (413, None),
    (400, error("Request payload size exceeds the limit: 314572800 bytes.")),
    (None, error("request body exceeds 4194304 bytes")),
    (413, "请求体过大"),
]
BYTES += [(status, error(text)) for status, text in SIZES]
NOT_BYTES: list[tuple[int | None, Any]] = [
    *((status, error(text)) for status, text in NO_SIZES),
    (413, error("Request too large on tokens per minute (TPM): Limit 6000, Requested 14368")),
    (400, error("image exceeds 5 MB maximum: 6500712 bytes > 5242880 bytes")),
    (400, error("max_tokens is too large")),
    (500, error("the server ran out of memory")),
]


@pytest.mark.parametrize(("status", "body"), BYTES)
def test_a_request_of_too_many_bytes_or_characters_is_recognised_and_is_no_overflow(
    status: int | None, body: Any
) -> None:
    assert Refusal(status, body).exceeds_size
    assert classify_overflow(status, body) is None


@pytest.mark.parametrize(("status", "body"), NOT_BYTES)
def test_no_other_refusal_is_one_of_too_many_bytes(status: int | None, body: Any) -> None:
    assert not Refusal(status, body).exceeds_size


STATED = {
    "128.000": 128_000, "128 000": 128_000, "128'000": 128_000, "1,048,576": 1_048_576, "128k": 128_000,
    "1.5M": 1_500_000, "gpt-4o-2099-08-06's 128000": 128_000, "model v3.5 with 128000": 128_000,
    "of 99999999999999999999": None, "after 30 messages": None,
}  # fmt: skip


@pytest.mark.parametrize("stated", STATED)
def test_numbers_are_read_as_people_write_them(stated: str) -> None:
    text = f"The prompt exceeds the context window {stated}. (request id: 20260904123456)"
    assert classify_overflow(400, error(text)) == says(STATED[stated])


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.sampled_from(list(WORDINGS)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(
            st.text(max_size=8) | st.integers() | st.none() | st.sampled_from(["error", "code", "n_ctx"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.none() | st.integers(), ANYTHING)
def test_no_body_is_ever_an_error(status: int | None, body: Any) -> None:
    result = classify_overflow(status, body)
    assert result is None or isinstance(result, Overflow)


SAID = [(error(text), overflow) for text, overflow in WORDINGS.items()]
SAID += [
    (body, overflow)
    for _, body, overflow in SHAPES.values()
    if isinstance(body, dict) and isinstance(body.get("error"), dict)
]
# letters that spell no word a number could be understood by
PROSE = st.text(alphabet="dghjklmnqrstwxz DGH.,:;!?'\"(){}[]/\\\n", max_size=60) | st.sampled_from(
    [
        "Received Model Group=x/y-128k\nAvailable Model Group Fallbacks=None",
        'Traceback (most recent call last): File "/srv/app.py", line 512, in send',
        "2026-01-31T12:00:00.123Z ERROR [server.py:17]",
        "See https://example.com/errors/400?id=9000.",
        "(ref: 550e8400-e29b-41d4-a716-446655440000)",
    ]
)


@given(st.sampled_from(SAID), PROSE, PROSE)
def test_other_text_around_a_message_changes_nothing(
    said: tuple[dict[str, Any], Overflow], before: str, after: str
) -> None:
    body, overflow = said
    inside = {**body["error"], "message": f"{before} \n {body['error']['message']} \n {after}"}
    assert classify_overflow(400, {"error": inside}) == overflow


def shared(depth: int) -> Any:
    body: Any = "prompt"
    for _ in range(depth):
        body = [body] * 9
    return body


FILLED = ("context length ", "prompt tokens 1 2 3 ", "1,", "( ", "\\", "上下文长度", '{"a":"', "</a> <b ")
HUGE = {
    "words": "context length " * 700_000,
    "bytes": b"\xff" * 10_000_000,
    "brackets": "[" * 10_000_000,
    "open JSON": '{"error":' * 20_000,
    "the same, many times": shared(40),
    "many keys": dict.fromkeys(range(1_000_000), "context"),
    "many texts": [{"message": f"context length {number} tokens limit " * 1_000} for number in range(100)],
    "a huge number": {"n_ctx": 10**10_000, "code": -(10**10_000)},
}
HUGE |= {part: error((part * 100_000)[:100_000]) for part in FILLED}
HUGE["itself"] = []
HUGE["itself"].append(HUGE["itself"])


@pytest.mark.parametrize("name", HUGE)
def test_no_body_takes_long(name: str) -> None:
    begun = time.process_time()
    classify_overflow(400, HUGE[name])
    assert time.process_time() - begun < 2


@pytest.mark.skipif(not CORPUS.is_file(), reason="the collected refusals are not here")
@pytest.mark.parametrize("path", [CORPUS, MORE], ids=["first", "more"])
def test_every_collected_overflow_is_found_with_its_numbers_and_no_look_alike_is(path: Path) -> None:
    wrong = []
    for row in corpus(path) if path.is_file() else ():
        found = classify_overflow(row["status"], row["body"])
        if row["overflow"] is False and found is not None:
            wrong.append(row["id"])
        if row["overflow"] is True:
            read = found and (found.context_window, found.input_tokens, found.output_tokens)
            if read != (row["window"], row["prompt_tokens"], row["output_tokens"]):
                wrong.append((row["id"], read))
    assert not wrong
