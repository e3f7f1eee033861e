"""Highlight code in the colours of the front end's theme, within a time limit.

Nothing interrupts a lexer while it looks for the next token, and for many languages some text keeps it busy for
seconds. So only lexers are used that are known to be quick with each token, and the time is looked at between them.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from time import thread_time
from typing import Any

from ..text import escaped

BLOCK_HIGHLIGHT_SECONDS = 0.12  # of the processor, for one block: lexing, and writing its HTML
LONGEST_BLOCK = 8_000  # characters: the time of the slowest tokens grows with the square of the length
# patterns for C and its like try every way of dividing so many words and spaces, which no code has without a sign
WORDS_ON_END = re.compile(r"[\w\s*]{1000}")
# most tokens have these classes, and most themes show them in the colour of text: omitting them halves the HTML
UNCOLOURED = {"", "n", "nx", "p", "w", "err"}
# no token of theirs takes longer than 0.1 s in LONGEST_BLOCK characters; tests/display/test_highlight.py measures it
QUICK_LEXERS = frozenset({
    "bash", "c", "cmake", "cpp", "csharp", "css", "diff", "docker", "go", "haskell", "html", "java", "javascript",
    "json", "julia", "kotlin", "lua", "make", "markdown", "matlab", "perl", "php", "powershell", "python", "ruby",
    "rust", "scss", "splus", "sql", "swift", "tex", "toml", "typescript", "xml", "yaml",
})  # fmt: skip


@lru_cache(64)
def highlighted(code: str, language: str) -> str:
    """Return code as HTML with Pygments' short classes, which Lab, Notebook and nbconvert style; plain when slow."""
    lexer = _lexer(language)
    if lexer is not None and len(code) <= LONGEST_BLOCK and not WORDS_ON_END.search(code):
        with suppress(Exception):  # out of time, or an error of the lexer: the answer must be shown anyway
            return _coloured(code, lexer)
    return escaped(code)


def _coloured(code: str, lexer: Any) -> str:
    """Return the HTML of a block of code. Raises TimeoutError."""
    from pygments.token import STANDARD_TYPES

    parts = list[tuple[str, str]]()
    end = thread_time() + BLOCK_HIGHLIGHT_SECONDS
    for token, text in lexer.get_tokens(code):
        if thread_time() > end:
            raise TimeoutError
        kind = STANDARD_TYPES.get(token, "")
        parts.append(("" if kind in UNCOLOURED else kind, escaped(text)))
    runs = ((kind, "".join(text for _, text in run)) for kind, run in groupby(parts, key=itemgetter(0)))
    return "".join(f'<span class="{kind}">{text}</span>' if kind and text.strip() else text for kind, text in runs)


@lru_cache(256)  # the search for an unknown name goes through all installed packages
def _lexer(language: str) -> Any:
    """Return the lexer of a language, or ``None`` where it is unknown or may be slow."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        # code within Markdown would have a lexer that is on no list
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False, handlecodeblocks=False)
    except ClassNotFound:
        return None
    return lexer if lexer.aliases[0] in QUICK_LEXERS else None
