"""A prompt asked of many rows: what is asked, what comes back, and what one row's trouble does to the others."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from answering_rows import Asked, Refusal, answering_rows, shout

from jupyter_ctx import BudgetExceededError, ChatError, InvalidRequestError, Reply, compare, exact, sweep
from jupyter_ctx.conversation.messages import ToolCall
from jupyter_ctx.experiments.asking import rate_limiter
from jupyter_ctx.experiments.judges import judge
from jupyter_ctx.experiments.run import Run
from jupyter_ctx.providers.base import Request
from jupyter_ctx.testing import Answer, ScriptedProvider

WORDS = [f"word {number}" for number in range(12)]


def ended(run: Run, seconds: float = 60.0) -> Run:
    assert run.wait(seconds), run
    return run


def replies(run: Run) -> list[str | None]:
    return [None if result.reply is None else result.reply.text for result in ended(run).results]


def failing(prompts: dict[str, list[Refusal]]) -> Any:
    """Answers, but first with these errors."""
    left = {prompt: list(refusals) for prompt, refusals in prompts.items()}

    def says(prompt: str) -> str | Refusal:
        return left[prompt].pop(0) if left.get(prompt) else shout(prompt)

    return says


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that failed are sent again at once."""
    monkeypatch.setattr(rate_limiter, "BACK_OFF", (0.001, 0.01))


def test_the_answers_stand_in_the_order_of_the_rows_arms_and_repeats() -> None:
    def slow_first(prompt: str) -> str:
        time.sleep(0.1 if "word 0" in prompt else 0)
        return prompt.upper()

    with answering_rows(slow_first) as asked:
        run = sweep("{{ text }} {{ tone }}", WORDS[:3], {"tone": ["a", "b"]}, repeat=2, **asked.model)
        frame = run.result(60)
    assert [(result.row, result.arm, result.repeat) for result in run.results] == [
        (row, f"tone={tone}", repeat) for row in range(3) for tone in "ab" for repeat in range(2)
    ]
    assert list(frame["reply"]) == [f"WORD {row} {tone}" for row in range(3) for tone in "AB" for _ in range(2)]


def test_rows_that_ask_the_same_are_asked_once() -> None:
    with answering_rows() as asked:
        run = sweep("{{ text }}", ["a", "b", "a", "a"], **asked.model)
        assert replies(run) == ["A", "B", "A", "A"]
    assert Counter(asked.prompts) == {"a": 1, "b": 1}
    assert [result.cached for result in run.results] == [False, False, True, True]


def test_repeats_are_asked_each_and_not_one_stored_answer() -> None:
    numbers = iter(range(100))
    with answering_rows(lambda prompt: f"{prompt} {next(numbers)}") as asked:
        first = replies(sweep("{{ text }}", ["a", "b"], repeat=3, **asked.model))
        again = replies(sweep("{{ text }}", ["a", "b"], repeat=4, **asked.model))
    assert len(set(first)) == 6
    assert [again[place] for place in (0, 1, 2, 4, 5, 6)] == first
    assert len(asked.prompts) == 8


def test_an_error_of_one_row_is_that_rows_alone() -> None:
    bad = Refusal(400, '{"error": {"message": "no such thing", "type": "invalid_request_error"}}')
    with answering_rows(failing({"word 3": [bad] * 9})) as asked:
        run = sweep("{{ text }}", WORDS, **asked.model)
        frame = run.result(60)
        assert [result.row for result in run.results.failed] == [3]
        assert "no such thing" in frame["error"][3]
        assert (frame["error"] == "").sum() == len(WORDS) - 1
        assert replies(sweep("{{ text }}", WORDS, **asked.model))[3] is None  # not asked again
        asked.prompts.clear()
        again = ended(sweep("{{ text }}", WORDS, retry=True, **asked.model))
    assert asked.prompts == ["word 3"]
    assert again.progress.failed == 1


def test_a_row_that_cannot_be_filled_in_or_holds_a_key_is_marked_and_not_sent() -> None:
    provider, key = ScriptedProvider("Yes."), "sk-" + "abcdefghijklmnopqrstuvwx1234"
    rows = [{"n": 1, "text": "a"}, {"n": 0, "text": "b"}, {"n": 3, "text": f"my key: {key}"}]
    found = sweep("{{ text }} {{ 6 / n }}", rows, provider=provider, store=None).result()
    assert ["6 / n" in found["error"][1], "holds a key" in found["error"][2]] == [True, True]
    assert found["reply"].isna().to_list() == [False, True, True]
    assert len(provider.requests) == 1
    with pytest.raises(InvalidRequestError, match="No row can be filled in"):
        sweep("{{ n / 0 }}", rows, provider=provider, store=None)
    assert len(provider.requests) == 1


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "0.2"}], ids=["silent", "retry-after"])
def test_a_limit_of_requests_fails_no_row(headers: dict[str, str]) -> None:
    lock, taken = threading.Lock(), [0.0, 0]

    def says(prompt: str) -> str | Refusal:
        with lock:
            if time.monotonic() > taken[0]:
                taken[:] = [time.monotonic() + 0.2, 0]
            taken[1] += 1
            over = taken[1] > 5
        return Refusal(429, '{"error": {"message": "slow down"}}', headers) if over else shout(prompt)

    with answering_rows(says) as asked:
        assert replies(sweep("{{ text }}", WORDS, **asked.model)) == [word.upper() for word in WORDS]


def test_a_row_that_does_not_fit_fails_with_its_size_and_the_others_are_answered() -> None:
    guest = ScriptedProvider(window=300)
    short, long = ended(sweep("{{ text }}", ["short", "long " * 1_000], provider=guest, max_tokens=20)).results
    assert short.reply is not None
    assert not short.truncated
    assert long.failed
    assert long.reply is None
    assert "tokens do not fit: scripted/model takes 280" in long.error


def test_cut_answers_are_marked_and_not_counted() -> None:
    with answering_rows(finish="length") as asked:
        run = ended(sweep("{{ text }}", WORDS[:2], scorers={"ok": lambda row, reply: True}, **asked.model))
    assert all(result.truncated and not result.counts and not result.scores for result in run.results)
    assert not run.results.failed


def test_a_run_that_is_cancelled_keeps_what_came_and_goes_on_where_it_stopped() -> None:
    rows = [f"word {number}" for number in range(100)]
    with answering_rows(seconds=0.05) as asked:
        run = sweep("{{ text }}", rows, concurrency=5, **asked.model)
        while run.progress.done < 10:
            time.sleep(0.01)
        run.cancel()
        ended(run)
        done = run.progress.done
        assert 10 <= done < 90
        assert f"{done} of 100 answers are kept" in run.notices[-1]
        asked.prompts.clear()
        again = sweep("{{ text }}", rows, concurrency=50, **asked.model)
        assert replies(again) == [row.upper() for row in rows]
    assert again.progress.cached == done
    assert 0 <= len(asked.prompts) - (100 - done) <= 5  # those on their way at the end may arrive late


def test_a_run_that_ended_early_says_so_wherever_it_is_read(tmp_path: Path) -> None:
    guest = ScriptedProvider(["Whole.", "Whole.", Answer("Cut.", delay=60.0)])
    run = sweep("{{ text }}", WORDS, provider=guest, concurrency=1, scorers={"whole": lambda row, reply: True})
    while run.progress.done < 2:
        time.sleep(0.01)
    whole = sweep("{{ text }}", WORDS, provider=ScriptedProvider("Whole."), scorers={"whole": lambda row, reply: True})
    run.cancel()
    rest = len(WORDS) - 2
    frame = ended(run).result()
    assert (run.unasked, len(run.results.unasked)) == (rest, rest)
    assert list(frame.asked) == [True, True] + [False] * rest
    assert run.results.to_polars()["asked"].equals(pl.Series("asked", frame.asked))
    (row,) = run.summary()
    assert (row.n, row.answers, row.failed, row.unasked) == (2, len(WORDS), 0, rest)
    assert run.summary().sentences[-1].startswith(f"Of {len(WORDS)} answers {rest} not asked")
    assert f"{rest} not asked" in compare(run, ended(whole)).sentences[1]
    assert len(compare(run, whole).differences()) == 2
    assert not any(
        answer["asked"] for answer in json.loads(run.export(tmp_path / "run.json").read_text())["answers"][2:]
    )
    assert "asked" not in whole.result().columns
    assert whole.unasked == 0


def test_what_asks_a_server_that_says_nothing_is_left_at_once() -> None:
    free = threading.Event()
    with answering_rows(lambda prompt: str(free.wait(600))) as asked:
        run = sweep("{{ text }}", WORDS, **asked.model)
        while len(asked.prompts) < len(WORDS):
            time.sleep(0.01)
        run.cancel()
        assert run.wait(60)
        free.set()


@dataclass
class Film:
    title: str
    year: int


def test_an_answer_that_its_schema_does_not_allow_is_asked_for_once_more() -> None:
    def says(prompt: str) -> str:
        if len(asked.prompts) == 1 or "never" in asked.requests[-1]["messages"][0]["content"]:
            return '{"title": "Up", "year": "late"}'
        return '{"title": "Up", "year": 2009}'

    with answering_rows(says) as asked:
        run = sweep("{{ text }}", ["a", "b", "never"], schema=Film, concurrency=1, **asked.model)
        frame = run.result(60)
        requests = len(asked.requests)
        assert list(frame["year"][:2]) == [2009, 2009]
        assert [result.row for result in run.results.failed] == [2]
        assert "year" in frame["error"][2]
        again = ended(sweep("{{ text }}", ["a", "b", "never"], schema=Film, **asked.model))
        assert len(asked.requests) == requests
    assert again.progress.cached == 3


def test_local_models_go_one_after_the_other(local_model: str) -> None:
    order = list[str]()

    def noted(_row: Any, reply: Reply) -> bool:
        order.append(reply.model)
        return True

    models = ["local/smollm2@512", "local/smollm2@1024"]
    run = ended(sweep("{{ text }}", WORDS[:3], {"model": models}, max_tokens=60, scorers=noted), 60)
    assert not run.results.failed, run.results.failed[0].error
    assert order == [model for model in models for _ in range(3)]


def test_a_cap_bounds_the_answers_that_nothing_else_bounds_and_the_run_begins() -> None:
    with answering_rows() as asked:
        given: dict[str, Any] = {"prices": (1.75, 14), **asked.model}
        run = sweep("{{ text }}", WORDS, max_cost=0.05, **given)
        assert len(run.result()) == len(WORDS)
        assert 14e-6 * run.settings["max_tokens"] <= 0.05
        assert any("Answers end at" in line for line in run.notices)
        assert {request["max_tokens"] for request in asked.requests} == {run.settings["max_tokens"]}


def test_a_cap_without_room_for_one_answer_as_long_as_it_may_be_sends_nothing() -> None:
    with answering_rows() as asked:
        given: dict[str, Any] = {"prices": (1.75, 14), **asked.model}
        with pytest.raises(BudgetExceededError, match=r"could cost \$0\.056: set --max-tokens"):
            sweep("{{ text }}", WORDS, max_cost=0.05, max_tokens=4_000, **given)
        with pytest.raises(BudgetExceededError):
            sweep("{{ text }}", WORDS, max_cost=0.0001, **given)
        told = sweep("{{ text }}", WORDS, max_cost=0.05, max_tokens=4_000, dry_run=True, **given)
        assert "could cost $0.056" in str(told.estimate)
    assert not asked.prompts


def test_a_few_rows_begin_though_nothing_limits_their_answers_and_many_ask_first() -> None:
    with answering_rows() as asked:
        given: dict[str, Any] = {**asked.model, "prices": (1.75, 14), "yes": False, "confirm_cost": 1}
        assert not ended(sweep("{{ text }}", WORDS, **given)).results.failed
        with pytest.raises(InvalidRequestError, match=r"Expected about \$7\.02.*above confirm_cost.*Nothing was sent"):
            sweep("{{ n }}", [{"n": n} for n in range(1_000)], **given)


def test_a_run_sends_and_stores_the_text_that_it_made_though_what_fills_it_changes_meanwhile(tmp_path: Path) -> None:
    glossary, words = {"cat": "a cat. " * 200, "dog": "a dog. " * 200}, ["cat", "dog"]
    sent = list[str]()

    def says(request: Request) -> str:
        sent.append(request.messages[-1].content)
        glossary["dog"] = "a wolf. " * 200  # while the run goes on
        return f"so it is {sent[-1].split()[2]}"

    def ask() -> Run:
        return ended(
            sweep(
                "Explain {{ glossary[text] }}", words, provider=ScriptedProvider(says), names={"glossary": glossary},
                store=tmp_path / "answers.sqlite", concurrency=1,
            )
        )  # fmt: skip

    first = ask()
    assert sent == [result.prompt for result in first.results]
    assert replies(first) == ["so it is cat.", "so it is dog."]
    again = ask()
    assert replies(again) == ["so it is cat.", "so it is wolf."]
    assert [result.cached for result in again.results] == [True, False], "another text's answer is none to this one"
    assert len(sent) == 3
    assert [result.prompt for result in first.results] == sent[:2]


def test_a_missing_key_of_a_judge_is_told_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    provider = ScriptedProvider()
    polite = judge("Is it polite?", model="anthropic/claude-haiku-4-5")
    with pytest.raises(ChatError, match=r"ANTHROPIC_API_KEY.*Nothing was sent"):
        sweep("Say {{ text }}", WORDS, provider=provider, store=None, scorers=polite)
    assert not provider.requests


def test_an_answer_that_breaks_off_is_asked_again_and_fails_where_it_always_does(hasty: None) -> None:
    tries = Counter[str]()

    def breaking(request: Any) -> Answer:
        prompt = request.messages[-1].content
        tries[prompt] += 1
        return Answer("Half", stop_reason="cut" if prompt != "word 1" or tries[prompt] == 1 else "stop")

    run = sweep("{{ text }}", ["word 0", "word 1"], provider=ScriptedProvider(breaking), store=None)
    cut, whole = ended(run).results
    assert tries["word 1"] == 2
    assert (whole.failed, whole.truncated) == (False, False)
    assert cut.failed
    assert cut.reply is not None
    assert "broke off" in cut.error


def test_a_server_that_is_not_there_ends_the_run_after_a_few_rows(hasty: None) -> None:
    run = sweep("{{ text }}", WORDS * 3, model="m", base_url="http://127.0.0.1:9/v1", store=None, concurrency=2)
    with pytest.raises(ChatError, match=r"No connection .* none was answered"):
        run.result(60)


def test_a_row_that_a_server_was_too_busy_for_is_asked_again_the_next_time(hasty: None) -> None:
    busy = [Refusal(503, "busy")] * 20
    says = failing({"word 1": busy})
    with answering_rows(says) as asked:
        first = ended(sweep("{{ text }}", WORDS[:3], **asked.model))
        assert [result.failed for result in first.results] == [False, True, False]
        again = ended(sweep("{{ text }}", WORDS[:3], **asked.model))
    assert again.progress.cached == 2


def test_the_address_in_the_environment_belongs_to_what_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"model": "openai/gpt-5.2", "max_tokens": 50, "dry_run": True, "store": None}
    usual = sweep("{{ text }}", WORDS[:2], **given)
    digest = usual.plan.ask(0, 0).digest()
    assert "$" in str(usual.estimate)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gateway.example:4000/v1")
    elsewhere = sweep("{{ text }}", WORDS[:2], **given)
    assert elsewhere.plan.ask(0, 0).digest() != digest
    assert "the price of openai/gpt-5.2 is unknown" in str(elsewhere.estimate)


# a run whose model may call functions

COUNTRIES = [{"country": "NO"}, {"country": "SE"}]
SIZES = {"NO": 12, "SE": 30}


def size(country: str) -> int:
    """Return how many rows a country has."""
    return SIZES[country]


def asks_first(request: Request) -> Answer:
    """Call the function for the country that the prompt names, then answer with what it returned."""
    last = request.messages[-1]
    if last.round is None:
        return Answer(calls=[ToolCall("c1", "size", f'{{"country": "{last.content[-2:]}"}}')])
    return Answer(f"It has {last.round.results[0].text} rows.")


def test_each_row_has_its_calls_in_a_column_and_is_asked_once(tmp_path: Path) -> None:
    provider = ScriptedProvider(asks_first)
    for _ in range(2):
        run = sweep(
            "How many rows has {{ country }}", COUNTRIES, provider=provider, tools=[size], store=tmp_path / "a.db"
        )
        frame = run.result()
        assert list(frame.reply) == ["It has 12 rows.", "It has 30 rows."]
        assert list(frame.calls) == ["size(country='NO') → 12", "size(country='SE') → 30"]
    assert len(provider.requests) == 4


def test_a_cap_holds_over_all_rounds() -> None:
    def calls_again(request: Request) -> Answer:
        rounds = sum(message.round is not None for message in request.messages)
        return Answer("x " * 50, calls=[ToolCall(f"c{rounds}", "size", '{"country": "NO"}')])

    provider = ScriptedProvider(calls_again)
    run = sweep(
        "How many rows has {{ country }}", COUNTRIES * 10, provider=provider, store=None, tools=[size], yes=True,
        prices=(100, 100), max_tokens=100, max_cost=0.5,
    )  # fmt: skip
    with pytest.raises(ChatError, match="max_cost"):
        run.result()
    sent = sum(map(provider.size, provider.requests))
    assert run.cost is not None
    assert sent / 1e4 < run.cost <= 0.5
    assert len(provider.requests) < 40


# the same asked of another model

ROWS = [{"text": f"word {i}", "label": f"WORD {i}, PLEASE" if i % 2 else "other"} for i in range(6)]
TEMPLATE, GRID = "{{ text }}{{ tone }}", {"tone": [", please", "!"]}


def first(asked: Asked, **options: Any) -> Run:
    given = {"scorers": {"right": exact("label")}, "repeat": 2, "progress": False, **asked.model, **options}
    return ended(sweep(TEMPLATE, ROWS, {name: iter(values) for name, values in GRID.items()}, **given))


def test_the_same_is_asked_of_another_model_and_compared_by_the_models_names() -> None:
    with answering_rows() as asked:
        run = first(asked)
        once = [(request["model"], request["messages"]) for request in asked.requests]
        asked.requests.clear()
        again = ended(run.repeat(model="other"))
        twice = [(request["model"], request["messages"]) for request in asked.requests]
    assert sorted(map(str, twice)) == sorted(str(("other", messages)) for _, messages in once)
    assert [result.scores for result in again.results] == [result.scores for result in run.results]
    table = compare(run, again)
    assert [(row.first, row.second, row.scorer, row.n, row.difference) for row in table] == [
        (f"m ({arm})", f"other ({arm})", "right", 6, 0.0) for arm in ("tone=, please", "tone=!")
    ]


def test_settings_and_options_can_be_given_and_names_come_first() -> None:
    with answering_rows() as asked:
        run = first(asked, name="old")
        again = ended(run.repeat(temperature=0.5, name="new", repeat=1))
        same = ended(run.repeat())
        other = run.repeat(model="openai/gpt-6-luna", dry_run=True)
    assert (len(again.results), again.settings["temperature"]) == (12, 0.5)
    assert compare(run, again)[0][:2] == ("old (tone=, please)", "new (tone=, please)")
    assert same.progress.cached == len(same.results), "answers that are stored are not asked for again"
    assert other.settings.get("base_url") is None, "a model with a provider of its own is asked there"


def test_a_yes_to_one_price_is_none_to_the_next_and_a_dry_run_s_repeat_begins() -> None:
    with answering_rows() as asked:
        told: list[Run] = []
        large = first(asked, yes=True, confirm_cost=0, prices=(3, 15), tell=told.append)
        with pytest.raises(InvalidRequestError, match="nobody can be asked"):
            large.repeat(model="other", prices=(3, 15))
        assert ended(large.repeat(model="other", prices=(3, 15), yes=True)) is told[-1]
        looked = sweep(TEMPLATE, ROWS, GRID, dry_run=True, progress=False, **asked.model)
        assert len(ended(looked.repeat()).results) == 12
