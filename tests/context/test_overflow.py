"""Which refusals are overflows, and what they say."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED
from hypothesis import given
from hypothesis import strategies as st
from refusal_families import ALIKE, Case, cases, sentences
from refusal_families import SAID as IN_LANGUAGES

from jupyter_ctx import Overflow, classify_overflow
from jupyter_ctx.context.overflow import is_too_many_bytes

CORPUS = SHARED / "overflow_errors.jsonl"
MORE = SHARED / "overflow_more.jsonl"
TOO_LONG = "prompt is too long: 11 tokens > 10 maximum"


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


def says(
    window: int | None = None,
    sent: int | None = None,
    asked: int | None = None,
    *,
    cap: int | None = None,
    excess: int | None = None,
    bound: bool = False,
) -> Overflow:
    return Overflow(window or cap, cap, sent, asked, excess, bound)


# the shapes that servers send
SHAPES: dict[str, tuple[int | None, Any, Overflow]] = {
    "numbers as fields": (
        400,
        {"type": "exceed_context_size_error", "message": "too long", "n_prompt_tokens": 900, "n_ctx": 512},
        says(512, 900),
    ),
    "messages alone": (
        400,
        error("The maximum context length is 1,000 tokens here. Yet your messages resulted in 1,200 tokens."),
        says(1000, 1200),
    ),
    "messages and completion": (
        400,
        error(
            "The maximum context length is 1000 tokens; 1300 requested (900 in the messages, 400 in the completion)."
        ),
        says(1000, 900, 400),
    ),
    "messages, functions and completion": (
        400,
        error("Context length: 999 tokens; 1100 (700 in the messages, 300 in the functions, 100 in the completion)"),
        says(999, 1000, 100),
    ),
    "messages and functions": (
        400,
        error(
            "Context length is 999 tokens, messages resulted in 1100 tokens (800 in the messages, 300 in the functions)"
        ),
        says(999, 1100),
    ),
    "text, tools and output": (
        400,
        error("Maximum context length is 999; about 1500 (800 of text input, 300 of tool input, 400 in the output)"),
        says(999, 1100, 400),
    ),
    "a prompt and a completion of the older kind": (
        400,
        error("maximum context length is 999 tokens, you requested 1100 (600 in your prompt; 500 for the completion)"),
        says(999, 600, 500),
    ),
    "an exact fit, refused all the same": (
        400,
        error("maximum context length is 999 tokens; 999 tokens requested (99 in the messages, 900 in the completion)"),
        says(999, 99, 900),
    ),
    "an input cap": (
        400,
        error("Input tokens exceed the limit of 700 tokens that is configured. Your messages resulted in 800 tokens."),
        says(cap=700, sent=800),
    ),
    "a cap on the input's count": (
        400,
        [error("Input token count (1200) exceeds the maximum number of tokens (1000).", code=400)],
        says(cap=1000, sent=1200),
    ),
    "a prompt limit": (
        400,
        error("the maximum prompt length is 1000, the request contains 1200 tokens"),
        says(cap=1000, sent=1200),
    ),
    "a range": (
        400,
        error("<400> Range of input length must be [1, 8000]", code="invalid_parameter_error"),
        says(cap=8000),
    ),
    "input and max_tokens": (
        400,
        error("input length and `max_tokens` are over the context limit: 900 + 200 > 1000"),
        says(1000, 900, 200),
    ),
    "inputs and max_new_tokens": (
        422,
        {"error": "`inputs` + `max_new_tokens` must be <= 800. Given: 700 `inputs` tokens and 200 `max_new_tokens`"},
        says(800, 700, 200),
    ),
    "inputs alone": (422, {"error": "`inputs` must have less than 800 tokens. Given: 900"}, says(cap=800, sent=900)),
    "a max_tokens that only looks too large on its own": (
        400,
        error("'max_tokens' is too large: 900. The context length is 1000, with 200 input tokens (900 > 1000 - 200)"),
        says(1000, 200, 900),
    ),
    "nothing left for max_tokens": (400, error("max_tokens must be at least 1, got -186 (value=-186)"), says()),
    "a bound": (
        400,
        error(
            "context length is 1000 tokens; 300 output tokens requested, prompt contains at least 701 input tokens, "
            "a total of at least 1001 tokens (parameter=input_tokens, value=701)"
        ),
        says(1000, 701, 300, bound=True),
    ),
    "a bound in other words": (
        400,
        error(
            "You passed 701 input tokens and requested 300 output tokens. The context length is only 1000 tokens, "
            "so that the maximum input length is 700 tokens."
        ),
        says(1000, 701, 300, bound=True),
    ),
    "a window that cannot be right": (
        400,
        error(
            "maximum context length is 3 tokens; 900 output tokens requested, prompt contains at least 4 input tokens"
        ),
        says(3, 4, 900, bound=True),
    ),
    "a total of both": (
        400,
        {"message": "too many tokens: prompt and prediction together cannot exceed 2000 - received 2100"},
        says(2000),
    ),
    "the limit first": (400, error("exceeded the model token limit: 1000 (requested: 1200)"), says(1000, 1200)),
    "names of settings": (400, {"error": "n_keep (1200) of the prompt >= n_ctx (1000)"}, says(1000, 1200)),
    "square brackets": (None, error("input tokens [900] exceed context window [800]"), says(800, 900)),
    "an excess": (400, {"error": "prompt too long; by 540 tokens (ref: 00000000-1111-0000)"}, says(excess=540)),
    "a status that is no number of tokens": (400, error("context window exceeds limit (2013)"), says()),
    "a comparison": (
        400,
        {"type": "error", "error": {"type": "invalid_request_error", "message": TOO_LONG}},
        says(10, 11),
    ),
    "words with a 413": (413, error("Request size exceeds the context window"), says()),
    "a code with a 413": (413, error("Max size: 8000 tokens", code="tokens_limit_reached"), says(8000)),
    "only a code": (400, error("No.", code="context_length_exceeded"), says()),
    "another code": (400, error("No.", code="model_max_prompt_tokens_exceeded"), says()),
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

# where a message may be
ENVELOPES: dict[str, Any] = {
    "plain text": TOO_LONG,
    "bytes": TOO_LONG.encode(),
    "an error that is text": {"error": TOO_LONG},
    "a list": [error(TOO_LONG)],
    "a detail": {"detail": [{"loc": ["body"], "msg": TOO_LONG}]},
    "JSON": json.dumps(error(TOO_LONG)),
    "JSON in bytes": json.dumps(error(TOO_LONG)).encode(),
    "JSON in JSON": json.dumps(error(json.dumps(error(TOO_LONG)))),
    "an upstream's JSON": error("Provider error", code=400, metadata={"raw": json.dumps(error(TOO_LONG))}),
    "an upstream's object": error("Provider error", code=400, metadata={"raw": error(TOO_LONG)}),
    "an upstream's text": error("Provider error", code=400, metadata={"raw": TOO_LONG}),
    "JSON in a sentence": error(f"BadRequestError: XException - {json.dumps(error(TOO_LONG))}. Model Group=x"),
    "the repr of bytes": error(
        f"BadRequestError: XException - {json.dumps(error(TOO_LONG), indent=1).encode()!r}. Group=x"
    ),
    "the repr of a dict": repr({"type": "error", "code": 413, **error(TOO_LONG)}),
    "escapes of Go": error("upstream: " + json.dumps(error(TOO_LONG)).replace(">", "\\u003e")),
    "an event stream": f"event: error\ndata: {json.dumps(error(TOO_LONG))}\n\n",
    "a page": f"<html><pre>{TOO_LONG.replace('>', '&gt;')}</pre></html>",
    "an event": {"type": "response.failed", "response": {"id": "x", **error(TOO_LONG)}},
    "line breaks": TOO_LONG.replace(" ", " \n "),
    "the end of much else": "x" * 100_000 + " " + TOO_LONG,
    "a gateway's status in a page": f"<html><h1>502 Bad Gateway</h1><p>{TOO_LONG}</p></html>",
    "a deep place": json.loads("[" * 300 + json.dumps(error(TOO_LONG)) + "]" * 300),
}

# what other servers may say: none of these is known to be said
WORDINGS = {
    "The prompt you sent is 9,214 tokens long, which is more than the 8,192 this model can hold.": says(8192, 9214),
    "Input of 70211 tokens is larger than the model's sequence length 65536.": says(65536, 70211),
    "prompt has 5100 tokens but the limit is 4096": says(4096, 5100),
    "max_model_len is 4096, got a prompt of 4500 tokens": says(4096, 4500),
    "n_ctx=2048 is too small for 2300 prompt tokens": says(2048, 2300),
    "Sequence length (3000) is greater than max_seq_len (2048)": says(2048, 3000),
    "The sequence of token ids is longer than the maximum sequence length of this model (1300 > 1024).": says(
        1024, 1300
    ),
    "The conversation does not fit into the context window of 32k tokens.": says(32000),
    "Context overflow: 20480 tokens in, window 16384.": says(16384, 20480),
    "The input has 130.000 tokens, the context window only 128.000.": says(128000, 130000),
    "Too many tokens in prompt: 12000 (max 8192)": says(8192, 12000),
    "You sent 140000 tokens; the model accepts up to 131072.": says(131072, 140000),
    "request too long: 5000 prompt tokens + 1000 completion tokens = 6000 > 4096": says(4096, 5000, 1000),
    "Prompt tokens (7000) and max_tokens (2000) must not exceed the context window (8192).": says(8192, 7000, 2000),
    "Generating 512 tokens on top of a 3800-token prompt surpasses the 4096-token context.": says(4096, 3800, 512),
    "Your messages take up 210_000 tokens, beyond the 200_000 allowed.": says(200000, 210000),
    "Context window full: 8192 of 8192 tokens used": says(8192, 8192),
    "Cannot process the input: its length of 1500 tokens is above the maximum of 1024.": says(1024, 1500),
    "Message history is over the model's token limit (limit=16000, got=17250).": says(16000, 17250),
    "input_tokens=9000 > max_input_tokens=8000": says(cap=8000, sent=9000),
    "prompt length 4100 plus max new tokens 200 is longer than the maximum sequence length 4096": says(4096, 4100, 200),
    "The prompt is over the context length by 350 tokens.": says(excess=350),
    "Input exceeds the model's context by 1,024 tokens; shorten it.": says(excess=1024),
    "Tokenized prompt: 33000. Limit: 32768.": says(32768, 33000),
    "This request needs 35000 tokens of context, but this deployment was started with only 32768.": says(32768, 35000),
    "Total tokens 5000 exceed model limit 4096": says(4096, 5000),
    "Text is too long for this model: at most 512 tokens, given 700": says(512, 700),
    "The number of tokens in your input (4500) is higher than the allowed 4096.": says(4096, 4500),
    "Maximum context reached. Start a new chat or shorten your prompt.": says(),
    "the model only has room for 4096 tokens and 5000 were provided": says(4096, 5000),
    "chat history too long for context window": says(),
    "This model can only handle 2048 tokens at once; the prompt alone has 2500.": says(2048, 2500),
    "Prompt of length 9000 does not fit in context of size 8192": says(8192, 9000),
    "input sequence too long (9000 tokens, maximum 8192)": says(8192, 9000),
    "Prompt too large: 15000 tokens. Model context: 8k": says(8000, 15000),
    "max context size 4096 < prompt size 5000": says(4096, 5000),
    "ContextOverflow: required 5200, available 4096": says(4096, 5200),
    "Please shorten your prompt: the model's context limit is 8192 tokens and it contains 9000.": says(8192, 9000),
    "context length limit reached (8192)": says(8192),
    "prompt tokens (9000) + completion tokens (500) > context size (8192)": says(8192, 9000, 500),
    "Input is longer than what the model can attend to (9,500 vs. 8,192 tokens).": says(8192, 9500),
    "The supplied prompt has at least 9000 tokens; the window holds 8192.": says(8192, 9000, bound=True),
    "Request rejected: estimated 140k tokens, model maximum is 128k tokens.": says(128000, 140000),
    "The combined length of input and output tokens exceeds this model's limit (8192)": says(8192),
    "Context window exhausted; cannot generate further.": says(),
    "Prompt (5,000 tokens) > limit (4,096 tokens)": says(4096, 5000),
    "Your request is 12,345 tokens, the maximum supported by qwen-72b-32k is 8,192 tokens.": says(8192, 12345),
    "Model llama-3.1-8b has a context length of 131072; the messages are 140000 tokens.": says(131072, 140000),
    "No room left for an answer: the prompt uses 4090 tokens of a context of 4096.": says(4096, 4090),
    "prompt length of 6000 exceeds max_position_embeddings of 4096": says(4096, 6000),
    "Sorry, that conversation has grown to 66,000 tokens and I can read at most 65,536.": says(65536, 66000),
    "inference error: sequence of 2200 tokens exceeds the maximum of 2048 positions": says(2048, 2200),
    "Requested 2300 tokens, but the KV cache only has room for 2048.": says(2048, 2300),
    "prompt_tokens: 40000, context_limit: 32768": says(32768, 40000),
    "The context limit for this deployment is 32768 tokens. Your request used 40000 tokens.": says(32768, 40000),
    "You asked for 4000 completion tokens after 30000 prompt tokens; the context length is 32768.": says(
        32768, 30000, 4000
    ),
    "Prompt exceeds context size (n_ctx: 4096, n_tokens: 5000)": says(4096, 5000),
    "Input is 1,200 tokens too long for the model.": says(excess=1200),
    "Your prompt needs to be shortened by 800 tokens to fit the context window.": says(excess=800),
    "Context length exceeded by 77 tokens": says(excess=77),
    "The input you provided is larger than this model's context window of 16_384 tokens.": says(16384),
    "Messages exceed the context window.": says(),
    "Input validation failed: prompt exceeds the maximum allowed length": says(),
    "This prompt is larger than the context window (131.072 tokens).": says(131072),
    "the number of prompt tokens 33000 is greater than the model's maximum number of tokens 32768": says(32768, 33000),
    "Unable to process request: token count 1500000 exceeds the model limit of 1048576": says(1048576, 1500000),
    "total_tokens (9000) > context_window (8192)": says(8192, 9000),
    "model context window is 4K but the request has 5K tokens": says(4000, 5000),
    "too many prompt tokens (9000) for a model with a limit of 8192": says(8192, 9000),
    "Too many input tokens: received 9000, limit 8192": says(8192, 9000),
    "Current prompt: 9000 tokens. Allowed: 8192 tokens.": says(8192, 9000),
    "ERR_CONTEXT_OVERFLOW": says(),
    "The chat is too long for the model to read (11000 tokens; limit: 8192 tokens)": says(8192, 11000),
    "This message would exceed the model's context length. Remove older messages and try again.": says(),
    "Your conversation is too long. Please start a new one.": says(),
    "Prompt size 9000 > context size 8192": says(8192, 9000),
    "9000 tokens in prompt exceeds limit of 8192": says(8192, 9000),
    "9000 input tokens exceed the 8192-token limit": says(cap=8192, sent=9000),
    "got 9000 tokens, expected at most 8192": says(8192, 9000),
    "Model maximum input length is 8192 tokens, received 9000": says(cap=8192, sent=9000),
    "The max_input_tokens for this model is 100000, your prompt has 120000": says(cap=100000, sent=120000),
    "Prompt tokens (12000) exceed the input limit (10000)": says(cap=10000, sent=12000),
    "Input token limit exceeded: 12000 tokens sent, 10000 allowed": says(cap=10000, sent=12000),
    "Input plus max_tokens is over the context window: 9000 + 1000 > 8192": says(8192, 9000, 1000),
    "At most 8192 tokens; you requested 9000 (8500 in the prompt and 500 in the completion)": says(8192, 8500, 500),
    "max_tokens=6000 plus 4000 prompt tokens does not fit a window of 8192": says(8192, 4000, 6000),
    "cannot fit prompt: 4200 tokens into 4096 context": says(4096, 4200),
    "Prompt too long (9000/8192)": says(8192, 9000),
    "Context: 9000/8192 tokens": says(8192, 9000),
    "Input tokens (9000) and requested output tokens (1000) are above the model's limit of 8192": says(
        8192, 9000, 1000
    ),
    "[TokenLimitError] prompt of 9000 tokens > 8192": says(8192, 9000),
    "The text you sent is too long for this model's context window": says(),
    "maximum sequence length reached during generation": says(),
    "Prompt is longer than the model context (5000 > 4096)": says(4096, 5000),
    "Bad Request: the prompt (13,402 tokens) is bigger than the context (12,288 tokens)": says(12288, 13402),
    "context limit of 200000 tokens exceeded: 201345 tokens in request": says(200000, 201345),
    "Token count 8300 > 8192": says(8192, 8300),
    "error=prompt_exceeds_context prompt_len=8300 ctx_len=8192": says(8192, 8300),
    "num_tokens=8300 exceeds max_seq_length=8192": says(8192, 8300),
    "The total number of tokens in the conversation is 8300, which exceeds the limit of 8192.": says(8192, 8300),
    "The model's context window has been filled up, nothing more can be generated": says(),
    "Conversation exceeds maximum length. Please delete some messages.": says(),
    "Sorry, your prompt of 8300 tokens exceeded the model's limit of 8192 tokens.": says(8192, 8300),
    "Input is larger than the context window: 8300 vs 8192": says(8192, 8300),
    "input (8300) + output (500) tokens > max model len (8192)": says(8192, 8300, 500),
    "Prompt token count: 8300, maximum: 8192, please trim the prompt": says(8192, 8300),
    "This model accepts 8192 tokens of input, you provided 8300": says(8192, 8300),
    "You provided 8300 input tokens but only 8192 are allowed": says(8192, 8300),
    "max input tokens: 8192; actual: 8300": says(cap=8192, sent=8300),
    "sequence length 8300 exceeds maximum 8192": says(8192, 8300),
    "requested context of 9000 tokens is over the server's context size (8192)": says(8192, 9000),
    "The request's token count (9000) exceeds the context window (8192) of the model": says(8192, 9000),
    "the prompt leaves no room for completion: 8192 of 8192 tokens are used": says(8192, 8192),
    "Prompt is 1.2M tokens, maximum is 1M": says(1000000, 1200000),
    "prompt is too long: 1 048 576 tokens": says(None, 1048576),
    "Your message is too long for this model. Try a shorter message.": says(),
    "text too long: 700 tokens, max 512": says(512, 700),
    "Message exceeds model context (max 8192 tokens).": says(8192),
    "Request too large: 9000 tokens in, model allows 8192": says(8192, 9000),
    "This request has 9,000 tokens and cannot be served: the largest context is 8,192 tokens": says(8192, 9000),
    "Exceeded maximum context size of 4096 (prompt: 4000, max_tokens: 200)": says(4096, 4000, 200),
    "length error: tokens in prompt=5000, context=4096": says(4096, 5000),
    "Context is full. Summarize or clear the conversation.": says(),
    "prompt: 12k tokens, window: 8k tokens": says(8000, 12000),
    "You have exceeded the maximum context length for this model": says(),
    "The assembled prompt does not fit the model (5000 tokens > 4096 tokens)": says(4096, 5000),
    "The provided messages amount to 17,004 tokens while the model can process only 16,384.": says(16384, 17004),
    "Request exceeds context: 17004 of 16384 tokens": says(16384, 17004),
    "PromptTooLong: 17004 tokens given, 16384 allowed": says(16384, 17004),
    "Context budget exceeded (prompt 3900 + reply 300 > 4096)": says(4096, 3900, 300),
    "input has 17004 tokens, more than max_model_len (16384)": says(16384, 17004),
    "Model context window exceeded: shorten the conversation to below 16384 tokens": says(16384),
    "The model's 16384-token window cannot take a prompt of 17004 tokens": says(16384, 17004),
    "Tokens in prompt: 17004. Tokens allowed: 16384.": says(16384, 17004),
    "History too long: the chat has grown past the context size.": says(),
    "The query is longer than the model's maximum sequence length (512 tokens): got 600": says(512, 600),
    "max_seq_len exceeded by prompt (17004 > 16384)": says(16384, 17004),
    "[context_length] 17004/16384": says(16384, 17004),
    "You are 620 tokens over the context window.": says(excess=620),
    "Prompt plus completion would be 17004 tokens, but the window is 16384 tokens": says(16384),
    "Please lower max_tokens: 12000 (prompt) + 8000 (max_tokens) does not fit in 16384": says(16384, 12000, 8000),
    "A prompt with 17004 tokens was sent to a model with a context length of 16384 tokens": says(16384, 17004),
    "Your input is too big for this model": says(),
    "This model can take in 16384 tokens; yours were 17004": says(16384, 17004),
    "{'detail': 'Prompt of 17004 tokens is over the 16384 token context limit'}": says(16384, 17004),
    "Inference failed: input ids length 17004 > max position 16384": says(16384, 17004),
    "The tokenized input is longer than allowed (17004 > 16384)": says(16384, 17004),
    "prefill of 17004 tokens does not fit into kv cache of 16384 tokens": says(16384, 17004),
    "Context limit exceeded. Limit: 16384. Actual: 17004.": says(16384, 17004),
    "Prompt of 5213 tokens won't fit: context size is 4096.": says(4096, 5213),
    "context_length_error: 5213 > 4096": says(4096, 5213),
    "Model supports 4096 context tokens but prompt has 5213.": says(4096, 5213),
    "Too long! 5213 prompt tokens (maximum 4096)": says(4096, 5213),
    "Cannot serve: input tokens (5213) + max_tokens (1024) = 6237, context length = 4096": says(4096, 5213, 1024),
    "ValueError('Prompt is too large (5213 > 4096)')": says(4096, 5213),
    "This model's context is limited to 4096 tokens, your message history is 5213 tokens long": says(4096, 5213),
    "You passed a prompt of 5213 tokens, which overflows the 4096-token window.": says(4096, 5213),
    "the input exceeded the limit of 4096 tokens (it has 5213)": says(4096, 5213),
    "Maximum prompt size is 4096 tokens; yours is 5213": says(4096, 5213),
    "Sequence too long: 5213 tokens (limit 4096)": says(4096, 5213),
    "Number of tokens (5213) exceeded maximum context length (4096).": says(4096, 5213),
    "Unable to generate: prompt length 5213 >= model length 4096": says(4096, 5213),
    "The requested length of 5213 + 512 tokens is beyond what the model supports (4096)": says(4096, 5213, 512),
    "Rejected because the prompt contains more tokens (5213) than the context window (4096)": says(4096, 5213),
    "reduce your prompt by at least 1117 tokens": says(excess=1117),
    "the session's context has reached 4096 tokens and is full": says(4096),
    "Input prompt length of 5213 tokens is longer than permitted 4096": says(4096, 5213),
    "This conversation no longer fits in the model's context window": says(),
}
LOOK_ALIKES = (
    "Rate limit reached: 90,000 tokens in the last minute exceed the limit of 80,000.",
    "TPM limit of 30000 surpassed by this request of 31000 tokens",
    "You have used up your monthly token quota",
    "Insufficient credits for 20000 prompt tokens",
    "max_tokens must be ≤ 4096",
    "max_tokens: 9000 is above the model's output limit of 8192",
    "max_new_tokens should be less than 2048",
    "The requested number of output tokens (10000) is larger than this model's maximum of 8192.",
    "Image too large: 9000x9000 exceeds the maximum of 8000 pixels",
    "Image 3 of the prompt exceeds the maximum of 5 MB",
    "File too large: the maximum upload is 512 MB",
    "Too many tools: 140 given, the maximum is 128",
    "Your token has expired",
    "The access token is invalid or too long",
    "Invalid JWT: token exceeds maximum length of 8192",
    "API token exceeds allowed usage",
    "Too many stop sequences: maximum is 4",
    "context deadline exceeded",
    "context canceled while reading the prompt",
    "request timeout: exceeded the limit of 600 seconds",
    "maximum number of messages exceeded: 1000",
    "messages: at most 100,000 items allowed",
    "metadata.title: string too long, maximum length is 512",
    "user: value is longer than 64 characters",
    "upload size limit exceeded",
    "payload of 12000000 bytes exceeds limit of 10000000 bytes",
    "Request body too large, limit 4 MB",
    "prompt name exceeds maximum length of 64 characters",
    "The model my-model-128k was not found",
    "temperature must be less than the maximum of 2",
    "top_logprobs must be less than or equal to 20",
    "n must be at most 8",
    "Too many concurrent requests",
    "Daily token limit reached for your plan",
    "Your organization's token budget has been exceeded",
    "tool name exceeds limit of 64",
    "Function description too long: maximum 1024",
    "Audio is longer than the maximum of 25 minutes",
    "The video has too many frames for this model",
    "PDF has more pages than the limit of 100",
    "budget_tokens (5000) must be smaller than max_tokens (4096)",
    "Batch too large: 3000 inputs, limit 2048",
    "The model is overloaded; queue length exceeds limit",
    "request queue is full: max 100 waiting requests",
    "CUDA out of memory while allocating 2.00 GiB",
    "JSON nesting too deep, maximum depth 100",
    "field `context` is not allowed",
    "Unknown parameter: 'context_window'",
    "context_length must be a positive integer",
    "URI too long",
    "cached content is too small: the minimum is 1024 tokens",
    "prompt must not be empty",
    "The prompt was blocked by the content filter",
    "seed must be smaller than 2147483647",
    "session limit reached; resets at 5pm",
    "You've hit your usage limit for this model",
    "The 1M context window is not available on your tier",
    "num_ctx is too large for the available memory",
    "the input array exceeds 2048 items",
    "The reply was cut at the maximum of 4096 output tokens",
    "logit_bias has too many tokens: maximum 300",
    "this key's spend limit of $10 is exceeded",
    "Request exceeds the maximum number of images (20)",
    "Tokens must be a list of integers",
    "CSRF token mismatch",
    "prompt_cache_key too long (max 64)",
    "messages array too long; the limit is 2048",
    "max_completion_tokens exceeds the limit of 16384 for this model",
    "The bearer token is too long for this server",
    "refresh token exceeded its maximum lifetime",
    "You sent too many tokens this hour",
    "Token usage for this project is over its cap",
    "context: this field is required",
    "The conversation was not found",
    "conversation id is too long",
    "Message 4 has an empty content",
    "messages.7.content: expected a string",
    "messages must alternate between user and assistant",
    "tool_call_id is longer than 40 characters",
    "too many system messages, at most 1 is allowed",
    "reasoning_effort must be one of low, medium, high",
    "max_tokens must be at least 1",
    "max_tokens is too small: 5, the minimum is 16",
    "The maximum number of output tokens for this model is 8192, you asked for 9000",
    "requested max_completion_tokens 20000 exceeds the model maximum of 16384 output tokens",
    "n_predict is larger than the server's limit of 512",
    "response_format schema has too many properties: 120 of 100",
    "The schema is too large: exceeds limit of 15000 characters",
    "The system is at its limit, please try again later",
    "The batch has more requests than the maximum of 50000",
    "attachment is larger than the limit of 20 MB",
    "Request entity too large",
    "Your prompt violates our usage policy",
    "The prompt template has too many variables: limit is 20",
    "prompt id exceeds 64 characters",
    "The service tier does not allow a context window of 1M tokens",
    "Long context beta is not available for this subscription",
    "worker exceeded memory limit of 2048 MB",
    "CPU time limit exceeded",
    "max retries exceeded with url /v1/chat/completions",
    "Maximum recursion depth exceeded",
    "The model failed to load: context size 32768 needs more memory than available",
    "unexpected token < in JSON at position 0",
    "Unexpected end of input",
    "tokenizer not found for this model",
    "Unknown token id 50300: vocabulary size is 50257",
    "stop must have at most 4 items, got 9",
    "You have reached your limit of 5 conversations",
    "Free tier users may send at most 8000 tokens a day",
    "The key's max budget of 20 USD has been reached",
    "too many redirects",
    "Audio input is longer than 1500 seconds",
    "The embedding dimensions 4096 are larger than the maximum of 3072",
    "top_k must not be greater than 500",
    "logprobs is limited to 20, got 600",
    "The file has 9000 lines, more than the limit of 5000",
    "Expected 2048 bytes, got 4096",
    "Rate limit: input tokens exceed the limit of 30,000 per minute; reduce the length of the messages",
    "You exceeded your quota of prompt tokens: 9000 > 8000",
    "Prompt is too long for the remaining credits",
    "Too many requests: your prompt exceeds the context budget, slow down",
    "Request was throttled. Too many tokens in your prompts today.",
    "Tokens per day limit: Limit 100000, Used 99000, Requested 5000",
    "Billing hard limit reached: prompt not processed",
    "insufficient balance: prompt needs 9000 tokens",
    "The requested max_tokens 9000 exceeds the maximum of 8192 output tokens",
    "max_output_tokens: must be less than or equal to 65536, received 100000",
    "Output token limit reached: 8192 tokens",
    "completion tokens (9000) exceed the model's completion limit (8192)",
    "The response was longer than the limit of 4096 tokens",
    "prompt: field required",
    "prompt must be shorter than 4000 characters",
    "inputs: List should have at most 96 items after validation, not 120",
    "messages.3.name: String should match pattern",
    "messages: Input should be a valid list",
    "The prompt parameter is over-specified",
    "input_audio longer than 30 seconds",
    "the conversation history could not be loaded",
    "conversation limit reached: 50 conversations",
    "The session has expired; sign in for a new token",
    "Invalid bearer token: signature length is larger than expected",
    "id token has too many claims",
    "password reset token too long",
    "cookie too large: 8300 bytes, maximum 8192 bytes",
    "Header fields too long: 9000 > 8192",
    "request header size 9000 exceeds the limit 8192",
    "query string too long: 3000 > 2048",
    "worker timed out after exceeding the limit of 120 s",
    "stream closed: context canceled after 8192 chunks",
    "tool schema nesting depth 12 exceeds maximum 10",
    "The number of tools (200) exceeds the maximum of 128",
    "enum has 600 values, exceeding the maximum of 500",
    "n (200) is larger than the allowed maximum of 128",
    "seed 99999999999 exceeds the maximum of 4294967295",
    "batch of 600 prompts exceeds the maximum batch size of 512",
    "Too many prompts in one request: 600, limit 512",
    "This model does not support a system prompt",
    "The model does not support a context window parameter",
    "context_window must be between 512 and 8192",
    "num_ctx: value 600000 is greater than the maximum of 131072 for this model",
    "LoRA rank 600 exceeds max_lora_rank 512",
    "model needs 9000 MiB, only 8192 MiB available",
    "KV cache allocation failed: 9000 MB requested, 8192 MB free",
    "prompt logprobs limited to 20, requested 600",
    "Your plan allows 8000 prompt tokens a day, you used 9000",
    "Trial accounts: prompt limit exceeded, upgrade to continue",
    "upstream connect error: max connections 1024 exceeded",
    "context handle is too old",
    "The prompt contains a token that is not allowed",
    "Too many tokens requested for this trial key",
    "token budget for tools (600) must not exceed max_tokens (500)",
    "output of tool call is larger than 10 MB",
    "The chat was deleted",
    "chat title longer than 100 characters",
    "The history id 17004 is greater than the newest id 16384",
    "The reply would have more than 8192 tokens",
    "max_tokens (9000) > 8192",
    "max_tokens 9000 is over the model's maximum output length 8192",
    "Function name length 80 exceeds 64",
    "prompt_id 900 not found, maximum id is 800",
    "Invalid prompt: exceeds content policy limits",
    "Input blocked: safety threshold exceeded",
    "messages[12].content is empty",
    "Request was larger than the proxy's buffer",
    "vocabulary overflow: token id 200000 exceeds 151936",
    "unknown field max_context_length",
    "the api token is longer than the allowed length of 128",
    "context menu overflow",
    "client disconnected: read of closed context",
    "Your account has a token limit of 8000, which you have exceeded. Upgrade your plan.",
    "This key may spend 9000 tokens; 9001 were requested",
    "max_tokens=20000 too large for this model, which writes up to 16384 tokens",
    "Prompt caching requires at least 1024 tokens; the prompt has 900",
    "the file search returned too many tokens",
    "Image input uses more than the allowed 20 images",
    "stop: sequence too long (64 characters at most)",
    "request to http://localhost:8080 exceeded timeout 60000 ms",
    "model context protocol server not reachable",
    "Exceeded maximum tool iterations: 10",
    "The prompt is shorter than the minimum",
    "token signature invalid: length 512 > 256",
    "unsupported value: temperature over 2",
    "messages must not be longer than the list of roles",
    "This deployment is out of capacity; limit reached",
    "Your prompt of 9000 tokens exceeds the limit of 8000 tokens in the last minute",
    "Prompt tokens this month: 9000, allowed: 8000",
    "Daily prompt tokens limit exceeded: 9000 > 8000",
    "Usage limit reached: input tokens exceed the plan's limit",
    "Overloaded: prompt of 9000 tokens is larger than the 8000 we can take now",
    "The conversation has exceeded the maximum number of messages",
    "You requested 20000 completion tokens, more than the limit of 16384",
    "max_completion_tokens: you requested 20000, the limit is 16384 tokens",
    "the completion you asked for would have 9000 tokens but the limit is 8192",
    "Request for 9000 output tokens is over the model's limit of 8192 tokens",
    "RPM limit for prompts exceeded",
    "Prompt exceeds the limit for your billing tier",
)


OTHERS: list[tuple[int | None, Any]] = [
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


@pytest.mark.parametrize(("status", "body"), OTHERS)
def test_what_only_looks_like_one_is_none(status: int | None, body: Any) -> None:
    assert classify_overflow(status, body) is None


def wrong(made: Iterable[Case]) -> list[tuple[Any, ...]]:
    """The refusals of a family that are not found with their figures."""
    found = ((status, body, figures, classify_overflow(status, body)) for status, body, figures in made)
    return [
        (status, body, overflow)
        for status, body, figures, overflow in found
        if overflow is None or (overflow.context_window, overflow.input_tokens, overflow.output_tokens) != figures
    ]


def test_any_subject_any_verb_and_any_limit_make_an_overflow() -> None:
    assert not wrong(cases(islice(sentences(), 0, None, 7)))  # with 14 verbs and 24 limits: all meet


@pytest.mark.parametrize("language", IN_LANGUAGES)
def test_an_overflow_is_recognised_in_many_languages(language: str) -> None:
    assert not wrong(cases(IN_LANGUAGES[language], 3))


@pytest.mark.parametrize("kind", ALIKE)
def test_no_language_makes_an_overflow_of_something_else(kind: str) -> None:
    assert not [(status, body) for status, body, _ in cases(ALIKE[kind], 3) if classify_overflow(status, body)]


BYTES: list[tuple[int | None, Any]] = [
    (413, None),
    (413, ""),
    (413, "<html><head><title>413 Request Entity Too Large</title></head><hr><center>nginx</center></html>"),
    (413, "Payload Too Large"),
    (413, error("No.")),
    (413, error("Request exceeds the maximum size", type="request_too_large")),
    (400, error("Request payload size exceeds the limit: 314572800 bytes.")),
    (413, "Maximum request body size 1048576 exceeded, actual body size 1056562"),
    (500, error("upstream: request entity too large")),
    (400, error("Request body too large, limit 4 MB")),
    (None, error("request body exceeds 4194304 bytes")),
    (400, error("Content too large")),
    (None, error("Request exceeds the maximum allowed number of bytes", type="request_too_large")),
    (413, "请求体过大"),
]
NOT_BYTES: list[tuple[int | None, Any]] = [
    (413, error("Prompt is too long")),
    (413, error("Request body too large for a model. Max size: 8000 tokens.", code="tokens_limit_reached")),
    (413, error("Request too large on tokens per minute (TPM): Limit 6000, Requested 14368")),
    (429, "Payload Too Large"),
    (401, None),
    (400, None),
    (400, error("The prompt is too long")),
    (400, error("image exceeds 5 MB maximum: 6500712 bytes > 5242880 bytes")),
    (400, error("max_tokens is too large")),
    (500, error("the server ran out of memory")),
]


@pytest.mark.parametrize(("status", "body"), BYTES)
def test_a_request_of_too_many_bytes_is_recognised_and_is_no_overflow(status: int | None, body: Any) -> None:
    assert is_too_many_bytes(status, body)
    assert classify_overflow(status, body) is None


@pytest.mark.parametrize(("status", "body"), NOT_BYTES)
def test_no_other_refusal_is_one_of_too_many_bytes(status: int | None, body: Any) -> None:
    assert not is_too_many_bytes(status, body)


@pytest.mark.parametrize("status", [401, 402, 403, 404, 408, 429, 529])
def test_some_statuses_never_mean_an_overflow(status: int) -> None:
    assert classify_overflow(status, error(TOO_LONG)) is None


@pytest.mark.parametrize(
    ("stated", "window"),
    [
        ("128000", 128_000),
        ("128,000", 128_000),
        ("128.000", 128_000),
        ("128_000", 128_000),
        ("128 000", 128_000),
        ("128\u202f000", 128_000),
        ("128'000", 128_000),
        ("1,048,576", 1_048_576),
        ("128k", 128_000),
        ("128K", 128_000),
        ("1M", 1_000_000),
        ("1.5M", 1_500_000),
        ("~128000", 128_000),
        ("(128000)", 128_000),
        ("`128000`", 128_000),
        ("gpt-4o-2024-08-06's 128000", 128_000),
        ("model v3.5 with 128000", 128_000),
        ("of 99999999999999999999", None),
        ("after 30 messages", None),
        ("that is too small", None),
    ],
)
def test_numbers_are_read_as_people_write_them(stated: str, window: int | None) -> None:
    overflow = classify_overflow(
        400, error(f"The prompt exceeds the context window {stated}. (request id: 20260904123456)")
    )
    assert overflow == says(window)


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


@given(st.sampled_from([json.dumps(body) for _, body, _ in SHAPES.values()]), st.data())
def test_a_damaged_message_is_never_an_error(body: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(body)))
    end = data.draw(st.integers(start, len(body)))
    damaged = body[:start] + data.draw(st.text(max_size=8)) + body[end:]
    for form in (damaged, damaged.encode("utf-8", "replace"), error(damaged)):
        result = classify_overflow(400, form)
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
        "litellm.BadRequestError: XException -",
        "Received Model Group=x/y-128k\nAvailable Model Group Fallbacks=None",
        'Traceback (most recent call last): File "/srv/app.py", line 512, in send',
        "2026-01-31T12:00:00.123Z ERROR [server.py:17]",
        "See https://example.com/errors/400?id=9000.",
        "(request id: 20260904123456789012)",
        "(ref: 550e8400-e29b-41d4-a716-446655440000)",
        "Error code: 400 -",
        "{'retries': 3}",
    ]
)


@given(st.sampled_from(SAID), PROSE, PROSE)
def test_other_text_around_a_message_changes_nothing(
    said: tuple[dict[str, Any], Overflow], before: str, after: str
) -> None:
    body, overflow = said
    inside = {**body["error"], "message": f"{before} \n {body['error']['message']} \n {after}"}
    assert classify_overflow(400, {"error": inside}) == overflow


def nested(depth: int) -> Any:
    body: Any = "prompt"
    for _ in range(depth):
        body = [body]
    return body


def shared(depth: int) -> Any:
    body: Any = "prompt"
    for _ in range(depth):
        body = [body] * 9
    return body


HUGE = {
    "words": "context length " * 700_000,
    "numbers": "prompt tokens 1 2 3 " * 500_000,
    "digits": "9" * 10_000_000,
    "bytes": b"\xff" * 10_000_000,
    "brackets": "[" * 10_000_000,
    "open JSON": '{"error":' * 20_000,
    "depth": nested(100_000),
    "the same, many times": shared(40),
    "many keys": dict.fromkeys(range(1_000_000), "context"),
    "many texts": [{"message": f"context length {number} tokens limit " * 1_000} for number in range(100)],
    "a huge number": {"n_ctx": 10**10_000, "code": -(10**10_000)},
}
HUGE["itself"] = []
HUGE["itself"].append(HUGE["itself"])


@pytest.mark.parametrize("name", HUGE)
def test_no_body_takes_long(name: str) -> None:
    begun = time.process_time()
    classify_overflow(400, HUGE[name])
    assert time.process_time() - begun < 2


FILLED = [
    "context length ",
    "prompt tokens 1 2 3 ",
    "1,",
    "( ",
    "> ",
    "\\",
    "上下文长度",
    "длина ",
    "zu ",
    '{"a":"',
    "</a> <b ",
]


@pytest.mark.parametrize("part", FILLED)
def test_a_body_of_100_kb_is_judged_at_once(part: str) -> None:
    body = error((part * 100_000)[:100_000])
    classify_overflow(400, body)  # compiled
    begun = time.process_time()
    classify_overflow(400, body)
    assert time.process_time() - begun < 0.3  # a third of it on a machine with nothing else to do


def corpus(path: Path = CORPUS) -> list[dict[str, Any]]:
    """Refusals that were collected; where a body was not, its message stands for it."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [{**row, "body": row["message"] if row["body"] is None else row["body"]} for row in rows]


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
