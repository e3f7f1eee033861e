"""A table goes as its shape, its columns and its first and last rows, and says what was sent of what."""

from __future__ import annotations

import re
import time
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx import Chat
from jupyter_ctx.attachments.attached import Attached, TextRoom
from jupyter_ctx.attachments.attached_values import attached_value
from jupyter_ctx.attachments.printing import decimal_text, digits_apart
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.session.attaching import attachment_of
from jupyter_ctx.testing import ScriptedProvider, count_characters

SMALL = pd.DataFrame({"name": ["Ann", None, "Cy|d\n"], "age": [30, 41, 52], "score": [1.5, float("nan"), 2 / 3]})


def attached(value: Any, tokens: int = 2_000) -> Attached:
    return attached_value("df", value, TextRoom(tokens, count_characters), Redactor())


def test_a_small_frame_goes_whole() -> None:
    found = attached(SMALL)
    assert found.text == "\n".join([
        "df:", "```", "DataFrame with 3 rows and 3 columns", "",
        "|  | name (str, 1 missing) | age (int64) | score (float64, 1 missing) |", "|-|-|-|-|",
        "| 0 | Ann | 30 | 1.5 |", "| 1 | NaN | 41 | NaN |",
        r"| 2 | Cy\|d\n | 52 | 0.666667 |", "```",
    ])  # fmt: skip
    assert found.what == f"all 3 rows, about {count_characters(found.text)} tokens"


EPOCHS = [1700000000.25, 1700000000.5]
NANOSECONDS = 1_700_000_000_123_456_789


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_different_numbers_stay_different(values: list[float]) -> None:
    digits = digits_apart(values)
    texts = [decimal_text(value, digits) for value in values]
    assert len({text.removeprefix("-0.0") for text in texts}) >= len(set(values) - {0.0})
    for value, text in zip(values, texts, strict=True):
        assert float(text) == pytest.approx(value, rel=1e-5, abs=5e-324)


class Tensor:
    """A tensor of some library: its own text shows a part."""

    shape, dtype = (1_000, 200), "float64"

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.arange(200_000.0).reshape(self.shape)

    def __repr__(self) -> str:
        return "tensor([0, 1, ...])"


def fails(frame: pl.DataFrame) -> pl.DataFrame:
    raise AssertionError


LONG = pd.DataFrame({"g": [f"k{n % 5}" for n in range(20_000)], "n": range(20_000)})
LONG_POLARS = pl.DataFrame({"g": LONG["g"].to_list(), "n": LONG["n"].to_list()})
NUMBERS = list(range(20_000))


def tokens_of(part: Attached) -> int:
    return int(part.what.rpartition("about ")[2].split()[0].replace(",", ""))


def test_a_table_takes_8000_tokens_unless_more_is_asked_for() -> None:
    chat = Chat(provider=ScriptedProvider(), window=200_000)
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(20_000, 5)))
    usual, tenth, half = (
        tokens_of(attachment_of(chat.session, "df", wide, attach_share=share)) for share in (None, 0.1, 0.5)
    )
    assert 6_000 < usual <= 8_000 < 12_000 < tenth < half
    assert tokens_of(attachment_of(chat.session, "df", wide, among=2)) == usual
    assert tokens_of(attachment_of(chat.session, "text", "word " * 80_000)) > 12_000


def test_a_long_frame_goes_as_its_first_and_last_rows_and_the_notice_says_how_many() -> None:
    found = attached(pd.DataFrame({"n": range(12_000), "text": [f"row {n}" for n in range(12_000)]}), 400)
    sent = re.match(r"(\d+) of 12,000 rows, about (\d+) tokens", found.what)
    assert sent is not None
    number = int(sent[1])
    assert 20 < number < 200
    assert 300 < int(sent[2]) <= 400
    assert f"… {12_000 - number:,} rows left out …" in found.text
    rows = [int(line.split("|")[1]) for line in found.text.split("\n") if re.match(r"\| \d+ \|", line)]
    assert rows == [*range((number + 1) // 2), *range(12_000 - number // 2, 12_000)]


def test_a_wide_frame_goes_as_its_first_and_last_columns_at_once() -> None:
    names = [f"c{n}" for n in range(20_000)]
    for frame in (pd.DataFrame(np.ones((100, 20_000)), columns=names), pl.DataFrame(np.ones((100, 20_000)), names)):
        begun = time.process_time()
        found = attached(frame, 800)
        assert time.process_time() - begun < 1
        columns = re.match(r"(\d+) of 100 rows and (\d+) of 20,000 columns", found.what)
        assert columns is not None
        rows, shown = map(int, columns.groups())
        assert rows >= 6
        first, last = (shown + 1) // 2, 20_000 - shown // 2
        assert f"… {20_000 - shown:,} columns left out, from c{first} to c{last - 1} …" in found.text
        assert re.search(rf"\| c{first - 1} \(\w+\) \| … [^|]* … \| c{last} ", found.text)
        assert "| c19999 (" in found.text
        assert count_characters(found.text) <= 800


RECORDS = np.array([("Ada", "hunter2x9")], dtype=[("user", "U9"), ("password", "U9")])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (SMALL["age"], ["Series with 3 rows and 1 column", "| age (int64) |", "| 2 | 52 |"]),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ["| 0 | 1 | 2 |"]),
        (
            SMALL.set_index(["name", "age"]),
            ["| name | age | score (float64, 1 missing) |\n|-|-|-|\n| Ann | 30 | 1.5 |"],
        ),
        (pd.DataFrame({"c": pd.Categorical(["x", None])}), ["| c (category, 1 missing) |", "| 0 | x |"]),
        (pd.DataFrame({"i": pd.array([1, None], dtype="Int64")}), ["| i (Int64, 1 missing) |", "| 1 | <NA> |"]),
        (pd.DataFrame({"o": [[1, {"a": 2}], b"x"]}), ["| 0 | [1, {'a': 2}] |", "| 1 | b'x' |"]),
        (
            pl.DataFrame({"a": [1, None], "s": ["x|y", None]}),
            ["Polars DataFrame", "| a (Int64, 1 missing) |", r"| 1 | x\|y |"],
        ),
        (pl.DataFrame({"a": [1]}).lazy(), ["Polars LazyFrame with 1 column", "| a (Int64) |"]),
        (np.arange(6).reshape(2, 3), ["shape 2 × 3, int64, from 0 to 5", "[[0, 1, 2],\n [3, 4, 5]]", "all 6 values"]),
        (RECORDS, ["| user (<U9) |", "| Ada | *** |", "all 1 row"]),
        (np.array([{"a": 1}, None], dtype=object), ["{'a': 1}", "all 2 values"]),
        (pd.DataFrame({"t": EPOCHS}), ["1700000000.25", "1700000000.5"]),
        (np.array(EPOCHS), ["from 1700000000.25 to 1700000000.5", "[1700000000.25, 1700000000.5]"]),
        ([pd.Series(EPOCHS), pl.Series(EPOCHS)], ["Series([1700000000.25, 1700000000.5])"] * 2),
        (pd.DataFrame({"x": np.array([0.1, 16_777_216], dtype="float32")}), ["| 0.1 |", "| 16777216.0 |"]),
        (pd.DataFrame({"t": pd.to_datetime([NANOSECONDS])}), [":20.123456789 |"]),
        (pd.DataFrame({"d": [Decimal("1.23456789012345678901")]}), ["| 1.23456789012345678901 |"]),
        (pd.DataFrame({"t": ["word " * 1_000] * 3}), ["word …", "all 3 rows, long cells shortened, about "]),
        (scipy.sparse.eye(5_000, format="csr"), ["5,000 × 5,000 values by its own short text"]),
        (LONG_POLARS.lazy().map_batches(fails, schema={"b": pl.String}), ["a query that has not run"]),
        (Tensor(), [" of 200,000 values"]),
        (np.ma.masked_greater(np.arange(20_000.0), 5), ["20,000 values by its own short text"]),
        ([NUMBERS[:n] for n in range(600)], [" of 600 members"]),
        ({"frame": LONG}, ["tables and arrays in it by their sizes"]),
        (
            [np.zeros((100, 100)), LONG["n"]],
            ["<ndarray of 100 × 100 values, float64>", "<Series of 20,000 values, int64>"],
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_kind_of_table_and_array_goes_as_its_columns_rows_and_numbers(value: Any, words: list[str]) -> None:
    found = attached(value, 600)
    for each in words:
        assert each in f"{found.text}\n{found.what}"
    assert count_characters(found.text) <= 600
    assert "e+0" not in found.text
    assert re.search(r"about \d+ tokens?$", found.what)


COLUMNS = st.sampled_from(["int", "float", "text", "mixed", "date"])
MAKERS: dict[str, Any] = {
    "int": lambda n: n * 10**9,
    "float": lambda n: n / 7,
    "text": lambda n: "word | \n```" * (n % 40),
    "mixed": lambda n: [None, n, "x" * n, [n] * 9, {"a": n}][n % 5],
    "date": lambda n: pd.Timestamp(n, unit="D"),
}


@given(st.lists(COLUMNS, max_size=60), st.integers(0, 300), st.integers(60, 1_500), st.booleans())
def test_no_table_takes_more_than_its_room_or_leaves_anything_out_without_a_word(
    kinds: list[str], rows: int, tokens: int, polars: bool
) -> None:
    kinds = [kind for kind in kinds if not polars or kind in ("int", "float", "text")]
    data = {f"{kind}{n}": [MAKERS[kind](row) for row in range(rows)] for n, kind in enumerate(kinds)}
    frame: Any = pl.DataFrame(data) if polars else pd.DataFrame(data, index=range(rows))
    found = attached(frame, tokens)
    assert count_characters(found.text) <= tokens
    height, width = frame.shape
    if found.what.startswith("all"):
        assert "rows left out" not in found.text
    else:
        assert re.match(rf"\d+ of {height} rows?\b", found.what)
        assert re.search(r"rows? left out", found.text) or not height
    assert (f"of {width:,} columns" in found.what) == bool(re.search("columns? left out", found.text))


def test_a_million_rows_take_no_time() -> None:
    count = 1_000_000
    frame = pd.DataFrame({
        "n": np.arange(count), "x": np.random.default_rng(1).random(count),
        "t": pd.date_range("2020", periods=count, freq="s"),
        "s": [None if n % 7 == 0 else f"text {n}" for n in range(count)], "c": pd.Categorical(["a"] * count),
    })  # fmt: skip
    attached(frame)
    begun = time.process_time()
    found = attached(frame)
    assert time.process_time() - begun < 0.2
    assert "| s (str, 142,858 missing) |" in found.text
    assert "of 1,000,000 rows" in found.what
