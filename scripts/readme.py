"""Write README's tables of options, commands and settings from their declarations.

``python -m scripts.readme`` replaces what stands between ``<!-- table: NAME -->`` and ``<!-- end of table -->``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

from jupyter_ctx.config.settings import SETTINGS, About, Settings, choices, typed_value, wanted
from jupyter_ctx.magics.command_table import Command
from jupyter_ctx.magics.commands import COMMANDS
from jupyter_ctx.magics.line_options import OF_A_PROMPT, Option

README = Path(__file__).resolve().parents[1] / "README.md"
MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", re.S)


def with_tables(text: str) -> str:
    """Return README's text with its tables as they are declared. Raises KeyError for a table of another name."""
    return MARKED.sub(lambda found: f"{found[1]}{_tables()[found[2]]}\n{found[3]}", text)


def _tables() -> dict[str, str]:
    """Return each table by its name; those of settings are named for what they decide."""
    commands = tuple(dict.fromkeys(COMMANDS.values()))
    made = {
        "options": _table(("option of `%%chat`", ""), map(_option, OF_A_PROMPT)),
        "commands": _table(("command", ""), ((each.line, each.help) for each in commands)),
        "command_options": _table(("option", "of", ""), _of_commands(commands)),
    }
    return made | {about: _table(("`%chat config`", "", "default", "values"), _settings(about)) for about in ABOUT}


def _option(option: Option) -> tuple[str, str]:
    return "`, `".join(option.spellings), option.help


def _of_commands(commands: Iterable[Command]) -> Iterable[tuple[str, ...]]:
    """Yield the options that no prompt takes, each with its command."""
    for command in commands:
        for option in command.options:
            if option not in OF_A_PROMPT:
                name, summary = _option(option)
                yield name, f"`{command.mark} {command.name}`", summary


ABOUT: tuple[About, ...] = get_args(About)


def _settings(about: About) -> Iterable[tuple[str, ...]]:
    default = Settings()
    for name, each in SETTINGS.items():
        if each.about == about:
            values = ", ".join(f"`{word}`" for word in choices(name)) or wanted(name)
            yield name, each.help, f"`{typed_value(getattr(default, name))}`", values


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table; the first cell of each row is typed by the user."""
    lines = [head, ("---",) * len(head), *((f"`{first.strip()}`", *rest) for first, *rest in rows)]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


if __name__ == "__main__":
    README.write_text(with_tables(README.read_text("utf-8")), "utf-8")
