"""Messages in OpenAI's form, which most tools read, and the marks (metadata) beside them.

The marks of a turn are its model, its stop reason, the names of all that went with its prompt (sources), how much of
the prompt was typed, and whether it is pinned, excluded, or summarized (replaced by the summary in requests).
"""

from __future__ import annotations

import base64
import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from reprlib import repr as short_repr
from typing import Any, TypeAlias, TypeVar, get_args

from ..attachments.files_and_pages import is_address
from ..attachments.images import FILE_SIGNATURES, guessed_tokens
from ..conversation.events import Added
from ..conversation.messages import (
    Attachment,
    Message,
    Role,
    StopReason,
    Summary,
    ToolResult,
    ToolRound,
    Turn,
    TurnRecord,
)
from ..conversation.text_safety import checked, clean
from ..errors import InvalidRequestError
from ..providers.request_body import as_part, content

T = TypeVar("T")
EXPORT_KEY, EXPORT_VERSION = "jupyter_ctx", 1
MOST_SECONDS = 10**9  # a file may say anything
Marks: TypeAlias = dict[str, Any]
MarkedMessage: TypeAlias = tuple[Message, Marks]
MEDIA_TYPES = frozenset(media_type for _, media_type in FILE_SIGNATURES)


def from_messages(messages: Iterable[object]) -> Added:
    """Return the conversation of messages in OpenAI's form; consecutive messages of a role are joined.

    Raises InvalidRequestError for an invalid message, and for a prompt that cannot be sent.
    """
    return together((message, {}) for message in joined(messages))


def joined(messages: Iterable[object]) -> Iterator[Message]:
    """Yield messages, with consecutive ones of a role joined, and none of calls. Raises InvalidRequestError."""
    if not isinstance(messages, Iterable):
        raise InvalidRequestError(f"{messages!r} is not a list of messages, each with a role and its text.")
    said = (each for each in messages if find(str, each, "role") != "tool" and not find(list, each, "tool_calls"))
    for role, group in groupby(map(_message, said), lambda message: message.role):
        same = list(group)
        files = tuple(file for message in same for file in message.attachments)
        yield Message(role, "\n\n".join(message.content for message in same), files)


def _as_openai(message: Message) -> Iterator[dict[str, Any]]:
    """Yield a message in OpenAI's form, with the messages of the results of its calls."""
    if message.round is None:
        yield {"role": message.role, "content": content(message, as_part)}
        return
    functions = ((call.id, {"name": call.name, "arguments": call.arguments}) for call in message.round.calls)
    calls = [{"id": call_id, "type": "function", "function": function} for call_id, function in functions]
    yield {"role": "assistant", "content": message.content or None, "tool_calls": calls}
    for call, result in zip(message.round.calls, message.round.results, strict=True):
        held = content(Message("user", result.text, result.attachments), as_part)
        yield {"role": "tool", "tool_call_id": call.id, "content": held}


def _message(message: object) -> Message:
    """Return a message with a model's text cleaned. Raises InvalidRequestError for a prompt that cannot be sent."""
    if not isinstance(message, Mapping):
        raise InvalidRequestError(f"{type(message).__name__} is not a message: a message has a role and a text.")
    held, called = message.get("content"), message.get("role")
    role: Any = "system" if called == "developer" else called
    parts = [held] if isinstance(held, str) else held
    if role not in get_args(Role) or not isinstance(parts, list):
        raise InvalidRequestError(f"{short_repr(message)} is no message: it needs a role, such as user, and a text.")
    found = [_part(part, role) for part in parts]
    whole = "\n\n".join(part for part in found if isinstance(part, str))
    files = tuple(part for part in found if isinstance(part, Attachment))
    return Message(role, clean(whole) if role == "assistant" else checked(whole), files)


def _part(part: object, role: Role) -> str | Attachment:
    """Return a content part of type text, input_text or output_text as its text, and a file with its guessed tokens.

    What is at an address is named by it: it is not fetched for a conversation of an earlier day.
    """
    if isinstance(part, str):
        return part
    kind, url = find(str, part, "type"), find(str, part, "image_url", "url") or find(str, part, "file", "file_data")
    text = find(dict, part).get("text")
    if is_address(url):
        return f"[{kind.removesuffix('_url')} at {url}]"
    if kind.endswith("text") and isinstance(text, str):
        return text
    if role != "user":
        raise InvalidRequestError(f"A message of role {role!r} may contain text only: remove the rest.")
    head, _, encoded = url.partition(";base64,")
    media_type = head.removeprefix("data:")
    try:
        data = base64.b64decode(encoded, validate=True)
    except ValueError:
        media_type = ""
    if media_type not in MEDIA_TYPES:
        raise InvalidRequestError(
            "A part of a message is neither text nor a PNG, JPEG, GIF or WebP image or a PDF as a data URL: remove it."
        )
    name = clean(find(str, part, "file", "filename")) or media_type.replace("/", ".")
    return Attachment(name, media_type, data, guessed_tokens(media_type, data))


def write(added: Added) -> str:
    """Return a conversation as JSON."""
    messages = [{"role": "system", "content": added.system}] if added.system is not None else []
    messages += [each for turn in added.turns for message in turn.messages for each in _as_openai(message)]
    summary = added.summary and {"text": added.summary.text, "method": added.summary.method}
    ours = {"version": EXPORT_VERSION, "summary": summary, "turns": _turn_marks(added)}
    return dumped({"messages": messages, EXPORT_KEY: ours})


def read(text: str) -> Added:
    """Return the conversation in exported JSON, or in a list of messages. Raises InvalidRequestError."""
    file = parse_json(text)
    listed = file.get("messages") if isinstance(file, dict) else file
    if not isinstance(listed, list):
        raise InvalidRequestError('There are no messages in it: a list of {"role": …, "content": …} is needed.')
    messages, ours = list(joined(listed)), find(dict, file, EXPORT_KEY)
    turns = find(list, ours, "turns")
    fit = ours.get("version") == EXPORT_VERSION and len(turns) == sum(message.role == "user" for message in messages)
    marks = iter(turns if fit else ())  # those of other turns are left out
    pairs = [(message, find(dict, next(marks, None)) if message.role == "user" else {}) for message in messages]
    return together(pairs, ours.get("summary"))


# marks


def _turn_marks(added: Added) -> list[Marks]:
    """Return the marks of each turn."""
    import msgspec

    summarized = added.summary.covers if added.summary else ()
    return [
        {
            "model": turn.model,
            "stop_reason": turn.stop_reason,
            "pinned": turn.id in added.pinned,
            "excluded": turn.id in added.excluded,
            "summarized": turn.id in summarized,
            **({"sources": list(turn.record.sources)} if turn.record.sources else {}),
            **({"citations": dict(turn.record.citations)} if turn.record.citations else {}),
            **({"typed": turn.record.typed} if turn.record.typed is not None else {}),
            **({"rounds": msgspec.to_builtins(turn.rounds)} if turn.rounds else {}),
        }
        for turn in added.turns
    ]


def _rounds(marks: Marks) -> tuple[ToolRound, ...]:
    """Return the calls that a turn's marks hold; none where they are damaged."""
    import msgspec

    try:
        return cleaned_rounds(msgspec.convert(find(list, marks, "rounds"), tuple[ToolRound, ...]))
    except (ValueError, RecursionError):  # ValidationError is a ValueError
        return ()


def cleaned_rounds(rounds: Iterable[ToolRound]) -> tuple[ToolRound, ...]:
    """Return the calls in a file, which may say anything, with texts and files that can be sent."""
    cleaned = (each.rewritten(clean) for each in rounds if len(each.calls) == len(each.results))
    return tuple(replace(each, results=tuple(map(_cleaned_result, each.results)), state="") for each in cleaned)


def _cleaned_result(result: ToolResult) -> ToolResult:
    files = tuple(file for file in result.attachments if file.media_type in MEDIA_TYPES)
    seconds = result.seconds if result.seconds is not None and 0 <= result.seconds < MOST_SECONDS else None
    return replace(result, attachments=files, seconds=seconds)


def together(messages: Iterable[MarkedMessage], summary: object = None) -> Added:
    """Return the conversation that messages make; the marks of a turn are those of its prompt."""
    rest, turns = deque(messages), list[tuple[Turn, Marks]]()
    system = rest.popleft()[0].content if rest and rest[0][0].role == "system" else None
    if rest and rest[0][0].role == "assistant":  # a greeting: a turn that nobody asked for
        rest.appendleft((Message("user", ""), {}))
    while rest:
        asked, marks = rest.popleft()
        if asked.role != "user":
            raise InvalidRequestError(f"A turn begins with a user's message, not with one of role {asked.role!r}.")
        reply = rest.popleft()[0].content if rest and rest[0][0].role == "assistant" else ""
        turns.append((_turn(asked, reply, marks), marks))
    pinned, excluded, summarized = (
        tuple(turn.id for turn, marks in turns if marks.get(name) is True)
        for name in ("pinned", "excluded", "summarized")
    )
    return Added(tuple(turn for turn, _ in turns), system, pinned, excluded, _summary(find(dict, summary), summarized))


def _turn(asked: Message, reply: str, marks: Marks) -> Turn:
    reason = marks.get("stop_reason")
    ending: Any = reason if reason in get_args(StopReason) else "stop"
    sources = tuple(clean(name) for name in find(list, marks, "sources") if isinstance(name, str))
    record = TurnRecord(
        clean(find(str, marks, "model")), ending, sources=sources, typed=_typed(asked.content, marks.get("typed")),
        citations=tuple((clean(url), clean(str(title))) for url, title in find(dict, marks, "citations").items()),
    )  # fmt: skip
    return Turn(asked.content, reply, asked.attachments, record=record, rounds=_rounds(marks))


def _typed(prompt: str, length: object) -> int | None:
    """Return how much of a prompt was typed; ``None``: all, or the prompt was edited since."""
    return length if type(length) is int and length >= 0 and prompt[length:].startswith("\n\n") else None


def _summary(marks: Marks, covers: tuple[str, ...]) -> Summary | None:
    """Return the summary, or ``None`` if it covers no turn of the file."""
    text, method = marks.get("text"), marks.get("method")
    if not isinstance(text, str) or not covers:
        return None
    return Summary(clean(text), frozenset(covers), "model" if method == "model" else "extractive")


# JSON


def dumped(value: object) -> str:
    """Return a value as indented JSON."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def parse_json(text: str) -> Any:
    """Return the value in a JSON text. Raises InvalidRequestError."""
    try:
        return json.loads(text)
    except RecursionError:
        why = "too many brackets within each other"
    except ValueError as error:
        why = str(error)
    raise InvalidRequestError(f"This is not valid JSON ({why}).")


def found_in(text: str, *path: str) -> dict[str, Any]:
    """Return the object at a path of names in a JSON text, or an empty one."""
    try:
        return find(dict, parse_json(text), *path)
    except InvalidRequestError:
        return {}


def find(kind: type[T], value: object, *path: str) -> T:
    """Return what is at a path of names in a value, or an empty value of ``kind`` if it is of another kind."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, kind) else kind()
