"""Conversations as Markdown, with the marks in HTML comments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ..conversation.events import Added
from ..display.text import markdown_line, sources_line
from ..errors import InvalidRequestError
from ..providers.request_body import as_base64
from .openai_messages import (
    EXPORT_KEY,
    EXPORT_VERSION,
    MarkedMessage,
    TurnMarks,
    find,
    marked,
    parse_json,
    together,
    turns_with_files,
)

START = f"<!-- {EXPORT_KEY} "
MARKER = re.compile(rf"\n?^{START}(\w*) ?(.*)$\n?", re.M)
HEADING = re.compile(r"\A(?:#.*\n)?(?:(?:\[attached: |\[called: |\[Sources: |!\[).*\n)*\n?")
PICTURE = re.compile(r"^!\[.*\]\((data:image/[^()\s]*)\)$", re.M)
MARKDOWN_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})(.*)$", re.M)
LINE_END = re.compile("\r\n?")


def write(added: Added) -> str:
    """Return a conversation as Markdown."""
    first = _comment("conversation", {"version": EXPORT_VERSION}) + "# Conversation\n"
    return "\n".join([first, *(_part(*part) for part in _parts(added))])


def _parts(added: Added) -> Iterator[tuple[str, TurnMarks, str, str]]:
    """Yield what each side said: its kind, its marks, its heading and its text."""
    if added.system is not None:
        yield "system", {}, "## System prompt", added.system
    if added.summary is not None:
        yield "summary", {"method": added.summary.method}, "## Summary", added.summary.text
    for turn, marks in turns_with_files(added):
        shown = [file for file in turn.attachments if file.kind == "image"]
        heading = "\n".join([
            "## You", *(f"[attached: {markdown_line(name)}]" for name in turn.sources),
            *(f"![{markdown_line(file.name)}](data:{file.media_type};base64,{as_base64(file)})" for file in shown),
        ])  # fmt: skip
        yield "user", marks, heading, turn.prompt
        cited = [f"[{sources_line(turn.record.citations)}]"] if turn.record.citations else []
        called = (f"[called: {markdown_line(line)}]" for each in turn.rounds for line in each.lines)
        heading = "\n".join([f"## {markdown_line(turn.model) or 'Assistant'}", *called, *cited])
        yield "assistant", {}, heading, turn.reply


def read(text: str) -> Added:
    """Return the conversation in exported Markdown. Raises InvalidRequestError."""
    _, *pieces = MARKER.split(LINE_END.sub("\n", text))
    comments = [comment.removesuffix(" -->") for comment in pieces[1::3]]
    all_marks = [find(dict, parse_json(comment, "A jupyter_ctx comment in this Markdown")) for comment in comments]
    if not pieces or any(marks.get("version", EXPORT_VERSION) != EXPORT_VERSION for marks in all_marks):
        raise InvalidRequestError(
            "This Markdown was not written by %chat export, or by a newer one: attach it to a prompt instead (-a FILE)."
        )
    messages, summary = list[MarkedMessage](), None
    for kind, marks, part in zip(pieces[::3], all_marks, pieces[2::3], strict=True):
        shown, said = HEADING.sub("", part, count=1).removesuffix("\n"), find(str, marks, "said")
        whole = said if _shown(said) == shown else shown  # people edit what they see
        if kind == "summary":
            summary = {**marks, "text": whole}
        elif kind != "conversation":
            pictures = PICTURE.findall(HEADING.match(part)[0])  # type: ignore[index]
            messages.append(marked(kind, whole, marks, pictures))
    return together(messages, summary)


def _part(kind: str, marks: TurnMarks, heading: str, said: str) -> str:
    """Return one side's text; its comment contains the text, too, when the visible text differs."""
    shown = _shown(said)
    return _comment(kind, marks if shown == said else {**marks, "said": said}) + f"{heading}\n\n{shown}\n"


def _comment(kind: str, marks: TurnMarks) -> str:
    """Return an HTML comment that no text in it can end."""
    inner = json.dumps(marks).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"{START}{kind} {inner} -->\n"


def _shown(text: str) -> str:
    """Return a text with plain line ends, without comments like the export's, and with open code fences closed."""
    text = LINE_END.sub("\n", text)
    text = re.sub(f"(?m)^(?={START})", r"\\", text)
    fence = ""
    for mark in MARKDOWN_FENCE.finditer(text):
        if not fence:
            fence = mark[1]
        elif mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
    return f"{text}\n{fence}" if fence else text
