"""Tab in a chat cell: near names, windows, paths, turns, and what may be filled in inside ``{{ }}``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas
import pytest
from cells import Cells
from kernels import Kernel

from jupyter_ctx.context.windows import ContextWindow
from jupyter_ctx.magics.commands import COMMANDS
from jupyter_ctx.magics.line_options import OF_A_PROMPT
from jupyter_ctx.models.window_tables import kept_table
from jupyter_ctx.providers.base import ModelInfo


def kinds_of(cells: Cells, text: str) -> dict[str, str]:
    """What each completion says of itself."""
    return {found.text: found.type.replace("\N{NO-BREAK SPACE}", " ") for found in cells.completed(text)}


@dataclass
class Person:
    name: str
    age: int


@pytest.fixture
def data(cells: Cells) -> Cells:
    cells.shell.user_ns |= {
        "prices": pandas.DataFrame({"price": [1.5], "unit price": [2], "pieces": [3]}),
        "person": Person("Ann", 44),
        "settings": {"depth": {"inner value": 3, "inner": 4}, 7: "x"},
        "x_value": 3,
    }
    return cells


def test_a_part_of_a_word_is_completed_to_the_whole(cells: Cells) -> None:
    assert "%chat use anthropic/claude-sonnet-5" in cells.lines("%chat use sonnet-5")


def test_models_show_their_windows_and_settings_their_values(cells: Cells) -> None:
    kinds = kinds_of(cells, "%chat use openai/gpt-5.")
    assert kinds["openai/gpt-5.2"] == "window 400,000"
    cells.run("%chat alias quick openai/gpt-6-luna")
    assert kinds_of(cells, "%%chat -m qui") == {"quick": "alias of openai/gpt-6-luna"}
    kinds = kinds_of(cells, "%chat config on_overflow ")
    assert kinds.items() >= dict.fromkeys(("trim", "summarise", "stop"), "value").items()


def test_a_cells_head_offers_only_commands_that_take_a_text(cells: Cells) -> None:
    assert {"%%chat preview", "%%chat system", "%%chat map"} <= set(cells.lines("%%chat "))
    assert "%%chat undo" not in cells.lines("%%chat ")
    assert "%chat undo" in cells.lines("%chat ")


def test_paths_and_names_with_spaces_are_completed_in_quotes(
    cells: Cells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my folder").mkdir()
    for name in ("my notes.txt", "my folder/a b.md"):
        (tmp_path / name).touch()
    assert cells.lines('%%chat -a "my ') == ['%%chat -a "my folder/', '%%chat -a "my notes.txt"']
    assert cells.lines("%%chat -a my") == ['%%chat -a "my folder/', '%%chat -a "my notes.txt"']
    assert cells.lines('%%chat -a "my folder/') == ['%%chat -a "my folder/a b.md"']
    assert cells.lines("%%chat -a 'my n", "'") == ["%%chat -a 'my notes.txt"], "the front end closed the quote"
    cells.run("%chat new two words")
    assert cells.lines("%%chat -i tw") == ['%%chat -i "two words"']


def test_just_the_options_that_fit_are_offered(cells: Cells) -> None:
    heads = {f"{command.mark} {command.name}": command.options for command in COMMANDS.values()}
    for head, fitting in {"%%chat": OF_A_PROMPT, **heads}.items():
        assert cells.lines(f"{head} --") == [f"{head} {option.flag}" for option in fitting]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("{{ x_va", "{{ x_value"),
        ("{{ len(pric", "{{ len(prices"),
        ("{{ prices.pr", "{{ prices.price"),
        ("{{ prices['u", "{{ prices['unit price"),
        ("{{ person.a", "{{ person.age"),
        ("{{ settings['depth']['inn", "{{ settings['depth']['inner value"),
    ],
)
def test_names_attributes_columns_and_keys_are_completed_inside_braces(data: Cells, typed: str, found: str) -> None:
    assert f"Compare {found}" in data.lines(f"%%chat -m a/b\nSome prose.\nCompare {typed}")


def test_tables_files_and_the_options_of_a_map_are_offered(
    data: Cells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("rows.csv", "notes.txt"):
        (tmp_path / name).touch()
    found = set(data.lines("%%chat map "))
    assert {"%%chat map prices", "%%chat map rows.csv", "%%chat map --repeat"} <= found
    assert not {"%%chat map notes.txt", "%%chat map x_value"} & found
    assert "%%chat map -m x prices" in data.lines("%%chat map -m x pr")


@pytest.mark.parametrize(
    "typed",
    [
        "%%chat\nimport pan", "%%chat\nx_va", "%%chat\n{{ x_value }} x_va", "%%chat\n${{ x_va", "%%chat --raw\n{{ x_va",
        "%%chat system\n{{ x_va", "%%chat -o ",
    ],
)  # fmt: skip
def test_nothing_is_offered_where_nothing_is_filled_in(data: Cells, typed: str) -> None:
    assert data.completed(typed) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("%chat su", {"summarise"}),
        ("%%ctx --eff", {"--effort"}),
        ("%chat config summary_model openai/gpt-6-l", {"openai/gpt-6-luna"}),
        ("%chat continue --s", {"--set", "--system"}),
    ],
)
def test_tab_completes_options_verbs_and_models(cells: Cells, text: str, wanted: set[str]) -> None:
    typed = text.rpartition("\n")[2]
    offered = cells.lines(text)
    assert {f"{typed.rsplit(' ', 1)[0]} {word}" for word in wanted} <= set(offered)
    assert all(line.startswith(typed) for line in offered)


@pytest.mark.parametrize(
    "text", ["%chat use lmstudio/", "%chat use nobody/", "%chat pin ", "%%chat -t ", "%chat trim pr"]
)
def test_tab_offers_nothing_of_pythons_in_a_line_of_ours(cells: Cells, text: str) -> None:
    assert set(cells.lines(text)) <= {text, f"{text}--conversation"}


def test_tab_offers_the_list_that_a_provider_gave(cells: Cells) -> None:
    kept_table("https://api.groq.com/openai/v1", [ModelInfo("llama-9", stated=ContextWindow(9_000))])
    offered = cells.lines("%chat use groq/")
    assert "%chat use groq/llama-9" in offered
    assert all(line.startswith("%chat use groq/") for line in offered)


def test_a_front_end_is_told_windows_and_the_names_inside_braces_alone(kernel: Kernel) -> None:
    kernel.run("x_value = 3")

    def told(code: str) -> list[tuple[str, str]]:
        metadata = kernel.client.complete(code, reply=True, timeout=60)["content"]["metadata"]
        return [(each["text"], each["type"]) for each in metadata["_jupyter_types_experimental"]]

    assert ("openai/gpt-5.2", "window\N{NO-BREAK SPACE}400,000") in told("%chat use openai/gpt-5.")
    assert [text for text, _ in told("%%chat\nTell me about {{ x_va")] == ["x_value"]
    assert told("%%chat\nx_va") == []


def test_numbers_of_turns_are_completed_with_their_first_words(cells: Cells) -> None:
    cells.run(
        "from jupyter_ctx import get_chat\nget_chat().add_messages([dict(role=role, content=text) for text in "
        "('Why?', 'Where?') for role in ('user', 'assistant')])"
    )
    assert [(each.text, each.type) for each in cells.completed("%chat pin ")][:2] == [("2", "Where?"), ("1", "Why?")]
    assert "%chat trim 1" not in cells.lines("%chat trim ")
