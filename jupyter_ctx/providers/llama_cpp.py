"""What llama.cpp's server tells beside OpenAI's API: the tokens of a text, and those that may come next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..context.logprobs import Token
from .base import Provider
from .stream_events import dicts_at, tokens_told

LIKELIEST_NEXT = 20_000  # tokens: more than 99.9 % of what may follow, as a rule, read in a quarter of a second


def text_tokens(provider: Provider, text: str) -> Sequence[Token] | None:
    """Return the tokens that a model cuts a text into; ``None``: nobody there tells them. Raises a ChatError."""
    said = provider.beside("/tokenize", {"content": text, "with_pieces": True})
    return [Token(_bytes(each.get("piece")), each.get("id")) for each in dicts_at(said, "tokens")] or None


def _bytes(piece: Any) -> bytes:
    """Return the bytes of a token, which are listed where they are a part of a character."""
    return piece.encode() if isinstance(piece, str) else bytes(piece)


def next_tokens(provider: Provider, text: str, more: Sequence[Token]) -> Sequence[Token] | None:
    """Return the likeliest tokens after a text and ``more`` tokens, the likeliest first; ``None``: as above.

    One letter is written: llama.cpp tells no probabilities beside a part of a character.
    """
    prompt = [text, *(token.id for token in more)]
    asked = {"prompt": prompt, "n_predict": 1, "n_probs": LIKELIEST_NEXT, "grammar": 'root ::= "a"'}
    places = dicts_at(provider.beside("/completion", asked), "completion_probabilities")
    return list(tokens_told(dicts_at(places[0], "top_logprobs"))) if places else None
