"""Show a structured answer as tables, with its JSON below them.

Fields with plain values stand in one table, a row each; a list of objects is a table of its own, a row for each
object. What is nested deeper is indented text in a cell. Long texts and many rows are shortened, and a word says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ...wording import counted
from ..tables import head_html, one_line, table_markdown
from ..text import markdown_block, text_html, to_plain
from .footer import FOOTER_STYLE
from .markdown import SCROLLS, AnswerForms, to_html, to_markdown

MOST_ROWS, MOST_COLUMNS = 40, 12  # of a list of objects
MOST_FIELDS = 100  # of an object
CELL_CHARACTERS = 1_000  # of a cell
MOST_IN_LINE = 60  # characters of a cell of plain text that stands in one line
MOST_LAID_OUT = 8  # times the length of JSON that its indentation may make of it
MOST_INDENTED = 6  # levels of indented text; below that, JSON
MOST_IN_LIST = 80  # characters of a list that is written as one line
AMBIGUOUS = re.compile(r"[,\n]")  # in a list that is written as one line
CELL_STYLE = "text-align:left;vertical-align:top;white-space:pre-wrap;overflow-wrap:break-word;max-width:44em"
NAME_STYLE = "text-align:left;vertical-align:top;overflow-wrap:break-word"
ANSWER_TABLE_STYLE = "margin:.4em 0;margin-left:0;margin-right:auto"
JSON_STYLE = f"{FOOTER_STYLE};overflow-x:auto"
Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Part:
    """One table: its caption, the names of its columns, and its cells, of which ``named`` says they are fields."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    named: bool = False


def structured_forms(value: Object, text: str) -> AnswerForms:
    """Return a structured answer as HTML, Markdown and plain text.

    ``value`` is the answer as JSON values, ``text`` what the model wrote; nothing of either becomes markup.
    """
    parts, fence = list(_parts(value)), json_code(text)
    details = f"<summary>JSON</summary>{to_html(fence)}"
    return AnswerForms(
        "".join([*map(_html, parts), f'<details style="{JSON_STYLE}">{details}</details>']),
        "\n\n".join([*map(_markdown, parts), to_markdown(fence)]),
        "\n\n".join(map(_plain, parts)),
    )


def is_json_like(text: str) -> bool:
    """Return whether a text begins as a JSON object or list does, whole or not."""
    return text.lstrip()[:1] in ("{", "[")


def json_code(text: str) -> str:
    """Return the JSON of an answer, valid or not, as a block of code in Markdown; nothing in it is markup."""
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


# what stands where


def _parts(value: Object) -> Iterator[_Part]:
    """Yield the tables of an answer: its fields, then its lists of objects; a list alone is the whole of it."""
    lists = {name: field for name, field in value.items() if _is_table(field)}
    if len(value) == 1 and not lists:
        lists = {name: [{name: each} for each in field] for name, field in value.items() if _is_list(field)}
    if len(value) > len(lists) or not value:
        yield _fields({name: _rows_below(value[name]) if name in lists else value[name] for name in value})
    for name, rows in lists.items():
        yield _records(name, rows)


def _is_list(field: object) -> bool:
    return isinstance(field, list) and len(field) > 0


def _is_table(field: object) -> bool:
    return isinstance(field, list) and len(field) > 0 and all(isinstance(row, dict) and row for row in field)


def _rows_below(rows: Sequence[object]) -> str:
    return f"{counted(len(rows), 'row')}, below"


def _fields(value: Object) -> _Part:
    """Return the table of an object's fields."""
    names = [*value][:MOST_FIELDS]
    caption = _shortened(len(names), len(value), "field") if value else "no fields"
    return _Part(
        caption, ("field", "value"), [(_in_line(to_plain(name)), _cell(value[name])) for name in names], named=True
    )


def _records(name: str, rows: Sequence[Object]) -> _Part:
    """Return the table of a list of objects, a row each."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    shown, names = rows[:MOST_ROWS], columns[:MOST_COLUMNS]
    cells = [[_cell(row[each]) if each in row else "" for each in names] for row in shown]
    counts = [
        _shortened(len(shown), len(rows), "row") or counted(len(rows), "row"),
        _shortened(len(names), len(columns), "column"),
    ]
    return _Part(
        f"{_in_line(to_plain(name))}: {', '.join(filter(None, counts))}", [*map(_in_line, map(to_plain, names))], cells
    )


def _shortened(shown: int, count: int, noun: str) -> str:
    return f"{shown:,} of {counted(count, noun)} shown" if shown < count else ""


def _cell(value: object) -> str:
    """Return a value as the text of a cell."""
    text = to_plain(_text(value))
    if len(text) <= CELL_CHARACTERS:
        return text
    return f"{text[:CELL_CHARACTERS]}… ({CELL_CHARACTERS:,} of {len(text):,} characters shown)"


def _text(value: object, levels: int = MOST_INDENTED) -> str:
    """Return a value as text, what is in it indented: ``name: value`` and ``- item``; plain items in one line."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict | list) or not value or levels == 0:
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, dict):
        return "\n".join(_named(str(name), field, _text(field, levels - 1)) for name, field in value.items())
    texts = [_text(each, levels - 1) for each in value]
    line = ", ".join(texts)
    is_plain = not any(isinstance(each, dict | list) for each in value)
    if is_plain and len(line) <= MOST_IN_LIST and not any(map(AMBIGUOUS.search, texts)):
        return line
    return "\n".join(f"- {_indented(text)}" for text in texts)


def _named(name: str, field: object, text: str) -> str:
    """Return a field with its name: before its text, or above it where that has names or items of its own."""
    is_list = isinstance(field, list) and text.startswith("- ")
    stands_below = is_list or (isinstance(field, dict) and field)
    between = "\n  " if stands_below else " "
    return f"{name}:{between}{_indented(text)}"


def _indented(text: str) -> str:
    """Return a text with its lines indented but the first."""
    return text.replace("\n", "\n  ")


# the three forms


def _html(part: _Part) -> str:
    head = "".join(head_html(name, 'scope="col" style="text-align:left"') for name in part.head)
    body = "".join(f"<tr>{_row_html(row, named=part.named)}</tr>" for row in part.rows)
    said = f'<caption dir="auto" style="text-align:left">{text_html(part.caption)}</caption>' if part.caption else ""
    table = f'<table style="{ANSWER_TABLE_STYLE}">{said}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div {SCROLLS}">{table}</div>'


def _row_html(row: Sequence[str], *, named: bool) -> str:
    cells = [f'<td dir="auto" style="{CELL_STYLE}">{text_html(cell)}</td>' for cell in row]
    if named:
        cells[0] = f'<th scope="row" dir="auto" style="{NAME_STYLE}">{text_html(row[0])}</th>'
    return "".join(cells)


def _markdown(part: _Part) -> str:
    return table_markdown(part.head, part.rows, part.caption)


def _plain(part: _Part) -> str:
    rows = [[[_in_line(name)] for name in part.head]]
    rows += [[_plain_cell(cell, named=part.named) for cell in row] for row in part.rows]
    widths = [max(len(line) for row in rows for line in row[i]) for i in range(len(part.head))]
    lines = [
        "  ".join(line.ljust(width) for line, width in zip(line_of_row, widths, strict=True)).rstrip()
        for row in rows
        for line_of_row in zip_longest(*row, fillvalue="")
    ]
    return "\n".join([*filter(None, [part.caption]), *lines])


def _plain_cell(cell: str, *, named: bool) -> list[str]:
    """Return the lines of a cell: in a table of fields all of them, else one."""
    return cell.split("\n") if named else [_in_line(cell)]


def _in_line(cell: str) -> str:
    """Return a cell in one short line."""
    line = one_line(cell)
    return line if len(line) <= MOST_IN_LINE else f"{line[: MOST_IN_LINE - 1]}…"
