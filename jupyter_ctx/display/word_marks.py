"""Find the words in which answers differ, and mark them on a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, groupby
from operator import itemgetter

MAX_COMPARED = 10_000  # words of each text
LONG = 800  # words of a text, from which those that are very frequent begin no match: else it takes minutes
# underlined too, for a color alone is not seen by everybody; plain colors first, for sanitisers drop variables
MARK_STYLE = (
    "background:#fff3b0;background:color-mix(in srgb,var(--jp-warn-color1,#ff9800) 22%,transparent);"
    "color:#212121;color:var(--jp-content-font-color1,inherit);"
    "text-decoration:underline;text-decoration:underline double"
)
MARKS_MEANING = "Marked (underlined): words that most of the other answers do not have at that place."
_MARK = f'<mark class="jctx-differs" style="{MARK_STYLE}">'
_ALONE = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # scripts without spaces are compared sign by sign
_SIGNS = r"!-/:-@\[-`{-~"
_WORD = rf"{_ALONE}|\s+|(?:(?!{_ALONE})[^\s{_SIGNS}])+|[{_SIGNS}]"  # words, spaces and signs
_FORMULA = r"(?<=>)\$[^<>]+\$(?=<)"  # one word, for MathJax finds no formula with a mark inside
_PARTS = re.compile(rf"<[^>]*>|{_FORMULA}|&[#\w]+;|{_WORD}")


def marked_on_a_page(pages: Sequence[str], *, most: float = 1.0) -> list[str]:
    """Return each page with those words marked that most of the other pages do not have at that place.

    So of two each shows what the other has not, and of many an odd one out is marked and not the others.
    An empty page, such as that of a failed request, is not compared. Where the marks would be more than the share
    ``most`` of all words, there are none: such answers have little in common.
    """
    parts = [_PARTS.findall(page) for page in pages]
    marks = differing_words([list(filter(_is_word, page)) for page in parts])
    if sum(map(sum, marks)) > most * sum(map(len, marks)):
        return list(pages)
    return [_with_marks(page, iter(found)) for page, found in zip(parts, marks, strict=True)]


def differing_words(texts: Sequence[Sequence[str]]) -> list[list[bool]]:
    """Return for each word of each text whether more than half of the other texts do not have it."""
    from difflib import SequenceMatcher  # takes a millisecond

    compared = [text[:MAX_COMPARED] for text in texts]
    lacking = [[0] * len(text) for text in texts]
    others = sum(map(bool, texts)) - 1
    for one, other in combinations([number for number, text in enumerate(texts) if text], 2):
        is_long = max(len(compared[one]), len(compared[other])) > LONG
        matcher = SequenceMatcher(None, compared[one], compared[other], autojunk=is_long)
        for tag, *ends in matcher.get_opcodes():
            for number, start, end in ((one, *ends[:2]), (other, *ends[2:])) if tag != "equal" else ():
                for at in range(start, end):
                    lacking[number][at] += 1
    return [[2 * count > others > 0 for count in counts] for counts in lacking]


def _is_word(part: str) -> bool:
    """Return whether a part of a text or of a rendered answer can be marked: tags and spaces cannot."""
    return not part.isspace() and not (part.startswith("<") and len(part) > 1)


def _with_marks(parts: Sequence[str], marks: Iterator[bool]) -> str:
    """Return parts joined, with one mark around neighbouring words that are to be marked; no mark holds a tag."""
    marked = [next(marks) if _is_word(part) else False for part in parts]
    for at, part in enumerate(parts[1:-1], 1):
        if part.isspace() and marked[at - 1] and marked[at + 1]:
            marked[at] = True
    runs = groupby(zip(parts, marked, strict=True), key=itemgetter(1))
    texts = ((is_marked, "".join(part for part, _ in run)) for is_marked, run in runs)
    return "".join(f"{_MARK}{text}</mark>" if is_marked else text for is_marked, text in texts)
