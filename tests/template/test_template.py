"""What is filled in, and what stays byte for byte as typed."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import math
import pathlib
import re
import types
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cells import Cells
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx import InvalidRequestError
from jupyter_ctx.providers.base import Reply
from jupyter_ctx.template.filling import Filled, fill
from jupyter_ctx.template.hints import notes

TABLE = pd.DataFrame({"name": ["Ada", "Alan"], "born": [1815, 1912]})
NAMES: dict[str, Any] = {"x": 42, "table": TABLE, "row": {"a": [1, 2]}, "braces": "{{ x }}"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{{ x }}", "42"),
        ("a {{ table.head() }} b {{ row['a'][1] }}", f"a {TABLE.head()} b 2"),
        ("{{ row.a|length }}", "2"),
        ("{{ 'x' if x > 40 else 'y' }}", "x"),
        ("{{ braces }}", "{{ x }}"),
    ],
)
def test_an_expression_is_filled_in_once(text: str, filled: str) -> None:
    assert fill(text, NAMES).text == filled


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"b": 1}}', r"\frac{{x}}{{y}}", "f'{x} {{x}}'", "{{x}}", "{{ x}}", "{{x }}", "${{ x }}", r"\{{ x }}",
        "{{{ x }}}", "{% if x %}", "{# x #}", "{{ x\n }}", "$x {x} %s", "line\r\nend\n\n", "{{ }}", "{{  }}",
    ],
)  # fmt: skip
def test_everything_else_stays_as_typed(text: str) -> None:
    assert fill(text, NAMES) == Filled(text)


@pytest.mark.parametrize("expression", ["nope", "nope.a", "self", "len(x)", "x +", "not a name", "x|nofilter"])
def test_what_cannot_be_filled_in_stays_and_is_named(expression: str) -> None:
    text = f"a {{{{ {expression} }}}} b"
    assert fill(text, NAMES) == Filled(text, (expression,))


def test_many_expressions_take_no_time_to_speak_of() -> None:
    assert fill("{{ x }}" * 20_000, NAMES).text == "42" * 20_000


def test_a_key_is_not_even_shown_in_an_error() -> None:
    with pytest.raises(InvalidRequestError) as raised:
        fill("{{ rows[key] }}", {"rows": {}, "key": "topsecret"}, ["topsecret"])
    assert "topsecret" not in str(raised.value)


def test_a_key_is_never_filled_in() -> None:
    with pytest.raises(InvalidRequestError, match="key") as raised:
        fill("{{ settings }}", {"settings": {"key": "topsecret"}}, ["topsecret"])
    assert "topsecret" not in str(raised.value)


@pytest.mark.parametrize(
    ("value", "expression"),
    [
        ("postgresql://ada:geheim123@db/x", "v"), ("see redis://:geheim@cache:6379 for it", "v"),
        ({"url": "postgresql+psycopg://ada:p%40ss@db/x"}, "v"), ({"url": "amqp://a:bcd@h"}, "v['url'][:3]"),
        ({"Authorization": "Bearer abcdefghij"}, "v"),
        ({"Authorization": "Bearer abcdef0123456789"}, "v.Authorization"),
        ([("authorization", "Basic YWRhOmdlaGVpbQ==")], "v"), ("curl -H 'Authorization: Token geheim123'", "v|upper"),
        ("Basic YWRhOmdlaGVpbQ==", "v"), (pd.DataFrame({"url": ["mysql://ada:geheim@db"]}), "v"),
    ],
)  # fmt: skip
def test_passwords_of_addresses_and_headers_are_keys(value: object, expression: str) -> None:
    with pytest.raises(InvalidRequestError, match="key"):
        fill(f"{{{{ {expression} }}}}", {"v": value})


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ada:***@db/x", "postgresql://ada:<password>@db", "https://ada@db:80/x", "http://h:8080/a@b",
        "Basic mathematics, basic understanding", "the bearer of this letter", "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN", "Authorization: Bearer YOUR_API_KEY", "authorization is required",
    ],
)  # fmt: skip
def test_addresses_and_headers_without_a_secret_are_filled_in(text: str) -> None:
    assert fill("{{ v }}", {"v": text}).text == text


@given(st.text())
def test_text_without_names_is_untouched(text: str) -> None:
    assert fill(text, {}).text == text or "{{ " in text


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Point:
    x: int = 1
    y: float = 2.5


Pair = collections.namedtuple("Pair", "left right")
DATA: dict[str, Any] = {
    **NAMES, "df": pd.DataFrame({"city": ["Rome", "Oslo", "Bern"], "t": [30.5, 9.0, 17.0], "n": [3, 1, 2]}),
    "rows": [{"name": "b", "n": 2}, {"name": "a",
    "n": 1}], "arr": np.arange(6.0).reshape(2, 3), "text": "one two\nthree",
    "d": {"k": "v", "n": 3}, "point": Point(), "pair": Pair(1, "r"), "space": types.SimpleNamespace(a=1, b="x"),
    "when": datetime.datetime(2026, 11, 22, 20, 5), "price": decimal.Decimal("9.50"),
    "path": pathlib.PurePosixPath("a/b.csv"),
    "tags": {"x"}, "none": None, "yes": True, "counts": collections.Counter("hello"), "pi": math.pi,
    "colour": Colour.RED,
    "queue": collections.deque([1, 2]), "dates": pd.date_range("2026-01-01", periods=2), "np_pi": np.float64(3.5),
    "frames": [pd.DataFrame({"a": [1]})], "nested": {"a": [1, {"b": (2, 3)}]}, "raw": b"abc", "words": ["x", "y"],
}  # fmt: skip
PLAIN = [  # each is Python, too, and what Python prints is filled in
    "df", "df.head(2)", "df.tail(1)", "df.describe()", "df.shape", "df.columns", "df.dtypes", "df.t", "df['t']", "df.T",
    "df.t.mean()", "df['city'].unique()", "df.t.max()", "df.sort_values('t')",
    "df.sort_values('t', ascending=False).head(1)",
    "df[['city', 'n']]", "df.loc[0]", "df.loc[0, 'city']", "df.iloc[0:2]",
    "df.city.value_counts()", "df.to_csv(index=False)",
    "df.to_string()", "df.to_dict()", "df.nlargest(2, 't')", "df.isna().sum()", "df.t.quantile(0.5)",
    "df.t.round(1).to_list()", "df.nunique()", "df.count()", "df.t.value_counts(normalize=True)",
    "df.n.sum() / 2", "df.index", "df.iloc[0]['city']", "df.t[0]", "dates", "dates[0]",
    "rows", "rows[0]", "rows[:1]", "rows[0]['name'].upper()", "d['k']", "d['k'].upper()", "d.get('z', 'none')",
    "d.keys()",
    "d.items()", "arr", "arr.shape", "arr.mean()", "arr[0, 1:]", "arr.sum(axis=0)", "arr.T",
    "text", "text.split()", "text.splitlines()[0]", "text[:3]", "text.replace('one', '1')", "text.title()",
    "'x' in words",
    "', '.join(words)", "pi * 2", "-x", "--x",
    "x // 5", "x % 5", "not yes",
    "x if yes else 0", "1 < x < 50", "point", "point.x", "pair", "pair.right", "space", "space.b", "when", "when.year",
    "when.strftime('%d.%m.%Y')", "when.date()", "when.isoformat()", "price", "price * 2", "path", "path.name", "tags",
    "none", "yes", "counts.most_common(1)", "colour", "colour.name", "colour.value", "queue", "np_pi",
    "nested['a'][1]['b'][0]",
    "nested", "frames", "raw", "[x, pi]", "(x, 1)", "x == 42", "arr.max() - arr.min()", "arr.tolist()", "words * 2",
    "rows[-1]['n'] + 1", "text.count('o')", "[1, 2] + [3]", "()",
]  # fmt: skip


@pytest.mark.parametrize("expression", PLAIN)
def test_plain_data_is_filled_in_as_python_prints_it(expression: str) -> None:
    assert fill(f"{{{{ {expression} }}}}", DATA).text == str(eval(expression, {}, DATA))


@pytest.mark.parametrize(
    ("expression", "filled"),
    [
        ("rows|length", "2"), ("rows|map(attribute='name')|join(', ')", "b, a"), ("rows|sum(attribute='n')", "3"),
        ("rows|sort(attribute='n')|map(attribute='name')|list", "['a', 'b']"), ("d|tojson", '{"k": "v", "n": 3}'),
        ("words|first", "x"), ("words|last|upper", "Y"),
        ("d.nope|default('none')", "none"), ("d.nope is defined", "False"), ("text|wordcount", "3"), ("pi|round(2)",
        "3.14"),
        ("words|join(' and ')", "x and y"), ("'a' ~ x ~ 'b'", "a42b"), ("text|truncate(8, true)",
        "one two\nthree"[:13]),
        ("[3, 1, 2]|sort|reverse|list", "[3, 2, 1]"), ("words|map('upper')|list", "['X', 'Y']"), ("x is even", "True"),
        ("d.items()|list", "[('k', 'v'), ('n', 3)]"), ("arr|length", "2"),
        ("row.a.1", "2"),
        ("df|length", "3"), ("df.city|list", "['Rome', 'Oslo', 'Bern']"),
        ("[1, 1, 2]|unique|list", "[1, 2]"), ("words|max", "y"), ("-3|abs", "3"),
        ("counts.h", "1"),
        ("reply", "Because."), ("reply.text|upper", "BECAUSE."), ("reply.model", "m"),
    ],
)  # fmt: skip
def test_filters_work_as_in_jinja(expression: str, filled: str) -> None:
    names = {**DATA, "reply": Reply("Because.", None, "stop", model="m")}
    assert fill(f"{{{{ {expression} }}}}", names).text == filled


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a {{x}} b", "{{ x }}"), ("{{ x}}", "{{ x }}"), ("{{row['a']}}", "{{ row['a'] }}"),
        ("{{ len(row) }}", "{{ row|length }}"), ("{{ sorted(row.a) }}", "{{ row.a|sort }}"),
        ("{{ round(x, 2) }}", "{{ x|round(2) }}"), ("{{ x:.2f }}", "{{ x|round(2) }}"),
        ("{{ round(x / 3, 1) }}", "{{ (x / 3)|round(1) }}"), ("{{ max(x, 3) }}", "{{ [x, 3]|max }}"),
        ("{{ sorted(row.a, reverse=True) }}", "{{ row.a|sort(reverse=True) }}"), ("{{ str(x) }}", "{{ x|string }}"),
        ("{{ dict(row) }}", "Compute it in a cell"), ("{{ x|nofilter }}", "there is no such filter"),
        ("{{ x + nope }}", "not all of its names are defined"), ("{{ x y }}", "it is not a valid expression"),
        ('{{ f"{x}" }}', "Compute it in a cell"), ("{{f'{x}'}}", "Compute it in a cell"), ("{{ nope }}", "{{ nope }}"),
    ],
)  # fmt: skip
def test_what_was_nearly_an_expression_is_said_with_how_to_write_it(text: str, said: str) -> None:
    found = fill(text, NAMES)
    assert found.text == text
    lines = notes(text, NAMES, found.unknown)
    assert said in lines[-1]
    assert len(lines) <= 2
    assert ("does not name anything" in lines[0]) == (text == "{{ nope }}")
    for expression in re.findall(r"Write (\{\{ .+? \}\}) instead", lines[-1]):
        assert fill(expression, NAMES).values


def test_expressions_that_stay_for_the_same_reason_share_a_line() -> None:
    text = "{{ nope }} {{ none_of_these.a }} {{ x y }}"
    assert notes(text, NAMES, fill(text, NAMES).unknown) == (
        "{{ nope }}, {{ none_of_these.a }} are sent as typed: they do not name anything defined in this notebook.",
        "{{ x y }} is sent as typed: it is not a valid expression.",
    )


@pytest.mark.parametrize(
    "text",
    [r"\frac{{x}}{{y}}", '{"a": {"x": {}}}', "{{{x}}}", "{{ y}}", "${{x}}", "a {{ x }}", "{{}}", "{%x%}", "\\{{x}}"],
)
def test_nothing_is_said_of_braces_that_are_something_else(text: str) -> None:
    assert notes(text, NAMES) == ()


@pytest.mark.parametrize(
    "expression",
    ["row.a.append(3)", "table.corr(method='kendall')", "table.nunique(axis=1)", "table.groupby('name')", "table * 2"],
)
def test_what_is_refused_is_said_with_how_to_write_it_in_python(expression: str) -> None:
    with pytest.raises(InvalidRequestError) as raised:
        fill(f"{{{{ {expression} }}}}", NAMES)
    assert str(raised.value).endswith(f"value = {expression}, and fill in the name: {{{{ value }}}}.")
    assert NAMES["row"] == {"a": [1, 2]}


def test_a_pasted_prompt_sends_nothing_and_runs_nothing(cells: Cells, tmp_path: pathlib.Path) -> None:
    cells.run("import os, subprocess\nl = [1]\nkey = 'sk-proj-Zq3vX9bN2mK7tR5wY8pL4dF6'\n%chat use openai/gpt-4o")
    mark = tmp_path / "mark"
    for expression in (
        f"get_ipython().system('touch {mark}')", f"open('{mark}', 'w')", f"subprocess.getoutput('touch {mark}')",
        "os.environ['HOME']", "l.append(2)", "'a'*10**10", "key", "key[::-1]",
    ):  # fmt: skip
        error = cells.fail(f"%%chat --preview\nhello {{{{ {expression} }}}}")
        assert isinstance(error, InvalidRequestError)
        assert "Zq3v" not in str(error)
    assert not mark.exists()
    assert cells.shell.user_ns["l"] == [1]
    assert "key[::-1]" in cells.run("%%chat --preview --raw\nhello {{ key[::-1] }}")


def test_what_was_nearly_filled_in_is_said_above_the_answer(cells: Cells) -> None:
    cells.run("n = 5\n%chat use openai/gpt-4o")
    assert "put a space inside both braces" in cells.run("%%chat --preview\nhow about {{n}}?")


def test_all_expressions_of_a_prompt_share_their_time() -> None:
    names = {"l": list(range(75_000))}
    with pytest.raises(InvalidRequestError, match="1 s"):
        fill("".join(f"{{{{ l|sum + {number} }}}}" for number in range(200)), names)


@pytest.mark.parametrize("key", ["EMPTY", "x", "lm-studio", "sk-no-key-required"])
def test_what_stands_for_a_key_where_none_is_needed_is_no_secret(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    text = f"The axis is {key}."
    assert fill("{{ text }}", {"text": text}, [key]).text == text
