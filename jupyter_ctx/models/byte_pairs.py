"""Count tokens by looking up the words of a text, as tiktoken counts them, without loading a vocabulary.

A text is split by the patterns of tiktoken_ext.openai_public, written for the standard library's ``re``: every
character is replaced by one of its kind first. The pairs of bytes of a word that is no token are merged, the lowest
rank first.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from math import inf
from pathlib import Path

from ..context.families import Vocabulary

FOLDER = Path(__file__).resolve().parent / "vocabularies"


class Ranks:
    """The tokens of a vocabulary with their ranks: merging bytes into tokens begins with the lowest rank."""

    def __init__(self, data: bytes) -> None:
        self._size, self._data = int.from_bytes(data[:4], "little"), data
        self._begin = 4 * (2 * self._size + 2)  # of the tokens
        numbers: Sequence[int] = memoryview(data)[4 : self._begin].cast("I")  # which copies nothing
        if sys.byteorder == "big":
            numbers = array("I", data[4 : self._begin])
            numbers.byteswap()
        self._starts, self._ranks = numbers[: self._size + 1], numbers[self._size + 1 :]

    def rank(self, token: bytes) -> int | None:
        """Return the rank of a token, or ``None`` where these bytes are none."""
        place = bisect_left(range(self._size), token, key=self._token)
        return self._ranks[place] if place < self._size and self._token(place) == token else None

    def by_token(self) -> dict[bytes, int]:
        """Return all ranks (50 ms)."""
        tokens, spans = self._data[self._begin :], zip(pairwise(self._starts), self._ranks, strict=True)
        return {tokens[start:end]: rank for (start, end), rank in spans}

    def _token(self, place: int) -> bytes:
        return self._data[self._begin + self._starts[place] : self._begin + self._starts[place + 1]]


@cache
def ranks_of(vocabulary: Vocabulary) -> Ranks:
    """Return the tokens of a vocabulary; the first call reads its file."""
    return Ranks((FOLDER / f"{vocabulary}.ranks").read_bytes())


LONGEST = 100  # bytes of a word to merge: the time grows with their square
EITHER, MARK, UNKNOWN_SIGN = "\x01", "\x02", "\x03"  # letters of no case, marks, characters newer than Python's tables
OTHER, BLANK = "!", "\v"
SIGNS = {
    **dict.fromkeys(("Lu", "Lt"), "A"), "Ll": "a", **dict.fromkeys(("Lm", "Lo"), EITHER),
    **dict.fromkeys(("Mn", "Mc", "Me"), MARK), **dict.fromkeys(("Nd", "Nl", "No"), "0"),
    **dict.fromkeys(("Zs", "Zl", "Zp"), BLANK), **dict.fromkeys(("Cn", "Cs"), UNKNOWN_SIGN),
}  # fmt: skip
_UPPER, _LOWER, _LETTER = f"[A-Z{EITHER}{MARK}]", f"[a-z{EITHER}{MARK}]", f"[A-Za-z{EITHER}]"
_SPACE, _BEFORE = r"[\t-\r ]", rf"[^\r\nA-Za-z{EITHER}0-9]?"
_SIGN = rf" ?[^\t-\r A-Za-z{EITHER}0-9]+"
_WORD_END = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
WORDS_AS_KINDS: dict[Vocabulary, str] = {
    "o200k_base": (
        rf"{_BEFORE}{_UPPER}*{_LOWER}+{_WORD_END}|{_BEFORE}{_UPPER}+{_LOWER}*{_WORD_END}|[0-9]{{1,3}}|{_SIGN}[\r\n/]*"
        rf"|{_SPACE}*[\r\n]+|{_SPACE}+(?![^\t-\r ])|{_SPACE}+"
    ),
    "cl100k_base": (
        rf"'(?i:[sdmt]|ll|ve|re)|{_BEFORE}+{_LETTER}++|[0-9]{{1,3}}+|{_SIGN}+[\r\n]*+"
        rf"|{_SPACE}++\Z|{_SPACE}*[\r\n]|{_SPACE}+(?![^\t-\r ])|{_SPACE}"
    ),
}


class _Kinds(dict[int, str]):
    """The sign that stands for each character; those of ASCII that the patterns name stand for themselves."""

    def __missing__(self, code: int) -> str:
        self[code] = sign = self._sign(chr(code))
        return sign

    @staticmethod
    def _sign(character: str) -> str:
        if character.isascii() and (character.isprintable() or "\t" <= character <= "\r"):
            return character
        if character == "ſ":  # an s where case is ignored
            return "s"
        return BLANK if character == "\x85" else SIGNS.get(unicodedata.category(character), OTHER)


_KINDS = _Kinds()


def word_counter(vocabulary: Vocabulary) -> Callable[[str], int | None]:
    """Return a function that counts the tokens of a text; ``None`` for a text that only tiktoken can count."""
    shape, ranks = re.compile(WORDS_AS_KINDS[vocabulary]), ranks_of(vocabulary)

    @cache
    def tokens_of(word: str) -> float:
        piece = word.encode()
        return 1 if ranks.rank(piece) is not None else merged(piece, ranks)

    def count(text: str) -> int | None:
        kinds = text.translate(_KINDS)
        if UNKNOWN_SIGN in kinds:
            return None
        total = sum(tokens_of(text[found.start() : found.end()]) for found in shape.finditer(kinds))
        return None if total == inf else int(total)

    return count


def merged(piece: bytes, ranks: Ranks) -> float:
    """Return the tokens of a word that is none itself; infinity where it is too long to be merged here."""
    if len(piece) > LONGEST:
        return inf

    def rank(start: int) -> float:
        found = ranks.rank(b"".join(parts[start : start + 2])) if 0 <= start < len(parts) - 1 else None
        return inf if found is None else found

    parts = [piece[i : i + 1] for i in range(len(piece))]
    pairs = [rank(i) for i in range(len(parts))]
    while (lowest := min(pairs)) < inf:
        at = pairs.index(lowest)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
        del pairs[at]
        for changed in {at, max(at - 1, 0)}:
            pairs[changed] = rank(changed)
    return len(parts)
