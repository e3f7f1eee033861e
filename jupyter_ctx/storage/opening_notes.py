"""What a user is told when a conversation is opened."""

from __future__ import annotations

import time
from collections.abc import Sequence

from .. import wording as words
from ..runtime.frontend import EARLIER, Origin
from .store import Claim, ConversationRow

MOST_OFFERED = 3  # notebooks that are named


def opened_note(claim: Claim, before: float) -> str:
    """Return one line that says where a conversation comes from, last used at ``before`` (seconds since 1970)."""
    source = claim.source or claim.row
    said = f"{words.turns(source.turns)} of {source.name!r}, last used {words.ago(time.time() - before)}"
    remedy = "%chat undo puts that back, %chat new starts afresh."
    if claim.how == "continued":
        return f"Going on with {said}. %chat new starts afresh."
    if claim.how == "renamed":
        return f"Going on with {said}: this notebook was {claim.before[0].notebook}. {remedy}"
    if claim.how == "copied":
        return f"This notebook is a copy of {source.notebook}: it starts with {said}. {remedy}"
    turns = words.turns(source.turns)
    return f"Another kernel holds {source.name!r}: this is a fork of it, {claim.row.name!r}, with {turns}."


def begun_note(rows: Sequence[ConversationRow], origin: Origin) -> str:
    """Return one line that names the conversations that were not taken over, and how to bring them in."""
    told, more = rows[:MOST_OFFERED], len(rows) - MOST_OFFERED
    offered = "; ".join(f"{words.turns(row.turns)} of {row.name!r} {_belong(row, origin)}" for row in told)
    how = " or ".join(f"%chat resume {_typed(row.notebook)} {_typed(row.name)}" for row in told)
    rest = f", and {words.notebooks(more)} more may be meant: %chat list all" if more > 0 else ""
    them = "it" if sum(row.turns for row in told) == 1 else "them"
    return f"This notebook begins anew: {offered}{rest}. {how} brings {them} in."


def _belong(row: ConversationRow, origin: Origin) -> str:
    had_this_path = EARLIER.sub("", row.notebook) == origin.notebook
    whose = "another notebook, which had this path before" if had_this_path else f"{row.notebook}, which shares cells"
    return f"{'belongs' if row.turns == 1 else 'belong'} to {whose}"


def _typed(word: str) -> str:
    """Return a word as it is typed after %chat."""
    return f'"{word}"' if set(word) & set(" '") else word
