"""Tokens as a model's vocabulary has them, and how likely a model finds each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

UNTOLD = 16  # bytes of an answer between two reported tokens: llama.cpp reports the last one alone of a character
TEXTLESS = "‹no text›"  # of a token that marks the end of an answer
VISIBLE_SPACES = str.maketrans({" ": "␣", "\t": "⇥", "\n": "↵", "\r": "␍"})


class Token(NamedTuple):
    """One token of a text.

    ``data``: its bytes, which may be a part of a character.
    ``id``: its number in the vocabulary; ``None``: it was not told.
    ``logprob``: the natural logarithm of the probability that the model gave it; ``None``: it was not told.
    """

    data: bytes
    id: int | None = None
    logprob: float | None = None

    @property
    def probability(self) -> float:
        """The probability that the model gave it, from 0 to 1; it must have been told."""
        assert self.logprob is not None
        return math.exp(min(self.logprob, 0.0))

    @property
    def hex(self) -> str:
        """Its bytes as they are written, such as ``F0 9F``."""
        return self.data.hex(" ").upper()

    @property
    def label(self) -> str:
        """Its text with spaces and line ends visible; its bytes, such as ``‹F0 9F›``, where they are no text."""
        try:
            return self.data.decode().translate(VISIBLE_SPACES) or TEXTLESS
        except UnicodeDecodeError:
            return f"‹{self.hex}›"


def text_of(tokens: Sequence[Token]) -> str:
    """Return the text that tokens make one behind the other."""
    return b"".join(token.data for token in tokens).decode("utf-8", "replace")


class TokenLogprob(NamedTuple):
    """A token of an answer, and the likeliest tokens in its place, the likeliest first."""

    token: Token
    top_logprobs: tuple[Token, ...] = ()

    @property
    def is_last_of_several(self) -> bool:
        """Whether the probability is that of a character's last token alone, whose others llama.cpp does not report.

        Then the likeliest tokens begin within a character, and the text begins with a whole one.
        """
        return _is_within(b"".join(each.data for each in self.top_logprobs[:1])) and not _is_within(self.token.data)


def _is_within(data: bytes) -> bool:
    return b"\x80" <= data[:1] < b"\xc0"


AnswerPiece = tuple[str, tuple[TokenLogprob, ...]]


def as_one(tokens: Sequence[TokenLogprob]) -> TokenLogprob:
    """Return the tokens of a piece as one; what was likely in the place of each is nothing in the place of them all."""
    if len(tokens) == 1:
        return tokens[0]
    data = b"".join(each.token.data for each in tokens)
    return TokenLogprob(Token(data, logprob=sum(each.token.logprob or 0.0 for each in tokens)))


def in_pieces(text: str, tokens: Sequence[TokenLogprob]) -> list[AnswerPiece]:
    """Return an answer's text in pieces of whole characters, each with its tokens; none where some were not reported.

    The tokens are found from the end: those of thoughts come first, and are in no piece.
    """
    data = text.encode("utf-8", "replace")
    spans: list[tuple[bytes, TokenLogprob | None]] = []
    end = len(data)
    for written in reversed(tokens):
        token = written.token.data
        start = data.rfind(token, max(0, end - len(token) - UNTOLD), end) if token else -1
        if start >= 0:
            spans += [(data[start + len(token) : end], None), (token, None if written.is_last_of_several else written)]
            end = start
    spans.append((data[:end], None))
    pieces: list[AnswerPiece] = []
    held, told = b"", list[TokenLogprob | None]()
    for span, whose in reversed(spans):
        held += span
        told += [whose] if span else []
        with suppress(UnicodeDecodeError):
            pieces += [(held.decode(), () if None in told else tuple(filter(None, told)))] if held else []
            held, told = b"", []
    return pieces


def shares_at(tokens: Sequence[Token], temperature: float) -> list[float]:
    """Return the shares of tokens, the likeliest first, at a temperature.

    At 1 they are the probabilities that the model told; else the tokens share all of it among themselves, and at 0 the
    likeliest one has it.
    """
    logprobs = [token.logprob or 0.0 for token in tokens]
    if temperature == 1:
        return [math.exp(each) for each in logprobs]
    if temperature <= 0:
        return [1.0, *[0.0] * (len(tokens) - 1)]
    weights = [math.exp((each - logprobs[0]) / temperature) for each in logprobs]
    total = sum(weights)
    return [weight / total for weight in weights]
