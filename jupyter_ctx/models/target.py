"""Where a request goes, and what is known of that place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..config.settings import Settings
from ..context.budget import default_reserve, prompt_limit
from ..context.learned_limit import LearnedLimit
from ..context.tokens import Meter
from ..context.usage import Prices
from ..context.windows import ContextWindow
from ..conversation.messages import Attachment, Message, ToolSpec, file_tokens
from ..errors import InvalidRequestError
from ..providers.anthropic import Anthropic
from ..providers.base import AnswerSchema, Provider, Request
from ..providers.parameters import no_tools
from ..providers.request_body import schema_text
from .cost_budget import CostBudget
from .pricing import CACHE_SECONDS, CACHED_FOR_30M

NO_LIMIT = LearnedLimit()
LIKELIEST = 5  # tokens to report in the place of each token of an answer
KINDS_OF_FILES = {"image": "images", "pdf": "PDFs"}


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Where a request goes, and what is known of that place: resolved once, and handed on.

    settings: of the conversation, with the options of this request
    model: the model's full name; at an address of the user's own, the name used there
    provider: who is asked
    meter: counts tokens as the model does
    window: the window that is planned with
    reserve: tokens kept free for the reply
    limit: tokens that a prompt may have beside it
    claimed: the window as the user, the server or a table says, before refusals taught a smaller one
    thinks: whether the model thinks before it answers, which takes tokens too; ``None``: unknown
    takes: the kinds of files that the model can be sent, as far as is known
    learned_limit: what the endpoint's refusals have taught
    given: the prices that the user gives for the model, and where; ``None``: none are given
    is_free: whether nobody bills the requests
    cache_key: names the conversation to prompt caches; ``None``: nothing is cached
    cost_budget: what pays, up to its caps; ``None``: nobody bills it, or who asks has paid
    shared, schema, waits, tools: as of a :class:`~jupyter_ctx.providers.base.Request`
    """

    settings: Settings
    model: str
    provider: Provider
    meter: Meter
    window: ContextWindow
    reserve: int
    limit: int
    claimed: ContextWindow
    thinks: bool | None = None
    takes: frozenset[str] = frozenset()
    learned_limit: LearnedLimit = NO_LIMIT
    given: tuple[Prices, str] | None = None
    is_free: bool = False
    cache_key: str | None = None
    cost_budget: CostBudget | None = None
    shared: int | None = None
    schema: AnswerSchema | None = None
    waits: bool = True
    tools: tuple[ToolSpec, ...] = ()

    @property
    def beside_tokens(self) -> float:
        """Estimated tokens of what goes beside the messages: a schema, and the functions that may be called."""
        if self.schema is None and not self.tools:
            return 0.0
        texts = [schema_text(self.schema)] if self.schema is not None else []
        texts += [json.dumps(tool) for tool in self.tools]
        return sum(map(self.meter.tokens, texts))

    @property
    def is_capped(self) -> bool:
        """Whether there is a cap on what the request may cost."""
        return self.cost_budget is not None and self.cost_budget.is_capped

    @property
    def max_tokens(self) -> int | None:
        """Return the ``max_tokens`` of the request; ``None``: not sent. Under a cap they bound what it costs."""
        planned = self.settings.max_tokens is None and not self.provider.sends_reserve and not self.is_capped
        return None if planned else self.reserve

    @property
    def cache_seconds(self) -> float | None:
        """For how long after its last use a prompt is cached, as its provider documents it; ``None``: it does not."""
        if isinstance(self.provider, Anthropic):
            return CACHE_SECONDS.get(self.settings.cache_ttl or "") if self.cache_key else None
        return CACHE_SECONDS["30m"] if re.match(CACHED_FOR_30M, self.model) else None

    @property
    def trial(self) -> Target | None:
        """Return the same without the learned limit, where that is worth trying: never at the cost of a failed cell."""
        if (
            not self.learned_limit.due_for_retry
            or self.window.source != "learned"
            or self.settings.on_overflow == "stop"
        ):
            return None
        return self.with_window(self.claimed)

    def with_window(self, window: ContextWindow, **changes: Any) -> Target:
        """Return the same planned with this window, and with other ``changes``."""
        reserve = _reserve(self.settings, window, self.thinks)
        limit = prompt_limit(window, reserve, self.settings.budget_share)
        return replace(self, window=window, reserve=reserve, limit=limit, **changes)

    @property
    def limit_is_stated(self) -> bool:
        """Return whether the server or a refusal stated the limit, rather than it being guessed from refusals."""
        return self.window.source == "server" or self.learned_limit.is_stated

    def request(self, messages: tuple[Message, ...], **other: Any) -> Request:
        """Return a request with these settings and :meth:`sendable` messages; ``other`` replaces fields of it."""
        settings = self.settings
        usual = {
            "max_tokens": self.max_tokens, "temperature": settings.temperature, "parameters": settings.parameters,
            "cache_key": self.cache_key, "cache_ttl": settings.cache_ttl, "shared": self.shared,
            "schema": self.schema, "waits": self.waits, "once": self.is_capped,
            "top_logprobs": LIKELIEST if settings.certainty == "on" else 0,
            "effort": None if self.thinks is False else settings.effort,
            "tools": self.tools,
        }  # fmt: skip
        return Request(messages, **{**usual, **other})

    def message_tokens(self, message: Message) -> float:
        """Return the estimated tokens of a message with its files."""
        return self.meter.message(message.content) + file_tokens(message.attachments, self.meter.vision)

    def sendable(self, message: Message) -> Message:
        """Return a message without the files that :meth:`unsendable` names; one without text names them."""
        if message.round is not None and message.round.files:
            results = tuple(
                replace(each, attachments=tuple(file for file in each.attachments if not self.unsendable(file)))
                for each in message.round.results
            )
            return replace(message, round=replace(message.round, results=results))
        if not message.attachments:
            return message
        taken = tuple(file for file in message.attachments if not self.unsendable(file))
        names = "" if taken else f"[attached: {', '.join(file.name for file in message.attachments)}]"
        return replace(message, content=message.content if message.content.strip() else names, attachments=taken)

    def unsendable(self, file: Attachment) -> str:
        """Return why a file cannot be sent there, and what to do; empty: it can."""
        if file.kind in self.takes:
            return ""
        many = KINDS_OF_FILES[file.kind]
        what = f"no {many}" if self.takes else "text only"
        return (
            f"{file.name} cannot be sent to {self.model}, which takes {what}: leave it out, or ask a model "
            f"that takes {many} (-m), as most of openai, anthropic and google do. Nothing was sent."
        )

    def differences(self) -> list[str]:
        """Return what is not sent as it is set, a line each: what the model is known not to take."""
        effort = self.settings.effort
        if self.thinks is False and effort not in (None, "none"):
            return [f"{self.model} does not think: effort {effort} is not sent."]
        return self.provider.differences(self.request(()))

    def check_logprobs(self) -> None:
        """Raise InvalidRequestError where nobody there tells how likely tokens are."""
        if not self.provider.reports_logprobs:
            raise InvalidRequestError(
                f"{self.model} does not tell how likely its tokens are. Local models, OpenAI's without reasoning, "
                "Gemini and most OpenAI-compatible servers do (-m). Nothing was sent."
            )

    def check(self, message: Message) -> None:
        """Raise InvalidRequestError for what cannot be asked there: files, how likely tokens are, or functions."""
        if message.attachments:
            self.check_files(message.attachments)
        if self.settings.certainty == "on":
            self.check_logprobs()
        self.check_tools()

    def check_tools(self) -> None:
        """Raise InvalidRequestError where functions are offered to a provider or a model that knows none."""
        provider = self.provider
        if self.tools and not (provider.takes_tools and provider.says("tools", ask=True) is not False):
            raise no_tools(self.model, ", ".join(tool.name for tool in self.tools))

    def check_files(self, files: Iterable[Attachment]) -> None:
        """Raise InvalidRequestError for the first file that cannot be sent there."""
        problem = next(filter(None, map(self.unsendable, files)), None)
        if problem is not None:
            raise InvalidRequestError(problem)


def _reserve(settings: Settings, window: ContextWindow, thinks: bool | None) -> int:
    """Return the tokens kept for the reply: ``max_tokens`` where set, unless a learned window is smaller than that."""
    asked = settings.max_tokens
    if asked is not None and asked >= window.tokens:
        if window.source != "learned":
            raise InvalidRequestError(
                f"max_tokens is {asked:,}, and {settings.model} holds {window.tokens:,} in all "
                f"({window.origin}): a prompt must fit too."
            )
        asked = None
    return asked or default_reserve(window, reasoning=thinks, effort=settings.effort)
