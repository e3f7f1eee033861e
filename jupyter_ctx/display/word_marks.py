"""Mark the words in which plain texts differ, on a page and in brackets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations, repeat

from ..wording.word_changes import LONG, WORD, stretches
from .text import text_html, to_plain

MAX_COMPARED = 10_000  # words of each text
# underlined too, for a color alone is not seen by everybody; plain colors first, for sanitisers drop variables
MARK_STYLE = (
    "background:#fff3b0;background:color-mix(in srgb,var(--jp-warn-color1,#ff9800) 22%,transparent);"
    "color:#212121;color:var(--jp-content-font-color1,inherit);"
    "text-decoration:underline;text-decoration:underline double"
)


def marked_on_a_page(texts: Sequence[str]) -> list[str]:
    """Return plain texts as HTML, with the words marked that most of the other texts do not have at that place."""
    return _marked(texts, text_html, f'<mark class="jctx-differs" style="{MARK_STYLE}">', "</mark>")


def marked_in_brackets(texts: Sequence[str]) -> list[str]:
    """Return the same as plain texts, with ``{+…+}`` around the words."""
    return _marked(texts, str, "{+", "+}")


def _marked(texts: Sequence[str], form: Callable[[str], str], before: str, after: str) -> list[str]:
    """Return texts in a form, with marks around the words that differ; of a long one the first words are compared."""
    parts = [re.findall(WORD, to_plain(text)) for text in texts]
    compared = [[part for part in each if not part.isspace()][:LONG] for each in parts]
    marks = (chain(each, repeat(False)) for each in differing_words(compared))
    return [
        with_marks(map(form, each), found, lambda part: not part.isspace(), before, after)
        for each, found in zip(parts, marks, strict=True)
    ]


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


def with_marks(
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
