"""Count tokens by OpenAI's vocabularies, which come with the package: nothing is downloaded."""

from __future__ import annotations

import base64
import lzma
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

from ..context.families import Vocabulary
from ..errors import MissingDependencyError

FOLDER = Path(__file__).resolve().parent / "vocabularies"
REMEMBERED = 2_048  # texts whose counts are cached: the gauge asks for the same ones again and again
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
    """Return a function that counts the tokens of a text. The first call reads the vocabulary (0.4 s, 70 MB)."""
    try:
        import tiktoken
    except ImportError:
        raise MissingDependencyError("Counting with tiktoken needs a package: pip install tiktoken") from None
    lines = lzma.decompress((FOLDER / f"{vocabulary}.tiktoken.xz").read_bytes()).splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, _, rank in (line.partition(b" ") for line in lines)}
    encoding = tiktoken.Encoding(vocabulary, pat_str=SPLITS[vocabulary], mergeable_ranks=ranks, special_tokens={})

    @lru_cache(REMEMBERED)
    def count(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    return count
