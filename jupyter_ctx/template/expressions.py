"""Fill ``{{ expressions }}`` into a prompt: Python, as an f-string has it, that looks and does not act.

A prompt may be pasted from anywhere, so an expression is checked before it is evaluated, and what it reads while it is:
it reads names, attributes and items, calculates, compares, and calls the functions and methods listed here. It reaches
no module, class, function, private name or file. What the user's own objects do when they are read is theirs.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set, Sized
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time, timedelta
from functools import cache, lru_cache, partial
from itertools import islice
from numbers import Number
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ..conversation.text_safety import lasting
from ..errors import InvalidRequestError
from ..runtime.redaction import BLANKED, Redactor, classify_secret_name
from ..wording import SLIP_SIMILARITY, did_you_mean, nearest_name, visible

NODES = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Store, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple,
    ast.List, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.keyword, ast.ListComp,
    ast.GeneratorExp, ast.comprehension, ast.Starred, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip
MOST_FILLED_IN = 4_000_000  # characters of a value's text
OUTPUTS = re.compile(r"_{1,3}|_i?\d+")  # of cells, as IPython names them; no other name begins with _
NO_DATA = {ModuleType: "a module", type: "a class", type(os.environ): "the environment"}
NO_DATA |= dict.fromkeys((FunctionType, BuiltinFunctionType, MethodType, partial), "a function")
FUNCTIONS: dict[str, Any] = {each.__name__: each for each in (
    abs, all, any, ascii, bin, bool, chr, complex, dict, divmod, enumerate, float, format, frozenset, hex, int, len,
    list, map, max, min, oct, ord, range, repr, reversed, round, set, slice, sorted, str, sum, tuple, zip,
)}  # fmt: skip
HARMLESS = frozenset(map(id, FUNCTIONS.values()))  # as arguments: sorted(words, key=len), df.astype(str)
PYTHONS = (str, bytes, Number, Mapping, Set, Sequence, date, time, timedelta)  # types of its own


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LIBRARIES = _words("""
    dask geopandas jax narwhals networkx numpy pandas polars pyarrow scipy shapely sklearn statsmodels torch xarray
""")
# Of whatever has one. Others are called on what is Python's own or a library's: session.get() and path.replace() act.
OF_ANYTHING = _words("""
    count describe get_params isoformat item items json keys max mean median min size std sum summary to_dict
    to_list tolist total values var
""")
METHODS = OF_ANYTHING | _words("""
    abs add add_categories add_prefix add_suffix agg aggregate alias all any apply arg_sort argmax argmin argsort
    as_integer_ratio as_ordered as_unit asfreq asof assign astype at_time autocorr between between_time bfill
    bit_count bit_length capitalize casefold cast cat cdf ceil center clip collect columns combine_first compare
    concat conjugate contains convert_dtypes copy corr corrwith cov cumcount cummax cummin cumprod cumsum date
    day_name days_in_month decision_function decode degree det diagonal diff difference div divide divmod dot drop
    drop_duplicates drop_nulls droplevel dropna dst duplicated elements encode ends_with endswith entropy eq equals
    ewm expanding expandtabs explode extract extractall factorize ffill fill_nan fill_null fillna filter find
    findall first first_valid_index flatten floor floordiv fullmatch ge get get_column get_dummies
    get_feature_names_out get_group get_indexer get_level_values get_loc get_locs group_by groupby gt has_edge
    has_node head hex identical idxmax idxmin index infer_objects interpolate intersection inverse_transform
    is_duplicated is_empty is_in is_integer is_unique isalnum isalpha isascii isdecimal isdigit isdisjoint isel
    isidentifier isin islower isna isnull isnumeric isocalendar isoweekday isprintable isspace issubset issuperset
    istitle isupper iter_rows itertuples join kurt kurtosis last last_valid_index le len len_chars limit ljust
    logpdf lower lstrip lt map mask match melt memory_usage merge min_by mod mode month_name most_common mul
    multiply n_unique ne nearest neighbors ngroup nlargest nonzero normalize notna notnull nsmallest nth null_count
    number_of_edges number_of_nodes numpy nunique ohlc pad pct_change pdf pivot pivot_table pmf pow ppf predict
    predict_log_proba predict_proba prod ptp quantile quantize radd rank ravel rdiv reindex remove_categories
    removeprefix removesuffix rename rename_axis rename_categories reorder_categories reorder_levels repeat replace
    resample reset_index reshape reverse rfind rindex rjust rmod rmul rolling round row rows rpow rsplit rstrip rsub
    rtruediv sample score searchsorted sel select select_dtypes sem set_axis set_categories set_index set_levels
    set_names sf shift skew slice slice_replace sort sort_index sort_values split splitlines squeeze stack
    starts_with startswith strftime strip strip_chars sub subtract support swapaxes swapcase swaplevel
    symmetric_difference tail take time timestamp timetuple timetz title to_csv to_datetime64 to_dicts to_eng
    to_flat_index to_frame to_html to_json to_julian_date to_latex to_lowercase to_markdown to_numpy to_pandas
    to_period to_pydatetime to_pytimedelta to_series to_string to_timestamp to_uppercase top_k total_seconds trace
    transform transpose truediv truncate tz_convert tz_localize union unique unpivot unstack upper utcoffset
    value_counts weekday where with_columns with_row_index wrap write_csv write_json xs year zfill
""")
# methods that change what they are called on, but in these libraries
ACTING = {"add": LIBRARIES, "subtract": LIBRARIES, "reverse": {"polars"}, "sort": {"polars"}}
TEXTS = {"to_csv", "to_html", "to_json", "to_latex", "to_markdown", "to_string", "write_csv", "write_json"}  # or files
WRITTEN_TO = {"buf", "file", "inplace", "out", "path", "path_or_buf"}  # keywords that name what changes
NAMED_METHODS = {"agg", "aggregate", "apply", "pivot_table", "transform"}  # which call methods by name: df.agg("mean")


class RefusedError(Exception):
    """An expression does what a prompt may not do; the message says what."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that was parsed and checked.

    text: as it was typed, without its braces
    source, spec: what is evaluated, and how its value is written, as in ``x:.2f``
    reads: names that are none of its own loops, each with the member that is read of it (``name.x``, ``name['x']``),
        or an empty text: it is read in another way
    problem: why it is refused; empty: it is not
    code: the tree compiled, with everything that it reads and calls looked at; ``None``: it is refused
    """

    text: str
    source: str = ""
    spec: str = ""
    reads: frozenset[tuple[str, str]] = frozenset()
    problem: str = "it is not a valid Python expression"
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
                nodes = [*ast.walk(tree)]
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
        is_text = isinstance(value, str)
        if type(value) in (set, frozenset) and value:  # in an order that is the same in every kernel
            members = f"{{{', '.join(sorted(map(repr, value)))}}}"
            value = members if type(value) is set else f"frozenset({members})"
        text = format(value, self.spec)
        if len(text) > MOST_FILLED_IN:
            raise RefusedError(f"it has {len(text):,} of at most {MOST_FILLED_IN:,} characters: fill in a part of it")
        return text if is_text else lasting(text)


def _reads(nodes: Sequence[ast.AST]) -> frozenset[tuple[str, str]]:
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    members = dict[ast.AST, str]()
    for node in nodes:
        if isinstance(node, ast.Attribute | ast.Subscript) and node not in called:
            key = node.attr if isinstance(node, ast.Attribute) else getattr(node.slice, "value", "")
            members[node.value] = key if isinstance(key, str) else ""
    return frozenset([(node.id, members.get(node, "")) for node in names if node.id not in own])


def _problem(node: ast.AST) -> str:
    """Return why an expression with this node is refused; empty: it is not."""
    if not isinstance(node, NODES) or getattr(node, "is_async", False):
        return f"a prompt cannot contain a {type(node).__name__}"
    match node:
        case ast.Name(id=name) if OUTPUTS.fullmatch(name):
            return ""
        case ast.Name(id=name) | ast.Attribute(attr=name) if name.startswith("_"):
            return f"{name} is a private name"
        case ast.Call(func=called, args=given, keywords=keywords):
            name = getattr(called, "id", getattr(called, "attr", "this"))
            writes = (name in TEXTS and given) or {None, *WRITTEN_TO}.intersection(each.arg for each in keywords)
            listed = FUNCTIONS if isinstance(called, ast.Name) else METHODS
            if name in listed:
                return f"{name}() is not called with these arguments in a prompt" if writes else ""
            near = nearest_name(name, listed, SLIP_SIMILARITY)
            return f"{name}() is not called in a prompt{f' (did you mean {near}()?)' if near else ''}"
    return ""


class _Guarded(ast.NodeTransformer):
    """Lets what an expression reads and calls pass through the functions below, whose names no prompt can read."""

    def visit(self, node: ast.AST) -> Any:
        self.generic_visit(node)
        match node:
            case ast.Attribute(value=value, attr=name):
                return _through("_part", value, ast.Constant(name))
            case ast.Subscript(value=value, slice=key):
                return _through("_item", value, key)
            case ast.Slice(lower=lower, upper=upper, step=step):
                return _through("_slice", *(each or ast.Constant(None) for each in (lower, upper, step)))
            case ast.Call(func=ast.Call(args=method), args=given, keywords=keywords):  # an attribute, read above
                return _through("_call", *method, *given, keywords=keywords)
            case ast.Call(func=function, args=given, keywords=keywords):
                return _through("_call", ast.Constant(None), function, *given, keywords=keywords)
        return node


def _through(function: str, *arguments: ast.expr, keywords: Sequence[ast.keyword] = ()) -> ast.expr:
    return ast.Call(ast.Name(function, ast.Load()), [*arguments], [*keywords])


def described(value: Any) -> str:
    """Return what a value is that is no data, in words for a message; an empty text for data."""
    kind = type(value)  # not isinstance, which may run the value's code
    is_iterator = hasattr(kind, "__next__") and not hasattr(kind, "agg")  # groups of old versions of Polars are, too
    words = (words for each, words in NO_DATA.items() if issubclass(kind, each))
    return next(words, "an iterator, which reading would use up" if is_iterator else "")


def module_of(kind: type) -> str:
    """Return the top-level package of a class, which tells what comes from a library without importing it."""
    return str(kind.__module__).partition(".")[0]


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
    _check_given([*given, called])  # the notebook may have the name of a listed function
    if not isinstance(called, str):
        return called(*arguments, **keywords)
    bases = map(module_of, type(_data(value, "this")).__mro__)
    looks = called not in ACTING and (called in OF_ANYTHING or isinstance(value, PYTHONS))
    if not looks and ACTING.get(called, LIBRARIES).isdisjoint(bases):
        raise RefusedError(f"{called}() of a {type(value).__name__} is not called in a prompt")
    is_array, *others = (hasattr(each, "__array_interface__") for each in (value, *_leaves(arguments[1:])))  # of NumPy
    if is_array and any(others):
        raise RefusedError(f"{called}() would write into an array")
    if called in NAMED_METHODS:
        _check_names(value, [*arguments[3:], keywords.get("aggfunc")] if called == "pivot_table" else given)
    return getattr(value, called)(*arguments, **keywords)


def _check_given(values: Any) -> None:
    if any(callable(each) and id(each) not in HARMLESS for each in _leaves(values)):
        raise RefusedError("a prompt calls no functions of the notebook's")


def _leaves(value: Any) -> Iterator[Any]:
    """Yield what a collection has in it at any depth; any other value itself."""
    if not isinstance(value, dict | list | tuple | set | frozenset):
        yield value
        return
    for each in value.values() if isinstance(value, dict) else value:
        yield from _leaves(each)


def _check_names(value: Any, given: Any) -> None:
    """Refuse names of methods, and of functions of NumPy, that pandas would call and that are not listed."""
    owners = (type(value), sys.modules.get("numpy"))
    for name in _leaves(given):
        is_called = isinstance(name, str) and any(hasattr(each, name) for each in owners)
        if is_called and (name not in METHODS or name.startswith("to_")):
            raise RefusedError(f"{name}() is not called in a prompt")


_SCOPE = FUNCTIONS | {"__builtins__": {}, "_part": _part, "_item": _item, "_slice": slice, "_call": _call}


# filling in

EXPRESSION = re.compile(r"(?<![{$\\])\{\{ ([^{}\n]*[^{}\s]) \}\}(?!\})")
UNSPACED = re.compile(r"(?<![\w{}$\\])\{\{ ?([^\s{}](?:[^{}\n]*[^\s{}])?) ?\}\}(?!\})")
NAMED_WORD = re.compile(r"[\w-]+")  # a name, an attribute or a key of an expression
ONLY_A_CLASS = re.compile(r"<[\w.]+ object>|Figure\(\d+x\d+\)")
MOST_LOOKED_AT = 1_000  # parts of a value
MOST_REPEATED = 300  # characters of another's error, and of the line with a key
LEAST_SHOWN = 8  # characters of a value that its text shows at least, if it shows it
HOW_AS_TYPED = "--raw sends the braces as typed. Nothing was sent."


def fill(text: str, names: Mapping[str, Any], redactor: Redactor, tell: Callable[[str], object] = str) -> str:
    """Return a prompt with the values of its expressions; ``tell`` is called with each before it is read.

    What was filled in is not filled in again. Raises InvalidRequestError for an expression that names nothing here,
    cannot be read, is refused or fails, and for one whose value holds a key.
    """

    @cache
    def value(typed: str) -> str:
        tell(typed)
        expression = Expression.of(typed)
        try:
            return _evaluated(expression, names, redactor)
        except Exception as error:
            raise expression_error(expression, error, redactor) from None

    return EXPRESSION.sub(lambda match: value(match[1]), text)


def _evaluated(expression: Expression, names: Mapping[str, Any], redactor: Redactor) -> str:
    """Return an expression's value as text. Raises InvalidRequestError, RefusedError, and whatever reading raises."""
    unknown = [] if expression.problem else expression.unknown(names)
    if unknown:
        near = did_you_mean(unknown[0], [each for each in names if each[:1] != "_"], similarity=SLIP_SIMILARITY)
        problem = f"nothing in this notebook is named {unknown[0]}.{near}"
        raise InvalidRequestError(f"{{{{ {expression.text} }}}}: {problem} {HOW_AS_TYPED}")
    value = expression.value(names)
    text = expression.written(value)
    if redactor.contains_secret(text):
        raise key_error(expression, text, redactor)
    if ONLY_A_CLASS.fullmatch(text):
        raise RefusedError(f"its text is only {text}, and -a on the first line sends what it shows")
    for name, part in _named_parts(expression, value, names):
        if redactor.is_secret(name, part) and str(part)[:LEAST_SHOWN] in text:
            raise key_error(expression, text, redactor, f"under {name}")
    return text


def _named_parts(expression: Expression, value: Any, names: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield what has the name of a secret: members of a value that is read so, keys of mappings, columns of tables."""
    named = [(word, value) for word in NAMED_WORD.findall(expression.text)]
    for read in (value, *(names[name] for name in expression.names if name in names)):
        keys = read if isinstance(read, Mapping) else read.columns if hasattr(type(read), "columns") else ()
        named += [(key, read[key]) for key in islice(keys, MOST_LOOKED_AT) if classify_secret_name(key)]
    for name, part in named:
        is_many = isinstance(part, Sized) and isinstance(part, Iterable) and not isinstance(part, str | bytes)
        if classify_secret_name(name):
            yield from ((name, member) for member in (islice(part, MOST_LOOKED_AT) if is_many else (part,)))


def key_error(expression: Expression, text: str, redactor: Redactor, where: str = "") -> InvalidRequestError:
    """Return the error for an expression whose text holds a key; ``where``: its place, else the line that has it."""
    line = next((each.strip() for each in redactor.masked(text).splitlines() if BLANKED in each), BLANKED)
    place = where or (f"in {line[:MOST_REPEATED]}" if line != BLANKED else "")
    return InvalidRequestError(
        f"{{{{ {expression.text} }}}} holds a key or a password{f' ({place})' if place else ''}: fill in a value "
        "without it; in a chat cell, --no-redact sends it. Nothing was sent."
    )


def expression_error(
    expression: Expression, error: Exception, redactor: Redactor, as_typed: str = HOW_AS_TYPED
) -> InvalidRequestError:
    """Return an error of an expression as one that names it; ``as_typed`` says how it is sent as typed."""
    problem, typed = str(error), f"{{{{ {expression.text} }}}}"
    if isinstance(error, RefusedError):
        source = expression.source  # empty for what is no Python
        remedy = f" Compute it in a cell, value = {source}, and write {{{{ value }}}}." if "(" in source else ""
        problem = f"{typed} cannot be filled in: {error}.{remedy} {as_typed}"
    elif not isinstance(error, InvalidRequestError):
        failure = f"{type(error).__name__}: {' '.join(problem.split())[:MOST_REPEATED]}".rstrip(": ")
        problem = f"{typed} failed: {failure}. {as_typed}"
    return InvalidRequestError(visible(redactor.masked(problem)))


def unspaced(text: str, names: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each ``{{x}}`` that was likely meant as an expression, and is sent as typed."""
    for typed, inner in dict.fromkeys([match.group(0, 1) for match in UNSPACED.finditer(text)]):
        expression = None if EXPRESSION.fullmatch(typed) else Expression.of(inner)
        if expression and expression.names and not expression.unknown(names):
            yield f"{typed} is sent as typed. To fill it in, put a space inside both braces: {{{{ {inner} }}}}."
