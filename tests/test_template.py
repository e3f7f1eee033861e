"""What is filled in, and what stays byte for byte as typed."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx import InvalidRequestError
from jupyter_ctx.template import Filled, fill


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


@pytest.mark.parametrize(
    "expression", ["table.nope", "row['b'].c", "x / 0", "table.__class__.__mro__", "row.a.append(3)", "table.head(1, 2)"]
)
def test_an_expression_that_fails_fails_the_cell(expression: str) -> None:
    with pytest.raises(InvalidRequestError, match="failed"):
        fill(f"{{{{ {expression} }}}}", NAMES)


def test_many_expressions_take_no_time_to_speak_of() -> None:
    assert fill("{{ x }}" * 20_000, NAMES).text == "42" * 20_000


def test_a_key_is_not_even_shown_in_an_error() -> None:
    with pytest.raises(InvalidRequestError) as raised:
        fill("{{ rows[key] }}", {"rows": {}, "key": "topsecret"}, ["topsecret"])
    assert "topsecret" not in str(raised.value)


def test_a_key_is_never_filled_in() -> None:
    with pytest.raises(InvalidRequestError, match="holds a key") as raised:
        fill("{{ settings }}", {"settings": {"key": "topsecret"}}, ["topsecret"])
    assert "topsecret" not in str(raised.value)


@given(st.text())
def test_text_without_names_is_untouched(text: str) -> None:
    assert fill(text, {}).text == text or "{{ " in text
