"""A conversation as Markdown, JSON and a notebook, and what JSON and notebooks bring back."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from typing import Any, get_args

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from jupyter_ctx.conversation.conversation import Conversation
from jupyter_ctx.conversation.events import Added, Excluded, Pinned, Summarized, SystemSet, TurnAdded
from jupyter_ctx.conversation.messages import Attachment, StopReason, Summary, Turn, TurnRecord
from jupyter_ctx.errors import InvalidRequestError
from jupyter_ctx.export.conversation_files import carried, read, renewed, written
from jupyter_ctx.export.openai_messages import from_messages

pytestmark = pytest.mark.core

PIECES = (
    *("\n", "\n\n", "\r", "\r\n", " ", "\t", "\x0b", "\x0c", "\x1b[31m", "\x85", "\u2028", "\u202e", "\ufeff", "😀"),
    *("<!-- jupyter_ctx user {} -->", "\\<!-- jupyter_ctx ", '<!-- jupyter_ctx conversation {"version": 1} -->'),
    *("<!--", "-->", "--!>", "<!-- jupyter_ctx", "## You", "# Conversation", "[attached: x]", "```", "~~~", "<script>"),
    *("&#13;", "&amp;#13;", "&", "amp;", "#13;", "%%chat", "%%chat system", "{{ x }}", "\\", '"', "'", "why", "0"),
)
ANY_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
TEXTS = st.lists(st.sampled_from(PIECES) | ANY_TEXT, max_size=6).map("".join)
TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf")
DATA = st.binary(max_size=40).map(b"\x89".__add__)  # no file begins as an address does
FILES = st.builds(Attachment, TEXTS, st.sampled_from(TYPES), DATA, st.integers(0, 10**6))
SOURCES = st.lists(TEXTS, max_size=2).map(tuple)
RECORDS = st.builds(TurnRecord, TEXTS, st.sampled_from(get_args(StopReason)), sources=SOURCES)
TURNS = st.builds(Turn, TEXTS, TEXTS, st.lists(FILES, max_size=2).map(tuple), record=RECORDS)
CHEAP = settings(max_examples=40)

PICTURE = Attachment("chart.png", "image/png", b"\x89PNG\r\n\x1a\n...", 120)
PAPER = Attachment("paper.pdf", "application/pdf", b"%PDF-1.7 ...", 2000)
ONE = Turn("Why is the sky blue?", "Because of *Rayleigh*.", record=TurnRecord("openai/gpt-5.2"))
TWO = Turn("And here?", "", (PICTURE, PAPER), record=TurnRecord("local/smollm2", "max_tokens"))
SHORT = Summary("The sky was asked about.", frozenset({ONE.id}), "model")
TALK = Added((ONE, TWO), "Be brief.", (TWO.id,), (), SHORT)


@st.composite
def talks(draw: st.DrawFn) -> Added:
    turns = tuple(draw(st.lists(TURNS, max_size=4)))
    some = st.lists(st.sampled_from([turn.id for turn in turns]), max_size=3) if turns else st.just([])
    summary = None
    if covers := draw(some):
        summary = Summary(draw(TEXTS), frozenset(covers), draw(st.sampled_from(["extractive", "model"])))
    return Added(turns, draw(st.none() | TEXTS), tuple(draw(some)), tuple(draw(some)), summary)


def plain(added: Added) -> Any:
    """All that a file keeps, with numbers for ids."""
    ids = [turn.id for turn in added.turns]
    files = [[(file.media_type, file.data) for file in turn.attachments] for turn in added.turns]
    turns = [(turn.prompt, turn.reply, turn.model, turn.stop_reason, turn.record.sources) for turn in added.turns]
    pinned, excluded = ({ids.index(one) for one in marked} for marked in (added.pinned, added.excluded))
    summary = added.summary
    short = summary and (summary.text, summary.method, {i for i, one in enumerate(ids) if one in summary.covers})
    return turns, files, added.system, pinned, excluded, short


def cell(source: Any, *outputs: Any, kind: str = "code") -> dict[str, Any]:
    return {"cell_type": kind, "source": source, "outputs": list(outputs)}


def shown(text: Any, form: str = "text/markdown", **more: Any) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {form: text, **more}, "metadata": {}}


def of_cells(*cells: Any) -> Added:
    return read(json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), ".ipynb")


def said(added: Added) -> list[tuple[str, str]]:
    return [(turn.prompt, turn.reply) for turn in added.turns]


# there and back


@CHEAP
@given(talk=talks())
def test_json_is_read_back_exactly_whatever_was_said_and_every_format_can_be_written(talk: Added) -> None:
    text = written(talk, ".json")
    text.encode("utf-8")
    assert "\r" not in text
    for file in (text, "\ufeff" + text.replace("\n", "\r\n")):
        assert plain(read(file, ".json")) == plain(talk)
    assert plain(renewed(talk)) == plain(talk)
    nbformat.validate(nbformat.reads(written(talk, ".ipynb"), as_version=4))
    written(talk, ".md").encode("utf-8")


def test_a_notebook_shows_the_images_that_went_with_a_prompt_and_brings_its_turns_back() -> None:
    talk = replace(TALK, turns=(ONE, replace(TWO, reply="It is grey.\n")))
    text = written(talk, ".ipynb")
    shown = json.loads(text)["cells"][-1]["outputs"]
    assert [list(output["data"]) for output in shown] == [["image/png"], ["text/plain"]]
    assert base64.b64decode(shown[0]["data"]["image/png"]) == PICTURE.data
    got = read(text, ".ipynb")
    assert (got.system, said(got)) == ("Be brief.", [(ONE.prompt, ONE.reply), (TWO.prompt, "It is grey.")])


def test_a_summary_is_a_new_one_and_keeps_to_the_turns_that_are_there() -> None:
    more = replace(SHORT, covers=SHORT.covers | {"gone"})
    got = read(written(replace(TALK, summary=more), ".json"), ".json")
    assert plain(got) == plain(TALK)
    assert got.summary is not None
    assert not {got.summary.id, *(turn.id for turn in got.turns)} & {SHORT.id, ONE.id, TWO.id}
    none = replace(SHORT, covers=frozenset({"gone"}))
    assert read(written(replace(TALK, summary=none), ".json"), ".json").summary is None


def test_what_no_file_can_hold_is_mended_when_written() -> None:
    got = read(written(Added((Turn("p", "caf\udce9", record=TurnRecord("m")),)), ".JSON"), ".json")
    assert got.turns[0].reply == "caf�"


def test_a_conversation_carries_its_current_turns_and_what_stands_beside_them() -> None:
    first, again, other = (
        Turn(text, "re", record=TurnRecord("m", cell=text[0], run=text)) for text in ("a1", "a2", "b1")
    )
    past = Conversation([TurnAdded(first), TurnAdded(other), SystemSet("s"), TurnAdded(again)])
    past.append(Pinned((first.id,), on=True))
    past.append(Excluded((other.id,), on=True))
    past.append(Summarized(Summary("old", frozenset({first.id}), "model")))
    assert carried(past) == Added((again, other), "s", (again.id,), (other.id,), None)
    past.append(Summarized(Summary("new", frozenset({first.id, other.id}), "model", "x")))
    assert carried(past).summary == Summary("new", frozenset({other.id}), "model", "x")
    assert carried(Conversation()) == Added(())


# JSON


def test_the_messages_are_what_any_tool_can_send() -> None:
    found = json.loads(written(TALK, ".json"))
    assert set(found) == {"messages", "jupyter_ctx"}
    system, *_, last = found["messages"]
    assert (system, last) == ({"role": "system", "content": "Be brief."}, {"role": "assistant", "content": ""})
    assert [message["role"] for message in found["messages"]] == ["system", *["user", "assistant"] * 2]
    picture, paper, text = found["messages"][3]["content"]
    assert picture == {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgouLi4="}}
    assert paper["type"] == "file"
    assert paper["file"] == {"filename": "paper.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjcgLi4u"}
    assert text == {"type": "text", "text": "And here?"}
    assert found["jupyter_ctx"]["summary"] == {"text": SHORT.text, "method": "model"}
    assert [marks["summarized"] for marks in found["jupyter_ctx"]["turns"]] == [True, False]


def test_messages_of_other_tools_are_read() -> None:
    messages = [
        {"role": "developer", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}]},
        {"role": "user", "content": "c", "name": "ann"},
        {"role": "assistant", "content": "r"},
        {"role": "assistant", "content": "more"},
        {"role": "user", "content": "last"},
    ]
    for value in (messages, {"messages": messages}, {"messages": messages, "model": "m", "jupyter_ctx": None}):
        got = read(json.dumps(value), ".json")
        assert (got.system, said(got)) == ("s", [("a\n\nb\n\nc", "r\n\nmore"), ("last", "")])
        assert [turn.model for turn in got.turns] == ["", ""]


def test_files_of_other_tools_are_taken_with_the_size_of_the_largest() -> None:
    url = "data:{};base64,JVBERi0xLjcgLi4u"
    content = [
        {"type": "image_url", "image_url": {"url": url.format("image/webp"), "detail": "low"}},
        {"type": "file", "file": {"file_data": url.format("application/pdf")}},
    ]
    (turn,) = from_messages([{"role": "user", "content": content}]).turns
    data = b"%PDF-1.7 ..."
    assert turn.prompt == ""
    assert turn.attachments == (
        Attachment("image.webp", "image/webp", data, 1600),
        Attachment("application.pdf", "application/pdf", data, 2000),
    )


def test_a_greeting_is_a_turn_without_a_prompt_and_an_image_at_an_address_is_named_in_the_text() -> None:
    look = ["Look:", {"type": "image_url", "image_url": {"url": "https://e.x/a.png"}}]
    messages = [("system", "s"), ("assistant", "Hello! What is it?"), ("user", look)]
    got = from_messages([{"role": role, "content": content} for role, content in messages])
    assert got.system == "s"
    assert said(got) == [("", "Hello! What is it?"), ("Look:\n\n[image at https://e.x/a.png]", "")]


@pytest.mark.parametrize("version", [1, 2])
def test_marks_that_fit_the_messages_no_more_are_left_aside(version: int) -> None:
    found = json.loads(written(TALK, ".json"))
    found["jupyter_ctx"]["version"] = version
    if version == 1:
        del found["messages"][2]
    got = read(json.dumps(found), ".json")
    assert got.summary is None
    assert got.pinned == ()
    assert got.turns[-1].attachments[0] == Attachment("image.png", "image/png", PICTURE.data, 1600)
    assert len(got.turns) == version


# Markdown


def test_markdown_is_made_for_people() -> None:
    first, _, text = written(TALK, ".md").partition("\n")
    assert first == "<!-- jupyter_ctx conversation -->"
    assert text == (
        "# Conversation\n\n## System prompt\n\nBe brief.\n\n## Summary\n\nThe sky was asked about.\n\n"
        "## You\n\nWhy is the sky blue?\n\n## openai/gpt-5.2\n\nBecause of \\*Rayleigh\\*.\n\n".replace("\\*", "*")
        + "## You\n[attached: chart.png]\n[attached: paper.pdf]\n![chart.png](data:image/png;base64,iVBORw0KGgouLi4=)\n"
        "\nAnd here?\n\n## local/smollm2\n\n\n"
    )


HOSTILE = 'x --> <script>alert(1)</script> --!> ![a](http://e.x)\n\n## You\r<!-- jupyter_ctx user {} -->\u2028`*_"#'


def test_names_do_not_break_out_of_a_heading() -> None:
    file = Attachment(HOSTILE, "image/png", b"1")
    text = written(Added((Turn("p", "r", (file,), record=TurnRecord(HOSTILE)),)), ".md")
    html = MarkdownIt("commonmark", {"html": True}).render(text)
    assert re.findall("<(?!/|!--)([a-z0-9]+)", html) == ["h1", "h2", "p", "img", "p", "h2", "p"]
    assert html.count("-->") == 1


@pytest.mark.parametrize("code", ["```python\nx = 1", "~~~~\n```\n~~~", "a\n  ````md\n```\n``` b", "```\n```\n```"])
def test_code_that_was_cut_does_not_swallow_what_follows(code: str) -> None:
    others = Turn("q", "```py\nwhole\n```"), Turn("r", "``` no ` code")
    talk = Added((Turn("p", code, record=TurnRecord("m", "interrupted")), Turn("p", code + "\r"), *others))
    assert MarkdownIt("commonmark").render(written(talk, ".md")).count("<h2>") == 8


# notebooks


def test_the_notebook_runs_from_top_to_bottom() -> None:
    cells = json.loads(written(replace(TALK, turns=(ONE, TWO, Turn(" ", "r"))), ".ipynb"))["cells"]
    assert [one["source"] for one in cells] == [
        "%load_ext jupyter_ctx",
        "%%chat system\nBe brief.\n",
        "%%chat --raw\nWhy is the sky blue?",
        "With the prompt below went: chart.png, paper.pdf. Running the cell again does not send it.",
        "%%chat --raw\nAnd here?",
        "# nothing was asked in words\n ",
    ]
    (output,) = cells[2]["outputs"]
    assert output["data"] == {"text/plain": ONE.reply}


def test_what_front_ends_colour_and_terminals_obey_is_not_in_an_output() -> None:
    text = written(Added((Turn("p", "a\x1b[31mb\r\n\u202ec"),)), ".ipynb")
    assert json.loads(text)["cells"][1]["outputs"][0]["data"] == {"text/plain": "a�[31mb\n�c"}


def test_cells_written_by_hand_are_read_with_their_answers() -> None:
    got = of_cells(
        cell("# title", kind="markdown"),
        cell("%load_ext jupyter_ctx"),
        cell("%%chat system\n\nBe brief.\n"),
        cell(["%%chat\n", "one\n", "two\n"], shown(["a\n", "b"], **{"text/plain": "no"})),
        cell('%%ctx -m local/smollm2 --new -s "be kind"\nthree', {"output_type": "stream", "text": "no"}, shown("c")),
        cell("\n%%chat\nfour", shown("d", "text/plain"), {"output_type": "error", "traceback": []}),
    )
    assert got.system == "Be brief."
    assert said(got) == [("one\ntwo", "a\nb"), ("three", "c"), ("four", "d")]


def test_cells_that_are_no_turn_are_left_out() -> None:
    got = of_cells(
        cell("%%chat\nasked", shown("answered")),
        cell("%%chat\nno answer yet"),
        cell("%%chat\nfailed", {"output_type": "error", "ename": "e", "evalue": "e", "traceback": []}),
        cell("%%chat --no-history\naside", shown("x")),
        cell("%%chat summarise\nlist all", shown("x")),
        cell("%%chatter\nno", shown("x")),
        cell("%chat status", shown("x")),
        cell("print(1)", shown("x")),
        cell("%%chat\nmarkdown", shown("x"), kind="markdown"),
    )
    assert said(got) == [("asked", "answered")]


def test_our_own_lines_and_the_gauge_are_not_the_answer() -> None:
    twin = shown("Context [#..]", "text/plain", **{"text/html": '<div class="jctx-twin">x</div>'})
    warning = shown("[ctx] 87 % after this.", "text/plain", **{"text/html": '<div class="jctx-warning">x</div>'})
    plain = shown("[ctx] Going on.\nr\n[ctx] Stopped at 40 tokens.", "text/plain")
    whole = shown("> **[ctx]** Going on.\n\nr\n\ns\n\n> **[ctx]** Stopped at 40 tokens.")
    gauge = shown("Context [#..]", "text/plain", **{"application/vnd.jupyter.widget-view+json": {}})
    assert said(of_cells(cell("%%chat\np", shown("r", "text/plain"), gauge))) == [("p", "r")]
    assert said(of_cells(cell("%%chat\np", warning, plain, twin))) == [("p", "r")]
    assert said(of_cells(cell("%%chat\np", warning, whole, twin))) == [("p", "r\n\ns")]


# what cannot be read


MESSAGES = "[{}]".format


@pytest.mark.parametrize(
    ("text", "suffix", "match"),
    [
        ("", ".txt", r"imported from \.json or \.ipynb, not \.txt"),
        ("# Conversation\n", ".md", r"not \.md"),
        ("{", ".json", "This is not valid JSON"),
        ("[" * 100_000, ".json", "too many brackets"),
        ('{"messages": {}}', ".json", "There are no messages in it"),
        (MESSAGES('{"role": "robot", "content": "x"}'), ".json", "'role': 'robot'} is no message"),
        (MESSAGES('{"role": "user", "content": "x"}, {"role": "system", "content": "x"}'), ".json", "role 'system'"),
        (MESSAGES('{"role": "user", "content": [{"type": "audio"}]}'), ".json", "neither text nor"),
        (MESSAGES(r'{"role": "user", "content": "a\ud800"}'), ".json", r"is U\+D800"),
        ("[]", ".ipynb", "This notebook has no cells"),
        ('{"cells": [{"cell_type": "code", "source": "%%chat\\nwhy"}]}', ".ipynb", "No cell begins with %%chat"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, suffix: str, match: str) -> None:
    with pytest.raises(InvalidRequestError, match=match):
        read(text, suffix)


KEYS = st.sampled_from(
    (
        *("messages", "jupyter_ctx", "role", "content", "type", "text", "image_url", "url", "file", "file_data"),
        *("filename", "version", "turns", "summary", "summarized", "cells", "cell_type", "source", "outputs"),
        *("data", "metadata", "text/markdown", "text/plain", "reply", "parts", "files", "tokens", "name", "closed"),
    )
)
WORDS = st.sampled_from(
    (
        *("user", "assistant", "system", "developer", "text", "code", "image_url", "data:image/png;base64,AA=="),
        *("%%chat", "%%chat\nwhy", "model", "\ud800", "\0"),
    )
)
LEAVES = st.none() | st.booleans() | st.integers(-1, 3) | st.just(10**400) | st.just(float("nan")) | WORDS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=25
)


def read_or_refused(text: str, suffix: str) -> None:
    try:
        got = read(text, suffix)
    except InvalidRequestError:
        return
    assert plain(read(written(got, ".json"), ".json")) == plain(got)


@CHEAP
@given(text=st.text(st.characters()) | TEXTS)
def test_any_text_is_read_or_refused(text: str) -> None:
    for suffix in (".json", ".ipynb"):
        read_or_refused(text, suffix)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every key and index in a JSON value, with what it is in."""
    inner = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    return [(value, key) for key in inner] + [found for key in inner for found in places(value[key])]


@pytest.mark.parametrize("suffix", [".json", ".ipynb"])
@given(data=st.data())
def test_whatever_is_changed_in_a_file_it_is_read_or_refused(suffix: str, data: st.DataObject) -> None:
    found = json.loads(written(TALK, suffix))
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(places(found)))
        holder[key] = data.draw(VALUES)
    read_or_refused(json.dumps(found), suffix)
