"""An answer in three forms, none of which does anything."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from jupyter_ctx.display.markdown import bundle, note_html, plain_bundle, to_html, to_markdown, to_plain
from jupyter_ctx.display.tables import table_html

ALLOWED = {
    "a", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p",
    "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip


class Seen(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs


HOSTILE = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "![pixel](http://example.invalid/p.png)",
    "[click](javascript:alert(1))",
    "[click](data:text/html,<script>1</script>)",
    "<svg/onload=alert(1)>",
    "<iframe src=//example.invalid></iframe>",
    "```html\n<script>1</script>\n```",
    '```x"><script>1</script>\ncode\n```',
    "$</p><script>1</script>$",
    "<!-- <div> --><style>*{display:none}</style>",
    "[a]: javascript:1\n\n[a]",
    "| <b> |\n|---|\n| <i onclick=x> |",
    '<div class="jctx-note">forged</div>',
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_answer_is_only_text(text: str) -> None:
    seen = Seen(to_html(text))
    assert seen.tags <= ALLOWED
    assert not [name for name, _ in seen.attributes if name.startswith("on") or name in ("style", "src")]
    links = [value or "" for name, value in seen.attributes if name == "href"]
    assert all(link.startswith(("http:", "https:", "mailto:")) for link in links)
    assert ("class", "jctx-note") not in seen.attributes


@given(st.text(alphabet="<>&\"'`$*_[]()!|\\/abs=: \n#-", max_size=60))
def test_no_text_makes_an_element_of_its_own(text: str) -> None:
    assert Seen(to_html(text)).tags <= ALLOWED


@given(st.text(alphabet="<>&`~![]()ab /\n ", max_size=60))
def test_the_markdown_twin_has_no_html_outside_of_code(text: str) -> None:
    lines = to_markdown(text).split("\n")
    fenced = any(line.startswith(("```", "~~~")) for line in lines)
    assert fenced or not any(f"<{letter}" in line for line in lines for letter in "ab/!")


def test_code_keeps_its_angles_in_the_markdown_twin() -> None:
    source = "```html\n<b>bold</b>\n```\n<b>raw</b> ![i](http://u)"
    assert to_markdown(source) == "```html\n<b>bold</b>\n```\n&lt;b>raw&lt;/b> [i](http://u)"


@pytest.mark.parametrize(
    "text",
    [
        "[l](javascript:x)",
        "[l]( java&#115;cript:x)",
        "[l](data:text/html,x)",
        "[a]: javascript:x",
        "[a]:\njavascript:x",
    ],
)
def test_the_markdown_twin_links_to_the_web_only(text: str) -> None:
    assert "href" not in MarkdownIt("commonmark").render(to_markdown(text) + "\n\n[a]")


def test_plain_text_obeys_no_escape() -> None:
    assert to_plain("\x1b[31mred\x1b[0m\u202eabc\tx\r\ny") == "�[31mred�[0m�abc\tx\ny"


def test_maths_is_left_to_the_front_end_and_money_is_not_maths() -> None:
    assert "$x^2$" in to_html(r"so \(x^2\) it is")
    assert "$" not in to_html("from $5 to $10").replace("<span>$</span>", "")


def test_money_in_a_table_or_a_line_of_ours_is_not_maths() -> None:
    for drawn in (table_html(("price",), [("$5 or $10",)], ""), note_html("$5 or $10")):
        assert "$" not in drawn.replace("<span>$</span>", "")


def test_our_lines_stand_around_an_answer_in_every_form() -> None:
    forms = bundle("**yes**", ["above & <b>"], ["below"])
    assert forms["text/html"].index("above &amp; &lt;b&gt;") < forms["text/html"].index("<strong>yes</strong>")
    assert forms["text/markdown"] == "> above & &lt;b>\n\n**yes**\n\n> below"
    assert forms["text/plain"] == "[above & <b>]\n**yes**\n[below]"
    assert set(plain_bundle("yes")) == {"text/plain"}


def test_code_is_highlighted_and_an_unknown_language_is_not_an_error() -> None:
    assert 'class="highlight"' in to_html("```python\nx = 1\n```")
    assert "x = 1" in to_html("```klingon\nx = 1\n```")
