"""Conversations as Markdown, with the marks in HTML comments."""

from __future__ import annotations

import html
import json
import re

from ..conversation.events import Added
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
HEADING = re.compile(r"\A(?:#.*\n)?(?:(?:\[attached: |!\[).*\n)*\n?")
PICTURE = re.compile(r"^!\[.*\]\((data:image/[^()\s]*)\)$", re.M)
MARKDOWN_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})(.*)$", re.M)
LINE_END = re.compile("\r\n?")
SPECIAL = re.compile(r"([\\`*_\[\]#|~$!])")


def write(added: Added) -> str:
    """Return a conversation as Markdown."""
    parts = [_comment("conversation", {"version": EXPORT_VERSION}) + "# Conversation\n"]
    if added.system is not None:
        parts.append(_part("system", {}, "## System prompt", added.system))
    if added.summary is not None:
        parts.append(_part("summary", {"method": added.summary.method}, "## Summary", added.summary.text))
    for turn, marks in turns_with_files(added):
        shown = [file for file in turn.attachments if file.is_picture]
        heading = "\n".join([
            "## You", *(f"[attached: {in_line(name)}]" for name in turn.sources),
            *(f"![{in_line(file.name)}](data:{file.media_type};base64,{as_base64(file)})" for file in shown),
        ])  # fmt: skip
        parts.append(_part("user", marks, heading, turn.prompt))
        parts.append(_part("assistant", {}, f"## {in_line(turn.model) or 'Assistant'}", turn.reply))
    return "\n".join(parts)


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


def is_ours(text: str) -> bool:
    """Return whether Markdown is an export, by its first line."""
    return text.startswith(f"{START}conversation ")


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


def in_line(name: str) -> str:
    """Return a name escaped for one line of Markdown."""
    line = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    # some viewers take the backslash behind an address for a part of the address
    return SPECIAL.sub(r"\\\1", html.escape(line, quote=False))
