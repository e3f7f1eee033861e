"""Tables of turns that can be sorted, with boxes that act; settings as a form."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ctx import Chat, InvalidRequestError
from jupyter_ctx.display.tables import sorted_indexes
from jupyter_ctx.display.widgets.pager import INERT
from jupyter_ctx.display.widgets.settings_form import Choice, Form
from jupyter_ctx.display.widgets.turn_table import (
    TURNS_PER_PAGE,
    UNFOLDED,
    MarkBoxes,
    SelectionTable,
    TurnTable,
)
from jupyter_ctx.magics.conversation_tables import (
    NEWER_PREVIEW,
    LiveViews,
    history_table,
    setting_choices,
)
from jupyter_ctx.session.prompt import Prompt

HEAD = ("turn", "prompt", "tokens")
ROWS = [("1", "beta", "~1,200"), "the request begins here", ("2", "Alpha", "90"), ("3", ",", "–")]


class Seen:
    """What a user finds in a table."""

    def __init__(self, table: TurnTable) -> None:
        _, self.by, scroll, self.pager, self._said = table.widget.children
        self._html, self._column = scroll.children

    @property
    def page(self) -> str:
        return str(self._html.value)

    @property
    def said(self) -> str:
        return str(self._said.value)

    @property
    def full(self) -> str:
        """The text that is unfolded."""
        _, _, found = self.page.partition('<div class="jctx-full"')
        return found.partition("</div>")[0]

    @property
    def boxes(self) -> list[Any]:
        return [box for row in self._column.children for box in row.children[:2] if box.layout.visibility != "hidden"]

    def box(self, label: str) -> Any:
        return next(box for box in self.boxes if box.description == label)

    def labels(self) -> list[str]:
        return [box.description for box in self.boxes]

    def unfold(self, tooltip: str) -> Any:
        buttons = [row.children[2] for row in self._column.children]
        return next(button for button in buttons if button.tooltip == f"full text of {tooltip}")


@pytest.fixture
def talked(chat: Chat) -> Chat:
    for n in (30, 10, 20):
        chat.add_messages([{"role": "user", "content": "word " * n}, {"role": "assistant", "content": f"<b>{n}</b>"}])
    return chat


@pytest.mark.parametrize(
    ("by", "descending", "order"),
    [
        ("turn", True, [3, 2, 0]),
        ("tokens", False, [2, 0, 3]),
        ("tokens", True, [0, 2, 3]),
        ("prompt", False, [3, 2, 0]),
        ("prompt", True, [0, 2, 3]),
    ],
)
def test_figures_are_sorted_as_figures_and_text_as_text(by: str, descending: bool, order: list[int]) -> None:
    assert sorted_indexes(ROWS, HEAD.index(by), descending=descending) == order


def test_a_box_pins_its_turn_wherever_sorting_has_put_it(talked: Chat) -> None:
    seen = Seen(LiveViews().history(talked))
    seen.by.value = "tokens, descending"
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
    seen = Seen(LiveViews().history(talked))
    talked.exclude(2)
    count = len(talked.conversation.events)
    assert seen.box("exclude 2").value
    talked.undo()
    assert not seen.box("exclude 2").value
    assert len(talked.conversation.events) == count + 1


def test_a_preview_has_one_pair_of_boxes_for_each_turn(talked: Chat) -> None:
    seen = Seen(LiveViews().preview(talked, Prompt("And now?")))
    assert seen.labels() == [f"{name} {n}" for n in (1, 2, 3) for name in ("pin", "exclude")]
    assert "And now?" in seen.page
    seen.box("exclude 1").value = True
    assert "the request begins here" in seen.page


def test_views_of_one_conversation_are_one_and_stay_current(talked: Chat) -> None:
    views = LiveViews()
    preview, history = views.preview(talked, Prompt("")), views.history(talked)
    assert preview is views.preview(talked, Prompt("", {"temperature": None}))
    Seen(history).box("exclude 1").value = True
    assert Seen(preview).box("exclude 1").value
    talked.add_messages([{"role": "user", "content": "Newest of all."}, {"role": "assistant", "content": "Yes."}])
    assert "Newest of all." in Seen(preview).page
    assert "Newest of all." in Seen(history).page


def test_an_older_preview_with_a_prompt_says_that_it_is_not_current(talked: Chat) -> None:
    views = LiveViews()
    older = views.preview(talked, Prompt("One?"))
    newer = views.preview(talked, Prompt("Two?"))
    listeners = len(talked.desk.listeners)
    assert NEWER_PREVIEW in Seen(older).said
    talked.exclude(1)
    assert not Seen(older).box("exclude 1").value
    assert Seen(older).box("exclude 1").disabled
    assert Seen(newer).box("exclude 1").value
    views.preview(talked, Prompt("Three?"))
    assert len(talked.desk.listeners) == listeners


def test_text_in_a_table_is_only_text(talked: Chat) -> None:
    seen = Seen(LiveViews().history(talked))
    seen.unfold("turn 1").click()
    for page in (seen.page, seen.full):
        assert "&lt;b&gt;30&lt;/b&gt;" in page
        assert "<b>30" not in page


def test_the_full_text_of_a_turn_opens_below_the_table_and_stays_while_its_row_is_in_view(talked: Chat) -> None:
    table = LiveViews().history(talked)
    seen = Seen(table)
    seen.unfold("turn 2").click()
    assert ("word " * 10).strip() in seen.full
    assert UNFOLDED in seen.unfold("turn 2")._dom_classes
    seen.box("pin 1").value = True
    seen.by.value = "tokens, ascending"
    assert 'aria-label="Turn 2"' in seen.full
    seen.unfold("turn 3").click()
    assert 'aria-label="Turn 3"' in seen.full
    seen.unfold("turn 3").click()
    assert seen.full == ""


def test_a_text_in_full_closes_when_its_turn_is_taken_back(talked: Chat) -> None:
    seen = Seen(LiveViews().history(talked))
    seen.unfold("turn 3").click()
    talked.undo()
    assert seen.full == ""


def test_of_a_long_conversation_the_newest_turns_come_first_and_older_ones_in_pages(chat: Chat) -> None:
    def add(n: int) -> None:
        chat.add_messages([{"role": "user", "content": f"Note {n}."}, {"role": "assistant", "content": "Yes."}])

    for n in range(1, TURNS_PER_PAGE + 3):
        add(n)
    seen = Seen(LiveViews().history(chat))
    older, where, newer = seen.pager.children
    assert where.value == f"rows 3 to {TURNS_PER_PAGE + 2} of {TURNS_PER_PAGE + 2}"
    assert (older.description, newer.description) == ("Older", "Newer")
    assert (INERT in older._dom_classes, INERT in newer._dom_classes) == (False, True)
    assert len(seen.labels()) == 2 * TURNS_PER_PAGE
    assert seen.labels()[0] == "pin 3"
    newer.click()
    assert seen.labels()[0] == "pin 3"
    older.click()
    assert seen.labels() == ["pin 1", "exclude 1", "pin 2", "exclude 2"]
    seen.box("pin 2").value = True
    assert chat.conversation.places[1].pinned
    assert len(seen.labels()) == 4
    newer.click()
    add(99)
    assert seen.labels()[-1] == f"exclude {TURNS_PER_PAGE + 3}", "the newest page goes on with the conversation"
    seen.unfold(f"turn {TURNS_PER_PAGE + 3}").click()
    older.click()
    assert seen.full == "", "its row is on another page"
    seen.by.value = "turn, descending"
    assert seen.labels()[0] == f"pin {TURNS_PER_PAGE + 3}"
    back, where, further = seen.pager.children
    assert (back.description, further.description) == ("Back", "Next")
    assert (INERT in back._dom_classes, INERT in further._dom_classes) == (True, False)
    assert where.value == f"rows 1 to {TURNS_PER_PAGE} of {TURNS_PER_PAGE + 3}"
    further.click()
    assert seen.labels()[-1] == "exclude 1"
    assert (INERT in back._dom_classes, INERT in further._dom_classes) == (False, True)
    back.click()
    assert seen.labels()[0] == f"pin {TURNS_PER_PAGE + 3}"


def test_history_counts_the_turns_since_the_last_clear_and_those_that_are_left_out(talked: Chat) -> None:
    assert history_table(talked).caption == "3 turns"
    talked.clear()
    assert history_table(talked).caption == "No turns yet since the last clear; 3 before it are left out."
    talked.add_messages([{"role": "user", "content": "New."}, {"role": "assistant", "content": "Yes."}])
    assert history_table(talked).caption == "1 turn since the last clear; 3 before it are left out"


def test_an_error_is_said_and_what_was_drawn_stays() -> None:
    def fail(number: int, name: str, on: bool) -> None:
        raise InvalidRequestError(f"<no> {name} {number}")

    marks = {1: MarkBoxes(pinned=False, excluded=False)}
    seen = Seen(TurnTable(lambda: SelectionTable(HEAD, [("1", "a", "5")], "1 turn", marks, [""]), fail))
    seen.box("pin 1").value = True
    assert 'role="alert">&lt;no&gt; pin 1' in seen.said
    assert not seen.box("pin 1").value


def boxes_of(form: Form) -> dict[str, Any]:
    _, *rows, _ = form.widget.children
    return {choice.name: row.children[0] for choice, row in zip(setting_choices(), rows, strict=True)}


def lines_of(form: Form) -> dict[str, str]:
    _, *rows, _ = form.widget.children
    return {choice.name: row.children[1].value for choice, row in zip(setting_choices(), rows, strict=True)}


def said_in(form: Form) -> str:
    return str(form.widget.children[-1].value)


def test_a_choice_sets_what_it_is_called(chat: Chat) -> None:
    boxes = boxes_of(LiveViews().settings(chat))
    boxes["on_overflow"].value = "summarise"
    boxes["compact_at"].value = 0.8
    assert (chat.config.on_overflow, chat.config.compact_at) == ("summarise", 0.8)


def test_model_and_reply_length_are_typed_and_take_effect_at_once(chat: Chat) -> None:
    form = LiveViews().settings(chat)
    boxes = boxes_of(form)
    assert (boxes["model"].value, boxes["max_tokens"].value) == (chat.config.model, "16")
    assert "openai/gpt-5.2" in boxes["model"].options
    boxes["max_tokens"].value = "0.1k"
    assert (chat.config.max_tokens, boxes["max_tokens"].value) == (100, "100")
    assert "Longest reply: 100." in said_in(form)
    boxes["max_tokens"].value = "none"
    assert chat.config.max_tokens is None
    before = chat.config.model
    boxes["model"].value = "nobody/nothing"
    assert 'role="alert"' in said_in(form)
    assert "nobody" in said_in(form)
    assert (chat.config.model, boxes["model"].value) == (before, before)
    boxes["max_tokens"].value = "plenty"
    assert "max_tokens is &#x27;plenty&#x27;: it must be a whole number" in said_in(form)
    assert boxes["max_tokens"].value == "none"


def test_each_setting_is_explained_and_its_default_marked(chat: Chat) -> None:
    form = LiveViews().settings(chat)
    lines, boxes = lines_of(form), boxes_of(form)
    assert "Provider/model, such as openai/gpt-5.2" in lines["model"]
    assert "Default: local/smollm2." in lines["model"]
    assert "Default: none." in lines["max_tokens"]
    for name, box in boxes.items():
        if name not in ("model", "max_tokens"):
            assert [words.endswith(" (default)") for words, _ in box.options].count(True) == 1, name


def test_every_choice_is_one_that_the_settings_take(chat: Chat) -> None:
    for choice in setting_choices():
        for _, value in choice.values:
            chat.configure(**{choice.name: value})
            assert getattr(chat.config, choice.name) == value


def test_a_value_that_is_no_choice_is_shown_as_it_is(chat: Chat) -> None:
    form = LiveViews().settings(chat)
    chat.configure(compact_at=0.7)
    assert boxes_of(form)["compact_at"].value == 0.7
    chat.configure(compact_at=0.6)
    assert boxes_of(form)["compact_at"].value == 0.6
    assert len(boxes_of(form)["compact_at"].options) == 3


def test_a_value_that_is_refused_is_not_shown_as_set() -> None:
    def refuse(name: str, value: Any) -> None:
        raise InvalidRequestError("Not <now>.")

    choice = Choice("stop", "Stop", "when to stop", "no", (("never", "no"), ("always", "yes")))
    form = Form([choice], lambda name: "no", refuse)
    box = form.widget.children[1].children[0]
    box.value = "yes"
    assert box.value == "no"
    assert 'role="alert">Not &lt;now&gt;.' in said_in(form)
