"""Has the server read all that was sent? Some leave out what is too much without a word.

Ollama does by default, on its OpenAI endpoint too; LM Studio and others have a setting for
it. Their reports give it away: what was read is far less than what was sent, or has hardly
grown by what was added.
"""

from __future__ import annotations

from ..context.tokens import estimate_tokens
from ..context.usage import Usage
from ..conversation.messages import Turn
from .planner import Attempt

LONG_PROMPT, READ_SHARE = (
    1_000,
    0.35,
)  # tokens by our raw estimate, and a share of them that no tokenizer is content with
LIKELY = 0.8  # of the tokens that we expected: what read as much as that has read all
TRUNCATED_GROWTH = 1.25  # of what was read of a truncated request: whole messages are left out, so it varies
ADDED, HARDLY = 60, 0.25  # tokens worth comparing, and the share of them that must have been read
THOUGHT = "</think>"  # templates drop what a model thought from older turns: then less is read, and rightly


def is_truncated(attempt: Attempt, usage: Usage, follows: Turn | None, read: int = 0) -> bool:
    """Whether much less was read than was sent.

    ``follows`` is the last turn where the request is the one before it, with its reply and a
    new prompt added: then the report can be compared with that turn's. ``read`` is what this
    server read of a request that it truncated, 0 where it has truncated none.
    """
    if usage.input_tokens < LIKELY * attempt.tokens:  # else all of it need not be estimated anew
        if usage.input_tokens <= TRUNCATED_GROWTH * read:
            return True
        raw = sum(estimate_tokens(message.content) for message in attempt.request.messages)
        if raw >= LONG_PROMPT and usage.input_tokens < READ_SHARE * raw:
            return True
    if follows is None or follows.usage is None:
        return False
    meter = attempt.target.meter
    added = meter.tokens(follows.reply) + meter.message(attempt.prompt)
    thinks = any(THOUGHT in place.turn.reply for place in attempt.places)
    return added >= ADDED and usage.input_tokens - follows.usage.input_tokens < HARDLY * added and not thinks
