"""Counting by the vocabularies that come with the package, and what is known of models that have none."""

from __future__ import annotations

import base64
import hashlib
import inspect
import random
import string
import subprocess
import sys
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
import tiktoken_ext.openai_public as tiktoken_own
from hypothesis import given
from hypothesis import strategies as st
from tiktoken import Encoding

from jupyter_ctx import Chat
from jupyter_ctx.config.settings import Settings
from jupyter_ctx.context.families import (
    CLAUDE_3,
    CLAUDE_5,
    DEEPSEEK,
    LLAMA_2,
    LLAMA_3,
    LLAMA_4,
    QWEN,
    SMOLLM,
    TEKKEN,
    UNKNOWN,
    ratios_of,
    vocabulary_of,
)
from jupyter_ctx.context.tokens import Fixed, Meter, SentRequest
from jupyter_ctx.context.usage import Usage
from jupyter_ctx.models.registry import Models
from jupyter_ctx.models.tokenizer import FOLDER, counter, encoding_of, ranks_of
from jupyter_ctx.providers.base import Reply
from scripts.vocabularies import packed

pytestmark = pytest.mark.core

VOCABULARIES = ("o200k_base", "cl100k_base")


TEXTS = (
    st.text()
    | st.text("aA 1.\n'sй語😀\t/-")
    | st.text("word It's 日本\r\n  ").map(lambda text: text * 3)
    | st.text(string.ascii_letters + string.digits + "  '-_=", min_size=20)
)


def theirs(name: str, monkeypatch: pytest.MonkeyPatch) -> Encoding:
    """tiktoken's own encoding, with the vocabulary that it would download."""
    monkeypatch.setattr(tiktoken_own, "load_tiktoken_bpe", lambda *_, **__: ranks_of(name))  # type: ignore[arg-type]
    return Encoding(**getattr(tiktoken_own, name)())


@pytest.mark.parametrize("name", VOCABULARIES)
def test_counts_are_tiktokens_own(name: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    encoding = theirs(name, monkeypatch)

    @given(TEXTS)
    def agree(text: str) -> None:
        assert counter(name)(text) == len(encoding.encode_ordinary(text))

    agree()


@pytest.mark.parametrize("name", VOCABULARIES)
def test_the_vocabulary_is_the_one_that_tiktoken_expects(name: Any) -> None:
    ranks = sorted(ranks_of(name).items(), key=itemgetter(1))
    data = b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks)
    assert hashlib.sha256(data).hexdigest() in inspect.getsource(getattr(tiktoken_own, name))
    assert packed(dict(ranks)) == (FOLDER / f"{name}.ranks").read_bytes()


RATIOS: tuple[tuple[tuple[float, ...], str], ...] = (
    (SMOLLM, "local/smollm2"),
    (LLAMA_2, "mistral-7b-instruct ollama/mixtral:8x7b mixtral-8x7b-32768"),
    (TEKKEN, "mistral-small-2506"),
    (LLAMA_3, "groq/llama-3.3-70b-versatile ollama/llama3.2:1b"),
    (LLAMA_4, "meta-llama/llama-4-scout"),
    (QWEN, "qwen3-32b deepseek-r1-distill-qwen-7b"),
    (DEEPSEEK, "deepseek/deepseek-chat"),
    (CLAUDE_3, "anthropic/claude-sonnet-4-6 claude-3-opus"),
    (CLAUDE_5, "claude-opus-4-7 openrouter/anthropic/claude-sonnet-5"),
)


def test_a_name_says_what_family_a_model_is_of_and_what_ratios_are_likely() -> None:
    for ratios, models in RATIOS:
        assert {ratios_of(model) for model in models.split()} == {(ratios,)}
    for model in ("openai/gpt-5.2", "azure/gpt-4o-mini", "o3-mini", "groq/openai/gpt-oss-20b"):
        assert vocabulary_of(model) == "o200k_base"
    assert vocabulary_of("gpt-4-turbo") == vocabulary_of("gpt-3.5-turbo") == "cl100k_base"
    assert ratios_of("nobody/knows") is ratios_of("turbo3") is UNKNOWN


PROMPT = "An unbelievably straightforward sentence, repeated. " * 50


def test_a_prompt_is_estimated_by_the_models_family_and_counted_where_that_is_asked_for() -> None:
    exact = counter("o200k_base")(PROMPT)
    guessed, claude = Chat("openai/gpt-4o").preview(PROMPT).input_tokens, Chat("anthropic/claude-sonnet-5")
    assert guessed == pytest.approx(exact, rel=0.25)
    assert claude.preview(PROMPT).input_tokens == pytest.approx(1.6 * guessed, rel=0.05)
    gpt = Chat("openai/gpt-4o", token_counting="tiktoken")
    assert gpt.preview(PROMPT).input_tokens == pytest.approx(exact, abs=10)


def test_the_vocabulary_counts_from_the_first_report_on() -> None:
    models = Models()
    target, exact = models.target(Settings(model="openai/gpt-4o"), ask=False), counter("o200k_base")(PROMPT)
    assert target.meter.tokens(PROMPT) != exact
    models.counted(target, SentRequest(Fixed(), "Hi"), Reply("Hello."), Usage(8, 3), turn_id="a")
    assert target.meter.tokens(PROMPT) == exact


ALPHANUMERIC = string.ascii_letters + string.digits


def letters(alphabet: str, length: int) -> str:
    return "".join(random.Random(length).choices(alphabet, k=length))


LETTER_RUNS: dict[str, Callable[[int], str]] = {
    "DNA": lambda length: letters("ACGT", length),
    "DNA in lines": lambda length: "\n".join(letters("acgt", 60 + line % 3) for line in range(length // 60)),
    "protein": lambda length: letters("AAARRNNDDCQQEEEGGGHIIILLLLKKKMFFPPSSSTTTWYVVV", length),
    "SHA-256": lambda length: " ".join(hashlib.sha256(b"%d" % number).hexdigest() for number in range(length // 64)),
    "base64": lambda length: base64.b64encode(random.Random(length).randbytes(3 * length // 4)).decode(),
    "keys": lambda length: "\n".join(letters(ALPHANUMERIC, 30 + line % 15) for line in range(length // 40)),
}


@pytest.mark.parametrize("kind", LETTER_RUNS)
def test_runs_of_letters_are_estimated_within_a_third_before_any_report(kind: str) -> None:
    for length in (200, 2_000, 20_000):
        text = LETTER_RUNS[kind](length)
        truth = len(encoding_of("o200k_base").encode_ordinary(text))
        for family in map(ratios_of, ("claude-3", "claude-5", "mistral-large", "nobody/knows", "gpt-4o")):
            assert Meter(family).tokens(text) == pytest.approx(truth, rel=1 / 3), (length, family)


SCRIPT = """
import sys, threading
sys.path.insert(0, sys.argv[1])
from server import events, piece, serve, usage
from jupyter_ctx import Chat
with serve(events(piece("Hi."), piece("", "stop"), usage(9, 2))) as (url, _):
    chat = Chat(sys.argv[2], base_url=url)
    chat.preview("Hello, how are you? " * 9_000)
    print("tiktoken" in sys.modules)
    chat.send("x")
    [thread.join() for thread in threading.enumerate() if thread.name == "jupyter_ctx vocabulary"]
    print("tiktoken" in sys.modules)
"""


@pytest.mark.parametrize(("model", "is_loaded"), [("gpt-4o", True), ("claude-sonnet-5", False)])
def test_a_vocabulary_is_loaded_after_the_first_request_and_only_its_models(model: str, is_loaded: bool) -> None:
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parents[1] / "support"), model]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", str(is_loaded)]
