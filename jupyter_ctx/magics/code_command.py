"""``%chat code``: put the code of an answer into the next cell, or list its blocks."""

from __future__ import annotations

import shlex

from IPython.core.error import UsageError
from IPython.display import display

from ..conversation.code_blocks import eligible_blocks
from ..conversation.events import Added, Cleared, Offered, Said
from ..display.widgets.block_buttons import BlockButtons, BlockRow, block_forms
from ..errors import InvalidRequestError
from ..runtime.frontend import where
from .command_table import Call, say

CODE_USAGE = "%chat code [BLOCK | all] [TURN]"
NEWS = (Said, Offered, Added, Cleared)  # events that bring a newest answer, or leave none


def put_code(call: Call) -> object:
    """Put a block of code into the next cell; list the blocks where none is named and several may be meant."""
    chat, words = call.chat, call.words
    if len(words) > 2:
        raise UsageError(f"{CODE_USAGE} takes a block's number and a turn's, not {' '.join(words)!r}.")
    everything = bool(words) and words[0].lower() == "all"
    block = None if everything or not words else call.count(words[0], "a block's number or all", _LISTED)
    turn = call.number(words[1]) if len(words) == 2 else _turn_meant(call)
    if words:
        return _put(call, turn, block)
    eligible = eligible_blocks(chat.code_blocks(turn))
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
    if isinstance(newest, Offered) and chat.chosen(newest.alternatives.id) is None:
        raise InvalidRequestError(
            f"None of the {len(newest.alternatives.answers)} answers side by side is used yet: %chat pick N takes one, "
            "then %chat code takes its code. %chat code BLOCK TURN takes that of an earlier turn."
        )
    turn = chat.turn_with_code()
    if turn < len(chat.turns):
        later = "the last answer has none" if turn + 1 == len(chat.turns) else "no later answer has any"
        say(f"This is the code of turn {turn}: {later}.")
    return turn


def _put(call: Call, turn: int, block: int | None) -> object:
    """Put code into the next cell."""
    return call.host.shell.set_next_input(call.chat.code(turn, block))


_LISTED = ": %chat code lists the blocks of the last answer that has any"


def _listed(call: Call, turn: int) -> None:
    """Show the blocks of a turn, each with the command that puts it into the next cell."""
    blocks = call.chat.code_blocks(turn)
    elsewhere = _elsewhere(call)
    rows = [
        BlockRow(block.language, block.text, f"%chat code {number}{elsewhere}")
        for number, block in enumerate(blocks, 1)
    ]
    joined = f"; %chat code all{elsewhere} joins the Python"
    together = joined if sum(block.is_python for block in blocks) > 1 else ""
    caption = f"Turn {turn} has {len(blocks):,} code blocks{together}."
    kind = where(call.host.shell).kind
    if kind == "notebook":
        BlockButtons(rows, caption).show()
    else:
        display(block_forms(rows, caption), raw=True)


def _elsewhere(call: Call) -> str:
    """Return the option that names the conversation, where it is not the current one."""
    chosen = call.options.conversation
    return f" -i {shlex.quote(chosen)}" if chosen else ""
