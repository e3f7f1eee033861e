"""A JSON schema as providers take it for their structured outputs, which know a part of JSON Schema only.

Strict modes (OpenAI's, Anthropic's) want every object closed and every property required. There is one form for all,
of what all of them know: the rest is left out and told in the description instead, for the model, and answers are
checked against the whole schema here. A property that may be missing may be null there.

Sources: openai 3.54 ``lib/_pydantic.py`` and the guide "Structured Outputs"; anthropic 2.12
``lib/_parse/_transform.py``; google-genai 3.4 ``types.GenerateContentConfig.response_json_schema``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

KNOWN_KEYWORDS = frozenset({"description", "title", "format"})  # beside those that shape a value: all know them
STRING_FORMATS = frozenset(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"])
SILENT = frozenset({"$schema", "$id", "$comment", "$anchor", "examples", "deprecated", "readOnly", "writeOnly"})
SHAPING = frozenset({"allOf", "patternProperties", "prefixItems", "$dynamicRef", "unevaluatedProperties"})
DEFINITIONS = ("$defs", "definitions")
LITERAL_TYPES = {str: "string", int: "integer", float: "number"}  # of listed values, of which Gemini knows no others


class _NotStrict(Exception):  # noqa: N818  # found on the way, and never raised to a caller
    """A strict mode cannot say this."""


def strict_form(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a schema with all objects closed and all properties required; ``None``: no strict mode can say it.

    What a reference means stands in its place, so that a part that holds itself has no end, and no such form.
    """
    root = {name: value for name, value in schema.items() if name not in DEFINITIONS}
    try:
        return _strict(root, schema)
    except (_NotStrict, RecursionError):
        return None


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


def _strict(node: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return one part of a schema as strict modes take it. Raises _NotStrict."""
    if not isinstance(node, Mapping) or node.keys() & SHAPING:
        raise _NotStrict
    rest = {name: value for name, value in node.items() if name not in SILENT and value is not None}
    if "$ref" in rest:
        meant = resolved(rest.pop("$ref"), schema)
        if meant is None:
            raise _NotStrict
        return _strict({**meant, **rest}, schema)
    branches = rest.pop("anyOf", None) or rest.pop("oneOf", None)
    if branches:
        if "properties" in rest:
            raise _NotStrict
        rest.pop("type", None)
        found: dict[str, Any] = {"anyOf": [_strict(branch, schema) for branch in branches]}
    else:
        is_listed = "const" in rest or "enum" in rest
        found = _literal(rest) if is_listed else _typed(rest, schema)
    return _with_keywords(found, rest)


def _typed(rest: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a type, and take the keywords that say so out of ``rest``."""
    found: dict[str, Any] = {"type": rest.pop("type", "object" if "properties" in rest else None)}
    kinds = found["type"] if isinstance(found["type"], list) else [found["type"]]
    if None in kinds:
        raise _NotStrict  # anything may stand here
    if "object" in kinds:
        properties, required = rest.pop("properties", None), rest.pop("required", ())
        if not properties or rest.pop("additionalProperties", False):
            raise _NotStrict  # its properties may have any name
        parts = {name: _strict(part, schema) for name, part in properties.items()}
        for name in parts.keys() - required:
            parts[name] = _or_null(properties[name], parts[name])
        found |= {"properties": parts, "required": list(properties), "additionalProperties": False}
    if "array" in kinds:
        found["items"] = _strict(rest.pop("items", None), schema)
    return found


def _with_keywords(found: dict[str, Any], rest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part with the other keywords that all strict modes know, and a description that tells the rest."""
    left_out = []
    for name, value in rest.items():
        if name in KNOWN_KEYWORDS and (name != "format" or value in STRING_FORMATS):
            found[name] = value
        else:
            left_out.append(f"{name}: {json.dumps(value, ensure_ascii=False)}")
    if left_out:
        found["description"] = " ".join(filter(None, (found.get("description"), f"({'; '.join(left_out)})")))
    return found


def _literal(rest: dict[str, Any]) -> dict[str, Any]:
    """Return a part that lists its values."""
    values = [rest.pop("const")] if "const" in rest else rest.pop("enum")
    kinds = {LITERAL_TYPES.get(type(value)) for value in values}
    rest.pop("type", None)
    if len(kinds) != 1 or None in kinds:
        raise _NotStrict
    return {"type": kinds.pop(), "enum": values}


def _or_null(given: Mapping[str, Any], strict: dict[str, Any]) -> dict[str, Any]:
    """Return a property that may be missing: it may be null, unless it has a default, or allows null itself."""
    is_settled = given.get("default") is not None or _allows_null(strict)
    return strict if is_settled else {"anyOf": [strict, {"type": "null"}]}


def _allows_null(strict: Mapping[str, Any]) -> bool:
    return "null" in strict.get("type", ()) or any(map(_allows_null, strict.get("anyOf", ())))
