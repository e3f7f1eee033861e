"""``jupyter ctx run`` ends with the exit code that a build needs, and prints what it rests on."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from answering_rows import answering_rows

from jupyter_ctx import Reply, Result, Results, load_run
from jupyter_ctx.__main__ import main
from jupyter_ctx.experiments.results.export import export_run
from jupyter_ctx.experiments.results.record import RunRecord

Build = Callable[..., tuple[int, str]]


@pytest.fixture
def build(capsys: pytest.CaptureFixture[str]) -> Build:
    """Run the command; return its exit code and all that it prints."""

    def run(*arguments: Any) -> tuple[int, str]:
        code = main(["run", *map(str, arguments)])
        return code, "".join(capsys.readouterr())

    return run


def asserts(*conditions: str) -> list[str]:
    return [part for each in conditions for part in ("--assert", each)]


GONE: dict[str, Any] = {"error": "gone", "reply": None}


def exported(
    folder: Path, name: str = "run", lost: int = 0, of: int = 50, loss: dict[str, Any] = GONE, **hits: int
) -> Path:
    """A run in a file with an arm for each name, of rows of which so many are right, and the last ones are lost."""
    rows = [{"q": str(i)} for i in range(of)]
    results = Results(
        Result(i, arm if len(hits) > 1 else "", 0, row, {"tone": arm[5:]}, row["q"],
               **{"reply": Reply(f"{i < right}", cost=0.001), **(loss if i >= of - lost else {})},
               scores={"right": i < right, "grade": 3.0 + (i < right)} if i < of - lost else {})
        for i, row in enumerate(rows) for arm, right in hits.items()
    )  # fmt: skip
    return export_run(RunRecord("{{ q }}", rows, results, scorers={"right": ""}), folder / f"{name}.json")


def test_a_table_is_printed_with_the_sentences_to_quote(tmp_path: Path, build: Build) -> None:
    code, said = build(exported(tmp_path, a=40))
    head, line, *_ = said.splitlines()
    assert code == 0
    assert head.split() == ["run", "scorer", "arm", "value", "95", "%", "interval", "rows", "cost"]
    assert line.split() == ["run", "right", "all", "80", "%", "67", "to", "89", "%", "50", "$0.050"]
    assert '40 of 50 rows pass "right" (80 %, 95 % interval 67 to 89 %).' in said


def test_conditions_are_about_rates_and_means_of_arms(tmp_path: Path, build: Build) -> None:
    marks = {
        "right >= 0.8": "✓✗",  # of each arm
        "right>=0.7": "✓✓",
        "right[tone=a] >= 0.8": "✓",
        "right[tone=a] > 0.8": "✗",
        "right[tone=b] <= 0.7": "✓",
        "right[tone=b] < 0.7": "✗",
        "right[tone=b] >= right[tone=a] - 0.1": "✓",
        "right[tone=b] >= right[tone=a] - 0.09": "✗",
        "right[tone=a] > right[tone=b]": "✓",
        "grade[tone=a] >= 3.8": "✓",
        "grade >= grade[tone=b] + 0.05": "✓✗",
    }
    path = exported(tmp_path, **{"tone=a": 40, "tone=b": 35})
    code, said = build(path, *asserts(*marks))
    assert code == 1
    for condition, expected in marks.items():
        told = [line for line in said.splitlines() if line[2:].startswith((f"{condition} holds", f"{condition} does"))]
        assert "".join(line[0] for line in told) == expected, condition


@pytest.mark.parametrize(
    ("loss", "why"),
    [
        (GONE, "5 failed"),
        ({"truncated": True}, "5 truncated"),
        ({"problems": ("broken",)}, "5 without a"),
        ({"asked": False, "reply": None}, "5 not asked"),
    ],
)
def test_answers_without_a_score_count_against_a_rate_on_either_side_and_leave_a_mean_open(
    tmp_path: Path, build: Build, loss: dict[str, Any], why: str
) -> None:
    path = exported(tmp_path, lost=5, loss=loss, a=45)
    code, said = build(path, "--assert", "right >= 0.95")
    assert code == 1
    assert f"0.9 in run (5 of 50 answers have no score, and count against it: {why}" in said
    assert build(path, *asserts("right >= 0.9"))[0] == 0
    assert build(path, *asserts("right <= 0.99"))[0] == 1
    code, said = build(path, "--assert", "grade >= 1")
    assert (code, f"grade of run cannot be checked: 5 of 50 answers have no score ({why}" in said) == (2, True)


def test_a_mean_that_lacks_two_in_a_hundred_counts_them_as_the_worst_score(tmp_path: Path, build: Build) -> None:
    path = exported(tmp_path, lost=1, a=40)
    assert build(path, *asserts("grade >= 3.8", "grade <= 3.82"))[0] == 0
    assert build(path, *asserts("grade >= 3.81"))[0] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--assert", "rigth >= 0.8"], "Did you mean 'right'"),
        (["--assert", "right[tone=c] >= 0.8"], "There is no arm 'tone=c'"),
        (["--assert", "right[tone=a] >= right[tone=a]"], "nothing tells"),
        (["--assert", "right == 0.8"], "is no condition"),
        (["--assert", "right >= eight"], "is no condition"),
        (["--assert", "__import__('os')"], "is no condition"),
        (["--assert", ""], "is no condition"),
        (["--margin", "-1"], "margin is -1.0"),
        (["--not-worse-than", "nowhere.json"], "nowhere.json"),
    ],
)
def test_what_cannot_be_checked_ends_with_two(tmp_path: Path, build: Build, arguments: list[str], words: str) -> None:
    code, said = build(exported(tmp_path, **{"tone=a": 4, "tone=b": 3}, of=8), *arguments)
    assert code == 2
    assert words in said


def test_arms_without_any_score_cannot_be_checked_and_the_first_error_says_why(tmp_path: Path, build: Build) -> None:
    path = exported(tmp_path, lost=50, a=40)
    code, said = build(path, "--assert", "right >= 0.1")
    why = "no answer has a score (50 failed; the first error: gone)", "50 of 50 answers have no score (50 failed; the"
    assert (code, [each in said for each in why]) == (2, [True, True])
    assert "There is no scorer 'rigth'. Did you mean 'right'?" in build(path, "--assert", "rigth >= 0.1")[1]


def test_a_run_that_is_worse_than_a_baseline_fails(tmp_path: Path, build: Build) -> None:
    baseline, worse, same = (
        exported(tmp_path, name, only=hits) for name, hits in (("base", 45), ("worse", 30), ("same", 44))
    )
    code, said = build(worse, "--not-worse-than", baseline)
    assert code == 1
    assert "✗ worse is worse than baseline: with worse, 30 of 50 rows pass" in said
    assert "  … and 5 more" in said
    assert build(same, "--not-worse-than", baseline)[0] == 0
    assert build(same, "--not-worse-than", baseline, "--strict")[0] == 1
    assert build(worse, "--not-worse-than", baseline, "--margin", "0.5")[0] == 0


def test_the_test_in_the_documentation_records_and_then_compares(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "run-in-a-build.md").read_text("utf-8")
    source = page.split("```python\n")[1].split("```")[0]
    (tmp_path / "questions.csv").write_text(
        "question,answer\nWhat is the capital of France?,Paris\nAnd of Italy?,Rome\n"
    )
    with answering_rows(lambda prompt: "Paris." if "France" in prompt else "Rome") as asked:
        there = ", ".join(f"{name}={value!r}" for name, value in asked.model.items())
        names: dict[str, Any] = {"__file__": str(tmp_path / "test_prompt.py")}
        exec(source.replace('model="openai/gpt-5.2"', f"{there}, prices=(1, 1)"), names)
        for name in ("test_most_answers_are_right", *["test_the_prompt_is_not_worse_than_before"] * 2):
            names[name]()
    assert len(asked.prompts) == 2
    assert load_run(tmp_path / "baseline.json").summary()[0].value == 1.0


RUNS = """
from jupyter_ctx import exact, sweep
from jupyter_ctx.testing import ScriptedProvider

rows = [{"text": str(i)} for i in range(10)]
given = {"scorers": {"right": exact(text="yes")}, "store": None, "concurrency": 1}
first = sweep("{{ text }}", rows, provider=ScriptedProvider("yes"), **given)
second = also = sweep("{{ text }}", rows, provider=ScriptedProvider(["yes"] * 9 + ["no"]), **given)
looked = sweep("{{ text }}", rows, provider=ScriptedProvider("yes"), dry_run=True, **given)
first.result()
"""


def notebook(path: Path, *cells: str) -> Path:
    made: Any = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])  # type: ignore[no-untyped-call]
    nbformat.write(made, path)  # type: ignore[no-untyped-call]
    return path


def test_a_notebook_is_executed_and_its_runs_are_checked_and_it_stays_as_it_is(tmp_path: Path, build: Build) -> None:
    path = notebook(tmp_path / "ask.ipynb", RUNS)
    before = path.read_bytes()
    conditions = ("right >= 0.9", "right[first] >= 1", "right[second] >= right[first] - 0.1")
    code, said = build(path, *asserts(*conditions))
    assert code == 0, said
    assert [line.split()[:2] for line in said.splitlines()[1:3]] == [["first", "right"], ["second", "right"]]
    assert said.count("✓") == 4
    assert path.read_bytes() == before
    assert not list(tmp_path.glob("*.json"))


@pytest.mark.parametrize(
    ("cell", "code", "words"),
    [("assert 1 > 2, 'too few'", 1, "AssertionError: too few"), ("1 / 0", 2, "ZeroDivisionError"), ("1", 2, "no run")],
)
def test_a_notebook_whose_cell_fails_says_how(tmp_path: Path, build: Build, cell: str, code: int, words: str) -> None:
    found, said = build(notebook(tmp_path / "ask.ipynb", cell))
    assert (found, words in said) == (code, True), said


def test_output_that_nobody_reads_ends_quietly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = exported(tmp_path, a=40)
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "w") as closed:
        monkeypatch.setattr("sys.stdout", closed)
        assert main(["run", str(path)]) == 141


def test_what_is_no_notebook_cannot_be_checked(tmp_path: Path, build: Build) -> None:
    (tmp_path / "bad.ipynb").write_text("{}")
    for name in ("bad.ipynb", "none.ipynb"):
        code, said = build(tmp_path / name)
        assert (code, name in said) == (2, True), said
