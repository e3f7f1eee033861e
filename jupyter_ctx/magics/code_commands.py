"""``%chat code`` and ``%chat fix``: put code of an answer, or the cell that failed as corrected, into the next cell."""

from __future__ import annotations

import re
import shlex
from difflib import SequenceMatcher
from typing import NamedTuple

from IPython.core.error import UsageError
from IPython.display import display

from ..attachments.tracebacks import Failure
from ..chat import Chat
from ..conversation.code_blocks import CodeBlock, code_blocks, code_of, eligible_blocks
from ..conversation.events import Added, Cleared, Offered, Said
from ..display.answer.markdown import folded_code
from ..display.tables import first_words, table
from ..display.text import to_plain, warning_forms
from ..errors import InvalidRequestError
from ..providers.base import Reply
from ..runtime.frontend import where
from .command_table import Call, say

BLOCK_COLUMNS = ("block", "language", "lines", "begins with", "into the next cell")
NO_NEXT_CELL = "A notebook that is executed without a reader takes no new cell for this code."
CODE_USAGE = "%chat code [BLOCK | all] [TURN]"
MOST_UNFOLDED = 30  # blocks whose code can be read in the list
NEWS = (Said, Offered, Added, Cleared)  # events that bring a newest answer, or leave none
LISTS_BLOCKS = ": %chat code lists the blocks of the last answer that has any"
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


def put_code(call: Call) -> object:
    """Put a block of code into the next cell; list the blocks where none is named and several may be meant."""
    chat, words = call.chat, call.words
    if len(words) > 2:
        raise UsageError(f"{CODE_USAGE} takes a block's number and a turn's, not {' '.join(words)!r}.")
    everything = bool(words) and words[0].lower() == "all"
    block = None if everything or not words else call.count(words[0], "a block's number or all", LISTS_BLOCKS)
    turn = call.number(words[1]) if len(words) == 2 else _turn_meant(call)
    if words:
        return _put(call, turn, block)
    eligible = eligible_blocks(code_blocks(chat.desk.turn(turn).reply))
    if len(eligible) == 1:
        return _put(call, turn, eligible[0])
    _listed(call, turn)
    return None


def _turn_meant(call: Call) -> int:
    """Return the last turn with code, and say which it is where the newest answer has none.

    Raises InvalidRequestError where the newest answers stand side by side, and none of them is used yet.
    """
    chat = call.chat
    newest = next((event for event in reversed(chat.conversation.standing) if isinstance(event, NEWS)), None)
    if isinstance(newest, Offered) and chat.desk.chosen(newest.alternatives.id) is None:
        raise InvalidRequestError(
            f"None of the {len(newest.alternatives.answers)} answers side by side is used yet: %chat pick N takes one, "
            "then %chat code takes its code. %chat code BLOCK TURN takes that of an earlier turn."
        )
    turn = turn_with_code(chat)
    if turn < len(chat.turns):
        later = "the last answer has none" if turn + 1 == len(chat.turns) else "no later answer has any"
        say(f"This is the code of turn {turn}: {later}.")
    return turn


def turn_with_code(chat: Chat) -> int:
    """Return the number of the last turn whose answer has code. Raises InvalidRequestError where none has."""
    numbered = reversed(list(enumerate(chat.turns, 1)))
    number = next((number for number, turn in numbered if code_blocks(turn.reply)), None)
    if number is None:
        raise InvalidRequestError("There is no code in any answer.")
    return number


def code_in(chat: Chat, turn: int, block: int | None = None) -> str:
    """Return the code in the answer of a turn, as it may stand in a cell.

    ``block`` is the number of one code block, from 1. Without it all Python is joined; an answer without Python
    gives its first block.
    """
    reply = chat.desk.turn(turn).reply
    blocks = code_blocks(reply)
    if not blocks:
        raise InvalidRequestError(f"There is no code in turn {turn}.")
    if block is None:
        return code_of(reply)
    if block not in range(1, len(blocks) + 1):
        held = "1 code block" if len(blocks) == 1 else f"{len(blocks):,} code blocks"
        raise InvalidRequestError(f"Turn {turn} has {held}, and no block {block!r}: %chat code lists them.")
    return blocks[block - 1].cell


def _put(call: Call, turn: int, block: int | None) -> object:
    """Put code into the next cell, or print it where none can be put."""
    code = code_in(call.chat, turn, block)
    return None if _into_next_cell(call, code) else f"{NO_NEXT_CELL}\n\n{code}"


def _into_next_cell(call: Call, code: str) -> bool:
    """Put code into the next cell; return ``False`` where a notebook is executed, which takes no new cells."""
    is_executed = where(call.host.shell).kind == "headless"
    if not is_executed:
        call.host.shell.set_next_input(code)
    return not is_executed


def _listed(call: Call, turn: int) -> None:
    """Show the blocks of a turn, each with the command that puts it into the next cell, and on a page with its code.

    No click can put code into a cell: front ends take it from a cell that runs (jupyterlab/jupyterlab#8893).
    """
    blocks = code_blocks(call.chat.desk.turn(turn).reply)
    elsewhere = _elsewhere(call)
    commands = [f"%chat code {number}{elsewhere}" for number in range(1, len(blocks) + 1)]
    rows = [
        (str(number), *_described(block), command)
        for number, (block, command) in enumerate(zip(blocks, commands, strict=True), 1)
    ]
    joined = f"; %chat code all{elsewhere} joins the Python"
    together = joined if sum(block.is_python for block in blocks) > 1 else ""
    caption = f"Turn {turn} has {len(blocks):,} code blocks{together}."
    forms = table(BLOCK_COLUMNS, rows, caption)
    for block, command in list(zip(blocks, commands, strict=True))[:MOST_UNFOLDED]:
        forms["text/html"] += folded_code(command, block.text, block.language or "python")
    display(forms, raw=True)


def _described(block: CodeBlock) -> tuple[str, str, str]:
    """Return the language of a block, the number of its lines, and how it begins."""
    lines = block.text.splitlines()
    beginning = next((line for line in lines if line.strip()), "")
    return block.language or "–", f"{len(lines):,}", first_words(beginning)


def _elsewhere(call: Call) -> str:
    """Return the option that names the conversation, where it is not the current one."""
    chosen = call.options.conversation
    return f" -i {shlex.quote(chosen)}" if chosen else ""


class Fixable(NamedTuple):
    """A cell or a function of a file that may be wrong; ``said`` names it to the user, ``label`` to the model."""

    said: str
    label: str
    text: str


def fix(call: Call) -> None:
    """Ask for a corrected cell, with the wishes in the text below, and put its code into the next cell, not run."""
    options, wishes = call.options, (call.text or "").strip()
    options.error = True
    failure = call.host.prompts.last_error()
    places = _places(failure)
    asked = FIX if len(places) == 1 else FIX_ONE_OF.format(" or in ".join(place.label for place in places))
    reply = call.host.ask(call.chat, options, f"{asked}\n\n{wishes}" if wishes else asked)
    if isinstance(reply, Reply):  # else it was a preview
        display(warning_forms(_offered(call, places, reply.text)), raw=True)


def _places(failure: Failure) -> list[Fixable]:
    """Return what of the user's may be wrong, the innermost first and the cell that was running last."""
    ran = "the failed cell" if failure.number is None else f"cell [{failure.number}]"
    inside = (Fixable(source.users_name, source.label, source.text) for source in failure.sources)
    return [*inside, Fixable(ran, "the cell that failed", failure.cell)]


def _offered(call: Call, places: list[Fixable], answer: str) -> str:
    """Put code into the next cell where it is a correction, and return what was done."""
    ran = places[-1].said
    code = corrected_cell(answer, tuple(place.text for place in places))
    if not code:
        return f"The answer has no code: nothing was put into a cell, and {ran} is as it was."
    same = next((place.said for place in places if code.strip() == place.text.strip()), None)
    if same is not None:
        return f"The answer repeats {same} unchanged: nothing was put into a cell."
    if not _into_next_cell(call, to_plain(code)):
        return f"{NO_NEXT_CELL} The answer has it, and {ran} is as it was."
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
