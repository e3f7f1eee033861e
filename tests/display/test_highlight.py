"""Code in colours, as far as that takes no time to speak of."""

from __future__ import annotations

import html
import inspect
import re
import threading
import time
from itertools import groupby

import pytest
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES

from jupyter_ctx.display.answer.highlight import UNCOLOURED, highlighted
from jupyter_ctx.display.answer.markdown import to_html
from jupyter_ctx.display.answer.partial_page import PartialPage

SIZE = 20_000
SLOW = {
    "cpp": "\n", "c": "\r", "coffeescript": "a.", "javascript+cheetah": '"', "easytrieve": "\t", "tnt": "!",
    "zeek": "0",
    "autohotkey": "\n", "csharp": "a\n", "c-objdump": " ", "devicetree": "1e", "janet": "`", "maple": "'", "ini": ":",
    "html+ng2": "[[", "lilypond": "é", "xquery": "_", "ocaml": "0", "cfc": "//", "css+django": "{#", "console": "T<",
    "luau": "a.", "scala": "|", "pug": "\n-",
}  # fmt: skip


def taken(code: str, language: str) -> float:
    """Seconds of the processor's time; the lexer is made before."""
    highlighted("", language)
    begun = time.thread_time()
    highlighted(code, language)
    return time.thread_time() - begun


@pytest.mark.parametrize(("language", "unit"), SLOW.items(), ids=SLOW)
def test_a_block_that_its_lexer_is_slow_for_is_shown_in_time(language: str, unit: str) -> None:
    code = (unit * SIZE)[:SIZE]
    assert taken(code, language) < 0.25  # 0.2, and the clock of some machines ticks in hundredths
    assert "�" not in highlighted(code, language)


@pytest.mark.parametrize("language", ["chapel", "cddl", "sql", "perl", "javascript", "rust"])
def test_a_pattern_that_tries_all_ways_is_stopped_early(language: str) -> None:
    assert taken('"' + "\\" * SIZE, language) < 0.25


def test_hostile_code_behind_much_that_is_harmless_is_shown_in_time() -> None:
    assert taken("int a = 1;\n" * 900 + "\n" * 10_000, "cpp") < 0.25
    assert taken("x = 1\n" * 1_500 + "0" * 10_000, "zeek") < 0.25


LANGUAGES = [
    "python", "javascript", "typescript", "html", "css+php", "cpp", "c", "csharp", "java", "kotlin", "go", "rust",
    "swift", "ruby", "perl", "bash", "powershell", "sql", "yaml", "json", "toml", "css", "scss", "markdown", "r",
    "julia", "haskell", "ocaml", "scala", "lua", "elpi", "alloy", "diff", "ini", "docker", "cmake",
]  # fmt: skip


def coloured_by_pygments(code: str, language: str) -> list[tuple[str, str]]:
    tokens = get_lexer_by_name(language, stripnl=False, ensurenl=False).get_tokens(code)
    runs = groupby(tokens, key=lambda token: STANDARD_TYPES.get(token[0], ""))
    found = [(kind, "".join(text for _, text in run)) for kind, run in runs]
    return [(kind, text) for kind, text in found if kind not in UNCOLOURED and not text.isspace()]


@pytest.mark.parametrize("language", LANGUAGES)
def test_ordinary_code_has_the_colours_that_pygments_gives_it(language: str) -> None:
    long = "/*" + " comment" * 300 + "*/\n'''" + "text;\n" * 300 + "'''\n" + "// line\n# line\n<!-- x -->\n" * 20
    fenced = '# Title\n\n```\npip install x\n```\n- [ ] a "0" of `b`\n<script>let a = 1;</script>\n'
    code = fenced + inspect.getsource(PartialPage) + long + "def f(a: int = 0x1F) -> str:\n    return f'{a!r:>{10}}'\n"
    page = highlighted(code, language)
    spans = re.findall(r'<span class="(\w+)">(.*?)</span>', page, re.DOTALL)
    assert [(kind, html.unescape(text)) for kind, text in spans] == coloured_by_pygments(code, language)
    assert html.unescape(re.sub(r"</?span.*?>", "", page)) == code


def test_code_is_coloured_while_another_thread_is_busy() -> None:
    over = threading.Event()
    other = threading.Thread(target=lambda: [None for _ in iter(over.is_set, True)])
    other.start()
    try:
        begun = time.monotonic()
        page = highlighted(inspect.getsource(inspect)[:10_000], "python")
        assert time.monotonic() - begun < 5
    finally:
        over.set()
        other.join()
    assert "<span" in page


def test_the_user_own_lexers_stay_as_they_are() -> None:
    before = get_lexer_by_name("cpp")._tokens
    highlighted("int a;", "cpp")
    assert get_lexer_by_name("cpp")._tokens is before


def test_all_blocks_of_an_answer_together_are_shown_in_time() -> None:
    blocks = "".join(f"```cpp\n{number}{chr(10) * 900}\n```\n\n" for number in range(20))
    to_html("```cpp\nint a;\n```")
    begun = time.thread_time()
    page = to_html(blocks)
    assert time.thread_time() - begun < 1.5
    assert page.count("<pre") == 20


def test_a_growing_answer_with_slow_code_costs_little_in_all() -> None:
    draft, text = PartialPage(), ""
    begun = time.thread_time()
    for number in range(40):
        text += f"```coffeescript\n{number}{'a.' * 400}\n```\n\nwords\n\n"
        draft.page(text)
    draft.page(text + "```coffeescript\n" + "a." * 10_000)
    assert time.thread_time() - begun < 3
