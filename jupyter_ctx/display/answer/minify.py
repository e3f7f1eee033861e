"""Shorten HTML for updates that are soon replaced."""

from __future__ import annotations

import re

# what blocks of code, cells and headings look like when the answer is whole; saved answers, which may be shown without
# a sheet, have it in their own attributes
SHEET = (
    "<style>.jctx-answer.jctx-answer.jctx-answer{pre{overflow-x:auto;white-space:pre;margin:.5em 0 1em;"
    "padding:8px 12px;background:var(--jp-cell-editor-background);border:1px solid #80808040;border-radius:4px}"
    "th,td{text-align:left}h4,h5,h6{margin:1em 0 .4em;font-size:1em;font-weight:600}h4{font-size:1.2em}"
    "h5{font-size:1.1em}}</style>"
)
_TAG = re.compile(r"<(/?)(\w+)([^<>]*)>\n?")  # any other "<" is escaped
_OPTIONAL_ENDS = {"p", "li", "tr", "td", "th", "thead", "tbody"}  # browsers add these end tags
_SHORTER = {"strong": "b", "em": "i"}  # they look the same
_BLOCKS = _OPTIONAL_ENDS | {"ul", "ol", "table", "blockquote", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr"}
# styles that a live page has from SHEET
_IN_SHEET = re.compile(r' style="(?:overflow-x:auto;background|font-size:1(?:\.[12])?em;margin|text-align:left)[^"]*"')
_QUOTES = re.compile(r'="([\w:;.%#(),-]+)"')
_ESCAPED = re.compile(r'="([^"\']*)"')  # the message escapes each double quote


def minified(page: str) -> str:
    """Return HTML without line ends, end tags, quotes and fonts that a live page does not need."""
    return _TAG.sub(_short, page)


def _short(match: re.Match[str]) -> str:
    end, name, attributes = match.groups()
    name = _SHORTER.get(name, name)
    if end and name in _OPTIONAL_ENDS:
        return ""
    line = "" if name in _BLOCKS else "\n" * match[0].endswith("\n")
    if attributes:
        attributes = _QUOTES.sub(r"=\1", _IN_SHEET.sub("", attributes))
        attributes = _ESCAPED.sub(r"='\1'", attributes)
    return f"<{end}{name}{attributes}>{line}"
