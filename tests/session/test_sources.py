"""What goes with a prompt is part of the turn: history, preview, gauge, exports, summaries and restarts know it."""

from __future__ import annotations

import os
from pathlib import Path

from images import PIXEL

from jupyter_ctx import Chat
from jupyter_ctx.attachments.attached import Attached
from jupyter_ctx.conversation.messages import Attachment, Turn, TurnRecord
from jupyter_ctx.testing import ScriptedProvider

PLOT = Attachment("plot.png", "image/png", PIXEL, 1_024)
FRAME = Attached("df", "df:\n```\na  b\n1  2\n```", what="40 of 12,000 rows, about 3,100 tokens")
FIGURE = Attached("fig", files=(PLOT,), what="640 × 480 pixels")
SAID = "df (40 of 12,000 rows, about 3,100 tokens), fig (640 × 480 pixels)"


def talk(store: str | None = None, provider: ScriptedProvider | None = None) -> Chat:
    provider = provider or ScriptedProvider("A line.", takes=frozenset({"image", "pdf"}))
    return Chat(provider=provider, store=store, name="c" if store else None)


def test_the_history_names_what_went_with_a_prompt(tmp_path: Path) -> None:
    chat, notes = talk(), tmp_path / "notes.txt"
    notes.write_text("The sea is blue.")
    chat.send("What is it?", attachments=[FRAME, FIGURE])
    chat.send("And this?", attachments=[notes])
    chat.send("Alone?")
    assert [row.attached for row in chat.history()] == [SAID, "notes.txt", ""]
    assert [turn.sources for turn in chat.turns] == [(FRAME.said, FIGURE.said), ("notes.txt",), ()]
    assert "notes.txt" in repr(chat.history())


def test_turns_of_earlier_releases_are_named_by_their_files() -> None:
    turn = Turn("Why?", "So.", (PLOT,), record=TurnRecord("m"))
    assert turn.sources == ("plot.png",)


def test_a_summary_keeps_what_was_typed_and_not_the_figures_of_a_long_table() -> None:
    chat = talk()
    table = "\n".join(f"| {number} | {number * 7} |" for number in range(400))
    chat.send("The budget is 4,200 euros.", attachments=[Attached("df", f"df:\n{table}", what="400 of 9,000 rows")])
    chat.send("Use sales_q3.")
    for number in range(4):
        chat.send(f"And number {number}? {'words and ' * 1_500}")
    assert chat.summarize(method="extractive").changed
    assert chat.conversation.summary is not None
    text = chat.conversation.summary.text
    for kept in ("4,200 euros", "[attached: df]", "sales_q3"):
        assert kept in text
    assert "| 300 | 2100 |" not in text


# re-runs


def test_a_changed_figure_or_frame_is_a_changed_request(address: str) -> None:
    other = Attached("fig", files=(Attachment("plot.png", "image/png", PIXEL + b"1", 1_024),), what="640 × 480 pixels")
    provider = ScriptedProvider("A line.", takes=frozenset({"image", "pdf"}))
    more = Attached("df", FRAME.text.replace("1  2", "1  3"), what=FRAME.what)

    def again(*attached: Attached) -> bool:
        chat = talk(address, provider)
        reply = chat.send("What is it?", attachments=attached, cell="c1", run=os.urandom(4).hex(), stored="cell")
        chat.close()
        return reply.stored

    assert not again(FRAME, FIGURE)
    assert again(FRAME, FIGURE)
    assert not again(FRAME, other)
    assert again(FRAME, other)
    assert not again(more, other)
    assert not again(more)
