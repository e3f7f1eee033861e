"""One line each for what was done without being asked."""

from __future__ import annotations

from ..context.overflow import Overflow
from ..context.usage import Usage
from ..context.windows import ContextWindow
from ..errors import ContextOverflowError
from .byte_limit import megabytes
from .planner import Attempt

KEPT = "They are kept: %chat history shows them, %chat pin N keeps one in view."

STORED = "This is the stored answer; nothing was sent. Run the cell again to ask anew."


def oldest(turns: int, *, pinned: bool = False) -> str:
    """So many of the oldest turns, in words; ``pinned``: older ones stay for their pins."""
    which = "oldest unpinned" if pinned else "oldest"
    return f"the {which} turn" if turns == 1 else f"the {turns:,} {which} turns"


def _gone(turns: int, *, summary: bool) -> str:
    """What a request lacks, in words."""
    parts = [*([oldest(turns)] if turns else []), *(["the summary"] if summary else [])]
    return " and ".join(parts)


def fitted(attempt: Attempt) -> tuple[str, ...]:
    """What was left out before the request was sent."""
    gone = _gone(attempt.left_out, summary=attempt.lacks_summary)
    if not gone:
        return ()
    if attempt.most_bytes is not None:
        return (f"To stay below {megabytes(attempt.most_bytes)}, which the server may take: left out {gone}.",)
    before, settings = attempt.cut.before + attempt.asked, attempt.target.settings
    few = attempt.scope.at - attempt.cut.start < settings.min_turns
    note = f" min_turns={settings.min_turns} could not be kept." if few and settings.min_turns > 1 else ""
    return (f"To fit {attempt.budget.limit:,} tokens: left out {gone} ({before:,.0f} → {attempt.tokens:,.0f}).{note}",)


def without_files(attempt: Attempt) -> tuple[str, ...]:
    """Which files of earlier turns were left out, and why."""
    if not attempt.dropped:
        return ()
    names = " and ".join(dict.fromkeys(file.name for file in attempt.dropped))
    size = megabytes(sum(len(file.data) for file in attempt.dropped))
    return (f"Left out {names} ({size}) of earlier turns: the server takes no larger request. -a sends one again.",)


def nearly_full(fill: float) -> str:
    """That a request fills this share of the limit, before it is sent; above 1 nothing is left to leave out."""
    if fill > 1:
        size = f"{fill:,.0f} times" if fill >= 2 else f"{100 * fill:.0f} % of"
        return f"This prompt, with what is always sent, is {size} what a request may have: shorten it."
    return f"{100 * fill:,.0f} % after this: %chat summarise, trim or clear."


def again(refused: Attempt, error: ContextOverflowError, sent: Attempt) -> str:
    """How a refused request was made smaller, in tokens or in bytes."""
    return lighter(sent) if error.by_bytes else recovered(refused, error.overflow or Overflow(), sent)


def recovered(refused: Attempt, overflow: Overflow, sent: Attempt) -> str:
    """How a refused request was made smaller."""
    size, limit = overflow.input_tokens, overflow.context_window or overflow.max_input_tokens
    figures = f" ({size:,} > {limit:,})" if size and limit and size > limit else ""
    if limit and not figures:
        figures = f" (the limit is {limit:,})"
    gone = _gone(sent.left_out - refused.left_out, summary=sent.lacks_summary and not refused.lacks_summary)
    if not gone:
        return (
            f"Context window exceeded{figures}: asked for a reply of {sent.request.max_tokens:,} tokens "
            "at most and sent again."
        )
    return f"Context window exceeded{figures}: left out {gone} and sent again. {KEPT}"


def lighter(sent: Attempt) -> str:
    """How a request that was refused for its bytes was made smaller."""
    gone = f"left out {oldest(sent.left_out)}" if sent.left_out else "left out files of earlier turns"
    return f"The request had too many bytes for the server: {gone} and sent again."


def rerun(attempt: Attempt) -> tuple[str, ...]:
    """Why a turn that was run again will not be in later requests."""
    if attempt.scope.at < attempt.past.trimmed_to:
        return (f"Turn {attempt.scope.at + 1} stands before your trim: later requests leave it out.",)
    return ()


def truncated(attempt: Attempt, usage: Usage) -> str:
    """That a server left out a part of the prompt without a word, and the setting that ends it."""
    sent, cure = attempt.tokens, attempt.target.provider.truncates
    remedy = f"To end that, {cure}." if cure else "Its own settings say how much it reads: look for a context length."
    return (
        f"The server read {usage.input_tokens:,} of about {sent:,.0f} tokens and left out the rest "
        f"without saying so. {remedy}"
    )


def beyond(attempt: Attempt, usage: Usage) -> tuple[str, ...]:
    """That more was read than the window is believed to hold: not all of it may have counted."""
    window = attempt.target.window
    if usage.input_tokens <= window.tokens:
        return ()
    return (
        f"{usage.input_tokens:,} tokens were taken where the window is believed to hold {window.tokens:,} "
        f"({window.basis}): the model may not have seen all of it. --window says what is right.",
    )


def assumed(model: str, window: ContextWindow) -> str:
    """That a window is a guess, and how to say the right one."""
    return (
        f"The window of {model} is not known: {window.tokens:,} tokens are {window.origin}. "
        f"Say it with %chat use {model} --window N, or in models.json."
    )
