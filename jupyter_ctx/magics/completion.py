"""Tab in a ``%%chat`` cell: the words of its line, and inside ``{{ }}`` in the prompt what may be filled in there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from IPython.core.completer import CompletionContext, SimpleCompletion
from IPython.core.getipython import get_ipython

from .commands import COMMANDS
from .line_options import OF_A_PROMPT, OPTIONS, Option
from .line_values import OF_VARIABLES, Conversations, Spot, Suggestion, values
from .variables import value_named

SIMILAR = 0.6  # of difflib, from 0 to 1
MOST_SIMILAR = 8  # words offered in place of one that was mistyped
LEAST_PART = 3  # characters that are looked for inside words
SENT_TEXT = ("", "preview", "map", "fix")  # commands below which the text is a prompt
BEGUN = re.compile(r"(?<![{$\\])\{\{ ([^{}\n]*)$")  # an expression up to the cursor
LAST_WORD = re.compile(r"(?<![\w.'\"])[^\W\d]?\w*$")  # of what is typed: a name that nothing stands before


class Typed(NamedTuple):
    """The beginning of a line: its whole words, and the one at the cursor with and without its quote."""

    before: list[str]
    current: str
    quoted: str


def matches(context: CompletionContext, conversations: Conversations, *, below: bool) -> Any:
    """Return what may stand at the cursor in one of our cells, as IPython's matchers do; ``below``: in the prompt."""
    if below:
        return _in_prompt(context)
    line = context.line_with_cursor
    typed = _option_apart(split_typed(line[: context.cursor_position].lstrip()))
    spot = Spot(typed.current, typed.before[1:], conversations)
    head = typed.before[0] if typed.before else ""
    fitting = list(_fitting(_possible(spot, head), typed.current))
    if not fitting:
        return _nothing()
    after = line[context.cursor_position :]
    return _matches(typed.quoted, (Suggestion(_written(word.text, typed.quoted, after), word.kind) for word in fitting))


def _matches(typed: str, words: Iterable[Suggestion]) -> Any:
    return {
        "completions": [SimpleCompletion(text=text, type=_in_one_line(kind or "param")) for text, kind in words],
        "suppress": True,
        "ordered": True,
        "matched_fragment": typed,
    }


def _in_one_line(kind: str) -> str:
    """Return a description that JupyterLab does not break at its spaces: it would stand across the next rows."""
    return kind.replace(" ", "\N{NO-BREAK SPACE}")


class _Silence(tuple[SimpleCompletion, ...]):
    """No completions, which count as some: only a matcher that finds something may silence the others."""

    __slots__ = ()

    def __len__(self) -> int:
        """Return the number that IPython looks at before it asks no other matcher."""
        return 1


def _nothing() -> Any:
    """Offer neither words of ours nor names of Python."""
    return {"completions": _Silence(), "suppress": True}


def _option_apart(typed: Typed) -> Typed:
    """Split ``--option=value`` at the cursor into the option and its value."""
    flag, equals, value = typed.current.partition("=")
    if not equals or not any(flag in option.flags and option.takes for option in OPTIONS):
        return typed
    return Typed([*typed.before, flag], value.lstrip("\"'"), value)


def split_typed(text: str) -> Typed:
    """Split the beginning of a line at spaces; a word that begins with a quote goes on to the next one."""
    words, start, quote = list[str](), 0, ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'" and place == start:
            quote = letter
        elif letter.isspace():
            words += [text[start:place].strip("\"'")] if place > start else []
            start = place + 1
    return Typed(words, text[start:].lstrip("\"'") if quote else text[start:], text[start:])


def _written(word: str, typed: str, after: str) -> str:
    """Return a word as it is typed: in quotes where it has a space, unless a folder's path goes on."""
    quote = typed[:1] if typed[:1] in ("'", '"') else '"' if " " in word else ""
    closed = "" if word.endswith("/") or (quote and after.startswith(quote)) else quote
    return f"{quote}{word}{closed}"


def _fitting(possible: Iterable[Suggestion], current: str) -> Iterator[Suggestion]:
    """Yield words that begin as typed; where there are none, those that contain it, or else are most like it."""
    words = {word.text: word for word in possible}
    begun = [word for text, word in words.items() if text.startswith(current)]
    if begun or len(current) < LEAST_PART:
        yield from begun
        return
    inside = [word for text, word in words.items() if current.lower() in text.lower()]
    yield from inside or (words[text] for text in _near(current, words))


def _near(current: str, words: Iterable[str]) -> Iterator[str]:
    """Yield the words most like a mistyped one; of models, a name without its provider is compared as well."""
    spelled: dict[str, str] = {}
    for word in words:
        _, slash, name = word.lower().partition("/")
        spelled.setdefault(word.lower(), word)
        if slash and name and "/" not in current:
            spelled.setdefault(name, word)
    near = get_close_matches(current.lower(), spelled, MOST_SIMILAR, SIMILAR)
    return iter(dict.fromkeys(spelled[each] for each in near))


def _possible(spot: Spot, head: str) -> Iterable[Suggestion]:
    """Return what may stand after the words before the cursor."""
    before = spot.before
    option = next((each for each in OPTIONS if before and before[-1] in each.flags and each.takes), None)
    if option is not None:
        return OF_VARIABLES[option.flag](spot) if option.flag in OF_VARIABLES else values((option.takes,), spot)
    plain = list(_plain_words(before))
    if not plain or plain[0] not in COMMANDS:
        return _first(spot, head, plain)
    command, at = COMMANDS[plain[0]], len(plain) - 1
    kinds = command.places[min(at, len(command.places) - 1)] if at < len(command.places) else ()
    if not kinds and command.places and command.places[-1][0].endswith("…"):
        kinds = command.places[-1]
    return [*values(kinds, spot._replace(before=plain)), *_options(command.options, before)]


def _first(spot: Spot, head: str, plain: list[str]) -> Iterator[Suggestion]:
    """Yield commands and options for a line without a command; above a prompt only what may stand there."""
    in_cell = head.startswith("%%")
    if not plain and not spot.current.startswith("-"):
        for name, each in COMMANDS.items():
            if name == each.name and (each.heads_cell or not in_cell):
                yield Suggestion(name, "command")
    yield from _options(OF_A_PROMPT, spot.before)


def _options(fitting: Iterable[Option], before: list[str]) -> Iterator[Suggestion]:
    """Yield options that a line may have, without those before the cursor that cannot be repeated."""
    for option in fitting:
        if option.repeats or option.repeats_for or not set(option.flags) & set(before):
            yield Suggestion(option.flag, f"option {option.takes}".strip())


def _plain_words(before: list[str]) -> Iterator[str]:
    """Yield the words of a line that are neither options nor their values."""
    takes = {flag: bool(each.takes) for each in OPTIONS for flag in each.flags}
    for last, word in zip(["", *before], before, strict=False):
        if word not in takes and not takes.get(last, False):
            yield word


def _in_prompt(context: CompletionContext) -> Any:
    """Offer the columns of a map inside of ``{{ }}``, beside IPython's own words; nothing in prose."""
    line, at = context.line_with_cursor, context.cursor_position
    begun = BEGUN.search(line[:at])
    words = split_typed(context.full_text.partition("\n")[0] + " ").before[1:]
    plain = [*_plain_words(words), ""]
    if begun is None or plain[0] not in SENT_TEXT or "--raw" in words:
        return _nothing()
    shell: Any = get_ipython()
    names: Mapping[str, Any] = shell.user_ns if shell is not None else {}
    typed = LAST_WORD.search(begun[1])
    columns = _columns(plain[1], names) if typed is not None and plain[0] == "map" and len(plain) > 2 else ()
    fitting = list(_fitting(columns, typed[0])) if typed is not None else []
    return {**_matches(typed[0], fitting), "suppress": False} if typed is not None and fitting else {"completions": []}


def _columns(table: str, names: Mapping[str, Any]) -> Iterator[Suggestion]:
    """Yield the columns of the table that ``%%chat map`` names, if a variable holds it."""
    value = value_named(table, names)
    first = value[0] if isinstance(value, list) and value else value
    listed = list(first) if isinstance(first, dict) else ["text"] if value is not None else []
    columns = list(getattr(value, "columns", listed))
    yield from (Suggestion(name, "column") for name in columns if isinstance(name, str) and name.isidentifier())
    if columns:
        yield Suggestion("row", "row of the table")
