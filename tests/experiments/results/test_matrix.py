"""The answers of a run side by side, in a page to read, and the card of a run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from answering_rows import Refusal, answering_rows

from jupyter_ctx import InvalidRequestError, Reply, exact, sweep
from jupyter_ctx.display.run_page import AnswerTable, CardFigures, ScoreLine, answers_html, card_bundle, card_html
from jupyter_ctx.experiments.results.differences import answers_of
from jupyter_ctx.experiments.results.export import RunRecord, export_run
from jupyter_ctx.experiments.table.results import Result

ROW = '<tr><th scope="row"'
KEY = "sk-proj-" + "a1B2c3D4" * 5
HOSTILE = "<script>$\\&\U0001d4b3" * 5_000


def result(row: int, arm: str = "a", text: str | None = "Yes.", stop: str = "stop", **more: Any) -> Result:
    reply = None if text is None else Reply(text, stop_reason=stop)
    return Result(row, arm, more.pop("repeat", 0), {"word": f"word {row}"}, {"x": arm}, f"Say {row}", reply, **more)


def marks(table: AnswerTable) -> list[list[tuple[str, ...]]]:
    return [[tuple(mark.text for mark in cell.marks) for cell in row.cells] for row in table.rows]


def test_a_mark_says_what_was_scored_or_why_nothing_was_and_failures_come_first() -> None:
    table = answers_of(
        [
            result(0, scores={"ok": True, "length": 4.0}),
            result(1, scores={"ok": 0, "length": None}),
            result(2, text=None, error="The server is gone."),
            result(3, stop="refusal", scores={"ok": True, "length": 4.0}),
            result(4, text=" ", scores={"ok": False, "length": 1.0}),
            result(5, truncated=True, scores={"ok": True}),
            result(6, text=None, asked=False),
            result(7, text="{", error="It is no JSON."),
        ]
    )
    assert [row.name for row in table.rows] == ["1", "2", "3", "4", "7", "0", "5", "6"]
    assert [cells[0] for cells in marks(table)] == [
        ("✗ ok: fail", "length: no score"),
        ("failed",),
        ("refused or filtered", "✓ ok: pass", "length: 4"),
        ("empty", "✗ ok: fail", "length: 1"),
        ("failed",),
        ("✓ ok: pass", "length: 4"),
        ("truncated",),
        ("not asked",),
    ]
    assert table.rows[1].cells[0].answer == "The server is gone."
    assert table.rows[4].cells[0].answer == "It is no JSON.\n\n{"


def test_rows_on_which_the_arms_differ_come_before_those_that_are_the_same() -> None:
    said = [result(0), result(0, "b"), result(1), result(1, "b", "No."), result(2)]
    assert [row.name for row in answers_of(said).rows] == ["1", "2", "0"], "the third was asked in one arm only"
    scored = [result(0, scores={"length": 1.0}), result(0, "b", "No.", scores={"length": 1.0})]
    scored += [result(1, scores={"length": 1.0}), result(1, "b", scores={"length": 2.0})]
    assert [row.name for row in answers_of(scored).rows] == ["1", "0"]


def test_a_card_shows_two_hundred_rows_and_an_export_all() -> None:
    table = answers_of([result(row, text="word " * 450) for row in range(300)])
    assert card_html(CardFigures(answers=table)).count('<tr><th scope="row"') == 200
    assert len(card_html(CardFigures(answers=table))) < 600_000
    assert answers_html(table, most=None).count('<tr><th scope="row"') == 300
    few = answers_of([result(0), result(0, "b", "No.")])
    assert "<details open>" in card_html(CardFigures(answers=few))
    assert "Yes</mark>" in answers_html(few)


def test_a_report_begins_with_what_was_found_and_has_every_row(tmp_path: Path) -> None:
    def says(prompt: str) -> str | Refusal:
        return Refusal(400) if prompt == "3 b" else prompt[:1] if "b" in prompt else "</script><!--\u2028"

    with answering_rows(says) as asked:
        rows = [{"n": str(number)} for number in range(9)]
        run = sweep("{{ n }} {{ x }}", rows, {"x": ["a", "b"]}, scorers={"ok": exact("n")}, **asked.model)
        run.result(60)
    path = run.export(tmp_path / "report.html")
    assert run.export(path) == path, "an earlier report is replaced"
    page = path.read_text("utf-8")
    assert "Of 18 answers: 1 failed." in page
    assert page.index("1 failed") < page.index("x=b is better than x=a") < page.index(ROW)
    assert page.count(ROW) == 9
    assert not re.search(r"<script|<!--|(?:src|href)=", page)
    left, width, value = map(float, re.findall(r"(?:left|width):([\d.]+)%", page.partition("<body>")[2])[3:6])
    assert 0 < left < value <= left + width <= 100, "the bar of the second arm, 8 of 8"
    own = tmp_path / "own.html"
    own.write_text("<!DOCTYPE html><p>mine")
    with pytest.raises(InvalidRequestError, match="not an earlier export"):
        run.export(own)


def test_a_report_holds_no_secret_and_tells_what_was_not_asked(tmp_path: Path) -> None:
    rows = [{"text": f"Bearer {KEY}", "password": "hunter2hunter2"}, {"text": "plain"}]
    said = [
        Result(0, f"x={KEY}", 0, rows[0], {}, KEY, Reply(KEY), scores={"length": 204_800}),
        Result(0, "x=2", 0, rows[0], {}, "hunter2hunter2", None, error=KEY),
        Result(1, f"x={KEY}", 0, rows[1], {}, "", Reply("y"), scores={"length": 300_000}),
    ]
    settings = {"model": "m", "base_url": "https://user:pass@host/v1?key=abcdefgh"}
    record = RunRecord(f"{KEY} {{{{ text }}}}", rows, said, settings, grid={"x": [KEY, "2"]}, name=f"$5 </title> {KEY}")
    page = export_run(record, tmp_path / "report.html", ["known-key"]).read_text("utf-8")
    for hidden in (KEY, "hunter2", "user:pass", "abcdefgh"):
        assert hidden not in page
    assert page.count(ROW) == 2
    assert "<title>$5 &lt;/title&gt; ***</title>" in page
    assert "Of 4 answers: 1 failed, 1 not asked." in page


@pytest.mark.parametrize("text", [HOSTILE, "$" * 50_000, "\U0001d4b3" * 50_000])
def test_a_card_stays_small_whatever_its_texts_hold(text: str) -> None:
    score = ScoreLine("100 %", text, "99 to 100 %, 20,000 rows", (0.99, 1.0, 1.0))
    page = card_bundle(CardFigures(text, [text] * 6, [score] * 6, [text] * 13))["text/html"]
    assert len(page.encode()) <= 100_000
    assert "<script>" not in page


def test_a_card_says_the_same_as_text() -> None:
    score = ScoreLine("50 %", "right", "10 to 90 %, 4 rows", (0.1, 0.5, 0.9))
    forms = card_bundle(CardFigures("formal", ["4 rows", "1 failed"], [score], ["All is well."]))
    assert forms["text/plain"].splitlines() == [
        "All is well.", "formal: 4 rows, 1 failed", "right: 50 % (10 to 90 %, 4 rows)",
    ]  # fmt: skip
    assert "left:10.0%;width:80.0%" in forms["text/html"]
