"""Mark the words in which answers differ: on the rendered page, and in brackets in plain text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from ...wording.word_changes import WORD, stretches
from .markdown import AnswerForms

MAX_COMPARED = 10_000  # words of each answer
# underlined too, for a color alone is not seen by everybody; plain colors first, for sanitisers drop variables
MARK_STYLE = (
    "background:#fff3b0;background:color-mix(in srgb,var(--jp-warn-color1,#ff9800) 22%,transparent);"
    "color:#212121;color:var(--jp-content-font-color1,inherit);"
    "text-decoration:underline;text-decoration:underline double"
)
_FORMULA = r"(?<=>)\$[^<>]+\$(?=<)"  # one word, for MathJax finds no formula with a mark inside
_PARTS = re.compile(rf"<[^>]*>|{_FORMULA}|&[#\w]+;|{WORD}")


@dataclass(frozen=True, slots=True)
class MarkedText:
    """An answer with marks.

    html, plain: the answer as HTML and as plain text, with marks around the words that differ
    differing, words: how many of how many words differ; signs count as words, spaces do not
    left_out: how many words at the end were not compared
    """

    html: str
    plain: str
    differing: int
    words: int
    left_out: int = 0

    @property
    def share(self) -> str:
        """How much differs, in words."""
        rest = f"; the last {self.left_out:,} are not compared" if self.left_out else ""
        return f"{self.differing:,} of {self.words:,} words and signs differ{rest}"


def mark_differences(texts: Sequence[str | AnswerForms]) -> list[MarkedText]:
    """Return each text with those words marked that most of the other texts do not have at that place.

    So of two texts each shows what the other has not, and of many texts an odd one out is marked and not the others.
    An empty text, such as that of a failed request, is not compared.
    """
    forms = [AnswerForms.of(text) for text in texts]
    pages, plains = [_parts(form.html) for form in forms], [re.findall(WORD, form.plain) for form in forms]
    shown = _differing([[part for part in parts if _is_word(part)] for parts in pages])
    typed = _differing([[part for part in parts if not part.isspace()] for parts in plains])
    return [
        MarkedText(
            _joined(page, marks, _is_word, f'<mark class="jctx-differs" style="{MARK_STYLE}">', "</mark>"),
            _joined(plain, signs, lambda part: not part.isspace(), "{+", "+}"),
            sum(marks), len(marks), max(0, len(marks) - MAX_COMPARED),
        )
        for page, plain, marks, signs in zip(pages, plains, shown, typed, strict=True)
    ]  # fmt: skip


def marks_meaning(count: int) -> str:
    """Return what the marks of ``count`` texts mean."""
    others = "the other answer does" if count == 2 else "most of the other answers do"
    return f"Marked (underlined): words that {others} not have at that place."


def _differing(texts: Sequence[Sequence[str]]) -> list[list[bool]]:
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


def _parts(page: str) -> list[str]:
    """Return a rendered answer in tags, words, signs and spaces; a formula is one word."""
    return [part.group() for part in _PARTS.finditer(page)]


def _is_word(part: str) -> bool:
    """Return whether a part of a rendered answer can be marked: tags and spaces cannot."""
    return not part.isspace() and not part.startswith("<")


def _joined(
    parts: Iterable[str], marks: Iterable[bool], is_word: Callable[[str], bool], before: str, after: str
) -> str:  # fmt: skip
    return "".join(_with_marks(parts, iter(marks), is_word, before, after))


def _with_marks(
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
