"""Functions that a model may call: what all APIs share of the way to the model and back.

Sources: openai 3.57 ``types/responses``; anthropic 2.14 ``types``; google-genai 3.6 ``types``; Anthropic's "Thinking",
Gemini's "Thought signatures", DeepSeek's "Thinking mode", OpenRouter's "Preserving reasoning", read in November 2026.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from ..conversation.messages import Message, ToolCall, ToolResult, ToolRound
from ..conversation.text_safety import clean
from ..errors import InvalidRequestError
from .base import Request
from .error_mapping import Refusal
from .request_body import OF_A_PARAMETER

CALL_ID = r"[A-Za-z0-9_-]{1,40}"
NO_ANSWER = "[no answer]"  # stands behind calls that no answer followed
OF_TOOLS = r"(?i)\btools?\b|\bfunction[ _-]?call"
NO_TOOLS = (
    r"(?i)(?:\b(?:not|never|cannot)|n['o]t) (?:\w+ )?(?:support|permit|allow|accept|available|enabled|implement|take)"
    r"|unsupported|extra inputs|unrecogni[sz]ed|unknown|requires --|no endpoints? (?:found )?that support"
)
OF_A_TOOL_SCHEMA = r"(?i)schema for (?:function|tool)|input_schema|function_declarations|\btools?[\[.]\d+[\].]"
Parts = list[dict[str, Any]]  # of a message, as an API has them


@dataclass
class CallParts:
    """One call while it arrives; ``extra``: what a server has put into it beside."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    def call(self, taken: Container[str]) -> ToolCall:
        """Return the call, with an id of its own where it has none that is not ``taken``."""
        name = self.id if self.id and self.id not in taken else os.urandom(5).hex()[:9]
        return ToolCall(name, self.name, "".join(self.pieces) or "{}")


def arguments(call: ToolCall) -> dict[str, Any]:
    """Return the arguments as an object, in which a text that is none stands under ``arguments``."""
    try:
        given = json.loads(call.arguments, parse_constant=_refuse)
        given = json.loads(clean(json.dumps(given, ensure_ascii=False)))
    except (ValueError, RecursionError):
        given = None
    return given if isinstance(given, dict) else {"arguments": call.arguments}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def sent_name(call: ToolCall) -> str:
    """Return the name of a call as every API takes it: a model may have made up another."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:64] or "_"


def sent_id(call: ToolCall, pattern: str = CALL_ID) -> str:
    """Return the id of a call as an API takes it: that of another API may have another form."""
    return call.id if re.fullmatch(pattern, call.id) else sha256(call.id.encode()).hexdigest()[:9]


def as_message(result: ToolResult, *, marks_failed: bool = False) -> Message:
    """Return a result as a message, which says that it failed where the API has no mark for that."""
    text = f"Error: {result.text}" if result.failed and not marks_failed else result.text
    return Message("user", text, result.attachments)


def written_state(api: str, state: Any) -> str:
    """Return what an API wants back as the state of a round; empty: nothing."""
    return clean(json.dumps({"api": api, "state": state}, ensure_ascii=False)) if state else ""


def sent_state(each: ToolRound, api: str) -> Any:
    """Return what an API wants back with a round; ``None``: nothing, or it is another API's."""
    said = json.loads(each.state) if each.state else {}
    return said["state"] if said.get("api") == api else None


def sent_parts(each: ToolRound, api: str, is_call: Callable[[Any], bool], calls: Parts, text: Parts) -> Parts:
    """Return the parts of an answer that ends in ``calls``: as the API sent them, where it wants that, else the text.

    Each call takes the place of the one that came.
    """
    parts, left = sent_state(each, api), iter(calls)
    if parts is None or sum(map(is_call, parts)) != len(calls):
        return [*text, *calls]
    return [{**part, **next(left)} if is_call(part) else part for part in parts]


def prepared(request: Request) -> Request:
    """Return a request whose calls can be sent: as text where no tools are offered, which APIs want beside calls.

    Where they are, a text stands behind the calls of each turn, as APIs want it.
    """
    if not any(message.round for message in request.messages):
        return request
    if not request.tools:
        return as_text(request)
    before = (None, *request.messages)
    messages = [
        replace(now, content=NO_ANSWER) if last and last.round and not (now.round or now.content.strip()) else now
        for last, now in zip(before, request.messages, strict=False)
    ]
    return replace(request, messages=tuple(messages))


def as_text(request: Request) -> Request:
    """Return a request with calls as text behind the prompt that they are made for, where files of results go, too."""
    messages = list[Message]()
    for message in request.messages:
        if message.round is None or not messages:
            messages.append(message)
        else:
            prompt = messages[-1]
            text = "\n\n".join(filter(None, (prompt.content, str(message.round))))
            files = (*prompt.attachments, *message.round.files)
            messages[-1] = replace(prompt, content=text, attachments=files)
    return replace(request, messages=tuple(messages))


def no_tools(model: str, words: str = "") -> InvalidRequestError:
    """Return the error for a model that calls no functions."""
    said = f" ({words.rstrip('.')})" if words else ""
    return InvalidRequestError(f"{model} cannot call functions{said}: ask without --tool, or choose another model.")


def tools_error(refusal: Refusal, model: str) -> InvalidRequestError | None:
    """Return the error for a refusal of functions, or of their parameters; ``None``: it is about something else."""
    if refusal.code not in OF_A_PARAMETER or refusal.overflow or refusal.is_unpaid:
        return None
    if re.search(OF_A_TOOL_SCHEMA, f"{refusal.parameter} {refusal.places}"):
        words = refusal.words.rstrip(".")
        return InvalidRequestError(f"{model} refuses the parameters of a tool ({words}): give them simpler types.")
    is_about_tools = re.search(OF_TOOLS, refusal.places) and re.search(NO_TOOLS, refusal.places)
    return no_tools(model, refusal.words) if is_about_tools else None
