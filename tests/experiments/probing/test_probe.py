"""A probe: how far a model holds, what the server does to long prompts, and what all of it costs."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest
from cells import Cells
from IPython.core.error import UsageError
from priced import INPUT, Priced
from probed import cutting, falling, holding, read_codes
from server import events, piece, send, serve, usage

from jupyter_ctx import Chat, ChatInterrupted, InvalidRequestError, Probe, Request, compare, probe
from jupyter_ctx.testing import Answer, ScriptedProvider

CAP = 60_000


def probed(provider: Any, window: int = 33_000, **more: Any) -> Probe:
    return probe(provider=provider, window=window, **{"store": None, "max_total": CAP, "prices": (0, 0), **more})


def test_a_known_curve_is_found_within_its_interval_and_the_cap() -> None:
    provider = holding(falling(6_000))
    found = probed(provider, max_total=150_000)
    assert found.held.low <= 6_000 <= found.held.high <= 4 * found.held.low
    assert found.tokens <= 150_000
    assert "scripted/model" in str(found)
    table = found.to_dataframe()
    assert len(table) == len(found.trials) == 4 * len(provider.requests)
    assert {"digest", "position", "answer", "score", "mark"} <= set(table.columns)
    assert table["digest"].nunique() == len(provider.requests)
    with pytest.raises(FrozenInstanceError):
        found.task = "order"  # type: ignore[misc]


def test_no_fall_is_said_where_there_is_none() -> None:
    held = probed(holding(lambda tokens: 0.99)).held
    assert not held.reached
    assert held.median == held.longest


def test_the_same_probe_asks_nothing_again(tmp_path: Path) -> None:
    asked = {"store": str(tmp_path / "store.sqlite")}
    first = probed(provider := holding(falling(6_000)), **asked)
    provider.requests.clear()
    again = probed(provider, **asked)
    assert not provider.requests
    assert (again.held, again.trials) == (first.held, first.trials)
    probed(provider, seed=1, **asked)
    assert provider.requests


def test_a_server_that_refuses_above_a_limit_ends_the_range_there_and_teaches_the_window() -> None:
    provider = holding(lambda tokens: 0.99, window=9_000)
    chat = Chat(provider=provider, window=33_000)
    found = chat.probe(max_total=CAP)
    assert found.lengths[-1] <= 9_000
    assert len(provider.refused) == 1
    assert {trial.mark for trial in found.trials} == {"", "refused"}
    assert not found.held.reached
    assert chat.info().context_window == 9_000
    assert any("refused" in notice for notice in found.notices)


def test_a_length_is_claimed_only_where_an_answer_to_it_counts() -> None:
    provider = holding(lambda tokens: 0.99, window=9_000)
    for more in ({"grid": True, "max_total": 400_000}, {"max_total": 30_000, "longest": 10_000}):
        found = probed(provider, **more)
        counted = {trial.length for trial in found.trials if not trial.mark}
        assert found.lengths[-1] < 9_000
        assert found.held.longest == max(counted)
        assert ("grid" in more) <= (set(found.lengths) == counted)


def test_long_sentences_of_ones_own_raise_the_base_and_do_not_use_up_the_cap() -> None:
    spoken = "and after that there was a long talk on where it is to be kept and who is to be told of it" * 2
    text = " ".join(f"In room {100 + number} the box {7_000 + number} stands {spoken}." for number in range(30))

    def answer(request: Request) -> str:
        said, _, asked = request.messages[-1].content.rpartition("\n\n")
        gaps = re.findall(r"(?m)(?:^(\d)\. )?What stands in place of ____: (.*)$", asked)
        found = [re.search(re.escape(gap).replace("____", r"(\w+)"), said) for _, gap in gaps]
        return "\n".join(f"{number}: {each and each[1]}" for number, each in enumerate(found, 1))

    found = probed(ScriptedProvider(answer), task="own", text=text, window=9_000)
    assert (found.reason, found.held.reached) == ("narrow", False)
    assert found.held.shortest > 200
    assert found.trials[0].input_tokens == pytest.approx(found.held.shortest, rel=0.2)
    assert found.tokens < CAP / 2


def test_a_server_that_cuts_prompts_in_silence_is_no_bad_memory() -> None:
    found = probed(cutting(4_000))
    assert found.lengths[-1] == 3_800  # with room for an answer of 200
    assert not found.held.reached
    assert any("4,000" in notice for notice in found.notices)
    barely = probed(cutting(3_750))  # of the prompt before: that little is missing is seen later
    assert {trial.length for trial in barely.trials if trial.mark == "truncated"} == {4_096, 16_384}
    assert barely.lengths[-1] == 3_550
    untold = probed(cutting(4_000, reports=False))
    assert untold.held.reached
    assert any("reports no tokens" in notice for notice in untold.notices)


@pytest.mark.parametrize(
    ("answer", "mark"),
    [(Answer(""), "empty"), (Answer("1: 3", "max_tokens"), "cut"), (Answer("I may not.", "refusal"), "refused")],
)
def test_what_is_no_answer_is_marked_and_not_wrong(answer: Answer, mark: str) -> None:
    found = probed(ScriptedProvider(answer), max_total=8_000, window=8_000)
    assert {(trial.mark, trial.score) for trial in found.trials} == {(mark, None)}
    assert f" {mark}" in str(found)


def test_a_model_that_cannot_do_the_task_is_given_an_easier_one_and_then_told_so() -> None:
    found = probed(ScriptedProvider("I do not know."))
    assert found.held.base_is_low
    assert {trial.questions for trial in found.trials} == {4, 1}
    assert found.evidence is None


def test_a_model_that_cannot_end_its_answer_to_four_questions_is_asked_one_at_a_time() -> None:
    right = holding(lambda tokens: 1.0)

    def answer(request: Request) -> Answer:
        text = request.messages[-1].content
        is_long = text.count("What is the code of") > 1
        return Answer("The code is", "max_tokens") if is_long else Answer(read_codes(text, text))

    found = probed(ScriptedProvider(answer))
    assert found.questions == 1
    assert found.held.questions > 0 == found.held.base_is_low
    assert found.evidence is not None
    assert "keys alone" in found.evidence.mark
    with pytest.raises(InvalidRequestError, match="keys alone"):
        compare(probed(right), found)


def test_the_pairs_of_the_task_meaning_are_those_that_the_model_joins_in_a_short_text() -> None:
    def answer(request: Request) -> str:
        return next(iter(re.findall(r"(?m)^([A-Z]\w+) [a-z]", request.messages[-1].content)), "Nobody")

    for wrong, figures in (("I do not know.", "12 of 12 .* 0 of"), (answer, "12 of 12"), ("", "0 of 12 .* 0 of")):
        with pytest.raises(InvalidRequestError, match=figures):
            probed(ScriptedProvider(wrong), task="meaning")


def test_the_price_is_told_first_and_the_cap_is_never_passed() -> None:
    told = list[str]()
    provider = holding(lambda tokens: 0.99, Priced)
    found = probe(provider=provider, api_key="k", store=None, max_cost=0.05, tell=told.append)
    assert "$0.05" in told[0]
    assert found.cost is not None
    spent = sum(len(each.messages[-1].content) // 4 * INPUT for each in provider.requests)
    assert spent <= found.cost <= 0.05


def test_a_cap_of_others_that_runs_out_meanwhile_ends_a_probe_with_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    provider, store = holding(lambda tokens: 0.99, Priced), str(tmp_path / "store.sqlite")
    with closing(Chat(provider=provider, store=store, max_cost=0.05)) as chat:
        found = chat.probe(max_cost=0.40)
        assert (found.reason, found.cost) == ("cap", pytest.approx(0.05, rel=0.5))
        assert found.held.questions == len(found.trials) > 0


def test_a_price_above_confirm_cost_is_asked_about_before_anything_is_sent() -> None:
    asked = list[str]()
    provider = holding(lambda tokens: 0.99, Priced)
    with pytest.raises(InvalidRequestError, match="Not begun"):
        probe(provider=provider, store=None, confirm_cost=0.1, agree=lambda line: bool(asked.append(line)))
    assert len(asked) == 1
    assert not provider.requests


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"window": 1_000}, "875 .* a window of 1,829 would do"), ({"longest": 100}, "longest is 100: 1,600 would do"),
        ({"max_total": 500}, "max_total is 500, .*: 4,800 would do"), ({"longest": 0}, "longest"),
        ({"task": "kees"}, "keys"), ({"task": "own", "text": "Hello."}, "0 sentences"),
        ({"longst": 3}, "longest="), ({"max_total": 0}, "max_total"), ({"max_cost": -1}, "max_cost"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_one_line_before_anything_is_sent(wrong: dict[str, Any], named: str) -> None:
    provider = ScriptedProvider()
    with pytest.raises(InvalidRequestError, match=named):
        probe(provider=provider, store=None, **{"window": 33_000, **wrong})
    assert not provider.requests


@pytest.mark.parametrize("options", [{"window": 1_829}, {"longest": 1_600}, {"max_total": 4_800}])
def test_the_least_that_is_named_will_do(options: dict[str, int]) -> None:
    assert probed(holding(falling(6_000)), **options).trials


def test_a_max_cost_that_is_too_small_is_told_with_the_least_and_before_anything_is_announced() -> None:
    provider, told = holding(lambda tokens: 0.99, Priced), list[str]()
    for max_cost, named in ((0, "above 0"), (0.001, r"max_cost is \$0.0010, .*: \$0.020 would do")):
        with pytest.raises(InvalidRequestError, match=named):
            probe(provider=provider, store=None, max_cost=max_cost, tell=told.append)
    assert not told
    assert probe(provider=provider, api_key="k", store=None, max_cost=0.02).trials


def test_a_cap_without_a_known_price_is_refused_before_anything_is_sent() -> None:
    asked = {"window": 33_000, "store": None}
    with (
        serve(events(piece("1: 3", "stop"), usage(5, 1))) as (url, seen),
        pytest.raises(InvalidRequestError, match="price of own is unknown"),
    ):
        probe("own", base_url=url, max_cost=0.1, **asked)
    assert not seen


def test_ctrl_c_keeps_what_was_answered(tmp_path: Path) -> None:
    provider, asked = holding(falling(6_000)), {"store": str(tmp_path / "store.sqlite")}

    def stop(line: str) -> None:
        if line.startswith("24 "):
            raise KeyboardInterrupt

    with pytest.raises(ChatInterrupted, match="6 answers"):
        probed(provider, tell=stop, **asked)
    before = len(provider.requests)
    with pytest.raises(ChatInterrupted, match="6 answers are lost"):
        probed(holding(falling(6_000)), tell=stop)
    found = probed(provider, **asked)
    assert len(provider.requests) == len(found.trials) // 4
    assert before == 6


def test_two_probes_are_compared_in_sentences() -> None:
    far, near = probed(holding(lambda tokens: 0.99, model="scripted/far")), probed(holding(falling(3_000)))
    assert compare(near, far).sentences
    assert "scripted/far" in str(compare(near, far))
    with pytest.raises(InvalidRequestError):
        compare(near, [])


def test_the_gauge_marks_how_far_the_model_holds_and_crossing_it_is_told_once(tmp_path: Path) -> None:
    def chat() -> Chat:
        return Chat(provider=provider, window=33_000, store=str(tmp_path / "store.sqlite"), name="n")

    provider = holding(falling(4_000), model="scripted/m")
    provider.endpoint = "scripted/m"
    with_gauge = chat()
    held = with_gauge.probe(max_total=150_000).held
    with_gauge.close()
    provider.answers[:] = ["So it is. " * 300]
    again = chat()
    mark = again.info().held
    assert mark is not None
    assert (mark.low, mark.tokens) == (round(held.low), round(held.median))
    lines = list[str | None]()
    for _ in range(6):
        again.send("And why is that so? " * 100)
        lines.append(again.desk.threshold_notice())
    crossed = [line for line in lines if line and "held to" in line]
    assert len(crossed) == 1
    assert all(turn.record.start in (None, again.turns[0].id) for turn in again.turns)  # nothing was left out
    again.configure(compact_at="held")
    again.send("And now?")
    assert provider.size(provider.requests[-1]) <= mark.tokens
    again.configure(compact_at="80%")
    assert again.config.compact_at == 0.8
    again.close()


def test_where_no_fall_was_seen_no_turn_is_left_out_for_it() -> None:
    provider = holding(lambda tokens: 0.99)
    chat = Chat(provider=provider, window=33_000, compact_at="held")
    mark = chat.probe(longest=2_000, max_total=20_000).evidence
    assert mark is not None
    assert not mark.falls
    provider.answers[:] = ["So it is. " * 300]
    for _ in range(5):
        chat.send("And why is that so? " * 100)
    assert provider.size(provider.requests[-1]) > 2 * mark.tokens


def test_the_command_tells_the_price_shows_what_was_found_and_marks_the_gauge(cells: Cells) -> None:
    def answer(handler: Any, request: dict[str, Any]) -> None:
        text = request["messages"][-1]["content"]
        body = events(piece(read_codes(text, text, falling(4_000)(len(text) // 4)), "stop"), usage(len(text) // 4, 20))
        send(handler, 200, body, "text/event-stream")

    with serve(answer) as (url, seen):
        cells.run(f"%chat use own --base-url {url} --window 20000 --prices 0,0")
        shown = cells.run("%chat probe --max-total 150000 -o found")
        found = cells.shell.user_ns["found"]
        assert isinstance(found, Probe)
        assert str(found.sentences[0]) in shown
        assert "150,000 tokens" in shown
        assert len(seen) == len(found.trials) / 4
        mark = found.evidence
        assert mark is not None
        assert mark.mark in " ".join(cells.run("%chat").split())
        assert mark.provenance in " ".join(cells.run("%chat status").split())
        assert "not measured" not in cells.run("%chat config compact_at held")
        assert "not measured" in cells.run("%chat use other\n%chat config compact_at held")
        assert "no fall was seen" in cells.run(
            "%chat probe --longest 1600 --max-total 12000\n%chat config compact_at held"
        )
        assert isinstance(cells.fail("%chat probe --text nothing --task own"), UsageError)
