"""Tab in a ``%%chat`` cell: the words of its line, by a table of what may stand where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, SimpleCompletion
from IPython.core.getipython import get_ipython

from ..attachments.printing import shape_of
from ..config.aliases import load_aliases
from ..config.settings import MODELS, SETTING_NAMES, choices
from ..display.tables import first_words
from ..errors import InvalidRequestError
from ..experiments.table.table_files import TABLE_FORMATS
from ..models.model_names import bare_names, known_models, model_names
from ..models.window_tables import resolve_window
from ..providers.lookup import provider_names
from ..wording import nearest_name
from .commands import COMMANDS
from .help_pages import TOPICS
from .line_options import ASKING, OF_A_PROMPT, OPTIONS
from .variables import is_attachable, is_function, is_schema, is_scorer, is_table, variables_of

if TYPE_CHECKING:
    from .chat_cells import ChatCells

Words = Iterable[SimpleCompletion]
LEAST_PART = 3  # characters that are looked for inside words
BEGUN = re.compile(r"(?<![{$\\])\{\{ ([^{}\n]*)$")  # an expression up to the cursor
TYPED_WORD = re.compile(r"""("[^"]*"?|'[^']*'?|\S)\S*""")  # a word that begins with a quote goes on to the next one
OPTION_OF = {flag: option for option in OPTIONS for flag in option.flags}


@dataclass(frozen=True, slots=True)
class TypedLine:
    """A line up to the cursor: its whole words, and the one at the cursor without its quote."""

    before: list[str]
    current: str
    cells: Callable[[], ChatCells]

    @property
    def plain(self) -> list[str]:
        """The whole words that are neither options nor their values."""
        takes = {flag: bool(option.takes) for flag, option in OPTION_OF.items()}
        pairs = zip(["", *self.before], self.before, strict=False)
        return [word for last, word in pairs if word not in takes and not takes.get(last, False)]


class _Silence(tuple[SimpleCompletion, ...]):
    """No completions, which count as some: only a matcher that finds something may silence the others."""

    __slots__ = ()

    def __len__(self) -> int:
        """Return the number that IPython looks at before it asks no other matcher."""
        return 1


def matches(context: CompletionContext, cells: Callable[[], ChatCells], *, below: bool) -> Any:
    """Return what may stand at the cursor in one of our cells, as IPython's matchers do; ``below``: in the prompt."""
    line, at = context.line_with_cursor, context.cursor_position
    head, *words = _words(context.full_text.partition("\n")[0] + " " if below else line[:at])
    *before, current = words
    typed = TypedLine(before, current.lstrip("\"'"), cells)
    if below and _is_filled_in(typed, line[:at]):
        return {"completions": []}  # IPython offers the notebook's names
    fitting = [] if below else _fitting(_possible(typed, in_cell=head.startswith("%%")), typed.current)
    for word in fitting:
        word.text = _quoted(word.text, current, line[at:])
    completions = fitting or _Silence()  # neither words of ours nor names of Python
    return {"completions": completions, "suppress": True, "ordered": True, "matched_fragment": current}


def _words(text: str) -> list[str]:
    """Return the words of the beginning of a line: the last one, perhaps empty, as typed, the others without quotes."""
    typed = list(TYPED_WORD.finditer(text))
    current = typed.pop()[0] if typed and typed[-1].end() == len(text) else ""
    return [*(word[0].strip("\"'") for word in typed), current]


def _is_filled_in(typed: TypedLine, text: str) -> bool:
    """Return whether a prompt ends within ``{{ }}``."""
    command = next(iter(typed.plain), "")
    return BEGUN.search(text) is not None and command in (*ASKING, "map") and "--raw" not in typed.before


def _quoted(word: str, typed: str, after: str) -> str:
    """Return a word as it is typed: in quotes where it has a space, unless a folder's path goes on."""
    quote = typed[:1] if typed[:1] in ("'", '"') else '"' if " " in word else ""
    closed = "" if word.endswith("/") or (quote and after.startswith(quote)) else quote
    return f"{quote}{word}{closed}"


def _fitting(possible: Words, current: str) -> list[SimpleCompletion]:
    """Return words that begin as typed; where there are none, those that contain it."""
    words = {word.text: word for word in possible}.values()
    begun = [word for word in words if word.text.startswith(current)]
    if begun or len(current) < LEAST_PART:
        return begun
    return [word for word in words if current.lower() in word.text.lower()]


def _possible(typed: TypedLine, *, in_cell: bool) -> Iterator[SimpleCompletion]:
    """Yield what may stand after the words before the cursor."""
    option = OPTION_OF.get(typed.before[-1]) if typed.before else None
    if option is not None and option.takes:
        yield from COMPLETERS.get(option.flag, COMPLETERS.get(option.takes, lambda _: ()))(typed)
        return
    plain = typed.plain
    command = COMMANDS.get(plain[0]) if plain else None
    if not plain and not typed.current.startswith("-"):
        yield from _named("command", (name for name, each in COMMANDS.items() if each.heads_cell or not in_cell))
    if command is not None:
        for kind in command.place(len(plain) - 1):
            yield from COMPLETERS[kind](replace(typed, before=plain)) if kind in COMPLETERS else ()
            yield from _named("word", [kind] if kind.islower() else [])
    for each in OF_A_PROMPT if command is None else command.options:
        if each.repeats or not set(each.flags) & set(typed.before):
            yield _word(each.flag, f"option {each.takes}".strip())


# what may stand at a place


def _word(text: str, kind: str) -> SimpleCompletion:
    """Return what may be typed, and what it is; JupyterLab would break that at its spaces."""
    return SimpleCompletion(text=text, type=kind.replace(" ", "\N{NO-BREAK SPACE}"))


def _named(kind: str, names: Iterable[str], _: object = None) -> Words:
    return [_word(name, kind) for name in names]


def _models(typed: TypedLine) -> Iterator[SimpleCompletion]:
    """Yield models of the provider that is named already, else short names, providers and the makers' models."""
    provider, slash, _ = typed.current.partition("/")
    if slash:
        provider = nearest_name(provider, provider_names()) or provider
        names = [*known_models(provider), *(name for name in model_names() if name.startswith(typed.current))]
    else:
        with suppress(InvalidRequestError):  # a damaged file is told of when it is used
            yield from (_word(name, f"alias of {model}") for name, model in load_aliases().items())
        yield from _named("provider", [f"{name}/" for name in provider_names()])
        names = [*model_names(), *(bare_names() if typed.current else ())]
    for name in names:
        window = resolve_window(name)
        yield _word(name, "model" if window.is_guess else f"window {window.tokens:,}")


def _files(typed: TypedLine, suffixes: tuple[str, ...] = ("",)) -> Iterator[SimpleCompletion]:
    """Yield files and folders whose path begins so; of files only those that end in one of the ``suffixes``."""
    at = "@" if typed.current.startswith("@") else ""
    folder, slash, start = typed.current.removeprefix(at).rpartition("/")
    with suppress(OSError, RuntimeError):
        for each in sorted(Path(f"{folder}{slash}" or ".").expanduser().iterdir()):
            is_folder, is_hidden = each.is_dir(), each.name.startswith(".") and not start.startswith(".")
            if not is_hidden and (is_folder or each.name.endswith(suffixes)):
                yield _word(f"{at}{folder}{slash}{each.name}{'/' * is_folder}", "folder" if is_folder else "file")


def _text_or_file(typed: TypedLine) -> Words:
    return _files(typed) if typed.current.startswith("@") else ()


def _variables(fits: Callable[[Any], bool], _: object = None) -> Iterator[SimpleCompletion]:
    """Yield the notebook's variables that fit, each with its type and its size, such as ``DataFrame 12,000 × 5``."""
    shell: Any = get_ipython()
    names = shell.user_ns if shell is not None else {}
    for name in variables_of(names, fits):
        sizes = " × ".join(f"{size:,}" for size in shape_of(names[name]) or ())
        yield _word(name, f"{type(names[name]).__name__} {sizes}".strip())


def _turns(typed: TypedLine) -> Iterator[SimpleCompletion]:
    """Yield the numbers of turns, newest first; for Tab no conversation is opened."""
    opened = typed.cells().library.chats
    for number, turn in reversed([*enumerate(opened[0].turns if opened else (), 1)]):
        yield _word(str(number), first_words(turn.typed))


def _of_a_setting(typed: TypedLine) -> Words:
    """Return values of the setting that stands before: models, or the words it takes."""
    name = typed.before[-1]
    words = _named("value", choices(name)) if name in SETTING_NAMES else ()
    return _models(typed) if name in MODELS else words


COMPLETERS: dict[str, Callable[[TypedLine], Words]] = {  # by what a place takes, or by the option
    "MODEL": _models, "FILE": _files, "NOTEBOOK": _files, "TEXT": _text_or_file, "N…": _turns,
    "NAME_OR_FILE": lambda typed: (
        _word("cells", "what ran since the last prompt"), *_variables(is_attachable), *_files(typed),
    ),
    "TABLE": lambda typed: (*_variables(is_table), *_files(typed, tuple(TABLE_FORMATS))),
    "--schema": partial(_variables, is_schema),
    "--score": partial(_variables, is_scorer),
    "--tool": partial(_variables, is_function),
    "VALUE": _of_a_setting,
    "HOW": partial(_named, "value", choices("on_overflow")),
    "CONVERSATION": lambda typed: _named("conversation", typed.cells().library.names),
    "PROVIDER": lambda _: _named("provider", provider_names()),
    "OWNER": lambda _: _named("provider", provider_names()[1:]),
    "SETTING": partial(_named, "setting", SETTING_NAMES),
    "TOPIC": partial(_named, "topic", TOPICS),
    "COMMAND": lambda _: (*_named("command", COMMANDS), *_named("setting", SETTING_NAMES)),
}  # fmt: skip
