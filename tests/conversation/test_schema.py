"""Schemas of answers: what may be given, what is read out of an answer, and what strict modes are sent."""

from __future__ import annotations

import enum
import json
import pickle
from dataclasses import asdict, dataclass, field
from datetime import date
from threading import Thread
from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

import jsonschema
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx import InvalidAnswerError, InvalidRequestError
from jupyter_ctx.conversation.schema import Schema, strict_form

pytestmark = pytest.mark.core


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Part(pydantic.BaseModel):
    count: int = pydantic.Field(ge=1, description="how many")


class Car(pydantic.BaseModel):
    """What is for sale."""

    maker: str = pydantic.Field(min_length=2, alias="Maker")
    color: Color
    kind: Literal["old", "new"]
    spare: Part = pydantic.Field(description="the spare wheel")
    parts: list[Part] = []
    owner: str | None = None


class Tree(pydantic.BaseModel):
    name: str
    children: list[Tree] = []


@dataclass
class Movie:
    title: str
    year: int
    rating: Annotated[float, pydantic.Field(ge=0, le=10)] = 5.0
    tags: list[str] = field(default_factory=list)
    sequel: Movie | None = None


class City(TypedDict):
    name: str
    people: NotRequired[int]


class Trip(TypedDict, total=False):
    cities: Required[list[City]]
    day: date
    fare: int | str


PLANET: dict[str, Any] = {
    "title": "A planet!",
    "type": "object",
    "properties": {
        "name": {"$ref": "#/$defs/name"},
        "moons": {"type": "integer", "minimum": 0},
        "rings": {"type": ["boolean", "null"]},
        "found": {"type": "string", "format": "date"},
    },
    "required": ["name", "moons"],
    "$defs": {"name": {"type": "string", "minLength": 1}},
}
CAR = '{"Maker": "VW", "color": "red", "kind": "old", "spare": {"count": 1}}'
VALUES = (
    (Car, CAR, Car(Maker="VW", color=Color.RED, kind="old", spare=Part(count=1))),
    (Movie, '{"title": "Up", "year": 2009}', Movie("Up", 2009)),
    (Movie, '{"title": "Up", "year": 2009, "tags": null, "rating": null}', Movie("Up", 2009)),
    (City, '{"name": "Rom", "people": null}', {"name": "Rom"}),
    (Trip, '{"cities": [{"name": "Rom", "people": null}], "fare": null}', {"cities": [{"name": "Rom"}]}),
    (Trip, '{"cities": [], "day": "2026-11-28"}', {"cities": [], "day": date(2026, 11, 28)}),
    (PLANET, '{"name": "Mars", "moons": 2, "rings": null, "found": null}', {"name": "Mars", "moons": 2}),
)


@pytest.mark.parametrize(("kind", "text", "value"), VALUES)
def test_an_answer_becomes_a_value_of_its_kind(kind: Any, text: str, value: Any) -> None:
    found = Schema.of(kind).parse(text)
    assert (found, type(found)) == (value, type(value))


def test_a_schema_is_named() -> None:
    schemas = [Schema.of(kind) for kind in (Car, Movie, City, PLANET)]
    assert [schema.name for schema in schemas] == ["Car", "Movie", "City", "A_planet"]
    for schema in schemas:
        jsonschema.Draft202012Validator.check_schema(schema.json)
        assert schema.json["type"] == "object"
        assert Schema.of(schema) is schema


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON object"),
        ('{"title": "Up", "year": 2009', "no valid JSON"),
        ('{"title": "Up", "year": 2009} or {"title": "Us", "year": 2019}', "more than one"),
        ('[{"title": "Up", "year": 2009}]', "no JSON object"),
        ('So: [{"title": "Up", "year": 2009}]', "brackets"),
        ('{"title": "Up", "year": NaN}', "not JSON compliant"),
        ('{"title": "Up", "year": "soon"}', "year: Input should be a valid integer"),
        ('{"title": "Up", "year": 2009, "rating": 11}', "rating"),
        ('{"a":' * 10_000, "nested too deeply"),
    ],
)
def test_what_is_ambiguous_or_does_not_match_is_an_error_in_words(text: str, said: str) -> None:
    with pytest.raises(InvalidAnswerError, match="not a valid Movie") as raised:
        Schema.of(Movie).parse(text)
    assert said in str(raised.value)
    assert raised.value.text == text
    assert raised.value.problems
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (str(copy), copy.text) == (str(raised.value), text)


def test_every_problem_of_an_answer_is_told_with_its_place() -> None:
    with pytest.raises(InvalidAnswerError) as raised:
        Schema.of(Car).parse('{"Maker": "V", "color": "green", "kind": "old", "spare": {"count": 0}}')
    assert [problem.partition(":")[0] for problem in raised.value.problems] == ["Maker", "color", "spare.count"]
    with pytest.raises(InvalidAnswerError) as raised:
        Schema.of(PLANET).parse('{"name": "", "moons": -1, "rings": 3, "found": "then"}')
    assert {problem.partition(":")[0] for problem in raised.value.problems} == {"name", "moons", "rings", "found"}


def test_what_a_class_of_the_user_raises_is_a_problem_of_the_answer() -> None:
    @dataclass
    class Even:
        number: int

        def __post_init__(self) -> None:
            raise KeyError(self.number)

    with pytest.raises(InvalidAnswerError, match="KeyError: 3"):
        Schema.of(Even).parse('{"number": 3}')


@dataclass
class Handle:
    file: Thread


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Movie("Up", 2009), "a pydantic model, a dataclass, a TypedDict or a JSON schema"),
        (int, "root of int is no object"),
        (Handle, "Handle has no JSON schema"),
        ({"type": "array", "items": {"type": "string"}}, "no object.*put it into a field"),
        ({"type": "objekt"}, "invalid: 'objekt'"),
        ({"type": "object", "properties": {"a": object}}, "invalid: .* not JSON serializable"),
        ({"type": "object", "properties": {"a": {"$ref": "https://example.org/a"}}}, "'https://example.org/a'"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_by_its_name(kind: Any, said: str) -> None:
    with pytest.raises(InvalidRequestError, match=said):
        Schema.of(kind)


def test_a_strict_schema_is_closed_and_requires_every_property() -> None:
    found = strict_form(Schema.of(Car).json)
    assert found is not None
    parts = found["properties"]
    for part in (found, parts["spare"], parts["parts"]["items"]):
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
    assert parts["Maker"]["description"] == "(minLength: 2)"
    assert parts["color"]["enum"] == ["red", "blue"]
    assert parts["spare"]["properties"]["count"]["description"] == "how many (minimum: 1)"


def without(keyword: str, schema: Any, beside: str = "") -> Any:
    """A schema without a keyword, or without it ``beside`` another one."""
    if isinstance(schema, list):
        return [without(keyword, part, beside) for part in schema]
    if not isinstance(schema, dict):
        return schema
    goes = beside in schema or not beside
    return {
        name: without(keyword, part, beside)
        for name, part in schema.items()
        if name != keyword or isinstance(part, dict) or not goes
    }


@pytest.mark.newest  # the schemas that we make are compared with what the newest SDK makes
def test_the_sdk_of_anthropic_finds_nothing_to_change_but_types_beside_listed_values() -> None:
    from anthropic.lib._parse._transform import transform_schema

    for kind in (Car, City):
        ours = strict_form(Schema.of(kind).json)
        assert ours is not None
        theirs = transform_schema(ours)
        assert without("type", ours, beside="enum") == without("type", theirs, beside="enum")


def test_a_property_that_may_be_missing_may_be_null_in_a_strict_schema() -> None:
    found = strict_form(Schema.of(City).json)
    assert found is not None
    assert found["required"] == ["name", "people"]
    assert without("title", found["properties"]["people"]) == {"anyOf": [{"type": "integer"}, {"type": "null"}]}


def test_a_schema_that_holds_itself_has_no_strict_form_and_is_read_all_the_same() -> None:
    assert strict_form(Schema.of(Tree).json) is None
    assert strict_form(Schema.of(Movie).json) is None
    assert Schema.of(Tree).parse('{"name": "a", "children": [{"name": "b"}]}').children[0].name == "b"


@pytest.mark.parametrize(
    "part",
    [
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "array"},
        True,
        {"allOf": [{"type": "string"}, {"minLength": 1}]},
        {"patternProperties": {"^a": {"type": "string"}}},
    ],
)
def test_what_strict_modes_cannot_say_is_not_sent_to_them_and_still_validated(part: Any) -> None:
    schema = Schema.of({"type": "object", "properties": {"part": part, "n": {"type": "integer"}}, "required": ["n"]})
    assert strict_form(schema.json) is None
    assert schema.parse('{"n": 1}') == {"n": 1}
    with pytest.raises(InvalidAnswerError, match="n: "):
        schema.parse('{"n": "1"}')


TEXT = st.text(max_size=8)
MOVIES = st.builds(
    Movie, TEXT, st.integers(-(2**53), 2**53), st.floats(0, 10), st.lists(TEXT, max_size=3), st.none()
)  # fmt: skip


@given(MOVIES, st.sampled_from(["{}", "```json\n{}\n```", "Here: {}", "{}\nDone."]), st.sampled_from([None, 2]))
def test_every_value_is_read_back_and_matches_its_schema(movie: Movie, around: str, indent: int | None) -> None:
    schema = Schema.of(Movie)
    said = json.dumps(asdict(movie), indent=indent)
    assert schema.parse(around.replace("{}", said)) == movie
    jsonschema.validate(asdict(movie), schema.json)


@given(st.text(st.sampled_from('{}[]":, \n`ae1'), max_size=30))
def test_no_text_raises_anything_else(text: str) -> None:
    with pytest.raises(InvalidAnswerError):
        Schema.of(Movie).parse(text)
