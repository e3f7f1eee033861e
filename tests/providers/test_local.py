"""The local model's servers: started again, taking turns; and files that are no model."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from requirements import need

from jupyter_ctx import Chat, ChatError, InvalidRequestError, ModelNotFoundError, Reply
from jupyter_ctx.conversation.messages import Message
from jupyter_ctx.providers.base import Request
from jupyter_ctx.providers.local import MOST_SERVERS, _running, stop_servers, trained_window
from jupyter_ctx.providers.lookup import get_provider

HELLO = Request((Message("user", "Say hello."),), max_tokens=4)
WINDOWS = (256, 512, 768, 1_024)


@pytest.fixture(autouse=True)
def no_servers(local_model: str) -> Iterator[None]:
    stop_servers()
    yield
    stop_servers()


def model_file() -> Path:
    return get_provider("local/smollm2").spec.path  # type: ignore[attr-defined, no-any-return]


def answer(window: int) -> Reply:
    *_, reply = get_provider(f"local/smollm2@{window}").stream(HELLO)
    assert isinstance(reply, Reply)
    return reply


def test_four_windows_asked_for_from_four_threads_all_answer_and_never_more_than_two_run() -> None:
    running: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            running.append(len(_running))

    watcher = threading.Thread(target=watch)
    watcher.start()
    with ThreadPoolExecutor(len(WINDOWS)) as pool:
        replies = list(pool.map(said_in, WINDOWS))
    done.set()
    watcher.join()
    assert all(reply.usage and reply.usage.output_tokens for reply in replies)
    assert max(running) == MOST_SERVERS


def said_in(window: int) -> Reply:
    return Chat(f"local/smollm2@{window}", max_tokens=4).send("Say hello.")


def test_a_third_window_waits_until_one_of_two_open_answers_has_ended() -> None:
    with ThreadPoolExecutor(2) as pool:
        opened = [get_provider(f"local/smollm2@{window}").stream(HELLO) for window in WINDOWS[:2]]
        for answers in opened:
            pool.submit(next, answers).result()
        third = pool.submit(answer, WINDOWS[2])
        time.sleep(0.2)
        assert not third.done()
        opened[0].close()
        assert third.result(timeout=30).usage
        assert [spec.n_ctx for spec in _running] == [WINDOWS[1], WINDOWS[2]]
        opened[1].close()


@pytest.mark.parametrize("name", ["smollm2", "path"])
def test_a_window_beyond_what_the_model_is_trained_for_is_refused_before_anything_is_loaded(name: str) -> None:
    model = model_file() if name == "path" else name
    with pytest.raises(InvalidRequestError, match="from 256 to 8,192"):
        get_provider(f"local/{model}@131072")
    assert not _running


def test_at_temperature_0_the_likeliest_token_is_written_where_probabilities_are_told() -> None:
    text = "Repeat the words: the sea, the sea, the sea, the sea, the sea."
    request = Request((Message("user", text),), max_tokens=12, temperature=0, top_logprobs=5)
    *_, reply = get_provider("local/smollm2@512").stream(request)
    assert isinstance(reply, Reply)
    assert len(reply.tokens) == 12
    for written in reply.tokens:
        likeliest = max(token.probability for token in written.top_logprobs)
        assert written.token.probability == pytest.approx(likeliest)


def test_a_window_that_is_only_believed_is_served_as_far_as_the_model_is_trained() -> None:
    link = model_file()
    chat = Chat(f"local/{link}", n_ctx=131_072)
    assert chat.info().context_window == 8_192


KEY = b"llama.context_length"


def gguf(keys: int = 1) -> bytes:
    """The head of a file, with a trained window of 4,096."""
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, keys)
    return head + struct.pack("<Q", len(KEY)) + KEY + struct.pack("<II", 4, 4_096)


BAD = {
    "empty": (b"", "is empty: copy or download it again"),
    "a web page": (b"\n<!DOCTYPE html><html>Sign in</html>", "no GGUF file"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_file_that_is_no_model_is_named_with_what_is_the_matter(what: str, tmp_path: Path) -> None:
    data, says = BAD[what]
    path = tmp_path / "a.gguf"
    path.write_bytes(data)
    with pytest.raises(InvalidRequestError, match=says) as raised:
        Chat(f"local/{path}").send("x")
    assert str(path) in str(raised.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"There is no file .*b\.gguf"):
        Chat(f"local/{tmp_path / 'b.gguf'}").send("x")
    folder = tmp_path / "c.gguf"
    folder.mkdir()
    with pytest.raises(InvalidRequestError, match="cannot be read"):
        Chat(f"local/{folder}").send("x")


def test_what_is_damaged_behind_its_head_is_a_sentence_too(tmp_path: Path) -> None:
    need(model_file().is_file(), "the local model")
    path = tmp_path / "odd.gguf"
    data = model_file().read_bytes()
    keys = gguf(keys=3)[:40], gguf(keys=2**60), b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**60) + bytes(64)
    for content in (gguf(), *keys, data[: len(data) // 2], data[:-1_000]):  # the first without tensors and tokenizer
        path.write_bytes(content)
        with pytest.raises(ChatError, match=r"odd\.gguf could not be loaded.*incomplete"):
            Chat(f"local/{path}").send("x")


def test_the_head_of_a_file_says_its_window(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(gguf())
    assert trained_window(path) == 4_096
