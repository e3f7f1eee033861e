"""Notes on what a prompt sent as typed: why, and how to write it so that it is filled in."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .evaluation import expression_names, has_known_names, parse_expression
from .filling import EXPRESSION, REMEDY
from .limits import RefusedError

_UNSPACED = re.compile(r"(?<![\w{}$\\])\{\{ ?([^\s{}](?:[^{}\n]*[^\s{}])?) ?\}\}(?!\})")
_FORMATTED = re.compile(r"(?<![\w{}$\\])\{\{ ?[fF][rR]?(?:'[^'\n]*'|\"[^\"\n]*\") ?\}\}(?!\})")
_FORMAT = re.compile(r"([^:]+):,?\.(\d{1,2})f?")  # x:.2f, as in an f-string
_SIMPLE = re.compile(r"[\w.\[\]'\"]+")  # anything else needs brackets: a filter binds before every operator
_AS_FILTERS = {
    "len": "length", "sum": "sum", "min": "min", "max": "max", "abs": "abs", "round": "round", "sorted": "sort",
    "list": "list", "str": "string", "int": "int", "float": "float", "reversed": "reverse",
}  # fmt: skip
_MAX_HINTS = 3  # of each kind

_INVALID = ("it is not a valid expression", "they are not valid expressions")
_CALL = ("functions cannot be called in a prompt",) * 2
_NO_FILTER = ("there is no such filter or test",) * 2
_PARTLY = tuple(f"not all of {whose} names are defined in this notebook" for whose in ("its", "their"))
_UNDEFINED = tuple(f"{they} not name anything defined in this notebook" for they in ("it does", "they do"))


def notes(text: str, names: Mapping[str, Any], unknown: Iterable[str] = ()) -> tuple[str, ...]:
    """Return lines about the ``unknown`` expressions of a prompt and about text that is nearly an expression."""
    reasons: dict[tuple[str, ...], list[str]] = {}
    for expression in unknown:
        reasons.setdefault(_reasons(expression, names), []).append(f"{{{{ {expression} }}}}")
    lines = [
        f"{', '.join(found)} {'are' if len(found) > 1 else 'is'} sent as typed: {reason[len(found) > 1]}."
        for reason, found in reasons.items()
    ]
    return (*lines, *dict.fromkeys((*advice(unknown, names), *_hints(text, names))))


def undefined_names(expression: str, names: Mapping[str, Any]) -> list[str]:
    """Return the names in an expression that neither the notebook nor Python has."""
    try:
        tree = parse_expression(expression)
    except RefusedError:
        return []
    return [] if tree is None else sorted(expression_names(tree) - names.keys() - vars(builtins).keys())


def reason_unfilled(expression: str, names: Mapping[str, Any]) -> str:
    """Return why an expression cannot be filled in with these names."""
    return _reasons(expression, names)[0]


def _reasons(expression: str, names: Mapping[str, Any]) -> tuple[str, ...]:
    """Return why an expression stayed as typed, worded for one and for several."""
    tree = parse_expression(expression)
    if tree is None:
        return _INVALID
    used = expression_names(tree)
    missing = used - names.keys()
    if missing & vars(builtins).keys():
        return _CALL
    if not missing:
        return _NO_FILTER
    return _PARTLY if used - missing else _UNDEFINED


def advice(unknown: Iterable[str], names: Mapping[str, Any]) -> Iterator[str]:
    """Yield how to write ``unknown`` expressions that call a function of Python's or use a format code."""
    for expression in unknown:
        call, form = _builtin_call(expression), _FORMAT.fullmatch(expression)
        if call is not None:
            hint = _as_filter(call)
            works = hint is not None and _is_expression(hint, names)
            yield f"Write {{{{ {hint} }}}} instead: {call.func.id} is a filter in a prompt." if works else REMEDY
        elif form and _is_expression(hint := f"{_operand(form.group(1))}|round({form.group(2)})", names):
            yield f"Write {{{{ {hint} }}}} instead: format codes are not supported in a prompt."


def _hints(text: str, names: Mapping[str, Any]) -> Iterator[str]:
    near = [match for match in _UNSPACED.finditer(text) if not EXPRESSION.fullmatch(match.group())]
    for match in [match for match in near[:100] if _is_expression(match.group(1), names)][:_MAX_HINTS]:
        yield f"{match.group()} is sent as typed. To fill it in, put a space inside both braces: " + (
            f"{{{{ {match.group(1)} }}}}."
        )
    for match in list(_FORMATTED.finditer(text))[:_MAX_HINTS]:
        yield f"{match.group()} is sent as typed: f-strings are not supported in a prompt. {REMEDY}"


def _builtin_call(expression: str) -> Any:
    """Return Python's tree of a call of a built-in function, or ``None`` for any other expression."""
    try:
        call = ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError, Warning):
        return None
    named = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id)
    return call if named else None


def _as_filter(call: Any) -> str | None:
    """Return the filter that does what a call of a built-in function does, or ``None``."""
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
    """Return whether an expression would be filled in and reads at least one of the notebook's names."""
    try:
        tree = parse_expression(expression)
    except RefusedError:
        return False
    return tree is not None and bool(expression_names(tree)) and has_known_names(tree, names)
