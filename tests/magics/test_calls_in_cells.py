"""Functions of the notebook that a model calls: named by a cell or a setting, shown, kept with their turn."""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cells import Cells
from kernels import Kernel, shown
from server import events, piece, send, serve, usage
from tool_calls import Called, completions

from jupyter_ctx import Reply, get_chat
from jupyter_ctx.conversation.conversation import Conversation
from jupyter_ctx.conversation.events import Added, TurnAdded
from jupyter_ctx.conversation.messages import Attachment, ToolCall, ToolResult, ToolRound, Turn, TurnRecord
from jupyter_ctx.display.answer.attachment_summary import step_bundles
from jupyter_ctx.display.answer.stream import NotebookView
from jupyter_ctx.export.conversation_files import redacted, written
from jupyter_ctx.export.handout import HandoutAnswer, gathered, with_answers
from jupyter_ctx.magics.answer_parts import call_shown, forms_of
from jupyter_ctx.runtime.redaction import Redactor

MAKE = '''
def rows(country: str) -> list:
    """Return the rows of a country."""
    if country == "XX":
        raise ValueError("no such country: XX")
    if country == "stop":
        raise KeyboardInterrupt
    return [{"city": n} for n in range(12)]

class Shop:
    def price(self, name: str) -> float:
        """Return a price."""
        return 2.5

shop, table = Shop(), [1, 2]
'''
NORWAY, NOWHERE = Called("c1", "rows", '{"country": "NO"}'), Called("c2", "rows", '{"country": "XX"}')
KEY = "sk-proj-Zx81kfFq0aPq77Lw2mTn5bYc"
LINES = ["rows(country='NO') → 12 items, ", "✗ rows(country='XX') → ValueError: no such country: XX, "]


class Model:
    """A server that asks for these calls once a prompt, and then answers."""

    def __init__(self, *calls: Called) -> None:
        self.calls = calls

    def answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        called = body["messages"][-1]["role"] == "tool" or "tools" not in body
        text = events(piece("Twelve."), piece("", "stop"), usage(90, 2))
        send(handler, 200, text if called else completions(self.calls, "I look."), "text/event-stream")


@pytest.fixture
def asking(cells: Cells) -> Iterator[tuple[Cells, Model, list[dict[str, Any]]]]:
    """Cells that have functions, the model that they ask, and what that is sent."""
    model = Model(NORWAY, NOWHERE)
    with serve(model.answer) as (url, seen):
        cells.run(f"%chat use m --base-url {url} --window 8000")
        cells.run(MAKE)
        yield cells, model, seen


def offered(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", [])]


def test_a_cell_shows_what_was_written_the_calls_and_the_answer_in_order(asking: Any) -> None:
    cells, _, seen = asking
    output = cells.run("%%chat --tool rows\nHow many?")
    places = [output.index(text) for text in ("I look.", *(f"[ctx] {line}" for line in LINES), "Twelve.")]
    assert places == sorted(places)
    assert [offered(body) for body in seen] == [["rows"], ["rows"]]
    (turn,), reply = get_chat().turns, cells.shell.user_ns["_"]
    assert isinstance(reply, Reply)
    assert reply.rounds == turn.rounds
    assert [result.failed for result in turn.rounds[0].results] == [False, True]
    assert turn.reply == "Twelve."


def test_history_preview_gauge_and_values_show_the_calls_with_their_turn(asking: Any) -> None:
    cells, _, _ = asking
    cells.run("%%chat --tool rows\nHow many?")
    for shows in ("%chat history", "%chat preview"):
        output = cells.run(shows)
        assert "↳ rows(country='NO') → 12 items" in output
        assert "↳ reply" in output
    assert "functions: rows" in cells.run("%%chat preview --tool rows\nMore?")
    (row,) = get_chat().history()
    assert sum(part.tokens for part in row.parts) == row.tokens
    kinds = {segment.name: segment.tokens for segment in get_chat().info().segments}
    assert kinds["tools"] > 0
    assert "▥" in cells.run("%chat")
    forms = forms_of(cells.shell.user_ns["_"])
    assert forms["text/html"].count('class="jctx-call"') == 2
    assert "12 items" in forms["text/markdown"]


def test_the_setting_holds_until_a_name_is_gone_and_a_cell_may_offer_others_or_none(asking: Any) -> None:
    cells, model, seen = asking
    model.calls = (Called("c1", "price", '{"name": "tea"}'),)
    cells.run("%chat config tools rows,shop.price")
    assert "price(name='tea') → 2.5, " in cells.run("%%chat\nWhat is tea?")
    assert offered(seen[-1]) == ["rows", "price"]
    cells.run("%%chat --tool none\nHello?")
    assert offered(seen[-1]) == []
    cells.run("%%chat --tool shop.price\nAnd now?")
    assert offered(seen[-1]) == ["price"]
    cells.run("%%chat -n 2\nHello?")
    assert offered(seen[-1]) == []
    cells.run("del rows")
    requests = len(seen)
    for cell in ("%%chat\nAgain?", "%chat preview"):
        assert "'rows'" in str(cells.fail(cell))
    assert len(seen) == requests


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--tool row", "Did you mean rows?"),
        ("--tool nothing", "Run the cell that defines it"),
        ("--tool table", "there is no function 'table'"),
        ("--tool rows -n 2", "goes with one answer"),
    ],
)
def test_what_is_no_function_is_told_in_a_line_and_nothing_is_sent(asking: Any, options: str, said: str) -> None:
    cells, _, seen = asking
    assert said in str(cells.fail(f"%%chat {options}\nHow many?"))
    assert seen == []


def test_tab_offers_functions(asking: Any) -> None:
    cells, _, _ = asking
    assert cells.lines("%%chat --tool ro") == ["%%chat --tool rows"]
    assert not {"%%chat --tool table", "%%chat --tool Shop"} & {*cells.lines("%%chat --tool ")}


@pytest.mark.parametrize(("typed", "brief"), [("y", "12 items"), ("", "not called")])
def test_confirm_asks_before_a_call(asking: Any, monkeypatch: pytest.MonkeyPatch, typed: str, brief: str) -> None:
    cells, model, _ = asking
    model.calls, questions = (NORWAY,), list[str]()
    monkeypatch.setattr(builtins, "input", lambda question: questions.append(question) or typed)
    assert f"rows(country='NO') → {brief}" in cells.run("%%chat --tool rows --confirm\nHow many?")
    assert [re.findall(r"rows\(.*\)", question) for question in questions] == [["rows(country='NO')"]]


def test_an_export_shows_calls_and_json_keeps_them_with_their_results(asking: Any, tmp_path: Path) -> None:
    cells, _, _ = asking
    cells.run("%%chat --tool rows\nHow many?\n")
    (turn,) = get_chat().turns
    texts = [get_chat().export(tmp_path / f"talk{suffix}").read_text("utf-8") for suffix in (".md", ".ipynb", ".json")]
    assert all("12 items" in text for text in texts)
    messages = json.loads(texts[-1])["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "assistant"]
    cells.run(f"%chat import {tmp_path / 'talk.json'}")
    _, again = get_chat().turns
    assert (again.rounds, again.reply) == (turn.rounds, turn.reply)


def test_secrets_in_arguments_and_results_are_blanked_in_an_export(asking: Any, tmp_path: Path) -> None:
    cells, _, _ = asking
    cells.run("%%chat --tool rows\nHow many?")
    (turn,) = get_chat().turns
    called = turn.rounds[0].rewritten(lambda text: text.replace("NO", KEY).replace("city", KEY))
    text = written(redacted(Added((replace(turn, rounds=(called,)),)), Redactor()), ".json")
    assert KEY in str(called)
    assert KEY not in text


def test_a_handed_out_notebook_shows_the_calls_and_calls_nothing() -> None:
    asked = Turn("How many?", record=TurnRecord("openai/m", source="s"))
    image = Attachment("a.png", "image/png", b"PNG")
    result = ToolResult("twelve", (image,), "12 rows", seconds=0.2)
    turn = replace(asked, reply="Twelve.", rounds=(ToolRound((ToolCall("c1", "rows"),), (result,)),))
    conversation = Conversation()
    conversation.append(TurnAdded(turn))
    answers = gathered([conversation], {"s"}, lambda _: False)
    notebook = json.loads(with_answers({"cells": [{"source": "x"}], "metadata": {}}, answers))
    (answer,) = msgspec.convert(notebook["metadata"]["jupyter_ctx"]["handout"], list[HandoutAnswer])
    (kept,) = answer.rounds
    assert kept == turn.rounds[0]


def test_where_nobody_can_be_asked_a_function_that_wants_it_is_not_called(kernel: Kernel) -> None:
    with serve(Model(NORWAY).answer) as (url, seen):
        kernel.begin_anew()
        kernel.run(f"%load_ext jupyter_ctx\n%chat use m --base-url {url} --window 8000\ndef rows(country): 1 / 0")
        outputs = kernel.run("%%chat --tool rows --confirm\nHow many?", "ask", stdin=False)
    assert "✗ rows(country='NO') → not called" in shown(outputs)
    assert "nobody can be asked" in seen[-1]["messages"][-1]["content"]


HOSTILE = "<img src=x onerror=alert(1)> </details> <script>alert(1)</script> ![a](http://x.y/z.png) $x$ `a` \x1b[31m"


def test_names_arguments_and_results_are_text_in_every_form() -> None:
    call = ToolCall("c1", HOSTILE, json.dumps({HOSTILE: HOSTILE}))
    step = call_shown(call, ToolResult(HOSTILE * 2_000, brief=HOSTILE, failed=True))
    page = "".join(each.html for each in step_bundles([step] * 30))
    assert len(page) < 200_000
    assert not re.search(r"<(?!/?(?:div|details|summary|span)\b)|\x1b", page)
    assert page.count("<details>") == page.count("</details>") == 30
    (forms,) = step_bundles([step])
    assert "<img" not in forms.markdown
    assert "![" not in forms.markdown
    assert "\x1b" not in forms.markdown + forms.plain


def test_a_growing_answer_carries_little_of_a_result_and_the_whole_one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[str] = []
    view = NotebookView(streaming=False)
    monkeypatch.setattr(view._output, "_show", lambda forms: pages.append(forms["text/html"]))
    view.calling("f()")
    view.called(call_shown(ToolCall("c1", "f"), ToolResult("x" * 9_000, brief="text", seconds=0.2)))
    view.feed("Done.")
    pages.append(view.html())
    view.close()
    assert [page.count("x" * 1_000) for page in pages] == [0, 9]
    assert [page.index("jctx-call") < page.index("Done.") for page in pages] == [True, True]
