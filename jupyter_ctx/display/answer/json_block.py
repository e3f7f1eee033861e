"""Show an answer in JSON as a block of code, in which nothing is markup."""

from __future__ import annotations

import json

from ..text import markdown_block, to_plain
from .markdown import MimeBundle, to_html, to_markdown

MOST_LAID_OUT = 8  # times the length of JSON that its indentation may make of it


def is_json_like(text: str) -> bool:
    """Return whether a text begins as a JSON object or list does, whole or not."""
    return text.lstrip()[:1] in ("{", "[")


def is_json(text: str) -> bool:
    """Return whether a text is a JSON object or list and nothing else."""
    if not is_json_like(text):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def json_bundle(text: str) -> MimeBundle:
    """Return the JSON of an answer, valid or not, as HTML, Markdown and plain text."""
    block = json_block(text)
    return MimeBundle(to_html(block), to_markdown(block), to_plain(_laid_out(text)))


def json_block(text: str) -> str:
    """Return the JSON of an answer, valid or not, as a block of code in Markdown."""
    return markdown_block(_laid_out(text), "json")


def _laid_out(text: str) -> str:
    """Return the JSON of an answer as the model wrote it; where that is one line, over several."""
    written = text.strip()
    if "\n" in written:
        return written
    try:
        laid_out = json.dumps(json.loads(written), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return written
    return laid_out if len(laid_out) <= MOST_LAID_OUT * len(written) + 1_000 else written  # it is nested deeply
