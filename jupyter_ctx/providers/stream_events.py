"""What a server answers with, read in one way for all providers.

Servers do not always send what they were asked for: one that cannot stream sends the whole reply as one JSON document,
a gateway a page of HTML, and many an error with HTTP status 200. So the lines of server-sent events are taken as the
standard says (https://html.spec.whatwg.org/multipage/server-sent-events.html), and all others together as one document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .error_mapping import Refusal
from .http_client import PART, too_long

DONE: dict[str, Any] = {"type": "[DONE]"}  # the mark that ends a stream of Chat Completions
NOT_JSON = object()  # what is no JSON
LEAST_LINE = 64  # characters that a line counts for: a short one takes as much memory
OTHER_FIELDS = frozenset({"", "event", "id", "retry"})  # of events
MESSAGE_FIELDS = frozenset({"message", "msg", "detail", "error_msg", "error_message", "errorMessage", "title"})
# texts of events that may tell of tools, or of pages that a search has found
MAY_TELL = re.compile(
    r"tool|_call|functionCall|executableCode|web_search|citation|annotation|search_results|groundingChunks|urlMetadata"
)


class AnswerParts:
    """The JSON objects in an answer, one at a time.

    Iterating raises a Refusal where one of them is an error, and ValueError where one is broken.
    ``note`` is called with each object whose text may tell of tools or pages.
    ``words`` is what the server said that is no part of a reply: text, a page, or an object that
    holds a message; it counts only where no reply came.
    """

    def __init__(self, chunks: Iterable[bytes], note: Callable[[dict[str, Any]], object] | None = None) -> None:
        self.words: Any = None
        self._chunks, self._note = chunks, note

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for text, value in _values(self._chunks):
            if value is NOT_JSON and text[0] in "{[":
                raise ValueError("broken JSON")
            if value is NOT_JSON or isinstance(value, str):
                self.words = self.words or text
            for event in [value] if isinstance(value, dict) else dicts_in(value):
                if self._note is not None and MAY_TELL.search(text):
                    self._note(event)
                if event.get("error") or "error" in (event.get("object"), event.get("type")):
                    raise Refusal(None, event)
                words = [event[name] for name in MESSAGE_FIELDS & event.keys()]
                if any(isinstance(each, str | list) for each in words):
                    self.words = event
                yield event
            if value is DONE:
                return


def _values(chunks: Iterable[bytes]) -> Iterator[tuple[str, Any]]:
    """Yield the text of each event and the JSON in it, at the end those of the lines that belong to none."""
    data, others, size = list[str](), list[str](), 0  # size: since the last event
    for line in _lines(chunks):
        size += len(line) + LEAST_LINE
        if size > PART:
            data, others = [], []  # the error's traceback would keep them
            raise too_long("an event", PART)
        field, _, rest = line.partition(":")
        if field == "data":
            data.append(rest.removeprefix(" "))
        elif line.strip() and field not in OTHER_FIELDS:
            others.append(line)
        is_ended = not line.strip()
        # an object that is whole is an event even where no empty line ends it
        if data and (is_ended or (len(data) == 1 and rest.endswith(("}", "[DONE]")))):
            text = "\n".join(data).strip()
            value = _parsed(text)
            if is_ended or value is not NOT_JSON:
                data, size = [], 0
                if text:
                    yield text, value
    for lines in (data, others):
        text = "\n".join(lines).strip()
        value = _parsed(text)
        if text:  # half an event is dropped where a reply came
            yield text, text if value is NOT_JSON else value


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines in an answer. Raises ResponseError for one that does not end."""
    begun, size = list[bytes](), 0
    for chunk in chunks:
        first, *lines = chunk.split(b"\n")
        begun.append(first)
        size += len(chunk)
        if lines:
            for line in (b"".join(begun), *lines[:-1]):
                yield line.removesuffix(b"\r").decode("utf-8", "replace").removeprefix("\ufeff")
            begun, size = lines[-1:], len(lines[-1])
        if size > PART:
            begun.clear()
            raise too_long("an event", PART)
    yield b"".join(begun).decode("utf-8", "replace").removeprefix("\ufeff")


def dict_at(value: Any, *names: str) -> dict[str, Any]:
    """Return the object under these names, one inside the other, else an empty one."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def dicts_in(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; of any other value there are none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_at(value: Mapping[str, Any], name: str) -> str:
    """Return the text under a name, else an empty one."""
    found = value.get(name)
    return found if isinstance(found, str) else ""


def count(reported: Mapping[str, Any], *names: str) -> int:
    """Return the first positive whole number under these names, else 0; servers send values of every type."""
    for name in names:
        value = reported.get(name)
        if type(value) is int and value > 0:
            return value
    return 0


def _parsed(text: str) -> Any:
    try:
        return DONE if text == "[DONE]" else json.loads(text)
    except (ValueError, RecursionError):
        return NOT_JSON
