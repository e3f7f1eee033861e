"""Write a run as one page to read: verdicts on top, then all answers side by side, without secrets."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from typing import Any

from ...display.matrix_page import AnswerMark, MatrixCell, MatrixRow, matrix_html
from ...display.run_page import CARD_STYLE, ScoreLine, score_html
from ...display.text import text_html, to_plain
from ...wording import counted, dollars
from ..statistics.tally import by_arm, number, scorers_of, shown_score, tally, unusual
from ..table.results import Result, Results
from .comparison import compare, score_lines, summary
from .record import RunRecord, as_values

NOT_ASKED_CELL = MatrixCell("", (AnswerMark("other", "not asked"),))
PASS_MARKS = {1.0: AnswerMark("pass", "✓ {}: pass"), 0.0: AnswerMark("fail", "✗ {}: fail")}
# no script, image, font or address, whatever an answer holds
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
REPORT_MARK = '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="generator" content="jupyter_ctx">'
_SHEET = (
    "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;padding:1em;"
    "max-width:100em;color:CanvasText;background:Canvas}p,pre,dd,h1{overflow-wrap:anywhere;max-width:60em}"
    "h1{margin:0}.told{border-left:4px solid #d32f2f;padding-left:.6em;font-weight:600}"
    "dl{display:grid;grid-template-columns:auto 1fr;gap:.2em 1em}dt{font-weight:600}dd{margin:0}"
    "pre{white-space:pre-wrap}</style>"
)


def report_html(record: RunRecord, known_keys: Iterable[str] = ()) -> str:
    """Return a run as one HTML page without secrets, which are blanked as in its other exports."""
    results = record.results
    found = summary(results, group=record.group)
    compared = compare(results, group=record.group).sentences if len(by_arm(results)) > 1 else ()
    sentences = tuple(dict.fromkeys([*compared, *found.sentences]))
    # verdicts rest on the prompts that were sent, which the page does not show: blanked, two may look the same
    shown = replace(record, results=Results(replace(result, prompt="") for result in results))
    lines = score_lines(found)
    values = as_values(shown, known_keys, lines=[astuple(line)[:3] for line in lines], summary=sentences)
    drawn = zip(lines, values["lines"], strict=True)
    arms, answers = matrix(_blanked(results, values))
    labels = {result.arm: answer["arm"] for result, answer in zip(results, values["answers"], strict=True)}
    return report_page(
        title=values["name"] or "A run",
        told=_told(record),
        scores=[ScoreLine(value, label, interval, line.ends) for line, (value, label, interval) in drawn],
        sentences=values["summary"],
        settings=_settings(values | _price(record)),
        prompt=values["template"],
        matrix=matrix_html([labels[arm] for arm in arms], answers),
    )


def _blanked(results: Sequence[Result], values: Mapping[str, Any]) -> list[Result]:
    """Return the results with texts and scores as ``values`` has them, where secrets are blanked."""
    blanked = list[Result]()
    for result, shown in zip(results, values["answers"], strict=True):
        reply = result.reply and replace(result.reply, text=shown["reply"]["text"])
        inputs, error, scores = values["rows"][result.row], shown["error"], shown["scores"]
        blanked.append(replace(result, inputs=inputs, reply=reply, error=error, scores=scores))
    return blanked


def _told(record: RunRecord) -> list[str]:
    """Return what must not be overlooked: answers that are missing, or are no ordinary ones."""
    every = len(record.rows) * record.repeats * math.prod(map(len, record.grid.values()))
    counts = tally(record.results, "")
    missing = max(0, every - len(record.results))
    uncounted = replace(counts.uncounted, unasked=counts.uncounted.unasked + missing)
    told = ", ".join(filter(None, (str(uncounted), str(counts.unusual))))
    return [f"Of {counted(counts.answers + missing, 'answer')}: {told}."] if told else []


def _price(record: RunRecord) -> dict[str, str]:
    """Return what the run cost, and how many of its answers have no known price."""
    costs = [] if record.cost is None else [dollars(record.cost)]
    costs += [f"{counted(record.unpriced, 'answer')} at an unknown price"] if record.unpriced else []
    return {"cost": " and ".join(costs)}


def _settings(values: Mapping[str, Any]) -> dict[str, str]:
    """Return how a run was asked, by name."""
    rows = {
        "cost": values["cost"],
        "begun": values["begun"],
        "rows": f"{len(values['rows']):,}",
        "repeat": values["repeat"],
    }
    windows = {f"window of {model}": f"{window['tokens']} tokens" for model, window in values["windows"].items()}
    packages = ", ".join(f"{name} {version}" for name, version in values["packages"].items())
    grid = {name: ", ".join(map(str, choices)) for name, choices in values["grid"].items()}
    told = {**rows, **values["settings"], **grid, "group": values["group"], **windows, "packages": packages}
    return {name: str(value) for name, value in told.items() if value not in (None, "", {}, [])}


def matrix(results: Iterable[Result]) -> tuple[list[str], list[MatrixRow]]:
    """Return the labels of the arms, and the answers side by side; of a row that was repeated, each repeat is a row."""
    arms = by_arm(results)
    every = [result for found in arms.values() for result in found]
    rates = {scorer: _is_rate(every, scorer) for scorer in scorers_of(every)}
    cells = {(result.row, result.repeat, result.arm): _cell(result, rates) for result in every}
    inputs = {(result.row, result.repeat): result.inputs for result in every}
    rows = list[MatrixRow]()
    for row, repeat in sorted(inputs):
        line = tuple(cells.get((row, repeat, arm), NOT_ASKED_CELL) for arm in arms)
        fails = any(mark.kind == "fail" for cell in line for mark in cell.marks)
        rows.append(MatrixRow(row, repeat, inputs[row, repeat], line, _differ(line, scored=bool(rates)), fails))
    return list(arms), rows


def _is_rate(results: Iterable[Result], scorer: str) -> bool:
    return all(number(result.scores.get(scorer)) in (None, 0.0, 1.0) for result in results)


def _differ(cells: Sequence[MatrixCell], *, scored: bool) -> bool:
    return len({cell.marks if scored else (cell.answer, cell.marks) for cell in cells}) > 1


def _cell(result: Result, rates: dict[str, bool]) -> MatrixCell:
    """Return an answer with its marks; ``rates`` says of each scorer whether all its scores are 1 or 0."""
    if not result.asked:
        return NOT_ASKED_CELL
    text = result.reply.text if result.reply is not None else ""
    if result.failed:
        told = "\n\n".join(filter(None, (result.error or "no answer", text)))
        return MatrixCell(told, (AnswerMark("fail", "failed"),))
    if result.truncated:
        return MatrixCell(text, (AnswerMark("other", "truncated"),))
    marks = list[AnswerMark]()
    kind = unusual(result)
    if kind:
        marks.append(AnswerMark("fail" if kind == "refused" else "other", kind))
    marks += [_mark(result, scorer, is_rate=is_rate) for scorer, is_rate in rates.items()]
    return MatrixCell(text, tuple(marks))


def _mark(result: Result, scorer: str, *, is_rate: bool) -> AnswerMark:
    """Return what a scorer says of an answer."""
    score = result.scores.get(scorer)
    value = number(score)
    if is_rate and value is not None:
        kind, text = PASS_MARKS[value]
        return AnswerMark(kind, text.format(scorer))
    return AnswerMark("other", f"{scorer}: {shown_score(score)}")


def report_page(
    title: str, told: Sequence[str], scores: Sequence[ScoreLine], sentences: Sequence[str], settings: Mapping[str, str],
    prompt: str, matrix: str,
) -> str:  # fmt: skip
    """Return the page; all texts are escaped, and ``matrix`` is HTML.

    ``told`` is what to know before anything else, such as how many answers failed; ``scores`` and ``sentences`` are
    what was found, and ``settings`` how it was asked, by name.
    """
    lines = "".join(f'<p class="told">{text_html(line)}</p>' for line in told)
    found = "".join(f'<p dir="auto">{text_html(sentence)}</p>' for sentence in sentences)
    asked = "".join(f'<dt>{text_html(key)}</dt><dd dir="auto">{text_html(text)}</dd>' for key, text in settings.items())
    scored = "".join(map(score_html, scores))
    name = html.escape(to_plain(title), quote=False)  # a title has text, and no elements
    return (
        f'{REPORT_MARK}<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width"><title>{name}</title>{CARD_STYLE}{_SHEET}</head>'
        f"<body><main><h1>{text_html(title)}</h1>{lines}<h2>What was found</h2>{scored}{found}"
        f"<h2>How it was asked</h2><dl>{asked}</dl>"
        f'<details><summary>Prompt</summary><pre dir="auto">{text_html(prompt)}</pre></details>'
        f"<h2>Answers</h2>{matrix}</main></body></html>\n"
    )
