"""Render an answer as safe HTML, safe Markdown and plain text.

A model's answer is untrusted, and JupyterLab runs scripts found in displayed Markdown. So answers are
rendered here, with raw HTML shown as text and images as links; the Markdown and the plain text, for
viewers that prefer them, are escaped in the same spirit.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..text import (
    CONTROL_CHARACTERS,
    WRAPS,
    escaped,
    markdown_block,
    note_html,
    note_markdown,
    note_plain,
    sources_line,
    text_html,
    to_plain,
)
from . import formulas
from .footer import FOOTER_STYLE, Footer, footer_html, remarks, thinking_html
from .highlight import highlighted

WEB_ADDRESS = "(?i:https?://|mailto:)"
MAX_HIGHLIGHTED = 20_000  # characters of code in an answer: more would slow the page down
# underlined, so that a link is recognisable without its colour
LINK = {"rel": "noopener noreferrer nofollow", "target": "_blank", "style": "text-decoration:underline"}
# a box on white and on black; a sanitiser keeps the first background, the front end's own is used where it does not
BLOCK_BOX = (
    "background:rgba(128,128,128,0.1);background:var(--jp-cell-editor-background,rgba(128,128,128,0.1));"
    "border:1px solid rgba(128,128,128,0.25);border-radius:4px;padding:8px 12px;margin:0.5em 0 1em"
)
CODE_STYLE = f"{BLOCK_BOX};white-space:pre;font-family:monospace;font-family:var(--jp-code-font-family,monospace)"
LANGUAGE = r"[\w+#.-]{0,30}"
MAX_BRACKETS = 1_000  # in one paragraph
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
CODE_TOKENS = {"fence", "code_block", "code_inline", "math_inline", "math_inline_double", "math_block"}
ANSWER_STYLE = WRAPS
# an answer's headings stand below the notebook's own: as h4 to h6, smaller, and not in JupyterLab's table of contents
HEADING_SIZES = ("1.2em", "1.1em", "1em", "0.95em", "0.9em", "0.8em")
HEADING_STYLES = tuple(f"font-size:{size};margin:1em 0 0.4em;font-weight:600" for size in HEADING_SIZES)
HIGHEST_HEADING = 4
# in a page made by nbconvert, where the long lines of a prompt would be cut at the cell's right edge
WHOLE_PROMPTS = (
    "<style>.jp-Cell:has([class^=jctx]) .jp-InputArea .highlight pre{white-space:pre-wrap;overflow-wrap:anywhere}"
    "</style>"
)
STARTS = "text-align:start"  # at the side where a block's text begins
SCROLLS = 'tabindex="0" style="overflow-x:auto;'  # tabindex: by the keyboard too


@dataclass(frozen=True, slots=True)
class MimeBundle:
    """An answer in its three forms, none of which can act.

    ``beside_text``: what of ``plain`` is not the answer's text, for a terminal that has printed that.
    """

    html: str
    markdown: str
    plain: str
    beside_text: str = ""

    @classmethod
    def of(cls, source: str | MimeBundle) -> MimeBundle:
        """Return the forms of an answer in Markdown; given forms as they are."""
        if isinstance(source, MimeBundle):
            return source
        return cls(to_html(source), to_markdown(source), to_plain(source))


def to_html(source: str, left: dict[str, float] | None = None) -> str:
    """Return Markdown as HTML that runs nothing and loads nothing.

    ``left`` bounds the work and is reduced by it: characters of code to highlight (``coloured``), and the number of
    ``formulas`` to typeset. What exceeds them is shown plain.
    """
    source = to_plain(source)
    left = {"coloured": MAX_HIGHLIGHTED, "formulas": math.inf} if left is None else left
    try:
        return str(_parser().render(formulas.to_dollars(source), left))
    except Exception:  # the answer must be shown even where it cannot be rendered
        return f"<pre>{escaped(source)}</pre>"


def to_markdown(source: str) -> str:
    """Return Markdown with raw HTML escaped and images made links.

    Only fences at the left margin stay as they are: about these, all parsers agree on what is code.
    """
    lines = to_plain(source).split("\n")
    code = set[int]()
    for token in _blocks().parse("\n".join(lines)):
        if token.type == "fence" and token.level == 0 and token.map and lines[token.map[0]][:1] in "`~":
            code |= set(range(*token.map))
            # JupyterLab writes the language into an attribute without escaping it
            lines[token.map[0]] = token.markup + re.match(LANGUAGE, token.info.strip())[0]  # type: ignore[index]
    return "\n".join(line if i in code else _harmless(line) for i, line in enumerate(lines))


def with_fence_closed(source: str) -> str:
    """Return Markdown with its last fence closed, so that what follows is not code."""
    source = source.rstrip()
    last = _blocks().parse(f"{source}\n\nwhat follows")[-1]
    return f"{source}\n{last.markup}" if last.type == "fence" else source


def note(text: str) -> MimeBundle:
    """Return a notice in its forms."""
    return MimeBundle(note_html(text), note_markdown(text), note_plain(text))


def bundle(
    source: str | MimeBundle,
    above: Sequence[str] = (),
    below: Sequence[str] = (),
    *,
    thought: str = "",
    footer: Footer | None = None,
    steps: Sequence[MimeBundle] = (),
) -> dict[str, str]:
    """Return an answer as HTML, Markdown and plain text, with the notices ``above`` and ``below`` it.

    ``source`` is Markdown, or what is shown in its place; ``steps``: what the model wrote and called before.

    Thinking text and figures are in the HTML only, because saved notebooks are compared by the other forms; these have
    the footer's remarks as notices.
    """
    tokens = footer.usage.reasoning_tokens if footer and footer.usage else None
    answer = MimeBundle.of(source)
    before, after = list(map(note, above)), list(map(note, below))
    page = [
        *(each.html for each in before),
        thinking_html(thought, tokens),
        *(step.html for step in steps),
        answer_html(answer.html),
        *(each.html for each in after),
        footer_html(footer) if footer else "",
        WHOLE_PROMPTS,
    ]
    texts = [*before, *steps, answer, *after, *map(note, remarks(footer))]
    return {
        "text/html": "".join(page),
        "text/markdown": "\n\n".join(each.markdown for each in texts if each.markdown),
        "text/plain": "\n".join(each.plain for each in texts if each.plain),
    }


def is_json_like(text: str) -> bool:
    """Return whether a text begins as a JSON object or list does, whole or not."""
    return text.lstrip()[:1] in ("{", "[")


def is_json(text: str) -> bool:
    """Return whether a text is a JSON object or list and nothing else."""
    return is_json_like(text) and _laid_out(text) is not None


def json_bundle(text: str) -> MimeBundle:
    """Return the JSON of an answer, valid or not, as a block of code in which nothing is markup."""
    laid_out = _laid_out(text) or text.strip()
    block = markdown_block(laid_out, "json")
    return MimeBundle(to_html(block), to_markdown(block), to_plain(laid_out))


def _laid_out(text: str) -> str | None:
    """Return JSON as the model wrote it; where that is one line, over several; ``None``: it is none."""
    written = text.strip()
    try:
        value = json.loads(written)
        return written if "\n" in written else json.dumps(value, ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return None


def with_sources(answer: str | MimeBundle, citations: Sequence[tuple[str, str]]) -> MimeBundle:
    """Return an answer with links to the pages that it cites below it."""
    forms, line = MimeBundle.of(answer), sources_line(citations)
    page = f'{forms.html}<div class="jctx-sources" style="{FOOTER_STYLE}">{to_html(line)}</div>'
    markdown, plain = f"{with_fence_closed(forms.markdown)}\n\n> **[ctx]** {line}", note_plain(line)
    return MimeBundle(page, markdown, f"{forms.plain}\n\n{plain}", f"{forms.beside_text}\n{plain}".strip())


def answer_html(body: str) -> str:
    """Return the box around the HTML of an answer."""
    return f'<div class="jctx-answer" dir="ltr" style="{ANSWER_STYLE}">{body}</div>'


def _harmless(line: str) -> str:
    """Return a line of Markdown that gives no raw HTML, image, link off the web or control character anywhere."""
    if CONTROL_CHARACTERS.search(html.unescape(line)):
        line = line.replace("&", "&amp;")
    line = formulas.disarmed(line)
    line = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", line).replace("![", "[")
    line = re.sub(rf"\]\(\s*(?!{WEB_ADDRESS})", "] (", line)
    return re.sub(rf"^(\s*\[[^\]]*\]):(?!\s*{WEB_ADDRESS})", r"\1\:", line)


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    # "$5 and $10" is not a formula; formulas are left to the front end's MathJax
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    parser.validateLink = re.compile(rf"\s*{WEB_ADDRESS}").match  # type: ignore[assignment]
    parser.core.ruler.before("inline", "bounded", _bounded)
    parser.core.ruler.push("prepared", _prepared)
    for name, rule in RULES.items():
        parser.add_render_rule(name, rule)
    return parser


@cache
def _blocks() -> Any:
    """Return a parser that only finds where blocks begin and end."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("inline")


def _bounded(state: Any) -> None:
    """Treat a paragraph with very many brackets as text: finding the end of each would take seconds."""
    for token in state.tokens:
        if token.type == "inline" and token.content.count("[") > MAX_BRACKETS:
            token.type = "text"


def _prepared(state: Any) -> None:
    """Set how headings, cells and links look, and the directions of an answer that has right-to-left text."""
    tokens, is_mixed = state.tokens, RIGHT_TO_LEFT.search(state.src) is not None
    for index, token in enumerate(tokens):
        if token.type.startswith("heading"):
            level = int(token.tag[1])
            token.tag = f"h{min(6, HIGHEST_HEADING - 1 + level)}"
            if token.nesting == 1:
                token.attrSet("class", "jp-toc-ignore")
                token.attrSet("style", HEADING_STYLES[level - 1])
        elif token.type in ("th_open", "td_open"):
            if not token.attrGet("style"):  # else Markdown says the side; front ends put the text of cells at the right
                token.attrSet("style", STARTS if is_mixed else "text-align:left")
            if token.tag == "th" and not tokens[index + 1].content:  # a head without a text is a usual cell
                token.tag = tokens[index + 2].tag = "td"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrs = {"href": child.attrs["href"], **LINK}  # without a title, which says what it likes
        if is_mixed:
            _set_direction(token)


def _set_direction(token: Any) -> None:
    """Let each block that stands alone, and each cell, have its own reading direction.

    What is within a list or a quotation has the direction of its first letter.
    """
    if token.nesting == 1 and (token.level == 0 or token.tag in ("th", "td")):
        token.attrSet("dir", "auto")
    if token.type in ("paragraph_open", "heading_open"):  # which front ends put at the left
        token.attrSet("style", ";".join(filter(None, (token.attrGet("style"), STARTS))))
    for code in (token, *(token.children or ())):
        if code.type in CODE_TOKENS:
            code.attrSet("dir", "ltr")


def _code(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    """Render a block of code: highlighted, or plain once the answer's characters are used up."""
    token = tokens[i]
    language = (token.info.split() or ["text"])[0]
    env["coloured"] -= len(token.content)
    is_coloured = env["coloured"] >= 0
    body = highlighted(token.content, language) if is_coloured else escaped(token.content)
    return _code_box(body, renderer.renderAttrs(token))


def _code_box(body: str, attributes: str = "") -> str:
    return f'<div class="highlight"><pre{attributes} {SCROLLS}{CODE_STYLE}">{body}</pre></div>\n'


def _text(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    return text_html(tokens[i].content)


def _image(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    """Render an image as a link, because loading an image tells its server who reads the answer, and when."""
    address = str(tokens[i].attrs.get("src", ""))
    attributes = "".join(f' {name}="{escaped(value, quote=True)}"' for name, value in {"href": address, **LINK}.items())
    return f"<a{attributes}>{text_html(tokens[i].content or address)}</a>"


def _table_open(renderer: Any, tokens: Any, i: int, options: Any, env: Any) -> str:
    table = renderer.renderToken(tokens, i, options, env)
    return f'<div {SCROLLS}overflow-wrap:break-word">{table}'


RULES = {
    "fence": _code,
    "code_block": _code,
    "text": _text,
    "image": _image,
    "table_open": _table_open,
    "table_close": lambda *_: "</table></div>\n",
    "math_inline": formulas.inline("$"),
    "math_inline_double": formulas.inline("$$"),
    "math_block": formulas.block,
}
