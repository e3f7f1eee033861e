"""Code in the colours of the front end's theme, as far as that takes no time to speak of.

A lexer is a list of patterns, and for most languages there is a text that one of them needs seconds
for. Nothing interrupts a match of ``re``, so a pattern that may try many ways through a text is matched
by ``regex``, which has a timeout. A block that has had its time is shown plain.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import groupby
from time import perf_counter, thread_time
from typing import Any

BLOCK_HIGHLIGHT_SECONDS = 0.12  # for one block: lexing, and making the page of it
EVERYTHING = 1 << 30
MAX_NESTED_CODE = 4_000  # characters that are handed to the lexer of a language within another, which has no timeout
UNGUARDED = 1_500  # characters for lexers that are not made of patterns, and for SLOW ones
# most of a text, and the colour of most of them is that of text: leaving them out halves the page
UNCOLOURED = {"", "n", "nx", "p", "w", "err"}
LINEAR = ("json", "jsonld", "output", "text")  # lexers without patterns, whose work grows as the text does
SLOW = ("luau",)  # whose own code is slow for a name of many dots, whatever its patterns take
NOT_HIGHLIGHTED = ("tnt",)  # does not end on 250 exclamation marks

# in the text of a pattern: a sign or a set of signs; what makes it try more than one way through a text;
# and what cannot be told from one sign of the text alone
SIGN = re.compile(r"\\[^1-9]|\[(?:\\.|[^\]\\])*\]", re.DOTALL)
TRIES = re.compile(r"[*+{].*[*+{]|\)[*+{]|\\[1-9]|\(\?P=", re.DOTALL)
LOOKAROUNDS = re.compile(r"\(\?<?!|.\\[bB]|[*+}]\?\)*(?:\^|\(\?)", re.DOTALL)

Match = Callable[..., Any]


@lru_cache(64)
def highlighted(code: str, language: str) -> str:
    """Code as HTML with Pygments' short classes, which Lab, Notebook and nbconvert know; plain where that is slow."""
    found = _lexer(language)
    if found is not None and len(code) <= found.longest:
        try:
            return "".join(found.spans(code))
        except Exception:  # out of time, or a lexer's own fault: no answer may be lost over its looks
            return html.escape(code, quote=False)
    return html.escape(code, quote=False)


def _span(kind: str, text: str) -> str:
    escaped = html.escape(text, quote=False)
    return escaped if kind in UNCOLOURED or text.isspace() else f'<span class="{kind}">{escaped}</span>'


class _Watch:
    """Says how much of a block's time is left: this thread's own, whatever else the machine does."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self._end, self._own = perf_counter() + BLOCK_HIGHLIGHT_SECONDS, thread_time() + BLOCK_HIGHLIGHT_SECONDS

    def left(self) -> float:
        """Seconds; raises where there are none. Asking for the thread's own takes longer, and is done only then."""
        left = self._end - perf_counter()
        if left <= 0 and (left := self._own - thread_time()) <= 0:
            raise TimeoutError
        return left

    def bounded(self, pattern: re.Pattern[str]) -> Match:
        """A pattern that is given what is left of the time."""
        import regex

        match = regex.compile(pattern.pattern, pattern.flags).match
        tells = LOOKAROUNDS.search(pattern.pattern) is None

        def matched(text: str, place: int, last: int = EVERYTHING) -> Any:
            # positional, which is faster: not concurrent, or other threads had their turn at every match; and partial
            if tells and match(text, place, min(place + 1, last), False, True) is None:
                return None  # most fail at the first sign, and setting a timeout takes longer than that
            while True:
                left = self.left()
                try:
                    return match(text, place, last, False, timeout=left)
                except TimeoutError:
                    continue  # its clock counts other threads too: what is left says whether this one had its time

        return matched


def _narrowed(match: Match) -> Match:
    """A pattern that sees no more than the lexer of another language is given."""
    return lambda text, place, last=EVERYTHING: match(text, place, min(place + MAX_NESTED_CODE, last))


class _Lexer:
    """A lexer of Pygments' whose patterns are bounded, and the longest code that it is given."""

    def __init__(self, lexer: Any) -> None:
        self._lexer, self._watch = lexer, _Watch()
        guarded, name = self._guard(lexer), lexer.aliases[0]
        self.longest = float("inf") if (guarded and name not in SLOW) or name in LINEAR else UNGUARDED

    def spans(self, code: str) -> Iterator[str]:
        """The page of a code, piece by piece; raises TimeoutError where it takes too long."""
        from pygments.token import STANDARD_TYPES

        self._watch.begin()
        for kind, run in groupby(self._lexer.get_tokens(code), key=lambda token: STANDARD_TYPES.get(token[0], "")):
            yield _span(kind, "".join(text for _, text in run))

    def _guard(self, lexer: Any) -> bool:
        """Bound the patterns of a lexer, and of those that it consists of; this object's alone, not its class's."""
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
        """What a lexer finds, as long as there is time."""

        def found(*text: Any, **more: Any) -> Iterator[Any]:
            for token in tokens(*text, **more):
                self._watch.left()
                yield token

        return found

    def _rule(self, match: Any, action: Any, state: Any) -> tuple[Match, Any, Any]:
        from pygments.token import _TokenType

        pattern = match.__self__
        if TRIES.search(SIGN.sub("x", pattern.pattern)):
            match = self._watch.bounded(pattern)
        calls = action is not None and not isinstance(action, _TokenType)
        return _narrowed(match) if calls else match, action, state


@lru_cache(256)
def _lexer(language: str) -> _Lexer | None:
    """Looking for a name that no lexer has goes through all installed packages."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    return None if lexer.aliases[0] in NOT_HIGHLIGHTED else _Lexer(lexer)
