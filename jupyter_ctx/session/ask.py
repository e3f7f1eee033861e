"""One request that touches no conversation: fitted, sent, recovered and reported like a cell's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

from ..attachments.attached import Attached, with_attached
from ..config.settings import Settings, default_settings
from ..conversation.conversation import Conversation
from ..conversation.events import Added
from ..conversation.messages import Message
from ..conversation.schema import Schema
from ..conversation.text_safety import checked
from ..errors import ChatInterrupted, InvalidRequestError
from ..export.openai_messages import joined, together
from ..models.cost_budget import CostBudget
from ..models.registry import Models, key_owner
from ..models.target import Target
from ..providers.base import AnswerSchema, Reply, SupportsStream
from ..providers.lookup import given_address
from ..providers.plugins import plugin
from ..runtime.notebook_budget import notebook_budget
from ..runtime.redaction import Redactor, without_address_keys
from ..storage.stored_answers import Outcome, digested
from ..tools.functions import Tool, as_tools
from ..tools.rounds import ToolCaller
from .complete import Completion, StreamListener, as_answer, complete, nothing
from .info import notices_of
from .plan import plan
from .prompt import attached_parts, text_room

CUT_SHORT = ("max_tokens", "context_window", "cut", "interrupted")
NO_PAST = Conversation()  # of rows
_shared_models = cache(Models)  # of all requests without a provider or key of their own: they share connections


@dataclass(frozen=True, slots=True)
class Ask:
    """One request before it is fitted. It holds no key, and may be pickled.

    messages: the system prompt first, where there is one; the last one is the user's
    settings: the model, and how it is asked
    schema: what the answer must be; ``None``: text
    shared: characters with which the last message begins like those of other requests; ``None``: none share its prefix
    waits: whether a busy server is waited for, a few seconds at most
    tools: functions that the model may call
    """

    messages: tuple[Message, ...]
    settings: Settings
    schema: AnswerSchema | None = None
    shared: int | None = None
    waits: bool = True
    tools: tuple[Tool, ...] = ()

    @property
    def system(self) -> str:
        """The system prompt, or an empty text."""
        return self.messages[0].content if self.messages[0].role == "system" else ""

    def digest(self, *, anywhere: bool = False) -> str:
        """Return a fingerprint of all that decides the answer: equal requests have equal ones, on every machine.

        ``anywhere``: whatever the address, as handouts know it.
        """
        asked = self.settings
        address = asked.base_url or given_address(asked.model.partition("/")[0])
        deciding = {
            "model": asked.model, "base_url": "" if anywhere else without_address_keys(address).rstrip("/"),
            "window": asked.window, "n_ctx": asked.n_ctx, "temperature": asked.temperature,
            "max_tokens": asked.max_tokens, "parameters": dict(asked.parameters),
            "schema": dict(self.schema.json) if self.schema is not None else None,
            **({"effort": asked.effort} if asked.effort is not None else {}),
            **({"tools": [list(tool.spec) for tool in self.tools]} if self.tools else {}),
        }  # fmt: skip
        return digested(deciding, self.messages)


@dataclass(frozen=True, eq=False)
class Asker:
    """Who asks models; several threads may ask at once.

    ``cost_budget`` pays; ``None``: who asks has paid. ``of_rounds`` pays for requests whose functions may be called:
    how many these are, nobody knows before.
    """

    models: Models
    cost_budget: CostBudget | None = None
    of_rounds: CostBudget | None = None
    _targets: dict[tuple[int, bool], Target] = field(default_factory=dict)  # by their settings: rows share them

    def target(self, ask: Ask, *, server: bool) -> Target:
        """Return where the request goes. ``server``: it may be asked for its window, and started."""
        key = id(ask.settings), server
        if key not in self._targets:
            self._targets[key] = self.models.target(ask.settings, ask=server)
        target = self.models.renewed(self._targets[key])
        pays = self.of_rounds if ask.tools and self.of_rounds is not None else self.cost_budget
        return replace(
            target, schema=ask.schema, shared=ask.shared, waits=ask.waits,
            cache_key="jupyter_ctx" if ask.shared is not None else None,
            cost_budget=None if target.is_free else pays, tools=tuple(tool.spec for tool in ask.tools),
        )  # fmt: skip

    def answered(self, ask: Ask, coming: StreamListener | None = None, schema: Schema | None = None) -> Outcome:
        """Send a request and return the answer. Raises a ChatError, or KeyboardInterrupt.

        With a ``schema`` the answer is parsed, and asked for once more where it does not match.
        """
        target, past, question = self.target(ask, server=True), NO_PAST, ask.messages[-1]
        before = ask.messages[1:-1] if ask.system else ask.messages[:-1]
        if before:
            past = Conversation()
            past.append(Added(together((message, {}) for message in before).turns))
        target.check_files(question.attachments)
        target.check_tools()
        planned, coming = plan(question, target, past, len(past.places), ask.system), coming or StreamListener()
        caller = None
        if ask.tools:
            room, redactor = partial(text_room, self.models, ask.settings), Redactor(self.models.secrets)
            caller = ToolCaller(ask.tools, room, redactor, ask.settings.tool_rounds)
        coming.on_begin(None)
        try:
            came = complete(self.models, planned, coming, schema, caller=caller)
            reply = with_notices(came)
        except BaseException:
            self._targets.clear()  # what failed may be known better now
            raise
        is_less = bool(came.sent.cut.left_out) or came.is_truncated or reply.stop_reason in CUT_SHORT
        return Outcome(reply, is_less)


def with_notices(came: Completion) -> Reply:
    """Return a reply with what was done to make its request fit. Raises what ended it early."""
    reply = came.whole()
    return replace(reply, notices=(*reply.notices, *notices_of(came)))


def ask(
    request: str | Iterable[object],
    model: str | None = None,
    *,
    provider: SupportsStream | None = None,
    api_key: str | None = None,
    attachments: Any = (),
    schema: Any = None,
    tools: Iterable[Any] = (),
    on_piece: Callable[[str], object] | None = None,
    on_thought: Callable[[str], object] | None = None,
    **settings: Any,
) -> Reply:
    """Send one request apart from any conversation, and return the reply; nothing is stored.

    ``request`` is a prompt, or messages in OpenAI's form of which the last is the user's. Where it does not fit, its
    oldest turns are left out, and the reply's ``notices`` say so. ``provider``, ``api_key`` and ``settings`` are as for
    :class:`~jupyter_ctx.Chat`, the other arguments as for its ``send``. Several threads may ask at once.

    Raises a :class:`~jupyter_ctx.ChatError`; InvalidAnswerError, which holds the reply, where it does not match the
    ``schema``.
    """
    kind = None if schema is None else Schema.of(schema)
    coming = StreamListener(on_piece=on_piece or nothing, on_thought=on_thought or nothing)
    answers = plugin(provider, model) if provider is not None else None
    chosen = default_settings({}, {"model": answers.model if answers else model, **settings})
    models = Models(answers) if answers or api_key is not None else _shared_models()
    if api_key is not None:
        models.set_key(key_owner(chosen), api_key)
    try:
        attached = attached_parts(attachments, partial(text_room, models, chosen), Redactor(models.secrets))
        messages = _messages(request, chosen.system, attached)
        asker = Asker(models, CostBudget(chosen.max_cost, notebook_budget()))
        answer = asker.answered(Ask(messages, chosen, as_answer(kind), tools=as_tools(tools or ())), coming, kind)
    except KeyboardInterrupt:
        raise ChatInterrupted("stopped; nothing was recorded.") from None
    assert answer.reply is not None
    return answer.reply


def _messages(request: str | Iterable[object], system: str | None, attached: Iterable[Attached]) -> tuple[Message, ...]:
    """Return the messages of a request. Raises InvalidRequestError for one that cannot be sent."""
    messages = [Message("user", request)] if isinstance(request, str) else list(joined(request))
    if not messages or messages[-1].role != "user":
        raise InvalidRequestError("The last message must be the user's.")
    text, files = with_attached(messages[-1].content, attached)
    messages[-1] = Message("user", checked(text), (*messages[-1].attachments, *files))
    if not text.strip() and not messages[-1].attachments:
        raise InvalidRequestError("The prompt is empty.")
    if system and messages[0].role != "system":
        messages.insert(0, Message("system", system))
    return tuple(messages)
