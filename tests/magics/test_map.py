"""``%%chat map`` in a plain shell: what a user writes, reads, and is told where it is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest
from cells import Cells
from server import events, piece, send, serve, usage

from jupyter_ctx import Run, get_chat
from jupyter_ctx.experiments.table.results import Results


def scripted(handler: Any, request: dict[str, Any]) -> None:
    """Answer with the last word of the prompt in capitals; refuse what asks for it."""
    prompt = request["messages"][-1]["content"]
    if "refuse" in prompt:
        send(handler, 400, json.dumps({"error": {"message": "this row is refused"}}))
        return
    word = prompt.splitlines()[0].split()[-1].upper()
    if prompt.startswith("JSON"):
        word = json.dumps({"title": word, "year": 1999})
    send(handler, 200, events(piece(word), piece("", "stop"), usage(20, 2)), "text/event-stream")


@pytest.fixture
def asked(cells: Cells) -> Iterator[list[dict[str, Any]]]:
    """The requests that cells send; the variables ``df``, ``words`` and ``right`` are there."""
    with serve(scripted) as (url, seen):
        cells.run(f"%chat use m --base-url {url} --window 4000")
        cells.shell.user_ns["df"] = pandas.DataFrame({"word": ["sun", "moon", "rain"], "said": ["SUN", "M", "RAIN"]})
        cells.shell.user_ns["words"] = ["sun", "moon"]
        cells.run("from jupyter_ctx import exact, regex\nright = exact('said')")
        cells.run("def long(row, reply): return 3 < len(reply.text)")
        yield seen


def prompts(seen: list[dict[str, Any]]) -> set[str]:
    return {request["messages"][-1]["content"] for request in seen}


def test_a_cell_is_asked_of_every_row_and_the_dataframe_is_its_result(cells: Cells, asked: list[Any]) -> None:
    cells.run("greeting = 'Hello'")
    said = cells.run("%%chat map df -o out --as first --score right\n{{ greeting }}, say {{ word }}")
    assert prompts(asked) == {f"Hello, say {word}" for word in ("sun", "moon", "rain")}
    names = cells.shell.user_ns
    assert names["_"] is names["out"]
    assert list(names["out"].reply) == ["SUN", "MOON", "RAIN"]
    assert list(names["out"].right) == [True, False, True]
    assert isinstance(names["first"], Run)
    assert names["first"].name == "first"
    first, *_, figures, verdict = said.splitlines()[: said.splitlines().index("")]
    assert first.startswith("3 requests to m: ")
    assert figures.startswith("3 rows, ")
    assert verdict.startswith('2 of 3 rows pass "right" (67 %')
    assert "  word  said" in said  # the DataFrame itself


def test_settings_of_the_line_and_of_the_conversation_hold_for_every_row_of_a_file(
    cells: Cells, asked: list[Any], tmp_path: Path
) -> None:
    (tmp_path / "my rows.csv").write_text("word\nsun\nmoon\n")
    cells.run("from dataclasses import dataclass\n@dataclass\nclass Film:\n    title: str\n    year: int")
    cells.run("%%chat system\nBe brief.")
    before = get_chat().info(), get_chat().turns
    line = f"%%chat map '{tmp_path}/my rows.csv' -t 0.5 --max-tokens 7 --limit 1 --schema Film -o out --prices 0,0"
    cells.run(f"{line}\nJSON {{{{ word }}}}")
    (request,) = asked
    assert (request["temperature"], request["messages"][0]["content"]) == (0.5, "Be brief.")
    assert 7 in (request.get("max_tokens"), request.get("max_completion_tokens"))
    assert list(cells.shell.user_ns["out"].title) == ["SUN"]
    assert (get_chat().info(), get_chat().turns) == before


def test_a_dry_run_shows_the_price_and_the_first_prompts_and_sends_nothing(cells: Cells, asked: list[Any]) -> None:
    cells.run("many = [f'word {i}' for i in range(9)]")
    said = cells.run("%%chat map many --dry-run -s Brief. --repeat 2\nSay {{ text }}")
    assert asked == []
    assert "18 requests to m: " in said
    assert "--- row 0 ---\n[system] Brief.\nSay word 0\n" in said
    assert "Say word 2" in said
    assert "Say word 3" not in said
    assert "9 rows; nothing was sent." in said


def test_rows_that_fail_are_marked_and_named_with_the_remedy(cells: Cells, asked: list[Any]) -> None:
    cells.run("mixed = ['sun', 'refuse this', 'rain']")
    said = cells.run("%%chat map mixed -o out\nSay {{ text }}")
    assert "3 rows, 1 failed, " in said
    assert "Row 1 failed: " in said
    assert "--retry asks failed rows again." in said
    assert list(cells.shell.user_ns["out"].reply.isna()) == [False, True, False]


def test_several_scorers_are_named_as_their_variables(cells: Cells, asked: list[Any]) -> None:
    cells.run("more = {'any': regex('A')}")
    cells.run("%%chat map df --score right --score long --score more -o out\nSay {{ word }}")
    out = cells.shell.user_ns["out"]
    assert [list(out[name]) for name in ("right", "long", "any")] == [
        [True, False, True], [False, True, True], [False, False, True],
    ]  # fmt: skip
    cells.run("%%chat map df --score long -o out\nSay {{ word }}")
    assert list(cells.shell.user_ns["out"].long) == [False, True, True]


def test_above_the_limit_it_asks_and_does_not_take_no_answer_for_a_yes(
    cells: Cells, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cells.run("%chat config confirm_cost 0\n%chat config prices 3.0,15")
    questions = list[str]()

    def answer(said: str) -> None:
        monkeypatch.setattr("builtins.input", lambda question: questions.append(question) or said)

    for no in ("", "n", "perhaps"):
        answer(no)
        cells.fail("%%chat map words --as run\nSay {{ text }}")
    assert asked == []
    assert "run" not in cells.shell.user_ns
    assert set(questions) == {"Begin? [y/N] "}
    answer("y")
    cells.run("%%chat map words\nSay {{ text }}")
    assert len(asked) == 2


def test_without_pandas_the_results_are_shown(cells: Cells, asked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    said = cells.run("%%chat map words -o out\nSay {{ text }}")
    assert isinstance(cells.shell.user_ns["out"], Results)
    assert "MOON" in said


def test_the_stored_answers_of_maps_are_deleted_after_asking(
    cells: Cells, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cells.run("%%chat map df\nSay {{ word }}")
    monkeypatch.setattr("builtins.input", lambda _: "no")
    assert "nothing was deleted" in str(cells.fail("%chat delete --answers"))
    monkeypatch.setattr("builtins.input", lambda _: "answers")
    assert "Deleted 3 answers of maps" in cells.run("%chat delete --answers")
    count = len(asked)
    cells.run("%%chat map df\nSay {{ word }}")
    assert len(asked) == count + 3
