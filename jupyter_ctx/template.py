"""Filling ``{{ expressions }}`` into a prompt; everything else stays byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from .errors import InvalidRequestError

EXPRESSION = re.compile(r"(?<![{$\\])\{\{ ([^{}\n]*[^{}\s]) \}\}(?!\})")


@dataclass(frozen=True, slots=True)
class Filled:
    """A prompt with its values, and the expressions that stayed as typed."""

    text: str
    unknown: tuple[str, ...] = ()


def fill(text: str, names: Mapping[str, Any], secrets: Iterable[str] = ()) -> Filled:
    """Fill in what ``names`` knows. Each expression is evaluated alone, in a sandbox.

    An unknown name or a syntax error stays as typed. Raises InvalidRequestError where an
    expression fails, or where its value holds one of ``secrets``.
    """
    unknown: dict[str, None] = {}

    def value(match: re.Match[str]) -> str:
        expression = match.group(1)
        found = _evaluated(expression, names)
        if found is None:
            unknown[expression] = None
            return match.group()
        if any(secret in found for secret in secrets):
            raise InvalidRequestError(f"{{{{ {expression} }}}} holds a key: it is not sent.")
        return found

    return Filled(EXPRESSION.sub(value, text), tuple(unknown))


def _evaluated(expression: str, names: Mapping[str, Any]) -> str | None:
    """The value as text; ``None`` where the expression is not one we can fill in."""
    from jinja2 import TemplateSyntaxError, meta

    try:
        wanted = meta.find_undeclared_variables(_environment().parse(f"{{{{ {expression} }}}}"))
        compiled = _environment().compile_expression(expression, undefined_to_none=False)
    except TemplateSyntaxError:
        return None
    if not all(name in names for name in wanted):
        return None
    try:
        return str(compiled(**{name: names[name] for name in wanted}))
    except Exception as error:  # the user's own objects may raise anything
        said = str(error) or type(error).__name__
        raise InvalidRequestError(f"{{{{ {expression} }}}} failed: {said}") from None


@cache
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
    environment.globals.clear()
    return environment
