"""What goes over the wire and comes back, in every provider's format and in one meaning."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, KEY, Dialect, answering
from images import PIXEL
from server import begin_stream, events, send, serve

from jupyter_ctx import AuthenticationError, Chat, ContextOverflowError, InvalidRequestError, ProviderError
from jupyter_ctx.context.usage import Usage
from jupyter_ctx.models.window_tables import kept_list, kept_table
from jupyter_ctx.providers.server_facts import read_cards

pytestmark = pytest.mark.wire

PDF = b"%PDF-1.4 /Type /Page /Type /Page /Type /Pages"


def hello(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
    send(handler, 200, DIALECTS["completions"].answer("Hi"), "text/event-stream")


def test_a_piece_is_shown_before_the_next_one_is_sent(dialect: Dialect) -> None:
    shown = threading.Event()

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        begin_stream(handler, dialect.pieces(["Hi"]))
        if shown.wait(60):
            handler.wfile.write(dialect.end().encode())

    with serve(answer, path="") as (url, _):
        reply = dialect.chat(url).send("x", on_piece=lambda _: shown.set())
    assert (reply.text, reply.stop_reason) == ("Hi", "stop")


def test_usage_has_one_meaning(dialect: Dialect) -> None:
    answer = dialect.answer("Hi", sent=100, said=40, cached=60, written=5, thought=30)
    with answering(dialect, answer) as (chat, _):
        reply = chat.send("x")
        written = 0 if dialect.name == "google" else 5  # it reports no writes
        assert reply.usage == Usage(100, 40, 60, written, 30)
        assert chat.info().used == reply.usage.carried == 110
        assert (chat.info().cached, chat.info().sent) == (60, 100)


@pytest.mark.parametrize("why", ["stop", "max_tokens", "refusal"])
def test_why_a_reply_ended_is_said_in_one_vocabulary(dialect: Dialect, why: str) -> None:
    with answering(dialect, dialect.answer("Hi", why=why)) as (chat, _):
        reply = chat.send("x", max_tokens=2)
    said = {"anthropic": "bio: of the rules", "google": "SAFETY"} if why == "refusal" else {}
    assert (reply.stop_reason, reply.detail) == (why, said.get(dialect.name, reply.detail))


def test_a_server_that_wants_a_key_where_none_was_given_is_not_said_to_reject_one() -> None:
    body = json.dumps({"error": {"message": "unauthorized"}})
    with serve(lambda h, _: send(h, 401, body)) as (url, _):
        with pytest.raises(AuthenticationError, match=r"wants a key, and none was given .*: %chat key \S+ asks"):
            Chat("m", base_url=url).send("x")
        with pytest.raises(AuthenticationError, match="rejected the key"):
            Chat("m", base_url=url, api_key="abcdefgh").send("x")


def test_another_server_at_openais_variable_is_not_priced_as_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(hello) as (url, _):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        chat = Chat("openai/gpt-4o", api_key=KEY)
        assert chat.send("x").cost is None
    assert (chat.info().cost, chat.info().unpriced) == (None, 1)


def test_a_prompt_that_gemini_blocks_is_a_refusal_with_its_reason() -> None:
    blocked = events({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, end="")
    with answering(DIALECTS["google"], blocked) as (chat, _):
        reply = chat.send("x")
        assert (reply.stop_reason, reply.detail) == ("refusal", "PROHIBITED_CONTENT")


@pytest.mark.usefixtures("at_once")
def test_a_response_that_failed_is_an_error_and_an_overflow_where_it_says_so() -> None:
    for code, kind in (("server_error", ProviderError), ("context_length_exceeded", ContextOverflowError)):
        failed = {"id": "r", "object": "response", "model": "m", "error": {"code": code, "message": "It failed."}}
        event = {"type": "response.failed", "sequence_number": 1, "response": failed}
        answer = f"event: response.failed\ndata: {json.dumps(event)}\n\n"
        with answering(DIALECTS["responses"], answer) as (chat, _), pytest.raises(kind):
            chat.send("x")


def test_the_room_for_a_reply_is_sent_where_one_must_be() -> None:
    names = {"completions": "max_tokens", "responses": "max_output_tokens", "anthropic": "max_tokens"}
    for name, field in names.items():
        with answering(DIALECTS[name], DIALECTS[name].answer("Hi")) as (chat, seen):
            chat.send("x")
            chat.send("x", max_tokens=50)
        assert (field in seen[0]) == (name == "anthropic")
        assert seen[1][field] == 50


def test_a_prompt_is_cached_for_its_conversation_and_not_where_it_is_sent_once() -> None:
    anthropic, responses = DIALECTS["anthropic"], DIALECTS["responses"]
    with answering(anthropic, anthropic.answer("Hi"), cache_ttl="1h") as (chat, seen):
        chat.send("x")
        chat.send("x", cache_ttl="5m")
        chat.send("x", cache_ttl="off")
        chat.send("x", record=False)
    assert [request.get("cache_control") for request in seen] == [
        {"type": "ephemeral", "ttl": "1h"}, {"type": "ephemeral", "ttl": "5m"}, None, None,
    ]  # fmt: skip
    with answering(responses, responses.answer("Hi")) as (chat, seen):
        chat.send("x")
        chat.send("y")
        chat.send("z", record=False)
    first, second, third = (request.get("prompt_cache_key") for request in seen)
    assert first == second
    assert first
    assert third is None
    assert seen[0]["store"] is False


def test_any_other_parameter_is_passed_on_as_given() -> None:
    for name in ("completions", "responses", "anthropic"):
        with answering(DIALECTS[name], DIALECTS[name].answer("Hi")) as (chat, seen):
            chat.configure(parameters="seed=7")
            chat.send("x", parameters=['reasoning={"effort": "low"}', "user=me"])
            chat.send("y", parameters="seed=null")
        assert (seen[0]["seed"], seen[0]["reasoning"], seen[0]["user"]) == (7, {"effort": "low"}, "me")
        assert "seed" not in seen[1]
    with answering(DIALECTS["google"], DIALECTS["google"].answer("Hi")) as (chat, seen):
        chat.send("x", parameters={"top_p": 0.5})
        assert seen[0]["generationConfig"]["topP"] == 0.5


@pytest.mark.parametrize("name", ["completions", "responses", "anthropic"])
def test_a_parameter_that_no_json_holds_is_named_and_nothing_is_sent(name: str) -> None:
    with answering(DIALECTS[name], DIALECTS[name].answer("Hi")) as (chat, seen):
        for value in (object(), "\ud800", {"of": [object()]}):
            with pytest.raises(InvalidRequestError, match="cannot be sent as JSON"):
                chat.send("x", parameters={"top_p": value, "user": "me"})
        assert not seen
        assert chat.send("x", parameters={"top_p": 0.5}).text == "Hi"


def test_servers_that_count_in_no_way_we_know_are_asked_once() -> None:
    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        if handler.path.endswith("/chat/completions"):
            hello(handler, request)
        else:
            send(handler, 404, "{}")

    with serve(answer) as (url, seen):
        chat = Chat("m", base_url=url, token_counting="provider")
        chat.send("Hi")
        chat.send("Hi")
        asked = [request["path"] for request in seen]
    assert asked == ["/v1/chat/completions/input_tokens", *["/v1/chat/completions"] * 2]


def test_what_a_server_refuses_is_left_out_and_asked_again() -> None:
    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        unknown = next((name for name in ("stream_options", "max_tokens") if name in request), None)
        if unknown:
            send(handler, 400, json.dumps({"error": {"message": f"{unknown}: Extra inputs are not permitted"}}))
        else:
            send(handler, 200, DIALECTS["completions"].answer("Hi"), "text/event-stream")

    with serve(answer) as (url, seen):
        chat = Chat("m", base_url=url, max_tokens=9)
        assert chat.send("x").text == "Hi"
        assert chat.send("y").text == "Hi"
    assert len(seen) == 4  # what was learned is not asked again
    assert seen[-1]["max_completion_tokens"] == 9


def test_a_file_that_cannot_be_sent_is_an_error_that_names_it(tmp_path: Path, chat: Chat) -> None:
    image, nonsense = tmp_path / "cat.png", tmp_path / "noise.bin"
    image.write_bytes(PIXEL)
    nonsense.write_bytes(b"\x00\xff\xfe")
    for path, words in ((image, "takes text only"), (nonsense, "neither"), (tmp_path / "gone", "No such file")):
        with pytest.raises(InvalidRequestError, match=words) as raised:
            chat.send("x", attachments=[path])
        assert path.name in str(raised.value)
    assert chat.turns == ()


def test_a_model_that_takes_text_only_is_not_sent_the_files_of_earlier_turns(tmp_path: Path, local_model: str) -> None:
    image = tmp_path / "cat.png"
    image.write_bytes(PIXEL)
    with answering(DIALECTS["completions"], DIALECTS["completions"].answer("A cat.")) as (chat, _):
        chat.send("What is it?", attachments=[image])
        reply = chat.send("Say it again.", model=local_model, max_tokens=8, base_url="none")
        assert any("does not take images" in line for line in reply.notices)


def test_a_reply_ended_by_the_window_before_its_first_word_is_recovered_like_a_refusal() -> None:
    dialect = DIALECTS["completions"]
    answers = dialect.answer("Hi", sent=330), dialect.end(why="max_tokens", sent=350, said=0), dialect.answer("Hi")
    with answering(dialect, *answers, window=430) as (chat, seen):
        for number in range(3):
            said = f"{number} {'words and ' * 34}"
            chat.add_messages([{"role": "user", "content": said}, {"role": "assistant", "content": "Yes."}])
        chat.send("one", max_tokens=50)
        reply = chat.send("two", max_tokens=50)
    assert reply.text == "Hi"
    assert any("sent again without" in line for line in reply.notices)
    assert len(seen[2]["messages"]) < len(seen[1]["messages"])


def test_more_input_than_the_window_is_said() -> None:
    dialect = DIALECTS["completions"]
    with answering(dialect, dialect.answer("Hi", sent=900, said=2), window=400) as (chat, _):
        assert "900 tokens were taken" in chat.send("x").notices[0]


def test_a_server_that_reads_only_a_part_is_found_out_once_with_the_setting_that_cures_it() -> None:
    dialect, words = DIALECTS["completions"], "many words that all count " * 40
    sizes = iter((300, 310, 315))
    lists: dict[str, Any] = {"/api/ps": {"models": []}}

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        if handler.path == "/api/show":
            send(handler, 404, "{}")
            return
        if len(request["messages"]) > 1:  # it knows its window once the model is loaded
            lists["/api/ps"] = {"models": [{"name": "m:latest", "context_length": 900}]}
        send(handler, 200, dialect.answer("Hi", sent=next(sizes)), "text/event-stream")

    with serve(answer, lists=lists) as (url, _):
        chat = Chat("ollama/m", base_url=url)
        chat.send(words)
        assert chat.info().source == "assumed"
        (line,) = chat.send(words).notices
        assert "read 310 of about" in line
        assert "OLLAMA_CONTEXT_LENGTH" in line
        assert (chat.info().context_window, chat.info().source) == (900, "server")
        assert not any("OLLAMA" in line for line in chat.send("And now?").notices)  # said once


def test_one_long_prompt_of_which_little_is_read_is_found_out_at_once() -> None:
    dialect = DIALECTS["completions"]
    with answering(dialect, dialect.answer("Hi", sent=200, said=10), window=100_000) as (chat, _):
        (line,) = chat.send("many different words that all count " * 400).notices
        assert "left out the rest" in line
        assert (chat.info().context_window, chat.info().source) == (100_000, "given")  # a report sets no limit


@pytest.mark.parametrize("name", ["novel-one", "claude-next-9"])
def test_a_window_that_no_table_knows_as_a_fact_is_asked_of_the_provider_once_and_kept(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    dialect = DIALECTS["anthropic"]
    listed = {"data": [{"id": name, "max_input_tokens": 77_000, "max_tokens": 5_000}]}
    with serve(dialect.answer("Hi"), listed, path="") as (url, _):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        chat = Chat(f"anthropic/{name}", api_key=KEY)
        assert chat.info().source == "assumed"
        chat.send("x")
        assert (chat.info().context_window, chat.info().source) == (77_000, "provider")
        assert chat.info().budget.window.max_output_tokens == 5_000
    later = Chat(f"anthropic/{name}", api_key=KEY)  # the server is gone, the list is kept
    assert later.info().context_window == 77_000


LISTS = {
    "OpenRouter": {"data": [{"id": "a/m", "context_length": 9_000, "top_provider": {"context_length": 8_000}}]},
    "Together, a bare array": [{"id": "a/m", "context_length": 8_000}],
    "Groq": {"data": [{"id": "a/m", "context_window": 8_000, "max_completion_tokens": 100}]},
    "Mistral": {"data": [{"id": "a/m", "max_context_length": 8_000}]},
    "Cerebras": {"data": [{"id": "a/m", "limits": {"max_context_length": 8_000}}]},
    "Fireworks": {"models": [{"name": "a/m", "contextLength": 8_000}]},
    "vLLM": {"data": [{"id": "a/m", "max_model_len": 8_000}, {"id": "b"}]},
    "llama.cpp": {"data": [{"id": "whatever.gguf", "meta": {"n_ctx": 8_000, "n_ctx_train": 99_000}}]},
}  # fmt: skip


@pytest.mark.parametrize("who", LISTS)
def test_the_lists_of_all_services_are_read(who: str) -> None:
    with serve(hello, LISTS[who]) as (url, _):
        chat = Chat("a/m", base_url=url)
        chat.send("x")
        info = chat.info()
        served = who.startswith(("vLLM", "llama"))
        assert (info.context_window, info.source) == (8_000, "server" if served else "provider")
        assert tuple(
            {
                window
                for name, window, _ in chat.models.available(chat.config)
                if name == "a/m" or (served and "." in name)
            }
        ) == (8_000,)


@pytest.mark.parametrize(
    ("model", "path", "listed"),
    [
        ("ollama/m", "/api/ps", {"models": [{"name": "m:latest", "model": "m:latest", "context_length": 4_096}]}),
        ("ollama/llama3.1", "/api/ps", {"models": [{"name": "llama3.1:latest", "context_length": 4_096}]}),
        ("lmstudio/qwen2.5-7b-instruct-1m", "/api/v0/models", {
            "data": [{"id": "qwen2.5-7b-instruct-1m", "loaded_context_length": 4_096, "max_context_length": 1_010_000}]
        }),
        ("lmstudio/m", "/api/v0/models", {"data": [{"id": "m", "loaded_context_length": 4_096}]}),
    ],
)  # fmt: skip
def test_what_a_server_has_loaded_is_its_window_whatever_tables_say(model: str, path: str, listed: Any) -> None:
    with serve(hello, lists={path: listed}) as (url, _):
        chat = Chat(model, base_url=url)
        chat.send("x")
        assert (chat.info().context_window, chat.info().source) == (4_096, "server")


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("server", ["ollama", "lmstudio", "llamacpp"])
def test_the_server_says_whether_its_model_reads_images_whatever_tables_say(
    server: str, reads: bool, tmp_path: Path
) -> None:
    name, image = "deepseek-chat" if reads else "gemma3", tmp_path / "cat.png"
    image.write_bytes(PIXEL)
    modalities = {"input_modalities": ["text", "image"] if reads else ["text"]}
    lists = {
        "/api/ps": {"models": []},
        "/api/v0/models": {"data": [{"id": name, "type": "vlm" if reads else "llm"}]},
        "/v1/models": {"data": [{"id": name, "architecture": modalities, "meta": {"n_ctx": 8_000}}]},
    }
    shown = {"capabilities": ["completion", "vision" if reads else "tools"]}

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        if handler.path == "/api/show":
            send(handler, 200, json.dumps(shown))
        else:
            hello(handler, request)

    with serve(answer, lists=lists) as (url, seen):
        chat = Chat(f"{server}/{name}", base_url=url)
        if reads:
            chat.send("What is it?", attachments=image)
        else:
            with pytest.raises(InvalidRequestError, match="text only"):
                chat.send("What is it?", attachments=image)
    assert any("image_url" in json.dumps(request) for request in seen) is reads


@pytest.mark.parametrize("thinks", [True, False])
def test_ollama_says_whether_its_model_thinks_whatever_tables_say(thinks: bool) -> None:
    name, shown = "mine" if thinks else "qwen3", {"capabilities": ["completion", "thinking" if thinks else "tools"]}

    def answer(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        if handler.path == "/api/show":
            send(handler, 200, json.dumps(shown))
        else:
            hello(handler, request)

    with serve(answer, lists={"/api/ps": {"models": [{"name": name, "context_length": 131_072}]}}) as (url, seen):
        chat = Chat(f"ollama/{name}", base_url=url)
        chat.send("x")
        assert chat.info().budget.reserve == (25_000 if thinks else 4_096)
        chat.send("y")
        assert len([request for request in seen if "messages" not in request]) == 1


CLAUDE = {"thinking": {"supported": True, "types": {"disabled": {"supported": False}}}}
RESTING = {"thinking": {"supported": True, "types": {"disabled": {"supported": True}}}}


@pytest.mark.parametrize(
    ("row", "thinks"),
    [
        ({"supported_parameters": ["max_tokens", "reasoning"]}, True),  # OpenRouter
        ({"supported_parameters": ["max_tokens"]}, False),
        ({"supported_parameters": ["reasoning"], "reasoning": {"mandatory": False, "default_enabled": False}}, None),
        ({"supported_parameters": ["reasoning"], "reasoning": {"mandatory": True}}, True),
        ({"capabilities": CLAUDE}, True), ({"capabilities": RESTING}, None),  # Anthropic
        ({"capabilities": {"thinking": {"supported": False}}}, False),
        ({"inputTokenLimit": 9_000, "thinking": True}, True), ({"inputTokenLimit": 9_000}, None),  # Gemini
        ({"capabilities": ["completion", "thinking"], "thinking": {"values": [True]}}, True),  # Ollama
        ({"capabilities": ["embedding"]}, None), ({"capabilities": "thinking", "supported_parameters": 3}, None),
    ],
)  # fmt: skip
def test_lists_of_models_say_who_thinks_and_are_kept(
    row: dict[str, Any], thinks: bool | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("JUPYTER_CTX_STORE", raising=False)
    cards = read_cards({"data": [{"id": "a/Some-1.5", **row}]})
    assert [card.thinks for card in cards] == [thinks]
    kept_table("some", cards)
    kept = kept_list("some")
    assert kept is not None
    assert kept.says("thinking", "some/a/some-1.5") is thinks


def test_azure_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidRequestError, match="AZURE_OPENAI_ENDPOINT"):
        Chat("azure/mine").send("x")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "mine.openai.azure.com")
    with pytest.raises(InvalidRequestError, match=r"AZURE_OPENAI_ENDPOINT .*https://"):
        Chat("azure/mine").send("x")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "http://127.0.0.1:1/")
    with pytest.raises(Exception, match="AZURE_OPENAI_API_KEY"):
        Chat("azure/mine").send("x")
