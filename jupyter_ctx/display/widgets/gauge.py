"""Draw how full the context window is: one bar with its parts, in the same words on a page, saved and in a terminal.

The HTML has plain colours, hex and rgba, and inline styles, which survive every sanitiser; below a live gauge stand
buttons (gauge_panel.py, and the panel of the chip).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ... import wording as words
from ...context.context_info import ContextInfo, Plan
from ...wording import budget_line
from ...wording.layout import line_width, wrapped
from ..text import QUIET, WRAPS, attribute_html, markdown_block, markdown_line, text_html, to_plain

GAUGE_BOX = f"max-width:1000px;margin:6px 0;font-size:12px;line-height:18px;{WRAPS}"
STATUS_BOX = (
    "max-width:760px;box-sizing:border-box;margin:6px 0;padding:10px 16px;border:1px solid #bdbdbd;"
    f"border-color:var(--jp-border-color2,#bdbdbd);border-radius:8px;font-size:13px;line-height:20px;{WRAPS}"
)
SHAPES = {"ok": "●", "half": "◐", "high": "▲", "full": "■", "over": "✖"}
LEGEND_STYLE = "display:inline-block;white-space:nowrap;margin-right:8px;font-variant-numeric:tabular-nums"
SWATCH_STYLE = "display:inline-block;width:8px;height:8px;margin-right:5px;border-radius:2px"
GRAY = "rgba(128,128,128,{})"  # translucent: quiet on light and on dark pages
TEXT_WIDTH = 30  # characters of the bar
BUTTONS = ("Summarise", "Trim", "Clear", "Undo", "Redo")  # below a live gauge, each with its plan
ACTS = {
    "trim": "from here the next request leaves turns out",
    "summarise": "from here the next request puts a summary in place of turns",
    "stop": "from here nothing is sent (on_overflow is stop)",
}
REPLY_ROOM = "kept for the reply"
ROOM = ("free", "margin", REPLY_ROOM)  # parts that hold nothing yet


class SegmentKind(NamedTuple):
    """How one part of the bar is drawn, and how it is changed; ``sign`` is its character in plain text."""

    colour: str
    sign: str
    change: str


SEGMENT_KINDS = {
    "template": SegmentKind("#546e7a", "▒", "what the model's server adds to every request"),
    "system": SegmentKind("#6d4c41", "▚", "change with %%chat system or %chat memory"),
    "pinned": SegmentKind("#8e24aa", "▞", "unpin with %chat unpin N"),
    "summary": SegmentKind("#00796b", "▤", "of older turns; rewrite with %chat summarise"),
    "tools": SegmentKind("#a86500", "▥", "functions and what they returned; choose with %chat config tools"),
    "cells": SegmentKind("#c77800", "▨", "of the notebook, with -a cells; leave out with %chat exclude"),
    "earlier turns": SegmentKind("#1565c0", "█", "reduce with %chat summarise or trim"),
    "this turn": SegmentKind("#4f97e0", "▓", "the newest; leave out with %chat exclude"),
    "free": SegmentKind(GRAY.format(0.15), "·", "available to the next prompt"),
    "margin": SegmentKind(GRAY.format(0.3), "┄", "left free for what is only estimated, and by compact_at"),
    REPLY_ROOM: SegmentKind(GRAY.format(0.5), "░", "change with %chat config max_tokens"),
}


@dataclass(frozen=True, slots=True)
class GaugePart:
    """One part of the bar: its name in SEGMENT_KINDS, its tokens, how long it is and where it ends, as shares.

    act: what the next request does once the bar is filled up to here
    """

    name: str
    tokens: int
    share: float
    end: float
    act: str = ""

    @property
    def text(self) -> str:
        """What the part is, and how large."""
        return f"{self.name} {self.tokens:,}"

    @property
    def tip(self) -> str:
        """What the part is, how large, and how to change it."""
        return "; ".join(filter(None, (f"{self.text} tokens", SEGMENT_KINDS[self.name].change, self.act)))


class ButtonResult(NamedTuple):
    """What a button did, or how far it is; ``role`` is "status" or, for an error, "alert"."""

    text: str = ""
    role: str = "status"
    button: str = ""


# the bar


def bar_parts(info: ContextInfo) -> tuple[GaugePart, ...]:
    """Return the bar's parts from left to right; the whole is limit + reserve, or the used tokens if more."""
    length = _length(info)
    ends = info.limit if info.room_ends is None else min(info.room_ends, info.limit)  # above it, room is made
    reserve = length - max(info.used, info.limit)
    sizes: list[tuple[str, int]] = [(segment.name, segment.tokens) for segment in info.segments]
    sizes += [("free", max(0, ends - info.used)), ("margin", max(0, info.limit - max(info.used, ends)))]
    sizes += [(REPLY_ROOM, reserve)]
    parts, end, act = list[GaugePart](), 0, ACTS[info.on_overflow]
    for name, tokens in sizes:
        end += tokens
        if tokens:
            acts_here = act if name in ("margin", REPLY_ROOM) else ""
            told = info.budget.reserve if name == REPLY_ROOM else tokens
            parts.append(GaugePart(name, told, tokens / length, end / length, acts_here))
            act = "" if acts_here else act
    return tuple(parts)


def _length(info: ContextInfo) -> int:
    return max(1, info.limit + info.budget.reserve, info.used)


def text_bar(info: ContextInfo) -> str:
    """Return the parts in whole characters, at least one for each that takes tokens, and ``|`` at the limit."""
    bar = ""
    for part in bar_parts(info):
        least = len(bar) + (part.name not in ROOM)
        end = min(max(round(part.end * TEXT_WIDTH), least), TEXT_WIDTH)
        bar += SEGMENT_KINDS[part.name].sign * (end - len(bar))
    limit = round(info.limit / _length(info) * TEXT_WIDTH)
    return f"{bar[:limit]}|{bar[limit:]}"


def bar_static(info: ContextInfo) -> str:
    """Return the bar alone, with a line where the next request makes room."""
    parts = "".join(
        f'<div title="{attribute_html(part.tip)}" style="width:{100 * part.share:.2f}%;{_painted(part)}'
        f'{";border-left:2px solid currentColor" if part.act else ""}"></div>'
        for part in bar_parts(info)
    )
    return (
        f'<div style="display:flex;width:100%;height:8px;margin:4px 0;border-radius:4px;overflow:hidden">{parts}</div>'
    )


def _legend_html(info: ContextInfo) -> str:
    """Return the parts of the bar with their colours and tokens."""
    shown = ((f'<span style="{SWATCH_STYLE};{_painted(part)}"></span>', part.text) for part in bar_parts(info))
    return " ".join(f'<span style="{LEGEND_STYLE}">{swatch}{text_html(text)}</span>' for swatch, text in shown)


def _painted(part: GaugePart) -> str:
    # in high contrast, a browser takes every colour but these
    return f"background-color:{SEGMENT_KINDS[part.name].colour};forced-color-adjust:none"


# in words


def gauge_line(info: ContextInfo, name: str = "") -> str:
    """Return the gauge in words: tokens used, what the next request does, model, window and its source, cost and cache.

    ``name`` is the conversation's, where there is more than one.
    """
    return _joined(f"Context {_used(info)}", _next_request(info), model_line(info, name), _money(info))


def model_line(info: ContextInfo, name: str = "") -> str:
    """Return the conversation's name, the model, and its window with its source in few words."""
    window = info.budget.window
    origin = "learned from a refusal" if window.source == "learned" else window.origin
    reserve = f", {info.budget.reserve:,} {REPLY_ROOM}"
    conversation = f"conversation {name!r}" if name else ""
    return _joined(conversation, info.model, f"window {window.tokens:,} {origin}{reserve}")


def share_of(info: ContextInfo) -> str:
    """Return the share of the limit that is used, where the tokens do not stand beside it."""
    return _share(info, info.is_guess and info.used > 0)


def share_or_next(info: ContextInfo) -> str:
    """Return the share of the limit that is used or, above the limit, what the next request does about that."""
    return (_next_request(info) if info.state == "over" else "") or share_of(info)


def _share(info: ContextInfo, about: bool) -> str:
    return words.fill_share(info.fill, about=about) if info.limit else "no room"


def _used(info: ContextInfo) -> str:
    """Return the tokens used and the share of the limit, with ``~`` before what is not exact."""
    about = "" if info.exact or not info.used else "~"
    state = "" if info.state == "ok" else f", {info.state}"
    return f"{about}{info.used:,} of {info.limit:,} tokens ({_share(info, info.source == 'assumed')}{state})"


def _next_request(info: ContextInfo) -> str:
    """Return what the next request does about a full window; empty: nothing."""
    if info.will_stop:
        return "the next prompt is not sent (on_overflow is stop)"
    if info.will_leave:
        verb = "summarises" if info.on_overflow == "summarise" else "leaves out"
        return f"the next request {verb} {words.turns(info.will_leave)}"
    if info.state != "over":
        return ""
    if info.budget.fixed > info.limit:
        return "what is always sent does not fit"
    return "the next request tries the learned limit again"


def _money(info: ContextInfo) -> str:
    """Return the cost, the share that a cache had where something is paid, and what is left to spend."""
    cost = "" if info.cost is None else f"{'at least ' if info.unpriced else ''}{words.dollars(info.cost)}"
    cached = f"{100 * info.cached / info.sent:.0f} % cached" if cost and info.cached and info.sent else ""
    return _joined(cost, cached, budget_line(info.allowance) if info.allowance else "")


def _joined(*parts: str) -> str:
    return to_plain(" · ".join(filter(None, parts)))


def plan_line(verb: str, plan: Plan) -> str:
    """Return what a button would do, or why it can do nothing."""
    if not plan.possible:
        return f"Nothing to {verb.lower()}: {plan.text}"
    if plan.after is None:
        return f"{verb}: {plan.text}"
    most = "at most " if plan.at_most else ""
    return f"{verb}: {plan.text}, {plan.before:,} → {most}{plan.after:,} tokens"


def moment(info: ContextInfo) -> str:
    """Return after which turn the gauge was read, such as ``after turn 3``."""
    return f"after turn {info.turns:,}" if info.turns else "before the first turn"


# the drawing


def gauge_text(info: ContextInfo, name: str = "") -> str:
    """Return the gauge as plain text."""
    return f"Context [{text_bar(info)}] {gauge_line(info, name).removeprefix('Context ')}"


def gauge_static(info: ContextInfo, name: str = "") -> str:
    """Return the gauge as it stays in a saved notebook."""
    model = f'<div style="{QUIET}">{text_html(model_line(info, name))}</div>'
    return f'<div style="{GAUGE_BOX}">{_gauge_html(info)}{model}</div>'


def gauge_bundle(info: ContextInfo, name: str = "") -> dict[str, str]:
    """Return the gauge as static HTML, as Markdown and as plain text."""
    text = gauge_text(info, name)
    return {"text/html": gauge_static(info, name), "text/markdown": markdown_block(text), "text/plain": text}


def _gauge_html(info: ContextInfo) -> str:
    """Return the drawing that all gauges share: the figures and what follows from them, the bar, and its parts."""
    figures = _joined(f"Context {_used(info)}", _next_request(info), _money(info))
    sign = f'<span class="jctx-sign jctx-{info.state}">{SHAPES[info.state]}</span>'
    return f"<div>{sign} {text_html(figures)}</div>{bar_static(info)}<div>{_legend_html(info)}</div>"


def live_html(info: ContextInfo) -> str:
    """Return the drawing with what screen readers announce of it."""
    most = max(info.limit, info.used, 1)
    meter = (
        f'<div class="jctx-meter" role="meter" aria-label="Context used" aria-valuemin="0" aria-valuemax="{most}" '
        f'aria-valuenow="{info.used}" aria-valuetext="{attribute_html(gauge_line(info))}"></div>'
    )
    return f'<div class="jctx" style="position:relative">{meter}{_gauge_html(info)}</div>'


def details_html(info: ContextInfo, plans: Mapping[str, Plan], result: ButtonResult, name: str = "") -> str:
    """Return the line beside the buttons: what the last one did or, at rest, the model and its window.

    While a button is pointed at or focused, the line says what that would do, by its plan.
    """
    if result.text:
        lines = [_detail(f"rest jctx-said jctx-{result.role} jctx-of-{result.button.lower()}", result.text)]
    else:
        lines = [_detail("rest jctx-model", model_line(info, name))]
    others = (button for button in plans if not result.text or button != result.button)
    lines += [_detail(f"of-{button.lower()}", plan_line(button, plans[button])) for button in others]
    return f'<div class="jctx-details">{"".join(lines)}</div>'


def _detail(kind: str, text: str) -> str:
    """Return one of the texts that the line may show; all but that at rest are labels of what is focused."""
    more = f' title="{attribute_html(text)}"' if kind.startswith("rest") else ' aria-hidden="true"'
    return f'<div class="jctx-detail jctx-{kind}"{more}>{text_html(text)}</div>'


def status_bundle(
    info: ContextInfo, name: str = "", settings: Sequence[tuple[str, Sequence[str]]] = (), notes: Sequence[str] = ()
) -> dict[str, str]:  # fmt: skip
    """Return the gauge with the tokens of its parts and what else ``%chat status`` says, as HTML, Markdown and text.

    ``name`` is the conversation's, where there are several; ``settings`` are those that differ from the default, each
    with its value, by who set them; ``notes`` are further lines, such as what tokens cost and what can be undone.
    """
    window = info.budget.window
    named = [f"conversation {name!r}"] if name else []
    head = " · ".join([f"window {window.tokens:,} {window.origin}", *named])
    figures = _joined(f"Context {_used(info)}", _next_request(info), _money(info))
    differing = "; ".join(f"{', '.join(each)} ({source})" for source, each in settings)
    changed = f"Different from the default: {differing}." if differing else ""
    lines = [line for line in (f"{info.in_view:,} of {words.turns(info.turns)} in view.", changed, *notes) if line]
    parts = ", ".join(f"{SEGMENT_KINDS[part.name].sign} {part.text}" for part in bar_parts(info))
    text = [f"{info.model} · {head}", f"[{text_bar(info)}] {figures}", parts, *lines]
    title = f'<div><b>{text_html(info.model)}</b> <span style="{QUIET}">· {text_html(head)}</span></div>'
    below = "".join(f"<div>{text_html(line)}</div>" for line in lines)
    page = f'{title}{_gauge_html(info)}<div style="margin-top:6px;{QUIET}">{below}</div>'
    return {
        "text/html": f'<div class="jctx-status" style="{STATUS_BOX}">{page}</div>',
        "text/markdown": "\n\n".join(map(markdown_line, text)),
        "text/plain": to_plain("\n".join(wrapped(line, line_width(), "  ") for line in text)),
    }
