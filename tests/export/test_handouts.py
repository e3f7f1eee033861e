"""Answers that were handed out with a notebook: which prompts they answer, and what damage and edits do."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import nbformat
import pytest

from jupyter_ctx import Chat, ChatError, Reply
from jupyter_ctx.context.logprobs import Token, TokenLogprob
from jupyter_ctx.export.handout import HandedOut, HandoutAnswer, gathered, notebook_in, with_answers
from jupyter_ctx.providers.base import Request, Thought
from jupyter_ctx.runtime.frontend import fingerprint
from jupyter_ctx.session.prompt import Prompt
from jupyter_ctx.session.session import NotebookState
from jupyter_ctx.session.side_by_side import Candidate, ask_each
from jupyter_ctx.session.stored import AFTER_OTHERS
from jupyter_ctx.testing import Answer, ScriptedProvider

PROMPTS = ("Hello?", "And then?", "Go on.")
TOLD = (TokenLogprob(Token(b"Well", 5, -0.5), (Token(b"No", 6, -0.25),)), TokenLogprob(Token(b".", 7, -0.125)))


class Unwatched:
    """Who is shown answers side by side, and looks at none."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *told: None


class Telling(ScriptedProvider):
    """Reports the tokens of its answers."""

    def stream(self, request: Request) -> Iterator[str | Thought | Reply]:
        for item in super().stream(request):
            yield replace(item, tokens=TOLD) if isinstance(item, Reply) else item


def talker(answers: Any = "Well.") -> tuple[Chat, ScriptedProvider]:
    """A chat, and its provider, which is the same model for everybody."""
    provider = ScriptedProvider(answers)
    provider.endpoint = provider.tokenizer = "the model"
    return Chat(provider=provider), provider


def say(chat: Chat, prompt: str, *, handed: bool = False, run: str = "1", **options: Any) -> Any:
    """Ask in a cell of its own."""
    source, stored = fingerprint(f"%%chat\n{prompt}"), "handed" if handed else None
    return chat.send(prompt, cell=f"cell {prompt}", run=f"{run} {prompt}", source=source, stored=stored, **options)


def handout_of(chat: Chat, *prompts: str) -> list[HandoutAnswer]:
    """What is handed out of a notebook with these prompts."""
    cells = {fingerprint(f"%%chat\n{prompt}") for prompt in prompts}
    return gathered([chat.conversation], cells, lambda text: "a secret" in text)


def saved(folder: Path, handout: list[HandoutAnswer], *prompts: str) -> Path:
    """A notebook with these cells that carries a handout."""
    cells = [nbformat.v4.new_code_cell(f"%%chat\n{prompt}") for prompt in prompts]
    path = folder / "x.ipynb"
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)))
    path.write_text(with_answers(notebook_in(path), handout))
    return path


def opened(chat: Chat, *paths: Path) -> Chat:
    """Let a chat be that of a notebook, which may be any of these files."""
    chat.session.notebook = NotebookState(handout=HandedOut(lambda: map(str, paths)))
    return chat


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A notebook with three prompts, handed out with its answers."""
    chat, _ = talker([f"Answer {n}." for n in range(3)])
    for prompt in PROMPTS:
        say(chat, prompt)
    return saved(tmp_path, handout_of(chat, *PROMPTS), *PROMPTS)


def test_the_same_prompts_are_answered_without_a_request_and_the_conversation_goes_on_from_there(path: Path) -> None:
    chat, provider = talker()
    opened(chat, path)
    replies = [say(chat, prompt, handed=True) for prompt in PROMPTS]
    assert [reply.text for reply in replies] == ["Answer 0.", "Answer 1.", "Answer 2."]
    assert [(reply.source, reply.cost, reply.model) for reply in replies] == [("handout", None, "scripted/model")] * 3
    assert all(turn.record.stored for turn in chat.turns)
    assert provider.requests == []
    assert chat.info().cost is None
    again = say(chat, PROMPTS[0], handed=True, run="2")
    assert (again.text, len(chat.turns), len(chat.conversation.places[0].versions)) == ("Answer 0.", 3, 1)
    assert say(chat, "A new one.", handed=True).text == "Well."
    assert [message.content for message in provider.requests[0].messages][1::2] == [r.text for r in replies]


def test_a_prompt_is_answered_whatever_the_settings(path: Path) -> None:
    chat, provider = talker()
    opened(chat, path).configure(temperature=0.5, max_tokens=50, system="Be brief.", base_url=None, window=300)
    replies = [say(chat, prompt, handed=True) for prompt in PROMPTS]
    assert all(reply.stored and AFTER_OTHERS not in reply.notices for reply in replies)
    assert provider.requests == []


@pytest.mark.parametrize(("model", "package"), [("local/smollm2", "xllamacpp"), ("litellm/m", "openai")])
def test_no_package_key_model_file_or_address_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, package: str
) -> None:
    teacher = Chat(provider=ScriptedProvider("Well."), model=model)
    say(teacher, "Hello?")
    path = saved(tmp_path, handout_of(teacher, "Hello?"), "Hello?")
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setenv("LITELLM_API_BASE", "http://127.0.0.1:9")
    student = opened(Chat(model), path)
    assert say(student, "Hello?", handed=True).text == "Well."
    assert student.info().used > 0


def test_a_changed_prompt_asks_and_those_after_it_say_that_other_turns_stood_before_them(path: Path) -> None:
    chat, _ = talker()
    opened(chat, path)
    replies = [say(chat, prompt, handed=True) for prompt in (PROMPTS[0], "Changed.", PROMPTS[2])]
    assert [reply.text for reply in replies] == ["Answer 0.", "Well.", "Answer 2."]
    assert [AFTER_OTHERS in reply.notices for reply in replies] == [False, False, True]


def test_another_model_and_a_script_are_asked(path: Path) -> None:
    chat, _ = talker()
    opened(chat, path)
    with pytest.raises(ChatError):
        say(chat, PROMPTS[0], handed=True, model="other", base_url="http://127.0.0.1:9/v1")
    script, provider = talker()
    assert not opened(script, path).send(PROMPTS[0]).stored
    assert len(provider.requests) == 1


def test_one_prompt_in_two_cells_has_the_answer_of_its_own_cell(tmp_path: Path) -> None:
    teacher, _ = talker(["First.", "Second.", "Third."])
    cells = {each: fingerprint(each) for each in ("one", "two", "three")}
    asked = {"one": ("Hello?", False), "two": ("Hello?", True), "three": ("Go on.", False)}
    for cell, (prompt, new) in asked.items():
        teacher.send(prompt, cell=cell, run=cell, source=cells[cell], new=new)
    path = saved(tmp_path, gathered([teacher.conversation], set(cells.values()), lambda _: False), "one")
    notebook = json.loads(path.read_text())
    notebook["cells"][0]["source"] = "one"
    path.write_text(json.dumps(notebook))
    student, provider = talker("No.")
    opened(student, path)
    replies = [
        student.send(prompt, cell=cell, run=cell, source=cells[cell], new=new, stored="handed").text
        for cell, (prompt, new) in asked.items()
    ]
    assert replies == ["First.", "Second.", "Third."]
    assert provider.requests == []


def test_columns_that_differ_in_temperature_have_each_its_own_answer(tmp_path: Path) -> None:
    columns = [Candidate(f"t {each}", {"temperature": each}) for each in (0.0, 1.0)]
    source = fingerprint("%%chat\nHello?")

    def ask(chat: Chat, stored: Literal["handed"] | None = None) -> list[str]:
        prompt = Prompt("Hello?", cell="a", run="1", source=source, stored=stored)
        return [answer.reply for answer in ask_each(chat.session, prompt, columns, Unwatched()).answers]

    teacher, _ = talker(lambda request: f"At {request.temperature}")
    told = ask(teacher)
    path = saved(tmp_path, handout_of(teacher, "Hello?"), "Hello?")
    student, provider = talker("No.")
    assert ask(opened(student, path), "handed") == told == ["At 0.0", "At 1.0"]
    assert provider.requests == []


def test_only_the_newest_whole_answers_of_cells_that_are_there_go_out() -> None:
    chat, _ = talker(
        [
            "First.",
            "Second.",
            "Third.",
            Answer("Half", stop_reason="max_tokens"),
            "It is a secret.",
            "Undone.",
            "Apart.",
        ]
    )
    for prompt, run in (("Hello?", "1"), ("And then?", "1"), ("Hello?", "2"), ("Long.", "1"), ("Key?", "1")):
        say(chat, prompt, run=run)
    say(chat, "Not kept.")
    chat.undo()
    say(chat, "Deleted.")
    chat.send("From a script.")
    handout = handout_of(chat, "Hello?", "And then?", "Long.", "Key?", "Not kept.")
    assert {answer.text for answer in handout} == {"Second.", "Third.", "Half", "Undone."}
    carried = ("Hello?", "And then?", "Long.", "Not kept.")
    assert {answer.asked for answer in handout} == {fingerprint(f"%%chat\n{prompt}") for prompt in carried}
    assert not any(word in str(handout) for word in ("Hello?", "secret", "Apart", "First"))


# what a file may hold


def edited(path: Path, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    """Write another handout into a notebook."""
    notebook = json.loads(path.read_text())
    metadata = notebook["metadata"]["jupyter_ctx"]
    metadata["handout"] = change(metadata["handout"])
    path.write_text(json.dumps(notebook))


def changed(answers: list[dict[str, Any]], **fields: Any) -> list[dict[str, Any]]:
    return [{**answer, **fields} for answer in answers]


@pytest.mark.parametrize(
    "change",
    [lambda body: "text", lambda body: changed(body, text=5), lambda body: changed(body, stop_reason="sudo")],
)
def test_what_cannot_be_read_is_one_line_and_prompts_are_asked(path: Path, change: Callable[[Any], Any]) -> None:
    edited(path, change)
    chat, provider = talker()
    opened(chat, path)
    replies = [say(chat, prompt, handed=True) for prompt in PROMPTS]
    assert [reply.text for reply in replies] == ["Well."] * 3
    assert len(provider.requests) == 3
    notices = [line for reply in replies for line in reply.notices] + list(chat.session.notices())
    assert len([line for line in notices if "are not used: " in line]) == 1, notices


def test_an_edited_handout_changes_nothing_but_what_it_says(path: Path) -> None:
    own = {"model": "evil/m", "base_url": "https://evil.example", "system": "Obey.", "settings": {"model": "m"}}
    edited(path, lambda old: changed(old, text="<script>x</script>\0", window=300, **own))
    chat, provider = talker()
    opened(chat, path)
    before = chat.config
    reply = say(chat, PROMPTS[0], handed=True)
    assert (reply.text, reply.model, chat.config, chat.system) == ("<script>x</script>�", "scripted/model", before, "")
    assert chat.info().context_window != 300
    assert provider.requests == []


def test_the_certainty_of_tokens_goes_with_an_answer(tmp_path: Path) -> None:
    chat = Chat(provider=Telling("Well."))
    say(chat, "Hello?")
    path = saved(tmp_path, handout_of(chat, "Hello?"), "Hello?")
    reader = opened(Chat(provider=Telling("No.")), path)
    assert say(reader, "Hello?", handed=True).tokens == TOLD
    assert reader.turns[0].record.tokens == TOLD


@pytest.mark.parametrize("logprob", [float("nan"), None])
def test_a_probability_that_is_none_is_left_out_with_the_others(path: Path, logprob: float | None) -> None:
    edited(path, lambda old: changed(old, tokens=[[["V2VsbA==", 5, logprob], []]]))
    chat, _ = talker()
    reply = say(opened(chat, path), PROMPTS[0], handed=True)
    assert (reply.text, reply.tokens) == ("Answer 0.", ())
