"""Buttons below answers that stand side by side: each takes one into the conversation.

Clicks may arrive in any thread, also while a cell runs. The bar shows each result and error, because no cell would.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from ..answer.columns import choice_line, title
from ..text import WRAPS, note_bundle, text_html
from .live import LIVE, StaticFallback, button, tried

_LINE = f"font-size:90%;line-height:1.5;{WRAPS}"


class ChoiceBar:
    """A row of buttons, "Use 1", "Use 2" and so on, with a line that says what is used.

    ``heads`` name the answers; those whose indexes are ``missing`` have no button. ``on_pick`` takes the index, from
    0, of the answer to use; an error of it is shown.
    """

    def __init__(
        self, heads: Sequence[str], on_pick: Callable[[int], object], missing: Collection[int] = ()
    ) -> None:  # fmt: skip
        import ipywidgets

        self._on_pick = on_pick
        self._chosen: int | None = None
        self._picks = [
            button(partial(self._press, number), [f"do-pick-{number + 1}"], tooltip=title(number, head))
            for number, head in enumerate(heads)
        ]
        usable = [pick for number, pick in enumerate(self._picks) if number not in missing]
        self._line, row = ipywidgets.HTML(), ipywidgets.HBox(usable, layout={"flex_flow": "row wrap"})
        self.widget = ipywidgets.VBox([row, self._line])
        for part in (row, self._line, self.widget):
            part.layout.overflow = "visible"
        self.widget.add_class("jctx-choices").add_class(LIVE)
        self._output = StaticFallback(self.widget, lambda: note_bundle(choice_line(self._chosen, len(heads))))
        self.show, self.close = self._output.show, self._output.freeze
        self.update(None)

    def update(self, chosen: int | None) -> None:
        """Show which answer the conversation uses now."""
        self._chosen = chosen
        for number, pick in enumerate(self._picks):
            is_used = number == chosen
            with pick.hold_sync():
                pick.description = f"✓ {number + 1} is used" if is_used else f"Use {number + 1}"
                pick.button_style = "primary" if is_used else ""
        self._say(choice_line(chosen, len(self._picks)), "status")
        self._output.update()

    def _press(self, number: int) -> None:
        text, role = tried(lambda: self._on_pick(number)) if number != self._chosen else ("", "status")
        if role == "alert":
            self._say(text, role)
        else:
            self.update(number)

    def _say(self, text: str, role: str) -> None:
        """Show a line below the buttons, and announce it to screen readers."""
        weight = ";font-weight:600" if role == "alert" else ""
        attributes = f'class="jctx-choice jctx-{role}" role="{role}" style="{_LINE}{weight}"'
        self._line.value = f"<div {attributes}>{text_html(text)}</div>"
