"""What refusals and replies teach of a limit, and when it gives way."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from images import PIXEL
from refusal_wordings import SIZES
from server import events, piece, send, serve, usage

from jupyter_ctx import Chat, ContextOverflowError
from jupyter_ctx.context.learned_limit import LearnedLimit, Refused
from jupyter_ctx.context.overflow import Overflow
from jupyter_ctx.context.windows import ContextWindow
from jupyter_ctx.display.widgets.gauge import gauge_line

TABLE = ContextWindow(128_000, source="models.json")
GIVEN = ContextWindow(128_000, source="given")


def after(*refusals: Refused, believed: ContextWindow = TABLE) -> LearnedLimit:
    """What is known after these refusals."""
    limit = LearnedLimit()
    for refusal in refusals:
        limit = limit.after_refusal(refusal, believed)
    return limit


def accepted(limit: LearnedLimit, tokens: int) -> LearnedLimit:
    """The limit after a prompt of so many tokens was answered."""
    return limit.after_reply(tokens, tokens)


# the arithmetic


def test_a_stated_limit_holds_until_something_larger_passes() -> None:
    limit = after(Refused(Overflow(context_window=9_300, input_tokens=12_000), 12_000))
    assert limit.apply_to(TABLE).tokens == 9_300
    assert accepted(limit, 9_300).apply_to(TABLE).source == "learned"
    assert accepted(limit, 9_301).apply_to(TABLE) == TABLE


@pytest.mark.parametrize("stated", [255, 8_001])
def test_in_place_of_a_limit_that_cannot_be_true_a_share_of_the_refused_prompt_is_one(stated: int) -> None:
    limit = after(Refused(Overflow(context_window=stated, input_tokens=8_000), 8_000))
    window = limit.apply_to(TABLE)
    assert (limit.is_stated, window.tokens, window.max_input_tokens) == (False, 128_000, 6_400)


def test_a_limit_that_a_much_smaller_request_fails_at_too_is_not_believed() -> None:
    told = Overflow(context_window=8_000)
    assert after(Refused(told, 9_000), Refused(told, 4_800, retry=1)).tokens == 3_840


def test_the_room_asked_for_the_reply_counts_where_the_window_is_stated() -> None:
    refusal = Refused(Overflow(context_window=8_192, input_tokens=5_000), 5_000, output=4_096)
    assert refusal.stated_limit() == 8_192


def test_a_cap_on_the_input_alone_is_learned_as_such() -> None:
    told = Overflow(context_window=700, max_input_tokens=700, input_tokens=800)
    window = after(Refused(told, 800), believed=GIVEN).apply_to(GIVEN)
    assert (window.tokens, window.max_input_tokens, window.source) == (128_000, 700, "learned")


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_limit_is_below_what_was_refused_and_no_reply_makes_it_smaller(
    refused: int, passed: int, window: int
) -> None:
    limit = after(Refused(Overflow(), refused))
    assert limit.tokens is not None
    assert 1 <= limit.tokens <= max(1, refused)
    assert accepted(limit, passed).tokens in (None, limit.tokens)
    assert limit.apply_to(ContextWindow(window)).tokens <= window


@pytest.mark.parametrize(
    "newer", [ContextWindow(64_000, source="given"), ContextWindow(16_384, source="server"),
              ContextWindow(10_000, source="user file")]
)  # fmt: skip
def test_another_word_of_the_user_or_the_server_ends_what_was_learned(newer: ContextWindow) -> None:
    limit = after(Refused(Overflow(context_window=9_300), 12_000))
    assert limit.apply_to(newer) == newer


def test_the_word_that_a_refusal_contradicted_does_not_end_it() -> None:
    limit = after(Refused(Overflow(context_window=9_300), 12_000), believed=GIVEN)
    assert limit.apply_to(GIVEN).tokens == 9_300
    assert limit.apply_to(TABLE).tokens == 9_300  # nor does a table


def test_a_limit_is_tried_again_after_sixteen_replies() -> None:
    limit, tries = after(Refused(Overflow(), 9_000)), list[int]()
    for turn in range(50):
        if limit.due_for_retry:
            tries.append(turn)
            limit = limit.after_refusal(Refused(Overflow(), 9_000), TABLE)
        limit = accepted(limit, 7_000)
    assert tries == [16, 32, 48]


# conversations


@dataclass
class Server:
    """Counts a token for each four characters, refuses what is above its limit, and reports what it is told to."""

    limit: int = 4_000
    refuse: Callable[[int, int], tuple[int, Any]] = lambda size, limit: (400, overflow("prompt is too long"))
    report: Callable[[int], int] = lambda size: size
    refusals: int = 0
    sizes: list[int] = field(default_factory=list)
    served: int | None = None

    def answer(self, handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        size = sum(len(message["content"]) // 4 + 4 for message in request["messages"])
        self.sizes.append(size)
        if size > self.limit:
            self.refusals += 1
            status, body = self.refuse(size, self.limit)
            send(handler, status, json.dumps(body))
            return
        send(handler, 200, events(piece("Yes."), piece("", "stop"), usage(self.report(size), 2)), "text/event-stream")

    @contextmanager
    def chat(self, **settings: Any) -> Iterator[Chat]:
        """A conversation with it."""
        lists: dict[str, Any] = {"/v1/models": {"data": [{"id": "m"}]}}
        with serve(self.answer, lists=lists) as (url, _):
            self.lists = lists
            yield Chat("m", base_url=url, **settings)

    def serves(self, tokens: int) -> None:
        """Restart with another window, and say so."""
        self.limit = tokens
        self.lists["/v1/models"] = {"data": [{"id": "m", "max_model_len": tokens}]}


def overflow(message: str, **more: Any) -> dict[str, Any]:
    """The body of a refusal."""
    return {"error": {"message": message, "type": "invalid_request_error", "code": None, **more}}


def figures(size: int, limit: int) -> tuple[int, Any]:
    """The usual refusal, with figures."""
    said = f"This model's maximum context length is {limit} tokens. However, your messages resulted in {size} tokens."
    return 400, overflow(said, code="context_length_exceeded")


REFUSALS: dict[str, Callable[[int, int], tuple[int, Any]]] = {
    "with figures": figures,
    "without figures": lambda size, limit: (400, overflow("Your input exceeds the context window of this model.")),
    "with an excess": lambda size, limit: (
        400, overflow(f"prompt too long; exceeded max context length by {size - limit} tokens")
    ),
    "with figures that contradict one another": lambda size, limit: figures(size, 3 * limit),
    "with what was left for the reply as the limit": lambda size, limit: figures(size, 3),
    "with a limit that is too low": lambda size, limit: figures(size, limit // 4),
    "with a limit that is too high and no size": lambda size, limit: (
        400, overflow(f"Your prompt is too long for the model's context window of {2 * limit} tokens.")
    ),
}  # fmt: skip


def talk(chat: Chat, turns: int, characters: Callable[[int], int]) -> None:
    for number in range(turns):
        chat.send(f"{number} " + "of all that was said " * (characters(number) // 21))


@pytest.mark.parametrize(
    ("kind", "characters", "most"), [(kind, 6_500, 6) for kind in REFUSALS] + [("without figures", 900, 3)]
)
def test_forty_turns_cost_few_refusals_and_no_failed_cell(kind: str, characters: int, most: int) -> None:
    server = Server(refuse=REFUSALS[kind])
    with server.chat(window=128_000) as chat:
        talk(chat, 40, lambda number: characters * (2 + number % 3) // 3)
        assert len(chat.turns) == 40
        is_lifted = kind == "with a limit that is too low"  # by each prompt that passes above it
        assert is_lifted or chat.info().limit <= 1.1 * server.limit
    assert 1 <= server.refusals <= most


@pytest.mark.parametrize("kind", ["without figures"])
def test_a_limit_that_falls_and_grows_again_is_followed(kind: str) -> None:
    server = Server(4_000, refuse=REFUSALS[kind])
    with server.chat(window=6_000) as chat:
        talk(chat, 12, lambda _: 1_500)
        server.limit = 1_500
        talk(chat, 10, lambda _: 1_500)
        assert chat.info().limit <= 1.1 * server.limit
        server.limit = 5_900
        talk(chat, 20, lambda _: 1_500)
        assert statistics.mean(server.sizes[-8:]) > 2_500
    assert server.refusals <= 8


def test_one_report_of_far_too_many_tokens_raises_no_window() -> None:
    reports = iter([5_000_000])
    server = Server(100_000, report=lambda size: next(reports, size))
    with server.chat() as chat:
        talk(chat, 3, lambda _: 400)
        assert (chat.info().context_window, chat.info().source) == (32_000, "assumed")


def test_a_server_that_truncates_is_never_taken_for_exact() -> None:
    server = Server(100_000, report=lambda size: min(size, 4_096))
    with server.chat(window=50_000) as chat:
        for number in range(14):
            chat.send(f"{number} " + "of all that was said " * 100)
            if server.sizes[-1] > 1.1 * 4_096:
                assert not chat.info().exact
        assert server.sizes[-1] > 6_000


def test_a_server_that_is_restarted_with_another_window_is_believed() -> None:
    server = Server(4_000, refuse=REFUSALS["with figures"])
    with server.chat() as chat:
        server.serves(4_000)
        talk(chat, 4, lambda _: 3_000)
        assert (chat.info().context_window, chat.info().source) == (4_000, "server")
        server.serves(1_500)
        talk(chat, 4, lambda _: 3_000)
        assert chat.info().context_window == 1_500
        server.serves(16_000)
        talk(chat, 8, lambda _: 3_000)
        assert (chat.info().context_window, chat.info().source) == (16_000, "server")
    assert server.refusals <= 1


@pytest.mark.parametrize(
    "report", [lambda _: 11, lambda size: min(size, 200), lambda size: max(1, int(size * 0.15))],
    ids=["a constant", "what was not cached", "a fraction"],
)  # fmt: skip
def test_a_report_of_few_tokens_sets_no_limit(report: Callable[[int], int]) -> None:
    server = Server(100_000, report=report)
    with server.chat(window=50_000) as chat:
        talk(chat, 12, lambda _: 4_000)
        assert (chat.info().context_window, chat.info().source) == (50_000, "given")
        assert chat.info().left_out == 0
        assert not chat.info().exact
        assert chat.info().used == pytest.approx(server.sizes[-1], rel=0.4)  # estimated
    assert server.sizes == sorted(server.sizes)


def test_a_window_given_anew_ends_what_was_learned() -> None:
    server = Server(2_000, refuse=REFUSALS["without figures"])
    with server.chat(window=8_000) as chat:
        talk(chat, 6, lambda _: 2_400)
        assert chat.info().source == "learned"
        assert "window 8,000 learned from a refusal" in gauge_line(chat.info())
        assert re.search(r"window 8,000 learned: given 8,000, server refused \d", repr(chat.info()))
        chat.configure(window=8_000)
        assert (chat.info().context_window, chat.info().source) == (8_000, "given")


def test_a_prompt_that_seems_too_large_is_sent_and_the_providers_word_counts() -> None:
    server = Server(3_000)
    with server.chat(window=1_000) as chat:
        assert chat.send("Все счастливые семьи похожи друг на друга. " * 60).text == "Yes."
        with pytest.raises(ContextOverflowError, match="Largest parts"):
            chat.send("x" * 40_000)
        assert len(chat.turns) == 1
    assert server.refusals == 1


@contextmanager
def few_bytes(most: int) -> Iterator[tuple[Chat, list[int]]]:
    """A conversation with a server that takes requests of so many bytes, and the sizes it was sent."""
    sizes = list[int]()

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        sizes.append(len(json.dumps(request["messages"])))
        if sizes[-1] > most:
            send(handler, 413, "<html><h1>413 Request Entity Too Large</h1></html>", "text/html")
        else:
            send(handler, 200, events(piece("Yes."), piece("", "stop"), usage(sizes[-1] // 5, 2)), "text/event-stream")

    with serve(answer) as (url, _):
        yield Chat("m", base_url=url, window=100_000), sizes


def image(folder: Path, name: str, size: int) -> Path:
    path = folder / name
    path.write_bytes(PIXEL + bytes(size))
    return path


def test_a_request_of_too_many_bytes_leaves_out_the_oldest_turns(tmp_path: Path) -> None:
    with few_bytes(150_000) as (chat, sizes):
        for name, size in (("small.png", 3_000), ("large.png", 60_000), ("other.png", 40_000)):
            reply = chat.send(f"Look at {name}", attachments=[image(tmp_path, name, size)])
        assert len(sizes) == 3
        reply = chat.send("And now?", attachments=[image(tmp_path, "new.png", 30_000)])
        assert "Too large: sent again without turn" in reply.notices[0]
        before = len(sizes)
        for _ in range(3):
            reply = chat.send("And then?")
            assert reply.notices == ()
        assert len(sizes) == before + 3  # they stay out
        assert len(chat.turns) == 7
        assert chat.turns[1].attachments


def test_a_long_conversation_meets_a_limit_of_bytes_without_a_failed_cell() -> None:
    with few_bytes(20_000) as (chat, sizes):
        said = "of all that was said " * 150
        chat.add_messages({"role": role, "content": said} for _ in range(20) for role in ("user", "assistant"))
        for number in range(12):
            chat.send(f"{number} {said}")
        assert len(chat.turns) == 32
    assert sum(size > 20_000 for size in sizes) <= 8


def test_a_file_that_alone_is_too_large_fails_with_the_prompt(tmp_path: Path) -> None:
    with few_bytes(20_000) as (chat, sizes):
        with pytest.raises(ContextOverflowError, match="Send a smaller file") as raised:
            chat.send("Look", attachments=[image(tmp_path, "huge.png", 100_000)])
        assert raised.value.prompt.startswith("Look")
        assert len(sizes) == 1
        assert chat.turns == ()
        assert chat.send("And without it?").text == "Yes."


@pytest.mark.parametrize(("status", "text"), SIZES[:1])
def test_a_limit_on_bytes_characters_or_memory_is_no_window(status: int, text: str) -> None:
    sizes = list[int]()

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        sizes.append(len(json.dumps(request["messages"])))
        if sizes[-1] > 4_000:
            send(handler, status, json.dumps({"error": {"message": text}}))
        else:
            send(handler, 200, events(piece("Yes."), piece("", "stop"), usage(sizes[-1] // 5, 2)), "text/event-stream")

    with serve(answer) as (url, _):
        chat = Chat("m", base_url=url, window=32_000)
        chat.add_messages({"role": role, "content": "word " * 20} for _ in range(30) for role in ("user", "assistant"))
        chat.send("Why?")
        chat.send("And then?")
        assert (chat.info().context_window, chat.info().source) == (32_000, "given")
        assert len(sizes) == 3
        assert sizes[-1] > 1_000  # most of what the server takes is sent again
        with pytest.raises(ContextOverflowError) as raised:
            chat.send("long " * 1_000)
        assert text.rstrip(".") in str(raised.value)
        assert chat.info().source == "given"
