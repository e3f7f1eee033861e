"""Answers of each provider's own web search, in events as the SDKs' types have them."""

from __future__ import annotations

from typing import Any

from dialects import _block, _delta, _named, delta_piece
from server import events, piece, usage

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
