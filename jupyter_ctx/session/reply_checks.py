"""What a reply really shows: why it ended, and whether the server has read the whole prompt.

Some servers leave out what is too much without a word: Ollama does so by default, on its OpenAI endpoint too;
LM Studio and others have a setting for it. Their reports give it away: the tokens that were read are far fewer
than those that were sent, or have hardly grown by what was added.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ..context.overflow import Overflow
from ..context.tokens import READ_WHOLE, estimate_tokens
from ..context.usage import Usage
from ..conversation.messages import Turn
from ..errors import ContextOverflowError, ProviderError
from ..providers.base import Reply
from .request_plan import RequestPlan

INCOMPLETE = ("interrupted", "cut")
NEAR_THE_EDGE = 0.5  # of the window: a shorter prompt without a token of reply was not ended by the window
NO_ROOM_LEFT = ("max_tokens", "context_window")
UNSAID = 3  # tokens that a reply without text may be reported with
LONG_PROMPT = 1_000  # tokens by the uncalibrated estimate
READ_SHARE = 0.35  # of that estimate: no tokenizer needs fewer tokens
TRUNCATED_GROWTH = 1.25  # of what was read of a truncated request: whole messages are left out, so it varies
ADDED, HARDLY = 60, 0.25  # tokens worth comparing, and the share of them that must have been read
LEAST_EFFORTS = ("none", "minimal", "low")
AS_THINKING = "The server sent its whole answer as thinking; it is shown as the answer."
THOUGHT = "</think>"  # templates drop a model's thoughts from older turns, so that fewer tokens are read


class Verdict(NamedTuple):
    """A reply with the reason why it really ended.

    ``truncated``: the server has read only a part of the prompt; ``counted`` is the report where it counts the
    whole request and the whole reply, else ``None``.
    """

    reply: Reply
    truncated: bool = False
    counted: Usage | None = None


def verdict_on(plan: RequestPlan, reply: Reply, previous: Turn | None) -> Verdict:
    """Return the verdict on the reply to a request.

    ``previous`` is the last turn where the request is that turn's with its reply and a new prompt added: then the two
    reports can be compared. Raises ContextOverflowError where the window ended the reply before its first token:
    that is a refusal which came as a success.
    """
    usage = reply.usage
    if reply.stop_reason == "max_tokens" and usage is not None and _window_ended(plan, reply, usage):
        reply = replace(reply, stop_reason="context_window")
    has_content = reply.text or reply.thinking or (usage is not None and usage.output_tokens > UNSAID)
    if reply.stop_reason == "context_window" and not has_content:
        overflow = Overflow(input_tokens=usage.input_tokens if usage else None)
        raise ContextOverflowError("The window had no room for a reply.", overflow=overflow)
    if reply.stop_reason == "stop" and not reply.detail and reply.thinking.strip() and not reply.text.strip():
        usage = usage and replace(usage, reasoning_tokens=0, guessed=False)
        reply = replace(reply, text=reply.thinking, thinking="", usage=usage, notices=(*reply.notices, AS_THINKING))
    if usage is None:
        return Verdict(reply)
    truncated = _is_truncated(plan, usage, previous)
    whole = reply.stop_reason not in INCOMPLETE and (usage.output_tokens > 0 or not reply.text)
    beside = plan.request.schema is not None or plan.request.tools  # which each provider counts its way
    more = plan.dropped or beside or plan.again or usage.includes_tools
    return Verdict(reply, truncated, usage if whole and not truncated and not more else None)


def all_thinking(plan: RequestPlan, reply: Reply) -> ProviderError | None:
    """Return the error for a reply whose whole length went into thinking; ``None``: it has text, or room was left."""
    usage, most = reply.usage, plan.request.max_tokens
    tokens = usage.reasoning_tokens or usage.output_tokens if usage is not None else 0
    if reply.text.strip() or reply.stop_reason not in NO_ROOM_LEFT or not (reply.thinking or tokens > UNSAID):
        return None
    full, room = f"max_tokens {f'{most:,}' if most else 'not set'}", "a larger --max-tokens (max_tokens=N)"
    if reply.stop_reason == "context_window":
        full, room = "the window is full", "a shorter conversation (%chat trim N)"
    lower = "" if plan.request.effort in LEAST_EFFORTS else 'with --effort low (effort="low") it thinks less, '
    text = f"The answer was all thinking ({tokens:,} tokens, {full}): {lower}with {room} it has more room."
    return ProviderError(text, reply=reply)


def _window_ended(plan: RequestPlan, reply: Reply, usage: Usage) -> bool:
    """Return whether the window ended a reply: servers say "length" then, too."""
    window, asked = plan.target.window.tokens, plan.request.max_tokens
    if abs(usage.input_tokens + usage.output_tokens - window) <= 1:
        return True
    if not usage.output_tokens and not reply.text:
        return usage.input_tokens >= NEAR_THE_EDGE * window
    # a server of one's own that wrote less than was asked for; others may think without counting it
    thought = reply.thinking or usage.reasoning_tokens or plan.target.provider.catalogue
    return bool(reply.text) and asked is not None and usage.output_tokens < asked and not thought


def _is_truncated(plan: RequestPlan, usage: Usage, previous: Turn | None) -> bool:
    """Return whether much less was read than was sent."""
    if usage.input_tokens < READ_WHOLE * plan.tokens:  # else all of it need not be estimated anew
        if usage.input_tokens <= TRUNCATED_GROWTH * plan.target.read:
            return True
        raw = sum(estimate_tokens(message.text) for message in plan.request.messages)
        if raw >= LONG_PROMPT and usage.input_tokens < READ_SHARE * raw:
            return True
    if previous is None or previous.usage is None:
        return False
    meter = plan.target.meter
    added = meter.tokens(previous.reply) + meter.message(plan.message.content)
    if added < ADDED or usage.input_tokens - previous.usage.input_tokens >= HARDLY * added:
        return False
    return not any(THOUGHT in place.turn.reply for place in plan.places)
