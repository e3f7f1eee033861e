"""What is said of bad input: each message names the value and what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cells import Cells
from dialects import DIALECTS
from IPython.core.error import UsageError
from server import send, serve

from jupyter_ctx import AuthenticationError, Chat, InvalidRequestError, Library, resolve_window

SAID = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}]


def talked(**settings: Any) -> Chat:
    chat = Chat("openai/gpt-4o", **settings)
    chat.add_messages(SAID * 2)
    return chat


METHODS: list[tuple[Callable[[Chat], Any], str]] = [
    (lambda c: c.summarize(method="foo"), "'foo'.*'extractive', 'model'"),  # type: ignore[arg-type]
    (lambda c: c.summarize(5), "instructions is 5"),  # type: ignore[arg-type]
    (lambda c: c.trim("a"), "'a'.*0 or more"),  # type: ignore[arg-type]
    (lambda c: c.trim(-1), "-1.*0 or more"),
    (lambda c: c.trim(1.5), "1.5"),  # type: ignore[arg-type]
    (lambda c: c.trim(True), "True"),
    (lambda c: c.pin("x"), "no turn 'x'.*1 to 2"),  # type: ignore[arg-type]
    (lambda c: c.pin(True), "True"),
    (lambda c: c.pin(), "Which turn"),
    (lambda c: c.unpin(None), "None"),  # type: ignore[arg-type]
    (lambda c: c.exclude(0), "no turn 0"),
    (lambda c: c.include(3), "no turn 3: there are 1 to 2"),
    (lambda c: c.pick(1, "2"), "no answer '2'"),  # type: ignore[arg-type]
    (lambda c: c.pick("1", 1), "no turn '1'"),  # type: ignore[arg-type]
    (lambda c: c.code("1"), "no turn '1'"),  # type: ignore[arg-type]
    (lambda c: c.turn(2.0), "no turn 2.0"),  # type: ignore[arg-type]
    (lambda c: c.versions(9), "no turn 9"),
    (lambda c: c.set_system(5), "5: it must be text"),  # type: ignore[arg-type]
    (lambda c: c.configure(system=5), "system is 5"),
    (lambda c: c.configure(windwo=5), "did you mean window"),
    (lambda c: c.set_memory("nobody.md"), "nobody.md"),
    (lambda c: c.set_memory("."), "is a folder: name a text file"),
    (lambda c: c.configure(system="@nofile.txt"), r"@nofile\.txt names a file, and nofile\.txt cannot be read"),
    (lambda c: c.set_system("@nofile.txt"), r"nofile\.txt cannot be read"),
    (lambda c: c.configure(summary_model="nowhere/x"), "No provider 'nowhere'"),
    (lambda c: c.configure(n_threads=99_999), "n_threads is 99999: it must be a whole number from 1 to 256, or none"),
    (lambda c: c.add_messages("hello"), "not a message"),  # type: ignore[arg-type]
    (lambda c: c.add_messages(5), "5.*role and its text"),  # type: ignore[arg-type]
    (lambda c: c.export(5), "5 is not the path"),  # type: ignore[arg-type]
    (lambda c: c.export("talk.txt"), "'.txt'.*md, .json, .ipynb"),
    (lambda c: c.export("talk"), "no suffix.*md, .json, .ipynb"),
    (lambda c: c.configure(parameters="top_p"), "'top_p' is not a parameter: write NAME=VALUE"),
    (lambda c: c.export("nowhere/talk.md"), "folder .*nowhere does not exist: create it"),
    (lambda c: c.load(5), "5 is not the path"),  # type: ignore[arg-type]
    (lambda c: c.load("a\0b.md"), "cannot be read"),
    (lambda c: c.load("nobody.md"), "nobody.md"),
    (lambda c: c.set_key("opnai", "sk-x"), r"'opnai'\. Did you mean openai\?"),
    (lambda c: c.set_key("local", "sk-x"), "needs no key"),
    (lambda c: c.set_key("openai", " "), "key is empty"),
    (lambda c: c.available("opnai"), "openai"),
    (lambda c: c.send(5), "not int"),  # type: ignore[arg-type]
    (lambda c: c.send(" "), "empty"),
    (lambda c: c.send("x", stored="yes"), "stored is 'yes'"),  # type: ignore[arg-type]
    (lambda c: c.send("x", on_piece=5), "on_piece is 5"),  # type: ignore[arg-type]
    (lambda c: c.send("x", attachments=5), "attachments is 5"),  # type: ignore[arg-type]
    (lambda c: c.send("x", attachments="gone.txt"), "gone.txt"),
    (lambda c: c.send("x", widnow=5), "window"),
    (lambda c: c.preview(5), "not int"),  # type: ignore[arg-type]
    (lambda c: Chat(5), "model is 5"),  # type: ignore[arg-type]
    (lambda c: Chat("gpt5").info(), "openai/gpt-5"),
    (lambda c: Chat("openai/gpt-5", api_key=5), "key is empty or not text"),  # type: ignore[arg-type]
    (lambda c: Chat(name="-x"), "'-x' cannot be a name"),
    (lambda c: Library(store="memory").new("-x"), "'-x' cannot be a name"),
    (lambda c: Library(store="memory").switch("nobody"), "'nobody'"),
    (lambda c: resolve_window(5), "model is 5"),  # type: ignore[arg-type]
    (lambda c: resolve_window("x", window="8x"), "window is '8x'"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "says"), METHODS)
def test_a_bad_argument_is_named_and_nothing_changes(
    call: Callable[[Chat], Any], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chat = talked()
    before = chat.conversation.revision
    with pytest.raises(InvalidRequestError, match=says):
        call(chat)
    assert chat.conversation.revision == before


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"plain\0text"])
def test_a_binary_file_replaces_no_memory_file(content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.md").write_text("Answer in French.")
    Path("bin.dat").write_bytes(content)
    chat = talked()
    chat.set_memory("notes.md")
    with pytest.raises(InvalidRequestError, match=r"bin\.dat is not UTF-8 text: name a text file"):
        chat.set_memory("bin.dat")
    assert chat.memory[1] == "Answer in French."


def test_what_is_said_of_turns_has_the_right_number_and_names_no_pinned_one() -> None:
    chat = talked()
    assert str(chat.exclude(1, 2)).startswith("Excluded turns 1, 2")
    assert str(chat.exclude(1, 2)).startswith("Nothing to do: turns 1, 2 are excluded already")
    assert str(chat.include(1)).startswith("Included turn 1")
    assert str(chat.exclude(1, 1, 1)).startswith("Excluded turn 1")
    chat.include(1)
    assert str(chat.unpin(1)).startswith("Nothing to do: turn 1 is unpinned already")
    chat.include(2)
    chat.pin(1)
    assert str(chat.trim(0)).startswith("Left out turn 2 (")


def test_trimming_to_no_turn_leaves_out_all_and_says_so() -> None:
    chat = talked()
    assert str(chat.trim(0)).startswith("Left out turns 1 and 2 (")
    assert chat.info().in_view == 0
    assert chat.undo().changed


LINES = [
    ("%chat foo", "Unknown command: %chat foo. %chat help lists"),
    ("%chat sumarise", "Did you mean %chat summarise?"),
    ("%chat Why is the sky blue", "put %%chat alone on a cell's first line and the prompt below it"),
    ("%%chat Why is\nthe sky blue", "Unknown command: %%chat Why"),
    ("%%chat some words\nhi", "Unknown command: %%chat some. A prompt goes below the line: put %%chat alone"),
    (
        "%%chat -a fig misc\nhi",
        "-a took only 'fig': write -a fig -a misc for several; a name with spaces goes in",
    ),
    ("%%chat -s Be brief\nhi", "-s took only 'Be': put several words in quotes, -s \"Be brief\"."),
    ('%%chat -s "Be brief\nhi', 'put several words in quotes, -s "Be brief".'),
    ("%%chat --system Be short and clear --plain\nhi", '--system "Be short and clear".'),
    ("%%chat -s Answer clear\nhi", '-s "Answer clear".'),
    ("%%chat -a my notes.txt\nhi", '-a "my notes.txt".'),
    ("%chat -m openai/gpt-5.2", "put %%chat -m openai/gpt-5.2 on a cell's first line"),
    ("%chat -m openai/gpt-5.2", "%chat use openai/gpt-5.2 keeps the model"),
    ("%chat --new", "%chat --new has no prompt"),
    ("%%chat --versions\nhi", "%chat history N --versions"),
    ("%%chat --summary\nhi", "%chat resume NOTEBOOK --summary"),
    ("%chat trim --window 5", "%chat trim takes no --window. It takes no options of its own"),
    ("%chat use gpt-4o --append", "takes no --append. It takes --model, --window"),
    ("%chat status now please", "'now please' was not understood"),
    ("%chat trim x", "%chat trim takes how many of the newest turns to keep, not 'x'."),
    ("%chat summarise x", "takes how many of the newest turns to keep word for word, not 'x'"),
    ("%%chat summarise Keep the SQL.\nplease", "what a summary should keep goes below %%chat summarise"),
    ("%%chat summarise --extractive\nKeep the SQL.", "--extractive asks no model"),
    ("%%chat --extractive\nhi", "%chat summarise --extractive"),
    ("%chat trim --extractive", "%chat trim takes no --extractive"),
    ("%chat alias foo none", "There is no short name 'foo': %chat alias lists them."),
    ("%chat pin x", "numbers of turns, not 'x'"),
    ("%chat pin", "needs the number of a turn"),
    ("%chat export", "takes one thing: a file: .md, .json or .ipynb."),
    ("%chat export a.md b.md", "not 2: a.md b.md"),
    ("%%chat trim\nhello", "write %chat trim on a line of its own"),
    ("%chat system Be brief", "%chat config system TEXT"),
    ("%%chat --bogus\nhi", "Unknown option: --bogus. %%chat? shows every option."),
    ("%chat trim --foo", "Unknown option: --foo. %chat help trim shows its options."),
    ("%chat help nonsense", "%chat help knows no command or setting 'nonsense'. %chat help lists"),
    ("%chat help tirm", "Did you mean %chat help trim?"),
    ("%chat help compact_tat", "Did you mean %chat help compact_at?"),
    ("%%chat --windw 5\nhi", "Did you mean --window?"),
    ("%%chat -t\nhi", "-t/--temperature: expected one argument. %%chat?"),
    ("%%chat -o 1x\nhi", "'1x' cannot be the name of a variable"),
]


@pytest.mark.parametrize(
    "line", ["%chat what is x?", "%chat Why is the sky blue?", "y = 1\n%chat why?", "for i in [1]:\n    %chat tell me?"]
)
def test_a_prompt_on_the_line_that_ends_in_a_question_mark_is_told_where_it_goes(cells: Cells, line: str) -> None:
    cells.shell.user_ns["x"] = 1
    prompt = line.rpartition("%chat ")[2]
    near = f"first line and the prompt below it: {prompt}" if " " in prompt else "and the prompt below it."
    assert near in str(cells.fail(line))


def test_a_command_that_ends_in_a_question_mark_shows_its_help_and_does_nothing(cells: Cells) -> None:
    for line in ("%chat undo?", "%chat new plans?", "%chat help undo?", "%ctx config compact_at?", "%chat ?"):
        said = cells.run(line)
        assert ("compact_at = 1.0" if "config" in line else "%chat ") in said, line
    assert "plans" not in cells.run("%chat list")
    inside = "t = '''\n%chat what is x?\n'''\nprint(t)"
    assert cells.run(inside).strip() == "%chat what is x?", "a text is left alone"
    assert "Talk with a language model" in cells.shell.object_inspect("%chat")["docstring"]


def test_a_line_that_cannot_be_followed_says_what_to_type_instead(cells: Cells) -> None:
    for line, says in LINES:
        error = cells.fail(line)
        assert type(error) is UsageError, line
        assert says in str(error), f"{line}: {error}"
        assert "\n" not in str(error)


def test_a_key_may_be_given_for_whoever_takes_one(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("jupyter_ctx.magics.chat_magic.getpass", lambda text: asked.append(text) or "sk-typed-secret")
    assert "openai is kept" in cells.run("%chat key openai")
    assert "kept" in cells.run("%chat key anthropic/claude-sonnet-5")
    assert "http://box:8000/v1 is kept" in cells.run("%chat key http://box:8000/v1/")
    assert len(asked) == 3
    for line, says in (
        ("%chat key", "name a provider, such as openai"),  # the model in use is local
        ("%chat key opnai", "Did you mean openai?"),
        ("%chat key sk-abc", "http://HOST:PORT/v1"),
    ):
        error = cells.fail(line)
        assert isinstance(error, InvalidRequestError)
        assert says in str(error)
    assert len(asked) == 3  # nobody types a key for nothing


def test_a_key_that_an_address_refuses_names_the_address_and_how_to_give_another(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_ctx.magics.chat_magic.getpass", lambda _: "sk-right")

    def answer(handler: Any, request: dict[str, Any]) -> None:
        if handler.headers["Authorization"] == "Bearer sk-right":
            send(handler, 200, DIALECTS["completions"].answer("Hi"), "text/event-stream")
        else:
            send(handler, 401, '{"error": {"message": "Incorrect API key"}}')

    with serve(answer) as (url, _):
        error = cells.fail(f"%%chat -m some-model --base-url {url}\nHello.")
        assert isinstance(error, AuthenticationError)
        assert f"%chat key {url} asks for it" in str(error)
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


def test_a_provider_without_a_model_is_told_so(cells: Cells) -> None:
    for model in ("openai/", "groq"):
        assert f"No model in '{model}': write provider/model" in str(cells.fail(f"%chat use {model}"))


def test_help_for_a_setting_names_the_command_that_explains_it(cells: Cells) -> None:
    assert "%chat config compact_at shows its value" in cells.run("%chat help compact_at")


def test_a_mistyped_model_is_told_the_nearest(cells: Cells) -> None:
    for line in ("%chat use gpt5", "%%chat -m gpt5\nhi", "%chat alias quick gpt5"):
        assert "openai/gpt-5" in str(cells.fail(line)), line
    assert "anthropic/claude-sonnet-5" in str(cells.fail("%chat use claud-sonnet-5"))


@pytest.mark.parametrize(("name", "content"), [("a.ipynb", "{}"), ("a.json", "nonsense"), ("a.md", "# Notes")])
def test_a_file_that_cannot_be_imported_is_named(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InvalidRequestError, match=name):
        talked().load(path)


def test_an_export_replaces_nothing_but_its_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match="nothing to export"):
        Chat("openai/gpt-4o").export(tmp_path / "empty.md")
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
    with pytest.raises(InvalidRequestError, match=r"folder\.md cannot be written"):
        talked().export(folder)
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".part")]


@pytest.mark.parametrize("suffix", [".md", ".json", ".ipynb"])
@pytest.mark.parametrize("there", [b"", b"# Mine", b"[]", b'{"cells": [], "metadata": {}}', b"\xff", b"[" * 10**5])
def test_an_export_replaces_an_earlier_one_and_no_file_of_anybody_else(
    tmp_path: Path, suffix: str, there: bytes
) -> None:
    path = tmp_path / f"talk{suffix}"
    path.write_bytes(there)
    with pytest.raises(InvalidRequestError, match=rf"talk\{suffix} exists and is not an earlier export: delete it"):
        talked().export(path)
    assert path.read_bytes() == there
    path.unlink()
    talked().export(path)
    longer = talked()
    longer.add_messages([{"role": "user", "content": "Say it again."}])
    longer.export(path)
    assert "Say it again." in path.read_text("utf-8")


def test_no_turn_is_pinned_and_excluded_and_what_gives_way_is_said() -> None:
    chat = talked()
    assert "No longer" not in str(chat.pin(1))
    assert "No longer pinned: 1; %chat pin 1 brings it back" in str(chat.exclude(1, 2))
    assert [row.states[0] for row in chat.history()] == ["excluded", "excluded"]
    assert "No longer excluded: 1." in str(chat.pin(1))
    assert [row.states[0] for row in chat.history()] == ["pinned", "excluded"]
    chat.add_messages([{"role": "user", "content": "Nobody answered."}])
    assert "a turn without an answer is not sent: 3" in str(chat.pin(3))
