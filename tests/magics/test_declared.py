"""Options, commands, settings and topics are declared once: the book, help and completion say the same."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

import pytest
from cells import Cells
from IPython.core.error import UsageError
from IPython.utils.capture import capture_output

from jupyter_ctx.config.settings import ABOUT, HELP, SETTING_NAMES
from jupyter_ctx.magics.chat_cells import check_options
from jupyter_ctx.magics.command_table import GROUPS, Command
from jupyter_ctx.magics.commands import COMMANDS
from jupyter_ctx.magics.help_pages import OF_SETTINGS, TOPICS, topic_text
from jupyter_ctx.magics.line_options import A_PROMPT, OF_A_PROMPT, OPTIONS, Option, parsed_line
from scripts.reference import filled


def test_the_book_has_every_command_with_its_options_and_examples() -> None:
    sections = filled("<!-- generated: commands -->").replace("\\|", "|").split("\n(command-")
    for command in dict.fromkeys(COMMANDS.values()):
        (section,) = (each for each in sections if each.startswith(f"{command.name})="))
        assert f"### `{command.line}`" in section
        assert command.help[1:] in section
        assert all(f"`{option.flag}" in section for option in command.options)
        assert all(example in section for example in command.examples)


def test_help_shows_a_topic_as_markdown_in_a_notebook_and_as_text_in_a_terminal(cells: Cells) -> None:
    for name in TOPICS:
        with capture_output() as shown:
            cells.shell.run_cell(f"%chat help {name}")
        forms = shown.outputs[-1].data
        title = topic_text(name).partition("\n")[0].removeprefix("# ")
        assert f">{title}</h4>" in forms["text/html"]
        assert "`" not in re.sub(r"<pre.*?</pre>", "", forms["text/html"], flags=re.S)
        assert forms["text/plain"] == forms["text/markdown"] == topic_text(name)


def test_a_topic_follows_the_command_and_the_setting_of_its_name(cells: Cells) -> None:
    for name, first in (("handout", "%chat handout FILE"), ("window", "window is a setting"), ("recovery", "\n# ")):
        said = cells.run(f"%chat help {name}")
        assert said.startswith(first)
        assert said.endswith(topic_text(name))


def test_help_begins_with_eight_commands_and_folds_the_rest(cells: Cells) -> None:
    with capture_output() as shown:
        cells.shell.run_cell("%chat help")
    forms = shown.outputs[-1].data
    first, folded = forms["text/html"].split("<details>")
    said = re.sub(r"\s+", " ", forms["text/plain"])
    for command in COMMANDS.values():
        line = f">{escape(command.line)}<"
        assert (line in first) == (f"{command.line} {command.help}" in said)
        assert line in folded
        assert re.search(rf"[ ,]{command.name}\b", said)
    assert first.count("<tr>") == 1 + 8
    assert len(set(COMMANDS.values())) <= 36


def listed(page: str, options: Iterable[Option]) -> bool:
    """Whether a page lists these options with their lines, and no others."""
    said = re.sub(r"\s+", " ", page)
    flags = re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", page)
    return sorted(flags) == sorted(each.flag for each in options) and all(each.help in said for each in options)


def test_the_magics_help_lists_the_options_of_a_prompt_before_the_first_cell_too(cells: Cells) -> None:
    assert listed(cells.shell.object_inspect("%%chat")["docstring"], OF_A_PROMPT)
    assert len(OF_A_PROMPT) <= 27
    assert {option for option in OPTIONS if option not in OF_A_PROMPT} == {
        option for option in OPTIONS if A_PROMPT not in option.of
    }


@pytest.mark.parametrize("name", ["map", "trim"])
def test_a_commands_page_lists_its_options_alone(cells: Cells, name: str) -> None:
    said = cells.run(f"%chat help {name}")
    assert listed(said, COMMANDS[name].options)
    assert COMMANDS[name].line in said
    assert all(example.splitlines()[0] in said for example in COMMANDS[name].examples)


def test_an_option_in_a_wrong_place_is_told_where_it_belongs() -> None:
    for option in OPTIONS:
        line = f"{option.flag} 1" if option.takes else option.flag
        places: list[Command | None] = [None, *dict.fromkeys(COMMANDS.values())]
        wrong = [each for each in places if not (each.knows(option) if each else option in OF_A_PROMPT)]
        assert wrong
        for command in wrong:
            with pytest.raises(UsageError, match=rf"here takes no {option.flag}: it goes with .*%chat"):
                check_options(parsed_line(line), command, "here")


def test_config_shows_every_setting_with_value_source_and_line(cells: Cells) -> None:
    cells.run("%chat config max_turns 20")
    said = re.sub(r"\s+", " ", cells.run("%chat config"))
    for name in SETTING_NAMES:
        value, source = ("20", "set here") if name == "max_turns" else (r"\S.{0,23}", "default")
        assert re.search(rf" {name} {value} {source} {re.escape(HELP[name])}", said), name


def test_every_command_stands_in_one_group_of_the_help_with_examples_that_can_be_typed() -> None:
    assert {each.group for each in COMMANDS.values()} == {*GROUPS}
    assert {ABOUT[name] for name in SETTING_NAMES} == set(OF_SETTINGS)
    assert len(SETTING_NAMES) <= 22
    for name, command in COMMANDS.items():
        for example in command.examples if name == command.name else ():
            head, *below = example.splitlines()
            mark, verb, *_ = head.split()
            assert mark == ("%%chat" if below else "%chat")
            assert verb in command.names
            assert command.heads_cell or not below
            check_options(parsed_line(head.partition(" ")[2]), command, head)


@pytest.mark.parametrize("columns", [60, 200])
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


def test_status_shows_the_settings_that_differ_from_the_default_and_who_set_them(cells: Cells) -> None:
    cells.run("%chat config compact_at 0.8\n%chat config parameters seed=3")
    said = cells.run("%chat status")
    assert "parameters seed=3, compact_at 0.8 (set here)" in said
    assert "min_turns" not in said, "settings at their default are not listed"
    assert max(map(len, said.splitlines())) <= 100
