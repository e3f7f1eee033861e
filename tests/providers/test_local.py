"""The local model's servers: started again, taking turns; and files that are no model."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from dialects import reply_to

from jupyter_ctx import Chat, ChatError, InvalidRequestError, ModelNotFoundError, Reply
from jupyter_ctx.conversation.messages import Message
from jupyter_ctx.providers.base import Request
from jupyter_ctx.providers.local import _running, stop_servers
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


def said_in(window: int) -> Reply:
    return Chat(f"local/smollm2@{window}", max_tokens=4).send("Say hello.")


def test_a_third_window_ends_the_server_that_was_used_the_longest_ago() -> None:
    with ThreadPoolExecutor(len(WINDOWS)) as pool:
        replies = list(pool.map(said_in, WINDOWS))
    assert all(reply.usage and reply.usage.output_tokens for reply in replies)
    for window in WINDOWS[:3]:
        said_in(window)
    assert [spec.n_ctx for spec in _running] == list(WINDOWS[1:3])


def test_a_window_beyond_what_the_model_is_trained_for_is_refused_before_anything_is_loaded() -> None:
    with pytest.raises(InvalidRequestError, match="from 256 to 8,192"):
        get_provider("local/smollm2@131072")
    assert not _running


def test_at_temperature_0_the_likeliest_token_is_written_where_probabilities_are_told() -> None:
    text = "Repeat the words: the sea, the sea, the sea, the sea, the sea."
    request = Request((Message("user", text),), max_tokens=12, temperature=0, top_logprobs=5)
    reply = reply_to(get_provider("local/smollm2@512"), request)
    assert len(reply.tokens) == 12
    for written in reply.tokens:
        likeliest = max(token.probability for token in written.top_logprobs)
        assert written.token.probability == pytest.approx(likeliest)


def test_a_window_that_is_only_believed_is_served_as_far_as_the_model_is_trained() -> None:
    assert Chat("local/smollm2", n_ctx=131_072).info().context_window == 8_192


BAD: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda model: b"", "a web page": lambda model: b"\n<!DOCTYPE html><html>Sign in</html>",
    "a head alone": lambda model: model[:24], "half of it": lambda model: model[: len(model) // 2],
    "all but its end": lambda model: model[:-1_000],
    "a number of keys": lambda model: model[:16] + struct.pack("<Q", 2**60) + model[24:],
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_a_file_that_is_no_model_is_named_in_one_sentence(what: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.gguf"
    path.write_bytes(BAD[what](model_file().read_bytes()))
    with pytest.raises(ChatError, match=r"odd\.gguf could not be loaded.*incomplete"):
        Chat(f"local/{path}").send("x")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"There is no file .*b\.gguf"):
        Chat(f"local/{tmp_path / 'b.gguf'}").send("x")
