"""What a notice or an error names as the reason why turns are left out, and what helps."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from jupyter_ctx import Chat, Reply
from jupyter_ctx.errors import ContextOverflowError
from jupyter_ctx.testing import ScriptedProvider
from jupyter_ctx.wording import named_turns


def chat_of(serves: int | None = 400, answer: str = "y" * 40, **settings: Any) -> Chat:
    return Chat(provider=ScriptedProvider(answer, window=serves, model="log/m"), **settings)


def is_cut(reply: Reply) -> bool:
    return any(line.startswith("Left out") for line in reply.notices)


def refusal(chat: Chat, prompt: str) -> ContextOverflowError:
    """The first refusal of a prompt that is sent again and again."""
    with pytest.raises(ContextOverflowError) as raised:
        for _ in range(30):
            chat.send(prompt)
    return raised.value


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 1.0])
def test_room_is_made_once_compact_at_is_passed_and_well_below_it(share: float) -> None:
    chat = chat_of(4_000, "part one", window=4_000, compact_at=share)
    limit, turn = chat.info().limit, 119
    before, fills, cuts = 0, [0], list[int]()
    for number in range(60):
        cut = is_cut(chat.send(f"{number} {'x' * 420}"))
        used = chat.info().used
        if cut:
            cuts.append(number)
            assert before + turn > share * limit - turn, "a cut came before it had to"
            assert used <= max(share * limit, 3 * turn)
        else:
            fills.append(used)
        before = used
    assert max(fills) <= share * limit + turn
    rarely = 1 if share < 0.3 else 2 if share < 0.5 else 3  # turns of 119 between a cut's end and what causes the next
    assert len(cuts) >= 3
    assert all(later - earlier >= rarely for earlier, later in pairwise(cuts))


def test_compact_at_in_tokens_makes_room_there_however_large_the_window_is() -> None:
    chat = chat_of(40_000, "part one", window=40_000, compact_at="1k")
    fills = [chat.info().used for number in range(30) if chat.send(f"{number} {'x' * 420}")]
    assert 800 < max(fills) < 1_200
    assert "compact_at" in str(refusal(chat_of(4_000, compact_at=300, on_overflow="stop"), "x" * 200))
    smaller = chat_of(400, window=400, compact_at=16_000)
    assert smaller.info().room_ends == chat_of(400, window=400).info().room_ends


def test_where_max_turns_stops_a_request_its_remedy_helps() -> None:
    chat = chat_of(window=400, max_turns=2, on_overflow="stop")
    assert "trim N" in str(refusal(chat, "x" * 100))
    chat.trim(2)
    assert chat.send("x" * 100).text


def test_where_only_the_margin_for_estimates_does_not_fit_the_error_says_so() -> None:
    chat = chat_of(window=400, on_overflow="stop")
    for _ in range(6):
        chat.add_messages([{"role": "user", "content": "x " * 34}, {"role": "assistant", "content": "Yes."}])
    error = refusal(chat, "Why?")
    assert error.used is not None
    assert error.limit is not None
    assert (error.used <= error.limit) == ("20 %" in str(error))


def test_a_summary_that_failed_beside_turns_left_out_does_not_say_that_nothing_changed() -> None:
    chat = chat_of(280, window=280, on_overflow="summarise")
    prompts = [" ".join(f"{number}{row}.{row}" for row in range(14)) for number in range(12)]
    said = [notice for prompt in prompts for notice in chat.send(prompt).notices]
    assert any(notice.startswith("Summary dropped: ") for notice in said)
    assert not any("as it was" in notice for notice in said)


@pytest.mark.parametrize(
    "own",
    [
        {"max_turns": 2},
        {"window": 300},
        {"budget_share": 0.1},
        {"compact_at": 0.1},
        {"max_tokens": 3_700},
        {"system": "s" * 9_600},
    ],
)
@pytest.mark.parametrize("how", ["trim", "summarise"])
def test_settings_of_one_request_leave_nothing_out_of_the_next(own: dict[str, Any], how: Any) -> None:
    chat = chat_of(4_000, window=4_000, on_overflow=how)
    for number in range(30):
        chat.send(f"{number} {'x' * 260}")
    before = chat.info()
    assert before.left_out == 0
    assert chat.send("x", **own).notices
    assert chat.info().left_out == 0
    assert len(chat.preview("And now?").messages) == 2 * len(chat.turns) + 1


def test_where_earlier_turns_were_cut_before_the_next_request_goes_on_from_that_cut() -> None:
    chat = chat_of(4_000, window=4_000)
    while not chat.info().left_out:
        chat.send(f"{len(chat.turns)} {'x' * 300}")
    cut = chat.info().left_out
    for _ in range(3):
        chat.send("x", max_turns=2)
    assert chat.info().left_out == cut


def test_requests_that_all_have_the_same_settings_of_their_own_are_cut_rarely() -> None:
    chat = chat_of(4_000, window=4_000)
    cuts = [bool(chat.send(f"{number}", max_turns=10).notices) for number in range(40)]
    assert sum(cuts) <= 8


def test_what_was_included_again_is_there_for_requests_with_settings_of_their_own_too() -> None:
    provider = ScriptedProvider("y", window=4_000)
    chat = Chat(provider=provider, window=4_000)
    for _ in range(8):
        chat.send("Why?", max_turns=5)
    chat.exclude(1)
    assert chat.include().changed
    chat.send("Why?", budget_share=0.9)
    assert len(provider.requests[-1].messages) == 17


def test_a_new_version_tells_which_later_turns_answered_the_older_one() -> None:
    chat = chat_of(4_000, window=4_000)
    for name in "abcd":
        assert not chat.send(f"prompt {name}", cell=name, run=f"1{name}").notices
    (notice,) = chat.send("another b", cell="b", run="2b").notices
    assert notice == "Turns 3 and 4 answered the earlier wording. Run again to update."
    assert [row.turn for row in chat.history() if "stale" in row.state] == [3, 4]
    assert not chat.send("another d", cell="d", run="2d").notices
    (notice,) = chat.send("a third b", cell="b", run="3b").notices
    assert notice == "Turns 3 and 4 answered the earlier wording. Run again to update."
    chat.trim(1)
    (notice,) = chat.send("a third c", cell="c", run="3c").notices[-1:]
    assert notice == "Turn 4 answered the earlier wording. Run again to update."


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([7], "turn 7"),
        ([1, 2, 3, 5, 7, 8, 9], "turns 1 to 3, 5 and 7 to 9"),
        ([1, 3, 5, 7, 9, 1_100], "6 turns from 1 to 1,100"),
    ],
)
def test_turns_are_named_by_their_numbers(numbers: list[int], said: str) -> None:
    assert named_turns(numbers) == said
