"""What an answer must be: the JSON schema of a class or as given, and the values that answers are turned into.

An answer is taken where it is one JSON object, alone, in a code fence or with words around it, as long as nothing
else in it could be meant. It is checked against everything that the schema says, whatever a provider makes of that.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_origin, is_typeddict

from ..errors import InvalidAnswerError, InvalidRequestError
from .schema_forms import resolved, without_unset
from .text_safety import clean


def read_object(text: str) -> dict[str, Any]:
    """Return the JSON object in an answer. Raises ValueError, in words for the model, where it is not clear which."""
    whole = text.strip()
    if not whole:
        raise ValueError("it is empty")
    begin = whole.find("{")
    if begin < 0 or whole.startswith("["):
        raise ValueError("it is no JSON object")
    try:
        value, end = DECODER.raw_decode(whole, begin)
    except json.JSONDecodeError as error:
        unfinished = error.pos >= len(whole) or error.msg.startswith("Unterminated")
        where = "it breaks off" if unfinished else f"character {error.pos + 1:,}"
        raise ValueError(f"it is no valid JSON ({error.msg}: {where})") from None
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None
    before, after = whole[:begin].rstrip(), whole[end:].lstrip()
    if "}" in before or "{" in after or "}" in after:
        raise ValueError("there is more than one JSON object in it, or braces beside it")
    if before.endswith("[") or after.startswith("]"):
        raise ValueError("it is a JSON array, not an object")
    found: dict[str, Any] = json.loads(clean(json.dumps(value, ensure_ascii=False, allow_nan=False)))
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises ValueError where a name is there twice: either value may be meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is in it twice")
    return found


def _refused(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refused)


SchemaSource: TypeAlias = Literal["pydantic", "pydantic dataclass", "dataclass", "TypedDict", "JSON schema"]
SCHEMA_KINDS = "a pydantic model, a dataclass, a TypedDict or a JSON schema (a dict)"
JSON_SCHEMA = "the JSON schema"  # as messages call it
MOST_NAME = 64  # characters of a name that providers take
MOST_PROBLEMS = 5  # that an error lists
MOST_SHOWN = 200  # characters of one problem
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """What an answer must be: an object of named fields. :meth:`of` makes one.

    kind: the class, or the JSON schema, that was given
    name: of letters, digits, ``_`` and ``-``
    json: the JSON Schema of the object; its root has "type": "object"
    source: what ``kind`` is
    """

    kind: Any
    name: str
    json: Mapping[str, Any]
    source: SchemaSource

    @classmethod
    def of(cls, kind: Any) -> Schema:
        """Return the schema of a pydantic model, a dataclass or a TypedDict, or of a JSON schema.

        Raises InvalidRequestError for anything else, and for a schema that is invalid or whose root is no object.
        """
        if isinstance(kind, Schema):
            return kind
        if isinstance(kind, Mapping):
            given = _checked_json(kind)
            return cls(given, _name(given.get("title")), _rooted(given, JSON_SCHEMA), "JSON schema")
        source = _source(kind)
        return cls(kind, _name(kind.__name__), _rooted(_schema_of(kind, source), kind.__name__), source)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the top-level fields, in order."""
        if self.source == "pydantic":
            return tuple(self.kind.model_fields)
        if self.source in ("dataclass", "pydantic dataclass"):
            return tuple(field.name for field in dataclasses.fields(self.kind))
        return tuple(self.json.get("properties", {}))

    def parse(self, text: str) -> Any:
        """Return the value of an answer: an instance of the class, or a dict. Raises InvalidAnswerError."""
        try:
            value = without_unset(read_object(text), self.json)
            found = self._converted(value)
        except _Mismatch as wrong:
            problems = wrong.problems
        except ValueError as error:
            problems = (str(error),)
        else:
            return found
        said = "; ".join(problem.rstrip(".") for problem in problems)
        raise InvalidAnswerError(f"The answer is not a valid {self.name}: {said}.", text=text, problems=problems)

    def fields(self, value: Any) -> dict[str, object]:
        """Return the top-level fields of a value by name; one that the value does not have is ``None``."""
        if isinstance(value, Mapping):
            return {**dict.fromkeys(self.columns), **value}
        return {name: getattr(value, name, None) for name in self.columns}

    def _converted(self, value: dict[str, Any]) -> Any:
        """Return the value as its kind. Raises _Mismatch."""
        if self.source == "JSON schema":
            return _validated(value, self.kind)
        text = json.dumps(value)
        if self.source == "pydantic":
            return _by_pydantic(self.kind.model_validate_json, text)
        if self.source == "pydantic dataclass":
            return _by_pydantic(_adapter(self.kind).validate_json, text)
        return _by_msgspec(self.kind, text)


class _Mismatch(Exception):  # noqa: N818  # an answer's, to be put into words
    """What is wrong with an answer, a line each."""

    def __init__(self, problems: Iterator[str]) -> None:
        found = [_short(problem) for problem in problems]
        more = len(found) - MOST_PROBLEMS
        self.problems = (*found[:MOST_PROBLEMS], *([f"and {more:,} more"] if more > 0 else ()))
        super().__init__(self.problems)


def _short(problem: str) -> str:
    line = " ".join(problem.split())
    return line if len(line) <= MOST_SHOWN else f"{line[: MOST_SHOWN - 1]}…"


def _name(said: object) -> str:
    """Return a name that providers take."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", said if isinstance(said, str) else "").strip("_")[:MOST_NAME] or "answer"


def _source(kind: Any) -> SchemaSource:
    """Return what a class is. Raises InvalidRequestError for what none of these is."""
    if isinstance(kind, type) and hasattr(kind, "model_json_schema") and hasattr(kind, "model_validate_json"):
        return "pydantic"
    if is_typeddict(kind) or _is_typed_dict_of_extensions(kind):
        return "TypedDict"
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return "pydantic dataclass" if hasattr(kind, "__pydantic_validator__") else "dataclass"
    raise InvalidRequestError(f"schema is {_short(repr(kind))}: it must be {SCHEMA_KINDS}.{_hint(kind)}")


def _is_typed_dict_of_extensions(kind: Any) -> bool:
    extensions = sys.modules.get("typing_extensions")
    return extensions is not None and bool(extensions.is_typeddict(kind))


def _hint(kind: Any) -> str:
    """Return what to give instead, where that can be told."""
    owner = type(kind)
    if dataclasses.is_dataclass(owner) or hasattr(owner, "model_json_schema"):
        return f" Give the class, {owner.__name__}, not an instance of it."
    if any(kind is each for each in (str, int, float, bool, list)) or get_origin(kind) is not None:
        return " A value of another type goes into a field: class Answer(TypedDict): items: list[str]."
    if isinstance(kind, str):
        return " Its name alone is understood by %%chat --schema NAME only."
    return ""


def _schema_of(kind: Any, source: SchemaSource) -> dict[str, Any]:
    """Return the JSON schema of a class. Raises InvalidRequestError where it has none."""
    import msgspec

    makers: dict[SchemaSource, Callable[[], dict[str, Any]]] = {
        "pydantic": lambda: kind.model_json_schema(),
        "pydantic dataclass": lambda: _adapter(kind).json_schema(),
    }
    try:
        made = makers.get(source, lambda: msgspec.json.schema(kind))()
    except Exception as error:  # of types that JSON does not have, and of names that are not defined
        raise InvalidRequestError(f"{kind.__name__} has no JSON schema: {_short(str(error))}") from None
    return made


def _adapter(kind: Any) -> Any:
    """Return pydantic's adapter of a dataclass of its own: whoever made that has imported pydantic."""
    return sys.modules["pydantic"].TypeAdapter(kind)


def _checked_json(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a JSON schema. Raises InvalidRequestError where it is none, or refers to another one."""
    import jsonschema

    try:
        copy: dict[str, Any] = json.loads(json.dumps(dict(given), allow_nan=False))
        jsonschema.validators.validator_for(copy, jsonschema.Draft202012Validator).check_schema(copy)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequestError(f"schema cannot be written as JSON: {_short(str(error))}.") from None
    except jsonschema.SchemaError as error:
        raise InvalidRequestError(
            f"The JSON schema is invalid at {error.json_path}: {_short(error.message)}."
        ) from None
    for node in _nodes(copy):
        _check_references(node, copy)
    return copy


def _nodes(found: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in a JSON value."""
    if isinstance(found, dict):
        yield found
    for inner in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        yield from _nodes(inner)


def _check_references(node: dict[str, Any], root: dict[str, Any]) -> None:
    """Raise InvalidRequestError for a reference out of the schema, which would be fetched, or to nothing in it."""
    for name in REFERENCES:
        target = node.get(name)
        if not isinstance(target, str):
            continue
        if not target.startswith("#"):
            raise InvalidRequestError(
                f"The JSON schema refers to {target!r}: only parts of itself (#/$defs/…) will do."
            )
        if target.startswith("#/") and resolved(target, root) is None:
            raise InvalidRequestError(f"The JSON schema refers to {target!r}, which it does not have.")


def _rooted(given: dict[str, Any], whose: str) -> dict[str, Any]:
    """Return a schema whose root is an object, not a reference to one. Raises InvalidRequestError where it is none."""
    found: Any = given
    for _ in range(len(given.get("$defs", ())) + 2):
        if "$ref" not in found:
            break
        found = resolved(found["$ref"], given) or {}
    kind = found.get("type", "object" if "properties" in found else None)
    kind = kind[0] if isinstance(kind, list) and len(kind) == 1 else kind
    if kind != "object":
        raise InvalidRequestError(
            f"The root of {whose} is {'no object' if kind is None else f'of type {kind!r}'}, and an answer must be an "
            'object: put it into a field, such as {"type": "object", "properties": {"items": …}}.'
        )
    if not found.get("properties") and whose != JSON_SCHEMA:
        raise InvalidRequestError(f"{whose} has no fields, so there is nothing to ask for.")
    return _with_definitions({**found, "type": "object"}, given)


def _with_definitions(root: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return a root with the definitions of the given schema, without that of the root where nothing refers to it."""
    for group in ("$defs", "definitions"):
        held = given.get(group, {})
        own = given.get("$ref", "").removeprefix(f"#/{group}/")
        if own in held and f'"#/{group}/{own}"' not in json.dumps(held):
            held = {name: part for name, part in held.items() if name != own}
        root = {**root, group: held} if held else root
    return root


def _validated(value: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value that a JSON schema allows. Raises _Mismatch."""
    import jsonschema

    chosen = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    errors = chosen(schema, format_checker=chosen.FORMAT_CHECKER).iter_errors(value)
    try:
        found = sorted(errors, key=lambda error: (len(error.absolute_path), error.json_path))
    except Exception as error:  # a pattern or a reference that only the check of a value finds broken
        raise _Mismatch(iter([f"the schema cannot be applied ({error})"])) from None
    if found:
        raise _Mismatch(f"{_place(error.absolute_path)}{error.message}" for error in found)
    return value


def _place(path: Any) -> str:
    """Return where in an answer something is, with a colon behind it; empty: the whole."""
    place = ".".join(map(str, path))
    return f"{place}: " if place else ""


def _by_pydantic(validate: Callable[[str], Any], text: str) -> Any:
    """Return what pydantic makes of a JSON text. Raises _Mismatch."""
    try:
        return validate(text)
    except Exception as error:  # pydantic's own, or whatever a validator of the user's raises
        listed = getattr(error, "errors", None)
        if not callable(listed):
            raise _Mismatch(iter([f"{type(error).__name__}: {error}"])) from None
        raise _Mismatch(f"{_place(each['loc'])}{each['msg']}" for each in listed()) from None


def _by_msgspec(kind: Any, text: str) -> Any:
    """Return what msgspec makes of a JSON text. Raises _Mismatch."""
    import msgspec

    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        said, _, place = str(error).partition(" - at `$.")
        raise _Mismatch(iter([f"{place.rstrip('`')}: {said}" if place else said])) from None
    except Exception as error:  # whatever __post_init__ raises
        raise _Mismatch(iter([f"{type(error).__name__}: {error}"])) from None
