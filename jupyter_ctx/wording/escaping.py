"""Escape text for a page."""

from __future__ import annotations

import html


def escaped(text: str) -> str:
    """Return text as HTML with no dollar and no backslash of its own, or MathJax would find formulas in it."""
    return html.escape(text).replace("$", "<span>$</span>").replace("\\", "<span>\\</span>")
