"""The rows of two runs side by side, those first on which they differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...display.text import text_html
from ...session.tabular import Table
from ...wording import counted, visible
from ...wording.word_changes import WORD, stretches
from ..statistics.same_rows import Pairing
from ..statistics.tally import number, shown_score
from ..table.results import Result, Score
from .sides import Pair, Side

MAX_SHOWN_PAIRS = 20
MAX_WORDS = 800  # of each text, spaces and signs included: a table of differences shows many texts
BRACKETS = {"del": ("[-", "-]"), "ins": ("{+", "+}")}  # as in git's word diffs
# plain colours first: a sanitiser drops each declaration with a CSS variable, and keeps the other
CHANGE_STYLES = {
    "del": "background:#ffcdd2;background:color-mix(in srgb,var(--jp-error-color1,#d32f2f) 25%,transparent);"
    "text-decoration:line-through;color:#212121;color:var(--jp-content-font-color1,inherit)",
    "ins": "background:#c8e6c9;background:color-mix(in srgb,var(--jp-success-color1,#388e3c) 25%,transparent);"
    "text-decoration:underline;color:#212121;color:var(--jp-content-font-color1,inherit)",
}
_NAME = "text-align:left;vertical-align:top;white-space:nowrap"
_TEXT = "text-align:left;vertical-align:top;white-space:pre-wrap;overflow-wrap:anywhere;max-width:40em"


class DifferenceRow(NamedTuple):
    """One row with both answers.

    ``row``: its number in the first run, from 0.
    ``first``, ``second``: what is compared.
    ``first_score``, ``second_score``: what the scorer says of both answers.
    ``first_prompt``, ``second_prompt``: what was sent.
    ``first_answer``, ``second_answer``: the answers; an error's text where there is none.
    """

    row: int
    first: str
    second: str
    first_score: Score
    second_score: Score
    first_prompt: str
    second_prompt: str
    first_answer: str
    second_answer: str

    @property
    def differs(self) -> bool:
        """Whether the answers or their scores differ; the prompts of two arms always do."""
        return self.first_answer != self.second_answer or self.first_score != self.second_score

    @property
    def answers(self) -> list[Marked]:
        """Both answers with the words marked that differ."""
        return _both(self.first_answer, self.second_answer)


class Differences(Table[DifferenceRow]):
    """Rows with both answers side by side; the first twenty that differ are shown, with the words marked that differ.

    Those that one of the two alone scored come first, then those whose scores differ the most, then those whose
    answers differ in words, and then those that are the same.
    """

    columns = DifferenceRow._fields
    scorer: str = ""

    def __repr__(self) -> str:
        if not self:
            return "Differences: no row is in both"
        shown, rest = self._shown()
        return "\n\n".join(filter(None, (*map(self._text, shown), rest)))

    def _repr_html_(self) -> str:
        if not self:
            return text_html(repr(self))
        shown, rest = self._shown()
        tables = "".join(f'<table class="jctx-differences">{self._page(row)}</table>' for row in shown)
        return tables + (f"<p>{text_html(rest)}</p>" if rest else "")

    def _shown(self) -> tuple[list[DifferenceRow], str]:
        """Return the first rows that differ, and how many others there are."""
        differing = [row for row in self if row.differs]
        more, same = len(differing) - MAX_SHOWN_PAIRS, len(self) - len(differing)
        others = [f"{counted(more, 'row')} more that differ"] if more > 0 else []
        others += [f"{counted(same, 'row')} with the same answers and scores"] if same else []
        rest = f"… and {' and '.join(others)}; to_dataframe() has all {len(self):,}." if others else ""
        return differing[:MAX_SHOWN_PAIRS], rest

    def _names(self, row: DifferenceRow) -> tuple[str, str]:
        """Return what is compared, each with its score."""
        if not self.scorer:
            return row.first, row.second
        first, second = shown_score(row.first_score), shown_score(row.second_score)
        return f"{row.first} ({self.scorer}: {first})", f"{row.second} ({self.scorer}: {second})"

    def _text(self, row: DifferenceRow) -> str:
        prompts, answers = _marked(row.first_prompt, row.second_prompt), row.answers
        heads = ["prompt"] if len(prompts) == 1 else [f"prompt of {row.first}", f"prompt of {row.second}"]
        parts = zip([*heads, *self._names(row)], [*prompts, *answers], strict=True)
        lines = (f"  {visible(head)}: {as_text(*marked)}".replace("\n", "\n    ") for head, marked in parts)
        return "\n".join([f"row {row.row}", *lines])

    def _page(self, row: DifferenceRow) -> str:
        heads = "".join(f'<th scope="col" style="{_TEXT}">{text_html(name)}</th>' for name in self._names(row))
        parts = ("prompt", _marked(row.first_prompt, row.second_prompt)), ("answer", row.answers)
        lines = (f'<tr><th scope="row" style="{_NAME}">{head}</th>{_cells(marked)}</tr>' for head, marked in parts)
        return f'<caption style="text-align:left">row {row.row}</caption><tr><td></td>{heads}</tr>{"".join(lines)}'


class Piece(NamedTuple):
    """A part of a text, and whether the other text does not have it."""

    text: str
    changed: bool


Marked = tuple[list[Piece], str]  # a text in pieces, and how those are marked that the other text has not


def _both(first: str, second: str) -> list[Marked]:
    """Return both texts with the words marked that differ."""
    return list(zip(word_changes(first, second), ("del", "ins"), strict=True))


def word_changes(first: str, second: str) -> tuple[list[Piece], list[Piece]]:
    """Return both texts in pieces; of a text longer than 800 words the last piece says how much is left out."""
    ours, theirs = re.findall(WORD, visible(first)), re.findall(WORD, visible(second))
    found = stretches(ours[:MAX_WORDS], theirs[:MAX_WORDS])
    pieces = [Piece("".join(ours[each.first]), not each.is_same) for each in found]
    others = [Piece("".join(theirs[each.second]), not each.is_same) for each in found]
    return _whole(pieces, ours), _whole(others, theirs)


def _whole(pieces: list[Piece], words: list[str]) -> list[Piece]:
    rest = sum(map(len, words[MAX_WORDS:]))
    shown = [piece for piece in pieces if piece.text]
    return [*shown, Piece(f" … {rest:,} more characters", False)] if rest else shown


def as_text(pieces: list[Piece], kind: str) -> str:
    """Return pieces as plain text, with changed ones in ``[-…-]`` or ``{+…+}``."""
    before, after = BRACKETS[kind]
    return "".join(f"{before}{piece.text}{after}" if piece.changed else piece.text for piece in pieces)


def changes_html(pieces: Sequence[Piece], kind: str) -> str:
    """Return the pieces of a text as HTML; ``kind`` is ``del`` for the first of two texts, ``ins`` for the second."""
    style = CHANGE_STYLES[kind]
    return "".join(
        f'<{kind} style="{style}">{text_html(piece.text)}</{kind}>' if piece.changed else text_html(piece.text)
        for piece in pieces
    )


def _marked(first: str, second: str) -> list[Marked]:
    """Return the same; one text where they are equal."""
    return _both(first, second)[: 1 if first == second else 2]


def _cells(texts: Sequence[Marked]) -> str:
    """Return the cells of one text or of two, which are as wide together."""
    span = f'colspan="{2 // len(texts)}"'
    return "".join(f'<td {span} dir="auto" style="{_TEXT}">{changes_html(*marked)}</td>' for marked in texts)


def differences(pairs: Iterable[Pair], scorer: str) -> Differences:
    """Return the rows that both sides of a pair have asked; of repeated rows the first repeat that counts in each."""
    table = Differences(sorted((row for pair in pairs for row in _rows(*pair, scorer)), key=_order))
    table.scorer = scorer
    return table


def _rows(first: Side, second: Side, paired: Pairing, scorer: str) -> Iterator[DifferenceRow]:
    theirs = {key: row for row, key in paired.second.items()}
    answers = _first_answers(first.results), _first_answers(second.results)
    for row, key in paired.first.items():
        a, b = answers[0][row], answers[1][theirs[key]]
        scores = a.scores.get(scorer), b.scores.get(scorer)
        if a.asked and b.asked:
            yield DifferenceRow(row, first.name, second.name, *scores, a.prompt, b.prompt, _answer(a), _answer(b))


def _first_answers(results: Sequence[Result]) -> dict[int, Result]:
    """Return the first result of each row that counts, else its first one."""
    firsts: dict[int, Result] = {}
    for result in results:
        if result.row not in firsts or (result.counts and not firsts[result.row].counts):
            firsts[result.row] = result
    return firsts


def _answer(result: Result) -> str:
    if result.failed or result.reply is None:
        return f"failed: {result.error or 'no answer'}"
    return f"{result.reply.text} [truncated]" if result.truncated else result.reply.text


def _order(row: DifferenceRow) -> tuple[int, float, bool, int]:
    first, second = number(row.first_score), number(row.second_score)
    apart = abs(first - second) if first is not None and second is not None else 0.0
    return -((first is None) != (second is None)), -apart, row.first_answer == row.second_answer, row.row
