"""The work of a turn grows with the turns of its conversation, and never with their square."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from jupyter_ctx import Chat
from jupyter_ctx.providers.base import Request
from jupyter_ctx.session import actions
from jupyter_ctx.testing import ScriptedProvider

SHORT, LONG = 40, 160  # turns
GROWTH = 1.1 * LONG / SHORT
ASKED, SAID = "What became of the ship?", "It sailed on through the night."


class Work:
    """Counts what Python does in this thread: its instructions, and calls of functions written in C."""

    def __init__(self) -> None:
        self.done = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        before = sys.gettrace(), sys.getprofile()
        sys.settrace(self._trace)
        sys.setprofile(self._call)
        try:
            yield
        finally:
            sys.settrace(before[0])
            sys.setprofile(before[1])

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        frame.f_trace_opcodes = True
        self.done += event == "opcode"
        return self._trace

    def _call(self, _frame: FrameType, event: str, _: object) -> None:
        self.done += event == "c_call"


class Counting(ScriptedProvider):
    """A provider whose own counting is not our work."""

    def size(self, request: Request) -> int:
        before = sys.gettrace(), sys.getprofile()
        sys.settrace(None)
        sys.setprofile(None)
        size = super().size(request)
        sys.settrace(before[0])
        sys.setprofile(before[1])
        return size


def work(turns: int, store: Path) -> int:
    """Return the work of one more turn with its gauge, in a conversation of which all turns are in view."""
    provider = Counting(SAID, model="openai/gpt-4o")
    chat = Chat(provider=provider, store=store / f"{turns}.sqlite", name="it", window=200 * turns)
    chat.add_messages(
        {"role": role, "content": text} for _ in range(turns) for role, text in (("user", ASKED), ("assistant", SAID))
    )
    for _ in range(3):  # what is added is counted
        chat.send(ASKED)
    counter = Work()
    with counter.counted():
        chat.send(ASKED)
        chat.info()
        actions.plans(chat.session)
    chat.close()
    return counter.done


def test_the_work_of_a_turn_grows_no_faster_than_the_conversation(tmp_path: Path) -> None:
    short, long = (work(turns, tmp_path) for turns in (SHORT, LONG))
    assert long < GROWTH * short


def work_of_the_last_cell(turns: int, folder: Path) -> int:
    """Return the work of showing the last stored answer again where all cells of a notebook are run."""
    provider = Counting(SAID, model="openai/gpt-4o")
    provider.endpoint = "the same one"
    told: dict[str, Any] = {"store": folder / f"{turns}.sqlite", "name": "it", "window": 200 * turns}
    chat, cells = Chat(provider=provider, **told), [f"cell {number}" for number in range(turns)]
    for cell in cells:
        chat.send(ASKED, cell=cell, run="1")
    chat.pin(2)  # no answer was written with that
    chat.close()
    chat, counter = Chat(provider=provider, **told), Work()
    for cell in cells[:-1]:
        assert chat.send(ASKED, cell=cell, run="2", stored="cell").stored
    with counter.counted():
        assert chat.send(ASKED, cell=cells[-1], run="2", stored="cell").stored
    chat.close()
    return counter.done


def test_the_work_of_a_stored_answer_grows_no_faster_than_the_conversation(tmp_path: Path) -> None:
    short, long = (work_of_the_last_cell(turns, tmp_path) for turns in (SHORT, LONG))
    assert long < GROWTH * short
