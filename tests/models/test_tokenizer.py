"""Counting by the vocabularies that come with the package, and what is known of models that have none."""

from __future__ import annotations

import subprocess
import sys

import pytest
import tiktoken_ext.openai_public as tiktoken_own
from hypothesis import given
from hypothesis import strategies as st
from tiktoken import Encoding

from jupyter_ctx import Chat
from jupyter_ctx.context.families import (
    CL100K,
    CLAUDE,
    LARGE_VOCABULARY,
    NEW_CLAUDE,
    O200K,
    SMALL_VOCABULARY,
    UNKNOWN,
    Family,
    family_of,
    thinks,
)
from jupyter_ctx.models.tokenizer import FOLDER, counter

VOCABULARIES = ("o200k_base", "cl100k_base")


@pytest.mark.parametrize("name", VOCABULARIES)
def test_counts_are_tiktokens_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = counter(name)  # type: ignore[arg-type]
    encoding = ours.__wrapped__.__closure__[0].cell_contents  # type: ignore[attr-defined]
    monkeypatch.setattr(tiktoken_own, "load_tiktoken_bpe", lambda *_, **__: encoding._mergeable_ranks)
    theirs = Encoding(**getattr(tiktoken_own, name)())

    @given(st.text() | st.text("aA 1.\n'sй語😀\t/-") | st.text("word It's 日本\r\n  ").map(lambda text: text * 3))
    def agree(text: str) -> None:
        assert ours(text) == len(theirs.encode_ordinary(text))

    agree()


@pytest.mark.parametrize("name", VOCABULARIES)
def test_the_vocabulary_is_the_one_that_tiktoken_expects(name: str) -> None:
    import hashlib
    import inspect
    import lzma

    data = lzma.decompress((FOLDER / f"{name}.tiktoken.xz").read_bytes())
    assert hashlib.sha256(data).hexdigest() in inspect.getsource(getattr(tiktoken_own, name))


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("openai/gpt-5.2", O200K),
        ("azure/gpt-4o-mini", O200K),
        ("o3-mini", O200K),
        ("groq/openai/gpt-oss-120b", O200K),
        ("gpt-4-turbo", CL100K),
        ("gpt-3.5-turbo", CL100K),
        ("anthropic/claude-sonnet-4-5", CLAUDE),
        ("claude-3-opus", CLAUDE),
        ("claude-opus-4-7", NEW_CLAUDE),
        ("openrouter/anthropic/claude-sonnet-5", NEW_CLAUDE),
        ("google/gemini-3.8-flash", LARGE_VOCABULARY),
        ("local/smollm2", SMALL_VOCABULARY),
        ("mistral-7b-instruct", SMALL_VOCABULARY),
        ("mistral-small-2506", LARGE_VOCABULARY),
        ("nobody/knows", UNKNOWN),
        ("turbo3", UNKNOWN),
    ],
)
def test_a_name_says_what_family_a_model_is_of(model: str, family: Family) -> None:
    assert family_of(model) is family


@pytest.mark.parametrize(
    "model",
    [
        "openai/o3",
        "gpt-5.2",
        "google/gemini-2.5-pro",
        "gemini-3.8-flash",
        "groq/openai/gpt-oss-120b",
        "deepseek/deepseek-reasoner",
        "ollama/deepseek-r1:7b",
        "together/deepseek-ai/DeepSeek-R1",
        "xai/grok-4",
        "qwen3-30b-thinking",
    ],
)
def test_models_that_think_are_known_by_name(model: str) -> None:
    assert thinks(model)


@pytest.mark.parametrize(
    "model", ["gpt-4o", "gpt-5-chat-latest", "gemini-2.5-flash-lite", "gemini-2.0-flash", "grok-3", "local/smollm2"]
)
def test_models_that_answer_at_once_are_not_taken_for_such(model: str) -> None:
    assert not thinks(model)


def test_a_prompt_is_counted_by_its_models_vocabulary() -> None:
    prompt = "An unbelievably straightforward sentence, repeated. " * 50
    by_model = Chat("openai/gpt-4o").preview(prompt).input_tokens
    guessed = Chat("openai/gpt-4o", token_counting="approximate").preview(prompt).input_tokens
    assert by_model == pytest.approx(counter("o200k_base")(prompt), abs=8)
    assert guessed == pytest.approx(by_model, rel=0.25)
    assert guessed != by_model
    claude = Chat("anthropic/claude-sonnet-5")
    assert claude.preview(prompt).input_tokens == pytest.approx(1.6 * guessed, rel=0.05)
    claude.configure(token_counting="tiktoken")
    assert claude.preview(prompt).input_tokens == pytest.approx(1.6 * by_model, rel=0.05)


SCRIPT = """
import sys
from jupyter_ctx import Chat
Chat({model!r}).preview("Hello, how are you?")
print("tiktoken" in sys.modules)
"""


@pytest.mark.parametrize(("model", "loaded"), [("gpt-4o", True), ("claude-sonnet-5", False), ("local/smollm2", False)])
def test_tiktoken_is_loaded_only_for_models_whose_vocabulary_it_has(model: str, loaded: bool) -> None:
    command = [sys.executable, "-c", SCRIPT.format(model=model)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(loaded)
