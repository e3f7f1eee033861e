"""A form of settings whose choices take effect at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import ChatError
from ..text import spoken_html


@dataclass(frozen=True, slots=True)
class Choice:
    """One setting: its name, its label, and its values, each with the words that stand for it."""

    name: str
    label: str
    values: Sequence[tuple[str, Any]]


class Form:
    """A form that shows ``read(name)`` for each setting, and calls ``change(name, value)`` for a new choice."""

    def __init__(
        self, choices: Sequence[Choice], read: Callable[[str], Any], change: Callable[[str, Any], object]
    ) -> None:
        self._read, self._change = read, change
        self._drawing = False
        self._build(choices)
        self.update()

    def update(self) -> None:
        """Draw the current values; one that is not among the choices is added to them."""
        self._drawing = True
        try:
            for name, (values, box) in self._boxes.items():
                now = self._read(name)
                with box.hold_sync():
                    box.options = values if now in [value for _, value in values] else [*values, (str(now), now)]
                    box.value = now
        finally:
            self._drawing = False

    def _chosen(self, name: str, box: Any) -> None:
        if self._drawing:
            return
        try:
            self._change(name, box.value)
            self._said.value = ""
        except ChatError as error:
            self._said.value = spoken_html(str(error), "alert")
            self.update()

    def _build(self, choices: Sequence[Choice]) -> None:
        import ipywidgets

        self._boxes = dict[str, tuple[Sequence[tuple[str, Any]], Any]]()
        for choice in choices:
            box = ipywidgets.Dropdown(
                description=choice.label, options=choice.values, layout=ipywidgets.Layout(width="26em"),
                style={"description_width": "9em"},
            )  # fmt: skip
            box.observe(lambda _, name=choice.name, box=box: self._chosen(name, box), "value")
            self._boxes[choice.name] = (choice.values, box)
        self._said = ipywidgets.HTML()
        self.widget = ipywidgets.VBox([*(box for _, box in self._boxes.values()), self._said])
