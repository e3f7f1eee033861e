"""Say how full the context window is, in the same words for a page, a saved notebook and a terminal.

All of them show the same parts of the same ContextInfo. The live page uses CSS classes in the theme's
colours (gauge_page.py); the saved notebook plain colours, hex and rgba, which survive every sanitiser.
"""

from __future__ import annotations

import html
import time

from ... import wording as words
from ...context.context_info import ContextInfo, Plan
from ...context.windows import ContextWindow
from ...wording.layout import line_width, wrapped, wrapped_list
from ..text import WRAPS, text_html, to_plain
from .gauge_bar import SEGMENT_KINDS, bar_parts, terminal_bar, text_bar
from .gauge_bar import legend as legend

SHAPES = {"ok": "●", "half": "◐", "high": "▲", "full": "■", "over": "✖"}
FEW_TURNS = 99  # of those that still fit: the line tells their number from here on
SINCE = ("clear", "trim", "summary", "pin", "exclude", "include all", "system prompt", "memory file", "pick", "choice")


def gauge_line(info: ContextInfo, name: str = "") -> str:
    """Return the gauge in words: tokens used, what the next send does, model, window and its source, cost and cache.

    ``name`` is the conversation's, where there is more than one.
    """
    return _joined(f"Context {used_of(info)}", *_acts(info), *_asked(info, name), *_further(info))


def used_lines(info: ContextInfo) -> tuple[str, str]:
    """Return the figures, and what follows from them: the first line of the live gauge."""
    return f"Context {used_of(info)}", _joined(*_acts(info), *_further(info))


def model_line(info: ContextInfo, name: str = "") -> str:
    """Return the model and its window: the second of the live gauge's two lines."""
    return _joined(*_asked(info, name))


def used_of(info: ContextInfo) -> str:
    """Return the tokens used and the share of the limit, with ``~`` before what is not exact."""
    about = "" if info.exact or not info.used else "~"
    guess = "~" if info.source == "assumed" else ""
    state = "" if info.state == "ok" else f", {info.state}"
    share = f"{guess}{100 * info.fill:,.0f} %" if info.limit else "no room"
    return f"{about}{info.used:,} of {info.limit:,} tokens ({share}{state})"


def _joined(*parts: str) -> str:
    return to_plain(" · ".join(parts))


def _acts(info: ContextInfo) -> list[str]:
    """Return what the next send does about a full window."""
    if info.will_stop:
        return ["the next prompt is not sent (on_overflow is stop)"]
    if not info.will_leave:
        return []
    verb = "summarises" if info.on_overflow == "summarise" else "leaves out"
    return [f"the next send {verb} {words.turns(info.will_leave)}"]


def _asked(info: ContextInfo, name: str) -> list[str]:
    """Return the conversation's name, the model, and its window with the source of it."""
    reserve = "" if info.budget.window.is_of_prompts else f", {info.budget.reserve:,} kept for the reply"
    conversation = [f"conversation {name!r}"] if name else []
    return [*conversation, info.model, f"{_window(info.budget.window)}{reserve}"]


def _window(window: ContextWindow) -> str:
    """Return the window and its source; for a learned window, the evidence."""
    if window.source != "learned":
        return f"window {window.tokens:,} {window.origin}"
    evidence = ", ".join(f"{tokens:,} {what}" for what, tokens in reversed(window.evidence))
    return f"window {window.bound}{window.tokens:,}, learned: {evidence}"


def _further(info: ContextInfo) -> list[str]:
    """Return the cost, the share that a cache had, and how many turns still fit where they are few."""
    parts = [cost_text(info)] if info.cost is not None else []
    parts += [f"{100 * info.cached / info.sent:.0f} % cached"] if info.cached and info.sent else []
    few = info.more_turns and info.more_turns <= FEW_TURNS
    return parts + ([words.room_for_turns(info.more_turns)] if info.more_turns and few else [])


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
    return f"{verb}: {plan.text}, {plan.before:,} → {most}{plan.after:,} tokens"


def moment(info: ContextInfo, asked_again: int = 0) -> str:
    """Return after which turn the gauge was read, such as ``after turn 3, then trim``; empty before the first.

    ``asked_again`` is the number of the turn that was run again, or 0.
    """
    if asked_again and info.undo == "re-run":
        return f"after turn {asked_again:,} was asked again"
    if not info.turns:
        return "after clear" if info.undo == "clear" else ""
    return f"after turn {info.turns:,}{f', then {info.undo}' if info.undo in SINCE else ''}"


def gauge_text(info: ContextInfo, name: str = "", when: str = "") -> str:
    """Return the gauge as plain text, in characters that every font has."""
    read = f"{when}: " if when else ""
    return f"Context [{text_bar(info)}] {read}{gauge_line(info, name).removeprefix('Context ')}"


def gauge_terminal(info: ContextInfo, *, coloured: bool, name: str = "") -> str:
    """Return the gauge for a terminal, in block characters and, where ``coloured``, ANSI colours."""
    lines = wrapped(gauge_text(info, name), line_width(), "  ")
    return lines.replace(text_bar(info), terminal_bar(info, coloured=coloured), 1)


def gauge_forms(info: ContextInfo, name: str = "", asked_again: int = 0) -> dict[str, str]:
    """Return the gauge as static HTML and as plain text; ``asked_again`` as for :func:`moment`."""
    when = moment(info, asked_again)
    return {"text/html": gauge_static(info, name, when), "text/plain": gauge_text(info, name, when)}


def gauge_static(info: ContextInfo, name: str = "", when: str | None = None) -> str:
    """Return the gauge for a saved notebook, in plain colours and visible text that survive every sanitiser."""
    bar = "".join(
        f'<div title="{html.escape(to_plain(part.tip))}" style="width:{100 * part.share:.2f}%;'
        f'background-color:{SEGMENT_KINDS[part.name].colour}"></div>'
        for part in bar_parts(info)
    )
    when = moment(info) if when is None else when
    read = f" {when}:" if when else ""
    line = f"{SHAPES[info.state]} Context{read} {gauge_line(info, name).removeprefix('Context ')}"
    return (
        f'<div style="max-width:1000px;margin:6px 0;font-size:12px;line-height:18px;{WRAPS}">'
        '<div style="display:flex;max-width:480px;height:6px;margin:4px 0;border-radius:3px;overflow:hidden">'
        f"{bar}</div><span>{text_html(line)}</span></div>"
    )


def status_text(info: ContextInfo, turns: int, *, terminal: bool = False) -> str:
    """Return how full the context window is, with the whole calculation; ``terminal``: with the bar shown there."""
    width = line_width()
    budget, window = info.budget, info.budget.window
    about = "" if info.exact or not info.used else "~"
    capped = window.max_input_tokens is not None and not window.is_of_prompts
    input_cap = f", input at most {window.max_input_tokens:,}" if capped else ""
    age = f", {words.ago(time.time() - window.since)}" if window.since else ""
    parts = ", ".join(f"{s.name} {s.tokens:,}" for s in info.segments if s.tokens) or "nothing yet"
    reported = "not reported yet" if info.reported is None else f"last report: {info.reported:,} input + output"
    cached = f"; {info.cached:,} of {info.sent:,} input tokens from the cache" if info.cached else ""
    unpriced = f"; the price of {info.unpriced:,} more is unknown" if info.unpriced else ""
    bill = [("cost", cost_text(info), f"of all replies so far{unpriced}")] if info.cost or info.unpriced else []
    share = f" ({100 * budget.share:.0f} % of it)" if budget.share < 1 else ""
    left_over = (
        f"the next send leaves out {words.turns(info.will_leave)}" if info.will_leave else "left for the next prompt"
    )
    rows = [
        ("window", f"{window.bound}{window.tokens:,}", window.origin + age + input_cap),
        *([] if window.is_of_prompts else [("− reserve", f"{budget.reserve:,}", "kept free for the reply")]),
        ("= limit", f"{info.limit:,}", f"the largest prompt{share}"),
        ("− fixed", f"{budget.fixed:,}", "always sent: template, system prompt, memory, pinned turns, summary"),
        ("= available", f"{budget.available:,}", f"for other turns; {budget.target:,} after the margin for estimates"),
        ("used", f"{about}{info.used:,}", parts),
        ("", "", f"{reported}{cached}"),
        ("headroom", f"{about}{budget.headroom:,}", left_over),
        *bill,
    ]  # fmt: skip
    lines = [f"{name:<12}{figure:>10}  {note}" for name, figure, note in rows]
    left = f", {info.left_out:,} left out" if info.left_out else ""
    view = f"{words.turns(turns)}: {info.in_view:,} in the next request{left}"
    more = [] if info.more_turns is None else [words.room_for_turns(info.more_turns)]
    bar = gauge_terminal(info, coloured=False) if terminal else wrapped(gauge_text(info), width, "  ")
    head = [bar, wrapped_list(legend(terminal=terminal), width, "  ")]
    return to_plain("\n".join([*head, *lines, "; ".join([view, *more])]))
