"""The models a chat has talked to: their providers and keys, what they count and what they hold."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .context.budget import Budget, default_reserve
from .context.families import family_of, thinks
from .context.overflow import Overflow
from .context.tokens import Counted, Fixed, Learned, Meter
from .context.usage import Usage
from .context.windows import ContextWindow, Table, choose_window
from .conversation import Message
from .cost import price
from .errors import ChatError, InvalidRequestError
from .modelfiles import keep_list, kept_list, load_tables, table_of
from .providers import Provider, Reply, Request, bills, get_provider, key_variables, split_model
from .records import EndpointState, MeterState, Sizes, State
from .settings import Settings
from .vocabulary import counter

NOTHING = Table({}, "provider")


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Where a request goes: settings, provider, the meter of its tokens, its window and reserve.

    ``cache_key`` names the conversation to prompt caches; without one nothing is cached.
    """

    settings: Settings
    provider: Provider
    meter: Meter
    window: ContextWindow
    reserve: int
    cache_key: str | None = None

    @property
    def model(self) -> str:
        """The model's full name; at an address of the user's own what it is called there."""
        return self.settings.model if self.settings.base_url else "/".join(split_model(self.settings.model))

    @property
    def thinks(self) -> bool:
        """Whether the model thinks before it answers, which takes tokens too."""
        return thinks(self.settings.model)

    @property
    def max_tokens(self) -> int | None:
        """What the request says of the reply's length."""
        planned = self.settings.max_tokens is None and not self.provider.sends_reserve
        return None if planned else self.reserve

    def request(self, messages: tuple[Message, ...], **other: Any) -> Request:
        """A request with these settings; ``other`` says what is not as they say."""
        settings = self.settings
        usual = {
            "max_tokens": self.max_tokens, "temperature": settings.temperature, "parameters": settings.parameters,
            "cache_key": self.cache_key, "cache_ttl": settings.cache_ttl,
        }  # fmt: skip
        return Request(tuple(map(self._sendable, messages)), **{**usual, **other})

    def _sendable(self, message: Message) -> Message:
        """Without the files that this provider takes none of."""
        if not message.attachments:
            return message
        taken = tuple(file for file in message.attachments if file.kind in self.provider.takes)
        return replace(message, attachments=taken)

    def budget(self, fixed: float = 0.0, used: float = 0.0, *, exact: bool = False) -> Budget:
        """The budget of a request there."""
        share = self.settings.budget_share
        return Budget(self.window, self.reserve, round(fixed), round(used), exact, share=share)


class Models:
    """Keeps one provider for each model and address, and what was learned of it."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._providers: dict[tuple[object, ...], Provider] = {}
        self._meters: dict[tuple[str, str], Meter] = {}
        self._kept: dict[tuple[str, str], tuple[Learned, Counted]] = {}  # of meters that were not used yet
        self._learned: dict[str, ContextWindow] = {}
        self._lists: dict[str, Table] = {}
        self._accepted: dict[str, int] = {}
        self._served_names: dict[str, str] = {}
        self.problems: dict[str, None] = {}  # of model files, in order, each once

    def set_key(self, owner: str, key: str) -> None:
        """Keep a key for a provider or an address, in memory only."""
        self._keys[owner.rstrip("/")] = key
        self._providers.clear()  # the next request connects with the new one
        self._lists.clear()  # one may have been refused with the old one

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every key that must not be sent or shown."""
        there = (os.environ.get(name, "").strip() for name in key_variables())
        return tuple(key for key in (*self._keys.values(), *there) if key)

    def target(self, settings: Settings, *, ask: bool) -> Target:
        """Where a request with these settings goes. ``ask``: the server may be asked and started."""
        provider = self._provider(settings)
        window = self._window(settings, provider, ask=ask)
        return Target(settings, provider, self.meter(provider, settings), window, _reserve(settings, window))

    def meter(self, provider: Provider, settings: Settings) -> Meter:
        """Who counts tokens as this provider does, in the way that the settings say."""
        asked = settings.token_counting == "provider"  # its counts correct what we would estimate anyway
        counting = "auto" if asked else settings.token_counting
        key = (provider.tokenizer, counting)
        if key not in self._meters:
            family = family_of(settings.model)
            vocabulary = family.vocabulary or ("o200k_base" if counting == "tiktoken" else None)
            count = None if counting == "approximate" or vocabulary is None else counter(vocabulary)
            self._meters[key] = Meter(family, count)
            if key in self._kept:
                self._meters[key].restore(*self._kept.pop(key))
        return self._meters[key]

    def news(self) -> list[Sizes]:
        """The sizes that were told since this was last asked."""
        return _sizes({key: meter.news() for key, meter in self._meters.items()})

    def sizes(self) -> list[Sizes]:
        """All sizes that were told."""
        unused = {key: counted for key, (_, counted) in self._kept.items()}
        return _sizes({**unused, **{key: meter.counted_parts for key, meter in self._meters.items()}})

    def state(self) -> State:
        """What was learned of models and endpoints."""
        ends = {*self._learned, *self._accepted, *self._served_names}
        endpoints: dict[str, EndpointState] = {
            end: {
                "learned": self._learned.get(end),
                "accepted": self._accepted.get(end, 0),
                "served": self._served_names.get(end, ""),
            }
            for end in ends
        }
        unused = {key: learned for key, (learned, _) in self._kept.items()}
        known = {**unused, **{key: meter.learned for key, meter in self._meters.items()}}
        meters: list[MeterState] = [
            {"meter": key, **learned._asdict()}  # type: ignore[typeddict-item]
            for key, learned in known.items()
        ]
        return {"endpoints": endpoints, "meters": meters}

    def restore(self, state: State, sizes: Iterable[Sizes]) -> None:
        """Know again what was known before a restart; what was learned since holds."""
        for end, known in state.get("endpoints", {}).items():
            if known["learned"] is not None:
                self._learned.setdefault(end, known["learned"])
            self._accepted[end] = max(known["accepted"], self._accepted.get(end, 0))
            self._served_names.setdefault(end, known["served"])
        counted: dict[tuple[str, str], Counted] = {}
        for told in sizes:
            parts = counted.setdefault(told["meter"], Counted({}, {}))
            parts.turns.update(told["turns"])
            parts.fixed.update({Fixed(system, summary): tokens for system, summary, tokens in told["fixed"]})
        for meter in state.get("meters", []):
            learned = Learned(meter["calibration"], meter["overhead"], meter["floor"])
            self._restore_meter(meter["meter"], learned, counted.get(meter["meter"], Counted({}, {})))

    def _restore_meter(self, key: tuple[str, str], learned: Learned, counted: Counted) -> None:
        if key in self._meters:
            self._meters[key].restore(learned, counted)
            return
        first, parts = self._kept.get(key, (learned, Counted({}, {})))
        parts = Counted({**counted.turns, **parts.turns}, {**counted.fixed, **parts.fixed})
        self._kept[key] = (learned if first.overhead is None else first, parts)

    def refused(self, provider: Provider, overflow: Overflow, *, tokens: int | None = None) -> None:
        """Learn a limit, but never one below what this endpoint has taken already.

        Where none is stated it is below the size that was refused: as the refusal tells it,
        else ``tokens``. A lower bound of a size says nothing of the limit.
        """
        accepted, known = self.accepted(provider), self._learned.get(provider.endpoint)
        size = tokens if overflow.input_tokens is None or overflow.input_is_bound else overflow.input_tokens
        if overflow.max_input_tokens is not None:
            cap = max(overflow.max_input_tokens, accepted)
            self._learned[provider.endpoint] = ContextWindow(cap, max_input_tokens=cap, source="learned")
        elif overflow.context_window is not None:
            self._learned[provider.endpoint] = ContextWindow(max(overflow.context_window, accepted), source="learned")
        elif size is not None and accepted < size and (known is None or size <= known.tokens):
            self._learned[provider.endpoint] = ContextWindow(size, max_input_tokens=size - 1, source="learned")

    def answered(self, provider: Provider, reply: Reply) -> None:
        """A prompt of this size was taken, by a model that calls itself so."""
        size = reply.usage.input_tokens if reply.usage else 0
        self._accepted[provider.endpoint] = max(size, self.accepted(provider))
        if reply.model:
            self._served_names[provider.endpoint] = reply.model

    def accepted(self, provider: Provider) -> int:
        """Tokens of the largest prompt that this endpoint has taken, 0 where it has taken none."""
        return self._accepted.get(provider.endpoint, 0)

    def truncated(self, provider: Provider, usage: Usage) -> None:
        """The server left out a part of the prompt without a word: what it took and said is all it holds."""
        provider.forget_window()
        if provider.served_window(ask=True) is None:
            taken = usage.input_tokens + usage.output_tokens
            self._learned[provider.endpoint] = ContextWindow(taken, source="learned")

    def cost(self, target: Target, usage: Usage | None, served: str = "") -> float | None:
        """US dollars for one request, or ``None`` where nobody knows."""
        settings = target.settings
        if usage is None or settings.base_url is not None or not target.provider.catalogue:
            return None  # nobody knows what a server of one's own costs
        provider, name = split_model(settings.model)
        return price(bills(provider), filter(None, (name, served)), usage, cache_ttl=settings.cache_ttl)

    def available(self, settings: Settings) -> tuple[tuple[str, ContextWindow], ...]:
        """The models that a provider lists, with the window of each. Raises a ChatError."""
        provider, prefix = self._provider(settings), "" if settings.base_url else split_model(settings.model)[0] + "/"
        cards = provider.cards()
        tables = (*load_tables(), table_of(cards))
        windows = {prefix + card.id: choose_window(card.id, tables, served=card.served) for card in cards}
        return tuple(windows.items())

    def _window(self, settings: Settings, provider: Provider, *, ask: bool) -> ContextWindow:
        tables = load_tables()
        self.problems.update({table.problem: None for table in tables if table.problem})
        served = provider.served_window(ask=ask)
        learned = self._learned.get(provider.endpoint)
        names = tuple(name for name in (settings.model, self._served_names.get(provider.endpoint)) if name)

        def among(tables: tuple[Table, ...]) -> ContextWindow:
            windows = [
                choose_window(name, tables, given=settings.window, served=served, learned=learned) for name in names
            ]
            return next((window for window in windows if window.source != "assumed"), windows[0])

        found = among(tables)
        if found.source == "assumed" and settings.ask_windows == "on":
            return among((*tables, self._listed(provider, ask=ask)))
        return found

    def _listed(self, provider: Provider, *, ask: bool) -> Table:
        """What the provider's own list says: asked for once, and kept for a day."""
        name = provider.catalogue or provider.endpoint
        if name not in self._lists:
            table = kept_list(provider.catalogue)
            if table is None and not ask:
                return NOTHING
            if table is None:
                table = self._ask_list(provider)
            self._lists[name] = table
        return self._lists[name]

    def _ask_list(self, provider: Provider) -> Table:
        try:
            table = table_of(provider.cards())
        except ChatError:  # the request itself will say what is wrong
            return NOTHING
        keep_list(provider.catalogue, table)
        return table

    def _provider(self, settings: Settings) -> Provider:
        n_ctx = settings.n_ctx or settings.window
        key = (settings.model, settings.base_url, n_ctx, settings.n_threads, settings.timeout)
        if key not in self._providers:
            self._providers[key] = get_provider(
                settings.model,
                base_url=settings.base_url,
                api_key=self._keys.get(key_owner(settings)),
                timeout=settings.timeout,
                n_ctx=n_ctx,
                n_threads=settings.n_threads,
            )
        return self._providers[key]


def _sizes(counted: Mapping[tuple[str, str], Counted]) -> list[Sizes]:
    """In the form in which they are kept."""
    return [
        {
            "meter": key,
            "turns": parts.turns,
            "fixed": [(fixed.system, fixed.summary, tokens) for fixed, tokens in parts.fixed.items()],
        }
        for key, parts in counted.items()
        if parts.turns or parts.fixed
    ]


def key_owner(settings: Settings) -> str:
    """Whom a key is for: the address where one is given, else the provider. Nobody else gets it."""
    return settings.base_url.rstrip("/") if settings.base_url else split_model(settings.model)[0]


def _reserve(settings: Settings, window: ContextWindow) -> int:
    """Tokens kept for the reply; a length asked for holds unless the window turned out smaller."""
    asked = settings.max_tokens
    if asked is not None and asked >= window.tokens:
        if window.source != "learned":
            raise InvalidRequestError(
                f"max_tokens is {asked:,}, and {settings.model} holds {window.tokens:,} in all "
                f"({window.origin}): a prompt must fit too."
            )
        asked = None
    return asked or default_reserve(window, reasoning=thinks(settings.model))
