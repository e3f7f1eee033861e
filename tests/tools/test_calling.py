"""A call that a model asks for is checked, confirmed, run and read; whatever is wrong is told to the model."""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from images import PIXEL

from jupyter_ctx.attachments.attached import TextRoom
from jupyter_ctx.conversation.messages import ToolCall, ToolResult
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.testing import count_characters
from jupyter_ctx.tools.calling import run_call
from jupyter_ctx.tools.functions import Tool, as_tool, tool

KEY = "sk-proj-abcdefghijklmnopqrstuvwx0123456789"
LONG = 1_000_000
FRAME = pd.DataFrame({"a": range(12)})


def called(function: Any, arguments: str = "{}", *, name: str = "", tokens: int = 2_000, **options: Any) -> ToolResult:
    offered = as_tool(function)
    call = ToolCall("1", name or offered.spec.name, arguments)
    result = run_call([offered], call, TextRoom(tokens, count_characters), Redactor(), **options)
    assert KEY not in result.text + result.brief
    assert 0 < len(result.brief) <= 120
    return result


def returned(value: Any, tokens: int = 2_000) -> ToolResult:
    def result() -> Any:
        return value

    return called(result, tokens=tokens)


def was_not_made(result: ToolResult) -> bool:
    return result.failed and result.seconds is None and len(result.text) < 1_500


def echo(text: str = "nothing") -> str:
    return text


def never(text: str) -> None:
    raise AssertionError("it was called")


async def slow(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "slept"


def doze(seconds: float) -> None:
    time.sleep(seconds)


def test_arguments_come_in_their_types_and_what_is_missing_keeps_its_default() -> None:
    registry = object()

    def mixed(a: int, /, b: float, *more: int, c: set[str], at: Any = registry, **rest: int) -> bool:
        return (a, b, more, c, at, rest) == (1, 2.0, (3, 4), {"x"}, registry, {})

    assert called(mixed, '{"a": "1", "b": 2, "more": [3, 4], "c": ["x"]}').text == "True"
    assert called(functools.partial(mixed, 1, c={"x"}), '{"b": 2}').text == "False"
    assert called(functools.partial(mixed, 1, c={"x"}), '{"b": 2, "c": []}').failed
    assert called(echo, '{"text": 42}').text == "42"
    assert called(echo, "").text == called(echo, '{"text": null}').text == "nothing"
    assert called(Tool(as_tool(echo).spec, echo), '{"x": 1}').failed


def deep(levels: int) -> str:
    return '{"text": ' + "[" * levels + "]" * levels + "}"


BAD_ARGUMENTS = {
    "of the object": '{"__class__": "x"}', "unknown": '{"text": "a", "more": 1}', "no JSON": "text=1",
    "a list": "[1]", "a text": '"x"', "null": "null", "cut off": '{"text": "a', "NaN": '{"text": NaN}',
    "infinite": '{"text": 1e999}', "long": '{"text": ' + "9" * 9999 + "}",
    "an object": '{"text": {"$ref": "#"}}', "deep": deep(10_000), "at the limit": deep(985), "deeper": deep(10**6),
    "many": json.dumps(dict.fromkeys(map(str, range(9999)))), "a key": json.dumps({KEY: KEY}),
}  # fmt: skip


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS)
def test_arguments_that_are_not_valid_call_nothing_and_nobody_is_asked(arguments: str) -> None:
    assert was_not_made(called(never, arguments, confirm=never, ask_always=True))
    assert str(ToolCall("1", "never", arguments))


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5).map(json.dumps))
def test_whatever_a_model_writes_has_a_result(text: str) -> None:
    assert called(echo, text).text
    assert not called(echo, json.dumps({"text": text})).failed


def test_what_looks_like_code_is_text() -> None:
    code = "__import__('os')._exit(1) {{ secret }} {text} %s $HOME"
    assert called(echo, json.dumps({"text": code})).text == code


@pytest.mark.parametrize("name", ["echo; import os", "os.system", "Echo", "x\x1b[2J" * 9_999, "__call__", KEY])
def test_a_name_that_is_not_offered_calls_nothing_and_the_model_is_told_which_are(name: str) -> None:
    result = called(echo, '{"text": "a"}', name=name)
    assert was_not_made(result)
    assert "echo" in result.text.partition("may be called")[2]
    assert "\x1b" not in result.text


@pytest.mark.parametrize("answer", [False, None])
def test_a_call_that_is_not_confirmed_is_not_made(answer: bool | None) -> None:
    asked = list[str]()
    marked = tool(confirm=True)(never)
    assert was_not_made(called(marked, '{"text": "a"}', confirm=lambda words: asked.append(words) or answer))
    assert asked == ["never(text='a')"]
    assert was_not_made(called(echo, ask_always=True))  # nobody can be asked


def test_a_confirmed_call_is_made_and_the_question_is_short_and_without_keys() -> None:
    asked = list[str]()
    long = json.dumps({"text": f"{KEY} \x1b[2J\u202e\n" + "x" * LONG})
    assert not called(echo, long, ask_always=True, confirm=lambda words: asked.append(words) or True).failed
    assert len(asked[0]) < 2_100
    assert not any(part in asked[0] for part in (KEY, "\x1b", "\u202e", "\n"))


@pytest.mark.parametrize(
    ("value", "text", "brief"),
    [
        ("as it is", "as it is", "as it is"), (42, "42", "42"), (None, "None", "None"), (True, "True", "True"),
        ("a\nb", "a\nb", "text of 3 characters"), ("```\n```", "```\n```", "text of 7 characters"),
        ("x" * 1_204, "x" * 1_204, "text of 1,204 characters"), ([1, 2, 3], "[1, 2, 3]", "3 items"),
        ({"a": 1}, "{'a': 1}", "1 item"), ("", "(an empty text)", "an empty text"), ("<b>", "<b>", "<b>"),
        (Path("/etc/passwd"), "/etc/passwd", "/etc/passwd"), ("\x1b[2J", "\x1b[2J", "�[2J"),
        ("a\0\ud800", "a��", "a��"), (f"is {KEY}", "is ***", "is ***"),
        ({"api_key": "hunter2hunter2"}, "{'api_key': '***'}", "1 item"),
    ],
)  # fmt: skip
def test_a_value_is_its_own_text_and_told_in_a_few_words(value: Any, text: str, brief: str) -> None:
    result = returned(value)
    assert (result.text, result.brief, result.failed) == (text, brief, False)
    assert result.seconds is not None


def test_tables_and_images_are_read_as_attachments_are() -> None:
    assert returned(FRAME).brief == "12 rows"
    assert "| 11 | 11 |" in returned(FRAME).text
    assert returned(np.zeros((2, 3))).brief == "6 values"
    assert returned(PIXEL).brief == "an image"
    both = returned({"plot": PIXEL, "more": PIXEL + b"1", "n": 3})
    assert [file.media_type for file in both.attachments] == ["image/png"] * 2
    assert "'n': 3" in both.text


TOO_LONG = ["word " * LONG, pd.DataFrame(np.zeros((10**6, 9))), [{"a": 1}] * 10**5, b"\xff" * LONG]


@pytest.mark.parametrize("value", TOO_LONG, ids=lambda value: type(value).__name__)
def test_what_is_too_long_is_shortened_with_a_line_that_says_so(value: Any) -> None:
    result = returned(value, tokens=500)
    assert not result.failed
    assert count_characters(result.text) < 530
    assert result.text.splitlines()[-1].startswith("[shortened: ")
    assert returned(value, tokens=1).failed


class Hostile:
    """An object of which nothing can be read."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"{KEY} {name}")

    def __repr__(self) -> str:
        sys.exit(3)


async def endless() -> Any:
    yield 1


UNREADABLE = [Hostile(), [Hostile()], itertools.count(), (x for x in "ab"), endless(), json, int, echo, os.environ]
WORSE = type("Worse", (Exception,), {"__str__": lambda _: 1 / 0})
ERRORS = [
    ValueError(f"first\nlast {KEY}"), SystemExit(3), KeyError("x" * LONG), ExceptionGroup("a", [WORSE()]), WORSE(),
    GeneratorExit(), asyncio.CancelledError(),
]  # fmt: skip


@pytest.mark.parametrize("value", [*UNREADABLE, *ERRORS], ids=lambda value: type(value).__name__)
def test_an_error_and_a_value_that_cannot_be_read_are_told_in_one_line(value: Any) -> None:
    def result() -> Any:
        if value in ERRORS:
            raise value
        return value

    async def later() -> Any:
        return result()

    for function in (result, later):
        told = called(function)
        assert (told.failed, len(told.text.splitlines())) == (True, 1)
        assert told.seconds is not None
        assert len(told.text) < 500
        assert value not in ERRORS or type(value).__name__ in told.text


def test_an_async_function_runs_also_where_a_loop_is_running() -> None:
    async def cell() -> ToolResult:
        return called(slow, '{"seconds": 0.05}')

    result = asyncio.run(cell())
    assert result.text == "slept"
    assert result.seconds is not None
    assert 0.05 <= result.seconds < 5


@pytest.mark.parametrize("function", [slow, doze])
def test_ctrl_c_stops_a_function_and_goes_up(function: Any) -> None:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        called(function, '{"seconds": 30}')
    assert time.monotonic() - began < 10
