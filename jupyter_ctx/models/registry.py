"""The models a chat has talked to: their providers and keys, what they count and what they hold."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from ..config.aliases import model_of
from ..config.settings import Settings
from ..context.budget import Budget, default_reserve, prompt_limit
from ..context.families import family_of
from ..context.learned_limit import LearnedLimit, Refused
from ..context.tokens import Counted, Fixed, Learned, Meter, SentRequest
from ..context.usage import Prices, Usage
from ..context.vision import vision_of
from ..context.windows import ASSUMED_TOKENS, ContextWindow, choose_window
from ..conversation.messages import Attachment, Message, ToolSpec, file_tokens
from ..errors import InvalidRequestError
from ..providers.anthropic import Anthropic
from ..providers.base import AnswerSchema, Provider, Reply, Request
from ..providers.catalog import clean_key, key_variables
from ..providers.lookup import bills, check_known, get_provider, is_billed, key_holder, missing_key, split_model
from ..providers.parameters import refused_at
from ..providers.plugins import PluginProvider
from ..providers.request_body import schema_text
from ..providers.tools import no_tools
from ..storage.serialization import EndpointState, MeterState, Sizes, StoredState
from .cost_budget import CostBudget
from .model_list import ModelList, ModelRow
from .model_names import near_models
from .pricing import CACHE_SECONDS, CACHE_WRITES, CACHED_FOR_30M, given_prices, has_listed_price, price
from .tokenizer import counter, load_soon
from .window_tables import StatedWindows, Tables, load_tables

NO_LIMIT = LearnedLimit()
LIKELIEST = 5  # tokens to report in the place of each token of an answer
KINDS_OF_FILES = {"image": "images", "pdf": "PDFs"}
LONG_AGO = 3_600.0  # seconds after which a new kernel tries a limit again that an older one has learned


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
    read: tokens that the server read of a prompt that it truncated; 0 where it truncated none
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
    read: int = 0
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
        texts += [json.dumps(tool.plain) for tool in self.tools]
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
        return not self.window.is_of_prompts and (self.window.source == "server" or self.learned_limit.is_stated)

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
        many = KINDS_OF_FILES[file.kind]
        if file.kind not in self.takes:
            who = "the server" if self.provider.says("images", ask=False) is False else "models.json"
            source = f", as {who} says" if file.kind in self.provider.takes else ""
            what = f"no {many}" if self.takes else "text only"
            return (
                f"{file.name} cannot be sent to {self.model}, which takes {what}{source}: leave it out, or ask a model "
                f"that takes {many} (-m), as most of openai, anthropic and google do. Nothing was sent."
            )
        return ""

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
                f"{self.model} does not tell how likely its tokens are: local models do, OpenAI's that do not reason, "
                "Gemini, and most OpenAI-compatible servers (-m). Nothing was sent."
            )

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

    def budget(self, fixed: float = 0.0, used: float = 0.0, *, exact: bool = False) -> Budget:
        """Return the budget of a request there; ``fixed`` and ``used`` are tokens."""
        share = self.settings.budget_share
        return Budget(self.window, self.reserve, round(fixed), round(used), exact, share=share)


class Models:
    """Keeps one provider for each model and address, and what was learned of it.

    ``guest`` is a provider that was handed in: it answers for its model's name. ``check`` raises for the names of
    models that may not be asked.
    """

    def __init__(self, guest: PluginProvider | None = None, check: Callable[[str], None] | None = None) -> None:
        self._guest, self._check = guest, check
        self._keys: dict[str, str] = {}
        self._providers: dict[tuple[object, ...], Provider] = {}
        self._meters: dict[tuple[str, str], Meter] = {}
        self._kept: dict[tuple[str, str], tuple[Learned, Counted]] = {}  # of meters that were not used yet
        self._limits: dict[str, LearnedLimit] = {}  # by endpoint
        self._stated = StatedWindows()
        self._served_names: dict[str, str] = {}
        self._making, self._learning = threading.Lock(), threading.Lock()  # several requests may begin and end at once
        self._read: dict[str, int] = {}  # by endpoint: tokens that it read of a request that it truncated

    def apart(self) -> Models:
        """Return the same models, keys and knowledge with connections of their own, which may be closed alone."""
        other = copy(self)
        other._providers = {}
        return other

    def close(self) -> None:
        """End every open response, and close the connections; safe from any thread."""
        for provider in [*self._providers.values(), *([self._guest] if self._guest is not None else ())]:
            provider.close()

    @property
    def has_guest(self) -> bool:
        """Whether a provider that was handed in answers."""
        return self._guest is not None

    def has_key(self, settings: Settings) -> bool:
        """Return whether the key for an address of the user's own is here in memory."""
        return settings.base_url is not None and key_owner(settings) in self._keys

    def set_key(self, owner: str, key: str) -> None:
        """Keep a key for a provider or an address, in memory only."""
        if not isinstance(key, str) or not clean_key(key):
            raise InvalidRequestError("The key is empty or not text: nothing has changed.")
        self._keys[key_holder(owner).rstrip("/")] = clean_key(key)
        self._providers.clear()  # the next request connects with the new one
        self._stated.forget_lists()  # one may have been refused with the old one

    @property
    def problems(self) -> tuple[str, ...]:
        """Return what is wrong with model files and installed providers, a line each."""
        return tuple(self._stated.problems)

    def missing_key(self, settings: Settings) -> str:
        """Return what to do where a provider needs a key and there is none, else an empty string."""
        owner = key_owner(settings)
        return "" if settings.base_url or owner in self._keys else missing_key(owner)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return every key that must not be sent or shown."""
        there = [os.environ.get(name, "").strip() for name in key_variables()]
        return tuple(filter(None, (*self._keys.values(), *there)))

    def target(self, settings: Settings, *, ask: bool) -> Target:
        """Return where a request with these settings goes. ``ask``: the server may be asked and started."""
        if self._check is not None:
            self._check(settings.model)
        provider = self._provider(settings)
        names = self._names(settings, provider)
        tables = load_tables()
        claimed = self._stated.window(provider, names, given=settings.window, ask=ask, tables=tables)
        thinks = self._stated.says("thinking", provider, names, ask=ask, tables=tables)
        takes, meter = self._takes(provider, names, tables), self.meter(provider, settings)
        given = given_prices(settings, file=tables[0])
        is_free = not (any(given[0]) if given else provider.catalogue or is_billed(settings.model, settings.base_url))
        target = Target(
            settings, asked_model(settings), provider, meter, claimed, 0, 0, claimed,
            thinks, takes, given=given, is_free=is_free,
        )  # fmt: skip
        return self.renewed(target)

    def served_name(self, target: Target) -> str:
        """Return what the server of a target calls its model, as its last reply said; empty before."""
        return self._served_names.get(target.provider.endpoint, "")

    def renewed(self, target: Target) -> Target:
        """Return the same with what was learned of its limit since."""
        end = target.provider.endpoint
        limit, read = self._limits.get(end, NO_LIMIT), self._read.get(end, 0)
        window = limit.apply_to(target.claimed)
        if target.limit and window == target.window:
            return replace(target, learned_limit=limit, read=read)
        return target.with_window(window, learned_limit=limit, read=read)

    def meter(self, provider: Provider, settings: Settings) -> Meter:
        """Return what counts tokens as this provider does, in the way that the settings choose."""
        key = (provider.tokenizer, _counting(settings))
        with self._making:
            if key not in self._meters:
                self._meters[key] = _new_meter(settings)
                if key in self._kept:
                    self._meters[key].restore(*self._kept.pop(key))
            return self._meters[key]

    def by_name(self, settings: Settings) -> tuple[int, Callable[[str], float]]:
        """Return the tokens that a prompt may have, and what estimates a text's, by settings and the model's name.

        Both are the same in every kernel: nothing that a server said, and nothing that was learned, changes them.
        """
        provider = self._provider(settings)
        is_local = settings.base_url is None and provider.model.startswith("local/")
        told = provider is self._guest or is_local  # these say what they were given
        served = provider.served_window(ask=False) if told else None
        window = choose_window(settings.model, load_tables(), given=settings.window, served=served)
        if not told and not provider.catalogue and window.source not in ("given", "user file"):
            # a server of one's own often serves less than the model could hold
            window = replace(window, tokens=min(window.tokens, ASSUMED_TOKENS))
        asked = settings.max_tokens
        answers = [table.says("thinking", settings.model) for table in load_tables()]
        thinks = next((answer for answer in answers if answer is not None), None)
        usual = default_reserve(window, reasoning=thinks, effort=settings.effort)
        reserve = asked if asked is not None and asked < window.tokens else usual
        return Budget(window, reserve, share=settings.budget_share).limit, _new_meter(settings).tokens

    def news(self) -> list[Sizes]:
        """Return the sizes that were reported since the last call."""
        with self._learning:
            return _sizes({key: meter.pop_unsaved() for key, meter in self._meters.items()})

    def sizes(self) -> list[Sizes]:
        """Return all sizes that were reported."""
        unused = {key: counted for key, (_, counted) in self._kept.items()}
        return _sizes({**unused, **{key: meter.counted_parts for key, meter in self._meters.items()}})

    def state(self) -> StoredState:
        """Return what was learned of models and endpoints, as it is stored."""
        endpoints: dict[str, EndpointState] = {
            end: {
                "learned_limit": self._limits.get(end, NO_LIMIT),
                "served": self._served_names.get(end, ""),
                "unsupported": sorted(refused_at(end).names),
            }
            for end in {*self._limits, *self._served_names}
        }
        unused = {key: learned for key, (learned, _) in self._kept.items()}
        known = {**unused, **{key: meter.learned for key, meter in self._meters.items()}}
        meters: list[MeterState] = [
            {"meter": key, **learned._asdict()}  # type: ignore[typeddict-item]
            for key, learned in known.items()
        ]
        return {"endpoints": endpoints, "meters": meters}

    def restore(self, state: StoredState, sizes: Iterable[Sizes]) -> None:
        """Restore what was known before a restart; newer knowledge holds."""
        for end, known in state.get("endpoints", {}).items():
            if "learned_limit" in known and end not in self._limits:
                limit = replace(known["learned_limit"], heavy=None)
                self._limits[end] = limit.aged() if time.time() - limit.since > LONG_AGO else limit
            self._served_names.setdefault(end, known.get("served", ""))
            refused_at(end).names |= set(known.get("unsupported", ()))
        counted: dict[tuple[str, str], Counted] = {}
        for told in sizes:
            parts = counted.setdefault(told["meter"], Counted({}, {}))
            parts.turns.update(told["turns"])
            parts.fixed.update({Fixed(system, summary): tokens for system, summary, tokens in told["fixed"]})
        for meter in state.get("meters", []):
            learned = Learned(meter["calibration"], meter["overhead"], meter["settled"])
            self._restore_meter(meter["meter"], learned, counted.get(meter["meter"], Counted({}, {})))

    def _restore_meter(self, key: tuple[str, str], learned: Learned, counted: Counted) -> None:
        if key in self._meters:
            self._meters[key].restore(learned, counted)
            return
        first, parts = self._kept.get(key, (learned, Counted({}, {})))
        parts = Counted({**counted.turns, **parts.turns}, {**counted.fixed, **parts.fixed})
        self._kept[key] = (learned if first.overhead is None else first, parts)

    def refused(self, target: Target, refusal: Refused) -> Target:
        """Learn from a refusal, and return the target as it is known now.

        A server that reports its window is asked for it anew: that may explain the refusal.
        """
        target.provider.forget_window()
        claimed = self._claimed(target.settings, target.provider, ask=True)
        limit = self._learned(target, lambda limit: limit.after_refusal(refusal, claimed, time.time()))
        return target.with_window(limit.apply_to(claimed), claimed=claimed, learned_limit=limit)

    def too_heavy(self, target: Target, size: int) -> Target:
        """Learn that a request of so many bytes was refused for them, and return the target as it is known now."""
        return replace(target, learned_limit=self._learned(target, lambda limit: limit.too_heavy(size)))

    def accepted(self, target: Target, reply: Reply, expected: float, size: int) -> None:
        """Learn from an answer to a request of ``expected`` tokens and ``size`` bytes."""
        end, usage = target.provider.endpoint, reply.usage
        tokens = None if usage is None or usage.includes_tools else usage.input_tokens
        self._served_names.update({end: reply.model} if reply.model else {})
        self._learned(target, lambda limit: limit.after_reply(tokens, expected, size))

    def truncated(self, target: Target, read: int) -> None:
        """Learn how many tokens a server read of a prompt that it truncated."""
        end = target.provider.endpoint
        self._read[end] = max(read, self._read.get(end, 0))

    def _learned(self, target: Target, learn: Callable[[LearnedLimit], LearnedLimit]) -> LearnedLimit:
        with self._learning:
            limit = learn(self._limits.get(target.provider.endpoint, NO_LIMIT))
            self._limits[target.provider.endpoint] = limit
        return limit

    def confirm(self, target: Target) -> None:
        """Learn the limit of a server that is started here, as it says unasked: somebody else has met it."""
        served, end = target.provider.served_window(ask=False), target.provider.endpoint
        if served is not None and served.tokens < target.window.tokens and end not in self._limits:
            against = target.claimed.source, target.claimed.tokens
            self._limits[end] = LearnedLimit(served.tokens, is_stated=True, against=against, since=time.time())

    def counted(self, target: Target, sent: SentRequest, reply: Reply, usage: Usage, *, turn_id: str | None) -> None:
        """Learn from the usage of one reply; see :meth:`~jupyter_ctx.context.tokens.Meter.reported`."""
        is_cut = reply.stop_reason in ("max_tokens", "context_window")
        with self._learning:
            target.meter.reported(sent, reply.text, usage, turn_id=turn_id, is_cut=is_cut)
        vocabulary = family_of(target.settings.model).vocabulary
        if vocabulary is not None and _counting(target.settings) == "auto":
            load_soon(vocabulary)  # the next prompt is counted by it

    def ask_again(self, provider: Provider) -> None:
        """Ask a server that reports its window for it anew."""
        provider.forget_window()
        provider.served_window(ask=True)

    def reopen(self, settings: Settings) -> None:
        """Forget a learned limit: the user has set the window."""
        provider = self._provider(settings)
        self._limits.pop(provider.endpoint, None)

    def cost(self, target: Target, usage: Usage | None, served: str = "") -> float | None:
        """Return the US dollars that one request cost; ``None``: the price is not known."""
        settings, address = target.settings, target.settings.base_url
        if usage is None:
            return None
        given = target.given or (given_prices(settings, served) if served not in ("", target.model) else None)
        if given is not None:
            writes = CACHE_WRITES.get(settings.cache_ttl or "", 1.0) if isinstance(target.provider, Anthropic) else 1.0
            return given[0].cost(usage, writes)
        if address is None and not target.provider.catalogue:
            return None  # nobody knows what a server of one's own costs
        if settings.parameters and not has_listed_price(settings.parameters):
            return None
        provider, name = split_model(settings.model) if address is None else ("", settings.model)
        names = [*filter(None, (name, "" if address is None else name.partition("/")[2], served))]
        return price(bills(provider, address), names, usage, cache_ttl=settings.cache_ttl)

    def available(self, settings: Settings) -> ModelList:
        """Return a table of the models that a provider lists, with the window of each. Raises a ChatError."""
        provider, prefix = self._provider(settings), "" if settings.base_url else split_model(settings.model)[0] + "/"
        cards = provider.cards()
        tables = (*load_tables(), self._stated.keep(provider, cards))
        windows = {prefix + card.id: choose_window(card.id, tables, served=card.served) for card in cards}
        return ModelList(ModelRow(name, windows[name]) for name in sorted(windows))

    def _claimed(self, settings: Settings, provider: Provider, *, ask: bool) -> ContextWindow:
        """Return the window that the user, the server or a table states."""
        names = self._names(settings, provider)
        return self._stated.window(provider, names, given=settings.window, ask=ask)

    def reads_images(self, settings: Settings) -> bool:
        """Return whether images can be sent to a model, as far as is known; its server may be asked."""
        provider = self._provider(settings)
        if "image" in provider.takes:
            provider.says("images", ask=True)
        return "image" in self._takes(provider, self._names(settings, provider))

    def _takes(self, provider: Provider, names: tuple[str, ...], tables: Tables | None = None) -> frozenset[str]:
        """Return the kinds of files that a model takes: less than its provider where it is known to read text only."""
        reads = self._stated.says("images", provider, names, ask=False, tables=tables)
        return provider.takes & provider.converts if reads is False else provider.takes

    def _names(self, settings: Settings, provider: Provider) -> tuple[str, ...]:
        """Return the names of a model: as asked for, and as its server calls it."""
        served = self._served_names.get(provider.endpoint)
        return (settings.model, served) if served else (settings.model,)

    def _provider(self, settings: Settings) -> Provider:
        if settings.base_url is None and self._guest is not None and settings.model == self._guest.model:
            return self._guest
        model = settings.model if settings.base_url else full_name(settings.model)
        n_ctx = settings.n_ctx or settings.window
        missing = self.missing_key(settings)  # a variable may be set later
        key = (settings.model, settings.base_url, n_ctx, settings.timeout, missing)
        with self._making:
            if key not in self._providers:
                self._providers[key] = get_provider(
                    model,
                    base_url=settings.base_url,
                    api_key=self._keys.get(key_owner(settings)),
                    timeout=settings.timeout,
                    n_ctx=n_ctx,
                )
            return self._providers[key]


def _sizes(counted: Mapping[tuple[str, str], Counted]) -> list[Sizes]:
    """Return sizes in the form in which they are stored."""
    return [
        {
            "meter": key,
            "turns": parts.turns,
            "fixed": [(fixed.system, fixed.summary, tokens) for fixed, tokens in parts.fixed.items()],
        }
        for key, parts in counted.items()
        if parts.turns or parts.fixed
    ]


def asked_model(settings: Settings) -> str:
    """Return the full name of the model that is asked; at an address of the user's own, the name used there."""
    return settings.model if settings.base_url else full_name(settings.model)


def full_name(model: str) -> str:
    """Return ``provider/model``. Raises InvalidRequestError without a provider, with the nearest known names."""
    try:
        return "/".join(split_model(model))
    except InvalidRequestError as error:
        near = near_models(model)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise InvalidRequestError(f"{error}{hint}") from None


def settings_with(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """Return settings with some set anew; a model that belongs to no known provider is at the address in use."""
    model = changes.get("model")
    if isinstance(model, str) and settings.base_url and changes.get("base_url") is None and not _has_provider(model):
        changes = {**changes, "base_url": settings.base_url}
    return settings.changed(changes)


def _has_provider(model: str) -> bool:
    """Return whether a model's name says, or the tables know, who serves it."""
    try:
        check_known(split_model(model_of(model))[0])
    except InvalidRequestError:
        return False
    return True


def key_owner(settings: Settings) -> str:
    """Return the owner of a key: the address where one is given, else the provider. No other server is sent the key."""
    return settings.base_url.rstrip("/") if settings.base_url else split_model(settings.model)[0]


def _counting(settings: Settings) -> str:
    """Return how tokens are estimated; a provider's counts only correct that."""
    return "auto" if settings.token_counting == "provider" else settings.token_counting


def _new_meter(settings: Settings) -> Meter:
    """Return a meter that knows of a model what its name tells."""
    family, counting = family_of(settings.model), _counting(settings)
    vocabulary = family.vocabulary or ("o200k_base" if counting == "tiktoken" else None)
    count = None if counting == "approximate" or vocabulary is None else counter(vocabulary)
    return Meter(family, count, vision_of(settings.model), at_once=counting == "tiktoken")


def _reserve(settings: Settings, window: ContextWindow, thinks: bool | None) -> int:
    """Return the tokens kept for the reply: ``max_tokens`` where set, unless a learned window is smaller than that."""
    asked = settings.max_tokens
    if asked is not None and asked >= window.tokens:
        if window.source != "learned":
            raise InvalidRequestError(
                f"max_tokens is {asked:,}, and {settings.model} holds {window.tokens:,} in all "
                f"({window.basis}): a prompt must fit too."
            )
        asked = None
    return asked or default_reserve(window, reasoning=thinks, effort=settings.effort)
