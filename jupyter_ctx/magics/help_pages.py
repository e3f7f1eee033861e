"""What ``%chat help`` and ``%chat config`` show: commands and settings in groups, with examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..config.settings import SETTING_NAMES, SETTINGS, About
from ..display.tables import first_words, table_html, table_markdown
from ..wording import did_you_mean, visible
from ..wording.layout import cut, line_width, wrapped_last
from .command_table import COMMANDS, GROUPS, Command
from .help_topics import TOPICS
from .line_options import OF_A_PROMPT, Option

OF_SETTINGS: Mapping[About, str] = {
    "request": "Each request",
    "room": "When the window gets full",
    "server": "Servers and local models",
    "display": "What is shown",
}
HOW_TO_ASK = (
    "%%chat on a cell's first line sends the text below it; %%chat? shows its options. %chat help COMMAND "
    f"explains a command with examples. %chat help TOPIC explains how something works: {', '.join(TOPICS)}."
)
HOW_TO_SET = (
    "%chat config SETTING VALUE changes a setting for this conversation, %chat config SETTING default puts it back, "
    "and %chat config SETTING shows what it may be. Example: %chat config compact_at 80%"
)
ABOUT_PROMPTS = """\
Talk with a language model; the conversation belongs to this notebook and stays.

  %%chat                      %chat                gauge and one line
  Why is the sky blue?        %chat status         the whole calculation
                              %chat trim           summarise, clear, undo, redo …

{{ name }} and {{ df.head() }} are filled in from the notebook. Running a cell again
replaces its turn. When the model's window is full, the oldest turns are left out and
one line says so; nothing is deleted."""
OF_COMMANDS = (
    "Commands have options of their own: %chat help map, %chat help history and the like show them. %chat help lists "
    "the commands."
)
LONGEST_VALUE = 24  # characters


def all_commands() -> dict[str, str]:
    """Return every command with its line, in groups, in all forms."""
    groups: dict[str, list[Sequence[str]]] = {title: [] for title in GROUPS}
    for command in dict.fromkeys(COMMANDS.values()):
        groups[command.group].append((command.line, command.help))
    return _page(("command", "what it does"), {title: rows for title, rows in groups.items() if rows}, HOW_TO_ASK)


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
    return {
        "text/html": table_html(head, rows, below),
        "text/markdown": table_markdown(head, rows, below),
        "text/plain": "\n".join(_lines(groups, below)),
    }


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
    lines = [command.line, *wrapped_last([("", command.help)], width)]
    lines += [f"  also typed %chat {name}" for name in other]
    lines += _options(command.options)
    if command.examples:
        lines += ["", "examples", "\n\n".join(_indented(example) for example in command.examples)]
    return "\n".join(lines)


def prompt_page() -> str:
    """Return what ``%%chat?`` shows: how to ask, and the options of a prompt."""
    return "\n".join((ABOUT_PROMPTS, *_options(OF_A_PROMPT), "", *wrapped_last([(OF_COMMANDS,)], line_width())))


def _options(options: Sequence[Option]) -> list[str]:
    """Return the lines that list options."""
    rows = [("", ", ".join(option.spellings), option.help) for option in options]
    return ["", "options", *wrapped_last(rows, line_width())] if rows else []


def _indented(example: str) -> str:
    return "\n".join(f"  {line}" for line in example.splitlines())


def unknown_topic(name: str) -> str:
    """Return what to say of a word that %chat help cannot explain."""
    hint = did_you_mean(name, [*COMMANDS, *SETTING_NAMES, *TOPICS], "%chat help {}")
    return f"%chat help knows no {name!r}.{hint} Topics: {', '.join(TOPICS)}. %chat help lists the commands."
