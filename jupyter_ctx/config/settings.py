"""What can be set, in one place: keywords of Chat, ``%chat config``, IPython's ``c.Chat``."""

from __future__ import annotations

import json
import math
import os
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from functools import cache
from typing import Any, Literal
from urllib.parse import urlsplit

from ..errors import InvalidRequestError
from .aliases import model_of

DEFAULT_MODEL = "local/smollm2"
MODEL_VARIABLE = "JUPYTER_CTX_MODEL"
MODEL_SETTINGS = ("window", "n_ctx", "n_threads", "base_url")  # these go with the model they were set for
SPELLINGS = {"summarize": "summarise"}
MOST_SECONDS = 86_400
RESERVED_PARAMETERS = frozenset({"model", "messages", "input", "contents", "stream", "system", "instructions"})
NONE = frozenset({"none", "default", "off"})
SHARES = frozenset({"compact_at", "budget_share", "warn_at"})  # these may be said in percent


@dataclass(frozen=True, slots=True)
class Settings:
    """How a conversation is held; :data:`HELP` has one line for each setting."""

    model: str = DEFAULT_MODEL
    system: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    window: int | None = None
    n_ctx: int | None = None
    n_threads: int | None = None
    base_url: str | None = None
    timeout: float = 600.0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    cache_ttl: Literal["5m", "1h"] | None = "5m"
    ask_windows: Literal["on", "off"] = "on"
    token_counting: Literal["auto", "approximate", "tiktoken", "provider"] = "auto"
    summary_model: str | None = None
    on_overflow: Literal["trim", "summarise", "stop"] = "trim"
    compact_at: float = 1.0
    min_turns: int = 1
    max_turns: int | None = None
    budget_share: float = 1.0
    gauge: Literal["first", "every", "off"] = "first"
    footer: Literal["auto", "on", "off"] = "auto"
    thresholds: tuple[float, ...] | None = (0.5, 0.75, 0.9)
    warn_at: float | None = 0.85
    restore: Literal["auto", "ask", "off"] = "auto"

    def __post_init__(self) -> None:
        for name in ("max_tokens", "window", "n_ctx", "n_threads", "max_turns"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidRequestError(f"{name} is {value}: it must be 1 or more.")
        self._check_shares()
        if not 0 < self.timeout <= MOST_SECONDS:
            raise InvalidRequestError(
                f"timeout is {self.timeout:g}: it must be from above 0 to {MOST_SECONDS} seconds."
            )
        for name in sorted(self.parameters.keys() & RESERVED_PARAMETERS):
            raise InvalidRequestError(f"{name} cannot be set as a parameter: %%chat says it itself.")
        if self.min_turns < 0:
            raise InvalidRequestError(f"min_turns is {self.min_turns}: it must be 0 or more.")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise InvalidRequestError(f"temperature is {self.temperature}: it must be from 0 to 2.")
        self._check_pairs()

    def _check_shares(self) -> None:
        for name in ("compact_at", "budget_share"):
            if not 0.1 <= getattr(self, name) <= 1:
                raise InvalidRequestError(f"{name} is {getattr(self, name)}: it must be from 0.1 to 1.")
        for share in (*(self.thresholds or ()), *((self.warn_at,) if self.warn_at is not None else ())):
            if not 0 < share <= 1:
                raise InvalidRequestError(f"{share:g} is not a share of the limit: from above 0 to 1, or 1% to 100%.")

    def _check_pairs(self) -> None:
        """What is right alone and wrong together."""
        if self.max_turns is not None and self.min_turns > max(self.max_turns, 1):
            raise InvalidRequestError(
                f"min_turns is {self.min_turns}, and max_turns only {self.max_turns}: no view can have both."
            )
        if self.window is not None and self.max_tokens is not None and self.max_tokens >= self.window:
            raise InvalidRequestError(
                f"max_tokens is {self.max_tokens:,}, and the window only {self.window:,}: a prompt must fit too."
            )

    def changed(self, changes: Mapping[str, Any]) -> Settings:
        """With some of them set anew, as values or as text; another model drops what went with the old."""
        values = {name: _parsed(name, value) for name, value in changes.items()}
        if "model" in values:
            values["model"] = model_of(values["model"])
        if values.get("summary_model"):
            values["summary_model"] = model_of(values["summary_model"])
        same = values.get("model", self.model) == self.model
        if not same:
            values = dict.fromkeys(MODEL_SETTINGS) | values
        parameters = {**(self.parameters if same else {}), **values.get("parameters", {})}
        values["parameters"] = {name: value for name, value in parameters.items() if value is not None}
        return replace(self, **values)


@cache
def _kinds() -> dict[str, Any]:
    """Of each setting; read from the text of the hints, which takes a while."""
    return typing.get_type_hints(Settings)


SETTING_NAMES = tuple(field.name for field in fields(Settings))
HELP: Mapping[str, str] = {  # shares are of the limit, which is what a prompt may have; none takes a setting away
    "model": "provider/model, such as openai/gpt-5.2; %chat use sets it too",
    "system": "the system prompt; %%chat system sets it to a cell's text, @FILE reads a file",
    "temperature": "0 to 2; none: the provider's default",
    "max_tokens": "longest reply, in tokens; none: a part of the window is kept free for it",
    "window": "tokens the model is taken to hold, prompt and reply together; none: looked up",
    "n_ctx": "tokens a local model is served with; none: as window",
    "n_threads": "processor threads of a local model; none: chosen",
    "base_url": "address of an OpenAI-compatible server; none: the provider's own",
    "timeout": "seconds that a server may be silent",
    "parameters": "further parameters of a request, passed on as given: NAME=VALUE, NAME=null drops one",
    "cache_ttl": "how long Anthropic keeps a cached prompt: 5m, 1h or off",
    "ask_windows": "on: the provider's list is asked for the window of a model that no table knows; off",
    "token_counting": "auto (tiktoken where the vocabulary is public), tiktoken, approximate, or provider (asked)",
    "summary_model": "the model that writes summaries; none: the chat's own, or your own lines for local models",
    "on_overflow": "when a prompt does not fit: trim (leave out the oldest turns), summarise them, or stop",
    "compact_at": "the share of the limit at which room is made; 1.0: only when a prompt does not fit",
    "min_turns": "turns to keep when room is made, as long as they fit",
    "max_turns": "most turns to send; passing it leaves out turns down to 0.6 of it; none: no such limit",
    "budget_share": "the share of the window's limit that a prompt may take",
    "gauge": "the gauge by itself: with the first chat cell, with every one, or off",
    "footer": "the line of figures below an answer: auto (where somebody reads), on or off",
    "thresholds": "shares of the limit at which one line says how full it is; off",
    "warn_at": "share of the limit above which a line says so before the answer; off",
    "restore": "after a restart of the kernel: auto (go on with the conversation), ask or off",
}


def choices(name: str) -> tuple[str, ...]:
    """The words that a setting may be, where there are only so many."""
    kinds = _alternatives(_kinds()[name])
    words = typing.get_args(kinds[0]) if typing.get_origin(kinds[0]) is Literal else ()
    return (*words, "off") if words and type(None) in kinds else words


def default_settings(config: Mapping[str, Any], given: Mapping[str, Any]) -> Settings:
    """What was given, else IPython's configuration, else the environment, else ours."""
    model = os.environ.get(MODEL_VARIABLE, "").strip() or DEFAULT_MODEL
    settings = Settings().changed({"model": model}).changed(config)
    return settings.changed({name: value for name, value in given.items() if value is not None})


def kept_settings(begun: Settings, now: Settings) -> dict[str, Any]:
    """What has been set since the beginning, as it may be stored: nothing that may hold a key."""
    changed = {name for name in SETTING_NAMES if getattr(now, name) != getattr(begun, name)} - {"parameters"}
    where = {"model", *MODEL_SETTINGS}  # all or nothing: half of it would send a conversation to somebody else
    if changed & where:
        changed = changed | where if _holds_no_key(now.base_url) else changed - where
    return {name: getattr(now, name) for name in SETTING_NAMES if name in changed}


def restored_settings(settings: Settings, kept: Mapping[str, Any]) -> Settings:
    """With what was set before a restart, unless that cannot be any more."""
    try:
        return settings.changed(kept)
    except InvalidRequestError:
        return settings


def _holds_no_key(address: str | None) -> bool:
    parts = urlsplit(address or "")
    return not (parts.username or parts.password or parts.query)


def _parsed(name: str, value: Any) -> Any:
    """A value of the setting's kind, from such a value or from text."""
    if name not in SETTING_NAMES:
        near = get_close_matches(name, SETTING_NAMES, 1)
        raise InvalidRequestError(
            f"No setting {name!r}"
            + (f": did you mean {near[0]}?" if near else f": there are {', '.join(SETTING_NAMES)}.")
        )
    kinds = _alternatives(_kinds()[name])
    if type(None) in kinds and (value is None or is_none(value)):
        return None
    kind = kinds[0]
    kind = typing.get_origin(kind) if typing.get_origin(kind) in (Mapping, tuple) else kind
    if typing.get_origin(kind) is Literal:
        return _one_of(name, SPELLINGS.get(value, value), typing.get_args(kind))
    try:
        return _share(value) if name in SHARES else CONVERTERS[kind](value)
    except InvalidRequestError:
        raise
    except (TypeError, ValueError):
        raise InvalidRequestError(f"{name} is {value!r}: it must be {SPOKEN[kind]}.") from None


def is_none(value: Any) -> bool:
    """Whether a text takes a setting away."""
    return isinstance(value, str) and value.lower() in NONE


def _whole(value: Any) -> int:
    number = int(value.replace(",", "")) if isinstance(value, str) else value
    if type(number) is not int:
        raise TypeError
    return number


def _number(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    return number


def _parameters(value: Any) -> Mapping[str, Any]:
    """A mapping, or ``name=value`` as text, one or several; a value that is JSON is read as such."""
    if isinstance(value, Mapping):
        found = dict(value)
    else:
        pairs = [pair.partition("=") for pair in ([value] if isinstance(value, str) else value)]
        for name, equals, text in pairs:
            if not (name.strip() and equals):
                raise InvalidRequestError(f"{name + equals + text!r} is not a parameter: write NAME=VALUE.")
        found = {name.strip(): _json(text) for name, _, text in pairs}
    return found


def _json(text: str) -> Any:
    """JSON where it is such, else the text itself; half of it was robbed of its quotes by the line."""
    try:
        return json.loads(text)
    except ValueError:
        if text[:1] in ("{", "["):
            raise InvalidRequestError(f"{text} is not JSON: put quotes around all of it, 'name={{…}}'.") from None
        return text


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _shares(value: Any) -> tuple[float, ...]:
    """Shares of the limit, in order; also as text: ``0.5,0.75`` or ``50 %, 75 %``."""
    parts = value.replace(",", " ").replace(" %", "%").split() if isinstance(value, str) else value
    return tuple(sorted(_share(part) for part in parts))


def _share(value: Any) -> float:
    percent = isinstance(value, str) and value.endswith("%")
    return _number(value.removesuffix("%")) / 100 if percent else _number(value)


CONVERTERS: dict[Any, Callable[[Any], Any]] = {
    int: _whole, float: _number, str: _text, Mapping: _parameters, tuple: _shares,
}  # fmt: skip
SPOKEN: dict[Any, str] = {
    int: "a whole number", float: "a number", str: "text", Mapping: "NAME=VALUE", tuple: "shares such as 0.5,0.75",
}  # fmt: skip


def _alternatives(kind: Any) -> tuple[Any, ...]:
    return typing.get_args(kind) if typing.get_origin(kind) in (types.UnionType, typing.Union) else (kind,)


def _one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    if value not in allowed:
        raise InvalidRequestError(f"{name} is {value!r}: it must be one of {', '.join(allowed)}.")
    return value
