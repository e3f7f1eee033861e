"""Refusals and look-alikes in the words that servers use or may use, and those collected from real ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from requirements import SHARED

from jupyter_ctx import Overflow

CORPUS = SHARED / "overflow_errors.jsonl"
MORE = SHARED / "overflow_more.jsonl"


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


# what other servers may say: none of these is known to be said
WORDINGS = {
    "Conversation exceeds maximum length. Please delete some messages.": says(),
    "The prompt you sent is 9,214 tokens long, which is more than the 8,192 this model can hold.": says(8192, 9214),
    "n_ctx=2048 is too small for 2300 prompt tokens": says(2048, 2300),
    "Sequence length (3000) is greater than max_seq_len (2048)": says(2048, 3000),
    "The sequence of token ids is longer than the maximum sequence length of this model (1300 > 1024).": says(
        1024, 1300
    ),
    "The conversation does not fit into the context window of 32k tokens.": says(32000),
    "request too long: 5000 prompt tokens + 1000 completion tokens = 6000 > 4096": says(4096, 5000, 1000),
    "Generating 512 tokens on top of a 3800-token prompt surpasses the 4096-token context.": says(4096, 3800, 512),
    "Context window full: 8192 of 8192 tokens used": says(8192, 8192),
    "Message history is over the model's token limit (limit=16000, got=17250).": says(16000, 17250),
    "input_tokens=9000 > max_input_tokens=8000": says(cap=8000, sent=9000),
    "prompt length 4100 plus max new tokens 200 is longer than the maximum sequence length 4096": says(4096, 4100, 200),
    "The prompt is over the context length by 350 tokens.": says(excess=350),
    "Text is too long for this model: at most 512 tokens, given 700": says(512, 700),
    "the model only has room for 4096 tokens and 5000 were provided": says(4096, 5000),
    "ContextOverflow: required 5200, available 4096": says(4096, 5200),
    "Please shorten your prompt: the model's context limit is 8192 tokens and it contains 9000.": says(8192, 9000),
    "context length limit reached (8192)": says(8192),
    "prompt tokens (9000) + completion tokens (500) > context size (8192)": says(8192, 9000, 500),
    "Input is longer than what the model can attend to (9,500 vs. 8,192 tokens).": says(8192, 9500),
    "The supplied prompt has at least 9000 tokens; the window holds 8192.": says(8192, 9000, bound=True),
    "Request rejected: estimated 140k tokens, model maximum is 128k tokens.": says(128000, 140000),
    "Context window exhausted; cannot generate further.": says(),
    "Requested 2300 tokens, but the KV cache only has room for 2048.": says(2048, 2300),
    "Input is 1,200 tokens too long for the model.": says(excess=1200),
    "Your prompt needs to be shortened by 800 tokens to fit the context window.": says(excess=800),
    "too many prompt tokens (9000) for a model with a limit of 8192": says(8192, 9000),
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
    "The model's context window has been filled up, nothing more can be generated": says(),
    "Input is larger than the context window: 8300 vs 8192": says(8192, 8300),
    "This model accepts 8192 tokens of input, you provided 8300": says(8192, 8300),
    "max input tokens: 8192; actual: 8300": says(cap=8192, sent=8300),
    "the prompt leaves no room for completion: 8192 of 8192 tokens are used": says(8192, 8192),
    "Request too large: 9000 tokens in, model allows 8192": says(8192, 9000),
    "Exceeded maximum context size of 4096 (prompt: 4000, max_tokens: 200)": says(4096, 4000, 200),
    "Request exceeds context: 17004 of 16384 tokens": says(16384, 17004),
    "PromptTooLong: 17004 tokens given, 16384 allowed": says(16384, 17004),
    "Context budget exceeded (prompt 3900 + reply 300 > 4096)": says(4096, 3900, 300),
    "Model context window exceeded: shorten the conversation to below 16384 tokens": says(16384),
    "The model's 16384-token window cannot take a prompt of 17004 tokens": says(16384, 17004),
    "The query is longer than the model's maximum sequence length (512 tokens): got 600": says(512, 600),
    "[context_length] 17004/16384": says(16384, 17004),
    "Prompt plus completion would be 17004 tokens, but the window is 16384 tokens": says(16384),
    "Your input is too big for this model": says(),
    "This model can take in 16384 tokens; yours were 17004": says(16384, 17004),
    "Inference failed: input ids length 17004 > max position 16384": says(16384, 17004),
    "The tokenized input is longer than allowed (17004 > 16384)": says(16384, 17004),
    "the input exceeded the limit of 4096 tokens (it has 5213)": says(4096, 5213),
    "Number of tokens (5213) exceeded maximum context length (4096).": says(4096, 5213),
    "The requested length of 5213 + 512 tokens is beyond what the model supports (4096)": says(4096, 5213, 512),
    "reduce your prompt by at least 1117 tokens": says(excess=1117),
    "the session's context has reached 4096 tokens and is full": says(4096),
    "This conversation no longer fits in the model's context window": says(),
    "the input plus the requested completion do not fit into 4k tokens": says(4000),
    "status code INPUT_LENGTH_ERROR": says(),
}

LOOK_ALIKES = (
    "TPM limit of 30000 surpassed by this request of 31000 tokens",
    "Image too large: 9000x9000 exceeds the maximum of 8000 pixels",
    "API token exceeds allowed usage",
    "context deadline exceeded",
    "maximum number of messages exceeded: 1000",
    "messages: at most 100,000 items allowed",
    "temperature must be less than the maximum of 2",
    "The video has too many frames for this model",
    "budget_tokens (5000) must be smaller than max_tokens (4096)",
    "Batch too large: 3000 inputs, limit 2048",
    "field `context` is not allowed",
    "You've hit your usage limit for this model",
    "The 1M context window is not available on your tier",
    "num_ctx is too large for the available memory",
    "logit_bias has too many tokens: maximum 300",
    "prompt_cache_key too long (max 64)",
    "messages must alternate between user and assistant",
    "The maximum number of output tokens for this model is 8192, you asked for 9000",
    "The service tier does not allow a context window of 1M tokens",
    "max retries exceeded with url /v1/chat/completions",
    "The model failed to load: context size 32768 needs more memory than available",
    "Rate limit: input tokens exceed the limit of 30,000 per minute; reduce the length of the messages",
    "You exceeded your quota of prompt tokens: 9000 > 8000",
    "Too many requests: your prompt exceeds the context budget, slow down",
    "Request was throttled. Too many tokens in your prompts today.",
    "completion tokens (9000) exceed the model's completion limit (8192)",
    "prompt must be shorter than 4000 characters",
    "conversation limit reached: 50 conversations",
    "context_window must be between 512 and 8192",
    "num_ctx: value 600000 is greater than the maximum of 131072 for this model",
    "Trial accounts: prompt limit exceeded, upgrade to continue",
    "token budget for tools (600) must not exceed max_tokens (500)",
    "Input blocked: safety threshold exceeded",
    "Request was larger than the proxy's buffer",
    "the api token is longer than the allowed length of 128",
    "context menu overflow",
    "max_tokens=20000 too large for this model, which writes up to 16384 tokens",
    "Prompt tokens this month: 9000, allowed: 8000",
    "Daily prompt tokens limit exceeded: 9000 > 8000",
    "Overloaded: prompt of 9000 tokens is larger than the 8000 we can take now",
    "max_completion_tokens: you requested 20000, the limit is 16384 tokens",
    "the completion you asked for would have 9000 tokens but the limit is 8192",
    "RPM limit for prompts exceeded",
    "Team 'lab' has reached its token limit of 90000",
    "The maximum tokens you requested exceeds the limit of 4096; choose a value that is lower than 4096.",
)


def corpus(path: Path = CORPUS) -> list[dict[str, Any]]:
    """Refusals that were collected; where a body was not, its message stands for it."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [{**row, "body": row["message"] if row["body"] is None else row["body"]} for row in rows]
