"""Conversations by name, the memory file, files in and out, and what comes through a restart."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cells import Cells, Open

from jupyter_ctx import Chat, ChatInterrupted, InvalidRequestError, get_chat
from jupyter_ctx.library import Library
from jupyter_ctx.runtime.frontend import Origin, origin
from jupyter_ctx.testing import Answer, ScriptedProvider

pytestmark = pytest.mark.core


@pytest.fixture
def page(opened: Open) -> Cells:
    """A notebook that nobody has talked in."""
    return opened()


def say(*prompts: str) -> None:
    """Turns without a model."""
    for prompt in prompts:
        get_chat().add_messages([{"role": "user", "content": prompt}, {"role": "assistant", "content": f"{prompt}!"}])


def said() -> list[str]:
    return [turn.prompt for turn in get_chat().turns]


# names


def test_a_cell_may_talk_in_another_conversation(page: Cells, opened: Open, local_model: str) -> None:
    page.run(f"%chat use {local_model} --max-tokens 8")
    first = page.run("%%chat -i side\nSay hello.")
    assert first.startswith("[ctx] In 'side', a new conversation.\n")
    page.run("%%chat\nSay one.")
    assert "[ctx] In" not in page.run("%%chat -i side\nSay hi.")
    assert said() == ["Say one."]
    assert "2 of 2 turns" in page.run("%chat status -i side")
    page = opened()
    assert page.run("%chat").startswith("Going on with 1 turn of 'main', last used just now. ")
    assert page.run("%chat -i side").startswith("In 'side', which has 2 turns.\n")


def test_conversations_are_listed_switched_forked_and_renamed(page: Cells) -> None:
    say("Say one.")
    assert page.run("%chat new travel plans") == "Started conversation 'travel plans'.\n"
    say("Say two.")
    assert page.run("%chat fork") == "Talking in 'travel plans-2': 1 turn.\n"
    say("Say three.")
    assert page.run("%chat switch main") == "Talking in 'main': 1 turn.\n"
    assert page.run("%chat rename first") == "Talking in 'first': 1 turn.\n"
    assert page.run("%chat switch travel plans") == "Talking in 'travel plans': 1 turn.\n"
    assert said() == ["Say two."]
    names, *rows, _ = page.run("%chat list").strip().splitlines()
    assert names.split() == ["conversation", "turns", "last", "used", "state"]
    assert [re.split(" {2,}", row) for row in rows] == [
        ["travel plans", "1 turn", "just now", "current"],
        ["first", "1 turn", "just now"],
        ["travel plans-2", "2 turns", "just now"],
    ]


def test_deleting_the_conversation_one_talks_in_goes_back_to_the_one_before(
    page: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.run("%chat use gpt-4o")
    say("Say one.")
    page.run("%chat new plans")
    typed = iter(["main", "plans", "main"])
    monkeypatch.setattr("builtins.input", lambda _: next(typed))
    assert str(page.fail("%chat delete plans")).startswith("Not confirmed: nothing was deleted.")
    assert page.run("%chat delete plans") == (
        "Deleted 'plans' with 0 turns. That cannot be undone.\nTalking in 'main': 1 turn.\n"
    )
    assert said() == ["Say one."]
    assert page.run("%chat delete main") == (
        "Deleted 'main' with 1 turn. That cannot be undone.\nStarted conversation 'main'.\n"
    )
    assert get_chat().config.model == "gpt-4o"
    assert page.run("%chat undo") == "Nothing to undo.\n"


def test_a_row_is_shown_without_its_state(tmp_path: Path) -> None:
    library = Library(Origin("/n/x.ipynb"), store=tmp_path / "a.sqlite")
    library.current.configure(system="A secret system prompt.")
    (row,) = library.rows()
    assert row.state
    assert repr([row]) == f"[ConversationRow('main', 0 turns, notebook='/n/x.ipynb', id={row.id!r})]"


@pytest.mark.parametrize(
    ("session", "names", "notebook"),
    [
        ("/home/a/x.ipynb", {}, "/home/a/x.ipynb"),
        ("/home/a/x-jvsc-0123abcd-4567-89ab.ipynb", {}, "/home/a/x.ipynb"),
        ("", {"__vsc_ipynb_file__": "/home/a/y.ipynb"}, "/home/a/y.ipynb"),
        ("", {"__session__": "/home/a/z.ipynb"}, "/home/a/z.ipynb"),
        ("https://colab.research.google.com/notebook#fileId=1aB-c_9&x=1", {}, "fileId=1aB-c_9"),
        ("", {"__vsc_ipynb_file__": r"c:\users\ann\x.ipynb"}, r"c:\users\ann\x.ipynb"),
        ("", {"__vsc_ipynb_file__": "Untitled-1.ipynb"}, None),  # several notebooks may be called that
        ("/home/a/Console 1", {}, None),
        ("x.ipynb", {}, None),
    ],
)
def test_a_notebook_is_known_by_what_its_front_end_calls_it(
    shell: Any, session: str, names: dict[str, str], notebook: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", session)
    shell.user_ns.update(names)
    assert origin(shell) == Origin(notebook, None)


# what comes through


def test_what_was_broken_off_or_not_kept_is_asked_anew(address: str) -> None:
    provider = ScriptedProvider([Answer("Half", error=KeyboardInterrupt()), "Whole."])  # type: ignore[arg-type]
    for more in ({"record": True}, {"record": False}, {"record": True}):
        chat = Chat(provider=provider, store=address, name="c")
        with suppress(ChatInterrupted):
            assert not chat.send("Say one.", cell="a", run=str(len(provider.requests)), stored="cell", **more).stored
        chat.close()
    assert len(provider.requests) == 3


# the memory file


def test_the_memory_file_beside_the_notebook_joins_the_system_prompt(page: Cells, tmp_path: Path) -> None:
    assert "create preferences.md beside the notebook" in page.run("%chat memory")
    page.run("%%chat system\nBe brief.")
    file = tmp_path / "preferences.md"
    file.write_text("I like birds.")
    assert page.run("%chat memory") == f"{file}:\nI like birds.\n"
    assert get_chat().preview().messages[0].text == "Be brief.\n\nI like birds."
    assert re.search(r"Be brief\. I like birds\. +~\d+  system", page.run("%chat preview"))
    file.write_text("I like boats.")
    assert "I like boats." in page.run("%chat preview")
    assert page.run("%chat memory off").startswith("No memory file is read (")
    assert page.run("%chat memory").startswith("No memory file is read")
    assert page.run("%chat undo").startswith("Undid the memory file (")
    assert "I like boats." in page.run("%chat preview")
    (tmp_path / "other.md").write_text("I like bees, and wasps too.")
    assert page.run("%chat memory other.md").startswith(f"{tmp_path / 'other.md'} joins the system prompt (")
    assert "I like bees" in page.run("%chat preview")


def test_a_memory_file_that_came_with_a_notebook_is_spoken_of_above_the_answer(
    opened: Open, tmp_path: Path, local_model: str
) -> None:
    def ask(page: Cells, line: str = "") -> str | None:
        said = page.run(f"%%chat {line}\nSay one.")
        return next((line for line in said.splitlines() if "every system prompt" in line), None)

    file, use = tmp_path / "preferences.md", f"%chat use {local_model} --max-tokens 4"
    file.write_text("I like birds.")
    page = opened()
    page.run(use)
    assert ask(page, "preview") is None, "nothing is sent, and the preview shows the text"
    assert "%chat memory off leaves it out" in str(ask(page))
    assert ask(page) is None
    page = opened()
    assert ask(page) is None, "a restart"
    file.write_text("I like boats.")
    assert ask(page) is not None, "another text"
    assert ask(page) is None


def test_nothing_is_sent_where_the_memory_file_cannot_be_read(page: Cells, tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_text("I like dogs.")
    page.run("%chat memory notes.md")
    file.write_bytes(b"\xff\xfe\x80")
    assert "notes.md" in str(page.outcome("%chat memory")[0])
    with pytest.raises(InvalidRequestError, match=r"notes\.md"):
        get_chat().send("Hello?")
    page.run("%chat")  # which says it instead of figures
    file.write_text("I like birds.")
    assert "I like birds." in page.run("%chat preview")


# files in and out, and other notebooks


def test_no_redact_writes_all_but_keys_in_use_into_a_file(page: Cells) -> None:
    page.run("%chat use gpt-4o")
    get_chat().session.models.set_key("openai", "own-key-that-is-in-use")
    say("password = Kite77zebra, and own-key-that-is-in-use")
    assert "--no-redact blanks keys in use alone" in page.run("%chat export a.md")
    page.run("%chat export --no-redact b.md")
    assert "Kite77zebra" not in Path("a.md").read_text()
    assert "Kite77zebra, and ***" in Path("b.md").read_text()


def test_the_notebook_that_runs_is_never_replaced_by_an_export(opened: Open, tmp_path: Path) -> None:
    page = opened("A b.ipynb")
    say("Say one.")
    page.run("%chat export other.ipynb")
    whole = (tmp_path / "other.ipynb").rename(tmp_path / "A b.ipynb").read_bytes()
    (tmp_path / "link.ipynb").symlink_to("A b.ipynb")
    for name in ("A b.ipynb", tmp_path / "A b.ipynb", "link.ipynb"):
        assert "running notebook" in str(page.fail(f"%chat export '{name}'"))
    assert (tmp_path / "A b.ipynb").read_bytes() == whole
    (tmp_path / "preferences.md").write_text("Be kind.")
    assert "preferences.md" in str(page.fail("%chat export preferences.md"))
    assert (tmp_path / "preferences.md").read_text() == "Be kind."


def test_another_notebooks_conversation_can_be_brought_in(opened: Open, tmp_path: Path) -> None:
    opened("deep/old.ipynb")
    say("The code is 4711.", "The colour is red.")
    get_chat().pin(1)
    page = opened("deep/old.ipynb")
    page.run("%chat new plans")
    say("Leave on Monday.")
    page = opened("new.ipynb")
    assert page.run("%chat resume old.ipynb main").startswith("Added 2 turns (")
    assert page.run("%chat resume deep/old.ipynb").startswith("Added 1 turn (")
    assert said() == ["The code is 4711.", "The colour is red.", "Leave on Monday."]
    assert [row.states[0] for row in get_chat().history()] == ["pinned", "sent", "sent"]
    opened("other/old.ipynb")
    say("Something else.")
    page = opened("new.ipynb")
    assert "path" in str(page.fail("%chat resume old.ipynb"))
    assert page.run(f"%chat resume {tmp_path / 'other' / 'old.ipynb'}").startswith("Added 1 turn (")


def test_a_notebook_is_not_brought_into_itself(page: Cells) -> None:
    say("Say one.")
    assert isinstance(page.fail("%chat resume x.ipynb"), InvalidRequestError)
    page.run("%chat new plans")
    assert page.run("%chat resume x.ipynb").startswith("Added 1 turn (")
