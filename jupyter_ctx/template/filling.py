"""Filling ``{{ expressions }}`` into a prompt; everything else stays byte for byte.

A prompt is text, and often pasted from elsewhere. So an expression reads data and runs nothing:

- ``evaluation`` walks the tree that Jinja's parser makes of it; parts that are not listed are refused.
- ``values`` reads attributes, members and text without running code of the notebook's own objects, and
  makes the copies in built-in types that ``operators``, ``filters`` and ``methods`` work on.
- ``arrays`` has the same for NumPy, pandas and Polars.
- ``limits`` bounds time, memory and length beforehand, and ``keys`` keeps keys out.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from ..errors import InvalidRequestError
from .evaluation import Evaluation, expression_names, filters_of, is_known, parse_expression
from .filters import FILTERS, TESTS
from .keys import KeyFoundError, Keys
from .limits import Allowance, RefusedError
from .values import Reader

EXPRESSION = re.compile(r"(?<![{$\\])\{\{ ([^{}\n]*[^{}\s]) \}\}(?!\})")
REMEDY = "Compute it in a cell and fill in the name: {{ name }}."
_UNSPACED = re.compile(r"(?<![\w{}$\\])\{\{ ?([^\s{}](?:[^{}\n]*[^\s{}])?) ?\}\}(?!\})")
_FORMATTED = re.compile(r"(?<![\w{}$\\])\{\{ ?[fF][rR]?(?:'[^'\n]*'|\"[^\"\n]*\") ?\}\}(?!\})")
_PLACES = re.compile(r"([^:]+):,?\.(\d{1,2})f?")  # of a float, as an f-string has them
_SIMPLE = re.compile(r"[\w.\[\]'\"]+")  # a filter binds before every operator
_AS_FILTERS = {
    "len": "length", "sum": "sum", "min": "min", "max": "max", "abs": "abs", "round": "round", "sorted": "sort",
    "list": "list", "str": "string", "int": "int", "float": "float", "repr": "pprint", "reversed": "reverse",
}  # fmt: skip
_HINTS = 3  # lines about text that was nearly an expression


class Filled(NamedTuple):
    """A prompt with its values, the expressions that stayed as typed, and what each other one became."""

    text: str
    unknown: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()


def fill(text: str, names: Mapping[str, Any], secrets: Iterable[str] = ()) -> Filled:
    """Fill in what ``names`` knows. Each expression is evaluated alone, and reads data only.

    An unknown name or a syntax error stays as typed. Raises InvalidRequestError where an expression
    fails or does what a prompt may not do, and where its value holds a key: one of ``secrets``, one
    of the environment, or what looks like one.
    """
    unknown: dict[str, None] = {}
    values: list[tuple[str, str]] = []
    keys, allowance = Keys(secrets), Allowance()

    @cache
    def value(expression: str) -> str | None:
        allowance.renew()
        return _evaluated(expression, names, Reader(allowance, keys), keys)

    def replaced(match: re.Match[str]) -> str:
        found = value(match.group(1))
        if found is None:
            unknown[match.group(1)] = None
            return match.group()
        values.append((match.group(1), found))
        return found

    return Filled(EXPRESSION.sub(replaced, text), tuple(unknown), tuple(values))


def _evaluated(expression: str, names: Mapping[str, Any], reader: Reader, keys: Keys) -> str | None:
    """The value as text; ``None`` where the expression is not one we can fill in."""
    try:
        tree = parse_expression(expression)
        if tree is None or not _is_known(tree, names):
            return None
        return reader.text(Evaluation(reader, names).value(tree))
    except KeyFoundError:
        problem = "holds a key: it is not sent."
    except RefusedError as error:
        problem = f"failed: {error}. {REMEDY}"
    except Exception as error:  # an operation on plain data, such as a division by zero
        problem = f"failed: {' '.join(str(error).split())[:300] or type(error).__name__}"
    shown = "".join(
        letter if letter.isprintable() else "�" for letter in keys.masked(f"{{{{ {expression} }}}} {problem}")
    )
    raise InvalidRequestError(shown)


def _is_known(tree: Any, names: Mapping[str, Any]) -> bool:
    """Whether all names are the notebook's, and all filters and tests are Jinja's."""
    return expression_names(tree) <= names.keys() and all(
        name in FILTERS or name in TESTS or is_known(name) for name in filters_of(tree)
    )


def notes(text: str, names: Mapping[str, Any], unknown: Iterable[str] = ()) -> tuple[str, ...]:
    """Lines about what was sent as typed: ``unknown`` expressions of a prompt, and what is nearly one."""
    reasons: dict[str, list[str]] = {}
    for expression in unknown:
        reasons.setdefault(_why_typed(expression, names), []).append(f"{{{{ {expression} }}}}")
    lines = [f"Sent as typed, because {why}: {', '.join(found)}" for why, found in reasons.items()]
    return (*lines, *dict.fromkeys(_hints(text, names, unknown)))


def _why_typed(expression: str, names: Mapping[str, Any]) -> str:
    tree = parse_expression(expression)
    if tree is None:
        return "it is no expression"
    missing = expression_names(tree) - names.keys()
    if missing & vars(builtins).keys():
        return "functions are not called in a prompt"
    if not missing:
        return "there is no such filter"
    return (
        "this notebook has not all of its names"
        if expression_names(tree) - missing
        else ("it names nothing that this notebook has")
    )


def _hints(text: str, names: Mapping[str, Any], unknown: Iterable[str]) -> Iterator[str]:
    for expression in unknown:
        call, places = _call_of(expression), _PLACES.fullmatch(expression)
        if call is not None:
            hint = _as_filter(call)
            filled = hint is not None and _is_expression(hint, names)
            yield f"{call.func.id}(…) is a filter in a prompt: {{{{ {hint} }}}} is filled in." if filled else REMEDY
        elif places and _is_expression(hint := f"{_operand(places.group(1))}|round({places.group(2)})", names):
            yield f"A format is not read in a prompt: {{{{ {hint} }}}} is filled in."
    near = [match for match in _UNSPACED.finditer(text) if not EXPRESSION.fullmatch(match.group())]
    for match in [match for match in near[:100] if _is_expression(match.group(1), names)][:_HINTS]:
        spaced = f"{{{{ {match.group(1)} }}}}"
        yield f"Sent as typed: {match.group()}. With a space inside both braces it is filled in: {spaced}."
    for match in list(_FORMATTED.finditer(text))[:_HINTS]:
        yield f"Sent as typed: {match.group()}. Braces in an expression are not read. {REMEDY}"


def _call_of(expression: str) -> Any:
    """The call of a built-in function that an expression is, as Python's tree, or ``None``."""
    try:
        call = ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError, Warning):
        return None
    named = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id)
    return call if named else None


def _as_filter(call: Any) -> str | None:
    """How a prompt says what a call of a built-in function says in a cell."""
    name, arguments = _AS_FILTERS.get(call.func.id), list(map(ast.unparse, call.args))
    if name is None or not arguments:
        return None
    if name in ("min", "max") and len(arguments) > 1:
        arguments = [f"[{', '.join(arguments)}]"]
    more = ", ".join([*arguments[1:], *(f"{word.arg}={ast.unparse(word.value)}" for word in call.keywords)])
    return f"{_operand(arguments[0])}|{name}" + (f"({more})" if more else "")


def _operand(text: str) -> str:
    return text if _SIMPLE.fullmatch(text) or text.startswith("[") else f"({text})"


def _is_expression(expression: str, names: Mapping[str, Any]) -> bool:
    try:
        tree = parse_expression(expression)
    except RefusedError:
        return False
    return tree is not None and bool(expression_names(tree)) and _is_known(tree, names)
