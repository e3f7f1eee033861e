"""Tab in a chat cell: near names, windows, paths, turns, and what may be filled in inside ``{{ }}``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pandas
import pytest
from cells import Cells
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.completer import Completion, provisionalcompleter

from jupyter_ctx.magics.command_table import Command
from jupyter_ctx.magics.commands import COMMANDS
from jupyter_ctx.magics.line_options import OF_A_PROMPT
from jupyter_ctx.template.filling import fill
from jupyter_ctx.template.suggestions import Suggestion, suggestions


def completed(cells: Cells, text: str, after: str = "") -> list[Completion]:
    cells.shell.Completer.use_jedi = False
    with provisionalcompleter():
        return list(cells.shell.Completer.completions(text + after, len(text)))


def lines(cells: Cells, text: str, after: str = "") -> list[str]:
    """What the last line is for each completion."""
    return [(text[: found.start] + found.text).rpartition("\n")[2] for found in completed(cells, text, after)]


def kinds_of(cells: Cells, text: str) -> dict[str, str]:
    """What each completion says of itself."""
    return {found.text: found.type.replace("\N{NO-BREAK SPACE}", " ") for found in completed(cells, text)}


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
        "x_value_of": sys,
        "x_value_function": len,
        "x_value_api_key": "abc",
    }
    return cells


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("%chat use gpt5", "%chat use openai/gpt-5"),
        ("%chat use openai/gtp-5.2", "%chat use openai/gpt-5.2"),
        ("%chat use openia/gpt-5.2", "%chat use openai/gpt-5.2"),
        ("%chat use sonnet-5", "%chat use anthropic/claude-sonnet-5"),
        ("%%chat --modle", "%%chat --model"),
        ("%chat histroy", "%chat history"),
        ("%chat config footr", "%chat config footer"),
        ("%chat config footer onn", "%chat config footer on"),
        ("%chat help comapct_at", "%chat help compact_at"),
    ],
)
def test_a_mistyped_word_is_completed_to_the_nearest(cells: Cells, typed: str, wanted: str) -> None:
    assert lines(cells, typed)[0] == wanted


def test_models_show_their_windows_and_values_what_they_mean(cells: Cells) -> None:
    kinds = kinds_of(cells, "%chat use openai/gpt-5.")
    assert kinds["openai/gpt-5.2"] == "window 400,000"
    assert kinds_of(cells, "%chat config compact_at ")["0.8"] == "80 % of the limit"
    cells.run("%chat alias quick openai/gpt-5-nano")
    assert kinds_of(cells, "%%chat -m qui") == {"quick": "alias of openai/gpt-5-nano"}
    wanted = {"trim": "leave out the oldest turns", "summarise": "summarise the oldest turns", "stop": "send nothing"}
    for typed in ("%chat config on_overflow ", "%%chat --on-overflow ", "%%chat --on-overflow="):
        assert kinds_of(cells, typed).items() >= wanted.items()
    assert lines(cells, "%%chat --on-overflow=st") == ["%%chat --on-overflow=stop"]


def test_descriptions_are_not_broken_at_spaces(cells: Cells) -> None:
    assert not [found for found in completed(cells, "%chat use openai/gpt-5.") if " " in found.type]


def test_a_cells_head_offers_only_commands_that_take_a_text(cells: Cells) -> None:
    assert {"%%chat preview", "%%chat system", "%%chat map"} <= set(lines(cells, "%%chat "))
    assert "%%chat undo" not in lines(cells, "%%chat ")
    assert "%chat undo" in lines(cells, "%chat ")


def test_paths_and_names_with_spaces_are_completed_in_quotes(
    cells: Cells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my folder").mkdir()
    for name in ("my notes.txt", "my folder/a b.md"):
        (tmp_path / name).touch()
    assert lines(cells, "%%chat -a my") == ['%%chat -a "my folder/', '%%chat -a "my notes.txt"']
    assert lines(cells, '%%chat -a "my folder/') == ['%%chat -a "my folder/a b.md"']
    assert lines(cells, "%%chat -a 'my n", "'") == ["%%chat -a 'my notes.txt"], "the front end closed the quote"
    cells.run("%chat new two words")
    assert lines(cells, "%%chat -i tw") == ['%%chat -i "two words"']


@pytest.mark.parametrize("command", [None, *dict.fromkeys(COMMANDS.values())], ids=lambda each: each and each.name)
def test_just_the_options_that_fit_are_offered(cells: Cells, command: Command | None) -> None:
    head = f"{command.mark} {command.name}" if command else "%%chat"
    fitting = command.options if command else OF_A_PROMPT
    assert lines(cells, f"{head} --") == [f"{head} {option.flag}" for option in fitting]


def test_names_of_conversations_of_an_earlier_kernel_are_completed(cells: Cells) -> None:
    cells.run("%chat new plans")
    del cells.shell._jupyter_ctx
    cells.run("%unload_ext jupyter_ctx\n%load_ext jupyter_ctx")
    assert lines(cells, "%chat switch pla") == ["%chat switch plans"]


def test_numbers_of_turns_are_completed_with_their_first_words(cells: Cells) -> None:
    cells.run(
        "from jupyter_ctx import get_chat\nget_chat().add_messages([dict(role=role, content=text) for text in "
        "('Why?', 'Where?') for role in ('user', 'assistant')])"
    )
    assert [(each.text, each.type) for each in completed(cells, "%chat pin ")][:2] == [("2", "Where?"), ("1", "Why?")]
    cells.run("%chat pin 2")
    assert lines(cells, "%chat unpin ")[0] == "%chat unpin 2"
    assert lines(cells, "%chat exclude 2 ")[0] == "%chat exclude 2 1"
    assert "%chat trim 1" not in lines(cells, "%chat trim ")


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("{{ x_va", ["{{ x_value"]),
        ("{{ 1 + x_va", ["{{ 1 + x_value"]),
        ("{{ prices.pr", ["{{ prices.price"]),
        ("{{ prices['u", ["{{ prices['unit price']"]),
        ("{{ prices|rou", ["{{ prices|round"]),
        ("{{ person.a", ["{{ person.age"]),
        ("{{ person.name.upp", ["{{ person.name.upper()"]),
        ("{{ settings.depth.inn", ["{{ settings.depth.inner"]),
        ("{{ settings['depth']['inn", ["{{ settings['depth']['inner value']", "{{ settings['depth']['inner']"]),
        ("{{ x_value is odd and x_va", ["{{ x_value is odd and x_value"]),
        ("{{ x_value is nu", ["{{ x_value is number"]),
        ("{{ prices.pirce", ["{{ prices.price", "{{ prices.pieces"]),
        ("{{ pirces", ["{{ prices"]),
        ("{{ x_value }} and {{ pers", ["{{ x_value }} and {{ person"]),
    ],
)
def test_names_attributes_columns_keys_and_filters_are_completed_inside_braces(
    data: Cells, typed: str, found: list[str]
) -> None:
    assert lines(data, f"%%chat -m a/b\nSome prose.\nCompare {typed}") == [f"Compare {each}" for each in found]


def test_brackets_that_are_closed_already_are_not_closed_again(data: Cells) -> None:
    assert lines(data, "%%chat\n{{ prices['u", "'] }}") == ["{{ prices['unit price"]
    assert lines(data, "%%chat\n{{ prices['u", "]") == ["{{ prices['unit price'"]


def test_a_maps_columns_come_before_the_notebooks_names(data: Cells) -> None:
    assert lines(data, "%%chat map prices\nJudge {{ p") == [
        "Judge {{ price", "Judge {{ pieces", "Judge {{ prices", "Judge {{ person",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "typed",
    [
        "%%chat\nimport pan", "%%chat\nx_va", "%%chat\n{{ x_value }} x_va", "%%chat\n${{ x_va", "%%chat --raw\n{{ x_va",
        "%%chat system\n{{ x_va", "%%chat\n{{ prices.head().pr", "%%chat\n{{ x_value x_va", "%%chat\n{{ nothing.x",
        "%%chat -o ",
    ],
)  # fmt: skip
def test_nothing_is_offered_where_nothing_is_filled_in(data: Cells, typed: str) -> None:
    assert completed(data, typed) == []


def test_completing_runs_no_code_of_the_notebook(cells: Cells) -> None:
    cells.run(
        "ran = []\nclass Odd:\n    kept = 1\n    @property\n    def run(self): ran.append(1)\n"
        "    def __getattr__(self, name): ran.append(name)\n    def __dir__(self): ran.append('dir')\nodd = Odd()"
    )
    assert lines(cells, "%%chat\n{{ odd.") == ["{{ odd.kept"]
    assert cells.shell.user_ns["ran"] == []


@given(st.text(alphabet="abx.|[]()'\" {}1+", max_size=30))
def test_whatever_is_suggested_keeps_what_was_typed(typed: str) -> None:
    names = {"ab": {"x": 1, "b b": [1]}, "x": "text", "a": 1}
    found = suggestions(typed, names, [Suggestion(name, "") for name in names])
    assert typed.endswith(found.typed)


@pytest.mark.parametrize("typed", ["prices.", "prices['", "person.", "settings.", "x_value|", "prices.price."])
def test_most_of_what_is_offered_after_a_value_can_be_filled_in(data: Cells, typed: str) -> None:
    names = data.shell.user_ns
    for each in suggestions(typed, names, ()).found:
        if each.kind not in ("method", "filter") and each.text not in ("loc", "iloc", "at", "iat"):
            assert not fill(f"{{{{ {typed}{each.text} }}}}", names).unknown
