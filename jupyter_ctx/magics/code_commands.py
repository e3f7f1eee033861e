"""``%chat code`` and ``%chat fix``: put code of an answer, or the cell that failed as corrected, into the next cell."""

from __future__ import annotations

from IPython.display import display

from ..conversation.code_blocks import CodeBlock, code_blocks, code_of, eligible_blocks
from ..display.tables import first_words, table
from ..display.text import to_plain, warning_bundle
from ..errors import InvalidRequestError
from ..providers.base import Reply
from ..runtime.frontend import where
from ..session.ask import CUT_SHORT
from ..wording import counted
from .command_table import ABOUT_ANSWERS, Call, command

NO_NEXT_CELL = "This notebook runs without a front end, where no cell can be added."
BLOCK_COLUMNS = ("into the next cell", "language", "lines", "begins with")
FIX = (
    "Correct the cell that raised this error. Change only what is needed. Return that cell, whole and corrected, in "
    "one Python code block, then say in one sentence what was wrong."
)


@command(ABOUT_ANSWERS, "%chat code", "%chat code 2", "%chat code all", takes="[BLOCK | all]")
def _code(call: Call, block: str = "") -> object:
    """Put a code block of the last answer with code into the next cell; alone: the only one, or a list; all: all
    Python.
    """
    turns = call.chat.turns
    turn = next((number for number in range(len(turns), 0, -1) if code_blocks(turns[number - 1].reply)), None)
    if turn is None:
        raise InvalidRequestError("There is no code in any answer.")
    blocks = code_blocks(turns[turn - 1].reply)
    eligible = eligible_blocks(blocks)
    if not block and len(eligible) > 1:
        return _list(turn, blocks)
    if block.lower() == "all":
        return _into_next_cell(call, code_of(blocks))
    numbered = {str(number): each for number, each in enumerate(blocks, 1)}
    chosen = numbered.get(block or str(eligible[0]))
    if chosen is None:
        raise InvalidRequestError(
            f"Turn {turn} has {counted(len(blocks), 'code block')}, and no block {block}: %chat code lists them."
        )
    return _into_next_cell(call, chosen.cell)


def _into_next_cell(call: Call, code: str) -> str | None:
    """Put code into the next cell; return it with a line where a notebook is executed, which takes no new cells."""
    if where(call.host.shell).kind == "headless":
        return f"{NO_NEXT_CELL}\n\n{code}"
    call.host.shell.set_next_input(code)
    return None


def _list(turn: int, blocks: tuple[CodeBlock, ...]) -> dict[str, str]:
    """Return the blocks of a turn, each with the command that puts it into the next cell.

    No click can put code into a cell: front ends take it from a cell that runs (jupyterlab/jupyterlab#8893).
    """
    rows = list[tuple[str, ...]]()
    for number, block in enumerate(blocks, 1):
        first, *more = block.text.strip("\n").splitlines() or [""]
        rows.append((f"%chat code {number}", block.language or "–", f"{1 + len(more):,}", first_words(first)))
    caption = f"Turn {turn} has {len(blocks):,} code blocks; %chat code all joins the Python."
    return table(BLOCK_COLUMNS, rows, caption)


@command(ABOUT_ANSWERS, "%chat fix", "%%chat fix\nUse pandas only.", heads_cell=True)
def _fix(call: Call) -> None:
    """Ask for the cell that failed, corrected, and put it into the next cell; %%chat fix: with your wishes below."""
    call.options.error = True
    cell = call.host.prompts.last_error().cell
    wishes = (call.text or "").strip()
    reply = call.host.ask(call.chat, call.options, f"{FIX}\n\n{wishes}" if wishes else FIX)
    if reply is not None:
        display(warning_bundle(_put_correction(call, cell, reply)), raw=True)


def _put_correction(call: Call, cell: str, reply: Reply) -> str:
    """Put the longest block of Python that is not the failed cell into the next cell; return what was done."""
    python = [block.cell for block in code_blocks(reply.text) if block.is_python and block.cell.strip() != cell.strip()]
    if reply.stop_reason in CUT_SHORT or not python:
        return "The answer is not whole, or has no Python but the failed cell: nothing was put into a cell."
    if _into_next_cell(call, to_plain(max(python, key=len))):
        return f"{NO_NEXT_CELL} The answer has it."
    return "The next cell holds the failed cell as corrected, not run: read it first."
