"""What can be set, and what is said of a wrong value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_ctx import Chat, InvalidRequestError
from jupyter_ctx.config.settings import (
    SETTING_NAMES,
    Settings,
    default_settings,
    kept_settings,
    restored_settings,
)

pytestmark = pytest.mark.core


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("window", "8,192", 8_192),
        ("window", "128k", 128_000),
        ("max_tokens", "1.5K", 1_500),
        ("n_ctx", "1M", 1_000_000),
        ("temperature", ".5", 0.5),
        ("on_overflow", "summarize", "summarise"),
        ("max_tokens", "none", None),
        ("system", "Be brief.", "Be brief."),
        ("compact_at", "80%", 0.8),
        ("compact_at", "16k", 16_000),
        ("compact_at", 16_000, 16_000),
        ("attach_share", "90 %", 0.9),
        ("max_turns", 5.0, 5),
        ("prices", "$2.50, 10", (2.5, 10)),
        ("prices", "2.5 10 .25", (2.5, 10, 0.25)),
        ("parameters", ["top_p=0.9", "stop=[1]"], {"top_p": 0.9, "stop": [1]}),
        ("parameters", ["none"], {}),
    ],
)
def test_a_setting_is_read_from_text(name: str, text: str | int, value: Any) -> None:
    assert getattr(Settings().changed({name: text}), name) == value


@pytest.mark.parametrize("name", ["window", "compact_at", "temperature", "attach_share", "max_turns", "max_cost"])
@pytest.mark.parametrize("text", ["1,5", "1_5", "1,00,000"])
def test_a_comma_is_never_deleted_from_a_number(name: str, text: str) -> None:
    with pytest.raises(InvalidRequestError, match=rf"{name} is '{text}': it must be"):
        Settings().changed({name: text})


@pytest.mark.parametrize("text", ["2,5", "2,50,10", "1000,1000"])
def test_a_comma_between_whole_prices_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequestError, match=rf"prices is '{text}'.*decimal points"):
        Settings().changed({"prices": text})


@pytest.mark.parametrize("text", ["2.0,5", "2, 5", "2 5", "$2 $5", (2, 5)])
def test_two_prices_are_read_where_no_comma_may_be_decimal(text: Any) -> None:
    assert Settings().changed({"prices": text}).prices == (2, 5)
    assert Settings().changed({"prices": "0,0"}).prices == (0, 0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("window", 0), ("window", "-5"), ("window", "many"), ("window", 1.5), ("window", True), ("max_tokens", 0),
        ("window", "k"), ("window", "0k"), ("min_turns", "1k"),
        ("temperature", 3), ("temperature", "warm"), ("on_overflow", "explode"), ("compact_at", 0),
        ("compact_at", 1.5), ("compact_at", "50"), ("compact_at", "0,5"), ("compact_at", "nan"), ("compact_at", 300.5),
        ("budget_share", 1.5), ("min_turns", -1), ("model", 7), ("max_turns", "none at all"),
        ("timeout", "50%"), ("temperature", "50%"), ("min_turns", "50%"), ("temperature", "nan"), ("timeout", "inf"),
        ("attach_share", "150%"), ("compact_at", "300%"), ("compact_at", "30000%"),
        ("max_cost", float("inf")), ("on_overflow", ["trim"]), ("model", ["default"]), ("parameters", 5),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named_with_what_it_must_be(name: str, value: Any) -> None:
    with pytest.raises(InvalidRequestError, match=rf"{name} is .*must be"):
        Settings().changed({name: value})


def test_settings_change_one_by_one_and_none_takes_the_system_prompt_away() -> None:
    chat = Chat("openai/gpt-4o", system="Be kind.")
    assert chat.configure(compact_at="60%").compact_at == 0.6
    chat.configure(system="Be brief.")
    assert chat.system == "Be brief."
    chat.configure(system=None)
    assert chat.system == ""


@pytest.mark.parametrize("name", SETTING_NAMES)
def test_every_setting_goes_back_to_its_default(name: str) -> None:
    chat = Chat("openai/gpt-4o", cache_ttl="1h", compact_at=0.5, parameters={"top_p": 1})
    assert getattr(chat.configure(**{name: "default"}), name) == getattr(Settings(), name)


@pytest.mark.parametrize(
    ("parameter", "instead"),
    [
        ({"max_tokens": 5}, "max_tokens"), ({"max_completion_tokens": 5}, "max_tokens"), ({"n": 2}, "-n"),
        ({"temperature": 1}, "temperature"), ({"candidateCount": 2}, "-n"), ({"model": "m"}, "its own"),
        ({"http_options": {"extra_body": {"generationConfig": {"maxOutputTokens": 5}}}}, "max_tokens"),
    ],
)  # fmt: skip
def test_a_parameter_that_would_pass_by_a_setting_is_refused_with_what_takes_its_place(
    parameter: dict[str, Any], instead: str
) -> None:
    with pytest.raises(InvalidRequestError, match=instead):
        Settings().changed({"parameters": parameter})
    assert Settings().changed({"parameters": {"reasoning": {"max_tokens": 5}}}).parameters


def test_another_model_drops_what_went_with_the_old_one() -> None:
    old = Settings(model="local/a", window=512, base_url="http://x/v1", temperature=0.5, parameters={"seed": 7})
    new = old.changed({"model": "openai/b"})
    assert (new.window, new.base_url, new.parameters, new.temperature) == (None, None, {}, 0.5)
    assert old.changed({"model": "local/a"}).window == 512
    assert old.changed({"model": "local/b", "window": 100}).window == 100


def test_what_is_given_comes_before_configuration_and_that_before_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert default_settings({}, {}).model == "local/smollm2"
    monkeypatch.setenv("JUPYTER_CTX_MODEL", "openai/from-env")
    assert default_settings({}, {}).model == "openai/from-env"
    assert default_settings({"model": "openai/from-config"}, {}).model == "openai/from-config"
    assert default_settings({"model": "openai/from-config"}, {"model": "openai/given"}).model == "openai/given"


ELSEWHERE = {"model": "gpt-4o", "base_url": "https://proxy.example/v1"}


@pytest.mark.parametrize(
    ("begun", "then"),
    [
        ({}, ELSEWHERE),
        (ELSEWHERE, {"model": "openai/gpt-4o"}),  # the address went with the model
        (ELSEWHERE, {**ELSEWHERE, "model": "gpt-5.2"}),
        (ELSEWHERE, {"window": 8_192}),
        ({}, {"temperature": 0.5, "on_overflow": "stop"}),
    ],
)
def test_what_was_set_is_the_same_after_a_restart(begun: dict[str, Any], then: dict[str, Any]) -> None:
    first = Settings().changed(begun)
    now = first.changed(then)
    assert restored_settings(first, {**kept_settings(first, now), "footer": "off"}) == now  # of an older release


@pytest.mark.parametrize("address", ["https://u:p@proxy.example/v1", "https://proxy.example/v1?key=5"])
def test_an_address_with_a_key_is_no_setting(address: str) -> None:
    with pytest.raises(InvalidRequestError, match="must not contain a password"):
        Settings().changed({"model": "gpt-4o", "base_url": address})


def test_what_a_script_gives_comes_before_what_was_stored(tmp_path: Path) -> None:
    first = Chat("openai/gpt-4o", store=tmp_path / "s", name="x")
    first.add_messages([{"role": "user", "content": "Hello."}])
    first.configure(model="anthropic/claude-sonnet-5", temperature=0.5)
    first.close()
    again = Chat(store=tmp_path / "s", name="x")
    assert (again.config.model, again.config.temperature) == ("anthropic/claude-sonnet-5", 0.5)
    again.close()
    other = Chat("google/gemini-3.8-flash", store=tmp_path / "s", name="x")
    assert (other.config.model, other.config.temperature) == ("google/gemini-3.8-flash", 0.5)
    other.close()


def test_a_size_that_one_model_told_is_not_exact_for_another(tmp_path: Path, local_model: str) -> None:
    first = Chat(local_model, max_tokens=16, store=tmp_path / "s", name="x")
    first.send("Say hello.")
    first.close()
    same = Chat(store=tmp_path / "s", name="x", model=local_model, max_tokens=16)
    assert (same.info().exact, same.info().used) == (True, first.info().used)
    same.close()
    other = Chat("openai/gpt-4o", store=tmp_path / "s", name="x")
    assert not other.info().exact
    other.close()
