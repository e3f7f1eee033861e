"""TeX for the front end's MathJax; what does more than set a formula is shown as it was written."""

from __future__ import annotations

import html
import re
from typing import Any

MAX_FORMULA = 4_000
DELIMITED = re.compile(  # models write \( \) and \[ \]; code is passed over
    r"(^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}(?=[^`\n]*$)|~{3,}).*?(?:^[ \t>]*\2[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).){1,1000}?(?<!`)\3(?!`))"
    r"|\\\(((?:(?!\\[(\[]).){1,400}?)\\\)|\\\[((?:(?!\\[(\[]).){1,2000}?)\\\]",
    re.S | re.M,
)
# JupyterLab's MathJax has its "safe" extension, which stops javascript: but no other link,
# and neither commands that load code, that change all formulas of the notebook, that write
# any character, nor those that paint boxes and move text over our own lines.
UNSAFE = re.compile(
    r"\\(?:(?:href|url|class|style|cssId|data|require|html\w*|toggle|mathtip|texttip|action|unicode|char|U"
    r"|def|gdef|edef|xdef|let|futurelet|(?:re)?new(?:command|environment|tagform)|providecommand"
    r"|Declare[A-Z]\w*|mathtoolsset|usetagform|definecolor|f?colorbox|bbox|includegraphics|input"
    r"|raise\w*|lower\w*|move(?:left|right)|[Rr]ule|Space|vspace|smash|[A-Za-z]*[lrc]lap)(?![A-Za-z])"
    r"|(?:[hmv]space|[hmv]skip|m?kern)\*?\s*\{?\s*-|\\\s*\[\s*-)"
)
DEEP = re.compile(r"\{(?:[^{}]*\{){40}")


def to_dollars(source: str) -> str:
    """The TeX delimiters that Markdown does not know, as those that it does."""
    return DELIMITED.sub(_dollars, source) if "\\" in source else source


def tamed(line: str) -> str:
    """A line of Markdown whose TeX only sets formulas."""
    return UNSAFE.sub(lambda match: match[0][1:], line) if "\\" in line else line


def inline(mark: str) -> Any:
    """The render rule for a formula in a line."""

    def render(renderer: Any, tokens: Any, i: int, _: Any, left: dict[str, float]) -> str:
        return _set(renderer, tokens[i], left, mark, "span", "code")

    return render


def block(renderer: Any, tokens: Any, i: int, _: Any, left: dict[str, float]) -> str:
    """The render rule for a formula in a place of its own."""
    return _set(renderer, tokens[i], left, "$$", "p", "pre") + "\n"


def _set(renderer: Any, token: Any, left: dict[str, float], mark: str, tag: str, as_code: str) -> str:
    tex = token.content
    left["formulas"] -= 1
    shown = html.escape(f"{mark}{tex}{mark}", quote=False)
    is_safe = len(tex) <= MAX_FORMULA and not UNSAFE.search(tex) and not DEEP.search(tex)
    tag = tag if is_safe and left["formulas"] >= 0 else as_code  # MathJax passes over code
    return f"<{tag}{renderer.renderAttrs(token)}>{shown}</{tag}>"


def _dollars(match: re.Match[str]) -> str:
    code, _, _, inside, alone = match.groups()
    if code is not None:
        return str(code)
    return f"${inside.strip()}$" if inside is not None else f"\n$${alone.strip()}$$\n"
