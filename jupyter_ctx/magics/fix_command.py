"""``%chat fix``: ask for the cell that is wrong as it should be, and put that into the next cell."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

from ..attachments.tracebacks import Failure
from ..conversation.code_blocks import code_blocks, code_of
from ..display.text import to_plain
from ..providers.base import Reply
from .command_table import Call, say

WORDS = re.compile(r"\w+|[^\w\s]")
MOST_WORDS = 2_000  # of a source that are compared
FIX = (
    "Correct the cell that raised this error. Change only what is needed. "
    "Return the whole corrected cell in one Python code block, then say in one sentence what was wrong."
)
FIX_ONE_OF = (
    "Correct the code behind this error. The mistake may be in {}: find out in which. Change only what is needed. "
    "Return that one, whole and corrected, in one Python code block, then say in one sentence which it is and what "
    "was wrong there."
)


class Fixable(NamedTuple):
    """A cell or a function of a file that may be wrong; ``said`` names it in a sentence."""

    said: str
    text: str


def fix(call: Call) -> None:
    """Ask for a corrected cell, with the wishes in the text below, and put its code into the next cell, not run."""
    options, wishes = call.options, (call.text or "").strip()
    options.error = True
    failure = call.host.last_error()
    places = _places(failure)
    asked = FIX if len(places) == 1 else FIX_ONE_OF.format(" or in ".join(place.said for place in places))
    reply = call.host.ask(call.chat, options, f"{asked}\n\n{wishes}" if wishes else asked)
    if isinstance(reply, Reply):  # else it was a preview
        say(_offered(call, places, reply.text))


def _places(failure: Failure) -> list[Fixable]:
    """Return what of the user's may be wrong, the innermost first and the cell that was running last."""
    ran = "the failed cell" if failure.number is None else f"cell [{failure.number}]"
    return [*(Fixable(source.said, source.text) for source in failure.sources), Fixable(ran, failure.cell)]


def _offered(call: Call, places: list[Fixable], answer: str) -> str:
    """Put code into the next cell where it is a correction, and return what was done."""
    ran = places[-1].said
    code = corrected_cell(answer, tuple(place.text for place in places))
    if not code:
        return f"The answer has no code: nothing was put into a cell, and {ran} is as it was."
    same = next((place.said for place in places if code.strip() == place.text.strip()), None)
    if same is not None:
        return f"The answer repeats {same} unchanged: nothing was put into a cell."
    call.host.shell.set_next_input(to_plain(code))
    fixed = max(places, key=lambda place: _likeness(code, place.text)).said
    if fixed == ran:
        return f"The next cell holds {fixed} as corrected, not run: read it first."
    if fixed.startswith("cell "):
        return f"The next cell holds {fixed} as corrected, not run: read it first, run it, then run {ran} again."
    return f"The next cell holds the function {fixed} as corrected, not run: read it first, and put it into that file."


def _likeness(code: str, text: str) -> float:
    """Return how much of two sources is alike, from 0 to 1."""
    first, second = (WORDS.findall(each)[:MOST_WORDS] for each in (code, text))
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def corrected_cell(answer: str, known: tuple[str, ...] = ()) -> str:
    """Return the longest block of Python in an answer, one that is ``known`` only where there is no other.

    Without Python it is the first block; empty where there is none.
    """
    python = [block.cell for block in code_blocks(answer) if block.is_python]
    before = {text.strip() for text in known}
    new = [text for text in python if text.strip() not in before]
    return max(new or python, key=len) if python else code_of(answer)
