"""What a file beside the notebook may say, and what is ignored of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.config.settings import KEYWORDS, Settings, kept_settings, restored_settings
from jupyter_ctx.session.course import GIVEN, Course, course_in, course_of

pytestmark = pytest.mark.core

COURSE = """
model = "openai/gpt-5.4-mini"
lock = ["max_tokens", "system"]
max_tokens = 800
system = '''You are a patient tutor.
Ask before you answer.'''

[settings]
temperature = 0.2
min_turns = 2
"""


def test_settings_stand_at_the_top_or_in_their_table() -> None:
    course = course_of(COURSE, Settings())
    assert course.problems == ()
    assert course.locked == {"max_tokens", "system"}
    assert course.begun.temperature == 0.2
    assert str(course.begun.system).endswith("before you answer.")
    assert course.named == {"model", "max_tokens", "system", "temperature", "min_turns"}
    assert set(GIVEN) <= set(KEYWORDS)


def test_one_line_names_what_is_ignored_and_what_may_stand_there() -> None:
    top = 'max_tokens = 5 # api_key, base_url\nbase_url = "http://evil"\nlock = ["timeout"]\n'
    course = course_of(f'{top}[settings]\napi_key = "k-123"\n', Settings())
    (line,) = course.problems
    assert "ignored base_url, api_key, timeout." in line
    assert "max_tokens" in line
    assert "k-123" not in line
    assert "evil" not in line
    assert course.begun == Settings(max_tokens=5)


@pytest.mark.parametrize(
    "text",
    [
        'system = "@/etc/passwd"', r'system = "a\u0000b"', "max_tokens = 0", "temperature = nan", 'gauge = "never"',
        "model = ['a/b']", 'model = "local/evil.gguf"', 'model = "local/../evil.gguf"', 'model = "nowhere/m"',
        "confirm_cost = 5", 'confirm_cost = "none"', "max_cost = inf",
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_is_told_in_one_line_and_the_rest_is_used(text: str) -> None:
    course = course_of(f"budget_share = 0.7\n{text}\n", Settings())
    (line,) = course.problems
    assert line.startswith("jupyter_ctx.toml: ")
    assert line.isprintable()
    assert course.begun == Settings(budget_share=0.7)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\xef\xbb\xbfmax_cost = 0.5\n", ""),
        (b"[settings]\nmax_cost = 0.5\nlock = 'system'", ""),
        (b"max_cost = 0.5\nlock = 5", "ignored 5."),
        (b"max_cost = 0.5\nmodel = ", "it is not TOML"),
        (b"max_cost = 0.5\nsystem = '''\nYou are\na tutor.", "it is not TOML"),
        (b"lock = ['model',\nsystem = '''\n[settings]\nmax_cost = 0.5\r\nmodel ==\n", "it is not TOML"),
        (b"max_tokens 5\n[settings]\nmodel ==\nmax_cost = \n[settings]\nmax_cost = 0.5", "it is not TOML"),
    ],
)
def test_what_is_valid_holds_though_another_line_is_not(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "jupyter_ctx.toml").write_bytes(content)
    course = course_in(tmp_path, Settings(), ())
    assert course.begun == Settings(max_cost=0.5)
    assert course.locked == ({"system"} if b"'system'" in content else set())
    assert told in "".join(course.problems)
    assert bool(told) == bool(course.problems)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"\0" * 9, b"x = 1\n" * 99_999, b"a = " + b"[" * 30_000])
def test_a_file_that_cannot_be_read_is_told_in_few_words(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "jupyter_ctx.toml").write_bytes(content)
    course = course_in(tmp_path, Settings(), ())
    assert course == Course(problems=course.problems)
    assert course.problems
    assert all(len(line) < 500 and line.isprintable() for line in course.problems)


def test_a_link_a_folder_and_a_pipe_are_not_read(tmp_path: Path) -> None:
    there = tmp_path / "jupyter_ctx.toml"
    assert course_in(tmp_path, Settings(), ()) == Course()
    (tmp_path / "other.toml").write_text("max_tokens = 5")
    there.symlink_to("other.toml")
    assert course_in(tmp_path, Settings(), ()) == Course()
    there.unlink()
    there.mkdir()
    assert course_in(tmp_path, Settings(), ()) == Course()
    there.rmdir()
    os.mkfifo(there)
    assert course_in(tmp_path, Settings(), ()) == Course()


NAMES = st.sampled_from([*KEYWORDS, "lock", "settings", "api_key", "headers", "memory", "provider"])
VALUES = st.recursive(
    st.one_of(
        st.sampled_from(["http://evil/v1", "openai/x", "ollama/x", "local/smollm2", "x", "none", "@/etc/passwd"]),
        st.sampled_from([*KEYWORDS]), st.integers(-5, 9_999), st.booleans(), st.floats(0, 2), st.text(max_size=9),
    ),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)  # fmt: skip
BEGUN = st.sampled_from(
    [
        {},
        {"model": "mine", "base_url": "https://hub.example/v1"},
        {"model": "openai/gpt-4o", "prices": (1.0, 2.0), "confirm_cost": 0.2},
        {"model": "anthropic/claude-x", "parameters": {"top_p": 0.5}},
    ]
)


@given(st.dictionaries(NAMES, VALUES, max_size=6), st.dictionaries(NAMES, VALUES, max_size=4), BEGUN, BEGUN)
def test_no_content_changes_an_address_or_a_key_raises_a_cap_or_prices_what_is_capped(
    top: dict[str, Any], below: dict[str, Any], begun: dict[str, Any], stored: dict[str, Any]
) -> None:
    lines = [f"{name} = {json.dumps(value)}" for name, value in top.items() if name != "settings"]
    lines += ["[settings]", *(f"{name} = {json.dumps(value)}" for name, value in below.items())]
    settings = Settings().changed(begun)
    course = course_of("\n".join(lines), settings, begun.keys())
    assert course.begun.base_url == settings.base_url
    assert course.begun.parameters in (settings.parameters, {})  # they go with the model that they were set for
    assert (course.begun.summary_model, course.begun.timeout) == (settings.summary_model, settings.timeout)
    if settings.max_cost is not None or ("prices" in begun and "prices" not in course.locked):
        assert course.begun.prices in (settings.prices, None)
    for name in ("confirm_cost", "max_cost"):
        cap, now = getattr(settings, name), getattr(course.begun, name)
        assert cap is None or (now is not None and now <= cap)
    then = Settings().changed(stored)
    again = restored_settings(course.begun, course.unforbidden(kept_settings(settings, then)))
    assert again.base_url == then.base_url


@given(st.text(max_size=200))
def test_any_text_is_read_or_ignored_with_a_reason(text: str) -> None:
    course = course_of(text, Settings())
    assert course.problems or not text.split("#")[0].strip()
