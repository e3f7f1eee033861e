"""Answers in the forms that servers really give them: each is a reply, or an error with the server's words."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, completions_whole, delta_piece
from hypothesis import given
from hypothesis import strategies as st
from server import begin_stream, events, piece, send, serve, usage

from jupyter_ctx import Chat, ProviderError
from jupyter_ctx.context.usage import Usage
from jupyter_ctx.providers.base import Request
from jupyter_ctx.providers.reply_builder import ReplyBuilder
from jupyter_ctx.providers.wire import DONE

pytestmark = pytest.mark.usefixtures("at_once")
STREAM, JSON, HTML = "text/event-stream", "application/json", "text/html"
OVERFLOW = "This model's maximum context length is 900 tokens. However, your messages resulted in 1100 tokens."
LONG = "words that fill the window " * 40
Sent = tuple[str, str]  # a body and its content type


class Told:
    """What one server of this module says, answer by answer, the last one ever after."""

    def __init__(self) -> None:
        self.answers: list[Sent] = []
        self.seen: list[dict[str, Any]] = []
        self.url = ""

    def answer(self, handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        body, kind = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        send(handler, 200, body, kind)

    def says(self, dialect: Dialect, *answers: str | Sent, **more: Any) -> Chat:
        self.answers = [answer if isinstance(answer, tuple) else (answer, STREAM) for answer in answers]
        self.seen.clear()
        return dialect.chat(self.url, **more)


@pytest.fixture(scope="module")
def told() -> Iterator[Told]:
    server = Told()
    with serve(server.answer, path="") as (server.url, server.seen):
        yield server


COMPLETIONS, RESPONSES, ANTHROPIC, GOOGLE = (
    DIALECTS[name] for name in ("completions", "responses", "anthropic", "google")
)


def events_in(chunks: list[bytes]) -> list[dict[str, Any]]:
    return list(ReplyBuilder("m", Request(())).events(chunks))


def flat(message: str) -> dict[str, Any]:
    return {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400}


def routed(message: str) -> dict[str, Any]:
    inner = json.dumps({"error": {"message": message}})
    return {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": inner}}}


ERRORS: dict[str, Callable[[str], Sent]] = {
    "a JSON object": lambda said: (json.dumps({"error": {"message": said}}), JSON),
    "a list": lambda said: (json.dumps([{"error": {"code": 400, "message": said}}]), JSON),
    "a flat object": lambda said: (json.dumps(flat(said)), JSON),
    "a router's": lambda said: (json.dumps(routed(said)), JSON),
    "only a message": lambda said: (json.dumps({"code": 20015, "message": said, "data": None}), JSON),
    "a JSON text": lambda said: (json.dumps(said), JSON),
    "plain text": lambda said: (said, "text/plain"),
    "an event": lambda said: (events({"error": {"message": said}}), STREAM),
    "an event in words": lambda said: (f"data: {said}\n\ndata: [DONE]\n\n", STREAM),
    "JSON where a stream should be": lambda said: (json.dumps({"error": {"message": said}}), STREAM),
}


@pytest.mark.parametrize("form", ERRORS)
def test_an_error_inside_a_success_is_told_in_the_servers_words(form: str, told: Told) -> None:
    chat = told.says(COMPLETIONS, ERRORS[form]("the parrot is asleep"))
    with pytest.raises(ProviderError, match="the parrot is asleep"):
        chat.send("x")
    assert chat.turns == ()


@pytest.mark.parametrize("form", ["a router's", "an event"])
def test_an_overflow_inside_a_success_is_recovered_like_any_other(dialect: Dialect, form: str, told: Told) -> None:
    chat = told.says(dialect, ERRORS[form](OVERFLOW), dialect.answer("Hi"), window=4_000, max_tokens=100)
    for _ in range(4):
        chat.add_messages([{"role": "user", "content": LONG}, {"role": "assistant", "content": "Yes."}])
    reply = chat.send("x")
    assert reply.text == "Hi"
    assert "sent again without" in reply.notices[0]
    assert len(told.seen) == 2


def test_a_page_to_log_in_is_told_by_its_title(dialect: Dialect, told: Told) -> None:
    page = "<!DOCTYPE html>\n<html><head><title>Sign in &amp; go on</title>\n</head><body><p>data: x</p></body></html>"
    with pytest.raises(ProviderError, match=r"a web page instead of an answer: Sign in & go on"):
        told.says(dialect, (page, HTML)).send("x")


def test_an_error_inside_a_choice_is_one(told: Told) -> None:
    choice = {"index": 0, "delta": {}, "finish_reason": "error", "error": {"code": 400, "message": "The cord is cut."}}
    with pytest.raises(ProviderError, match="The cord is cut"):
        told.says(COMPLETIONS, events({"choices": [choice]})).send("x")


@pytest.mark.parametrize("indent", [None, 2])
def test_a_server_that_does_not_stream_gives_a_reply(indent: int | None, told: Told) -> None:
    for kind in (JSON, STREAM):
        chat, shown = told.says(COMPLETIONS, (json.dumps(completions_whole("Hello, you."), indent=indent), kind)), []
        reply = chat.send("x", on_piece=shown.append)
        assert (reply.text, reply.stop_reason, reply.usage) == ("Hello, you.", "stop", Usage(9, 2))
        assert "".join(shown) == "Hello, you."


def test_an_array_is_read_as_events(told: Told) -> None:
    chunks = [json.loads(line[6:]) for line in GOOGLE.answer("Hel", "lo").splitlines() if line]
    for body in (json.dumps(chunks), json.dumps(chunks, indent=1)):
        assert told.says(GOOGLE, (body, JSON)).send("x").text == "Hello"


def test_an_answer_that_comes_once_more_whole_is_not_doubled(told: Told) -> None:
    for before in ([piece("Hi"), piece("", "stop")], [delta_piece({"role": "assistant", "content": ""})]):
        assert told.says(COMPLETIONS, events(*before, completions_whole("Hi"))).send("x").text == "Hi"


FORMS: dict[str, Callable[[str], str]] = {
    "a byte order mark": lambda body: "\ufeff" + body,
    "CRLF": lambda body: body.replace("\n", "\r\n"),
    "a time to retry first": lambda body: "retry: 3000\n\n" + body,
    "comments": lambda body: ": hello\n\n:\n" + body.replace("\n\n", "\n\n: still here\n\n"),
    "empty data": lambda body: "data:\n\ndata\n\n" + body.replace("\n\n", "\n\ndata: \n\n"),
    "an event named ping": lambda body: 'event: ping\ndata: {"type": "ping"}\n\n' + body,
    "data in several lines": lambda body: body.replace("data: {", 'data: {"novel":\ndata:  1,\ndata: '),
    "no empty lines": lambda body: body.replace("\n\n", "\n"),
    "no empty line at the end": lambda body: body.rstrip("\n"),
}


@pytest.mark.parametrize("form", FORMS)
def test_events_are_read_as_the_standard_says(form: str, told: Told) -> None:
    reply = told.says(COMPLETIONS, FORMS[form](COMPLETIONS.answer("Hel", "lo, ", "you."))).send("x")
    assert (reply.text, reply.stop_reason, reply.usage) == ("Hello, you.", "stop", Usage(9, 2))


@given(
    st.lists(st.sampled_from(["é", "😀", "x", "\u2028", "\x85", " "]), max_size=6).map("".join),
    st.sampled_from(["\n", "\r\n"]),
    st.lists(st.integers(0, 60), max_size=6),
)
def test_events_are_the_same_however_their_bytes_are_cut(text: str, end: str, places: list[int]) -> None:
    body = f'data: {{"a": {json.dumps(text, ensure_ascii=False)}}}{end}{end}data: [DONE]{end}{end}'.encode()
    ends = sorted(place % (len(body) + 1) for place in places)
    chunks = [body[begin:stop] for begin, stop in zip([0, *ends], [*ends, len(body)], strict=True)]
    assert events_in(chunks) == [{"a": text}, DONE]


def test_half_an_event_is_none_and_broken_json_is_an_error() -> None:
    assert events_in([b'data: {"a": 1}\n\ndata: {"a": ']) == [{"a": 1}]
    with pytest.raises(ValueError, match="broken"):
        events_in([b'data: {"a": \n\n'])


def test_the_mark_at_the_end_ends_a_reply_even_where_the_connection_stays() -> None:
    ended = threading.Event()

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        begin_stream(handler, COMPLETIONS.answer("Hi").rstrip("\n") + "\n")
        ended.wait(600)

    with serve(answer, path="") as (url, _):
        assert COMPLETIONS.chat(url, timeout=60).send("x").text == "Hi"
        ended.set()


# why a reply ended


def test_a_stream_that_ends_with_its_usage_and_no_reason_is_a_reply(told: Told) -> None:
    reply = told.says(COMPLETIONS, events(piece("Hi"), usage(9, 2))).send("x")
    assert (reply.text, reply.stop_reason, reply.usage) == ("Hi", "stop", Usage(9, 2))
    with pytest.raises(ProviderError, match="broke off"):
        told.says(COMPLETIONS, events(piece("Hi"), usage(9, 2), end="")).send("x")


ENDINGS = {
    "length": "max_tokens", "MAX_TOKENS": "max_tokens", "model_length": "context_window",
    "model_context_window_exceeded": "context_window", "content_filter": "refusal", "sensitive": "refusal",
    "SAFETY": "refusal", "stop": "stop", "end_turn": "stop", "tool_calls": "stop",
}  # fmt: skip
CUTS = ("insufficient_system_resource", "network_error", "engine_overloaded", "abort", "pause_turn", "error")


@pytest.mark.parametrize("why", ENDINGS)
def test_every_servers_word_for_an_ending_has_one_meaning(why: str, told: Told) -> None:
    assert told.says(COMPLETIONS, events(piece("Hi", why), usage(9, 2))).send("x").stop_reason == ENDINGS[why]


@pytest.mark.parametrize("why", CUTS)
def test_a_reply_that_its_server_gave_up_is_kept_as_cut_and_says_why(why: str, told: Told) -> None:
    chat = told.says(COMPLETIONS, events(piece("Some text", why), usage(9, 2)))
    with pytest.raises(ProviderError, match=why):
        chat.send("x")
    assert [(turn.reply, turn.stop_reason) for turn in chat.turns] == [("Some text", "cut")]


def test_an_ending_that_nobody_knows_is_kept_in_its_own_word(told: Told) -> None:
    for dialect in (COMPLETIONS, ANTHROPIC, GOOGLE):
        answer = dialect.answer("Hi")
        for known in ('"stop"', '"end_turn"', '"STOP"'):
            answer = answer.replace(known, '"moonset"')
        reply = told.says(dialect, answer).send("x")
        assert (reply.stop_reason, reply.detail) == ("stop", "moonset")


# what a reply took


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        ({"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 354,
          "completion_tokens_details": {"reasoning_tokens": 340}}, Usage(12, 342, reasoning_tokens=340)),
        ({"prompt_tokens": 12, "completion_tokens": 400, "total_tokens": 412,
          "completion_tokens_details": {"reasoning_tokens": 340}}, Usage(12, 400, reasoning_tokens=340)),
        ({"prompt_tokens": 12, "completion_tokens": 2,
          "completion_tokens_details": {"reasoning_tokens": 340}}, Usage(12, 342, reasoning_tokens=340)),
        ({"prompt_tokens": 100, "completion_tokens": 2, "prompt_cache_hit_tokens": 64,
          "prompt_cache_miss_tokens": 36}, Usage(100, 2, 64)),
        ({"prompt_tokens": 100, "completion_tokens": 2, "cached_tokens": 64}, Usage(100, 2, 64)),
        ({"prompt_tokens": 100, "completion_tokens": 2, "cache_read_input_tokens": 64,
          "cache_creation_input_tokens": 30}, Usage(100, 2, 64, 30)),
        ({"prompt_tokens": 100, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 900}},
         Usage(100, 2, 100)),
    ],
    ids=["reasoning beside", "reasoning inside", "reasoning beside, no total", "DeepSeek", "Moonshot", "a gateway",
         "more cached than sent"],
)  # fmt: skip
def test_usage_is_read_wherever_it_stands(counts: dict[str, Any], wanted: Usage, told: Told) -> None:
    last = piece("", "stop")
    in_choice = {**last, "choices": [{**last["choices"][0], "usage": counts}]}
    for end in ({**last, "usage": counts}, in_choice, {**last, "x_groq": {"id": "1", "usage": counts}}):
        chat = told.says(COMPLETIONS, events(piece("Hi"), end))
        assert chat.send("x").usage == wanted
        assert chat.info().used == wanted.carried > 0


@pytest.mark.parametrize(
    ("first", "later", "wanted"),
    [
        ({"input_tokens": 181}, {"input_tokens": 0, "cache_read_input_tokens": 0}, Usage(181, 5)),
        ({"input_tokens": 0}, {"input_tokens": 181, "cache_read_input_tokens": 300}, Usage(481, 5, 300)),
        ({"input_tokens": 181, "cache_read_input_tokens": 300}, {}, Usage(481, 5, 300)),
        ({"input_tokens": 181, "cache_read_input_tokens": 300}, {"input_tokens": None}, Usage(481, 5, 300)),
    ],
    ids=["zeros that fill in", "only at the end", "only at the beginning", "null"],
)  # fmt: skip
def test_what_anthropics_servers_report_twice_is_added_up_once(
    first: dict[str, Any], later: dict[str, Any], wanted: Usage, told: Told
) -> None:
    start = {"type": "message_start", "message": {"type": "message", "model": "m", "content": [], "usage": first}}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5, **later}}
    answer = events(start, delta, end, {"type": "message_stop"}, end="")
    assert told.says(ANTHROPIC, answer).send("x").usage == wanted


# the Responses API


def response(*texts: str) -> dict[str, Any]:
    output = [{"type": "message", "content": [{"type": "output_text", "text": text}]} for text in texts]
    return {"object": "response", "status": "completed", "model": "m", "output": output, "error": None}


def test_two_messages_of_one_response_are_two_paragraphs(told: Told) -> None:
    parts = [("One", 0), (".", 0), ("Two", 2), (".", 2)]
    deltas = [{"type": "response.output_text.delta", "output_index": n, "delta": text} for text, n in parts]
    ended = {"type": "response.completed", "response": response("One.", "Two.")}
    assert told.says(RESPONSES, events(*deltas, ended, end="")).send("x").text == "One.\n\nTwo."


# thinking of which only the end is marked


def tagged(text: str) -> str:
    return events(*(piece(text[at : at + 3]) for at in range(0, len(text), 3)), piece("", "stop"), usage(9, 9))


@pytest.mark.parametrize(
    "said", ["I see.\n</think>\n\nHi", "I see.</think>Hi", "I\nsee.\n</think>Hi", "\n</think>\nHi"]
)
def test_a_thought_that_only_ends_is_neither_the_answer_nor_sent_again(said: str, told: Told) -> None:
    chat = told.says(COMPLETIONS, tagged(said))
    first, second = chat.send("x"), chat.send("y")
    assert first.text == second.text == "Hi"
    assert first.thinking == second.thinking == said.partition("</think>")[0].strip()
    assert "think" not in json.dumps(told.seen[1]["messages"])


def test_a_server_that_sends_thoughts_apart_is_believed(told: Told) -> None:
    answer = events(delta_piece({"reasoning_content": "I see."}), piece("Hi", "stop"), usage(9, 9))
    told.says(COMPLETIONS, answer)
    reply = Chat("deepseek-r1", base_url=f"{told.url}/v1").send("x")
    assert (reply.text, reply.thinking) == ("Hi", "I see.")


@pytest.mark.parametrize(
    "text", ["Close it with `</think>`.", "The </think> tag ends it.", "Write:\n```\n</think>\n```\nThat is all."]
)
def test_a_tag_that_is_talked_about_is_text(text: str, told: Told) -> None:
    reply = told.says(COMPLETIONS, tagged(text)).send("x")
    assert (reply.text, reply.thinking) == (text, "")
