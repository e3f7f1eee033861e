"""Measure how many of 30 planted facts a summary of 600 tokens holds.

A conversation of 60 turns: in 30 of them the user says one thing with a number or a name in
it, somewhere in ordinary talk; the other prompts are questions and pasted code. Looked for
are these numbers and names, letter by letter.
"""

from __future__ import annotations

import random
import time

from benchmarks.texts import code, english
from jupyter_ctx import Chat
from jupyter_ctx.conversation.messages import Turn
from jupyter_ctx.models.target import Target
from jupyter_ctx.providers.local import stop_servers
from jupyter_ctx.session.session import Session
from jupyter_ctx.session.summarizer import SummaryInput, model_summary, with_own_lines

SEEDS, CAP, TURNS = (1, 2, 3, 4, 5), 600, 60
PLANTED = (
    ("The budget is {} euros in all.", "48,250"), ("We meet on {} at the harbour.", "2027-03-14"),
    ("Our captain is called {}.", "Halldora Finnsdottir"), ("Put it into {} please.", "sales_q3_final"),
    ("The key column is {}.", "customer_uid"), ("It failed with exit code {}.", "137"),
    ("The server listens on port {}.", "8443"), ("I live in {}, by the way.", "Trondheim"),
    ("The threshold should be {}.", "0.0275"), ("Let's use {} for the plots.", "seaborn.relplot"),
    ("My supervisor is {}.", "Professor Okonkwo"), ("There are {} rows in it.", "1,284,991"),
    ("We train for {} epochs.", "42"), ("The paper is by {}.", "Brzezinski"),
    ("Version {} broke it for us.", "3.11.7"), ("The file is called {}.", "tides_2026.parquet"),
    ("The boat is {} metres long.", "17.35"), ("Call the function {}.", "estimateDrift"),
    ("My daughter is called {}.", "Ingeborg"), ("The learning rate stays at {}.", "3e-4"),
    ("The bucket is {}.", "eu_north_raw"), ("It costs {} a month.", "79.90"),
    ("The flag is {}.", "MAX_RETRIES"), ("We start from {}.", "Valparaiso"),
    ("Page {} has the proof.", "218"), ("The room is {}.", "B-417"),
    ("Please greet {} from me.", "Mireille"), ("The tolerance is {} percent.", "2.5"),
    ("The database is {}.", "fjord_archive"), ("We need it by week {}.", "29"),
)  # fmt: skip
TALK = (
    "I have been thinking about this for a while.", "Could you explain that once more?", "That sounds good to me.",
    "I am not quite sure that I follow.", "Let me tell you a bit more.", "Thank you, that helps a lot.",
)  # fmt: skip


def conversation(seed: int) -> list[tuple[str, str]]:
    """Return the exchanges, with the planted facts in a random half of them."""
    rng = random.Random(seed)
    paragraphs, functions = english(), code()
    planted = dict(zip(rng.sample(range(TURNS), len(PLANTED)), PLANTED, strict=True))
    said = []
    for turn in range(TURNS):
        prompt = [rng.choice(TALK) for _ in range(rng.randrange(1, 4))]
        if turn in planted:
            text, fact = planted[turn]
            prompt.insert(rng.randrange(len(prompt) + 1), text.format(fact))
        elif rng.random() < 0.3:
            prompt.append("What does this do?\n" + rng.choice(functions)[:600])
        else:
            prompt.append("Tell me more about that, please.")
        said.append((" ".join(prompt), rng.choice(paragraphs)[:700]))
    return said


def held(text: str) -> int:
    """Count the planted facts that a text holds."""
    return sum(fact in text for _, fact in PLANTED)


def summaries(session: Session, older: SummaryInput, target: Target) -> dict[str, str]:
    """Summarise the same turns in every way."""
    model = model_summary(session, older, CAP, None)
    return {
        "extractive": with_own_lines("", older, target, CAP),
        "model alone": model,
        "model, completed": with_own_lines(model, older, target, CAP),
    }


def main() -> None:
    """Print the table."""
    chat = Chat("local/smollm2", window=8_192)
    target = chat.session.target({}, ask=True)
    print(f"of {len(PLANTED)} planted facts in a summary of {CAP} tokens, {TURNS} turns, seeds {SEEDS}")
    for seed in SEEDS:
        said = conversation(seed)
        older = SummaryInput(tuple(Turn(prompt, reply) for prompt, reply in said))
        whole = sum(target.meter.tokens(text) for exchange in said for text in exchange)
        begun = time.perf_counter()
        extractive = with_own_lines("", older, target, CAP)
        took = time.perf_counter() - begun
        size = target.meter.tokens(extractive)
        print(f"seed {seed}, {whole:,.0f} tokens: extractive {held(extractive)} in {size:.0f} tokens, {took:.2f} s")
    older = SummaryInput(tuple(Turn(prompt, reply) for prompt, reply in conversation(SEEDS[0])))
    texts = summaries(chat.session, older, target)
    print(f"local/smollm2, seed {SEEDS[0]}: " + ", ".join(f"{name} {held(text)}" for name, text in texts.items()))
    stop_servers()


if __name__ == "__main__":
    main()
