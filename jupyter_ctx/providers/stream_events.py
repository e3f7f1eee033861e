"""What a server answers with, read in one way for all providers.

Servers do not always send what they were asked for: one that cannot stream sends the whole reply
as one JSON document, a gateway a page of HTML, and many an error with HTTP status 200. So every
answer is read as lines. Those of server-sent events are taken as the standard says
(https://html.spec.whatwg.org/multipage/server-sent-events.html), any others as JSON: a document,
an array, or one value a line. What is neither is kept as the server's own words.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from ..context.logprobs import Token, TokenLogprob
from .reply_bounds import PART, too_long

FIELDS = frozenset({"data", "event", "id", "retry"})
DONE: dict[str, Any] = {"type": "[DONE]"}  # the mark that ends a stream of Chat Completions
NOT_JSON = object()  # what is no JSON
LEAST_LINE = 64  # characters that a line counts for: a short one takes as much memory
MESSAGE_FIELDS = frozenset({"message", "msg", "detail", "error_msg", "error_message", "errorMessage", "title"})
MINIMAX = {1000: 500, 1002: 429, 1004: 401, 1008: 402, 1013: 500, 1033: 500, 1039: 429, 2049: 401}  # HTTP statuses


class EventError(Exception):
    """An error that came inside an answer; ``body`` is what says so."""

    def __init__(self, body: Any) -> None:
        super().__init__("an error event")
        self.body = body


class AnswerParts:
    """The JSON objects in an answer, one at a time.

    Iterating raises EventError where one of them is an error, and ValueError where one is broken.
    ``words`` is what the server said that is no part of a reply: text, a page, or an object that
    holds a message; it counts only where no reply came.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.words: Any = None
        self._chunks = chunks
        self._event = ""
        self._data: list[str] = []
        self._other: list[str] = []
        self._length = 0  # characters since the last event
        self._next_try = 1  # lines of JSON after which it may be whole

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for event in self._events():
            if (error := _error_in(event)) is not None:
                raise EventError(error)
            if not MESSAGE_FIELDS.isdisjoint(event) and _has_words(event):
                self.words = event
            yield event
            if event is DONE:
                return

    def _events(self) -> Iterator[dict[str, Any]]:
        for line in _lines(self._chunks):
            self._length += max(len(line), LEAST_LINE)
            if self._length > PART:
                self._data, self._other = [], []
                raise too_long("an event", PART)
            field, colon, value = line.partition(":")
            if field in FIELDS and (colon or field == "data"):
                yield from self._field(field, value.removeprefix(" "))
            elif not line.strip():
                yield from self._dispatch()
            elif field:  # else a comment
                yield from self._line(line)
        yield from self._end()

    def _field(self, name: str, value: str) -> Sequence[dict[str, Any]]:
        """Take one field. An object that is whole is an event even where no empty line ends it."""
        if name == "event":
            self._event = value
        elif name == "data":
            whole = NOT_JSON if self._data or not value.endswith(("}", "[DONE]")) else _parsed(value)
            if whole is not NOT_JSON:
                return self._given(whole)
            self._data.append(value)
        return ()

    def _dispatch(self) -> Sequence[dict[str, Any]]:
        """Return what the event that has just ended holds."""
        text, self._data = "\n".join(self._data).strip(), []
        self._length = 0
        if text:
            return self._given(_parsed(text), text)
        self._event = ""
        return ()

    def _given(self, value: Any, text: str = "") -> Sequence[dict[str, Any]]:
        """Return the objects in a value. Raises EventError for an error, ValueError for broken JSON."""
        name, self._event = self._event, ""
        self._length = 0
        if name == "error" and value is not DONE:
            raise EventError(text if value is NOT_JSON else value)
        if value is NOT_JSON and text[0] in "{[":
            raise ValueError("broken JSON")
        if value is NOT_JSON or isinstance(value, str):
            self.words = text if value is NOT_JSON else value
        return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]

    def _line(self, line: str) -> Iterator[dict[str, Any]]:
        """Take a line that belongs to no event: JSON by itself, or a part of it."""
        self._other.append(line)
        lines = len(self._other)
        if lines == 1 or (line[0] in "}]" and lines >= self._next_try):  # where what began in the first column ends
            value = _parsed("\n".join(self._other))
            self._next_try = 2 * lines  # the time for an answer without end grows with its length, not faster
            if value is not NOT_JSON:
                self._other, self._next_try = [], 1
                yield from self._given(value)

    def _end(self) -> Iterator[dict[str, Any]]:
        """Yield what is left when the answer ends; half an event is dropped."""
        for text in ("\n".join(self._data).strip(), "\n".join(self._other).strip()):
            value = _parsed(text)
            if value is not NOT_JSON or (text and self._event == "error"):
                yield from self._given(value, text)
            elif text and self.words is None:
                self.words = text


def dict_at(value: Any, *names: str) -> dict[str, Any]:
    """Return the object under these names, one inside the other, else an empty one."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def dicts_at(value: Any, name: str) -> list[dict[str, Any]]:
    """Return the objects in the list under a name."""
    found = value.get(name) if isinstance(value, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def text_at(value: Any, name: str) -> str:
    """Return the text under a name, else an empty one."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def count(reported: Mapping[str, Any], *names: str) -> int:
    """Return the first positive whole number under these names, else 0; servers send values of every type."""
    values = (reported.get(name) for name in names)
    return next((value for value in values if type(value) is int and value > 0), 0)


def tokens_written(reported: Iterable[Mapping[str, Any]]) -> Iterator[TokenLogprob]:
    """Yield the tokens of an answer that are reported with their probabilities, as OpenAI or Gemini does."""
    for each in reported:
        for token in tokens_told([each]):
            others = sorted(tokens_told(dicts_at(each, "top_logprobs")), key=lambda other: -other.probability)
            yield TokenLogprob(token, tuple(others))


def tokens_told(reported: Iterable[Mapping[str, Any]]) -> Iterator[Token]:
    """Yield the tokens whose probabilities are told; some servers leave out the bytes."""
    for each in reported:
        logprob, data = each.get("logprob", each.get("logProbability")), each.get("bytes")
        text = text_at(each, "token").encode("utf-8", "replace")
        if isinstance(logprob, int | float) and isfinite(logprob):
            number = each.get("id", each.get("tokenId"))
            yield Token(bytes(data) if isinstance(data, list) else text, number, float(logprob))


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of UTF-8 chunks, which end in CR, LF or CRLF, without a byte order mark."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    held: list[str] = []
    after_return = False
    length = 0
    for chunk in chunks:
        text = decoder.decode(chunk)
        if text and after_return:  # the other half of a CRLF
            text, after_return = text.removeprefix("\n"), False
        after_return = after_return or text.endswith("\r")
        *lines, rest = re.split(r"\r\n|\r|\n", text)
        for line in lines:
            yield "".join([*held, line])
            held = []
        held.append(rest)
        length = len(rest) if lines else length + len(rest)
        if length > PART:
            held.clear()  # the error's traceback would keep it
            raise too_long("a line", PART)
    if last := "".join(held) + decoder.decode(b"", True):
        yield last


def _has_words(event: dict[str, Any]) -> bool:
    return any(isinstance(event.get(name), str) for name in MESSAGE_FIELDS) or isinstance(event.get("detail"), list)


def _parsed(text: str) -> Any:
    try:
        return DONE if text == "[DONE]" else json.loads(text)
    except (ValueError, RecursionError):
        return NOT_JSON


def _error_in(event: dict[str, Any]) -> Any:
    """Return the part of an event that says that it is an error, or ``None``."""
    if event.get("error") or event.get("object") == "error" or event.get("type") == "error":
        return event
    base = dict_at(event, "base_resp")  # MiniMax sends it with every answer
    code = base.get("status_code")
    if code:
        return {"message": base.get("status_msg"), "code": MINIMAX.get(code, code) if type(code) is int else code}
    return None
