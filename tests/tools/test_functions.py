"""A function of the notebook becomes a tool: its name, its description, and the schema of its arguments."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any, Literal, TypedDict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jupyter_ctx
from jupyter_ctx import InvalidRequestError
from jupyter_ctx.tools.functions import as_tool, as_tools, read_docstring

KEY = "sk-proj-abcdefghijklmnopqrstuvwx0123456789"
WHAT = {"country": "Its code, such as NO.", "years": "The years: all of them."}
STYLES = {
    "google": "Return rows.\n\nArgs:\n  country (str): Its code,\n    such as NO.\n"
    "  years (list[int], optional): The years: all of them.\n\nReturns:\n  A table.",
    "numpy": "Return rows.\n\nParameters\n----------\ncountry : str\n    Its code,\n    such as NO.\n"
    "years : list of int, optional\n    The years: all of them.\n\nReturns\n-------\nA table.",
}


def properties(function: object) -> dict[str, Any]:
    schema = as_tool(function).spec.json
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    return dict(schema["properties"])


@dataclass
class TurnSlot:
    lat: float
    lon: float = 0


class Row(TypedDict):
    country: str


class Shop:
    def order(self, count: int) -> None: ...

    def __call__(self, what: Literal["tea", "milk"]) -> None:
        """Sell."""

    @jupyter_ctx.tool(confirm=True)
    @staticmethod
    def burn() -> None: ...


def rows(
    country: str, years: list[int], at: TurnSlot | None = None, kind: Literal["a", "b"] = "a", limit=10, *more: Row
):
    return country, years, at, kind, limit, more


def named(name: str) -> Callable[[], None]:
    def made() -> None: ...

    made.__name__ = name
    return made


def test_hints_become_a_schema_with_defaults_and_without_titles_of_parameters() -> None:
    found, schema = properties(rows), as_tool(rows).spec.json
    assert found["country"] == {"type": "string"}
    assert found["years"] == {"type": "array", "items": {"type": "integer"}}
    assert found["kind"] == {"type": "string", "enum": ["a", "b"], "default": "a"}
    assert found["limit"] == {"type": "integer", "default": 10}
    assert found["more"] == {"type": "array", "items": {"$ref": "#/$defs/Row"}}
    assert found["at"]["anyOf"] == [{"$ref": "#/$defs/TurnSlot"}, {"type": "null"}]
    assert (schema["required"], schema["$defs"]["TurnSlot"]["required"]) == (["country", "years"], ["lat"])


@pytest.mark.parametrize("style", STYLES)
def test_each_style_of_docstring_tells_the_parameters_and_the_rest_is_the_description(style: str) -> None:
    def described(country: str, years: list[int]) -> None: ...

    described.__doc__ = STYLES[style]
    spec = as_tool(described).spec
    assert {name: part["description"] for name, part in spec.json["properties"].items()} == WHAT
    assert spec.description.startswith("Return rows.")
    assert spec.description.endswith("A table.")
    assert "country" not in spec.description


def test_a_docstring_without_sections_is_the_description_and_none_is_fine() -> None:
    plain = named("plain")
    assert as_tool(plain).spec == ("plain", "", {"type": "object", "properties": {}, "additionalProperties": False})
    plain.__doc__ = "Return what happened: all of it.\n\n    Args: none."
    assert as_tool(plain).spec.description == "Return what happened: all of it.\n\nArgs: none."


@given(st.text(alphabet="Args: Parameters\n-:()*,\tab", max_size=200))
def test_any_docstring_is_read(text: str) -> None:
    description, parameters = read_docstring(text)
    assert len(description) <= len(cleandoc(text))
    assert all(name.isidentifier() for name in parameters)


def test_a_parameter_without_a_type_is_text_unless_its_default_is_a_number() -> None:
    def untyped(schema, model_config, copy=None, _json="x", d=1.5, e=True, f=math.inf) -> None: ...

    found = properties(untyped)
    types = ["string", "string", None, "string", "number", "boolean", "number"]
    assert [part.get("type") for part in found.values()] == types
    assert found["copy"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert "default" not in found["f"]


def test_methods_partials_decorated_and_callable_objects_are_functions() -> None:
    assert list(properties(Shop().order)) == ["count"]
    assert as_tool(Shop()).spec[:2] == ("Shop", "Sell.")
    assert properties(functools.cache(rows)) == properties(rows)
    bound = functools.partial(rows, "NO", at=pd.DataFrame())
    assert list(properties(bound)) == ["years", "kind", "limit"]
    assert as_tool(bound).spec.name == "rows"


def test_the_mark_leaves_a_function_as_it_is_and_is_seen_through_all_that_wraps_it() -> None:
    @jupyter_ctx.tool(confirm=True)
    def pay(amount: int) -> int:
        return amount

    assert pay(3) == 3
    assert not as_tool(jupyter_ctx.tool(named("look"))).confirm
    for wrapped in (pay, functools.partial(pay, 3), functools.cache(pay), Shop().burn, Shop.burn):
        assert as_tool(wrapped).confirm
    for other in (print, Shop().order, Shop, 3):
        with pytest.raises(InvalidRequestError):
            jupyter_ctx.tool(confirm=True)(other)


def frame(country: str, df: pd.DataFrame) -> None: ...
def array(values: np.ndarray) -> None: ...
def call(back: Callable[[], None]) -> None: ...
def accented(größe: int) -> None: ...
def missing(x: Unknown) -> None: ...  # noqa: F821


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (TurnSlot, "TurnSlot"), (json, "json"), ("rows", "'rows'"), (3, "int"), (None, "NoneType"), (max, "max"),
        (pd.DataFrame({"a": range(10**6)}), "DataFrame"), (lambda: 1, "<lambda>"), (named("größe"), "größe"),
        (named("x" * 65), "xxx"), (named("x; import os"), "x; import os"), (Shop.order, "order"), (frame, "df"),
        (array, "values"), (call, "back"), (accented, "größe"), (missing, "Unknown"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_tool_is_refused_in_one_line_that_names_it(value: object, word: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        as_tool(value)
    line = str(refused.value)
    assert word in line
    assert len(line.splitlines()) == 1
    assert len(line) < 300


def test_keys_in_docstrings_and_defaults_reach_no_request() -> None:
    def fetch(url: str, api_key: str = "hunter2hunter2", other: str = KEY) -> None: ...

    fetch.__doc__ = f"Fetch with {KEY}."
    sent = json.dumps(as_tool(fetch).spec)
    assert not any(key in sent for key in (KEY, "hunter2"))


def test_two_functions_of_one_name_are_refused_and_one_that_is_named_twice_is_one() -> None:
    assert len(as_tools([rows, as_tool(rows), Shop.burn])) == 2
    with pytest.raises(InvalidRequestError, match="rows"):
        as_tools([rows, named("rows")])
