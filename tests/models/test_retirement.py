"""The day on which a model ends: who says so, and when it is told."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cells import Cells
from server import events, piece, serve

from jupyter_ctx import Chat
from jupyter_ctx.models.retirement import End, end_of
from jupyter_ctx.models.window_tables import kept_table, load_tables
from jupyter_ctx.providers.base import Card
from jupyter_ctx.providers.model_lists import read_cards

NOW = date(2026, 11, 24)


def end(model: str, **settings: Any) -> End | None:
    chat = Chat(model, **settings)
    return chat.models.end(chat.config)


@pytest.mark.parametrize("model", ["openai/gpt-5-mini", "gpt-5-mini"])
def test_the_table_says_when_a_model_ends_at_its_own_provider_and_nowhere_else(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = end(model)
    assert found is not None
    assert found.day == date(2026, 12, 11)
    assert "litellm" in found.source
    assert end("groq/gpt-5-mini") is end("openrouter/openai/gpt-5-mini") is end("openai/gpt-4o") is None
    assert end("openai/gpt-5-mini", base_url="http://127.0.0.1:1/v1") is None
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert end(model) is None


@pytest.mark.parametrize(
    ("row", "day"),
    [
        ({"shutdown_date": "2026-12-11"}, "2026-12-11"),
        ({"shutdown_date": int(datetime(2026, 12, 11, tzinfo=UTC).timestamp())}, "2026-12-11"),
        ({"lifecycle": "deprecated", "retires_at": "2026-11-30T00:00:00Z"}, "2026-11-30"),
        ({"lifecycle": "active", "retires_at": "2026-11-30T00:00:00Z"}, ""),
        ({"expiration_date": "2027-01-02"}, "2027-01-02"),
        ({"expiration_date": None}, ""),
        ({"shutdown_date": "soon"}, ""),
        ({"shutdown_date": True}, ""),
        ({"shutdown_date": 1e300}, ""),
        ({"shutdown_date": ["2026-12-11"]}, ""),
        ({}, ""),
    ],
)
def test_the_lists_of_providers_are_read(row: dict[str, Any], day: str) -> None:
    (card,) = read_cards({"data": [{"id": "m", **row}]})
    assert card.ends == day


def test_a_provider_that_takes_a_day_back_is_believed_and_one_that_gives_none_is_not_asked(tmp_path: Path) -> None:
    kept_table("openai", [Card("gpt-5-mini"), Card("gpt-5-nano")])
    assert end("openai/gpt-5-mini") is not None
    kept_table("openai", [Card("gpt-5-mini"), Card("gpt-5-nano", ends="2027-06-01")])
    assert end("openai/gpt-5-mini") is None
    nano = end("openai/gpt-5-nano")
    assert nano is not None
    assert nano.day == date(2027, 6, 1)
    assert "list" in nano.source
    assert end("openai/gpt-5") is not None, "the list does not name it"


@pytest.mark.parametrize(
    ("day", "soon", "line"),
    [
        ("2026-11-23", False, "m was to end on 2026-11-23, as X says."),
        ("2026-11-24", True, "m ends today, on 2026-11-24, as X says."),
        ("2026-11-25", True, "m ends tomorrow, on 2026-11-25, as X says."),
        ("2027-01-23", True, "m ends in 60 days, on 2027-01-23, as X says."),
        ("2027-01-24", False, "m ends in 61 days, on 2027-01-24, as X says."),
    ],
)
def test_the_line_says_the_day_and_its_source_and_sixty_days_are_soon(day: str, soon: bool, line: str) -> None:
    found = end_of(day, "X")
    assert found is not None
    assert found.is_soon(NOW) is soon
    assert found.line("m", NOW) == line
    assert end_of("no day", "X") is None


def test_readme_lessons_and_tests_name_no_model_that_the_table_gives_an_end() -> None:
    root = Path(__file__).resolve().parents[2]
    ending = {name.partition("/")[2] for name in load_tables()[1].ends}
    written = [
        root / "README.md",
        *root.glob("docs/**/*.md"),
        *root.glob("notebooks/*.ipynb"),
        *root.glob("tests/**/*.py"),
    ]
    of_tables = root / "tests" / "models"
    for page in (page for page in written if of_tables not in page.parents):
        named = set(re.findall(r"(?<![\w.-])[a-z][\w.-]*\w(?![.\\])", page.read_text("utf-8")))
        assert ending & named == set(), page.name


def test_cells_show_it_in_the_list_in_the_status_and_once_below_an_answer(cells: Cells) -> None:
    day = (date.today() + timedelta(days=30)).isoformat()
    listed = {"data": [{"id": "m", "context_length": 8_000, "expiration_date": day}, {"id": "n"}]}
    with serve(events(piece("Hi", "stop")), listed) as (url, _):
        cells.run(f"%chat use m --base-url {url}")
        assert day in cells.run("%chat models")
        assert f"\nm ends in 30 days, on {day}" in cells.run("%chat status")
        assert f"m ends in 30 days, on {day}" in cells.run("%%chat\nHello?")
        assert day not in cells.run("%%chat\nAnd again?")
        assert day not in cells.run("%%chat -m n\nHello?")
