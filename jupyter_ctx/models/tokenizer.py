"""Count and cut by OpenAI's vocabularies, which come with the package: nothing is downloaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from ..context.families import Vocabulary
from ..context.odds import Token
from ..errors import MissingDependencyError
from .byte_pairs import ranks_of, word_counter

if TYPE_CHECKING:
    from tiktoken import Encoding

REMEMBERED = 2_048  # texts whose counts are cached: the gauge asks for the same ones again and again
BY_WORDS = 100_000  # characters that are counted word by word, which takes less time than tiktoken takes to load
# Patterns that split text before it is encoded, as in tiktoken_ext.openai_public, which would download the vocabulary
WORD_END = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
SPLITS: dict[Vocabulary, str] = {
    "o200k_base": "|".join(
        (
            rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{WORD_END}",
            rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{WORD_END}",
            r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        )
    ),
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
}


@cache
def counter(vocabulary: Vocabulary) -> Callable[[str], int]:
    """Return a function that counts the tokens of a text.

    The first texts are counted word by word; after them the vocabulary is loaded (0.2 s, 70 MB). Both give the
    same numbers.
    """
    by_words, left = word_counter(vocabulary), BY_WORDS

    @lru_cache(REMEMBERED)
    def count(text: str) -> int:
        nonlocal left
        left -= len(text)
        found = by_words(text) if left >= 0 else None
        return len(encoding_of(vocabulary).encode_ordinary(text)) if found is None else found

    return count


def vocabulary_tokens(vocabulary: Vocabulary, text: str) -> tuple[Token, ...]:
    """Return the tokens that a text is cut into."""
    encoding = encoding_of(vocabulary)
    ids = encoding.encode_ordinary(text)
    return tuple(map(Token, encoding.decode_tokens_bytes(ids), ids))


@cache
def encoding_of(vocabulary: Vocabulary) -> Encoding:
    """Return tiktoken's encoder for a vocabulary."""
    try:
        import tiktoken
    except ImportError:
        raise MissingDependencyError("Counting with tiktoken needs a package: pip install tiktoken") from None
    ranks = ranks_of(vocabulary).by_token()
    return tiktoken.Encoding(vocabulary, pat_str=SPLITS[vocabulary], mergeable_ranks=ranks, special_tokens={})
