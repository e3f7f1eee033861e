"""In a kernel, the cells above go with a prompt as they ran, each once, and a restart changes nothing of it."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from dialects import DIALECTS
from kernels import Kernel, error, shown
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, output_from_msg
from server import serve

from jupyter_ctx.context.tokens import estimate_tokens

BODY = DIALECTS["completions"].answer("I see.")
LOAD = "%load_ext jupyter_ctx\n%chat use m --base-url {url} --window 100000\nfrom jupyter_ctx import get_chat"
PLOT = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 3, 2]);"
LOOP = """
from IPython.display import Markdown, display
for epoch in range(2):
    print("epoch", epoch)
    display(Markdown(f"**loss {epoch}**"))
"""
OUTPUTS = ("stream", "display_data", "execute_result")
ASK = "%%chat -a cells\nWhat came of it?"


@pytest.fixture
def asked(kernel: Kernel, tmp_path: Path) -> Iterator[tuple[Kernel, Path, str, list[dict[str, Any]]]]:
    """A kernel of a notebook's file, the address of a server, and what the server was asked."""
    path = tmp_path / "x.ipynb"
    own = {"JPY_SESSION_NAME": str(path), "JUPYTER_CTX_STORE": str(tmp_path / "store.sqlite")}
    kernel.run(f"import os; os.environ.update({own})")
    with serve(BODY) as (url, seen):
        kernel.run(LOAD.format(url=url))
        kernel.run("%chat new")
        yield kernel, path, url, seen
    kernel.run("import os; os.environ.pop('JPY_SESSION_NAME'); os.environ['JUPYTER_CTX_STORE'] = 'memory'")


def prompt(seen: list[dict[str, Any]]) -> str:
    """The text of the newest prompt."""
    content = seen[-1]["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def codes(seen: list[dict[str, Any]]) -> list[str]:
    """The code of the cells that went with the newest prompt."""
    return [code.strip() for code in re.findall("```python\n(.*?)\n```", prompt(seen), re.DOTALL)]


def test_code_prints_displays_results_pictures_and_errors_go_in_the_order_in_which_they_came(asked: Any) -> None:
    kernel, _, _, seen = asked
    for source in ("x = 20 + 22\nx", LOOP, PLOT, "# ctx: skip\npassword = 1", "%chat config gauge", "1 / 0"):
        kernel.run(source)
    assert not error(kernel.run(ASK))
    text = prompt(seen)
    marks = (
        "x = 20 + 22",
        "42\n",
        "for epoch",
        "epoch 0",
        "loss 0",
        "epoch 1",
        "loss 1",
        "image 1",
        "1 / 0",
        "division",
    )
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)
    assert "password" not in text
    assert "gauge" not in text
    assert "data:image/png;base64," in json.dumps(seen[-1])


def test_only_what_is_new_or_has_changed_goes_again(asked: Any) -> None:
    kernel, _, _, seen = asked
    kernel.run("a = 1", "one")
    kernel.run("b = 2", "two")
    kernel.run(ASK, "chat-1")
    kernel.run("b = 2", "two")
    kernel.run("c = 3", "three")
    kernel.run("%%chat -a cells:all\nAnd now?", "chat-2")
    assert codes(seen) == ["c = 3"]
    kernel.run("b = 22", "two")
    kernel.run("%%chat -a cells\nAnd now?", "chat-3")
    assert codes(seen) == ["b = 22"]


def test_a_prompt_that_is_not_recorded_leaves_the_cells_to_the_next(asked: Any) -> None:
    kernel, _, _, seen = asked
    kernel.run("a = 1", "one")
    kernel.run("%%chat --no-history -a cells\nWhat came of it?", "chat-apart")
    kernel.run(ASK, "chat-kept")
    assert codes(seen)[-1] == "a = 1"


def test_a_second_run_takes_the_cells_above_it_as_they_are_now(asked: Any) -> None:
    kernel, path, _, seen = asked
    kernel.run("a = 1", "one")
    kernel.run(ASK, "chat-1")
    kernel.run("d = 4", "four")
    kernel.run("%%chat\nHello?", "chat-2")
    cells = [new_code_cell("a = 1", id="one"), new_code_cell(ASK, id="chat-1"), new_code_cell("d = 4", id="four")]
    nbformat.write(new_notebook(cells=[*cells, new_code_cell("%%chat\nHello?", id="chat-2")]), path)
    kernel.run("a = 11", "one")
    kernel.run(ASK, "chat-1")
    assert codes(seen) == ["a = 11"]


def test_the_failing_cell_goes_once_with_its_error_and_where_nothing_is_new_a_line_says_so(asked: Any) -> None:
    kernel, _, _, seen = asked
    kernel.run("%%chat\nHello?", "chat-0")
    kernel.run("zero = 0", "one")
    kernel.run("1 / zero", "two")
    kernel.run("%%chat --error -a cells\nWhy?", "chat-1")
    assert codes(seen) == ["zero = 0"]
    assert prompt(seen).count("ZeroDivisionError") == 1
    assert "no cell goes along" in shown(kernel.run("%%chat -a cells\nMore?", "chat-2"))


def test_the_preview_of_the_next_request_lists_the_cells_that_go_with_it(asked: Any) -> None:
    kernel, _, _, seen = asked
    kernel.run("value = 41 + 1", "one")
    number = kernel.reply["execution_count"]
    for line in ("%chat preview -a cells", "%chat config cells on\n%chat preview"):
        assert f"In[{number}]" in shown(kernel.run(line))
    kernel.run("%chat config cells off")
    assert f"In[{number}]" not in shown(kernel.run("%chat preview"))
    assert not seen


def test_the_setting_sends_the_cells_above_with_each_prompt_and_many_are_told_in_one(asked: Any) -> None:
    kernel, _, _, seen = asked
    kernel.run("%chat config cells on")
    for number in range(5):
        kernel.run(f"v{number} = {number}")
    output = shown(kernel.run("%%chat\nWhat is there?"))
    assert codes(seen)[-5:] == [f"v{number} = {number}" for number in range(5)]
    assert re.search(r"With \d+ cells, In\[\d+\] to In\[\d+\] \(~\d+ tokens\)", output)
    kernel.run("%chat config cells off")


def test_a_cell_is_left_out_and_another_one_pinned_by_its_number(asked: Any) -> None:
    kernel, _, _, seen = asked
    kernel.run("a = 1", "one")
    pinned = kernel.reply["execution_count"]
    kernel.run("%%chat\nHello?", "chat-1")
    kernel.run("b = 2", "two")
    left_out = kernel.reply["execution_count"]
    kernel.run(f"%chat pin In[{pinned}]")
    kernel.run(f"%chat exclude In[{left_out}]")
    kernel.run(ASK, "chat-2")
    assert codes(seen) == ["a = 1"]
    kernel.run(f"%chat include In[{left_out}]")
    kernel.run(ASK, "chat-3")
    assert codes(seen) == []
    assert error(kernel.run("%chat pin In[999]")) is not None


def test_markdown_cells_of_the_saved_file_go_around_those_that_ran(asked: Any) -> None:
    kernel, path, _, seen = asked
    cells = [
        new_markdown_cell("# Title"),
        new_code_cell("a = 1", id="one"),
        new_code_cell("%%chat\nHello?", id="chat-1"),
        new_markdown_cell("## Loading"),
        new_code_cell("b = 2", id="two"),
        new_markdown_cell("Now the question."),
        new_code_cell(ASK, id="chat-2"),
        new_markdown_cell("Below it."),
    ]
    nbformat.write(new_notebook(cells=cells), path)
    for cell in cells:
        if cell.cell_type == "code":
            kernel.run(cell.source, cell.id)
    text = prompt(seen)
    assert text.index("## Loading") < text.index("b = 2") < text.index("Now the question.")
    assert "Title" not in text
    assert "Below it." not in text
    kernel.run("%%chat -a cells:all\nAnd now?", "chat-2")
    text = prompt(seen)
    assert text.index("# Title") < text.index("a = 1") < text.index("## Loading")


def test_markdown_cells_that_are_saved_after_the_prompt_do_not_ask_again_and_edited_ones_do(asked: Any) -> None:
    kernel, path, url, seen = asked
    cells = [new_markdown_cell("# Title"), new_code_cell("a = 1", id="one"), new_code_cell(ASK, id="chat-1")]
    for saved in (cells[1:], cells, cells):
        kernel.run("a = 1", "one")
        nbformat.write(new_notebook(cells=saved), path)
        kernel.run(ASK, "chat-1")
        assert len(seen) == 1
        kernel.begin_anew()
        kernel.run(LOAD.format(url=url))
    kernel.run("a = 2", "one")
    kernel.run(ASK, "chat-1")
    assert "# Title" in prompt(seen)
    cells[0].source = "# Other"
    nbformat.write(new_notebook(cells=cells), path)
    kernel.run(ASK, "chat-1")
    assert "# Other" in prompt(seen)


def test_that_markdown_cells_are_absent_is_said_once(asked: Any) -> None:
    kernel, _, _, _ = asked
    kernel.run("a = 1")
    assert shown(kernel.run(ASK)).count("Markdown") == 1
    kernel.run("b = 2")
    assert "Markdown" not in shown(kernel.run(ASK))


def test_a_pinned_cell_goes_with_prompts_that_name_no_cells_while_the_request_lacks_it(asked: Any) -> None:
    kernel, _, _, seen = asked
    kernel.run("a = 1", "one")
    kernel.run("b = 2", "two")
    kernel.run("%%chat\nHello?")
    kernel.run(f"%chat pin In[{kernel.reply['execution_count'] - 2}]")
    kernel.run("%%chat\nAnd now?")
    assert codes(seen) == ["a = 1"]
    kernel.run("%%chat\nAnd now?")
    assert codes(seen) == []
    kernel.run("%chat trim 1")
    kernel.run("%%chat\nAnd now?")
    assert codes(seen) == ["a = 1"]


def test_the_gauge_has_a_part_for_the_tokens_of_cells(asked: Any) -> None:
    kernel, _, _, _ = asked
    kernel.run("print(*range(200))")
    kernel.run(ASK)
    sizes = json.loads(kernel.value("__import__('json').dumps(dict(get_chat().info().segments))"))
    parts = json.loads(kernel.value("[each.tokens for each in get_chat().preview().messages[0].parts]"))
    assert sizes["cells"] == sum(parts[1:]) > parts[0]
    assert sum(sizes.values()) == int(kernel.value("get_chat().info().used"))


def test_displays_go_beyond_sixty_and_clearing_takes_what_was_printed_before(asked: Any) -> None:
    kernel, _, _, seen = asked
    kernel.run("from IPython.display import clear_output, display, Markdown")
    kernel.run("print('gone')\nclear_output()\nprint('kept')\nfor n in range(80): display(Markdown(f'shown {n}'))")
    kernel.run("%%chat -a cells\nWhat?")
    assert "gone'" in prompt(seen)
    assert "\ngone" not in prompt(seen)
    assert "kept\n" in prompt(seen)
    assert "shown 0\n" in prompt(seen)
    assert "shown 79" in prompt(seen)


IMPORTS = """import json, logging, sys, warnings
import numpy as np, pandas as pd
from IPython.display import HTML, Markdown, clear_output, display"""
WAYS = (  # to show the value v
    "print('total', v)",
    "v",
    "display(Markdown(f'**best** {v}'))",
    "display(HTML(f'<b>{v}</b>'))",
    "HTML(f'<table><tr><td>mean</td><td>{v}</td></tr></table>')",
    "pd.DataFrame({'city': ['Rome', 'Oslo'], 'birds': [1, v]})",
    "display(pd.Series([1, 2, v]))",
    "np.array([[1, 2], [3, v]])",
    "sys.stderr.write(f'warned at {v}\\n');",
    "logging.getLogger().error('failed at %s', v)",
    "raise ValueError(f'no row {v}')",
    "for n in range(3000): print('step', n)\nprint('end', v)",
    "print('first', v)\nfor n in range(3000): print('step', n)",
    "for n in range(50): print(n, end='\\r')\nprint('done', v)",
    "{'depth': {'x': [v]}}",
    "print(json.dumps({'key': v}, indent=2))",
    "warnings.warn(f'odd: {v}')",
    "print(f'\\x1b[31m{v}\\x1b[0m')",
    "print('before')\nclear_output()\nprint('after', v)",
    "!echo $v",
)


def test_the_values_that_twenty_questions_ask_for_are_in_what_is_sent(asked: Any) -> None:
    kernel, _, _, seen = asked
    kernel.run(IMPORTS)
    values = random.Random(45).sample(range(100_000, 1_000_000), len(WAYS))
    for way, value in zip(WAYS, values, strict=True):
        kernel.run(f"# ctx: skip\nv = {value}")
        kernel.run(way)
    kernel.run("%chat config attach_share 0.2")
    found = list[bool]()
    for number, value in enumerate(values, 1):
        kernel.run(f"%%chat --no-history -a cells:all\nWhat is value {number}?")
        found.append(str(value) in prompt(seen))
    kernel.run("%chat config attach_share default")
    assert found == [True] * 20


def test_cells_that_ran_go_as_the_saved_file_of_their_notebook_does(asked: Any) -> None:
    kernel, path, _, seen = asked
    kernel.run(f"%chat exclude In[{kernel.reply['execution_count'] - 1}]")
    book = new_notebook(cells=[new_markdown_cell("# Birds")])
    plot = PLOT.removesuffix(";")
    for source in (IMPORTS, plot, LOOP, "pd.DataFrame({'a': range(99)})", "display(HTML('<b>bold</b>'))"):
        cell = new_code_cell(source, id=f"id-{len(book.cells)}")
        outputs = (each for each in kernel.run(source, cell.id) if each["msg_type"] in OUTPUTS)
        cell.outputs = [output_from_msg(each) for each in outputs]
        book.cells.append(cell)
    nbformat.write(book, path)
    sizes = list[float]()
    for word in ("cells:all", path):
        assert not error(kernel.run(f"%%chat --no-history -a {word}\nWhat?"))
        sizes.append(estimate_tokens(prompt(seen)))
    assert sizes[0] == pytest.approx(sizes[1], rel=0.02)
