"""Draw the status of a conversation: the gauge with the tokens of its parts, then what differs from the usual.

The HTML has inline styles alone, plain colours before the theme's own, so that it survives every sanitiser.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .. import wording as words
from ..context.context_info import ContextInfo
from ..wording.budget_line import budget_line
from ..wording.layout import line_width, wrapped
from .text import QUIET, WRAPS, markdown_line, text_html, to_plain
from .widgets.gauge import SHAPES, bar_static, cost_text, legend_html, legend_text, next_request, used_of
from .widgets.gauge_bar import text_bar

BOX_STYLE = (
    "max-width:760px;box-sizing:border-box;margin:6px 0;padding:10px 16px;border:1px solid #bdbdbd;"
    f"border-color:var(--jp-border-color2,#bdbdbd);border-radius:8px;font-size:13px;line-height:20px;{WRAPS}"
)


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


def status_forms(status: Status) -> dict[str, str]:
    """Return the card as HTML, as Markdown and as plain text."""
    lines = [" · ".join(_head(status)), _used(status.info), legend_text(status.info), *_sentences(status)]
    return {
        "text/html": _html(status),
        "text/markdown": "\n\n".join(map(markdown_line, lines)),
        "text/plain": status_text(status),
    }


def status_text(status: Status) -> str:
    """Return the card for a terminal."""
    info = status.info
    lines = [" · ".join(_head(status)), f"[{text_bar(info)}] {_used(info)}", legend_text(info), *_sentences(status)]
    return to_plain("\n".join(wrapped(line, line_width(), "  ") for line in lines))


def _head(status: Status) -> list[str]:
    """Return the model, its window and where that comes from, and the conversation."""
    window = status.info.budget.window
    age = f", {words.ago(time.time() - window.since)}" if window.since else ""
    named = f"conversation {status.name!r}" if status.name else ""
    parts = (status.info.model, f"window {window.tokens:,} {window.origin}{age}", named)
    return [part for part in parts if part]


def _used(info: ContextInfo) -> str:
    return f"{used_of(info)}; {info.in_view:,} of {words.turns(info.turns)} in view"


def _sentences(status: Status) -> list[str]:
    """Return what is said below the gauge, a line each."""
    by_source = [f"{', '.join(settings)} ({source})" for source, settings in status.settings]
    differs = f"Different from the default: {'; '.join(by_source)}." if by_source else ""
    left = f"Budget: {budget_line(status.info.allowance)}." if status.info.allowance else ""
    lines = (differs, " ".join(_next_request(status.info)), _cost(status.info), left, *status.notes)
    return list(filter(None, lines))


def _next_request(info: ContextInfo) -> Iterator[str]:
    """Yield what the next request does, and where it begins to make room."""
    line = next_request(info)
    more = " more" if info.left_out else ""
    yield f"{line[:1].upper()}{line[1:]}." if line else f"The next request leaves nothing{more} out."
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
    used = text_html(f"{SHAPES[status.info.state]} Context {_used(status.info)}")
    legend = f'<div style="margin:4px 0 6px">{legend_html(status.info)}</div>'
    below = "".join(f'<div style="{QUIET}">{text_html(line)}</div>' for line in _sentences(status))
    return (
        f'<div class="jctx-status" style="{BOX_STYLE}"><div><b>{model}</b> '
        f'<span style="{QUIET}">· {" · ".join(rest)}</span></div><div>{used}</div>'
        f"{bar_static(status.info, 'width:100%')}{legend}{below}</div>"
    )
