"""What clicks have in common: the buttons they go to, and their results as lines that are announced."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...errors import in_words


def button(act: Callable[[], object], classes: Iterable[str], layout: Any, **shown: str) -> Any:
    """Return a button that does something; its CSS classes are named without ``jctx-``."""
    import ipywidgets

    made = ipywidgets.Button(layout=layout, **shown)
    for name in classes:
        made.add_class(f"jctx-{name}")
    made.on_click(lambda _: act())
    return made


def low_layout(margin: str | None = None) -> Any:
    """Return the layout of a button that is as wide as its label and lower than the front end's own."""
    import ipywidgets

    return ipywidgets.Layout(width="auto", height="24px", padding="0 8px", margin=margin)


def tried(act: Callable[[], object]) -> tuple[str, str]:
    """Return the result of a click as (text, "status"), or its error as (text, "alert")."""
    try:
        result = act()
    except Exception as error:  # no cell would show it
        return in_words(error), "alert"
    return "" if result is None else str(result), "status"
