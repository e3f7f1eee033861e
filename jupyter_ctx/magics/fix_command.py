"""``%chat fix``: ask for the cell that failed as it should be, and put that into the next cell."""

from __future__ import annotations

from ..attachments.tracebacks import Failure
from ..conversation.code_blocks import code_blocks, code_of
from ..display.text import to_plain
from ..providers.base import Reply
from .command_table import Call, say

FIX = (
    "Correct the cell that raised this error. Change only what is needed. "
    "Return the whole corrected cell in one Python code block, then say in one sentence what was wrong."
)


def fix(call: Call) -> None:
    """Ask for a corrected cell, with the wishes in the text below, and put its code into the next cell, not run."""
    options, wishes = call.options, (call.text or "").strip()
    options.error = True
    failure = call.host.last_error()
    reply = call.host.ask(call.chat, options, f"{FIX}\n\n{wishes}" if wishes else FIX)
    if isinstance(reply, Reply):  # else it was a preview
        say(_offered(call, failure, corrected_cell(reply.text)))


def _offered(call: Call, failure: Failure, code: str) -> str:
    """Put code into the next cell where it is a correction, and return what was done."""
    which = "the failed cell" if failure.number is None else f"cell [{failure.number}]"
    if not code:
        return f"The answer has no code: nothing was put into a cell, and {which} is as it was."
    if code.strip() == failure.cell.strip():
        return f"The answer repeats {which} unchanged: nothing was put into a cell."
    call.host.shell.set_next_input(to_plain(code))
    return f"The next cell holds {which} as corrected, not run: read it first."


def corrected_cell(answer: str) -> str:
    """Return the longest block of Python in an answer, else its first block; empty where it has none."""
    python = [block.text for block in code_blocks(answer) if block.is_python]
    return max(python, key=len) if python else code_of(answer)
