"""Draw the live gauge as HTML: a bar whose parts are reached by arrow keys, and two lines of fixed height below it.

The second line says what is pointed at or focused: a part of the bar, or what a button would do. At rest it
names the model and its window, or the result of the last action.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass

from ...context.info import ContextInfo, Plan
from ..text import text_html, to_plain
from .gauge import SHAPES, gauge_line, model_line, plan_line, used_lines
from .gauge_bar import bar_marks, bar_parts

BUTTONS = ("Summarise", "Trim", "Clear", "Undo", "Redo")  # of the panel, each with its plan
TURN_RUNS = "A turn is running: the buttons work again when it has ended."


@dataclass(frozen=True, slots=True)
class PressResult:
    """What the second line says at rest, in place of the model.

    text: the result of the last action, or its progress
    role: "status" or, for an error, "alert"
    button: the button that was pressed, which says the same while it is pointed at; else empty
    """

    text: str = ""
    role: str = "status"
    button: str = ""


def bar_html(info: ContextInfo) -> str:
    """Return the bar: a meter that screen readers announce, above parts and marks that are one group of choices.

    Radio buttons in a form of their own take one Tab stop and move by arrow keys in every browser, also in several
    views of one gauge; JupyterLab's shortcuts leave the keys alone.
    """
    parts, at = list[str](), 0.0
    for part in bar_parts(info):
        parts.append(_choice(part.name, "part", part.tip, f"flex-grow:{1_000 * (part.end - at):.2f}"))
        at = part.end
    parts += [_choice(mark.name, "mark", mark.tip, f"--at:{100 * mark.at:.2f}%") for mark in bar_marks(info)]
    return (
        f'<form class="{_classes(info)}" method="dialog">{_meter(info)}'
        f'<div class="jctx-bar" role="radiogroup" aria-label="Parts of the context">{"".join(parts)}</div></form>'
    )


def lines_html(
    info: ContextInfo, plans: Mapping[str, Plan], said: PressResult, *, name: str = "", busy: bool = False
) -> str:
    """Return the two lines below the bar; ``plans`` tells, by button, what it would do.

    ``name`` is the conversation's, where there is more than one; ``busy``: a turn is running.
    """
    line, further = used_lines(info)
    of_button = f" jctx-of-{said.button.lower()}" if said.button else ""  # shown while that is pointed at, too
    details = [_detail(f"rest jctx-said jctx-{said.role}{of_button}", said.text or TURN_RUNS)]
    if not busy and not said.text:  # a narrow pane has no room for all in one row
        beside = f'<span class="jctx-narrow">{text_html(f"{further} · ")}</span>' if further else ""
        details = [_detail("rest jctx-model", model_line(info, name), beside)]
    details += [_detail(f"of-{_css(part.name)}", part.tip) for part in bar_parts(info)]
    details += [_detail(f"of-{mark.name}", mark.tip) for mark in bar_marks(info)]
    for button, plan in plans.items():
        if not said.text or button != said.button:
            details.append(_detail(f"of-{button.lower()}", TURN_RUNS if busy else plan_line(button, plan)))
    further = f" · {further}" if further else ""
    return (
        f'<div class="{_classes(info)}"><div class="jctx-line" title="{_text(line + further)}">'
        f'<span class="jctx-sign" aria-hidden="true">{SHAPES[info.state]}</span>{text_html(line)}'
        f'<span class="jctx-wide">{text_html(further)}</span></div>'
        f'<div class="jctx-details">{"".join(details)}</div></div>'
    )


def _classes(info: ContextInfo) -> str:
    return f"jctx jctx-{info.state}{' jctx-guess' if info.source == 'assumed' else ''}"


def _meter(info: ContextInfo) -> str:
    most = max(info.limit, info.used, 1)
    return (
        f'<div class="jctx-meter" role="meter" aria-label="Context used" aria-valuemin="0" aria-valuemax="{most}" '
        f'aria-valuenow="{info.used}" aria-valuetext="{_text(gauge_line(info))}"></div>'
    )


def _choice(name: str, kind: str, tip: str, style: str) -> str:
    return (
        f'<input type="radio" name="part" class="jctx-{kind} jctx-key jctx-key-{_css(name)} jctx-{_css(name)}" '
        f'data-lm-suppress-shortcuts="true" aria-label="{_text(tip)}" style="{style}">'
    )


def _detail(kind: str, text: str, before: str = "") -> str:
    """Return one of the texts that the second line may show; all but that at rest are labels of what is focused."""
    more = f' title="{_text(text)}"' if kind.startswith("rest") else ' aria-hidden="true"'
    return f'<div class="jctx-detail jctx-{kind}"{more}>{before}{text_html(text)}</div>'


def _css(name: str) -> str:
    return name.replace(" ", "-")


def _text(text: str) -> str:
    return html.escape(to_plain(text))
