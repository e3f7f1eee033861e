"""A form of settings whose choices take effect at once, each with one line that explains it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import in_words
from ..text import spoken_html, text_html
from .clicks import tried

FIELD_WIDTH = "min(30em, calc(100% - 4px))"


@dataclass(frozen=True, slots=True)
class Choice:
    """One setting of the form.

    name: as ``read`` and ``change`` get it.
    label: beside its field.
    help: one line that explains it.
    default: its value where nobody has set one.
    values: what to choose from, each in words; none: it is typed.
    suggested: what a field to type in suggests.
    typed: returns a value as it is typed.
    """

    name: str
    label: str
    help: str = ""
    default: Any = None
    values: Sequence[tuple[str, Any]] = ()
    suggested: Sequence[str] = ()
    typed: Callable[[Any], str] = str


class Form:
    """A form that shows ``read(name)`` for each setting, and calls ``change(name, value)`` for a new value.

    A typed value is passed on as text. ``change`` returns what to say of the change; where it raises an error, the
    form shows its words, and the value that holds.
    """

    def __init__(
        self, choices: Sequence[Choice], read: Callable[[str], Any], change: Callable[[str, Any], object]
    ) -> None:
        self._read, self._change = read, change
        self._drawing = False
        self._build(choices)
        self.update()

    def update(self, change: object = None) -> None:
        """Draw the current values; one that is not among the choices is added to them. ``change`` is not used."""
        del change
        self._drawing = True
        try:
            for choice, box in self._boxes.values():
                _set(choice, box, self._read(choice.name))
        except Exception as error:  # a turn must not fail because of the form
            self._say(in_words(error), "alert")
        finally:
            self._drawing = False

    def _say(self, text: str, role: str) -> None:
        self._line.value = spoken_html(text, role) if text else ""

    def _chosen(self, name: str, box: Any) -> None:
        if self._drawing:
            return
        result, role = tried(lambda: self._change(name, box.value), self.widget)
        self.update()
        self._say(result, role)

    def _build(self, choices: Sequence[Choice]) -> None:
        import ipywidgets

        layout = ipywidgets.Layout
        self._boxes = dict[str, tuple[Choice, Any]]()
        rows = []
        for choice in choices:
            box = _field(choice)
            box.observe(lambda _, name=choice.name, box=box: self._chosen(name, box), "value")
            self._boxes[choice.name] = choice, box
            line = f'<div class="jctx-explained">{text_html(_explained(choice))}</div>'
            explained = ipywidgets.HTML(line, layout=layout(overflow="visible", margin="0 2px 4px"))
            rows.append(ipywidgets.VBox([box, explained], layout=layout(overflow="visible")))
        self._line = ipywidgets.HTML()
        style = ipywidgets.HTML(FORM_STYLE, layout=layout(display="none"))
        self.widget = ipywidgets.VBox([style, *rows, self._line], layout=layout(overflow="visible"))
        self.widget.add_class("jctx-settings")


def _field(choice: Choice) -> Any:
    import ipywidgets

    shared = {
        "description": choice.label,
        "layout": ipywidgets.Layout(width=FIELD_WIDTH),
        "style": {"description_width": "9em"},
    }
    if choice.values:
        return ipywidgets.Dropdown(options=_options(choice), **shared)
    return ipywidgets.Combobox(
        options=tuple(choice.suggested), ensure_option=False, continuous_update=False, **shared
    )  # sent by the Enter key, and where the field is left


def _set(choice: Choice, box: Any, now: Any) -> None:
    """Show a value in its field."""
    if not choice.values:
        box.value = choice.typed(now)
        return
    with box.hold_sync():
        known = now in [value for _, value in choice.values]
        options = [*_options(choice), *([] if known else [(choice.typed(now), now)])]
        if list(box.options) != options:
            box.options = options
        box.value = now


def _options(choice: Choice) -> list[tuple[str, Any]]:
    return [(f"{words} (default)" if value == choice.default else words, value) for words, value in choice.values]


def _explained(choice: Choice) -> str:
    """Return the line below a field; of one that is typed, with its default."""
    explanation = choice.help[:1].upper() + choice.help[1:]
    if choice.values:
        return f"{explanation}."
    return f"{explanation}. Default: {choice.typed(choice.default)}."


FORM_STYLE = (
    "<style>"
    ".jctx-explained{font:12px/16px var(--jp-ui-font-family,system-ui,sans-serif);padding-left:calc(9em + 12px);"
    "color:var(--jp-ui-font-color2,var(--vscode-descriptionForeground,inherit))}"
    ".jctx-settings .widget-html-content{line-height:16px}"
    "@media (max-width:600px){.jctx-explained{padding-left:0}}"
    "</style>"
)
