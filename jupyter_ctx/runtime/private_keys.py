"""Find private keys in a text (PEM, OpenSSH, PGP, PuTTY), also those of which a part was cut off."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from .secret_names import LatePattern

Span = tuple[int, int]
_LONGEST_BLOCK = 20_000  # characters of a private key
_GAP = 200  # characters between two lines of a private key, where some are left out
_BLOCK = LatePattern(
    r"(?P<begin>-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY|Private-Lines: ?\d)"
    r"|-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{0,5}|Private-(?:MAC|Hash): ?\w{0,128}"
)
_LINE_OF_A_BLOCK = LatePattern(r"[A-Za-z0-9+/=]{16,}+")


def key_blocks(text: str) -> Iterator[Span]:
    """Yield private keys from their first line to their last, also where the one or the other was cut off."""
    end = 0
    marks = list(_BLOCK.finditer(text))
    for mark, after in zip_longest(marks, marks[1:]):
        if mark["begin"] and after is not None and not after["begin"] and after.start() - mark.end() < _LONGEST_BLOCK:
            yield mark.start(), after.end()
            end = after.end()
        elif mark["begin"]:
            stop = min(after.start() if after else len(text), mark.end() + _LONGEST_BLOCK)
            yield mark.start(), _reach(mark.end(), _LINE_OF_A_BLOCK.finditer(text, mark.end(), stop))
        elif mark.end() > end:
            start = max(end, mark.start() - _LONGEST_BLOCK)
            yield _reach_back(mark.start(), _LINE_OF_A_BLOCK.finditer(text, start, mark.start())), mark.end()
            end = mark.end()


def _reach(end: int, lines: Iterable[re.Match[str]]) -> int:
    """Return where the lines of a private key end that follow a place."""
    for line in lines:
        if line.start() - end > _GAP:
            break
        end = line.end()
    return end


def _reach_back(start: int, lines: Iterable[re.Match[str]]) -> int:
    """Return where the lines of a private key begin that end at a place."""
    for line in reversed(list(lines)):
        if start - line.end() > _GAP:
            break
        start = line.start()
    return start
