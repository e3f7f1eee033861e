"""Why a reply ended, in one vocabulary, and what is known of a reply while it arrives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..context.logprobs import TokenLogprob
from ..context.usage import Usage
from ..conversation.messages import StopReason
from ..conversation.text_safety import clean
from .base import Reply, Thought
from .stream_events import text_at

REASON_NAMES: dict[StopReason, str] = {  # what servers call it, in small letters
    "stop": (
        "stop end_turn stop_sequence eos eos_token end completed finish finished tool_calls tool_use function_call "
        "finish_reason_unspecified unspecified"
    ),
    "max_tokens": (
        "length max_tokens max_output_tokens max_new_tokens max_length token_limit "
        "continuation"  # Gemini: a limit of one request; asking on is left to the user, who pays
    ),
    "context_window": (
        "model_context_window_exceeded model_length context_length context_length_exceeded context_window_exceeded "
        "max_context_length"
    ),
    "refusal": (
        "refusal content_filter content_filtered content_policy content_policy_violation sensitive safety blocked "
        "moderation guardrail guardrail_intervened recitation language other blocklist prohibited_content spii "
        "image_safety image_prohibited_content image_recitation image_other no_image model_armor escalation"
    ),
    "cut": (
        "error cut abort aborted cancelled canceled timeout failed insufficient_system_resource network_error "
        "engine_overloaded overloaded server_error internal_error pause_turn incomplete malformed_response "
        "malformed_function_call unexpected_tool_call too_many_tool_calls"
    ),
}
STOP_REASONS: dict[str, StopReason] = {name: reason for reason, names in REASON_NAMES.items() for name in names.split()}

# how the APIs tell of tools, as types and as fields, and where they name the pages that a search has found
TOOL_TYPES = re.compile("_call$|tool_use$|tool_result$")
TOOL_FIELDS = ("tool_calls", "executed_tools", "functionCall", "executableCode", "web_search_requests")
CITING = {"annotations", "annotation", "citations", "citation", "search_results", "groundingChunks", "urlMetadata"}
WEB_PAGE = re.compile(r"https?://[^\s<>\"\\\x00-\x1f\ud800-\udfff]{1,2000}", re.I)
MOST_CITED, TITLE_MAX = 50, 200  # pages, characters of a title


@dataclass(slots=True)
class Ending:
    """What is known of a reply while it arrives. A reply that never says why it ended is cut.

    ``model``: what the provider calls the model.
    ``usage``: the tokens reported so far.
    ``stop_reason``: why it ended, once known.
    ``detail``: the provider's own reason.
    ``whole``: whether the server marked the end, even without a reason.
    ``tokens``: those that were reported with their probabilities.
    ``said``: thinking and text of the whole reply, where they were told apart only at its end.
    ``calls``: how often it has told of a tool.
    ``citations``: the titles of the pages that it cites, by their addresses.
    """

    model: str
    usage: Usage | None = None
    stop_reason: StopReason | None = None
    detail: str = ""
    whole: bool = False
    said: tuple[str, str] | None = None
    tokens: list[TokenLogprob] = field(default_factory=list)
    calls: int = 0
    citations: dict[str, str] = field(default_factory=dict)

    def end(self, why: str, detail: str = "") -> None:
        """Set the stop reason from the server's word for it; an unknown word is kept as the detail."""
        known = STOP_REASONS.get(why.lower())
        self.stop_reason = known or "stop"
        if known in (None, "refusal", "cut") or "tool" in why.lower() or "function" in why.lower():
            self.detail = detail or why

    def noted(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return a part of the answer; keep what it tells of tools, and of pages that a search has found."""
        inside: list[tuple[Any, bool]] = [(event, False)]
        for each, cited in inside:  # which grows
            if isinstance(each, list):
                inside += (({"url": item} if isinstance(item, str) else item, cited) for item in each)
            elif isinstance(each, dict):
                self.calls += bool(TOOL_TYPES.search(text_at(each, "type")) or any(map(each.get, TOOL_FIELDS)))
                address = text_at(each, "url") or text_at(each, "uri") or text_at(each, "retrievedUrl")
                if cited and WEB_PAGE.fullmatch(address):
                    self.citations[address] = self.citations.get(address) or clean(text_at(each, "title"))[:TITLE_MAX]
                else:
                    inside += ((part, cited or name in CITING) for name, part in each.items() if name != "images")
        return event

    def reply(self, pieces: Sequence[str | Thought]) -> Reply:
        """Return the reply made of these pieces."""
        thinking = "".join(piece.text for piece in pieces if isinstance(piece, Thought))
        text = "".join(piece for piece in pieces if isinstance(piece, str))
        if self.said is not None:
            thinking, text = map(clean, self.said)
        usage = self.usage
        if usage is not None and thinking and not usage.reasoning_tokens:
            usage = usage.with_reasoning(len(thinking) / len(thinking + text))
        if usage is not None and (self.calls or self.citations):
            usage = replace(usage, includes_tools=True)
        reason = self.stop_reason or ("stop" if self.whole and text else "cut")
        return Reply(
            text, usage, reason, self.model, detail=self.detail, thinking=thinking, tokens=tuple(self.tokens),
            citations=tuple(self.citations.items())[:MOST_CITED],
        )  # fmt: skip


class Parts:
    """Text that comes in several parts, with a blank line between two that no white space separates.

    A part is known by its place, or by the calls before it; not by its item_id, for which Azure has made up new ones.
    """

    def __init__(self) -> None:
        self.last: object = None
        self._end = ""

    def next(self, text: str, place: object) -> str:
        """Return what to show of one more piece."""
        if not text:
            return ""
        is_apart = self.last not in (None, (place,)) and not (self._end.isspace() or text[0].isspace())
        self.last, self._end = (place,), text[-1]
        return f"\n\n{text}" if is_apart else text
