"""What a server answers with, read in one way for all providers.

Servers do not always send what they were asked for: one that cannot stream sends the whole reply
as one JSON document, a gateway a page of HTML, and many an error with HTTP status 200. So every
answer is read as lines. Those of server-sent events are taken as the standard says
(https://html.spec.whatwg.org/multipage/server-sent-events.html), any others as JSON: a document,
an array, or one value a line. What is neither is kept as the server's own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from .http_client import PART, too_long

ANY_LINE_END = re.compile(rb"\r\n|\r|\n")
DONE: dict[str, Any] = {"type": "[DONE]"}  # the mark that ends a stream of Chat Completions
NOT_JSON = object()  # what is no JSON
LEAST_LINE = 64  # characters that a line counts for: a short one takes as much memory
MESSAGE_FIELDS = frozenset({"message", "msg", "detail", "error_msg", "error_message", "errorMessage", "title"})
MINIMAX = {1000: 500, 1002: 429, 1004: 401, 1008: 402, 1013: 500, 1033: 500, 1039: 429, 2049: 401}  # HTTP statuses
# texts of events that may tell of tools, or of pages that a search has found
MAY_TELL = re.compile(
    r"tool|_call|functionCall|executableCode|web_search|citation|annotation|search_results|groundingChunks|urlMetadata"
)


class EventError(Exception):
    """An error that came inside an answer; ``body`` is what says so."""

    def __init__(self, body: Any) -> None:
        super().__init__("an error event")
        self.body = body


class AnswerParts:
    """The JSON objects in an answer, one at a time.

    Iterating raises EventError where one of them is an error, and ValueError where one is broken.
    ``note`` is called with each object whose text may tell of tools or pages.
    ``words`` is what the server said that is no part of a reply: text, a page, or an object that
    holds a message; it counts only where no reply came.
    """

    def __init__(self, chunks: Iterable[bytes], note: Callable[[dict[str, Any]], object] | None = None) -> None:
        self.words: Any = None
        self._chunks, self._note = chunks, note
        self._line: list[bytes] = []  # the beginning of a line
        self._after_return = False
        self._length = 0  # bytes since the last event
        self._event = ""
        self._data: list[str] = []
        self._other: list[str] = []

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for line in chain.from_iterable(map(self._split, chain(self._chunks, (None,)))):
            if line.strip():
                events = self._take(line)
            elif self._data:
                events = self._dispatch()
            else:
                self._event = ""
                continue
            for event in events:
                self._check(event)
                yield event
                if event is DONE:
                    return
        for event in self._end():
            self._check(event)
            yield event

    def _split(self, chunk: bytes | None) -> list[bytes]:
        """Return the lines that a chunk completes, which end in CR, LF or CRLF; ``None``: there are no more chunks."""
        if chunk is None:
            return [b"".join(self._line)]
        if self._after_return:  # the other half of a CRLF
            chunk = chunk.removeprefix(b"\n")
        self._after_return = chunk.endswith(b"\r")
        first, *lines = ANY_LINE_END.split(chunk)
        self._line.append(first)
        self._length += len(chunk) + LEAST_LINE * len(lines)
        if self._length > PART:
            self._line, self._data, self._other = [], [], []  # the error's traceback would keep them
            raise too_long("an event", PART)
        if not lines:
            return []
        whole = [b"".join(self._line), *lines[:-1]]
        self._line = lines[-1:]
        return whole

    def _take(self, line: bytes) -> list[dict[str, Any]]:
        """Take one line; return the objects that it completes."""
        text = line.decode("utf-8", "replace").removeprefix("\ufeff")
        field, colon, value = text.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            # an object that is whole is an event even where no empty line ends it
            may_be_whole = not self._data and value.endswith(("}", "[DONE]"))
            parsed = _parsed(value) if may_be_whole else NOT_JSON
            if parsed is not NOT_JSON:
                return self._given(parsed, value)
            self._data.append(value)
        elif colon and field in ("event", "id", "retry"):
            self._event = value if field == "event" else self._event
        elif field:  # else a comment
            return self._outside(text)
        return []

    def _dispatch(self) -> list[dict[str, Any]]:
        """Return what the event that has just ended holds."""
        text, self._data = "\n".join(self._data).strip(), []
        if text:
            return self._given(_parsed(text), text)
        self._event = ""
        return []

    def _given(self, value: Any, text: str) -> list[dict[str, Any]]:
        """Return the objects in a value. Raises EventError for an error, ValueError for broken JSON."""
        name, self._event = self._event, ""
        self._length = 0
        if name == "error" and value is not DONE:
            raise EventError(text if value is NOT_JSON else value)
        if value is NOT_JSON and text[0] in "{[":
            raise ValueError("broken JSON")
        if value is NOT_JSON or isinstance(value, str):
            self.words = text if value is NOT_JSON else value
        objects = [value] if isinstance(value, dict) else dicts_in(value)
        if self._note is not None and MAY_TELL.search(text):
            for each in objects:
                self._note(each)
        return objects

    def _outside(self, line: str) -> list[dict[str, Any]]:
        """Take a line that belongs to no event: JSON by itself, or a part of a document, which is read at its end."""
        value = NOT_JSON if self._other else _parsed(line)
        if value is not NOT_JSON:
            return self._given(value, line)
        self._other.append(line)
        return []

    def _end(self) -> Iterator[dict[str, Any]]:
        """Yield what is left when the answer ends; half an event is dropped."""
        for text in ("\n".join(self._data).strip(), "\n".join(self._other).strip()):
            value = _parsed(text)
            if value is not NOT_JSON or (text and self._event == "error"):
                yield from self._given(value, text)
            elif text and self.words is None:
                self.words = text

    def _check(self, event: dict[str, Any]) -> None:
        """Raise EventError where an object is an error; keep one that has words."""
        error = event if event.get("error") or "error" in (event.get("object"), event.get("type")) else None
        base = event.get("base_resp") or {}  # MiniMax sends it with every answer
        code = base.get("status_code") if isinstance(base, dict) else None
        if code:
            error = {"message": base.get("status_msg"), "code": MINIMAX.get(code, code) if type(code) is int else code}
        if error is not None:
            raise EventError(error)
        if not MESSAGE_FIELDS.isdisjoint(event):
            has_text = any(isinstance(event.get(name), str) for name in MESSAGE_FIELDS)
            if has_text or isinstance(event.get("detail"), list):
                self.words = event


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
