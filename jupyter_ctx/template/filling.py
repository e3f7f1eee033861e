"""Fill ``{{ expressions }}`` into a prompt, and leave everything else byte for byte as typed.

A prompt is text, often pasted from elsewhere, so an expression reads data and runs no code:

- ``evaluation`` walks the tree of Jinja's parser and refuses every kind of node that is not listed.
- ``value_reading`` reads attributes, members and text without running code of the notebook's own classes, and
  copies values into built-in types for ``operations`` and ``filters``.
- ``array_reading`` does the same for NumPy, pandas and Polars.
- ``limits`` bounds time, memory and length in advance; ``runtime.redaction`` keeps API keys and passwords out.
- ``hints`` tells the user how to write what was nearly an expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

from ..errors import InvalidRequestError
from ..runtime.redaction import Redactor
from .evaluation import Evaluation, has_known_names, parse_expression
from .limits import Allowance, KeyFoundError, RefusedError
from .value_reading import Reader

EXPRESSION = re.compile(r"(?<![{$\\])\{\{ ([^{}\n]*[^{}\s]) \}\}(?!\})")
ValueT = TypeVar("ValueT")
MAX_REPEATED = 100  # characters of an expression in a remedy
REMEDY = "Compute it in a cell and fill in the name: {{ name }}."


class Filled(NamedTuple):
    """A prompt after filling: its text, the expressions left as typed, and (expression, value) for each other."""

    text: str
    unknown: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()


Evaluate = Callable[[], str | None]
Instead = Callable[[str, Evaluate], str | None]


def fill(
    text: str, names: Mapping[str, Any], secrets: Iterable[str] = (), instead: Instead | None = None
) -> Filled:  # fmt: skip
    """Return the prompt ``text`` with the values of its expressions, each evaluated on its own.

    ``instead`` may find the text of an expression in another way; it is given how to evaluate it.

    An expression with an unknown name or a syntax error stays as typed. Raises InvalidRequestError when
    an expression fails or is refused, and when its value contains a key: one of ``secrets``, one from the
    environment, or text shaped like a key.
    """
    unknown: dict[str, None] = {}
    values: list[tuple[str, str]] = []
    redactor, allowance = Redactor(secrets), Allowance()

    @cache
    def value(expression: str) -> str | None:
        allowance.renew()
        return _evaluated(expression, names, Reader(allowance, redactor), redactor, instead)

    def replaced(match: re.Match[str]) -> str:
        found = value(match.group(1))
        if found is None:
            unknown[match.group(1)] = None
            return match.group()
        values.append((match.group(1), found))
        return found

    return Filled(EXPRESSION.sub(replaced, text), tuple(unknown), tuple(values))


def _evaluated(
    expression: str, names: Mapping[str, Any], reader: Reader, redactor: Redactor, instead: Instead | None
) -> str | None:
    """Return the expression's value as text, or ``None`` when it stays as typed."""

    def value() -> str | None:
        tree = parse_expression(expression)
        if tree is None or not has_known_names(tree, names):
            return None
        return reader.text(Evaluation(reader, names).value(tree))

    return in_expression(expression, value if instead is None else lambda: instead(expression, value), redactor)


def _remedy(expression: str) -> str:
    """Return how to write an expression in Python, where it may be Python."""
    if len(expression) > MAX_REPEATED or "|" in expression:
        return REMEDY
    return f"Compute it in a cell, value = {expression}, and fill in the name: {{{{ value }}}}."


def in_expression(expression: str, compute: Callable[[], ValueT], redactor: Redactor) -> ValueT:
    """Return what a function computes for an expression. Raises InvalidRequestError, naming it, when that fails."""
    try:
        return compute()
    except KeyFoundError:
        problem = "holds a key or a password, so the prompt was not sent. Fill in a value without it."
    except RefusedError as error:
        problem = f"failed: {error}. {_remedy(expression)}"
    except Exception as error:  # an operation on plain data, such as a division by zero
        problem = f"failed: {' '.join(str(error).split())[:300] or type(error).__name__}"
    shown = "".join(
        letter if letter.isprintable() else "�" for letter in redactor.masked(f"{{{{ {expression} }}}} {problem}")
    )
    raise InvalidRequestError(shown)
