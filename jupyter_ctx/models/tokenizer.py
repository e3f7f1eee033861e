"""Count and cut by OpenAI's vocabularies, which come with the package: nothing is downloaded."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from ..context.families import Vocabulary
from ..context.logprobs import Token

if TYPE_CHECKING:
    from tiktoken import Encoding

FOLDER = Path(__file__).resolve().parent / "vocabularies"
LOAD_AFTER = 0.5  # seconds
REMEMBERED = 2_048  # texts whose counts are cached: the gauge asks for the same ones again and again
# Patterns that split text before it is encoded, as in tiktoken_ext.openai_public, which would download the vocabulary
WORD_END = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
SPLITS: dict[Vocabulary, str] = {
    "o200k_base": (
        rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{WORD_END}|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{WORD_END}"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
}
_loading = threading.Lock()


@cache
def counter(vocabulary: Vocabulary) -> Callable[[str], int]:
    """Return a function that counts the tokens of a text; the first count loads the vocabulary (0.2 s, 70 MB)."""

    @lru_cache(REMEMBERED)
    def count(text: str) -> int:
        return len(encoding_of(vocabulary).encode_ordinary(text))

    return count


@cache
def load_soon(vocabulary: Vocabulary) -> None:
    """Load a vocabulary in a thread, once, when the answer that has just come is on the screen."""
    timer = threading.Timer(LOAD_AFTER, encoding_of, (vocabulary,))
    timer.name, timer.daemon = "jupyter_ctx vocabulary", True
    timer.start()


def vocabulary_tokens(vocabulary: Vocabulary, text: str) -> tuple[Token, ...]:
    """Return the tokens that a text is cut into."""
    encoding = encoding_of(vocabulary)
    ids = encoding.encode_ordinary(text)
    return tuple(map(Token, encoding.decode_tokens_bytes(ids), ids))


def encoding_of(vocabulary: Vocabulary) -> Encoding:
    """Return tiktoken's encoder for a vocabulary, which is loaded once."""
    with _loading:
        return _encoding(vocabulary)


@cache
def _encoding(vocabulary: Vocabulary) -> Encoding:
    import tiktoken

    ranks = ranks_of(vocabulary)
    return tiktoken.Encoding(vocabulary, pat_str=SPLITS[vocabulary], mergeable_ranks=ranks, special_tokens={})


def ranks_of(vocabulary: Vocabulary) -> dict[bytes, int]:
    """Return the tokens of a vocabulary with their ranks: merging bytes into tokens begins with the lowest rank."""
    data = (FOLDER / f"{vocabulary}.ranks").read_bytes()
    size = int.from_bytes(data[:4], "little")
    begin = 4 * (2 * size + 2)  # of the tokens
    numbers = array("I", data[4:begin])
    tokens, starts, ranks = data[begin:], numbers[: size + 1], numbers[size + 1 :]
    return {tokens[start:end]: rank for (start, end), rank in zip(pairwise(starts), ranks, strict=True)}
