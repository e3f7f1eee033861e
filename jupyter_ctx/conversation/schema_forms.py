"""A JSON schema as providers take it for their structured outputs, which know a part of JSON Schema only.

Strict modes (OpenAI's, Anthropic's) want every object closed and every property required. What they do not know is
left out and told in the description instead, for the model; answers are checked against the whole schema here. A
property that may be missing may be null there.

Sources: openai 3.54 ``lib/_pydantic.py`` and the guide "Structured Outputs"; anthropic 2.12
``lib/_parse/_transform.py``; google-genai 3.4 ``types.GenerateContentConfig.response_json_schema``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

PLAIN_KEYWORDS = frozenset({"description", "title"})
BOUND_KEYWORDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern"})
STRING_FORMATS = frozenset(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"])
SILENT = frozenset({"$schema", "$id", "$comment", "$anchor", "examples", "deprecated", "readOnly", "writeOnly"})
SHAPING = frozenset({"patternProperties", "prefixItems", "$dynamicRef", "$recursiveRef", "unevaluatedProperties"})
DEFINITIONS = ("$defs", "definitions")
JSON_TYPES = {bool: "boolean", str: "string", int: "integer", float: "number", type(None): "null"}


class SchemaForm(NamedTuple):
    """What a provider's structured output takes.

    kept: keywords that it knows beside those that shape a value; others are told in the description
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
    groups = {group: schema[group] for group in DEFINITIONS if group in schema}
    root = {name: value for name, value in schema.items() if name not in groups}
    if not form.recursive and _holds_itself(root, groups):
        return None
    try:
        found = _strict(root, schema, form)
        for group, parts in groups.items():
            found[group] = {name: _strict(part, schema, form) for name, part in parts.items()}
    except (_NotStrict, RecursionError):
        return None
    return found


def _holds_itself(root: Mapping[str, Any], groups: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether a part of a schema refers to itself, at once or by others."""
    parts = {f"#/{group}/{name}": part for group, parts in groups.items() for name, part in parts.items()}
    refers = {name: set(re.findall(r'"\$ref": "([^"]*)"', json.dumps(part))) for name, part in parts.items()}
    while ends := [name for name, others in refers.items() if not others & refers.keys()]:
        for name in ends:
            del refers[name]
    return bool(refers) or '"$ref": "#"' in json.dumps([root, groups])


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


def _strict(node: Any, schema: Mapping[str, Any], form: SchemaForm) -> dict[str, Any]:
    """Return one part of a schema in a form. Raises _NotStrict."""
    if not isinstance(node, Mapping) or node.keys() & SHAPING:
        raise _NotStrict
    rest = {name: value for name, value in node.items() if name not in SILENT and value is not None}
    wrapped = rest.pop("allOf", None)
    if wrapped is not None:
        if len(wrapped) != 1 or not isinstance(wrapped[0], Mapping):
            raise _NotStrict
        return _strict({**wrapped[0], **rest}, schema, form)
    if "$ref" in rest:
        return _reference(rest, schema, form)
    branches = rest.pop("anyOf", None) or rest.pop("oneOf", None)
    if branches:
        if "properties" in rest:
            raise _NotStrict
        rest.pop("type", None)
        found: dict[str, Any] = {"anyOf": [_strict(branch, schema, form) for branch in branches]}
    else:
        is_listed = "const" in rest or "enum" in rest
        found = _literal(rest, form) if is_listed else _typed(rest, schema, form)
    return _with_keywords(found, rest, form)


def _reference(node: Mapping[str, Any], schema: Mapping[str, Any], form: SchemaForm) -> dict[str, Any]:
    """Return a reference alone; with a description beside it, what it means instead. Raises _NotStrict."""
    reference = node["$ref"]
    definition = resolved(reference, schema)
    is_definition = reference == "#" or reference.rpartition("/")[0] in ("#/$defs", "#/definitions")
    if definition is None or not is_definition or node.keys() - {"$ref", "title", "description", "default"}:
        raise _NotStrict
    if len(node) == 1:
        return {"$ref": reference}
    return _strict({**definition, **node, "$ref": None}, schema, form)


def _typed(rest: dict[str, Any], schema: Mapping[str, Any], form: SchemaForm) -> dict[str, Any]:
    """Return a part of a type, and take the keywords that say so out of ``rest``."""
    found: dict[str, Any] = {"type": rest.pop("type", "object" if "properties" in rest else None)}
    kinds = found["type"] if isinstance(found["type"], list) else [found["type"]]
    if None in kinds:
        raise _NotStrict  # anything may stand here
    if "object" in kinds:
        properties, required = rest.pop("properties", None), rest.pop("required", ())
        if not properties or rest.pop("additionalProperties", False):
            raise _NotStrict  # its properties may have any name
        parts = {name: _strict(part, schema, form) for name, part in properties.items()}
        for name in parts.keys() - required:
            parts[name] = _or_null(properties[name], parts[name])
        found |= {"properties": parts, "required": list(properties), "additionalProperties": False}
    if "array" in kinds:
        found["items"] = _strict(rest.pop("items", None), schema, form)
    return found


def _with_keywords(found: dict[str, Any], rest: Mapping[str, Any], form: SchemaForm) -> dict[str, Any]:
    """Return a part with the other keywords that a form knows, and a description that tells the rest."""
    left_out = []
    for name, value in rest.items():
        is_format = name != "format" or value in STRING_FORMATS
        is_count = name != "minItems" or not form.few_items or value in (0, 1)
        if name in form.kept and is_format and is_count:
            found[name] = value
        else:
            left_out.append(f"{name}: {json.dumps(value, ensure_ascii=False)}")
    if left_out:
        found["description"] = " ".join(filter(None, (found.get("description"), f"({'; '.join(left_out)})")))
    return found


def _literal(rest: dict[str, Any], form: SchemaForm) -> dict[str, Any]:
    """Return a part that lists its values."""
    listed = rest.pop("enum", ())
    values = [rest.pop("const")] if "const" in rest else listed
    rest.pop("type", None)
    kinds = list(dict.fromkeys([JSON_TYPES.get(type(value), "") for value in values]))
    if "" in kinds or (not form.literals and {*kinds} - {"string", "integer", "number"}):
        raise _NotStrict
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": values}


def _or_null(given: Mapping[str, Any], strict: dict[str, Any]) -> dict[str, Any]:
    """Return a property that may be missing: it may be null, unless it has a default, or allows null itself."""
    is_settled = given.get("default") is not None or _allows_null(strict)
    return strict if is_settled else {"anyOf": [strict, {"type": "null"}]}


def _allows_null(strict: Mapping[str, Any]) -> bool:
    return "null" in strict.get("type", ()) or any(map(_allows_null, strict.get("anyOf", ())))
