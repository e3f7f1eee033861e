"""What a student hands in holds all that was asked, and a file that was changed does not fit its digest."""

from __future__ import annotations

import base64
import json
import tracemalloc
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ctx import Chat
from jupyter_ctx.__main__ import main
from jupyter_ctx.conversation.events import Offered
from jupyter_ctx.conversation.messages import Alternative, Alternatives, Turn, TurnRecord
from jupyter_ctx.errors import InvalidRequestError
from jupyter_ctx.export.hand_in import HANDED_IN, HandedAnswer, load_hand_in
from jupyter_ctx.magics.hand_in import check_hand_in, hand_in
from jupyter_ctx.session.exchange import Coming
from jupyter_ctx.session.prompt import Prompt
from jupyter_ctx.testing import ScriptedProvider

SUFFIXES = (".html", ".ipynb", ".json")
KEY = "sk-" + "a1B2" * 10
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
Class = Callable[..., tuple[int, list[str]]]


def chat_of(answer: str = "So it is.", model: str = "scripted/model", **given: Any) -> Chat:
    return Chat(provider=ScriptedProvider(answer, takes=frozenset(["image"]), model=model), **given)


def said(chat: Chat, *prompts: str) -> Chat:
    for prompt in prompts:
        chat.send(prompt)
    return chat


def answers(path: Path) -> list[HandedAnswer]:
    seal, misfit = load_hand_in(path)
    assert misfit == ""
    return list(seal.record.answers)


def misfit_of(path: Path) -> str:
    return load_hand_in(path)[1]


def sent(answer: HandedAnswer) -> int:
    """How many earlier turns the request of an answer had."""
    return sum(numbers(answer, "sent") + numbers(answer, "pinned"))


def numbers(answer: HandedAnswer, state: str) -> list[int]:
    return [last - first + 1 for first, last in answer.turns_before.get(state, ())]


@pytest.fixture
def read_class(capsys: pytest.CaptureFixture[str]) -> Class:
    """Run the command; return its exit code and its lines."""

    def run(*arguments: Any) -> tuple[int, list[str]]:
        code = main(["class", *map(str, arguments)])
        return code, "".join(capsys.readouterr()).splitlines()

    return run


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_answer_is_handed_in_with_what_became_of_it(suffix: str, tmp_path: Path) -> None:
    chat = said(chat_of(), "Before?")
    chat.clear()
    said(chat, "One?", "Two?", "Three?")
    chat.undo()
    chat.exclude(1)
    chat.pin(2)
    said(chat, "Four?")
    path = tmp_path / f"work{suffix}"
    hand_in(chat, str(path))
    found = answers(path)
    assert [(each.prompt, each.state, each.turn, sent(each)) for each in found] == [
        ("Before?", "before a clear", 0, 0),
        ("One?", "current", 1, 0),
        ("Two?", "current", 2, 1),
        ("Three?", "undone", 0, 2),
        ("Four?", "current", 3, 1),
    ]
    assert found[4].turns_before == {"excluded": ((1, 1),), "pinned": ((2, 2),)}
    assert all(each.model == "scripted/model" and each.usage and each.window and each.at for each in found)
    assert "fits its digest" in check_hand_in(str(path))


def test_what_each_request_left_out_is_told_as_it_was_then(tmp_path: Path) -> None:
    provider = ScriptedProvider("So it is.")
    chat = Chat(provider=provider, window=400, max_tokens=50)
    said(chat, *(f"Question {number}? " * 30 for number in range(8)))
    chat.include()
    hand_in(chat, str(tmp_path / "work.json"))
    found = answers(tmp_path / "work.json")
    assert list(map(sent, found)) == [len(request.messages) // 2 for request in provider.requests]
    assert numbers(found[-1], "left out")
    for at, each in enumerate(found):
        assert sum(sum(numbers(each, state)) for state in each.turns_before) == at


def test_a_summary_stands_for_the_turns_that_it_replaced(tmp_path: Path) -> None:
    chat = said(chat_of(), *(f"{word}? " * 40 for word in ("One", "Two", "Three")))
    assert chat.summarize(turns=1, method="extractive").changed
    said(chat, "Four?")
    hand_in(chat, str(tmp_path / "work.json"))
    assert answers(tmp_path / "work.json")[-1].turns_before == {"summarised": ((1, 2),), "sent": ((3, 3),)}


def test_older_versions_and_answers_not_taken_are_handed_in(tmp_path: Path) -> None:
    chat = chat_of()
    for run in ("first", "second"):
        chat.desk.ask(Prompt(f"Why, {run}?", cell="cell", run=run), Coming())
    asked = Turn("Which?", record=TurnRecord(cell="other"))
    offered = Alternatives(asked, (Alternative("a", "A."), Alternative("b", "B."), Alternative("c", error="Gone.")))
    chat.desk.session.record(Offered(offered))
    hand_in(chat, str(tmp_path / "work.html"))
    assert [(each.prompt, each.reply, each.state, each.version) for each in answers(tmp_path / "work.html")] == [
        ("Why, first?", "So it is.", "older version", 1),
        ("Why, second?", "So it is.", "current", 2),
        ("Which?", "A.", "not taken", 0),
        ("Which?", "B.", "not taken", 0),
        ("Which?", "", "not taken", 0),
    ]
    page = (tmp_path / "work.html").read_text("utf-8")
    assert page.count("<h2>") == 1
    assert page.count("<summary>") + page.count("<summary ") >= 4
    assert "Gone." in page


def test_attachments_are_named_with_size_and_digest_and_their_data_stays_here(tmp_path: Path) -> None:
    chat, folder = chat_of(model="local//private folder/small.gguf@512"), tmp_path / "private folder"
    folder.mkdir()
    (folder / "plot.png").write_bytes(PICTURE)
    (folder / "notes.txt").write_text("Some notes.")
    chat.send("What is it?", attachments=[folder / "plot.png", folder / "notes.txt"])
    for suffix in SUFFIXES:
        path = tmp_path / f"work{suffix}"
        hand_in(chat, str(path))
        (answer,) = answers(path)
        (file,) = answer.files
        assert answer.model == "local/small.gguf@512"
        assert file == f"plot.png (image/png): {len(PICTURE)} bytes, SHA-256 {sha256(PICTURE).hexdigest()}"
        assert (answer.prompt, "Some notes." in answer.attached_text) == ("What is it?", True)
        assert answer.sources == ("plot.png", "notes.txt")
        assert "private folder" not in path.read_text("utf-8")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_keys_are_blanked_before_the_digest(suffix: str, tmp_path: Path) -> None:
    chat = said(chat_of(f"Your key is {KEY}.", system=f"Use {KEY}"), f"My key is {KEY}")
    path = tmp_path / f"work{suffix}"
    assert "3 parts that look like keys were blanked" in hand_in(chat, str(path))
    assert KEY not in path.read_text("utf-8")
    assert "***" in answers(path)[0].prompt


def test_a_notebook_that_a_front_end_saves_again_fits_and_one_whose_cell_changed_does_not(tmp_path: Path) -> None:
    path = tmp_path / "work.ipynb"
    hand_in(said(chat_of("One.\nTwo."), "One?\nTwo?"), str(path))
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)  # with texts as lists of lines
    assert misfit_of(path) == ""
    notebook.cells[-1].source += "\nThree?"
    nbformat.write(notebook, path)
    assert misfit_of(path) == "what is shown"


@pytest.mark.parametrize(
    "forge",
    [
        lambda cell: cell.outputs[-1].update(output_type="stream", name="stdout", text="Three."),
        lambda cell: cell.outputs[-1].update(output_type="error", ename="E", evalue="", traceback=["Three."]),
        lambda cell: cell.metadata.update(jupyter={"outputs_hidden": True}),
    ],
)
def test_a_notebook_that_shows_or_hides_something_by_other_fields_does_not_fit(forge: Any, tmp_path: Path) -> None:
    path = tmp_path / "work.ipynb"
    hand_in(said(chat_of("One."), "One?"), str(path))
    notebook = nbformat.from_dict(json.loads(path.read_text("utf-8")))
    forge(next(cell for cell in reversed(notebook.cells) if cell.get("outputs")))
    path.write_text(json.dumps(notebook), "utf-8")
    assert misfit_of(path) == "what is shown"


def test_the_first_answer_that_does_not_fit_is_named(tmp_path: Path) -> None:
    path = tmp_path / "work.json"
    hand_in(said(chat_of(), "One?", "Two?"), str(path))
    whole = path.read_text("utf-8")
    for old, new, place in (
        ("Two?", "Too?", "answer 2"),
        ('"written": "2', '"written": "1', "the head of the record, or the digest itself"),
        ('"digest": "', '"digest": "0', "the head of the record, or the digest itself"),
    ):
        assert old in whole
        path.write_text(whole.replace(old, new))
        assert misfit_of(path) == place
        with pytest.raises(InvalidRequestError):
            check_hand_in(str(path))


def test_a_page_that_shows_something_else_than_its_record_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "work.html"
    hand_in(said(chat_of(), "One?", "Two?"), str(path))
    page = path.read_text("utf-8")
    path.write_text(page.replace(">Two?<", ">Too?<", 1))
    assert misfit_of(path) == "what is shown"
    path.write_text(page, newline="\r\n")  # as a mail may carry it
    assert misfit_of(path) == ""


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_change_of_one_character_of_the_record_is_found(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    suffix = data.draw(st.sampled_from(SUFFIXES))
    path = folder / f"whole{suffix}"
    if not path.exists():
        hand_in(said(chat_of("Blau, <b>😀</b> & `x`"), "Warum?", "Und?"), str(path))
    text = path.read_text("utf-8")
    place = data.draw(st.integers(0, len(text) - 1))
    changed = text[:place] + data.draw(st.sampled_from("x0 ,<ü")) + text[place + 1 :]
    same = _meaning(text, suffix) == _meaning(changed, suffix)
    other = folder / f"changed{suffix}"
    other.write_text(changed, "utf-8")
    try:
        fits = misfit_of(other) == ""
    except InvalidRequestError:
        fits = False
    assert fits == same


def _meaning(text: str, suffix: str) -> object:
    """What a file says, without the layout of its JSON; a page is all that it is."""
    if suffix == ".html":
        return text
    try:
        values = json.loads(text)
    except ValueError:
        return text
    if suffix == ".json":
        return values
    cells = [{name: each for name, each in cell.items() if name != "id"} for cell in values.get("cells", [])]
    return values.get("metadata", {}).get(HANDED_IN), cells


def test_what_cannot_be_handed_in_or_checked_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match="nothing to hand in"):
        hand_in(chat_of(), str(tmp_path / "work.html"))
    chat = said(chat_of(), "One?")
    with pytest.raises(InvalidRequestError, match=r"\.html, \.ipynb or \.json"):
        hand_in(chat, str(tmp_path / "work.docx"))
    mine = tmp_path / "mine.html"
    mine.write_text("my own page")
    with pytest.raises(InvalidRequestError, match="exists"):
        hand_in(chat, str(mine))
    chat.export(tmp_path / "talk.json")
    for name in ("mine.html", "talk.json", "missing.json"):
        with pytest.raises(InvalidRequestError):
            check_hand_in(str(tmp_path / name))
    hand_in(chat, str(tmp_path / "work.json"))
    hand_in(chat, str(tmp_path / "work.json"))  # over an earlier one


def test_a_class_is_one_table_whatever_is_in_its_folder(tmp_path: Path, read_class: Class) -> None:
    folder = tmp_path / "class"
    (folder / "late" / "deeper").mkdir(parents=True)
    chat = said(chat_of(), "One?", "Two?")
    for name in ("anna.html", "late/ben.json", "late/deeper/unread.json"):
        hand_in(chat, str(folder / name))
    hand_in(said(chat_of(), "Why?"), str(folder / "=cara.ipynb"))
    whole = (folder / "anna.html").read_text("utf-8")
    (folder / "dora.html").write_text(whole.replace(">One?<", ">1?<"))
    (folder / "emil.html").write_text(whole[: len(whole) // 2])
    (folder / "fred\x1b[31m.json").write_bytes(b"\xff\xfe")
    for name in ("gina.docx", "grades.csv"):
        (folder / name).write_bytes(b"PK")
    nbformat.write(nbformat.v4.new_notebook(), folder / "lesson.ipynb")
    (folder / "huge.json").touch()
    with (folder / "huge.json").open("rb+") as file:
        file.truncate(10**9)
    (folder / "ida.json").write_text(json.dumps({HANDED_IN: {"record": "\x1b[2J"}}))
    (folder / "joe.json").write_text('{"' + HANDED_IN + '": {"record": ' + "[" * 100_000)
    code, lines = read_class(folder)
    table = "\n".join(lines)
    assert code == 1
    assert len(lines) == 1 + 9 + 1
    assert lines[-1].startswith("1 other file passed over")
    assert "\x1b" not in table
    assert "deeper" not in table
    line = {name: next(each for each in lines if each.startswith(name)) for name in ("anna", "dora", "emil", "huge")}
    assert line["anna"].split()[1] == "2"
    assert line["anna"].endswith("UTC  fits")
    assert "does not fit: changed in what is shown" in line["dora"]
    assert "carries no record" in line["emil"]
    assert "1,000,000,000 bytes" in line["huge"]
    assert read_class(tmp_path / "nowhere")[0] == 1
    assert read_class(folder / "late")[0] == 0, "whole hand-ins alone"
    (folder / "late" / "deeper" / "empty").mkdir()
    code, lines = read_class(folder / "late" / "deeper" / "empty")
    assert (code, len(lines)) == (1, 1)
    assert "No hand-in is in" in lines[0]


def test_numbers_and_texts_of_a_hostile_file_are_a_line(tmp_path: Path, read_class: Class) -> None:
    path = tmp_path / "work.json"
    hand_in(said(chat_of(), "One?"), str(path))
    whole = path.read_text("utf-8")
    changes = (
        ('"window": 32000', '"window": 1' + "0" * 5_000),
        ('"turn": 1', '"turn": 1e400'),
        ('"turn": 1', '"turn": NaN'),
        ('"input_tokens": ', '"input_tokens": 1' + "0" * 4_000),
    )
    changes = *changes, ('"cost": null', '"cost": -1e999'), ("scripted/model", "\\u001b[2J\\u202e"), ("One?", "\\ud800")
    for number, (old, new) in enumerate(changes):
        assert old in whole
        (tmp_path / f"{number}.json").write_text(whole.replace(old, new))
    code, lines = read_class(tmp_path)
    assert (code, len(lines)) == (1, 1 + 1 + len(changes))
    assert not {"\x1b", "\u202e", "\ud800"} & set("".join(lines))


def test_many_files_are_read_one_at_a_time(tmp_path: Path, read_class: Class) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    hand_in(said(chat_of("word " * 2_000), *map(str, range(5))), str(tmp_path / "work.html"))
    text = (tmp_path / "work.html").read_bytes()
    for number in range(20):
        (folder / f"student{number}.html").write_bytes(text)
    read_class(folder)
    tracemalloc.start()
    code, lines = read_class(folder)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (code, len(lines)) == (0, 21)
    assert most < 12 * len(text)
