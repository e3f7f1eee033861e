"""Sliders with a field beside them: a slider's handle has no name, so that keys and screen readers get the field."""

from __future__ import annotations

from typing import Any

SLIDER_RULES = (
    # its sign can be dragged, and no key or screen reader meets it
    ".jctx-slider .noUi-handle{visibility:hidden}"
    ".jctx-slider .noUi-handle::before{visibility:visible;content:'';display:block;inset:0;width:auto;height:auto;"
    "border:1px solid;border-radius:50%;background:var(--jp-brand-color1,#1976d2)}"
)


def follows(slider: Any, field: Any) -> Any:
    """Keep a slider and a field at one value, in the page, and return the link."""
    import ipywidgets

    slider.add_class("jctx-slider")
    return ipywidgets.jslink((slider, "value"), (field, "value"))
