"""What users are told: each sentence stands once, in wordings.json, below the cell that brings it about.

``pytest tests/test_wordings.py --rewrite`` writes down what is said now, and fills in what is empty ("").
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from answering_rows import Asked, answering_rows
from cells import Cells, Open

TABLE = Path(__file__).with_name("wordings.json")
WORDINGS: dict[str, dict[str, str]] = json.loads(TABLE.read_text("utf-8"))
BEGIN = """
%load_ext jupyter_ctx
import jupyter_ctx
from jupyter_ctx import *
from jupyter_ctx.testing import *
import jupyter_ctx.library
from jupyter_ctx.session import actions
from jupyter_ctx.session.attaching import attachment_of, attachment_of_error
chat = get_chat()
"""
AT_A_SERVER = """
import pandas, pathlib, types
chat.configure(model="m", base_url=url, window=4_000)
text, numbers, four, nothing = "Some text.", [1, 2, 3], 4, None
results = {"fig": "a text", "my fig": "one with a space"}
held = types.SimpleNamespace(inner=1)
frame = pandas.DataFrame({"a": ["x"]})
def function(): ...
class Kind: ...
_ = pathlib.Path("notes.txt").write_text("x")
"""
PICTURES = f"""
{AT_A_SERVER}
from PIL import Image
from matplotlib import pyplot
chat = Chat(provider=ScriptedProvider(takes=frozenset(["image"])))
figures = [pyplot.figure(figsize=(1, 1)) for _ in range(11)]
"""
MAPS = f"""
{AT_A_SERVER}
df = pandas.DataFrame({{"word": ["sun"], "said": ["SUN"]}})
none, right = df[:0], exact("said")
OPENAI_API_KEY = "sk-" + "a1B2" * 10
"""
SAVED = f"""
{AT_A_SERVER}
from jupyter_ctx.experiments.table.results import Result
def graded(hits):
    given = [(i, "", 0, {{"q": i}}, {{}}, f"q {{i}}", Reply("So."), "", False, False) for i in range(20)]
    return [Result(*each, {{"right": each[0] < hits}}) for each in given]
old, new = graded(18), graded(17)
run = chat.map("{{{{ a }}}}", frame, store=None, progress=False)
_ = run.result()
files = {{"list.json": "[1]", "newer.json": '{{"jupyter_ctx_run": 2}}', "cut.json": '{{"jupyter_ctx_run": 1,'}}
files |= {{"odd.json": '{{"jupyter_ctx_run": 1, "template": 5}}', "empty.ipynb": '{{"cells": []}}'}}
for name, content in files.items():
    _ = pathlib.Path(name).write_text(content)
"""
TALKED = """
chat = Chat("openai/gpt-4o")
_ = chat.add_messages(2 * [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}])
"""
CODE = """
for answer in ("```\\n1 + 1\\n```\\n\\n```sh\\nls\\n```", "Only `words`."):
    _ = chat.add_messages([{"role": "user", "content": "Say."}, {"role": "assistant", "content": answer}])
"""
CONVERSATIONS = """
_ = chat.add_messages([{"role": "user", "content": "Say one."}, {"role": "assistant", "content": "One."}])
%chat new plans
%chat switch main
"""
REASONS = """
def chat_of(serves=400, answer="y" * 40, **settings):
    return Chat(provider=ScriptedProvider(answer, window=serves, model="log/m"), window=400, **settings)
def notice(prompt, **settings):
    chat = chat_of(**settings)
    return next(notice for _ in range(30) for notice in chat.send(prompt).notices)
def refused(prompt, **settings):
    chat = chat_of(**settings)
    while True: chat.send(prompt)
pinned = chat_of(700)
for turn in (1, 2, 3, 3):
    _ = pinned.send("x" * 300), pinned.pin(1, turn)
"""
COURSE = """
import os, pathlib
from jupyter_ctx.library import Library
def begun(text):
    _ = pathlib.Path("jupyter_ctx.toml").write_text(text)
    library = Library(store="memory.db")
    return library.current, library.notes
def told(text):
    print(*begun(text)[1], sep="\\n")
course, _ = begun('model = "litellm/m"\\nmax_tokens = 100\\nlock = ["max_tokens", "system", "model"]')
"""
SETUPS = {
    "a chat with a cap": AT_A_SERVER,
    "a notebook of a course": COURSE,
    "prompts": AT_A_SERVER,
    "attachments": AT_A_SERVER,
    "pictures": PICTURES,
    "maps": MAPS,
    "saved runs": SAVED,
    "methods of a chat of two turns": TALKED,
    "turns with code": CODE,
    "conversations main and plans": CONVERSATIONS,
    "what is done to turns": TALKED,
    "why turns are left out": REASONS,
}


def said(cell: str, cells: Cells, asked: Asked, folder: Path) -> str:
    """Return the error of a cell, or else what it prints, where addresses and folders have one name each."""

    def state() -> tuple[int, int]:
        return cells.shell.user_ns["chat"].conversation.length, len(asked.requests)

    before = state()
    error, shown = cells.outcome(cell)
    if error is not None:
        shown = f"{type(error).__name__}: {error}"
        assert "\n" not in str(error), shown
        after = state()
        assert after[1] > before[1] or after[0] == before[0], f"{cell} failed, and has changed something"
    return shown.strip().replace(asked.url, "URL").replace(str(folder), "FOLDER")


@pytest.mark.parametrize("group", WORDINGS)
def test_what_is_said(
    group: str, opened: Open, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with answering_rows() as asked:
        cells = opened()
        cells.shell.user_ns["url"] = asked.url
        cells.run(BEGIN + SETUPS.get(group, ""))
        now = {cell: said(cell, cells, asked, tmp_path) for cell in WORDINGS[group]}
    if request.config.getoption("rewrite"):
        table = json.loads(TABLE.read_text("utf-8"))
        text = json.dumps({**table, group: now}, ensure_ascii=False, indent=1)
        TABLE.write_text(text + "\n", "utf-8")
    else:
        assert now == WORDINGS[group]
