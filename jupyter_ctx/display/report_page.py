"""Draw a run as a page of its own: what was found on top, how it was asked, then all answers side by side.

The page has no script, loads nothing, and forbids both: it is whole in one file.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from .run_page import CARD_STYLE, ScoreLine, score_html
from .text import text_html, to_plain

# no script, image, font or address, whatever an answer holds
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
REPORT_MARK = '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="generator" content="jupyter_ctx">'
_SHEET = (
    "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;padding:1em;"
    "max-width:100em;color:CanvasText;background:Canvas}p,pre,dd,h1{overflow-wrap:anywhere;max-width:60em}"
    "h1{margin:0}.told{border-left:4px solid #d32f2f;padding-left:.6em;font-weight:600}"
    "dl{display:grid;grid-template-columns:auto 1fr;gap:.2em 1em}dt{font-weight:600}dd{margin:0}"
    "pre{white-space:pre-wrap}</style>"
)


def report_page(
    title: str, told: Sequence[str], scores: Sequence[ScoreLine], sentences: Sequence[str], settings: Mapping[str, str],
    prompt: str, matrix: str,
) -> str:  # fmt: skip
    """Return the page; all texts are escaped, and ``matrix`` is HTML.

    ``told`` is what to know before anything else, such as how many answers failed; ``scores`` and ``sentences`` are
    what was found, and ``settings`` how it was asked, by name.
    """
    lines = "".join(f'<p class="told">{text_html(line)}</p>' for line in told)
    found = "".join(f'<p dir="auto">{text_html(sentence)}</p>' for sentence in sentences)
    asked = "".join(f'<dt>{text_html(key)}</dt><dd dir="auto">{text_html(text)}</dd>' for key, text in settings.items())
    scored = "".join(map(score_html, scores))
    name = html.escape(to_plain(title), quote=False)  # a title has text, and no elements
    return (
        f'{REPORT_MARK}<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width"><title>{name}</title>{CARD_STYLE}{_SHEET}</head>'
        f"<body><main><h1>{text_html(title)}</h1>{lines}<h2>What was found</h2>{scored}{found}"
        f"<h2>How it was asked</h2><dl>{asked}</dl>"
        f'<details><summary>Prompt</summary><pre dir="auto">{text_html(prompt)}</pre></details>'
        f"<h2>Answers</h2>{matrix}</main></body></html>\n"
    )
