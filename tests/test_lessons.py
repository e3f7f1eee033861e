"""The lessons, and exercises that say what is right."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pandas
import pytest
from cells import Cells
from check import check
from server import events, piece, serve, usage

from jupyter_ctx import contains, sweep
from jupyter_ctx.testing import Answer, ScriptedProvider

ROOT = Path(__file__).resolve().parents[1]
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
EXERCISE = re.compile(r"check\(\\\"(\d\.\d)\\\"")


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_is_clean_loads_the_extension_and_has_three_exercises_with_checks(path: Path) -> None:
    lesson, cells = path.name[1], nbformat.read(path, 4).cells
    assert EXERCISE.findall(path.read_text("utf-8")) == [f"{lesson}.{number}" for number in (1, 2, 3)]
    assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in cells)
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    assert "%load_ext jupyter_ctx" in sources or not any("%chat" in source for source in sources)


def said(capsys: pytest.CaptureFixture[str], exercise: str, *answer: Any) -> str:
    check(exercise, *answer)
    return capsys.readouterr().out.split(None, 1)[0]


def test_an_answer_that_is_missing_or_of_another_form_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "2.2", ...) == "Not"
    assert said(capsys, "4.3", 7) == "Not"
    assert said(capsys, "2.2") == "Not"
    others = ("1.3", "9"), ("3.1", "10"), ("3.2", 5), ("5.2", object(), "5"), ("6.1", "24"), ("6.3", "2")
    for exercise, *answer in others:
        check(exercise, *answer)
        assert f"{type(answer[-1]).__name__} was given" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"'9\.9'"):
        check("9.9")


TALK = [text for pair in (("Lisbon, 80", "80"), ("Oslo, 140", "140")) for text in pair]
OPEN = f"""
from check import check
from jupyter_ctx import get_chat
get_chat().add_messages([{{"role": ("user", "assistant")[i % 2], "content": t}} for i, t in enumerate({TALK})])
"""


def test_exercises_that_change_the_conversation_are_right_once_it_is_done(cells: Cells) -> None:
    with serve(events(piece("Paris: 130 euros", "stop"), usage(120, 9))) as (url, _):
        cells.run(f"%chat use m --base-url {url} --window 8000\n{OPEN}")
        cells.shell.run_cell('print("A room in Paris takes 130 euros.")', store_history=True)
        for exercise, doing in (
            ('"1.1"', "%%chat -a cells\nAnd in Paris?"),
            ('"1.2"', "%chat exclude 2"),
            ('"2.1"', "%chat pin 2"),
            ('"2.3"', "%chat config compact_at 0.6"),
        ):
            assert cells.run(f"check({exercise})").startswith("Not done yet")
            cells.run(doing)
            assert cells.run(f"check({exercise})").startswith("Right")
        cells.run("%chat exclude 1")
        answers = {"1.3": (9, 120), "2.2": (3, 2)}
        for exercise, (wrong, right) in answers.items():
            assert cells.run(f"check('{exercise}', {wrong})").startswith("Not done yet")
            assert cells.run(f"check('{exercise}', {right})").startswith("Right")


@pytest.mark.usefixtures("real_model")
def test_exercises_on_policies_are_right_by_the_figures_of_the_lesson(cells: Cells) -> None:
    lesson = json.loads(LESSONS[5].read_text("utf-8"))
    for source in ("".join(cell["source"]) for cell in lesson["cells"] if cell["cell_type"] == "code"):
        if "check(" not in source and ".plot(" not in source:
            cells.run(source)
    cells.run("from check import check\ntable = [costs(chat) | {'name': name} for name, chat in chats.items()]")
    for exercise, wrong, right in (
        ("6.1", "20", "len(talk(100, 300, 700, window=32_000, on_overflow='stop').turns)"),
        ("6.2", "'stop'", "min((row for row in table if row['turns'] == 40), key=lambda row: row['sent'])['name']"),
        ("6.3", "4.0", "talk(80).usage().total.input_tokens / talk(40).usage().total.input_tokens"),
    ):
        assert cells.run(f"check('{exercise}', {wrong})").startswith("Not done yet")
        assert cells.run(f"check('{exercise}', {right})").startswith("Right")


def test_exercises_on_tokens_ask_the_model_of_the_lesson(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "3.1", 3) == said(capsys, "3.2", "house") == said(capsys, "3.2", "Geschwindigkeit") == "Not"
    assert said(capsys, "3.3", "I") == said(capsys, "3.3", "") == "Not"
    sure = "New Zealand is a country. The capital of New"
    for exercise, right in {"3.1": 10, "3.2": "Xhosa", "3.3": sure}.items():
        assert said(capsys, exercise, right) == "Right."


def test_exercises_on_long_prompts_read_what_a_run_says(capsys: pytest.CaptureFixture[str]) -> None:
    scripted = ScriptedProvider([Answer("1 is it."), Answer("2"), Answer("1, or", stop_reason="max_tokens")])
    rows = [{"prompt": f"{number}?", "answer": "1"} for number in range(3)]
    run = sweep("{{ prompt }}", rows, provider=scripted, scorers=contains("answer"), concurrency=1, store=None)
    run.result()
    assert said(capsys, "5.1", run, 3) == said(capsys, "5.2", run, 50) == said(capsys, "5.3", "the length") == "Not"
    assert said(capsys, "5.1", run, 2) == said(capsys, "5.2", run, 9) == "Right."
    assert said(capsys, "5.3", "The other codes") == "Right."
    assert said(capsys, "5.1", "a text", 1) == "Not"


def test_the_exercise_on_pairs_counts_texts_whose_two_answers_ended(capsys: pytest.CaptureFixture[str]) -> None:
    asked = (1, 1, 0, "stop"), (2, 1, 1, "stop"), (3, 1, 0, "max_tokens"), (4, 0, 1, "stop")
    rows = [
        {"code": code, "position": position, "found": found, "stop_reason": why}
        for code, first, middle, why in asked
        for position, found, why in (("first", bool(first), "stop"), ("middle", bool(middle), why))
    ]
    frame = pandas.DataFrame(rows)
    assert said(capsys, "4.1", frame, 2) == "Not"
    assert said(capsys, "4.1", frame, 1) == "Right."
    assert said(capsys, "4.2", 4) == said(capsys, "4.3", " More texts") == "Right."
