"""Markdown, with comments that a reader does not see."""

from __future__ import annotations

import json
import re

from ..conversation.events import Added
from ..errors import InvalidRequestError
from .metadata import EXPORT_KEY, EXPORT_VERSION, MarkedMessage, TurnMarks, together
from .openai_messages import marked, turns_with_files
from .values import find, parse_json

START = f"<!-- {EXPORT_KEY} "
MARKER = re.compile(rf"\n?^{START}(\w*) ?(.*)$\n?", re.M)
HEADING = re.compile(r"\A(?:#.*\n)?(?:\[attached: .*\n)*\n?")
MARKDOWN_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})(.*)$", re.M)
LINE_END = re.compile("\r\n?")
SPECIAL = re.compile(r"([\\`*_\[\]<>&#|~$!])")


def write(added: Added) -> str:
    """A conversation as Markdown."""
    parts = [_comment("conversation", {"version": EXPORT_VERSION}) + "# Conversation\n"]
    if added.system is not None:
        parts.append(_part("system", {}, "## System prompt", added.system))
    if added.summary is not None:
        parts.append(_part("summary", {"method": added.summary.method}, "## Summary", added.summary.text))
    for turn, marks in turns_with_files(added):
        heading = "\n".join(["## You", *(f"[attached: {_in_line(file.name)}]" for file in turn.attachments)])
        parts.append(_part("user", marks, heading, turn.prompt))
        parts.append(_part("assistant", {}, f"## {_in_line(turn.model) or 'Assistant'}", turn.reply))
    return "\n".join(parts)


def read(text: str) -> Added:
    """The conversation in Markdown that was exported. Raises InvalidRequestError."""
    _, *found = MARKER.split(LINE_END.sub("\n", text))
    comments = [comment.removesuffix(" -->") for comment in found[1::3]]
    all_marks = [find(dict, parse_json(comment, "A comment of ours in this Markdown")) for comment in comments]
    if not found or any(marks.get("version", EXPORT_VERSION) != EXPORT_VERSION for marks in all_marks):
        raise InvalidRequestError(
            "This Markdown was not written by %chat export, or by a newer one: attach it to a prompt instead (-a FILE)."
        )
    messages, summary = list[MarkedMessage](), None
    for kind, marks, part in zip(found[::3], all_marks, found[2::3], strict=True):
        shown, said = HEADING.sub("", part, count=1).removesuffix("\n"), find(str, marks, "said")
        whole = said if _shown(said) == shown else shown  # people edit what they see
        if kind == "summary":
            summary = {**marks, "text": whole}
        elif kind != "conversation":
            messages.append(marked(kind, whole, marks))
    return together(messages, summary)


def is_ours(text: str) -> bool:
    """Whether Markdown was exported: its first line says so."""
    return text.startswith(f"{START}conversation ")


def _part(kind: str, marks: TurnMarks, heading: str, said: str) -> str:
    """One side's text; its comment holds that, too, where a reader sees another one."""
    shown = _shown(said)
    return _comment(kind, marks if shown == said else {**marks, "said": said}) + f"{heading}\n\n{shown}\n"


def _comment(kind: str, marks: TurnMarks) -> str:
    """A comment that nothing in it can end."""
    inner = json.dumps(marks).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"{START}{kind} {inner} -->\n"


def _shown(text: str) -> str:
    """A text with line ends that editors and git leave alone, none of our comments, and no code without an end."""
    text = LINE_END.sub("\n", text)
    text = re.sub(f"(?m)^(?={START})", r"\\", text)
    fence = ""
    for found in MARKDOWN_FENCE.finditer(text):
        if not fence:
            fence = found[1]
        elif found[1].startswith(fence) and not found[2].strip():
            fence = ""
    return f"{text}\n{fence}" if fence else text


def _in_line(name: str) -> str:
    """A name in one line of Markdown, whatever is in it."""
    line = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    return SPECIAL.sub(r"\\\1", line)
