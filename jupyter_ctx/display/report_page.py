"""Draw a run as a page of its own: what was found on top, how it was asked, then all answers side by side.

The page has no script, loads nothing, and forbids both: it is whole in one file.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .tables import column_sides, heads_html, row_html
from .text import text_html, to_plain

# no script, image, font or address, whatever an answer holds
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
REPORT_MARK = '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="generator" content="jupyter_ctx">'
_FIGURES = ("arm", "scorer", "value", "95 % interval", "rows")
_SHEET = (
    "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;padding:1em;"
    "max-width:100em;color:CanvasText;background:Canvas}p,pre,dd,h1{overflow-wrap:anywhere;max-width:60em}"
    "h1{margin:0}.told{border-left:4px solid #d32f2f;padding-left:.6em;font-weight:600}"
    ".figures{overflow-x:auto}.figures table{border-collapse:collapse}.figures :is(th,td){padding:.2em .8em .2em 0}"
    ".bar{position:relative;width:12em;height:1em;background:#7774}"
    ".bar i{position:absolute;top:.3em;height:.4em;min-width:2px;background:#1976d2}"
    ".bar b{position:absolute;top:0;height:1em;width:3px;margin-left:-1px;background:CanvasText}"
    "dl{display:grid;grid-template-columns:auto 1fr;gap:.2em 1em}dt{font-weight:600}dd{margin:0}"
    "pre{white-space:pre-wrap}</style>"
)


class Figure(NamedTuple):
    """A rate or a mean of one arm: its cells as text, and where its value and its interval stand, from 0 to 1."""

    cells: tuple[str, ...]
    value: float | None = None
    low: float | None = None
    high: float | None = None


def report_page(
    title: str, told: Sequence[str], figures: Sequence[Figure], sentences: Sequence[str], settings: Mapping[str, str],
    prompt: str, matrix: str,
) -> str:  # fmt: skip
    """Return the page; all texts are escaped, and ``matrix`` is HTML.

    ``told`` is what to know before anything else, such as how many answers failed; ``figures`` and ``sentences`` are
    what was found, and ``settings`` how it was asked, by name.
    """
    lines = "".join(f'<p class="told">{text_html(line)}</p>' for line in told)
    found = "".join(f'<p dir="auto">{text_html(sentence)}</p>' for sentence in sentences)
    asked = "".join(f'<dt>{text_html(key)}</dt><dd dir="auto">{text_html(text)}</dd>' for key, text in settings.items())
    name = html.escape(to_plain(title), quote=False)  # a title has text, and no elements
    return (
        f'{REPORT_MARK}<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width"><title>{name}</title>{_SHEET}</head><body><main>'
        f"<h1>{text_html(title)}</h1>{lines}<h2>What was found</h2>{_figures_html(figures)}{found}"
        f"<h2>How it was asked</h2><dl>{asked}</dl>"
        f'<details><summary>Prompt</summary><pre dir="auto">{text_html(prompt)}</pre></details>'
        f"<h2>Answers</h2>{matrix}</main></body></html>\n"
    )


def _figures_html(figures: Sequence[Figure]) -> str:
    if not figures:
        return ""
    sides = column_sides(_FIGURES, [figure.cells for figure in figures])
    rows = "".join(f"<tr>{row_html(figure.cells, sides)}<td>{_bar(figure)}</td></tr>" for figure in figures)
    head = f"<thead><tr>{heads_html(_FIGURES, sides)}<td></td></tr></thead>"
    table = f"<table>{head}<tbody>{rows}</tbody></table>"
    return f'<div class="figures" role="region" aria-label="Figures" tabindex="0">{table}</div>'


def _bar(figure: Figure) -> str:
    """Return a bar from the lower to the upper end of an interval, with a mark at the value; the cells say the same."""
    interval = ""
    if figure.low is not None and figure.high is not None:
        interval = f'<i style="left:{figure.low:.2%};width:{figure.high - figure.low:.2%}"></i>'
    value = "" if figure.value is None else f'<b style="left:{figure.value:.2%}"></b>'
    return f'<div class="bar" aria-hidden="true">{interval}{value}</div>'
