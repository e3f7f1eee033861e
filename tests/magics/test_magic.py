"""%%chat and %chat in a plain IPython shell."""

from __future__ import annotations

import gc
import re
from argparse import Namespace
from collections.abc import Callable
from importlib import resources
from typing import Any
from weakref import ref

import pytest
from cells import Cells

import jupyter_ctx
from jupyter_ctx import (
    ChatInterrupted,
    InvalidRequestError,
    ModelNotFoundError,
    get_chat,
)
from jupyter_ctx.magics.registration import magics_of

pytestmark = pytest.mark.core

Ask = Callable[..., Any]


def test_the_answer_is_printed_as_text_with_a_line_of_figures(cells: Cells, local_model: str) -> None:
    cells.run(f"%chat use {local_model} --max-tokens 16")
    said = cells.run("%%chat\nSay hello.")
    assert get_chat().turns[0].reply in said
    assert re.search(r"\n\d+ % · \d+ in · \d+ out · [\d.]+ s\n$", said)
    assert "Context [" not in said
    assert "Context [" in cells.run("%chat")


def test_an_interrupt_between_the_answers_end_and_the_cells_loses_nothing(talk: Ask, cells: Cells) -> None:
    def stop_button() -> None:
        if not get_chat().session.running:
            raise KeyboardInterrupt

    talk("Say hello.")
    get_chat().session.listeners.append(stop_button)
    failed = cells.fail("%%chat\nAnd again?")
    assert isinstance(failed, ChatInterrupted)
    assert len(get_chat().turns) == 2


def test_the_reply_is_in_underscore_in_out_and_in_a_variable(talk: Ask, cells: Cells) -> None:
    reply = talk("Say hello.", "-o answer")
    assert cells.shell.user_ns["answer"] is reply
    assert cells.shell.user_ns["_"] is reply
    assert str(reply) == reply.text


def test_options_hold_for_their_cell_and_use_for_the_conversation(talk: Ask, cells: Cells, local_model: str) -> None:
    cells.run("rows = [1, 2, 3]")
    talk("Sum {{ rows }} and {{ len(rows) }}, {{nope}}, {'a': {}}.", '-s "It\'s a test" -t 0.7')
    talk("Sum {{ rows }}.", "--raw -s don't")
    assert [turn.prompt for turn in get_chat().turns] == [
        "Sum [1, 2, 3] and 3, {{nope}}, {'a': {}}.", "Sum {{ rows }}.",
    ]  # fmt: skip
    assert get_chat().system == ""
    assert get_chat().config.temperature is None
    assert "window 512" in cells.run(f"%chat use {local_model} --max-tokens 9")
    assert get_chat().config.max_tokens == 9
    assert isinstance(cells.fail("%chat use local/nope"), ModelNotFoundError)
    assert get_chat().config.model == local_model


def test_a_verb_may_head_a_cell_with_its_text(talk: Ask, cells: Cells) -> None:
    assert "System prompt set" in cells.run("%%chat system\nYou are brief.\n")
    assert cells.run("%chat system").strip() == "You are brief."
    table = cells.run("%%chat preview\nWhat is {this}?")
    assert "What is {this}?" in table
    assert "prompt" in table
    assert len(get_chat().turns) == 0


def test_verbs_act_and_say_before_and_after(talk: Ask, cells: Cells) -> None:
    for number in range(4):
        talk(f"Crate {number} weighs {100 + number} kilograms. {'It is made of wood. ' * 8}")
    for verb in ("summarise", "summarize", "clear", "exclude 1"):
        assert "→" in cells.run(f"%chat {verb}"), verb
        assert "Undid the" in cells.run("%chat undo")
    assert "→" in cells.run("%chat trim 1")
    assert "Pinned turns 1 and 2" in cells.run("%chat pin 1 2")
    for undone in ("pin", "trim"):
        assert f"Undid the {undone}" in cells.run("%chat undo")
    assert len(get_chat().turns) == 4
    assert "Nothing to redo" not in cells.run("%chat redo")


def test_config_shows_what_was_set_whatever_it_is(cells: Cells) -> None:
    for line, says in (
        ("system You answer in one line.", "system = You answer in one line. (set here)"),
        ("system none", "system = none"),
        ("prices $2.50, 10", "prices = 2.5,10 (set here)"),
        ("parameters top_p=0.9 seed=3", "parameters = top_p=0.9 seed=3"),
    ):
        assert says in cells.run(f"%chat config {line}"), line
    for wrong in ("compact_at 7", "nope 7"):
        assert isinstance(cells.fail(f"%chat config {wrong}"), InvalidRequestError)
    assert get_chat().system == ""
    assert get_chat().config.parameters == {"top_p": 0.9, "seed": 3}


def test_everything_imported_leaves_display_alone_and_every_name_is_there(cells: Cells) -> None:
    cells.run("from IPython.display import display\nbefore = display\nfrom jupyter_ctx import *")
    assert cells.shell.user_ns["display"] is cells.shell.user_ns["before"]
    assert "magic" not in cells.shell.user_ns
    assert all(name in cells.shell.user_ns for name in jupyter_ctx.__all__)
    assert (resources.files(jupyter_ctx) / "py.typed").is_file()


def test_a_shell_that_nobody_else_holds_is_freed_with_its_conversation(cells: Cells) -> None:
    # IPython keeps its own until the process ends
    shell = Namespace(config={}, user_ns={}, display_formatter=cells.shell.display_formatter)
    chat = magics_of(shell).magic.library.current
    assert magics_of(shell).magic.library.current is chat
    gone = ref(shell), ref(chat)
    del shell, chat
    gc.collect()
    assert [each() for each in gone] == [None, None]


def test_a_key_is_asked_for_and_shown_nowhere(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_ctx.magics.commands.getpass", lambda _: "sk-typed-secret")
    said = cells.run("%chat key openai") + cells.run("%chat config") + cells.run("%chat status")
    assert "sk-typed" not in said + repr(get_chat())
    assert isinstance(
        cells.fail("x = 'sk-typed-secret'\nget_ipython().run_cell_magic('chat', '', '{{ x }}')"), InvalidRequestError
    )


@pytest.mark.parametrize(
    "line",
    [
        *("openai sk-abc123", "sk-abc123", "sk-abc123 openai", "openia/sk-abc123", "openai --key sk-abc123"),
        *("openai --new=sk-abc123", "openai --base-url sk-abc123", "openai=sk-abc123", "'sk-abc123"),
    ],
)
def test_a_key_that_was_typed_in_a_cell_is_not_repeated(cells: Cells, line: str) -> None:
    error = str(cells.fail(f"%chat key {line}"))
    assert "abc123" not in error
    assert "asked for" in error or "asks for the key" in error or "Did you mean openai" in error


def test_a_preview_has_a_line_where_the_request_begins(talk: Ask, cells: Cells) -> None:
    for number in range(14):
        talk(f"Note {number}.")
        assert number or "begins here" not in cells.run("%chat preview"), "all is sent"
    cells.run("%chat trim 2")
    said = cells.run("%%chat preview\nAnd now?")
    above, line, below = re.split(r"^(── the request begins here ─+)$", said, maxsplit=1, flags=re.M)
    assert line
    assert "4 messages before these" in above
    assert "Note 11." in above
    assert "left out" in above
    assert "Note 12." in below
    assert below.index("Note 13.") < below.index("And now?")
    assert re.search(r"~\d+  prompt", below)
    assert re.search(r"Note 13\. +\d+  sent", below)
    page = get_chat().preview("And now?")._repr_mimebundle_()["text/html"]
    assert page.index("Note 11.") < page.rindex('<td colspan="5"') < page.index("Note 12.")


def test_loading_again_and_reloading_keep_the_conversation(talk: Ask, cells: Cells) -> None:
    talk("Say hello.")
    cells.run("%load_ext jupyter_ctx")
    cells.run("%unload_ext jupyter_ctx")
    assert "chat" not in cells.shell.magics_manager.magics["cell"]
    cells.run("%load_ext jupyter_ctx")
    talk("And again?")
    assert len(get_chat().turns) == 2


def test_anothers_chat_magic_is_left_alone_and_named(shell: Any) -> None:
    def chat(line: str, cell: str | None = None) -> str:
        return "theirs"

    chat.__module__ = "otherpackage.magics"
    shell.register_magic_function(chat, "line_cell", "chat")
    cells = Cells(shell)
    said = cells.run("%load_ext jupyter_ctx")
    assert said.strip() == "jupyter_ctx: %%chat belongs to otherpackage here; use %%ctx, which takes the same."
    assert shell.run_line_magic("chat", "") == "theirs"
    assert "%chat trim" in cells.run("%ctx help")
    cells.run("%unload_ext jupyter_ctx")
    assert shell.run_line_magic("chat", "") == "theirs"
