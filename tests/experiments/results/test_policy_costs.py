"""What a policy would cost: the planner's own decisions over sizes, beside what real runs have sent."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from priced import CLAUDE, INPUT, OUTPUT

from jupyter_ctx import Chat, InvalidRequestError, simulate
from jupyter_ctx.testing import ScriptedProvider

NOTES = "Please note where it stands and go on. "
POLICIES = {
    "trim": {},
    "summarise": {"on_overflow": "summarise"},
    "compact_at=0.8": {"compact_at": 0.8},
    "max_turns=5": {"max_turns": 5},
    "summarise compact_at=0.8": {"on_overflow": "summarise", "compact_at": 0.8},
}


def test_it_sends_what_real_runs_of_a_local_model_have_sent_within_5_percent(local_model: str) -> None:
    real, chats = {}, []
    for policy, settings in POLICIES.items():
        chat = Chat(local_model, max_tokens=16, **settings)
        for i in range(16):
            chat.send(f"Crate {i} weighs {100 + i} kilograms. {NOTES * (7 * i % 4)}")
        real[policy] = chat.usage().total
        chats.append(chat)
    costs = simulate(chats[0], POLICIES)  # of one conversation, what each policy would send
    assert [row.turns for row in costs] == [16] * len(POLICIES)
    for row in costs:
        assert row.sent == pytest.approx(real[row.policy].input_tokens, rel=0.05), row.policy
        assert row.output == pytest.approx(real[row.policy].output_tokens, rel=0.01), row.policy
    assert min(row.cuts + row.summaries for row in costs) > 0, "each policy has had something to do"


def test_a_shape_is_priced_as_the_table_says() -> None:
    (row,) = simulate([(100, 10)] * 3, "trim", model=CLAUDE)
    assert (row.turns, row.sent, row.cached, row.output) == (3, 100 + 210 + 320, 0, 30), "too short for a cache"
    assert row.cost == pytest.approx(630 * INPUT + 30 * OUTPUT)
    (long,) = simulate([(2_000, 10)] * 2, "trim", model=CLAUDE)
    assert (long.sent, long.cached) == (2_000 + 4_010, 2_000)
    (first,) = simulate([(100, 10)], "trim", model=CLAUDE, system="Be brief. " * 1_000)
    assert (first.turns, first.cached) == (1, 0), "nothing was sent before"
    (own,) = simulate([(100, 10)] * 3, "trim", model=CLAUDE, prices=(10, 0))
    assert own.cost == pytest.approx(630 * 1e-5)


def test_a_model_s_summary_is_sent_and_paid_too() -> None:
    trim, summarise, stop = simulate(
        [(400, 100)] * 12, ("trim", "summarise compact_at=0.8", "stop"), model=CLAUDE, window=4_000, max_tokens=500
    )
    requests = sum(turn.input for turn in summarise.figures)
    assert summarise.summaries == sum(turn.summarized for turn in summarise.figures) > 0
    assert summarise.sent > requests
    assert (summarise.cost or 0) > sum(turn.cost or 0 for turn in summarise.figures)
    assert trim.turns == 12 > stop.turns, "stop sends nothing more once a prompt does not fit"


def test_sizes_may_stand_in_a_data_frame() -> None:
    sizes = [(100, 10), (200, 20)]
    frame = pd.DataFrame(sizes, columns=["prompt", "answer"])
    assert simulate(frame, "trim").to_dataframe().equals(simulate(sizes, "trim").to_dataframe())


def test_the_frame_and_the_text_say_the_same() -> None:
    costs = simulate([(40, 40)] * 20, window=512)
    assert list(costs.to_dataframe()["sent"]) == [row.sent for row in costs]
    assert all(f"{row.sent:,}" in repr(costs) for row in costs)
    assert set(costs._repr_mimebundle_()) == {"text/html", "text/markdown", "text/plain"}


@pytest.mark.parametrize(
    "turns", [[], Chat(provider=ScriptedProvider()), None, 3, "abc", [5], [(1, 2), (-5, 3)], [(1,)]]
)
def test_turns_that_are_none_are_refused(turns: Any) -> None:
    with pytest.raises(InvalidRequestError):
        simulate(turns, "trim")


@pytest.mark.parametrize("policies", [[], None, "best", "trim x=1", "temperature=0.3", "compact_at=7", "max_turns=0"])
def test_policies_that_are_none_are_refused(policies: Any) -> None:
    with pytest.raises(InvalidRequestError):
        simulate([(5, 5)], policies)


def test_a_turn_that_no_request_has_room_for_is_refused_with_the_figures() -> None:
    with pytest.raises(InvalidRequestError, match=r"Turn 2 .* 5,000 .* 384"):
        simulate([(5, 5), (5_000, 5)], "trim", window=512)
