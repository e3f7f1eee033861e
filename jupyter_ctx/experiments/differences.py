"""The rows of two runs side by side, those first on which they differ."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..session.tabular import Table, escaped
from ..wording import rows, visible
from ..wording.word_changes import Piece, as_html, as_text, word_changes
from .pairing import pair
from .results import Result, Score
from .tally import number, shown_score

MAX_SHOWN_PAIRS = 20
_NAME = "text-align:left;vertical-align:top;white-space:nowrap"
_TEXT = "text-align:left;vertical-align:top;white-space:pre-wrap;overflow-wrap:anywhere;max-width:40em"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the prompts that are compared.

    name: what sentences call it
    results: all its results
    inputs: the columns of each row, by its number
    prompts: what is the same for rows with the same prompt, by their numbers, of those with an answer that counts
    """

    name: str
    results: tuple[Result, ...]
    inputs: Mapping[int, Mapping[str, Any]]
    prompts: Mapping[int, Hashable] = field(default_factory=dict)


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
        return "\n\n".join(filter(None, (*map(self._text, self._shown), self._rest())))

    def _repr_html_(self) -> str:
        if not self:
            return escaped(repr(self))
        rest = f"<p>{escaped(self._rest())}</p>" if self._rest() else ""
        return "".join(f'<table class="jctx-differences">{self._page(row)}</table>' for row in self._shown) + rest

    @property
    def _differing(self) -> list[DifferenceRow]:
        return [row for row in self if _differs(row)]

    @property
    def _shown(self) -> list[DifferenceRow]:
        return self._differing[:MAX_SHOWN_PAIRS]

    def _rest(self) -> str:
        """Return how many rows are not shown."""
        more, same = len(self._differing) - MAX_SHOWN_PAIRS, len(self) - len(self._differing)
        said = [f"{rows(more)} more that differ"] if more > 0 else []
        said += [f"{rows(same)} with the same answers and scores"] if same else []
        return f"… and {' and '.join(said)}; to_dataframe() has all {len(self):,}." if said else ""

    def _scores(self, row: DifferenceRow) -> tuple[str, str]:
        if not self.scorer:
            return "", ""
        return f"{self.scorer}: {shown_score(row.first_score)}", f"{self.scorer}: {shown_score(row.second_score)}"

    def _text(self, row: DifferenceRow) -> str:
        scores = self._scores(row)
        lines = [f"row {row.row}"]
        if row.first_prompt == row.second_prompt:
            lines.append(f"  prompt: {_line(visible(row.first_prompt))}")
        else:
            prompts = word_changes(row.first_prompt, row.second_prompt)
            lines += [f"  prompt of {name}: {_line(_plain(prompts, side))}" for side, name in enumerate(_names(row))]
        answers = word_changes(row.first_answer, row.second_answer)
        for side, name in enumerate(_names(row)):
            score = f" ({scores[side]})" if scores[side] else ""
            lines.append(f"  {visible(name)}{visible(score)}: {_line(_plain(answers, side))}")
        return "\n".join(lines)

    def _page(self, row: DifferenceRow) -> str:
        same = row.first_prompt == row.second_prompt
        prompts = word_changes(row.first_prompt, row.second_prompt)
        answers = word_changes(row.first_answer, row.second_answer)
        names = zip(_names(row), self._scores(row), strict=True)
        heads = "".join(f'<th scope="col" style="{_TEXT}">{escaped(visible(_head(*each)))}</th>' for each in names)
        prompt = _cell(as_html(prompts[0], "del"), 2) if same else _both(prompts)
        return (
            f'<caption style="text-align:left">row {row.row}</caption><tr><td></td>{heads}</tr>'
            f'<tr><th scope="row" style="{_NAME}">prompt</th>{prompt}</tr>'
            f'<tr><th scope="row" style="{_NAME}">answer</th>{_both(answers)}</tr>'
        )


def differences(pairs: Iterable[tuple[Side, Side]], scorer: str) -> Differences:
    """Return the rows that each pair shares; of repeated rows the first repeat that counts in each."""
    found = Differences(sorted((row for both in pairs for row in _rows(*both, scorer)), key=_order))
    found.scorer = scorer
    return found


def _differs(row: DifferenceRow) -> bool:
    """Return whether the answers or their scores differ; the prompts of two arms always do."""
    return row.first_answer != row.second_answer or row.first_score != row.second_score


def _rows(first: Side, second: Side, scorer: str) -> Iterator[DifferenceRow]:
    paired = pair(first.inputs, second.inputs, (first.name, second.name))
    theirs = {key: row for row, key in paired.second.items()}
    answers = _first_answers(first.results), _first_answers(second.results)
    for row, key in paired.first.items():
        a, b = answers[0][row], answers[1][theirs[key]]
        scores = a.scores.get(scorer), b.scores.get(scorer)
        yield DifferenceRow(row, first.name, second.name, *scores, a.prompt, b.prompt, _answer(a), _answer(b))


def _first_answers(results: Sequence[Result]) -> dict[int, Result]:
    """Return the first result of each row that counts, else its first one."""
    found: dict[int, Result] = {}
    for result in results:
        if result.row not in found or (result.counts and not found[result.row].counts):
            found[result.row] = result
    return found


def _answer(result: Result) -> str:
    if result.failed or result.reply is None:
        return f"failed: {result.error or 'no answer'}"
    return f"{result.reply.text} [truncated]" if result.truncated else result.reply.text


def _order(row: DifferenceRow) -> tuple[int, float, bool, int]:
    first, second = number(row.first_score), number(row.second_score)
    apart = abs(first - second) if first is not None and second is not None else 0.0
    return -((first is None) != (second is None)), -apart, row.first_answer == row.second_answer, row.row


def _names(row: DifferenceRow) -> tuple[str, str]:
    return row.first, row.second


def _head(name: str, score: str) -> str:
    return f"{name} ({score})" if score else name


def _line(text: str) -> str:
    return text.replace("\n", "\n    ")


def _plain(pieces: tuple[list[Piece], list[Piece]], side: int) -> str:
    return as_text(pieces[side], ("del", "ins")[side])


def _both(pieces: tuple[list[Piece], list[Piece]]) -> str:
    return _cell(as_html(pieces[0], "del")) + _cell(as_html(pieces[1], "ins"))


def _cell(page: str, columns: int = 1) -> str:
    span = f' colspan="{columns}"' if columns > 1 else ""
    return f'<td{span} dir="auto" style="{_TEXT}">{page}</td>'
