"""The last error goes with a prompt: what was raised, where in the notebook, and the cell; nothing else."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from cells import Cells
from dialects import DIALECTS
from IPython.utils.capture import capture_output
from server import serve

from jupyter_ctx import Chat, get_chat
from jupyter_ctx.attachments.attached import TextRoom
from jupyter_ctx.attachments.error_report import attached_error
from jupyter_ctx.attachments.tracebacks import FIRST_FRAMES, LAST_FRAMES, failure_of
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.session.attaching import attachment_of_error

KEY = "sk-proj-" + "Ab3" * 12


ANSWER = DIALECTS["completions"].answer("Divide by two.")


@pytest.fixture
def numbered(cells: Cells) -> Cells:
    """A shell that counts its cells, as a notebook's does; the first has loaded the extension."""
    run = cells.shell.run_cell
    cells.shell.run_cell = lambda source: run(source, store_history=True)  # type: ignore[method-assign,assignment]
    return cells


def fails(cells: Cells, source: str) -> None:
    """Run a cell of the user's that fails."""
    cells.shell.InteractiveTB.set_mode("Minimal")  # IPython takes seconds to show hundreds of frames
    with capture_output():
        cells.shell.run_cell(source)
    cells.shell.InteractiveTB.set_mode("Context")


def error_text(cells: Cells, options: str = "") -> str:
    """What ``%%chat --error`` sends, prompt included."""
    with serve(ANSWER) as (url, seen):
        cells.run(f"%%chat -m gpt-5.2 --base-url {url} --no-history --error {options}\nWhy?")
    return str(seen[0]["messages"][-1]["content"])


def test_a_traceback_has_the_frames_of_the_notebook_and_one_line_of_a_library(numbered: Cells) -> None:
    fails(numbered, "import pandas as pd\ndef total(df):\n    return df['price'].astype(float)")
    fails(numbered, "df = pd.DataFrame({'price': ['abc']})\ntotal(\n    df\n)")
    sent = error_text(numbered)
    assert sent.startswith("Why?\n\nThe error, without the values of variables:\n```\nTraceback (most")
    assert "Cell, line 2\n    total(\n        df\n    )\n  Cell A, line 3, in total\n" in sent
    assert re.search(r"    return df\['price'\].astype\(float\)\n  … \d+ frames in pandas, the last in \w+", sent)
    assert "ValueError: could not convert string to float: 'abc'\n```\n\nThe cell that failed:\n```\ndf = pd" in sent
    assert str(Path.home()) not in sent
    assert sys.prefix not in sent


@pytest.mark.parametrize("typed", ["%%chat {} --error", "%%chat {} --error\n", "%chat {} --error"])
def test_without_a_prompt_an_explanation_is_asked_for(numbered: Cells, typed: str) -> None:
    fails(numbered, "1 / 0")
    with serve(ANSWER) as (url, seen):
        numbered.run(typed.format(f"-m gpt-5.2 --base-url {url}"))
    (turn,) = get_chat().turns
    assert seen[0]["messages"][-1]["content"] == turn.prompt
    assert turn.prompt.startswith("Explain this error and how to mend it.\n\nThe error, without")
    assert turn.record.sources[0].startswith("error of cell [1] (ZeroDivisionError, about ")


@pytest.mark.filterwarnings("ignore:To exit")
def test_where_nothing_has_failed_that_is_said(numbered: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("last_value", "last_exc"):
        monkeypatch.delattr(sys, name, raising=False)
    none = str(numbered.fail("%%chat --error\nWhy?"))
    for source in ("raise SystemExit", "import sys\nsys.exit(0)", "%chat nonsense", "%%chat -m gpt-5.2\n{{ 1/0 }}"):
        fails(numbered, source)
        assert str(numbered.fail("%%chat --error --preview\nWhy?")) == none, source


def test_an_error_of_chat_itself_is_not_the_last_one(numbered: Cells) -> None:
    fails(numbered, "1 / 0")
    fails(numbered, "%chat nonsense")
    fails(numbered, "%%chat -m gpt-5.2\n{{ 1/0 }}")
    assert "ZeroDivisionError: division by zero" in error_text(numbered)
    fails(numbered, "from jupyter_ctx import Chat\nChat(window=-1)")
    assert "InvalidRequestError: " in error_text(numbered), "a script's error is the user's own"


def test_an_error_from_before_the_extension_was_loaded_is_found(cells: Cells) -> None:
    cells.run("%unload_ext jupyter_ctx")
    del cells.shell._jupyter_ctx
    with capture_output():
        cells.shell.run_cell("x = 1\n1 / 0", store_history=True)
    cells.run("%load_ext jupyter_ctx")
    sent = error_text(cells)
    assert "Cell, line 2\n    1 / 0\n" in sent
    assert "The cell that failed:\n```\nx = 1\n1 / 0\n```" in sent


def test_the_error_of_a_script_that_run_survives_is_the_last_one(numbered: Cells, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("def f():\n    return {}['missing']\nf()\n")
    fails(numbered, f"%run {tmp_path / 'script.py'}")
    sent = error_text(numbered)
    assert "script.py, line 2, in f\n    return {}['missing']" in sent
    assert "KeyError: 'missing'" in sent
    assert "The cell that failed:\n```\n%run " in sent


def test_files_of_the_user_count_as_theirs(numbered: Cells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "helpers_of_mine.py").write_text("import json\n\n\ndef read(text):\n    return json.loads(text)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    fails(numbered, "from helpers_of_mine import read\nread('{')")
    sent = error_text(numbered)
    assert "  helpers_of_mine.py, line 5, in read\n" in sent
    assert "    return json.loads(text)\n  … 3 frames in json, the last in " in sent


KINDS = {
    "x = (1,\n2\nprint(3)": ["Cell, line 1\n    x = (1,\n        ^\nSyntaxError: '(' was never closed"],
    "  a = 1\n b = 2": ["IndentationError: unexpected indent"],
    "try:\n    1/0\nexcept ArithmeticError as e:\n    raise OSError('no') from e": [
        "ZeroDivisionError: division by zero\n\nThe error above led to this one:\n\nTraceback", "OSError: no"
    ],
    "try:\n    1/0\nexcept ArithmeticError:\n    {}['k']": ["The error above led to this one:", "Error: 'k'"],
    "raise ExceptionGroup('many', [ValueError(i) for i in range(9)])": [
        "ExceptionGroup: many (9 sub-exceptions)\n  [1]\n  ValueError: 0", "  … 5 more errors"
    ],
    "def f(n):\n    return f(n + 1)\nf(0)": [" frames in own code, the last in f: return f(n + 1)\nRecursion"],
    "def a(n):\n    return b(n)\ndef b(n):\n    return a(n)\na(0)": [" frames in own code, the last in "],
    "async def g():\n    1/0\nawait g()": ["Cell, line 3\n", "Cell, line 2, in g\n", "ZeroDivisionError"],
    "%%time\nx = 1\n1/0": ["Cell, line 3\n    1/0\nZeroDivisionError"],
    "raise KeyboardInterrupt": ["Cell, line 1\n    raise KeyboardInterrupt\nKeyboardInterrupt"],
    "import sys\nsys.exit(2)": ["SystemExit: 2"],
    "e = ValueError('x')\ne.add_note('a note')\nraise e": ["ValueError: x\na note"],
    "raise ValueError('word ' * 1_000_000)": ["ValueError: word word", "… 4,99", " characters left out …\nword"],
    "class E(Exception):\n    pass\nraise E": ["    raise E\nE\n"],
    "raise ValueError('a\\0b \\x1b[31mred \\ud800')": ["ValueError: a�b �[31mred �\n"],
    "%nonsense": ["Cell, line 1\n    %nonsense", "Line magic function `%nonsense` not found."],
}  # fmt: skip


@pytest.mark.parametrize("source", KINDS)
def test_every_kind_of_error_is_told_as_python_tells_it(numbered: Cells, source: str) -> None:
    fails(numbered, source)
    sent = error_text(numbered)
    assert [part for part in KINDS[source] if part not in sent] == [], sent
    assert f"The cell that failed:\n```\n{source}\n```" in sent


HOSTILE = """
class Hostile(Exception):
    def __str__(self):
        {}
"""


@pytest.mark.parametrize("does", ["raise KeyError('k')", "return 3", "return 'x' * 10**7", "raise SystemExit", "1/0"])
def test_an_error_whose_text_cannot_be_read_is_told_without_it(does: str) -> None:
    names: dict[str, Any] = {}
    exec(HOSTILE.format(does), names)
    failure = failure_of(names["Hostile"]())
    (piece,) = failure.traceback
    assert piece.label == "Hostile: "
    assert piece.text
    assert len(piece.text) < 5_000


def test_an_error_that_hides_all_of_itself_is_named() -> None:
    class HidingError(Exception):
        __cause__ = __context__ = property(lambda self: 1 / 0)  # type: ignore[assignment]

    assert "(the error cannot be read)" in failure_of(HidingError("x")).traceback[0].text


def test_keys_are_blanked_and_that_is_said(numbered: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "a-word-4f7k2q9-and-more")
    fails(
        numbered,
        f"key = '{KEY}'\npassword = 'hunter2!'\npem = '''-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n"
        "-----END PRIVATE KEY-----'''\nraise ValueError('a-word-4f7k2q9-and-more ' + key)",
    )
    with serve(ANSWER) as (url, seen):
        shown = numbered.run(f"%%chat -m gpt-5.2 --base-url {url} --error\nWhy?")
    sent = seen[0]["messages"][-1]["content"]
    for secret in (KEY, KEY[:20], "hunter2", "MIIEvQIBADANBg", "a-word-4f7k2q9-and-more"):
        assert secret not in sent
    assert "ValueError: *** ***" in sent
    assert "What looks like a key or a password in the error is replaced by ***." in shown


@pytest.mark.parametrize(
    "message",
    [
        "DB_PASSWORD=zebra",
        "name,value\nPORT,80\napi_key,wombat77",
        "user;password;age\nada;wombat77;3",
        "db.example.com:5432:app:ada:wombat77",
        '[{"name": "DB_PASSWORD", "value": "zebra77"}]',
        "text\nDB_PASSWORD=zebra" + " word" * 100,
    ],
)
def test_secrets_at_the_beginning_of_a_message_go_out_in_no_way(numbered: Cells, message: str) -> None:
    numbered.shell.user_ns["message"] = message
    fails(numbered, "try:\n    raise ValueError(message)\nexcept ValueError as caught:\n    error = caught\n    raise")
    with serve(ANSWER) as (url, seen):
        options = f"-m gpt-5.2 --base-url {url}"
        numbered.run(f"%%chat {options} --error\nWhy?")
        numbered.run(f"%chat fix {options}")
        numbered.run(f"%%chat {options} -a error\nWhy?")
        error = numbered.shell.user_ns["error"]
        group = ExceptionGroup("all", [error])
        error.add_note(message)
        Chat("gpt-5.2", base_url=url).send("Why?", attachments=[group])
    reports = [str(request["messages"][-1]["content"]) for request in seen]
    least = attached_error(failure_of(error), TextRoom(0, len), Redactor())
    assert len(reports) == 4
    for report in (*reports, least.text):
        assert "ValueError" in report
        assert "***" in report or message.startswith("text")
        assert not re.search("zebra|wombat", report)
    assert all("raise ValueError(message)" in report for report in reports)


def test_variables_are_not_sent(numbered: Cells) -> None:
    fails(numbered, "import os\nlocal = 'value' + ' of a variable'\ndef f(inner):\n    1/0\nf(local * 2)")
    assert "value of a variable" not in error_text(numbered)


def test_a_long_cell_is_sent_around_its_error(numbered: Cells) -> None:
    lines = [f"x{number} = {number}" for number in range(3_000)]
    lines[1] = f"text = '{'word ' * 2_000}'"
    lines[2_000] = f"1 / 0, '{'word ' * 2_000}'"
    fails(numbered, "\n".join(lines))
    sent = error_text(numbered)
    assert "x0 = 0\n" in sent
    assert " lines left out …" in sent
    assert "\n1 / 0, 'word" in sent
    assert "\n    1 / 0, 'word" in sent
    assert "characters left out …" in sent
    assert len(sent) < 20_000


def test_a_deep_traceback_is_told_by_its_ends() -> None:
    code = "".join(f"def f{n}():\n    f{n + 1}()\n" for n in range(60)) + "def f60():\n    1/0\n"
    names: dict[str, Any] = {}
    exec(compile(code, "/home/somebody/mine.py", "exec"), names)
    try:
        names["f0"]()
    except ZeroDivisionError as error:
        failure = failure_of(error)
    frames = [piece.text for piece in failure.traceback if ", line " in piece.text]
    assert len(frames) == FIRST_FRAMES + LAST_FRAMES
    assert frames[-1].endswith("in f60")
    assert "… 50 frames in own code" in [piece.text for piece in failure.traceback]


def test_a_script_sends_an_exception_of_its_own() -> None:
    chat = Chat("gpt-5.2")
    try:
        1 / 0  # noqa: B018
    except ZeroDivisionError as error:
        sent = attachment_of_error(chat.session, error)
    assert sent.name == "error"
    assert "test_errors.py, line " in sent.text


def test_functions_of_own_files_are_sent_whole(
    numbered: Cells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "def load(rows):\n    first = rows[0]\n    a = 1\n    b = 2\n    c = 3\n    return first / 0\n"
    (tmp_path / "own_helpers_of_a_test.py").write_text(f"X = 1\n\n{source}\nY = 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    fails(numbered, "import own_helpers_of_a_test as own\nown.load([1])")
    sent = error_text(numbered)
    assert f"The function load of own_helpers_of_a_test.py:\n```\n{source}```" in sent


def test_where_there_is_little_room_the_innermost_cell_comes_first(numbered: Cells) -> None:
    def defines(name: str, calls: str) -> str:
        return f"def {name}(n):\n    return {calls}\n" + "\n".join(f"{name}_{i} = {i}" for i in range(60))

    fails(numbered, defines("inner", "1 / n"))
    fails(numbered, defines("outer", "inner(n)"))
    fails(numbered, "outer(0)")
    failure = get_ipython_failure(numbered)

    def room(tokens: int) -> TextRoom:
        return TextRoom(tokens, lambda text: len(text) / 4)

    whole = attached_error(failure, room(5_000), Redactor())
    assert "with cell [1], with cell [2], about" in whole.what
    less = attached_error(failure, room(250), Redactor())
    assert "with cell [1], with cell [2] shortened," in less.what
    none = attached_error(failure, room(50), Redactor())
    assert "without cell [2]" in none.what
    assert "inner_59" in less.text
    for tokens in range(0, 600, 20):
        found = attached_error(failure, room(tokens), Redactor())
        assert len(found.text) / 4 <= max(2 * tokens, 60)


def get_ipython_failure(cells: Cells) -> Any:
    return cells.shell._jupyter_ctx.shown.failure  # type: ignore[attr-defined]


def test_keys_in_the_cell_of_a_function_are_blanked(numbered: Cells) -> None:
    fails(numbered, f"def ask(n):\n    key = '{KEY}'\n    a = 1\n    b = 2\n    return n / 0")
    fails(numbered, "ask(1)")
    sent = error_text(numbered)
    assert "\n\nCell A:\n" in sent
    assert KEY not in sent


def test_frames_of_compiled_code_are_the_library_s() -> None:
    try:
        pd.DataFrame({"a": [1]})["b"]
    except KeyError as error:
        failure = failure_of(error)
    assert [piece.text.startswith("… 4 frames in pandas") for piece in failure.traceback if piece.text[:1] == "…"]
    assert [source.name.split()[0] for source in failure.sources] == ["test_frames_of_compiled_code_are_the_library_s"]
