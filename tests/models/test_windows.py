"""How much a model holds, and who says so."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from jupyter_ctx import Chat, resolve_window
from jupyter_ctx.config.settings import Settings
from jupyter_ctx.context.windows import (
    ContextWindow,
    WindowTable,
    choose_window,
    read_table,
    same_window,
    stated_size,
)
from jupyter_ctx.models.registry import Models
from jupyter_ctx.models.window_tables import load_tables

SERVED = ContextWindow(4_096, source="server")


def table(text: str) -> WindowTable:
    return read_table(text, "user file", "models.json")


AS_WRITTEN = {  # a fact, as each provider writes the name
    2_048: "ollama/tinyllama EleutherAI/gpt-neox-20b",
    4_096: """TheBloke/Llama-2-7B-Chat-AWQ llama-2-7b-chat.Q4_K_M.gguf
        replicate/meta/llama-2-70b-chat:02e509c789964a7ea8736978a43525956ef40397be9033abf9fd2badfe68c9e3""",
    8_192: "ollama/llama3 Meta-Llama-3-70B-Instruct-Q4_K_M-00001-of-00002.gguf bigcode/starcoder",
    16_384: "ollama/deepseek-coder:6.7b",
    16_385: "azure/gpt-35-turbo-0125",
    32_768: """azure/gpt-4-32k ollama/mistral:7b ollama/mistral:7b-instruct-v0.2-q4_K_M
        gemini/gemini-2.5-flash-image""",
    100_000: "anthropic.claude-instant-v1",
    128_000: """meta.llama3-1-70b-instruct-v1:0 openrouter/meta-llama/llama-3.3-70b-instruct:free ft:gpt-4o-mini:org::id
        fireworks/accounts/fireworks/models/llama-v3p1-70b-instruct ollama/llama3.2:1b""",
    131_072: """openrouter/openai/gpt-oss-20b:nitro together/meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo
        ollama/gemma3:27b cerebras/zai-glm-4.7 hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M xai/grok-beta""",
    200_000: """us.anthropic.claude-sonnet-4-20250514-v1:0 bedrock/eu.anthropic.claude-haiku-4-5-20991231-v1:0
        bedrock/us-east-1/anthropic.claude-v2:1 claude-haiku-4-5@20250929 claude-sonnet-4.5
        databricks-claude-opus-4-5""",
    204_800: "accounts/fireworks/models/glm-4p7",
    400_000: "gpt-5.2-2099-12-31",
    1_000_000: "claude-opus-4.6-20991231 openrouter/~anthropic/claude-fable-latest deepseek/deepseek-reasoner",
    1_047_576: "ft:gpt-4.1-2099-04-14:org:suffix:id",
    1_048_576: """models/gemini-3.1-pro-preview publishers/google/models/gemini-2.5-flash-001
        mistral.mistral-large-4-v1:0 mistral/mistral-large-4-2612""",
}  # fmt: skip
NATIVE = {
    4_096: "deepseek-ai/deepseek-math-7b-instruct TheBloke/Llama-2-13B-chat-AWQ allenai/OLMo-2-1124-7B-Instruct",
    8_192: "Qwen/Qwen-7B-Chat Qwen/Qwen-7B-Chat-Int4 qwen-14b-chat-int4 Qwen/Qwen-1_8B-Chat meta-llama/Meta-Llama-3-8B",
    32_768: """Qwen/Qwen3-8B-Base Qwen/Qwen2.5-7B-Instruct Qwen/Qwen-72B-Chat google/gemma-3-1b-it Qwen/QwQ-32B-Preview
        ollama/hf.co/bartowski/Qwen2.5-7B-Instruct-GGUF:Q4_K_M ollama/gemma3:1b internlm/internlm3-8b-instruct""",
    40_960: """Qwen/Qwen3-8B Qwen/Qwen3-32B-AWQ Qwen/Qwen3-30B-A3B ollama/qwen3:14b-q8_0 unsloth/Qwen3-14B-bnb-4bit
        Qwen3-32B-Q4_K_M.gguf together/Qwen/Qwen3-8B hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M""",
    65_536: "HuggingFaceTB/SmolLM3-3B ollama/mixtral:8x22b",
    131_072: """groq/qwen/qwen3-32b groq/qwen3-32b deepseek-ai/DeepSeek-R1-Distill-Qwen-7B THUDM/glm-4-9b-chat
        meta-llama/Llama-3.2-1B-Instruct ollama/deepseek-r1:8b""",
    262_144: """Qwen/Qwen3-4B-Instruct-2507 Qwen/Qwen3-4B-Thinking-2507-FP8 Qwen/Qwen3-30B-A3B-Thinking-2507-GGUF
        Qwen/Qwen3-VL-30B-A3B-Thinking Qwen/Qwen3-Next-80B-A3B-Instruct ollama/qwen3-coder:30b
        together/google/gemma-4-31B-it CohereForAI/c4ai-command-a-03-2025""",
    1_010_000: "Qwen/Qwen2.5-7B-Instruct-1M",
}  # fmt: skip


def wrong(table: dict[int, str]) -> dict[str, ContextWindow]:
    """The models of a table to which another window is given."""
    answers = {name: (resolve_window(name), size) for size, names in table.items() for name in names.split()}
    return {name: window for name, (window, size) in answers.items() if window.tokens != pytest.approx(size, rel=0.05)}


def test_an_open_model_holds_what_it_was_trained_with_unless_its_host_says_otherwise() -> None:
    assert not wrong(NATIVE)


def test_a_models_window_is_a_fact_as_each_provider_writes_its_name() -> None:
    assert not wrong(AS_WRITTEN)
    assert {resolve_window(name).source for name in " ".join(AS_WRITTEN.values()).split()} == {"models.json"}


def test_a_prefix_ends_where_a_word_does() -> None:
    rows = table('{"gpt-4": 8192, "my-": 5000}')
    assert rows.find("gpt-4o") is None
    assert rows.find("gpt-4-turbo") == ContextWindow(8_192, source="user file", matched="gpt-4")
    assert rows.find("my-model") == ContextWindow(5_000, source="user file", matched="my-")


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("claude-next-9", "claude"),
        ("openrouter/openai/gpt-99-image", "gpt"),
        ("gpt-4o-2024-08-06-tts", "gpt-4o"),
        ("mixtral-8x7b-instruct-v0.1-abliterated", "mixtral-8x7b-instruct-v0-1"),
    ],
)
def test_a_family_or_a_relative_makes_a_window_likely_but_no_fact(name: str, row: str) -> None:
    window = resolve_window(name)
    assert (window.source, window.matched) == ("assumed", row)
    assert window.origin == f"assumed ({row})"


@pytest.mark.parametrize("more", [
    "-2024-08-06", "@20250929", "-20250929-v1:0", "-0613", "-latest", "@001", ":free", "-instruct", "-chat-hf",
    "-Q4_K_M", "-iq3_xxs", "-awq", "-fp8", "-4.0bpw-exl2", "-gptq-4bit-128g", "",
])  # fmt: skip
def test_a_date_a_format_or_a_way_to_be_served_leaves_the_window_a_fact(more: str) -> None:
    rows = WindowTable({"model-1-7b": (1_000, None, None)}, "models.json")
    assert rows.find(f"host/Model-1-7b{more}") == ContextWindow(1_000, source="models.json", matched="model-1-7b")


@pytest.mark.parametrize("more", [
    "-70b", ".5", "-v0.2", "-mini", "-image", "-vision", "-turbo", "-8k", ":extended", "-2024-08-06-mini", "-preview",
    "-gguf-lora", "-2048", "x-1",
])  # fmt: skip
def test_another_size_version_or_kind_makes_it_a_guess(more: str) -> None:
    found = choose_window(f"model-1-7b{more}", [WindowTable({"model-1-7b": (1_000, None, None)}, "models.json")])
    assert found.source == "assumed"


@pytest.mark.parametrize(
    ("name", "tokens", "size"),
    [
        ("x-4k", 4_096, "-4k"),
        ("x:128k", 128_000, "-128k"),
        ("x-7b-65k", 65_000, "-65k"),
        ("x-14b-instruct-1m", 1_000_000, "-1m"),
    ],
)
def test_a_size_in_a_name_is_read(name: str, tokens: int, size: str) -> None:
    assert choose_window(name, []) == ContextWindow(tokens, matched=size)


@pytest.mark.parametrize("name", [
    "x-2024", "x-70b", "x-3.5", "x-0613", "x:8x7b", "x-70m", "x-15k", "x-7.4k", "x-1.5m", "x-20480", "8k/x", "x-4kb",
])  # fmt: skip
def test_years_versions_and_numbers_of_parameters_are_no_sizes(name: str) -> None:
    assert stated_size(name) is None


def test_a_size_in_a_name_counts_before_a_familys_row_and_after_a_models_own() -> None:
    rows = WindowTable({"phi-": (131_072, None, None), "gpt-4-32k": (32_769, None, None)}, "models.json")
    assert choose_window("phi-9-mini-4k-instruct", [rows]) == ContextWindow(4_096, matched="-4k")
    assert choose_window("gpt-4-32k-0613", [rows]) == ContextWindow(32_769, source="models.json", matched="gpt-4-32k")


def test_a_fact_of_any_table_comes_before_a_guess_of_another() -> None:
    ours = WindowTable({"claude-": (1_000_000, None, None)}, "models.json")
    listed = WindowTable({"claude-next-9": (555_000, None, None)}, "provider")
    assert choose_window("claude-next-9", [ours, listed]).tokens == 555_000
    assert choose_window("claude-next-8", [ours, listed]).source == "assumed"


def test_a_row_may_be_spelled_in_another_way_than_the_name() -> None:
    rows = table('{"claude-opus-4-5": 1, "gpt-4.1": 2, "llama-3.2": 3, "us.anthropic.claude-x": 4}').find
    names = ("claude-opus-4.5", "openai/gpt-4-1-mini", "llama3.2:1b", "us.anthropic.claude-x-v1:0")
    assert [window.tokens for name in names if (window := rows(name))] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "name", ["", "/", "nobody-knows", "é/ü", "x" * 10_000, "openai/", "ft:", "meta-", ".", ":free"]
)
def test_an_unknown_name_is_assumed_and_never_an_error(name: str) -> None:
    assert resolve_window(name) == ContextWindow(32_000)


@pytest.mark.parametrize(
    "part", ["/", "a.", "meta-", "a/-.", "1p", "llama3", "-q4_k", "-2024-08", "-hf", ":1", "-v1:0"]
)
def test_odd_names_are_fast(part: str) -> None:
    start = time.process_time()
    for length in (180, 10_000):
        name = part * (length // len(part)) + "!"
        assert not same_window(name)
        assert resolve_window(name).tokens > 0
    assert time.process_time() - start < 1


def test_what_the_user_gives_comes_first() -> None:
    assert resolve_window("gpt-4o", window=9_000).source == "given"
    assert resolve_window("gpt-5.2", window=300_000).max_input_tokens == 272_000
    assert resolve_window("gpt-5.2", window=9_000).max_input_tokens is None


def test_a_server_beats_the_tables_but_not_the_user() -> None:
    assert choose_window("gpt-4o", load_tables(), served=SERVED) == SERVED
    assert choose_window("gpt-4o", load_tables(), served=SERVED, given=2_000).tokens == 2_000


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
    assert rows.problem.startswith("models.json")
    assert rows.problem.endswith(".")


def test_a_file_that_cannot_be_used_is_named_beside_the_answer_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_CTX_MODELS", str(tmp_path / "gone.json"))
    chat = Chat("local/smollm2", max_tokens=8)
    notices = [notice for prompt in ("Hi.", "And?") for notice in chat.send(prompt).notices]
    assert [notice for notice in notices if "gone.json" in notice] == [
        f"{tmp_path / 'gone.json'} does not exist: no window is read from it."
    ]


def test_a_bad_window_is_named_and_the_other_rows_hold() -> None:
    rows = table('{"x": 0, "y": 9}')
    assert rows.problem == "models.json: ignored 'x': the window must be a positive integer."
    assert rows.rows == {"y": (9, None, None)}


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("openai/gpt-3.5-turbo-0125", False), ("azure/gpt-35-turbo", False), ("gpt-4-0613", False),
        ("deepseek/deepseek-chat", False), ("openrouter/deepseek/deepseek-chat:free", False),
        ("groq/openai/gpt-oss-20b", False), ("ollama/qwen3:8b", False),
        ("gpt-4o", None), ("gpt-4-turbo", None), ("gpt-4-vision-preview", None), ("my/model", None), ("", None),
    ],
)  # fmt: skip
def test_models_that_read_text_only_are_known_by_name_and_others_are_not_guessed(name: str, reads: bool | None) -> None:
    assert load_tables()[1].says("images", name) is reads


def test_the_users_file_says_who_reads_images() -> None:
    mine = table('{"images": {"deepseek": true, "qwen": {"-a -b": false}}, "my-model": 5000}')
    assert mine.says("images", "deepseek/deepseek-chat") is True
    assert [mine.says("images", name) for name in ("qwen-b", "qwen-c")] == [False, None]
    assert mine.find("my-model") == ContextWindow(5_000, source="user file", matched="my-model")


THINKING = """
    openai/o4-mini o3 gpt-5.2 openai/gpt-6.2-sol gpt-6.2-sol-2026-11-17 groq/openai/gpt-oss-20b ft:o4-mini:org::x
    anthropic/claude-sonnet-5-5 claude-opus-5-5 claude-haiku-5-5 anthropic.claude-sonnet-5-5-v1:0
    google/gemini-2.5-pro gemini-3.8-flash gemini-4-argon xai/grok-4 xai/grok-4.7
    deepseek/deepseek-reasoner deepseek-v4-pro ollama/deepseek-r1:7b together/deepseek-ai/DeepSeek-R1
    moonshot/kimi-k3.1-pro zai/glm-5 minimax-m3 qwen3.8-max qwen3.8-flash ollama/qwen3:8b qwen3-30b-thinking
    Qwen/QwQ-32B mistral/magistral-medium-latest phi-4-reasoning-plus
    gpt-7 claude-sonnet-6 gemini-5-pro grok-6 kimi-k4 glm-6 minimax-m4 deepseek-v5 qwen4-max
"""
AT_ONCE = """
    gpt-4o gpt-4o-mini gpt-4.1 gpt-3.5-turbo gpt-5-chat-latest ft:gpt-4o-mini:org::x
    claude-2.1 claude-3-opus claude-3-5-sonnet-20241022 gemini-1.5-pro gemini-2.0-flash
    xai/grok-4-fast-non-reasoning grok-3 grok-2 deepseek-chat deepseek-coder-6.7b kimi-k2
    meta-llama/Llama-3.3-70B-Instruct ollama/llama3.2 mistral-large-latest ministral-8b-latest mistral/codestral-latest
    qwen2.5-72b-instruct ollama/qwen2:7b gemma-3-27b-it phi-4 command-r-plus local/smollm2 my/model
"""
ASKED = "claude-3-7-sonnet claude-sonnet-4-5 anthropic/claude-opus-4-8 gemini-2.5-flash-lite"


def test_models_that_think_before_they_answer_are_known_by_name_and_new_ones_by_their_family() -> None:
    ours = load_tables()[1]
    assert [name for name in THINKING.split() if ours.says("thinking", name) is not True] == []
    assert [name for name in AT_ONCE.split() if ours.says("thinking", name)] == []
    assert [name for name in ASKED.split() if ours.says("thinking", name) is not None] == []


def test_the_users_file_says_who_thinks_in_every_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reserves = []
    for content in ("{}", '{"thinking": {"my-": true, "gpt-5.2": false}}'):
        path = tmp_path / f"{len(content)}.json"
        path.write_text(content)
        monkeypatch.setenv("JUPYTER_CTX_MODELS", str(path))
        models = Models()
        for model in ("openai/my-model", "openai/gpt-5.2"):
            settings = Settings(model=model)
            limit, _ = models.by_name(settings)
            target = models.target(settings, ask=False)
            assert limit == target.limit
            reserves.append((target.reserve, target.thinks))
    assert reserves == [(4_096, None), (25_000, True), (8_000, True), (4_096, False)]


# As their makers state: window, most input, most output
STATED = {
    "gpt-6.2-sol": (1_050_000, 922_000, 128_000), "gpt-6.2-astra": (1_050_000, 922_000, 128_000),
    "gpt-6.1-sol": (1_050_000, 922_000, 128_000), "gpt-6-cyber": (1_050_000, 922_000, 128_000),
    "gpt-5.2": (400_000, 272_000, 128_000), "gpt-5-mini": (400_000, 272_000, 128_000),
    "gpt-4.1": (1_047_576, None, 32_768), "gpt-4o": (128_000, None, 16_384), "o3": (200_000, None, 100_000),
    "claude-opus-5-5": (1_000_000, None, 128_000), "claude-sonnet-5-5": (1_000_000, None, 128_000),
    "claude-haiku-5-5": (1_000_000, None, 128_000), "claude-sonnet-4-5": (200_000, None, 64_000),
    "claude-haiku-4-5": (200_000, None, 64_000), "gemini-4-argon": (1_048_576, None, None),
    "gemini-3.8-flash": (1_048_576, None, 65_536), "gemini-2.5-pro": (1_048_576, None, 65_536),
    "gemini-omni-1.1-flash": (131_072, None, 65_536), "ministral-8b-latest": (262_144, None, None),
    "magistral-medium-latest": (262_144, None, None), "mistral-large-latest": (262_144, None, None),
    "deepseek-v4-pro": (1_000_000, None, 384_000), "grok-4.7": (500_000, None, None),
    "kimi-k3.1-pro": (1_048_576, None, None),
}  # fmt: skip


def test_windows_are_those_that_makers_state() -> None:
    found = {name: resolve_window(name) for name in STATED}
    assert {name: (w.tokens, w.max_input_tokens, w.max_output_tokens) for name, w in found.items()} == STATED
    assert {window.source for window in found.values()} == {"models.json"}
