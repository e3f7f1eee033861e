"""Functions as tools on the wire: a contract that each of the four APIs keeps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, answering, delta_piece, provider_of, reply_to
from images import PIXEL
from server import events, piece, send, serve, usage
from tool_calls import CALLING, ROWS, SENT_BACK, Called, carried

from jupyter_ctx import Chat, ContextOverflowError, InvalidRequestError, Message, Provider, ProviderError, Reply
from jupyter_ctx.conversation.messages import Attachment, ToolCall, ToolResult, ToolRound
from jupyter_ctx.providers.base import AnswerSchema, Request
from jupyter_ctx.providers.plugins import PluginProvider
from jupyter_ctx.testing import ScriptedProvider

PROMPT = Message("user", "How many rows have NO and SE?")
ASKED = Request((Message("system", "Be brief."), PROMPT), tools=(ROWS,))
NO, SE = Called("call_a1", "rows", '{"country": "NO"}'), Called("call_b2", "rows", '{"country": "SE", "year": 7}')
THOUGHT, BEFORE = "Which one?", "Let me look."


@contextmanager
def served(dialect: Dialect, *answers: str) -> Iterator[tuple[Provider, list[dict[str, Any]]]]:
    """A provider whose server gives these answers in turn, and what it is sent."""
    with answering(dialect, *answers) as (chat, seen):
        yield provider_of(chat), seen


def answered(reply: Reply, *results: ToolResult) -> Message:
    """The message of a reply's calls with these results, as a session makes it."""
    called = ToolRound(reply.calls, results, text=reply.text, thinking=reply.thinking, state=reply.state)
    return Message("assistant", reply.text, round=called)


def after(request: Request, *more: Message) -> Request:
    return replace(request, messages=(*request.messages, *more))


def test_parallel_calls_arrive_in_pieces_behind_thoughts_and_text(dialect: Dialect) -> None:
    with served(dialect, CALLING[dialect.name]([NO, SE], BEFORE, THOUGHT)) as (provider, seen):
        *pieces, reply = provider.stream(ASKED)
    assert isinstance(reply, Reply)
    assert [(call.id, call.name, json.loads(call.arguments)) for call in reply.calls] == [
        ("call_a1", "rows", {"country": "NO"}),
        ("call_b2", "rows", {"country": "SE", "year": 7}),
    ]
    assert (reply.text, reply.thinking) == (BEFORE, THOUGHT)
    assert "".join(piece for piece in pieces if isinstance(piece, str)) == BEFORE
    assert (reply.stop_reason, reply.detail) == ("tool_calls", "")
    assert reply.usage is not None
    assert not reply.usage.includes_tools, "the next request carries all that was reported"
    assert carried(dialect.name, seen[0]).offered == ["rows"]
    assert "2024" in json.dumps(seen[0]["tools"]), "defaults stay"


def test_calls_and_results_go_back_with_what_the_api_wants_back(dialect: Dialect) -> None:
    answers = CALLING[dialect.name]([NO, SE], BEFORE, THOUGHT), dialect.answer("12 and none.")
    with served(dialect, *answers) as (provider, seen):
        first = reply_to(provider, ASKED)
        failed = ToolResult("KeyError: 'SE'", failed=True)
        assert reply_to(provider, after(ASKED, answered(first, ToolResult("12"), failed))).text == "12 and none."
    sent = carried(dialect.name, seen[1])
    assert sent.offered == ["rows"]
    assert sent.calls == [("rows", {"country": "NO"}), ("rows", {"country": "SE", "year": 7})]
    assert sent.results[0] == ("12", False)
    assert "KeyError: 'SE'" in sent.results[1][0]
    assert sent.results[1][1], "marked as failed"
    assert sent.ids == [("call_a1",) * 2, ("call_b2",) * 2]
    assert sent.state == SENT_BACK[dialect.name]
    assert json.dumps(seen[1]).count("Let me look.") == 1


def test_calls_of_an_earlier_turn_or_of_another_api_go_without_state(dialect: Dialect) -> None:
    state = json.dumps({"api": "another", "state": [{"type": "tool_use"}]})
    call = ToolCall("functions.rows:0", "rows", '{"country": "NO"}')
    called = Message("assistant", "", round=ToolRound((call,), (ToolResult("12"),), thinking="Hm.", state=state))
    request = after(ASKED, called, Message("assistant", "Twelve."), Message("user", "Sure?"))
    with served(dialect, dialect.answer("Yes.")) as (provider, seen):
        reply_to(provider, request)
    sent = carried(dialect.name, seen[0])
    assert sent.calls == [("rows", {"country": "NO"})]
    assert sent.results == [("12", False)]
    assert sent.ids[0][0] == sent.ids[0][1]
    assert dialect.name != "anthropic" or ":" not in sent.ids[0][0], "it takes no such ids"
    assert [each for each in sent.state if each] == []


@pytest.mark.parametrize("ids", [("same", "same"), ("", ""), ("used", "call_b2")])
def test_each_call_has_an_id_of_its_own_in_the_conversation(dialect: Dialect, ids: tuple[str, str]) -> None:
    used = Message("assistant", "", round=ToolRound((ToolCall("used", "rows"),), (ToolResult("1"),)))
    request = after(ASKED, used, Message("assistant", "One."), PROMPT)
    calls = [NO._replace(id=ids[0]), SE._replace(id=ids[1])]
    with served(dialect, CALLING[dialect.name](calls, thought=THOUGHT), dialect.answer("Yes.")) as (provider, seen):
        reply = reply_to(provider, request)
        reply_to(provider, after(request, answered(reply, ToolResult("12"), ToolResult("13"))))
    assert len({"used", *(call.id for call in reply.calls)}) == 3
    sent = carried(dialect.name, seen[1])
    assert all(call == result for call, result in sent.ids)
    assert [text for text, _ in sent.results] == ["1", "12", "13"]
    assert [each for each in sent.state if each], "what the API wants back goes back under the new ids"


def test_a_call_that_is_cut_by_max_tokens_is_dropped(dialect: Dialect) -> None:
    cut = SE if dialect.name == "google" else SE._replace(arguments='{"coun')
    with served(dialect, CALLING[dialect.name]([NO, cut], BEFORE, why="max_tokens")) as (provider, _):
        reply = reply_to(provider, ASKED)
    assert (reply.calls, reply.state, reply.stop_reason, reply.text) == ((), "", "max_tokens", BEFORE)


def test_what_a_model_makes_up_is_text_and_can_be_sent_back(dialect: Dialect) -> None:
    calls = [Called("c1", 'os.system("x")', '{"a": "\\ud800"}'), Called("c2", "rows", '{"big": 1e999}')]
    if dialect.name != "google":  # which sends no text
        calls += [Called("c3", "rows", "__import__('os')"), Called("c4", "rows", "[1]"), Called("c5", "rows", "NaN")]
    with served(dialect, CALLING[dialect.name](calls), dialect.answer("Sorry.")) as (provider, seen):
        reply = reply_to(provider, ASKED)
        assert reply.calls[0].name == 'os.system("x")'
        results = [ToolResult("There is no such function.", failed=True)] * len(calls)
        assert reply_to(provider, after(ASKED, answered(reply, *results))).text == "Sorry."
    sent = carried(dialect.name, seen[1])
    assert all(isinstance(given, dict) for _, given in sent.calls)
    assert sent.calls[0][0] == "os_system__x__"
    assert dialect.name == "google" or sent.calls[2][1] == {"arguments": "__import__('os')"}


def test_long_arguments_are_read(dialect: Dialect) -> None:
    long = Called("c1", "rows", json.dumps({"country": "x" * 1_000_000}))
    with served(dialect, CALLING[dialect.name]([long])) as (provider, _):
        assert len(reply_to(provider, ASKED).calls[0].arguments) > 1_000_000


def test_images_of_a_result_are_images(dialect: Dialect) -> None:
    image = Attachment("plot.png", "image/png", PIXEL)
    with served(dialect, CALLING[dialect.name]([NO, SE]), dialect.answer("Blue.")) as (provider, seen):
        results = ToolResult("A plot.", (image,)), ToolResult("None.")
        reply_to(provider, after(ASKED, answered(reply_to(provider, ASKED), *results)))
    kind = {"completions": "image_url", "responses": "input_image", "anthropic": "base64", "google": "inlineData"}
    assert kind[dialect.name] in json.dumps(seen[1])
    assert len(carried(dialect.name, seen[1]).results) == 2


NO_TOOLS = (
    (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
    (500, "tools param requires --jinja flag"),
    (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    (404, 'No endpoints found that support tool use. Try disabling "rows".'),
    (400, "Function calling is not enabled for models/gemma-3-27b-it"),
    (400, "This model doesn't support tool use in streaming mode."),
    (422, "tools: Extra inputs are not permitted"),
)


@pytest.mark.parametrize(("status", "words"), NO_TOOLS)
def test_a_refusal_of_tools_is_one_line(status: int, words: str) -> None:
    dialect = DIALECTS["completions"]

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        send(handler, status, json.dumps({"error": {"message": words}}))

    with serve(answer, path="") as (url, seen), pytest.raises(InvalidRequestError, match=r"m cannot call .*--tool"):
        reply_to(provider_of(dialect.chat(url)), ASKED)
    assert len(seen) == 1 or status == 500


OTHER_REFUSALS = (
    (400, "Invalid schema for function 'rows': 'oneOf' is not permitted.", ProviderError),
    (400, "tools.0.custom.input_schema: JSON schema is invalid.", ProviderError),
    (
        400,
        "This model's maximum context length is 512 tokens. However, you requested 600 tokens.",
        ContextOverflowError,
    ),
)


@pytest.mark.parametrize(("status", "words", "kind"), OTHER_REFUSALS)
def test_other_refusals_beside_tools_are_what_they_say(status: int, words: str, kind: type[Exception]) -> None:
    dialect = DIALECTS["anthropic"]

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        send(handler, status, json.dumps({"error": {"message": words}}))

    with serve(answer, path="") as (url, seen), pytest.raises(kind) as raised:
        reply_to(provider_of(dialect.chat(url)), ASKED)
    assert "cannot call" not in str(raised.value)
    assert len(seen) == 1


def test_a_parameter_that_is_refused_beside_tools_is_left_out_and_the_tools_stay(dialect: Dialect) -> None:
    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        if "0.5" not in json.dumps(request):
            send(handler, 200, CALLING[dialect.name]([NO]), "text/event-stream")
        else:
            words = "temperature is not supported with function tools by this model."
            send(handler, 400, json.dumps({"error": {"message": words, "param": "temperature"}}))

    with serve(answer, path="") as (url, seen):
        reply = reply_to(provider_of(dialect.chat(url)), replace(ASKED, temperature=0.5))
    assert len(reply.calls) == 1
    assert [carried(dialect.name, request).offered for request in seen] == [["rows"]] * 2


CALLED = ToolRound((ToolCall("c1", "rows", '{"country": "NO"}'),), (ToolResult("12"),), text=BEFORE)
EARLIER = (
    PROMPT,
    Message("assistant", BEFORE, round=CALLED),
    Message("assistant", "Twelve."),
    Message("user", "Sure?"),
)


def test_without_tools_calls_are_text_in_messages_that_alternate(dialect: Dialect) -> None:
    with served(dialect, dialect.answer("Yes.")) as (provider, seen):
        reply_to(provider, Request(EARLIER))
        reply_to(provider, Request(EARLIER[:2]))
    roles = {"completions": "messages", "anthropic": "messages", "responses": "input", "google": "contents"}
    said = [[message["role"] for message in request[roles[dialect.name]]] for request in seen]
    assert said[0] == ["user", "model" if dialect.name == "google" else "assistant", "user"]
    assert said[1] == ["user"], "no answer is begun for the model"
    for request in seen:
        assert carried(dialect.name, request)[:3] == ([], [], [])
        assert "[called rows(country='NO'), which returned:]\\n12" in json.dumps(request)


def test_calls_that_no_answer_followed_have_one_behind_them(dialect: Dialect) -> None:
    request = Request((*EARLIER[:2], EARLIER[3]), tools=(ROWS,))
    with served(dialect, dialect.answer("Yes."), dialect.answer("Yes.")) as (provider, seen):
        reply_to(provider, request)
        reply_to(provider, replace(request, tools=()))
    assert all("[no answer]" in json.dumps(sent) for sent in seen)


def test_a_schema_of_the_answer_is_told_in_the_prompt_and_not_behind_results() -> None:
    schema = AnswerSchema("Count", {"type": "object", "properties": {"rows": {"type": "integer"}}})
    with served(DIALECTS["completions"], DIALECTS["completions"].answer("{}")) as (provider, seen):
        reply_to(provider, Request(EARLIER[:2], tools=(ROWS,), schema=schema))
    assert "matches this JSON Schema" in seen[0]["messages"][0]["content"]
    assert seen[0]["messages"][1]["content"] == BEFORE


def test_tools_of_the_server_itself_stand_beside_functions() -> None:
    search = {"tools": [{"type": "web_search_20260209", "name": "web_search"}]}
    with served(DIALECTS["anthropic"], CALLING["anthropic"]([NO])) as (provider, seen):
        reply_to(provider, replace(ASKED, parameters=search))
    assert [tool["name"] for tool in seen[0]["tools"]] == ["rows", "web_search"]


def test_servers_that_count_badly_or_write_whole_calls_are_understood() -> None:
    def whole(name: str, given: Any, **more: Any) -> dict[str, Any]:
        return {"type": "function", "function": {"name": name, "arguments": given}, **more}

    streams = [
        [delta_piece({"tool_calls": [whole("f", "{}", index=0, id="a")]}),
         delta_piece({"tool_calls": [whole("g", "{}", index=0, id="b")]})],
        [delta_piece({"tool_calls": [whole("f", {}, id="a"), whole("g", {}, id="b")]})],
        [delta_piece({"tool_calls": [whole("f", "{}", index=0)]}),
         delta_piece({"tool_calls": [whole("g", "{}", index=0)]})],
    ]  # fmt: skip
    for deltas in streams:
        with served(DIALECTS["completions"], events(*deltas, piece("", "stop"), usage(9, 9))) as (provider, _):
            reply = reply_to(provider, ASKED)
        assert [(call.name, call.arguments) for call in reply.calls] == [("f", "{}"), ("g", "{}")]
        assert reply.stop_reason == "tool_calls"


def test_reasoning_in_parts_and_fields_in_a_call_go_back_as_they_came() -> None:
    details = [
        {"type": "reasoning.text", "text": "Whi", "index": 0, "format": "anthropic-claude-v1"},
        {"type": "reasoning.text", "text": "ch?", "index": 0, "format": "anthropic-claude-v1"},
        {"type": "reasoning.text", "signature": "c2ln", "index": 0, "format": "anthropic-claude-v1"},
        {"type": "reasoning.encrypted", "data": "eA==", "index": 1},
    ]
    extra = {"google": {"thought_signature": "c2ln"}}
    head = {"index": 0, "id": "a", "type": "function", "function": {"name": "rows", "arguments": "{}"}}
    deltas = [{"reasoning_details": [each], "reasoning": each.get("text")} for each in details]
    parts = map(delta_piece, (*deltas, {"tool_calls": [{**head, "extra_content": extra}]}))
    stream = events(*parts, piece("", "tool_calls"), usage(9, 9))
    with served(DIALECTS["completions"], stream) as (provider, seen):
        reply = reply_to(provider, ASKED)
        reply_to(provider, after(ASKED, answered(reply, ToolResult("1"))))
    sent = next(message for message in seen[1]["messages"] if message.get("tool_calls"))
    assert sent["reasoning_details"] == [
        {"type": "reasoning.text", "text": "Which?", "signature": "c2ln", "index": 0, "format": "anthropic-claude-v1"},
        details[3],
    ]
    assert "reasoning" not in sent
    assert sent["tool_calls"][0]["extra_content"] == extra


def test_a_server_that_wants_the_thoughts_of_earlier_turns_back_gets_them_from_then_on() -> None:
    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        if all("reasoning_content" in each for each in request["messages"] if each["role"] == "assistant"):
            send(handler, 200, DIALECTS["completions"].answer("Yes."), "text/event-stream")
        else:
            words = "The `reasoning_content` in the thinking mode must be passed back to the API."
            send(handler, 400, json.dumps({"error": {"message": words}}))

    thought = Message("assistant", BEFORE, round=replace(CALLED, thinking=THOUGHT))
    with serve(answer, path="") as (url, seen):
        provider = provider_of(DIALECTS["completions"].chat(url))
        for _ in range(2):
            assert reply_to(provider, Request((PROMPT, thought, *EARLIER[2:]), tools=(ROWS,))).text == "Yes."
    assert len(seen) == 3
    assert [each.get("reasoning_content") for each in seen[2]["messages"]] == [None, THOUGHT, None, "", None]


def rows(country: str) -> int:
    return 12


def test_a_server_whose_template_has_no_tools_is_found_before_anything_is_sent() -> None:
    props = {"/props": {"chat_template_caps": {"supports_tools": False}}}
    serves = serve(DIALECTS["completions"].answer("Yes."), path="", lists=props)
    with serves as (url, seen), pytest.raises(InvalidRequestError, match="m cannot call functions"):
        DIALECTS["completions"].chat(url).send("How many?", tools=[rows])
    assert not seen


def test_the_local_model_says_that_it_has_no_tools(local_model: str) -> None:
    with pytest.raises(InvalidRequestError, match=r"smollm2.* cannot call functions .*: ask without --tool"):
        Chat("local/smollm2@512").send("How many?", tools=[rows])


def test_a_provider_from_elsewhere_without_tools_gets_calls_as_text() -> None:
    guest = ScriptedProvider("Yes.", takes_tools=False)
    provider = PluginProvider(guest, "guest/m")
    with pytest.raises(InvalidRequestError, match="guest/m cannot call functions"):
        Chat("guest/m", provider=guest).send("How many?", tools=[rows])
    reply_to(provider, Request(EARLIER))
    assert [message.role for message in guest.requests[0].messages] == ["user", "assistant", "user"]
