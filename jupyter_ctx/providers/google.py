"""Google's Gemini, with a key of the Gemini API or through Vertex by the SDK's environment."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import chain
from typing import Any

from ..context.usage import Usage
from ..conversation import Attachment, Message, StopReason
from ..errors import AuthenticationError, InvalidRequestError
from .adapter import ASK_SECONDS, BY_ENVIRONMENT, Adapter, Ending
from .encoding import count
from .refusals import Refusal
from .shape import Request, Thought

STOP_REASONS: dict[str, StopReason] = {
    "STOP": "stop",
    "FINISH_REASON_UNSPECIFIED": "stop",
    "MAX_TOKENS": "max_tokens",
    "CONTINUATION": "max_tokens",  # a limit of one request; asking on is left to the user, who pays
}
ROLES = {"user": "user", "assistant": "model"}


class Google(Adapter):
    """A model behind generate_content."""

    install = "pip install 'jupyter_ctx[google]'"

    def _new_client(self, http: Any) -> Any:
        from google import genai

        # it warns of every enum member that is newer than itself
        warnings.filterwarnings("ignore", category=UserWarning, module=r"google\.genai")
        milliseconds = round(self.at.timeout * 1_000)  # it would wait for ever
        options = genai.types.HttpOptions(base_url=self.at.base_url, timeout=milliseconds, httpx_client=http)
        if self.at.api_key != BY_ENVIRONMENT:
            return genai.Client(vertexai=False, api_key=self.at.api_key, http_options=options)
        try:
            return genai.Client(vertexai=True, http_options=options)
        except Exception as error:  # whatever is missing there: credentials, a project, a location
            raise AuthenticationError(f"Vertex lets nobody in: {error}") from None

    def _start(self, client: Any, request: Request) -> Iterator[Any]:
        from google.genai import types

        given = {
            "system_instruction": request.system or None,
            "max_output_tokens": request.max_tokens,
            "temperature": request.temperature,
            "automatic_continuation": False,  # it reports the tokens of several requests as one
            "automatic_function_calling": {"disable": True},
            **request.parameters,
        }
        try:
            config = types.GenerateContentConfig(**given)
        except ValueError as error:
            raise InvalidRequestError(f"Gemini does not take --set as given: {_first_line(error)}") from None
        contents = [_message(message) for message in request.said]
        events = client.models.generate_content_stream(model=self.at.model, contents=contents, config=config)
        first = next(events, None)  # nothing is sent before it is asked for
        return events if first is None else chain([first], events)

    def _count(self, client: Any, request: Request) -> int:
        """The Gemini API counts no system instruction, so that goes in as one more message."""
        system = (Message("user", request.system),) if request.system else ()
        contents = [_message(message) for message in (*system, *request.said)]
        return int(client.models.count_tokens(model=self.at.model, contents=contents).total_tokens)

    def _read(self, events: Iterator[Any], ending: Ending) -> Iterator[str | Thought]:
        for chunk in events:
            ending.usage = _usage(chunk.usage_metadata) or ending.usage
            ending.model = chunk.model_version or ending.model
            blocked = getattr(chunk.prompt_feedback, "block_reason", None)
            if blocked:
                ending.stop_reason, ending.detail = "refusal", _name(blocked)
            for candidate in (chunk.candidates or [])[:1]:
                yield from _pieces(candidate)
                _end(candidate, ending)

    def _refusal(self, error: Exception) -> Refusal | None:
        """In a stream the code is that of the error, not of the response."""
        from google.auth.exceptions import GoogleAuthError
        from google.genai import errors

        if isinstance(error, GoogleAuthError):  # on the way into Vertex
            return Refusal(401, str(error))
        if not isinstance(error, errors.APIError):
            return None
        code = error.code if isinstance(error.code, int) else None
        return Refusal(code, error.details, getattr(error.response, "headers", None) or {})

    def _listing(self, client: Any) -> Any:
        options = {"http_options": {"timeout": round(ASK_SECONDS * 1_000)}, "page_size": 1_000}
        return [model.model_dump() for model in client.models.list(config=options).page]


def _pieces(candidate: Any) -> Iterator[str | Thought]:
    for part in (candidate.content and candidate.content.parts) or []:
        text = part.text or ""
        yield Thought(text) if part.thought else text


def _end(candidate: Any, ending: Ending) -> None:
    if candidate.finish_reason is None:
        return
    why = _name(candidate.finish_reason)
    ending.stop_reason = STOP_REASONS.get(why, "refusal")
    ending.detail = (candidate.finish_message or why) if ending.stop_reason == "refusal" else ""


def _message(message: Message) -> dict[str, Any]:
    parts = [_part(attachment) for attachment in message.attachments]
    said = [{"text": message.content}] if message.content or not parts else []
    return {"role": ROLES[message.role], "parts": [*parts, *said]}


def _part(attachment: Attachment) -> dict[str, Any]:
    return {"inline_data": {"mime_type": attachment.media_type, "data": attachment.data}}


def _usage(reported: Any) -> Usage | None:
    """Cached tokens are inside prompt_token_count; thoughts stand beside candidates_token_count."""
    if not count(reported, "prompt_token_count"):
        return None
    thought = count(reported, "thoughts_token_count")
    return Usage(
        count(reported, "prompt_token_count") + count(reported, "tool_use_prompt_token_count"),
        count(reported, "candidates_token_count") + thought,
        cache_read_tokens=count(reported, "cached_content_token_count"),
        reasoning_tokens=thought,
    )


def _name(member: Any) -> str:
    return str(getattr(member, "value", member))


def _first_line(error: ValueError) -> str:
    details = getattr(error, "errors", None)
    found = details() if callable(details) else []
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in found[:3]) or str(error).splitlines()[0]
