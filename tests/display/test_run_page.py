"""The card of a run stays small whatever its names and sentences hold, and nothing of them becomes markup."""

from __future__ import annotations

import pytest

from jupyter_ctx.display.run_page import CardFigures, ScoreLine, card_bundle

HOSTILE = "<script>$\\&\U0001d4b3" * 5_000


@pytest.mark.parametrize("text", [HOSTILE, "$" * 50_000, "\U0001d4b3" * 50_000])
def test_a_card_stays_small_whatever_its_texts_hold(text: str) -> None:
    score = ScoreLine("100 %", text, "99 to 100 %, 20,000 rows", (0.99, 1.0, 1.0))
    page = card_bundle(CardFigures(text, [text] * 6, [score] * 6, [text] * 13))["text/html"]
    assert len(page.encode()) <= 100_000
    assert "<script>" not in page


def test_a_card_says_the_same_as_text() -> None:
    score = ScoreLine("50 %", "right", "10 to 90 %, 4 rows", (0.1, 0.5, 0.9))
    forms = card_bundle(CardFigures("formal", ["4 rows", "1 failed"], [score], ["All is well."]))
    assert forms["text/plain"].splitlines() == [
        "All is well.", "formal: 4 rows, 1 failed", "right: 50 % (10 to 90 %, 4 rows)",
    ]  # fmt: skip
    assert "left:10.0%;width:80.0%" in forms["text/html"]
