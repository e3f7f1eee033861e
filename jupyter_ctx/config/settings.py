"""Every setting, declared once: for keywords of Chat, ``%chat config`` and IPython's ``c.Chat``.

To add a setting, add a field to :class:`Settings` with its type, default and :func:`setting`. From there have it: the
check of its values, ``%chat config``, Tab completion, ``help(Settings)`` and the book's reference. What is declared by
``keyword`` is no setting: few need it, and they give it to Chat, or to one request or command.
"""

# ruff: noqa: RUF009  # a field that is declared by a function is a field

from __future__ import annotations

import json
import math
import os
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from numbers import Real
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
DEFAULT = "default"
NONE = frozenset({"none", DEFAULT, "off"})
_SENT = ("model", "messages", "input", "contents", "stream", "system", "instructions")
NO_PARAMETERS = {  # names without underscores, and what to do instead; a cap on the cost or a lock would not see them
    **dict.fromkeys(_SENT, "%%chat sends its own"),
    **dict.fromkeys(("maxtokens", "maxcompletiontokens", "maxoutputtokens"), "the setting max_tokens does that"),
    **dict.fromkeys(("n", "bestof", "candidatecount"), "-n N (several answers) does that"),
    "temperature": "the setting temperature (-t N) does that",
}
OF_EFFORT = re.compile("effort|think", re.I)  # in the names of parameters
BODIES = frozenset({"http_options", "extra_body", "generationConfig"})  # more of the request's body
LEAST_TOKENS = 256  # that compact_at may be: a figure from 0.1 to 1 is a share of the limit
NUMBER_UNITS = {"": 1, "%": 0.01, "k": 1_000, "m": 1_000_000}
TYPED_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)) ?([km%]?)")
BARE_COMMAS = re.compile(r"(?=.*[1-9])\d+(?:,\d+)+")  # between prices, or decimal ones
GROUPED_NUMBER = re.compile(r"[1-9]\d{0,2}(,\d{3})+")
# what a setting decides; room: when and how room is made; keyword: it is none, but a keyword argument
About = Literal["request", "room", "display", "keyword"]


class Number(NamedTuple):
    """The bounds of a number, and the units it may be typed with: ``km`` for tokens, ``%`` for a share of the limit."""

    least: float = 0
    most: float = math.inf
    units: str = ""


Tokens = Annotated[int, Number(1, units="km")]
SHARE = Number(0.1, 1, "%")
Dollars = Annotated[float, Number(0, 100_000)]
NUMBER_WORDS = {int: "a whole number", float: "a number"}
UNIT_WORDS = {"%": "80% is the same as 0.8", "k": "128k is the same as 128,000"}
WANTED = {  # of what a number or a text must be, where its type does not say it
    "compact_at": f"a share of the limit from 0.1 to 1, or a number of tokens from {LEAST_TOKENS}",
    "parameters": "NAME=VALUE, one or several, or none",
    "tools": "names of functions, such as rows,lookup, or none",
    "prices": f"{PRICES_WANTED}, with decimal points (2.0,5.0, not 2,5)",
}


class Setting(NamedTuple):
    """What is declared of a setting."""

    about: About
    help: str  # one line for the user
    kind: Any  # of its value, which is a number within bounds or one of some words where these are declared
    number: Number | None
    words: tuple[str, ...]
    is_optional: bool  # whether it may be ``None``


def setting(about: About, default: Any, summary: str) -> Any:
    """Declare a field of :class:`Settings`."""
    given: dict[str, Any] = {"default_factory": dict} if default == {} else {"default": default}
    return field(**given, metadata={"about": about, "summary": summary})


request, room, display, keyword = (partial(setting, about) for about in typing.get_args(About))


@dataclass(frozen=True, slots=True)
class Settings:
    """How a conversation is held: keywords of :class:`~jupyter_ctx.Chat`, and of its methods for one request."""

    model: str = request(DEFAULT_MODEL, "provider/model, such as openai/gpt-6.2-sol; %chat use sets it too")
    system: str | None = request(None, "the system prompt; %%chat system sets it to a cell's text, @FILE reads a file")
    temperature: Annotated[float, Number(0, 2)] | None = request(
        None, "how random answers are; none: the provider's default"
    )
    effort: Literal["none", "minimal", "low", "medium", "high", "max"] | None = request(
        None, "how much the model thinks before it answers; none: not at all; off: the provider's default"
    )
    certainty: Literal["on", "off"] = keyword(
        "off", "whether an answer tells how likely each of its tokens was; in a cell, --certainty"
    )
    max_tokens: Tokens | None = request(
        None, "longest reply, in tokens; none: a part of the window is kept free for the reply"
    )
    window: Tokens | None = request(
        None, "the model's context window in tokens, prompt and reply together; none: looked up"
    )
    base_url: str | None = request(None, "address of an OpenAI-compatible server; none: the provider's own")
    prices: tuple[float, ...] | None = request(
        None, "IN,OUT,CACHED in US dollars per million tokens; 0,0: nothing is billed; none: looked up"
    )
    parameters: Mapping[str, Any] = request(
        {}, "further parameters of a request, passed on as given; NAME=null drops one"
    )
    cache_ttl: Literal["5m", "1h"] | None = keyword("5m", "how long Anthropic keeps a cached prompt")
    token_counting: Literal["auto", "approximate", "tiktoken", "provider"] = keyword(
        "auto", "auto: tiktoken where the vocabulary is public; provider: asked before each request"
    )
    on_overflow: Literal["trim", "summarise", "stop"] = room(
        "trim", "when a prompt does not fit: leave out the oldest turns, summarise them, or send nothing"
    )
    compact_at: Annotated[float, Number(0.1, units="%km")] = room(
        1.0, "the share of the limit at which room is made, or tokens, such as 16k; 1.0: when a prompt does not fit"
    )
    min_turns: Annotated[int, Number()] = room(1, "turns to keep when room is made, as long as they fit")
    max_turns: Annotated[int, Number(1)] | None = room(
        None, "most turns to send; above it, only the newest 0.6 of it are sent; none: no such limit"
    )
    budget_share: Annotated[float, SHARE] = room(1.0, "the share of the window's limit that a prompt may take")
    attach_share: Annotated[float, Number(0, 1, "%")] | None = room(
        None, "the share of the limit that each thing attached may take; none: a tenth, at most 8,000 tokens of data"
    )
    tools: tuple[str, ...] = request(
        (), "names of functions that the model may call, such as rows,lookup; none: no functions"
    )
    tool_rounds: Annotated[int, Number(1, 100)] = request(10, "most rounds of calls of functions for one prompt")
    cells: Literal["off", "on"] = room("off", "whether each prompt sends along the cells that ran since the last one")
    summary_model: str | None = room(
        None, "the model that writes summaries; none: the chat's own, or your own lines for local models"
    )
    n_ctx: Tokens | None = keyword(
        None, "the context window of a local model as loaded, in tokens; none: as window; in a cell, -m local/NAME@N"
    )
    timeout: Annotated[float, Number(0.1, 86_400)] = keyword(
        600.0, "seconds that a server may be silent; in a notebook, %chat use MODEL --timeout N"
    )
    confirm_cost: Dollars | None = request(
        1.0, "dollars above which a run asks first, as it does above 20 requests of unknown price; none: it never asks"
    )
    max_cost: Dollars | None = request(
        None, "most US dollars that the notebook may cost with all its conversations and runs; none: any amount"
    )
    gauge: Literal["auto", "on", "off"] = display(
        "auto", "whether figures stand below answers; auto: not in runs without a reader"
    )

    def __post_init__(self) -> None:
        for name in map(str, _names(self.parameters)):
            instead = NO_PARAMETERS.get(name.lower().replace("_", ""))
            if instead is not None:
                raise InvalidRequestError(f"{name} cannot be set as a parameter: {instead}.")
        for name, value in self.parameters.items() if self.effort is not None else ():
            if OF_EFFORT.search(f"{name} {[*value] if isinstance(value, Mapping) else ''}"):
                raise InvalidRequestError(f"effort is {self.effort}, and {name} (--set) sets it, too: leave one out.")
        if self.window is not None and self.max_tokens is not None and self.max_tokens >= self.window:
            raise InvalidRequestError(
                f"max_tokens is {self.max_tokens:,}, and the window only {self.window:,}: a prompt must fit too."
            )

    def changed(self, changes: Mapping[str, Any]) -> Settings:
        """Return settings with some set anew, as values or as text; another model drops what went with the old."""
        values = {name: _read(name, value) for name, value in changes.items()}
        is_same_model = values.get("model", self.model) == self.model
        if not is_same_model:
            values = dict.fromkeys(MODEL_SETTINGS) | values
        stay = is_same_model and values.get("parameters") != {}  # which takes all away
        parameters = {**(self.parameters if stay else {}), **values.get("parameters", {})}
        values["parameters"] = {name: value for name, value in parameters.items() if value is not None}
        return replace(self, **values)


def _names(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of parameters, and of those in an object that is more of the request's body."""
    for name, value in parameters.items():
        yield name
        if name in BODIES and isinstance(value, Mapping):
            yield from _names(value)


def _declared(hint: Any, about: About, summary: str) -> Setting:
    """Return what a field's annotation says of its values, with what is declared beside it."""
    is_optional = type(None) in typing.get_args(hint)
    kind = typing.get_args(hint)[0] if is_optional else hint
    number = kind.__metadata__[0] if typing.get_origin(kind) is Annotated else None
    words = typing.get_args(kind) if typing.get_origin(kind) is Literal else ()
    return Setting(about, summary, kind.__origin__ if number else kind, number, words, is_optional)


_hints = typing.get_type_hints(Settings, include_extras=True)
KEYWORDS = {each.name: _declared(_hints[each.name], **each.metadata) for each in fields(Settings)}
SETTINGS = {name: each for name, each in KEYWORDS.items() if each.about != "keyword"}
SETTING_NAMES = tuple(SETTINGS)
HELP: Mapping[str, str] = {name: each.help for name, each in KEYWORDS.items()}
_DEFAULTS = Settings()
_described = (f"{name}: {line} (default: {getattr(_DEFAULTS, name)!r})" for name, line in HELP.items())
Settings.__doc__ = "\n".join([f"{Settings.__doc__}", "", *_described])


def choices(name: str) -> tuple[str, ...]:
    """Return the words that a setting may be, where there are only so many."""
    declared = KEYWORDS[name]
    return (*declared.words, "off") if declared.words and declared.is_optional else declared.words


def typed_value(value: Any, name: str = "") -> str:
    """Return a setting's value as it is typed; ``name``: the setting's, where ``none`` may be one of its values."""
    if value is None and name and "none" in choices(name):
        return "off"
    if isinstance(value, Mapping):
        return " ".join(f"{key}={json.dumps(each, default=str)}" for key, each in value.items()) or "none"
    if isinstance(value, tuple) and all(isinstance(each, str) for each in value):
        return ",".join(value) or "none"
    if isinstance(value, tuple):
        return ", ".join(f"{each:.15g}" for each in value)
    return "none" if value is None else str(value)


def wanted(name: str) -> str:
    """Return what a setting's value must be, in words."""
    declared, number = KEYWORDS[name], KEYWORDS[name].number
    if declared.words:
        return f"one of {', '.join(choices(name))}"
    words = WANTED.get(name, "text")
    if number is not None and name not in WANTED:
        words = "a share of the limit" if number.units == "%" else NUMBER_WORDS[declared.kind]
        bounds = f", {number.least:g} or more", f" from {number.least:g} to {number.most:,g}"
        words += bounds[number.most < math.inf]
    same = [line for unit, line in UNIT_WORDS.items() if number is not None and unit in number.units]
    words += f" ({', '.join(same)})" if same else ""
    return f"{words}, or none" if declared.is_optional else words


def default_settings(config: Mapping[str, Any], given: Mapping[str, Any]) -> Settings:
    """Return settings: those given, else IPython's configuration, else the environment, else the defaults."""
    given = {name: value for name, value in given.items() if value is not None}
    model, address = (os.environ.get(name, "").strip() for name in (MODEL_VARIABLE, ADDRESS_VARIABLE))
    begun = {"model": model or DEFAULT_MODEL}
    if model and address and not {"model", "base_url"} & {*config, *given}:
        begun["base_url"] = checked_address(address, ADDRESS_VARIABLE)
    return _DEFAULTS.changed(begun).changed(config).changed(given)


def kept_settings(begun: Settings, now: Settings) -> dict[str, Any]:
    """Return the settings changed since the start, without parameters, which may hold a key."""
    changed = {name for name in KEYWORDS if getattr(now, name) != getattr(begun, name)} - {"parameters"}
    address = {"model", *MODEL_SETTINGS}  # all or nothing: half of it would send a conversation to somebody else
    changed |= address if changed & address else set()
    return {name: getattr(now, name) for name in KEYWORDS if name in changed}


def restored_settings(settings: Settings, kept: Mapping[str, Any]) -> Settings:
    """Return settings with those kept before a restart, or unchanged if a kept one is not valid any more."""
    try:
        return settings.changed({name: kept[name] for name in KEYWORDS if name in kept})
    except InvalidRequestError:
        return settings


def check_setting(name: str) -> None:
    """Raise InvalidRequestError for an unknown setting, with the nearest name."""
    if name not in KEYWORDS:
        hint = did_you_mean(name, KEYWORDS) or f" There are {', '.join(KEYWORDS)}."
        raise InvalidRequestError(f"No setting {name!r}.{hint}")


def check_kept(name: str) -> None:
    """Raise InvalidRequestError for what is no setting, with the nearest name or what to do instead."""
    check_setting(name)
    if name not in SETTINGS:
        raise InvalidRequestError(f"{name} is not a setting, but a keyword of Chat and its methods: {HELP[name]}.")


def is_none(value: Any) -> bool:
    """Return whether a text unsets a setting."""
    return isinstance(value, str) and value.lower() in NONE


def _read(name: str, value: Any) -> Any:
    """Return a setting's value from itself or its text. Raises InvalidRequestError."""
    check_setting(name)
    if value == DEFAULT:
        return getattr(_DEFAULTS, name)
    declared = KEYWORDS[name]
    if declared.is_optional and (value is None or (is_none(value) and value not in declared.words)):
        return None
    try:
        return READERS[name](value) if name in READERS else _plain_value(value, declared)
    except InvalidRequestError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise InvalidRequestError(f"{name} is {value!r}: it must be {wanted(name)}.") from None


def _plain_value(value: Any, declared: Setting) -> Any:
    if declared.number is not None:
        figure = _number(value, declared.number)
        if declared.kind is int and figure != int(figure):
            raise ValueError
        return declared.kind(figure)
    word = "summarise" if declared.words and value == "summarize" else value
    if not isinstance(word, str) or (declared.words and word not in declared.words):
        raise ValueError
    return word


def _number(value: Any, allowed: Number) -> float:
    """Return a number, also from its text with a unit.

    A comma stands only where it groups the digits of tokens, as in 128,000: elsewhere ``1,5`` may mean 1.5.
    """
    if isinstance(value, str):
        text = value.strip().lower()
        if "k" in allowed.units and GROUPED_NUMBER.fullmatch(text):
            text = text.replace(",", "")
        typed = TYPED_NUMBER.fullmatch(text)
        if typed is None or typed[2] not in ("", *allowed.units):
            raise ValueError
        value = round(float(typed[1]) * NUMBER_UNITS[typed[2]], 9)
        if "k" in allowed.units and "." in typed[1] and not typed[2] and value > 1:
            raise ValueError  # 32.000 may mean 32,000
    if isinstance(value, bool) or not isinstance(value, Real) or not allowed.least <= float(value) <= allowed.most:
        raise ValueError
    return float(value)


def _room(value: Any) -> float:
    """Return when room is made: a share of the limit, or a whole number of tokens."""
    is_percent = isinstance(value, str) and value.endswith("%")
    size = _number(value, SHARE if is_percent else Number(0.1, units="km"))
    if size > 1 and (size < LEAST_TOKENS or not size.is_integer()):
        raise ValueError
    return size if size <= 1 else int(size)


def _prices(value: Any) -> tuple[float, ...]:
    """Return prices from a sequence, or from a text: between whole numbers alone a comma may be a decimal one."""
    if isinstance(value, str) and BARE_COMMAS.fullmatch(value.strip()):
        raise ValueError
    figures = value.replace(",", " ").split() if isinstance(value, str) else value
    prices = tuple(_number(each.lstrip("$") if isinstance(each, str) else each, Number()) for each in figures)
    Prices.of(prices)
    return prices


def _tools(value: Any) -> tuple[str, ...]:
    """Return names of functions from a text, or from a list of names and functions."""
    if value is None or is_none(value):
        return ()
    names = value.replace(",", " ").split() if isinstance(value, str) else [*value]
    if not all(isinstance(each, str) or hasattr(each, "__name__") for each in names):
        raise ValueError
    return tuple(dict.fromkeys(each if isinstance(each, str) else each.__name__ for each in names))


def _parameters(value: Any) -> Mapping[str, Any]:
    """Return parameters from a mapping, or from one or several texts NAME=VALUE, where VALUE may be JSON."""
    if isinstance(value, Mapping):
        return dict(value)
    texts = [value] if isinstance(value, str) else [*value]
    return {} if any(map(is_none, texts)) else dict(map(_parameter, texts))


def _parameter(typed: str) -> tuple[str, Any]:
    name, equals, text = typed.partition("=")
    if not (name.strip() and equals):
        raise InvalidRequestError(f"{typed!r} is not a parameter: write NAME=VALUE.")
    try:
        return name.strip(), json.loads(text)
    except ValueError:
        return name.strip(), text


READERS: Mapping[str, Callable[[Any], Any]] = {
    "base_url": lambda value: checked_address(str(value)),
    "compact_at": _room,
    "model": model_of,
    "parameters": _parameters,
    "prices": _prices,
    "summary_model": model_of,
    "tools": _tools,
}
