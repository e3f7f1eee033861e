"""Write a run to a file: as JSON, as a notebook that asks the same again and compares, or as a page to read."""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...conversation.messages import new_id
from ...display.report_page import REPORT_MARK
from ...errors import InvalidRequestError
from ...runtime.files import path_of, reason_of, write_export
from ...wording import visible
from .record import EXPORTS, RUN_MARK, RUN_VERSION, RunRecord, as_values, from_values
from .report import report_html

RUN_FORMATS = (".json", ".ipynb", ".html")
UNSET: dict[str, Any] = {
    "repeat": 1,
    "schema": None,
    "group": None,
    "max_cost": None,
    "names": {},
    "name": "",
}  # options of a sweep
_FACTORY = re.compile(r"[a-z_]+(?=\()")  # of a scorer that comes with jupyter_ctx, such as exact("answer")
_RECORDED = re.compile(r"recorded = read_run\((.*)\)$", re.MULTILINE)  # the text that _recorded writes
_FUNCTION = re.compile(r"^def (\w+)\(", re.MULTILINE)


def export_run(record: RunRecord, path: str | Path, known_keys: Iterable[str] = ()) -> Path:
    """Write all that is needed to repeat a run to a file, whole or not at all, and return its absolute path.

    A ``.json`` file is data, which :func:`load_run` reads; an ``.ipynb`` file is a notebook that asks the same again
    and compares the answers; an ``.html`` file is a page to read, with all answers. ``known_keys`` are secrets in use;
    they, those in environment variables and whatever looks like a key are written as ``***``. Raises
    InvalidRequestError for another format, a folder that does not exist, and a file that is there and is not an
    exported run.
    """
    file = path_of(path)
    suffix = file.suffix.lower()
    if suffix not in RUN_FORMATS:
        known = f"{', '.join(RUN_FORMATS[:-1])} or {RUN_FORMATS[-1]}"
        raise InvalidRequestError(f"{file}: a run is exported as {known}; name such a file.")
    if suffix == ".html":
        return write_export(file, report_html(record, known_keys), _is_exported)
    values = as_values(record, known_keys)
    text = _json(values) if suffix == ".json" else _json(_notebook(values))
    return write_export(file, text, _is_exported)


def load_run(path: str | Path) -> RunRecord:
    """Return the run in a file that ``run.export(path)`` wrote, as a frozen value with all that is read of a run.

    ``path`` is that of a .json file, or of an exported .ipynb notebook, of which the recorded answers are taken. The
    run can be compared with any other that has ended. What looked like a key is ``***``. Raises
    InvalidRequestError for a file that is missing, damaged, no exported run, or written by a newer release.
    """
    file = path_of(path)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise InvalidRequestError(f"{file} cannot be read as an exported run: {reason_of(error)}. {EXPORTS}") from None
    return read_run(text, str(file))


def read_run(text: str, whence: str = "This text") -> RunRecord:
    """Return the run in the text of an exported file; ``whence`` is for the error: InvalidRequestError."""
    values = _parsed(text, whence)
    if isinstance(values, dict) and "cells" in values:
        values = _parsed(_recorded_in(values["cells"]) or "null", whence)
    return from_values(values, whence)


def _parsed(text: str, whence: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError(f"{whence} is no exported run, or is cut: not JSON ({error}). {EXPORTS}") from None


def _recorded_in(cells: Any) -> str:
    """Return the answers in a notebook as the text that :func:`_recorded` put there; empty where there are none."""
    with suppress(TypeError, LookupError, ValueError, SyntaxError, RecursionError, MemoryError):
        for cell in cells:
            found = _RECORDED.match("".join(cell["source"]))  # Jupyter writes lines
            if found:
                return str(literal_eval(found[1]))
    return ""


def _json(values: object) -> str:
    return json.dumps(values, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _is_exported(text: str) -> bool:
    if text.startswith(REPORT_MARK):
        return True
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    metadata = found.get("metadata") if isinstance(found, dict) else None
    return any(isinstance(each, dict) and RUN_MARK in each for each in (found, metadata))


# the notebook


def _notebook(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a notebook in format 4.5: the parts of the run, to be changed at will, then the answers as recorded."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    told = "\n\n".join(["## As it was", *map(_words, values["summary"])])
    cells = [
        _markdown(_title(values)),
        _code(_setup(values)),
        _code(_scorers(values["scorers"])),
        _markdown(
            "## Ask again\n\n`store=None` asks every row again; without it, answers that are stored here are taken."
        ),
        _code(_sweep(values)),
        _code(f"summary(run, group={values['group']!r})"),
        _markdown(told),
        _code(_recorded(values)),
        _code('compare(recorded, run, names=("recorded", "repeated"))'),
    ]
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, RUN_MARK: RUN_VERSION}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _title(values: Mapping[str, Any]) -> str:
    windows = [
        f"- {model}: window of {window['tokens']:,} tokens ({window.get('source', 'unknown')})"
        for model, window in values["windows"].items()
    ]
    packages = ", ".join(f"{name} {version}" for name, version in values["packages"].items())
    begun = f"Begun {values['begun']}. " if values["begun"] else ""
    answers = sum(answer["asked"] for answer in values["answers"])
    rows = f"{begun}{len(values['rows']):,} rows, {answers:,} answers."
    return "\n\n".join(
        filter(
            None,
            (f"# {_words(values['name'] or 'A run')}", _words(rows), "\n".join(map(_words, windows)), _words(packages)),
        )
    )


def _setup(values: Mapping[str, Any]) -> str:
    rows = "\n".join(f"    {row!r}," for row in values["rows"])
    return (
        "from jupyter_ctx import compare, sweep\nfrom jupyter_ctx.experiments.results.comparison import summary\n"
        "from jupyter_ctx.experiments.results.export import read_run\n\n"
        f"template = {_literal(values['template'])}\n\nrows = [\n{rows}\n]"
    )


def _scorers(sources: Mapping[str, str]) -> str:
    """Return the cell of scorers; one without a source is a comment."""
    functions = {name: found[1] for name, source in sources.items() if (found := _FUNCTION.search(source))}
    values = {name: functions.get(name, source) for name, source in sources.items() if source}
    used = sorted({found[0] for name in values if name not in functions and (found := _FACTORY.match(values[name]))})
    lines = [f"from jupyter_ctx import {', '.join(used)}", ""] if used else []
    for name in functions:
        lines += [sources[name].rstrip(), "", ""]
    lines += ["scorers = {", *(f"    {name!r}: {value}," for name, value in values.items()), "}"]
    lines += [f"# {name!r} has no source: write it again" for name, source in sources.items() if not source]
    return "\n".join(lines)


def _sweep(values: Mapping[str, Any]) -> str:
    """Return the call that asks the same."""
    settings = {name: value for name, value in values["settings"].items() if value is not None}
    options = {name: values[name] for name, unset in UNSET.items() if values[name] != unset}
    arguments = [f"    {name}={value!r}," for name, value in {**settings, **options}.items() if name.isidentifier()]
    return "\n".join(
        ["run = sweep(", "    template,", "    rows,", f"    {values['grid']!r},", *arguments, "    scorers=scorers,",
         "    store=None,", ")", "run.result()"]
    )  # fmt: skip


def _recorded(values: Mapping[str, Any]) -> str:
    text = json.dumps(values, ensure_ascii=False, allow_nan=False)
    return f'recorded = read_run({text!r})\nf"{{len(recorded.results) - recorded.unasked:,}} answers are recorded"'


def _literal(text: str) -> str:
    """Return a text as Python source, in lines where it has some."""
    plain = "\n" in text and not re.search(r"[^\n -\[\]-~\xa0-\ud7ff]", text) and '"""' not in text
    return f'"""{text}"""' if plain and not text.endswith('"') else repr(text)


def _words(text: str) -> str:
    """Return text as Markdown that is no markup: a model's name, or a scorer's, may be anything."""
    return re.sub(r"([\\`*_{}\[\]<>#$|!])", r"\\\1", visible(text))


def _markdown(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": new_id(), "metadata": {}, "source": source}


def _code(source: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": "code", "id": new_id(), "metadata": {}, "execution_count": None}
    return {**cell, "source": source, "outputs": []}
