"""Find the words in which two texts differ."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

LONG = 800  # words of a text, from which those that are very frequent begin no match: else it takes minutes
_ALONE = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # scripts without spaces are compared sign by sign
_SIGNS = r"!-/:-@\[-`{-~"
# a pattern of words, spaces and signs; a string, so that importing compiles nothing
WORD = rf"{_ALONE}|\s+|(?:(?!{_ALONE})[^\s{_SIGNS}])+|[{_SIGNS}]"


class Stretch(NamedTuple):
    """Words of two texts at the same place, from a start to an end in each, and whether they are the same."""

    is_same: bool
    first: slice
    second: slice


def stretches(first: Sequence[str], second: Sequence[str]) -> list[Stretch]:
    """Return two texts in stretches that are the same in both, and stretches that are not."""
    matcher = SequenceMatcher(None, first, second, autojunk=max(len(first), len(second)) > LONG)
    return [
        Stretch(tag == "equal", slice(begin, end), slice(other_begin, other_end))
        for tag, begin, end, other_begin, other_end in matcher.get_opcodes()
    ]
