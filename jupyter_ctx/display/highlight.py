"""Code in the colours of the front end's theme, as far as that takes no time to speak of.

A lexer is a list of patterns, and for most languages there is a text that one of them needs seconds
for. Nothing interrupts a match, so a pattern whose work may grow faster than the text is tried on the
next few characters first, and on more of them while that is fast. A block that has had its time is
shown plain.
"""

from __future__ import annotations

import html
import importlib
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import groupby
from time import perf_counter, thread_time
from typing import Any

SECONDS = 0.12  # for one block: lexing, and making the page of it
STEP = 0.03  # for one pattern at one place
POLYNOMIAL = 4  # repetitions in a row; one within another is worse than any number of these
FIRST = {1: 4_000, 2: 500, 3: 120, 4: 32, 5: 8}  # characters that a pattern is tried on at first, by its power
WIDER = 4  # times as many are next
INSTANT = 2e-6  # seconds, below which a clock says nothing
A_FEW = 20  # times that something may be repeated without being a repetition
EVERYTHING = 1 << 30
NESTED = 4_000  # characters that are handed to the lexer of a language within another
UNGUARDED = 1_500  # characters for lexers that are not made of patterns
# most of a text, and the colour of most of them is that of text: leaving them out halves the page
UNCOLOURED = {"", "n", "nx", "p", "w", "err"}
LINEAR = ("json", "jsonld", "output", "text")  # lexers without patterns, whose work grows as the text does
PLAIN = ("tnt",)  # does not end on 250 exclamation marks

# told apart before they run; the modules have had these names since Python 3.11
parser, compiler = map(importlib.import_module, ("re._parser", "re._compiler"))

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


class _TooSlowError(Exception):
    """A block of code has had its time."""


class _Watch:
    """Says when the time of a block is over: this thread's own, whatever else the machine does."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self._end, self._own = perf_counter() + SECONDS, thread_time() + SECONDS

    def check(self) -> None:
        """Raise where the time is over; asking for the thread's own takes longer, and is done only then."""
        if perf_counter() > self._end and thread_time() > self._own:
            raise _TooSlowError

    def bounded(self, pattern: re.Pattern[str], most: int) -> Match | None:
        """A pattern that is tried on more and more of a text while that is fast; ``None`` where it needs no bound."""
        power = backtracking(pattern)
        if power < 2 and most == EVERYTHING:
            return None
        match, first, wider = pattern.match, min(most, FIRST.get(power, 32)), 1.5 if power > POLYNOMIAL else WIDER

        begins = _beginning(pattern)

        def matched(text: str, place: int, last: int = EVERYTHING) -> Any:
            if begins(text, place) is None:
                return None
            self.check()
            last, window, before = min(last, len(text)), first, 0.0
            while True:
                end = min(place + window, last)
                took = perf_counter()
                found = match(text, place, end)
                took = perf_counter() - took
                if window >= most or end >= last or (found is not None and found.end() < end):
                    return found
                if took * _growth(took, before, power) > STEP:
                    took = self._again(match, text, place, end) if took < STEP else took
                    if took * _growth(took, before, power) > STEP:
                        raise _TooSlowError
                window, before = min(int(window * wider), most), max(took, INSTANT)

        return matched

    def _again(self, match: Any, text: str, place: int, end: int) -> float:
        """The time of one more trial: another thread may have run during the first."""
        begun = perf_counter()
        match(text, place, end)
        return perf_counter() - begun


def _growth(took: float, before: float, power: int) -> float:
    """How many times as long the next trial may take, of a text that is so much longer."""
    if power <= POLYNOMIAL:
        return float(WIDER**power)
    return max(4.0, 2 * (took / before) ** 1.5) if before else 4.0


def backtracking(pattern: re.Pattern[str]) -> int:
    """How the work of one match may grow with the text: as its power of that, and above POLYNOMIAL faster."""
    if not any(sign in pattern.pattern for sign in "*+{"):
        return 0
    return _power(parser.parse(pattern.pattern, pattern.flags))


def _power(items: Any) -> int:
    """The repetitions that stand one after another; one in another, or one of alternatives, may try all ways."""
    total = 0
    for sign, value in items:
        name = str(sign)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            inner = _power(value[2])
            once = value[1] <= A_FEW
            total += inner if once else 1 if inner == 0 and not _chooses(value[2]) else POLYNOMIAL + 1
        else:
            total += max(map(_power, _inside(name, value)), default=int(name == "GROUPREF"))
    return min(total, POLYNOMIAL + 1)


def _beginning(pattern: re.Pattern[str]) -> Match:
    """The beginning of a pattern up to its first repetition: most places fail there, and at once."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    tree.data = _first(tree)
    found: Match = compiler.compile(tree, pattern.flags).match
    return found


def _first(items: Any) -> list[Any]:
    """What a pattern begins with, whatever follows."""
    kept: list[Any] = []
    for sign, value in items:
        name = str(sign)
        if _power([(sign, value)]) == 0:
            kept.append((sign, value))
            continue
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and value[0]:
            kept += _first(value[2])
        elif name == "SUBPATTERN":
            value[3].data = _first(value[3])
            kept.append((sign, value))
        elif name == "BRANCH":
            for branch in value[1]:
                branch.data = _first(branch)
            kept.append((sign, value))
        break
    return kept


def _inside(name: str, value: Any) -> list[Any]:
    """The patterns within a part of a pattern."""
    if name == "BRANCH":
        return list(value[1])
    if name == "SUBPATTERN":
        return [value[3]]
    if name in ("ASSERT", "ASSERT_NOT"):
        return [value[1]]
    if name == "GROUPREF_EXISTS":
        return [part for part in value[1:] if part is not None]
    return [value] if name == "ATOMIC_GROUP" else []


def _chooses(items: Any) -> bool:
    return any(str(sign) == "BRANCH" or any(map(_chooses, _inside(str(sign), value))) for sign, value in items)


class _Lexer:
    """A lexer of Pygments' whose patterns are bounded, and the longest code that it is given."""

    def __init__(self, lexer: Any) -> None:
        self._lexer, self._watch = lexer, _Watch()
        guarded = self._guard(lexer)
        self.longest = float("inf") if guarded or lexer.aliases[0] in LINEAR else UNGUARDED

    def spans(self, code: str) -> Iterator[str]:
        """The page of a code, piece by piece; raises _TooSlowError where it takes too long."""
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
                self._watch.check()
                yield token

        return found

    def _rule(self, match: Any, action: Any, state: Any) -> tuple[Match, Any, Any]:
        from pygments.token import _TokenType

        most = EVERYTHING if action is None or isinstance(action, _TokenType) else NESTED
        return self._watch.bounded(match.__self__, most) or match, action, state


@lru_cache(256)
def _lexer(language: str) -> _Lexer | None:
    """Looking for a name that no lexer has goes through all installed packages."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    return None if lexer.aliases[0] in PLAIN else _Lexer(lexer)
