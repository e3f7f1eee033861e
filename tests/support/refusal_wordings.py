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


# what other servers may say, in the words and the orders that decide it: none of these is known to be said
WORDINGS = {
    "Conversation exceeds maximum length. Please delete some messages.": says(),
    "The sequence of token ids is longer than the maximum sequence length of this model (1300 > 1024).": says(
        1024, 1300
    ),
    "Message history is over the model's token limit (limit=16000, got=17250).": says(16000, 17250),
    "the model only has room for 4096 tokens and 5000 were provided": says(4096, 5000),
    "Please shorten your prompt: the model's context limit is 8192 tokens and it contains 9000.": says(8192, 9000),
    "context length limit reached (8192)": says(8192),
    "Context window exhausted; cannot generate further.": says(),
    "Input is 1,200 tokens too long for the model.": says(excess=1200),
    "cannot fit prompt: 4200 tokens into 4096 context": says(4096, 4200),
    "Input tokens (9000) and requested output tokens (1000) are above the model's limit of 8192": says(
        8192, 9000, 1000
    ),
    "max input tokens: 8192; actual: 8300": says(cap=8192, sent=8300),
    "the prompt leaves no room for completion: 8192 of 8192 tokens are used": says(8192, 8192),
    "Prompt plus completion would be 17004 tokens, but the window is 16384 tokens": says(16384),
    "This model can take in 16384 tokens; yours were 17004": says(16384, 17004),
    "Number of tokens (5213) exceeded maximum context length (4096).": says(4096, 5213),
    "reduce your prompt by at least 1117 tokens": says(excess=1117),
    "the session's context has reached 4096 tokens and is full": says(4096),
    "the input plus the requested completion do not fit into 4k tokens": says(4000),
    "status code INPUT_LENGTH_ERROR": says(),
    "A request may have at most 8192 tokens": says(8192),
    "输入长度应小于 8192 tokens": says(cap=8192),
    "输入 tokens 超过最大限制，当前 9000，最大 8192": says(cap=8192, sent=9000),
    "the message you submitted was too long, please reload the conversation and submit something shorter": says(),
    "prompt must be shorter than 8192 tokens": says(8192),
    "This chat has become too long": says(),
    "The prompt does not fit.": says(),
    "Not enough context space for this prompt": says(),
    "超过模型最大token限制。": says(),
    "请求token数超过模型最大限制：9000 > 8192": says(8192, 9000),
    "会话上下文过长，请新建会话": says(),
    "Refused (tokens: 9000, limit: 8192).": says(8192, 9000),
    "token_limit_exceeded": says(),
    "the context of this model (8192 tokens) is smaller than your prompt (9000 tokens)": says(8192, 9000),
    "input length should be at most 8192 tokens": says(cap=8192),
    "You requested 500 new tokens for a prompt of 9000 tokens, exceeding the window of 8192": says(8192, 9000, 500),
    "Too large prompt": says(),
    "This model cannot process that many tokens.": says(),
    "Received 9000 tokens but model supports 8192": says(8192, 9000),
    "BadRequestError: Error code: 400 - {'message': 'Input text exceeds the maximum length'}": says(),
    "Prompt + max_tokens goes past the context window": says(),
    "Current token usage (9000) would exceed the 8192 token maximum.": says(8192, 9000),
}

LOOK_ALIKES = (
    "TPM limit of 30000 surpassed by this request of 31000 tokens",
    "maximum number of messages exceeded: 1000",
    "Batch too large: 3000 inputs, limit 2048",
    "logit_bias has too many tokens: maximum 300",
    "The model failed to load: context size 32768 needs more memory than available",
    "You exceeded your quota of prompt tokens: 9000 > 8000",
    "completion tokens (9000) exceed the model's completion limit (8192)",
    "conversation limit reached: 50 conversations",
    "num_ctx: value 600000 is greater than the maximum of 131072 for this model",
    "Trial accounts: prompt limit exceeded, upgrade to continue",
    "Request was larger than the proxy's buffer",
    "Overloaded: prompt of 9000 tokens is larger than the 8000 we can take now",
    "Team 'lab' has reached its token limit of 90000",
    "The maximum tokens you requested exceeds the limit of 4096; choose a value that is lower than 4096.",
    "unsupported parameter: max_context",
    "refresh token limit reached",
    "Video in the prompt exceeds 1 hour",
    "The URL in the message is too long",
    "超出速率限制，请稍后再试",
    "并发请求数超过限制",
    "最大输出长度超过限制",
    "Invalid schema for response_format 'x': In context=(), the number of properties (5001) exceeds the limit of 5000.",
)


# more context than a plan or tier includes: a shorter prompt passes, whatever the status
LONG_CONTEXTS = (
    "Usage credits are required for long context requests.",
    "The long context beta is not yet available for this subscription.",
    "Requests with a context above 200k need a higher usage tier.",
    "Your plan does not include the 1M context window: upgrade to use more than 200,000 tokens.",
    "Long-context requests (over 200K tokens) are only available on tier 4. Purchase credits to unlock them.",
    "Paid credits must be enabled for prompts longer than 200k tokens",
)
# limits on bytes, characters and memory: what they say teaches no window
SIZES = (
    (400, "total message size 10176584 exceeds limit 2097152"),
    (400, "Payload size of 8388700 is above the max of 8388608"),
    (400, "body size limit is 1048576"),
    (400, "Input exceeds the allowed character limit of 4000"),
    (400, "The maximum number of characters in a prompt is 32000; yours has 41022."),
    (422, "messages: the combined text may have at most 16,384 chars"),
    (400, "Character limit exceeded: the query has 5200 of 5000"),
    (500, "Prefill context too large for available memory (pre-chunk guard at 57344 tokens, 12 of 11 GB)"),
    (503, "Not enough GPU memory for a prompt of 60000 tokens"),
    (500, "KV cache exceeds the memory that is left (served 20480 tokens so far)"),
)
NO_SIZES = (
    (400, "Tool description exceeds the maximum of 1024 characters"),
    (400, "The user name is longer than 64 characters in the request"),
    (400, "Input size (9000 tokens) exceeds the limit of 8192 tokens"),
    (400, "Request size exceeds model context window"),
    (400, "Invalid character in the request at position 40"),
    (400, "batch size 64 exceeds limit 32"),
    (500, "model requires more system memory (5.6 GiB) than is available (3.9 GiB)"),
)
# no money is left, of a key or a plan; the first are Anthropic's, OpenAI's, Google's, xAI's and Fireworks'
UNPAID = (
    (400, "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."),
    (400, "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."),
    (400, "Billing hard limit has been reached"),
    (429, "Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing."),
    (429, "Your project has exceeded its monthly spending cap. Please go to AI Studio to manage it."),
    (403, "Your team has either used all available credits or reached its monthly spending limit."),
    (412, "Account x is suspended, possibly due to reaching the monthly spending limit."),
    (400, "The workspace 'class-7' has hit its spend cap for November; requests resume on 1 December 2026."),
    (400, "Your prepaid balance is exhausted. Top up to go on."),
    (400, "No funds remain on this account. Please recharge."),
    (403, "Your organization has used up its API allowance for this billing period."),
    (400, "Usage cap reached. Raise your spending limit in the billing settings to continue."),
    (403, "Payment required: the last invoice of this account is overdue."),
    (422, "You do not have enough credit left for this request."),
    (400, "The credits of your account have expired. Please purchase a new package."),
    (429, "API usage limit reached for this month. You can add funds to regain access immediately."),
    (403, "Access is paused until 2026-12-01 because your usage limit was reached."),
    (400, "Quota of your plan used up; upgrade your plan or wait until January 1, 2027."),
    (400, "Your quota has been consumed; it is restored on 1 December 2026."),
    (500, "upstream error: Your credit balance is too low to access the API"),
    (200, "Your wallet balance is negative, please deposit funds."),
    (400, "您的账户余额不足，请充值后重试"),
)
PAID = (  # and these sound so
    (429, "Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000. Please try again "
          "in 8s. You can increase your rate limit by adding a payment method at https://x/account/billing."),
    (429, "Rate limit reached on tokens per day (TPD). Try again in 1h2m3s. Upgrade to Dev Tier at https://x/billing"),
    (429, "You exceeded your current quota, please check your plan and billing details. Please retry in 34.07s."),
    (429, "Token quota per minute reached. Upgrade your plan for a higher quota."),
    (429, "Usage limit reached: 60 requests a minute on your plan. Retry after 12 seconds."),
    (429, "Too many requests: 120 of 60 RPM on the free tier. Upgrade to a paid plan."),
    (429, "Usage credits are required for long context requests."),
    (400, "thinking.budget_tokens: exceeded budget of 32000"),
    (400, "The reasoning budget of 1024 tokens was used up."),
    (400, "Context budget exceeded: 9,000 of 8,192 tokens"),
    (400, "Invalid schema for 'Invoice': it is over the limit of fields: 'balance', 'payments'."),
    (422, "body.response_format.budget: Field required"),
    (401, "Your API key has expired"),
    (403, "Your key has no access to this model; upgrade your tier"),
    (404, "The model is not included in your plan: you are out of credits"),
    (503, "The load balancer has no healthy upstream"),
)  # fmt: skip


def corpus(path: Path = CORPUS) -> list[dict[str, Any]]:
    """Refusals that were collected; where a body was not, its message stands for it."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [{**row, "body": row["message"] if row["body"] is None else row["body"]} for row in rows]
