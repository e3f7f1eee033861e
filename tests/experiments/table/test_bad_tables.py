"""What is wrong with a table, a template or a scorer: an error before anything is sent, or a marked row."""

from __future__ import annotations

from typing import Any

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
        ("{{text}}", TABLE, {}, "write {{ text }}"),
        ("{{ text }}", [], {}, "has no rows"),
        ("{{ text }}", "texts.csv", {}, "There is no file texts.csv"),
        ("{{ text }}", range(2_000_000), {}, "more than 1,000,000 rows in the range: say how many to ask"),
        ("{{ text }}", TABLE, {"grid": pd.Series([1])}, "grid is a Series: it must be a dict of lists"),
        ("{{ n }}", TABLE, {"scorers": exact("rigth")}, "Did you mean 'right'"),
        ("{{ n }}", TABLE, {"scorers": judge("Is it {{ rigth }}?", model="a/b")}, r"Did you mean {{ right }}\?"),
        ("{{ n / 0 }}", TABLE, {}, "No row can be filled in. The first one: {{ n / 0 }} failed"),
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
