"""Fill ``{{ expressions }}`` into a prompt, and leave everything else byte for byte as typed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from functools import cache
from itertools import chain, islice
from typing import Any

from ..errors import InvalidRequestError
from ..runtime.redaction import BLANKED, Redactor, classify_secret_name
from ..wording import SLIP_SIMILARITY, did_you_mean, visible
from .expressions import NO_PYTHON, Expression, RefusedError

EXPRESSION = re.compile(r"(?<![{$\\])\{\{ ([^{}\n]*[^{}\s]) \}\}(?!\})")
UNSPACED = re.compile(r"(?<![\w{}$\\])\{\{ ?([^\s{}](?:[^{}\n]*[^\s{}])?) ?\}\}(?!\})")
NAMED_WORD = re.compile(r"[\w-]+")  # a name, an attribute or a key of an expression
ONLY_A_CLASS = re.compile(r"<[\w.]+ object>|Figure\(\d+x\d+\)")
MOST_LOOKED_AT = 1_000  # parts of a value
MOST_REPEATED = 300  # characters of another's error, and of the line with a key
LEAST_SHOWN = 8  # characters of a value that its text shows at least, if it shows it
HOW_AS_TYPED = "--raw sends the braces as typed. Nothing was sent."


def fill(
    text: str, names: Mapping[str, Any], redactor: Redactor, tell: Callable[[str], object] = lambda _: None
) -> str:
    """Return a prompt with the values of its expressions; what was filled in is not filled in again.

    ``tell`` is called with each expression before it is read.

    Raises InvalidRequestError for an expression that names nothing here, cannot be read, is refused or fails, and for
    one whose value holds a key.
    """

    @cache
    def value(typed: str) -> str:
        tell(typed)
        try:
            return _evaluated(typed, names, redactor)
        except Exception as error:
            raise expression_error(typed, error, redactor) from None

    return EXPRESSION.sub(lambda match: value(match[1]), text)


def _evaluated(typed: str, names: Mapping[str, Any], redactor: Redactor) -> str:
    """Return an expression's value as text. Raises InvalidRequestError, RefusedError, and whatever reading raises."""
    expression = Expression.of(typed)
    unknown = [] if expression.problem else expression.unknown(names)
    if unknown:
        near = did_you_mean(unknown[0], [each for each in names if each[:1] != "_"], similarity=SLIP_SIMILARITY)
        problem = f"nothing in this notebook is named {unknown[0]}.{near}"
        raise InvalidRequestError(f"{{{{ {typed} }}}}: {problem} {HOW_AS_TYPED}")
    value = expression.value(names)
    text = expression.written(value)
    if redactor.contains_secret(text):
        raise key_error(typed, text, redactor)
    if ONLY_A_CLASS.fullmatch(text):
        raise RefusedError(f"its text is only {text}, and -a on the first line sends what it shows")
    read = [value, *(names[name] for name in expression.names if name in names)]
    for name, member in (*_members(NAMED_WORD.findall(typed), value), *chain(*map(_members_of, read))):
        if redactor.is_secret(name, member) and str(member)[:LEAST_SHOWN] in text:
            raise _key_found(typed, f"under {name}")
    return text


def key_error(typed: str, text: str, redactor: Redactor) -> InvalidRequestError:
    """Return the error for an expression whose text holds a key."""
    line = next((each for each in redactor.masked(text).splitlines() if BLANKED in each), BLANKED)
    return _key_found(typed, f"in {line.strip()[:MOST_REPEATED]}")


def _key_found(typed: str, where: str) -> InvalidRequestError:
    there = "" if where == f"in {BLANKED}" else f" ({where})"
    return InvalidRequestError(
        f"{{{{ {typed} }}}} holds a key or a password{there}: fill in a value without it; in a chat cell, "
        "--no-redact sends it. Nothing was sent."
    )


def _members_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield what a mapping has under keys that are named like secrets, and a frame in such columns."""
    names = value if isinstance(value, Mapping) else value.columns if hasattr(type(value), "columns") else ()
    for name in filter(classify_secret_name, islice(names, MOST_LOOKED_AT)):
        yield from _members([name], value[name])


def _members(names: Iterable[Any], part: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the members of a part, or the part alone, under each of these names that is one of a secret."""
    is_many = isinstance(part, Sized) and isinstance(part, Iterable) and not isinstance(part, str | bytes)
    for name in filter(classify_secret_name, names):
        yield from ((name, member) for member in (islice(part, MOST_LOOKED_AT) if is_many else (part,)))


def expression_error(
    typed: str, error: Exception, redactor: Redactor, as_typed: str = HOW_AS_TYPED
) -> InvalidRequestError:
    """Return an error of an expression as one that names it; ``as_typed`` says how it is sent as typed."""
    if isinstance(error, InvalidRequestError):
        problem = str(error)
    elif isinstance(error, RefusedError):
        reason = str(error) if str(error).endswith("?") else f"{error}."
        problem = f"{{{{ {typed} }}}} cannot be filled in: {reason}{_remedy(typed)} {as_typed}"
    else:
        message = " ".join(str(error).split())[:MOST_REPEATED]
        failure = ": ".join(filter(None, (type(error).__name__, message)))
        problem = f"{{{{ {typed} }}}} failed: {failure}. {as_typed}"
    return InvalidRequestError(visible(redactor.masked(problem)))


def _remedy(typed: str) -> str:
    """Return how to write in Python what a prompt may not call; nothing for what is no Python, or calls nothing."""
    expression = Expression.of(typed)
    can_be_computed = expression.problem != NO_PYTHON and "(" in typed
    return f" Compute it in a cell, value = {expression.source}, and write {{{{ value }}}}." if can_be_computed else ""


def unspaced(text: str, names: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each ``{{x}}`` that was likely meant as an expression, and is sent as typed."""
    for typed, inner in dict.fromkeys([match.group(0, 1) for match in UNSPACED.finditer(text)]):
        expression = None if EXPRESSION.fullmatch(typed) else Expression.of(inner)
        if expression and expression.names and not expression.unknown(names):
            yield f"{typed} is sent as typed. To fill it in, put a space inside both braces: {{{{ {inner} }}}}."


def expressions_in(text: str) -> Iterator[str | Expression]:
    """Yield the text between the expressions of a prompt, and the expressions."""
    for number, part in enumerate(EXPRESSION.split(text)):
        if number % 2:  # every second one is an expression
            yield Expression.of(part)
        elif part:
            yield part
