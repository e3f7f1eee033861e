"""A notebook of a course: what stands beside it, and what a hub puts into its environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from answering_rows import Asked, answering_rows
from cells import Open
from kernels import Kernel, error

from jupyter_ctx import BudgetExceededError, Chat, InvalidRequestError, get_chat
from jupyter_ctx.magics.cell_gauge import offered_models
from jupyter_ctx.session.session import source_of

KEY = "sk-hub-0123456789abcdef"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """A gateway, with its address and key in the environment."""
    with answering_rows(lambda prompt: "Blue.") as asked:
        monkeypatch.setenv("LITELLM_API_BASE", asked.url)
        monkeypatch.setenv("LITELLM_API_KEY", KEY)
        yield asked


def course(folder: Path, text: str) -> None:
    (folder / "jupyter_ctx.toml").write_text(text)


# the environment


def test_a_hub_needs_no_key_typed_and_is_named_once(opened: Open, hub: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_CTX_MODEL", "litellm/openai/gpt-5.4-mini")
    cells = opened()
    said = cells.run("%%chat\nWhich colour is the sky?")
    line = f"Model litellm/openai/gpt-5.4-mini at {hub.url}, as set by JUPYTER_CTX_MODEL and LITELLM_API_BASE in the"
    assert line in said
    assert "Blue." in said
    assert line not in cells.run("%%chat\nAnd the sea?")
    assert "environment" not in opened().run("%%chat\nAnd a rose?")  # after a restart
    assert {request["model"] for request in hub.requests} == {"openai/gpt-5.4-mini"}
    assert {request["authorization"] for request in hub.requests} == {f"Bearer {KEY}"}
    assert KEY not in said + cells.run("%chat config") + cells.run("%chat status")


def test_an_address_of_the_environment_goes_with_its_model_and_no_other_address_gets_a_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with answering_rows(lambda prompt: "Blue.") as hub, answering_rows(lambda prompt: "Red.") as other:
        monkeypatch.setenv("JUPYTER_CTX_MODEL", "qwen")
        monkeypatch.setenv("JUPYTER_CTX_BASE_URL", f"{hub.url}/")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert Chat().send("x").text == "Blue."
        assert Chat("qwen", base_url=other.url).send("x").text == "Red."
        assert Chat("openai/gpt-4o").config.base_url is None
    assert {request["authorization"] for request in (*hub.requests, *other.requests)} == {None}


def test_a_password_in_ollamas_own_address_is_not_told(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://me:K-secret@ollama.example")
    monkeypatch.setenv("JUPYTER_CTX_MODEL", "ollama/qwen")
    said = opened().run("%chat config model")
    assert "OLLAMA_HOST" in said
    assert "K-secret" not in said


@pytest.mark.parametrize(
    ("variable", "address"),
    [("OPENAI_BASE_URL", "http://h/v1?api_key=K-secret"), ("LITELLM_API_BASE", "http://u:K-secret@h/v1")],
)
def test_an_address_with_a_key_in_it_is_refused_and_its_variable_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, address: str
) -> None:
    monkeypatch.setenv(variable, address)
    monkeypatch.setenv("JUPYTER_CTX_MODEL", "litellm/m" if variable == "LITELLM_API_BASE" else "openai/gpt-4o")
    with pytest.raises(InvalidRequestError, match=variable) as raised:
        Chat().send("x")
    assert "K-secret" not in str(raised.value)


# the file


def test_the_file_is_read_at_the_first_use_told_once_and_named_as_the_source(
    opened: Open, hub: Asked, tmp_path: Path
) -> None:
    cells = opened()
    course(tmp_path, 'model = "litellm/gpt-5.4-mini"\nsystem = "Be a tutor."\n[settings]\nmax_tokens = 100\n')
    said = cells.run("%%chat\nWhich colour is the sky?")
    line = (
        "jupyter_ctx.toml beside this notebook sets: max_tokens 100; model litellm/gpt-5.4-mini; system 'Be a tutor.'"
    )
    assert line in said
    assert hub.requests[0]["messages"][0] == {"role": "system", "content": "Be a tutor."}
    shown = {row.split()[0]: row for row in cells.run("%chat config").splitlines() if "jupyter_ctx.toml" in row}
    assert set(shown) == {"model", "system", "max_tokens"}
    cells.run("%chat config max_tokens 200")
    assert source_of(get_chat().session, "max_tokens") == "set here"
    assert "max_tokens = 100 (jupyter_ctx.toml)" in cells.run("%chat config max_tokens default")
    cells.run("%chat config max_tokens 200")
    assert "jupyter_ctx.toml" not in opened().run("%%chat\nAnd the sea?")
    assert get_chat().config.max_tokens == 200, "what the conversation has of its own comes first"
    course(tmp_path, "max_tokens = 50\nbudget_share = 0.5\n")
    said = opened().run("%chat config gauge")
    assert "sets: budget_share 0.5. It leaves this conversation its own max_tokens 200." in said


def test_a_course_caps_what_a_conversation_costs_and_only_without_its_file_is_that_raised(
    opened: Open, hub: Asked, tmp_path: Path
) -> None:
    priced = 'model = "litellm/gpt-5.2"\nprices = [3, 15]\nmax_tokens = 1000\nmax_cost = 0.01\nlock = ["max_cost"]'
    course(tmp_path, priced)
    cells = opened()
    assert "max_cost = 0.01 (jupyter_ctx.toml)" in cells.run("%chat config max_cost")
    assert "$0.01 of $0.01 left" in " ".join(cells.run("%chat status").split())
    assert isinstance(cells.fail("%chat config max_cost 2"), InvalidRequestError)
    assert "locked" in str(cells.fail("%chat config prices 0,0"))
    cells.run("%chat use litellm/gpt-4o\n%chat use litellm/gpt-5.2")
    assert "prices = 3,15 (jupyter_ctx.toml)" in cells.run("%chat config prices")
    assert isinstance(cells.fail("%%chat\nWhich colour is the sky?"), BudgetExceededError)
    assert not hub.requests


def test_a_script_of_the_same_notebook_is_not_bound(opened: Open, tmp_path: Path) -> None:
    course(tmp_path, 'model = "openai/gpt-5.4-mini"\nlock = ["model"]\n')
    opened()
    assert get_chat().config.model == "openai/gpt-5.4-mini"
    assert Chat().config.model == "local/smollm2"


def test_ipythons_configuration_comes_before_the_file_unless_it_is_locked(opened: Open, tmp_path: Path) -> None:
    course(tmp_path, "max_tokens = 50\ntemperature = 0.5\nmax_turns = 2\nlock = ['temperature']\n")
    cells = opened()
    cells.shell.config.Chat.max_tokens = 70
    cells.shell.config.Chat.temperature = 1.0
    cells.run("%chat config gauge")
    now = get_chat().config
    assert (now.max_tokens, now.temperature, now.max_turns) == (70, 0.5, 2)
    assert source_of(get_chat().session, "max_tokens") == "at the start"


def test_the_menu_is_there_although_the_model_is_not(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_CTX_MODEL", "opnai/gpt-5.2")
    opened()
    assert "local/smollm2" in [name for name, *_ in offered_models(get_chat())]


LOCKED = 'max_tokens = 100\nsystem = "Be a tutor."\nlock = ["max_tokens", "system"]\n'


@pytest.mark.parametrize("cell", [
    "%chat use litellm/c", "%chat config summary_model litellm/c", "%%chat -m litellm/c\nx",
    "%%chat preview -m litellm/c\nx",
    "%chat config max_tokens 200", "%%chat --max-tokens 200\nx", "%%chat system\nBe rude.",
    "get_chat().map('{{ x }}', [{'x': 1}], model='litellm/c')",
    "get_chat().sweep('{{ x }}', [{'x': 1}], {'max_tokens': [100, 200]})",
    "run = get_chat().map('{{ x }}', [{'x': 1}], dry_run=True); run.repeat(max_tokens=200)",
])  # fmt: skip
def test_what_is_locked_cannot_be_changed_and_the_error_says_how(
    opened: Open, hub: Asked, tmp_path: Path, cell: str
) -> None:
    course(tmp_path, f'model = "litellm/a"\n{LOCKED}'.replace('"system"]', '"system", "model"]'))
    cells = opened()
    cells.run("from jupyter_ctx import get_chat")
    assert "remove jupyter_ctx.toml" in str(cells.fail(cell))
    assert not hub.requests
    config = get_chat().config
    assert (config.model, config.max_tokens, get_chat().system) == ("litellm/a", 100, "Be a tutor.")
    assert [name for name, *_ in offered_models(get_chat())] == ["litellm/a"]


def test_a_lock_holds_for_a_conversation_of_an_earlier_day_and_its_address_stays(opened: Open, tmp_path: Path) -> None:
    with answering_rows(lambda prompt: "Blue.") as mine:
        cells = opened()
        cells.run(f"%chat use m --base-url {mine.url} --max-tokens 300")
        cells.run("%%chat system\nBe rude.")
        cells.run("%%chat\nWhich colour is the sky?")
        course(tmp_path, f'{LOCKED}model = "openai/gpt-5.4-mini"\n'.replace('"system"]', '"system", "model"]'))
        opened().run("%%chat\nAnd the sea?")
    assert (mine.requests[-1]["model"], mine.requests[-1]["max_tokens"]) == ("gpt-5.4-mini", 100)
    assert mine.requests[-1]["messages"][0]["content"] == "Be a tutor."
    (tmp_path / "jupyter_ctx.toml").unlink()
    opened()
    assert get_chat().system == "Be rude."


@pytest.mark.parametrize(("answer", "model"), [("y", "openai/gpt-5.4-mini"), ("n", "local/smollm2")])
def test_a_provider_that_only_the_file_names_is_asked_about_once(
    kernel: Kernel, tmp_path: Path, answer: str, model: str
) -> None:
    course(tmp_path, 'model = "openai/gpt-5.4-mini"\nmax_tokens = 100\nlock = ["model"]\n')
    kernel.run(f"import os; os.chdir({str(tmp_path)!r}); os.environ['OPENAI_API_KEY'] = {KEY!r}")
    said = str(kernel.run("%chat config max_tokens", typed=[answer]))
    assert "openai/gpt-5.4-mini" in kernel.asked[-1]
    assert "max_tokens = 100" in said
    assert ("%chat use openai/gpt-5.4-mini" in said) == (answer == "n")
    assert kernel.value("get_chat().config.model") == model
    assert error(kernel.run("%chat new other")) is None
    assert kernel.value("get_chat().config.model") == model
    assert len(kernel.asked) == 1
    kernel.run("os.chdir('/'); del os.environ['OPENAI_API_KEY']")


def test_where_nobody_can_be_asked_that_provider_is_not_used(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    course(tmp_path, 'model = "openai/gpt-5.4-mini"\nsystem = "Be a tutor."\n')
    said = opened().run("%chat config gauge")
    assert "%chat use openai/gpt-5.4-mini" in said
    assert "sets: system 'Be a tutor.'." in said
    assert get_chat().config.model == "local/smollm2"
