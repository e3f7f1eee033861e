"""Mark the words in which answers differ: on the rendered page, and in brackets in plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...wording.word_changes import WORD
from ..word_marks import MARK_STYLE, MAX_COMPARED, differing_words, with_marks
from .markdown import AnswerForms

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
    shown = differing_words([[part for part in parts if _is_word(part)] for parts in pages])
    typed = differing_words([[part for part in parts if not part.isspace()] for parts in plains])
    return [
        MarkedText(
            with_marks(page, marks, _is_word, f'<mark class="jctx-differs" style="{MARK_STYLE}">', "</mark>"),
            with_marks(plain, signs, lambda part: not part.isspace(), "{+", "+}"),
            sum(marks), len(marks), max(0, len(marks) - MAX_COMPARED),
        )
        for page, plain, marks, signs in zip(pages, plains, shown, typed, strict=True)
    ]  # fmt: skip


def marks_meaning(count: int) -> str:
    """Return what the marks of ``count`` texts mean."""
    others = "the other answer does" if count == 2 else "most of the other answers do"
    return f"Marked (underlined): words that {others} not have at that place."


def _parts(page: str) -> list[str]:
    """Return a rendered answer in tags, words, signs and spaces; a formula is one word."""
    return [part.group() for part in _PARTS.finditer(page)]


def _is_word(part: str) -> bool:
    """Return whether a part of a rendered answer can be marked: tags and spaces cannot."""
    return not part.isspace() and not part.startswith("<")
