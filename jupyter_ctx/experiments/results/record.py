"""All that is needed to repeat a run, as values that JSON has; what may be a key is left out."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache
from typing import Any, NoReturn, get_type_hints

from ...context.windows import ContextWindow
from ...errors import InvalidRequestError
from ...runtime.redaction import Redactor, without_address_keys
from ...runtime.secret_texts import BLANKED, classify_secret_name
from ...wording import counted
from ..table.prompts import Template
from ..table.results import Result, Results, Score, json_value
from .comparison import RunSummary, summary

RUN_MARK, RUN_VERSION = "jupyter_ctx_run", 1
DIFFERENT_LABELS, LONGEST_LABEL = 10_000, 40  # short texts that are looked at once, and characters of one
NEVER_LEFT_OUT = ("template", "rows", "answers")
EXPORTS = 'run.export("run.json") writes one.'
PACKAGES = (
    "jupyter_ctx", "openai", "anthropic", "google-genai", "xllamacpp", "tiktoken", "genai-prices",
)  # fmt: skip
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
    windows: the window of each model that was asked, by its full name
    grid: the values of each parameter of a sweep
    repeats: how often each row was asked
    schema: the JSON schema of the answers; ``None``: text
    names: values that the template may read beside the columns; those that it reads are kept
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
    windows: Mapping[str, ContextWindow] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    repeats: int = 1
    schema: Mapping[str, Any] | None = None
    names: Mapping[str, Any] = field(default_factory=dict)
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

    def repeat(self, **_changes: Any) -> NoReturn:
        """Raise InvalidRequestError: only a run that was begun here can be repeated."""
        raise InvalidRequestError(
            "A run from a file cannot be repeated, as keys and scorers are not in it: "
            "sweep(run.template, run.rows, dict(run.grid), scorers=…, model=…) asks the same."
        )


def as_values(record: RunRecord, known_keys: Iterable[str] = (), **more: Any) -> dict[str, Any]:
    """Return a record, and ``more``, as values that JSON has, without keys: the known ones, and what looks like one."""
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
        "names": _names_read(record),
        "answers": [{name: getattr(each, name) for name in SAVED} for each in record.results],
        "summary": summary(record.results, group=record.group).sentences,
        **more,
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


def _names_read(record: RunRecord) -> dict[str, Any]:
    """Return the values that the template reads beside the columns: a notebook has many more."""
    columns = set().union(*record.rows[:1], record.grid)
    names = Template(record.template, record.names).names
    return {name: value for name, value in names.items() if name not in columns}


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
    label_of = lru_cache(DIFFERENT_LABELS)(redactor.masked)  # the same ones stand in every row and answer

    def masked(part: Any) -> Any:
        if isinstance(part, dict):
            return {
                label_of(label): BLANKED if redactor.is_secret(label, inner) else masked(inner)
                for label, inner in part.items()
            }
        if isinstance(part, list):
            return [masked(inner) for inner in part]
        if isinstance(part, str):
            return redactor.masked(part) if len(part) > LONGEST_LABEL else label_of(part)
        return part

    return masked(value)
