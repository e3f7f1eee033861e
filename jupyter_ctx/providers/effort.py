"""How much a model thinks, as each service is told it.

Few tables say which levels a model takes, and they change by the week: the level is sent as asked for, and a refusal
teaches the nearest one that the model takes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

LEVELS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
EFFORT = "effort"  # what is refused where a model takes no level at all
BESIDE_THINKING = "+thinking"  # behind the name of a field that is refused only where the model thinks
THINKING_OFF = {"thinking": {"type": "disabled"}}
CLAUDE_BUDGETS = {"low": 4_000, "medium": 12_000, "high": 20_000, "max": 32_000}  # tokens, of models before 4.6
GEMINI_BUDGETS = {"none": 0, "minimal": 512, "low": 4_096, "medium": 12_288, "high": 24_576}  # of models before 3
THINKING_SHOWN = frozenset({"summary", "display", "include_thoughts"})  # fields for what is shown of the thinking


class Form(NamedTuple):
    """One way to say a level: the levels that it has, and the fields of a request that say one of them."""

    levels: Collection[str]
    fields: Callable[[str], Mapping[str, Any]]


def _claude(level: str) -> Mapping[str, Any]:
    adaptive = {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": level}}
    return THINKING_OFF if level == "none" else adaptive


def _older_claude(level: str) -> Mapping[str, Any]:
    if level == "none":
        return THINKING_OFF
    return {"thinking": {"type": "enabled", "budget_tokens": CLAUDE_BUDGETS[level]}}


def _gemini(level: str) -> Mapping[str, Any]:
    return {"thinking_config": {"thinking_level": level, "include_thoughts": True}}


def _older_gemini(level: str) -> Mapping[str, Any]:
    return {"thinking_config": {"thinking_budget": GEMINI_BUDGETS[level], "include_thoughts": level != "none"}}


def _switch(level: str) -> Mapping[str, Any]:
    return THINKING_OFF if level == "none" else {"thinking": {"type": "enabled"}, "reasoning_effort": level}


def _template(level: str) -> Mapping[str, Any]:
    """Return what servers hand to a model's template, which knows one of the two names."""
    thinks = level != "none"
    return {"reasoning_effort": level, "chat_template_kwargs": {"enable_thinking": thinks, "thinking": thinks}}


EFFORT_ALONE = Form(LEVELS, lambda level: {"reasoning_effort": level})
SWITCH = Form(("none", "low", "high", "max"), _switch)
RESPONSES_FORMS = (
    Form(LEVELS, lambda level: {"reasoning": {"effort": level, "summary": None if level == "none" else "auto"}}),
)
CLAUDE_FORMS = (Form(("none", *LEVELS[2:]), _claude), Form(("none", *CLAUDE_BUDGETS), _older_claude))
GEMINI_FORMS = (Form(LEVELS[1:5], _gemini), Form(GEMINI_BUDGETS, _older_gemini))
OWN_SERVER_FORMS = (Form(LEVELS, _template), EFFORT_ALONE)
COMPATIBLE_FORMS: Mapping[str, tuple[Form, ...]] = {  # services with a form of their own for Chat Completions
    "openrouter": (Form(LEVELS[:-1], lambda level: {"reasoning": {"effort": level}}),),
    **dict.fromkeys(("deepseek", "moonshot", "zai"), (SWITCH, EFFORT_ALONE)),
}


class Effort(NamedTuple):
    """A level as it is sent: the number of its form, and the fields that say it."""

    level: str
    form: int
    fields: Mapping[str, Any]

    def is_as_asked(self, level: str) -> bool:
        """Return whether this is the level that was asked for; ``xhigh`` is the most that some models have."""
        return self.level == level or (self.level, level) == ("xhigh", "max")

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
    if level is None or EFFORT in refused:
        return None
    for number, form in enumerate(forms):
        levels = [each for each in form.levels if f"effort={each}" not in refused and (each != "none" or level == each)]
        if levels and f"effort/{number}" not in refused:
            nearest = min(levels, key=lambda each: (abs(LEVELS.index(each) - LEVELS.index(level)), -LEVELS.index(each)))
            return Effort(nearest, number, form.fields(nearest))
    return None


def refused_levels(words: str, effort: Effort, forms: Sequence[Form]) -> set[str]:
    """Return what a refusal of a level teaches: all levels that it does not list, this level, its form, or effort."""
    listed = set(re.findall(rf"['\"`]({'|'.join(LEVELS)})['\"`]", words)) - {effort.level}
    if listed:
        return {f"effort={level}" for level in LEVELS if level not in listed}
    values = re.findall(rf"\b(?:\d+|disabled|{'|'.join(LEVELS)})\b", str(effort.fields))
    if not set(values).isdisjoint(re.findall(r"\w+", words.lower())):
        return {f"effort={effort.level}"}
    return {f"effort/{effort.form}"} if effort.form + 1 < len(forms) else {EFFORT}
