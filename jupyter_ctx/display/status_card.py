"""Draw the status of a conversation: what fills its context window as a sum, then what differs from the usual.

The HTML has inline styles alone, plain colours before the theme's own, so that it survives every sanitiser.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .. import wording as words
from ..context.context_info import ContextInfo
from ..wording.budget_line import budget_line
from ..wording.layout import line_width, wrapped
from .tables import table_markdown
from .text import QUIET, WRAPS, markdown_line, text_html, to_plain
from .widgets.gauge import cost_text
from .widgets.gauge_bar import SEGMENT_KINDS

OF_TURNS = ("earlier turns", "this turn")  # segments that are one line of the sum
BOX_STYLE = (
    "max-width:760px;box-sizing:border-box;margin:6px 0;padding:10px 16px;border:1px solid #bdbdbd;"
    f"border-color:var(--jp-border-color2,#bdbdbd);border-radius:8px;font-size:13px;line-height:20px;{WRAPS}"
)
SUM_STYLE = "border-collapse:collapse;margin:6px 0;font-size:13px"
SUM_CELL = "border:0;background:none;padding:1px 0;line-height:20px;vertical-align:top"
FIGURE_STYLE = f"{SUM_CELL};text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums"
LABEL_STYLE = f"{SUM_CELL};text-align:left;padding-left:12px;overflow-wrap:normal"
RESULT_STYLE = ";font-weight:600;border-top:1px solid #9e9e9e"


@dataclass(frozen=True, slots=True)
class Status:
    """What the card shows.

    info: how full the context window is
    name: of the conversation, where there are several
    settings: those that differ from the default, each with its value, by who set them
    notes: further lines: what tokens cost, what is left with the key, what caches have saved, what
        can be undone
    """

    info: ContextInfo
    name: str = ""
    settings: Sequence[tuple[str, Sequence[str]]] = ()
    notes: Sequence[str] = ()


class SumLine(NamedTuple):
    """A line of the sum: what to do with the tokens, how many (``~``: estimated), and what they are."""

    sign: str
    tokens: int
    label: str
    note: str = ""
    about: str = ""

    @property
    def figure(self) -> str:
        """The tokens as they are shown; a negative result has its sign."""
        return f"{self.about}{self.tokens:,}".replace("-", "−")


def sum_lines(info: ContextInfo) -> list[SumLine]:
    """Return the sum from the window to what is free; each line with ``=`` is what those above it come to."""
    return [*_down_to_limit(info), *_down_to_free(info)]


def _down_to_limit(info: ContextInfo) -> Iterator[SumLine]:
    """Yield what of the window a prompt may have."""
    budget, window = info.budget, info.budget.window
    room, cap = window.tokens, window.max_input_tokens
    if window.is_of_prompts and cap is not None:
        room = cap
        yield SumLine("", room, "the largest prompt", window.origin)
    else:
        yield SumLine("", room, "window")
        if cap is not None and cap < room - budget.reserve:
            yield SumLine("−", room - cap, "above the model's cap on input", "the reply has room there")
            room = cap
        else:
            kept = min(room, budget.reserve)
            wanted = f"{budget.reserve:,} are wanted" if kept < budget.reserve else ""
            yield SumLine("−", kept, "kept for the reply", wanted)
            room -= kept
    if room > info.limit:
        yield SumLine("−", room - info.limit, "left unused", f"budget_share is {budget.share:g}")
    yield SumLine("=", info.limit, "a prompt may have")


def _down_to_free(info: ContextInfo) -> Iterator[SumLine]:
    """Yield the parts of the next request, and what they leave."""
    about = "" if info.exact or not info.used else "~"
    rest = info.used
    for name, tokens in info.segments:
        if tokens and name not in OF_TURNS:
            rest -= tokens
            yield SumLine("−", tokens, SEGMENT_KINDS[name].label, about=about)
    if rest or info.turns:
        yield SumLine("−", rest, f"{info.in_view:,} of {words.turns(info.turns)}", about=about)
    yield SumLine("=", info.budget.headroom, "free", about=about)


def status_forms(status: Status) -> dict[str, str]:
    """Return the card as HTML, as Markdown and as plain text."""
    return {"text/html": _html(status), "text/markdown": _markdown(status), "text/plain": status_text(status)}


def status_text(status: Status) -> str:
    """Return the card for a terminal."""
    lines = sum_lines(status.info)
    width = max(len(line.figure) for line in lines)
    summed = [f"{line.sign:1} {line.figure:>{width}}  {_labelled(line)}" for line in lines]
    sentences = (wrapped(line, line_width(), "  ") for line in _sentences(status))
    return to_plain("\n".join([wrapped(" · ".join(_head(status)), line_width(), "  "), *summed, *sentences]))


def _labelled(line: SumLine) -> str:
    return f"{line.label} ({line.note})" if line.note else line.label


def _head(status: Status) -> list[str]:
    """Return the model, its window and where that comes from, and the conversation."""
    window = status.info.budget.window
    age = f", {words.ago(time.time() - window.since)}" if window.since else ""
    named = f"conversation {status.name!r}" if status.name else ""
    parts = (status.info.model, f"window {window.tokens:,} {window.origin}{age}", named)
    return [part for part in parts if part]


def _sentences(status: Status) -> list[str]:
    """Return what is said below the sum, a line each."""
    by_source = [f"{', '.join(settings)} ({source})" for source, settings in status.settings]
    differs = f"Different from the default: {'; '.join(by_source)}." if by_source else ""
    left = f"Budget: {budget_line(status.info.allowance)}." if status.info.allowance else ""
    lines = (differs, " ".join(_next_send(status.info)), _cost(status.info), left, *status.notes)
    return list(filter(None, lines))


def _next_send(info: ContextInfo) -> Iterator[str]:
    """Yield what the next send does, and where it begins to make room."""
    if info.will_stop:
        yield "The next prompt is not sent: on_overflow is stop."
    elif info.will_leave:
        verb = "summarises" if info.on_overflow == "summarise" else "leaves out"
        yield f"The next send {verb} {words.turns(info.will_leave)}."
    else:
        yield "The next send leaves nothing more out." if info.left_out else "The next send leaves nothing out."
    if info.room_ends is not None and 0 < info.room_ends < info.limit:
        acts = {"stop": "nothing is sent", "summarise": "turns are summarised", "trim": "turns are left out"}
        why = "a margin for what is not counted yet; compact_at lowers it"
        yield f"Above an estimate of {info.room_ends:,} tokens {acts[info.on_overflow]} ({why})."


def _cost(info: ContextInfo) -> str:
    if not (info.cost or info.unpriced):
        return ""
    unpriced = f"; the price of {words.counted(info.unpriced, 'reply')} is unknown" if info.unpriced else ""
    return f"Cost of all replies so far: {cost_text(info)}{unpriced}."


def _html(status: Status) -> str:
    model, *rest = map(text_html, _head(status))
    rows = "".join(map(_row, sum_lines(status.info)))
    below = "".join(f'<div style="{QUIET}">{text_html(line)}</div>' for line in _sentences(status))
    return (
        f'<div class="jctx-status" style="{BOX_STYLE}"><div><b>{model}</b> '
        f'<span style="{QUIET}">· {" · ".join(rest)}</span></div>'
        f'<table style="{SUM_STYLE}"><tbody>{rows}</tbody></table>{below}</div>'
    )


def _row(line: SumLine) -> str:
    """Return a line of the sum; a result stands below a rule, as in a column of figures added by hand."""
    result = RESULT_STYLE if line.sign == "=" else ""
    sign = "− " if line.sign == "−" else ""
    note = f' <span style="{QUIET};font-weight:400">({text_html(line.note)})</span>' if line.note else ""
    return (
        f'<tr style="background:none"><td style="{FIGURE_STYLE}{result}">{sign}{line.figure}</td>'
        f'<td style="{LABEL_STYLE}{result}">{text_html(line.label)}{note}</td></tr>'
    )


def _markdown(status: Status) -> str:
    rows = [(f"{line.sign} {line.figure}".strip(), _labelled(line)) for line in sum_lines(status.info)]
    table = table_markdown(("tokens", ""), rows, sides=("right", "left"))
    paragraphs = [" · ".join(_head(status)), *_sentences(status)]
    first, *below = map(markdown_line, paragraphs)
    return "\n\n".join([first, table, *below])
