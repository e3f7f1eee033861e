"""Run two hundred turns on the local model in a window of 1,024 tokens.

Each must be answered; what the gauge says of a request is compared with what the server then
reports, and with the margin in use.
"""

from __future__ import annotations

import random
import statistics

from jupyter_ctx import Chat, ChatError
from jupyter_ctx.providers.local import stop_servers

TURNS, WINDOW, REPLY, SEED = 200, 1_024, 40, 8
PARTS = (
    "Tell me about the sea.", "Что ты знаешь о море?", "海について教えてください。", "请告诉我关于大海的事。",
    "What does this do?\ndef f(x: int) -> int:\n    return x ** 2 + 1", '{"id": 17, "tags": ["a", "b"], "ok": true}',
    "🌊🐳 and then? 🙂", "Compare 3.14159 with 2.71828, and 1,024 with 65,536.", "And why is that so?",
)  # fmt: skip


def main() -> None:
    """Run the turns and print their outcome."""
    rng = random.Random(SEED)
    chat = Chat("local/smollm2", window=WINDOW, max_tokens=REPLY, system="Be brief.")
    off, short, cuts, failed = [], 0, 0, 0
    for turn in range(TURNS):
        prompt = " ".join(rng.choice(PARTS) for _ in range(rng.choice([1, 1, 2, 4])))
        margin = chat.session.target({}, ask=False).meter.margin(prompt)
        told = chat.preview(prompt).input_tokens
        try:
            reply = chat.send(prompt)
        except ChatError as error:
            failed += 1
            print(f"turn {turn + 1} failed: {error}")
            continue
        assert reply.usage is not None
        off.append((told - reply.usage.input_tokens) / reply.usage.input_tokens)
        short += -off[-1] > margin
        cuts += bool(reply.notices)
    wide = sorted(map(abs, off))
    print(f"{TURNS} turns in a window of {WINDOW:,}, seed {SEED}: {failed} failed, {cuts} cuts")
    print(
        f"the request's size: off by {statistics.median(wide):.2%} (median), {wide[int(0.95 * len(wide))]:.2%} (p95),"
    )
    print(f"  {wide[-1]:.2%} at most; below the report by more than the margin in use: {short}")
    print(f"turns kept: {len(chat.turns)}")
    stop_servers()


if __name__ == "__main__":
    main()
