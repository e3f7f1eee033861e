"""The book is true: its code parses or runs, and what it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from book_pages import ROOT, problems

from jupyter_ctx.context.windows import FACTS, PRICES, WindowRow, read_table
from jupyter_ctx.magics.help_pages import TOPICS
from scripts.reference import MARKED, PARTS, filled

PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *TOPICS.values(), ROOT / "README.md"])
PAGE = ROOT / "docs" / "page.md"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_names_what_exists_and_its_code_parses(path: Path) -> None:
    assert list(problems(path, path.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("One.\n\n```python\nx = 1\ndef f(:\n```", "5: invalid syntax"),
        ("```python\nfrom jupyter_ctx import nothing\n```", "2: jupyter_ctx has no 'nothing'"),
        ("```python\nchat.configure(windows=1)\n```", "2: there is no setting 'windows'"),
        ("```ipython\n%load_ext jupyter_ctx\n%chat trimm 3\n```", "3: %chat has no command 'trimm'"),
        ("```ipython\n%%chat --atach df\nWhy?\n```", "2: Unknown option: --atach"),
        ("A line\nand `%chat config windows 3`.", "2: %chat config knows no 'windows'"),
        ("```console\njupyter ctx models\n```", "2: jupyter ctx has no command 'models'"),
    ],
)
def test_a_page_that_is_wrong_is_told_of_with_its_line(text: str, said: str) -> None:
    (found,) = problems(PAGE, f"---\nname: x\n---\n{text}")
    number, _, words = said.partition(": ")
    assert found.startswith(f"docs/page.md:{int(number) + 3}: {words}")


def test_what_is_right_is_not_told_of() -> None:
    text = "`%chat help TOPIC`, `%chat history --conversation NAME`, `%chat config [SETTING VALUE | default]`, "
    text += "`--to`, `nbconvert --to`"
    assert list(problems(PAGE, text)) == []


def test_links_of_the_readme_lead_to_files() -> None:
    """The book's are checked where it is built."""
    text = (ROOT / "README.md").read_text("utf-8")
    names = re.findall(r"\]\((?![a-z]+:|#)([^)#]+)|(?:src|srcset)=\"(?!http)([^\"]+)", text)
    assert len(names) > 20
    assert [name for pair in names for name in pair if name and not (ROOT / name).exists()] == []


def test_every_generated_part_stands_on_one_page() -> None:
    found = [name for path in (ROOT / "docs").rglob("*.md") for name in MARKED.findall(path.read_text("utf-8"))]
    assert sorted(found) == sorted(PARTS)


def test_the_page_on_models_json_has_every_key_and_its_examples_are_read() -> None:
    text = (ROOT / "docs/reference/models-file.md").read_text("utf-8")
    for key in (*WindowRow._fields, PRICES, *FACTS):
        assert f"| `{key}` |" in text
    for block in text.split("```json\n")[1:]:
        table = read_table(block.partition("```")[0], "user file", "models.json")
        assert table.problem is None
        assert table.rows or any(table.facts.values())


def test_the_topics_of_help_stand_in_the_book_word_for_word() -> None:
    page = filled("<!-- generated: topics -->")
    for path in TOPICS.values():
        title, _, text = path.read_text("utf-8").partition("\n")
        assert f"{title.removeprefix('# ')}\n{text}" in page
        assert 10 <= text.count("\n") <= 25
