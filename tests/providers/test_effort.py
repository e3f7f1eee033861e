"""How much a model thinks, said as each service has it; and parameters that a model refuses, which are left out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from dialects import KEY
from server import events, piece, send, serve, usage
from strict_models import MODELS, StrictModel, at, strict

from jupyter_ctx import Chat, InvalidRequestError, ProviderError, Reply, judge, sweep
from jupyter_ctx.config.settings import typed_value
from jupyter_ctx.providers.error_mapping import Refusal
from jupyter_ctx.providers.openai import ChatCompletions
from jupyter_ctx.providers.parameters import (
    CLAUDE_FORMS,
    EFFORT_ALONE,
    GEMINI_FORMS,
    LEVELS,
    RESPONSES_FORMS,
    Form,
    effort_for,
    named_field,
    refused_at,
    says_not_taken,
    without,
)
from jupyter_ctx.storage.conversation_writer import close_stores

BY_NAME = {model.name: model for model in MODELS}
GIVEN: dict[str, Any] = {"temperature": 0.0, "effort": "none"}


@pytest.fixture(params=MODELS, ids=lambda model: model.name)
def model(request: pytest.FixtureRequest) -> StrictModel:
    found: StrictModel = request.param
    return found


def adaptations(reply: Reply | None) -> list[str]:
    """The lines of a reply that say what was sent otherwise than asked for."""
    return [line for line in reply.notices if re.search("does not (take|think)", line)] if reply is not None else []


@pytest.mark.parametrize("level", ["none", "minimal", "low", "high", "max"])
def test_every_model_answers_at_every_effort_after_two_refusals_at_most(model: StrictModel, level: str) -> None:
    with strict(model) as (provider, seen):
        chat = Chat(provider=provider, effort=level)
        first, second = chat.send("Why?"), chat.send("Why?")
    assert first.text == second.text == "Blue."
    assert len(seen) <= 4
    assert adaptations(second) == []  # what was learned is neither asked nor said again


@pytest.mark.parametrize(
    ("name", "level", "path", "value"),
    [
        ("gpt-6.2-sol", "none", "reasoning.effort", "low"),
        ("gpt-6.2-sol", "max", "reasoning.effort", "max"),
        ("gpt-5.2", "max", "reasoning.effort", "xhigh"),
        ("gpt-5.2", "minimal", "reasoning.effort", "low"),
        ("gpt-4o", "low", "reasoning", None),
        ("claude-opus-5-5", "high", "output_config.effort", "high"),
        ("claude-opus-5-5", "none", "thinking.type", "disabled"),
        ("claude-fable-5-2", "none", "output_config.effort", "low"),
        ("claude-haiku-4-5", "high", "thinking.budget_tokens", 20_000),
        ("gemini-3.1-pro", "none", "generationConfig.thinkingConfig.thinking_level", "low"),
        ("gemini-2.5-pro", "none", "generationConfig.thinkingConfig.thinking_budget", 512),
        ("kimi-k3", "low", "thinking.type", "enabled"),
        ("deepseek-v4-pro", "none", "thinking.type", "disabled"),
        ("deepseek-v4-pro", "medium", "reasoning_effort", "high"),
        ("o4-mini", "none", "reasoning_effort", "low"),
    ],
)
def test_the_nearest_level_is_sent_in_the_words_of_the_service(name: str, level: str, path: str, value: Any) -> None:
    with strict(BY_NAME[name]) as (provider, seen):
        reply = Chat(provider=provider, effort=level, max_tokens=30_000).send("Why?")
    assert at(seen[-1], path) == value
    same = (level, "disabled", "enabled", 20_000)
    is_same = value is not None and (value in same or str(value).lower() == level)
    assert len(adaptations(reply)) == (0 if is_same else 1)
    assert all(level in line for line in adaptations(reply))


def test_thinking_of_a_model_that_is_asked_to_think_is_shown(model: StrictModel) -> None:
    if model.name in ("gpt-4o", "o4-mini"):
        pytest.skip("it shows none")
    with strict(model) as (provider, _):
        assert Chat(provider=provider, effort="high").send("Why?").thinking == "Hm."


def test_a_budget_for_thinking_leaves_room_for_the_answer() -> None:
    with strict(BY_NAME["claude-haiku-4-5"]) as (provider, seen):
        Chat(provider=provider, effort="high", max_tokens=5_000).send("Why?")
    assert seen[-1]["thinking"]["budget_tokens"] == 2_500


def test_a_temperature_that_a_model_refuses_is_left_out_with_one_line(model: StrictModel) -> None:
    if model.name in ("gpt-4o", "claude-haiku-4-5", "gemini-3.1-pro", "gemini-2.5-pro", "deepseek-v4-pro"):
        pytest.skip("it takes one")
    with strict(model) as (provider, seen):
        chat = Chat(provider=provider, temperature=0)
        replies = [chat.send("Why?") for _ in range(3)]
    assert [len(adaptations(reply)) for reply in replies] == [1, 0, 0]
    assert "temperature" in adaptations(replies[0])[0]
    assert "temperature" not in seen[-1]
    assert len(seen) <= (5 if model.name == "o4-mini" else 4)


def test_a_run_learns_once_and_says_so_once(model: StrictModel) -> None:
    with strict(model) as (provider, seen):
        rows = [{"n": n} for n in range(20)]
        run = sweep("Why {{ n }}?", rows, provider=provider, api_key=KEY, yes=True, concurrency=4, **GIVEN)
        run.result()
    replies = [result.reply for result in run.results]
    assert [reply.text for reply in replies if reply] == ["Blue."] * 20
    told = [line for reply in replies for line in adaptations(reply)]
    assert len(told) == len(set(told)) <= 2
    assert len(seen) <= 20 + 4 * 4  # those that were on their way learn it, too


def test_what_was_refused_is_remembered_by_another_kernel(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/a.db"
    with strict(BY_NAME["gpt-6.2-sol"]) as (provider, seen):
        Chat(provider=provider, store=store, name="a", **GIVEN).send("Why?")
        refused_once = len(seen)
        close_stores()
        refused_at(provider.endpoint).names.clear()  # as in another process
        Chat(provider=provider, store=store, name="a", **GIVEN).send("Why?")
    assert (refused_once, len(seen)) == (3, 4)


def test_a_value_out_of_range_is_the_users_and_fails() -> None:
    refusal = json.dumps({"error": {"message": "temperature: must be between 0 and 1", "param": "temperature"}})
    refuses = serve(lambda handler, _: send(handler, 400, refusal))
    with refuses as (url, seen), pytest.raises(ProviderError, match="between 0 and 1"):
        Chat("m", base_url=url, temperature=1.5).send("x")
    assert len(seen) == 1


def test_a_length_that_bounds_what_a_request_costs_is_never_left_out() -> None:
    refusal = json.dumps({"error": {"message": "max_completion_tokens and max_tokens are not supported"}})
    with serve(lambda handler, _: send(handler, 400, refusal)) as (url, seen), pytest.raises(ProviderError):
        Chat("m", base_url=url, max_tokens=9).send("x")
    assert len(seen) == 2
    assert all({"max_tokens", "max_completion_tokens"} & set(request) for request in seen)


@pytest.mark.parametrize("parameters", [{"reasoning_effort": "high"}, {"thinking": {}}, {"reasoning": {"effort": 1}}])
def test_a_parameter_that_contradicts_effort_is_an_error_before_anything_is_sent(parameters: dict[str, Any]) -> None:
    name = next(iter(parameters))
    with pytest.raises(InvalidRequestError, match="effort"):
        Chat("openai/gpt-5.2", effort="low", parameters=parameters)
    assert Chat("openai/gpt-5.2", parameters=parameters).config.parameters[name] == parameters[name]


def test_an_effort_that_is_none_of_the_levels_is_an_error_that_lists_them() -> None:
    with pytest.raises(InvalidRequestError, match="none, minimal, low, medium, high, max"):
        Chat("openai/gpt-5.2", effort="huge")


FORMS: tuple[tuple[Form, ...], ...] = (RESPONSES_FORMS, CLAUDE_FORMS, GEMINI_FORMS, (EFFORT_ALONE,))


@pytest.mark.parametrize("forms", FORMS)
@pytest.mark.parametrize("level", LEVELS)
def test_thinking_is_never_turned_off_unless_that_was_asked_for(level: str, forms: tuple[Form, ...]) -> None:
    all_but_none = {f"effort={each}" for each in LEVELS if each != "none"}
    chosen = effort_for(level, forms, all_but_none)
    assert (chosen is not None and chosen.level == "none") == (
        level == "none" and any("none" in form for form in forms)
    )
    assert effort_for(level, forms, {f"effort/{number}" for number in range(len(forms))}) is None


WORDINGS = (  # of refusals that are not among those of the strict models
    ("temperature", "'temperature' does not support 0 with this model. Only the default (1) value is supported."),
    ("temperature", "`temperature` may only be set to 1 when thinking is enabled."),
    ("temperature", "temperature参数不支持该模型"),
    ("top_p", "`temperature_x` is fine, but top_p cannot be used with this model"),
    ("parallel_tool_calls", "parallel_tool_calls is not allowed for this model"),
    ("seed", "Unrecognized request argument supplied: seed"),
    ("stop", "Invalid request: 'stop' is not supported with this model."),
    ("user", "Extra inputs are not permitted, field: 'user', value: 'ada'"),
)


@pytest.mark.parametrize(("name", "words"), WORDINGS)
def test_a_refused_parameter_is_known_by_the_class_of_words(name: str, words: str) -> None:
    refusal = Refusal(400, json.dumps({"error": {"message": words}}))
    body = dict.fromkeys(
        ("model", "messages", "temperature", "top_p", "parallel_tool_calls", "seed", "stop", "user"), 1
    )
    assert says_not_taken(refusal)
    assert named_field(refusal, body) == name


@pytest.mark.parametrize(
    "words",
    [
        "temperature must be less than or equal to 1",
        "The model `m` does not exist",
        "Invalid value for 'temperature': expected a number between 0 and 2",
        "messages: at least one message is required",
        "You must stop sending, user",
    ],
)
def test_other_refusals_leave_every_parameter_in(words: str) -> None:
    refusal = Refusal(400, json.dumps({"error": {"message": words}}))
    body = {"model": 1, "temperature": 1, "stop": 1, "user": 1}
    assert not says_not_taken(refusal) or named_field(refusal, body) is None


def test_an_object_that_is_empty_then_is_left_out_too() -> None:
    body = {"reasoning": {"summary": "auto"}, "text": {"format": 1, "verbosity": 2}, "metadata": {}}
    assert without(body, {"reasoning.summary", "text.verbosity"}) == {"text": {"format": 1}, "metadata": {}}


@pytest.mark.parametrize(("level", "reserve"), [(None, 25_000), ("none", 4_096), ("low", 8_000), ("max", 64_000)])
def test_room_for_the_reply_goes_by_effort(level: str | None, reserve: int) -> None:
    assert Chat("anthropic/claude-opus-5-5", effort=level).info().budget.reserve == reserve
    assert Chat("anthropic/claude-opus-5-5", effort=level, window=20_000).info().budget.reserve <= 5_000
    assert Chat("openai/gpt-4o", effort=level).info().budget.reserve == 4_096


def test_a_model_that_is_known_not_to_think_says_so_once_and_goes_on() -> None:
    chat = Chat("openai/gpt-4o", effort="low")
    assert chat.preview("x").request.effort is None
    with serve(events(piece("Hi"), usage(9, 2))) as (url, seen):
        asked = Chat("gpt-4o", base_url=url, effort="low")
        replies = [asked.send("x") for _ in range(2)]
    assert [sum("does not think" in line for line in reply.notices) for reply in replies] == [1, 0]
    assert "reasoning_effort" not in seen[0]


def test_a_judge_whose_temperature_is_refused_judges_all_the_same() -> None:
    with strict(BY_NAME["o4-mini"]) as (provider, _):
        assert isinstance(provider, ChatCompletions)
        asked = judge("Is it blue?", model="o4-mini", base_url=provider.at.base_url, temperature=0)
        run = sweep("Why {{ n }}?", [{"n": 1}], provider=provider, api_key=KEY, yes=True, scorers=[asked])
        run.result()
    (result,) = run.results
    assert [problem for problem in result.problems if "refused" in problem] == []
    assert "verdict" in result.problems[0]  # the model says neither yes nor no, but it was asked


def test_the_error_of_an_answer_that_is_all_thinking_names_what_would_help() -> None:
    thought = events(*(piece("", reasoning_content="Hm.") for _ in range(2)), piece("", "length"), usage(9, 50))
    with serve(thought) as (url, _), pytest.raises(ProviderError, match=r"all thinking.*--max-tokens.*--effort"):
        Chat("deepseek-v4-pro", base_url=url, effort="high", max_tokens=50).send("x")


def test_a_level_that_is_off_is_told_from_the_level_none() -> None:
    assert typed_value(None, "effort") == "off"
    assert typed_value("none", "effort") == "none"
    assert Chat("openai/gpt-5.2", effort="off").config.effort is None
