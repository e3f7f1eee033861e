"""The models a chat has talked to: their providers and keys, what they count and what they hold."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from ..config.aliases import model_of
from ..config.settings import Settings
from ..context.budget import Budget, default_reserve
from ..context.families import ratios_of, vocabulary_of
from ..context.learned_limit import LearnedLimit, Refused
from ..context.tokens import Fixed, Meter, PartSizes, SentRequest
from ..context.usage import Usage
from ..context.vision import vision_of
from ..context.windows import ASSUMED_TOKENS, choose_window
from ..errors import InvalidRequestError
from ..providers.anthropic import Anthropic
from ..providers.base import Provider, Reply
from ..providers.lookup import (
    bills,
    check_known,
    clean_key,
    get_provider,
    is_billed,
    key_holder,
    key_variables,
    missing_key,
    provider_names,
    split_model,
)
from ..providers.parameters import refused_at
from ..providers.plugins import PluginProvider
from ..storage.serialization import EndpointState, MeterState, Sizes, StoredState
from .model_names import ModelList, ModelRow, near_models
from .pricing import CACHE_WRITES, LISTED_VALUES, given_prices, price
from .target import NO_LIMIT, Target
from .tokenizer import counter, load_soon
from .window_tables import StatedWindows, load_tables


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
        self._kept: dict[tuple[str, str], tuple[MeterState, PartSizes]] = {}  # of meters that were not used yet
        self._limits: dict[str, LearnedLimit] = {}  # by endpoint
        self._stated = StatedWindows()
        self._served_names: dict[str, str] = {}
        self._making, self._learning = threading.Lock(), threading.Lock()  # several requests may begin and end at once

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
        """What is wrong with model files, a line each."""
        return tuple(table.problem for table in load_tables() if table.problem)

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
        claimed = self._stated.window(provider, names, given=settings.window, ask=ask)
        thinks = self._stated.says("thinking", provider, names, ask=ask)
        takes, meter, given = self._takes(provider, names), self.meter(provider, settings), given_prices(settings)
        is_free = not (any(given[0]) if given else provider.catalogue or is_billed(settings.model, settings.base_url))
        target = Target(
            settings, asked_model(settings), provider, meter, claimed, 0, 0, claimed,
            thinks, takes, given=given, is_free=is_free,
        )  # fmt: skip
        return self.renewed(target)

    def renewed(self, target: Target) -> Target:
        """Return the same with what was learned of its limit since."""
        limit = self._limits.get(target.provider.endpoint, NO_LIMIT)
        if target.limit and limit == target.learned_limit:  # it is planned with that
            return target
        return target.with_window(limit.apply_to(target.claimed), learned_limit=limit)

    def meter(self, provider: Provider, settings: Settings) -> Meter:
        """Return what counts tokens as this provider does, in the way that the settings choose."""
        key = (provider.tokenizer, _counting(settings))
        with self._making:
            if key not in self._meters:
                self._meters[key] = _new_meter(settings)
                if key in self._kept:
                    _restore(self._meters[key], *self._kept.pop(key))
            return self._meters[key]

    def by_name(self, settings: Settings) -> tuple[int, Callable[[str], float]]:
        """Return the tokens that a prompt may have, and what estimates a text's, by settings and the model's name.

        Both are the same in every kernel: nothing that a server said, and nothing that was learned, changes them.
        """
        provider = self._provider(settings)
        is_local = settings.base_url is None and provider.model.startswith("local/")
        told = provider is self._guest or is_local  # these say what they were given
        served = provider.served_window(ask=False) if told else None
        tables = load_tables()
        window = choose_window(settings.model, tables, given=settings.window, served=served)
        if not told and not provider.catalogue and window.source not in ("given", "user file"):
            # a server of one's own often serves less than the model could hold
            window = replace(window, tokens=min(window.tokens, ASSUMED_TOKENS))
        asked = settings.max_tokens
        answers = [table.says("thinking", settings.model) for table in tables]
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
        return _sizes({**unused, **{key: dict(meter.sizes) for key, meter in self._meters.items()}})

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
        meters: list[MeterState] = [
            {"meter": key, "overhead": meter.overhead, "latest": meter.reports} for key, meter in self._meters.items()
        ]
        return {"endpoints": endpoints, "meters": [*(unused for unused, _ in self._kept.values()), *meters]}

    def restore(self, state: StoredState, sizes: Iterable[Sizes]) -> None:
        """Restore what was known before a restart; newer knowledge holds."""
        for end, known in state.get("endpoints", {}).items():
            if "learned_limit" in known and end not in self._limits:
                self._limits[end] = known["learned_limit"]
            self._served_names.setdefault(end, known.get("served", ""))
            refused_at(end).names |= set(known.get("unsupported", ()))
        counted = defaultdict[tuple[str, str], PartSizes](dict)
        for told in sizes:
            counted[told["meter"]].update(told["turns"])
            counted[told["meter"]] |= {Fixed(system, summary): tokens for system, summary, tokens in told["fixed"]}
        for meter in state.get("meters", []):
            key = meter["meter"]
            if key in self._meters:
                _restore(self._meters[key], meter, counted[key])
            else:
                first, parts = self._kept.get(key, (meter, {}))
                self._kept[key] = meter if first["overhead"] is None else first, counted[key] | parts

    def refused(self, target: Target, refusal: Refused) -> Target:
        """Learn from a refusal, and return the target as it is known now.

        A server that reports its window is asked for it anew: that may explain the refusal.
        """
        target.provider.forget_window()
        settings, names = target.settings, self._names(target.settings, target.provider)
        claimed = self._stated.window(target.provider, names, given=settings.window, ask=True)
        limit = self._learned(target, lambda limit: limit.after_refusal(refusal, claimed))
        return target.with_window(limit.apply_to(claimed), claimed=claimed, learned_limit=limit)

    def accepted(self, target: Target, reply: Reply, expected: float) -> None:
        """Learn from an answer to a request of ``expected`` tokens."""
        end, usage = target.provider.endpoint, reply.usage
        tokens = None if usage is None or usage.includes_tools else usage.input_tokens
        self._served_names.update({end: reply.model} if reply.model else {})
        self._learned(target, lambda limit: limit.after_reply(tokens, expected))

    def _learned(self, target: Target, learn: Callable[[LearnedLimit], LearnedLimit]) -> LearnedLimit:
        with self._learning:
            limit = learn(self._limits.get(target.provider.endpoint, NO_LIMIT))
            self._limits[target.provider.endpoint] = limit
        return limit

    def counted(self, target: Target, sent: SentRequest, reply: Reply, usage: Usage, *, turn_id: str | None) -> None:
        """Learn from the usage of one reply; see :meth:`~jupyter_ctx.context.tokens.Meter.reported`."""
        vocabulary = target.meter.vocabulary
        with self._learning:
            target.meter.reported(sent, reply.text, usage, turn_id=turn_id)
            if vocabulary is not None:
                target.meter.count_by(counter(vocabulary))
        if vocabulary is not None:
            load_soon(vocabulary)

    def ask_again(self, provider: Provider) -> None:
        """Ask a server that reports its window for it anew."""
        provider.forget_window()
        provider.served_window(ask=True)

    def reopen(self, settings: Settings) -> None:
        """Forget a learned limit: the user has set the window."""
        self._limits.pop(self._provider(settings).endpoint, None)

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
        if any(settings.parameters.get(name, usual[0]) not in usual for name, usual in LISTED_VALUES.items()):
            return None  # a faster service costs more than tables say
        provider, name = split_model(settings.model) if address is None else ("", settings.model)
        names = [*filter(None, (name, "" if address is None else name.partition("/")[2], served))]
        return price(bills(provider, address), names, usage, cache_ttl=settings.cache_ttl)

    def available(self, settings: Settings) -> ModelList:
        """Return a table of the models that a provider lists, with the window of each. Raises a ChatError."""
        provider, prefix = self._provider(settings), "" if settings.base_url else split_model(settings.model)[0] + "/"
        cards = provider.cards()
        tables = (*load_tables(), self._stated.keep(provider, cards))
        windows = {prefix + card.id: choose_window(card.id, tables, served=card.served) for card in cards}
        return ModelList(ModelRow(name, each.tokens, each.origin) for name, each in sorted(windows.items()))

    def reads_images(self, settings: Settings) -> bool:
        """Return whether images can be sent to a model, as far as is known; its server may be asked."""
        provider = self._provider(settings)
        if "image" in provider.takes:
            provider.says("images", ask=True)
        return "image" in self._takes(provider, self._names(settings, provider))

    def _takes(self, provider: Provider, names: tuple[str, ...]) -> frozenset[str]:
        """Return the kinds of files that a model takes: less than its provider where it is known to read text only."""
        reads = self._stated.says("images", provider, names, ask=False)
        return frozenset() if reads is False else provider.takes

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


def _restore(meter: Meter, state: MeterState, sizes: PartSizes) -> None:
    meter.restore(state.get("latest", ()), state["overhead"], sizes)


def _sizes(counted: Mapping[tuple[str, str], PartSizes]) -> list[Sizes]:
    """Return sizes in the form in which they are stored."""
    return [
        {
            "meter": key,
            "turns": {part: tokens for part, tokens in sizes.items() if isinstance(part, str)},
            "fixed": [(*part, tokens) for part, tokens in sizes.items() if isinstance(part, Fixed)],
        }
        for key, sizes in counted.items()
        if sizes
    ]


def asked_model(settings: Settings) -> str:
    """Return the full name of the model that is asked; at an address of the user's own, the name used there."""
    return settings.model if settings.base_url else full_name(settings.model)


def full_name(model: str) -> str:
    """Return ``provider/model``. Raises InvalidRequestError without a provider, with the nearest known names."""
    try:
        return "/".join(split_model(model))
    except InvalidRequestError as error:
        near = [] if model.strip("/") in provider_names() else near_models(model)
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
    meter, vocabulary = Meter(ratios_of(settings.model), vision_of(settings.model)), vocabulary_of(settings.model)
    counting = _counting(settings)
    if counting == "auto":
        meter.vocabulary = vocabulary
    elif vocabulary is not None and counting == "tiktoken":
        meter.count_by(counter(vocabulary))
    return meter
