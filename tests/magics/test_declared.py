"""Options, commands and settings are declared once: README, help and completion say the same."""

from __future__ import annotations

import re

import pytest
from cells import Cells
from IPython.utils.capture import capture_output

from jupyter_ctx.config.settings import SETTINGS
from jupyter_ctx.magics.chat_magic import ChatMagic
from jupyter_ctx.magics.commands import COMMANDS
from jupyter_ctx.magics.help_pages import EXAMPLES, GROUPS, OF_SETTINGS
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
    said = re.sub(r"\s+", " ", cells.run("%chat config"))
    for name, setting in SETTINGS.items():
        value, source = ("20", "set here") if name == "max_turns" else (r"\S.{0,23}", "default")
        assert re.search(rf" {name} {value} {source} {re.escape(setting.help)}", said), name


def test_every_command_stands_in_one_group_of_the_help_with_examples_that_can_be_typed() -> None:
    names = [name for names in GROUPS.values() for name in names]
    assert sorted(names) == sorted({each.name for each in COMMANDS.values()})
    assert {each.about for each in SETTINGS.values()} == set(OF_SETTINGS)
    for name, examples in EXAMPLES.items():
        for example in examples:
            head, *below = example.splitlines()
            mark, verb, *_ = head.split()
            assert (mark, verb) == ("%%chat" if below else "%chat", name)
            assert COMMANDS[name].heads_cell or not below
            assert ChatMagic.chat.parser.parse_intermixed_args(head.split()[1:])


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_help_and_settings_stand_in_straight_columns_within_the_terminal(
    cells: Cells, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for line in ("%chat help", "%chat config", "%chat help map"):
        said = cells.run(line).splitlines()
        assert max(map(len, said)) <= columns + 10, "an explanation keeps at least 28 characters"
    for line in ("%chat help", "%chat config"):
        begins = {len(found[0]) for row in cells.run(line).splitlines() if (found := re.match(r" {9,}", row))}
        assert len(begins) <= 1, "the last column begins at one place"


def test_help_and_settings_are_tables_in_a_notebook(cells: Cells) -> None:
    cells.run("%chat config system <b>")
    with capture_output() as shown:
        cells.shell.run_cell("%chat help\n%chat config")
    commands, settings = (output.data["text/html"] for output in shown.outputs)
    assert commands.count("<tr") > len(GROUPS) + len(EXAMPLES)
    assert "When the window gets full" in settings
    assert "&lt;b&gt;" in settings


def test_status_shows_what_decides_the_request_and_where_that_comes_from(cells: Cells) -> None:
    cells.run("%chat config compact_at 0.8")
    said = cells.run("%chat status")
    for name, setting in SETTINGS.items():
        assert (f"{name} " in said) == (setting.about in ("request", "room")), name
    assert "compact_at 0.8 (set here)" in said
    assert "min_turns 1," in said
    assert "memory none" in said
