"""Families of refusals and of look-alikes, made from parts: what counts is the rule, not a sentence.

Each word and each rule of the classifier decides at least four of these sentences and those of refusal_wordings.py,
where there are as many that it decides. In a template {P} is what was sent, {W} the limit, {O} what was asked for.
None of these is known to be said by a server.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any
from zlib import crc32

SUBJECTS: tuple[str, ...] = (
    "The prompt ({P} tokens)",
    "Your input of {P} tokens",
    "Prompt length {P}",
    "Input token count ({P})",
    "A request with {P} tokens",
    "Your prompt has {P} tokens, which",
    "Number of tokens in the messages ({P})",
    "The conversation, {P} tokens long,",
    "The total length of the input ({P} tokens)",
    "Tokenized input length ({P})",
    "Message history ({P} tokens)",
    "The supplied text has {P} tokens and",
    "input_tokens={P}",
    "The number of input tokens ({P})",
    "The chat is {P} tokens and",
    "This request's prompt uses {P} tokens, which",
    "The messages add up to {P} tokens and that",
    "Size of your prompt: {P} tokens. It",
    "Computed prompt size of {P} tokens",
    "A total of {P} input tokens",
    "Current token usage ({P})",
    "The assembled context is {P} tokens, this",
    "Length of input_ids is {P}, which",
    "The encoded prompt has a length of {P} and",
)
VERBS: tuple[str, ...] = (
    "exceeds",
    "is greater than",
    "is longer than",
    "is larger than",
    "is over",
    "surpasses",
    "is above",
    "overflows",
    "goes beyond",
    "does not fit in",
    "cannot fit into",
    ">",
    "is more than",
    "must not exceed",
    "should not be greater than",
    "is higher than",
    "is bigger than",
    "goes over",
    "is in excess of",
    "would exceed",
    "surpassed",
    "crosses",
    "is beyond",
)
LIMITS: tuple[str, ...] = (
    "the maximum context length of {W}",
    "the model's context window ({W})",
    "the limit of {W} tokens",
    "the maximum of {W}",
    "the allowed {W} tokens",
    "max_model_len={W}",
    "n_ctx {W}",
    "the {W}-token limit",
    "the model's capacity of {W} tokens",
    "what this model supports ({W} tokens)",
    "the context size {W}",
    "the maximum number of tokens allowed ({W})",
    "the token limit for this model: {W}",
    "the maximum sequence length ({W} tokens)",
    "max tokens {W}",
    "the model's max context of {W} tokens",
    "the window size ({W})",
    "the {W} token maximum",
    "the supported maximum of {W} tokens",
    "context_length={W}",
    "the configured context length of {W}",
    "the deployment's limit of {W} tokens",
    "the model's input limit of {W} tokens",
    "the permitted {W} tokens",
)
SUBJECTS_ALONE: tuple[str, ...] = (
    "The prompt",
    "Your input",
    "The conversation",
    "Input token count",
    "Total tokens",
    "The number of tokens",
    "Your messages",
    "Chat history",
    "Prompt + max_tokens",
    "Input length",
)
VERBS_ALONE: tuple[str, ...] = (
    "exceeds",
    "is over",
    "is longer than",
    "is larger than",
    "has exceeded",
    "overflowed",
    "is above",
    "goes past",
    "is beyond",
    "does not fit",
)
LIMITS_ALONE: tuple[str, ...] = (
    "the context window",
    "the model's maximum context length",
    "the token limit",
    "the model's limit",
    "the maximum number of tokens",
    "the allowed number of tokens",
    "the limit of {W} tokens",
    "the maximum tokens of {W}",
    "the model's context",
    "the context limit",
    "the maximum input length",
    "the limit",
)
SAID: dict[str, tuple[str, ...]] = {
    "English": (
        "Input text exceeds the maximum length",
        "TokenLimitExceededException",
        "Input validation error: too many tokens",
        "token_limit_exceeded",
        "exceeds the maximum tokens of {W}",
        "Token count exceeds limit",
        "Token quantity exceeded",
        "context length exceeded ({P}/{W})",
        "the message you submitted was too long, please reload the conversation and submit something shorter",
        "Expected at most {W} tokens, received {P}",
        "This model allows {W} tokens; your input has {P} tokens",
        "Received {P} tokens but model supports {W}",
        "tokens: {P}, limit: {W}",
        "Request too many tokens: {P} + {O} > {W}",
        "Input length {P} and max_new_tokens {O} together exceed the model limit {W}",
        "You asked for {O} output tokens with {P} input tokens, but the context length is {W}",
        "requested tokens ({P} in prompt, {O} for completion) exceed limit {W}",
        "prompt {P} tokens + completion {O} tokens exceeds maximum {W} tokens",
        "{P} (input) + {O} (output) > {W} (context)",
        "Cannot send this: its token count is {P} but the model only supports up to {W}. Lower the token count.",
        "the request was {P} tokens; the server is configured with a {W} token context",
        "ContextWindowExceededError: {P} tokens requested, {W} tokens available",
        "messages exceed model limit: {P}/{W} tokens",
        "Token budget exceeded: used {P} of {W}",
        "model's maximum input is {W} tokens (you sent {P})",
        "{P} tokens is too many for this model (max {W})",
        "Maximum tokens allowed: {W}. Tokens received: {P}.",
        "The maximum number of input tokens is {W}; the request has {P}.",
        "context size exceeded: n_past = {P}, n_ctx = {W}",
        "This chat has become too long",
        "token limit reached",
        "This model cannot process that many tokens",
        "request exceeds the maximum number of tokens",
        "A request may have at most {W} tokens",
        "prompt must be shorter than {W} tokens",
        "Please use a shorter prompt",
        "Try reducing the length of the messages",
        "please reduce the number of tokens in your prompt",
        "Number of input tokens must be less than {W}",
        "input length should be at most {W} tokens",
        "You requested {O} new tokens for a prompt of {P} tokens, exceeding the window of {W}",
        "prompt tokens {P} and requested completion tokens {O} exceed {W}",
        "The prompt takes {P} tokens and the reply {O}, more than the {W} the model can hold",
        "Input ({P} tokens) and output ({O} tokens) exceed the context window of {W} tokens",
        "the prompt you provided ({P} tokens) doesn't fit within the {W}-token context window",
        "Your input is {P} tokens; please keep it under {W} tokens",
        "Tokens in request: {P} (limit {W})",
        "{P} tokens were submitted, the maximum being {W}",
        "prompt length: {P}; model max length: {W}; please truncate",
        "[400] tokens={P} exceeds max={W}",
        "Prompt size exceeds the limit for this model",
        "You have hit the context limit of this model",
        "Your question is too long",
        "cannot fit the conversation into the context window",
        "Not enough context space for this prompt",
        "Total token count exceeds the model's maximum",
        "we can't accept a prompt this long",
        "Prompt is larger than allowed",
        "The prompt is {P} tokens and max_tokens is {O}, but the context length is {W}",
        "tokens requested: {P} prompt + {O} generation > {W} limit",
        "the context of this model ({W} tokens) is smaller than your prompt ({P} tokens)",
        "limit is {W} tokens, you sent {P}",
        "model_max_length={W} tokens={P}",
        "prompt_token_count: {P}, max_token_count: {W}",
        "The number of tokens ({P}) you provided exceeds the maximum input length ({W})",
        "input tokens: {P} / {W}",
        "The prompt does not fit",
        "this thread is too long",
        "the dialog is too long",
        "Too large prompt",
        "input size exceeded",
    ),
    "Chinese": (
        "会话上下文过长，请新建会话",
        "上下文长度超限：{P} > {W}",
        "Token数超过最大限制{W}",
        "总 tokens 数超过模型最大长度",
        "输入 tokens 超过最大限制，当前 {P}，最大 {W}",
        "输入文本超出模型最大输入长度{W}",
        "请求token数超过模型最大限制：{P} > {W}",
        "messages 总长度超过模型限制",
        "输入 token 数量超过最大上限 {W}",
        "超过模型最大token限制",
        "提示词的 token 数为 {P}，大于模型的最大上下文 {W}",
        "超过了模型的最大输入长度",
        "消息总token数（{P}）超过限制（{W}）",
        "模型上下文窗口为{W}，当前请求{P}",
        "输入长度应小于 {W} tokens",
    ),
}
ALIKE: dict[str, tuple[str, ...]] = {
    "rates and quotas": (
        "Request too large for model on tokens per min (TPM): Limit {W}, Requested {P}",
        "Limit {W} tokens/min exceeded: {P} tokens used",
        "429 Too Many Requests: token rate exceeded",
        "Quota exceeded: prompt tokens {P} of {W}",
        "You have used {P} of {W} tokens in your monthly plan",
        "超出速率限制，请稍后再试",
        "并发请求数超过限制",
        "Daily token allowance exceeded: {P} > {W}",
        "You've reached your token limit for today",
        "Too many tokens per minute: {P} > {W}",
        "Token bucket empty: {P} > {W} tokens per second",
        "Project token limit exceeded",
        "Tokens used this billing cycle: {P} of {W}",
        "Please slow down: too many tokens",
        "you ran out of tokens for this month",
        "TPM limit: {W}. Your request: {P} tokens",
    ),
    "the output alone": (
        "max_tokens is too large: {P}. This model supports at most {W} completion tokens",
        "max_completion_tokens must be <= {W}, got {P}",
        "maxOutputTokens must be between 1 and {W}, got {P}",
        "Range of max_tokens should be [1, {W}]",
        "最大输出长度超过限制",
        "The value of max_tokens ({P}) is above the model's limit {W}",
        "max_completion_tokens: Input should be less than or equal to {W}",
        "max_tokens cannot exceed {W}",
        "max_tokens value {P} is greater than the allowed maximum {W}",
        "max_tokens 超出范围",
        "The generated text exceeded the limit",
    ),
    "other things": (
        "Images must be smaller than 20 MB",
        "You can attach at most 10 files",
        "This PDF is too long: 300 pages, limit 100",
        "number of images exceeds limit",
        "Too many messages: {P} > {W}",
        "too many functions: {P} > 128",
        "The URL in the message is too long",
        "tool output too large",
        "Video in the prompt exceeds 1 hour",
    ),
    "keys": (
        "JWT token exceeds size limit",
        "The token you provided has exceeded its lifetime",
        "refresh token limit reached",
    ),
    "other errors": (
        "model not found: my-model-32k",
        "context deadline exceeded",
        "embedding input batch has too many items: {P} > {W}",
        "Request timeout exceeded",
        "unsupported parameter: max_context",
        "frequency_penalty must be between -2 and 2",
        "The model is currently overloaded with other requests",
        "Payload size 12 MB exceeds limit",
        "Response time exceeded limit",
        "messages.0.content: Input should be a valid string",
        "max_num_batched_tokens ({W}) is smaller than max_model_len ({P})",
        "Context for model not loaded",
    ),
}


def _error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


def _page(text: str) -> str:
    body = text.replace("<", "&lt;").replace(">", "&gt;")
    return f"<html><head><title>502 Bad Gateway</title></head><body><p>{body}</p><hr>nginx/1.25.3</body></html>"


FORMATS: tuple[Callable[[int], str], ...] = (
    str,
    *(lambda n, sign=sign: f"{n:,}".replace(",", sign) for sign in (",", ".", "\u202f", "_", "'")),  # type: ignore[misc]
)
ENVELOPES: tuple[Callable[[str], Any], ...] = (
    str,
    str.encode,
    lambda text: {"error": text},
    lambda text: _error(text, type="invalid_request_error", param=None, code=None),
    lambda text: [_error(text, code=400, status="INVALID_ARGUMENT")],
    lambda text: {"detail": [{"loc": ["body"], "msg": text, "type": "value_error"}]},
    lambda text: {"error_code": 336007, "error_msg": text, "request_id": "2025041008"},
    lambda text: _error("Provider returned error", code=400, metadata={"raw": json.dumps(_error(text))}),
    lambda text: _error(
        f"litellm.BadRequestError: XException - {json.dumps(_error(text))}. Received Model Group=a-32k"
    ),
    lambda text: _error(f"BadRequestError: Error code: 400 - {_error(text)!r}"),
    lambda text: _error(f"rpc error: code = InvalidArgument desc = {text}"),
    _page,
)
STATUSES = (400, 413, 422, 500, 502, 503, None, 200)
SIZES = ((2_048, 2_049, 16), (4_096, 5_213, 500), (32_768, 43_690, 2_000), (128_000, 256_000, 4_096))
SIZES += ((12_288, 12_908, 1_024), (200_000, 200_017, 256), (1_048_576, 1_398_101, 4_096))

Case = tuple[int | None, Any, tuple[int | None, int | None, int | None]]


def cases(templates: Iterator[str] | tuple[str, ...], times: int = 1) -> Iterator[Case]:
    """Each template in some of the numbers, envelopes and statuses: status, body, (window, input, output).

    A template has the same ones whatever stands beside it.
    """
    for template, time in product(templates, range(times)):
        i = crc32(template.encode()) + time
        window, sent, asked = SIZES[i % len(SIZES)]
        written = FORMATS[0 if "{P}." in template else i % len(FORMATS)]
        text = template.format(W=written(window), P=written(sent), O=written(asked))
        figures = tuple(
            n if f"{{{name}}}" in template else None for name, n in zip("WPO", SIZES[i % len(SIZES)], strict=True)
        )
        yield STATUSES[i % len(STATUSES)], ENVELOPES[i % len(ENVELOPES)](text), figures  # type: ignore[misc]


def sentences() -> Iterator[str]:
    """A subject with its size, a verb, a limit with its size; and the same without."""
    for subject, verb, limit in product(SUBJECTS, VERBS, LIMITS):
        yield f"{subject} {verb} {limit}."
    for subject, verb, limit in product(SUBJECTS_ALONE, VERBS_ALONE, LIMITS_ALONE):
        yield f"{subject} {verb} {limit}"
