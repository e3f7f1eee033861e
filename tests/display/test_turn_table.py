"""Tables of turns that can be sorted, with boxes that act; settings as choices."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ctx import Chat, InvalidRequestError
from jupyter_ctx.display.widgets.settings_form import Form
from jupyter_ctx.display.widgets.turn_table import AS_SENT, TURNS_PER_PAGE, SelectionTable, TurnTable, sorted_rows
from jupyter_ctx.magics.tables import SETTING_CHOICES, live_history, live_preview, live_settings
from jupyter_ctx.session.prompt import Prompt

HEAD = ("turn", "prompt", "tokens")
ROWS = [("1", "beta", "~1,200"), "the request begins here", ("2", "Alpha", "90"), ("3", "gamma", "–")]


class Seen:
    """What a user finds in a table."""

    def __init__(self, table: TurnTable) -> None:
        _, choices, both, self.pager, self._said = table.widget.children
        self.by, self.down = choices.children
        self._column, self._html = both.children

    @property
    def page(self) -> str:
        return str(self._html.value)

    @property
    def said(self) -> str:
        return str(self._said.value)

    def box(self, label: str) -> Any:
        boxes = [box for pair in self._column.children for box in pair.children]
        return next(box for box in boxes if box.description == label)

    def labels(self) -> list[str]:
        return [box.description for pair in self._column.children for box in pair.children]


@pytest.fixture
def talked(chat: Chat) -> Chat:
    for n in (30, 10, 20):
        chat.add_messages([{"role": "user", "content": "word " * n}, {"role": "assistant", "content": f"<b>{n}</b>"}])
    return chat


@pytest.mark.parametrize(
    ("by", "down", "order"),
    [
        (AS_SENT, False, ["1", "the request begins here", "2", "3"]),
        ("tokens", False, ["2", "1", "3"]),
        ("tokens", True, ["3", "1", "2"]),
        ("prompt", False, ["2", "1", "3"]),
    ],
)
def test_figures_are_sorted_as_figures_and_text_as_text(by: str, down: bool, order: list[str]) -> None:
    rows = sorted_rows(ROWS, HEAD, by, descending=down)
    assert [row if isinstance(row, str) else row[0] for row in rows] == order


def test_a_box_pins_its_turn_wherever_sorting_has_put_it(talked: Chat) -> None:
    seen = Seen(live_history(talked))
    seen.by.value, seen.down.value = "tokens", True
    assert seen.labels() == ["pin 1", "exclude 1", "pin 3", "exclude 3", "pin 2", "exclude 2"]
    seen.box("pin 3").value = True
    assert [place.pinned for place in talked.conversation.places] == [False, False, True]
    assert "Pinned turn 3" in seen.said
    assert seen.box("pin 3").value
    seen.box("exclude 3").value = True
    assert not seen.box("pin 3").value, "a turn is not both"
    seen.box("exclude 3").value = False
    assert not any(place.excluded for place in talked.conversation.places)


def test_what_is_done_elsewhere_shows_in_the_boxes_and_does_nothing_again(talked: Chat) -> None:
    table = live_history(talked)
    talked.listeners.append(table.update)
    talked.exclude(2)
    count = len(talked.conversation.events)
    seen = Seen(table)
    assert seen.box("exclude 2").value
    talked.undo()
    assert not seen.box("exclude 2").value
    assert len(talked.conversation.events) == count + 1


def test_a_preview_has_one_pair_of_boxes_for_each_turn(talked: Chat) -> None:
    seen = Seen(live_preview(talked, Prompt("And now?")))
    assert seen.labels() == [f"{name} {n}" for n in (1, 2, 3) for name in ("pin", "exclude")]
    assert "And now?" in seen.page
    seen.box("exclude 1").value = True
    assert "the request begins here" in seen.page


def test_text_in_a_table_is_only_text(talked: Chat) -> None:
    page = Seen(live_history(talked)).page
    assert "&lt;b&gt;30&lt;/b&gt;" in page
    assert "<b>" not in page


def test_a_long_conversation_comes_in_pages(chat: Chat) -> None:
    for n in range(TURNS_PER_PAGE + 2):
        chat.add_messages([{"role": "user", "content": f"Note {n}."}, {"role": "assistant", "content": "Yes."}])
    seen = Seen(live_history(chat))
    back, where, on = seen.pager.children
    assert (where.value, back.disabled, on.disabled) == ("1 of 2", True, False)
    assert len(seen.labels()) == 2 * TURNS_PER_PAGE
    on.click()
    assert (where.value, back.disabled, on.disabled) == ("2 of 2", False, True)
    assert seen.labels()[0] == f"pin {TURNS_PER_PAGE + 1}"
    seen.box(f"pin {TURNS_PER_PAGE + 2}").value = True
    assert chat.conversation.places[-1].pinned
    assert (where.value, len(seen.labels())) == ("2 of 2", 4)


def test_an_error_is_said_and_what_was_drawn_stays() -> None:
    def fail(number: int, name: str, on: bool) -> None:
        raise InvalidRequestError(f"<no> {name} {number}")

    from jupyter_ctx.display.widgets.turn_table import MarkBoxes

    marks = {1: MarkBoxes(pinned=False, excluded=False)}
    seen = Seen(TurnTable(lambda: SelectionTable(HEAD, [("1", "a", "5")], "1 turn", marks), fail))
    seen.box("pin 1").value = True
    assert 'role="alert">&lt;no&gt; pin 1' in seen.said
    assert not seen.box("pin 1").value


def boxes_of(form: Form) -> dict[str, Any]:
    return {choice.name: box for choice, box in zip(SETTING_CHOICES, form.widget.children, strict=False)}


def test_a_choice_sets_what_it_is_called(chat: Chat) -> None:
    boxes = boxes_of(live_settings(chat))
    boxes["on_overflow"].value = "summarise"
    boxes["compact_at"].value = 0.8
    assert (chat.config.on_overflow, chat.config.compact_at) == ("summarise", 0.8)


def test_every_choice_is_one_that_the_settings_take(chat: Chat) -> None:
    for choice in SETTING_CHOICES:
        for _, value in choice.values:
            chat.configure(**{choice.name: value})
            assert getattr(chat.config, choice.name) == value


def test_a_value_that_is_no_choice_is_shown_as_it_is(chat: Chat) -> None:
    chat.configure(compact_at=0.7)
    form = live_settings(chat)
    assert boxes_of(form)["compact_at"].value == 0.7
    chat.configure(compact_at=0.6)
    form.update()
    assert boxes_of(form)["compact_at"].value == 0.6
    assert len(boxes_of(form)["compact_at"].options) == 3


def test_a_value_that_is_refused_is_not_shown_as_set() -> None:
    def refuse(name: str, value: Any) -> None:
        raise InvalidRequestError("Not <now>.")

    form = Form(SETTING_CHOICES, lambda name: {"on_overflow": "trim", "compact_at": 1.0}.get(name, "first"), refuse)
    boxes_of(form)["on_overflow"].value = "stop"
    assert boxes_of(form)["on_overflow"].value == "trim"
    assert 'role="alert">Not &lt;now&gt;.' in form.widget.children[-1].value
