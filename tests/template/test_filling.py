"""What is filled in, and what stays byte for byte as typed."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import pathlib
import time
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from cells import Cells
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx import InvalidRequestError
from jupyter_ctx.providers.base import Reply
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.template.expressions import fill

pytestmark = pytest.mark.core


class Frame(pd.DataFrame):
    """A subclass of a frame, as GeoPandas has one."""


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Point:
    x: int = 1
    y: float = 2.5

    @property
    def both(self) -> tuple[float, float]:
        return self.x, self.y


FRAME = pd.DataFrame({"city": ["Rome", "Oslo", "Bern"], "t": [30.5, 9.0, 17.0], "n": [3, 1, 2]})
Pair = collections.namedtuple("Pair", "left right")
DATA: dict[str, Any] = {
    "x": 42, "df": FRAME, "own": Frame({"t": [1, 2]}), "p": pl.DataFrame({"city": ["Rome", "Oslo"], "t": [30.5, 9.0]}),
    "rows": [{"name": "b", "n": 2}, {"name": "a", "n": 1}], "arr": np.arange(6.0).reshape(2, 3),
    "text": "one two\nthree", "d": {"k": "v", "n": 3}, "point": Point(), "pair": Pair(1, "r"), "pi": 3.14159,
    "when": datetime.datetime(2026, 11, 22, 20, 5), "price": decimal.Decimal("9.50"), "none": None, "yes": True,
    "path": pathlib.PurePosixPath("a/b.csv"), "tags": {"x"}, "counts": collections.Counter("hello"),
    "days": pd.date_range("2026-01-30", periods=3),
    "hours": pd.Series(range(4), pd.date_range("2026", periods=4, freq="h")),
    "heads": {"t": "degrees"},
    "colour": Colour.RED, "queue": collections.deque([1, 2]), "nested": {"a": [1, {"b": (2, 3)}]}, "words": ["x", "yy"],
    "reply": Reply("Because.", None, "stop", model="m"), "braces": "{{ x }}", "sum_of": 3,
}  # fmt: skip
PYTHON = [  # what Python prints is filled in
    "df", "df.head(2)", "df.describe()", "df.shape", "df.columns", "df.dtypes", "df.t", "df['t']", "df.t.mean()",
    "df['city'].unique()", "df.sort_values('t', ascending=False).head(1)", "df[['city', 'n']]", "df.loc[0, 'city']",
    "df.iloc[0:2]", "df.city.value_counts()", "df.to_csv(index=False)", "df.to_string()", "df.to_dict('records')",
    "df.nlargest(2, 't')", "df.isna().sum()", "df.t.quantile(0.5)", "df.t.round(1).to_list()", "df.n.sum() / 2",
    "df[df.t > 10]", "df[(df.t > 10) & (df.n < 3)]", "df.t * 2", "df.groupby('city').t.mean()", "df[['t', 'n']].corr()",
    "df.city.str.upper()", "df.t.astype(int)", "df.city.astype(str)", "df.loc[df.t.idxmax(), 'city']", "len(df)",
    "df.groupby('city').agg('max')", "df.isna().sum().sum()", "df.T", "own", "own.describe()", "own.t.sum()", "p",
    "p.head(1)", "p.sort('t')", "p['t'].mean()", "p.shape", "p.columns", "p.describe()",
    "rows", "rows[0]", "rows[-1]['n'] + 1", "rows[0]['name'].upper()", "[row['name'] for row in rows]",
    "sum(row['n'] for row in rows)", "', '.join(row['name'] for row in rows)", "d['k']", "d.get('z', 'none')",
    "d['k'] or 'none'", "dict(d)", "list(d.items())", "sorted(d)", "'k' in d", "arr", "arr.shape", "arr.mean()",
    "arr[0, 1:]", "arr.sum(axis=0)", "arr.T", "arr @ arr.T", "arr.max() - arr.min()", "arr.tolist()", "text[:3]",
    "text.split()", "text.splitlines()[0]", "text.replace('one', '1').title()", "text.count('o')", "text.split('\\n')",
    "', '.join(words)", "', '.join(map(str, words))", "pi * 2", "-x", "x // 5", "x ** 2", "x % 5", "round(pi, 2)",
    "not yes", "x if yes else 0", "1 < x < 50", "point", "point.x", "point.both", "pair.right", "when.year",
    "when.strftime('%d.%m.%Y')", "when.isoformat()", "price * 2", "path.name", "path", "tags", "none", "yes",
    "counts.most_common(1)", "colour", "colour.name", "queue", "nested['a'][1]['b'][0]", "[x, pi]", "words * 2",
    "max(words, key=len)", "sorted(words, reverse=True)", "list(zip(words, [1, 2]))", "list(range(3))", "abs(-x)",
    "any(row['n'] > 1 for row in rows)", "2 ** rows[0]['n']", "'%.1f' % pi", "df.t.add(1)", "df.city.str.center(8)",
    "df.add_prefix('x_')", "df.t.argsort()", "df.city.str.len().max()", "df.t.rank(method='dense')", "df.t.shift(1)",
    "df.t.rolling(2).mean()", "df.t.ewm(alpha=0.5).mean()", "df.t.expanding().max()", "df.t.cumsum().tail(1)",
    "df.groupby('city')['t'].transform('mean')", "df.t.apply(str)", "df.city.map(len)", "df.rename(columns=heads)",
    "df.assign(f=df.t * 1.8 + 32)", "df.set_index('city').loc['Oslo']", "df.set_index('city').T.to_dict()",
    "df.pivot_table(index='city', values='t', aggfunc='mean')", "df.melt(id_vars='city').head(3)", "df.t.clip(10, 20)",
    "df.merge(df, on='city').shape", "df.t.where(df.t > 10)", "df.t.mask(df.t > 10, 0)", "df.equals(df)",
    "df.take([1])",
    "df.filter(like='c')", "df.filter(items=['t'])", "df.select_dtypes('number').columns.tolist()", "df.t.diff()",
    "df.city.str.contains('o')", "df.city.str.slice(0, 2)", "df.city.str.extract('(.)')", "df.city.isin(['Rome'])",
    "df.t.between(10, 40).sum()", "df.duplicated().any()", "df.sort_values(['n', 't']).reset_index(drop=True)",
    "df.city.astype('category').cat.categories", "df.dtypes.to_dict()", "df.values[:2]", "df.to_numpy().shape",
    "days.day_name()", "days.to_period('M')", "hours.resample('2h').sum()", "hours.resample('30min').ffill().tail(2)",
    "hours.between_time('01:00', '02:00')", "hours.index[0].isoformat()", "hours.autocorr()", "arr.argsort()[0]",
    "arr.flatten().take([0, 1])", "arr[arr > 2]", "arr.std(axis=1).round(2)", "p.group_by('city').len().sort('city')",
    "p.select('t').row(0)", "p.with_row_index().tail(1)", "p['city'].str.to_uppercase().to_list()",
    "when.isocalendar().week",
    "(when - when).total_seconds()", "reply", "reply.text.upper()", "str(x) + '!'", "sum_of + 1",
]  # fmt: skip
FUNCTIONS = (abs, any, dict, len, list, map, max, range, round, sorted, str, sum, zip)


def filled(text: str, names: dict[str, Any] | None = None) -> str:
    return fill(text, DATA if names is None else names, Redactor())


@pytest.mark.parametrize("expression", PYTHON)
def test_an_expression_is_filled_in_as_python_prints_it(expression: str) -> None:
    expected = eval(expression, {function.__name__: function for function in FUNCTIONS} | DATA)
    assert filled(f"a {{{{ {expression} }}}} b") == f"a {expected} b"


@pytest.mark.parametrize(
    "expression",
    ["pi:.2f", "x:>6", "when:%d.%m.%Y", "x if yes else pi:.1f"],
)
def test_a_format_is_that_of_an_f_string(expression: str) -> None:
    assert filled(f"{{{{ {expression} }}}}") == eval(f'f"""{{{expression}}}"""', dict(DATA))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"b": 1}}', r"\frac{{x}}{{y}}", "f'{x} {{x}}'", "{{x}}", "{{ x}}", "{{x }}", "${{ x }}", r"\{{ x }}",
        "{{{ x }}}", "{% if x %}", "{# x #}", "{{ x\n }}", "$x {x} %s", "line\r\nend\n\n", "{{ }}", "{{  }}",
    ],
)  # fmt: skip
def test_everything_else_stays_as_typed(text: str) -> None:
    assert fill(text, DATA, Redactor()) == text


@given(st.text())
def test_text_without_expressions_is_untouched(text: str) -> None:
    assert "{{ " in text or filled(text, {}) == text


def test_what_was_filled_in_is_not_filled_in_again() -> None:
    assert filled("{{ braces }}") == "{{ x }}"


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("zilch", "nothing in this notebook is named zilch. --raw"),
        ("wrods[0]", "nothing in this notebook is named wrods. Did you mean words? --raw"),
        ("words.cuont('a')", "cuont() is not called in a prompt (did you mean count()?)."),
        ("x y", "not a valid Python expression. --raw"),
        ("df.head(", "not a valid Python expression. --raw"),
        ("open('x'):>9", "value = open('x'), and write {{ value }}."),
        ("rows[0]['nmae']", "KeyError: 'nmae'."),
        ("df.nope", "AttributeError: 'DataFrame' object has no attribute 'nope'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("df.append(1)", "Compute it in a cell, value = df.append(1), and write {{ value }}."),
        ("'a' * 10**7", "10,000,000 of at most 4,000,000 characters: fill in a part of it."),
    ],
)
def test_what_cannot_be_filled_in_is_an_error_with_its_remedy(expression: str, said: str) -> None:
    with pytest.raises(InvalidRequestError) as raised:
        filled(f"{{{{ {expression} }}}}")
    assert said in str(raised.value)
    assert str(raised.value).startswith(f"{{{{ {expression} }}}}")
    assert str(raised.value).endswith("Nothing was sent.")


def test_a_value_that_holds_a_key_is_refused_and_not_shown() -> None:
    names = {"settings": {"note": "topsecret"}, "rows": {}, "note": "topsecret", "api_key": "hunter2hunter2"}
    for expression in ("settings", "rows[note]", "api_key"):
        with pytest.raises(InvalidRequestError) as raised:
            fill(f"{{{{ {expression} }}}}", names, Redactor(["topsecret"]))
        assert not {"topsecret", "hunter2"} & set(str(raised.value).split())


def test_only_the_text_that_leaves_is_looked_at() -> None:
    names = {"logins": pd.DataFrame({"user": ["ada"] * 100, "password": ["x"] * 50 + ["Kite77zebra"] + ["x"] * 49})}
    assert "100 rows" in filled("{{ logins }}", names)
    with pytest.raises(InvalidRequestError, match=r"\(under password\)"):
        filled("{{ logins[48:52] }}", names)


def test_only_what_an_expression_reads_is_read() -> None:
    class Book(str):
        def __str__(self) -> str:
            raise AssertionError("the whole was read")

    assert filled("{{ book[:3] }}", {"book": Book("abcdef")}) == "abc"


def test_an_expression_takes_no_time_to_speak_of() -> None:
    names = {"df": pd.DataFrame({"x": np.arange(700_000.0)}), "book": "a" * 20_000_000}
    begun = time.thread_time()
    assert len(filled("{{ df.describe() }}{{ df.x.mean() }}{{ book[:20] }}", names)) > 100
    assert filled("{{ x }}" * 20_000) == "42" * 20_000
    assert time.thread_time() - begun < 2


def test_what_a_value_prints_while_it_is_read_is_not_shown(cells: Cells) -> None:
    cells.run(
        "class Loud:\n    def __str__(self): print('loud'); return 'quiet'\nthing = Loud()\n%chat use openai/gpt-4o"
    )
    said = cells.run("%%chat preview\nIt is {{ thing }}.")
    assert "It is quiet." in said
    assert "loud" not in said


def test_no_redact_sends_a_value_that_holds_a_key(cells: Cells) -> None:
    cells.run("login = {'password': 'Kite77zebra'}\n%chat use openai/gpt-4o")
    assert "in {'password': '***'}" in str(cells.fail("%%chat preview\nIt is {{ login }}."))
    assert "Kite77zebra" in cells.run("%%chat preview --no-redact\nIt is {{ login }}.")
