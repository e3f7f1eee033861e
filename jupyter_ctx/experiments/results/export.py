"""A run as it was asked and answered: read alike while it goes on and from a file, which holds no keys.

A .json file has all that is needed to repeat it, an .html file is a page to read.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, get_type_hints

from ...display.run_page import CARD_STYLE, CardFigures, answers_html, card_html
from ...display.text import escaped, text_html, to_plain
from ...errors import InvalidRequestError
from ...runtime.files import path_of, reason_of, write_export
from ...runtime.redaction import BLANKED, Redactor, classify_secret_name, without_address_keys
from ...wording import counted, dollars
from ..statistics.tally import NOT_ASKED, by_arm, counts_text, tally
from ..table.results import Result, Results, Score, json_value
from .comparison import RunSummary, compare, score_lines, summary
from .differences import answers_of

RUN_MARK, RUN_VERSION = "jupyter_ctx_run", 1
DIFFERENT_TEXTS = 10_000  # that are looked at once
NEVER_LEFT_OUT = ("template", "rows", "answers")
EXPORTS = 'run.export("run.json") writes one.'
PACKAGES = ("jupyter_ctx", "httpx2", "xllamacpp", "tiktoken", "genai-prices")
SAVED = [each.name for each in fields(Result) if each.name != "inputs"]  # which the table has already


@cache
def package_versions() -> dict[str, str]:
    """Return the versions of Python and of the installed packages that shape a run."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


class ReadSide:
    """What is read of a run, whether it goes on here or is from a file.

    results: the answers
    group: the column that says which rows belong together
    grid: the values of each parameter of a sweep
    settings: what requests are sent with
    """

    __slots__ = ()
    results: Any
    group: Any
    grid: Any
    settings: Any

    @property
    def model(self) -> str:
        """The model that was asked; empty where the grid has several."""
        models = self.grid.get("model") or [self.settings.get("model", "")]
        return str(models[0]) if len(models) == 1 else ""

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with a row for each answer; see :meth:`Results.to_dataframe`."""
        return self.results.to_dataframe()

    def summary(self) -> RunSummary:
        """Return the rate or the mean of each arm by each scorer, with 95 % intervals and a sentence to quote."""
        return summary(self.results, group=self.group)


@dataclass(frozen=True, slots=True, repr=False)
class RunRecord(ReadSide):
    """A run, as it was asked and answered; :func:`load_run` reads one from a file.

    template: the prompt, with ``{{ column }}`` to be filled in
    rows: the table: the columns of each row
    results: the answers
    settings: what requests were sent with: model, temperature, base_url, parameters and so on
    grid: the values of each parameter of a sweep
    repeats: how often each row was asked
    schema: the JSON schema of the answers; ``None``: text
    group: the column that says which rows belong together
    name: what the run is called
    begun: when, as ISO 8601 has it
    cost: US dollars spent on it; ``None`` where no price is known
    unpriced: answers that were billed at a price that nobody knows
    max_cost: US dollars that it could not pass; ``None``: no such cap
    packages: the version of each package that took part, and of Python
    """

    template: str
    rows: Sequence[Mapping[str, Any]]
    results: Results
    settings: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    repeats: int = 1
    schema: Mapping[str, Any] | None = None
    group: str | None = None
    name: str = ""
    begun: str = ""
    cost: float | None = None
    unpriced: int = 0
    max_cost: float | None = None
    packages: Mapping[str, str] = field(default_factory=package_versions)

    def __repr__(self) -> str:
        answers, rows = counted(len(self.results), "answer"), counted(len(self.rows), "row")
        return f"RunRecord({self.name or 'unnamed'}: {answers} to {rows}, begun {self.begun or 'never'})"

    @property
    def record(self) -> RunRecord:
        """Itself, as ``run.record`` is for a run of this session."""
        return self

    @property
    def unasked(self) -> int:
        """How many answers were not asked for, because the run ended before."""
        return len(self.results.unasked)


# files


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
        values = json.loads(file.read_bytes())
    except OSError as error:
        raise InvalidRequestError(f"{file} cannot be read as an exported run: {reason_of(error)}. {EXPORTS}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError(f"{file} is no exported run, or is cut: not JSON ({error}). {EXPORTS}") from None
    return from_values(values, str(file))


def _is_exported(text: str) -> bool:
    return text.startswith(REPORT_MARK) or RUN_MARK in text[: 2 * len(RUN_MARK)]


# values of JSON


def as_values(record: RunRecord, known_keys: Iterable[str] = ()) -> dict[str, Any]:
    """Return a record as values that JSON has, without keys: the known ones, and what looks like one."""
    settings, address = dict(record.settings), record.settings.get("base_url")
    if isinstance(address, str):
        settings["base_url"] = without_address_keys(address)
    own = {each.name: getattr(record, each.name) for each in fields(record) if each.name != "results"}
    own["repeat"] = own.pop("repeats")  # as sweep() takes it
    held = {
        RUN_MARK: RUN_VERSION,
        **own,
        "settings": _without_named(settings),
        "rows": list(record.rows),
        "answers": [{name: getattr(each, name) for name in SAVED} for each in record.results],
        "summary": summary(record.results, group=record.group).sentences,
    }
    values, redactor = json_value(held), Redactor(known_keys)
    masked: dict[str, Any] = _masked(values, redactor)
    for answer, result in zip(masked["answers"], record.results, strict=True):  # scores are no secrets, whatever
        scores: dict[str, Score] = json_value(result.scores)  # their scorer is called
        answer["scores"] = {redactor.masked(name): score for name, score in scores.items()}
    return masked


def from_values(values: Any, whence: str = "This") -> RunRecord:
    """Return the record that :func:`as_values` made values of; ``whence`` is for the error: InvalidRequestError."""
    import msgspec

    version = values.get(RUN_MARK) if isinstance(values, dict) else None
    if type(version) is not int or version < RUN_VERSION:
        raise InvalidRequestError(f"{whence} is no exported run: {RUN_MARK!r} is not in it. {EXPORTS}")
    if version > RUN_VERSION:
        raise InvalidRequestError(
            f"{whence} is an exported run of a newer jupyter_ctx (format {version:,}, and this one reads "
            f"{RUN_VERSION}): pip install --upgrade jupyter_ctx"
        )
    kinds = {**get_type_hints(RunRecord), "answers": list[dict[str, Any]]}
    del kinds["results"]
    own = dict[str, Any]()
    try:
        for name, kind in kinds.items():  # "answers" is the last
            saved = "repeat" if name == "repeats" else name
            if saved in values or name in NEVER_LEFT_OUT:
                own[name] = msgspec.convert(values.get(saved), kind)
        answers = [msgspec.convert({**answer, "inputs": {}}, Result) for answer in own.pop("answers")]
        results = Results(replace(answer, inputs=_row(own["rows"], answer.row)) for answer in answers)
    except (msgspec.ValidationError, IndexError) as error:
        raise InvalidRequestError(f"{whence} is a damaged exported run ({name}: {error}). {EXPORTS}") from None
    return RunRecord(**own, results=results)


def _row(rows: Sequence[Mapping[str, Any]], number: int) -> Mapping[str, Any]:
    if not 0 <= number < len(rows):
        raise IndexError(f"there is no row {number}")
    return rows[number]


def _without_named(settings: Any) -> Any:
    """Return settings with ``***`` for what is named like a key, however short it is."""
    if not isinstance(settings, Mapping):
        return settings
    hidden = {name for name, value in settings.items() if isinstance(value, str) and classify_secret_name(name)}
    return {name: BLANKED if name in hidden else _without_named(value) for name, value in settings.items()}


def _masked(value: Any, redactor: Redactor) -> Any:
    """Return a value of JSON with ``***`` for secrets."""
    text_of = lru_cache(DIFFERENT_TEXTS)(redactor.masked)  # the same labels stand in every row and answer

    def masked(part: Any) -> Any:
        if isinstance(part, dict):
            return {
                text_of(label): BLANKED if redactor.is_secret(label, inner) else masked(inner)
                for label, inner in part.items()
            }
        if isinstance(part, list):
            return [masked(inner) for inner in part]
        return text_of(part) if isinstance(part, str) else part

    return masked(value)


# a page to read


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


def report_html(record: RunRecord, known_keys: Iterable[str] = ()) -> str:
    """Return a run as one HTML page without secrets, which are blanked as in its other exports."""
    results, masked = record.results, Redactor(known_keys).masked
    found = summary(results, group=record.group)
    compared = compare(results, group=record.group).sentences if len(by_arm(results)) > 1 else ()
    scores = [replace(line, label=masked(line.label)) for line in score_lines(found)]
    sentences = [masked(sentence) for sentence in dict.fromkeys([*compared, *found.sentences])]
    shown = from_values(as_values(record, known_keys))
    return _page(
        title=shown.name or "A run",
        missing=_missing(record),
        card=CardFigures(scores=scores, sentences=sentences),
        settings=_settings(shown),
        prompt=shown.template,
        answers=answers_html(answers_of(shown.results), most=None),
    )


def _missing(record: RunRecord) -> str:
    """Return what must not be overlooked: answers that are missing, or are no ordinary ones."""
    every = len(record.rows) * record.repeats * math.prod(map(len, record.grid.values()))
    counts = tally(record.results, "")
    missing = max(0, every - len(record.results))
    left_out = counts_text(
        {**counts.left_out, NOT_ASKED: counts.left_out.get(NOT_ASKED, 0) + missing, **counts.unusual}
    )
    return f"Of {counted(counts.answers + missing, 'answer')}: {left_out}." if left_out else ""


def _settings(record: RunRecord) -> dict[str, str]:
    """Return how a run was asked, by name."""
    told: dict[str, Any] = {
        "cost": "" if record.cost is None else dollars(record.cost),
        "answers at an unknown price": record.unpriced or "",
        "begun": record.begun,
        "rows": f"{len(record.rows):,}",
        "repeat": record.repeats,
        **record.settings,
        **{name: ", ".join(map(str, choices)) for name, choices in record.grid.items()},
        "group": record.group,
        "packages": ", ".join(f"{name} {version}" for name, version in record.packages.items()),
    }
    return {name: str(value) for name, value in told.items() if value not in (None, "", {}, [])}


def _page(title: str, missing: str, card: CardFigures, settings: Mapping[str, str], prompt: str, answers: str) -> str:
    """Return the page; all texts are escaped, and ``answers`` is HTML."""
    first = f'<p class="missing">{text_html(missing)}</p>' if missing else ""
    asked = "".join(f'<dt>{text_html(key)}</dt><dd dir="auto">{text_html(text)}</dd>' for key, text in settings.items())
    name = escaped(to_plain(title))  # a title has text, and no elements
    return (
        f'{REPORT_MARK}<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width"><title>{name}</title>{CARD_STYLE}{_SHEET}</head>'
        f"<body><main><h1>{text_html(title)}</h1>{first}<h2>What was found</h2>{card_html(card)}"
        f"<h2>How it was asked</h2><dl>{asked}</dl>"
        f'<details><summary>Prompt</summary><pre dir="auto">{text_html(prompt)}</pre></details>'
        f"<h2>Answers</h2>{answers}</main></body></html>\n"
    )
