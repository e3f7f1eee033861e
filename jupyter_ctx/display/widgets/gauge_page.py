"""Draw the live gauge as HTML: a bar whose parts are reached by arrow keys, and two lines of fixed height below it.

The stylesheet gives rows of fixed heights, so that nothing moves whatever they say.

The second line says what is pointed at or focused: a part of the bar, or what a button would do. At rest it
names the model and its window, or the result of the last action.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...context.context_info import ContextInfo, Plan
from ..text import attribute_html, text_html
from .gauge import SHAPES, gauge_line, model_line, plan_line, used_lines
from .gauge_bar import SEGMENT_KINDS, bar_marks, bar_parts

BUTTONS = ("Summarise", "Trim", "Clear", "Undo", "Redo")  # of the panel, each with its plan


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
    parts = [_choice(part.name, "part", part.tip, f"flex-grow:{1_000 * part.share:.2f}") for part in bar_parts(info)]
    parts += [_choice(mark.name, "mark", mark.tip, f"--at:{100 * mark.at:.2f}%") for mark in bar_marks(info)]
    return (
        f'<form class="{_classes(info)}" method="dialog">{_meter(info)}'
        f'<div class="jctx-bar" role="radiogroup" aria-label="Parts of the context">{"".join(parts)}</div></form>'
    )


def lines_html(info: ContextInfo, plans: Mapping[str, Plan], result: PressResult, name: str = "") -> str:
    """Return the two lines below the bar; ``plans`` tells, by button, what it would do.

    ``name`` is the conversation's, where there is more than one.
    """
    line, further = used_lines(info)
    of_button = f" jctx-of-{result.button.lower()}" if result.button else ""  # shown while that is pointed at, too
    details = [_detail(f"rest jctx-said jctx-{result.role}{of_button}", result.text)]
    if not result.text:  # a narrow pane has no room for all in one row
        beside = f'<span class="jctx-narrow">{text_html(f"{further} · ")}</span>' if further else ""
        details = [_detail("rest jctx-model", model_line(info, name), beside)]
    details += [_detail(f"of-{_css(part.name)}", part.tip) for part in bar_parts(info)]
    details += [_detail(f"of-{mark.name}", mark.tip) for mark in bar_marks(info)]
    for button, plan in plans.items():
        if not result.text or button != result.button:
            details.append(_detail(f"of-{button.lower()}", plan_line(button, plan)))
    further = f" · {further}" if further else ""
    return (
        f'<div class="{_classes(info)}"><div class="jctx-line" title="{attribute_html(line + further)}">'
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
        f'aria-valuenow="{info.used}" aria-valuetext="{attribute_html(gauge_line(info))}"></div>'
    )


def _choice(name: str, kind: str, tip: str, style: str) -> str:
    return (
        f'<input type="radio" name="part" class="jctx-{kind} jctx-key jctx-key-{_css(name)} jctx-{_css(name)}" '
        f'data-lm-suppress-shortcuts="true" aria-label="{attribute_html(tip)}" style="{style}">'
    )


def _detail(kind: str, text: str, before: str = "") -> str:
    """Return one of the texts that the second line may show; all but that at rest are labels of what is focused."""
    more = f' title="{attribute_html(text)}"' if kind.startswith("rest") else ' aria-hidden="true"'
    return f'<div class="jctx-detail jctx-{kind}"{more}>{before}{text_html(text)}</div>'


def _css(name: str) -> str:
    return name.replace(" ", "-")


MARKS = ("half", "room", "limit")
# em of each button: as many as its longest label needs, so that nothing moves
BUTTON_WIDTHS = {"summarise": 7.2, "trim": 4.2, "clear": 4.4, "undo": 2.6, "redo": 2.6}
_INK = "var(--jp-ui-font-color1,var(--vscode-editor-foreground,inherit))"
_QUIET = "var(--jp-ui-font-color2,var(--vscode-descriptionForeground,inherit))"
_ALARM = "var(--jp-error-color1,#c62828)"
_SIGNS = {"ok": "var(--jp-success-color1,#388e3c)", "high": "var(--jp-warn-color1,#b26a00)", "full": _ALARM}
_SIGNS |= {"half": "var(--jp-brand-color1,#1976d2)", "over": _ALARM}


def _colours() -> str:
    kinds = ((_css(name), kind.colour) for name, kind in SEGMENT_KINDS.items())
    return "".join(f".jctx-{name}{{background-color:{colour}}}" for name, colour in kinds)


def _signs() -> str:
    return "".join(f".jctx-{state} .jctx-sign{{color:{colour}}}" for state, colour in _SIGNS.items())


def _widths() -> str:
    return "".join(f".jctx-panel .jctx-do-{name}{{width:{width}em}}" for name, width in BUTTON_WIDTHS.items())


def _shown(state: str, names: Iterable[str]) -> str:
    """Return the rules by which what is in a state, such as ``:hover``, shows its text instead of that at rest."""
    pairs = ",".join(f".jctx-panel:has(.jctx-key-{name}{state}) .jctx-of-{name}" for name in names)
    return f".jctx-panel:has(.jctx-key{state}) .jctx-detail{{visibility:hidden}}{pairs}{{visibility:visible}}"


def _keys() -> list[str]:
    return [*(_css(name) for name in SEGMENT_KINDS), *MARKS, *map(str.lower, BUTTONS)]


GAUGE_STYLE = (
    "<style>"
    ".jctx-panel{container:jctx-panel/inline-size;max-width:1000px;width:100%;box-sizing:border-box;"
    f"padding:4px 0 2px;overflow:visible;color:{_INK};"
    "font-family:var(--jp-ui-font-family,system-ui,sans-serif)}"
    ".jctx-panel .jctx-grid{display:grid;grid-template-columns:minmax(0,1fr) auto;column-gap:16px;"
    "align-items:center;overflow:visible}"
    ".jctx-panel .jctx-grid>*{margin:0;width:auto;height:auto;min-width:0}"
    ".jctx-panel .jctx-lines{grid-column:1/-1}"
    # the bar: 8 px are seen, 16 px can be pointed at
    ".jctx{margin:0;font-size:12px;line-height:18px}"
    ".jctx-bar{position:relative;display:flex;gap:1px;height:16px}"
    ".jctx-meter{position:absolute;inset:0;pointer-events:none}"
    ".jctx-key:is(.jctx-part,.jctx-mark){appearance:none;-webkit-appearance:none;box-sizing:border-box;border:0;"
    "margin:0;cursor:default;height:16px}"
    ".jctx-part{flex:0 1 0;min-width:2px;width:auto;padding:4px 0;background-clip:content-box;border-radius:1px/5px}"
    ".jctx-part:first-child{border-radius:4px 1px 1px 4px/8px 5px 5px 8px}"
    ".jctx-part:nth-last-child(1 of .jctx-part){border-radius:1px 4px 4px 1px/5px 8px 8px 5px}"
    ".jctx-mark{position:absolute;top:0;left:calc(var(--at) - 4px);width:8px;border-radius:2px;"
    f"background:linear-gradient({_INK},{_INK}) center/2px 14px no-repeat}}"
    f".jctx-mark.jctx-half{{"
    f"background:linear-gradient({_QUIET},{_QUIET}) center bottom/1px 4px no-repeat}}"
    f".jctx-room+.jctx-limit{{background:linear-gradient({_QUIET},{_QUIET}) center/1px 10px no-repeat}}"
    ".jctx-part:is(:hover,:focus-visible){filter:brightness(1.2)}"
    ".jctx-key:is(.jctx-part,.jctx-mark):focus-visible{outline:2px solid var(--jp-brand-color1,#1976d2);"
    "outline-offset:0;z-index:1}" + _colours() + ".jctx-part.jctx-free{background-color:var(--jp-layout-color2,#eee)}"
    ".jctx-part.jctx-margin{background-color:var(--jp-layout-color2,#eee);background-image:repeating-linear-gradient("
    "135deg,rgba(128,128,128,.5) 0 1px,transparent 1px 6px)}"
    ".jctx-part.jctx-reserve{background-color:transparent;background-image:repeating-linear-gradient(135deg,"
    "rgba(128,128,128,.4) 0 1px,transparent 1px 4px)}"
    ".jctx-guess .jctx-part:not(.jctx-free,.jctx-margin,.jctx-reserve){background-image:repeating-linear-gradient("
    "45deg,transparent 0 4px,rgba(255,255,255,.5) 4px 6px)}"
    # the lines
    ".jctx-line,.jctx-detail{overflow:hidden;overflow-wrap:anywhere;display:-webkit-box;-webkit-box-orient:vertical;"
    "-webkit-line-clamp:var(--rows)}"
    ".jctx-line,.jctx-details{height:calc(18px*var(--rows));--rows:1}"
    ".jctx-details{display:grid}.jctx-detail{grid-area:1/1;visibility:hidden;min-width:0}"
    f".jctx-detail.jctx-rest{{visibility:visible}}.jctx-detail.jctx-model{{color:{_QUIET}}}"
    ".jctx-sign{display:inline-block;width:1.3em}"
    ".jctx-line{font-variant-numeric:tabular-nums}:is(.jctx-full,.jctx-over) .jctx-line{font-weight:600}"
    + _signs()
    + f".jctx-detail.jctx-alert{{color:{_ALARM}}}"
    + _shown(":focus-visible", _keys())
    + _shown(":hover", _keys())
    # the buttons
    + ".jctx-panel .jctx-toolbar{display:flex;flex-flow:row wrap;gap:4px;margin:0}"
    ".jctx-panel .jctx-do{height:24px;line-height:22px;padding:0 4px;margin:0;font-size:12px;border-radius:4px;"
    "border:1px solid var(--jp-border-color1,var(--vscode-button-border,#bdbdbd));box-sizing:border-box;"
    "background-color:var(--jp-layout-color2,transparent);color:inherit;"
    "flex:none;width:auto;box-shadow:none;overflow:hidden;text-overflow:ellipsis}"
    ".jctx-panel .jctx-do .fa{margin:0}"
    # the icons of Font Awesome without a name, so that the tooltip is the button's
    ".jctx-panel .jctx-do-undo .fa::before{content:'\\f0e2';content:'\\f0e2' / ''}"
    ".jctx-panel .jctx-do-redo .fa::before{content:'\\f01e';content:'\\f01e' / ''}"
    + _widths()
    + ".jctx-panel .jctx-do:is(:hover,:focus-visible){background-color:var(--jp-layout-color3,#bdbdbd)}"
    f".jctx-panel .jctx-do.jctx-off{{background-color:transparent;color:{_QUIET}}}"
    ".jctx-panel .jctx-do:focus-visible{outline:2px solid var(--jp-brand-color1,#1976d2);outline-offset:-1px}"
    ".jctx-hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
    "@container jctx-panel (min-width:561px){.jctx-narrow{display:none}}"
    "@container jctx-panel (max-width:760px){.jctx-details{--rows:2}"
    ".jctx-panel .jctx-grid{grid-template-columns:minmax(0,1fr)}.jctx-panel .jctx-toolbar{order:1;margin-top:4px}}"
    "@container jctx-panel (max-width:560px){.jctx-details{--rows:3}.jctx-wide{display:none}}"
    "@container jctx-panel (max-width:330px){.jctx-line{--rows:2}.jctx-details{--rows:4}}"
    "@media (forced-colors:active){.jctx-key:is(.jctx-part,.jctx-mark){forced-color-adjust:none}"
    ".jctx-part:is(.jctx-free,.jctx-margin,.jctx-reserve){background-color:Canvas}"
    ".jctx-part:is(.jctx-margin,.jctx-reserve){background-image:repeating-linear-gradient(135deg,GrayText 0 1px,"
    "transparent 1px 4px)}.jctx-bar{outline:1px solid CanvasText;outline-offset:-3px}"
    ".jctx-mark{background:linear-gradient(CanvasText,CanvasText) center/2px 16px no-repeat}"
    ".jctx-panel .jctx-do{border:1px solid ButtonText;line-height:22px}"
    ".jctx-panel .jctx-do.jctx-off{color:GrayText;border:1px dashed GrayText}}"
    "body:not(:has(.jp-Notebook)) .jctx-twin{display:none}"
    "</style>"
)
