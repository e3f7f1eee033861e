"""How much a model holds, and who says so."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SHARED

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
        ("openrouter/anthropic/claude-opus-5", 1_000_000, "claude-opus-5"),
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


@pytest.mark.parametrize("name", ["", "/", "nobody-knows", "é/ü", "x" * 10_000])
def test_an_unknown_name_is_assumed_and_never_an_error(name: str) -> None:
    assert resolve_window(name) == ContextWindow(32_000)


def test_what_the_user_gives_comes_first() -> None:
    assert resolve_window("gpt-4o", window=9_000).source == "given"
    assert resolve_window("gpt-5", window=300_000).max_input_tokens == 272_000
    assert resolve_window("gpt-5", window=9_000).max_input_tokens is None


def test_a_given_window_is_never_above_what_a_refusal_taught() -> None:
    window = choose_window("x", [], given=128_000, served=SERVED, learned=8_192)
    assert (window.tokens, window.source, window.given) == (8_192, "learned", 128_000)
    assert choose_window("x", [], given=4_000, learned=8_192).source == "given"


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


@pytest.mark.skipif(not (SHARED / "model_windows.json").is_file(), reason="the collected windows are not here")
def test_well_known_windows_of_the_first_parties_are_right() -> None:
    rows = json.loads((SHARED / "model_windows.json").read_text("utf-8"))
    firsts = ("openai", "anthropic", "google")
    known = {n: r for n, r in rows.items() if r["confidence"] == "high" and r["provider"] in firsts and "/" not in n}
    wrong = [n for n, r in known.items() if resolve_window(n).tokens != r["context_window"]]
    assert len(wrong) <= 0.1 * len(known), wrong
