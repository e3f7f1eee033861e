"""A run in a file: all that is needed to repeat it, nothing that is secret, whole or not at all."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jupyter_ctx import InvalidRequestError, Reply, Usage
from jupyter_ctx.experiments.results.export import RunRecord, as_values, export_run, from_values
from jupyter_ctx.experiments.table.results import Result, Results

ROWS = [{"text": "cat", "answer": "Katze"}, {"text": 'a "dog"\n', "answer": "Hund"}]
KEY = "sk-proj-" + "a1B2c3D4" * 5


def record(**changes: Any) -> RunRecord:
    reply = Reply("Katze", Usage(9, 3, cache_read_tokens=4), "stop", "local/smollm2", cost=0.001, seconds=0.5)
    results = (
        Result(
            0, "tone=plain", 0, ROWS[0], {"tone": "plain"}, "Translate cat", reply, scores={"ok": True, "length": 5.0}
        ),
        Result(1, "tone=plain", 0, ROWS[1], {"tone": "plain"}, "Translate dog", error="The server is gone."),
    )
    given: dict[str, Any] = {
        "template": "Translate\n{{ text }}, {{ tone }}{{ note }}", "rows": ROWS, "results": Results(results),
        "settings": {"model": "local/smollm2", "temperature": 0.0, "max_tokens": 8},
        "grid": {"tone": ["plain"]},
        "name": "animals",
    }  # fmt: skip
    return RunRecord(**{**given, **changes})


def test_no_key_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "hunter2hunter2hunter2")
    secret = record(
        template=f"Use {KEY} and hunter2hunter2hunter2: {{{{ text }}}}",
        rows=[{"text": f"Authorization: Bearer {KEY}", "answer": "known-and-unlike-any-key"}],
        results=[Result(0, "", 0, {}, {}, KEY, Reply(KEY), error=KEY)],
        settings={
            "base_url": "https://user:pass@host/v1?key=abcdefgh", "api_key": "short",
            "parameters": {"extra_headers": {"Authorization": "Bearer abc", "X-Api-Key": "tiny"}, "seed": 7},
        },
    )  # fmt: skip
    text = export_run(secret, tmp_path / "run.json", ["known-and-unlike-any-key"]).read_text("utf-8")
    for hidden in (KEY, "hunter2", "known-and-unlike", "user:pass", "abcdefgh", "short", "Bearer abc", "tiny"):
        assert hidden not in text, hidden
    assert "seed" in text


def test_values_of_other_types_are_written_as_json_has_them() -> None:
    rows = [
        {"n": np.int64(3), "day": date(2026, 11, 23), "nan": math.nan, "array": np.array([1.5, 2.0]), "b": np.True_}
    ]
    values = as_values(record(rows=rows, results=()))
    assert values["rows"] == [{"n": 3, "day": "2026-11-23", "nan": None, "array": [1.5, 2.0], "b": True}]
    assert from_values(json.loads(json.dumps(values, allow_nan=False))).rows == values["rows"]


def test_a_file_that_is_no_export_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text('{"my": "data"}')
    with pytest.raises(InvalidRequestError, match=r"mine\.json"):
        export_run(record(), tmp_path / "mine.json")
    assert (tmp_path / "mine.json").read_text() == '{"my": "data"}'


@dataclass
class Translation:
    word: str


def test_the_fields_of_structured_answers_are_kept() -> None:
    for parsed in (Translation("Katze"), {"word": "Katze"}):
        reply = Reply('{"word": "Katze"}', parsed=parsed)
        back = from_values(as_values(record(results=[Result(0, "", 0, ROWS[0], {}, "", reply)])))
        assert back.results[0].reply is not None
        assert back.results[0].reply.parsed == {"word": "Katze"}
