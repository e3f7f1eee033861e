"""``%%chat --schema NAME``: the value in a variable, the answer as a table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from answering_rows import answering_rows
from cells import Cells

from jupyter_ctx import Chat, InvalidAnswerError, Reply, get_chat

TYPES = """
import datetime
import enum
from dataclasses import dataclass
from typing import Optional, TypedDict
import pydantic
class Genre(enum.Enum):
    DRAMA = "drama"
    COMEDY = "comedy"
class Person(pydantic.BaseModel):
    name: str
    born: Optional[datetime.date] = None
class Film(pydantic.BaseModel):
    title: str
    genre: Genre
    cast: list[Person]
    seen: bool = False
@dataclass
class Moon:
    name: str
    km: int
class Moons(TypedDict):
    moons: list[Moon]
tree = {
    "$defs": {"node": {"type": "object", "properties": {
        "label": {"type": "string"}, "inner": {"type": "array", "items": {"$ref": "#/$defs/node"}},
    }, "required": ["label"]}},
    "type": "object", "properties": {"root": {"$ref": "#/$defs/node"}}, "required": ["root"],
}
"""
FILM = {"title": "Up", "genre": "comedy", "cast": [{"name": "Ed", "born": "1929-11-15"}, {"name": "Pete"}]}
MOONS = {"moons": [{"name": "Io", "km": 3643}, {"name": "*Europa*", "km": 3122}]}
TREE = {"root": {"label": "a", "inner": [{"label": "b", "inner": []}]}}


def said(prompt: str) -> str:
    return json.dumps(
        next(value for word, value in (("film", FILM), ("moons", MOONS), ("tree", TREE)) if word in prompt)
    )


@pytest.fixture
def typed(cells: Cells) -> Iterator[Cells]:
    """Cells that have the types, and ask a server for values of them."""
    with answering_rows(said) as asked:
        cells.run(f"{TYPES}\n%chat use m --base-url {asked.url}")
        yield cells


def test_the_variable_holds_the_value_and_the_underscore_the_reply(typed: Cells) -> None:
    names = typed.shell.user_ns
    shown = typed.run("%%chat --schema Film -o film\nA film?")
    assert type(names["film"]).__name__ == "Film"
    assert names["film"].cast[0].born.year == 1929
    assert isinstance(names["_"], Reply)
    assert names["_"].parsed is names["film"]
    assert names["_"].text == get_chat().turns[0].reply
    assert "title  Up" in shown
    assert "genre  comedy" in shown
    assert "seen   false" in shown  # not in the text: the value has it
    assert "cast: 2 rows" in shown
    assert "Pete  null" in shown
    shown = typed.run("%%chat --schema Moons -o moons\nIts moons?")
    assert names["moons"]["moons"][0].km == 3643
    assert "moons: 2 rows" in shown
    typed.run("%%chat --schema tree -o leaf --no-history\nA tree?")
    assert names["leaf"] == TREE
    typed.run("%%chat -o plain\nA film, in words?")
    assert isinstance(names["plain"], Reply)
    assert "planet" not in typed.run("%%chat --schema Film --preview -o planet\nA film?")
    assert "planet" not in names


def test_an_answer_that_fails_twice_shows_its_text_and_leaves_the_variable(typed: Cells) -> None:
    with answering_rows(lambda prompt: '{"title": "Up"}') as asked:
        typed.run(f"%chat use m --base-url {asked.url}")
        typed.run("film = 'before'")
        error = typed.fail("%%chat --schema Film -o film\nA film?")
    assert isinstance(error, InvalidAnswerError)
    assert "genre" in str(error)
    for name in ("list[Film]", "int"):
        assert f"{name}, and name Answer" in str(typed.fail(f"%%chat --schema {name}\nFilms?"))
    assert typed.shell.user_ns["film"] == "before"


def test_a_value_that_cannot_be_written_as_json_is_shown_as_the_model_wrote_it(cells: Cells) -> None:
    cells.run(
        "import pydantic\nclass Odd(pydantic.BaseModel):\n    a: int\n"
        "    @pydantic.field_serializer('a')\n    def no(self, a):\n        raise RuntimeError('no')"
    )
    with answering_rows(lambda prompt: '{"a": 7}') as asked:
        cells.run(f"%chat use m --base-url {asked.url}")
        assert "a      7" in cells.run("%%chat --schema Odd -o odd\nA number?")
    assert cells.shell.user_ns["odd"].a == 7


def test_plain_answers_are_tables_of_text(typed: Cells) -> None:
    shown = typed.run("%%chat --schema Moons --plain\nIts moons?")
    assert "moons: 2 rows\nname      km\nIo        3643\n*Europa*  3122" in shown


def test_a_reply_shows_its_table_wherever_it_is_shown(typed: Cells) -> None:
    typed.run("%%chat --schema Moons\nIts moons?")
    reply = typed.shell.user_ns["_"]
    shown, _ = typed.shell.display_formatter.format(reply)
    assert "<td" in shown["text/html"]
    assert "| ` *Europa* ` | 3122 |" in shown["text/markdown"]


def test_a_notebook_that_was_run_is_imported_with_the_json_of_its_answers(typed: Cells, tmp_path: Path) -> None:
    typed.run("%%chat --schema Moons\nIts moons?")
    shown, _ = typed.shell.display_formatter.format(typed.shell.user_ns["_"])
    output = {"output_type": "display_data", "data": shown, "metadata": {}}
    cell = {"cell_type": "code", "source": "%%chat --schema Moons\nIts moons?", "outputs": [output], "metadata": {}}
    file = tmp_path / "run.ipynb"
    file.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    chat = Chat()
    chat.load(file)
    assert [json.loads(turn.reply) for turn in chat.turns] == [MOONS]


def test_answers_side_by_side_are_tables_too(typed: Cells) -> None:
    shown = typed.run("%%chat --schema Moons -n 2\nIts moons?")
    assert shown.count("moons: 2 rows") == 2
