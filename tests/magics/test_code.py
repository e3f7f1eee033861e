"""``%chat code``: a block of an answer into the next cell."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from answering_rows import answering_rows
from cells import Cells
from kernels import Kernel, shown

from jupyter_ctx.conversation.code_blocks import code_blocks, code_of, eligible_blocks

ONE = "So:\n\n```python\nx = 1\n```\n\nwhich prints\n\n```text\n1\n```"
TWO = "```bash\npip install x\n```\n\nthen\n\n~~~py\nimport x\nx.run()\n~~~\n\n- and\n\n  ```\n  y = f(2)\n  ```"
SQL = "# This is sql, and no Python:\n# select 1"
ANSWERS = {"one": ONE, "two": TWO, "none": "Only `words`.", "sql": "```sql\nselect 1\n```"}


def said(prompt: str) -> str:
    return ANSWERS[prompt.split()[-1]]


@pytest.fixture
def asking(cells: Cells) -> Iterator[Cells]:
    with answering_rows(said) as asked:
        cells.run(f"%chat use m --base-url {asked.url}")
        yield cells


def test_the_only_block_that_a_cell_can_run_goes_into_the_next_cell(asking: Cells) -> None:
    for answer, code in (("one", "x = 1"), ("sql", SQL), ("none", SQL)):
        asking.run(f"%%chat\nSay {answer}")
        asking.run("%chat code")
        assert asking.shell.rl_next_input == code


def test_a_block_of_the_last_answer_with_code_is_chosen_by_its_number(asking: Cells) -> None:
    for answers, chosen in (
        ("one none", {"1": "x = 1", "2": "# This is text, and no Python:\n# 1", "all": "x = 1"}),
        ("two", {"1": "%%bash\npip install x", "2": "import x\nx.run()", "all": "import x\nx.run()\n\ny = f(2)"}),
    ):
        for answer in answers.split():
            asking.run(f"%%chat\nSay {answer}")
        for word, code in chosen.items():
            asking.run(f"%chat code {word}")
            assert asking.shell.rl_next_input == code, word


@pytest.mark.parametrize(
    ("block", "is_python", "cell"),
    [
        ("\n%pip install x\nimport x", True, "%pip install x\nimport x"),
        ("\nfoo bar", False, "# This does not say what it is, and is no Python:\n# foo bar"),
        ("python\n>>> for i in x:\n...     i\n...\n1\n>>> y = 1", True, "for i in x:\n    i\n\ny = 1"),
        ("\nIn [1]: f(1)\n   ...: + 2\nOut[1]: 3", True, "f(1)\n+ 2"),
        ("python\nx = 1\n# as in\n# >>> x", True, "x = 1\n# as in\n# >>> x"),
        ("sh\necho $x", False, "%%bash\necho $x"),
    ],
)
def test_what_no_cell_can_run_becomes_comments_and_a_session_its_input(block: str, is_python: bool, cell: str) -> None:
    (found,) = code_blocks(f"```{block}\n```")
    assert (found.is_python, found.cell) == (is_python, cell)
    both = code_of(code_blocks(f"```python\nx = 1\n```\n\n```{block}\n```"))
    assert both == (f"x = 1\n\n{cell}" if is_python else "x = 1")


def test_a_notebook_lists_the_blocks_and_takes_one_as_the_next_cell(kernel: Kernel) -> None:
    with answering_rows(said) as asked:
        kernel.run(f"%chat use m --base-url {asked.url}")
        kernel.run("%%chat\nSay two")
    assert re.findall(r"%chat code \d", shown(kernel.run("%chat code"))) == [f"%chat code {n}" for n in (1, 2, 3)]
    kernel.run("%chat code 2")
    assert kernel.reply["payload"][0]["text"] == "import x\nx.run()"


@pytest.mark.parametrize("printed", ["accuracy: 0.93", "total = 12", "[1, 2]"])
def test_what_the_code_prints_is_no_code(printed: str) -> None:
    code, output = code_blocks(f"```python\nrun()\n```\nprints\n```\n{printed}\n```")
    assert eligible_blocks((code, output)) == (1,)
    assert not output.is_python


def test_fences_without_an_end_or_a_language_are_code_where_nothing_else_is() -> None:
    texts = ("````python\n'''\n```\n'''\n````", "```python\nx = 1", "Write\n```\nx = 3\n```")
    assert [code_of(code_blocks(text)) for text in texts] == ["'''\n```\n'''", "x = 1", "x = 3"]
