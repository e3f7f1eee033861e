"""The live gauge: what its buttons show, do and say."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from jupyter_ctx import Chat, ProviderConnectionError
from jupyter_ctx.display.widgets.gauge import BUTTONS
from jupyter_ctx.display.widgets.gauge_panel import OFF
from jupyter_ctx.magics import cell_gauge
from jupyter_ctx.magics.cell_gauge import CellGauge
from jupyter_ctx.session import actions

pytestmark = pytest.mark.core

TALK = [
    {"role": role, "content": f"In line {n} there are {n} words."} for n in range(8) for role in ("user", "assistant")
]


class Seen:
    """The gauge of a conversation in a cell, as a user finds it."""

    def __init__(self, chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
        notebook: Any = SimpleNamespace(is_open=True, names=("main",), current=chat)
        shell = type("Shell", (), {"kernel": None})()
        monkeypatch.setattr(cell_gauge, "where", lambda _: type("Where", (), {"kind": "notebook"}))
        prompts: Any = None  # of the chip alone
        self.gauge = CellGauge(shell, lambda: notebook, None, prompts)
        self.gauge.show(chat)
        assert self.gauge._panel is not None
        self.widget = self.gauge._panel.widget
        _, self._drawing, row, self._spoken = self.widget.children
        toolbar, self._lines = row.children
        self._row = dict(zip(BUTTONS, toolbar.children, strict=True))

    @property
    def text(self) -> str:
        return f"{self._drawing.value}{self._lines.value}"

    @property
    def spoken(self) -> str:
        return str(self._spoken.value)

    def button(self, name: str) -> Any:
        return self._row[name]

    def can(self, name: str) -> bool:
        """Whether a button looks as if it could do something."""
        return OFF not in self.button(name)._dom_classes


@pytest.fixture
def talked(chat: Chat) -> Chat:
    chat.add_messages(TALK)
    return chat


@pytest.fixture
def seen(talked: Chat, monkeypatch: pytest.MonkeyPatch) -> Seen:
    return Seen(talked, monkeypatch)


def test_a_button_does_what_it_said_and_undo_names_it(talked: Chat, seen: Seen) -> None:
    full = seen.text
    plan = actions.plans(talked.session)["clear"]
    assert f"Clear: begin anew without 8 turns, {plan.before} → {plan.after}" in full
    seen.button("Clear").click()
    assert f"Cleared 8 turns ({plan.before} → {plan.after} tokens)." in seen.text
    assert 'role="status">Cleared 8 turns' in seen.spoken
    assert (seen.button("Undo").icon, seen.button("Undo").tooltip) == ("undo", "Undo: clear")
    assert not seen.can("Clear")
    assert not seen.button("Clear").disabled, "it keeps the keyboard's focus"
    seen.button("Clear").click()
    assert "Nothing to clear" in seen.text
    seen.button("Undo").click()
    assert seen.text.split("</div>")[0] == full.split("</div>")[0]
    assert seen.button("Undo").tooltip == "Undo: added messages"
    assert seen.button("Redo").tooltip == "Redo: clear"
    seen.button("Redo").click()
    assert talked.turns == ()
    assert not seen.can("Redo")


def test_an_error_behind_a_button_is_said_in_words(
    talked: Chat, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    def fail(*_: object) -> None:
        raise ProviderConnectionError("No connection to <there>.")

    monkeypatch.setattr(Chat, "trim", fail)
    seen.button("Trim").click()
    assert 'role="alert">No connection to &lt;there&gt;.' in seen.spoken
    assert "No connection to &lt;there&gt;." in seen.text


def test_a_summary_is_announced_and_ended_by_an_interrupt(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(_: object) -> str:
        assert "Summarising…" in seen.text
        raise KeyboardInterrupt

    monkeypatch.setattr(Chat, "summarize", write)
    seen.button("Summarise").click()
    assert 'role="alert">Stopped.' in seen.spoken


def test_a_gauge_that_cannot_be_read_fails_no_turn(
    talked: Chat, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    def fail(_: object) -> None:
        raise RuntimeError("<oh>")

    with monkeypatch.context() as broken:
        broken.setattr(actions, "plans", fail)
        talked.pin(1)
        assert 'role="alert">RuntimeError: &lt;oh&gt;' in seen.spoken
        assert "RuntimeError: &lt;oh&gt;" in seen.text
        assert "tokens" not in seen.text, "no figure that may not hold any more"
    talked.unpin(1)
    assert "RuntimeError" not in seen.text
    assert 'role="meter"' in seen.text
