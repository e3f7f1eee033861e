"""Shorten HTML for updates that are soon replaced."""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)(\w+)([^<>]*)>\n?")  # any other "<" is escaped
_OPTIONAL_ENDS = {"p", "li", "tr", "td", "th", "thead", "tbody"}  # browsers add these end tags
_BLOCKS = _OPTIONAL_ENDS | {"ul", "ol", "table", "blockquote", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr"}
_SIDE = re.compile(r' style="text-align:(\w+)"')
_FONT = re.compile(r";font-family:[^\"]*")  # only viewers of a saved notebook need it
_QUOTES = re.compile(r'="([\w:;-]+)"')


def minified(page: str) -> str:
    """Return HTML without line ends, end tags, quotes and fonts that a live page does not need."""
    return _TAG.sub(_short, page)


def _short(match: re.Match[str]) -> str:
    end, name, attributes = match.groups()
    if end and name in _OPTIONAL_ENDS:
        return ""
    line = "" if name in _BLOCKS else "\n" * match[0].endswith("\n")
    if attributes:
        attributes = _QUOTES.sub(r"=\1", _FONT.sub("", _SIDE.sub(r" align=\1", attributes)))
    return f"<{end}{name}{attributes}>{line}"
