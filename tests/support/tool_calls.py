"""Calls of functions as each provider streams them, and as a request carries them with their results."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from dialects import DIALECTS, _block, _delta, _named, delta_piece
from server import events

from jupyter_ctx.conversation.messages import ToolSpec

ROWS = ToolSpec(
    "rows",
    "Number of rows of a country.",
    {
        "type": "object",
        "properties": {"country": {"type": "string"}, "year": {"type": "integer", "default": 2024}},
        "required": ["country"],
    },
)
SIGNATURE, REDACTED, ENCRYPTED = "c2ln", "c2VjcmV0", "ZW5jcnlwdGVk"  # the first two as dialects.py has them
SENT, SAID = 60, 20  # tokens


class Called(NamedTuple):
    """A call as a server writes it; an empty id: it gives none."""

    id: str
    name: str
    arguments: str


class Carried(NamedTuple):
    """What a request carries of calls: each with its result, and what the API sent before them."""

    offered: list[str]
    calls: list[tuple[str, Any]]
    results: list[tuple[str, bool]]
    ids: list[tuple[str, str]]
    state: list[Any]


def _pieces(text: str) -> list[str]:
    size = max(7, len(text) // 500)
    return [text[start : start + size] for start in range(0, len(text), size)]


def _completions(calls: Sequence[Called]) -> str:
    """Parallel calls in turns."""
    heads = [
        {"index": number, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        for number, call in enumerate(calls)
    ]
    parts = [(n, number, text) for number, call in enumerate(calls) for n, text in enumerate(_pieces(call.arguments))]
    more = [{"index": number, "function": {"arguments": text}} for _, number, text in sorted(parts)]
    return events(*(delta_piece({"tool_calls": [call]}) for call in (*heads, *more)), end="")


def _anthropic(calls: Sequence[Called]) -> str:
    """``tool_use`` blocks."""
    blocks = []
    for number, call in enumerate(calls, 3):
        blocks += [_block(number, {"type": "tool_use", "id": call.id, "name": call.name, "input": {}})]
        pieces = ["", *_pieces(call.arguments)]
        blocks += [_delta(number, {"type": "input_json_delta", "partial_json": text}) for text in pieces]
    return _named(*blocks)


def _google(calls: Sequence[Called], *, signed: bool) -> str:
    """Whole calls, of which Gemini signs the first where it has thought."""
    parts: list[dict[str, Any]] = []
    for number, call in enumerate(calls):
        made: dict[str, Any] = {"name": call.name, "args": json.loads(call.arguments)}
        made |= {"id": call.id} if call.id else {}
        parts.append({"functionCall": made} | ({"thoughtSignature": SIGNATURE} if signed and not number else {}))
    return events(*({"candidates": [{"content": {"role": "model", "parts": [part]}}]} for part in parts), end="")


def _responses(calls: Sequence[Called], before: str, thought: str, *, cut: bool) -> str:
    """``function_call`` items, and at the end all items once more: reasoning, a message, and the calls."""
    output: list[dict[str, Any]] = []
    if thought:
        summary = [{"type": "summary_text", "text": thought}]
        output.append({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": ENCRYPTED})
    if before:
        content = [{"type": "output_text", "text": before, "annotations": []}]
        output.append(
            {"type": "message", "id": "msg_1", "role": "assistant", "content": content, "phase": "commentary"}
        )
    first = len(output)
    output += [
        {"type": "function_call", "id": f"fc_{n}", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for n, call in enumerate(calls)
    ]
    kind = "response.function_call_arguments.delta"
    deltas = [
        {"type": kind, "output_index": first + n, "item_id": f"fc_{n}", "delta": text}
        for n, call in enumerate(calls)
        for text in _pieces(call.arguments)
    ]
    done = [{"type": "response.output_item.done", "output_index": n, "item": item} for n, item in enumerate(output)]
    whole = {"id": "r", "object": "response", "model": "m", "output": [] if cut else output,
             "usage": {"input_tokens": SENT, "output_tokens": SAID, "total_tokens": SENT + SAID},
             "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
             "tools": [{"type": "function", "name": "rows", "parameters": dict(ROWS.json)}]}  # fmt: skip
    end = {"type": "response.incomplete" if cut else "response.completed", "response": whole}
    return _named(*deltas, *done, end)


def calling(name: str, calls: Sequence[Called], before: str = "", thought: str = "", why: str = "tool_calls") -> str:
    """A whole answer of this API with calls, behind a thought and text."""
    dialect = DIALECTS[name]
    begun = dialect.pieces(_pieces(before), _pieces(thought))
    if name == "responses":
        return begun + _responses(calls, before, thought, cut=why == "max_tokens")
    made = {
        "completions": _completions, "anthropic": _anthropic, "google": partial(_google, signed=bool(thought)),
    }[name](calls)  # fmt: skip
    return begun + made + dialect.end(why=why, sent=SENT, said=SAID)


CALLING: dict[str, Callable[..., str]] = {name: partial(calling, name) for name in DIALECTS}
completions = CALLING["completions"]


def carried(name: str, body: dict[str, Any]) -> Carried:
    """What a request of this API carries of calls."""
    return {"completions": _in_completions, "responses": _in_responses, "anthropic": _in_anthropic,
            "google": _in_google}[name](body)  # fmt: skip


def _in_completions(body: dict[str, Any]) -> Carried:
    answers = [message for message in body["messages"] if message.get("tool_calls")]
    calls = [call for message in answers for call in message["tool_calls"]]
    results = [message for message in body["messages"] if message["role"] == "tool"]
    return Carried(
        [tool["function"]["name"] for tool in body.get("tools", [])],
        [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls],
        [(result["content"], result["content"].startswith("Error")) for result in results],
        [(call["id"], result["tool_call_id"]) for call, result in zip(calls, results, strict=True)],
        [message.get("reasoning_content") for message in answers],
    )


def _in_responses(body: dict[str, Any]) -> Carried:
    items = body["input"]
    calls = [item for item in items if item.get("type") == "function_call"]
    results = [item for item in items if item.get("type") == "function_call_output"]
    return Carried(
        [tool["name"] for tool in body.get("tools", [])],
        [(call["name"], json.loads(call["arguments"])) for call in calls],
        [(str(result["output"]), str(result["output"]).startswith("Error")) for result in results],
        [(call["call_id"], result["call_id"]) for call, result in zip(calls, results, strict=True)],
        [item for item in items if item.get("type") in ("reasoning", "message")],
    )


def _in_anthropic(body: dict[str, Any]) -> Carried:
    blocks = [b for message in body["messages"] if isinstance(message["content"], list) for b in message["content"]]
    calls = [block for block in blocks if block["type"] == "tool_use"]
    results = [block for block in blocks if block["type"] == "tool_result"]
    return Carried(
        [tool["name"] for tool in body.get("tools", [])],
        [(call["name"], call["input"]) for call in calls],
        [(str(result["content"]), result.get("is_error", False)) for result in results],
        [(call["id"], result["tool_use_id"]) for call, result in zip(calls, results, strict=True)],
        [block for block in blocks if block["type"].endswith("thinking")],
    )


def _in_google(body: dict[str, Any]) -> Carried:
    parts = [part for content in body["contents"] for part in content["parts"]]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    results = [part["functionResponse"] for part in parts if "functionResponse" in part]
    declared = [each for tool in body.get("tools", []) for each in tool["functionDeclarations"]]
    return Carried(
        [each["name"] for each in declared],
        [(call["name"], call["args"]) for call in calls],
        [(next(iter(result["response"].values())), "error" in result["response"]) for result in results],
        [(call.get("id", ""), result.get("id", "")) for call, result in zip(calls, results, strict=True)],
        [part["thoughtSignature"] for part in parts if "thoughtSignature" in part],
    )


# what each API is sent of a reply that thought "Which one?" and said "Let me look." before its calls
SENT_BACK: dict[str, list[Any]] = {
    "completions": ["Which one?"],
    "responses": [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Which one?"}],
         "encrypted_content": ENCRYPTED},
        {"type": "message", "id": "msg_1", "role": "assistant", "phase": "commentary",
         "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}]},
    ],
    "anthropic": [
        {"type": "thinking", "thinking": "Which one?", "signature": SIGNATURE},
        {"type": "redacted_thinking", "data": REDACTED},
    ],
    "google": [SIGNATURE],
}  # fmt: skip
