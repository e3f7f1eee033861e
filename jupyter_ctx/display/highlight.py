"""Code in the colours of the front end's theme."""

from __future__ import annotations

import html
from functools import lru_cache
from itertools import groupby
from typing import Any

# most of a text, and the colour of most of them is that of text: leaving them out halves the page
UNCOLOURED = {"", "n", "nx", "p", "w", "err"}


@lru_cache(64)
def highlighted(code: str, language: str) -> str:
    """Code as HTML with Pygments' short classes, which Lab, Notebook and nbconvert know."""
    lexer = _lexer(language)
    if lexer is None:
        return html.escape(code, quote=False)
    from pygments.token import STANDARD_TYPES

    runs = groupby(lexer.get_tokens(code), key=lambda token: STANDARD_TYPES.get(token[0], ""))
    return "".join(_span(kind, "".join(text for _, text in run)) for kind, run in runs)


def _span(kind: str, text: str) -> str:
    escaped = html.escape(text, quote=False)
    return escaped if kind in UNCOLOURED or text.isspace() else f'<span class="{kind}">{escaped}</span>'


@lru_cache(256)
def _lexer(language: str) -> Any:
    """Looking for a name that no lexer has goes through all installed packages."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
