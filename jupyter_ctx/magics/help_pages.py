"""What ``%chat help`` and ``%chat config`` show: commands and settings in groups, with examples, and topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..chat import Chat
from ..config.settings import DEFAULT, HELP, SETTING_NAMES, SETTINGS, About, Settings, typed_value, wanted
from ..display.answer.markdown import answer_html, to_html
from ..display.tables import first_words, table_html, table_markdown
from ..display.text import text_html
from ..session.reading import source_of
from ..wording import did_you_mean, visible
from ..wording.layout import cut, line_width, wrapped_last
from .command_table import COMMANDS, GROUPS, Command
from .line_options import OF_A_PROMPT, Option

TOPICS = {path.stem: path for path in sorted(Path(__file__).with_name("topics").glob("*.md"))}
# commands that suffice to begin
FIRST_COMMANDS = ("use", "history", "preview", "trim", "undo", "clear", "code", "config")
OF_SETTINGS: Mapping[About, str] = {
    "request": "Each request",
    "room": "When the window gets full",
    "display": "What is shown",
}
HOW_TO_ASK = (
    "%%chat on a cell's first line sends the text below it; %%chat? shows its options. %chat help COMMAND explains a "
    f"command with examples, %chat help TOPIC how something works: {', '.join(TOPICS)}."
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
    """Return the commands to begin with, and folded or by their names all of them, in groups, in all forms."""
    groups: dict[str, list[Command]] = {title: [] for title in GROUPS}
    for command in dict.fromkeys(COMMANDS.values()):
        groups[command.group].append(command)
    head, first = ("command", "what it does"), [(COMMANDS[name].line, COMMANDS[name].help) for name in FIRST_COMMANDS]
    rows = _across({title: [(each.line, each.help) for each in members] for title, members in groups.items()})
    names = [
        (f"{title}:", ", ".join(name for each in members for name in each.names))
        for title, members in groups.items()
        if members
    ]
    count = len(set(COMMANDS.values()))
    folded = f"<details><summary>{text_html(f'All {count} commands')}</summary>{table_html(head, rows, '')}</details>"
    width = line_width()
    lines = wrapped_last([*first, *names], width)
    lines[len(first) : len(first)] = [""]
    lines += ["", *wrapped_last([(HOW_TO_ASK,)], width)]
    return {
        "text/html": table_html(head, first, HOW_TO_ASK) + folded,
        "text/markdown": table_markdown(head, [*first, *names], HOW_TO_ASK),
        "text/plain": "\n".join(lines),
    }


def all_settings(chat: Chat) -> dict[str, str]:
    """Return every setting with its value, source and explanation, in groups, in all forms."""
    groups = {title: list(_setting_rows(chat, about)) for about, title in OF_SETTINGS.items()}
    head, rows = ("setting", "value", "from", "what it decides"), _across(groups)
    return {
        "text/html": table_html(head, rows, HOW_TO_SET),
        "text/markdown": table_markdown(head, rows, HOW_TO_SET),
        "text/plain": "\n".join(_lines(groups)),
    }


def _setting_rows(chat: Chat, about: About) -> Iterator[Sequence[str]]:
    for name, each in SETTINGS.items():
        if each.about == about:
            value = cut(first_words(setting_text(chat, name)), LONGEST_VALUE)
            yield name, value, source_of(chat.session, name), each.help


def setting_text(chat: Chat, name: str) -> str:
    """Return the value of a setting as it is typed."""
    return typed_value(chat.system or None if name == "system" else getattr(chat.config, name), name)


def setting_lines(chat: Chat, name: str) -> str:
    """Return a setting with its value and source, what it decides, and what it may be."""
    default = typed_value(getattr(Settings(), name), name)
    now = f"{name} = {setting_text(chat, name)} ({source_of(chat.session, name)})"
    return f"{now}\n{HELP[name]}\nvalues: {wanted(name)}; {DEFAULT}: {default}"


def _across(groups: Mapping[str, Sequence[Sequence[str]]]) -> list[Sequence[str] | str]:
    """Return the rows of groups below their titles, each of which stands across the table."""
    return [row for title, rows in groups.items() if rows for row in (title, *rows)]


def _lines(groups: Mapping[str, Sequence[Sequence[str]]]) -> Iterator[str]:
    """Yield the groups as text, their columns aligned from the first group to the last."""
    width = line_width()
    lines = iter(wrapped_last([row for rows in groups.values() for row in rows], width))
    for title, rows in groups.items():
        yield f"── {title} ".ljust(width, "─")
        yield from (visible(next(lines)) for _ in rows)
        yield ""
    yield from wrapped_last([(HOW_TO_SET,)], width)


def one_command(command: Command) -> str:
    """Return what a command does, with the options it knows and examples, as text."""
    width = line_width()
    lines = [command.line, *wrapped_last([("", command.help)], width)]
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


def topic_text(name: str) -> str:
    """Return a topic's text, in Markdown, which the book shows as it is. Its first line is its title."""
    return TOPICS[name].read_text("utf-8")


def topic_bundle(name: str) -> dict[str, str]:
    """Return a topic as a page shows it, and as a terminal does."""
    text = topic_text(name)
    return {"text/html": answer_html(to_html(text)), "text/markdown": text, "text/plain": text}


def unknown_topic(name: str) -> str:
    """Return what to say of a word that %chat help cannot explain."""
    hint = did_you_mean(name, [*COMMANDS, *SETTING_NAMES, *TOPICS], "%chat help {}")
    return f"%chat help knows no {name!r}.{hint} Topics: {', '.join(TOPICS)}. %chat help lists the commands."
