"""A run that was exported is read, compared and told as it was; a damaged file is one clear error."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answering_rows import Refusal, answering_rows
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx import InvalidRequestError, Run, compare, exact, load_run, sweep
from jupyter_ctx.experiments.results.export import RunRecord, export_run
from jupyter_ctx.experiments.table.results import Result, Results

ROWS: list[dict[str, Any]] = [
    {"text": f"word {i}", "label": f"WORD {i}" if i % 3 else "other", "document": i // 2, "when": when}
    for i, when in enumerate([np.datetime64("2026-11-24"), datetime(2026, 11, 24, 9), (1, 2), None, 0.5, float("nan")])
]


def says(prompt: str) -> str | Refusal:
    if prompt == "word 4":
        return Refusal(400)
    return "" if prompt == "word 5" else prompt.removesuffix(" please").upper()


def token(row: Any, reply: Any) -> float:
    return len(reply.text) / 2


def a_run(url: dict[str, Any], tmp_path: Path, **options: Any) -> Run:
    scorers = {"right": exact("label"), "token": token}  # a figure is no secret, whatever its scorer is called
    grid = {"tone": ["", " please"]}
    given = {"repeat": 2, "group": "document", "store": None, "progress": False, **options}
    run = sweep("{{ text }}{{ tone }}", ROWS, grid, scorers=scorers, **given, **url)
    assert run.wait(30)
    return run


def test_a_run_that_was_read_tells_the_same_and_compares_as_the_one_that_was_exported(tmp_path: Path) -> None:
    with answering_rows(says) as asked:
        run, other = (a_run(asked.model, tmp_path, **options) for options in ({"name": "first"}, {"repeat": 1}))
        saved, theirs = load_run(run.export(tmp_path / "run.json")), load_run(other.export(tmp_path / "other.json"))
    assert [replace(each, inputs={}) for each in saved.results] == [replace(each, inputs={}) for each in run.results]
    assert saved.record is saved
    assert run.record.summary().sentences == saved.summary().sentences == run.summary().sentences
    assert (saved.summary(), repr(saved.summary())) == (run.summary(), repr(run.summary()))
    for pair in ((saved, theirs), (saved, other), (run, theirs)):
        table, live = compare(*pair), compare(run, other)
        assert (table, table.sentences, repr(table.differences())) == (live, live.sentences, repr(live.differences()))
    assert compare(saved, "tone=", "tone=please") == compare(run, "tone=", "tone=please")
    for attribute in ("name", "begun", "settings", "grid", "cost", "unasked", "group", "model"):
        assert getattr(saved, attribute) == getattr(run, attribute), attribute
    assert (saved.template, saved.repeats) == ("{{ text }}{{ tone }}", 2)
    assert {"Python", "jupyter_ctx"} <= saved.packages.keys()
    assert saved.to_dataframe().shape == run.to_dataframe().shape
    assert repr(saved).startswith("RunRecord(first: 24 answers to 6 rows, begun 20")


def unfinished() -> RunRecord:
    rows = [{"text": "cat", "d": 1}, {"text": "dog", "d": 2}]
    given = (0, "", 0, rows[0], {}, "cat"), (1, "", 0, rows[1], {}, "dog")
    return RunRecord(
        "{{ text }}", rows, Results([Result(*given[0], error="gone", scores={}), Result(*given[1], asked=False)]),
        {"model": "openai/gpt-5.2"}, grid={}, group="d", cost=0.25,
    )  # fmt: skip


def test_rows_that_were_not_asked_stay_so_in_a_file(tmp_path: Path) -> None:
    saved = load_run(export_run(unfinished(), tmp_path / "run.json"))
    assert (saved.unasked, len(saved.results.failed), saved.cost, saved.model) == (1, 1, 0.25, "openai/gpt-5.2")
    assert saved.summary().sentences == unfinished().summary().sentences


def read(path: Path, data: bytes) -> None:
    """Read a file, and all that can be read of it: what is wrong is an InvalidRequestError, and nothing else."""
    path.write_bytes(data)
    with suppress(InvalidRequestError):
        run = load_run(path)
        for look in (repr, RunRecord.summary, RunRecord.to_dataframe, compare, lambda run: compare(run, unfinished())):
            with suppress(InvalidRequestError):
                look(run)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return export_run(unfinished(), tmp_path_factory.mktemp("exports") / "run.json").read_bytes()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("altered") / "run.json"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)


def places(values: Any) -> list[tuple[Any, Any]]:
    """Return every part of values of JSON, as what holds it and its key there."""
    keys: list[Any] = list(values) if isinstance(values, dict) else list(range(len(values)))
    inner = [each for key in keys if isinstance(values[key], dict | list) for each in places(values[key])]
    return [(values, key) for key in keys] + inner


@given(st.integers(0), VALUES, st.booleans())
def test_a_file_with_any_part_replaced_or_gone_is_one_error_or_a_run(
    exported: bytes, path: Path, at: int, put: Any, gone: bool
) -> None:
    values = json.loads(exported)
    found = places(values)
    holder, key = found[at % len(found)]
    if gone:
        del holder[key]
    else:
        holder[key] = put
    read(path, json.dumps(values).encode())
