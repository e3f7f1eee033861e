"""All that is needed to repeat a run, as values that JSON has; what may be a key is left out."""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from ...context.usage import Usage
from ...context.windows import ContextWindow
from ...errors import InvalidRequestError
from ...providers.base import Reply
from ...runtime.redaction import BLANKED, Redactor, names_beside, without_address_keys
from ..table.results import Result
from .comparison import summary

RUN_MARK, RUN_VERSION = "jupyter_ctx_run", 1
PACKAGES = (
    "jupyter_ctx", "openai", "anthropic", "google-genai", "xllamacpp", "tiktoken", "genai-prices",
)  # fmt: skip
OF_AN_ANSWER = ("row", "arm", "repeat", "values", "error", "cached", "truncated", "scores", "problems", "asked")
_EXPRESSION, _NAME = re.compile(r"\{\{(.*?)\}\}", re.DOTALL), re.compile(r"(?<![\w.])[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run, as it was asked and answered.

    template: the prompt, with ``{{ column }}`` to be filled in
    rows: the table: the columns of each row
    results: the answers
    settings: what requests were sent with: model, temperature, base_url, parameters and so on
    windows: the window of each model that was asked, by its full name
    grid: the values of each parameter of a sweep
    repeat: how often each row was asked
    schema: the JSON schema of the answers; ``None``: text
    scorers: each scorer's Python source, by its name; see :func:`source_of`
    names: values that the template may read beside the columns; those that it reads are kept
    group: the column that says which rows belong together
    name: what the run is called
    begun: when, as ISO 8601 has it
    packages: the version of each package that took part, and of Python
    """

    template: str
    rows: Sequence[Mapping[str, Any]]
    results: Sequence[Result]
    settings: Mapping[str, Any] = field(default_factory=dict)
    windows: Mapping[str, ContextWindow] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    repeat: int = 1
    schema: Mapping[str, Any] | None = None
    scorers: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)
    group: str | None = None
    name: str = ""
    begun: str = ""
    packages: Mapping[str, str] = field(default_factory=lambda: package_versions())


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


def as_values(record: RunRecord, known_keys: Iterable[str] = (), **more: Any) -> dict[str, Any]:
    """Return a record, and ``more``, as values that JSON has, without keys: the known ones, and what looks like one."""
    settings, address = dict(record.settings), record.settings.get("base_url")
    if isinstance(address, str):
        settings["base_url"] = without_address_keys(address)
    own = {each.name: getattr(record, each.name) for each in fields(record) if each.name != "results"}
    held = {
        RUN_MARK: RUN_VERSION,
        **own,
        "settings": settings,
        "rows": list(record.rows),
        "names": _names_read(record),
        "answers": [_answer(result) for result in record.results],
        "summary": summary(record.results, group=record.group).sentences,
        **more,
    }
    values, redactor = _plain(held), Redactor(known_keys)
    redactor.learn(held)  # pairs and the fields of arrays tell names of secrets, which JSON does not keep
    redactor.learn(values)
    masked: dict[str, Any] = _masked(values, redactor)
    return masked


def from_values(values: Any) -> RunRecord:
    """Return the record that :func:`as_values` made values of. Raises InvalidRequestError."""
    if not isinstance(values, dict) or values.get(RUN_MARK) != RUN_VERSION:
        raise InvalidRequestError("This is no exported run: run.export(path) writes one.")
    try:
        own = {each.name: values[each.name] for each in fields(RunRecord) if each.name != "results"}
        own["windows"] = {model: ContextWindow(**window) for model, window in values["windows"].items()}
        return RunRecord(**own, results=[_result(answer, values["rows"]) for answer in values["answers"]])
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise InvalidRequestError(f"This exported run is damaged: {type(error).__name__} {error}.") from None


def _names_read(record: RunRecord) -> dict[str, Any]:
    """Return the values that the template reads beside the columns: a notebook has many more."""
    expressions = " ".join(_EXPRESSION.findall(record.template))
    columns = set().union(*record.rows[:1], record.grid)
    words = dict.fromkeys(word for word in _NAME.findall(expressions) if word not in columns)
    return {name: record.names[name] for name in words if name in record.names}


def _answer(result: Result) -> dict[str, Any]:
    """Return one answer; the columns of its row are in the table already."""
    own = {name: getattr(result, name) for name in OF_AN_ANSWER}
    return {**own, "prompt": result.prompt, "reply": result.reply}


def _result(answer: dict[str, Any], rows: Sequence[Mapping[str, Any]]) -> Result:
    own = {name: answer[name] for name in OF_AN_ANSWER if name in answer or name != "asked"}  # older exports lack it
    own["problems"] = tuple(own["problems"])
    reply = _reply(answer["reply"]) if answer.get("reply") is not None else None  # an older export leaves it out
    return Result(**own, inputs=rows[answer["row"]], filled=answer["prompt"], reply=reply)


def _reply(values: dict[str, Any]) -> Reply:
    counts = values.get("usage")
    usage = None if counts is None else Usage(**{"input_tokens": 0, "output_tokens": 0, **counts})
    return Reply(**{**values, "usage": usage, "notices": tuple(values["notices"])})


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: NaN as null, NumPy's as Python's, objects of fields as these, others as text."""
    if is_dataclass(value) and not isinstance(value, type):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    elif hasattr(value, "model_dump"):  # pydantic's
        value = value.model_dump(mode="json")
    elif hasattr(value, "tolist"):  # NumPy's, arrays included
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _masked(value: Any, redactor: Redactor) -> Any:
    """Return a value of JSON with ``***`` for secrets."""
    if isinstance(value, dict):
        names = names_beside(list(value), list(value.values()))
        return {
            redactor.masked(label): BLANKED if redactor.is_secret(name, part) else _masked(part, redactor)
            for name, (label, part) in zip(names, value.items(), strict=True)
        }
    if isinstance(value, list):
        return [_masked(part, redactor) for part in value]
    if isinstance(value, str):
        return redactor.masked(value)
    return BLANKED if redactor.has_learned(value) else value
