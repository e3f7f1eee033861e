"""Making a view smaller: where to cut it, and how to write its older part shorter."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from .budget import TRIM_TO, Budget
from .tokens import Ledger

MIN_SUMMARY = 150  # tokens
SUMMARY_SHARE = 0.1  # of the limit
KEEP_SHARE = 0.25  # of the limit stays verbatim beside a summary
KEEP_TURNS = 2
MUST_KEEP = 0.5  # of the numbers and names the user had said
GO_BACK = 0.8  # of the limit: what was cut comes back where all of it takes no more than that


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a view begins, and the tokens of all but the new prompt before and after."""

    start: int
    before: float
    tokens: float
    fits: bool


def fit(
    ledger: Ledger, budget: Budget, prompt: float, *, start: int, end: int, share: float = 1.0,
    min_turns: int = 1, max_turns: int | None = None, goal: float | None = None, guessed: float = 0.0,
) -> Cut:  # fmt: skip
    """Where the view of turns ``start`` to ``end`` must begin so that ``prompt`` fits too.

    It stays at ``start`` while it fits within ``share`` of the limit; else, or where a
    ``goal`` in tokens is set, it goes to the turn nearest to 0.6 of the limit, or to that
    goal. ``min_turns`` stay where they fit. ``guessed`` of the fixed tokens are estimated:
    the margin is on these, on estimated turns and on the prompt. O(log n).
    """
    fixed = budget.fixed + ledger.pinned(end)

    def takes(cut: int, share: float = 1.0) -> bool:
        estimated = guessed + ledger.guessed(cut, end)
        return budget.fits(fixed + ledger.between(cut, end) - estimated, estimated + prompt, share)

    before = fixed + ledger.between(start, end)
    crowded = max_turns is not None and ledger.count(start, end) > max_turns
    if goal is None and not crowded and takes(start, share):
        return Cut(start, before, before, fits=True)
    cut = _nearest(ledger, (goal or TRIM_TO * budget.limit) - fixed - prompt, start, end)
    if not takes(cut):
        weight = 1 / (1 - budget.margin) - 1
        room = budget.limit - fixed - prompt - weight * (guessed + prompt + ledger.guessed(end, end))
        cut = max(cut, ledger.first_within(room, start, end, guess_weight=weight))
    if crowded and max_turns is not None:
        cut = max(cut, ledger.last(max(1, int(max_turns * TRIM_TO)), start, end))
    wanted = ledger.last(min_turns, start, end)
    if wanted < cut and takes(wanted):
        cut = wanted
    tokens = fixed + ledger.between(cut, end)
    return Cut(cut, before, tokens, fits=tokens + prompt <= budget.limit)


def _nearest(ledger: Ledger, room: float, start: int, end: int) -> int:
    """The cut whose turns take nearest to ``room``."""
    below = ledger.first_within(room, start, end)
    above = max(below - 1, start)
    nearer = abs(ledger.between(above, end) - room) < abs(ledger.between(below, end) - room)
    return above if nearer else below


def keep_verbatim(ledger: Ledger, limit: int, start: int, end: int) -> int:
    """The turn from which on a summary leaves all as it is: two at least, a quarter of the limit."""
    by_size = ledger.first_within(KEEP_SHARE * limit, start, end)
    if by_size > start and ledger.between(by_size, end) < KEEP_SHARE * limit:
        by_size -= 1
    return min(by_size, ledger.last(KEEP_TURNS, start, end))


def summary_cap(limit: int) -> int:
    """Tokens a summary may have."""
    return max(MIN_SUMMARY, int(limit * SUMMARY_SHARE))


FACT = r"""
      \d[\d.,:/%-]*\d%? | \d%?                   # numbers, dates, versions
    | \b[A-Za-z_]\w*(?:[._][A-Za-z_]\w*)+         # a.b and a_b
    | \b[a-z]+[A-Z]\w* | \b[A-Z]{2,}\w*           # camelCase, CONSTANTS
    | (?<![.!?\n]\s)(?<!^)(?<=\s)[A-Z][a-z]+\w*   # names: capitals not at a sentence's start
    | "[^"\n]{1,60}" | `[^`\n]{1,60}`             # quoted
    """


def facts(text: str) -> frozenset[str]:
    """The numbers, names and identifiers of a text."""
    found = re.findall(FACT, text, re.X | re.M)  # compiled when first needed
    return frozenset(match.strip("`\"'").rstrip(".,:").lower() for match in found) - {""}


def missing_facts(said: Sequence[str], summary: str) -> tuple[frozenset[str], frozenset[str]]:
    """All facts of what the user said, and those that the summary has lost."""
    wanted = frozenset().union(*map(facts, said))
    shorter = summary.lower()
    return wanted, frozenset(fact for fact in wanted if fact not in shorter)


def pick_lines(texts: Sequence[str], wanted: frozenset[str], cap: float, measure: Callable[[str], float]) -> list[str]:
    """The lines that hold the most of ``wanted`` in ``cap`` tokens, in their order.

    Greedy by new facts a token, then first lines while there is room. Gains only shrink as
    lines are taken, so a heap with late re-checking looks at few of them.
    """
    lines = [line.strip() for text in texts for line in _lines(text)]
    held = [facts(line) & wanted for line in lines]
    sizes = [measure(line) for line in lines]
    heap = [(-len(held[i]) / sizes[i], i) for i in range(len(lines)) if held[i]]
    heapify(heap)
    taken, seen, room = set[int](), set[str](), cap
    while heap:
        gain, i = heappop(heap)
        new = held[i] - seen
        if not new or sizes[i] > room:
            continue
        if -len(new) / sizes[i] > gain:
            heappush(heap, (-len(new) / sizes[i], i))
            continue
        taken.add(i)
        seen |= new
        room -= sizes[i]
    for i in range(len(lines)):
        if i not in taken and sizes[i] <= room:
            taken.add(i)
            room -= sizes[i]
    return list(dict.fromkeys(lines[i] for i in sorted(taken)))


def _lines(text: str) -> list[str]:
    """Lines of a text, long ones by sentence."""
    lines: list[str] = []
    for line in text.splitlines():
        lines += re.split(r"(?<=[.!?。！？])\s+", line) if len(line) > 200 else [line]
    return [line for line in lines if line.strip()]


def fenced(text: str) -> str:
    """The text in a fence that nothing in it can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def summary_message(text: str) -> str:
    """What stands in the view for the turns that a summary covers."""
    return f"Summary of our conversation so far:\n{fenced(text)}"


SUMMARY_ANSWER = "Understood."
SMALL_WINDOW = 8_192
SMALL_PROMPT = "List the facts of these lines as short bullet points. Keep every number and name."
LARGE_PROMPT = (
    "Summarise the conversation in the fence for someone who goes on with it: the goal, decisions, facts "
    "and figures, code and variables by name, open questions. Keep numbers, names and identifiers exactly. "
    "Write in the language of the conversation, in short lines, and nothing else."
)


def transcript(turns: Sequence[tuple[str, str]], room: float, *, small: bool, measure: Callable[[str], float]) -> str:
    """The older turns as data for a summariser, its middle cut where it is too long."""
    texts = [f"User: {prompt}" if small else f"User: {prompt}\nAssistant: {reply}" for prompt, reply in turns]
    whole = "\n".join(texts)
    while measure(whole) > room and len(whole) > 200:
        keep = int(len(whole) * min(0.9, room / measure(whole)))
        whole = f"{whole[: keep // 4]}\n[…]\n{whole[-(keep - keep // 4) :]}"
    return whole


def whole_lines(text: str) -> str:
    """A text that stopped at its cap, up to its last whole line."""
    head, newline, _ = text.rstrip().rpartition("\n")
    return head if newline else text.rstrip()
