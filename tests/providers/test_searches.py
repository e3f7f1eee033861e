"""A provider's own search: its sources, and a report that is not the size of the next request."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from cells import Cells
from dialects import DIALECTS, _block, _delta, _named, answering, delta_piece
from html_pages import Seen
from server import events, piece, send, serve, usage

from jupyter_ctx import Chat, Reply, Usage
from jupyter_ctx.magics.answer_parts import ending
from jupyter_ctx.storage.conversation_writer import close_stores

CUP, BALL = ("https://cup.example/2024", "The cup of 2024"), ("https://ball.example/a_(b)?c=d", "Ball")
SEARCHED = 9_020  # input tokens of a request that holds what the search has found
BEFORE, ANSWER = "I'll search for that.", "Spain won in 2024."
# a sentence in several blocks, as citations part it
PARTS = ("Spain won", " in ", "2024", ".")


def completions(*pages: tuple[str, str]) -> str:
    """Chat Completions, as OpenAI's search models and OpenRouter write it."""
    notes = [
        {"type": "url_citation", "url_citation": {"url": url, "title": title, "start_index": 0, "end_index": 5}}
        for url, title in pages
    ]
    called: dict[str, Any] = {"index": 0, "id": "c", "type": "function", "function": {"name": "s", "arguments": "{}"}}
    cited = delta_piece({"content": "", "annotations": notes})
    deltas = (piece(BEFORE), delta_piece({"tool_calls": [called]}), *map(piece, PARTS), cited)
    return events(*deltas, piece("", "stop"), usage(SEARCHED, 20))


def responses(*pages: tuple[str, str]) -> str:
    """The Responses API: a message, a search and another message."""
    notes = [
        {"type": "url_citation", "url": url, "title": title, "start_index": 0, "end_index": 5} for url, title in pages
    ]
    search = {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "cup"}}
    messages = [
        {"type": "message", "id": f"m{n}", "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": text, "annotations": cited}]}
        for n, (text, cited) in enumerate([(BEFORE, []), (ANSWER, notes)])
    ]  # fmt: skip
    output = [messages[0], search, messages[1]]

    def delta(index: int, text: str) -> dict[str, Any]:
        place = {"item_id": f"m{index}", "output_index": index, "content_index": 0, "sequence_number": 1}
        return {"type": "response.output_text.delta", "delta": text, **place}

    def done(index: int) -> dict[str, Any]:
        return {"type": "response.output_item.done", "output_index": index, "item": output[index]}

    report = {"input_tokens": SEARCHED, "output_tokens": 20, "total_tokens": SEARCHED + 20}
    whole = {"id": "r", "object": "response", "model": "m", "status": "completed", "output": output, "usage": report,
             "tools": [{"type": "web_search"}], "max_tool_calls": 3}  # fmt: skip
    return _named(
        delta(0, BEFORE), done(0), done(1), *(delta(2, part) for part in PARTS), done(2),
        {"type": "response.completed", "response": whole},
    )  # fmt: skip


def anthropic(*pages: tuple[str, str]) -> str:
    """The Messages API: text, a search, what it has found, and text in blocks between citations."""
    begun = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    found = [
        {"type": "web_search_result", "url": url, "title": title, "encrypted_content": "e", "page_age": None}
        for url, title in (*pages, ("https://unused.example/", "Found, not cited"))
    ]
    blocks = [
        _block(0, {"type": "text", "text": ""}), _delta(0, {"type": "text_delta", "text": BEFORE}),
        _block(1, {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
        _delta(1, {"type": "input_json_delta", "partial_json": '{"query": "cup"}'}),
        _block(2, {"type": "web_search_tool_result", "tool_use_id": "s", "content": found}),
    ]  # fmt: skip
    for index, part in enumerate(PARTS, 3):
        blocks += [_block(index, {"type": "text", "text": "", "citations": []})]
        if part == "2024":
            blocks += (
                _delta(index, {"type": "citations_delta", "citation": {
                    "type": "web_search_result_location", "url": url, "title": title, "cited_text": "x",
                    "encrypted_index": "e"}})
                for url, title in pages
            )  # fmt: skip
        blocks += [_delta(index, {"type": "text_delta", "text": part})]
    report = {"input_tokens": SEARCHED, "output_tokens": 20, "server_tool_use": {"web_search_requests": 1}}
    return _named(
        {"type": "message_start", "message": {**begun, "usage": {"input_tokens": 30, "output_tokens": 0}}}, *blocks,
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": report}, {"type": "message_stop"},
    )  # fmt: skip


def google(*pages: tuple[str, str]) -> str:
    """Gemini, which reports grounding beside every piece of the text."""
    ground = {
        "webSearchQueries": ["cup"],
        "groundingChunks": [{"web": {"uri": url, "title": title, "domain": "d"}} for url, title in pages],
    }
    report = {"promptTokenCount": 30, "toolUsePromptTokenCount": SEARCHED - 30, "candidatesTokenCount": 20}

    def chunk(part: dict[str, Any], **more: Any) -> dict[str, Any]:
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0, "groundingMetadata": ground, **more}
        return {"candidates": [candidate], "usageMetadata": report, "modelVersion": "m"}

    code = {"executableCode": {"language": "PYTHON", "code": "search('cup')"}}
    return events(
        chunk({"text": BEFORE}), chunk(code), *(chunk({"text": part}) for part in PARTS),
        chunk({"text": ""}, finishReason="STOP"), end="",
    )  # fmt: skip


SEARCHES = {"completions": completions, "responses": responses, "anthropic": anthropic, "google": google}

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
