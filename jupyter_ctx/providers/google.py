"""Google's Gemini, with a key of the Gemini API or through Vertex by the environment."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from ..context.usage import Usage
from ..conversation.messages import Attachment, Message, ToolRound
from ..errors import AuthenticationError, MissingDependencyError
from .adapter import Adapter
from .base import BY_ENVIRONMENT, Piece, Request, Thought
from .parameters import GEMINI_FORMS
from .reply_builder import ReplyBuilder
from .request_body import Parts, as_base64, encoded, is_call, sent_calls, sent_parts, sent_state, tool_fields
from .server_facts import reported_tokens
from .wire import count, dict_at, dicts_in, text_at

GEMINI_ROLES = {"user": "user", "assistant": "model"}
_API, JSON_SCHEMA = "google", "parametersJsonSchema"
BESIDE_CONFIG = frozenset(
    {"contents", "systemInstruction", "tools", "toolConfig", "safetySettings", "cachedContent", "labels"}
)


class Google(Adapter):
    """A model behind generateContent."""

    own_address = "https://generativelanguage.googleapis.com"
    list_path = "/v1beta/models?pageSize=1000"
    api, reports_logprobs = _API, True
    efforts = GEMINI_FORMS

    def _headers(self) -> dict[str, str]:
        if self.at.api_key != BY_ENVIRONMENT:
            return {"x-goog-api-key": self.at.api_key}
        return {"Authorization": f"Bearer {vertex_access()[1]}"}

    def _address(self, action: str) -> str:
        """Return the path of what the model is asked to do, or its whole address at Vertex."""
        if self.at.api_key != BY_ENVIRONMENT:
            name = self.at.model if "/" in self.at.model else f"models/{self.at.model}"
            return f"/v1beta/{name}:{action}"
        project, location = vertex_access()[0], os.environ.get("GOOGLE_CLOUD_LOCATION") or "global"
        host = "aiplatform.googleapis.com" if location == "global" else f"{location}-aiplatform.googleapis.com"
        place = f"projects/{project}/locations/{location}/publishers/google"
        return f"https://{host}/v1beta1/{place}/models/{self.at.model.removeprefix('models/')}:{action}"

    def _body(self, request: Request, form: dict[str, Any] | None) -> dict[str, Any]:
        """Return the settings of a request, under Python's names, as users write them, beside its contents."""
        functions = tool_fields(request, JSON_SCHEMA)
        return {
            "contents": _contents(request.said),
            "system_instruction": {"parts": [{"text": request.system}]} if request.system else None,
            "max_output_tokens": request.max_tokens,
            "temperature": request.temperature,
            "response_mime_type": None if form is None else "application/json",
            "response_json_schema": form,
            "response_logprobs": True if request.top_logprobs else None,
            "logprobs": request.top_logprobs or None,
            "tools": [{"functionDeclarations": functions}] if functions else None,
        }

    def _send(self, body: dict[str, Any]) -> Any:
        config = {re.sub("_([a-z])", lambda found: found[1].upper(), name): value for name, value in body.items()}
        beside = {name: config.pop(name) for name in BESIDE_CONFIG & config.keys()}
        path = f"{self._address('streamGenerateContent')}?alt=sse"
        return self._client.open(path, self._with_key(), encoded({**beside, "generationConfig": config}))

    def _count(self, request: Request) -> int:
        """Return the tokens counted; the API counts no system instruction and no tools: they are added as a message."""
        request, _ = self._structured(request)
        told = "\n".join(filter(None, (request.system, *map(json.dumps, tool_fields(request, JSON_SCHEMA)))))
        system = (Message("user", told),) if told else ()
        asked = {"contents": _contents((*system, *request.said))}
        return int(self._ask(self._address("countTokens"), asked)["totalTokens"])

    def _read(self, events: Iterator[dict[str, Any]], reply: ReplyBuilder) -> Iterator[Piece]:
        parts = Parts()
        for chunk in events:
            reply.usage = _usage(dict_at(chunk, "usageMetadata")) or reply.usage
            reply.model = text_at(chunk, "modelVersion") or reply.model
            reply.refuse(text_at(dict_at(chunk, "promptFeedback"), "blockReason"))
            for candidate in dicts_in(chunk.get("candidates"))[:1]:
                for part in dicts_in(dict_at(candidate, "content").get("parts")):
                    if is_call(part):
                        call = dict_at(part, "functionCall")
                        reply.call(len(parts), text_at(call, "id"), text_at(call, "name"), call.get("args"))
                    before = parts[-1] if parts else {}
                    if part.keys() == before.keys() == {"text"}:  # pieces of one text; no signature may be moved
                        parts[-1] = {"text": text_at(before, "text") + text_at(part, "text")}
                    elif reply.offers_tools:
                        parts.append(part)
                    text = text_at(part, "text")
                    yield Thought(text) if part.get("thought") else text
                reply.logprobs += reported_tokens(_logprobs(candidate))
                if text_at(candidate, "finishReason"):
                    reply.end(candidate["finishReason"], text_at(candidate, "finishMessage"))
        reply.state = [part for part in parts if part != {"text": ""}]


def vertex_access() -> tuple[str, str]:
    """Return the project and a token for Vertex, by the environment. Raises a ChatError."""
    try:
        from google.auth import default
        from google.auth.exceptions import GoogleAuthError
        from google.auth.transport.requests import Request as Transport
    except ImportError:
        raise MissingDependencyError("Vertex needs google-auth: pip install 'jupyter_ctx[google]'") from None
    try:
        credentials, project = _credentials(default)
        if not credentials.valid:
            credentials.refresh(Transport())
    except GoogleAuthError as error:
        raise AuthenticationError(f"Vertex refuses access: {error}") from None
    project = os.environ.get("GOOGLE_CLOUD_PROJECT") or project
    if not project:
        raise AuthenticationError("Vertex needs a project: set GOOGLE_CLOUD_PROJECT.")
    return project, credentials.token


@cache
def _credentials(default: Callable[..., Any]) -> Any:
    return default(scopes=["https://www.googleapis.com/auth/cloud-platform"])


def _contents(messages: Iterable[Message]) -> Parts:
    contents = Parts()
    for message in messages:
        parts = [_part(attachment) for attachment in message.attachments]
        said = [{"text": message.content}] if message.content or not parts else []
        plain = {"parts": [*parts, *said], "role": GEMINI_ROLES[message.role]}
        contents += [plain] if message.round is None else _round(message, message.round)
    return contents


def _round(message: Message, each: ToolRound) -> Parts:
    """Return the contents of calls and their results; thought signatures go back at the parts with which they came.

    Ids are sent where the API gave them. Files of results follow them: few models take them inside.
    """
    text = [{"text": message.content}] if message.content else []
    has_ids = any(dict_at(part, "functionCall").get("id") for part in sent_state(each, _API) or ())
    calls, results = Parts(), Parts()
    for call in sent_calls(each, ".*"):
        head = {"id": call.id, "name": call.name} if has_ids else {"name": call.name}
        output = {"error" if call.result.failed else "output": call.result.text}
        calls.append({"functionCall": {**head, "args": call.arguments}})
        results.append({"functionResponse": {**head, "response": output}})
    files = [_part(file) for result in each.results for file in result.attachments]
    said = sent_parts(each, _API, calls, text)
    return [{"parts": said, "role": "model"}, {"parts": [*results, *files], "role": "user"}]


def _part(attachment: Attachment) -> dict[str, Any]:
    data = as_base64(attachment)
    return {"inlineData": {"data": data, "mimeType": attachment.media_type}}


def _logprobs(candidate: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tokens that are reported with their probabilities, as OpenAI writes them."""
    result = dict_at(candidate, "logprobsResult")
    pairs = zip(dicts_in(result.get("chosenCandidates")), dicts_in(result.get("topCandidates")), strict=False)
    return [{**chosen, "top_logprobs": top.get("candidates")} for chosen, top in pairs]


def _usage(reported: dict[str, Any]) -> Usage | None:
    """Return the usage; ``promptTokenCount`` includes cached tokens, ``candidatesTokenCount`` excludes thoughts."""
    if not reported or not count(reported, "promptTokenCount"):
        return None
    thought = count(reported, "thoughtsTokenCount")
    return Usage(
        count(reported, "promptTokenCount") + count(reported, "toolUsePromptTokenCount"),
        count(reported, "candidatesTokenCount") + thought,
        cache_read_tokens=count(reported, "cachedContentTokenCount"),
        reasoning_tokens=thought,
        includes_tools=count(reported, "toolUsePromptTokenCount") > 0,
    )
