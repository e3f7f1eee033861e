"""A structured answer as tables: fields, lists of objects, what is nested, and what is too much."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hostile import ANSWERS
from html_pages import Seen
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from jupyter_ctx.display.answer.markdown import AnswerForms, bundle
from jupyter_ctx.display.answer.object_tables import CELL_CHARACTERS, structured_forms

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


def forms(value: dict[str, Any]) -> AnswerForms:
    return structured_forms(value, json.dumps(value))


def test_the_fields_of_an_object_stand_below_each_other() -> None:
    shown = forms({"title": "Up", "year": 2009, "seen": True, "rating": None})
    assert shown.plain.splitlines() == ["field   value", "title   Up", "year    2009", "seen    true", "rating  null"]
    assert "| title | Up |\n| year | 2009 |" in shown.markdown
    assert "text-align:right" not in shown.html


def test_a_list_of_objects_is_a_table_with_a_row_each() -> None:
    shown = forms({"moons": [{"name": "Io", "km": 3643}, {"name": "Europa", "ocean": True}]})
    assert shown.plain.splitlines() == [
        "moons: 2 rows",
        "name    km    ocean",
        "Io      3643",
        "Europa        true",
    ]
    assert "field" not in shown.plain


def test_a_list_of_objects_beside_other_fields_stands_below_them() -> None:
    shown = forms({"planet": "Jupiter", "moons": [{"name": "Io"}]})
    assert shown.plain.splitlines() == [
        "field   value", "planet  Jupiter", "moons   1 row, below", "", "moons: 1 row", "name", "Io",
    ]  # fmt: skip


def test_a_list_of_texts_alone_is_a_table_of_one_column() -> None:
    assert forms({"names": ["Io", "Europa, frozen"]}).plain.splitlines() == [
        "names: 2 rows", "names", "Io", "Europa, frozen",
    ]  # fmt: skip


def test_what_is_nested_is_indented_text() -> None:
    ada = {"name": "Ada", "born": {"year": 1815, "city": "London"}, "tags": ["a", "b"], "odd": ["a, b", "c"]}
    shown = forms({"who": ada, "none": []})
    assert shown.plain.splitlines()[1:] == [
        "who    name: Ada",
        "       born:",
        "         year: 1815",
        "         city: London",
        "       tags: a, b",
        "       odd:",
        "         - a, b",
        "         - c",
        "none   []",
    ]
    nested = forms({"root": {"inner": [{"label": "c", "n": 2}], "flat": [1]}, "n": 1})
    assert nested.plain.splitlines()[1:5] == [
        "root   inner:",
        "         - label: c",
        "           n: 2",
        "       flat: 1",
    ]
    deep: Any = "end"
    for _ in range(60):
        deep = {"a": deep}
    assert '"a": "end"' in forms({"deep": deep, "n": 1}).plain


def test_what_is_too_much_is_shortened_with_a_word_and_whole_in_the_json() -> None:
    shown = forms({"rows": [{"i": f"row{i}"} for i in range(300)]})
    assert shown.plain.startswith("rows: 40 of 300 rows shown")
    assert "row40" not in shown.plain
    assert "row299" in shown.html
    assert "row299" in shown.markdown
    wide = forms({"rows": [{f"c{i}": i for i in range(30)}]})
    assert wide.plain.startswith("rows: 1 row, 12 of 30 columns shown")
    long = forms({"text": "x" * 5_000, "n": 1})
    assert f"… ({CELL_CHARACTERS:,} of 5,000 characters shown)" in long.plain
    many = forms({f"f{i}": i for i in range(250)})
    assert many.plain.startswith("100 of 250 fields shown")


def test_json_of_one_line_is_laid_out_and_other_json_left_as_it_was_written() -> None:
    assert '```json\n{\n  "a": 1\n}\n```' in structured_forms({"a": 1}, ' {"a": 1} ').markdown
    assert '```json\n{\n "a":1}\n```' in structured_forms({"a": 1}, '{\n "a":1}').markdown
    deep = '{"a":' * 400 + "1" + "}" * 400
    assert deep in structured_forms({"a": 1}, deep).markdown
    fenced = 'Here:\n```json\n{"a": 1}\n```'
    assert f"````json\n{fenced}\n````" in structured_forms({"a": 1}, fenced).markdown


@pytest.mark.parametrize("name", ANSWERS)
def test_nothing_that_a_value_or_a_name_says_becomes_markup(name: str) -> None:
    said = ANSWERS[name][:2_000].encode("utf-8", "replace").decode()
    shown = forms({"a": said, said[:60] or "b": "x", "rows": [{said[:40] or "c": said, "more": {said: said}}]})
    Seen(bundle(shown)["text/html"]).check()
    rendered = Seen(MarkdownIt("gfm-like", {"linkify": False}).render(shown.markdown))
    assert rendered.tags <= {"table", "thead", "tbody", "tr", "th", "td", "p", "code", "pre"}
    assert not rendered.odd


@given(value=st.dictionaries(st.text(max_size=6), VALUES, max_size=5))
def test_every_value_is_shown_in_three_forms(value: dict[str, Any]) -> None:
    shown = forms(value)
    assert shown.plain
    table = shown.markdown.partition("\n\n```json")[0]
    widths = {line.replace("\\|", "").count("|") for line in table.splitlines() if line.startswith("| ")}
    assert len(widths) <= 1 + sum(isinstance(each, list) for each in value.values())
