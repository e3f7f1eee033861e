"""Every setting, declared once: for keywords of Chat, ``%chat config`` and IPython's ``c.Chat``.

To add a setting, add a field to :class:`Settings` with its type, default and :func:`setting`. From there have it: the
check of its values, ``%chat config``, Tab completion, ``help(Settings)`` and the book's reference. What is declared by
``keyword`` is no setting: few need it, and they give it to Chat, or to one request or command.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from numbers import Real
from types import NoneType
from typing import Annotated, Any, Literal, cast, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

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


def _number(value: Any, units: str = "") -> float:
    """Return a number, also from its text with one of the units: ``km`` for tokens, ``%`` for a share of the limit.

    A comma stands only where it groups the digits of tokens, as in 128,000: elsewhere ``1,5`` may mean 1.5.
    """
    if isinstance(value, str):
        text = value.strip().lower()
        if "k" in units and GROUPED_NUMBER.fullmatch(text):
            text = text.replace(",", "")
        typed = TYPED_NUMBER.fullmatch(text)
        if typed is None or typed[2] not in ("", *units):
            raise ValueError
        value = round(float(typed[1]) * NUMBER_UNITS[typed[2]], 9)
        if "k" in units and "." in typed[1] and not typed[2] and value > 1:
            raise ValueError  # 32.000 may mean 32,000
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError
    return float(value)


def _prices(value: Any) -> Any:
    """Return prices from a text, too: between whole numbers alone a comma may be a decimal one."""
    if not isinstance(value, str):
        return value
    if BARE_COMMAS.fullmatch(value.strip()):
        raise ValueError
    return [_number(each.lstrip("$")) for each in value.replace(",", " ").split()]


def _tools(value: Any) -> Any:
    """Return names of functions from a text, or from a list of names and functions."""
    names = value.replace(",", " ").split() if isinstance(value, str) else value or ()
    if not isinstance(names, list | tuple):
        raise ValueError
    return [*dict.fromkeys(getattr(each, "__name__", each) for each in names)]


def _parameters(value: Any) -> Any:
    """Return parameters from a mapping, or from one or several texts NAME=VALUE, where VALUE may be JSON."""
    texts = [value] if isinstance(value, str) else value or ()
    if not isinstance(texts, list | tuple):
        return value
    return {} if any(map(is_none, texts)) else dict(map(_parameter, texts))


def _parameter(typed: str) -> tuple[str, Any]:
    name, equals, text = typed.partition("=")
    if not (name.strip() and equals):
        raise InvalidRequestError(f"{typed!r} is not a parameter: write NAME=VALUE.")
    try:
        return name.strip(), json.loads(text)
    except ValueError:
        return name.strip(), text


# The types of settings: of a value, what it must be in words, what reads it from what was typed, and its bounds
_NUMBER, _TOKENS, _SHARE = (BeforeValidator(partial(_number, units=units)) for units in ("", "km", "%"))
Tokens = Annotated[int, "a whole number, 1 or more (128k is the same as 128,000)", _TOKENS, Field(ge=1)]
Count = Annotated[int, "a whole number, 0 or more", _NUMBER, Field(ge=0)]
Positive = Annotated[int, "a whole number, 1 or more", _NUMBER, Field(ge=1)]
Rounds = Annotated[int, "a whole number from 1 to 100", _NUMBER, Field(ge=1, le=100)]
Temperature = Annotated[float, "a number from 0 to 2", _NUMBER, Field(ge=0, le=2)]
Seconds = Annotated[float, "a number from 0.1 to 86,400", _NUMBER, Field(ge=0.1, le=86_400)]
Dollars = Annotated[float, "a number from 0 to 100,000", _NUMBER, Field(ge=0, le=100_000)]
Share = Annotated[float, "a share of the limit from 0.1 to 1 (80% is the same as 0.8)", _SHARE, Field(ge=0.1, le=1)]
AnyShare = Annotated[float, "a share of the limit from 0 to 1 (80% is the same as 0.8)", _SHARE, Field(ge=0, le=1)]
FewTokens = Annotated[int, f"a number of tokens from {LEAST_TOKENS} (16k)", _TOKENS, Field(ge=LEAST_TOKENS)]
PriceList = Annotated[
    tuple[float, ...], f"{PRICES_WANTED}, with decimal points (2.0,5.0, not 2,5)", BeforeValidator(_prices),
    AfterValidator(lambda prices: Prices.of(prices) and prices),
]  # fmt: skip
Parameters = Annotated[Mapping[str, Any], "NAME=VALUE, one or several, or none", BeforeValidator(_parameters)]
ToolNames = Annotated[tuple[str, ...], "names of functions, such as rows,lookup, or none", BeforeValidator(_tools)]
Model = Annotated[str, AfterValidator(model_of)]
ServerAddress = Annotated[str, BeforeValidator(lambda address: checked_address(str(address)))]
OnOverflow = Annotated[
    Literal["trim", "summarise", "stop"], BeforeValidator(lambda word: "summarise" if word == "summarize" else word)
]


def setting(about: About, default: Any, summary: str) -> Any:
    """Declare a field of :class:`Settings`."""
    return Field(default, description=summary, json_schema_extra={"about": about})


request, room, display, keyword = (partial(setting, about) for about in get_args(About))


class Settings(BaseModel):
    """How a conversation is held: keywords of :class:`~jupyter_ctx.Chat`, and of its methods for one request."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    model: Model = request(DEFAULT_MODEL, "provider/model, such as openai/gpt-6.2-sol; %chat use sets it too")
    system: str | None = request(None, "the system prompt; %%chat system sets it to a cell's text, @FILE reads a file")
    temperature: Temperature | None = request(None, "how random answers are; none: the provider's default")
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
    base_url: ServerAddress | None = request(None, "address of an OpenAI-compatible server; none: the provider's own")
    prices: PriceList | None = request(
        None, "IN,OUT,CACHED in US dollars per million tokens; 0,0: nothing is billed; none: looked up"
    )
    parameters: Parameters = request({}, "further parameters of a request, passed on as given; NAME=null drops one")
    cache_ttl: Literal["5m", "1h"] | None = keyword("5m", "how long Anthropic keeps a cached prompt")
    token_counting: Literal["auto", "approximate", "tiktoken", "provider"] = keyword(
        "auto", "auto: tiktoken where the vocabulary is public; provider: asked before each request"
    )
    on_overflow: OnOverflow = room(
        "trim", "when a prompt does not fit: leave out the oldest turns, summarise them, or send nothing"
    )
    compact_at: Share | FewTokens = room(
        1.0, "the share of the limit at which room is made, or tokens, such as 16k; 1.0: when a prompt does not fit"
    )
    min_turns: Count = room(1, "turns to keep when room is made, as long as they fit")
    max_turns: Positive | None = room(
        None, "most turns to send; above it, only the newest 0.6 of it are sent; none: no such limit"
    )
    budget_share: Share = room(1.0, "the share of the window's limit that a prompt may take")
    attach_share: AnyShare | None = room(
        None, "the share of the limit that each thing attached may take; none: a tenth, at most 8,000 tokens of data"
    )
    tools: ToolNames = request(
        (), "names of functions that the model may call, such as rows,lookup; none: no functions"
    )
    tool_rounds: Rounds = request(10, "most rounds of calls of functions for one prompt")
    cells: Literal["off", "on"] = room("off", "whether each prompt sends along the cells that ran since the last one")
    summary_model: Model | None = room(
        None, "the model that writes summaries; none: the chat's own, or your own lines for local models"
    )
    n_ctx: Tokens | None = keyword(
        None, "the context window of a local model as loaded, in tokens; none: as window; in a cell, -m local/NAME@N"
    )
    timeout: Seconds = keyword(600.0, "seconds that a server may be silent; in a notebook, %chat use MODEL --timeout N")
    confirm_cost: Dollars | None = request(
        1.0, "dollars above which a run asks first, as it does above 20 requests of unknown price; none: it never asks"
    )
    max_cost: Dollars | None = request(
        None, "most US dollars that the notebook may cost with all its conversations and runs; none: any amount"
    )
    gauge: Literal["auto", "on", "off"] = display(
        "auto", "whether figures stand below answers; auto: not in runs without a reader"
    )

    def changed(self, changes: Mapping[str, Any]) -> Settings:
        """Return settings with some set anew, as values or as text; another model drops what went with the old."""
        values = _read(changes)
        is_same_model = values.get("model", self.model) == self.model
        if not is_same_model:
            values = dict.fromkeys(MODEL_SETTINGS) | values
        stay = is_same_model and values.get("parameters") != {}  # which takes all away
        parameters = {**(self.parameters if stay else {}), **values.get("parameters", {})}
        values["parameters"] = {name: value for name, value in parameters.items() if value is not None}
        return self.model_copy(update=values).checked()

    def checked(self) -> Settings:
        """Return these settings. Raises InvalidRequestError where they contradict each other."""
        for name in map(str, _names(self.parameters)):
            instead = NO_PARAMETERS.get(name.lower().replace("_", ""))
            if instead is not None:
                raise InvalidRequestError(f"{name} cannot be set as a parameter: {instead}.")
        for name, value in self.parameters.items() if self.effort is not None else ():
            if OF_EFFORT.search(f"{name} {[*value] if isinstance(value, Mapping) else ''}"):
                raise InvalidRequestError(f"effort is {self.effort}, and {name} (--set) sets it, too: leave one out.")
        longest, window = self.max_tokens, self.window
        if window is not None and longest is not None and longest >= window:
            raise InvalidRequestError(
                f"max_tokens is {longest:,}, and the window only {window:,}: a prompt must fit too."
            )
        return self


KEYWORDS = Settings.model_fields
ABOUT: Mapping[str, About] = {name: cast(Any, each.json_schema_extra)["about"] for name, each in KEYWORDS.items()}
SETTING_NAMES = tuple(name for name, about in ABOUT.items() if about != "keyword")
HELP: Mapping[str, str] = {name: str(each.description) for name, each in KEYWORDS.items()}
_DEFAULTS = Settings()
_described = (f"{name}: {line} (default: {getattr(_DEFAULTS, name)!r})" for name, line in HELP.items())
Settings.__doc__ = "\n".join([f"{Settings.__doc__}", "", *_described])


def _read(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of settings from themselves or from what was typed. Raises InvalidRequestError."""
    given = dict[str, Any]()
    for name, value in changes.items():
        check_setting(name)
        is_unset = is_none(value) and value not in _words(name)
        given[name] = getattr(_DEFAULTS, name) if value == DEFAULT else None if is_unset else value
    try:
        settings = Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name, own = str(first["loc"][0]), first.get("ctx", {}).get("error")
        if isinstance(own, InvalidRequestError):
            raise own from None
        raise InvalidRequestError(f"{name} is {changes[name]!r}: it must be {wanted(name)}.") from None
    return {name: getattr(settings, name) for name in given}


def _names(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of parameters, and of those in an object that is more of the request's body."""
    for name, value in parameters.items():
        yield name
        if name in BODIES and isinstance(value, Mapping):
            yield from _names(value)


def _words(name: str) -> tuple[str, ...]:
    kind = KEYWORDS[name].annotation
    return next((get_args(each) for each in (kind, *get_args(kind)) if get_origin(each) is Literal), ())


def choices(name: str) -> tuple[str, ...]:
    """Return the words that a setting may be, where there are only so many."""
    words = _words(name)
    return (*words, "off") if words and NoneType in get_args(KEYWORDS[name].annotation) else words


def typed_value(value: Any, name: str = "") -> str:
    """Return a setting's value as it is typed; ``name``: the setting's, where ``none`` may be one of its values."""
    if value is None and name and "none" in choices(name):
        return "off"
    if isinstance(value, Mapping):
        return " ".join(f"{key}={json.dumps(each, default=str)}" for key, each in value.items()) or "none"
    if isinstance(value, tuple):
        return ",".join(each if isinstance(each, str) else f"{each:.15g}" for each in value) or "none"
    return "none" if value is None else str(value)


def wanted(name: str) -> str:
    """Return what a setting's value must be, in words."""
    if choices(name):
        return f"one of {', '.join(choices(name))}"
    kinds = get_args(KEYWORDS[name].annotation)
    declared = [*KEYWORDS[name].metadata, *(part for kind in kinds for part in getattr(kind, "__metadata__", ()))]
    words = " or ".join(each for each in declared if isinstance(each, str)) or "text"
    return f"{words}, or none" if NoneType in kinds else words


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


def check_setting(name: str, known: Collection[str] = KEYWORDS) -> None:
    """Raise InvalidRequestError for an unknown setting, with the nearest name."""
    if name not in known:
        hint = did_you_mean(name, known) or f" There are {', '.join(known)}."
        raise InvalidRequestError(f"No setting {name!r}.{hint}")


def is_none(value: Any) -> bool:
    """Return whether a text unsets a setting."""
    return isinstance(value, str) and value.lower() in NONE
