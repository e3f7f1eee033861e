"""Conversations as Markdown, for reading."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..conversation.events import Added
from ..display.text import markdown_line, sources_line
from ..providers.request_body import as_base64
from .openai_messages import EXPORT_KEY

START = f"<!-- {EXPORT_KEY} conversation"  # by which an earlier export is known
MARKDOWN_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})(.*)$", re.M)


def write(added: Added) -> str:
    """Return a conversation as Markdown, with its pictures."""
    sections = "\n".join(f"{heading}\n\n{_shown(text)}\n" for heading, text in _parts(added))
    return f"{START} -->\n# Conversation\n\n{sections}"


def _parts(added: Added) -> Iterator[tuple[str, str]]:
    """Yield what each side said: its heading and its text."""
    if added.system is not None:
        yield "## System prompt", added.system
    if added.summary is not None:
        yield "## Summary", added.summary.text
    for turn in added.turns:
        pictures = [file for file in turn.attachments if file.kind == "image"]
        asked = ["## You", *(f"[attached: {markdown_line(name)}]" for name in turn.sources)]
        asked += (
            f"![{markdown_line(file.name)}](data:{file.media_type};base64,{as_base64(file)})" for file in pictures
        )
        yield "\n".join(asked), turn.prompt
        answered = [f"## {markdown_line(turn.model) or 'Assistant'}"]
        answered += (f"[called: {markdown_line(line)}]" for each in turn.rounds for line in each.lines)
        answered += [f"[{sources_line(turn.record.citations)}]"] if turn.record.citations else []
        yield "\n".join(answered), turn.reply


def _shown(text: str) -> str:
    """Return a text with plain line ends, and with open code fences closed."""
    text, fence = re.sub("\r\n?", "\n", text), ""
    for mark in MARKDOWN_FENCE.finditer(text):
        if not fence:
            fence = mark[1]
        elif mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
    return f"{text}\n{fence}" if fence else text
