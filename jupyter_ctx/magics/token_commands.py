"""``%%chat tokens`` and ``%%chat next``: what a model reads in place of a text, and what it finds likely next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from IPython.display import display

from ..context.families import vocabulary_of
from ..context.logprobs import Token, text_of
from ..conversation.messages import Message
from ..conversation.text_safety import checked
from ..display.token_page import CutText, tokens_bundle
from ..display.widgets.next_tokens import Likely, NextTokens
from ..errors import ProviderError
from ..models.target import Target
from ..models.tokenizer import vocabulary_tokens
from ..providers.base import Reply
from ..providers.server_facts import next_tokens, text_tokens
from ..runtime.frontend import where
from ..session.complete import paid_stream
from .command_table import ABOUT_ANSWERS, ABOUT_WINDOW, Call, command
from .line_options import each_of, settings_of

SHORTEST_ANSWER, MOST_LIKELIEST = 16, 20  # tokens: the shortest answer that OpenAI takes; the most that it tells of one
BETWEEN_TEXTS = re.compile(r"^---[ \t]*(?:\n|\Z)", re.M)


@command(
    ABOUT_WINDOW, "%%chat tokens\nStraße", "%%chat tokens -m local/smollm2 -m openai/gpt-6.2-sol\nstreet\n---\nStraße",
    heads_cell=True, needs_text=True,
)  # fmt: skip
def _tokens(call: Call) -> None:
    """Show the tokens of the text in the cell; several -m, or texts between lines of ---, side by side."""
    texts = [text.rstrip("\n") for text in BETWEEN_TEXTS.split(checked(call.text or ""))]
    targets = [_target(call, model) for model in each_of(call.options.model)]
    display(tokens_bundle([_cut(target, text) for text in texts if text for target in targets]), raw=True)


def _target(call: Call, model: str | None) -> Target:
    return call.chat.session.target({**settings_of(call.options), "model": model}, ask=False)


def _cut(target: Target, text: str) -> CutText:
    """Return a text with the tokens that the model's server cuts it into, or a vocabulary that is public."""
    tokens: Sequence[Token] | None = text_tokens(target.provider, text)
    vocabulary = vocabulary_of(target.settings.model)
    if tokens is None and vocabulary is not None:
        tokens = vocabulary_tokens(vocabulary, text)
    return CutText(text, target.model, tokens, round(target.meter.tokens(text)))


@command(ABOUT_ANSWERS, "%%chat next\nThe capital of France is", heads_cell=True, needs_text=True)
def _next(call: Call) -> None:
    """Show the likeliest next tokens of the text in the cell, at any temperature; a click appends one."""
    text = checked(call.text or "").rstrip("\n")  # a terminal sends the line that ended it, too
    target = _target(call, call.options.model)
    temperature = target.settings.temperature
    shown = NextTokens(text, partial(_likely, call, target, text), 1.0 if temperature is None else temperature)
    place = where(call.host.shell)
    if place.kind == "notebook":
        shown.show()
        call.host.keep_live(place, shown)
    else:
        display(shown.forms(), raw=True)


def _likely(call: Call, target: Target, text: str, more: Sequence[Token]) -> Likely:
    """Return what may follow a text and ``more`` tokens, or how an answer to them may begin. Raises a ChatError."""
    following = None if target.is_capped else next_tokens(target.provider, text, more)  # what that costs is not told
    if following is not None:
        return following, f"{target.model} continues the text"
    target.check_logprobs()
    messages = (Message("user", text + text_of(more)),)
    request = target.request(messages, max_tokens=SHORTEST_ANSWER, top_logprobs=MOST_LIKELIEST, cache_key=None)
    with closing(paid_stream(call.chat.models, target, request, target.meter.tokens(text))) as stream:
        reply = next(item for item in stream if isinstance(item, Reply))
    cost = call.chat.models.cost(target, reply.usage, reply.model)
    call.chat.session.spend(target, replace(reply, cost=cost))
    first = reply.tokens[0].top_logprobs if reply.tokens else ()
    if not first:
        raise ProviderError(f"{target.model} answered, and told no probabilities.")
    return first, f"{target.model} begins its answer to the text"
