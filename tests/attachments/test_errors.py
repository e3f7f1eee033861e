"""The last error goes with a prompt: its traceback without frames of libraries, and the cell that failed."""

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
from jupyter_ctx.attachments.errors import Failure, attached_error, failure_of
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.session.attaching import attachment_of, attachment_of_error

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


def error_text(cells: Cells) -> str:
    """What ``%%chat --error`` sends, prompt included."""
    with serve(ANSWER) as (url, seen):
        cells.run(f"%%chat -m gpt-5.2 --base-url {url} --no-history --error\nWhy?")
    return str(seen[0]["messages"][-1]["content"])


def sent_of(failure: Failure, tokens: int = 8_000) -> str:
    return attached_error(failure, TextRoom(tokens, lambda text: len(text) / 4), Redactor()).text


def test_a_traceback_has_the_frames_of_the_notebook_and_one_line_of_a_library(numbered: Cells) -> None:
    fails(numbered, "SECRET_PLAN = 1")
    fails(numbered, "import pandas as pd\ndef total(df):\n    return df['price'].astype(float)")
    fails(numbered, "df = pd.DataFrame({'price': ['abc']})\ntotal(\n    df\n)")
    sent = error_text(numbered)
    assert sent.startswith("Why?\n\nCells of the notebook, in its order:\n\n```python\nimport pandas as pd")
    assert "\n\nThe error, without the values of variables:\n```\nTraceback (most" in sent
    assert '  File "Cell", line 2\n    total(\n        df\n    )\n  File "Another cell", line 3, in total\n' in sent
    assert re.search(r"    return df\['price'\].astype\(float\)\n  … \d+ frames in pandas, the last in \w+\n", sent)
    assert "ValueError: could not convert string to float: 'abc'\n```\n\nThe cell that failed:\n```\ndf = pd" in sent
    for hidden in (str(Path.home()), sys.prefix, "SECRET_PLAN"):
        assert hidden not in sent


@pytest.mark.parametrize("typed", ["%%chat {} --error", "%chat {} --error\n"])
def test_without_a_prompt_an_explanation_is_asked_for(numbered: Cells, typed: str) -> None:
    fails(numbered, "1 / 0")
    with serve(ANSWER) as (url, seen):
        numbered.run(typed.format(f"-m gpt-5.2 --base-url {url}"))
    (turn,) = get_chat().turns
    assert seen[0]["messages"][-1]["content"] == turn.prompt
    assert turn.prompt.startswith("Explain this error and how to mend it.\n\nThe error, without")
    assert turn.record.sources[0].startswith("error of cell [1] (ZeroDivisionError, about ")


@pytest.mark.filterwarnings("ignore:To exit")
def test_an_exit_and_an_error_of_chat_itself_are_not_the_last_one(
    numbered: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("last_value", "last_exc"):
        monkeypatch.delattr(sys, name, raising=False)
    none = str(numbered.fail("%%chat --error\nWhy?"))
    for source in ("raise SystemExit", "import sys\nsys.exit(0)", "%chat nonsense", "%%chat -m gpt-5.2\n{{ 1/0 }}"):
        fails(numbered, source)
        assert str(numbered.fail("%%chat preview --error\nWhy?")) == none, source
    fails(numbered, "1 / 0")
    fails(numbered, "%chat nonsense")
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
    assert 'File "Cell", line 2\n    1 / 0\n' in sent
    assert "The cell that failed:\n```\nx = 1\n1 / 0\n```" in sent


def test_files_of_the_user_count_as_theirs(numbered: Cells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "helpers_of_mine.py").write_text("import json\n\n\ndef read(text):\n    return json.loads(text)\n")
    (tmp_path / "script.py").write_text("def f():\n    return {}['missing']\nf()\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    fails(numbered, "from helpers_of_mine import read\nread('{')")
    sent = error_text(numbered)
    assert '  File "helpers_of_mine.py", line 5, in read\n    return json.loads(text)\n  … 3 frames in json' in sent
    fails(numbered, "%run script.py")  # which shows the error, and survives it
    sent = error_text(numbered)
    assert "script.py\", line 2, in f\n    return {}['missing']\nKeyError: 'missing'" in sent
    assert "The cell that failed:\n```\n%run script.py\n```" in sent


KINDS = {
    "x = (1,\n2\nprint(3)": ['  File "Cell", line 1\n    x = (1,\n        ^\nSyntaxError: \'(\' was never closed'],
    "try:\n    1/0\nexcept ArithmeticError as e:\n    raise OSError('no') from e": [
        "ZeroDivisionError: division by zero\n\nThe above exception was the direct cause", "OSError: no"
    ],
    "raise ExceptionGroup('many', [ValueError(i) for i in range(9)])": ["| ValueError: 3\n"],
    "def a(n):\n    return b(n)\ndef b(n):\n    return a(n)\na(0)": ["in b\n    return a(n)\nRecursionError: "],
    "async def g():\n    1/0\nawait g()": ['File "Cell", line 3\n', 'File "Cell", line 2, in g\n', "ZeroDivisionError"],
    "%%time\nx = 1\n1/0": ['File "Cell", line 3\n    1/0\nZeroDivisionError'],
    "raise ValueError('a\\0b \\x1b[31mred \\ud800')": ["ValueError: a�b �[31mred �\n"],
    "local = 'hid' + 'den'\ndef f(inner):\n    1/0\nf(local * 2)": ["in f\n    1/0\nZeroDivisionError"],
}  # fmt: skip


@pytest.mark.parametrize("source", KINDS)
def test_every_kind_of_error_is_told_as_python_tells_it(numbered: Cells, source: str) -> None:
    fails(numbered, source)
    sent = error_text(numbered)
    assert [part for part in KINDS[source] if part not in sent] == [], sent
    cell = source.lstrip("\n")
    assert f"The cell that failed:\n```\n{cell}\n```" in sent
    assert len(sent) < 6_000
    assert "hidden" not in sent


def test_keys_are_blanked_and_that_is_said(numbered: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "a-word-4f7k2q9-and-more")
    fails(numbered, f"def ask(key):\n    key = key or '{KEY}'; raise ValueError('a-word-4f7k2q9-and-more ' + key)")
    fails(numbered, f"key = '{KEY}'\npem = '''-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n'''\nask(key)")
    with serve(ANSWER) as (url, seen):
        shown = numbered.run(f"%%chat -m gpt-5.2 --base-url {url} --error\nWhy?")
        numbered.run(f"%%chat -m gpt-5.2 --base-url {url} --error --no-redact\nWhy?")
    sent, unredacted = (request["messages"][-1]["content"] for request in seen)
    for secret in (KEY, KEY[:20], "MIIEvQIBADANBg", "a-word-4f7k2q9-and-more"):
        assert secret not in sent
        assert secret in unredacted
    assert "ValueError: *** ***" in sent
    assert "error of cell [2]: 6 parts that look like keys were blanked" in shown


SECRETS = (
    "DB_PASSWORD=zebra",
    "user;password;age\nada;wombat77;3",
    '[{"name": "DB_PASSWORD", "value": "zebra77"}]',
    "DB_PASSWORD=zebra" + " word" * 2_000_000,
)


@pytest.mark.parametrize("message", SECRETS)
def test_secrets_at_the_beginning_of_a_message_go_out_in_no_way(message: str) -> None:
    error = ValueError(message)
    chat = Chat("gpt-5.2")
    with pytest.raises(ValueError, match="x") as raised:
        raise ValueError("x") from error
    attached = attachment_of(chat.session, "error", ExceptionGroup("all", [raised.value]))
    for report in (attached.text, sent_of(failure_of(raised.value)), sent_of(failure_of(error), 0)):
        assert "ValueError: " in report
        assert "***" in report
    assert not re.search("zebra|wombat", sent_of(failure_of(raised.value)) + sent_of(failure_of(error), 0))


def test_what_there_is_no_room_for_is_left_out_and_the_line_of_the_error_stays() -> None:
    code = "".join(f"def f{n}():\n    f{n + 1}()\n" for n in range(60)) + "def f60():\n    1/0, 'last'\n"
    names: dict[str, Any] = {}
    exec(compile(code, "mine", "exec"), names)
    with pytest.raises(ZeroDivisionError) as raised:
        names["f0"]()
    failure = failure_of(raised.value, lambda file: "Cell" if file == "mine" else "", code, 7)

    def attached(tokens: int) -> Any:
        return attached_error(failure, TextRoom(tokens, lambda text: len(text) / 4), Redactor())

    assert attached(5_000).what.startswith("ZeroDivisionError, about ")
    assert code.strip() in attached(5_000).text
    assert attached(400).what.startswith("ZeroDivisionError, shortened, about ")
    for tokens in range(0, 5_000, 250):
        text = attached(tokens).text
        assert "    1/0, 'last'\nZeroDivisionError: division by zero" in text
        assert len(text) / 4 <= max(2 * tokens, 300)


def test_a_script_sends_an_exception_of_its_own() -> None:
    with pytest.raises(KeyError) as raised:
        pd.DataFrame({"a": [1]})["b"]
    sent = attachment_of_error(Chat("gpt-5.2").session, raised.value)
    assert sent.name == "error"
    assert 'test_errors.py", line ' in sent.text
    assert re.findall(r"… \d+ frames in (\w+), the last in get_\w+\n", sent.text) == ["pandas"]
    assert "The cell" not in sent.text
