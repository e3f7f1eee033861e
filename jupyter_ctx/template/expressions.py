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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time, timedelta
from functools import lru_cache, partial
from itertools import islice
from numbers import Number
from operator import lshift, mod, mul
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ..wording import SLIP_SIMILARITY, did_you_mean

MOST_FILLED_IN = 4_000_000  # of a value's text, and items of a collection that an expression makes
MOST_TYPED = 2_000  # characters of one expression
NO_PYTHON = "it is no expression of Python's"
TOO_WIDE = "the width of a format is 9,999 at most"
MOST_COMPARED = 10_000  # names of items, with one that is not there

NODES = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Store, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple,
    ast.List, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.keyword, ast.ListComp,
    ast.GeneratorExp, ast.comprehension, ast.Starred, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Methods that look, and do not act: session.get(), path.replace(), set.add() and array.sort() do.
OF_ANYTHING = _words("""
    count describe get_params isoformat item items json keys max mean median min size std sum summary to_dict to_list
    tolist total values var
""")
OF_PYTHON = _words("""
    as_integer_ratio bit_count bit_length capitalize casefold center conjugate copy count date decode difference
    elements encode endswith expandtabs find get hex index intersection is_integer isalnum isalpha isascii isdecimal
    isdigit isdisjoint isidentifier islower isnumeric isocalendar isoweekday isprintable isspace issubset issuperset
    istitle isupper join ljust lower lstrip most_common quantize removeprefix removesuffix replace rfind rindex rjust
    rsplit rstrip split splitlines startswith strftime strip swapcase symmetric_difference time timestamp timetuple
    title to_eng total_seconds union upper utcoffset weekday year zfill
""")
OF_LIBRARIES = OF_PYTHON | _words("""
    abs add add_categories add_prefix add_suffix agg aggregate alias all any apply arg_sort argmax argmin argsort
    as_ordered as_unit asfreq asof assign astype at_time autocorr between between_time bfill cast cat cdf ceil clip
    collect columns combine_first compare concat contains convert_dtypes corr corrwith cov cumcount cummax cummin
    cumprod cumsum day_name days_in_month decision_function degree det diagonal diff div divide divmod dot drop
    drop_duplicates drop_nulls droplevel dropna dst duplicated ends_with entropy eq equals ewm expanding explode extract
    extractall factorize ffill fill_nan fill_null fillna filter findall first first_valid_index flatten floor floordiv
    fullmatch ge get_column get_dummies get_feature_names_out get_group get_indexer get_level_values get_loc get_locs
    group_by groupby gt has_edge has_node head identical idxmax idxmin infer_objects interpolate inverse_transform
    is_duplicated is_empty is_in is_unique isel isin isna isnull isocalendar iter_rows itertuples kurt kurtosis last
    last_valid_index le len len_chars limit logpdf lt map mask match melt memory_usage merge min_by mod mode month_name
    mul multiply n_unique ne nearest neighbors ngroup nlargest nonzero normalize notna notnull nsmallest nth null_count
    number_of_edges number_of_nodes numpy nunique ohlc pad pct_change pdf pivot pivot_table pmf pow ppf predict
    predict_log_proba predict_proba prod ptp quantile radd rank ravel rdiv reindex remove_categories rename rename_axis
    rename_categories reorder_categories reorder_levels repeat resample reset_index reshape reverse rmod rmul rolling
    round row rows rpow rsub rtruediv sample score searchsorted sel select select_dtypes sem set_axis set_categories
    set_index set_levels set_names sf shift skew slice slice_replace sort sort_index sort_values squeeze stack
    starts_with strip_chars sub subtract support swapaxes swaplevel tail take timetz to_csv to_datetime64 to_dicts
    to_flat_index to_frame to_html to_json to_julian_date to_latex to_lowercase to_markdown to_numpy to_pandas to_period
    to_pydatetime to_pytimedelta to_series to_string to_timestamp to_uppercase top_k trace transform transpose truediv
    truncate tz_convert tz_localize unique unpivot unstack value_counts where with_columns with_row_index wrap write_csv
    write_json xs
""")
METHODS = OF_ANYTHING | OF_LIBRARIES
LIBRARIES = _words("""
    dask geopandas jax narwhals networkx numpy pandas polars pyarrow scipy shapely sklearn statsmodels torch xarray
""")
IN_PLACE = _words("reverse sort")  # of all but Polars' frames
TEXTS = _words("to_csv to_html to_json to_latex to_markdown to_string write_csv write_json")  # or files
WRITTEN_TO = _words("path_or_buf buf path file out inplace")  # keywords that name what changes
NAMED_METHODS = _words("agg aggregate apply pivot_table transform")  # which call methods by name: df.agg("mean")

CALLED = (FunctionType, BuiltinFunctionType, MethodType, partial)
OUTPUTS = re.compile(r"_{1,3}|_i?\d+")  # of cells, as IPython names them
SPLIT_AT = re.compile(r"!([rsa])(?=:|$)|:")  # where a conversion or a format may begin
WIDE_FORMAT = re.compile(r"\d{5,}")
WIDE_PERCENT = re.compile(r"%[^a-zA-Z%]*(?:\d{5,}|\*)")  # in '%20000d' % x and '%*d' % (20000, x)
PADDING = _words("center expandtabs indent ljust pad repeat rjust zfill")  # methods that take a width
READ_PART, READ_ITEM, READ_SLICE, CALL_IT, CALCULATE = (
    "__part",
    "__item",
    "__slice",
    "__call",
    "__calculate",
)  # no prompt has these
BITS_A_DIGIT = 3
MAY_GROW = {ast.Mult: "*", ast.Pow: "**", ast.LShift: "<<", ast.Mod: "%"}  # operators whose result may be huge
OPERATORS: dict[str, Callable[..., Any]] = {"*": mul, "**": pow, "<<": lshift, "%": mod}


class RefusedError(Exception):
    """An expression does what a prompt may not do; the message says what."""


def _check_size(size: int) -> None:
    if size > MOST_FILLED_IN:
        raise RefusedError(
            f"it has {size:,} characters or items, and {MOST_FILLED_IN:,} at most are sent: fill in a part of it"
        )


def _range(*bounds: int) -> range:
    made = range(*bounds)
    _check_size(len(made))
    return made


def _format(value: Any, spec: str = "") -> str:
    if WIDE_FORMAT.search(spec):
        raise RefusedError(TOO_WIDE)
    return format(value, spec)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        abs, all, any, ascii, bin, bool, chr, complex, dict, divmod, enumerate, float, frozenset, hex, int, len, list,
        map, max, min, oct, ord, repr, reversed, round, set, slice, sorted, str, sum, tuple, zip,
    )
} | {"format": _format, "range": _range}  # fmt: skip
HARMLESS = frozenset(map(id, FUNCTIONS.values()))  # as arguments: sorted(words, key=len), df.astype(str)


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that was parsed and checked.

    text: as it was typed, without its braces
    reads: the names that it reads, without those of its own loops, each with the member that is read of it, as in
        ``name.x`` and ``name['x']``, or an empty text: it is read in another way
    names: the names alone
    problem: why it is refused; empty: it is not
    code: the tree compiled, with everything that it reads and calls looked at; ``None``: it is refused
    conversion, spec: how the value is written, as in ``x!r`` and ``x:.2f``
    """

    text: str
    reads: frozenset[tuple[str, str]] = frozenset()
    names: frozenset[str] = frozenset()
    problem: str = NO_PYTHON
    code: CodeType | None = None
    conversion: str = ""
    spec: str = ""

    @classmethod
    @lru_cache(256)
    def of(cls, text: str) -> Expression:
        """Parse and check an expression with its format."""
        if len(text) > MOST_TYPED:
            return cls(text, problem=f"it is longer than {MOST_TYPED:,} characters")
        for source, conversion, spec in _readings(text):
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                tree = ast.parse(source.strip(), mode="eval")
                nodes = list(ast.walk(tree))
                reads = _reads(nodes)
                names = frozenset([name for name, _ in reads])
                problem = next(filter(None, map(_problem, nodes)), "")
                code = None if problem else _compiled(tree)
                return cls(text, reads, names, problem, code, conversion, spec)
        return cls(text)

    def unknown(self, names: Mapping[str, Any]) -> list[str]:
        """Return the names that neither the notebook nor the listed functions have."""
        return sorted(self.names - names.keys() - FUNCTIONS.keys())

    def value(self, names: Mapping[str, Any]) -> Any:
        """Return the value. Raises RefusedError, and what reading and calculating raise."""
        if self.code is None:
            raise RefusedError(self.problem)
        own = {name: _data(names[name], name) for name in self.names if name in names}
        return _data(eval(self.code, {**_SCOPE, **own}), "this")  # only listed nodes, and no name but these

    def written(self, value: Any, lasting: Callable[[str], str]) -> str:
        """Return a value as text; ``lasting`` takes away what an object says of itself that a restart changes.

        Raises RefusedError for a text that is too long.
        """
        if isinstance(value, str | bytes):
            _check_size(len(value))
        converted = _CONVERSIONS[self.conversion](_in_order(value))
        text = _format(converted, self.spec) if self.spec else str(converted)
        _check_size(len(text))
        return text if isinstance(value, str) else lasting(text)


def _in_order(value: Any) -> Any:
    """Return the text of a set with its members in order, so that equal sets look alike; any other value as it is."""
    if type(value) not in (set, frozenset) or not value:
        return value
    members = f"{{{', '.join(sorted(map(repr, value)))}}}"
    return members if type(value) is set else f"frozenset({members})"


def _readings(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the ways to read a text: as an expression alone, then with a conversion and a format behind it."""
    yield text, "", ""
    for split in SPLIT_AT.finditer(text):
        spec = text[split.end() :].removeprefix(":") if split[1] else text[split.end() :]
        yield text[: split.start()], split[1] or "", spec


def _compiled(tree: ast.Expression) -> CodeType:
    return compile(ast.fix_missing_locations(_Guarded().visit(tree)), "<prompt>", "eval")


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
    if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
        return f"{node.attr} is a private name"
    if isinstance(node, ast.Name) and node.id.startswith("_") and not OUTPUTS.fullmatch(node.id):
        return f"{node.id} is a private name"
    return _call_problem(node) if isinstance(node, ast.Call) else ""


def _call_problem(node: ast.Call) -> str:
    called = node.func
    if isinstance(called, ast.Name):
        return "" if called.id in FUNCTIONS else f"{called.id}() is not called in a prompt"
    if not isinstance(called, ast.Attribute) or called.attr not in METHODS:
        name = getattr(called, "attr", "this")
        return f"{name}() is not called in a prompt.{did_you_mean(name, METHODS, '{}()', SLIP_SIMILARITY)}".rstrip(".")
    keywords = {each.arg for each in node.keywords}
    if None in keywords:
        return "keywords are written one by one in a prompt"
    if (called.attr in TEXTS and node.args) or keywords & WRITTEN_TO:
        return f"{called.attr}() would write or change something here"
    return ""


class _Guarded(ast.NodeTransformer):
    """Lets what an expression reads, calls and multiplies pass through the functions below."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return _through(READ_PART, self.visit(node.value), ast.Constant(node.attr))

    def visit_Slice(self, node: ast.Slice) -> ast.expr:
        self.generic_visit(node)
        return _through(READ_SLICE, *(each or ast.Constant(None) for each in (node.lower, node.upper, node.step)))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        return _through(READ_ITEM, node.value, node.slice)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        sign = MAY_GROW.get(type(node.op))
        return _through(CALCULATE, ast.Constant(sign), node.left, node.right) if sign else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        called = node.func
        is_method = isinstance(called, ast.Attribute)
        of = [called.value, ast.Constant(called.attr)] if is_method else [ast.Constant(None), called]  # type: ignore[attr-defined]
        return self.generic_visit(ast.Call(ast.Name(CALL_IT, ast.Load()), [*of, *node.args], node.keywords))  # type: ignore[return-value]


def _through(function: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(function, ast.Load()), list(arguments), [])


def described(value: Any) -> str:
    """Return what a value is that is no data, in words for a message; an empty text for data."""
    kind = type(value)  # not isinstance, which may run the value's code
    if issubclass(kind, ModuleType):
        return "a module"
    if issubclass(kind, type):
        return "a class"
    if issubclass(kind, CALLED):
        return "a function"
    if issubclass(kind, type(os.environ)):
        return "the environment"
    is_iterator = hasattr(kind, "__next__") and not hasattr(kind, "agg")  # groups of old versions of Polars are, too
    return "an iterator, which reading would use up" if is_iterator else ""


def _data(value: Any, name: str) -> Any:
    """Return a value that was read. Raises RefusedError where it is no data."""
    kind = described(value)
    if kind:
        raise RefusedError(f"only data can be filled in, and {name} is {kind}")
    return value


def _part(value: Any, name: str) -> Any:
    try:
        return _data(getattr(_data(value, "this"), name), name)
    except AttributeError as error:
        error.add_note(_did_you_mean(name, dir(value)))
        raise


def _item(value: Any, key: Any) -> Any:
    _check_given(key)  # pandas calls it
    try:
        return _data(value[key], "this item")
    except KeyError as error:
        error.add_note(_did_you_mean(key, getattr(value, "keys", list)()))
        raise


def _did_you_mean(name: Any, names: Iterable[Any]) -> str:
    there = [each for each in islice(names, MOST_COMPARED) if isinstance(each, str) and each[:1] != "_"]
    return did_you_mean(name, there, similarity=SLIP_SIMILARITY) if isinstance(name, str) else ""


def _calculate(sign: str, left: Any, right: Any) -> Any:
    """Calculate, unless a text, a list or a whole number would grow beyond what is sent."""
    if sign == "%" and isinstance(left, str) and WIDE_PERCENT.search(left):
        raise RefusedError(TOO_WIDE)
    if isinstance(left, int) and isinstance(right, int):
        bits = {"**": left.bit_length() * right, "<<": right}.get(sign, 0)
        _check_size(bits // BITS_A_DIGIT)
    elif sign == "*":
        for many, times in ((left, right), (right, left)):
            grows = isinstance(many, str | bytes | list | tuple) and isinstance(times, int)
            _check_size(len(many) * times if grows else 0)
    return OPERATORS[sign](left, right)


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
    if called in PADDING:
        _check_size(max((each for each in given if isinstance(each, int)), default=0))
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
    if method in OF_ANYTHING:
        return True
    if _is_of(value, {"polars"} if method in IN_PLACE else LIBRARIES):
        return True
    plain = (str, bytes, Number, Mapping, Set, Sequence, date, time, timedelta)
    return method in OF_PYTHON and isinstance(value, plain)


def _is_of(value: Any, libraries: Set[str]) -> bool:
    return any(base.__module__.partition(".")[0] in libraries for base in type(value).__mro__)


def _check_names(value: Any, given: Any) -> None:
    """Refuse names of methods, and of functions of NumPy, that pandas would call and that are not listed."""
    for name in _leaves(given):
        is_called = isinstance(name, str) and any(
            hasattr(each, name) for each in (type(value), sys.modules.get("numpy"))
        )
        if is_called and (name not in METHODS or name.startswith("to_")):
            raise RefusedError(f"{name}() is not called in a prompt")


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"": lambda value: value, "r": repr, "s": str, "a": ascii}
_SCOPE: dict[str, Any] = {
    **FUNCTIONS, "__builtins__": {},
    READ_PART: _part, READ_ITEM: _item, READ_SLICE: slice, CALL_IT: _call, CALCULATE: _calculate,
}  # fmt: skip
