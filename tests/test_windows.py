"""How much a model holds, and who says so."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx import resolve_window
from jupyter_ctx.context.windows import ContextWindow, Table, choose_window, read_table
from jupyter_ctx.modelfiles import BUILT_IN
from scripts.builtin_windows import compiled

ROOT = Path(__file__).resolve().parents[1]
SERVED = ContextWindow(4_096, source="server")


def table(text: str) -> Table:
    return read_table(text, "user file", "models.json")


@pytest.mark.parametrize(
    ("name", "tokens", "row"),
    [
        ("gpt-4o-2024-08-06", 128_000, "gpt-4o"),
        ("openai/gpt-4o-mini", 128_000, "gpt-4o"),
        ("gpt-4-0613", 8_192, "gpt-4"),
        ("claude-3.5-sonnet", 200_000, "claude-3"),
        ("openrouter/anthropic/claude-opus-5", 1_000_000, "claude"),
        ("GPT-5-mini", 400_000, "gpt-5"),
    ],
)
def test_a_name_finds_its_exact_row_or_its_longest_prefix(name: str, tokens: int, row: str) -> None:
    window = resolve_window(name)
    assert (window.tokens, window.matched, window.source) == (tokens, row, "models.json")


def test_a_prefix_ends_where_a_word_does() -> None:
    rows = table('{"gpt-4": 8192, "my-": 5000}')
    assert rows.find("gpt-4o") is None
    assert rows.find("gpt-4-turbo") == ContextWindow(8_192, source="user file", matched="gpt-4")
    assert rows.find("my-model") == ContextWindow(5_000, source="user file", matched="my-")


@pytest.mark.parametrize(
    ("name", "tokens", "row"),
    [
        ("models/gemini-3.1-pro-preview", 1_048_576, "gemini"),
        ("publishers/google/models/gemini-2.5-flash-001", 1_048_576, "gemini"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", 200_000, "claude-sonnet-4"),
        ("bedrock/eu.anthropic.claude-haiku-4-5-20991231-v1:0", 200_000, "claude-haiku-4-5"),
        ("mistral.mistral-large-4-v1:0", 1_048_576, "mistral-large-4"),
        ("meta.llama3-1-70b-instruct-v1:0", 131_072, "llama-3.1-70b-instruct"),
        ("claude-sonnet-4-5@20250929", 200_000, "claude-sonnet-4"),
        ("claude-sonnet-4.5", 200_000, "claude-sonnet-4"),
        ("claude-opus-4.6-20991231", 1_000_000, "claude-opus-4-6"),
        ("databricks-claude-opus-4-5", 200_000, "claude-opus-4"),
        ("openrouter/~anthropic/claude-fable-latest", 1_000_000, "claude"),
        ("openrouter/meta-llama/llama-3.3-70b-instruct:free", 131_072, "llama-3.3-70b-instruct"),
        ("openrouter/openai/gpt-oss-20b:nitro", 131_072, "gpt-oss"),
        ("ft:gpt-4o-mini:org::id", 128_000, "gpt-4o"),
        ("ft:gpt-4.1-2025-04-14:org:suffix:id", 1_047_576, "gpt-4.1"),
        ("azure/gpt-35-turbo-0125", 16_385, "gpt-3.5-turbo"),
        ("fireworks/accounts/fireworks/models/llama-v3p1-70b-instruct", 131_072, "llama-3.1-70b-instruct"),
        ("accounts/fireworks/models/glm-4p7", 204_800, "glm-4.7"),
        ("together/meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo", 131_072, "llama-3.1-8b-instruct"),
        ("ollama/llama3.2:1b", 128_000, "llama"),
        ("ollama/gemma3:27b", 131_072, "gemma-3"),
        ("cerebras/zai-glm-4.7", 131_072, "cerebras/zai-glm-4.7"),
        ("hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M", 131_072, "llama-3-2-3b"),
        ("deepseek/deepseek-reasoner", 1_000_000, "deepseek"),
        ("mistral/mistral-large-4-2099", 1_048_576, "mistral-large-4"),
        ("gpt-5.2-2099-12-31", 400_000, "gpt-5"),
        ("gpt-6.2-sol", 1_050_000, "gpt"),
        ("claude-opus-9", 1_000_000, "claude"),
    ],
)
def test_a_name_is_found_as_each_provider_writes_it(name: str, tokens: int, row: str) -> None:
    window = resolve_window(name)
    assert (window.tokens, window.matched) == (tokens, row)


@pytest.mark.parametrize(
    ("name", "window", "max_input"),
    [
        ("gpt-5-nano", 400_000, 272_000),
        ("gpt-5.4-2099-01-01", 1_050_000, 922_000),
        ("gpt-5-chat-latest", 128_000, None),
    ],
)
def test_openais_windows_are_a_cap_on_the_input_and_the_rest_for_the_reply(
    name: str, window: int, max_input: int | None
) -> None:
    found = resolve_window(name)
    assert (found.tokens, found.max_input_tokens) == (window, max_input)


def test_a_row_may_be_spelled_in_another_way_than_the_name() -> None:
    rows = table('{"claude-opus-4-5": 1, "gpt-4.1": 2, "llama-3.2": 3, "us.anthropic.claude-x": 4}').find
    names = ("claude-opus-4.5", "openai/gpt-4-1-mini", "llama3.2:1b", "us.anthropic.claude-x-v1:0")
    assert [window.tokens for name in names if (window := rows(name))] == [1, 2, 3, 4]


def test_of_two_spellings_the_same_one_answers() -> None:
    rows = table('{"gpt-4.1": 1, "gpt-4-1": 2}').find
    assert [window.tokens for name in ("gpt-4.1", "gpt-4-1") if (window := rows(name))] == [1, 2]


def test_a_row_that_names_only_a_provider_comes_last() -> None:
    rows = table('{"mistral": 1, "mistral-small": 2, "openrouter/": 3}').find
    names = ("mistral/mistral-small-1", "mistral/codestral", "openrouter/a/b", "openrouter/mistral-small")
    assert [window.tokens for name in names if (window := rows(name))] == [2, 1, 3, 2]


def test_a_word_is_not_a_prefix_of_a_longer_one() -> None:
    rows = table('{"my-model": 1, "gpt-4": 2}').find
    assert [rows(name) for name in ("my-model2", "my-models", "gpt-4o", "gpt-41", "gpt")] == [None] * 5


@pytest.mark.parametrize(
    "name", ["", "/", "nobody-knows", "é/ü", "x" * 10_000, "openai/", "ft:", "meta-", ".", ":free"]
)
def test_an_unknown_name_is_assumed_and_never_an_error(name: str) -> None:
    assert resolve_window(name) == ContextWindow(32_000)


@pytest.mark.parametrize("part", ["/", "/a", "a.", "-", "meta-", "a/-.", "1p", "llama3", ":"])
def test_odd_names_are_fast(part: str) -> None:
    start = time.process_time()
    resolve_window(part * (10_000 // len(part)))
    assert time.process_time() - start < 1


@given(st.text(max_size=300))
def test_every_name_has_a_window(name: str) -> None:
    assert resolve_window(name).tokens > 0


def test_what_the_user_gives_comes_first() -> None:
    assert resolve_window("gpt-4o", window=9_000).source == "given"
    assert resolve_window("gpt-5", window=300_000).max_input_tokens == 272_000
    assert resolve_window("gpt-5", window=9_000).max_input_tokens is None


def test_a_server_beats_the_tables_but_not_the_user() -> None:
    assert choose_window("gpt-4o", [BUILT_IN], served=SERVED) == SERVED
    assert choose_window("gpt-4o", [BUILT_IN], served=SERVED, given=2_000).tokens == 2_000


def test_the_users_file_comes_before_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"gpt": 1234, "my-model": {"context_window": 400, "max_input_tokens": 300}}')
    monkeypatch.setenv("JUPYTER_CTX_MODELS", str(path))
    assert resolve_window("gpt-4o") == ContextWindow(1_234, source="user file", matched="gpt")
    assert resolve_window("my-model").max_input_tokens == 300


def test_jupyters_config_folder_holds_the_users_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "config" / "jupyter_ctx"
    folder.mkdir(parents=True)
    (folder / "models.json").write_text('{"my-model": 32768}')
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    assert resolve_window("my-model").tokens == 32_768


@pytest.mark.parametrize("text", ["[1, 2]", "{", "3", '{"a": 0, "b": true, "c": "8k", "d": [], "e": {}}', "\ufeff{}"])
def test_a_malformed_table_is_empty_and_says_why(text: str) -> None:
    rows = table(text)
    assert rows.rows == {}
    assert rows.problem
    assert "models.json" in rows.problem


def test_the_compiled_table_is_the_file() -> None:
    text = (ROOT / "jupyter_ctx" / "context" / "builtin_windows.py").read_text("utf-8")
    assert compiled((ROOT / "models.json").read_text("utf-8")) == text


@pytest.mark.parametrize(
    ("content", "source"), [(None, "built in"), ("[]", "built in"), ('{"gpt-4o": 5}', "models.json")]
)
def test_the_built_in_table_answers_where_our_file_is_missing_or_malformed(
    tmp_path: Path, content: str | None, source: str
) -> None:
    shutil.copytree(ROOT / "jupyter_ctx", tmp_path / "jupyter_ctx", ignore=shutil.ignore_patterns("__pycache__"))
    if content is not None:
        (tmp_path / "models.json").write_text(content)
    script = "from jupyter_ctx import resolve_window; print(resolve_window('gpt-4o').source)"
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == source
