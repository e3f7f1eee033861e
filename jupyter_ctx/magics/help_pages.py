"""What ``%chat help`` and ``%chat config`` show: commands and settings in groups, with examples, and topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import indent

from ..chat import Chat
from ..config.settings import ABOUT, DEFAULT, HELP, About, Settings, typed_value, wanted
from ..display.answer.markdown import answer_html, to_html
from ..display.tables import TableRow, TableRows, first_words, table_html, table_markdown
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
    first = [(COMMANDS[name].line, COMMANDS[name].help) for name in FIRST_COMMANDS]
    rows, names = list[TableRow | str](), list[TableRow]()
    for title in GROUPS:
        members = [each for each in dict.fromkeys(COMMANDS.values()) if each.group == title]
        rows += [title, *((each.line, each.help) for each in members)]
        names.append((f"{title}:", ", ".join(name for each in members for name in each.names)))
    head = ("command", "what it does")
    page = f"<details><summary>All commands</summary>{table_html(head, rows, '')}</details>"
    forms = _in_columns(head, [*first, *names], HOW_TO_ASK)
    return {**forms, "text/html": table_html(head, first, HOW_TO_ASK) + page}


def all_settings(chat: Chat) -> dict[str, str]:
    """Return every setting with its value, source and explanation, in groups, in all forms."""
    rows = list[TableRow | str]()
    for about, title in OF_SETTINGS.items():
        rows.append(title)
        for name in (name for name, of in ABOUT.items() if of == about):
            value = cut(first_words(setting_text(chat, name)), LONGEST_VALUE)
            rows.append((name, value, source_of(chat.session, name), HELP[name]))
    return _in_columns(("setting", "value", "from", "what it decides"), rows, HOW_TO_SET)


def _in_columns(head: TableRow, rows: TableRows, caption: str) -> dict[str, str]:
    """Return rows as a table and, in plain text, in columns of which the last is wrapped, without lines across."""
    lines = wrapped_last([row for row in rows if not isinstance(row, str)], line_width())
    return {
        "text/html": table_html(head, rows, caption),
        "text/markdown": table_markdown(head, rows, caption),
        "text/plain": "\n".join([*map(visible, lines), "", wrapped(caption, line_width())]),
    }


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
    rows = [("", option.usage, option.help) for option in options]
    return ["", "options", *wrapped_last(rows, line_width())] if rows else []


def topic_text(name: str) -> str:
    """Return a topic's text, in Markdown, which the book shows as it is. Its first line is its title."""
    return TOPICS[name].read_text("utf-8")


def topic_bundle(name: str) -> dict[str, str]:
    """Return a topic as a page shows it, and as a terminal does."""
    text = topic_text(name)
    return {"text/html": answer_html(to_html(text)), "text/markdown": text, "text/plain": text}
