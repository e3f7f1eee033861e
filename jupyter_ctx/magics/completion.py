"""Tab in a ``%%chat`` cell: the words of its line, and inside ``{{ }}`` in the prompt what may be filled in there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, SimpleCompletion

from .commands import COMMANDS
from .completers import COMPLETERS, Suggestion, TypedLine, notebook_names
from .line_options import OF_A_PROMPT, OPTIONS, Option
from .variables import value_named

if TYPE_CHECKING:
    from .chat_cells import ChatCells

SIMILAR = 0.6  # of difflib, from 0 to 1
MOST_SIMILAR = 8  # words offered in place of one that was mistyped
LEAST_PART = 3  # characters that are looked for inside words
SENT_TEXT = ("", "preview", "map", "fix")  # commands below which the text is a prompt
BEGUN = re.compile(r"(?<![{$\\])\{\{ ([^{}\n]*)$")  # an expression up to the cursor
LAST_WORD = re.compile(r"(?<![\w.'\"])[^\W\d]?\w*$")  # of what is typed: a name that nothing stands before
TYPED_WORD = re.compile(r"""("[^"]*"?|'[^']*'?|\S)\S*""")  # a word that begins with a quote goes on to the next one


def matches(context: CompletionContext, cells: Callable[[], ChatCells], *, below: bool) -> Any:
    """Return what may stand at the cursor in one of our cells, as IPython's matchers do; ``below``: in the prompt."""
    if below:
        return _in_prompt(context)
    line, at = context.line_with_cursor, context.cursor_position
    head, *words = _words(line[:at])
    typed = _option_apart(TypedLine(words[:-1], words[-1].lstrip("\"'"), words[-1], cells))
    fitting = _fitting(_possible(typed, in_cell=head.startswith("%%")), typed.current)
    completions = [Suggestion(_written(word.text, typed.quoted, line[at:]), word.kind) for word in fitting]
    return _matches(typed.quoted, completions) if completions else _nothing()


def _words(text: str) -> list[str]:
    """Return the words of the beginning of a line: the last one, perhaps empty, as typed, the others without quotes."""
    typed = list(TYPED_WORD.finditer(text))
    current = typed.pop()[0] if typed and typed[-1].end() == len(text) else ""
    return [*(word[0].strip("\"'") for word in typed), current]


def _option_apart(typed: TypedLine) -> TypedLine:
    """Split ``--option=value`` at the cursor into the option and its value."""
    flag, equals, value = typed.current.partition("=")
    if not equals or not any(flag in option.flags and option.takes for option in OPTIONS):
        return typed
    return replace(typed, before=[*typed.before, flag], current=value.lstrip("\"'"), quoted=value)


def _matches(typed: str, words: Iterable[Suggestion]) -> Any:
    """Return completions for IPython; JupyterLab would break what they say of themselves at its spaces."""
    shown = [(word.text, (word.kind or "param").replace(" ", "\N{NO-BREAK SPACE}")) for word in words]
    completions = [SimpleCompletion(text=text, type=kind) for text, kind in shown]
    return {"completions": completions, "suppress": True, "ordered": True, "matched_fragment": typed}


class _Silence(tuple[SimpleCompletion, ...]):
    """No completions, which count as some: only a matcher that finds something may silence the others."""

    __slots__ = ()

    def __len__(self) -> int:
        """Return the number that IPython looks at before it asks no other matcher."""
        return 1


def _nothing() -> Any:
    """Offer neither words of ours nor names of Python."""
    return {"completions": _Silence(), "suppress": True}


def _written(word: str, typed: str, after: str) -> str:
    """Return a word as it is typed: in quotes where it has a space, unless a folder's path goes on."""
    quote = typed[:1] if typed[:1] in ("'", '"') else '"' if " " in word else ""
    closed = "" if word.endswith("/") or (quote and after.startswith(quote)) else quote
    return f"{quote}{word}{closed}"


def _fitting(possible: Iterable[Suggestion], current: str) -> list[Suggestion]:
    """Return words that begin as typed; where there are none, those that contain it, or else are most like it."""
    words = {word.text: word for word in possible}
    begun = [word for text, word in words.items() if text.startswith(current)]
    if begun or len(current) < LEAST_PART:
        return begun
    inside = [word for text, word in words.items() if current.lower() in text.lower()]
    return inside or [words[text] for text in _near(current, words)]


def _near(current: str, words: Iterable[str]) -> Iterable[str]:
    """Return the words most like a mistyped one; of models, a name without its provider is compared as well."""
    spelled: dict[str, str] = {}
    for word in words:
        _, slash, name = word.lower().partition("/")
        spelled.setdefault(word.lower(), word)
        if slash and name and "/" not in current:
            spelled.setdefault(name, word)
    near = get_close_matches(current.lower(), spelled, MOST_SIMILAR, SIMILAR)
    return dict.fromkeys(spelled[each] for each in near)


def _possible(typed: TypedLine, *, in_cell: bool) -> Iterator[Suggestion]:
    """Yield what may stand after the words before the cursor."""
    before = typed.before
    option = next((each for each in OPTIONS if each.takes and before and before[-1] in each.flags), None)
    if option is not None:
        yield from COMPLETERS.get(option.flag, COMPLETERS.get(option.takes, lambda _: ()))(typed)
        return
    plain = list(_plain_words(before))
    command = COMMANDS.get(plain[0]) if plain else None
    if command is None:
        is_first = not plain and not typed.current.startswith("-")
        fitting = [name for name, each in COMMANDS.items() if each.heads_cell or not in_cell]
        yield from (Suggestion(name, "command") for name in fitting if is_first)
        yield from _options(OF_A_PROMPT, before)
        return
    at = len(plain) - 1
    places = [*command.places, *command.places[-1:] * at] if "…" in command.takes else command.places
    for kind in places[at] if at < len(places) else ():
        if kind in COMPLETERS:
            yield from COMPLETERS[kind](replace(typed, before=plain))
        elif kind.islower():
            yield Suggestion(kind, "default value" if kind == "default" else "word")
    yield from _options(command.options, before)


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
    begun = BEGUN.search(context.line_with_cursor[: context.cursor_position])
    _, *words, _ = _words(context.full_text.partition("\n")[0] + " ")
    command, *taken = [*_plain_words(words), ""]
    if begun is None or command not in SENT_TEXT or "--raw" in words:
        return _nothing()
    typed = LAST_WORD.search(begun[1])
    fitting = _fitting(_columns(taken[0]), typed[0]) if typed is not None and command == "map" and taken[0] else []
    return {**_matches(typed[0], fitting), "suppress": False} if typed is not None and fitting else {"completions": []}


def _columns(table: str) -> Iterator[Suggestion]:
    """Yield the columns of the table that ``%%chat map`` names, if a variable holds it."""
    value = value_named(table, notebook_names())
    first = value[0] if isinstance(value, list) and value else value
    listed = list(first) if isinstance(first, dict) else ["text"] if value is not None else []
    columns = list(getattr(value, "columns", listed))
    yield from (Suggestion(name, "column") for name in columns if isinstance(name, str) and name.isidentifier())
    if columns:
        yield Suggestion("row", "row of the table")
