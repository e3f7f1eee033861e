"""Let values of every room show themselves in notebooks, whichever program shows those.

What draws a value stands in the highest room, and imports go down only: so it is imported when a value is first shown.
IPython's registry of formatters would serve only kernels with the magics; ``_repr_mimebundle_`` serves marimo and all
others as well.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

DRAWN_BY = "jupyter_ctx.magics.answer_parts"


def mimebundle(value: Any, include: object = None, exclude: object = None) -> dict[str, str]:
    """Return a value as HTML, Markdown and plain text, by media type: the ``_repr_mimebundle_`` of its class.

    All forms are returned, whatever is to be included or excluded: IPython picks.
    """
    del include, exclude
    forms: dict[str, str] = import_module(DRAWN_BY).forms_of(value)
    return forms
