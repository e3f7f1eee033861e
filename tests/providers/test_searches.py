"""A provider's own search: its sources, and a report that is not the size of the next request."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from cells import Cells
from dialects import DIALECTS, answering, delta_piece
from html_pages import Seen
from searches import ANSWER, BALL, BEFORE, CUP, SEARCHED, SEARCHES
from server import events, piece, send, serve, usage

from jupyter_ctx import Chat, Reply, Usage
from jupyter_ctx.magics.answer_parts import ending
from jupyter_ctx.storage.conversation_writer import close_stores

COMPLETIONS = DIALECTS["completions"]
every_dialect = pytest.mark.parametrize("name", SEARCHES)


@every_dialect
def test_a_search_is_no_part_of_what_the_next_request_carries(name: str) -> None:
    with answering(DIALECTS[name], SEARCHES[name](CUP, BALL), prices=(1, 1), window=10_000) as (chat, seen):
        reply, info = chat.send("Who won?"), chat.info()
        assert reply.usage is not None
        assert (reply.usage.input_tokens, reply.usage.includes_tools) == (SEARCHED, True)
        assert reply.cost == pytest.approx((SEARCHED + 20) / 1e6), "what is billed is what is reported"
        assert not info.exact
        assert info.used < 120
        again = chat.send("And before?")
        assert not again.notices, "no line of a prompt that was not read whole"
        assert len(seen) == 2
        assert "cup.example" not in json.dumps(seen[1]), "sources are not sent"
        assert not chat.preview("And then?").exact


@every_dialect
def test_a_report_without_a_search_counts_again(name: str) -> None:
    dialect = DIALECTS[name]
    with answering(dialect, SEARCHES[name](CUP), dialect.answer("Italy.", sent=60, said=3)) as (chat, _):
        chat.send("Who won?")
        reply, info = chat.send("And before?"), chat.info()
        assert (info.used, info.exact) == (63, True)
        assert not reply.notices


@every_dialect
def test_sources_are_told_once_in_order_and_only_a_call_parts_the_text_that_they_cut_up(name: str) -> None:
    with answering(DIALECTS[name], SEARCHES[name](BALL, CUP, BALL)) as (chat, _):
        pieces: list[str] = []
        reply = chat.send("Who won?", on_piece=pieces.append)
        assert reply.citations == chat.turns[-1].record.citations == (BALL, CUP)
        assert reply.text == "".join(pieces) == f"{BEFORE}\n\n{ANSWER}"


def test_lists_of_addresses_and_of_results_are_sources() -> None:
    """Perplexity sends addresses and, with titles, results beside every piece, xAI the first alone, Groq results."""
    results = [{"title": CUP[1], "url": CUP[0], "date": None}, {"title": BALL[1], "url": BALL[0]}]
    addresses = {"citations": [CUP[0], BALL[0]]}
    tool = {"index": 0, "type": "search", "search_results": {"images": ["https://i.example/a.png"], "results": results}}
    ways = (
        ([piece("So"), {**piece(" it is."), **addresses, "search_results": results}], (CUP, BALL)),
        ([piece("So"), {**piece(" it is."), **addresses}], ((CUP[0], ""), (BALL[0], ""))),
        ([delta_piece({"executed_tools": [tool]}), piece("So"), piece(" it is.")], (CUP, BALL)),
    )
    for chunks, cited in ways:
        with answering(COMPLETIONS, events(*chunks, piece("", "stop"), usage(9_000, 4))) as (chat, _):
            reply = chat.send("x")
            assert (reply.text, reply.citations) == ("So it is.", cited)
            assert not chat.info().exact


def test_a_search_that_is_only_reported_is_a_search() -> None:
    """OpenRouter's tools that cite nothing."""
    report = usage(9_000, 4)
    for name in ("server_tool_use", "server_tool_use_details"):
        report["usage"][name] = {"web_search_requests": 1}
        with answering(COMPLETIONS, events(piece("Yes."), piece("", "stop"), report)) as (chat, _):
            chat.send("x")
            assert not chat.info().exact
        report["usage"][name] = {"web_search_requests": 0}
        with answering(COMPLETIONS, events(piece("Yes."), piece("", "stop"), report)) as (chat, _):
            chat.send("x")
            assert chat.info().exact


def test_what_is_no_page_of_the_web_is_no_source() -> None:
    hostile = [
        ("javascript:alert(1)", "x"), ("data:text/html,x", "x"), ("https://a.example/ b", "x"),
        ("https://" + "a" * 3_000, "x"),
        ("https://a.example/\ud800", "x"), ("ftp://a.example", "x"), ("https://a.example\\@b.example", "x"), ("", "x"),
    ]  # fmt: skip
    with answering(COMPLETIONS, SEARCHES["completions"](*hostile)) as (chat, _):
        assert chat.send("x").citations == ()
    many = [(f"https://a.example/{n}", "t" * 5_000) for n in range(500)]
    with answering(COMPLETIONS, SEARCHES["completions"](*many)) as (chat, _):
        citations = chat.send("x").citations
        assert len(citations) == 50
        assert max(len(title) for _, title in citations) == 200


def test_a_search_shows_no_other_window() -> None:
    """Neither a limit that was learned from a refusal, nor the window that is believed."""
    refused = {"message": "maximum context length is 4000 tokens, your prompt contains at least 4300 input tokens"}
    answers = [SEARCHES["completions"](CUP), json.dumps({"error": refused})]

    def answer(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        send(handler, 400 if len(answers) > 1 else 200, answers.pop() if len(answers) > 1 else answers[0])

    with serve(answer) as (url, _):
        chat = Chat("m", base_url=url)
        chat.add_messages([{"role": "user", "content": "word " * 3_500}, {"role": "assistant", "content": "Yes."}])
        assert len(chat.send("Who won?").notices) == 1
        window = chat.info().budget.window
        assert (window.tokens, window.source) == (4_000, "learned")
        assert chat.send("And before?").notices == ()
        assert chat.info().budget.window == window


@every_dialect
def test_a_call_and_nothing_else_is_told(name: str) -> None:
    calls = {
        "completions": events(
            delta_piece({"tool_calls": [{"index": 0, "type": "function", "function": {"name": "f"}}]}),
            piece("", "tool_calls"), usage(40, 4),
        ),
        "responses": DIALECTS[name].end().replace('"usage"', '"output": [{"type": "function_call"}], "usage"'),
        "anthropic": DIALECTS[name].pieces([]).replace('"type": "text", "text": ""', '"type": "tool_use", "name": "f"')
        + DIALECTS[name].end(),
        "google": events({"candidates": [{"content": {"parts": [{"functionCall": {"name": "f"}}]}}]}, end="")
        + DIALECTS[name].end(),
    }  # fmt: skip
    with answering(DIALECTS[name], calls[name]) as (chat, _):
        reply = chat.send("x")
        assert not chat.info().exact
    silent = Reply("", Usage(40, 0))
    assert (reply.text, len(ending(reply)), ending(reply) == ending(silent)) == ("", 1, False)


def test_sources_stand_below_a_new_and_a_stored_answer(tmp_path: Path, cells: Cells) -> None:
    store, search = tmp_path / "it.sqlite", SEARCHES["completions"](CUP, BALL)
    with answering(COMPLETIONS, search, store=store, name="it") as (chat, seen):
        first = chat.send("x", cell="a", run="1")
        close_stores()
        again = Chat("m", base_url=chat.config.base_url, store=store, name="it")
        assert not again.info().exact, "in a new kernel, too"
        reply = again.send("x", cell="a", run="2", stored="cell")
        assert (reply.stored, reply.citations, len(seen)) == (True, first.citations, 1)
        printed = cells.run(f"%%chat -m m --base-url {chat.config.base_url}\nx")
    page = reply._repr_mimebundle_()
    for form in (printed, page["text/markdown"], page["text/html"]):
        assert form.index(CUP[1]) > form.index("2024.")
        assert form.count(CUP[0]) == 1
    assert Seen(page["text/html"]).tags >= {"a"}
    assert CUP[1] not in reply.text


def test_exports_show_sources_and_json_keeps_them(tmp_path: Path) -> None:
    with answering(COMPLETIONS, SEARCHES["completions"](CUP, BALL), store=tmp_path / "a.db") as (chat, _):
        text = chat.send("Who won?").text
        texts = [chat.export(tmp_path / f"talk.{form}").read_text("utf-8") for form in ("md", "ipynb", "json")]
        assert all(CUP[0] in text for text in texts)
        taken = Chat("m", base_url="http://127.0.0.1:9/v1")
        taken.load(tmp_path / "talk.json")
        assert [(turn.reply, turn.record.citations) for turn in taken.turns] == [(text, (CUP, BALL))]
