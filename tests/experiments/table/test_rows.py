"""Tables of every kind become rows; what is wrong with one is said in words."""

from __future__ import annotations

import pickle
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import polars as pl
import pytest

from jupyter_ctx import InvalidRequestError, MissingDependencyError
from jupyter_ctx.experiments.table.rows import Rows, read_rows

Point = namedtuple("Point", "text n")


@dataclass
class Question:
    text: str
    n: int


class Relation:
    """A relation of DuckDB, as far as it is read: its rows are asked for by number."""

    columns, types = ["text", "n"], ["VARCHAR", "INTEGER"]

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def limit(self, number: int, start: int) -> Relation:
        return Relation(self._rows[start : start + number])

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._rows


class DataSet(list[Any]):
    """A data set of Hugging Face, as far as it is read: a sequence of dicts that names its columns."""

    column_names = "text", "n"


def texts_of(rows: Rows) -> list[dict[str, Any]]:
    return [dict(row) for row in rows]


TWO = [{"text": "a", "n": 1}, {"text": "b", "n": 2}]


@pytest.mark.parametrize(
    "table",
    [
        TWO,
        {"text": ["a", "b"], "n": (1, 2)},
        {"text": np.array(["a", "b"]), "n": pd.Series([1, 2])},
        pd.DataFrame(TWO),
        pl.DataFrame(TWO),
        Relation([("a", 1), ("b", 2)]),
        DataSet(TWO),
        [Point("a", 1), Point("b", 2)],
        [Question("a", 1), Question("b", 2)],
        (row for row in TWO),
    ],
    ids=lambda table: type(table).__name__,
)
def test_every_kind_of_table_gives_the_same_rows(table: Any) -> None:
    rows = read_rows(table)
    assert rows.columns == ("text", "n")
    assert texts_of(rows) == TWO
    assert [type(value) for value in rows[1].values()] == [str, int]


@pytest.mark.parametrize(
    ("table", "column", "values"),
    [
        (["a", "b"], "text", ["a", "b"]),
        ([1, 2.5, None], "text", [1, 2.5, None]),
        (np.array([1, 2]), "text", [1, 2]),
        (pd.Series(["x"], name="question"), "question", ["x"]),
        (pl.Series("q", ["x"]), "q", ["x"]),
        (pd.DataFrame([[1], [2]]), "0", [1, 2]),
    ],
)
def test_one_column_of_values_is_a_table(table: Any, column: str, values: list[Any]) -> None:
    assert texts_of(read_rows(table)) == [{column: value} for value in values]


def test_cells_are_of_python_s_own_types_and_missing_ones_are_none() -> None:
    frame = pd.DataFrame({
        "text": ["a", None], "n": [1.0, np.nan], "whole": pd.array([1, None], dtype="Int64"),
        "when": pd.to_datetime(["2024-01-01", None]), "kind": pd.Categorical(["u", None]), "list": [[1], None],
    })  # fmt: skip
    first, second = read_rows(frame)
    assert dict(first) == {
        "text": "a", "n": 1.0, "whole": 1, "when": pd.Timestamp("2024-01-01"), "kind": "u", "list": [1],
    }  # fmt: skip
    assert [type(first[name]) for name in ("n", "whole", "kind")] == [float, int, str]
    assert set(second.values()) == {None}
    assert texts_of(read_rows(pl.DataFrame({"a": [[1, 2], None]}))) == [{"a": [1, 2]}, {"a": None}]
    assert texts_of(read_rows([{"a": float("nan")}, {"b": np.float64("nan")}])) == [{"a": None, "b": None}] * 2


def test_missing_cells_are_counted_in_one_line_for_the_columns_that_are_used() -> None:
    rows = read_rows([{"text": "a"}, {"text": None, "n": 1}, {"text": "c", "n": 3}])
    assert rows.notices(["text", "n"]) == (
        "Missing cells are filled in as empty text: text in 1 of 3 rows, n in 1 of 3 rows.",
    )
    assert rows.notices([]) == ()
    assert read_rows(TWO).notices() == ()


def test_whole_numbers_that_pandas_made_decimals_are_pointed_out() -> None:
    frame = pd.DataFrame({"year": [1815, None], "share": [0.5, None]})
    lines = read_rows(frame).notices()
    assert [line.split(":")[0] for line in lines[1:]] == ["year"]
    assert len(read_rows(frame.convert_dtypes()).notices()) == 1


def test_the_table_may_change_while_it_is_asked() -> None:
    frame, listed = pd.DataFrame({"text": ["a", "b"]}), [{"text": "a"}, {"text": "b"}]
    of_frame, of_list = read_rows(frame), read_rows(listed)
    frame.loc[0, "text"] = listed[0]["text"] = "changed"
    assert of_frame[0]["text"] == of_list[0]["text"] == "a"


def test_a_limit_takes_the_first_rows_and_no_more_of_a_generator() -> None:
    def endless() -> Iterator[str]:
        for number in range(10):
            yield str(number)
            assert number < 2

    assert len(read_rows(endless(), limit=3)) == 3
    for table in (pd.DataFrame(TWO), pl.DataFrame(TWO), TWO, {"text": ["a", "b"], "n": [1, 2]}):
        rows = read_rows(table, limit=1)
        assert texts_of(rows) == TWO[:1]
        assert rows.frame is None or len(rows.frame) == 1
    assert texts_of(read_rows(TWO, limit=5)) == TWO


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ([], "has no rows"),
        (None, "rows is None: it must be a DataFrame, a list of dicts"),
        (b"bytes", "rows is b'bytes'"),
        ("Is this a row?", r"For one row, write a list: \[text\]"),
        ({"text": "a"}, r"its 'text' is 'a': each column must be a list"),
        ({"text": ["a"], "n": [1, 2]}, "The columns differ in length: text 1, n 2"),
        ([{"a": 1}, "text"], "Row 1 is 'text': it must be a mapping of columns"),
        (np.zeros((2, 2)), "Row 0 is"),
        (pl.LazyFrame({"a": [1]}), r"a query that has not run .*: write rows.collect\(\)"),
        ({"train": DataSet(TWO)}, r"a mapping of tables: choose one of them, such as rows\['train'\]"),
        (Relation([]), "the Relation has no rows"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "Columns 1 and 2 are both named 'a'"),
        ([{"": 1}], "Column 1 of 1 has no name"),
        (iter(int, 1), "more than 1,000,000 rows in .*: say how many to ask"),
    ],
)
def test_a_table_that_cannot_be_asked_is_refused_in_words(table: Any, said: str) -> None:
    with pytest.raises(InvalidRequestError, match=said):
        read_rows(table)


def test_a_row_is_a_mapping_that_pickles_without_its_table() -> None:
    rows = read_rows({"text": ["x" * 1000] * 1000})
    assert rows[0] == {"text": "x" * 1000} == pickle.loads(pickle.dumps(rows[0]))
    assert len(pickle.dumps(rows[0])) < 2000
    assert rows[-1] == rows[999]
    with pytest.raises(IndexError, match="no row 1000"):
        rows[1000]
    with pytest.raises(KeyError):
        rows[0]["nope"]


# files


def written(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_csv_keeps_quoted_newlines_and_commas_and_skips_empty_lines(tmp_path: Path) -> None:
    path = written(tmp_path, "faq.csv", '\ufeffquestion,answer\r\n"a, ""b""\nc",1\r\n\r\nd,\r\n')
    rows = read_rows(path)
    assert texts_of(rows) == [{"question": 'a, "b"\nc', "answer": "1"}, {"question": "d", "answer": None}]
    assert rows.source == "faq.csv"
    assert texts_of(read_rows(str(path))) == texts_of(rows)
    assert len(read_rows(path, limit=1)) == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.json"])
def test_files_of_text_are_read_in_utf_8(tmp_path: Path, name: str, encoding: str) -> None:
    table = {"t.csv": "text,n\né,1\n", "t.tsv": "text\tn\né\t1\n", "t.jsonl": '{"text": "é", "n": "1"}\n\n'}
    content = table.get(name, '[{"text": "é", "n": "1"}]')
    assert texts_of(read_rows(written(tmp_path, name, content.encode(encoding)))) == [{"text": "é", "n": "1"}]


def test_a_path_may_begin_at_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    written(tmp_path, "good.csv", "text\na\n")
    assert texts_of(read_rows("~/good.csv")) == [{"text": "a"}]
    with pytest.raises(InvalidRequestError, match=r"Did you mean good\.csv"):
        read_rows("~/god.csv")


def test_other_delimiters_are_found_and_told(tmp_path: Path) -> None:
    rows = read_rows(written(tmp_path, "t.csv", "text;n\n1,5;2\n"))
    assert texts_of(rows) == [{"text": "1,5", "n": "2"}]
    assert rows.notices() == ("t.csv was read with ';' between its columns.",)


def test_a_cell_may_hold_a_whole_document(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", f"text\n{'x' * 200_000}\n")
    assert len(read_rows(path)[0]["text"]) == 200_000


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrow", "stream.arrow"])
def test_files_of_other_formats_are_read_by_the_libraries_that_are_there(tmp_path: Path, name: str) -> None:
    frame, path = pl.DataFrame([*TWO, {"text": "c", "n": None}]), tmp_path / name
    write = {"t.parquet": frame.write_parquet, "stream.arrow": frame.write_ipc_stream}.get(name, frame.write_ipc)
    write(path)
    rows = read_rows(path)
    assert texts_of(rows) == [*TWO, {"text": "c", "n": None}]
    assert (rows.source, type(rows[0]["n"]), len(read_rows(str(path), limit=2))) == (name, int, 2)
    path.write_bytes(b"no such thing")
    with pytest.raises(InvalidRequestError, match=f"^{name} cannot be read: .*[^.]\\.$"):
        read_rows(path)


def test_a_sheet_is_read_where_a_library_for_it_is_there_and_else_its_name_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with pytest.raises(InvalidRequestError, match=r"There is no file .*t\.xlsx"):
        read_rows(path)
    if find_spec("openpyxl"):
        pd.DataFrame([*TWO, {"text": "c"}]).to_excel(path, index=False)
        assert texts_of(read_rows(path)) == [*TWO, {"text": "c", "n": None}]
        return
    with ZipFile(path, "w") as file:
        file.writestr("xl/workbook.xml", "")
    with pytest.raises(MissingDependencyError, match=r"reads t\.xlsx is installed: pip install pandas openpyxl"):
        read_rows(path)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.csv", "a,b\n1,2\n\n1,2,3\n", "t.csv, line 4: 3 fields, and the header names 2"),
        ("t.csv", 'a,b\n1,"2\n', "t.csv, line 2: unexpected end of data"),
        ("t.csv", "a,b,a\n1,2,3\n", "Columns 1 and 3 are both named 'a'"),
        ("t.csv", b"a\nok\n\xe9t\xe9\n", r"t.csv: the byte 0xe9 is not UTF-8.*encoding='cp1252'"),
        ("t.csv", "", "has no rows"),
        ("t.jsonl", '{"a": 1}\n{"a": \n', "t.jsonl, line 2: this is not JSON"),
        ("t.jsonl", "[" * 100_000, "t.jsonl, line 1: "),
        ("t.json", '{"a": 1}', "must be a list"),
        ("t.json", "[1,", "t.json: this is not JSON"),
        ("t.ods", "x", "must be one of .csv, .tsv, .jsonl, .ndjson, .json, .parquet"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(
    tmp_path: Path, name: str, content: str | bytes, said: str
) -> None:
    with pytest.raises(InvalidRequestError, match=said):
        read_rows(written(tmp_path, name, content))


def test_a_file_that_is_not_there_names_the_nearest_one(tmp_path: Path) -> None:
    written(tmp_path, "questions.csv", "a\n1\n")
    with pytest.raises(InvalidRequestError, match=r"There is no file .*question\.csv\. Did you mean questions\.csv\?"):
        read_rows(tmp_path / "question.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidRequestError, match="cannot be read"):
        read_rows(tmp_path / "folder.csv")
