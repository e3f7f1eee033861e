"""An expression of a prompt: Python, as an f-string has it, that looks and does not act.

A prompt may be pasted from anywhere, so an expression is checked before it is evaluated, and what it reads while it is:
it reads names, attributes and items, calculates, compares, and calls the functions and methods listed here. It reaches
no module, class, function, private name or file. What the user's own objects do when they are read is theirs.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time, timedelta
from functools import lru_cache, partial
from numbers import Number
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ..conversation.text_safety import lasting
from ..wording import SLIP_SIMILARITY, did_you_mean
from .methods import ACTING, LIBRARIES, METHODS, NAMED_METHODS, OF_ANYTHING, TEXTS, WRITTEN_TO

MOST_FILLED_IN = 4_000_000  # characters of a value's text
NO_PYTHON = "it is not a valid Python expression"

NODES = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Store, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple,
    ast.List, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.keyword, ast.ListComp,
    ast.GeneratorExp, ast.comprehension, ast.Starred, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip
PLAIN = (str, bytes, Number, Mapping, Set, Sequence, date, time, timedelta)  # types of Python's own
NO_DATA = {
    ModuleType: "a module",
    type: "a class",
    **dict.fromkeys((FunctionType, BuiltinFunctionType, MethodType, partial), "a function"),
    type(os.environ): "the environment",
}
OUTPUTS = re.compile(r"_{1,3}|_i?\d+")  # of cells, as IPython names them
READ_PART, READ_ITEM, MAKE_SLICE, CALL = "__part", "__item", "__slice", "__call"  # no prompt has these names


class RefusedError(Exception):
    """An expression does what a prompt may not do; the message says what."""


FUNCTIONS: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        abs, all, any, ascii, bin, bool, chr, complex, dict, divmod, enumerate, float, format, frozenset, hex, int,
        len, list, map, max, min, oct, ord, range, repr, reversed, round, set, slice, sorted, str, sum, tuple, zip,
    )
}  # fmt: skip
HARMLESS = frozenset(map(id, FUNCTIONS.values()))  # as arguments: sorted(words, key=len), df.astype(str)


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that was parsed and checked.

    text: as it was typed, without its braces
    source, spec: what is evaluated, and how its value is written, as in ``x:.2f``
    reads: the names that it reads, without those of its own loops, each with the member that is read of it, as in
        ``name.x`` and ``name['x']``, or an empty text: it is read in another way
    problem: why it is refused; empty: it is not
    code: the tree compiled, with everything that it reads and calls looked at; ``None``: it is refused
    """

    text: str
    source: str = ""
    spec: str = ""
    reads: frozenset[tuple[str, str]] = frozenset()
    problem: str = NO_PYTHON
    code: CodeType | None = None

    @classmethod
    @lru_cache(256)
    def of(cls, text: str) -> Expression:
        """Parse and check an expression with its format."""
        colons = [at for at, letter in enumerate(text) if letter == ":"]
        for end in (len(text), *colons):  # a format may begin behind each colon
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                source = text[:end].strip()
                tree = ast.parse(source, mode="eval")
                nodes = list(ast.walk(tree))
                reads, problem = _reads(nodes), next(filter(None, map(_problem, nodes)), "")
                guarded = ast.fix_missing_locations(_Guarded().visit(tree))  # which changes the nodes
                code = None if problem else compile(guarded, "<prompt>", "eval")
                return cls(text, source, text[end + 1 :], reads, problem, code)
        return cls(text)

    @property
    def names(self) -> frozenset[str]:
        """The names that the expression reads."""
        return frozenset([name for name, _ in self.reads])

    def unknown(self, names: Mapping[str, Any]) -> list[str]:
        """Return the names that neither the notebook nor the listed functions have."""
        return sorted(self.names - names.keys() - FUNCTIONS.keys())

    def value(self, names: Mapping[str, Any]) -> Any:
        """Return the value. Raises RefusedError, and what reading and calculating raise."""
        if self.code is None:
            raise RefusedError(self.problem)
        own = {name: _data(names[name], name) for name in self.names if name in names}
        return _data(eval(self.code, {**_SCOPE, **own}), "this")  # only listed nodes, and no name but these

    def written(self, value: Any) -> str:
        """Return a value as text, without what a restart changes. Raises RefusedError for one that is too long."""
        text = format(_in_order(value), self.spec)
        if len(text) > MOST_FILLED_IN:
            raise RefusedError(
                f"it has {len(text):,} characters, and {MOST_FILLED_IN:,} at most are sent: fill in a part of it"
            )
        return text if isinstance(value, str) else lasting(text)


def _in_order(value: Any) -> Any:
    """Return the text of a set with its members in order, so that equal sets look alike; any other value as it is."""
    if type(value) not in (set, frozenset) or not value:
        return value
    members = f"{{{', '.join(sorted(map(repr, value)))}}}"
    return members if type(value) is set else f"frozenset({members})"


def _reads(nodes: Sequence[ast.AST]) -> frozenset[tuple[str, str]]:
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    parts = [node for node in nodes if isinstance(node, ast.Attribute | ast.Subscript) and node not in called]
    members: dict[ast.AST, str] = {node.value: _member(node) for node in parts}
    return frozenset([(node.id, members.get(node, "")) for node in names if node.id not in own])


def _member(node: ast.Attribute | ast.Subscript) -> str:
    key = node.attr if isinstance(node, ast.Attribute) else getattr(node.slice, "value", None)
    return key if isinstance(key, str) else ""


def _problem(node: ast.AST) -> str:
    """Return why an expression with this node is refused; empty: it is not."""
    if not isinstance(node, NODES) or getattr(node, "is_async", False):
        return f"a prompt cannot contain a {type(node).__name__}"
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name.startswith("_"):
            is_output = isinstance(node, ast.Name) and OUTPUTS.fullmatch(name)
            return "" if is_output else f"{name} is a private name"
        case ast.Call(func=ast.Name(id=name)):
            return "" if name in FUNCTIONS else f"{name}() is not called in a prompt"
        case ast.Call(func=ast.Attribute(attr=name)) if name in METHODS:
            keywords = {each.arg for each in node.keywords}
            acts = (name in TEXTS and node.args) or keywords & WRITTEN_TO
            return "a prompt takes no **keywords" if None in keywords else f"{name}() would write here" if acts else ""
        case ast.Call(func=called):
            name = getattr(called, "attr", "this")
            near = did_you_mean(name, METHODS, "{}()", SLIP_SIMILARITY)
            return f"{name}() is not called in a prompt.{near}".rstrip(".")
    return ""


class _Guarded(ast.NodeTransformer):
    """Lets what an expression reads and calls pass through the functions below."""

    def visit(self, node: ast.AST) -> Any:
        self.generic_visit(node)
        match node:
            case ast.Attribute(value=value, attr=name):
                return _through(READ_PART, value, ast.Constant(name))
            case ast.Subscript(value=value, slice=key):
                return _through(READ_ITEM, value, key)
            case ast.Slice(lower=lower, upper=upper, step=step):
                return _through(MAKE_SLICE, *(each or ast.Constant(None) for each in (lower, upper, step)))
            case ast.Call(func=ast.Call(args=method), args=given, keywords=keywords):  # an attribute, read above
                return ast.Call(ast.Name(CALL, ast.Load()), [*method, *given], keywords)
            case ast.Call(func=function, args=given, keywords=keywords):
                return ast.Call(ast.Name(CALL, ast.Load()), [ast.Constant(None), function, *given], keywords)
        return node


def _through(function: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(function, ast.Load()), list(arguments), [])


def described(value: Any) -> str:
    """Return what a value is that is no data, in words for a message; an empty text for data."""
    kind = type(value)  # not isinstance, which may run the value's code
    is_iterator = hasattr(kind, "__next__") and not hasattr(kind, "agg")  # groups of old versions of Polars are, too
    words = (words for each, words in NO_DATA.items() if issubclass(kind, each))
    return next(words, "an iterator, which reading would use up" if is_iterator else "")


def module_of(kind: type) -> str:
    """Return the top-level package of a class, which tells what comes from a library without importing it."""
    return str(kind.__module__).partition(".")[0]


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the shape of an array or a table; empty for any other value."""
    shape = getattr(value, "shape", ())
    return shape if isinstance(shape, tuple) else ()


def _data(value: Any, name: str) -> Any:
    """Return a value that was read. Raises RefusedError where it is no data."""
    kind = described(value)
    if kind:
        raise RefusedError(f"only data can be filled in, and {name} is {kind}")
    return value


def _part(value: Any, name: str) -> Any:
    return _data(getattr(_data(value, "this"), name), name)


def _item(value: Any, key: Any) -> Any:
    _check_given(key)  # pandas calls it
    return _data(value[key], "this item")


def _call(value: Any, called: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Call a function, or the method ``called`` of a value. Raises RefusedError where that could act."""
    given = [*arguments, *keywords.values()]
    _check_given(given)
    if not isinstance(called, str):
        _check_given(called)  # the notebook may have the name of a listed function
        return called(*arguments, **keywords)
    if not _only_looks(_data(value, "this"), called):
        raise RefusedError(f"{called}() of a {type(value).__name__} is not called in a prompt")
    if _is_of(value, {"numpy"}) and any(hasattr(each, "__array_interface__") for each in _leaves(arguments[1:])):
        raise RefusedError(f"{called}() would write into an array")
    if called in NAMED_METHODS:
        _check_names(value, [*arguments[3:], keywords.get("aggfunc")] if called == "pivot_table" else given)
    return getattr(value, called)(*arguments, **keywords)


def _check_given(values: Any) -> None:
    if any(callable(each) and id(each) not in HARMLESS for each in _leaves(values)):
        raise RefusedError("a prompt calls no functions of the notebook's")


def _leaves(value: Any) -> Iterator[Any]:
    """Yield what a collection has in it at any depth; any other value itself."""
    members = value.values() if isinstance(value, dict) else value
    if not isinstance(value, dict | list | tuple | set | frozenset):
        yield value
        return
    for each in members:
        yield from _leaves(each)


def _only_looks(value: Any, method: str) -> bool:
    """Return whether a value's method of this name looks, and does not act."""
    if method in ACTING:
        return _is_of(value, ACTING[method])
    return method in OF_ANYTHING or isinstance(value, PLAIN) or _is_of(value, LIBRARIES)


def _is_of(value: Any, libraries: Set[str]) -> bool:
    return any(module_of(base) in libraries for base in type(value).__mro__)


def _check_names(value: Any, given: Any) -> None:
    """Refuse names of methods, and of functions of NumPy, that pandas would call and that are not listed."""
    owners = (type(value), sys.modules.get("numpy"))
    for name in _leaves(given):
        is_called = isinstance(name, str) and any(hasattr(each, name) for each in owners)
        if is_called and (name not in METHODS or name.startswith("to_")):
            raise RefusedError(f"{name}() is not called in a prompt")


_SCOPE: dict[str, Any] = {
    **FUNCTIONS,
    "__builtins__": {}, READ_PART: _part, READ_ITEM: _item, MAKE_SLICE: slice, CALL: _call,
}  # fmt: skip
