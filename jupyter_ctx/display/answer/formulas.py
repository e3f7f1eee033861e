"""Hand formulas to the front end's MathJax; show TeX that does more than typeset a formula as code."""

from __future__ import annotations

import re
from typing import Any

from ..text import escaped

MAX_FORMULA = 4_000
DELIMITED = re.compile(  # models write \( \) and \[ \]; the first group skips code
    r"(^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}(?=[^`\n]*$)|~{3,}).*?(?:^[ \t>]*\2[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).){1,1000}?(?<!`)\3(?!`))"
    r"|\\\(((?:(?!\\[(\[]).){1,400}?)\\\)|\\\[((?:(?!\\[(\[]).){1,2000}?)\\\]",
    re.S | re.M,
)
# The "safe" extension of JupyterLab's MathJax stops javascript: links only. It allows other links,
# and commands that load code, change all formulas of the notebook, write any character, paint boxes,
# or move text over the extension's own notices.
UNSAFE = re.compile(
    r"\\(?:(?:href|url|class|style|cssId|data|require|html\w*|toggle|mathtip|texttip|action|unicode|char|U"
    r"|def|gdef|edef|xdef|let|futurelet|(?:re)?new(?:command|environment|tagform)|providecommand"
    r"|Declare[A-Z]\w*|mathtoolsset|usetagform|definecolor|f?colorbox|bbox|includegraphics|input"
    r"|raise\w*|lower\w*|move(?:left|right)|[Rr]ule|Space|vspace|smash|[A-Za-z]*[lrc]lap)(?![A-Za-z])"
    r"|(?:[hmv]space|[hmv]skip|m?kern)\*?\s*\{?\s*-|\\\s*\[\s*-)"
)
# as in "use \( and \) to group": nobody's formula
ONLY_WORDS = re.compile(r"\s*[^\W\d_]{2,}(?:[\s,.;]+[^\W\d_]{2,})*[\s,.;]*")
TOO_DEEP = re.compile(r"\{(?:[^{}]*\{){40}")


def to_dollars(source: str) -> str:
    r"""Return Markdown with ``\(…\)`` and ``\[…\]`` replaced by ``$…$`` and ``$$…$$``."""
    return DELIMITED.sub(_dollars, source) if "\\" in source else source


def disarmed(line: str) -> str:
    """Return a line of Markdown with the backslash taken off every unsafe TeX command."""
    return UNSAFE.sub(lambda match: match[0][1:], line) if "\\" in line else line


def inline(mark: str) -> Any:
    """Return the render rule for a formula within a line; ``mark`` is its delimiter."""

    def render(renderer: Any, tokens: Any, i: int, _: Any, left: dict[str, float]) -> str:
        return _rendered(renderer, tokens[i], left, mark, "span", "code")

    return render


def block(renderer: Any, tokens: Any, i: int, _: Any, left: dict[str, float]) -> str:
    """Render a formula that stands on lines of its own."""
    return _rendered(renderer, tokens[i], left, "$$", "p", "pre") + "\n"


def _rendered(renderer: Any, token: Any, left: dict[str, float], mark: str, tag: str, as_code: str) -> str:
    tex = token.content
    left["formulas"] -= 1
    shown = escaped(f"{mark}{tex}{mark}")
    is_safe = len(tex) <= MAX_FORMULA and not UNSAFE.search(tex) and not TOO_DEEP.search(tex)
    tag = tag if is_safe and left["formulas"] >= 0 else as_code  # MathJax skips code
    return f"<{tag}{renderer.renderAttrs(token)}>{shown}</{tag}>"


def _dollars(match: re.Match[str]) -> str:
    code, _, _, inside, alone = match.groups()
    if code is not None:
        return str(code)
    if ONLY_WORDS.fullmatch(inside or alone):
        return match[0].replace("\\", r"\\") if inside else match[0]
    return f"${inside.strip()}$" if inside is not None else f"\n$${alone.strip()}$$\n"
