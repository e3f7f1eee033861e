"""A table of turns that can be sorted, with boxes to pin and to exclude each turn, and full texts below their rows.

The page has one table. The boxes lie over its first cells, in rows of the same fixed height, in the same container,
so that both scroll as one: a widget cannot stand inside the HTML of another.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ...errors import in_words
from ..answer.strip import MOST_SENT_TEXT, SentPart, part_html, pictures_html
from ..tables import FIGURE, NOT_DRAWN, TableRow, TableRows, column_sides, page_html, row_html, table
from ..text import WRAPS, attribute_html, spoken_html, text_html
from .clicks import button, low_layout, set_class, tried
from .static_twin import LIVE

TURNS_PER_PAGE = 15  # a few at a time, because each row has three widgets
ROW_HEIGHT = 28  # pixels, of a row of the table and of the boxes over it
AS_SENT = "as sent"  # the order of the conversation, from the page of the newest turns
MARK_NAMES = ("pin", "exclude")
MARK_TIPS = ("always sent, however full it is", "not sent until this is unticked")
MARK_WIDTHS = {"pin": 44, "exclude": 64, "full text": 64}  # pixels, of the columns below the boxes
MOST_IN_FULL = 200_000  # characters of a full text
MOST_IN_TWIN = 60_000  # characters of all that unfolds in the table without boxes
PART_COLUMN = 2  # where a part is named
_LINE_HEIGHT, _LINE_LENGTH, _MOST_LINES, _PICTURE_HEIGHT = 18, 80, 14, 52  # of what is unfolded, as it is likely drawn
NOTHING = SentPart("", "")
NO_DIGIT = re.compile(r"[~$,% ]")  # what a figure has besides its number
INERT = "jctx-inert"  # the class of a button that leads no further
UNFOLDED = "jctx-unfolded"  # the class of the button whose text is shown


class Pager:
    """Says which rows are in view; ``changed`` is called when the user has chosen others.

    ``head`` are the columns to sort by, and ``usual`` names the order of the rows as they are. ``newest_first``: that
    order is read from its end, in pages of older and newer rows.
    """

    def __init__(
        self, head: TableRow, usual: str, size: int, changed: Callable[[], object], *, newest_first: bool = False
    ) -> None:
        import ipywidgets

        self._usual, self._size, self._changed, self._newest_first = usual, size, changed, newest_first
        self._page = 0
        layout = ipywidgets.Layout
        self._where = ipywidgets.Label()
        self._turners = self._turner(-1), self._turner(1)
        row = layout(flex_flow="row wrap", align_items="center", overflow="visible")
        self.buttons = ipywidgets.HBox([self._turners[0], self._where, self._turners[1]], layout=row)
        self._orders = {
            f"{name}, {word}": (column, word == "descending")
            for column, name in enumerate(head)
            for word in ("ascending", "descending")
        }
        width = layout(width="18em", max_width="calc(100% - 4px)")
        self.menu = ipywidgets.Dropdown(description="Sort by", options=[usual, *self._orders], layout=width)
        self.menu.observe(lambda _: self._go(0), "value")

    def in_view(self, rows: TableRows) -> Sequence[int]:
        """Return the indexes of the rows in view, and draw the buttons for so many rows."""
        order = self._order(rows)
        last = max(0, -(-len(order) // self._size) - 1)
        self._page = min(self._page, last)
        begin, end = self._span(len(order))
        self._draw(begin, end, len(order), last)
        return order[begin:end]

    def _order(self, rows: TableRows) -> Sequence[int]:
        if self.menu.value == self._usual:
            return range(len(rows))
        column, descending = self._orders[self.menu.value]
        return sorted_indexes(rows, column, descending=descending)

    @property
    def _is_from_end(self) -> bool:
        return self._newest_first and bool(self.menu.value == self._usual)

    def _span(self, count: int) -> tuple[int, int]:
        """Return where the page begins and ends."""
        begin = self._page * self._size
        end = min(count, begin + self._size)
        return (count - end, count - begin) if self._is_from_end else (begin, end)

    def _draw(self, begin: int, end: int, count: int, last: int) -> None:
        self.buttons.layout.display = None if last else "none"
        self._where.value = f"rows {begin + 1:,} to {end:,} of {count:,}"
        further, back = self._page < last, self._page > 0
        names = ("Older", "Newer") if self._is_from_end else ("Back", "Next")
        possible_ones = (further, back) if self._is_from_end else (back, further)
        for turner, name, possible in zip(self._turners, names, possible_ones, strict=True):
            with turner.hold_sync():
                turner.description = name
                turner.tooltip = "" if possible else "there are no more"
            set_class(turner, INERT, on=not possible)  # a disabled one would lose the focus

    def _go(self, page: int) -> None:
        """Go to a page; behind the last there is none, which ``in_view`` sees to."""
        self._page = max(0, page)
        self._changed()

    def _turner(self, rightwards: int) -> Any:
        """Return a button to the page on the right (1) or left (-1), which may be that of newer rows or older ones."""
        return button(partial(self._turn, rightwards), ["turner"], low_layout())

    def _turn(self, rightwards: int) -> None:
        self._go(self._page + (-rightwards if self._is_from_end else rightwards))


PAGER_STYLE = (
    "<style>"
    f".jctx-turner.{INERT}{{background:none;box-shadow:none;cursor:default}}"
    "@media (forced-colors:active){.jctx-turner{border:1px solid ButtonText}"
    f".jctx-turner.{INERT}{{border:1px dashed GrayText;color:GrayText}}}}"
    "</style>"
)


def sorted_indexes(rows: TableRows, column: int, *, descending: bool) -> list[int]:
    """Return the indexes of rows sorted by a column, figures as figures and before text; without lines across it."""
    cells = {index: row[column] for index, row in enumerate(rows) if not isinstance(row, str)}
    figures = {index: float(NO_DIGIT.sub("", cell)) for index, cell in cells.items() if FIGURE.fullmatch(cell)}
    texts = {index: cell.casefold() for index, cell in cells.items() if index not in figures}
    by_size = sorted(figures, key=figures.__getitem__, reverse=descending)
    by_letter = sorted(texts, key=texts.__getitem__, reverse=descending)
    return by_size + by_letter


@dataclass(frozen=True, slots=True)
class MarkBoxes:
    """Whether a turn is pinned, and whether it is excluded."""

    pinned: bool
    excluded: bool


@dataclass(frozen=True, slots=True)
class PartRow:
    """A row below that of a message, for a part of it: its cells, and what it unfolds to."""

    cells: TableRow
    part: SentPart


@dataclass(frozen=True, slots=True)
class _Line:
    """A row as it is shown: its cells, what it unfolds to and by which name, and the number of its turn."""

    cells: TableRow | str
    part: SentPart = NOTHING
    name: str = ""
    number: int | None = None
    is_part: bool = False

    @property
    def title(self) -> str:
        """Its name, as it begins a text; the name of a part stays as it is."""
        return self.name if self.is_part else f"{self.name[:1].upper()}{self.name[1:]}"

    @property
    def size(self) -> int:
        """Characters of what it unfolds to."""
        return min(len(self.part.text), MOST_SENT_TEXT) + sum(map(len, self.part.pictures))


@dataclass(frozen=True, slots=True)
class SelectionTable:
    """What a TurnTable draws.

    ``rows``: their first cell is the turn's number. ``marks``: those of the turns, by number. ``texts``: the full text
    of each row, "" for none. ``parts``: what a row consists of, by its index.
    """

    head: TableRow
    rows: TableRows
    caption: str
    marks: Mapping[int, MarkBoxes]
    texts: Sequence[str]
    parts: Mapping[int, Sequence[PartRow]] = field(default_factory=dict)

    def lines(self, index: int) -> Iterator[_Line]:
        """Yield the line of a row, then those of its parts."""
        row, head = self.rows[index], list(self.head)
        if isinstance(row, str):
            yield _Line(row)
            return
        name = _row_name(row[0], row[head.index("role")] if "role" in head else "")
        number = int(row[0]) if row[0].isdigit() else None
        yield _Line(row, replace(NOTHING, text=self.texts[index]), name, number)
        turn = f" of turn {number}" if number else ""
        for each in self.parts.get(index, ()):
            yield _Line(each.cells, each.part, f"{each.part.name}{turn}", number, is_part=True)


def table_forms(what: SelectionTable) -> dict[str, str]:
    """Return the table without boxes, as HTML, where parts unfold, and as plain text."""
    lines = [line for index in range(len(what.rows)) for line in what.lines(index)]
    forms = table(what.head, [line.cells for line in lines], what.caption)
    if not what.parts:
        return forms
    sides, left, rows = column_sides(what.head, what.rows), MOST_IN_TWIN, list[str]()
    for line in reversed(lines):  # the newest unfold, as far as a page that is sent again and again may have
        left -= line.size if line.is_part else 0
        drawn = {PART_COLUMN: part_html(line.part)} if line.is_part and left >= 0 else NOT_DRAWN
        rows.append(f"<tr>{row_html(line.cells, sides, drawn)}</tr>")
    return {**forms, "text/html": page_html(what.head, sides, reversed(rows), what.caption)}


@dataclass(frozen=True, slots=True)
class _RowWidgets:
    """The widgets over one row."""

    box: Any
    marks: tuple[Any, Any]
    unfold: Any


class TurnTable:
    """A widget of the table that ``read`` returns.

    ``mark`` is called with a turn's number, "pin" or "exclude", and whether the box is now ticked.
    """

    def __init__(self, read: Callable[[], SelectionTable], mark: Callable[[int, str, bool], object]) -> None:
        self._read, self._mark = read, mark
        self._lock = threading.RLock()
        self._drawing = False
        self._ended = ""
        self._shown: Sequence[_Line] = ()
        self._full: _Line | None = None  # the one that is unfolded
        self._table = self._read()
        self._build()
        self._draw()

    def update(self, change: object = None) -> None:
        """Redraw the table; ``change`` is not used."""
        del change
        if self._ended:
            return
        try:
            what = self._read()
            with self._lock:
                self._table = what
                self._draw()
        except Exception as error:  # a turn must not fail because of the table
            self._say(in_words(error), "alert")

    def end(self, why: str) -> None:
        """Leave the table as it is from now on, and say why."""
        with self._lock:
            self._ended = why
            for row in self._rows:
                for box in row.marks:
                    box.disabled = True
            self._say(why, "status")

    def _say(self, text: str, role: str) -> None:
        self._line.value = spoken_html(text, role)

    # drawing

    def _draw(self) -> None:
        with self._lock:
            indexes = self._pager.in_view(self._table.rows)
            self._shown = [line for index in indexes for line in self._table.lines(index)]
            self._follow_full()
            self._html.value = _page_html(self._table, self._shown, self._full)
            self._set_boxes()

    def _set_boxes(self) -> None:
        """Set the boxes over the first row of each turn that can be marked, and the button of each row with a text."""
        self._drawing = True  # setting a box is not a click
        try:
            while len(self._rows) < len(self._shown):
                self._rows.append(self._new_row(len(self._rows)))
            seen = set[int]()
            for row, line in zip(self._rows, self._shown, strict=False):
                first = line.number is not None and line.number not in seen
                seen.update([line.number] if line.number is not None else [])
                self._set_row(row, line, self._table.marks.get(line.number or 0) if first else None)
            children = tuple(row.box for row in self._rows[: len(self._shown)])
            if self._column.children != children:
                self._column.children = children
        finally:
            self._drawing = False

    def _set_row(self, row: _RowWidgets, line: _Line, marks: MarkBoxes | None) -> None:
        values, number = (marks.pinned, marks.excluded) if marks else (False, False), line.number
        for box, name, tip, on in zip(row.marks, MARK_NAMES, MARK_TIPS, values, strict=True):
            with box.hold_sync():
                box.value = on
                box.description = f"{name} {number}" if marks else ""
                box.tooltip = f"{name} turn {number}: {tip}" if marks else ""
                box.disabled = marks is None or bool(self._ended)
            _set_display(box, shown=marks is not None)
        with row.unfold.hold_sync():
            row.unfold.tooltip = row.unfold.description = f"full text of {line.name or 'this row'}"
        is_open = line == self._full
        set_class(row.unfold, UNFOLDED, on=is_open)
        _set_display(row.unfold, shown=line.size > 0)
        height = f"{ROW_HEIGHT + (_height(line.part) if is_open else 0)}px"
        if row.box.layout.height != height:
            row.box.layout.height = height

    def _follow_full(self) -> None:
        """Close the text that is unfolded where its row is not on this page; draw a turn's newest text."""
        full = self._full
        if full is None or full in self._shown:
            return
        same = (line for line in self._shown if line.number and line.size and line.name == full.name)
        self._full = next(same, None)

    # clicks

    def _clicked(self, place: int, name: str, box: Any) -> None:
        number = self._shown[place].number if place < len(self._shown) else None
        if self._drawing or self._ended or number is None:
            return
        result, role = tried(lambda: self._mark(number, name, bool(box.value)), self.widget)
        self.update()
        self._say(result, role)

    def _unfold(self, place: int) -> None:
        """Show the full text of a row below it, or hide it."""
        with self._lock:
            wanted = self._shown[place]
            self._full = None if self._full == wanted else wanted
            self._draw()

    # building

    def _new_row(self, place: int) -> _RowWidgets:
        import ipywidgets

        boxes = []
        for name in MARK_NAMES:
            box = ipywidgets.Checkbox(indent=False, layout=_cell_layout(MARK_WIDTHS[name]))
            box.observe(lambda _, name=name, box=box: self._clicked(place, name, box), "value")
            boxes.append(box)
        unfold = button(lambda: self._unfold(place), (), _cell_layout(MARK_WIDTHS["full text"]))
        row = ipywidgets.HBox([*boxes, unfold], layout=ipywidgets.Layout(height=f"{ROW_HEIGHT}px", margin="0"))
        return _RowWidgets(row, (boxes[0], boxes[1]), unfold)

    def _build(self) -> None:
        import ipywidgets

        layout = ipywidgets.Layout
        self._rows = list[_RowWidgets]()
        self._html = ipywidgets.HTML(layout=layout(margin="0", overflow="visible", min_width="100%"))
        self._column = ipywidgets.VBox(layout=layout(margin="0", overflow="visible"))
        self._column.add_class("jctx-boxes")
        self._column.add_class("jctx-toolbar")
        self._line = ipywidgets.HTML()
        self._pager = Pager(self._table.head, AS_SENT, TURNS_PER_PAGE, self._draw, newest_first=True)
        style = ipywidgets.HTML(TABLE_STYLE + PAGER_STYLE, layout=layout(display="none"))
        scroll = ipywidgets.Box([self._html, self._column], layout=layout(margin="0"))
        scroll.add_class("jctx-scroll")
        parts = [style, self._pager.menu, scroll, self._pager.buttons, self._line]
        self.widget = ipywidgets.VBox(parts, layout=layout(overflow="visible"))
        self.widget.add_class("jctx-turns")
        self.widget.add_class(LIVE)


def _row_name(number: str, role: str) -> str:
    parts = (f"turn {number}" if number.isdigit() else "", role)
    return ", ".join(filter(None, parts))


def _height(part: SentPart) -> int:
    """Return the pixels that an unfolded text takes: a fixed number, since the boxes beside it must move as far."""
    texts = part.text.split("\n", _MOST_LINES)[:_MOST_LINES] if part.text else []
    lines = sum(1 + len(text) // _LINE_LENGTH for text in texts)
    pictures = _PICTURE_HEIGHT if part.pictures else 0
    return _LINE_HEIGHT * (min(lines, _MOST_LINES) + 2) + pictures


def _cell_layout(width: int) -> Any:
    import ipywidgets

    return ipywidgets.Layout(width=f"{width}px", height=f"{ROW_HEIGHT}px", margin="0", justify_content="center")


def _set_display(widget: Any, *, shown: bool) -> None:
    """Show a widget, or leave its place empty."""
    visibility = None if shown else "hidden"
    if widget.layout.visibility != visibility:
        widget.layout.visibility = visibility


def _page_html(what: SelectionTable, shown: Sequence[_Line], full: _Line | None) -> str:
    """Return the table of the rows in view, with empty cells below the boxes, and the unfolded text below its row."""
    heads = "".join(
        f'<th class="jctx-boxed" style="width:{width}px;min-width:{width}px">{name}</th>'
        for name, width in MARK_WIDTHS.items()
    )
    boxed, sides = "<td></td>" * len(MARK_WIDTHS), column_sides(what.head, what.rows)
    rows = list[str]()
    for line in shown:
        rows.append(f"<tr>{boxed}{row_html(line.cells, sides)}</tr>")
        if line == full:
            rows.append(
                f'<tr><td class="jctx-under" colspan="{len(MARK_WIDTHS) + len(sides)}">{_full_html(line)}</td></tr>'
            )
    return f'<div class="jctx-rows">{page_html(what.head, sides, rows, what.caption, heads)}</div>'


def _full_html(line: _Line) -> str:
    """Return what a row unfolds to."""
    part, name = line.part, attribute_html(line.title)
    cut = f"\n… {len(part.text) - MOST_IN_FULL:,} more characters" if len(part.text) > MOST_IN_FULL else ""
    return (
        f'<div class="jctx-full" role="region" tabindex="0" aria-label="{name}" data-lm-suppress-shortcuts="true"'
        f' style="height:{_height(part) - 1}px"><b>{name}</b>\n{pictures_html(part)}'
        f"{text_html(part.text[:MOST_IN_FULL] + cut)}</div>"
    )


_LINE = "var(--jp-border-color2,#ccc)"
TABLE_STYLE = (
    "<style>"
    ".jctx-rows{overflow-x:auto}.jctx-rows table{border-collapse:separate;border-spacing:0;width:100%;margin:0;"
    "font:12px/18px var(--jp-ui-font-family,system-ui,sans-serif);"
    "color:var(--jp-ui-font-color1,var(--vscode-editor-foreground,inherit))}"
    f".jctx-rows caption{{caption-side:bottom;text-align:left;padding:4px 0}}"
    f".jctx-rows :is(td,th){{box-sizing:border-box;height:{ROW_HEIGHT}px;padding:0 8px;white-space:nowrap;"
    f"border:0;border-bottom:1px solid {_LINE}}}"
    ".jctx-rows .jctx-boxed{padding:0;text-align:center;font-weight:600}"
    ".jctx-rows .jctx-text{max-width:0;min-width:8em;width:40%;overflow:hidden;text-overflow:ellipsis}"
    ".jctx-turns .jctx-scroll{position:relative;overflow-x:auto;overflow-y:hidden;display:block}"
    ".jctx-turns .jctx-rows{overflow:visible}"
    ".jctx-turns .widget-html-content{line-height:18px}"
    # more exact than what a gauge around it says of toolbars
    f".jctx-turns .jctx-scroll .jctx-boxes{{position:absolute;left:0;top:{ROW_HEIGHT}px;display:block;width:auto}}"
    ".jctx-turns .jctx-boxes .widget-hbox{display:flex;flex-flow:row nowrap}"
    ".jctx-boxes .widget-checkbox{justify-content:center}"
    ".jctx-boxes .widget-label-basic{display:flex;align-items:center;justify-content:center;margin:0;height:100%}"
    ".jctx-boxes .widget-label-basic input{margin:0}"
    ".jctx-boxes .widget-label-basic span{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
    ".jctx-boxes .jupyter-button{background:none;box-shadow:none;padding:0;line-height:normal;font-size:0;"
    "color:var(--jp-ui-font-color1,inherit)}"
    # a sign that is no part of the button's name, where the browser knows how to say so
    ".jctx-boxes .jupyter-button::before{font-size:14px;content:'▸';content:'▸' / ''}"
    f".jctx-boxes .{UNFOLDED}::before{{content:'▾';content:'▾' / ''}}"
    ".jctx-boxes .jupyter-button:hover{background:var(--jp-layout-color2,#eee)}"
    ".jctx-boxes :is(input,button):focus-visible{outline:2px solid var(--jp-brand-color1,#1976d2);outline-offset:-2px}"
    ".jctx-turns{container-type:inline-size}.jctx-rows .jctx-under{padding:0;white-space:normal;text-align:left}"
    ".jctx-full{position:sticky;left:0;box-sizing:border-box;max-width:100cqw}.jctx-full img{display:block}"
    f".jctx-full{{white-space:pre-wrap;{WRAPS};overflow:auto;padding:4px 8px;"
    f"border-left:3px solid {_LINE};font:12px/18px var(--jp-ui-font-family,system-ui,sans-serif);"
    "color:var(--jp-ui-font-color1,inherit)}"
    "</style>"
)
