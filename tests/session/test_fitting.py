"""What a view holds, whatever was said, pinned and excluded before."""

from __future__ import annotations

import base64

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from images import PIXEL

from jupyter_ctx import Chat
from jupyter_ctx.context.summary_facts import SUMMARY_ANSWER
from jupyter_ctx.providers.request_body import as_part, content
from jupyter_ctx.session import actions
from jupyter_ctx.testing import Answer, ScriptedProvider

pytestmark = pytest.mark.core

WORDS = "the ship sailed on through the night and nobody slept "
turns = st.lists(st.tuples(st.integers(1, 900), st.integers(1, 900), st.sampled_from("....px")), max_size=25)


def talked(rows: list[tuple[int, int, str]], **limits: int) -> Chat:
    """A conversation of turns with so many characters, some pinned (p), some excluded (x)."""
    chat = Chat("openai/gpt-4o", token_counting="approximate", system="Be brief.", max_tokens=20, **limits)  # type: ignore[arg-type]
    text = WORDS * 20
    chat.add_messages(
        message
        for asked, said, _ in rows
        for message in ({"role": "user", "content": text[:asked]}, {"role": "assistant", "content": text[:said]})
    )
    for number, (_, _, mark) in enumerate(rows, 1):
        if mark != ".":
            (chat.pin if mark == "p" else chat.exclude)(number)
    return chat


@given(turns, st.integers(60, 4_000), st.integers(1, 400), st.integers(0, 4), st.none() | st.integers(1, 6))
@example([], 60, 109, 0, None)  # 40.2 tokens do not fit in 40
def test_a_view_keeps_to_the_limit_in_order_without_holes_with_all_pins(
    rows: list[tuple[int, int, str]], window: int, asked: int, min_turns: int, max_turns: int | None
) -> None:
    chat = talked(rows, window=window)
    chat.configure(min_turns=min_turns, max_turns=max_turns and max(max_turns, min_turns, 1))
    pinned = [n for n, row in enumerate(rows, 1) if row[2] == "p"]
    loose = [n for n, row in enumerate(rows, 1) if row[2] == "."]
    alone = chat.preview()
    states = {part.turn: part.state for part in (*alone.messages, *alone.omitted)}
    assert [row.states[0] for row in chat.history()] == [states[number] for number in range(1, len(rows) + 1)]
    view = chat.preview((WORDS * 8)[:asked])
    if view.input_tokens > chat.info().limit:  # then it is the smallest there is: the provider's word counts
        assert [part.turn for part in view.messages if part.turn in loose] == []
        return
    assert sum(part.tokens for part in view.messages) + view.template == pytest.approx(
        view.input_tokens, abs=len(view.messages)
    )
    assert [part.role for part in view.messages] == [
        "system",
        *["user", "assistant"] * (len(view.messages) // 2 - 1),
        "user",
    ]
    sent = [part.turn for part in view.messages[1:-1:2] if part.turn is not None]
    kept = [n for n in sent if n in loose]
    assert set(pinned) <= set(sent)
    assert kept == loose[len(loose) - len(kept) :]
    assert max_turns is None or len(kept) <= max(max_turns, min_turns, 1)
    assert {part.turn for part in view.omitted} == set(range(1, len(rows) + 1)) - set(sent)
    verbatim = sent[sent.index(kept[0]) :] if kept else []
    assert verbatim == sorted(verbatim)
    assert view.messages[-1].state == "prompt"


def test_the_preview_has_the_order_of_the_request() -> None:
    chat = talked([(300, 300, "p" if number == 1 else ".") for number in range(12)], window=700)
    chat.summarize(method="extractive")
    view = chat.preview("And now?")
    assert [part.state for part in view.messages[:4]] == ["system", "pinned", "pinned", "summary"]
    sent = [message.content for message in view.request.messages if message.content != SUMMARY_ANSWER]
    assert len(sent) == len(view.messages)
    assert all(part.text in text for part, text in zip(view.messages, sent, strict=True))


@given(turns, st.integers(200, 2_000))
def test_the_number_of_the_gauge_is_that_of_the_preview(rows: list[tuple[int, int, str]], window: int) -> None:
    chat = talked([(asked, said, mark.replace("p", ".")) for asked, said, mark in rows], window=window)
    assert chat.info().used == pytest.approx(chat.preview().input_tokens, abs=1) or chat.info().will_leave


IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"}}


@pytest.mark.parametrize(
    ("prompt", "reply"), [("Ship 4,711?", ""), ("Ship 4,711?", " \n"), ("", "Yes."), (" ", "Yes.")]
)
@pytest.mark.parametrize("summary", [False, True])
def test_a_pinned_turn_with_an_empty_side_is_in_no_view_wherever_the_cut_is(
    prompt: str, reply: str, *, summary: bool
) -> None:
    chat = talked([], window=700)
    chat.session.act(actions.set_system, " ")
    chat.add_messages([{"role": "user", "content": prompt}, {"role": "assistant", "content": reply}])
    chat.pin(1)
    for _ in range(12):
        said = {"role": "user", "content": WORDS * 6}
        chat.add_messages([said, {"role": "assistant", "content": WORDS}])
    if summary:
        assert chat.summarize(method="extractive").changed
    view = chat.preview("And now?")
    assert all(message.content.strip() for message in view.request.messages)
    assert [part.state for part in view.omitted[:2]] == ["empty", "empty"]
    assert chat.history()[0].states == ("empty",)


@pytest.mark.parametrize("model", ["openai/gpt-4o", "local/smollm2"])
def test_a_file_without_a_word_beside_it_is_a_message_of_its_own(model: str) -> None:
    chat = Chat(model, token_counting="approximate", window=8_000)
    chat.add_messages([{"role": "user", "content": [IMAGE]}, {"role": "assistant", "content": "A ship."}])
    sent, *_ = chat.preview("And now?").request.messages
    assert len(content(sent, as_part)) == 1 if sent.attachments else sent.content == "[attached: image.png]"


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("letters", [3, 6])
def test_a_text_is_estimated_as_it_was_reported_also_where_no_turn_came_of_it(letters: int, record: bool) -> None:
    answer = Answer("Sea wind", stop_reason="max_tokens")  # of one token or two: short answers tell little
    chat = Chat(provider=ScriptedProvider(answer, count=lambda text: -(-len(text) // letters)))
    text = "The sea was calm, and the wind came from the north. " * 60
    for _ in range(4):
        reported = chat.send(text, record=record).usage
        chat.clear()
    assert reported is not None
    assert chat.preview(text).input_tokens == pytest.approx(reported.input_tokens, rel=0.1)
