"""The live gauge: what its buttons show, do and say."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from gauge_readings import info

from jupyter_ctx import Chat, ProviderConnectionError
from jupyter_ctx.context.context_info import ContextInfo, Plan
from jupyter_ctx.display.widgets.gauge_page import BUTTONS
from jupyter_ctx.display.widgets.gauge_panel import OFF, GaugePanel
from jupyter_ctx.display.widgets.pressing import TWICE_SECONDS, WRITING, Controls, Pressing
from jupyter_ctx.runtime.interrupts import Stopper
from jupyter_ctx.session import actions
from jupyter_ctx.session.summarizer import writer

TALK = [
    {"role": role, "content": f"In line {n} there are {n} words."} for n in range(8) for role in ("user", "assistant")
]
CAN = {name.lower(): Plan("do it", before=2, after=1) for name in BUTTONS}
SECONDS = 20


def controls(read: Callable[[], ContextInfo] = lambda: info(640), **other: Any) -> Controls:
    plain = Controls(read, lambda: CAN, act=lambda name: "Done.", summarise=lambda _: "Done.", writer=lambda: "a/model")
    return replace(plain, **other)


def panel_of(chat: Chat) -> GaugePanel:
    controls = Controls(
        chat.info, lambda: actions.plans(chat.session), lambda name: getattr(chat, name)(),
        lambda stopper: chat.session.act(actions.summarize, stopper=stopper),
        writer=lambda: writer(chat.session),
    )  # fmt: skip
    panel = GaugePanel(Pressing(controls))
    chat.session.listeners.append(lambda: None if chat.session.running else panel.update())
    return panel


class Seen:
    """What a user finds in a panel."""

    def __init__(self, panel: GaugePanel) -> None:
        _, head, self._spoken = panel.widget.children
        self._bar, toolbar, self._lines = head.children
        self._row = dict(zip(BUTTONS, toolbar.children, strict=True))

    @property
    def bar(self) -> str:
        return f"{self._bar.value}{self._lines.value}"

    @property
    def spoken(self) -> str:
        return str(self._spoken.value)

    def button(self, name: str) -> Any:
        return self._row[name]

    def can(self, name: str) -> bool:
        """Whether a button looks as if it could do something."""
        button = self.button(name)
        return OFF not in button._dom_classes


def wait_for(condition: Callable[[], bool]) -> None:
    waited = threading.Event()
    for _ in range(SECONDS * 100):
        if condition():
            return
        waited.wait(0.01)
    raise AssertionError("it did not come")


@pytest.fixture
def talked(chat: Chat) -> Chat:
    chat.add_messages(TALK)
    return chat


def test_a_button_does_what_it_said_and_undo_names_it(talked: Chat) -> None:
    seen = Seen(panel_of(talked))
    full = seen.bar
    plan = actions.plans(talked.session)["clear"]
    assert f"Clear: begin anew without 8 turns, {plan.before} → {plan.after}" in full
    seen.button("Clear").click()
    assert f"Cleared 8 turns ({plan.before} → {plan.after} tokens)." in seen.bar
    assert 'role="status">Cleared 8 turns' in seen.spoken
    assert (seen.button("Undo").icon, seen.button("Undo").tooltip) == ("undo", "Undo: clear")
    assert not seen.can("Clear")
    assert not seen.button("Clear").disabled, "it keeps the keyboard's focus"
    for name in ("Summarise", "Trim", "Clear"):
        assert seen.button(name).tooltip == f"{name}: nothing to do, there are no turns"
    seen.button("Clear").click()
    assert "Nothing to clear" in seen.bar
    seen.button("Undo").click()
    assert seen.bar.split("</div>")[0] == full.split("</div>")[0]
    assert seen.button("Undo").tooltip == "Undo: added messages"
    assert seen.button("Redo").tooltip == "Redo: clear"
    assert "Redo: repeat the clear" in seen.bar
    seen.button("Redo").click()
    assert talked.turns == ()
    assert seen.button("Redo").tooltip == "Redo: nothing to do, nothing was undone"


def test_what_a_click_did_is_gone_after_the_next_turn(talked: Chat) -> None:
    seen = Seen(panel_of(talked))
    seen.button("Clear").click()
    assert "Cleared" in seen.bar
    talked.send("Three?")
    assert "Cleared" not in seen.bar


def test_an_error_behind_a_button_is_said_in_words_in_the_panel() -> None:
    def fail(name: str) -> None:
        raise ProviderConnectionError("No connection to <there>.")

    seen = Seen(GaugePanel(Pressing(controls(act=fail))))
    seen.button("Trim").click()
    assert 'role="alert">No connection to &lt;there&gt;.' in seen.spoken
    assert "No connection to &lt;there&gt;." in seen.bar


def test_a_summary_is_written_in_a_thread_of_its_own_with_progress_and_can_be_cancelled() -> None:
    begun, ended = threading.Event(), threading.Event()
    threads = []

    def write(stopper: Stopper) -> str:
        threads.append(threading.current_thread())
        begun.set()
        with stopper.ends(ended.set):
            assert ended.wait(SECONDS)
        return "Stopped." if stopper.stopped else "Summarised."

    seen = Seen(GaugePanel(Pressing(controls(summarise=write))))
    button = seen.button("Summarise")
    button.click()
    button.click()  # a double click neither begins a second one nor ends the first
    assert begun.wait(SECONDS)
    assert button.description == "Cancel"
    assert [seen.can(name) for name in BUTTONS] == [True, False, False, False, False]
    assert seen.button("Trim").tooltip == WRITING
    wait_for(lambda: "Summarising with a/model… 1 s" in seen.bar)
    button.click()
    wait_for(lambda: "Stopped." in seen.bar)
    assert threads != [threading.current_thread()]
    assert len(threads) == 1
    assert button.description == "Summarise"
    assert seen.can("Trim")
    assert TWICE_SECONDS < 1


def test_a_click_while_a_turn_runs_waits_for_its_end(talked: Chat) -> None:
    seen = Seen(panel_of(talked))
    clicked = []

    def click(_: str) -> None:
        if not clicked:
            clicked.append(threading.Thread(target=seen.button("Clear").click))
            clicked[0].start()

    reply = talked.send("Count to three.", on_piece=click)
    clicked[0].join()
    assert reply.text
    assert talked.turns == ()
    assert [place.turn.reply for place in talked.conversation.cleared][-1] == reply.text
    assert "Cleared 9 turns" in seen.bar


def test_a_gauge_that_cannot_be_read_fails_no_turn() -> None:
    broken = [False]

    def read() -> ContextInfo:
        if broken[0]:
            raise RuntimeError("<oh>")
        return info(640)

    panel = GaugePanel(Pressing(controls(read)))
    broken[0] = True
    panel.update()
    seen = Seen(panel)
    assert 'role="alert">RuntimeError: &lt;oh&gt;' in seen.spoken
    assert "The gauge could not be drawn: RuntimeError: &lt;oh&gt;. The conversation is not affected" in seen.bar
    assert "jctx-hidden" not in seen.bar
    assert "640" not in seen.bar  # no figure that may not hold any more
    broken[0] = False
    panel.update()
    assert "could not be drawn" not in seen.bar
    assert 'role="meter"' in seen.bar
