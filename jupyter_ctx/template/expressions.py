"""An expression of a prompt: Python, as an f-string has it, that looks and does not act.

A prompt may be pasted from anywhere, so an expression is checked before it is evaluated, and what it reads while it is:
it reads names, attributes and items, calculates, compares, and calls the functions and methods listed here. It reaches
no module, class, function, private name or file. What the user's own objects do when they are read is theirs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from numbers import Number
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ..wording import SLIP_SIMILARITY, did_you_mean

MOST_FILLED_IN = 4_000_000  # of a value's text, and items of a collection that an expression makes
MOST_TYPED = 2_000  # characters of one expression
MOST_EXPONENT = 64  # in x ** 64: larger powers of whole numbers take for ever
NO_PYTHON = "it is no expression of Python's"
MOST_WIDTH = 10_000  # of a format such as x:>80

NODES = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Store, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple,
    ast.List, ast.Dict, ast.Set, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.keyword,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Starred, ast.operator,
    ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


METHODS = _words("""
    all cat copy filter first get join limit replace reverse select sort time

    capitalize casefold decode encode endswith find index isalpha isdigit isnumeric len lower lstrip removeprefix
    removesuffix rindex rsplit rstrip split splitlines startswith strip swapcase title upper zfill

    count difference intersection issubset items json keys most_common symmetric_difference union values

    date day_name hex isoformat month_name strftime timestamp to_pydatetime total_seconds weekday year

    abs agg any argmax argmin astype between clip columns contains corr cov cummax cummin cumprod cumsum describe diff
    drop drop_duplicates drop_nulls dropna duplicated eq explode extract fill_null fillna floor ge get_column
    get_params group_by groupby gt head idxmax idxmin isin isna isnull item itertuples kurt last le lt max mean median
    melt memory_usage min mod mode mul n_unique ne nlargest notna notnull nsmallest null_count nunique pct_change pivot
    pivot_table prod quantile rank ravel reset_index resample reshape rolling round sample select_dtypes sem set_index
    shift size skew sort_index sort_values squeeze stack std sub sum summary tail to_csv to_dict to_dicts to_frame
    to_html to_json to_latex to_list to_markdown to_numpy to_pandas to_series to_string tolist trace transpose unique
    unstack value_counts var with_columns write_csv write_json xs
""")
LIBRARIES = _words("dask geopandas jax narwhals networkx numpy pandas polars pyarrow scipy shapely torch xarray")
OF_ANYTHING = _words("""
    count describe get_params isoformat item items json keys max mean median min size std sum summary to_dict to_list
    tolist total values var
""")  # methods that look, whatever class has them; session.get(), path.replace() and table.drop() act
IN_PLACE = _words("reverse sort")  # of all but Polars' frames
TEXTS = _words("to_csv to_html to_json to_latex to_markdown to_string write_csv write_json")  # or files
WRITTEN_TO = _words("path_or_buf buf path file out inplace")  # keywords that name what changes
NAMED_METHODS = frozenset({"agg", "pivot_table"})  # which call methods by name: df.agg("mean")

CALLED = (FunctionType, BuiltinFunctionType, MethodType, partial)
OUTPUTS = re.compile(r"_{1,3}|_i?\d+")  # of cells, as IPython names them
SPLIT_AT = re.compile(r"!([rsa])(?=:|$)|:")  # where a conversion or a format may begin
WIDE_FORMAT = re.compile(r"\d{5,}")
READ_NAME, READ_PART, INDEX, CALL, MULTIPLY = (
    "__read",
    "__part",
    "__index",
    "__call",
    "__times",
)  # no prompt has these names


class RefusedError(Exception):
    """An expression does what a prompt may not do; the message says what."""


def bounded_range(*bounds: int) -> range:
    """Return a range that is short enough to be gone through."""
    made = range(*bounds)
    if len(made) > MOST_FILLED_IN:
        raise RefusedError(f"range() has {len(made):,} numbers, and {MOST_FILLED_IN:,} at most are gone through")
    return made


FUNCTIONS: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        abs, all, any, bin, bool, chr, dict, divmod, enumerate, float, format, frozenset, hex, int, len, list, map, max,
        min, ord, repr, reversed, round, set, sorted, str, sum, tuple, zip,
    )
} | {"range": bounded_range}  # fmt: skip
HARMLESS = frozenset(map(id, FUNCTIONS.values()))  # as arguments: sorted(words, key=len), df.astype(str)


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that was parsed and checked.

    text: as it was typed, without its braces
    tree: what is evaluated; ``None`` where the text is no Python
    names: the names that it reads, without those of its own loops
    problem: why it is refused; empty: it is not
    code: the tree compiled, with everything that it reads and calls looked at; ``None``: it is refused
    conversion, spec: how the value is written, as in ``x!r`` and ``x:.2f``
    """

    text: str
    tree: ast.Expression | None = None
    names: frozenset[str] = frozenset()
    problem: str = NO_PYTHON
    code: CodeType | None = None
    conversion: str = ""
    spec: str = ""

    @classmethod
    def of(cls, text: str) -> Expression:
        """Parse and check an expression with its format."""
        if len(text) > MOST_TYPED:
            return cls(text, problem=f"it is longer than {MOST_TYPED:,} characters")
        for source, conversion, spec in _readings(text):
            tree = _parsed(source)
            if tree is not None:
                problem = _problem(tree) or _format_problem(spec)
                code = None if problem else _compiled(source)
                return cls(text, tree, frozenset(_names_in(tree)), problem, code, conversion, spec)
        return cls(text)

    @property
    def words(self) -> set[str]:
        """The names, attributes and keys under which what is read stands."""
        nodes = list(ast.walk(self.tree)) if self.tree is not None else []
        keys = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
        return keys | {node.attr for node in nodes if isinstance(node, ast.Attribute)} | self.names

    def members_of(self, name: str) -> tuple[set[str], bool]:
        """Return which members of a name are read, as ``name.x`` or ``name['x']``, and whether it is read otherwise."""
        nodes = list(ast.walk(self.tree)) if self.tree is not None else []
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        members = [(node, _member(node, name)) for node in nodes if id(node) not in called]
        found = {member for _, member in members if member}
        reads = sum(isinstance(node, ast.Name) and node.id == name for node in nodes)
        return found, reads > sum(bool(member) for _, member in members)

    def unknown(self, names: Mapping[str, Any]) -> list[str]:
        """Return the names that neither the notebook nor the listed functions have."""
        return sorted(self.names - names.keys() - FUNCTIONS.keys())

    def value(self, names: Mapping[str, Any]) -> Any:
        """Return the value. Raises RefusedError, and what reading and calculating raise."""
        if self.code is None:
            raise RefusedError(self.problem)
        own = {name: names[name] for name in self.names if name in names}
        value = eval(self.code, {**_SCOPE, **own})  # only listed nodes, and no name but these
        kind = described(value)
        if kind:
            raise RefusedError(f"only data can be filled in, and this is {kind}")
        return value

    def written(self, value: Any, lasting: Callable[[str], str]) -> str:
        """Return a value as text; ``lasting`` takes away what an object says of itself that a restart changes.

        Raises RefusedError for a text that is too long.
        """
        if isinstance(value, str | bytes) and len(value) > MOST_FILLED_IN:
            raise RefusedError(_too_long(len(value)))
        converted = _CONVERSIONS[self.conversion](_in_order(value))
        text = format(converted, self.spec) if self.spec else str(converted)
        if len(text) > MOST_FILLED_IN:
            raise RefusedError(_too_long(len(text)))
        return text if isinstance(value, str) else lasting(text)


def _in_order(value: Any) -> Any:
    """Return the text of a set with its members in order, so that equal sets look alike; any other value as it is."""
    if type(value) not in (set, frozenset) or not value:
        return value
    members = f"{{{', '.join(sorted(map(repr, value)))}}}"
    return members if type(value) is set else f"frozenset({members})"


def _member(node: ast.AST, name: str) -> str:
    """Return which member of a name a node reads; empty: none."""
    if not isinstance(node, ast.Attribute | ast.Subscript):
        return ""
    if not isinstance(node.value, ast.Name) or node.value.id != name:
        return ""
    key = node.attr if isinstance(node, ast.Attribute) else getattr(node.slice, "value", None)
    return key if isinstance(key, str) else ""


def _too_long(characters: int) -> str:
    return f"it has {characters:,} characters, and {MOST_FILLED_IN:,} at most are sent: fill in a part of it"


def _readings(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the ways to read a text: as an expression alone, then with a conversion and a format behind it."""
    yield text, "", ""
    for split in SPLIT_AT.finditer(text):
        spec = text[split.end() :].removeprefix(":") if split[1] else text[split.end() :]
        yield text[: split.start()], split[1] or "", spec


def _parsed(source: str) -> ast.Expression | None:
    try:
        return ast.parse(source.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _names_in(tree: ast.AST) -> set[str]:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = {node.id for node in found if isinstance(node.ctx, ast.Store)}
    return {node.id for node in found} - own


def _compiled(source: str) -> CodeType:
    tree = _Guarded().visit(ast.parse(source.strip(), mode="eval"))
    return compile(ast.fix_missing_locations(tree), "<prompt>", "eval")


def _problem(tree: ast.AST) -> str:
    """Return why an expression is refused; empty: it is not."""
    return next(filter(None, map(_node_problem, ast.walk(tree))), "")


def _node_problem(node: ast.AST) -> str:
    if not isinstance(node, NODES):
        return f"a prompt cannot contain a {type(node).__name__}"
    if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
        return f"{node.attr} is a private name"
    if isinstance(node, ast.Name) and node.id.startswith("_") and not OUTPUTS.fullmatch(node.id):
        return f"{node.id} is a private name"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow | ast.LShift):
        power = node.right.value if isinstance(node.right, ast.Constant) else None
        if not isinstance(power, int | float) or power > MOST_EXPONENT:
            return f"an exponent is a number up to {MOST_EXPONENT}"
    return _call_problem(node) if isinstance(node, ast.Call) else ""


def _call_problem(node: ast.Call) -> str:
    called = node.func
    if isinstance(called, ast.Name):
        return "" if called.id in FUNCTIONS else f"{called.id}() is not called in a prompt"
    if not isinstance(called, ast.Attribute) or called.attr not in METHODS | OF_ANYTHING:
        name = getattr(called, "attr", "this")
        return f"{name}() is not called in a prompt.{did_you_mean(name, METHODS, '{}()', SLIP_SIMILARITY)}".rstrip(".")
    keywords = {each.arg for each in node.keywords}
    if None in keywords:
        return "keywords are written one by one in a prompt"
    if (called.attr in TEXTS and node.args) or keywords & WRITTEN_TO:
        return f"{called.attr}() would write or change something here"
    return ""


def _format_problem(spec: str) -> str:
    return f"the width of a format is {MOST_WIDTH:,} at most" if WIDE_FORMAT.search(spec) else ""


class _Guarded(ast.NodeTransformer):
    """Lets what an expression reads, calls and multiplies pass through the functions below."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return node if isinstance(node.ctx, ast.Store) else _through(READ_NAME, node, ast.Constant(node.id))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return _through(READ_PART, self.visit(node.value), ast.Constant(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        node.slice = _each_index(node.slice)
        return _through(READ_NAME, node, ast.Constant("this item"))

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        self.generic_visit(node)
        return ast.ListComp(node.elt, node.generators)  # an iterator would be taken for one of the notebook's

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return _through(MULTIPLY, node.left, node.right) if isinstance(node.op, ast.Mult) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        called = node.func
        arguments = [self.visit(each) for each in node.args]
        keywords = [ast.keyword(each.arg, self.visit(each.value)) for each in node.keywords]
        is_method = isinstance(called, ast.Attribute)
        of = [self.visit(called.value), ast.Constant(called.attr)] if is_method else [ast.Constant(None), called]  # type: ignore[attr-defined]
        return ast.Call(ast.Name(CALL, ast.Load()), [*of, *arguments], keywords)


def _each_index(node: ast.expr) -> ast.expr:
    """Return an index whose values pass through :func:`_index`: pandas calls one that is a function."""
    if isinstance(node, ast.Slice | ast.Constant):
        return node
    if isinstance(node, ast.Tuple):
        return ast.Tuple([_each_index(each) for each in node.elts], ast.Load())
    return _through(INDEX, node)


def _through(function: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(function, ast.Load()), list(arguments), [])


def _read(value: Any, name: str) -> Any:
    """Return a value that was read. Raises RefusedError where it is no data."""
    if id(value) in HARMLESS:
        return value
    kind = described(value)
    if kind:
        raise RefusedError(f"only data can be filled in, and {name} is {kind}")
    return value


def described(value: Any) -> str:
    """Return what a value is that is no data, in words for a message; an empty text for data."""
    kind = type(value)  # not isinstance, which may run the value's code
    if issubclass(kind, ModuleType):
        return "a module"
    if issubclass(kind, type):
        return "a class"
    if issubclass(kind, CALLED):
        return "a function"
    return "an iterator, which reading would use up" if hasattr(kind, "__next__") else ""


def _index(value: Any) -> Any:
    if _is_called(value):
        raise RefusedError("a prompt calls no functions of the notebook's")
    return value


def _read_part(value: Any, name: str) -> Any:
    return _read(getattr(value, name), name)


def _call(value: Any, called: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Call a function, or the method ``called`` of a value. Raises RefusedError where that could act."""
    given = [*arguments, *keywords.values()]
    if any(map(_is_called, given)):
        raise RefusedError("a prompt calls no functions of the notebook's")
    if not isinstance(called, str):
        if id(called) not in HARMLESS:
            raise RefusedError("a prompt calls no functions of the notebook's")
        return called(*arguments, **keywords)
    if not _only_looks(value, called):
        raise RefusedError(f"{called}() of a {type(value).__name__} is not called in a prompt")
    if any(hasattr(each, "__array_interface__") for each in arguments[1:]):
        raise RefusedError(f"{called}() would write into an array")
    if called in NAMED_METHODS:
        _check_methods(value, _texts_in(given))
    return getattr(value, called)(*arguments, **keywords)


def _is_called(value: Any) -> bool:
    """Return whether a value is a function, or a collection with one."""
    if isinstance(value, dict):
        return any(map(_is_called, value.values()))
    if isinstance(value, list | tuple | set):
        return any(map(_is_called, value))
    return callable(value) and id(value) not in HARMLESS


def _only_looks(value: Any, method: str) -> bool:
    """Return whether a value's method of this name looks, and does not act."""
    if method in OF_ANYTHING:
        return True
    if method in IN_PLACE:
        return _is_of(value, {"polars"})
    plain = (str, bytes, Number, Mapping, Set, Sequence, date, timedelta)
    return isinstance(value, plain) or _is_of(value, LIBRARIES)


def _is_of(value: Any, libraries: Set[str]) -> bool:
    return any(base.__module__.partition(".")[0] in libraries for base in type(value).__mro__)


def _check_methods(value: Any, names: Iterable[str]) -> None:
    for name in names:
        if name not in METHODS | OF_ANYTHING and hasattr(type(value), name):
            raise RefusedError(f"{name}() is not called in a prompt")
        if name.startswith("to_"):
            raise RefusedError(f"{name}() would write or change something here")


def _texts_in(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from _texts_in(value.values())
        elif isinstance(value, list | tuple):
            yield from _texts_in(value)


def _times(left: Any, right: Any) -> Any:
    """Multiply, unless a text or a list would grow beyond what is sent."""
    for many, times in ((left, right), (right, left)):
        grows = isinstance(many, str | bytes | list | tuple) and isinstance(times, int)
        if grows and len(many) * times > MOST_FILLED_IN:
            raise RefusedError(_too_long(len(many) * times))
    return left * right


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"": lambda value: value, "r": repr, "s": str, "a": ascii}
_SCOPE: dict[str, Any] = {
    **FUNCTIONS, READ_NAME: _read, READ_PART: _read_part, INDEX: _index, CALL: _call, MULTIPLY: _times,
    "__builtins__": {},
}  # fmt: skip
