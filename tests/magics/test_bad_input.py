"""What is said of bad input: each message names the value and what to do instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cells import Cells
from dialects import DIALECTS
from server import send, serve

from jupyter_ctx import AuthenticationError, Chat, InvalidRequestError

SAID = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}]


def talked() -> Chat:
    chat = Chat("openai/gpt-4o")
    chat.add_messages(SAID * 2)
    return chat


def test_a_key_may_be_given_for_whoever_takes_one(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("jupyter_ctx.magics.commands.getpass", lambda text: asked.append(text) or "sk-typed-secret")
    assert "openai is kept" in cells.run("%chat key openai")
    assert "kept" in cells.run("%chat key anthropic/claude-sonnet-5")
    assert "http://box:8000/v1 is kept" in cells.run("%chat key http://box:8000/v1/")
    assert len(asked) == 3
    for line in ("%chat key", "%chat key opnai", "%chat key sk-abc"):  # the model in use is local
        assert isinstance(cells.fail(line), InvalidRequestError)
    assert len(asked) == 3  # nobody types a key for nothing


def test_a_key_that_an_address_refuses_names_the_address_and_how_to_give_another(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_ctx.magics.commands.getpass", lambda _: "sk-right")

    def answer(handler: Any, request: dict[str, Any]) -> None:
        if handler.headers["Authorization"] == "Bearer sk-right":
            send(handler, 200, DIALECTS["completions"].answer("Hi"), "text/event-stream")
        else:
            send(handler, 401, '{"error": {"message": "Incorrect API key"}}')

    with serve(answer) as (url, _):
        error = cells.fail(f"%%chat -m some-model --base-url {url}\nHello.")
        assert isinstance(error, AuthenticationError)
        assert f"%chat key {url} asks for one" in str(error)
        cells.run(f"%chat key {url}")
        assert "Hi" in cells.run(f"%%chat -m some-model --base-url {url}\nHello.")


def test_a_missing_key_is_said_at_once_and_found_when_it_is_set(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    said = cells.run("%chat use groq/some-model")
    assert "groq needs a key: set GROQ_API_KEY, or enter one with %chat key groq." in said
    assert isinstance(cells.fail("%%chat\nHello."), AuthenticationError)
    monkeypatch.setenv("GROQ_API_KEY", "sk-set-later")
    assert "needs a key" not in cells.run("%chat use groq/some-model --base-url http://127.0.0.1:1/v1")
    cells.run("%chat use openai/gpt-4o")
    assert "needs a key" not in cells.run("%chat use groq/some-model")
    assert "needs a key" not in str(cells.fail("%%chat --base-url http://127.0.0.1:1/v1\nHello."))


def test_an_export_replaces_nothing_but_its_file(tmp_path: Path) -> None:
    talked().export(tmp_path / "kept.md")
    (tmp_path / "link.md").symlink_to(tmp_path / "kept.md")
    (tmp_path / "kept.md").chmod(0o640)
    with (tmp_path / "kept.md").open("a") as file:
        file.write("old")
    assert talked().export(tmp_path / "link.md") == tmp_path / "link.md"
    assert (tmp_path / "link.md").is_symlink()
    assert "Hello." in (tmp_path / "kept.md").read_text()
    assert "old" not in (tmp_path / "kept.md").read_text()
    assert (tmp_path / "kept.md").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix) == ["kept.md", "link.md"]
    folder = tmp_path / "folder.md"
    folder.mkdir()
    with pytest.raises(InvalidRequestError, match=r"folder\.md"):
        talked().export(folder)
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".part")]


@pytest.mark.parametrize(
    ("suffix", "there"), [(".md", b"# Mine"), (".json", b"[" * 10**5), (".ipynb", b'{"cells": [], "metadata": {}}')]
)
def test_an_export_replaces_an_earlier_one_and_no_file_of_anybody_else(
    tmp_path: Path, suffix: str, there: bytes
) -> None:
    path = tmp_path / f"talk{suffix}"
    path.write_bytes(there)
    with pytest.raises(InvalidRequestError, match=rf"talk\{suffix}"):
        talked().export(path)
    assert path.read_bytes() == there
    path.unlink()
    talked().export(path)
    longer = talked()
    longer.add_messages([{"role": "user", "content": "Say it again."}])
    longer.export(path)
    assert "Say it again." in path.read_text("utf-8")
