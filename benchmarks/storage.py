"""Measure what opening a stored conversation and each of its turns cost, beside other message stores.

One turn is a prompt of 200 and a reply of 800 characters. *Work* is all that we do in a turn
beside the provider: fit, record, save, and draw the gauge; its provider answers at once.
"""

from __future__ import annotations

import asyncio
import importlib.util
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_ctx import Chat
from jupyter_ctx.display.widgets.gauge import gauge_forms
from jupyter_ctx.testing import ScriptedProvider

TURNS = (100, 1_000, 10_000, 100_000)
RUNS = 7
ASKED, SAID = "What became of the ship that sailed? "[:20] * 10, "It sailed on through the night. "[:20] * 40
NEXT = 200  # turns that are timed at the end
PEERS_TO = 10_000


def timed(act: Callable[[], Any]) -> float:
    """Time a call in milliseconds."""
    began = time.perf_counter()
    act()
    return 1_000 * (time.perf_counter() - began)


def p95(times: list[float]) -> float:
    """Return the 95th percentile."""
    return statistics.quantiles(times, n=20)[-1]


def ours(count: int, folder: Path) -> tuple[float, float, float]:
    """Time opening, one more turn by add_messages (95th percentile), and our work in a turn that is sent."""
    store = folder / f"ours-{count}.sqlite"
    told: dict[str, Any] = {"name": "it", "token_counting": "approximate", "window": 200_000}
    chat = Chat("openai/gpt-4o", provider=ScriptedProvider(SAID), store=store, **told)
    chat.add_messages(pair for _ in range(count) for pair in messages())
    more = p95([timed(lambda: chat.add_messages(messages())) for _ in range(NEXT)])
    chat.send("Go on.")
    works = []
    for _ in range(NEXT):
        works.append(timed(lambda: (chat.send(ASKED), gauge_forms(chat.info()))))
    chat.close()

    def open_it() -> None:
        found = Chat("openai/gpt-4o", store=store, name="it")
        assert len(found.turns) == count + 2 * NEXT + 1
        found.close()

    return statistics.median(timed(open_it) for _ in range(RUNS)), more, statistics.median(works)


def messages() -> list[dict[str, str]]:
    """Return the messages of one turn."""
    return [{"role": "user", "content": ASKED}, {"role": "assistant", "content": SAID}]


def langchain(count: int, folder: Path) -> tuple[float, float]:
    """Time langchain's Time langchain's SQLChatMessageHistory on a file of its own."""
    from langchain_community.chat_message_histories import SQLChatMessageHistory
    from langchain_core.messages import AIMessage, HumanMessage

    def opened() -> Any:
        return SQLChatMessageHistory("it", connection=f"sqlite:///{folder / f'langchain-{count}.sqlite'}")

    one = [HumanMessage(ASKED), AIMessage(SAID)]
    history = opened()
    history.add_messages(one * count)
    more = p95([timed(lambda: history.add_messages(one)) for _ in range(NEXT)])
    return statistics.median(timed(lambda: opened().messages) for _ in range(RUNS)), more


def agents(count: int, folder: Path) -> tuple[float, float]:
    """Time the SQLiteSession of openai-agents."""
    from agents import SQLiteSession

    def opened() -> Any:
        return SQLiteSession("it", folder / f"agents-{count}.sqlite")

    async def measure() -> tuple[float, float]:
        session, times, reads = opened(), [], []
        await session.add_items(messages() * count)
        for _ in range(NEXT):
            began = time.perf_counter()
            await session.add_items(messages())
            times.append(1_000 * (time.perf_counter() - began))
        for _ in range(RUNS):
            began = time.perf_counter()
            await opened().get_items()
            reads.append(1_000 * (time.perf_counter() - began))
        return statistics.median(reads), p95(times)

    return asyncio.run(measure())


PEERS = {
    "langchain_community": ("LangChain SQLChatMessageHistory", langchain),
    "agents": ("OpenAI Agents SQLiteSession", agents),
}


def main() -> None:
    """Print the table."""
    print(f"{'ms':<34}{'turns':>9}{'open':>9}{'append p95':>12}{'work':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count in TURNS:
            opening, more, work = ours(count, folder)
            print(f"{'jupyter_ctx':<34}{count:>9,}{opening:>9.1f}{more:>12.2f}{work:>8.2f}", flush=True)
            there = [peer for module, peer in PEERS.items() if importlib.util.find_spec(module)]
            for label, peer in there:
                if count <= PEERS_TO:
                    theirs, append = peer(count, folder)
                    ratio = f"{theirs / opening:.1f}×", f"{append / more:.1f}×"
                    print(
                        f"{label:<34}{count:>9,}{theirs:>9.1f}{append:>12.2f}   ratios {', '.join(ratio)}", flush=True
                    )


if __name__ == "__main__":
    main()
