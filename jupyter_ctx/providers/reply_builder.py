"""A reply while it arrives: thoughts and text, why it ended in one vocabulary, and what it tells of tools and pages.

Servers that are not told how a model thinks (Ollama, LM Studio, llama.cpp with reasoning off, with distilled R1s and
Qwens) send ``<think>`` … ``</think>`` at the beginning of the text as the model wrote it. Anywhere else the tags are
text. Some templates put the first tag into the prompt, so that a reply has only the second one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ..context.logprobs import TokenLogprob
from ..context.usage import Usage
from ..conversation.messages import StopReason, ToolCall
from ..conversation.text_safety import clean
from .base import Piece, Reply, Request, Thought
from .error_mapping import Refusal
from .request_body import written_state
from .wire import DONE, NOT_JSON, dicts_in, json_values, text_at

REASON_NAMES: dict[StopReason, str] = {  # what servers call it, in small letters
    "stop": (
        "stop end_turn stop_sequence eos completed finished tool_calls tool_use function_call finish_reason_unspecified"
    ),
    "max_tokens": (
        "length max_tokens max_output_tokens max_length "
        "continuation"  # Gemini: a limit of one request; asking on is left to the user, who pays
    ),
    "context_window": (
        "model_context_window_exceeded model_length context_length context_length_exceeded context_window_exceeded"
    ),
    "refusal": (
        "refusal content_filter sensitive safety blocked moderation guardrail_intervened recitation language other "
        "blocklist prohibited_content spii image_safety model_armor escalation"
    ),
    "cut": (
        "error cut abort aborted cancelled canceled timeout failed insufficient_system_resource network_error "
        "engine_overloaded overloaded server_error pause_turn incomplete malformed_response malformed_function_call "
        "unexpected_tool_call too_many_tool_calls"
    ),
}
STOP_REASONS: dict[str, StopReason] = {name: reason for reason, names in REASON_NAMES.items() for name in names.split()}

MESSAGE_FIELDS = frozenset({"message", "msg", "detail", "error_msg", "error_message", "errorMessage", "title"})
# texts of events that may tell of tools, or of pages that a search has found
MAY_TELL = re.compile(
    r"tool|_call|functionCall|executableCode|web_search|citation|annotation|search_results|groundingChunks|urlMetadata"
)
# how the APIs tell of tools, as types and as fields, and where they name the pages that a search has found
TOOL_TYPES = re.compile("_call$|tool_use$|tool_result$")
TOOL_FIELDS = ("tool_calls", "executed_tools", "functionCall", "executableCode", "web_search_requests")
OWN_CALLS = frozenset({"function_call", "tool_use", "tool_calls", "functionCall"})  # of functions that are offered
ARGUMENTS = ("images", "args", "input")  # whose fields are the model's
CITING = {"annotations", "annotation", "citations", "citation", "search_results", "groundingChunks", "urlMetadata"}
WEB_PAGE = re.compile(r"https?://[^\s<>\"\\\x00-\x1f\ud800-\udfff]{1,2000}", re.I)
MOST_CITED, TITLE_MAX = 50, 200  # pages, characters of a title

OPEN, CLOSE = "<think>", "</think>"
PARTIAL_TAG = re.compile(r"<(?:/(?:t(?:h(?:i(?:nk?)?)?)?)?)?\Z")  # an end that may go on as the second tag
# the second tag alone: on a line of its own, or right after a sentence. Elsewhere it is talked about.
LATE = re.compile(r"(?:^[ \t]*|(?<=[.!?…。！？)\]]))</think>(?![`\"'])", re.M)
CODE_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.M)


@dataclass
class CallParts:
    """One call while it arrives; ``extra``: what a server has put into it beside."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)


class ReplyBuilder:
    """What is known of a reply while it arrives. A reply that never says why it ended is cut."""

    def __init__(self, model: str, request: Request, api: str = "") -> None:
        self.model = model  # what the provider calls it
        self.usage: Usage | None = None  # the tokens reported so far
        self.stop_reason: StopReason | None = None  # once known
        self.detail = ""  # the provider's own reason
        self.whole = False  # whether the server marked the end, even without a reason
        self.logprobs: list[TokenLogprob] = []
        self.words: Any = None  # what the server said that is no part of a reply: it counts only where no reply came
        self.place: object = None  # which part of the answer the next piece belongs to
        self.pieces: list[Piece] = []
        self.offers_tools = bool(request.tools)
        self.calls: list[CallParts] = []
        self.state: Any = None  # what the API wants back with the results of the calls
        self._api = api
        self._called: dict[object, CallParts] = {}  # the last call at each place
        self._taken_ids = {call.id for message in request.messages if message.round for call in message.round.calls}
        self._tool_events = 0
        self._titles: dict[str, str] = {}  # of the pages that it cites, by their addresses
        self._last: dict[type, tuple[object, str]] = {}  # the place of the last text and thought, and its end

    def events(self, chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        """Yield the JSON objects in an answer; keep what they tell of tools and pages, and other words of the server.

        Raises a Refusal where one of them is an error, and ValueError where one is broken.
        """
        for text, value in json_values(chunks):
            if value is NOT_JSON and text[0] in "{[":
                raise ValueError("broken JSON")
            if value is NOT_JSON or isinstance(value, str):
                self.words = self.words or text
            for event in [value] if isinstance(value, dict) else dicts_in(value):
                if MAY_TELL.search(text):
                    self._note(event)
                if event.get("error") or "error" in (event.get("object"), event.get("type")):
                    raise Refusal(None, event)
                if any(isinstance(event[name], str | list) for name in MESSAGE_FIELDS & event.keys()):
                    self.words = event
                yield event
            if value is DONE:
                return

    def add(self, piece: Piece) -> Piece | None:
        """Take a piece and return it as it is shown; ``None``: it is empty.

        A blank line stands between texts of two parts, and before and after a tool, where no white space does. A part
        is known by its place, not by its item_id, for which Azure has made up new ones.
        """
        kind = type(piece)
        text = clean(piece if isinstance(piece, str) else piece.text)
        if not text:
            return None
        place = (self.place, self._tool_events, len(self.calls))
        before, end = self._last.get(kind, (place, text))
        if before != place and not (end.isspace() or text[0].isspace()):
            text = f"\n\n{text}"
        self._last[kind] = place, text[-1]
        shown = text if kind is str else Thought(text)
        self.pieces.append(shown)
        return shown

    def call(self, place: object, call_id: str, name: str, arguments: Any, extra: Any = None) -> None:
        """Take a call, or a part of one, where functions are offered; ``place`` tells it from others in this reply.

        Servers that count badly give several calls one place: another id there, or a name once arguments have come,
        begins another call. ``arguments``: JSON or, from some servers, the object itself.
        """
        if not self.offers_tools:
            return
        written = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
        last = self._called.get(place)
        is_other = last is not None and (call_id not in ("", last.id) if last.id else bool(name and last.pieces))
        if last is None or is_other:
            last = self._called[place] = CallParts()
            self.calls.append(last)
        last.id, last.name = last.id or clean(call_id), last.name or clean(name)
        last.pieces += [clean(written)] if written else []
        last.extra.update(extra or {})

    def end(self, why: str, detail: str = "") -> None:
        """Set the stop reason from the server's word for it; an unknown word is kept as the detail."""
        known = STOP_REASONS.get(why.lower())
        self.stop_reason = known or "stop"
        if known in (None, "refusal", "cut") or "tool" in why.lower() or "function" in why.lower():
            self.detail = detail or why

    def refuse(self, detail: str) -> None:
        """Set that the model refused to answer, where ``detail`` says so."""
        if detail:
            self.stop_reason, self.detail = "refusal", detail

    def _note(self, event: dict[str, Any]) -> None:
        """Keep what an event tells of tools that the server runs itself, and of pages that a search has found."""
        own = OWN_CALLS if self.offers_tools else frozenset[str]()
        inside: list[tuple[Any, bool]] = [(event, False)]
        for each, cited in inside:  # which grows
            if isinstance(each, list):
                inside += (({"url": item} if isinstance(item, str) else item, cited) for item in each)
            elif isinstance(each, dict):
                kind = text_at(each, "type")
                is_call = kind not in own and bool(TOOL_TYPES.search(kind))
                self._tool_events += is_call or any(each.get(name) for name in TOOL_FIELDS if name not in own)
                address = text_at(each, "url") or text_at(each, "uri") or text_at(each, "retrievedUrl")
                if cited and WEB_PAGE.fullmatch(address):
                    self._titles[address] = self._titles.get(address) or clean(text_at(each, "title"))[:TITLE_MAX]
                else:
                    inside += ((part, cited or name in CITING) for name, part in each.items() if name not in ARGUMENTS)

    def reply(self) -> Reply:
        """Return the reply made of all pieces."""
        thinking = "".join([piece.text for piece in self.pieces if isinstance(piece, Thought)])
        text = "".join([piece for piece in self.pieces if isinstance(piece, str)])
        usage = self.usage
        if usage is not None and thinking and not usage.reasoning_tokens:
            thought = round(usage.output_tokens * len(thinking) / len(thinking + text))
            usage = replace(usage, reasoning_tokens=thought, guessed=True)
        if usage is not None and (self._tool_events or self._titles):
            usage = replace(usage, includes_tools=True)
        reason = self.stop_reason or ("stop" if self.whole and (text or self.calls) else "cut")
        reply = Reply(
            text, usage, reason, self.model, detail=self.detail, thinking=thinking, tokens=tuple(self.logprobs),
            citations=tuple(self._titles.items())[:MOST_CITED],
        )  # fmt: skip
        if not self.calls or reason != "stop":
            return reply
        state = written_state(self._api, self.state)
        return replace(reply, calls=tuple(self._calls()), stop_reason="tool_calls", detail="", state=state)

    def _calls(self) -> Iterator[ToolCall]:
        """Yield the calls, each with an id of its own in the conversation."""
        for parts in self.calls:
            name = os.urandom(5).hex()[:9] if parts.id in ("", *self._taken_ids) else parts.id
            self._taken_ids.add(name)
            yield ToolCall(name, parts.name, "".join(parts.pieces) or "{}")


def told_apart(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Yield pieces of an answer with its tagged thinking as thoughts, in the same way however the text is cut.

    White space around the thinking belongs to neither. What may still become a tag is held back; an unclosed thought
    is all thought.
    """
    held, awaited, begins = "", OPEN, True
    for piece in pieces:
        if not isinstance(piece, str):
            yield piece
            continue
        held += piece
        if awaited == OPEN and held.lstrip().startswith(OPEN):
            held, awaited = held.lstrip().removeprefix(OPEN), CLOSE
        elif awaited == OPEN and not OPEN.startswith(held.lstrip()):
            break
        if awaited == CLOSE:
            before, tag, after = held.partition(CLOSE)
            before = before.lstrip() if begins else before
            sure = (before if tag else PARTIAL_TAG.sub("", before)).rstrip()
            begins = begins and not sure
            held, awaited = (after, "") if tag else (before.removeprefix(sure), CLOSE)
            yield Thought(sure)
        if not awaited:
            held = held.lstrip()
            if held:
                break
    yield Thought(held.rstrip()) if awaited == CLOSE else held
    yield from pieces


def late_thought(text: str) -> list[Piece]:
    """Return thinking and text of a whole reply that has the second tag alone; empty: it has not."""
    before, tag, after = text.partition(CLOSE)
    line = before.rpartition("\n")[2] + tag + after[:1]
    is_in_code = len(CODE_FENCE.findall(before)) % 2
    if OPEN in before or is_in_code or not LATE.search(line):
        return []
    return [Thought(before.strip()), after.lstrip()]
