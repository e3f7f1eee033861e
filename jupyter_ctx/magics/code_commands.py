"""``%chat code`` and ``%chat fix``: put code of an answer, or the cell that failed as corrected, into the next cell."""

from __future__ import annotations

import re
import shlex
from difflib import SequenceMatcher

from IPython.core.error import UsageError
from IPython.display import display

from ..attachments.tracebacks import FAILED_CELL, FrameSource
from ..conversation.code_blocks import CodeBlock, code_blocks, code_of, eligible_blocks
from ..conversation.events import Added, Cleared, Offered, Said
from ..display.answer.markdown import folded_code
from ..display.tables import first_words, table
from ..display.text import to_plain, warning_forms
from ..errors import InvalidRequestError
from ..providers.base import Reply
from ..runtime.frontend import where
from ..session.actions import turn_of
from ..wording import counted
from .command_table import Call, say

BLOCK_COLUMNS = ("block", "language", "lines", "begins with", "into the next cell")
NO_NEXT_CELL = "A notebook that is executed without a reader takes no new cell for this code."
MOST_UNFOLDED = 30  # blocks whose code can be read in the list
NEWS = (Said, Offered, Added, Cleared)  # events that bring a newest answer, or leave none
LISTS_BLOCKS = ": %chat code lists the blocks of the last answer that has any"
MOST_WORDS = 2_000  # of a source that are compared
FIX = (
    "Correct {}. Change only what is needed. Return {}, whole and corrected, in one Python code block, then say in one "
    "sentence what was wrong."
)
THE_CELL = ("the cell that raised this error", "that cell")
ONE_OF = ("the code behind this error. The mistake may be in {}: find out in which", "that one")


def put_code(call: Call) -> object:
    """Put a block of code into the next cell; list the blocks where none is named and several may be meant."""
    words = call.words
    if len(words) > 2:
        raise UsageError(
            f"%chat code [BLOCK | all] [TURN] takes a block's number and a turn's, not {' '.join(words)!r}."
        )
    is_all = words[:1] and words[0].lower() == "all"
    number = call.count(words[0], "a block's number or all", LISTS_BLOCKS) if words and not is_all else None
    turn = call.number(words[1]) if len(words) == 2 else _turn_meant(call)
    reply = turn_of(call.chat.session, turn).reply
    blocks = code_blocks(reply)
    if not blocks:
        raise InvalidRequestError(f"There is no code in turn {turn}.")
    eligible = eligible_blocks(blocks)
    if not words and len(eligible) > 1:
        _list(call, turn, blocks)
        return None
    number = eligible[0] if not words else number
    if number is not None and number not in range(1, len(blocks) + 1):
        raise InvalidRequestError(
            f"Turn {turn} has {counted(len(blocks), 'code block')}, and no block {number}: %chat code lists them."
        )
    code = code_of(reply) if number is None else blocks[number - 1].cell
    return None if _into_next_cell(call, code) else f"{NO_NEXT_CELL}\n\n{code}"


def _turn_meant(call: Call) -> int:
    """Return the last turn with code, and say which it is where the newest answer has none.

    Raises InvalidRequestError where the newest answers stand side by side, and none of them is used yet.
    """
    chat = call.chat
    newest = next((event for event in reversed(chat.conversation.standing) if isinstance(event, NEWS)), None)
    if isinstance(newest, Offered) and chat.session.chosen(newest.alternatives.id) is None:
        raise InvalidRequestError(
            f"None of the {len(newest.alternatives.answers)} answers side by side is used yet: %chat pick N takes one, "
            "then %chat code takes its code. %chat code BLOCK TURN takes that of an earlier turn."
        )
    turns = chat.turns
    turn = next((number for number in range(len(turns), 0, -1) if code_blocks(turns[number - 1].reply)), None)
    if turn is None:
        raise InvalidRequestError("There is no code in any answer.")
    if turn < len(turns):
        later = "the last answer has none" if turn + 1 == len(turns) else "no later answer has any"
        say(f"This is the code of turn {turn}: {later}.")
    return turn


def _into_next_cell(call: Call, code: str) -> bool:
    """Put code into the next cell; return ``False`` where a notebook is executed, which takes no new cells."""
    is_executed = where(call.host.shell).kind == "headless"
    if not is_executed:
        call.host.shell.set_next_input(code)
    return not is_executed


def _list(call: Call, turn: int, blocks: tuple[CodeBlock, ...]) -> None:
    """Show the blocks of a turn, each with the command that puts it into the next cell, and on a page with its code.

    No click can put code into a cell: front ends take it from a cell that runs (jupyterlab/jupyterlab#8893).
    """
    conversation = call.options.conversation
    elsewhere = f" -i {shlex.quote(conversation)}" if conversation else ""
    rows, unfolded = [], ""
    for number, block in enumerate(blocks, 1):
        command = f"%chat code {number}{elsewhere}"
        lines = block.text.strip("\n").splitlines()
        rows.append((str(number), block.language or "–", f"{len(lines):,}", first_words("".join(lines[:1])), command))
        if number <= MOST_UNFOLDED:
            unfolded += folded_code(command, block.text, block.language or "python")
    together = f"; %chat code all{elsewhere} joins the Python" if sum(block.is_python for block in blocks) > 1 else ""
    forms = table(BLOCK_COLUMNS, rows, f"Turn {turn} has {len(blocks):,} code blocks{together}.")
    forms["text/html"] += unfolded
    display(forms, raw=True)


def fix(call: Call) -> None:
    """Ask for a corrected cell, with the wishes in the text below, and put its code into the next cell, not run."""
    call.options.error = True
    failure = call.host.prompts.last_error()
    sources = failure.sources or (FrameSource("the failed cell", FAILED_CELL, ""),)
    sources = (*sources[1:], sources[0])  # the innermost first
    places = " or in ".join(source.label for source in sources)
    what = THE_CELL if len(sources) == 1 else ONE_OF
    asked = FIX.format(*what).format(places)
    wishes = (call.text or "").strip()
    reply = call.host.ask(call.chat, call.options, f"{asked}\n\n{wishes}" if wishes else asked)
    if isinstance(reply, Reply):  # else it was a preview
        display(warning_forms(_put_correction(call, sources, reply.text)), raw=True)


def _put_correction(call: Call, sources: tuple[FrameSource, ...], answer: str) -> str:
    """Put code into the next cell where it is a correction, and return what was done."""
    failed = sources[-1].name
    known = {source.text.strip(): source.name for source in sources}
    code = _corrected(answer, known)
    if not code:
        return f"The answer has no code: nothing was put into a cell, and {failed} is as it was."
    if code.strip() in known:
        return f"The answer repeats {known[code.strip()]} unchanged: nothing was put into a cell."
    if not _into_next_cell(call, to_plain(code)):
        return f"{NO_NEXT_CELL} The answer has it, and {failed} is as it was."
    fixed = max(sources, key=lambda source: _likeness(code, source.text)).name
    if fixed == failed:
        return f"The next cell holds {fixed} as corrected, not run: read it first."
    if fixed.startswith("cell "):
        return f"The next cell holds {fixed} as corrected, not run: read it first, run it, then run {failed} again."
    return f"The next cell holds the function {fixed} as corrected, not run: read it first, and put it into that file."


def _corrected(answer: str, known: dict[str, str]) -> str:
    """Return the longest block of Python in an answer, one that is ``known`` only where there is no other."""
    python = [block.cell for block in code_blocks(answer) if block.is_python]
    new = [code for code in python if code.strip() not in known]
    return max(new or python, key=len, default="") or code_of(answer)


def _likeness(code: str, text: str) -> float:
    """Return how much of two sources is alike, from 0 to 1."""
    first, second = (re.findall(r"\w+|[^\w\s]", each)[:MOST_WORDS] for each in (code, text))
    return SequenceMatcher(None, first, second, autojunk=False).ratio()
