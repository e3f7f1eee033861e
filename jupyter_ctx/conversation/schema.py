"""What an answer must be: the JSON schema of a class or as given, and the values that answers are turned into.

An answer is taken where it is one JSON object, alone, in a code fence or with words around it, as long as nothing
else in it could be meant. It is checked against everything that the schema says, whatever a provider makes of that.

Strict modes (OpenAI's, Anthropic's) know a part of JSON Schema only, and want every object closed and every property
required. There is one form for all, of what all of them know: the rest is left out and told in the description
instead, for the model. A property that may be missing may be null there.

Sources: openai 3.54 ``lib/_pydantic.py`` and the guide "Structured Outputs"; anthropic 2.12
``lib/_parse/_transform.py``; google-genai 3.4 ``types.GenerateContentConfig.response_json_schema``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

from ..errors import InvalidAnswerError, InvalidRequestError
from .text_safety import clean

SCHEMA_KINDS = "a pydantic model, a dataclass, a TypedDict or a JSON schema (a dict)"
MOST_NAME = 64  # characters of a schema's name that providers take
MOST_PROBLEMS = 5  # that an error lists
MOST_SHOWN = 200  # characters of one problem
FOREIGN_REFERENCE = re.compile(r'"\$(?:ref|dynamicRef|recursiveRef)": "([^#"][^"]*)"')


def read_object(text: str) -> dict[str, Any]:
    """Return the JSON object in an answer. Raises ValueError, in words for the model, where it is not clear which."""
    whole = text.strip()
    begin = whole.find("{")
    if begin < 0 or whole.startswith("["):
        raise ValueError("it is no JSON object")
    try:
        value, end = json.JSONDecoder().raw_decode(whole, begin)
        found: dict[str, Any] = json.loads(clean(json.dumps(value, ensure_ascii=False, allow_nan=False)))
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no valid JSON ({error})") from None
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None
    before, after = whole[:begin].rstrip(), whole[end:].lstrip()
    if "}" in before or "{" in after or "}" in after or before.endswith("[") or after.startswith("]"):
        raise ValueError("there is more than one JSON object in it, or braces or brackets beside it")
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """What an answer must be: an object of named fields. :meth:`of` makes one.

    kind: the class, or the JSON schema, that was given
    name: of letters, digits, ``_`` and ``-``
    json: the JSON Schema of the object; its root has "type": "object"
    adapter: pydantic's ``TypeAdapter`` of a class; ``None`` of a JSON schema
    """

    kind: Any
    name: str
    json: dict[str, Any]
    adapter: Any = None

    @classmethod
    def of(cls, kind: Any) -> Schema:
        """Return the schema of a pydantic model, a dataclass or a TypedDict, or of a JSON schema.

        Raises InvalidRequestError for anything else, and for a schema that is invalid or whose root is no object.
        """
        if isinstance(kind, Schema):
            return kind
        if isinstance(kind, Mapping):
            given = _checked_json(kind)
            return cls(given, _name(given.get("title")), _rooted(given, "the JSON schema"))
        if not isinstance(kind, type):
            raise InvalidRequestError(f"schema is {_short(repr(kind))}: it must be {SCHEMA_KINDS}.")
        from pydantic import TypeAdapter

        try:
            adapter: Any = TypeAdapter(for_pydantic(kind))
            given = adapter.json_schema()
        except Exception as error:  # of types that JSON does not have, and of names that are not defined
            raise InvalidRequestError(f"{kind.__name__} has no JSON schema: {_short(str(error))}.") from None
        return cls(kind, _name(kind.__name__), _rooted(given, kind.__name__), adapter)

    def parse(self, text: str) -> Any:
        """Return the value of an answer: an instance of the class, or a dict. Raises InvalidAnswerError."""
        try:
            value = read_object(text)
            found, problems = self._converted(value)
            if problems:  # a strict mode has null for what may be missing
                found, problems = self._converted(_without_nulls(value))
        except ValueError as error:
            problems = [str(error)]
        if not problems:
            return found
        lines = tuple(map(_short, problems[:MOST_PROBLEMS]))
        message = f"The answer is not a valid {self.name}: {'; '.join(lines)}."
        raise InvalidAnswerError(message, text=text, problems=lines)

    def _converted(self, value: dict[str, Any]) -> tuple[Any, list[str]]:
        """Return the value as its kind, and what is wrong with it, a line each."""
        if self.adapter is None:
            return value, _problems(value, self.kind)
        from pydantic import ValidationError

        try:
            return self.adapter.validate_json(json.dumps(value)), []
        except ValidationError as error:
            return None, [_at(each["loc"], each["msg"]) for each in error.errors()]
        except Exception as error:  # whatever a class of the user's raises
            return None, [f"{type(error).__name__}: {error}"]


def _at(path: Iterable[str | int], problem: str) -> str:
    return ": ".join(filter(None, (".".join(map(str, path)), problem)))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(part) for name, part in value.items() if part is not None}
    return [_without_nulls(part) for part in value] if isinstance(value, list) else value


def _short(problem: str) -> str:
    line = " ".join(problem.split()).rstrip(".")
    return line if len(line) <= MOST_SHOWN else f"{line[: MOST_SHOWN - 1]}…"


def _name(title: object) -> str:
    """Return a name that providers take."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", title if isinstance(title, str) else "").strip("_")[:MOST_NAME] or "answer"


def for_pydantic(kind: Any) -> Any:
    """Return a type whose TypedDicts are those of typing_extensions: before Python 3.12, pydantic takes no others."""
    import typing_extensions

    origin, args = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        hints = get_type_hints(kind, include_extras=True)
        for name, hint in hints.items():
            is_marked = get_origin(hint) in (Required, NotRequired)
            presence = Required if name in kind.__required_keys__ else NotRequired
            hints[name] = for_pydantic(hint if is_marked else presence[hint])
        return typing_extensions.TypedDict(kind.__name__, hints)  # type: ignore[operator]
    if not args:
        return kind
    inner = tuple(map(for_pydantic, args))
    if origin in (Union, UnionType):
        return Union[inner]  # noqa: UP007
    return origin[inner if len(inner) > 1 else inner[0]]


def _checked_json(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a JSON schema. Raises InvalidRequestError where it is none, or refers to another one."""
    import jsonschema

    try:
        copy: dict[str, Any] = json.loads(json.dumps(dict(given), allow_nan=False))
        jsonschema.validators.validator_for(copy, jsonschema.Draft202012Validator).check_schema(copy)
    except (TypeError, ValueError, RecursionError, jsonschema.SchemaError) as error:
        problem = _short(str(error).partition("\n")[0])
        raise InvalidRequestError(f"The JSON schema is invalid: {problem}.") from None
    foreign = FOREIGN_REFERENCE.search(json.dumps(copy))
    if foreign:  # which would be fetched
        raise InvalidRequestError(f"The schema refers to {foreign[1]!r}: only parts of itself (#/$defs/…) will do.")
    return copy


def _rooted(given: dict[str, Any], whose: str) -> dict[str, Any]:
    """Return a schema whose root is an object, not a reference to one. Raises InvalidRequestError where it is none."""
    root = resolved(given["$ref"], given) if "$ref" in given else given
    if root.get("type", "object" if "properties" in root else None) not in ("object", ["object"]):
        raise InvalidRequestError(
            f"The root of {whose} is no object, and an answer must be one: put it into a field, such as "
            '{"type": "object", "properties": {"items": …}}.'
        )
    groups = {name: given[name] for name in DEFINITIONS if name in given}
    return {**root, "type": "object", **groups}


def _problems(value: dict[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Return what a JSON schema does not allow of a value, a line each."""
    import jsonschema

    chosen = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    validator = chosen(schema, format_checker=chosen.FORMAT_CHECKER)
    try:
        return [_at(error.absolute_path, error.message) for error in validator.iter_errors(value)]
    except Exception as error:  # a pattern or a reference that only the check of a value finds broken
        return [f"the schema cannot be applied ({error})"]


# the form of a schema that strict modes take

DEFINITIONS = ("$defs", "definitions")
NOT_TOLD = ("title", "description", "definitions")  # in a description
SHAPING = frozenset({"allOf", "patternProperties", "prefixItems", "$dynamicRef", "unevaluatedProperties"})
LITERAL_TYPES = {str: "string", int: "integer", float: "number"}  # of listed values, of which Gemini knows no others


def strict_form(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a schema with all objects closed and all properties required; ``None``: no strict mode can say it.

    What a reference means stands in its place, so that a part that holds itself has no end, and no such form.
    """
    try:
        return _strict(schema, schema)
    except (ValueError, RecursionError):
        return None


def resolved(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a schema that a reference such as ``#/$defs/Name`` means; nothing where there is none."""
    found: Any = root
    for part in reference.removeprefix("#").split("/")[1:]:
        found = found.get(part) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _strict(node: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return one part of a schema as strict modes take it. Raises ValueError where they cannot say it."""
    if not isinstance(node, Mapping) or node.keys() & SHAPING:
        raise ValueError("this has no strict form")
    if "$ref" in node:
        more = {name: value for name, value in node.items() if name != "$ref"}
        return _strict({**resolved(node["$ref"], schema), **more}, schema)
    rest = {name: value for name, value in node.items() if not name.startswith("$") and value is not None}
    branches = rest.pop("anyOf", None) or rest.pop("oneOf", None)
    if branches and "properties" in rest:
        raise ValueError("one of these beside fields has no strict form")
    kind = rest.pop("type", "object" if "properties" in rest else None)
    if branches:
        found: dict[str, Any] = {"anyOf": [_strict(branch, schema) for branch in branches]}
    elif "const" in rest or "enum" in rest:
        found = _literal([rest.pop("const")] if "const" in rest else rest.pop("enum"))
    else:
        found = _typed(kind, rest, schema)
    return _described(found, rest)


def _literal(values: list[Any]) -> dict[str, Any]:
    """Return a part that lists its values."""
    kinds = {LITERAL_TYPES.get(type(value)) for value in values}
    if len(kinds) != 1 or None in kinds:
        raise ValueError("values of several types have no strict form")
    return {"type": kinds.pop(), "enum": values}


def _typed(kind: Any, rest: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a type, and take the keywords that shape it out of ``rest``."""
    found, kinds = {"type": kind}, kind if isinstance(kind, list) else [kind]
    if None in kinds:
        raise ValueError("what may be anything has no strict form")
    if "object" in kinds:
        properties, required = rest.pop("properties", None), rest.pop("required", ())
        if not properties or rest.pop("additionalProperties", False):
            raise ValueError("an object with fields of any name has no strict form")
        parts = {name: _strict(part, schema) for name, part in properties.items()}
        for name in parts.keys() - required:
            part = parts[name]
            allows_null = "null" in part.get("type", ()) or {"type": "null"} in part.get("anyOf", ())
            if properties[name].get("default") is None and not allows_null:
                parts[name] = {"anyOf": [part, {"type": "null"}]}
        found |= {"properties": parts, "required": list(properties), "additionalProperties": False}
    if "array" in kinds:
        found["items"] = _strict(rest.pop("items", None), schema)
    return found


def _described(found: dict[str, Any], rest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part with a description, which tells the keywords that not all strict modes know."""
    more = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in rest.items() if name not in NOT_TOLD]
    told = f"({'; '.join(more)})" if more else ""
    description = " ".join(filter(None, (rest.get("description"), told)))
    return {**found, "description": description} if description else found
