"""What ``%chat help`` and ``%chat config`` show: commands and settings in groups, with examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..config.settings import SETTINGS, About
from ..display.widgets.tables import first_words, table_html
from ..wording import visible
from ..wording.layout import cut, line_width, wrapped_last
from .command_table import COMMANDS, Command
from .options import OPTIONS

GROUPS: Mapping[str, tuple[str, ...]] = {
    "The context window": (
        "status", "gauge", "history", "preview", "trim", "summarise", "clear", "undo", "redo", "pin", "unpin",
        "exclude", "include",
    ),
    "Answers": ("pick", "compare", "continue", "fix", "code", "map", "plot"),
    "Conversations": ("new", "switch", "list", "fork", "rename", "delete", "resume", "export", "import"),
    "Model and settings": ("use", "models", "alias", "key", "config", "system", "memory", "help"),
}  # fmt: skip
EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "use": ("%chat use openai/gpt-5.2", "%chat use mine --base-url http://localhost:8000/v1 --window 32k"),
    "gauge": ("%chat gauge", "%chat gauge off"),
    "history": ("%chat history", "%chat history 3 --versions"),
    "plot": ("%chat plot", "%chat plot run"),
    "pick": ("%chat pick 2", "%chat pick 3 1"),
    "compare": ("%chat compare", "%chat compare 3"),
    "preview": ("%chat preview", "%%chat preview\nWhy is the sky blue?"),
    "map": ("%%chat map reviews --as judged\nIs this review positive or negative? {{ text }}",),
    "pin": ("%chat pin 1 4",),
    "unpin": ("%chat unpin 1",),
    "exclude": ("%chat exclude 2 3",),
    "include": ("%chat include 2", "%chat include all"),
    "trim": ("%chat trim", "%chat trim 3"),
    "summarise": (
        "%chat summarise", "%chat summarise 2 --extractive", "%%chat summarise\nKeep every name and every figure.",
    ),
    "fix": ("%chat fix", "%%chat fix\nUse pandas only."),
    "continue": ("%chat continue --max-tokens 500",),
    "new": ("%chat new", "%chat new plans"),
    "switch": ("%chat switch plans",),
    "list": ("%chat list", "%chat list all"),
    "fork": ("%chat fork variant",),
    "rename": ("%chat rename plans",),
    "delete": ("%chat delete plans",),
    "resume": ("%chat resume other.ipynb", "%chat resume other.ipynb plans --summary"),
    "memory": ("%chat memory preferences.md", "%chat memory off"),
    "export": ("%chat export talk.md",),
    "import": ("%chat import talk.json",),
    "code": ("%chat code", "%chat code 2", "%chat code all"),
    "system": ("%chat system", "%%chat system\nYou are a careful editor. Answer in one paragraph."),
    "config": ("%chat config", "%chat config compact_at", "%chat config compact_at 80%"),
    "models": ("%chat models", "%chat models openrouter"),
    "alias": ("%chat alias", "%chat alias quick openai/gpt-5-nano"),
    "key": ("%chat key openai",),
    "help": ("%chat help", "%chat help trim"),
}  # fmt: skip
OF_SETTINGS: Mapping[About, str] = {
    "request": "Each request",
    "room": "When the window gets full",
    "server": "Servers and local models",
    "display": "What is shown",
}
HOW_TO_ASK = (
    "%%chat on a cell's first line sends the text below it; %%chat? shows its options. %chat help COMMAND, or "
    "%chat COMMAND?, explains a command with examples. Any other line that ends in ? is IPython's own help."
)
HOW_TO_SET = (
    "%chat config SETTING VALUE changes a setting for this conversation, %chat config SETTING default puts it back, "
    "and %chat config SETTING shows what it may be. Example: %chat config compact_at 80%"
)
LONGEST_VALUE = 24  # characters


def all_commands() -> dict[str, str]:
    """Return every command with its line, in groups, as HTML and as plain text."""
    groups = {
        title: [(f"%chat {COMMANDS[name].usage}", COMMANDS[name].help) for name in names]
        for title, names in {**GROUPS, "More": _in_no_group()}.items()
        if names
    }
    return _page(("command", "what it does"), groups, HOW_TO_ASK)


def _in_no_group() -> tuple[str, ...]:
    """Return commands that no group names, such as one just added."""
    grouped = {name for names in GROUPS.values() for name in names}
    return tuple(name for name, each in COMMANDS.items() if name == each.name and name not in grouped)


def all_settings(values: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return every setting with its value, source and explanation, in groups; ``values`` have value and source."""
    groups = {
        title: [
            (name, cut(first_words(values[name][0]), LONGEST_VALUE), values[name][1], each.help)
            for name, each in SETTINGS.items()
            if each.about == about
        ]
        for about, title in OF_SETTINGS.items()
    }
    return _page(("setting", "value", "from", "what it decides"), groups, HOW_TO_SET)


def _page(head: Sequence[str], groups: Mapping[str, Sequence[Sequence[str]]], below: str) -> dict[str, str]:
    rows: list[Sequence[str] | str] = []
    for title, members in groups.items():
        rows += [title, *members]
    return {"text/html": table_html(head, rows, below), "text/plain": "\n".join(_lines(groups, below))}


def _lines(groups: Mapping[str, Sequence[Sequence[str]]], below: str) -> Iterator[str]:
    """Yield the groups as text, their columns aligned from the first group to the last."""
    width = line_width()
    lines = iter(wrapped_last([row for rows in groups.values() for row in rows], width))
    for title, rows in groups.items():
        yield f"── {title} ".ljust(width, "─")
        yield from (visible(next(lines)) for _ in rows)
        yield ""
    yield from wrapped_last([(below,)], width)


def one_command(command: Command) -> str:
    """Return what a command does, with the options it knows and examples, as text."""
    width = line_width()
    other = [name for name, each in COMMANDS.items() if each is command and name != command.name]
    lines = [f"%chat {command.usage}", *wrapped_last([("", command.help)], width)]
    lines += [f"  also typed %chat {name}" for name in other]
    options = [
        ("", ", ".join(filter(None, (option.short, f"{option.flag} {option.takes}".strip()))), option.help)
        for option in OPTIONS
        if command.takes(option.name)
    ]
    lines += ["", "options", *wrapped_last(options, width)] if options else []
    examples = EXAMPLES.get(command.name, ())
    if examples:
        lines += ["", "examples", "\n\n".join(_indented(example) for example in examples)]
    return "\n".join(lines)


def _indented(example: str) -> str:
    return "\n".join(f"  {line}" for line in example.splitlines())
