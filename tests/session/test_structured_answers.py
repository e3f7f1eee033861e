"""Structured answers in a conversation: parsed, asked for once more, recorded, found again in the store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pydantic
import pytest
from cells import Cells
from dialects import DIALECTS, answering

from jupyter_ctx import (
    Chat,
    ChatInterrupted,
    ContextOverflowError,
    InvalidAnswerError,
    InvalidRequestError,
    RateLimitError,
)
from jupyter_ctx.testing import Answer, ScriptedProvider


@dataclass
class Movie:
    title: str
    year: int


class Planet(pydantic.BaseModel):
    name: str
    moons: int = pydantic.Field(ge=0)


VALID, INVALID = '{"title": "Up", "year": 2009}', '{"title": "Up", "year": "two thousand"}'
UP = Movie("Up", 2009)


def asked(*answers: Any, **more: Any) -> tuple[Chat, ScriptedProvider]:
    provider = ScriptedProvider(answers, **more)
    return Chat(provider=provider), provider


def test_a_reply_holds_the_parsed_value_and_the_turn_its_text() -> None:
    chat, provider = asked(VALID)
    reply = chat.send("Which film?", schema=Movie)
    assert reply.parsed == UP
    assert chat.turns[0].reply == VALID
    assert provider.requests[0].schema is not None
    assert provider.requests[0].schema.json["required"] == ["title", "year"]
    assert chat.send("And?").parsed is None
    assert provider.requests[1].schema is None


def test_an_answer_that_does_not_match_is_asked_for_once_more_in_the_same_turn() -> None:
    chat, provider = asked(INVALID, VALID)
    shown: list[str] = []
    reply = chat.send("Which film?", schema=Movie, on_piece=shown.append)
    assert reply.parsed == UP
    assert [turn.reply for turn in chat.turns] == [VALID]
    first, second = provider.requests
    assert [message.content for message in second.messages[:2]] == ["Which film?", INVALID]
    assert "year: Input should be a valid integer" in second.messages[2].content
    assert second.schema == first.schema
    sizes = [provider.size(request) for request in provider.requests]
    assert reply.usage is not None
    assert reply.usage.input_tokens == sum(sizes)
    assert chat.turns[0].usage == reply.usage
    assert any("asked for once more" in notice for notice in reply.notices)
    assert "".join(shown) == f"{INVALID}{VALID}"


def test_an_answer_that_fails_twice_is_an_error_and_kept() -> None:
    chat, provider = asked(INVALID, f"{INVALID} ", VALID)
    with pytest.raises(InvalidAnswerError, match="Movie: year") as raised:
        chat.send("Which film?", schema=Movie)
    assert len(provider.requests) == 2
    assert [turn.reply for turn in chat.turns] == [f"{INVALID} "]
    error = raised.value
    assert error.text == error.reply.text == f"{INVALID} "
    assert error.reply.usage == chat.turns[0].usage
    assert isinstance(error, ValueError)
    assert chat.send("Again?", schema=Movie).parsed == UP


@pytest.mark.parametrize("reason", ["max_tokens", "context_window", "refusal"])
def test_an_answer_that_ended_early_is_not_asked_for_again(reason: Any) -> None:
    chat, provider = asked(Answer('{"title": "U', stop_reason=reason), VALID)
    with pytest.raises(InvalidAnswerError, match=reason):
        chat.send("Which film?", schema=Movie)
    assert len(provider.requests) == 1
    assert chat.turns[0].reply == '{"title": "U'


def test_an_answer_that_ended_early_and_is_whole_will_do() -> None:
    chat, _ = asked(Answer(VALID, stop_reason="max_tokens"))
    assert chat.send("Which film?", schema=Movie).parsed == UP


@pytest.mark.parametrize(
    "error",
    [
        RateLimitError("Too many requests."),
        ContextOverflowError("Too long."),
    ],
    ids=lambda error: type(error).__name__,
)
def test_the_first_answer_is_kept_where_the_second_does_not_come(error: Exception) -> None:
    chat, _ = asked(INVALID, Answer("", error=error))
    with pytest.raises(InvalidAnswerError):
        chat.send("Which film?", schema=Movie)
    assert [turn.reply for turn in chat.turns] == [INVALID]


def test_an_interrupt_of_the_second_try_keeps_what_there_is() -> None:
    for pieces, kept in (("", INVALID), ('{"title"', '{"title"')):
        chat, _ = asked(INVALID, Answer(pieces, error=KeyboardInterrupt()))  # type: ignore[arg-type]
        with pytest.raises(ChatInterrupted):
            chat.send("Which film?", schema=Movie)
        assert [turn.reply for turn in chat.turns] == [kept]


def test_an_empty_answer_is_asked_for_again_without_an_empty_message() -> None:
    chat, provider = asked("", VALID)
    assert chat.send("Which film?", schema=Movie).parsed == UP
    assert all(message.content for message in provider.requests[1].messages)
    assert "it is no JSON object" in provider.requests[1].messages[-1].content


def test_a_schema_that_cannot_be_used_is_refused_before_anything_is_sent() -> None:
    chat, provider = asked(VALID)
    for kind in (int, "Movie", UP, {"type": "array"}):
        with pytest.raises(InvalidRequestError):
            chat.send("Which film?", schema=kind)
    assert provider.requests == []
    assert chat.turns == ()


def test_the_size_of_a_schema_is_planned_with_and_teaches_nothing_of_the_tokens_of_texts() -> None:
    wide = {"type": "object", "properties": {f"field_{i}": {"type": "string"} for i in range(60)}}
    chat, provider = asked("{}", window=8_000, takes_schema=False)
    plain, structured = chat.preview("x" * 400), chat.preview("x" * 400, schema=wide)
    assert structured.input_tokens > plain.input_tokens + 500
    assert structured.request.schema is not None
    for i in range(3):
        chat.send(f"Tell me of number {i}, " * 20, schema=wide)
        assert not chat.info().exact
    provider.answers = ["Yes."]
    reply = chat.send("And?")
    assert reply.usage is not None
    assert not any("read only" in notice or "truncat" in notice for notice in reply.notices)
    assert chat.info().exact


def test_a_stored_answer_is_parsed_and_one_of_another_schema_is_not_taken(tmp_path: Path) -> None:
    provider = ScriptedProvider([VALID, '{"name": "Mars", "moons": 2}', INVALID, INVALID, VALID])

    def run(cell: str, number: int, schema: type) -> Any:
        chat = Chat(provider=provider, store=tmp_path / "chats.db", name="it")
        try:
            return chat.send("Which?", schema=schema, cell=cell, run=str(number), stored="cell")
        finally:
            chat.close()

    mars = Planet(name="Mars", moons=2)
    cases: list[tuple[type, Any, bool]] = [
        (Movie, UP, False),
        (Movie, UP, True),
        (Planet, mars, False),
        (Planet, mars, True),
    ]
    for number, (schema, parsed, stored) in enumerate(cases):
        reply = run("a", number, schema)
        assert (reply.parsed, reply.stored) == (parsed, stored)
    with pytest.raises(InvalidAnswerError):
        run("b", 5, Movie)
    reply = run("b", 6, Movie)
    assert (reply.parsed, reply.stored) == (UP, False), "a wrong answer is not taken again"


def test_a_cell_whose_answer_is_wrong_fails_with_what_is_wrong_and_shows_the_answer(cells: Cells) -> None:
    cells.shell.user_ns["Movie"] = Movie
    completions = DIALECTS["completions"]
    with answering(completions, completions.answer("No film.")) as (chat, seen):
        error = cells.fail(f"%%chat -m m --base-url {chat.config.base_url} --schema Movie\nWhich film?")
    assert isinstance(error, InvalidAnswerError)
    assert "JSON" in str(error)
    assert "No film." in cells.run("%chat history")
    assert len(seen) == 2
