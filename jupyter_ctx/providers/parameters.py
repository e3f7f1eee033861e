"""What of a request a model takes: how much it thinks, as each service is told it; parameters, schemas and functions.

Few tables say which levels and parameters a model takes, and they change by the week. So all is sent as asked for, and
a refusal teaches what to leave out, or the nearest level that the model takes. A refusal is told by its own field for
the parameter, by its code, and by the class of its words. Ranges of values are not adapted to: a temperature of 3 is an
error for whoever gave it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from ..errors import InvalidRequestError
from .base import Request
from .error_mapping import Refusal
from .request_body import schema_text

NEEDED_FIELDS = frozenset((  # a request without these would be another one; schemas and lengths have ways of their own
    "model", "messages", "input", "contents", "stream", "system", "instructions", "system_instruction", "tools",
    "tool_choice", "max_tokens", "max_completion_tokens", "max_output_tokens", "response_format", "text", "format",
    "response_json_schema", "response_mime_type", "http_options",
))  # fmt: skip
TELLING = frozenset({"temperature", "thinking", "reasoning", "effort", "seed"})  # words that mean nothing else
CODES = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter"})
NOT_TAKEN = (
    r"(?i)unsupported|deprecated|unknown|unrecogni[sz]ed|unexpected|no longer|incompatible|\bremove\b|is invalid"
    r"|only (?:the default|works|enabled|supported|\S+ is (?:allowed|supported))|may only be|extra (?:inputs|fields)"
    r"|不支持|(?:n['o]t|cannot|never) (?:both )?(?:be |have )?"
    r"(?:support|permit|allow|accept|available|recogni[sz]e|valid|find|compatible|enabled|used\b|set\b|specified|take)"
)
OF_A_RANGE = r"(?i)\b(?:between|range|less than|greater than|at (?:least|most)|maximum|minimum)\b"
REFUSES_SCHEMA = (
    r"(?i)response.?format|output.?(?:config|format)|text\.format|schema|json.?mode|structured.?output|mime.?type"
    r"|grammar"
)
OF_A_PARAMETER = frozenset({400, 404, 422, 500, 501})  # llama.cpp fails with 500 on what it cannot make a grammar of
OF_TOOLS = r"(?i)\btools?\b|\bfunction[ _-]?call"
NO_TOOLS = (
    r"(?i)(?:\b(?:not|never|cannot)|n['o]t) (?:\w+ )?(?:support|permit|allow|accept|available|enabled|implement|take)"
    r"|unsupported|extra inputs|unrecogni[sz]ed|unknown|requires --|no endpoints? (?:found )?that support"
)
LEVELS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
CLAUDE_BUDGETS = {"low": 4_000, "medium": 12_000, "high": 20_000, "max": 32_000}  # tokens, of models before 4.6
GEMINI_BUDGETS = {"none": 0, "minimal": 512, "low": 4_096, "medium": 12_288, "high": 24_576}  # of models before 3
THINKING_SHOWN = frozenset({"summary", "display", "include_thoughts"})  # fields for what is shown of the thinking

# One way to say how much to think: the fields of a request that say each of the levels it has.
Form = Mapping[str, Mapping[str, Any]]

THINKING_OFF: Form = {"none": {"thinking": {"type": "disabled"}}}
ADAPTIVE = {"type": "adaptive", "display": "summarized"}
EFFORT_ALONE: Form = {level: {"reasoning_effort": level} for level in LEVELS}
SWITCH: Form = {
    **THINKING_OFF,
    **{level: {"thinking": {"type": "enabled"}, "reasoning_effort": level} for level in ("low", "high", "max")},
}
TEMPLATE: Form = {  # servers hand it to a model's template, which knows one of the names
    level: {
        "reasoning_effort": level,
        "chat_template_kwargs": {"enable_thinking": level != "none", "thinking": level != "none"},
    }
    for level in LEVELS
}
RESPONSES_FORMS: tuple[Form, ...] = (
    {level: {"reasoning": {"effort": level, "summary": None if level == "none" else "auto"}} for level in LEVELS},
)
CLAUDE_FORMS: tuple[Form, ...] = (
    {**THINKING_OFF, **{level: {"thinking": ADAPTIVE, "output_config": {"effort": level}} for level in LEVELS[2:]}},
    {
        **THINKING_OFF,
        **{level: {"thinking": {"type": "enabled", "budget_tokens": n}} for level, n in CLAUDE_BUDGETS.items()},
    },
)
GEMINI_FORMS: tuple[Form, ...] = (
    {level: {"thinking_config": {"thinking_level": level, "include_thoughts": True}} for level in LEVELS[1:5]},
    {
        level: {"thinking_config": {"thinking_budget": tokens, "include_thoughts": level != "none"}}
        for level, tokens in GEMINI_BUDGETS.items()
    },
)
OWN_SERVER_FORMS = (TEMPLATE, EFFORT_ALONE)
COMPATIBLE_FORMS: Mapping[str, tuple[Form, ...]] = {  # services with a form of their own for Chat Completions
    "openrouter": ({level: {"reasoning": {"effort": level}} for level in LEVELS[:-1]},),
    **dict.fromkeys(("deepseek", "moonshot", "zai"), (SWITCH, EFFORT_ALONE)),
}


class Effort(NamedTuple):
    """A level as it is sent."""

    level: str
    form: int  # its number
    fields: Mapping[str, Any]  # that say it

    def is_meant(self, name: str | None, words: str) -> bool:
        """Return whether a refusal that names a field, or none, is about how much the model thinks."""
        if name is None:
            return re.search(rf"(?i)\b(?:thinking|reasoning|effort)|['\"`]{self.level}['\"`]", words) is not None
        outer, *inner = name.split(".")
        return outer in self.fields and THINKING_SHOWN.isdisjoint(inner)


def effort_for(level: str | None, forms: Sequence[Form], refused: Collection[str]) -> Effort | None:
    """Return the nearest level that the model takes; ``None``: none is sent.

    ``refused``: names as :func:`refused_levels` returns them. Thinking is turned off only where that was asked for.
    """
    if level is None:
        return None
    for number, form in enumerate(forms):
        levels = [each for each in form if f"effort={each}" not in refused and (each != "none" or level == each)]
        if levels and f"effort/{number}" not in refused:
            nearest = min(levels, key=lambda each: (abs(LEVELS.index(each) - LEVELS.index(level)), -LEVELS.index(each)))
            return Effort(nearest, number, form[nearest])
    return None


def refused_levels(words: str, effort: Effort) -> set[str]:
    """Return what a refusal of a level teaches: all levels that it does not list, this level, or its form."""
    listed = set(re.findall(rf"['\"`]({'|'.join(LEVELS)})['\"`]", words)) - {effort.level}
    if listed:
        return {f"effort={level}" for level in LEVELS if level not in listed}
    values = re.findall(rf"\b(?:\d+|disabled|{'|'.join(LEVELS)})\b", str(effort.fields))
    if not set(values).isdisjoint(re.findall(r"\w+", words.lower())):
        return {f"effort={effort.level}"}
    return {f"effort/{effort.form}"}


@dataclass
class RefusedParameters:
    """What one endpoint does not take, as long as the process lives, and what was told of that.

    ``names``: dotted names of fields, such as ``reasoning.summary``, and those of :func:`refused_levels`.
    ``schemas``: texts of schemas of answers.
    """

    names: set[str] = field(default_factory=set)
    schemas: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)

    def learn(self, refusal: Refusal, request: Request, body: Mapping[str, Any], forms: Sequence[Form]) -> None:
        """Learn from a refusal which field, level of effort or schema the model does not take."""
        effort, name = effort_for(request.effort, forms, self.names), named_field(refusal, body)
        is_parameter = says_not_taken(refusal)
        if is_parameter and effort is not None and effort.is_meant(name, refusal.places):
            self.names |= refused_levels(refusal.places, effort)
        elif is_parameter and name is not None:
            self.names.add(name)
        elif request.schema is not None and re.search(REFUSES_SCHEMA, refusal.text):
            self.schemas.add(schema_text(request.schema))

    def untold(self, lines: Iterable[str]) -> tuple[str, ...]:
        """Return the lines that nobody was told before."""
        new = tuple([line for line in lines if line not in self.told])
        self.told.update(new)
        return new


@cache
def refused_at(endpoint: str) -> RefusedParameters:
    """Return what an endpoint does not take; all adapters for it share that."""
    del endpoint
    return RefusedParameters()


def says_not_taken(refusal: Refusal) -> bool:
    """Return whether a refusal says that the model does not take something, whatever its value."""
    is_coded = not CODES.isdisjoint(map(str, refusal.marks))
    return is_coded or (bool(re.search(NOT_TAKEN, refusal.places)) and not re.search(OF_A_RANGE, refusal.places))


def named_field(refusal: Refusal, body: Mapping[str, Any]) -> str | None:
    """Return the field of a body that a refusal names: in its own field for that, else the first in its words."""
    fields = {name: name.rpartition(".")[2] for name in _names(body)}
    stated = refusal.parameter.rpartition(".")[2]
    if stated in fields.values():
        return next(name for name, last in fields.items() if last == stated)
    found = {name: re.search(_pattern(last), refusal.places) for name, last in fields.items()}
    places = {name: match.start() for name, match in found.items() if match}
    return min(places, key=places.__getitem__, default=None)


def without(body: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return a body without the fields of these dotted names, and without objects that are empty then."""
    left = dict(body)
    for name in tuple(names):  # to which another thread may add
        outer, _, inner = name.partition(".")
        if not inner:
            left.pop(outer, None)
        elif isinstance(left.get(outer), Mapping):
            left[outer] = without(left[outer], (inner,))
            if not left[outer]:
                del left[outer]
    return left


def _names(body: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Yield the dotted names of the fields that may be left out, the inner ones first."""
    for name, value in body.items():
        inner = value if isinstance(value, Mapping) else {}
        if name not in NEEDED_FIELDS:
            yield from _names(inner, f"{before}{name}.")
            if NEEDED_FIELDS.isdisjoint(inner):
                yield f"{before}{name}"


def _pattern(name: str) -> str:
    """Return a pattern for a field in words: one that may be a usual word only in quotes or as a field."""
    spelled = name.replace("_", "[ _-]?")
    if "_" in name or name in TELLING:
        return rf"(?i)\b{spelled}(?![a-z0-9_])"
    return rf"(?i)(?:['\"`.]|parameter:? |argument:? ){spelled}\b|\b{spelled}: "


def no_tools(model: str, words: str = "") -> InvalidRequestError:
    """Return the error for a model that calls no functions."""
    said = f" ({words.rstrip('.')})" if words else ""
    return InvalidRequestError(f"{model} cannot call functions{said}: ask without --tool, or choose another model.")


def tools_error(refusal: Refusal, model: str) -> InvalidRequestError | None:
    """Return the error for a refusal of functions; ``None``: it is about something else."""
    if refusal.code not in OF_A_PARAMETER or refusal.overflow or refusal.is_unpaid:
        return None
    is_about_tools = re.search(OF_TOOLS, refusal.places) and re.search(NO_TOOLS, refusal.places)
    return no_tools(model, refusal.words) if is_about_tools else None
