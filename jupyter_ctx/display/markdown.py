"""An answer as safe HTML, safe Markdown and plain text.

What a model says is untrusted: JupyterLab runs scripts found in displayed Markdown. So
answers are rendered here, with raw HTML shown as text and images as links, and the other
two forms are made harmless for whoever prefers them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

TEX = re.compile(  # models write \( \) and \[ \]; code is passed over
    r"(```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]+`)"
    r"|\\\(((?:(?!\\[(\[]).){1,400}?)\\\)|\\\[((?:(?!\\[(\[]).){1,2000}?)\\\]",
    re.S,
)
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
WEB = "(?i:https?://|mailto:)"
NOTE_STYLE = "opacity:.8;font-size:90%;margin:.4em 0;border-left:3px solid #888;padding-left:.6em"


def to_html(source: str) -> str:
    """Markdown as HTML that runs nothing and loads nothing."""
    return str(_parser().render(TEX.sub(_dollars, source)))


def to_plain(source: str) -> str:
    """Text without control characters: front ends colour, and terminals obey, escapes."""
    return CONTROL.sub("�", source.replace("\r\n", "\n"))


def to_markdown(source: str) -> str:
    """Markdown for viewers that prefer it: raw HTML escaped, images made links.

    Only fences at the left margin are left as they are: there every parser agrees on
    what is code.
    """
    lines = source.split("\n")
    code = {
        line
        for token in _parser().parse(source)
        if token.type == "fence" and token.level == 0 and token.map and lines[token.map[0]][:1] in "`~"
        for line in range(*token.map)
    }
    return "\n".join(line if i in code else _harmless(line) for i, line in enumerate(lines))


def bundle(source: str, above: Sequence[str] = (), below: Sequence[str] = ()) -> dict[str, str]:
    """An answer in its three forms, with our own lines above and below it."""
    body = f'<div class="jctx-answer" dir="auto">{to_html(source)}</div>'
    quoted = [f"> {to_markdown(note)}" for note in above], [f"> {to_markdown(note)}" for note in below]
    return {
        "text/html": "".join([*map(note_html, above), body, *map(note_html, below)]),
        "text/markdown": "\n\n".join([*quoted[0], to_markdown(source), *quoted[1]]),
        "text/plain": "\n".join([*map(_bracketed, above), to_plain(source), *map(_bracketed, below)]),
    }


def plain_bundle(source: str, above: Sequence[str] = (), below: Sequence[str] = ()) -> dict[str, str]:
    """An answer as text only."""
    return {"text/plain": bundle(source, above, below)["text/plain"]}


def note_html(text: str) -> str:
    """One of our own lines; nothing in an answer can look like it."""
    return f'<div class="jctx-note" style="{NOTE_STYLE}">{text_html(to_plain(text))}</div>'


def text_html(text: str) -> str:
    """Text on a page as it is: a lone dollar must not pair up with another in MathJax."""
    return html.escape(text, quote=False).replace("$", "<span>$</span>")


def _bracketed(note: str) -> str:
    return f"[{to_plain(note)}]"


def _harmless(line: str) -> str:
    """No raw HTML, no image, no link but to the web, whoever renders it."""
    line = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", line).replace("![", "[")
    line = re.sub(rf"\]\(\s*(?!{WEB})", "] (", line)
    return re.sub(rf"^(\s*\[[^\]]*\]):(?!\s*{WEB})", r"\1\:", line)


def _dollars(match: re.Match[str]) -> str:
    code, inline, block = match.groups()
    if code is not None:
        return str(code)
    return f"${inline.strip()}$" if inline is not None else f"\n$${block.strip()}$$\n"


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    # "$5 and $10" is no maths; what is, is handed on for the front end's MathJax
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    for name, rule in RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _fence(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    token = tokens[i]
    language = (token.info.split() or ["text"])[0]
    try:
        body = highlight(token.content, get_lexer_by_name(language), HtmlFormatter(nowrap=True))
    except ClassNotFound:
        body = html.escape(token.content)
    return f'<div class="highlight"><pre>{body}</pre></div>\n'


def _maths(mark: str, before: str = "", after: str = "") -> Any:
    def render(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
        return f"{before}{mark}{html.escape(tokens[i].content, quote=False)}{mark}{after}"

    return render


def _text(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    return text_html(tokens[i].content)


def _image(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    """A link: loading an image tells its server what was read, and when."""
    address = str(tokens[i].attrs.get("src", ""))
    name = html.escape(tokens[i].content or address)
    return f'<a href="{html.escape(address)}" rel="noopener noreferrer nofollow">{name}</a>'


def _link(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    address = html.escape(str(tokens[i].attrs.get("href", "")))
    return f'<a href="{address}" rel="noopener noreferrer nofollow" target="_blank">'


RULES = {
    "fence": _fence,
    "text": _text,
    "image": _image,
    "link_open": _link,
    "math_inline": _maths("$"),
    "math_inline_double": _maths("$$"),
    "math_block": _maths("$$", "<p>", "</p>\n"),
}
