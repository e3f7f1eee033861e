"""A function of the notebook becomes a tool: its name, its description, and the schema of its arguments."""

from __future__ import annotations

import functools
import json
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, TypedDict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jupyter_ctx
from jupyter_ctx import InvalidRequestError
from jupyter_ctx.tools.docstrings import read_docstring
from jupyter_ctx.tools.functions import as_tool, as_tools

KEY = "sk-proj-abcdefghijklmnopqrstuvwx0123456789"
WHAT = {"country": "Its code, such as NO.", "years": "The years: all of them."}
STYLES = {
    "google": """Return rows.

        Args:
            country (str): Its code,
                such as NO.
            years (list[int], optional): The years: all of them.

        Returns:
            A table.
        """,
    "numpy": """Return rows.

        Parameters
        ----------
        country : str
            Its code,
            such as NO.
        years : list of int, optional
            The years: all of them.

        Returns
        -------
        A table.
        """,
    "sphinx": """Return rows.

        :param str country: Its code,
            such as NO.
        :type country: str
        :param years: The years: all of them.
        :returns: A table.
        """,
}


def properties(function: object) -> dict[str, Any]:
    schema = as_tool(function).spec.json
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    found: dict[str, Any] = schema["properties"]
    return found


def refusal(function: object) -> str:
    with pytest.raises(InvalidRequestError) as refused:
        as_tool(function)
    line = str(refused.value)
    assert "\n" not in line
    assert len(line) < 300
    return line


@dataclass
class Place:
    lat: float
    lon: float = 0


class Row(TypedDict):
    country: str


class Color(Enum):
    RED = "red"


class Shop:
    def __init__(self, orders: int) -> None:
        self.orders = orders

    def order(self, count: int) -> int:
        """Order."""
        return self.orders + count

    @staticmethod
    @jupyter_ctx.tool(confirm=True)
    def close() -> None: ...

    @jupyter_ctx.tool(confirm=True)
    @staticmethod
    def burn() -> None: ...

    def __call__(self, what: Literal["tea", "milk"]) -> str:
        """Sell."""
        return what


def rows(
    country: str, years: list[int], at: Place | None = None, kind: Literal["a", "b"] = "a", limit=10, *more: float
):
    return country, years, at, kind, limit, more


def test_hints_become_a_schema_with_defaults_and_without_titles_of_parameters() -> None:
    found = properties(rows)
    assert found["country"] == {"type": "string"}
    assert found["years"] == {"type": "array", "items": {"type": "integer"}}
    assert found["kind"] == {"type": "string", "enum": ["a", "b"], "default": "a"}
    assert found["limit"] == {"type": "integer", "default": 10}
    assert found["more"] == {"type": "array", "items": {"type": "number"}}
    assert found["at"]["anyOf"][1] == {"type": "null"}
    schema = as_tool(rows).spec.json
    assert schema["required"] == ["country", "years"]
    assert schema["$defs"]["Place"]["required"] == ["lat"]


@pytest.mark.parametrize("style", STYLES)
def test_each_style_of_docstring_tells_the_parameters_and_the_rest_is_the_description(style: str) -> None:
    def named(country: str, years: list[int]) -> None: ...

    named.__doc__ = STYLES[style]
    spec = as_tool(named).spec
    assert {name: part["description"] for name, part in spec.json["properties"].items()} == WHAT
    assert spec.description.startswith("Return rows.")
    assert spec.description.endswith("A table.")
    assert "country" not in spec.description


def test_a_plain_docstring_is_the_description_and_none_is_fine() -> None:
    def plain(year: int) -> None:
        """Return what happened: all of it."""

    def bare() -> None: ...

    assert as_tool(plain).spec.description == "Return what happened: all of it."
    spec = as_tool(bare).spec
    assert spec == ("bare", "", {"type": "object", "properties": {}, "additionalProperties": False})


@given(st.text(alphabet="Args: Parameters\n-:()*,\tab", max_size=200))
def test_any_docstring_is_read(text: str) -> None:
    description, parameters = read_docstring(text)
    assert len(description) <= len(text.expandtabs())
    assert all(name.isidentifier() for name in parameters)


def test_a_parameter_without_a_type_is_text_unless_its_default_is_a_number() -> None:
    def untyped(a, b=None, c="x", d=1.5, e=True) -> None: ...

    found = properties(untyped)
    assert [found[name].get("type") for name in "acde"] == ["string", "string", "number", "boolean"]
    assert found["b"]["anyOf"] == [{"type": "string"}, {"type": "null"}]


def test_names_that_pydantic_keeps_for_itself_are_parameters_as_well() -> None:
    def reserved(schema: int, model_config: int, copy: int, _private: int, json: int) -> None: ...

    with warnings.catch_warnings(action="error"):
        assert list(properties(reserved)) == ["schema", "model_config", "copy", "_private", "json"]


def test_types_of_every_kind_have_a_schema() -> None:
    def typed(a: Row, b: set[Color], c: dict[str, Place], d: tuple[int, str], e: Any, f: float = math.inf) -> None: ...

    assert properties(typed)["f"] == {"type": "number"}
    assert as_tool(typed).spec.json["required"] == list("abcde")


def test_methods_partials_decorated_and_callable_objects_are_functions() -> None:
    shop = Shop(1)
    assert list(properties(shop.order)) == ["count"]
    assert properties(shop) == {"what": {"type": "string", "enum": ["tea", "milk"]}}
    assert as_tool(shop).spec[:2] == ("Shop", "Sell.")
    assert list(properties(functools.cache(rows))) == list(properties(rows))
    bound = functools.partial(rows, "NO", at=pd.DataFrame())
    assert list(properties(bound)) == ["years", "kind", "limit"]
    assert as_tool(bound).spec.name == "rows"


def test_the_mark_leaves_a_function_as_it_is_and_is_seen_through_all_that_wraps_it() -> None:
    @jupyter_ctx.tool(confirm=True)
    def pay(amount: int) -> int:
        return amount

    @jupyter_ctx.tool
    def look() -> None: ...

    assert pay(3) == 3
    assert not as_tool(look).confirm
    for wrapped in (pay, functools.partial(pay, 3), functools.cache(pay), Shop.close, Shop(1).burn, Shop.burn):
        assert as_tool(wrapped).confirm
    for other in (print, Shop(1).order, Shop, 3):
        with pytest.raises(InvalidRequestError):
            jupyter_ctx.tool(confirm=True)(other)


def test_what_is_no_function_or_has_no_name_is_refused_in_one_line_that_names_it() -> None:
    accented = function_named("größe")
    for value, name in (
        (Place, "Place"), (json, "json"), ("rows", "'rows'"), (3, "int"), (None, "NoneType"),
        (pd.DataFrame({"a": range(10**6)}), "DataFrame"), (lambda: 1, "<lambda>"), (accented, "größe"),
        (function_named("x" * 65), "xxx"), (function_named("x; import os"), "x; import os"), (Shop.order, "order"),
        (max, "max"),
    ):  # fmt: skip
        assert name in refusal(value)


def function_named(name: str) -> Callable[[], None]:
    def made() -> None: ...

    made.__name__ = name
    return made


def test_a_parameter_that_no_model_can_write_is_named_with_what_to_do() -> None:
    def frame(country: str, df: pd.DataFrame) -> None: ...
    def array(values: np.ndarray) -> None: ...
    def call(back: Callable[[], None]) -> None: ...
    def accented(größe: int) -> None: ...
    def missing(x: Unknown) -> None: ...  # noqa: F821

    for function, name in ((frame, "df"), (array, "values"), (call, "back"), (accented, "größe"), (missing, "Unknown")):
        assert name in refusal(function)
    assert list(properties(functools.partial(frame, df=pd.DataFrame()))) == ["country"]


def test_keys_in_docstrings_and_defaults_reach_no_request() -> None:
    def fetch(url: str, api_key: str = "hunter2hunter2", other: str = KEY) -> None: ...

    fetch.__doc__ = f"Fetch with {KEY}."
    spec = as_tool(fetch).spec
    assert KEY not in json.dumps(spec)
    assert "hunter2" not in json.dumps(spec)


def test_two_functions_of_one_name_are_refused_and_one_that_is_named_twice_is_one() -> None:
    assert len(as_tools([rows, as_tool(rows), Shop.close])) == 2
    with pytest.raises(InvalidRequestError, match="rows"):
        as_tools([rows, function_named("rows")])
