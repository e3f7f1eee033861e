"""Providers from elsewhere: handed to a Chat, or registered by an installed package."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from cells import Cells

from jupyter_ctx import Chat, ChatError, InvalidRequestError, ProviderError, Reply
from jupyter_ctx.providers.base import Request
from jupyter_ctx.providers.lookup import get_provider, split_model

Install = Callable[..., None]
ECHO = """
    from jupyter_ctx import ContextWindow, Usage
    from jupyter_ctx.providers.base import ModelInfo, Provider, Reply

    made = []

    class Echo(Provider):
        catalogue = "anything"

        def __init__(self, model, *, api_key=None, timeout):
            made.append((model, api_key, timeout))

        def stream(self, request):
            text = request.messages[-1].content.upper()
            yield text
            yield Reply(text, Usage(7, 3))

        def cards(self):
            return (ModelInfo("loud", stated=ContextWindow(5_000)), ModelInfo("quiet"))
"""


class Bare:
    """The least that a provider may be."""

    def stream(self, request: Request) -> Iterator[str | Reply]:
        yield "It is "
        yield "blue."
        yield Reply("It is blue.")


class Broken:
    """One whose code has a mistake."""

    def __init__(self, pieces: tuple[Any, ...]) -> None:
        self.pieces = pieces

    def stream(self, request: Request) -> Iterator[Any]:
        yield from self.pieces
        raise KeyError("choices")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a package with entry points on the path, as pip does."""

    def put(entries: str, code: str = ECHO, package: str = "echo_llm", version: str = "1.2") -> None:
        there = tmp_path / "site" / package
        there.mkdir(parents=True)
        (there / f"{package}.py").write_text(dedent(code))
        about = there / f"{package}-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        (about / "entry_points.txt").write_text(f"[jupyter_ctx.providers]\n{entries}\n")
        monkeypatch.syspath_prepend(there)
        monkeypatch.delitem(sys.modules, package, raising=False)

    return put


# handed in


def test_a_provider_needs_no_more_than_its_stream() -> None:
    chat, shown = Chat(provider=Bare()), list[str]()
    reply = chat.send("Why is the sky blue?", on_piece=shown.append)
    assert (reply.text, reply.model, shown) == ("It is blue.", "bare/model", ["It is ", "blue."])
    assert chat.info().source == "assumed"
    assert any("assumed" in notice for notice in reply.notices)
    assert (chat.models.available(chat.config), reply.cost, chat.turns[0].usage) == ((), None, None)


def test_a_reply_that_comes_alone_is_shown() -> None:
    class Whole:
        def stream(self, request: Request) -> list[Reply]:
            return [Reply("All at once.")]

    shown: list[str] = []
    Chat(provider=Whole()).send("Well?", on_piece=shown.append)
    assert shown == ["All at once."]


def test_the_name_of_its_model_is_given_or_its_own() -> None:
    class Named(Bare):
        model = "acme/large"

    assert Chat(provider=Named()).config.model == "acme/large"
    assert Chat("gpt-4o", provider=Named()).config.model == "named/gpt-4o"
    chat = Chat("openai/gpt-4o", provider=Named())
    assert (chat.send("Why?").model, chat.info().context_window) == ("openai/gpt-4o", 128_000)


def test_another_model_is_found_by_its_name_and_the_first_again_by_its_own(local_model: str) -> None:
    chat = Chat(provider=Bare(), max_tokens=4)
    assert chat.send("One?").text == "It is blue."
    assert chat.send("Two?", model=local_model).text != "It is blue."
    assert chat.send("Three?").text == "It is blue."


def test_a_stored_conversation_goes_on_with_the_provider_that_is_handed_in(tmp_path: Path) -> None:
    for turns in (1, 2):
        chat = Chat(provider=Bare(), store=tmp_path / "chats.sqlite", name="sky")
        chat.send("Why?")
        assert len(chat.turns) == turns
        chat.close()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"provider": object()}, r"no method stream"),
        ({"provider": Bare(), "api_key": "k"}, "api_key has no effect with provider="),
        ({"provider": Bare(), "base_url": "http://h/v1"}, "base_url has no effect with provider="),
    ],
)
def test_what_cannot_be_handed_in_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidRequestError, match=says):
        Chat(**given)


@pytest.mark.parametrize(
    ("pieces", "says"),
    [((), "The provider Broken failed: KeyError: 'choices'"), ((b"It",), r"TypeError: stream\(\) yielded bytes")],
)
def test_a_mistake_in_a_provider_is_one_line_with_its_name(pieces: tuple[Any, ...], says: str) -> None:
    chat = Chat(provider=Broken(pieces))
    with pytest.raises(ProviderError, match=says) as raised:
        chat.send("Why?")
    assert isinstance(raised.value.__cause__, KeyError | TypeError)
    assert chat.turns == ()


class Streams:
    """One whose stream is made by the function that it is given."""

    def __init__(self, stream: Callable[[Request], Any]) -> None:
        self.stream = stream


async def one_coroutine(request: Request) -> Reply:
    return Reply("Hello.")


@pytest.mark.parametrize(
    ("stream", "says"),
    [
        (one_coroutine, "TypeError: 'coroutine' object is not iterable"),
        (lambda request: "Hello.", r"sent no reply: stream\(\) must end with one Reply"),
        (lambda request: iter(("Hello.",)), r"sent no reply: stream\(\) must end with one Reply"),
    ],
)
def test_a_stream_of_another_kind_is_refused_with_the_provider_s_name_and_the_rule(
    stream: Callable[[Request], Any], says: str
) -> None:
    with pytest.raises(ProviderError, match=f"^The provider Streams .*{says}"):
        Chat(provider=Streams(stream)).send("Why?")


# registered


def test_nothing_is_imported_before_it_is_used(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install("echo = echo_llm:Echo", "raise SystemError('imported')")
    with pytest.raises(InvalidRequestError, match=r"Providers: local, .*, echo;"):
        get_provider("ecko/loud")
    with pytest.raises(ProviderError, match="imported"):
        get_provider("echo/loud")


def test_a_registered_provider_answers_under_its_name(install: Install) -> None:
    install("echo = echo_llm:Echo")
    chat = Chat("echo/loud", api_key="sesame", timeout=9)
    assert chat.send("Why?").text == "WHY?"
    import echo_llm

    assert echo_llm.made == [("loud", "sesame", 9.0)]
    assert chat.info().context_window == 5_000
    echoes = chat.models.available(chat.config.changed({"model": "echo/any"}))
    assert [(name, window) for name, window, _ in echoes] == [
        ("echo/loud", 5_000), ("echo/quiet", 32_000),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["claude-code", "gemini-cli", "o1labs", "gpt-hub", "codex-x"])
def test_a_provider_may_be_called_as_models_are(install: Install, name: str) -> None:
    install(f"{name} = echo_llm:Echo")
    assert Chat(f"{name}/loud").send("Why?").text == "WHY?"
    assert [split_model(model)[0] for model in ("claude-opus-5", "models/gemini-2.5-pro", "ft:gpt-4o:a::b")] == [
        "anthropic", "google", "openai",
    ]  # fmt: skip


def test_it_is_used_and_completed_in_a_notebook_as_others_are(install: Install, cells: Cells) -> None:
    install("echo = echo_llm:Echo")
    assert any(line.startswith("%chat use echo/") for line in cells.lines("%chat use ec"))
    cells.run("%chat use echo/loud")
    cells.run("%%chat\nWhy?")
    assert str(cells.shell.user_ns["_"]) == "WHY?"
    assert "echo/quiet" in cells.run("%chat models echo")
    import echo_llm

    assert [model for model, *_ in echo_llm.made] == ["loud", "any"]
    assert "%%chat -m echo/loud" in cells.lines("%%chat -m echo/")
    assert "%chat models echo" in cells.lines("%chat models ")
    assert "%chat key echo" in cells.lines("%chat key ")


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("Other = 1", "AttributeError: .*Echo"),
        ("def Echo(model): ...", "TypeError: .*unexpected keyword"),
        ("def Echo(model, **options): return None", r"no method stream\(request\)"),
    ],
)
def test_a_broken_package_is_one_line_with_its_name(install: Install, code: str, says: str) -> None:
    install("echo = echo_llm:Echo", code)
    with pytest.raises(ChatError, match=rf"The provider 'echo' \(echo_llm:Echo of echo_llm 1\.2\).*{says}"):
        Chat("echo/loud").send("Why?")


def test_a_built_in_name_is_not_taken_over(install: Install) -> None:
    install("openai = echo_llm:Echo\necho = echo_llm:Echo")
    assert type(get_provider("openai/gpt-4o")).__name__ == "Responses"
