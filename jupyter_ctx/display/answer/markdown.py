"""An answer as safe HTML, safe Markdown and plain text.

What a model says is untrusted: JupyterLab runs scripts found in displayed Markdown. So
answers are rendered here, with raw HTML shown as text and images as links, and the other
two forms are made harmless for whoever prefers them.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from functools import cache
from time import thread_time
from typing import Any

from ..text import CONTROL_CHARACTERS, LABEL, note_html, note_plain, text_html, to_plain
from . import formulas
from .footer import Footer, footer_html
from .highlight import highlighted
from .thinking import thinking_html

WEB = "(?i:https?://|mailto:)"
MAX_HIGHLIGHTED = 20_000  # characters of code: more would take the page longer than it is worth
ANSWER_HIGHLIGHT_SECONDS = 0.5  # of highlighting all blocks of an answer; each has its own bound
LINK_STYLE = "text-decoration:underline"
CODE_STYLE = "white-space:pre;font-family:monospace;font-family:var(--jp-code-font-family,monospace)"
LANGUAGE = r"[\w+#.-]{0,30}"
LINKS = 1_000  # brackets in one paragraph
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
CONTAINERS = {"blockquote_open", "bullet_list_open", "ordered_list_open", "list_item_open", "table_open"}
CODE_TOKENS = {"fence", "code_block", "code_inline", "math_inline", "math_inline_double", "math_block"}
TEXT_BLOCKS = {"paragraph_open", "heading_open", "th_open", "td_open"}
ANSWER_STYLE = "overflow-wrap:anywhere"
SCROLLS = 'tabindex="0" style="overflow-x:auto;'  # by the keyboard too


def to_html(source: str, left: dict[str, float] | None = None) -> str:
    """Markdown as HTML that runs nothing and loads nothing.

    ``left`` is how much may still be set: characters of code that are ``coloured``, ``formulas`` and ``seconds``;
    what is set is taken off.
    """
    source = to_plain(source)
    left = {"coloured": MAX_HIGHLIGHTED, "formulas": math.inf} if left is None else left
    try:
        return str(_parser().render(formulas.to_dollars(source), left))
    except Exception:  # no answer may be lost over its looks
        return f"<pre>{html.escape(source, quote=False)}</pre>"


def to_markdown(source: str) -> str:
    """Markdown for viewers that prefer it: raw HTML escaped, images made links.

    Only fences at the left margin are left as they are: there every parser agrees on
    what is code.
    """
    lines = to_plain(source).split("\n")
    code = set[int]()
    for token in _blocks().parse("\n".join(lines)):
        if token.type == "fence" and token.level == 0 and token.map and lines[token.map[0]][:1] in "`~":
            code |= set(range(*token.map))
            # JupyterLab writes it into an attribute as it is
            lines[token.map[0]] = token.markup + re.match(LANGUAGE, token.info.strip())[0]  # type: ignore[index]
    return "\n".join(line if i in code else _harmless(line) for i, line in enumerate(lines))


def bundle(
    source: str,
    above: Sequence[str] = (),
    below: Sequence[str] = (),
    *,
    thought: str = "",
    footer: Footer | None = None,
) -> dict[str, str]:
    """An answer in its three forms, with our own lines above and below it.

    What was thought, and what it took, is on the page alone: the other forms are kept and
    compared.
    """
    tokens = footer.usage.reasoning_tokens if footer and footer.usage else None
    before = [*map(note_html, above), thinking_html(thought, tokens)]
    after = [*map(note_html, below), footer_html(footer) if footer else ""]
    quoted = [[_quoted(note) for note in notes] for notes in (above, below)]
    return {
        "text/html": "".join([*before, answer_html(to_html(source)), *after]),
        "text/markdown": "\n\n".join([*quoted[0], to_markdown(source), *quoted[1]]),
        "text/plain": plain_bundle(source, above, below)["text/plain"],
    }


def plain_bundle(source: str, above: Sequence[str] = (), below: Sequence[str] = ()) -> dict[str, str]:
    """An answer as text only."""
    return {"text/plain": "\n".join([*map(note_plain, above), to_plain(source), *map(note_plain, below)])}


def answer_html(body: str) -> str:
    """The box around what the model said."""
    return f'<div class="jctx-answer" dir="ltr" style="{ANSWER_STYLE}">{body}</div>'


def _quoted(note: str) -> str:
    return f"> **[ctx]** {to_markdown(note)}".replace("\n", "\n> ")


def _harmless(line: str) -> str:
    """No raw HTML, no image, no link but to the web, no label of ours, whoever renders it."""
    shown = html.unescape(line)
    if CONTROL_CHARACTERS.search(shown) or LABEL.search(re.sub(r"[*_`~\\]", "", shown)):
        line = line.replace("&", "&amp;").replace("[", "[ ")
    line = formulas.tamed(line)
    line = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", line).replace("![", "[")
    line = re.sub(rf"\]\(\s*(?!{WEB})", "] (", line)
    return re.sub(rf"^(\s*\[[^\]]*\]):(?!\s*{WEB})", r"\1\:", line)


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    # "$5 and $10" is no maths; what is, is handed on for the front end's MathJax
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    parser.validateLink = _leads_to_the_web  # type: ignore[method-assign]
    parser.core.ruler.before("inline", "bounded", _bounded)
    parser.core.ruler.push("directions", _directions)
    for name, rule in RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _leads_to_the_web(url: str) -> bool:
    return re.match(WEB, url.strip()) is not None


@cache
def _blocks() -> Any:
    """A parser that only tells where blocks begin and end."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("inline")


def _bounded(state: Any) -> None:
    """A paragraph of brackets is text alone: to look for the end of each would take seconds."""
    for token in state.tokens:
        if token.type == "inline" and token.content.count("[") > LINKS:
            token.type = "text"


def _directions(state: Any) -> None:
    """Let each block of an answer read its own way, where any of it reads from the right."""
    if not RIGHT_TO_LEFT.search(state.src):
        return
    direction = "ltr"
    for token in reversed(state.tokens):
        direction = _direction(token) or direction
        if token.type in TEXT_BLOCKS:
            token.attrSet("dir", "auto")
        elif token.type in CONTAINERS:  # "auto" would pass over the blocks in it
            token.attrSet("dir", direction)
        for code in (token, *(token.children or ())):
            if code.type in CODE_TOKENS:
                code.attrSet("dir", "ltr")


def _direction(token: Any) -> str | None:
    """That of its first letter."""
    texts = (child.content for child in token.children or () if child.type == "text")
    letter = next((letter for text in texts for letter in text if letter.isalpha()), None)
    return None if letter is None else "rtl" if RIGHT_TO_LEFT.match(letter) else "ltr"


def _code(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    token = tokens[i]
    language = (token.info.split() or ["text"])[0]
    body = _coloured(token, language, env)
    attributes = renderer.renderAttrs(token)
    return f'<div class="highlight"><pre{attributes} {SCROLLS}{CODE_STYLE}">{body}</pre></div>\n'


def _coloured(token: Any, language: str, env: Any) -> str:
    """From the top on, as far as it goes and as long as it takes no time to speak of."""
    env["coloured"] -= len(token.content)
    left = env.get("seconds", ANSWER_HIGHLIGHT_SECONDS)
    if env["coloured"] < 0 or left <= 0:
        return html.escape(token.content, quote=False)
    begun = thread_time()
    page = highlighted(token.content, language)
    env["seconds"] = left - (thread_time() - begun)
    return page


def _inline_code(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    token = tokens[i]
    return f"<code{renderer.renderAttrs(token)}>{html.escape(token.content, quote=False)}</code>"


def _text(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    return text_html(tokens[i].content)


def _image(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    """A link: loading an image tells its server what was read, and when."""
    address = str(tokens[i].attrs.get("src", ""))
    name = text_html(tokens[i].content or address)
    return f"{_opened(address)}{name}</a>"


def _link(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    return _opened(str(tokens[i].attrs.get("href", "")))


def _opened(address: str) -> str:
    """A link that is one without its colour, too."""
    there = f'href="{html.escape(address)}" rel="noopener noreferrer nofollow" target="_blank"'
    return f'<a {there} style="{LINK_STYLE}">'


def _table_open(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    table = renderer.renderToken(tokens, i, options, env)
    return f'<div {SCROLLS}overflow-wrap:break-word">{table}'


def _table_close(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    return "</table></div>\n"


RULES = {
    "fence": _code,
    "code_block": _code,
    "code_inline": _inline_code,
    "text": _text,
    "image": _image,
    "link_open": _link,
    "table_open": _table_open,
    "table_close": _table_close,
    "math_inline": formulas.inline("$"),
    "math_inline_double": formulas.inline("$$"),
    "math_block": formulas.block,
}
