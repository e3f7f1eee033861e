"""A turn of a long conversation takes as much work as one of a short conversation, whatever was done before."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from images import PIXEL

from jupyter_ctx import Chat
from jupyter_ctx.providers.base import Request
from jupyter_ctx.testing import ScriptedProvider

SHORT, LONG = 40, 640  # turns
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


def nothing(chat: Chat, turns: int) -> None: ...


def run_a_cell_again(chat: Chat, turns: int) -> None:
    chat.send(ASKED, cell="first", run="2")


def pin_and_exclude(chat: Chat, turns: int) -> None:
    chat.pin(2, turns // 2)
    chat.exclude(5)


def undo_and_redo(chat: Chat, turns: int) -> None:
    chat.undo()
    chat.undo()
    chat.redo()


def summarise(chat: Chat, turns: int) -> None:
    chat.configure(window=20 * turns)  # of which a quarter stays
    assert chat.summarize(method="extractive").changed
    chat.configure(window=200 * turns)
    for _ in range(turns):  # after the summary, too
        chat.send(ASKED)


def trim(chat: Chat, turns: int) -> None:
    assert chat.trim(turns - 10).changed


def attach(chat: Chat, turns: int) -> None:
    path = Path("picture.png").absolute()
    path.write_bytes(PIXEL)
    chat.send(ASKED, attachments=[path])


def interrupt(chat: Chat, turns: int) -> None:
    def stop(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        chat.send(ASKED, on_piece=stop)


def send_without_history(chat: Chat, turns: int) -> None:
    chat.send(ASKED, record=False)


def change_the_system_prompt(chat: Chat, turns: int) -> None:
    chat.set_system("Be brief.")


def use_other_settings(chat: Chat, turns: int) -> None:
    chat.send(ASKED, temperature=0.5)


Act = Callable[[Chat, int], None]
ACTS: tuple[Act, ...] = (
    nothing, run_a_cell_again, pin_and_exclude, undo_and_redo, summarise, trim, attach, interrupt,
    send_without_history, change_the_system_prompt, use_other_settings,
)  # fmt: skip


def work(turns: int, act: Act, store: Path, **settings: Any) -> int:
    """Return the work of one more turn with its gauge, in a conversation of which all turns are in view."""
    provider = Counting(SAID, model="openai/gpt-4o", takes=frozenset({"image"}))
    chat = Chat(provider=provider, store=store / f"{turns}.sqlite", name="it", window=200 * turns, **settings)
    chat.send(ASKED, cell="first", run="1")
    chat.add_messages(
        {"role": role, "content": text} for _ in range(turns) for role, text in (("user", ASKED), ("assistant", SAID))
    )
    for _ in range(3):  # what is added is counted, and its sizes are kept
        chat.send(ASKED)
    act(chat, turns)
    for _ in range(5):  # a turn that makes all anew may follow
        chat.send(ASKED)
        chat.send(ASKED, temperature=0.5)
    counter = Work()
    with counter.counted():
        chat.send(ASKED)
        chat.info()
        chat.plans()
        chat.send(ASKED, temperature=0.5)
    chat.close()
    return counter.done


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
@pytest.mark.parametrize("counting", ["approximate", "auto"])
def test_a_turn_takes_as_much_work_in_a_long_conversation(
    act: Act, counting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    short, long = (work(turns, act, tmp_path, token_counting=counting) for turns in (SHORT, LONG))
    assert long - short < LONG - SHORT, "something is done for every turn"


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


def test_a_stored_answer_takes_as_much_work_in_a_long_conversation(tmp_path: Path) -> None:
    short, long = (work_of_the_last_cell(turns, tmp_path) for turns in (SHORT, LONG))
    assert long - short < LONG - SHORT, "something is done for every turn"
