"""The answers of a run as a table, a pandas DataFrame and a Polars frame."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import polars as pl
import pytest
from pydantic import BaseModel

from jupyter_ctx import Reply, Usage
from jupyter_ctx.experiments.table.results import Result, Results
from jupyter_ctx.experiments.table.rows import read_rows

TABLE = pd.DataFrame(
    {"text": ["a", None, "c"], "n": pd.array([1, None, 3], dtype="Int64"), "kind": pd.Categorical(["u", "v", "u"])},
    index=pd.Index(["x", "y", "z"], name="id"),
)
LAST = ["input_tokens", "output_tokens", "cost", "seconds", "stop_reason", "error", "cached", "truncated"]


def answered(table: Any, arms: Sequence[Mapping[str, Any]] = ({},), repeat: int = 1, **given: Any) -> Results:
    """Answers to every row but the second, which failed."""
    rows, said = read_rows(table), (None, "Server down.")
    reply = Reply("fine", Usage(30, 4), cost=0.25, seconds=1.5, parsed=given.pop("parsed", None))
    return Results(
        Result(row.number, "", number, row, arm, "prompt", *(said if row.number == 1 else (reply,)), **given)
        for row in rows
        for arm in arms
        for number in range(repeat)
    )


def test_the_columns_stand_in_the_order_in_which_a_run_goes() -> None:
    arms = [{"tone": "formal"}, {"tone": "plain"}]
    found = answered(TABLE, arms, repeat=2, parsed={"label": "good"}, scores={"ok": True}).to_dataframe()
    assert list(found) == ["text", "n", "kind", "tone", "repeat", "reply", "label", "ok", *LAST]
    assert len(found) == 12
    assert list(found.index[:5]) == ["x", "x", "x", "x", "y"]


def test_types_stay_those_of_the_table_and_are_whole_where_numbers_are() -> None:
    found = answered(TABLE, scores={"ok": True}).to_dataframe()
    assert found.dtypes[["text", "n", "kind"]].equals(TABLE.dtypes)
    assert found.dtypes.astype(str).to_dict() == {
        "text": "str", "n": "Int64", "kind": "category", "reply": "str", "ok": "bool", "input_tokens": "Int64",
        "output_tokens": "Int64", "cost": "float64", "seconds": "float64", "stop_reason": "str", "error": "str",
        "cached": "bool", "truncated": "bool",
    }  # fmt: skip
    assert found.loc["x", ["reply", "input_tokens", "cost", "error"]].to_list() == ["fine", 30, 0.25, ""]
    assert found.loc["y", "error"] == "Server down."
    assert found.loc["y", ["reply", "input_tokens", "cost", "stop_reason"]].isna().all()


def test_the_result_joins_the_table() -> None:
    answers = Results(answered(TABLE)[1:])  # a run that was cancelled has not all rows
    assert TABLE.join(answers.to_dataframe()["reply"])["reply"].isna().to_list() == [True, True, False]
    plain = TABLE.reset_index(drop=True)
    assert list(Results(answered(plain)[1:]).to_dataframe().index) == [1, 2]
    assert list(answered(plain, repeat=2).to_dataframe().index) == [0, 1, 2, 3, 4, 5]
    assert list(answered(["a", "b"]).to_dataframe().index) == [0, 1]


def test_no_column_is_overwritten() -> None:
    table = [{"cost": 1, "ok": "a", "tone": "b", "input_cost": "c", "text": "d"}]
    given: dict[str, Any] = {"parsed": {"text": "e", "error": "f", "tone": "g"}, "scores": {"ok": True, "reply": 0.5}}
    found = answered(table, [{"tone": "plain", "repeat": 7}], **given).to_dataframe()
    assert found.loc[0].drop(LAST).to_dict() == {
        "input_cost": 1, "input_ok": "a", "input_tone": "b", "input_input_cost": "c", "text": "d", "tone": "plain",
        "repeat": 7, "reply": "fine", "parsed_text": "e", "parsed_error": "f", "parsed_tone": "g", "ok": True,
        "score_reply": 0.5,
    }  # fmt: skip


@dataclass
class Label:
    label: str
    tags: list[str]


class Model(BaseModel):
    label: str
    tags: list[str]


@pytest.mark.parametrize("parsed", [{"label": "u", "tags": ["a"]}, Label("u", ["a"]), Model(label="u", tags=["a"])])
def test_fields_of_a_structured_answer_are_columns(parsed: Any) -> None:
    found = answered(["a", "b"], parsed=parsed).to_dataframe()
    assert found["label"].isna().to_list() == [False, True]
    assert found.loc[0, "tags"] == ["a"]


def test_scores_that_could_not_be_said_are_missing_and_told() -> None:
    rows = read_rows(["a", "b"])
    results = Results([
        Result(0, "", 0, rows[0], {}, "p", Reply("x"), scores={"ok": True}),
        Result(1, "", 0, rows[1], {}, "p", Reply("y"), scores={"ok": None}, problems=("ok: KeyError: 'z'",)),
    ])  # fmt: skip
    found = results.to_dataframe()
    assert (found["ok"].dtype, found["ok"].mean()) == ("boolean", 1.0)
    assert found["error"].to_list() == ["", ""]
    assert found["problems"].to_list() == ["", "ok: KeyError: 'z'"]
    assert not results.failed


def test_a_polars_frame_comes_back_as_one() -> None:
    table = pl.DataFrame({"text": ["a", None, "c"], "cost": [1, 2, 3], "when": pl.Series([[1], [2], [3]])})
    found = answered(table, parsed={"mixed": [1, "a"]}, scores={"ok": True}).to_frame()
    assert found.columns == ["text", "input_cost", "when", "reply", "mixed", "ok", *LAST]
    assert found.schema["when"] == pl.List(pl.Int64)
    assert found["error"].to_list() == ["", "Server down.", ""]
    assert found["mixed"].to_list()[0] == [1, "a"]
    assert answered(["a", "b"]).to_polars()["text"].to_list() == ["a", "b"]
    assert isinstance(answered(["a", "b"]).to_frame(), pd.DataFrame)


def test_answers_show_themselves_as_text_and_as_a_page() -> None:
    results = answered([{"text": "<b>$x$</b>\x1b[31m"}, {"text": "line\nline"}], scores={"ok": True})
    text = repr(results)
    assert text.splitlines()[0].split() == ["row", "text", "reply", "ok", "error"]
    assert "\x1b" not in text
    assert "line line" in text
    assert "Server down." in text
    page = results._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert repr(Results()) == "Results: nothing yet"
    assert len(Results().to_dataframe()) == 0


def test_answers_pickle_and_keep_their_columns() -> None:
    again = pickle.loads(pickle.dumps(answered(TABLE)))
    assert list(again.to_dataframe()) == list(answered(TABLE).to_dataframe())
