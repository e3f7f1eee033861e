"""Options, commands and settings are declared once: README, help and completion say the same."""

from __future__ import annotations

import re

from cells import Cells

from jupyter_ctx.config.settings import SETTINGS
from jupyter_ctx.magics.commands import COMMANDS
from jupyter_ctx.magics.options import OPTIONS
from scripts.readme import MARKED, README, with_tables


def test_readmes_tables_are_what_is_declared() -> None:
    text = README.read_text("utf-8")
    names = {found[2] for found in MARKED.finditer(text)}
    assert names == {"options", "commands", *(each.about for each in SETTINGS.values())}
    assert with_tables(text) == text, "README's tables differ from the declarations: run python -m scripts.readme"


def test_all_help_lines_begin_in_lower_case() -> None:
    lines = [each.help for each in (*COMMANDS.values(), *OPTIONS, *SETTINGS.values())]
    assert [line for line in lines if line[0].isupper()] == []


def test_help_shows_every_command_with_its_line(cells: Cells) -> None:
    said = re.sub(r"\s+", " ", cells.run("%chat help"))
    for command in COMMANDS.values():
        assert f"%chat {command.usage} {command.help}" in said


def test_the_magics_help_shows_every_option_with_its_line_before_the_first_cell_too(cells: Cells) -> None:
    shown = re.sub(r"\s+", " ", cells.shell.object_inspect("%%chat")["docstring"])
    for option in OPTIONS:
        assert option.flag in shown
        assert option.help in shown


def test_config_shows_every_setting_with_value_source_and_line(cells: Cells) -> None:
    cells.run("%chat config max_turns 20")
    rows = {line.split()[0]: line for line in cells.run("%chat config").splitlines() if line.strip()}
    for name, setting in SETTINGS.items():
        assert setting.help in rows[name]
        assert ("20  set here" if name == "max_turns" else "  default  ") in rows[name]


def test_status_shows_what_decides_the_request_and_where_that_comes_from(cells: Cells) -> None:
    cells.run("%chat config compact_at 0.8")
    said = cells.run("%chat status")
    for name, setting in SETTINGS.items():
        assert (f"{name} " in said) == (setting.about in ("request", "room")), name
    assert "compact_at 0.8 (set here)" in said
    assert "min_turns 1," in said
    assert "memory none" in said
