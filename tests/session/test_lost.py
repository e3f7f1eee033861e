"""What a trim or a summary has lost: asked of a model that remembers some of it, told in figures, never recorded."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from cells import Cells
from dialects import DIALECTS, Dialect, answering
from priced import Priced
from server import serve

from jupyter_ctx import Chat, ContextOverflowError, Request, get_chat
from jupyter_ctx.testing import Answer, ScriptedProvider

NOUNS = [f"the {noun}" for noun in ("axle", "boat", "cart", "desk", "door", "fan", "gate", "hat", "jug", "kite")]
NOUNS += [f"my {noun}" for noun in ("lamp", "mast", "oar", "pump", "rope", "sail", "tent", "urn", "vase", "well")]
OWNERS = ["Ada", "Bo", "Cleo", "Dina", "Emil", "Finn", "Gro", "Hal", "Ines", "Jon"]
OWNERS += ["Kim", "Leo", "Mia", "Nils", "Olga", "Per", "Ruth", "Siv", "Tom", "Una"]
STUFF = [
    "alabaster",
    "bamboo",
    "cardboard",
    "damask",
    "enamel",
    "fibreglass",
    "granite",
    "horsehair",
    "indigo",
    "jacquard",
]
STUFF += [
    "kerosene",
    "limestone",
    "mahogany",
    "neoprene",
    "obsidian",
    "porcelain",
    "quartz",
    "rattan",
    "sandstone",
    "teakwood",
]
PLANTED = {  # each fact with its sentence
    **{f"{41_200 + 1_300 * i:,}": f"The price of {noun} is {41_200 + 1_300 * i:,}." for i, noun in enumerate(NOUNS)},
    **{owner: f"You know that {noun} belongs to {owner}." for noun, owner in zip(NOUNS, OWNERS, strict=True)},
    **{stuff: f"We agreed on {stuff} for {noun}." for noun, stuff in zip(NOUNS, STUFF, strict=True)},
}
KNOWN = [
    lambda fact: fact,
    lambda fact: fact.replace(",", ""),
    lambda fact: f"It was {fact.replace(',', ' ')}.",
    lambda fact: f"{fact[:-4]}.{fact[-3:]}k" if "," in fact else fact.upper(),
]
FORGOTTEN = ["unknown", "40,000", "Somebody", "I do not know."]


def sentences(request: Request) -> dict[str, str]:
    """The sentences with a blank that a request asks for, by their numbers."""
    return dict(re.findall(r"(?m)^(\d+)\. (.*____.*)$", request.messages[-1].content))


class Remembering:
    """Answers what it remembers of the planted facts, each time in other words."""

    def __init__(self, remembered: set[str]) -> None:
        self.remembered, self.asked = remembered, 0

    def __call__(self, request: Request) -> str:
        told = {}
        for number, sentence in sentences(request).items():
            fact = next(fact for fact, whole in PLANTED.items() if sentence.replace("____", fact) == whole)
            self.asked += 1
            known = KNOWN[self.asked % 4](fact)
            told[number] = known if fact in self.remembered else FORGOTTEN[self.asked % 4]
        return json.dumps(told) if told else "Noted."


def talked(*said: str, provider: Any, **settings: Any) -> Chat:
    """A chat that said this, of which nothing but a greeting is in view."""
    chat = Chat(provider=provider, **settings)
    for prompt in (*said, "Good morning to you."):
        chat.add_messages([{"role": "user", "content": prompt}, {"role": "assistant", "content": "Noted."}])
    chat.trim(1)
    return chat


NUMBERS = list(PLANTED)[:20]
FIRST = NUMBERS[:4]
FEW = [PLANTED[fact] for fact in FIRST]


def test_what_the_server_knows_survives_and_what_it_does_not_is_lost() -> None:
    facts, agreed = list(PLANTED), 0
    remembered = {fact for i, fact in enumerate(facts) if i % 3 != 1}
    for part in range(5):
        some = [fact for kind in range(3) for fact in facts[20 * kind + 4 * part : 20 * kind + 4 * part + 4]]
        lost = talked(*map(PLANTED.__getitem__, some), provider=ScriptedProvider(Remembering(remembered))).lost()
        assert {row.fact for row in lost} == set(some)
        assert [row.turn for row in lost] == list(range(1, 13))
        agreed += sum((row.fate == "survives") == (row.fact in remembered) for row in lost)
        survive = len(remembered & set(some))
        assert f"{survive} of 12 survive" in str(lost)
    assert agreed == 60


def test_what_is_lost_is_named() -> None:
    chat = talked(
        "The budget is 41,200 euros.", "We meet on Thursday.", "The captain is Halldora.",
        provider=ScriptedProvider('{"1": "unknown", "2": "Friday", "3": "Halldora"}'), window=8_000,
    )  # fmt: skip
    lost = chat.lost()
    assert [row.fate for row in lost] == ["lost", "lost", "survives"]
    assert "1 of 3" in str(lost)
    assert "the budget (41,200), Thursday" in str(lost)


@pytest.mark.parametrize(
    ("said", "fact", "known", "other"),
    [
        ("Call Anna at 0171 555 1234.", "0171 555 1234", "(0171) 555-1234", "555"),
        ("Call us at (030) 12 34-56 at night.", "030) 12 34-56", "030 123456", "12 34"),
        ("They paid us 41 200 euros.", "41 200", "41.2k", "200"),
    ],
)
def test_a_number_in_several_groups_is_one_fact(said: str, fact: str, known: str, other: str) -> None:
    for answer, fate in ((known, "survives"), (other, "lost")):
        lost = talked(said, provider=ScriptedProvider(json.dumps({"1": answer, "2": "Anna"}))).lost()
        assert [(row.fact, row.fate) for row in lost if row.kind == "number"] == [(fact, fate)]


def test_why_a_fact_is_not_asked_for_is_told() -> None:
    lost = talked("We meet on Thursday in Porto.", provider=ScriptedProvider(Answer(""))).lost()
    assert (lost.found, len(lost)) == (2, 1)
    assert "the sentence of another question" in str(lost)
    facts = talked(*map(PLANTED.__getitem__, NUMBERS), provider=ScriptedProvider(Remembering(set()))).lost()
    assert "12 are asked for at most" in str(facts)


def test_nothing_is_recorded_and_the_view_is_that_of_the_next_prompt() -> None:
    provider = ScriptedProvider(Remembering(set()))
    chat = talked(*FEW, provider=provider)
    before, view = chat.conversation.events, chat.preview("And now?").request.messages[:-1]
    lost = chat.lost()
    assert [row.fate for row in lost] == ["lost"] * 4
    assert chat.conversation.events == before
    assert provider.requests[-1].messages[:-1] == view
    assert len(provider.requests) == 1


@pytest.mark.parametrize("said", [(), ("Good evening to you.",)])
def test_where_nothing_was_left_out_or_nothing_is_a_fact_nothing_is_sent(said: tuple[str, ...]) -> None:
    provider = ScriptedProvider()
    lost = talked(*said, provider=provider).lost()
    assert not lost
    assert str(lost) == repr(lost)
    assert "\n" not in str(lost)
    assert not provider.requests


def test_an_excluded_turn_is_asked_for_as_one_that_was_trimmed() -> None:
    chat = talked(*FEW, provider=ScriptedProvider(Remembering(set())))
    chat.undo()
    assert chat.lost().found == 0
    chat.exclude(1, 2)
    assert [row.fate for row in chat.lost()] == ["lost", "lost"]


def test_what_still_stands_word_for_word_is_counted_as_sent() -> None:
    provider = ScriptedProvider(Remembering(set()))
    chat = talked(*FEW, provider=provider, system=f"Remember: {FIRST[0].replace(',', ' ')}, and {FIRST[1]}.")
    lost = chat.lost()
    assert ([row.fact for row in lost], lost.found, lost.sent) == (FIRST[2:4], 4, 2)
    assert lost.share == 0.5
    chat.configure(system=" ".join(FEW))
    assert (len(chat.lost()), chat.lost().sent) == (0, 4)
    assert len(provider.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer('{"1": "unknown"}', stop_reason="refusal"),
        Answer('{"1": "unknown", "2": "unkn', stop_reason="max_tokens"),
        Answer(""),
        "I cannot tell you that.",
        '{"5": "unknown"}',
        '{"1": "", "2": null, "3": "____"}',
    ],
)
def test_a_refused_cut_or_empty_answer_is_not_told_and_never_lost(answer: str | Answer) -> None:
    lost = talked(*FEW, provider=ScriptedProvider(answer)).lost()
    assert [row.fate for row in lost] == ["not told"] * 4
    assert lost.share == 0


def test_fewer_are_asked_for_where_the_window_is_small() -> None:
    provider = ScriptedProvider(Remembering(set()), window=700, sends_reserve=True)
    chat = talked(*map(PLANTED.__getitem__, NUMBERS), provider=provider, window=700, max_tokens=250)
    chat.add_messages([{"role": "user", "content": "word " * 150}, {"role": "assistant", "content": "Noted."}])
    view = chat.preview("And now?").request.messages[:-1]
    lost = chat.lost()
    assert 0 < len(lost) < 12
    assert not provider.refused
    assert provider.requests[-1].messages[:-1] == view
    assert f"not asked for: {20 - len(lost)}" in str(lost)
    chat.configure(max_tokens=20)  # which is room for one answer
    few = chat.lost()
    assert (len(few), "max_tokens 288" in str(few)) == (1, True)


def test_where_not_even_one_question_fits_the_oldest_turns_are_left_out_as_for_any_prompt() -> None:
    provider = ScriptedProvider(Remembering(set()), window=400, sends_reserve=True)
    for how in ("stop", "trim"):
        chat = talked(*FEW, provider=provider, window=400, max_tokens=100, on_overflow=how)
        for _ in range(2):
            chat.add_messages([{"role": "user", "content": "word " * 100}, {"role": "assistant", "content": "Noted."}])
        if how == "stop":
            with pytest.raises(ContextOverflowError):
                chat.lost()
            assert not provider.requests
        else:
            assert any(note.startswith("Left out") for note in chat.lost().notes)


def test_a_refused_request_is_sent_again_with_less_and_the_answer_says_so() -> None:
    provider = ScriptedProvider(Remembering(set(FIRST)), window=900)
    chat = talked(*FEW, provider=provider, window=8_000, max_tokens=100)
    for _ in range(4):
        chat.add_messages([{"role": "user", "content": "word " * 200}, {"role": "assistant", "content": "Noted."}])
    lost = chat.lost()
    assert len(provider.refused) == 1
    assert [row.fate for row in lost] == ["survives"] * 4
    assert any("sent again" in note for note in lost.notes)


@pytest.mark.parametrize("remembers", [True, False])
def test_a_summary_that_lost_more_than_half_is_dropped(remembers: bool) -> None:
    facts = list(PLANTED)[40:52]
    memory = Remembering(set(facts) if remembers else set())
    provider = ScriptedProvider(lambda request: memory(request) if sentences(request) else "They spoke of materials.")
    chat = Chat(provider=provider, window=4_000, max_tokens=400)
    for fact in facts:
        content = f"{PLANTED[fact]} {'So it is, all day long. ' * 20}"
        chat.add_messages([{"role": "user", "content": content}, {"role": "assistant", "content": "Noted."}])
    before = chat.conversation.events
    change = chat.summarize(check=True)
    assert change.changed == remembers
    assert (chat.conversation.summary is not None) == remembers
    assert (chat.conversation.events == before) != remembers
    assert "\n" not in str(change)
    assert f"{len(sentences(provider.requests[-1])) if remembers else 0} of" in str(change)


def test_every_provider_is_asked_and_its_answer_read(dialect: Dialect) -> None:
    with answering(dialect, dialect.answer('{"1": "41200', '"}')) as (chat, seen):
        for said in (FEW[0], "Good morning to you."):
            chat.add_messages([{"role": "user", "content": said}, {"role": "assistant", "content": "Noted."}])
        chat.trim(1)
        assert [row.fate for row in chat.lost()] == ["survives"]
    assert len(seen) == 1


def test_a_view_that_is_full_is_no_reason_not_to_check_a_summary() -> None:
    provider = Priced("They spoke.", window=1_500)
    chat = Chat(provider=provider, window=1_500, max_tokens=100, on_overflow="stop")
    for fact in NUMBERS[:8]:
        content = f"{PLANTED[fact]} {'So it is, all day long. ' * 30}"
        chat.add_messages([{"role": "user", "content": content}, {"role": "assistant", "content": "Noted."}])
    with pytest.raises(ContextOverflowError):
        chat.lost()
    change = chat.summarize(check=True)
    assert change.changed
    assert "facts still stand word for word" in str(change)


def test_a_cell_tells_the_price_and_what_is_lost(cells: Cells) -> None:
    with serve(DIALECTS["completions"].answer('{"1": "<b>40,000</b>"}')) as (url, seen):
        cells.run(f"%chat use m --base-url {url} --window 8000")
        chat = get_chat()
        for said in (FEW[0], "Good morning to you."):
            chat.add_messages([{"role": "user", "content": said}, {"role": "assistant", "content": "Noted."}])
        assert "all are sent: nothing was asked" in cells.run("%chat lost")
        assert not seen
        cells.run("%chat trim 1")
        price, *lines = cells.run("%chat lost").splitlines()
        assert price.startswith("This check of 1 fact may cost")
        assert lines[-1].startswith(f"0 of 1 survive; lost: the price of the axle ({NUMBERS[0]}).")
        assert "<b>" not in chat.lost()._repr_html_()
        assert len(seen) == 2
        chat.configure(prices=(0, 0))
        assert cells.run("%chat lost").startswith("Nobody bills this check of 1 fact (")


def test_the_real_model_is_asked_in_its_small_window(real_model: str) -> None:
    chat = Chat(real_model, max_tokens=48, temperature=0)
    for said in ("The budget is 41,200 euros.", "The captain is Halldora Finn.", "Good morning to you."):
        chat.add_messages([{"role": "user", "content": said}, {"role": "assistant", "content": "Noted."}])
    chat.trim(1)
    before = chat.conversation.events
    lost = chat.lost()
    assert [row.fact for row in lost] == ["41,200", "Halldora Finn"]
    assert chat.conversation.events == before
