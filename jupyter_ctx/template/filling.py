"""Fill ``{{ expressions }}`` into a prompt, and leave everything else byte for byte as typed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from ..errors import InvalidRequestError
from ..runtime.redaction import Redactor
from ..runtime.secret_texts import kind_of
from ..wording import SLIP_SIMILARITY, did_you_mean
from .expressions import NO_PYTHON, Expression, RefusedError

EXPRESSION = re.compile(r"(?<![{$\\])\{\{ ([^{}\n]*[^{}\s]) \}\}(?!\})")
UNSPACED = re.compile(r"(?<![\w{}$\\])\{\{ ?([^\s{}](?:[^{}\n]*[^\s{}])?) ?\}\}(?!\})")
MOST_LOOKED_AT = 1_000  # of a value that are looked at
MOST_REPEATED = 100  # characters of an expression in a remedy
MOST_SAID = 300  # characters of another's error
HOW_AS_TYPED = "--raw sends the braces as typed. Nothing was sent."

Evaluate = Callable[[], str]
Instead = Callable[[str, Evaluate], str]


class KeyFoundError(Exception):
    """A value holds a key or a password."""


class Filled(NamedTuple):
    """A prompt after filling: its text, and (expression, value) for each expression, in order."""

    text: str
    values: tuple[tuple[str, str], ...] = ()


def fill(
    text: str,
    names: Mapping[str, Any],
    redactor: Redactor,
    instead: Instead | None = None,
    lasting: Callable[[str], str] = str,
) -> Filled:
    """Return a prompt with the values of its expressions; what was filled in is not filled in again.

    ``lasting`` is as for :meth:`Expression.written`. ``instead`` may find the text of an expression in another way; it
    is given how to evaluate it.

    Raises InvalidRequestError for an expression that names nothing here, cannot be read, is refused or fails, and for
    one whose value holds a key.
    """
    values: list[tuple[str, str]] = []

    @cache
    def value(typed: str) -> str:
        evaluate = lambda: evaluated(Expression.of(typed), names, redactor, lasting)  # noqa: E731
        compute = evaluate if instead is None else lambda: instead(typed, evaluate)
        return in_expression(typed, compute, redactor)

    def replaced(match: re.Match[str]) -> str:
        values.append((match[1], value(match[1])))
        return values[-1][1]

    return Filled(EXPRESSION.sub(replaced, text), tuple(values))


def evaluated(
    expression: Expression, names: Mapping[str, Any], redactor: Redactor, lasting: Callable[[str], str]
) -> str:  # fmt: skip
    """Return an expression's value as text. Raises InvalidRequestError, KeyFoundError, and whatever reading raises."""
    unknown = [] if expression.problem else expression.unknown(names)
    if unknown:
        raise InvalidRequestError(_nothing_named(expression, unknown[0], names))
    value = expression.value(names)
    text = expression.written(value, lasting)
    if redactor.hold(text) or _is_named_like_a_secret(expression, value, redactor):
        raise KeyFoundError
    return text


def _is_named_like_a_secret(expression: Expression, value: Any, redactor: Redactor) -> bool:
    """Return whether a value, or a part of it, is secret for the name that it stands under."""
    named = [(word, value) for word in expression.words if kind_of(word)]
    parts = [(name, part) for name, part in _named_parts(value) if kind_of(name)]
    return any(redactor.is_secret(name, each) for name, part in (*named, *parts) for each in _members(part))


def _named_parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield what a mapping, a frame or a column has, by name: of a frame its columns and labelled rows."""
    library, kind = type(value).__module__.partition(".")[0], type(value)
    if isinstance(value, Mapping) or library == "pandas":
        yield from islice(getattr(value, "items", tuple)(), MOST_LOOKED_AT)
    if library == "pandas" and hasattr(kind, "iterrows"):
        yield from ((label, value.loc[label]) for label in value.index[:MOST_LOOKED_AT] if kind_of(label))
    if library == "polars" and hasattr(kind, "columns"):
        yield from ((name, value[name]) for name in value.columns)


def _members(part: Any) -> Iterable[Any]:
    """Return the texts and numbers that a column or a list has; a text alone."""
    if isinstance(part, str | bytes):
        return (part,)
    is_listed = isinstance(part, list | tuple | set) or hasattr(type(part), "to_list") or hasattr(type(part), "tolist")
    return islice(part, MOST_LOOKED_AT) if is_listed and hasattr(type(part), "__len__") else ()


def _nothing_named(expression: Expression, name: str, names: Mapping[str, Any]) -> str:
    near = did_you_mean(name, [each for each in names if each[:1] != "_"], similarity=SLIP_SIMILARITY)
    return f"{{{{ {expression.text} }}}}: nothing in this notebook is named {name}.{near} {HOW_AS_TYPED}"


def in_expression(typed: str, compute: Callable[[], str], redactor: Redactor, otherwise: str = HOW_AS_TYPED) -> str:
    """Return the text that a function computes for an expression.

    Raises InvalidRequestError that names the expression; ``otherwise`` says how it is sent as typed.
    """
    try:
        return compute()
    except InvalidRequestError as error:
        problem = str(error)
    except KeyFoundError:
        problem = f"{{{{ {typed} }}}} holds a key or a password, so nothing was sent. Fill in a value without it."
    except RefusedError as error:
        problem = f"{{{{ {typed} }}}} cannot be filled in: {_sentence(str(error))}{_remedy(typed)} {otherwise}"
    except Exception as error:
        said = " ".join(str(error).split())[:MOST_SAID]
        hint = "".join(getattr(error, "__notes__", ()))
        failure = ": ".join(filter(None, (type(error).__name__, said)))
        problem = f"{{{{ {typed} }}}} failed: {failure}.{hint} {otherwise}"
    masked = redactor.masked(problem)
    raise InvalidRequestError("".join(letter if letter.isprintable() else "�" for letter in masked))


def _sentence(text: str) -> str:
    return text if text.endswith("?") else f"{text}."


def _remedy(typed: str) -> str:
    """Return how to write in Python what a prompt may not have; nothing for what is no Python."""
    if Expression.of(typed).problem == NO_PYTHON:
        return ""
    value = typed if len(typed) <= MOST_REPEATED else "…"
    return f" Compute it in a cell, value = {value}, and write {{{{ value }}}}."


def unspaced(text: str, names: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each ``{{x}}`` that was likely meant as an expression, and is sent as typed."""
    for typed, inner in dict.fromkeys([match.group(0, 1) for match in UNSPACED.finditer(text)]):
        expression = None if EXPRESSION.fullmatch(typed) else Expression.of(inner)
        if expression and expression.names and not expression.unknown(names):
            yield f"{typed} is sent as typed. To fill it in, put a space inside both braces: {{{{ {inner} }}}}."


def expressions_in(text: str) -> Iterable[str | Expression]:
    """Yield the text between the expressions of a prompt, and the expressions."""
    end = 0
    for match in EXPRESSION.finditer(text):
        if match.start() > end:
            yield text[end : match.start()]
        yield Expression.of(match[1])
        end = match.end()
    if end < len(text):
        yield text[end:]
