"""What is wrong with a table, a template or a scorer: an error before anything is sent, or a marked row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from jupyter_ctx import InvalidRequestError, Run, exact, judge, sweep
from jupyter_ctx.testing import ScriptedProvider

TABLE = pd.DataFrame({"text": ["a", "b", "c"], "n": [1, 0, 3], "right": ["A", None, "x"]})


def run_of(template: str, table: Any, provider: ScriptedProvider, **options: Any) -> Run:
    return sweep(template, table, provider=provider, store=None, **options)


@pytest.mark.parametrize(
    ("template", "table", "options", "said"),
    [
        ("{{ txet }}", TABLE, {}, r"Did you mean {{ text }}\?"),
        ("{{ row['Text'] }}", TABLE, {}, r"Did you mean {{ text }}\?"),
        ("{{text}}", TABLE, {}, "write {{ text }}"),
        ("{text}", TABLE, {}, "write {{ text }}"),
        ("{{ text }}", [], {}, "has no rows"),
        ("{{ text }}", TABLE.head(0), {}, "has no rows"),
        ("{{ text }}", "texts.csv", {}, "There is no file texts.csv"),
        ("{{ text }}", 7, {}, "rows is 7"),
        ("{{ text }}", pd.DataFrame([["a", "b"]], columns=["text", "text"]), {}, "both named 'text'"),
        ("{{ text }}", range(2_000_000), {}, "more than 1,000,000 rows in the range: say how many to ask"),
        ("{{ n }}", TABLE, {"scorers": exact("rigth")}, "Did you mean 'right'"),
        ("{{ n }}", TABLE, {"scorers": lambda reply: True}, r"cannot be called with \(row, reply\)"),
        ("{{ n }}", TABLE, {"scorers": judge("Is it {{ rigth }}?", model="a/b")}, r"Did you mean {{ right }}\?"),
        ("{{ n / 0 }}", TABLE, {}, "No row can be filled in. The first one: {{ n / 0 }} failed"),
        ("{{ missing }}", TABLE.assign(missing=None), {}, "The prompt is empty"),
    ],
)
def test_it_is_refused_and_nothing_is_sent(template: str, table: Any, options: dict[str, Any], said: str) -> None:
    provider = ScriptedProvider("Yes.")
    with pytest.raises(InvalidRequestError, match=said):
        run_of(template, table, provider, **options)
    assert provider.requests == []


def test_a_row_that_cannot_be_filled_in_is_marked_and_the_others_are_asked() -> None:
    provider = ScriptedProvider("Yes.")
    found = run_of("{{ text }} {{ 6 / n }}", TABLE, provider).result()
    assert found["error"].str.contains("6 / n").to_list() == [False, True, False]
    assert found["reply"].isna().to_list() == [False, True, False]
    assert len(provider.requests) == 2


def test_a_row_with_a_key_in_it_is_marked_and_not_sent() -> None:
    provider, key = ScriptedProvider("Yes."), "sk-" + "abcdefghijklmnopqrstuvwx1234"
    found = run_of("{{ text }}", ["a", f"my key: {key}"], provider).result()
    assert "holds a key" in found["error"][1]
    assert key not in str([request.messages for request in provider.requests])


def test_missing_cells_are_filled_in_as_nothing_and_counted() -> None:
    provider = ScriptedProvider("Yes.")
    table = pd.DataFrame(
        {"text": ["a", None, "c"], "n": [1, np.nan, 3], "day": pd.to_datetime(["2024-01-01", None, None])}
    )
    run = run_of("[{{ text }}|{{ n }}|{{ day }}]", table, provider)
    run.result()
    assert {request.messages[-1].content for request in provider.requests} >= {"[||]"}
    assert run.notices[0].startswith("Missing cells are filled in as empty text: text in 1 of 3 rows, n in 1 of 3 rows")


def test_a_scorer_that_raises_marks_the_rows_and_stops_nothing() -> None:
    run = run_of("{{ text }}", TABLE, ScriptedProvider("A"), scorers={
        "ok": exact("right"), "broken": lambda row, reply: 1 / row["n"],
    })  # fmt: skip
    found = run.result()
    assert found["ok"].to_list() == [True, pd.NA, False]
    assert found["broken"].isna().to_list() == [False, True, False]
    assert "ZeroDivisionError" in found["problems"][1]
    assert "nothing in 'right'" in found["problems"][1]
    assert not any(found["error"])
    assert not run.results.failed


def test_a_file_with_a_broken_line_is_not_begun(tmp_path: Path) -> None:
    provider = ScriptedProvider("Yes.")
    (tmp_path / "t.jsonl").write_text('{"text": "a"}\n{"text": \n', "utf-8")
    with pytest.raises(InvalidRequestError, match=r"t\.jsonl, line 2"):
        run_of("{{ text }}", tmp_path / "t.jsonl", provider)
    assert provider.requests == []


def test_the_same_prompt_for_every_row_is_told() -> None:
    run = run_of("Throw a die.", ["a", "b"], ScriptedProvider("4"), repeat=2)
    assert len(run.result()) == 4
    assert "the same for every row" in " ".join(run.notices)
