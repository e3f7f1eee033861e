"""Draw the status of a conversation: the gauge with the tokens of its parts, then what differs from the usual.

The HTML has inline styles alone, plain colours before the theme's own, so that it survives every sanitiser.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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


def status_bundle(
    info: ContextInfo, name: str = "", settings: Sequence[tuple[str, Sequence[str]]] = (), notes: Sequence[str] = ()
) -> dict[str, str]:  # fmt: skip
    """Return the card as HTML, as Markdown and as plain text.

    ``name`` is the conversation's, where there are several; ``settings`` are those that differ from the default, each
    with its value, by who set them; ``notes`` are further lines, such as what tokens cost and what can be undone.
    """
    window = info.budget.window
    named = [f"conversation {name!r}"] if name else []
    head = [info.model, f"window {window.tokens:,} {window.origin}", *named]
    used = f"{used_of(info)}; {info.in_view:,} of {words.turns(info.turns)} in view"
    below = [line for line in (_differing(settings), *_sentences(info), *notes) if line]
    lines = [" · ".join(head), used, legend_text(info), *below]
    text = [lines[0], f"[{text_bar(info)}] {used}", *lines[2:]]
    return {
        "text/html": _html(info, head, used, below),
        "text/markdown": "\n\n".join(map(markdown_line, lines)),
        "text/plain": to_plain("\n".join(wrapped(line, line_width(), "  ") for line in text)),
    }


def _differing(settings: Sequence[tuple[str, Sequence[str]]]) -> str:
    by_source = [f"{', '.join(each)} ({source})" for source, each in settings]
    return f"Different from the default: {'; '.join(by_source)}." if by_source else ""


def _sentences(info: ContextInfo) -> Iterator[str]:
    """Yield what the next request does, where it begins to make room, and what all has cost."""
    line = next_request(info)
    more = " more" if info.left_out else ""
    does = f"{line[:1].upper()}{line[1:]}." if line else f"The next request leaves nothing{more} out."
    if info.room_ends is not None and 0 < info.room_ends < info.limit:
        acts = {"stop": "nothing is sent", "summarise": "turns are summarised", "trim": "turns are left out"}
        why = "a margin for what is not counted yet; compact_at lowers it"
        does += f" Above an estimate of {info.room_ends:,} tokens {acts[info.on_overflow]} ({why})."
    yield does
    if info.cost or info.unpriced:
        yield f"Cost of all replies so far: {cost_text(info)}."
    if info.allowance:
        yield f"Budget: {budget_line(info.allowance)}."


def _html(info: ContextInfo, head: Sequence[str], used: str, below: Sequence[str]) -> str:
    model, *rest = map(text_html, head)
    lines = "".join(f'<div style="{QUIET}">{text_html(line)}</div>' for line in below)
    return (
        f'<div class="jctx-status" style="{BOX_STYLE}"><div><b>{model}</b> '
        f'<span style="{QUIET}">· {" · ".join(rest)}</span></div>'
        f"<div>{text_html(f'{SHAPES[info.state]} Context {used}')}</div>"
        f'{bar_static(info)}<div style="margin:4px 0 6px">{legend_html(info)}</div>{lines}</div>'
    )
