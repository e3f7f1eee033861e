"""Loopback servers that refuse what today's models refuse, in their words, and answer what they take."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from dialects import DIALECTS, KEY
from server import send, serve

from jupyter_ctx.providers.adapter import Adapter
from jupyter_ctx.providers.anthropic import Anthropic
from jupyter_ctx.providers.base import Endpoint, Provider
from jupyter_ctx.providers.google import Google
from jupyter_ctx.providers.openai import ChatCompletions, Responses

Refuses = Callable[[dict[str, Any]], Any]  # the body of the refusal of a request; None: it is answered


@dataclass(frozen=True)
class StrictModel:
    """A model, the service that has it, and what it refuses, the first that applies."""

    name: str
    service: str
    adapter: type[Adapter]
    refuses: tuple[Refuses, ...] = field(repr=False)

    @property
    def dialect(self) -> str:
        """Which wire format it speaks."""
        names = {Responses: "responses", Anthropic: "anthropic", Google: "google", ChatCompletions: "completions"}
        return names[self.adapter]


def at(request: dict[str, Any], path: str) -> Any:
    """What stands in a request at a dotted path."""
    found: Any = request
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def takes_no(path: str, *said: str) -> Refuses:
    """A model that takes no such parameter; ``said`` is a message, or a whole body in JSON."""
    name = path.rpartition(".")[2]

    def refuses(request: dict[str, Any]) -> Any:
        if at(request, path) is None:
            return None
        body = said[0].replace("NAME", name)
        return json.loads(body) if body.startswith("{") else {"error": {"message": body, "code": 400}}

    return refuses


def takes_only(path: str, values: str, said: str) -> Refuses:
    """A model that takes some values of a parameter; VALUE and LISTED stand in the message for what was sent."""
    known = values.split()

    def refuses(request: dict[str, Any]) -> Any:
        value = at(request, path)
        if value is None or str(value).lower() in known:
            return None
        listed = ", ".join(f"'{each}'" for each in known)
        return {"error": {"message": said.replace("VALUE", str(value)).replace("LISTED", listed), "code": 400}}

    return refuses


OPENAI_PARAMETER = (
    '{"error": {"message": "Unsupported parameter: \'NAME\' is not supported with this model.", '
    '"type": "invalid_request_error", "param": "NAME", "code": null}}'
)
OPENAI_VALUE = "Unsupported value: 'VALUE' is not supported with this model. Supported values are: LISTED."
DEPRECATED = '{"type": "error", "error": {"message": "`NAME` is deprecated for this model."}}'
FASTAPI = '{"detail": "Unsupported parameter: NAME"}'
NO_BUDGET = (
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" '
    "to control thinking behavior."
)
EFFORT, LEVEL = "reasoning.effort", "generationConfig.thinkingConfig.thinking_level"
BUDGET = "generationConfig.thinkingConfig.thinking_budget"
CLAUDE_5 = (
    takes_no("temperature", DEPRECATED),
    takes_no("top_p", DEPRECATED),
    takes_only("thinking.type", "adaptive disabled", NO_BUDGET),
)


def takes_no_temperature_beside_thinking(request: dict[str, Any]) -> Any:
    """Claude before 4.7."""
    if at(request, "thinking.type") != "enabled" or at(request, "temperature") is None:
        return None
    return {"error": {"message": "`temperature` may only be set to 1 when thinking is enabled."}}


GEMINI_LEVEL = "Thinking level VALUE is not supported for this model. Please retry with other thinking level."
MODELS = (
    StrictModel("gpt-6.2-sol", "azure", Responses, (
        takes_no("temperature", OPENAI_PARAMETER), takes_no("top_p", OPENAI_PARAMETER),
        takes_only(EFFORT, "low medium high xhigh max", OPENAI_VALUE),
    )),
    StrictModel("gpt-5.2", "azure", Responses, (
        takes_no("temperature", OPENAI_PARAMETER), takes_only(EFFORT, "none low medium high xhigh", OPENAI_VALUE),
    )),
    StrictModel("gpt-4o", "azure", Responses, (takes_no(EFFORT, OPENAI_PARAMETER.replace("NAME", EFFORT)),)),
    StrictModel("claude-opus-5-5", "anthropic", Anthropic, CLAUDE_5),
    StrictModel("claude-fable-5-2", "anthropic", Anthropic, (
        *CLAUDE_5, takes_only("thinking.type", "adaptive", '"thinking.type.VALUE" is not supported for this model.'),
    )),
    StrictModel("claude-haiku-4-5", "anthropic", Anthropic, (
        takes_only("thinking.type", "enabled disabled", "adaptive thinking is not supported on this model"),
        takes_no("output_config.effort", "This model does not support the NAME parameter."),
        takes_no_temperature_beside_thinking,
    )),
    StrictModel("gemini-3.1-pro", "google", Google, (
        takes_only(LEVEL, "low medium high", GEMINI_LEVEL),
    )),
    StrictModel("gemini-2.5-pro", "google", Google, (
        takes_no(LEVEL, "Thinking level is not supported for this model."),
        takes_only(BUDGET, "512 4096 12288 24576", "Budget VALUE is invalid. This model only works in thinking mode."),
    )),
    StrictModel("kimi-k3", "moonshot", ChatCompletions, (
        takes_only("temperature", "1", "invalid temperature: only 1 is allowed for this model"),
    )),
    StrictModel("deepseek-v4-pro", "deepseek", ChatCompletions, ()),
    StrictModel("o4-mini", "litellm", ChatCompletions, (
        takes_no("temperature", FASTAPI), takes_no("max_tokens", "Unsupported parameter: 'NAME' is not supported."),
        takes_no("stream_options", '{"detail": [{"type": "extra_forbidden", "loc": ["body", "NAME"], '
                 '"msg": "Extra inputs are not permitted"}]}'),
        takes_only("reasoning_effort", "low medium high", OPENAI_VALUE),
    )),
)  # fmt: skip


@contextmanager
def strict(model: StrictModel) -> Iterator[tuple[Provider, list[dict[str, Any]]]]:
    """A provider of the model on loopback, and the requests that it gets, those refused included."""

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        refusal = next(filter(None, (refuses(request) for refuses in model.refuses)), None)
        if refusal is not None:
            send(handler, 400, json.dumps(refusal))
            return
        thoughts = ("Hm.",) if re.search(r"adaptive|enabled|summary|include_thoughts", json.dumps(request)) else ()
        text = DIALECTS[model.dialect].answer("Blue.", thoughts=thoughts, sent=20, said=9, thought=len(thoughts))
        send(handler, 200, text, "text/event-stream")

    with serve(answer, path="/v1" if model.adapter is ChatCompletions else "") as (url, seen):
        endpoint = Endpoint(model.service, model.name, base_url=url, api_key=KEY)
        yield model.adapter(endpoint), seen
