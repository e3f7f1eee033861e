"""Measure the CPU time of opening a stored conversation and of each of its turns.

One turn is a prompt of 200 and a reply of 800 characters. *Work* is all that we do in a turn
beside the provider: fit, record, save, and draw the gauge; its provider answers at once.

The second table has the CPU time of that work where all turns are in view, and of the part before the
request leaves: *edited* is after a cell was run again, pins, an exclusion, an undo, a summary and an
attachment; *live* with the gauge's panel, and what its buttons would do, instead of its plain forms.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jupyter_ctx import Chat
from jupyter_ctx.context.usage import Usage
from jupyter_ctx.display.widgets.gauge import ButtonResult, gauge_bundle
from jupyter_ctx.display.widgets.gauge_panel import GaugePanel
from jupyter_ctx.magics.cell_gauge import read_gauge
from jupyter_ctx.providers.base import Reply, Request
from jupyter_ctx.testing import CHARACTERS, MESSAGE_TOKENS, ScriptedProvider

TURNS = (100, 1_000, 10_000, 100_000)
RUNS = 7
ASKED, SAID = "What became of the ship that sailed? "[:20] * 10, "It sailed on through the night. "[:20] * 40
NEXT = 200  # turns that are timed at the end
IN_VIEW = (100, 1_000, 10_000)
ALL = 20_000_000  # tokens that hold them
PICTURE = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000400000003000802000000") + bytes(40)


def timed(act: Callable[[], Any]) -> float:
    """Return the CPU time of a call in milliseconds."""
    began = time.process_time()
    act()
    return 1_000 * (time.process_time() - began)


def ours(count: int, folder: Path) -> tuple[float, float, float]:
    """Time opening, one more turn by add_messages (95th percentile), and our work in a turn that is sent."""
    store = folder / f"ours-{count}.sqlite"
    told: dict[str, Any] = {"name": "it", "token_counting": "approximate", "window": 200_000}
    chat = Chat("openai/gpt-4o", provider=ScriptedProvider(SAID), store=store, **told)
    chat.add_messages(pair for _ in range(count) for pair in messages())
    additions = [timed(lambda: chat.add_messages(messages())) for _ in range(NEXT)]
    chat.send("Go on.")
    works = [timed(lambda: (chat.send(ASKED), gauge_bundle(chat.info()))) for _ in range(NEXT)]
    chat.close()

    def open_it() -> None:
        found = Chat("openai/gpt-4o", store=store, name="it")
        assert len(found.turns) == count + 2 * NEXT + 1
        found.close()

    p95 = statistics.quantiles(additions, n=20)[-1]
    return statistics.median(timed(open_it) for _ in range(RUNS)), p95, statistics.median(works)


class Steady(ScriptedProvider):
    """A provider that keeps no request, and counts only the messages that the last one did not have."""

    def __init__(self) -> None:
        super().__init__(SAID, takes=frozenset({"image"}))
        self.counted = self.tokens = 0
        self.began = 0.0  # the CPU time at which the last request arrived

    def stream(self, request: Request) -> Iterator[str | Reply]:  # type: ignore[override]
        """Yield the answer."""
        self.began = time.process_time()
        begun = self.counted if self.counted < len(request.messages) else 0
        new = sum(len(message.content) // CHARACTERS + MESSAGE_TOKENS for message in request.messages[begun:])
        self.counted, self.tokens = len(request.messages), new + (self.tokens if begun else 0)
        yield SAID
        yield Reply(SAID, Usage(self.tokens, len(SAID) // CHARACTERS))


def in_view(count: int, folder: Path, counting: str, *, edited: bool = False, live: bool = False) -> tuple[float, ...]:
    """Return the CPU time of our work in a turn with all turns in view, and of its part before the request leaves."""
    provider = Steady()
    store = folder / f"view-{count}-{counting}-{edited}-{live}.sqlite"
    chat = Chat("openai/gpt-4o", provider=provider, store=store, name="it", token_counting=counting, window=ALL)
    chat.send("Go on.", cell="first", run="1")
    chat.add_messages(pair for _ in range(count) for pair in messages())
    chat.send("Go on.")
    if edited:
        edit(chat, folder)
    draw = drawing_of(chat) if live else lambda: gauge_bundle(chat.info())
    before, whole = [], []
    for number in range(NEXT):
        began = time.process_time()
        chat.send(f"{number} {ASKED}")
        draw()
        whole.append(1_000 * (time.process_time() - began))
        before.append(1_000 * (provider.began - began))
    chat.close()
    return statistics.median(whole), statistics.median(before)


def edit(chat: Chat, folder: Path) -> None:
    """Do to a conversation what changes its older turns."""
    (folder / "a.png").write_bytes(PICTURE)
    chat.send("What is this?", attachments=[folder / "a.png"])
    chat.configure(window=3 * chat.info().used)  # of which a quarter stays beside a summary
    assert chat.summarize(method="extractive").changed
    chat.configure(window=ALL)
    chat.undo()
    chat.redo()
    chat.send("Go on, again.", cell="first", run="2")
    chat.pin(3, len(chat.turns) - 5)
    chat.exclude(len(chat.turns) - 3)
    chat.undo()


def drawing_of(chat: Chat) -> Callable[[], None]:
    """Return what draws the live gauge."""
    panel = GaugePanel(lambda _: None)
    return lambda: panel.draw(*read_gauge(chat), ButtonResult())


def messages() -> list[dict[str, str]]:
    """Return the messages of one turn."""
    return [{"role": "user", "content": ASKED}, {"role": "assistant", "content": SAID}]


def main() -> None:
    """Print the table."""
    print(f"{'CPU ms':<34}{'turns':>9}{'open':>9}{'append p95':>12}{'work':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count in TURNS:
            opening, more, work = ours(count, folder)
            print(f"{'jupyter_ctx':<34}{count:>9,}{opening:>9.1f}{more:>12.2f}{work:>8.2f}", flush=True)


def main_in_view() -> None:
    """Print the table of work with all turns in view."""
    kinds: dict[str, dict[str, Any]] = {
        "approximate": {"counting": "approximate"}, "vocabulary": {"counting": "auto"},
        "edited": {"counting": "auto", "edited": True}, "live": {"counting": "auto", "live": True},
    }  # fmt: skip
    print(f"\n{'CPU ms, all in view':<22}" + "".join(f"{count:>9,}{'before':>9}" for count in IN_VIEW))
    with tempfile.TemporaryDirectory() as name:
        for kind, how in kinds.items():
            figures = (figure for count in IN_VIEW for figure in in_view(count, Path(name), **how))
            print(f"{kind:<22}" + "".join(f"{figure:>9.2f}" for figure in figures), flush=True)


if __name__ == "__main__":
    main()
    main_in_view()
