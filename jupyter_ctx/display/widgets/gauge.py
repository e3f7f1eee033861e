"""Draw how full the context window is, as a bar and a line, for a page, a saved notebook and a terminal.

All three show the same parts of the same ContextInfo. The live page uses CSS classes in the theme's
colours; the saved notebook plain hex colours, which survive every sanitiser.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ... import wording as words
from ...context.budget import HALF
from ...context.info import ContextInfo, Plan
from ...context.windows import ContextWindow
from ..text import text_html, to_plain

SHAPES = {"ok": "●", "half": "◐", "high": "▲", "full": "■", "over": "✖"}
BUTTONS = ("Summarise", "Trim", "Clear", "Undo")  # of the panel, each with its plan
FEW_TURNS = 99  # of those that still fit: the line tells their number from here on
TEXT_WIDTH = 30  # characters of the bar
HALF_TIP = "50 %: from about here answers tend to get worse (RULER, Hsieh et al. 2024, arXiv 2404.06654)"


@dataclass(frozen=True, slots=True)
class SegmentKind:
    """How one part of the bar is drawn, named and changed."""

    label: str  # in the legend and the tip
    change: str  # what to type to change the part, for the tip
    colour: str  # hex, in HTML
    sign: str  # in plain text: a character that every font has
    glyph: str  # in a terminal
    ansi: int  # colour code, in a terminal


SEGMENT_KINDS = {
    "template": SegmentKind("the model's template", "what its server adds to every request", "#546e7a", "t", "▒", 37),
    "system": SegmentKind("system and memory", "change with %%chat system or %chat memory", "#6d4c41", "s", "▚", 33),
    "pinned": SegmentKind("pinned turns", "unpin with %chat unpin N", "#8e24aa", "p", "▞", 35),
    "summary": SegmentKind("summary of older turns", "rewrite with %chat summarise", "#00796b", "=", "▤", 36),
    "earlier turns": SegmentKind("earlier turns", "reduce with %chat summarise or trim", "#1565c0", "#", "█", 34),
    "this turn": SegmentKind("this turn, the newest", "leave out with %chat exclude", "#4f97e0", "+", "▓", 94),
    "free": SegmentKind("free", "available to the next prompt", "#e4e4e4", ".", "·", 90),
    "reserve": SegmentKind("kept for the reply", "change with %chat config max_tokens", "#bdbdbd", "-", "░", 90),
}


@dataclass(frozen=True, slots=True)
class GaugePart:
    """One part of the bar: its name in SEGMENT_KINDS, its tokens, and where it ends, as a share of the bar."""

    name: str
    tokens: int
    end: float

    @property
    def tip(self) -> str:
        """What the part is, how large it is, and how to change it."""
        kind = SEGMENT_KINDS[self.name]
        return f"{kind.label}: {self.tokens:,} tokens; {kind.change}"


def bar_parts(info: ContextInfo) -> tuple[GaugePart, ...]:
    """Return the bar's parts from left to right; the whole is limit + reserve, or the used tokens if more."""
    length, rest = _length(info), max(info.used, info.limit)
    sizes: list[tuple[str, int]] = [(segment.name, segment.tokens) for segment in info.segments]
    sizes += [("free", rest - info.used), ("reserve", length - rest)]
    parts, end = list[GaugePart](), 0
    for name, tokens in sizes:
        end += tokens
        if tokens:
            kept = info.budget.reserve if name == "reserve" else tokens
            parts.append(GaugePart(name, kept, end / length))
    return tuple(parts)


def limit_mark(info: ContextInfo) -> float:
    """Return where the limit stands, as a share of the bar."""
    return info.limit / _length(info)


def _length(info: ContextInfo) -> int:
    return max(1, info.limit + info.budget.reserve, info.used)


def short(tokens: int) -> str:
    """Return a number of tokens in short form: 1234 as ``1.2k``."""
    if tokens < 1_000:
        return str(tokens)
    thousands = tokens / 1_000
    if thousands < 999.5:
        return f"{thousands:.1f}k" if thousands < 99.95 and round(thousands, 1) % 1 else f"{thousands:.0f}k"
    return f"{thousands / 1_000:.2f}".rstrip("0").rstrip(".") + "M"


def gauge_line(info: ContextInfo) -> str:
    """Return the line below the bar: tokens used, state, model, window and its source, cost and cache."""
    about = "" if info.exact or not info.used else "~"
    word = "" if info.state == "ok" else f" {info.state}"
    word += f": the next send leaves out {words.turns(info.will_leave)}" if info.will_leave else ""
    guess = "~" if info.source == "assumed" else ""
    figures = f"{about}{short(info.used)} / {short(info.limit)} ({guess}{info.fill * 100:.0f} %){word}"
    parts = [f"{SHAPES[info.state]} {figures}", info.model, _window(info.budget.window)]
    parts += [cost_text(info)] if info.cost is not None else []
    parts += [f"{100 * info.cached / info.sent:.0f} % cached"] if info.cached and info.sent else []
    parts += [words.room_for_turns(info.more_turns)] if info.more_turns and info.more_turns <= FEW_TURNS else []
    return to_plain(" · ".join(parts))


def _window(window: ContextWindow) -> str:
    """Return the window and its source; for a learned window, the evidence."""
    if window.source != "learned":
        return f"window {short(window.tokens)} {window.origin}"
    evidence = ", ".join(f"{short(tokens)} {what}" for what, tokens in reversed(window.evidence))
    return f"window {window.bound}{short(window.tokens)}, learned: {evidence}"


def cost_text(info: ContextInfo) -> str:
    """Return the cost so far in US dollars: "unknown", or "at least …" when some replies have no known price."""
    if info.cost is None:
        return "unknown"
    return f"{'at least ' if info.unpriced else ''}{words.dollars(info.cost)}"


def plan_line(verb: str, plan: Plan) -> str:
    """Return what a button would do, or why it can do nothing."""
    if not plan.possible:
        return f"{verb}: nothing to do, {plan.text}"
    if plan.after is None:
        return f"{verb}: {plan.text}"
    most = "at most " if plan.at_most else ""
    return f"{verb}: {plan.text}, {short(plan.before)} → {most}{short(plan.after)}"


def legend(*, glyphs: bool = False) -> str:
    """Return what the signs of the plain-text bar mean, or the glyphs of the terminal's."""
    parts = "; ".join(f"{kind.glyph if glyphs else kind.sign} {kind.label}" for kind in SEGMENT_KINDS.values())
    return f"In the {'terminal' if glyphs else 'text'} bar: {parts}; | the limit of a prompt"


def gauge_text(info: ContextInfo) -> str:
    """Return the gauge as plain text, in characters that every font has."""
    return f"Context [{_text_bar(info, lambda kind, length: kind.sign * length)}] {gauge_line(info)}"


def gauge_terminal(info: ContextInfo, *, coloured: bool) -> str:
    """Return the gauge for a terminal, in block characters and, where ``coloured``, ANSI colours."""

    def drawn(kind: SegmentKind, length: int) -> str:
        glyphs = kind.glyph * length
        return f"\x1b[{kind.ansi}m{glyphs}\x1b[0m" if coloured and length else glyphs

    return f"Context [{_text_bar(info, drawn)}] {gauge_line(info)}"


def _text_bar(info: ContextInfo, draw: Callable[[SegmentKind, int], str]) -> str:
    """Return the parts in whole characters, at least one for each that takes tokens, and ``|`` at the limit."""
    bar, at, limit = "", 0, round(limit_mark(info) * TEXT_WIDTH)
    for part in bar_parts(info):
        least = at + (part.name not in ("free", "reserve"))
        end = min(max(round(part.end * TEXT_WIDTH), least), TEXT_WIDTH)
        kind, mark = SEGMENT_KINDS[part.name], min(max(limit, at), end)
        line = "|" if at < limit <= end or (limit == at == 0) else ""
        bar += draw(kind, mark - at) + line + draw(kind, end - mark)
        at = max(at, end)
    return bar


def gauge_forms(info: ContextInfo) -> dict[str, str]:
    """Return the gauge as static HTML and as plain text."""
    return {"text/html": gauge_static(info), "text/plain": gauge_text(info)}


def gauge_static(info: ContextInfo) -> str:
    """Return the gauge for a saved notebook, in hex colours and visible text that survive every sanitiser."""
    parts, at, bar = bar_parts(info), 0.0, ""
    for part in parts:
        bar += (
            f'<div title="{_text(part.tip)}" style="width:{100 * (part.end - at):.2f}%;'
            f'background-color:{SEGMENT_KINDS[part.name].colour}"></div>'
        )
        at = part.end
    when = f" after turn {info.turns:,}" if info.turns else ""
    return (
        '<div style="font-size:13px"><div style="display:flex;max-width:60em;height:10px;border:1px solid #757575">'
        f"{bar}</div><span>Context{when}: {text_html(gauge_line(info))}</span></div>"
    )


def gauge_html(info: ContextInfo, plans: Mapping[str, Plan], said: str = "", role: str = "status") -> str:
    """Return the live gauge: a meter that screen readers announce, in the theme's colours.

    ``plans`` tells, by button, what a click would do, shown while the button is pointed at; ``said`` is the
    result of the last action, with its ``role`` ("status" or "alert").
    """
    line = text_html(gauge_line(info))
    guess = " jctx-guess" if info.source == "assumed" else ""
    parts, at = list[str](), 0.0
    for part in bar_parts(info):
        parts.append(_focusable(part.name.replace(" ", "-"), part.tip, f"flex-grow:{1_000 * (part.end - at):.2f}"))
        at = part.end
    mark = limit_mark(info)
    limit = f"the limit of a prompt: {info.limit:,} tokens of a window of {info.context_window:,}"
    parts.append(_focusable("half jctx-mark", HALF_TIP, f"--at:{100 * HALF * mark:.2f}%"))
    parts.append(_focusable("limit jctx-mark", limit, f"--at:{100 * mark:.2f}%"))
    hints = "".join(
        f'<div class="jctx-tip jctx-plan-{name.lower()}">{text_html(plan_line(name, plan))}</div>'
        for name, plan in plans.items()
    )
    told = f'<div class="jctx-said jctx-{role}">{text_html(said)}</div>' if said else ""
    return (
        f'<div class="jctx jctx-{info.state}{guess}"><div class="jctx-bar">{_meter(info)}{"".join(parts)}</div>'
        f'<div class="jctx-line">{line}</div>{hints}{told}</div>'
    )


def _meter(info: ContextInfo) -> str:
    most = max(info.limit, info.used, 1)
    return (
        f'<div class="jctx-meter" role="meter" aria-label="Context used" aria-valuemin="0" aria-valuemax="{most}" '
        f'aria-valuenow="{info.used}" aria-valuetext="{_text(gauge_line(info))}"></div>'
    )


def _focusable(name: str, tip: str, style: str) -> str:
    """Return a part of the bar that shows its tip when pointed at or focused by the keyboard."""
    said = _text(tip)
    return (
        f'<div class="jctx-part jctx-{name}" role="img" tabindex="0" aria-label="{said}" data-tip="{said}" '
        f'style="{style}"></div>'
    )


def _text(text: str) -> str:
    return html.escape(to_plain(text))


def _rules(colours: Iterable[tuple[str, str]]) -> str:
    return "".join(f".jctx-{name.replace(' ', '-')}{{background-color:{colour}}}" for name, colour in colours)


_TIP = (
    "position:absolute;left:0;top:100%;z-index:9;max-width:100%;box-sizing:border-box;padding:1px 6px;"
    "white-space:normal;border:1px solid var(--jp-border-color1,#757575);"
    "background:var(--jp-layout-color1,var(--vscode-editor-background,#fff));color:inherit"
)
_SHOWN = ",".join(
    f".jctx-panel:has(.jctx-do-{name}:is(:hover,:focus-visible)) .jctx-plan-{name}" for name in map(str.lower, BUTTONS)
)
_ALARM = "var(--jp-error-color1,#c62828)"
_STATE = {"high": "var(--jp-warn-color1,#b26a00)", "full": _ALARM, "over": _ALARM}
GAUGE_STYLE = (
    "<style>"
    ".jctx{position:relative;max-width:60em;font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:12px;"
    "line-height:18px;color:var(--jp-ui-font-color1,var(--vscode-editor-foreground,inherit));overflow-wrap:anywhere}"
    ".jctx-bar{position:relative;display:flex;gap:1px;height:10px;margin:5px 0 3px;"
    "border:1px solid var(--jp-ui-font-color2,#757575)}"
    ".jctx-meter{position:absolute;inset:0;pointer-events:none}"
    ".jctx-part{flex:0 1 0;min-width:2px}"
    ".jctx-mark{position:absolute;inset:-3px 0;pointer-events:none}"
    ".jctx-mark::before{content:'';position:absolute;left:calc(var(--at) - 4px);top:0;bottom:0;width:2px;"
    "border:solid transparent;border-width:0 3px;background:var(--jp-ui-font-color1,#333) padding-box;"
    "pointer-events:auto}.jctx-half::before{top:9px;width:1px}"
    f".jctx-part:is(:hover,:focus-visible)::after{{content:attr(data-tip);{_TIP}}}"
    ".jctx-part:focus-visible:not(.jctx-mark),.jctx-mark:focus-visible::before"
    "{outline:2px solid var(--jp-brand-color1,#1976d2);outline-offset:2px}.jctx-mark:focus-visible{outline:none}"
    f".jctx-tip{{{_TIP};top:16px;clip-path:inset(50%);pointer-events:none}}{_SHOWN}{{clip-path:none}}"
    + _rules((name, kind.colour) for name, kind in SEGMENT_KINDS.items())
    + ".jctx-free{background-color:var(--jp-layout-color2,#eee)}"
    ".jctx-reserve{background:repeating-linear-gradient(90deg,var(--jp-layout-color3,#bdbdbd) 0 2px,"
    "transparent 2px 4px)}"
    ".jctx-guess .jctx-part:not(.jctx-mark,.jctx-reserve){background-image:repeating-linear-gradient(45deg,"
    "transparent 0 4px,rgba(255,255,255,.5) 4px 6px)}"
    + "".join(f".jctx-{name} .jctx-bar{{border:2px solid {colour}}}" for name, colour in _STATE.items())
    + ".jctx-said{font-weight:600}"
    ".jctx-hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
    "@media (forced-colors:active){.jctx-part{forced-color-adjust:none}}"
    "body:not(:has(.jp-Notebook)) .jctx-twin{display:none}"
    "</style>"
)
