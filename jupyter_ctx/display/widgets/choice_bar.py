"""Buttons below answers that stand side by side: each takes one into the conversation.

Clicks may arrive in any thread, also while a cell runs. The bar shows each result and error, because no cell would.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from ..answer.column_page import choice_line, title
from ..text import WRAPS, note_forms, text_html
from .clicks import button, low_layout, tried
from .static_twin import LIVE, Twin, close_widgets, show

_LINE = f"font-size:90%;line-height:1.5;{WRAPS}"


class ChoiceBar:
    """A row of buttons, "Use 1", "Use 2" and so on, with a line that says what is used.

    ``heads`` name the answers; those whose indexes are ``missing`` have no button. ``on_pick`` takes the index, from
    0, of the answer to use; an error of it is shown.
    """

    def __init__(
        self,
        heads: Sequence[str],
        on_pick: Callable[[int], object],
        missing: Collection[int] = (),
    ) -> None:
        self._heads, self._on_pick = list(heads), on_pick
        self._chosen: int | None = None
        self._twin: Twin | None = None
        self._build(missing)
        self._draw()
        self._say(self._choice(None))

    def show(self) -> None:
        """Show the bar in the running cell, with its static twin above."""
        self._twin = show(self.widget, self._forms())

    def update(self, chosen: int | None) -> None:
        """Show which answer the conversation uses now."""
        changed, self._chosen = chosen != self._chosen, chosen
        self._draw()
        if changed:
            self._say(self._choice(chosen))
        if self._twin is not None:
            self._twin.update(self._forms())

    def close(self) -> None:
        """Show the choice as it is, without buttons, from now on."""
        close_widgets(self.widget)

    def press(self, number: int) -> None:
        """Take an answer into the conversation, as its button does."""
        if number == self._chosen:
            self._say(self._choice(number))
        else:
            self._say(*tried(lambda: self._pick(number)))

    def _pick(self, number: int) -> str:
        self._on_pick(number)
        self.update(number)
        return self._choice(number)

    # drawing

    def _choice(self, chosen: int | None) -> str:
        return choice_line(chosen, len(self._heads))

    def _say(self, text: str, role: str = "status") -> None:
        """Show a line below the buttons, and announce it to screen readers."""
        weight = ";font-weight:600" if role == "alert" else ""
        attributes = f'class="jctx-choice jctx-{role}" role="{role}" style="{_LINE}{weight}"'
        self._line.value = f"<div {attributes}>{text_html(text)}</div>"

    def _forms(self) -> dict[str, str]:
        return note_forms(self._choice(self._chosen))

    def _draw(self) -> None:
        for number, pick in enumerate(self._picks):
            with pick.hold_sync():
                used = number == self._chosen
                pick.description = f"✓ {number + 1} is used" if used else f"Use {number + 1}"
                pick.button_style = "primary" if used else ""

    def _build(self, missing: Collection[int]) -> None:
        import ipywidgets

        layout = ipywidgets.Layout
        wrap = layout(flex_flow="row wrap", overflow="visible")
        low = low_layout("0 4px 2px 0")
        self._picks = [
            button(partial(self.press, number), [f"do-pick-{number + 1}"], low, tooltip=title(number, head))
            for number, head in enumerate(self._heads)
        ]
        usable = [pick for number, pick in enumerate(self._picks) if number not in missing]
        self._line = ipywidgets.HTML(layout=layout(overflow="visible"))
        children = [ipywidgets.HBox(usable, layout=wrap), self._line]
        self.widget = ipywidgets.VBox(children, layout=layout(overflow="visible"))
        for name in ("jctx-choices", LIVE):
            self.widget.add_class(name)
