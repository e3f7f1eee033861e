"""One request that touches no conversation: fitted, sent, recovered and reported like a cell's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from sys import intern
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
from ..models.registry import Models, full_name, key_owner
from ..models.target import Target
from ..providers.base import AnswerSchema, Reply, SupportsStream
from ..providers.lookup import given_address
from ..providers.plugins import plugin
from ..runtime.notebook_budget import notebook_budget
from ..runtime.redaction import Redactor, without_address_keys
from ..storage.stored_answers import Outcome, digested
from ..tools.functions import Tool, as_tools
from ..tools.rounds import ToolCaller
from .complete import Completion, StreamListener, as_answer, complete, listener_of
from .info import notices_of
from .plan import RequestPlan, plan
from .prompt import attached_parts, text_room

CUT_SHORT = ("max_tokens", "context_window", "cut", "interrupted")
NO_PAST = Conversation()


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

    @property
    def model(self) -> str:
        """The model's full name; at an address of the user's own, the name used there."""
        return self.settings.model if self.settings.base_url else full_name(self.settings.model)

    @property
    def digest(self) -> str:
        """The fingerprint of all that decides the answer: equal requests have equal ones, on every machine."""
        return digested(beside_messages(self.settings, self.schema, self.tools), self.messages)

    @property
    def digest_anywhere(self) -> str:
        """The same of a request to whatever address, as handouts know it."""
        beside = beside_messages(self.settings, self.schema, self.tools)
        return digested({**beside, "base_url": ""}, self.messages)


class Asker:
    """Who asks models; several threads may ask at once.

    ``cost_budget`` pays; ``None``: who asks has paid. ``of_rounds`` pays for requests whose functions may be called:
    how many these are, nobody knows before.
    """

    def __init__(
        self, models: Models, cost_budget: CostBudget | None = None, of_rounds: CostBudget | None = None
    ) -> None:
        self.models, self.cost_budget, self.of_rounds = models, cost_budget, of_rounds
        self._targets: dict[tuple[int, bool], tuple[str, Target]] = {}  # by the identity of settings

    def planned(self, ask: Ask) -> RequestPlan:
        """Return the request as it is sent; its server is asked for its window, and started."""
        target = self.target(ask, server=True)
        past, question = _past(ask), ask.messages[-1]
        target.check_files(question.attachments)
        target.check_tools()
        return plan(question, target, past, len(past.places), ask.system)

    def target(self, ask: Ask, *, server: bool) -> Target:
        """Return where the request goes. ``server``: it may be asked for its window, and started."""
        target = self._looked_up(ask.settings, server=server)
        cache_key = "jupyter_ctx" if ask.shared is not None else None
        pays = self.of_rounds if ask.tools and self.of_rounds is not None else self.cost_budget
        return replace(
            target, schema=ask.schema, shared=ask.shared, waits=ask.waits, cache_key=cache_key,
            cost_budget=None if target.is_free else pays, tools=tuple(tool.spec for tool in ask.tools),
        )  # fmt: skip

    def _looked_up(self, settings: Settings, *, server: bool) -> Target:
        """Return where requests with these settings go: looked up once, and again when a reply told another name."""
        served, target = self._targets.get((id(settings), server), ("", None))
        if target is not None and served == self.models.served_name(target):
            return self.models.renewed(target)
        target = self.models.target(settings, ask=server)
        self._targets[id(settings), server] = self.models.served_name(target), target
        return target

    def answered(self, ask: Ask, coming: StreamListener | None = None, schema: Schema | None = None) -> Outcome:
        """Send a request and return the answer. Raises a ChatError, or KeyboardInterrupt.

        With a ``schema`` the answer is parsed, and asked for once more where it does not match.
        """
        planned, coming = self.planned(ask), coming or StreamListener()
        caller = None
        if ask.tools:
            room, redactor = partial(text_room, self.models, ask.settings), Redactor(self.models.secrets)
            caller = ToolCaller(ask.tools, room, redactor, ask.settings.tool_rounds)
        coming.on_begin(None)
        try:
            came = complete(self.models, planned, coming, schema, caller=caller)
            reply = with_notices(came)
            is_less = came.sent.cut.left_out or came.is_truncated
            return Outcome(reply, bool(is_less) or reply.stop_reason in CUT_SHORT)
        except BaseException:
            self._targets.clear()  # what failed may be known better now
            raise


def with_notices(came: Completion) -> Reply:
    """Return a reply with what was done to make its request fit. Raises what ended it early."""
    reply = came.whole()
    notices = (*reply.notices, *(intern(notice.text) for notice in notices_of(came, apart=True)))
    return replace(reply, notices=notices, model=intern(reply.model))  # many rows are told the same


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
    kind, coming = None if schema is None else Schema.of(schema), listener_of(on_piece, on_thought)
    answers = plugin(provider, model) if provider is not None else None
    given = {"model": answers.model if answers else model, **settings}
    chosen = default_settings({}, {name: value for name, value in given.items() if value is not None})
    models = Models(answers) if answers or api_key is not None else _shared_models()
    if api_key is not None:
        models.set_key(key_owner(chosen), api_key)
    try:
        attached = attached_parts(attachments, partial(text_room, models, chosen), Redactor(models.secrets))
        asked = ask_of(request, chosen, attached)
        asked = asked if kind is None else replace(asked, schema=as_answer(kind))
        asked = replace(asked, tools=as_tools(tools)) if tools else asked
        asker = Asker(models, CostBudget(chosen.max_cost, notebook_budget()))
        answer = asker.answered(asked, coming, kind)
    except KeyboardInterrupt:
        raise ChatInterrupted("stopped; nothing was recorded.") from None
    assert answer.reply is not None
    return answer.reply


def ask_of(request: str | Iterable[object], settings: Settings, attachments: Iterable[Attached] = ()) -> Ask:
    """Return a request with these settings. Raises InvalidRequestError for one that cannot be sent."""
    if isinstance(request, str):
        text, files = with_attached(request, attachments)
        messages = [Message("user", checked(text), files)]
    else:
        messages = list(joined(request))
    if not messages or messages[-1].role != "user":
        raise InvalidRequestError("The last message must be the user's.")
    if not messages[-1].content.strip() and not messages[-1].attachments:
        raise InvalidRequestError("The prompt is empty.")
    if settings.system and messages[0].role != "system":
        messages.insert(0, Message("system", settings.system))
    return Ask(tuple(messages), settings)


def _past(ask: Ask) -> Conversation:
    """Return the conversation before the last message."""
    before = ask.messages[1:-1] if ask.system else ask.messages[:-1]
    if not before:
        return NO_PAST
    past, added = Conversation(), together((message, {}) for message in before)
    past.append(Added(added.turns))
    return past


@cache
def _shared_models() -> Models:
    """Return the models of all requests without a provider or key of their own: they share connections."""
    return Models()


def beside_messages(settings: Settings, schema: AnswerSchema | None, tools: Sequence[Tool] = ()) -> Mapping[str, Any]:
    """Return everything but the messages that decides an answer."""
    address = settings.base_url or given_address(settings.model.partition("/")[0])
    where = without_address_keys(address).rstrip("/")
    return {
        "model": settings.model, "base_url": where, "window": settings.window, "n_ctx": settings.n_ctx,
        "temperature": settings.temperature, "max_tokens": settings.max_tokens, "parameters": dict(settings.parameters),
        "schema": dict(schema.json) if schema is not None else None,
        **({"effort": settings.effort} if settings.effort is not None else {}),
        **({"tools": [list(tool.spec) for tool in tools]} if tools else {}),
    }  # fmt: skip
