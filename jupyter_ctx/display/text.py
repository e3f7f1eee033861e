"""Text that is shown as it is, and our own lines, which nothing else can look like."""

from __future__ import annotations

import html
import re

from ..wording import CONTROL_CHARACTERS as CONTROL_CHARACTERS
from ..wording import visible

_BETWEEN = "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]{0,16}"  # what nobody sees


def _like(letter: str, others: str) -> str:
    """A letter in either case, from the mathematical alphabets, and what looks the same elsewhere."""
    place = ord(letter) - ord("a")
    alphabets = "".join(chr(0x1D400 + 26 * number + place) for number in range(26))
    return f"[{letter}{letter.upper()}{alphabets}{others}]{_BETWEEN}"


_OPEN, _CLOSE = rf"[\[［⁅〔❲【⟦〚]{_BETWEEN}", r"\\?[\]］⁆〕❳】⟧〛]"
_C, _T, _X = _like("c", "ｃＣсСϲϹⅽⅭᴄⓒⒸ"), _like("t", "ｔＴтТτΤᴛⓣⓉ"), _like("x", "ｘＸхХχΧⅹⅩ×ⓧⓍ")
LABEL = re.compile(f"({_OPEN}{_C}{_T}{_X})({_CLOSE})")
_UNSETTLED = re.compile(rf"(?:\r|{_OPEN}(?:{_C}(?:{_T}(?:{_X}\\?)?)?)?)\Z")
_LONGEST = 80

NOTE_STYLE = "font-size:90%;line-height:1.5;margin:.4em 0;white-space:pre-line;overflow-wrap:anywhere"
# plain colours first: a sanitiser drops each declaration that has a variable, and leaves the other
BADGE_STYLE = (
    "background:#424242;background:var(--jp-ui-font-color1,var(--vscode-badge-background,#424242));"
    "color:#ffffff;color:var(--jp-layout-color1,var(--vscode-badge-foreground,#ffffff));"
    "font-size:85%;padding:1px 5px;border-radius:3px;margin-right:.5em"
)


def to_plain(source: str) -> str:
    """Text without control characters: front ends colour, and terminals obey, escapes.

    ``[ctx]`` begins our own lines alone: wherever else it stands it becomes ``[ctx ]``.
    """
    return LABEL.sub(r"\1 \2", visible(source))


def settled(text: str) -> int:
    """How much of a growing text stays as it is; the rest may become a label or the end of a line."""
    start = max(0, len(text) - _LONGEST)
    found = _UNSETTLED.search(text, start)
    return found.start() if found else len(text)


def text_html(text: str) -> str:
    """Text on a page as it is: MathJax finds no dollar and no TeX in it."""
    escaped = html.escape(to_plain(text), quote=False)
    return re.sub(r"[$\\]", r"<span>\g<0></span>", escaped)


def note_html(text: str) -> str:
    """One of our own lines: no Markdown gives a badge."""
    badge = f'<span class="jctx-badge" style="{BADGE_STYLE}">ctx</span>'
    return f'<div class="jctx-note" dir="auto" style="{NOTE_STYLE}">{badge}{text_html(text)}</div>'


def spoken_html(text: str, role: str, kind: str = "") -> str:
    """What an action did, as ``status``, or what is wrong with it, as ``alert``, for who hears the page."""
    return f'<div class="{kind}" role="{role}">{html.escape(to_plain(text))}</div>'


def note_plain(text: str) -> str:
    """The same line in plain text."""
    return f"[ctx] {to_plain(text)}"
