"""Fill ``{{ expressions }}`` into a prompt, and leave everything else byte for byte as typed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from functools import cache
from itertools import chain, islice
from typing import Any

from ..errors import InvalidRequestError
from ..runtime.redaction import Redactor
from ..runtime.secret_texts import BLANKED, classify_secret_name
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
        return in_expression(typed, lambda: _evaluated(typed, names, redactor), redactor)

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
    text = without_key(typed, expression.written(value), redactor)
    if ONLY_A_CLASS.fullmatch(text):
        raise RefusedError(f"its text is only {text}, and -a on the first line sends what it shows")
    for name, member in _named_members(typed, value):
        if redactor.is_secret(name, member) and str(member)[:LEAST_SHOWN] in text:
            raise _key_found(typed, f"under {name}")
    return text


def without_key(typed: str, text: str, redactor: Redactor) -> str:
    """Return the text of an expression's value. Raises InvalidRequestError where it holds a key."""
    if redactor.contains_secret(text):
        line = next((each for each in redactor.masked(text).splitlines() if BLANKED in each), BLANKED)
        raise _key_found(typed, f"in {line.strip()[:MOST_REPEATED]}")
    return text


def _key_found(typed: str, where: str) -> InvalidRequestError:
    return InvalidRequestError(
        f"{{{{ {typed} }}}} holds a key or a password ({where}): fill in a value without it; in a chat cell, "
        "--no-redact sends it. Nothing was sent."
    )


def _named_members(typed: str, value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield what stands in a value under names of secrets: words of the expression, keys, and names of columns."""
    names = value if isinstance(value, Mapping) else value.columns if hasattr(type(value), "columns") else ()
    columns = ((name, value[name]) for name in islice(names, MOST_LOOKED_AT))
    for name, part in chain(((word, value) for word in NAMED_WORD.findall(typed)), columns):
        if classify_secret_name(name):
            is_many = isinstance(part, Sized) and isinstance(part, Iterable) and not isinstance(part, str | bytes)
            yield from ((name, member) for member in (islice(part, MOST_LOOKED_AT) if is_many else (part,)))


def in_expression(typed: str, compute: Callable[[], str], redactor: Redactor, as_typed: str = HOW_AS_TYPED) -> str:
    """Return the text that a function computes for an expression.

    Raises InvalidRequestError that names the expression; ``as_typed`` says how it is sent as typed.
    """
    try:
        return compute()
    except InvalidRequestError as error:
        problem = str(error)
    except RefusedError as error:
        reason = str(error) if str(error).endswith("?") else f"{error}."
        problem = f"{{{{ {typed} }}}} cannot be filled in: {reason}{_remedy(typed)} {as_typed}"
    except Exception as error:
        message = " ".join(str(error).split())[:MOST_REPEATED]
        failure = ": ".join(filter(None, (type(error).__name__, message)))
        problem = f"{{{{ {typed} }}}} failed: {failure}. {as_typed}"
    raise InvalidRequestError(visible(redactor.masked(problem)))


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
