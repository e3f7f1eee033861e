"""Lay text out in columns that fit the width of a terminal."""

from __future__ import annotations

import shutil
import textwrap
import unicodedata
from collections.abc import Sequence

NARROWEST, WIDEST, WITHOUT_TERMINAL = 60, 160, 100  # characters of a line
LEAST_COLUMN = 12  # characters to which a column of text may be shortened
LEAST_WRAPPED = 28  # characters of the last column, which is wrapped
GAP = 2
MOST_OF_ERROR = 90  # characters of a line: front ends break longer ones within a word


def line_width() -> int:
    """Return how many characters a line may have: those of the terminal, 100 where there is none."""
    return min(WIDEST, max(NARROWEST, shutil.get_terminal_size((WITHOUT_TERMINAL, 24)).columns - 1))


def text_columns(text: str) -> int:
    """Return how many columns of a terminal a line of text takes: two for each wide character."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def cut(text: str, most: int) -> str:
    """Return a line of text that takes ``most`` columns at most."""
    if text_columns(text) <= most:
        return text
    while text and text_columns(text) > most - 1:
        text = text[:-1]
    return f"{text}…"


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return a line of text filled up with spaces, before it where it is aligned ``right``."""
    space = " " * (width - text_columns(text))
    return space + text if right else text + space


def fitted_widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the widths of columns such that they fit; the widest columns are shortened first."""
    widths = [max(map(text_columns, column)) for column in zip(*rows, strict=True)]
    over = sum(widths) + GAP * (len(widths) - 1) - width
    while over > 0 and max(widths) > LEAST_COLUMN:
        widths[widths.index(max(widths))] -= 1
        over -= 1
    return widths


def wrapped(text: str, width: int, indent: str = "") -> str:
    """Return text in lines of ``width`` characters at most, except for longer words; each break stays as it is.

    Lines that go on are indented as the line that they belong to, and by ``indent``.
    """
    wrap = textwrap.TextWrapper(
        width, expand_tabs=False, break_long_words=False, break_on_hyphens=False, replace_whitespace=False
    )
    lines = list[str]()
    for line in text.split("\n"):
        wrap.subsequent_indent = line[: len(line) - len(line.lstrip())] + indent
        lines += wrap.wrap(line) if len(line) > width else [line]
    return "\n".join(lines)


def wrapped_last(rows: Sequence[Sequence[str]], width: int, longest: int = 34) -> list[str]:
    """Return the lines of each row with aligned columns of which the last is wrapped.

    A row whose first column has more than ``longest`` characters goes on in the line below it.
    """
    if not rows:
        return []
    *firsts, _ = zip(*rows, strict=True)
    widths = [
        max((text_columns(cell) for cell in cells if text_columns(cell) <= longest), default=0) for cells in firsts
    ]
    indent = sum(widths) + GAP * len(widths)
    lines = list[str]()
    for *cells, last in rows:
        head = "".join(padded(cell, wide) + " " * GAP for cell, wide in zip(cells, widths, strict=True))
        text = textwrap.wrap(last, max(LEAST_WRAPPED, width - indent), break_on_hyphens=False) or [""]
        is_long = text_columns(head) > indent
        shown = [head.rstrip(), *text] if is_long else [(padded(head, indent) + text[0]).rstrip(), *text[1:]]
        lines.append("\n".join([shown[0], *(" " * indent + line for line in shown[1:])]))
    return lines
