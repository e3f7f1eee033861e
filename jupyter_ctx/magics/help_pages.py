"""What ``%chat help`` and ``%chat config`` show: commands and settings in groups, with examples, and topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import indent

from ..chat import Chat
from ..config.settings import ABOUT, DEFAULT, HELP, About, Settings, typed_value, wanted
from ..display.answer.markdown import answer_html, to_html
from ..display.tables import first_words, table_html, table_markdown
from ..display.text import text_html
from ..session.session import source_of
from ..wording import visible
from ..wording.layout import cut, line_width, wrapped, wrapped_last
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
    commands = [*dict.fromkeys(COMMANDS.values())]
    groups = {title: [each for each in commands if each.group == title] for title in GROUPS}
    head, first = ("command", "what it does"), [(COMMANDS[name].line, COMMANDS[name].help) for name in FIRST_COMMANDS]
    names = [
        (f"{title}:", ", ".join(name for each in members for name in each.names)) for title, members in groups.items()
    ]
    rows = _across({title: [(each.line, each.help) for each in members] for title, members in groups.items()})
    summary = f"<summary>{text_html(f'All {len(commands)} commands')}</summary>"
    *lines, asking = *wrapped_last([*first, *names], line_width()), wrapped(HOW_TO_ASK, line_width())
    return {
        "text/html": f"{table_html(head, first, HOW_TO_ASK)}<details>{summary}{table_html(head, rows, '')}</details>",
        "text/markdown": table_markdown(head, [*first, *names], HOW_TO_ASK),
        "text/plain": "\n".join([*lines[: len(first)], "", *lines[len(first) :], "", asking]),
    }


def all_settings(chat: Chat) -> dict[str, str]:
    """Return every setting with its value, source and explanation, in groups, in all forms."""
    groups = {
        title: [_setting_row(chat, name) for name, of in ABOUT.items() if of == about]
        for about, title in OF_SETTINGS.items()
    }
    head, rows = ("setting", "value", "from", "what it decides"), _across(groups)
    lines = wrapped_last([row for members in groups.values() for row in members], line_width())
    return {
        "text/html": table_html(head, rows, HOW_TO_SET),
        "text/markdown": table_markdown(head, rows, HOW_TO_SET),
        "text/plain": "\n".join([*map(visible, lines), "", wrapped(HOW_TO_SET, line_width())]),
    }


def _setting_row(chat: Chat, name: str) -> Sequence[str]:
    value = cut(first_words(setting_text(chat, name)), LONGEST_VALUE)
    return name, value, source_of(chat.session, name), HELP[name]


def _across(groups: Mapping[str, Sequence[Sequence[str]]]) -> list[Sequence[str] | str]:
    """Return the rows of groups below their titles, each of which stands across the table."""
    return [row for title, rows in groups.items() for row in (title, *rows)]


def setting_text(chat: Chat, name: str) -> str:
    """Return the value of a setting as it is typed."""
    return typed_value(chat.system or None if name == "system" else getattr(chat.config, name), name)


def setting_lines(chat: Chat, name: str) -> str:
    """Return a setting with its value and source, what it decides, and what it may be."""
    default = typed_value(getattr(Settings(), name), name)
    now = f"{name} = {setting_text(chat, name)} ({source_of(chat.session, name)})"
    return f"{now}\n{HELP[name]}\nvalues: {wanted(name)}; {DEFAULT}: {default}"


def one_command(command: Command) -> str:
    """Return what a command does, with the options it knows and examples, as text."""
    lines = [command.line, *wrapped_last([("", command.help)], line_width()), *_options(command.options)]
    if command.examples:
        lines += ["", "examples", indent("\n\n".join(command.examples), "  ")]
    return "\n".join(lines)


def prompt_page() -> str:
    """Return what ``%%chat?`` shows: how to ask, and the options of a prompt."""
    return "\n".join([ABOUT_PROMPTS, *_options(OF_A_PROMPT), "", wrapped(OF_COMMANDS, line_width())])


def _options(options: Sequence[Option]) -> list[str]:
    """Return the lines that list options."""
    rows = [("", ", ".join(option.spellings), option.help) for option in options]
    return ["", "options", *wrapped_last(rows, line_width())] if rows else []


def topic_text(name: str) -> str:
    """Return a topic's text, in Markdown, which the book shows as it is. Its first line is its title."""
    return TOPICS[name].read_text("utf-8")


def topic_bundle(name: str) -> dict[str, str]:
    """Return a topic as a page shows it, and as a terminal does."""
    text = topic_text(name)
    return {"text/html": answer_html(to_html(text)), "text/markdown": text, "text/plain": text}
