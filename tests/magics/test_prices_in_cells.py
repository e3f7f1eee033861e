"""What a prompt costs, as cells tell it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from cells import Cells
from dialects import DIALECTS
from server import serve


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    body = DIALECTS["anthropic"].answer("Yes.")

    with serve(body, path="") as (url, seen):
        yield url, seen


def test_a_preview_of_several_answers_says_what_all_of_them_cost(
    cells: Cells, server: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server[0])
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none-of-yours")
    server[1].clear()
    cells.run("%chat use anthropic/claude-sonnet-4-6")
    assert "price" not in cells.run("%chat preview")
    said = cells.run("%%chat --preview --max-tokens 1000\nHello.")
    assert re.search(
        r"tokens in 1 message; ~\$\S+ to send, up to \$0.015 with a reply of at most 1,000 tokens \(\$3.00 in", said
    )
    monkeypatch.setenv("OPENAI_API_KEY", "none-of-yours")
    unlimited = cells.run("%%chat --preview -m openai/gpt-4o\nHello.")
    assert "with a reply of 4,096 tokens, which may be longer: no max_tokens is set" in unlimited
    said = cells.run("%%chat --preview -n 3 --max-tokens 1000\nHello.")
    assert "The first of 3 requests: ~" in said
    assert "up to $0.046 with replies of at most 1,000 tokens each" in said
    both = "-m anthropic/claude-sonnet-4-6 -m anthropic/claude-of-tomorrow --max-tokens 1000"
    said = cells.run(f"%%chat --preview {both}\nHello.")
    assert "the price of anthropic/claude-of-tomorrow is unknown, the others cost between $" in said
    assert not server[1]


def test_status_says_the_price(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none-of-yours")
    cells.run("%chat use anthropic/claude-sonnet-4-6 --max-tokens 1000")
    said = cells.run("%chat status")
    assert "Price: $3.00 in, $15.00 out, $0.30 cached per million tokens, from price tables" in said


def test_prices_behind_a_gateway_are_given_in_a_cell_or_for_the_conversation(cells: Cells) -> None:
    body = DIALECTS["completions"].answer("Yes.", sent=10_000, said=10)
    with serve(body, path="") as (url, seen):
        cells.run(f"%chat use m --base-url {url} --max-tokens 1000")
        assert "Price: unknown" in cells.run("%chat status")
        assert "its price is unknown" in cells.run("%%chat --preview\nHello.")
        cells.run("%chat config prices 1.0,2\n")
        cells.run("%%chat\nHello.")
        assert re.search(r"replies so far: \$0.010\.", cells.run("%chat status"))
        assert "prices = 2.5, 10, 0.25 (set here)" in cells.run("%chat config prices 2.50,10,0.25")
        assert "Price: $2.50 in, $10.00 out, $0.25 cached per million tokens, given" in cells.run("%chat status")
        said = cells.run("%%chat --preview\nHello.")
        assert "($2.50 in, $10.00 out, $0.25 cached per million tokens, given)" in said
        cells.shell.user_ns["rows"] = [{"text": "a"}]
        cells.run("%%chat map rows --max-cost 0.50\nSay {{ text }}")
        assert len(seen) == 2
        cells.run("%chat use other")
        assert "Price: unknown" in cells.run("%chat status")


def test_what_a_server_adds_to_the_messages_is_no_system_prompt(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    body = DIALECTS["anthropic"].answer("Yes.", sent=50, said=2)
    with serve(body, path="") as (url, _):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none-of-yours")
        cells.run("%chat use anthropic/claude-sonnet-4-6 --max-tokens 1000")
        cells.run("%%chat\nHello.")
        said = cells.run("%chat status")
        assert re.search(r"▒ template \d+,\s+▓ this turn \d+,", said)
        assert "system" not in said
        said = cells.run("%chat preview")
        rows = [line.split() for line in said.splitlines() if " % " in line]
        assert "what the model's server adds" in said
        total = re.search(r"request: ~?([\d,]+) tokens", said)
        assert total is not None
        assert sum(int(row[row.index("%") - 2].lstrip("~")) for row in rows) == int(total[1])
