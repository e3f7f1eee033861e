"""A JSON schema as providers take it for their structured outputs, which know a part of JSON Schema only.

Strict modes (OpenAI's, Anthropic's) want every object closed and every property required. What they do not know is
left out and told in the description instead, for the model; answers are checked against the whole schema here. A
property that may be missing may be null there: :func:`without_unset` takes such nulls out again.

Sources: openai 3.54 ``lib/_pydantic.py`` and the guide "Structured Outputs"; anthropic 2.12
``lib/_parse/_transform.py``; google-genai 3.4 ``types.GenerateContentConfig.response_json_schema``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

PLAIN_KEYWORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs",
     "definitions", "description", "title"}
)  # fmt: skip
BOUND_KEYWORDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern"})
STRING_FORMATS = frozenset(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"])
SILENT = frozenset({"$schema", "$id", "$comment", "$anchor", "examples", "deprecated", "readOnly", "writeOnly"})
SHAPING = frozenset({"patternProperties", "prefixItems", "$dynamicRef", "$recursiveRef", "unevaluatedProperties"})
MOST_LEVELS, MOST_PROPERTIES, MOST_ENUMS, MOST_CHARACTERS = 10, 5_000, 1_000, 120_000  # OpenAI
JSON_TYPES = ((bool, "boolean"), (str, "string"), (int, "integer"), (float, "number"), (type(None), "null"))


class SchemaForm(NamedTuple):
    """What a provider's structured output takes.

    kept: keywords that it knows; others are told in the description
    recursive: whether a part may hold itself
    few_items: whether minItems may be 0 or 1 only
    literals: whether ``const``, and lists of values that are neither text nor numbers, are known
    """

    kept: frozenset[str]
    recursive: bool = False
    few_items: bool = False
    literals: bool = True


OPENAI_FORM = SchemaForm(PLAIN_KEYWORDS | BOUND_KEYWORDS | {"format", "minItems", "maxItems"}, recursive=True)
ANTHROPIC_FORM = SchemaForm(PLAIN_KEYWORDS | {"format", "minItems"}, few_items=True)
GEMINI_FORM = SchemaForm(PLAIN_KEYWORDS | {"format", "minItems", "maxItems", "minimum", "maximum"}, literals=False)


class _NotStrict(Exception):  # noqa: N818  # found on the way, and never raised to a caller
    """A strict mode cannot say this."""


def strict_form(schema: Mapping[str, Any], form: SchemaForm) -> dict[str, Any] | None:
    """Return a schema with all objects closed and all properties required, in a form; ``None``: it has none."""
    try:
        strict = _Strict(schema, form).root()
    except (_NotStrict, RecursionError):
        return None
    return strict if _is_small(strict) else None


def resolved(reference: str, root: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the part of a schema that a reference such as ``#/$defs/Name`` means; ``None``: there is none."""
    found: Any = root
    for part in reference.removeprefix("#").split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        elif isinstance(found, Mapping) and part in found:
            found = found[part]
        else:
            return None
    return dict(found) if isinstance(found, Mapping) else None


def without_unset(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return an answer without the nulls of properties that may be missing and may not be null."""
    return _pruned(value, schema, schema)


def _pruned(value: Any, node: Any, root: Mapping[str, Any]) -> Any:
    node = _followed(node, root)
    if isinstance(value, list):
        return [_pruned(item, node.get("items"), root) for item in value]
    if not isinstance(value, dict):
        return value
    if "properties" not in node:
        branches = [branch for branch in (_followed(b, root) for b in _branches(node)) if "properties" in branch]
        node = branches[0] if len(branches) == 1 else {}
    properties, required = node.get("properties", {}), node.get("required", ())
    return {
        name: _pruned(inner, properties.get(name), root)
        for name, inner in value.items()
        if inner is not None or name in required or name not in properties or _allows_null(properties[name], root)
    }


def _branches(node: Mapping[str, Any]) -> list[Any]:
    return [*node.get("anyOf", ()), *node.get("oneOf", ())]


def _followed(node: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part of a schema, or what it refers to."""
    for _ in range(MOST_LEVELS):
        if not isinstance(node, Mapping):
            break
        if not isinstance(node.get("$ref"), str):
            return node
        node = resolved(node["$ref"], root)
    return {}


def _allows_null(node: Any, root: Mapping[str, Any]) -> bool:
    """Return whether a part of a schema allows null, as far as can be seen."""
    node = _followed(node, root)
    kinds = node.get("type", ())
    if "null" in (kinds if isinstance(kinds, list) else [kinds]) or (None in node.get("enum", ())):
        return True
    if not node.keys() - SILENT - {"title", "description", "default"}:
        return True  # it allows anything
    return any(_allows_null(branch, root) for branch in _branches(node))


class _Strict:
    """Rewrites one schema for one form."""

    def __init__(self, schema: Mapping[str, Any], form: SchemaForm) -> None:
        self._schema, self._form = schema, form
        self._open: list[str] = []  # references that are being rewritten
        self._defs: dict[str, Any] = {}
        self._names: dict[str, str] = {}  # the reference of each definition

    def root(self) -> dict[str, Any]:
        found = self._part(
            {name: value for name, value in self._schema.items() if name not in ("$defs", "definitions")}
        )
        if self._defs:
            found["$defs"] = self._defs
        return found

    def _part(self, node: Any) -> dict[str, Any]:
        """Return one part in the form. Raises _NotStrict."""
        if not isinstance(node, Mapping) or node.keys() & SHAPING:
            raise _NotStrict
        node = _unwrapped(node)
        if "$ref" in node:
            return self._reference(node)
        if "allOf" in node:
            raise _NotStrict
        rest = {name: value for name, value in node.items() if name not in SILENT and value is not None}
        found = self._shape(rest)
        for name in [name for name in rest if name in self._form.kept and self._is_kept(name, rest[name])]:
            found.setdefault(name, rest.pop(name))
        return _described(found, rest)

    def _is_kept(self, name: str, value: Any) -> bool:
        if name == "format":
            return value in STRING_FORMATS
        return not (name == "minItems" and self._form.few_items and value not in (0, 1))

    def _shape(self, rest: dict[str, Any]) -> dict[str, Any]:
        """Return what a part is, and take the keywords that say so out of ``rest``."""
        branches = rest.pop("anyOf", None) or rest.pop("oneOf", None)
        rest.pop("oneOf", None)
        if branches:
            if "properties" in rest:
                raise _NotStrict
            rest.pop("type", None)
            return {"anyOf": [self._part(branch) for branch in branches]}
        if "const" in rest or "enum" in rest:
            return self._literal(rest)
        kinds = rest.pop("type", "object" if "properties" in rest else None)
        if kinds is None:
            raise _NotStrict  # anything may stand here
        found: dict[str, Any] = {"type": kinds}
        if "object" in (kinds if isinstance(kinds, list) else [kinds]):
            found |= self._object(rest)
        if "array" in (kinds if isinstance(kinds, list) else [kinds]):
            found["items"] = self._part(rest.pop("items", None))
        return found

    def _literal(self, rest: dict[str, Any]) -> dict[str, Any]:
        values = [rest.pop("const")] if "const" in rest else rest.pop("enum")
        rest.pop("enum", None)
        kinds = list(dict.fromkeys(_json_type(value) for value in values))
        rest.pop("type", None)
        if not self._form.literals and set(kinds) - {"string", "integer", "number"}:
            raise _NotStrict
        return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": values}

    def _object(self, rest: dict[str, Any]) -> dict[str, Any]:
        properties, required = rest.pop("properties", None), rest.pop("required", ())
        if not properties or rest.pop("additionalProperties", False):
            raise _NotStrict  # its properties may have any name
        return {
            "properties": {name: self._property(part, name in required) for name, part in properties.items()},
            "required": list(properties),
            "additionalProperties": False,
        }

    def _property(self, part: Any, required: bool) -> dict[str, Any]:
        found = self._part(part)
        has_default = isinstance(part, Mapping) and part.get("default") is not None
        if required or has_default or _allows_null(part, self._schema):
            return found
        return {"anyOf": [found, {"type": "null"}]}

    def _reference(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """Return a reference alone; with a description beside it, what it means instead."""
        reference = node["$ref"]
        beside = {name: node[name] for name in ("title", "description", "default") if node.get(name) is not None}
        definition = resolved(reference, self._schema)
        if definition is None or node.keys() - SILENT - beside.keys() - {"$ref", "default"}:
            raise _NotStrict
        if reference in self._open and not self._form.recursive:
            raise _NotStrict
        if reference not in self._open and beside:
            self._open.append(reference)
            try:
                return self._part({**definition, **beside})
            finally:
                self._open.pop()
        return self._defined(reference, definition)

    def _defined(self, reference: str, definition: dict[str, Any]) -> dict[str, Any]:
        if reference == "#":
            return {"$ref": "#"}
        name = reference.rpartition("/")[2]
        if self._names.setdefault(name, reference) != reference:
            raise _NotStrict  # another part has the same name
        if name not in self._defs:
            self._defs[name] = {}  # in the order of first mention, and known to what it holds
            self._open.append(reference)
            try:
                self._defs[name] = self._part(definition)
            finally:
                self._open.pop()
        return {"$ref": f"#/$defs/{name}"}


def _unwrapped(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part that is wrapped in an allOf of its own, without that."""
    inner = node.get("allOf")
    if isinstance(inner, list) and len(inner) == 1 and isinstance(inner[0], Mapping):
        return {**inner[0], **{name: value for name, value in node.items() if name != "allOf"}}
    return node


def _described(found: dict[str, Any], left: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part whose description tells what the form leaves out."""
    if left:
        left_out = "; ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in left.items())
        found["description"] = " ".join(filter(None, (found.get("description"), f"({left_out})")))
    return found


def _json_type(value: Any) -> str:
    """Return the JSON type of a value in a list of values. Raises _NotStrict for lists and objects."""
    for kind, name in JSON_TYPES:
        if isinstance(value, kind):
            return name
    raise _NotStrict


def _is_small(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema is within the limits that OpenAI states."""
    properties, values, characters, levels = _measured(schema, 0)
    within = properties <= MOST_PROPERTIES and values <= MOST_ENUMS
    return within and characters <= MOST_CHARACTERS and levels <= MOST_LEVELS


def _measured(node: Any, level: int) -> tuple[int, int, int, int]:
    """Return how many properties and listed values there are, their characters, and the levels of objects."""
    if not isinstance(node, dict | list):
        return 0, 0, 0, level
    if isinstance(node, list):
        parts = [_measured(inner, level) for inner in node]
        return _joined(parts, level)
    properties = node.get("properties", {})
    values = node.get("enum", [])
    level += bool(properties)
    parts = [_measured(inner, level) for name, inner in node.items() if name not in ("properties", "enum", "$defs")]
    parts += [_measured(inner, level) for inner in properties.values()]
    parts += [_measured(inner, 0) for inner in node.get("$defs", {}).values()]
    characters = sum(len(str(each)) for each in [*properties, *values, *node.get("$defs", {})])
    count, listed, length, deepest = _joined(parts, level)
    return count + len(properties), listed + len(values), length + characters, deepest


def _joined(parts: list[tuple[int, int, int, int]], level: int) -> tuple[int, int, int, int]:
    sums = [sum(part[i] for part in parts) for i in range(3)]
    return sums[0], sums[1], sums[2], max([level, *(part[3] for part in parts)])
