"""Code in colours, as far as that takes no time to speak of."""

from __future__ import annotations

import html
import inspect
import re
import time
from itertools import groupby, product

import pytest
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES

from jupyter_ctx.display.answer.growing import LiveOutput
from jupyter_ctx.display.answer.highlight import LONGEST_BLOCK, QUICK_LEXERS, UNCOLOURED, highlighted

# what each lexer takes longest for
SLOWEST = {
    "python": ("", "."), "javascript": ("", "T<"), "haskell": ("a ", "["), "matlab": ("", "\n"), "sql": ('"', "\\"),
}  # fmt: skip
OPENERS = ("", '"', "'", "/*", "<a ", "[", "a ", "#", "class ")
UNITS = (*"0a_-.:;,/\\*+<>=!|&%#@$~^?'\"`()[]{} \n\t\r\x1b", "a.", "a\n", "a ", '\\"', "{#", "T<", "a,", "é")


def taken(code: str, language: str) -> float:
    """Seconds of the processor's time; the lexer is made before."""
    highlighted("", language)
    begun = time.thread_time()
    highlighted(code, language)
    return time.thread_time() - begun


@pytest.mark.parametrize("language", SLOWEST)
def test_a_block_that_its_lexer_is_slow_for_is_shown_in_time(language: str) -> None:
    opener, unit = SLOWEST[language]
    code = (opener + unit * LONGEST_BLOCK)[:LONGEST_BLOCK]
    assert taken(code, language) < 0.25  # 0.2, and the clock of some machines ticks in hundredths
    assert html.unescape(re.sub(r"</?span.*?>", "", highlighted(code, language))) == code


@pytest.mark.load
@pytest.mark.parametrize("language", sorted(QUICK_LEXERS))
def test_no_lexer_is_slow_with_any_sign(language: str) -> None:
    for opener, unit in product(OPENERS, UNITS):
        code = (opener + unit * LONGEST_BLOCK)[:LONGEST_BLOCK]
        assert taken(code, language) < 0.25, (opener, unit)


def test_a_language_that_may_be_slow_is_plain() -> None:
    assert highlighted("!" * 250, "tnt") == "!" * 250
    assert highlighted("let a = <b>;", "nobody-knows-it") == "let a = &lt;b&gt;;"


def test_code_within_markdown_has_no_lexer_of_its_own() -> None:
    assert taken(f"```ini\n{'=' * 7_900}\n```\n", "markdown") < 0.25


def coloured_by_pygments(code: str, language: str) -> list[tuple[str, str]]:
    tokens = get_lexer_by_name(language, stripnl=False, ensurenl=False).get_tokens(code)
    runs = groupby(tokens, key=lambda token: STANDARD_TYPES.get(token[0], ""))
    found = [(kind, "".join(text for _, text in run)) for kind, run in runs]
    return [(kind, text) for kind, text in found if kind not in UNCOLOURED and not text.isspace()]


@pytest.mark.parametrize("language", ["python", "bash", "html", "sql", "markdown"])
def test_ordinary_code_has_the_colours_that_pygments_gives_it(language: str) -> None:
    fenced = '# Title\n\n```\npip install x\n```\n- [ ] a "0" of `b`\n<script>let a = 1;</script>\n'
    code = fenced + inspect.getsource(LiveOutput) + "def f(a: int = 0x1F) -> str:\n    return f'{a!r:>{10}}'\n"
    page = highlighted(code, language)
    spans = re.findall(r'<span class="(\w+)">(.*?)</span>', page, re.DOTALL)
    assert [(kind, html.unescape(text)) for kind, text in spans] == coloured_by_pygments(code, language)
    assert html.unescape(re.sub(r"</?span.*?>", "", page)) == code
