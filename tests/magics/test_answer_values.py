"""``%%chat --schema NAME``: the value in a variable, the answer as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from answering_rows import answering_rows
from cells import Cells

from jupyter_ctx import Reply, get_chat
from jupyter_ctx.display.answer.markdown import json_bundle

TYPES = """
import datetime
import enum
from dataclasses import dataclass
from typing import Optional
from typing_extensions import TypedDict
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
JSON = json.dumps(MOONS, indent=2)
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
    assert shown.count(json.dumps(FILM)) == 1
    typed.run("%%chat --schema Moons -o moons\nIts moons?")
    assert names["moons"]["moons"][0].km == 3643
    typed.run("%%chat --schema tree -o leaf --no-history\nA tree?")
    assert names["leaf"] == TREE
    typed.run("%%chat -o plain\nA film, in words?")
    assert isinstance(names["plain"], Reply)
    assert "planet" not in typed.run("%%chat preview --schema Film -o planet\nA film?")
    assert "planet" not in names


def test_a_reply_shows_its_json_wherever_it_is_shown(typed: Cells) -> None:
    typed.run("%%chat --schema Moons\nIts moons?")
    reply = typed.shell.user_ns["_"]
    shown, _ = typed.shell.display_formatter.format(reply)
    assert '<div class="highlight">' in shown["text/html"]
    assert shown["text/markdown"] == f"```json\n{JSON}\n```"
    assert typed.run("%%chat --schema Moons -n 2\nIts moons?").count(JSON) == 2


def test_json_of_one_line_is_laid_out_and_other_json_left_as_it_was_written() -> None:
    assert json_bundle(' {"a": 1} ').markdown == '```json\n{\n  "a": 1\n}\n```'
    assert json_bundle('{\n "a":1}').markdown == '```json\n{\n "a":1}\n```'
    fenced = 'Here:\n```json\n{"a": 1}\n```'
    assert json_bundle(fenced).markdown == f"````json\n{fenced}\n````"
