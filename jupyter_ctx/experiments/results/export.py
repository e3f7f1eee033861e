"""Write a run to a file, as JSON that is read again or as one page to read, without secrets; and read it."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

from ...display.run_page import CARD_STYLE, CardFigures, ScoreLine, answers_html, card_html
from ...display.text import text_html, to_plain
from ...errors import InvalidRequestError
from ...runtime.files import path_of, reason_of, write_export
from ...wording import counted, dollars
from ..statistics.tally import NOT_ASKED, by_arm, counts_text, tally
from ..table.results import Result, Results
from .comparison import compare, score_lines, summary
from .differences import answers_of
from .record import EXPORTS, RUN_MARK, RunRecord, as_values, from_values

# no script, image, font or address, whatever an answer holds
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
REPORT_MARK = '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="generator" content="jupyter_ctx">'
_SHEET = (
    "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;padding:1em;"
    "max-width:100em;color:CanvasText;background:Canvas}p,pre,dd,h1{overflow-wrap:anywhere;max-width:60em}"
    "h1{margin:0}.missing{border-left:4px solid #d32f2f;padding-left:.6em;font-weight:600}"
    "dl{display:grid;grid-template-columns:auto 1fr;gap:.2em 1em}dt{font-weight:600}dd{margin:0}"
    "pre{white-space:pre-wrap}</style>"
)


def export_run(record: RunRecord, path: str | Path, known_keys: Iterable[str] = ()) -> Path:
    """Write a run to a file, whole or not at all, and return its absolute path.

    A ``.json`` file has all that was asked and answered, and :func:`load_run` reads it; an ``.html`` file is a page to
    read, with all answers. ``known_keys`` are secrets in use; they, those in environment variables and whatever looks
    like a key are written as ``***``. Raises InvalidRequestError for another format, a folder that does not exist, and
    a file that is there and is not an exported run.
    """
    file = path_of(path)
    suffix = file.suffix.lower()
    if suffix == ".html":
        return write_export(file, report_html(record, known_keys), _is_exported)
    if suffix != ".json":
        raise InvalidRequestError(f"{file}: a run is exported as .json or .html; name such a file.")
    text = json.dumps(as_values(record, known_keys), ensure_ascii=False, indent=1, allow_nan=False)
    return write_export(file, f"{text}\n", _is_exported)


def load_run(path: str | Path) -> RunRecord:
    """Return the run in a .json file that ``run.export(path)`` wrote, as a frozen value with all that is read of a run.

    It can be compared with any other that has ended. What looked like a key is ``***``. Raises InvalidRequestError for
    a file that is missing, damaged, no exported run, or written by a newer release.
    """
    file = path_of(path)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise InvalidRequestError(f"{file} cannot be read as an exported run: {reason_of(error)}. {EXPORTS}") from None
    return from_values(_parsed(text, str(file)), str(file))


def _parsed(text: str, whence: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError(f"{whence} is no exported run, or is cut: not JSON ({error}). {EXPORTS}") from None


def _is_exported(text: str) -> bool:
    if text.startswith(REPORT_MARK):
        return True
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and RUN_MARK in found


# a page to read


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
    scores = [ScoreLine(value, label, interval, line.ends) for line, (value, label, interval) in drawn]
    return _page(
        title=values["name"] or "A run",
        missing=_missing(record),
        card=CardFigures(scores=scores, sentences=values["summary"]),
        settings=_settings(values | _price(record)),
        prompt=values["template"],
        answers=answers_html(answers_of(_blanked(results, values)), most=None),
    )


def _blanked(results: Sequence[Result], values: Mapping[str, Any]) -> list[Result]:
    """Return the results with texts and scores as ``values`` has them, where secrets are blanked."""
    blanked = list[Result]()
    for result, shown in zip(results, values["answers"], strict=True):
        reply = result.reply and replace(result.reply, text=shown["reply"]["text"])
        inputs, error, scores = values["rows"][result.row], shown["error"], shown["scores"]
        blanked.append(replace(result, arm=shown["arm"], inputs=inputs, reply=reply, error=error, scores=scores))
    return blanked


def _missing(record: RunRecord) -> str:
    """Return what must not be overlooked: answers that are missing, or are no ordinary ones."""
    every = len(record.rows) * record.repeats * math.prod(map(len, record.grid.values()))
    counts = tally(record.results, "")
    missing = max(0, every - len(record.results))
    left_out = counts_text({**counts.left_out, NOT_ASKED: counts.unasked + missing, **counts.unusual})
    return f"Of {counted(counts.answers + missing, 'answer')}: {left_out}." if left_out else ""


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


def _page(title: str, missing: str, card: CardFigures, settings: Mapping[str, str], prompt: str, answers: str) -> str:
    """Return the page; all texts are escaped, and ``answers`` is HTML."""
    first = f'<p class="missing">{text_html(missing)}</p>' if missing else ""
    asked = "".join(f'<dt>{text_html(key)}</dt><dd dir="auto">{text_html(text)}</dd>' for key, text in settings.items())
    name = html.escape(to_plain(title), quote=False)  # a title has text, and no elements
    return (
        f'{REPORT_MARK}<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width"><title>{name}</title>{CARD_STYLE}{_SHEET}</head>'
        f"<body><main><h1>{text_html(title)}</h1>{first}<h2>What was found</h2>{card_html(card)}"
        f"<h2>How it was asked</h2><dl>{asked}</dl>"
        f'<details><summary>Prompt</summary><pre dir="auto">{text_html(prompt)}</pre></details>'
        f"<h2>Answers</h2>{answers}</main></body></html>\n"
    )
