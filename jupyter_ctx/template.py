"""Filling ``{{ expressions }}`` into a prompt; everything else stays byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from .errors import InvalidRequestError

EXPRESSION = re.compile(r"(?<![{$\\])\{\{ ([^{}\n]*[^{}\s]) \}\}(?!\})")


class Filled(NamedTuple):
    """A prompt with its values, the expressions that stayed as typed, and what each other one became."""

    text: str
    unknown: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()


def fill(text: str, names: Mapping[str, Any], secrets: Iterable[str] = ()) -> Filled:
    """Fill in what ``names`` knows. Each expression is evaluated alone, in a sandbox.

    An unknown name or a syntax error stays as typed. Raises InvalidRequestError where an
    expression fails, or where its value holds one of ``secrets``.
    """
    unknown: dict[str, None] = {}
    values: list[tuple[str, str]] = []
    hidden = [secret for secret in secrets if secret]

    @cache
    def value(expression: str) -> str | None:
        try:
            found = _evaluated(expression, names)
        except _EvaluationError as error:
            said = str(error)
            for secret in hidden:
                said = said.replace(secret, "***")
            raise InvalidRequestError(f"{{{{ {expression} }}}} failed: {said}") from None
        if found is not None and any(secret in found for secret in hidden):
            raise InvalidRequestError(f"{{{{ {expression} }}}} holds a key: it is not sent.")
        return found

    def replaced(match: re.Match[str]) -> str:
        found = value(match.group(1))
        if found is None:
            unknown[match.group(1)] = None
            return match.group()
        values.append((match.group(1), found))
        return found

    return Filled(EXPRESSION.sub(replaced, text), tuple(unknown), tuple(values))


class _EvaluationError(Exception):
    """An expression that could not be evaluated, and why in one line."""


def _evaluated(expression: str, names: Mapping[str, Any]) -> str | None:
    """The value as text; ``None`` where the expression is not one we can fill in."""
    from jinja2 import TemplateSyntaxError, nodes

    try:
        tree = _environment().parse(f"{{{{ {expression} }}}}")
        wanted = {node.name for node in tree.find_all(nodes.Name)}
        if not wanted <= names.keys():
            return None
        compiled = _environment().compile_expression(expression, undefined_to_none=False)
        return str(compiled(**{name: names[name] for name in wanted}))
    except TemplateSyntaxError:
        return None
    except Exception as error:  # the user's own objects may raise anything
        raise _EvaluationError(" ".join(str(error).split())[:300] or type(error).__name__) from None


@cache
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
    environment.globals.clear()
    return environment
