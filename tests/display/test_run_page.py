"""The card of a run stays small whatever its answers hold, and nothing of them becomes markup."""

from __future__ import annotations

import pytest

from jupyter_ctx.display.run_page import (
    CARD_BYTES,
    AnswerTable,
    CardFigures,
    ScoreLine,
    card_html,
    card_text,
    fold_html,
)

HOSTILE = "<script>$\\&\U0001d4b3" * 5_000


@pytest.mark.parametrize("text", [HOSTILE, "$" * 50_000, "\U0001d4b3" * 50_000])
def test_a_drawing_stays_below_its_bound_whatever_answers_hold(text: str) -> None:
    rows = [[str(number), *[text] * 20] for number in range(8)]
    score = ScoreLine("100 %", text, "99 to 100 %, 20,000 rows", (0.99, 1.0, 1.0))
    table = AnswerTable([text] * 21, rows, 2, lambda _: [("Prompt", text), ("Answer", text)], "8 answers")
    running = CardFigures(text, 3, 8, [text] * 6, [score] * 6, AnswerTable(table.head, rows))
    ended = CardFigures(text, 8, 8, [text] * 6, [score] * 6, sentences=[text] * 13)
    for drawn in (card_html(running), card_html(ended), fold_html(table, range(8))):
        assert len(drawn.encode()) <= CARD_BYTES
        assert "<script>" not in drawn
    assert "more characters" in fold_html(table, range(8))


def test_rows_without_room_are_counted_and_the_plain_twin_has_the_first_ones() -> None:
    rows = [[str(number), "Yes."] for number in range(3_000)]
    table = AnswerTable(["row", "answer"], rows, 1, lambda index: [("Answer", rows[index][1])], "3,000 answers")
    folded = fold_html(table, range(3_000))
    shown = folded.count("<tr><td")
    assert 100 < shown < 3_000
    assert f"{3_000 - shown:,} more rows" in folded
    plain = card_text(CardFigures("formal", 3_000, 3_000, ["3,000 rows"], sentences=["All is well."]), table)
    assert plain.splitlines()[:2] == ["All is well.", "formal: 3,000 rows"]
    assert plain.endswith("… 2,980 more rows")
