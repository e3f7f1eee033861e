"""How likely a model finds tokens: as answers report it, and as llama.cpp's server tells it beside OpenAI's API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from math import isfinite
from typing import Any

from ..context.logprobs import Token, TokenLogprob
from .base import Provider
from .wire import dicts_in, text_at

LIKELIEST_NEXT = 20_000  # tokens: more than 99.9 % of what may follow, as a rule, read in a quarter of a second


def reported_tokens(reported: Any) -> list[TokenLogprob]:
    """Return the tokens of an answer that are reported with their probabilities, as OpenAI or Gemini does."""
    return [
        TokenLogprob(
            token, tuple(sorted(_tokens(dicts_in(each.get("top_logprobs"))), key=lambda top: -top.probability))
        )
        for each in dicts_in(reported)
        for token in _tokens([each])
    ]


def text_tokens(provider: Provider, text: str) -> Sequence[Token] | None:
    """Return the tokens that a model cuts a text into; ``None``: nobody there tells them. Raises a ChatError."""
    answer = provider.beside("/tokenize", {"content": text, "with_pieces": True})
    pieces = [(each["piece"], each.get("id")) for each in dicts_in(answer.get("tokens"))]
    # the bytes are listed where they are a part of a character
    return [Token(each.encode() if isinstance(each, str) else bytes(each), name) for each, name in pieces] or None


def next_tokens(provider: Provider, text: str, more: Sequence[Token]) -> Sequence[Token] | None:
    """Return the likeliest tokens after a text and ``more`` tokens, the likeliest first; ``None``: as above.

    One letter is written: llama.cpp tells no probabilities beside a part of a character.
    """
    prompt = [text, *(token.id for token in more)]
    asked = {"prompt": prompt, "n_predict": 1, "n_probs": LIKELIEST_NEXT, "grammar": 'root ::= "a"'}
    places = dicts_in(provider.beside("/completion", asked).get("completion_probabilities"))
    return _tokens(dicts_in(places[0].get("top_logprobs"))) if places else None


def _tokens(reported: Iterable[Mapping[str, Any]]) -> list[Token]:
    """Return the tokens whose probabilities are told; some servers leave out the bytes, or send what are none."""
    tokens = []
    for each in reported:
        logprob, data = (
            each.get("logprob", each.get("logProbability")),
            text_at(each, "token").encode("utf-8", "replace"),
        )
        if isinstance(each.get("bytes"), list):
            with suppress(TypeError, ValueError):
                data = bytes(each["bytes"])
        if isinstance(logprob, int | float) and isfinite(logprob):
            tokens.append(Token(data, each.get("id", each.get("tokenId")), float(logprob)))
    return tokens
