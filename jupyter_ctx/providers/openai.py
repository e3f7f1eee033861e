"""OpenAI's two APIs: Chat Completions, as compatible servers speak it, and Responses, its own and Azure's."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ..context.usage import Usage
from ..context.windows import ContextWindow, Fact
from ..conversation.messages import Attachment, Message, ToolRound
from .adapter import ASK_SECONDS, Adapter
from .base import Endpoint, ModelInfo, Piece, Request, Thought
from .error_mapping import Refusal
from .parameters import COMPATIBLE_FORMS, EFFORT_ALONE, OWN_SERVER_FORMS, RESPONSES_FORMS, says_not_taken
from .reply_builder import ReplyBuilder, late_thought, told_apart
from .request_body import Parts, as_message, as_part, content, data_url, sent_calls, sent_parts, sent_state, tool_fields
from .server_facts import find_row, model_info, reported_tokens
from .wire import DONE, count, dict_at, dicts_in, text_at


def usage_of(reported: Mapping[str, Any]) -> Usage | None:
    """Return the usage that OpenAI's two APIs and compatible servers report, or ``None``.

    Cached tokens are inside what was sent, and reasoning inside what was said, except where the
    total shows that it stands beside it (xAI).
    """
    sent = count(reported, "prompt_tokens", "input_tokens") if reported else 0
    if not sent:
        return None
    said, total = count(reported, "completion_tokens", "output_tokens"), count(reported, "total_tokens")
    inside = dict_at(reported, "prompt_tokens_details") or dict_at(reported, "input_tokens_details")
    outside = dict_at(reported, "completion_tokens_details") or dict_at(reported, "output_tokens_details")
    thought = count(outside, "reasoning_tokens") or count(reported, "reasoning_tokens")
    if thought and (thought > said or total == sent + said + thought):
        said += thought
    read = count(inside, "cached_tokens") or count(
        reported,
        "prompt_cache_hit_tokens",  # DeepSeek
        "cached_tokens",  # Moonshot
        "cache_read_input_tokens",  # gateways to Anthropic
    )
    written = count(inside, "cache_write_tokens") or count(reported, "cache_creation_input_tokens")
    read = min(read, sent)
    return Usage(sent, said, read, min(written, sent - read), thought)


OPENAI = "https://api.openai.com/v1"
LENGTH, NEWER_LENGTH = "max_tokens", "max_completion_tokens"
REASONING, DETAILS = "reasoning_content", "reasoning_details"  # which some servers want back with the calls
MISTRAL_ID = r"[A-Za-z0-9]{9}"
OLLAMA_LOADED = "/api/ps"
COUNT_PATH = "/v1/chat/completions/input_tokens"
ASK_TIMES = 3  # some know a window only once the model is loaded
OF_RESULTS = "(The files in these results.)"
BILLED = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
ENDS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
ENCRYPTED, LOGPROBS = "reasoning.encrypted_content", "message.output_text.logprobs"
SENT_BACK = ("reasoning", "message", "function_call")
FAILED = {"message": "the response failed, and no reason was given"}
THOUGHTS = {  # what comes as a thought, and what numbers its parts
    "response.reasoning_summary_text.delta": "summary_index",
    "response.reasoning_text.delta": "content_index",
}


class ChatCompletions(Adapter):
    """A model behind an OpenAI-compatible endpoint."""

    own_address, list_path, path = OPENAI, "/models", "/chat/completions"
    api, reports_logprobs = "completions", True
    tells_schema = True  # many servers constrain the answer only

    def __init__(self, at: Endpoint) -> None:
        super().__init__(at)
        self._card, self._asked = ModelInfo(at.model), 0  # what a server of the user's own says of the model
        self._root = self.address.removesuffix("/v1")  # the address of what a server offers beside OpenAI's API
        self.count_path = self._root + COUNT_PATH if at.self_hosted else ""  # of llama.cpp
        self.efforts = COMPATIBLE_FORMS.get(at.name) or (OWN_SERVER_FORMS if at.self_hosted else (EFFORT_ALONE,))

    def _body(self, request: Request, form: dict[str, Any] | None) -> dict[str, Any]:
        answer = request.schema and form and {"name": request.schema.name, "schema": form, "strict": True}
        return {
            "model": self.at.model,
            "stream": True,
            "messages": self._messages(request),
            NEWER_LENGTH if LENGTH in self._refused.names else LENGTH: request.max_tokens,
            "response_format": answer and {"type": "json_schema", "json_schema": answer},
            "stream_options": {"include_usage": True},
            "temperature": request.temperature,
            "logprobs": True if request.top_logprobs else None,
            "top_logprobs": request.top_logprobs or None,
            "tools": [{"type": "function", "function": each} for each in tool_fields(request)],
        }

    def beside(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return what a server of the user's own answers at a path beside OpenAI's API; empty: nothing."""
        if not self.at.self_hosted:
            return {}
        try:
            return self._said_at(path, body, self.at.timeout)
        except Exception as error:
            raise self._translated(error) from None

    def served_window(self, *, ask: bool) -> ContextWindow | None:
        """Return the window that the server reports for the model it runs."""
        if ask and self.at.self_hosted and self._card.served is None and self._asked < ASK_TIMES:
            self._asked += 1
            with suppress(Exception):  # whatever it answers, the window stays unknown
                self._card = self._served()
        return self._card.served

    def says(self, fact: Fact, *, ask: bool) -> bool | None:
        """Return whether a fact holds of the model, as a server of the user's own said."""
        self.served_window(ask=ask)
        return self._card.facts[fact]

    def forget_window(self) -> None:
        """Ask the server for its window again the next time."""
        self._card, self._asked = ModelInfo(self.at.model), 0

    def _said_at(self, path: str, body: dict[str, Any] | None = None, seconds: float = ASK_SECONDS) -> dict[str, Any]:
        """Return the object that the server answers at a path beside OpenAI's API; empty: it has none there."""
        try:
            return dict_at({"said": self._ask(self._root + path, body, seconds)}, "said")
        except (Refusal, ValueError):  # another answer than JSON
            return {}

    def _read(self, events: Iterator[dict[str, Any]], reply: ReplyBuilder) -> Iterator[Piece]:
        yield from told_apart(self._pieces(events, reply))
        if all(isinstance(piece, str) for piece in reply.pieces):
            reply.pieces = late_thought("".join(map(str, reply.pieces))) or reply.pieces

    def _pieces(self, events: Iterator[dict[str, Any]], reply: ReplyBuilder) -> Iterator[Piece]:
        """Yield thoughts and texts as they came; tell ``reply`` the rest. Mistral sends both in lists of parts.

        Reasoning has one name at DeepSeek and llama.cpp, another at OpenRouter, Groq and vLLM; OpenRouter repeats it in
        parts, some of them encrypted.
        """
        refused, details, names = "", Parts(), set[str]()  # the last two: of the reasoning
        for event in events:
            choice = next((each for each in dicts_in(event.get("choices")) if not each.get("index")), {})
            if choice.get("error"):  # OpenRouter
                raise Refusal(None, choice)
            used = event.get("usage") or choice.get("usage") or dict_at(event.get("x_groq"), "usage")  # Moonshot, Groq
            if isinstance(used, dict):
                reply.usage = usage_of(used) or reply.usage
            reply.whole = event is DONE and reply.usage is not None
            reply.model = text_at(event, "model") or reply.model
            is_first = not (reply.pieces or reply.calls)  # MiniMax repeats the whole answer after the pieces
            delta = dict_at(choice, "delta") or (dict_at(choice, "message") if is_first else {})
            refused += delta.get("refusal") or ""
            if reply.offers_tools:
                _take_calls(delta, reply)
                details += dicts_in(delta.get(DETAILS))
                names |= {name for name in (REASONING, "reasoning") if text_at(delta, name)}
            text, thought = delta.get("content"), delta.get(REASONING) or delta.get("reasoning") or delta.get(DETAILS)
            if thought:
                yield Thought(_texts(thought))
            if isinstance(text, str):
                yield text
            for part in dicts_in(text):
                yield Thought(_texts(part["thinking"])) if part.get("thinking") else _texts([part])
            if choice.get("logprobs"):
                reply.logprobs += reported_tokens(dict_at(choice, "logprobs").get("content"))
            if choice.get("finish_reason"):
                reply.end(str(choice["finish_reason"]))
        reply.refuse(refused)
        reply.state = _state(details, names, reply)

    def _learn(self, refusal: Refusal, request: Request, body: dict[str, Any]) -> None:
        """Learn what the model does not take; where that is the usual name of the reply's length, a newer is sent."""
        if REASONING in refusal.words and any(message.round for message in request.messages):
            self._refused.names.add(REASONING)  # a message without it is refused
        elif NEWER_LENGTH in refusal.words or (says_not_taken(refusal) and LENGTH in refusal.words):
            self._refused.names.add(LENGTH)
        else:
            super()._learn(refusal, request, body)

    def _served(self) -> ModelInfo:
        """Return what the server says of the model in its list, and beside it: Ollama by its name, llama.cpp at all."""
        is_loaded, listed, beside = bool(self.at.loaded_at), None, dict[str, Any]()
        if self.at.loaded_at == OLLAMA_LOADED:
            beside = self._said_at("/api/show", {"model": self.at.model})
        elif not is_loaded:
            beside = self._said_at("/props")
        with suppress(Exception):  # whatever it answers
            listed = self._ask(self._root + self.at.loaded_at if is_loaded else self.list_path)
        row = {**find_row(listed, self.at.model, among_many=is_loaded), **beside}
        return model_info(row, loaded=is_loaded)

    def _messages(self, request: Request) -> Parts:
        messages = Parts()
        for message in request.messages:
            sent: dict[str, Any] = {"role": message.role, "content": content(message, as_part)}
            made = [sent] if message.round is None else self._round(message, message.round)
            if message.role == "assistant" and REASONING in self._refused.names:
                made[0].setdefault(REASONING, message.round.thinking if message.round else "")
            messages += made
        return messages

    def _round(self, message: Message, each: ToolRound) -> Parts:
        """Return the messages of calls, of their results, and of the files in these."""
        state = dict(sent_state(each, self.api) or {})
        extras = dict(enumerate(state.pop("calls", ())))
        sent = sent_calls(each, MISTRAL_ID if self.at.name == "mistral" else r"[\w.:-]{1,64}")
        calls = [
            {**extras.get(number, {}), "id": call.id, "type": "function",
             "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}}
            for number, call in enumerate(sent)
        ]  # fmt: skip
        texts = [(call.id, as_message(call.result).content) for call in sent]
        results = [{"role": "tool", "tool_call_id": name, "content": text} for name, text in texts]
        files = tuple(file for result in each.results for file in result.attachments)
        shown = [{"role": "user", "content": content(Message("user", OF_RESULTS, files), as_part)}] if files else []
        said = {"role": "assistant", "content": message.content or None, **state, "tool_calls": calls}
        return [said, *results, *shown]


def _take_calls(delta: dict[str, Any], reply: ReplyBuilder) -> None:
    """Tell the reply the calls, or parts of them, in a piece of the answer."""
    for number, part in enumerate(dicts_in(delta.get("tool_calls"))):
        called, place = dict_at(part, "function"), part.get("index")
        extra = {name: value for name, value in part.items() if name not in ("index", "id", "type", "function")}
        at = place if type(place) is int else number
        reply.call(at, text_at(part, "id"), text_at(called, "name"), called.get("arguments") or "", extra)


def _state(details: Parts, names: set[str], reply: ReplyBuilder) -> dict[str, Any]:
    """Return what goes back with the results: the reasoning as it came, and under ``calls`` fields of each call.

    OpenRouter's reasoning goes back in whole parts; its texts come in pieces.
    """
    whole = Parts()
    for part in details:
        last, known = whole[-1] if whole else {}, {name: value for name, value in part.items() if value is not None}
        if part.get("type") == "reasoning.text" == last.get("type") and part.get("index") == last.get("index"):
            whole[-1] = {**last, **known, "text": _texts([last, part])}
        else:
            whole.append(known)
    thinking = "".join([piece.text for piece in reply.pieces if isinstance(piece, Thought)])
    calls = [call.extra for call in reply.calls]
    reasoning = {DETAILS: whole} if whole else dict.fromkeys(names, thinking)
    return {**reasoning, "calls": calls} if any(calls) else reasoning


def _texts(said: Any) -> str:
    """Return a text, or the text in a list of parts."""
    if isinstance(said, str):
        return said
    texts = [part.get("text") or part.get("summary") for part in dicts_in(said)]
    return "".join([text for text in texts if isinstance(text, str)])


# the Responses API


class Responses(Adapter):
    """A model behind the Responses API. Nothing of a conversation is kept there (``store`` is off)."""

    own_address, list_path, path = OPENAI, "/models", "/responses"
    count_path = "/responses/input_tokens"
    api, reports_logprobs = "responses", True
    efforts = RESPONSES_FORMS

    def _headers(self) -> dict[str, str]:
        """Return the headers that hold the key, and those of the environment that say who is billed."""
        billed = {header: os.environ.get(variable, "") for header, variable in BILLED.items()}
        return super()._headers() | {header: name for header, name in billed.items() if name}

    def _body(self, request: Request, form: dict[str, Any] | None) -> dict[str, Any]:
        schema = {"name": request.schema.name, "schema": form, "strict": True} if request.schema and form else None
        return {
            "model": self.at.model,
            "stream": True,
            "input": [item for message in request.said for item in _items(message)],
            "instructions": request.system,
            "max_output_tokens": request.max_tokens,
            "prompt_cache_key": request.cache_key,
            "store": False,
            "temperature": request.temperature,
            "include": [LOGPROBS] * bool(request.top_logprobs) + [ENCRYPTED] * bool(request.tools),
            "top_logprobs": request.top_logprobs or None,
            "text": schema and {"format": {"type": "json_schema", **schema}},
            # parameters may be left out: a strict mode has none
            "tools": [{"type": "function", **each, "strict": False} for each in tool_fields(request)],
        }

    def _read(self, events: Iterator[dict[str, Any]], reply: ReplyBuilder) -> Iterator[Piece]:
        refused, items = "", dict[object, dict[str, Any]]()
        for event in events:
            kind, item = event.get("type"), event.get("item")
            if isinstance(item, dict):
                items[event.get("output_index")] = item
            if kind == "response.output_text.delta":
                reply.place = event.get("output_index")
                reply.logprobs += reported_tokens(event.get("logprobs"))
                yield text_at(event, "delta")
            elif kind in THOUGHTS:
                reply.place = kind, event.get("output_index"), event.get(THOUGHTS[kind])
                yield Thought(text_at(event, "delta"))
            elif kind == "response.refusal.delta":
                refused += text_at(event, "delta")
            elif kind in ENDS:
                response = dict_at(event, "response")
                if kind == "response.failed" or response.get("status") == "failed":
                    raise Refusal(None, response.get("error") or FAILED)
                reply.usage = usage_of(dict_at(response, "usage"))
                reply.model = text_at(response, "model") or reply.model
                why = text_at(dict_at(response, "incomplete_details"), "reason")
                reply.end(why or text_at(response, "status") or "completed")
                items = dict[object, dict[str, Any]](enumerate(dicts_in(response.get("output")))) or items
        _take_items(items, reply)
        reply.refuse(refused)


def _items(message: Message) -> Parts:
    """Return a message, or calls and their results; reasoning goes back as it came, before them."""
    each = message.round
    if each is None:
        return [{"role": message.role, "content": content(message, _input_part, "input_text")}]
    calls, results = Parts(), Parts()
    for call in sent_calls(each):
        written = json.dumps(call.arguments, ensure_ascii=False)
        output = content(as_message(call.result), _input_part, "input_text")
        calls.append({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": written})
        results.append({"type": "function_call_output", "call_id": call.id, "output": output})
    said = [{"role": "assistant", "content": message.content}] if message.content else []
    return [*sent_parts(each, Responses.api, calls, said), *results]


def _take_items(items: dict[object, dict[str, Any]], reply: ReplyBuilder) -> None:
    """Tell the reply its calls, and what goes back with their results; reasoning that is not in it cannot."""
    for place, item in items.items():
        if text_at(item, "type") == "function_call":
            reply.call(place, text_at(item, "call_id"), text_at(item, "name"), text_at(item, "arguments"))
    kept = [item for item in items.values() if text_at(item, "type") in SENT_BACK]
    reply.state = [item for item in kept if item["type"] != "reasoning" or item.get("encrypted_content")]


def _input_part(attachment: Attachment) -> dict[str, Any]:
    url = data_url(attachment)
    if attachment.kind == "image":
        return {"type": "input_image", "image_url": url}
    return {"type": "input_file", "filename": attachment.name, "file_data": url}
