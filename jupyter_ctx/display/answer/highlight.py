"""Highlight code in the colours of the front end's theme, within a time limit.

A lexer is a list of patterns, and for most languages some text keeps one of them busy for seconds.
Nothing interrupts a match of ``re``, so a pattern that can backtrack is matched by ``regex``, which
has a timeout. A block that exceeds its time is shown plain.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import groupby
from time import perf_counter, thread_time
from typing import Any

BLOCK_HIGHLIGHT_SECONDS = 0.12  # for one block: lexing, and writing its HTML
MAX_POSITION = 1 << 30
MAX_NESTED_CODE = 4_000  # characters for the lexer of a language embedded in another, which has no timeout
MAX_UNGUARDED = 1_500  # characters for lexers that are not made of patterns, and for SLOW_LEXERS
# most tokens have these classes, and most themes show them in the colour of text: omitting them halves the HTML
UNCOLOURED = {"", "n", "nx", "p", "w", "err"}
LINEAR_LEXERS = ("json", "jsonld", "output", "text")  # without patterns; their time grows linearly with the text
SLOW_LEXERS = ("luau",)  # its own code is slow for a name with many dots, whatever its patterns take
HANGING_LEXERS = ("tnt",)  # never ends on 250 exclamation marks

# in the source of a pattern: one character or set; what can backtrack; and what one character of text cannot decide
CHARACTER = re.compile(r"\\[^1-9]|\[(?:\\.|[^\]\\])*\]", re.DOTALL)
BACKTRACKS = re.compile(r"[*+{].*[*+{]|\)[*+{]|\\[1-9]|\(\?P=", re.DOTALL)
LOOKAROUNDS = re.compile(r"\(\?<?!|.\\[bB]|[*+}]\?\)*(?:\^|\(\?)", re.DOTALL)

Match = Callable[..., Any]


@lru_cache(64)
def highlighted(code: str, language: str) -> str:
    """Return code as HTML with Pygments' short classes, which Lab, Notebook and nbconvert style; plain when slow."""
    found = _lexer(language)
    if found is not None and len(code) <= found.longest:
        try:
            return "".join(found.spans(code))
        except Exception:  # out of time, or an error of the lexer: the answer must be shown anyway
            return html.escape(code, quote=False)
    return html.escape(code, quote=False)


def _span(kind: str, text: str) -> str:
    escaped = html.escape(text, quote=False)
    return escaped if kind in UNCOLOURED or text.isspace() else f'<span class="{kind}">{escaped}</span>'


class _Deadline:
    """The time left for a block, in CPU seconds of this thread, so that other work on the machine does not count."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self._end, self._own = perf_counter() + BLOCK_HIGHLIGHT_SECONDS, thread_time() + BLOCK_HIGHLIGHT_SECONDS

    def left(self) -> float:
        """Return the seconds left. Raises TimeoutError when there are none."""
        left = self._end - perf_counter()  # the faster clock first; it never runs slower than the thread's
        if left <= 0 and (left := self._own - thread_time()) <= 0:
            raise TimeoutError
        return left

    def bounded(self, pattern: re.Pattern[str]) -> Match:
        """Return a match function that stops at the deadline."""
        import regex

        match = regex.compile(pattern.pattern, pattern.flags).match
        one_decides = LOOKAROUNDS.search(pattern.pattern) is None

        def matched(text: str, place: int, last: int = MAX_POSITION) -> Any:
            # positional arguments are faster: concurrent=False keeps the GIL, and partial=True
            if one_decides and match(text, place, min(place + 1, last), False, True) is None:
                return None  # most matches fail at the first character, and setting a timeout takes longer
            while True:
                left = self.left()
                try:
                    return match(text, place, last, False, timeout=left)
                except TimeoutError:
                    continue  # the timeout counts other threads too; left() raises once this one's time is over

        return matched


def _narrowed(match: Match) -> Match:
    """Return a match function that sees MAX_NESTED_CODE characters at most."""
    return lambda text, place, last=MAX_POSITION: match(text, place, min(place + MAX_NESTED_CODE, last))


class _BoundedLexer:
    """A Pygments lexer whose patterns stop at a deadline; ``longest`` is the longest code to give it, in characters."""

    def __init__(self, lexer: Any) -> None:
        self._lexer, self._deadline = lexer, _Deadline()
        guarded, name = self._guard(lexer), lexer.aliases[0]
        is_fast = (guarded and name not in SLOW_LEXERS) or name in LINEAR_LEXERS
        self.longest = float("inf") if is_fast else MAX_UNGUARDED

    def spans(self, code: str) -> Iterator[str]:
        """Yield the HTML of a block of code, piece by piece. Raises TimeoutError at the deadline."""
        from pygments.token import STANDARD_TYPES

        self._deadline.begin()
        for kind, run in groupby(self._lexer.get_tokens(code), key=lambda token: STANDARD_TYPES.get(token[0], "")):
            yield _span(kind, "".join(text for _, text in run))

    def _guard(self, lexer: Any) -> bool:
        """Bound the patterns of this lexer object and of those it delegates to; return whether it has patterns."""
        from pygments.lexer import DelegatingLexer, RegexLexer

        lexer.get_tokens_unprocessed = self._checked(lexer.get_tokens_unprocessed)
        if isinstance(lexer, DelegatingLexer):
            return self._guard(lexer.root_lexer) and self._guard(lexer.language_lexer)
        if isinstance(lexer, RegexLexer):
            tokens = lexer._tokens
            lexer._tokens = {state: [self._rule(*rule) for rule in rules] for state, rules in tokens.items()}
            return True
        return False

    def _checked(self, tokens: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        """Return a token function that raises TimeoutError at the deadline."""

        def found(*text: Any, **more: Any) -> Iterator[Any]:
            for token in tokens(*text, **more):
                self._deadline.left()
                yield token

        return found

    def _rule(self, match: Any, action: Any, state: Any) -> tuple[Match, Any, Any]:
        from pygments.token import _TokenType

        pattern = match.__self__
        if BACKTRACKS.search(CHARACTER.sub("x", pattern.pattern)):
            match = self._deadline.bounded(pattern)
        calls = action is not None and not isinstance(action, _TokenType)
        return _narrowed(match) if calls else match, action, state


@lru_cache(256)  # the search for an unknown name goes through all installed packages
def _lexer(language: str) -> _BoundedLexer | None:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    return None if lexer.aliases[0] in HANGING_LEXERS else _BoundedLexer(lexer)
