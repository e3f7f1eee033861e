"""Walk the body of a refusal once: its objects, and what its texts say in plain English words."""

from __future__ import annotations

import json
import re
from collections import deque
from contextlib import suppress
from html import unescape
from itertools import islice
from typing import Any, NamedTuple
from unicodedata import normalize

from .refusal_words import compiled, in_english

ECHOED_FIELDS = frozenset({"input", "inputs", "messages", "prompt", "content", "contents", "tools", "request"})
# How much is read: parts of a body, items of a part, characters at each end of a text and of JSON in a text.
MOST_PARTS, MOST_ITEMS, END_LENGTH, JSON_LENGTH = 1_000, 100, 3_000, 200_000
SENTENCE_BREAK = r"\n\s*(?-i:(?=[A-Z{(\[]))|(?<=[})\].])\s*\n"  # before or after a line that is a sentence


class BodyPart(NamedTuple):
    """A value of a body, the name of its field, and how deep it lies."""

    depth: int
    name: str
    value: Any


def body_parts(body: Any) -> list[BodyPart]:
    """Return the parts of a body, the outermost first, without fields that repeat the request.

    ``body`` may be anything a server sends: an object, a list, JSON in a string, plain text, bytes.
    """
    found: list[BodyPart] = []
    queue = deque([BodyPart(0, "", body)])
    while queue and len(found) < MOST_PARTS:
        depth, name, value = queue.popleft()
        value = _opened(value)
        found.append(BodyPart(depth, name, value))
        if isinstance(value, dict):
            items = [(str(key)[:100], each) for key, each in islice(value.items(), MOST_ITEMS)]
        else:
            items = [(name, each) for each in value[:MOST_ITEMS]] if isinstance(value, list | tuple) else []
        queue.extend([BodyPart(depth + 1, key, each) for key, each in items if key not in ECHOED_FIELDS])
    return found


def _opened(value: Any) -> Any:
    """Return the value that bytes, or JSON in a string, stand for; any other value as it is."""
    if isinstance(value, bytes | bytearray):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str) and len(value) < JSON_LENGTH and value.lstrip()[:1] in ("{", "[", '"'):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def plain_text(parts: list[BodyPart]) -> str:
    """Return the distinct texts of a body, and its numbers that may matter, a line each."""
    lines: dict[str, None] = {}
    for _, name, value in parts:
        if isinstance(value, str):
            lines[_plain(value)] = None
        elif type(value) is int and 0 <= value < 10**12 and compiled("token|ctx|context|code|status").search(name):
            lines[f"{name} {value}"] = None
    return _ends("\n".join(lines))


def _plain(text: str) -> str:
    """Return a text as one line of English words, without the marks of JSON, reprs, HTML and code."""
    text = compiled(r"\\{1,4}u([0-9a-f]{4})").sub(lambda match: chr(int(match[1], 16)), unescape(_ends(text)))
    text = normalize("NFKC", text).replace("\\", " \\")
    if "</" in text:
        text = re.sub(r"</?[A-Za-z][^<>]{0,200}>", " . ", text)
    text = compiled(SENTENCE_BREAK).sub(" . ", text)
    text = re.sub(r"(?:\\+[nrt]|[\s\\#])+", " ", text)
    text = re.sub(r"""["']\w+["'] ?: ?(?=["'{\[])""", " . ", text)
    text = re.sub(r"(?<![A-Za-z])max(?:Output|New|Completion)?Tokens", "max_output_tokens", text)
    text = in_english(re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text).replace("。", ". "))
    return re.sub(r"\s+", " ", text)


def _ends(text: str) -> str:
    return text if len(text) <= 2 * END_LENGTH else f"{text[:END_LENGTH]}\n{text[-END_LENGTH:]}"
