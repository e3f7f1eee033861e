"""The models a chat has talked to: their providers and keys, what they count and what they hold."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .context.budget import Budget, default_reserve
from .context.overflow import Overflow
from .context.tokens import Meter
from .context.windows import ContextWindow, choose_window
from .errors import InvalidRequestError
from .modelfiles import load_tables
from .providers import Provider, Reply, get_provider, key_variables, split_model
from .settings import Settings

REASONING = re.compile(r"(^|/)(o\d|gpt-[5-9](?!.*-chat))")  # models that think before they answer


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes: settings, provider, the meter of its tokens, its window and reserve."""

    settings: Settings
    provider: Provider
    meter: Meter
    window: ContextWindow
    reserve: int

    @property
    def max_tokens(self) -> int | None:
        """What the request says of the reply's length."""
        planned = self.settings.max_tokens is None and not self.provider.sends_reserve
        return None if planned else self.reserve

    def budget(self, fixed: float = 0.0, used: float = 0.0, *, exact: bool = False) -> Budget:
        """The budget of a request there."""
        share = self.settings.budget_share
        return Budget(self.window, self.reserve, round(fixed), round(used), exact, share=share)


class Models:
    """Keeps one provider for each model and address, and what was learned of it."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._providers: dict[tuple[object, ...], Provider] = {}
        self._meters: dict[str, Meter] = {}
        self._learned: dict[str, int] = {}
        self._accepted: dict[str, int] = {}
        self._served_names: dict[str, str] = {}
        self.problems: dict[str, None] = {}  # of model files, in order, each once

    def set_key(self, owner: str, key: str) -> None:
        """Keep a key for a provider or an address, in memory only."""
        self._keys[owner.rstrip("/")] = key
        self._providers.clear()  # the next request connects with the new one

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every key that must not be sent or shown."""
        there = (os.environ.get(name, "").strip() for name in key_variables())
        return tuple(key for key in (*self._keys.values(), *there) if key)

    def target(self, settings: Settings, *, ask: bool) -> Target:
        """Where a request with these settings goes. ``ask``: the server may be asked and started."""
        provider = self._provider(settings)
        window = self._window(settings, provider, ask=ask)
        return Target(settings, provider, self.meter(provider), window, _reserve(settings, window))

    def meter(self, provider: Provider) -> Meter:
        """Who counts tokens as this provider does."""
        return self._meters.setdefault(provider.tokenizer, Meter())

    def refused(self, provider: Provider, overflow: Overflow) -> None:
        """Learn a limit, but never one below what this endpoint has taken already."""
        stated = overflow.context_window or overflow.max_input_tokens
        if stated is not None:
            self._learned[provider.endpoint] = max(stated, self._accepted.get(provider.endpoint, 0))

    def answered(self, provider: Provider, reply: Reply) -> None:
        """A prompt of this size was taken, by a model that calls itself so."""
        size = reply.usage.input_tokens if reply.usage else 0
        self._accepted[provider.endpoint] = max(size, self._accepted.get(provider.endpoint, 0))
        if reply.model:
            self._served_names[provider.endpoint] = reply.model

    def _window(self, settings: Settings, provider: Provider, *, ask: bool) -> ContextWindow:
        tables = load_tables()
        self.problems.update({table.problem: None for table in tables if table.problem})
        served = provider.served_window(ask=ask)
        learned = self._learned.get(provider.endpoint)
        windows: Iterator[ContextWindow] = (
            choose_window(name, tables, given=settings.window, served=served, learned=learned)
            for name in (settings.model, self._served_names.get(provider.endpoint))
            if name
        )
        first = next(windows)
        return next(windows, first) if first.source == "assumed" else first

    def _provider(self, settings: Settings) -> Provider:
        n_ctx = settings.n_ctx or settings.window
        key = (settings.model, settings.base_url, n_ctx, settings.n_threads)
        if key not in self._providers:
            self._providers[key] = get_provider(
                settings.model,
                base_url=settings.base_url,
                api_key=self._keys.get(key_owner(settings)),
                n_ctx=n_ctx,
                n_threads=settings.n_threads,
            )
        return self._providers[key]


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
    return asked or default_reserve(window, reasoning=REASONING.search(settings.model) is not None)
