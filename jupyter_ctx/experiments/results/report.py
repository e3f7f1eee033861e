"""Write a run as one page to read: verdicts on top, then all answers side by side, without secrets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from typing import Any

from ...display.matrix_page import matrix_html
from ...display.report_page import report_page
from ...display.run_page import ScoreLine
from ...wording import counted, dollars
from ..statistics.tally import by_arm, tally
from ..table.results import Result, Results
from .comparison import compare, summary
from .matrix import matrix
from .record import RunRecord, as_values
from .score_lines import score_lines


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
