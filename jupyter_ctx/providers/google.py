"""Google's Gemini, with a key of the Gemini API or through Vertex by the SDK's environment."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any

from ..context.usage import Usage
from ..conversation.messages import Attachment, Message, ToolRound
from ..errors import AuthenticationError, InvalidRequestError, ProviderError
from .adapter import ASK_SECONDS, BY_ENVIRONMENT, Adapter
from .base import Piece, Request, Thought
from .error_mapping import Refusal
from .http_client import Sdk, trusted
from .logprobs import reported_tokens
from .parameters import GEMINI_FORMS
from .reply_builder import ReplyBuilder
from .stream_events import count, dict_at, dicts_in, text_at
from .tools import Parts, arguments, sent_name, sent_parts, sent_state, written_state

GEMINI_ROLES = {"user": "user", "assistant": "model"}
_API = "google"
PLACE = "-"  # stands where the SDK wants a text


class Google(Adapter):
    """A model behind generate_content."""

    sdk = Sdk("google-genai", oldest=(1, 46), newest=3, on_httpx2=3)
    reports_logprobs = True
    _efforts = GEMINI_FORMS

    def _new_client(self, http: Any) -> Any:
        from google import genai

        _hand_over_streams(http)
        milliseconds = round(self.at.timeout * 1_000)  # it would wait for ever
        options = genai.types.HttpOptions(
            base_url=self.at.base_url, timeout=milliseconds, httpx_client=http,
            async_client_args={"verify": trusted(self.http)},  # else it reads them again, for a client of no use
        )  # fmt: skip
        if self.at.api_key != BY_ENVIRONMENT:
            return genai.Client(vertexai=False, api_key=self.at.api_key, http_options=options)
        try:
            return genai.Client(vertexai=True, http_options=options)
        except Exception as error:  # whatever is missing there: credentials, a project, a location
            raise AuthenticationError(f"Vertex refuses access: {error}") from None

    def body(self, request: Request) -> dict[str, Any]:
        """Return the configuration of a request, as the SDK takes it."""
        _, form = self._structured(request)
        body = {
            "system_instruction": request.system or None,
            "max_output_tokens": request.max_tokens,
            "temperature": request.temperature,
            "automatic_function_calling": {"disable": True},
            "response_mime_type": None if form is None else "application/json",
            "response_json_schema": form,
            "response_logprobs": True if request.top_logprobs else None,
            "logprobs": request.top_logprobs or None,
            "tools": [{"function_declarations": _declarations(request)}] if request.tools else None,
        }
        return self._with_options(body, request)

    def _start(self, client: Any, request: Request) -> Any:
        from google.genai import types

        told, _ = self._structured(request)
        continues = "automatic_continuation" in types.GenerateContentConfig.model_fields  # not in old versions
        once = {"automatic_continuation": False} if continues else {}  # several requests would be reported as one
        given = {**once, **self.body(request)}
        given["http_options"] = _with_contents(given.get("http_options") or {}, told.said)
        try:
            config = types.GenerateContentConfig(**given)
        except ValueError as error:
            raise InvalidRequestError(f"Gemini refuses a parameter given with --set: {_first_line(error)}") from None
        try:
            next(client.models.generate_content_stream(model=self.at.model, contents=PLACE, config=config), None)
        except Answered as answered:
            return answered.response
        raise ProviderError("The google-genai package sent nothing.")

    def _count(self, client: Any, request: Request) -> int:
        """Return the tokens counted; the API counts no system instruction and no tools: they are added as a message."""
        request, _ = self._structured(request)
        told = "\n".join([*filter(None, [request.system]), *map(json.dumps, _declarations(request))])
        system = (Message("user", told),) if told else ()
        config = {"http_options": _with_contents({}, (*system, *request.said))}
        return int(client.models.count_tokens(model=self.at.model, contents=PLACE, config=config).total_tokens)

    def _read(self, events: Iterator[dict[str, Any]], reply: ReplyBuilder) -> Iterator[Piece]:
        parts = Parts()
        for chunk in events:
            reply.usage = _usage(dict_at(chunk, "usageMetadata")) or reply.usage
            reply.model = text_at(chunk, "modelVersion") or reply.model
            reply.refuse(text_at(dict_at(chunk, "promptFeedback"), "blockReason"))
            for candidate in dicts_in(chunk.get("candidates"))[:1]:
                for part in dicts_in(dict_at(candidate, "content").get("parts")):
                    if _is_call(part):
                        call = dict_at(part, "functionCall")
                        given = json.dumps(call.get("args") or {}, ensure_ascii=False)
                        reply.call(len(parts), text_at(call, "id"), text_at(call, "name"), given)
                    parts += [part] if reply.offers_tools else []
                    text = text_at(part, "text")
                    yield Thought(text) if part.get("thought") else text
                reply.logprobs += reported_tokens(_logprobs(candidate))
                if text_at(candidate, "finishReason"):
                    reply.end(candidate["finishReason"], text_at(candidate, "finishMessage"))
        if reply.calls:
            reply.state = written_state(_API, _joined(parts))

    def _refusal_in(self, error: Exception) -> Refusal | None:
        from google.auth.exceptions import GoogleAuthError

        if isinstance(error, GoogleAuthError):  # on the way into Vertex
            return Refusal(401, str(error))
        return super()._refusal_in(error)

    def _listing(self, client: Any) -> Any:
        options = {"http_options": {"timeout": round(ASK_SECONDS * 1_000)}, "page_size": 1_000}
        return [model.model_dump() for model in client.models.list(config=options).page]


class Answered(Exception):  # noqa: N818  # no error
    """A stream has begun."""

    def __init__(self, response: Any) -> None:
        super().__init__("a response")
        self.response = response


def _hand_over_streams(http: Any) -> None:
    """Raise Answered with the response to a streamed request: the SDK has no other way to give it unread."""
    send = http.send

    def hand_over(request: Any, *, stream: bool = False, **options: Any) -> Any:
        response = send(request, stream=stream, **options)
        if stream and response.status_code == 200:
            raise Answered(response)
        return response

    http.send = hand_over


def _with_contents(options: Mapping[str, Any], messages: Sequence[Message]) -> dict[str, Any]:
    """Return the SDK's options for a request with these messages in place of those it is given: it walks them all."""
    return {
        **options,
        "extra_body": {
            **(options.get("extra_body") or {}),
            "contents": [*chain.from_iterable(map(_contents, messages))],
        },
    }


def _contents(message: Message) -> Parts:
    if message.round is not None:
        return _round(message, message.round)
    parts = [_part(attachment) for attachment in message.attachments]
    said = [{"text": message.content}] if message.content or not parts else []
    return [{"parts": [*parts, *said], "role": GEMINI_ROLES[message.role]}]


def _round(message: Message, each: ToolRound) -> Parts:
    """Return the contents of calls and their results; thought signatures go back at the parts with which they came.

    Ids are sent where the API gave them. Files of results follow them: few models take them inside.
    """
    text = [{"text": message.content}] if message.content else []
    has_ids = any(dict_at(part, "functionCall").get("id") for part in sent_state(each, _API) or ())
    ids = [{"id": call.id} if has_ids else {} for call in each.calls]
    calls = [
        {"functionCall": {**name, "name": sent_name(call), "args": arguments(call)}}
        for name, call in zip(ids, each.calls, strict=True)
    ]
    results = [
        {"functionResponse": {**name, "name": sent_name(call),
                              "response": {"error" if result.failed else "output": result.text}}}
        for name, call, result in zip(ids, each.calls, each.results, strict=True)
    ]  # fmt: skip
    files = [_part(file) for result in each.results for file in result.attachments]
    said = sent_parts(each, _API, _is_call, calls, text)
    return [{"parts": said, "role": "model"}, {"parts": [*results, *files], "role": "user"}]


def _is_call(part: dict[str, Any]) -> bool:
    return "functionCall" in part


def _joined(parts: Parts) -> Parts:
    """Return the parts of a reply with those joined that are pieces of one text; no signature may be moved."""
    joined = Parts()
    for is_text, run in groupby(parts, lambda part: part.keys() == {"text"}):
        group = list(run)
        joined += [{"text": "".join([text_at(part, "text") for part in group])}] if is_text else group
    return [part for part in joined if part != {"text": ""}]


def _declarations(request: Request) -> Parts:
    return [
        {"name": tool.name, "description": tool.description, "parameters_json_schema": tool.json}
        for tool in request.tools
    ]


def _part(attachment: Attachment) -> dict[str, Any]:
    data = base64.urlsafe_b64encode(attachment.data).decode()  # both as the SDK writes them
    return {"inlineData": {"data": data, "mime_type": attachment.media_type}}


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


def _first_line(error: ValueError) -> str:
    details = getattr(error, "errors", None)
    found = details() if callable(details) else []
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in found[:3]) or str(error).splitlines()[0]
