"""Every setting, declared once: for keywords of Chat, ``%chat config`` and IPython's ``c.Chat``.

To add a setting, add a field to :class:`Settings` with its type, default and :func:`setting`. From there have it: the
check of its values, ``%chat config``, Tab completion, ``help(Settings)`` and the book's reference.
"""

from __future__ import annotations

import json
import os
import re
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from ..context.usage import PRICES_WANTED, Prices
from ..errors import InvalidRequestError
from ..runtime.redaction import checked_address
from ..wording import did_you_mean
from .aliases import model_of

DEFAULT_MODEL = "local/smollm2"
MODEL_VARIABLE, ADDRESS_VARIABLE = "JUPYTER_CTX_MODEL", "JUPYTER_CTX_BASE_URL"
MODEL_SETTINGS = ("window", "n_ctx", "base_url", "prices")  # these go with the model they were set for
MODELS = ("model", "summary_model")
SPELLINGS = {"summarize": "summarise"}
RESERVED_PARAMETERS = frozenset({"model", "messages", "input", "contents", "stream", "system", "instructions"})
OF_A_SETTING = {  # of parameters that a cap on the cost or a lock would not see, without underscores
    **dict.fromkeys(("maxtokens", "maxcompletiontokens", "maxoutputtokens"), "the setting max_tokens (--max-tokens N)"),
    **dict.fromkeys(("n", "bestof", "candidatecount"), "-n N (several answers)"),
    "temperature": "the setting temperature (-t N)",
}
OF_EFFORT = frozenset((  # names of parameters, without underscores
    "effort", "reasoningeffort", "thinking", "thinkinglevel", "thinkingbudget", "think", "enablethinking",
))  # fmt: skip
BODIES = frozenset({"http_options", "extra_body", "generationConfig"})  # of Google's SDK: more of the request's body
DEFAULT = "default"
NONE = frozenset({"none", DEFAULT, "off"})
LEAST_TOKENS = 256  # that compact_at may be: a figure from 0.1 to 1 is a share of the limit
TOKEN_UNITS = {"k": 1_000, "m": 1_000_000}
BOUNDS = frozenset({"ge", "gt", "le"})
About = Literal["request", "room", "server", "display"]


class Setting(NamedTuple):
    """What is declared of a setting beside its type and default.

    help: one line for the user.
    about: what the setting decides: the request, when and how room is made, the server, or what is shown.
    share: a share of the limit, which may be typed in percent.
    wanted: what its value must be, in words, where the type does not say it.
    tokens: a number of tokens, which may be typed with k or M.
    bounds: of its numbers, as :class:`msgspec.Meta` takes them: ge, gt, le.
    """

    help: str
    about: About
    share: bool = False
    wanted: str = ""
    tokens: bool = False
    bounds: Mapping[str, float] = MappingProxyType({})


def setting(default: Any, summary: str, about: About, **declared: Any) -> Any:
    """Declare a field of :class:`Settings`; ``declared`` are further fields of :class:`Setting`, and bounds."""
    bounds: dict[str, float] = {}
    for name in declared.keys() & BOUNDS:
        bounds[name] = declared.pop(name)
    metadata = {"setting": Setting(summary, about, bounds=bounds, **declared)}
    return (
        field(default_factory=dict, metadata=metadata) if default == {} else field(default=default, metadata=metadata)
    )


def _names(parameters: Mapping[str, Any], within: frozenset[str] | None = None) -> Iterator[str]:
    """Yield the names of parameters, and those of the fields of objects: of all, or of those named in ``within``."""
    for name, value in parameters.items():
        yield name
        if isinstance(value, Mapping) and (within is None or name in within):
            yield from _names(value, within)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a conversation is held: keywords of :class:`~jupyter_ctx.Chat`, and of its methods for one request."""

    model: str = setting(DEFAULT_MODEL, "provider/model, such as openai/gpt-5.2; %chat use sets it too", "request")
    system: str | None = setting(
        None, "the system prompt; %%chat system sets it to a cell's text, @FILE reads a file", "request"
    )
    temperature: float | None = setting(
        None, "how random answers are; none: the provider's default", "request", ge=0, le=2
    )
    effort: Literal["none", "minimal", "low", "medium", "high", "max"] | None = setting(
        None, "how much the model thinks before it answers; off: as its provider has it", "request"
    )
    certainty: Literal["on", "off"] = setting(
        "off",
        "whether an answer shows how likely each of its tokens was, where the model's provider tells it",
        "request",
    )
    max_tokens: int | None = setting(
        None,
        "longest reply, in tokens; none: a part of the window is kept free for the reply",
        "request",
        ge=1,
        tokens=True,
    )
    window: int | None = setting(
        None,
        "the model's context window in tokens, prompt and reply together; none: looked up",
        "request",
        ge=1,
        tokens=True,
    )
    base_url: str | None = setting(None, "address of an OpenAI-compatible server; none: the provider's own", "request")
    prices: tuple[float, ...] | None = setting(
        None, "what the model costs where no table says it, as at a gateway; 0,0: nothing; none: looked up", "request",
        wanted=PRICES_WANTED,
    )  # fmt: skip
    parameters: Mapping[str, Any] = setting(
        {}, "further parameters of a request, passed on as given; NAME=null drops one", "request"
    )
    cache_ttl: Literal["5m", "1h"] | None = setting("5m", "how long Anthropic keeps a cached prompt", "request")
    token_counting: Literal["auto", "approximate", "tiktoken", "provider"] = setting(
        "auto", "auto: tiktoken where the vocabulary is public; provider: asked before each request", "request"
    )
    on_overflow: Literal["trim", "summarise", "stop"] = setting(
        "trim",
        "when a prompt does not fit: leave out the oldest turns, summarise them, or send nothing",
        "room",
    )
    compact_at: float = setting(
        1.0,
        "the share of the limit at which room is made, or the tokens, such as 16k; 1.0: only when a prompt does not "
        "fit",
        "room",
        wanted=f"a share of the limit from 0.1 to 1, or a number of tokens from {LEAST_TOKENS}",
        ge=0.1,
        share=True,
        tokens=True,
    )
    min_turns: int = setting(1, "turns to keep when room is made, as long as they fit", "room", ge=0)
    max_turns: int | None = setting(
        None, "most turns to send; more are left out, down to 0.6 of this number; none: no such limit", "room", ge=1
    )
    budget_share: float = setting(
        1.0, "the share of the window's limit that a prompt may take", "room", ge=0.1, le=1, share=True
    )
    attach_share: float | None = setting(
        None,
        "the share of the limit that anything attached with -a NAME may take; none: a tenth, and 8,000 tokens of data",
        "room",
        gt=0,
        le=1,
        share=True,
    )
    summary_model: str | None = setting(
        None, "the model that writes summaries; none: the chat's own, or your own lines for local models", "room"
    )
    n_ctx: int | None = setting(
        None,
        "the context window of a local model as loaded, in tokens; none: as window",
        "server",
        ge=1,
        tokens=True,
    )
    timeout: float = setting(600.0, "seconds that a server may be silent", "server", gt=0, le=86_400)
    confirm_cost: float | None = setting(
        1.0,
        "dollars that a run over a table may cost before it asks first, as it does above 20 requests whose price is "
        "unknown; none: it never asks",
        "request",
        ge=0,
    )
    max_cost: float | None = setting(
        None,
        "dollars that the notebook may cost, all its conversations and runs together, never passed; none: any amount",
        "request",
        ge=0,
        le=100_000,
    )
    gauge: Literal["follow", "off"] = setting(
        "follow",
        "the gauge by itself: below the newest chat cell where the toolbar has no chip, or never",
        "display",
    )
    footer: Literal["auto", "on", "off"] = setting(
        "auto",
        "the line of figures below an answer; auto: where somebody reads",
        "display",
    )

    def __post_init__(self) -> None:
        for name in sorted(self.parameters.keys() & RESERVED_PARAMETERS):
            raise InvalidRequestError(f"{name} cannot be set as a parameter: %%chat sends its own.")
        for name in _names(self.parameters, BODIES):
            instead = OF_A_SETTING.get(name.lower().replace("_", ""))
            if instead:
                raise InvalidRequestError(f"{name} cannot be set as a parameter: {instead} does that.")
        for name, value in self.parameters.items() if self.effort is not None else ():
            within = {each.lower().replace("_", "") for each in _names({name: value})}
            if not OF_EFFORT.isdisjoint(within):
                raise InvalidRequestError(
                    f"effort is {self.effort}, and the parameter {name} (--set) says how much to think, too: "
                    "leave one of them out."
                )
        if self.max_turns is not None and self.min_turns > max(self.max_turns, 1):
            raise InvalidRequestError(
                f"min_turns is {self.min_turns}, and max_turns only {self.max_turns}: no view can have both."
            )
        if self.prices is not None:
            try:
                Prices.of(self.prices)
            except ValueError as error:
                raise InvalidRequestError(f"{typed_value(self.prices)}: {error}") from None
        if self.window is not None and self.max_tokens is not None and self.max_tokens >= self.window:
            raise InvalidRequestError(
                f"max_tokens is {self.max_tokens:,}, and the window only {self.window:,}: a prompt must fit too."
            )

    def changed(self, changes: Mapping[str, Any]) -> Settings:
        """Return settings with some set anew, as values or as text; another model drops what went with the old."""
        values = {name: _parsed(name, value) for name, value in changes.items()}
        if "model" in values:
            values["model"] = model_of(values["model"])
        if values.get("summary_model"):
            values["summary_model"] = model_of(values["summary_model"])
        same = values.get("model", self.model) == self.model
        if not same:
            values = dict.fromkeys(MODEL_SETTINGS) | values
        stay = same and not _takes_all_away(changes.get("parameters"))
        parameters = {**(self.parameters if stay else {}), **values.get("parameters", {})}
        values["parameters"] = {name: value for name, value in parameters.items() if value is not None}
        return replace(self, **values)


SETTINGS: dict[str, Setting] = {each.name: each.metadata["setting"] for each in fields(Settings)}
SETTING_NAMES = tuple(SETTINGS)
HELP: Mapping[str, str] = {name: each.help for name, each in SETTINGS.items()}
Settings.__doc__ = "\n".join(
    [
        f"{Settings.__doc__}",
        "",
        *(f"{name}: {line} (default: {getattr(Settings(), name)!r})" for name, line in HELP.items()),
    ]
)
KINDS = {
    int: "a whole number",
    float: "a number",
    str: "text",
    Mapping: "NAME=VALUE, one or several",
}


def choices(name: str) -> tuple[str, ...]:
    """Return the words that a setting may be, where there are only so many."""
    kind, *others = _alternatives(name)
    words = typing.get_args(kind) if typing.get_origin(kind) is Literal else ()
    return (*words, "off") if words and type(None) in others else words


def typed_value(value: Any, name: str = "") -> str:
    """Return a setting's value as it is typed; ``name``: the setting's, where ``none`` may be one of its values."""
    if value is None and name and "none" in choices(name):
        return "off"
    if isinstance(value, Mapping):
        return " ".join(f"{key}={json.dumps(each, default=str)}" for key, each in value.items()) or "none"
    if isinstance(value, tuple):
        return ", ".join(f"{each:.15g}" for each in value)
    if isinstance(value, float) and value >= LEAST_TOKENS:
        return f"{value:.15g}"
    return "none" if value is None else str(value)


def wanted(name: str) -> str:
    """Return what a setting's value must be, in words."""
    kind, *others = _alternatives(name)
    optional = type(None) in others
    if choices(name):
        return f"one of {', '.join(choices(name))}"
    said, share, bounds = SETTINGS[name].wanted, SETTINGS[name].share, SETTINGS[name].bounds
    kind_of_value = said or ("a share of the limit" if share else KINDS[typing.get_origin(kind) or kind])
    if "le" in bounds:
        least = f"{bounds['ge']:g}" if "ge" in bounds else f"above {bounds['gt']:g}"
        kind_of_value += f" from {least} to {bounds['le']:,g}"
    elif bounds and not said:
        kind_of_value += f", {bounds['ge']:g} or more"
    same = ["80% is the same as 0.8"] if share else []
    same += ["128k is the same as 128,000"] if SETTINGS[name].tokens else []
    kind_of_value += f" ({', '.join(same)})" if same else ""
    return f"{kind_of_value}, or none" if optional or name == "parameters" else kind_of_value


def default_settings(config: Mapping[str, Any], given: Mapping[str, Any]) -> Settings:
    """Return settings: those given, else IPython's configuration, else the environment, else the defaults."""
    given = {name: value for name, value in given.items() if value is not None}
    model, address = (os.environ.get(name, "").strip() for name in (MODEL_VARIABLE, ADDRESS_VARIABLE))
    begun = {"model": model or DEFAULT_MODEL}
    if model and address and not {"model", "base_url"} & {*config, *given}:
        begun["base_url"] = checked_address(address, ADDRESS_VARIABLE)
    return Settings().changed(begun).changed(config).changed(given)


def kept_settings(begun: Settings, now: Settings) -> dict[str, Any]:
    """Return the settings changed since the start, without parameters, which may hold a key."""
    changed = {name for name in SETTING_NAMES if getattr(now, name) != getattr(begun, name)} - {"parameters"}
    where = {"model", *MODEL_SETTINGS}  # all or nothing: half of it would send a conversation to somebody else
    if changed & where:
        changed = changed | where
    return {name: getattr(now, name) for name in SETTING_NAMES if name in changed}


def restored_settings(settings: Settings, kept: Mapping[str, Any]) -> Settings:
    """Return settings with those kept before a restart, or unchanged if a kept one is not valid any more."""
    try:
        return settings.changed(kept)
    except InvalidRequestError:
        return settings


def check_setting(name: str) -> None:
    """Raise InvalidRequestError for an unknown setting, with the nearest name."""
    if name not in SETTINGS:
        hint = did_you_mean(name, SETTING_NAMES) or f" There are {', '.join(SETTING_NAMES)}."
        raise InvalidRequestError(f"No setting {name!r}.{hint}")


def _parsed(name: str, value: Any) -> Any:
    """Return a value of the setting's kind, from such a value or from text. Raises InvalidRequestError."""
    import msgspec

    check_setting(name)
    if is_default(name, value):
        return getattr(Settings(), name)
    kind, optional = _kind(name)
    if optional and (value is None or (is_none(value) and value not in typing.get_args(kind))):
        return None
    if name == "base_url":
        checked_address(str(value))
    try:
        if name == "parameters":
            return _parameters(value)
        value_in_figures = _in_figures(value) if SETTINGS[name].tokens else value
        found = msgspec.convert(_plain(value_in_figures, kind, share=SETTINGS[name].share), kind, strict=False)
        if name == "compact_at":
            _check_room(found)
    except InvalidRequestError:
        raise
    except (msgspec.ValidationError, TypeError, ValueError):
        raise InvalidRequestError(f"{name} is {value!r}: it must be {wanted(name)}.") from None
    return found


def _check_room(size: float) -> None:
    """Raise ValueError for what is neither a share nor a number of tokens."""
    if not (size <= 1 or (size >= LEAST_TOKENS and size.is_integer())):
        raise ValueError


@cache
def _kind(name: str) -> tuple[Any, bool]:
    """Return a setting's type with its bounds, as msgspec takes it, and whether it may be ``None``."""
    import msgspec

    kind, *others = _alternatives(name)
    optional, bounds = type(None) in others, SETTINGS[name].bounds
    if not bounds:
        return kind, optional
    meta = msgspec.Meta(ge=bounds.get("ge"), gt=bounds.get("gt"), le=bounds.get("le"))  # type: ignore[call-overload]
    if typing.get_origin(kind) is tuple:
        return tuple[Annotated[float, meta], ...], optional
    return Annotated[kind, meta], optional


@cache
def _hints() -> dict[str, Any]:
    """Return the type of each setting, from the text of the annotations, which takes a while."""
    return typing.get_type_hints(Settings)


def _alternatives(name: str) -> tuple[Any, ...]:
    """Return a setting's types: that of its values, and ``None``'s where that may be."""
    kind = _hints()[name]
    return typing.get_args(kind) if typing.get_origin(kind) in (types.UnionType, typing.Union) else (kind,)


def _plain(value: Any, kind: Any, *, share: bool) -> Any:
    """Return text as msgspec reads it: figures without commas, percent as fractions, words in our spelling."""
    if not isinstance(value, str):
        return value
    if typing.get_origin(kind) is tuple:
        return [float(part.lstrip("$")) for part in value.replace(",", " ").split()]
    if typing.get_origin(kind) is Annotated:
        return _share(value) if share else float(value) if kind.__origin__ is float else value.replace(",", "")
    return SPELLINGS.get(value, value)


def _share(text: str) -> float:
    return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)


def _in_figures(value: Any) -> Any:
    """Return a number of tokens in plain figures: 128k and 128,000 are 128000."""
    if isinstance(value, str) and re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+", value.strip()):
        return value.replace(",", "")
    typed = re.fullmatch(r"(\d+|\d*\.\d+) ?([km])", value.strip().lower()) if isinstance(value, str) else None
    return str(round(float(typed[1]) * TOKEN_UNITS[typed[2]])) if typed else value


def is_none(value: Any) -> bool:
    """Return whether a text unsets a setting."""
    return isinstance(value, str) and value.lower() in NONE


def is_default(name: str, value: Any) -> bool:
    """Return whether a text puts a setting back to its default; a short name of a model that reads so is none."""
    if not isinstance(value, str) or value.lower() != DEFAULT:
        return False
    return name not in MODELS or model_of(value) == value


def _parameters(value: Any) -> Mapping[str, Any]:
    """Return parameters from a mapping, or from one or several texts NAME=VALUE, where VALUE may be JSON."""
    if isinstance(value, Mapping):
        parameters = dict(value)
    elif _takes_all_away(value):
        parameters = {}
    else:
        pairs = [pair.partition("=") for pair in ([value] if isinstance(value, str) else value)]
        for name, equals, text in pairs:
            if not (name.strip() and equals):
                raise InvalidRequestError(f"{name + equals + text!r} is not a parameter: write NAME=VALUE.")
        parameters = {name.strip(): _json(text) for name, _, text in pairs}
    return parameters


def _takes_all_away(value: Any) -> bool:
    """Return whether parameters, as a text or as a list of texts, are unset."""
    return is_none(value[0] if isinstance(value, list) and len(value) == 1 else value)


def _json(text: str) -> Any:
    """Return the value of a text that is JSON, else the text; raise InvalidRequestError for a broken object or list."""
    try:
        return json.loads(text)
    except ValueError:
        if text[:1] in ("{", "["):
            raise InvalidRequestError(f"{text} is not JSON: put quotes around all of it, 'name={{…}}'.") from None
        return text
