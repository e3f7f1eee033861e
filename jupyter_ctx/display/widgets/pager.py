"""The order and the page of a long table: a menu to sort by, and two buttons that turn pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..tables import TableRow, TableRows, sorted_indexes
from .clicks import button, low_layout, set_class

INERT = "jctx-inert"  # the class of a button that leads no further


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
