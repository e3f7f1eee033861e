"""A function of the notebook as a tool: its name, what its docstring says, and the JSON schema of its arguments."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from inspect import cleandoc
from textwrap import dedent
from types import FunctionType, MethodType
from typing import Annotated, Any, NotRequired, Required, TypeVar, Union, get_type_hints, overload
from warnings import catch_warnings

from ..attachments.attached import format_error
from ..conversation.messages import ToolSpec
from ..conversation.schema import Schema, for_pydantic
from ..errors import InvalidRequestError
from ..runtime.redaction import Redactor
from ..template.expressions import described

Function = TypeVar("Function", bound=Callable[..., Any])
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")  # what all providers take, of functions and of parameters
_PROVIDERS_TAKE = "providers take the letters A to Z and a to z, digits and _, at most 64"
_MOST_DESCRIPTION = 1_024  # characters, which OpenAI takes
_MOST_DEFAULT = 200  # characters of a default that the schema names
_MOST_LAYERS = 50
_MARK = "_confirm_before_calls"  # attribute of a function
_PLAIN_TYPES = (bool, int, float)  # which a default tells of a parameter without a type
# a docstring in Google's or NumPy's style
_INDENTED = r"((?:[ \t]+\S.*\n|[ \t]*\n)*)"
_GOOGLE = rf"(?m)^(?:Arg(?:ument)?s|Param(?:eter)?s|Keyword Arg(?:ument)?s|Other Parameters):[ \t]*\n{_INDENTED}"
_GOOGLE_ITEM = rf"(?m)^(\*{{0,2}}\w+)[ \t]*(?:\(.*?\))?[ \t]*:(.*\n{_INDENTED})"
_NUMPY = r"(?m)^(?:Other )?Parameters[ \t]*\n-{3,}[ \t]*\n((?:(?!.*\n-{3,}).*\n)*)"
_NUMPY_ITEM = rf"(?m)^(\*{{0,2}}\w+(?:, *\*{{0,2}}\w+)*)[ \t]*(?::.*)?\n{_INDENTED}"


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call. ``as_tool`` makes one.

    ``spec``: what a request offers: the name, the description, and the JSON Schema of the arguments.
    ``function``: what is called.
    ``confirm``: whether the user is asked before every call.
    ``schema``: what checks arguments; ``None``: it is made for each call.
    """

    spec: ToolSpec
    function: Callable[..., Any]
    confirm: bool = False
    schema: Schema | None = field(default=None, repr=False, compare=False)


@overload
def tool(function: Function) -> Function: ...
@overload
def tool(*, confirm: bool = False) -> Callable[[Function], Function]: ...
def tool(function: Any = None, *, confirm: bool = False) -> Any:
    """Mark a function for models to call; ``@tool(confirm=True)`` has the user asked before every call of it.

    A function without this mark may be offered as well. It stays callable as it was. Raises InvalidRequestError for
    what is no function.
    """
    if function is None:
        return partial(tool, confirm=confirm)
    inner = function.__func__ if isinstance(function, staticmethod | classmethod) else function
    name = _name_of(inner)
    try:
        setattr(inner, _MARK, confirm)
    except AttributeError:  # of a function of C, or a method of an instance
        raise InvalidRequestError(f"{name} cannot be marked with @tool: mark a function that calls it.") from None
    return function


def as_tools(functions: Iterable[object]) -> tuple[Tool, ...]:
    """Return functions as tools, each once. Raises InvalidRequestError, also for two of one name."""
    found = dict[str, Tool]()
    for each in map(as_tool, functions):
        name = each.spec.name
        if found.setdefault(name, each).function != each.function:
            raise InvalidRequestError(f"Two functions are named {name}: define one of them by another name.")
    return tuple(found.values())


def as_tool(function: object) -> Tool:
    """Return a function as a tool: its type hints tell the arguments, its docstring the descriptions.

    Methods, partials, callable objects and async functions are taken, too; what a partial binds by name is not offered.
    Raises InvalidRequestError.
    """
    if type(function) is Tool:
        return function
    name, layers = _name_of(function), _layers(function)
    texts = (inspect.getdoc(layer) for layer in reversed(layers) if not isinstance(layer, partial))
    description, parameter_texts = read_docstring(Redactor().masked(next(filter(None, texts), "")))
    schema = schema_of(function, parameter_texts)
    spec = ToolSpec(name, description[:_MOST_DESCRIPTION], schema.json)
    confirm = any(inspect.getattr_static(layer, _MARK, False) is True for layer in layers)
    return Tool(spec, layers[0], confirm, schema)


def read_docstring(docstring: str) -> tuple[str, dict[str, str]]:
    """Return what a docstring says, without the sections about parameters, and what it says of each parameter."""
    text, parameters = f"{cleandoc(docstring)}\n", dict[str, str]()
    for section, item in ((_GOOGLE, _GOOGLE_ITEM), (_NUMPY, _NUMPY_ITEM)):
        for found in re.finditer(section, text):
            for names, words in (each.groups()[:2] for each in re.finditer(item, dedent(found[1]))):
                parameters |= {name.strip(" *"): " ".join(words.split()) for name in names.split(",")}
        text = re.sub(section, "\n", text)
    return re.sub(r"\n\s*\n", "\n\n", text).strip(), parameters


def schema_of(function: Any, texts: Mapping[str, str] | None = None) -> Schema:
    """Return what the arguments of a function must be; ``texts`` describe parameters. Raises InvalidRequestError."""
    name = _name_of(function)
    parameters = _parameters(name, function)
    try:
        adapter, root = _adapter(name, parameters, texts or {})
    except Exception as error:  # pydantic's, or of a class of the user's
        for each in parameters:
            with suppress(Exception):
                _adapter(name, [each], {})
                continue
            kind = inspect.formatannotation(each.annotation)
            raise InvalidRequestError(
                f"{name}: a model cannot write the parameter {each.name}, of type {kind}: bind it with "
                f"functools.partial({name}, {each.name}=…), or let the function look it up by a text."
            ) from None
        raise InvalidRequestError(f"{name}: its arguments have no JSON schema ({format_error(error)}).") from None
    return Schema(dict, name, root, adapter)


def _parameters(name: str, function: Any) -> list[inspect.Parameter]:
    """Return the parameters that a model may give, each with its type. Raises InvalidRequestError."""
    layers = _layers(function)
    bound = {key for layer in layers if isinstance(layer, partial) for key in layer.keywords}
    try:
        parameters = inspect.signature(function).parameters.values()
        hints = get_type_hints(layers[-1], include_extras=True) if isinstance(layers[-1], FunctionType) else {}
    except Exception as error:  # a function of C without a signature, a type that is not defined
        problem = f"{name}: its parameters cannot be read ({format_error(error)})"
        raise InvalidRequestError(f"{problem}: give a function with type hints that calls it.") from None
    found = list[inspect.Parameter]()
    for each in parameters:
        if each.name in bound or each.kind is each.VAR_KEYWORD:
            continue
        if each.name == "self" and isinstance(function, FunctionType):
            raise InvalidRequestError(f"{name} is a method of a class: give that of an instance, as in shop.{name}.")
        if not _NAME.fullmatch(each.name):
            raise InvalidRequestError(f"{name}: rename the parameter {each.name[:80]}, as {_PROVIDERS_TAKE}.")
        untyped = type(each.default) if type(each.default) in _PLAIN_TYPES else str
        found.append(each.replace(annotation=hints.get(each.name, untyped)))
    return found


def _field(parameter: inspect.Parameter, text: str | None) -> Any:
    """Return a parameter as a TypedDict declares it."""
    from pydantic import Field

    kind: Any = for_pydantic(parameter.annotation)
    is_many = parameter.kind is parameter.VAR_POSITIONAL
    is_needed = parameter.default is parameter.empty and not is_many
    if is_many or parameter.default is None:
        kind = list[kind] if is_many else Union[kind, None]  # noqa: UP007  # kind is a value here
    about = Field(description=text, json_schema_extra=_default_in_schema(parameter))
    return (Required if is_needed else NotRequired)[Annotated[kind, about]]


def _default_in_schema(parameter: inspect.Parameter) -> dict[str, Any]:
    """Return a default as a schema names it; empty: it is no JSON, long, or a secret."""
    default = parameter.default
    with suppress(TypeError, ValueError, RecursionError):
        text = json.dumps(default, allow_nan=False)
        redactor = Redactor()
        is_secret = redactor.is_secret(parameter.name, default) or redactor.contains_secret(text)
        if default is not None and len(text) <= _MOST_DEFAULT and not is_secret:
            return {"default": json.loads(text)}
    return {}


def _adapter(name: str, parameters: list[inspect.Parameter], texts: Mapping[str, str]) -> tuple[Any, dict[str, Any]]:
    """Return pydantic's adapter for a dict of arguments, and its JSON schema. Raises whatever pydantic raises."""
    from pydantic import ConfigDict, TypeAdapter
    from pydantic.json_schema import GenerateJsonSchema
    from typing_extensions import TypedDict

    class WithoutTitles(GenerateJsonSchema):  # of parameters: tokens that tell nothing
        def field_title_should_be_set(self, _: Any) -> bool:
            return False

    make: Any = TypedDict  # whose names are known as it runs
    arguments = make(name, {each.name: _field(each, texts.get(each.name)) for each in parameters})
    arguments.__pydantic_config__ = ConfigDict(extra="forbid", coerce_numbers_to_str=True)
    adapter = TypeAdapter(arguments)
    with catch_warnings(action="ignore"):  # of defaults that JSON does not have
        root = adapter.json_schema(schema_generator=WithoutTitles)
    return adapter, {key: value for key, value in root.items() if key != "title"}


def _layers(function: Any) -> list[Any]:
    """Return what a call goes through, from the outside in: partials, methods, decorators, objects with __call__."""
    layers = [function]
    for outer in layers:  # which grows
        wrapped = inspect.getattr_static(outer, "__wrapped__", None)
        if isinstance(outer, partial | MethodType):
            layers.append(outer.func if isinstance(outer, partial) else outer.__func__)
        elif wrapped is not None and len(layers) < _MOST_LAYERS:  # a decorator may name itself
            layers.append(wrapped)
        elif not inspect.isroutine(outer):
            layers.append(type(outer).__call__)
    return layers


def _name_of(function: Any) -> str:
    """Return the name of a function; an object with __call__ may have that of its class. Raises InvalidRequestError."""
    while isinstance(function, partial):
        function = function.func
    kind = type(function).__name__
    if described(function) in ("a class", "a module") or not callable(function):
        value = f"The text {function[:40]!r}" if kind == "str" else getattr(function, "__name__", f"A {kind}")
        raise InvalidRequestError(f"{value} is not a function: give one that is defined with def, by its name.")
    name = str(getattr(function, "__name__", kind))
    if not _NAME.fullmatch(name):
        raise InvalidRequestError(f"{name!r:.80} cannot name a tool: define it with def, as {_PROVIDERS_TAKE}.")
    return name
