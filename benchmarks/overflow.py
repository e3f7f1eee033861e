"""Measure telling an overflow from its look-alikes, beside the lists of pi and ctxnorm.

Asked of the collected refusals, where they are there, and of the invented ones in the tests.
``python -m benchmarks.overflow [overflow.js]``: the file is in the npm package
@earendil-works/pi-ai at dist/utils/; ctxnorm is used where it is installed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measuring import is_installed  # and makes the tests' helpers importable
from jupyter_ctx import Overflow, classify_overflow

from refusal_wordings import CORPUS, LOOK_ALIKES, WORDINGS, corpus, error  # isort: skip

PI = Path("node_modules/@earendil-works/pi-ai/dist/utils/overflow.js")
Numbers = tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class Case:
    """One refusal; ``numbers``: window, input and output of an overflow, ``None`` of anything else."""

    status: int | None
    body: Any
    message: str
    numbers: Numbers | None


Judge = Callable[[Case], Numbers | None]  # the same of what it finds


def collected() -> list[Case]:
    """Return refusals that servers sent, without those that are ambiguous."""
    cases = []
    for row in corpus() if CORPUS.is_file() else ():
        stated = row["window"], row["prompt_tokens"], row["output_tokens"]
        if row["overflow"] in (True, False):
            cases.append(Case(row["status"], row["body"], row["message"], stated if row["overflow"] else None))
    return cases


def invented() -> list[Case]:
    """Return refusals in words that other servers may use."""
    return [Case(400, error(text), text, numbers(said)) for text, said in WORDINGS.items()] + [
        Case(400, error(text), text, None) for text in LOOK_ALIKES
    ]


def numbers(said: Overflow | None) -> Numbers | None:
    return None if said is None else (said.context_window, said.input_tokens, said.output_tokens)


def ours(case: Case) -> Numbers | None:
    return numbers(classify_overflow(case.status, case.body))


def pi(script: str) -> Judge:
    """Judge by pi's two lists of patterns, on the message and on the body as its clients print it; no numbers."""
    lists = dict(re.findall(r"const (\w+) = \[\n(.*?)^\];", script, re.S | re.M))
    is_one, is_none = (
        [re.compile(pattern, re.I) for pattern in re.findall(r"^\s*/(.+)/i,", lists[name], re.M)]
        for name in ("OVERFLOW_PATTERNS", "NON_OVERFLOW_PATTERNS")
    )

    def judge(case: Case) -> Numbers | None:
        texts = (case.message, f"{case.status} {json.dumps(case.body, ensure_ascii=False)}")
        if any(pattern.search(text) for pattern in is_none for text in texts):
            return None
        return (None, None, None) if any(pattern.search(text) for pattern in is_one for text in texts) else None

    return judge


def ctxnorm(case: Case) -> Numbers | None:
    """Judge by ctxnorm; statuses below 400 (errors in a stream) are passed as 400, for it judges no others."""
    from ctxnorm import from_error

    found = from_error(max(case.status or 400, 400), case.body)
    return found and (found.limit, found.input_tokens, found.completion_tokens)


def main() -> None:
    """Print the table."""
    script = Path(sys.argv[1]) if len(sys.argv) > 1 else PI
    judges: dict[str, Judge] = {"jupyter_ctx": ours}
    if script.is_file():
        judges["pi"] = pi(script.read_text("utf-8"))
    if is_installed("ctxnorm"):
        judges["ctxnorm"] = ctxnorm
    print(f"{'':<24}{'found':>10}{'with its numbers':>18}{'look-alikes taken for one':>27}")
    for kind, cases in (("collected", collected()), ("invented", invented())):
        real, alike = [case for case in cases if case.numbers], [case for case in cases if not case.numbers]
        for name, judge in judges.items() if cases else ():
            found = sum(judge(case) is not None for case in real)
            read = "-" if name == "pi" else f"{sum(judge(case) == case.numbers for case in real)}/{len(real)}"
            wrong = sum(judge(case) is not None for case in alike)
            print(f"{kind + ', ' + name:<24}{f'{found}/{len(real)}':>10}{read:>18}{f'{wrong}/{len(alike)}':>27}")


if __name__ == "__main__":
    main()
