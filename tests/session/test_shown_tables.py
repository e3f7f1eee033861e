"""History, usage, previews and replies as they show themselves in a terminal, in a list and on a page."""

from __future__ import annotations

import pytest
from IPython.lib.pretty import pretty

from jupyter_ctx import Chat, Reply
from jupyter_ctx.context.usage import Usage
from jupyter_ctx.testing import ScriptedProvider

LONG = "Why is the sky blue and the sea as well, and what of the colour of rain at night? " * 3


@pytest.fixture
def chat() -> Chat:
    made = Chat(provider=ScriptedProvider("Because."), window=4_000)
    made.send(LONG)
    made.send("天空为什么是蓝色的？")
    return made


@pytest.mark.parametrize("columns", [70, 100, 150])
def test_tables_fit_the_terminal(chat: Chat, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for table in (chat.history(), chat.usage(), chat.preview("And now?")):
        assert max(map(len, repr(table).splitlines())) <= columns
        assert pretty(table) == repr(table)


def test_what_is_as_usual_is_not_shown_but_in_the_dataframe(chat: Chat) -> None:
    head = repr(chat.history()).splitlines()[1].split()
    assert "versions" not in head
    assert "attached" not in head
    assert {"versions", "attached"} <= set(chat.history().to_dataframe().columns)


def test_a_preview_shows_all_that_adds_up_to_it_and_what_stays_out(chat: Chat) -> None:
    chat.exclude(1)
    view = chat.preview("And now?")
    caption, head, *rows = repr(view).splitlines()
    assert caption.startswith("The next request: ")
    assert head.split() == ["turn", "role", "text", "tokens", "state"]
    assert len(rows) == len(view.messages) + len(view.omitted) + bool(view.template) + 1
    assert len([row for row in rows if row.rstrip().endswith("excluded")]) == 2


def test_in_a_list_each_is_one_line(chat: Chat) -> None:
    shown = pretty([chat.history(), chat.usage(), Reply("Because " * 90, Usage(3, 4), model="m/x")])
    assert shown.count("\n") <= 4
    assert "History(2 rows)" in shown
    assert "Usages(2 rows)" in shown


def test_a_reply_alone_is_read_whole_with_its_figures() -> None:
    reply = Reply("One line.\nAnother\x1b[31m.", Usage(1_200, 34), model="m/x", seconds=2.04)
    assert pretty(reply) == "One line.\nAnother�[31m.\n\n[m/x · 1,200 in · 34 out · 2.0 s]"
    assert repr(reply).startswith("Reply('One line.")


def test_history_counts_the_turns_since_the_last_clear_and_those_before_it(chat: Chat) -> None:
    chat.clear()
    assert repr(chat.history()) == "No turns yet since the last clear, 2 before it"
