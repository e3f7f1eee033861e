"""A conversation as a file that people and other tools read, and back.

All formats hold the same: messages as OpenAI's tools have them, and beside them *marks*, which
say of each turn its number, model, stop reason, pin, exclusion and the names of its files. What
was edited or written by something else is read as far as it goes without them.
"""

from __future__ import annotations

import base64
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, zip_longest
from reprlib import repr as short_repr
from typing import Any, NamedTuple, TypeAlias, get_args

from .attachments import BYTES_A_PAGE, KINDS, MOST, TOKENS_A_PAGE
from .conversation import Added, Attachment, Conversation, Message, Role, StopReason, Summary, Turn
from .errors import InvalidRequestError
from .providers.encoding import content, data_url
from .sendable import checked, clean

OURS, VERSION = "jupyter_ctx", 1
MEDIA_TYPES = frozenset(media_type for _, media_type in KINDS)
MOST_TOKENS = 10**9  # a file may say anything
Marks: TypeAlias = Mapping[str, Any]
Said: TypeAlias = tuple[Message, Marks]


class Format(NamedTuple):
    """A conversation as text, and back."""

    write: Callable[[Added], str]
    read: Callable[[str], Added]


def carried(conversation: Conversation) -> Added:
    """The turns since the last clear in their current versions, with what stands beside them."""
    places, summary = conversation.places, conversation.summary
    turns = tuple(place.turn for place in places)
    pinned = tuple(place.turn.id for place in places if place.pinned)
    excluded = tuple(place.turn.id for place in places if place.excluded)
    if summary is not None:
        summary = replace(summary, covers=summary.covers & {turn.id for turn in turns})
    return Added(turns, conversation.system, pinned, excluded, summary if summary and summary.covers else None)


def written(added: Added, suffix: str) -> str:
    """A conversation as text that UTF-8 can hold. Raises InvalidRequestError for an unknown suffix."""
    return clean(_format(suffix).write(added))


def read(text: str, suffix: str) -> Added:
    """The conversation in a file, its turns and its summary under new ids.

    Raises InvalidRequestError where it is none, or holds a prompt that cannot be sent.
    """
    return _format(suffix).read(text.removeprefix("\ufeff"))


def from_messages(messages: Iterable[object], ours: object = None) -> Added:
    """A conversation from messages in OpenAI's form; ``ours`` are the marks beside them in a file of ours.

    Where those are missing, or are not of these messages, neighbours of one role are joined.
    """
    listed, beside = list(messages), _mapping(ours)
    marks = _fitting(listed, beside)
    if marks is None:
        return _added(_joined(_message(message, {}) for message in listed))
    said = [(_message(message, of), of) for message, of in zip(listed, marks, strict=True)]
    return _added(said, beside.get("summary"))


def _format(suffix: str) -> Format:
    if suffix.lower() not in FORMATS:
        raise InvalidRequestError(f"{suffix!r} is no form of a conversation: name a file {', '.join(FORMATS)}.")
    return FORMATS[suffix.lower()]


# what the formats share


def _beside(added: Added) -> dict[str, Any]:
    """All that a file holds of a conversation beside its messages."""
    turns = [
        {
            "turn": number,
            "model": turn.model,
            "stop_reason": turn.stop_reason,
            "pinned": turn.id in added.pinned,
            "excluded": turn.id in added.excluded,
            "files": [{"name": file.name, "tokens": file.tokens} for file in turn.attachments],
        }
        for number, turn in enumerate(added.turns, 1)
    ]
    summary = added.summary
    covers = [number for number, turn in enumerate(added.turns, 1) if summary and turn.id in summary.covers]
    kept = {"text": summary.text, "method": summary.method, "covers": covers} if summary and covers else None
    return {"version": VERSION, "turns": turns, "summary": kept}


def _part(attachment: Attachment) -> dict[str, Any]:
    url = data_url(attachment)
    if attachment.kind == "image":
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"filename": attachment.name, "file_data": url}}


def _added(said: Iterable[Said], summary: object = None) -> Added:
    """The turns that messages make, each with the marks of its prompt."""
    rest, turns = deque(said), list[tuple[Turn, Marks]]()
    system = rest.popleft()[0].content if rest and rest[0][0].role == "system" else None
    while rest:
        asked, marks = rest.popleft()
        if asked.role != "user":
            raise InvalidRequestError(f"A turn begins with a user's message, not with one of role {asked.role!r}.")
        reply = rest.popleft()[0].content if rest and rest[0][0].role == "assistant" else ""
        turns.append((_turn(asked, reply, marks), marks))
    pinned, excluded = (tuple(turn.id for turn, of in turns if of.get(name) is True) for name in ("pinned", "excluded"))
    return Added(tuple(turn for turn, _ in turns), system, pinned, excluded, _summary(_mapping(summary), turns))


def _turn(asked: Message, reply: str, marks: Marks) -> Turn:
    model, reason = marks.get("model"), marks.get("stop_reason")
    ending: Any = reason if reason in get_args(StopReason) else "stop"
    return Turn(asked.content, reply, _string(model) or "", ending, attachments=asked.attachments)


def _summary(marks: Marks, turns: Sequence[tuple[Turn, Marks]]) -> Summary | None:
    """The summary, where there is one that stands for a turn that is there."""
    text, numbers = _string(marks.get("text")), [n for n in _listed(marks.get("covers")) if type(n) is int]
    covers = frozenset(turn.id for turn, of in turns if of.get("turn") in numbers)
    method: Any = "model" if marks.get("method") == "model" else "extractive"
    return Summary(text, covers, method) if text is not None and covers else None


def _said(role: str, text: str, marks: Marks) -> Said:
    """A message whose files are kept in its marks, as parts."""
    parts = _listed(marks.get("parts")) if role == "user" else []
    return _message({"role": role, "content": [*parts, {"type": "text", "text": text}]}, marks), marks


def _message(message: object, marks: Marks) -> Message:
    """A message that may be sent: what a model said is mended, anything else refused."""
    if not isinstance(message, Mapping):
        raise InvalidRequestError(f"{type(message).__name__} is no message: a role and its text.")
    held, called = message.get("content"), message.get("role")
    role: Any = "system" if called == "developer" else called
    parts = [held] if isinstance(held, str) else held
    if role not in get_args(Role) or not isinstance(parts, list):
        raise InvalidRequestError(f"{short_repr(role)} with {type(held).__name__} is no message: a role and its text.")
    linked = [part for part in parts if _text_of(part) is None]
    if linked and role != "user":
        raise InvalidRequestError(f"A message of role {role!r} holds more than text: take that out.")
    named = _listed(marks.get("files"))[: len(linked)]
    text = "\n\n".join(text for part in parts if (text := _text_of(part)) is not None)
    files = tuple(_attachment(_mapping(part), _mapping(of)) for part, of in zip_longest(linked, named))
    return Message(role, clean(text) if role == "assistant" else checked(text), files)


def _text_of(part: object) -> str | None:
    """The text of a part, which other tools call input_text or output_text, too."""
    if isinstance(part, str):
        return part
    kind, text = _mapping(part).get("type"), _mapping(part).get("text")
    return text if isinstance(kind, str) and kind.endswith("text") and isinstance(text, str) else None


def _attachment(part: Marks, marks: Marks) -> Attachment:
    """A file that a part of a message holds; without a name and a size, what the largest would have."""
    image, file = _mapping(part.get("image_url")), _mapping(part.get("file"))
    head, _, encoded = (_string(image.get("url", file.get("file_data"))) or "").partition(";base64,")
    media_type = head.removeprefix("data:")
    try:
        data = base64.b64decode(encoded, validate=True)
    except ValueError:
        media_type = ""
    if media_type not in MEDIA_TYPES:
        raise InvalidRequestError(
            "A message holds something that is neither text nor, as a data URL, a PNG, JPEG, GIF or WebP image "
            "or a PDF: take it out."
        )
    name, tokens = _string(marks.get("name", file.get("filename"))), marks.get("tokens")
    if type(tokens) is not int or not 0 <= tokens <= MOST_TOKENS:
        tokens = MOST if media_type.startswith("image/") else TOKENS_A_PAGE * (1 + len(data) // BYTES_A_PAGE)
    return Attachment(media_type.replace("/", ".") if name is None else name, media_type, data, tokens)


def _parsed(text: str, what: str = "This") -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        why = "too many brackets within each other"
    except ValueError as error:
        why = str(error)
    raise InvalidRequestError(f"{what} is not JSON, or not all of it ({why}): save it again, whole.")


def _mapping(value: object) -> Marks:
    return value if isinstance(value, Mapping) else {}


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: object) -> str | None:
    return clean(value) if isinstance(value, str) else None


# JSON, as OpenAI's tools have it


def _to_json(added: Added) -> str:
    messages = [{"role": "system", "content": added.system}] if added.system is not None else []
    messages += [{"role": m.role, "content": content(m, _part)} for turn in added.turns for m in turn.messages]
    return json.dumps({"messages": messages, OURS: _beside(added)}, ensure_ascii=False, indent=1) + "\n"


def _from_json(text: str) -> Added:
    found = _parsed(text)
    messages = found.get("messages") if isinstance(found, dict) else found
    if not isinstance(messages, list):
        raise InvalidRequestError('There are no messages in it: a list of {"role": …, "content": …} is needed.')
    return from_messages(messages, _mapping(found).get(OURS))


def _fitting(messages: Sequence[object], ours: Marks) -> list[Marks] | None:
    """The marks of each message, or ``None`` where they are not those of these messages."""
    turns = ours.get("turns")
    if ours.get("version") != VERSION or not isinstance(turns, list) or not all(isinstance(of, dict) for of in turns):
        return None
    roles = [_mapping(message).get("role") for message in messages]
    head = ["system"] if roles[:1] == ["system"] else []
    if roles != head + ["user", "assistant"] * len(turns):
        return None
    return [{} for _ in head] + [{"turn": n, **of} for n, of in enumerate(turns, 1) for _ in ("asked", "said")]


def _joined(messages: Iterable[Message]) -> Iterator[Said]:
    """Neighbours of one role as one message."""
    for role, group in groupby(messages, lambda message: message.role):
        same = list(group)
        text = "\n\n".join(message.content for message in same)
        yield Message(role, text, tuple(file for message in same for file in message.attachments)), {}


# Markdown, with comments that a reader does not see

MARKER = re.compile(r"\n?^<!-- jupyter_ctx (\w*) ?(.*)$\n?", re.M)
LIKE_MARKER = r"(?=\\*<!-- jupyter_ctx )"
RETURN, LIKE_RETURN = "&#13;", "(?=(?:amp;)*#13;)"  # editors and git change line ends
HEADING = re.compile(r"\A(?:#.*\n)?(?:\[attached: .*\n)*\n?")
FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})(.*)$", re.M)
SPECIAL = re.compile(r"([\\`*_\[\]<>&#|~$!])")


def _to_markdown(added: Added) -> str:
    beside = _beside(added)
    parts = [_marked("conversation", {"version": VERSION}, "# Conversation")]
    if added.system is not None:
        parts.append(_marked("system", {}, "## System prompt", added.system))
    if beside["summary"]:
        parts.append(_marked("summary", beside["summary"], "## Summary", beside["summary"].pop("text")))
    for turn, marks in zip(added.turns, beside["turns"], strict=True):
        heading = "\n".join(["## You", *(f"[attached: {_shown(file.name)}]" for file in turn.attachments)])
        parts.append(_marked("user", {**marks, "parts": list(map(_part, turn.attachments))}, heading, turn.prompt))
        parts.append(_marked("assistant", {}, f"## {_shown(turn.model) or 'Assistant'}", turn.reply))
    return "\n".join(parts)


def _marked(kind: str, marks: Marks, heading: str, text: str | None = None) -> str:
    """One part: a comment that nothing in it can end, a heading, and the text, its code closed where it was cut."""
    body = _escaped(text or "")
    end = _open_fence(body)
    comment = json.dumps({**marks, "closed": end} if end else marks).replace("<", "\\u003c").replace(">", "\\u003e")
    whole = "" if text is None else "\n".join(["", body, *([end] if end else []), ""])
    return f"<!-- jupyter_ctx {kind} {comment} -->\n{heading}\n{whole}"


def _open_fence(text: str) -> str:
    """The fence that would make code of all that follows, or nothing."""
    fence = ""
    for found in FENCE.finditer(text):
        if not fence:
            fence = found[1]
        elif found[1].startswith(fence) and not found[2].strip():
            fence = ""
    return fence


def _shown(name: str) -> str:
    """A name in one line of Markdown, whatever is in it."""
    line = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    return SPECIAL.sub(r"\\\1", line)


def _escaped(text: str) -> str:
    text = re.sub(f"&{LIKE_RETURN}", "&amp;", text).replace("\r", RETURN)
    return re.sub(f"(?m)^{LIKE_MARKER}", r"\\", text)


def _unescaped(text: str) -> str:
    text = re.sub(rf"(?m)^\\{LIKE_MARKER}", "", text)
    return re.sub(f"{RETURN}|&amp;{LIKE_RETURN}", lambda found: "\r" if found[0] == RETURN else "&", text)


def _from_markdown(text: str) -> Added:
    _, *found = MARKER.split(text.replace("\r\n", "\n").replace("\r", "\n"))
    comments = (comment.removesuffix(" -->") for comment in found[1::3])
    all_marks = [_mapping(_parsed(comment, "A comment of ours in this Markdown")) for comment in comments]
    if not found or any(marks.get("version", VERSION) != VERSION for marks in all_marks):
        raise InvalidRequestError(
            "This Markdown was not written by %chat export, or by a newer one: attach it to a prompt instead (-a FILE)."
        )
    said, summary = list[Said](), None
    for kind, marks, part in zip(found[::3], all_marks, found[2::3], strict=True):
        body = HEADING.sub("", part, count=1).removesuffix("\n")
        body = _unescaped(body.removesuffix(f"\n{marks['closed']}") if _string(marks.get("closed")) else body)
        if kind == "summary":
            summary = {**marks, "text": body}
        elif kind != "conversation":
            said.append(_said(kind, body, marks))
    return _added(said, summary)


# a notebook, that runs

MAGICS = ("%%chat", "%%ctx")
NOT_KEPT = frozenset({"--no-history", "--no_history", "--preview"})
WIDGET = "application/vnd.jupyter.widget-view+json"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # viewers colour, terminals obey


def _to_notebook(added: Added) -> str:
    beside = _beside(added)
    cells = [_cell("load", f"%load_ext {OURS}")]
    if added.system is not None:
        cells.append(_cell("system", f"%%chat system\n{added.system}\n"))  # IPython runs no cell without a line
    for turn, marks in zip(added.turns, beside.pop("turns"), strict=True):
        first = "%%chat --raw" if turn.prompt.strip() else "# nothing was asked in words"  # it would stop the run
        # with the answer, not with the cell: another run writes another one, of which this is not true
        ours = {**marks, "parts": list(map(_part, turn.attachments)), "reply": turn.reply}
        data = {"text/plain": CONTROL.sub("�", turn.reply.replace("\r\n", "\n"))}
        answer = {"output_type": "display_data", "data": data, "metadata": {OURS: ours}}
        cells.append(_cell(f"turn-{marks['turn']}", f"{first}\n{turn.prompt}", answer))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, OURS: beside}
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _cell(name: str, source: str, *outputs: Marks) -> Marks:
    cell: Marks = {"cell_type": "code", "id": name, "metadata": {}, "execution_count": None}
    return {**cell, "source": source, "outputs": outputs}


def _from_notebook(text: str) -> Added:
    found = _mapping(_parsed(text))
    if not isinstance(found.get("cells"), list):
        raise InvalidRequestError("This is no notebook of version 4, for it has no cells: open it in Jupyter, save it.")
    ours = _mapping(_mapping(found.get("metadata")).get(OURS))
    exported = ours.get("version") == VERSION
    said = [each for cell in found["cells"] for each in _of_cell(_mapping(cell), exactly=exported)]
    if not said and not exported:
        raise InvalidRequestError("No cell here begins with %%chat and has an answer: run the notebook and save it.")
    system = [each for each in said if each[0].role == "system"][-1:]
    return _added([*system, *(each for each in said if each[0].role != "system")], ours.get("summary"))


def _of_cell(cell: Marks, *, exactly: bool) -> Iterator[Said]:
    """What a cell says: a system prompt, or a prompt with its answer."""
    if cell.get("cell_type") != "code":
        return
    first, _, body = _lines(cell.get("source")).lstrip().partition("\n")
    reply, marks = _answer(cell.get("outputs"))
    magic, *words = first.split() or [""]
    ours, asks = magic in MAGICS, not words or words[0].startswith("-")
    if marks or (ours and asks and reply and not NOT_KEPT & set(words)):
        yield _said("user", body if marks else body.rstrip("\n"), marks)
        yield _said("assistant", reply, marks)
    elif ours and words == ["system"]:
        yield _said("system", body.removesuffix("\n") if exactly else body.strip(), {})


def _answer(outputs: object) -> tuple[str, Marks]:
    """A cell's last answer, with our marks where it is still the one that was exported."""
    texts = dict[str, str]()
    for output in map(_mapping, _listed(outputs)):
        data, marks = _mapping(output.get("data")), _mapping(_mapping(output.get("metadata")).get(OURS))
        if isinstance(marks.get("reply"), str):
            return marks["reply"], marks
        if WIDGET not in data:  # the gauge has a text, too
            texts.update({form: text for form in data if (text := _lines(data[form]))})
    return texts.get("text/markdown") or texts.get("text/plain", ""), {}


def _lines(value: object) -> str:
    """Text as notebooks keep it: whole, or in lines."""
    return "".join(line for line in ([value] if isinstance(value, str) else _listed(value)) if isinstance(line, str))


FORMATS: Mapping[str, Format] = {
    ".md": Format(_to_markdown, _from_markdown),
    ".json": Format(_to_json, _from_json),
    ".ipynb": Format(_to_notebook, _from_notebook),
}
