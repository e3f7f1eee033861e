"""What a model thinks before it answers: shown apart, counted, and not sent again; and what answers took."""

from __future__ import annotations

import json
import re
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, answering, delta_piece
from hypothesis import given
from hypothesis import strategies as st
from server import begin_stream, events, hang_up, piece, send, serve, usage

from jupyter_ctx import Chat, ChatInterrupted, ContextOverflowError, ProviderConnectionError, ProviderError
from jupyter_ctx.context.usage import Usage
from jupyter_ctx.providers.base import Thought
from jupyter_ctx.providers.reply_builder import told_apart

pytestmark = pytest.mark.wire

THOUGHTS = ("Blue is", " scattered.")
COMPLETIONS, RESPONSES = DIALECTS["completions"], DIALECTS["responses"]

PARTS = st.sampled_from(["<think>", "</think>", "<", "</", "think>", "<th", " ", "\n", "a", "b c", "\xa0"])


def split(pieces: list[str]) -> tuple[str, str]:
    """Thinking and text of a reply that comes in these pieces; the thinking comes first."""
    found = list(told_apart(iter(pieces)))
    kinds = [isinstance(item, Thought) for item in found if item not in ("", Thought(""))]
    assert kinds == sorted(kinds, reverse=True)
    return (
        "".join(item.text for item in found if isinstance(item, Thought)),
        "".join(item for item in found if isinstance(item, str)),
    )


def cut(text: str, places: list[int]) -> list[str]:
    """A text in pieces, some of them empty."""
    ends = sorted(place % (len(text) + 1) for place in places)
    return [text[begin:end] for begin, end in zip([0, *ends], [*ends, len(text)], strict=True)]


@given(st.lists(PARTS, max_size=12).map("".join), st.lists(st.integers(0, 100), max_size=20), st.booleans())
def test_thinking_is_told_from_text_however_a_reply_is_cut(said: str, places: list[int], thinks: bool) -> None:
    whole = f" <think>{said}" if thinks else said
    match = re.match(r"\s*<think>(.*?)(?:</think>(.*)|\Z)", whole, re.DOTALL)
    wanted = (match[1].strip(), (match[2] or "").lstrip()) if match else ("", whole)
    assert split(cut(whole, places)) == split(list(whole)) == wanted


def test_thoughts_are_shown_apart_from_the_text_and_kept_with_it(dialect: Dialect) -> None:
    shown: list[tuple[str, str]] = []
    answer = dialect.answer("The sky", " is blue.", thoughts=THOUGHTS, sent=100, said=40, thought=30)
    with answering(dialect, answer) as (chat, _):
        reply = chat.send(
            "Why?",
            on_piece=lambda text: shown.append(("text", text)),
            on_thought=lambda text: shown.append(("thought", text)),
        )
    assert shown == [("thought", "Blue is"), ("thought", " scattered."), ("text", "The sky"), ("text", " is blue.")]
    assert (reply.text, reply.thinking) == ("The sky is blue.", "Blue is scattered.")
    assert (chat.turns[0].reply, chat.turns[0].thinking) == (reply.text, reply.thinking)
    assert reply.usage == Usage(100, 40, reasoning_tokens=30)
    assert chat.info().used == 110


def test_what_was_thought_is_not_sent_again_nor_exported(dialect: Dialect, tmp_path: Path) -> None:
    answers = (dialect.answer("Yes.", thoughts=thoughts, sent=50) for thoughts in (THOUGHTS, ()))
    with answering(dialect, *answers) as (chat, seen):
        chat.send("Why?")
        chat.send("And at night?")
        assert "scattered" not in str(chat.preview("x").messages)
    assert "Yes." in json.dumps(seen[1])
    assert "scattered" not in json.dumps(seen[1])
    for suffix in (".md", ".json", ".ipynb"):
        assert "scattered" not in chat.export(tmp_path / f"it{suffix}").read_text("utf-8")


def test_a_thought_that_nobody_counts_has_its_share_of_what_was_said(dialect: Dialect) -> None:
    with answering(dialect, dialect.answer("y" * 20, thoughts=["x" * 60], said=40)) as (chat, _):
        assert chat.send("x").usage == Usage(9, 40, reasoning_tokens=30, guessed=True)
        assert not chat.info().exact


@pytest.mark.parametrize(
    "deltas",
    [
        [{"reasoning_content": "I see."}],
        [{"reasoning": "I"}, {"reasoning": " see."}],
        [{"reasoning_content": "I see.", "reasoning": "I see.", "reasoning_details": [{"text": "I see."}]}],
        [{"reasoning_details": [{"type": "reasoning.text", "text": "I"}, {"type": "reasoning.encrypted", "data": "x"}]},
         {"reasoning_details": [{"type": "reasoning.summary", "summary": " see."}]}],
        [{"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "I see."}]}]},
         {"content": [{"type": "text", "text": ""}]}],
        [{"content": "<thi"}, {"content": "nk>\nI see.\n"}, {"content": "</think>\n\n"}],
    ],
    ids=["DeepSeek", "OpenRouter and Groq", "all at once", "OpenRouter's parts", "Mistral", "in the text"],
)  # fmt: skip
def test_thinking_is_found_under_every_name(deltas: list[dict[str, Any]]) -> None:
    answer = events(*map(delta_piece, deltas), piece("Hi", "stop"), usage(9, 4))
    with answering(COMPLETIONS, answer) as (chat, seen):
        reply = chat.send("x")
        chat.send("y")
    assert (reply.text, reply.thinking) == ("Hi", "I see.")
    assert reply.usage == Usage(9, 4, reasoning_tokens=3, guessed=True)
    assert [message["content"] for message in seen[1]["messages"]] == ["x", "Hi", "y"]


def test_odd_reasoning_does_no_harm() -> None:
    odd = [{"reasoning": 5}, {"reasoning_content": ["a"]}, {"reasoning_details": {"text": "b"}}, {"content": ["c", {}]}]
    with answering(COMPLETIONS, events(*map(delta_piece, odd), piece("Hi", "stop"))) as (chat, _):
        reply = chat.send("x")
    assert (reply.text, reply.thinking) == ("Hi", "")


def test_parts_of_a_summary_stand_apart() -> None:
    deltas = (
        ("response.reasoning_summary_text.delta", {"summary_index": 0}, "One"),
        ("response.reasoning_summary_text.delta", {"summary_index": 0}, " more."),
        ("response.reasoning_summary_text.delta", {"summary_index": 1}, "Two."),
        ("response.reasoning_text.delta", {"content_index": 0}, "Three."),
    )
    said = ({"type": kind, "delta": text, "output_index": 0, "item_id": text, **at} for kind, at, text in deltas)
    thoughts = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in said)
    with answering(RESPONSES, thoughts + RESPONSES.answer("Hi")) as (chat, _):
        assert chat.send("x").thinking == "One more.\n\nTwo.\n\nThree."


def test_an_answer_that_is_all_thinking_fails_and_is_kept_and_paid(dialect: Dialect) -> None:
    answers = (
        dialect.answer(thoughts=THOUGHTS, why="max_tokens", sent=20, said=900, thought=900),
        dialect.answer("Hi", sent=20, said=2),
    )
    with answering(dialect, *answers, max_tokens=900, prices=(1, 10)) as (chat, seen):
        with pytest.raises(ProviderError, match=r"900 tokens, max_tokens 900\).*--max-tokens.*--effort") as raised:
            chat.send("x")
        chat.send("y")
    assert raised.value.reply.cost == pytest.approx((20 + 9_000) / 1e6)
    assert [(turn.reply, turn.thinking) for turn in chat.turns] == [("", "Blue is scattered."), ("Hi", "")]
    assert chat.info().cost == pytest.approx((40 + 9_020) / 1e6)
    assert "Blue" not in json.dumps(seen[1])
    assert '"x"' not in json.dumps(seen[1])


def test_an_answer_sent_as_thinking_is_shown_as_the_answer(dialect: Dialect) -> None:
    texts: list[str] = []
    answers = (dialect.answer(thoughts=THOUGHTS, sent=20, said=40, thought=40), dialect.answer("Hi"))
    with answering(dialect, *answers) as (chat, seen):
        reply = chat.send("x", on_piece=texts.append)
        used = chat.info().used
        chat.send("y")
    assert (reply.text, reply.thinking, "".join(texts)) == ("Blue is scattered.", "", "Blue is scattered.")
    assert any("as thinking" in notice for notice in reply.notices)
    assert used == 60
    assert "Blue is scattered." in json.dumps(seen[1])


def test_a_window_that_ends_while_the_model_thinks_is_no_refusal() -> None:
    answer = COMPLETIONS.answer(thoughts=THOUGHTS, why="max_tokens", sent=350, said=80)
    with answering(COMPLETIONS, answer, window=430) as (chat, seen):
        for _ in range(3):
            chat.add_messages([{"role": "user", "content": "words " * 30}, {"role": "assistant", "content": "Yes."}])
        with pytest.raises(ProviderError, match="all thinking") as raised:
            chat.send("x", max_tokens=80)
    assert (raised.value.reply.stop_reason, len(seen)) == ("context_window", 1)
    assert chat.turns[-1].thinking == "Blue is scattered."


@pytest.mark.parametrize(("thoughts", "requests"), [(THOUGHTS, 1), ((), 3)])
def test_nothing_is_sent_again_once_a_thought_was_shown(
    dialect: Dialect, thoughts: tuple[str, ...], requests: int
) -> None:
    refused = "prompt is too long: 900 tokens > 800 maximum"
    with answering(dialect, dialect.pieces((), thoughts) + dialect.error(refused), window=4_000) as (chat, seen):
        for _ in range(9):
            chat.add_messages([{"role": "user", "content": "word " * 50}, {"role": "assistant", "content": "Yes."}])
        with pytest.raises(ContextOverflowError):
            chat.send("x")
    assert (len(seen), len(chat.turns)) == (requests, 9)


def interrupt(_: str) -> None:
    raise KeyboardInterrupt


def test_an_interrupt_while_only_thoughts_have_come_records_nothing(dialect: Dialect) -> None:
    with answering(dialect, dialect.answer("Hi", thoughts=THOUGHTS)) as (chat, _):
        with pytest.raises(ChatInterrupted, match="before any text came; nothing was recorded"):
            chat.send("x", on_thought=interrupt)
        assert chat.turns == ()
        with pytest.raises(ChatInterrupted, match="kept"):
            chat.send("x", on_piece=interrupt)
    (turn,) = chat.turns
    assert (turn.reply, turn.thinking, turn.stop_reason) == ("Hi", "Blue is scattered.", "interrupted")
    assert turn.record.seconds is not None


def test_a_break_while_only_thoughts_have_come_records_nothing(dialect: Dialect) -> None:
    def reset(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        begin_stream(handler, dialect.pieces((), THOUGHTS))
        time.sleep(0.1)  # so that it is read before the connection breaks
        hang_up(handler)

    with serve(reset, path="") as (url, _):
        chat, thoughts = dialect.chat(url), list[str]()
        with pytest.raises(ProviderConnectionError, match="in the middle of the reply"):
            chat.send("x", on_thought=thoughts.append)
    assert (thoughts, chat.turns) == (list(THOUGHTS), ())


def test_seconds_are_those_of_the_request_that_was_answered_and_of_waiting_for_a_busy_server() -> None:
    refusal = json.dumps({"error": {"message": "prompt is too long: 900 tokens > 800 maximum"}})
    answers = [
        (400, refusal, "application/json", 0.4),
        (200, COMPLETIONS.answer("Hi"), "text/event-stream", 0.05),
        (503, "{}", "application/json", 0.0),
        (200, COMPLETIONS.answer("Hi"), "text/event-stream", 0.0),
    ]

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        status, body, kind, wait = answers.pop(0)
        time.sleep(wait)
        send(handler, status, body, kind)

    with serve(answer) as (url, _):
        chat = Chat("m", base_url=url, window=5_000)
        for _ in range(9):
            chat.add_messages([{"role": "user", "content": "word " * 50}, {"role": "assistant", "content": "Yes."}])
        begun = time.monotonic()
        first = chat.send("x").seconds
        assert first is not None
        assert 0.05 <= first <= time.monotonic() - begun - 0.4
        second = chat.send("y").seconds
        assert second is not None
        assert second >= 0.5
    assert [turn.record.seconds for turn in chat.turns[-2:]] == [first, second]
