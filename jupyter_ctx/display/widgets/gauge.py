"""Say how full the context window is, in the same words for a page, a saved notebook and a terminal.

There is one drawing. It has plain colours, hex and rgba, and inline styles, which survive every sanitiser; below a live
one stand buttons (gauge_panel.py, and the panel of the chip).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ... import wording as words
from ...context.context_info import ContextInfo, Plan
from ...context.windows import ContextWindow
from ...errors import in_words
from ...wording.budget_line import budget_line
from ..text import QUIET, WRAPS, attribute_html, markdown_block, text_html, to_plain
from .gauge_bar import SEGMENT_KINDS, GaugePart, bar_parts, text_bar

GAUGE_BOX = f"max-width:1000px;margin:6px 0;font-size:12px;line-height:18px;{WRAPS}"
SHAPES = {"ok": "●", "half": "◐", "high": "▲", "full": "■", "over": "✖"}
LEGEND_STYLE = "display:inline-block;white-space:nowrap;margin-right:8px;font-variant-numeric:tabular-nums"
SWATCH_STYLE = "display:inline-block;width:8px;height:8px;margin-right:5px;border-radius:2px"
BUTTONS = ("Summarise", "Trim", "Clear", "Undo", "Redo")  # below a live gauge, each with its plan
SINCE = ("clear", "trim", "summary", "pin", "exclude", "include all", "system prompt", "memory file", "pick", "choice")


class ButtonResult(NamedTuple):
    """What a button did, or how far it is; ``role`` is "status" or, for an error, "alert"."""

    text: str = ""
    role: str = "status"
    button: str = ""


def gauge_line(info: ContextInfo, name: str = "") -> str:
    """Return the gauge in words: tokens used, what the next request does, model, window and its source, cost and cache.

    ``name`` is the conversation's, where there is more than one.
    """
    return _joined(f"Context {used_of(info)}", next_request(info), model_line(info, name), _further(info))


def model_line(info: ContextInfo, name: str = "") -> str:
    """Return the conversation's name, the model, and its window."""
    conversation = f"conversation {name!r}" if name else ""
    reserve = f", {info.budget.reserve:,} kept for the reply"
    return _joined(conversation, info.model, f"{_window(info.budget.window)}{reserve}")


def used_of(info: ContextInfo) -> str:
    """Return the tokens used and the share of the limit, with ``~`` before what is not exact."""
    about = "" if info.exact or not info.used else "~"
    state = "" if info.state == "ok" else f", {info.state}"
    return f"{about}{info.used:,} of {info.limit:,} tokens ({_share(info, info.source == 'assumed')}{state})"


def _joined(*parts: str) -> str:
    return to_plain(" · ".join(filter(None, parts)))


def next_request(info: ContextInfo) -> str:
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


def _window(window: ContextWindow) -> str:
    """Return the window and its source in few words; ``%chat status`` has all of them."""
    if window.instead_of is not None and window.instead_of[1] == window.tokens:  # the limit is on prompts alone
        return f"window {window.tokens:,} {window.instead_of[0]}, less learned from a refusal"
    origin = "learned from a refusal" if window.source == "learned" else window.origin
    return f"window {window.tokens:,} {origin}"


def _further(info: ContextInfo) -> str:
    """Return the cost, the share that a cache had where something is paid, and what is left to spend."""
    cost = cost_text(info) if info.cost is not None else ""
    cached = f"{100 * info.cached / info.sent:.0f} % cached" if cost and info.cached and info.sent else ""
    return _joined(cost, cached, budget_line(info.allowance) if info.allowance else "")


def cost_text(info: ContextInfo) -> str:
    """Return the cost so far in US dollars: "unknown", or "at least …" when some replies have no known price."""
    if info.cost is None:
        return "unknown"
    return f"{'at least ' if info.unpriced else ''}{words.dollars(info.cost)}"


def plan_line(verb: str, plan: Plan) -> str:
    """Return what a button would do, or why it can do nothing."""
    if not plan.possible:
        return f"Nothing to {verb.lower()}: {plan.text}"
    if plan.after is None:
        return f"{verb}: {plan.text}"
    most = "at most " if plan.at_most else ""
    return f"{verb}: {plan.text}, {plan.before:,} → {most}{plan.after:,} tokens"


def moment(info: ContextInfo) -> str:
    """Return after which turn the gauge was read, such as ``after turn 3, then trim``."""
    if not info.turns:
        return "after clear" if info.undo == "clear" else "before the first turn"
    return f"after turn {info.turns:,}{f', then {info.undo}' if info.undo in SINCE else ''}"


def gauge_text(info: ContextInfo, name: str = "") -> str:
    """Return the gauge as plain text."""
    return f"Context [{text_bar(info)}] {gauge_line(info, name).removeprefix('Context ')}"


def gauge_bundle(info: ContextInfo, name: str = "") -> dict[str, str]:
    """Return the gauge as static HTML, as Markdown and as plain text."""
    text = gauge_text(info, name)
    return {"text/html": gauge_static(info, name), "text/markdown": markdown_block(text), "text/plain": text}


def not_drawn(error: Exception) -> str:
    """Return what stands in place of a gauge that cannot be drawn."""
    return f"The gauge could not be drawn: {in_words(error).rstrip('.')}. The conversation is not affected."


def share_of(info: ContextInfo) -> str:
    """Return the share of the limit that is used, where the tokens do not stand beside it."""
    return _share(info, info.is_guess and info.used > 0)


def _share(info: ContextInfo, about: bool) -> str:
    return words.fill_share(info.fill, about=about) if info.limit else "no room"


def gauge_static(info: ContextInfo, name: str = "") -> str:
    """Return the gauge as it stays in a saved notebook."""
    model = f'<div style="{QUIET}">{text_html(model_line(info, name))}</div>'
    return f'<div style="{GAUGE_BOX}">{gauge_html(info)}{model}</div>'


def gauge_html(info: ContextInfo) -> str:
    """Return the drawing that all gauges share: the figures and what follows from them, the bar, and its parts."""
    figures = _joined(f"Context {used_of(info)}", next_request(info), _further(info))
    sign = f'<span class="jctx-sign jctx-{info.state}">{SHAPES[info.state]}</span>'
    return f"<div>{sign} {text_html(figures)}</div>{bar_static(info)}<div>{legend_html(info)}</div>"


def live_html(info: ContextInfo) -> str:
    """Return the drawing with what screen readers announce of it."""
    most = max(info.limit, info.used, 1)
    meter = (
        f'<div class="jctx-meter" role="meter" aria-label="Context used" aria-valuemin="0" aria-valuemax="{most}" '
        f'aria-valuenow="{info.used}" aria-valuetext="{attribute_html(gauge_line(info))}"></div>'
    )
    return f'<div class="jctx" style="position:relative">{meter}{gauge_html(info)}</div>'


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


def bar_static(info: ContextInfo, width: str = "width:100%") -> str:
    """Return the bar alone, with a line where the next request makes room."""
    parts = "".join(
        f'<div title="{attribute_html(part.tip)}" style="width:{100 * part.share:.2f}%;{_painted(part)}'
        f'{";border-left:2px solid currentColor" if part.act else ""}"></div>'
        for part in bar_parts(info)
    )
    return f'<div style="display:flex;{width};height:8px;margin:4px 0;border-radius:4px;overflow:hidden">{parts}</div>'


def legend_html(info: ContextInfo) -> str:
    """Return the parts of the bar with their colours and tokens, in plain colours."""
    shown = ((f'<span style="{SWATCH_STYLE};{_painted(part)}"></span>', part.text) for part in bar_parts(info))
    return " ".join(f'<span style="{LEGEND_STYLE}">{swatch}{text_html(text)}</span>' for swatch, text in shown)


def legend_text(info: ContextInfo) -> str:
    """Return the parts of the bar with their signs and tokens, as text."""
    return ", ".join(f"{SEGMENT_KINDS[part.name].sign} {part.text}" for part in bar_parts(info))


def _painted(part: GaugePart) -> str:
    # in high contrast, a browser takes every colour but these
    return f"background-color:{SEGMENT_KINDS[part.name].colour};forced-color-adjust:none"
