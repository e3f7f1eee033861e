"""Mark the words in which answers differ: on a page, and in brackets in plain text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from ..wording.word_changes import WORD, stretches
from .text import to_plain

MAX_COMPARED = 10_000  # words of each text
# underlined too, for a color alone is not seen by everybody; plain colors first, for sanitisers drop variables
MARK_STYLE = (
    "background:#fff3b0;background:color-mix(in srgb,var(--jp-warn-color1,#ff9800) 22%,transparent);"
    "color:#212121;color:var(--jp-content-font-color1,inherit);"
    "text-decoration:underline;text-decoration:underline double"
)
_FORMULA = r"(?<=>)\$[^<>]+\$(?=<)"  # one word, for MathJax finds no formula with a mark inside
_PARTS = re.compile(rf"<[^>]*>|{_FORMULA}|&[#\w]+;|{WORD}")


class MarkedPage(NamedTuple):
    """A rendered answer with marks, and how many of how many words differ; signs count as words, spaces do not."""

    html: str
    differing: int
    words: int

    @property
    def share(self) -> str:
        """How much differs, in words."""
        left_out = max(0, self.words - MAX_COMPARED)
        rest = f"; the last {left_out:,} are not compared" if left_out else ""
        return f"{self.differing:,} of {self.words:,} words and signs differ{rest}"


def marked_on_a_page(pages: Sequence[str]) -> list[MarkedPage]:
    """Return each page with those words marked that most of the other pages do not have at that place.

    So of two each shows what the other has not, and of many an odd one out is marked and not the others.
    An empty page, such as that of a failed request, is not compared.
    """
    parts = [[part.group() for part in _PARTS.finditer(page)] for page in pages]
    marks = differing_words([list(filter(_is_word, each)) for each in parts])
    mark = f'<mark class="jctx-differs" style="{MARK_STYLE}">'
    return [
        MarkedPage(_with_marks(each, found, _is_word, mark, "</mark>"), sum(found), len(found))
        for each, found in zip(parts, marks, strict=True)
    ]


def marked_in_brackets(texts: Sequence[str]) -> list[str]:
    """Return plain texts with ``{+…+}`` around the same words."""
    parts = [re.findall(WORD, to_plain(text)) for text in texts]
    marks = differing_words([list(filter(_is_not_space, each)) for each in parts])
    return [_with_marks(each, found, _is_not_space, "{+", "+}") for each, found in zip(parts, marks, strict=True)]


def marks_meaning(count: int) -> str:
    """Return what the marks of ``count`` texts mean."""
    others = "the other answer does" if count == 2 else "most of the other answers do"
    return f"Marked (underlined): words that {others} not have at that place."


def differing_words(texts: Sequence[Sequence[str]]) -> list[list[bool]]:
    """Return for each word of each text whether more than half of the other texts do not have it."""
    compared = [text[:MAX_COMPARED] for text in texts]
    lacking = [[0] * len(text) for text in texts]
    others = sum(map(bool, texts)) - 1
    for one, other in combinations([number for number, text in enumerate(texts) if text], 2):
        for stretch in stretches(compared[one], compared[other]):
            if stretch.is_same:
                continue
            for number, words in ((one, stretch.first), (other, stretch.second)):
                for at in range(words.start, words.stop):
                    lacking[number][at] += 1
    return [[2 * count > others for count in counts] if others > 0 else [False] * len(counts) for counts in lacking]


def _is_not_space(part: str) -> bool:
    return not part.isspace()


def _is_word(part: str) -> bool:
    """Return whether a part of a rendered answer can be marked: tags and spaces cannot."""
    return not part.isspace() and not part.startswith("<")


def _with_marks(
    parts: Iterable[str], marks: Iterable[bool], is_word: Callable[[str], bool], before: str, after: str
) -> str:  # fmt: skip
    """Return parts joined, with ``before`` and ``after`` around words that are to be marked; spaces have no mark."""
    return "".join(_pieces(parts, iter(marks), is_word, before, after))


def _pieces(
    parts: Iterable[str], marks: Iterator[bool], is_word: Callable[[str], bool], before: str, after: str
) -> Iterator[str]:  # fmt: skip
    """Yield parts with one mark around neighbouring words, and the spaces between them; no mark holds a tag."""
    marking, spaces = False, ""
    for part in parts:
        if marking and part.isspace():
            spaces += part
            continue
        wanted = is_word(part) and next(marks)
        if marking and not wanted:
            yield after
        yield spaces
        if wanted and not marking:
            yield before
        yield part
        marking, spaces = wanted, ""
    yield after * marking + spaces
