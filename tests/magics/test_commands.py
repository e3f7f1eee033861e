"""What %chat does beside talking: code, continue, short names, personas, lists of models."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from cells import Cells
from dialects import DIALECTS
from server import send, serve

from jupyter_ctx import AuthenticationError, Chat, get_chat


def answering(text: str, **counts: Any) -> Any:
    body = DIALECTS["completions"].answer(text, **counts)

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        send(handler, 200, body, "text/event-stream")

    return answer


def test_an_answer_that_was_too_long_can_be_continued(cells: Cells) -> None:
    with serve(answering("Some", why="max_tokens", said=4)) as (url, seen):
        cells.run(f"%chat use m --base-url {url}")
        cells.fail("%chat continue")
        assert "takes no --no-history" in str(cells.fail("%chat continue --no-history"))
        shown = cells.run("%%chat --max-tokens 4\nTell me.")
        assert "[ctx] Stopped at 4 tokens: %chat continue asks for the rest, --max-tokens N allows more." in shown
        cells.run("%chat continue --max-tokens 9")
        assert len(seen) == 2
    assert [message["role"] for message in seen[1]["messages"]] == ["user", "assistant", "user"]
    assert seen[1]["messages"][-1]["content"] == "Continue exactly where you stopped."
    assert seen[1]["max_tokens"] == 9


def test_a_short_name_stands_for_a_model_in_every_notebook(cells: Cells) -> None:
    assert "No aliases" in cells.run("%chat alias")
    cells.run("%chat alias quick openai/gpt-6-luna")
    cells.run("%chat alias quicker quick")
    cells.run("%chat use quicker")
    assert Chat("quick").config.model == "openai/gpt-6-luna"
    assert "quicker" in cells.run("%chat alias")
    cells.run("%chat alias quick none")
    assert "quick " not in cells.run("%chat alias").replace("quicker", "")


def test_a_system_prompt_may_stand_in_a_file(tmp_path: Path, cells: Cells) -> None:
    tutor = tmp_path / "the tutor.md"
    tutor.write_text("You teach.\nBe kind.\n")
    with serve(answering("Hi")) as (url, seen):
        cells.run(f"%chat use m --base-url {url}")
        cells.run(f'%%chat -s "@{tutor}"\nHello.')
        chat = Chat("m", base_url=url, system=f"@{tutor}")
        chat.send("x")
        missing = cells.fail("%%chat -s @nobody.md\nHello.")
    assert [request["messages"][0]["content"] for request in seen] == ["You teach.\nBe kind."] * 2
    assert "nobody.md" in str(missing)


def test_the_models_of_a_provider_are_listed_with_their_windows(cells: Cells) -> None:
    listed = {"data": [{"id": "b", "context_length": 9_000}, {"id": "gpt-4o"}, {"id": "<b>"}]}
    with serve(answering("Hi"), listed) as (url, _):
        cells.run(f"%chat use m --base-url {url} --timeout 60")
        assert get_chat().config.timeout == 60
        shown = cells.run("%chat models")
    assert "9,000  from the provider" in shown
    assert "128,000  from models.json" in shown
    assert "local/smollm2   2,048  from the server" in cells.run("%chat models local")
    assert isinstance(cells.fail("%chat models groq"), AuthenticationError)
    assert "Did you mean openai?" in str(cells.fail("%chat models opena"))


def test_a_server_of_ones_own_is_asked_whether_it_is_there(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(answering("Hi")) as (url, _):
        assert "Context 0 of" in cells.run(f"%chat use m --base-url {url}")
    monkeypatch.setenv("OLLAMA_HOST", url)
    for line in (f"m --base-url {url}", "ollama/llama3"):
        said = cells.run(f"%chat use {line}")
        assert "No connection to http://127.0.0.1:" in said
        assert "Context" not in said, "a gauge of a server that is not there"
    assert get_chat().config.model == "ollama/llama3"


def test_a_damaged_file_of_short_names_is_named_and_full_names_still_work(
    cells: Cells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells.run("%chat alias quick openai/gpt-6-luna")
    (path,) = tmp_path.rglob("aliases.json")
    path.write_text("{")
    assert str(path) in str(cells.fail("%chat use quick"))
    assert Chat("openai/gpt-6-luna").config.model == "openai/gpt-6-luna"
