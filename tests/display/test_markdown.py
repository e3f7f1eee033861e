"""An answer in three forms, none of which does anything."""

from __future__ import annotations

import html
import re
import time

import pytest
from hostile import ANSWERS, NAMES
from html_pages import ALLOWED, VALUES, Seen
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from jupyter_ctx.display.answer import markdown
from jupyter_ctx.display.answer.formulas import UNSAFE
from jupyter_ctx.display.answer.markdown import MimeBundle, bundle, to_html, to_markdown, with_sources
from jupyter_ctx.display.tables import table_html
from jupyter_ctx.display.text import CONTROL_CHARACTERS, note_html, to_plain

pytestmark = pytest.mark.core


@pytest.mark.parametrize("name", ANSWERS)
def test_a_hostile_answer_is_only_text_in_all_its_forms(name: str) -> None:
    begun = time.thread_time()
    forms = MimeBundle.of(ANSWERS[name])
    assert time.thread_time() - begun < 5
    page = forms.html
    seen = Seen(page)
    seen.check()
    assert not {value for _, kind, value in seen.attributes if kind == "class" and value.startswith("jctx")}
    assert not CONTROL_CHARACTERS.search("".join(seen.text))
    _expect_formulas_alone(page)
    assert not CONTROL_CHARACTERS.search(forms.plain)
    if len(ANSWERS[name]) > 20_000:
        return  # no other viewer's time is ours
    other = Seen(MarkdownIt("commonmark").enable("table").render(forms.markdown))  # with raw HTML
    assert other.tags <= ALLOWED
    assert all(re.fullmatch(VALUES["href"], link) for _, kind, link in other.attributes if kind == "href")
    assert not CONTROL_CHARACTERS.search("".join(other.text))


def _expect_formulas_alone(page: str) -> None:
    """MathJax finds nothing that does more than set a formula."""
    page = re.sub(r"<(pre|code)\b.*?</\1>", "<br>", page, flags=re.S)  # passed over
    for text in re.split("<[^>]*>", page):  # each element's text is looked at alone
        assert not UNSAFE.search(html.unescape(text))
        assert len(text) == 1 or "\\" not in text or text.startswith("$")


def test_a_hostile_name_in_a_line_of_ours_is_only_text() -> None:
    for name in NAMES.values():
        note = f"Sent to {name}."
        Seen(note_html(note)).check()
        forms = bundle("yes", [note, "```\n<script>1</script>\n```\n<b>"])
        assert re.findall("<[a-z/]", forms["text/markdown"]) == []
        assert MarkdownIt("commonmark").render(forms["text/markdown"]).count("<strong>[ctx]</strong>") == 2


@pytest.mark.parametrize("name", ANSWERS)
def test_a_hostile_title_is_the_text_of_a_link_to_its_own_page(name: str) -> None:
    title, end = ANSWERS[name][:200], "https://evil.example/a_(b)?c=[d]&e=<f>$g$"
    forms = bundle(with_sources("Yes.", [("https://good.example/", title), (end, ""), ("javascript:alert(1)", title)]))
    seen = Seen(forms["text/html"])
    seen.check()
    links = [value for _, kind, value in seen.attributes if kind == "href"]
    other = Seen(MarkdownIt("commonmark").render(forms["text/markdown"]))
    assert [value for _, kind, value in other.attributes if kind == "href"] == links
    assert [link.split("/")[2] for link in links] == ["good.example", "evil.example"]
    assert not set(links[1]) & set("()[]<>$")
    assert {"— good.example", "— evil.example"} <= {text[-14:] for text in seen.text}
    _expect_formulas_alone(forms["text/html"])
    assert not CONTROL_CHARACTERS.search(forms["text/plain"])


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


def test_plain_text_obeys_no_escape() -> None:
    assert to_plain("\x1b[31mred\x1b[0m\u202eabc\tx\r\ny") == "�[31mred�[0m�abc\tx\ny"


def test_maths_is_left_to_the_front_end_and_money_is_not_maths() -> None:
    assert "$x^2$" in to_html(r"so \(x^2\) it is, and \(a\)")
    for drawn in (to_html("$5 or $10"), table_html(("price",), [("$5 or $10",)], ""), note_html("$5 or $10")):
        assert "$" not in drawn.replace("<span>$</span>", "")


def test_our_lines_stand_around_an_answer_in_every_form() -> None:
    forms = bundle("**yes**", ["above & <b>"], ["below"])
    assert forms["text/html"].index("above &amp; &lt;b&gt;") < forms["text/html"].index("<strong>yes</strong>")
    assert forms["text/markdown"] == "> **[ctx]** above &amp; &lt;b&gt;\n\n**yes**\n\n> **[ctx]** below"
    assert forms["text/plain"] == "[ctx] above & <b>\n**yes**\n[ctx] below"


def test_colouring_loses_no_sign_and_has_its_end() -> None:
    code = "\n\n  x = 'a'\t# b\n\n\n"
    assert "".join(Seen(to_html(f"```python\n{code}```")).text).rstrip("\n") == code.rstrip("\n")
    assert "<span" in to_html("```python\n" + "x = 1\n" * 100 + "```")
    assert "<span" not in to_html("```python\n" + "x = 1\n" * 4_000 + "```")


def test_code_that_looks_like_our_label_is_shown_as_it_is() -> None:
    code = "seen[ctx] = 1"
    forms = bundle(f"`{code}`\n\n    {code}\n\n```\n{code}\n```")
    assert "".join(Seen(forms["text/html"]).text).count(code) == 3
    assert forms["text/markdown"].count(code) == forms["text/plain"].count(code) == 3


def test_headings_are_below_the_notebooks_own_and_out_of_its_table_of_contents() -> None:
    page = to_html("# One\n\nTwo\n---\n\n###### Six")
    assert re.findall(r'<(h\d) class="jp-toc-ignore" style="font-size:([^;]*);', page) == [
        ("h4", "1.2em"), ("h5", "1.1em"), ("h6", "0.8em"),
    ]  # fmt: skip
    assert re.findall(r"</(h\d)>", page) == ["h4", "h5", "h6"]


def test_cells_begin_at_the_left_unless_markdown_says_another_side() -> None:
    page = to_html("| a | b |\n|---|--:|\n| 1 | 2 |")
    assert re.findall(r'<t[hd] style="text-align:(\w+)">', page) == ["left", "right"] * 2
    assert 'style="text-align:start"' in to_html("| שלום | b |\n|---|--:|\n| 1 | 2 |")


def test_each_block_of_a_right_to_left_answer_reads_its_own_way() -> None:
    page = to_html("שלום\n\n- אחת `x`\n- two\n\n> ציטוט\n\nEnglish\n\n```\nשלום\n```")
    assert page.count('<p dir="auto" style="text-align:start">') == 2
    assert '<ul dir="auto">' in page
    assert '<blockquote dir="auto">\n<p style="text-align:start">' in page
    assert '<pre dir="ltr"' in page
    assert '<code dir="ltr">' in page
    assert re.search(r'<h4 [^>]*style="[^"]*;text-align:start" dir="auto">', to_html("# כותרת"))
    assert "dir=" not in to_html("English, 中文 and **bold**\n\n- one")


def test_words_between_the_signs_of_formulas_and_brackets_in_code_stay_as_they_are() -> None:
    for text in (
        r"In sed, use \( and \) to group",
        r"Type \(yes\) or \(no\)",
        "In bash, $$ is the PID and **so** is $!",
    ):
        shown = "".join(Seen(to_html(text)).text).strip()
        assert shown == text.replace("**", "")


def test_wide_code_and_tables_scroll_by_the_keyboard_too() -> None:
    page = to_html("```\nx\n```\n\n| a |\n|---|\n| b |")
    assert page.count('tabindex="0" style="overflow-x:auto;') == 2


@pytest.mark.parametrize(
    "source", [r"\(\frac{a}{b}\)", r"$\sum_{i=1}^n \text{so} \color{red}{x}$", "$$\n\\hspace{1em}\n$$"]
)
def test_ordinary_maths_is_set(source: str) -> None:
    assert "<code" not in to_html(source)
    assert "<pre" not in to_html(source)


def test_maths_that_does_more_is_shown_as_it_was_written() -> None:
    assert r"<code>$\href{http://x}{y}$</code>" in to_html(r"$\href{http://x}{y}$")
    assert "$href{http://x}{y}$" in to_markdown(r"$\href{http://x}{y}$")


def test_what_can_not_be_rendered_is_shown_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown.formulas, "to_dollars", lambda _: 1 / 0)
    assert to_html("**a** <b>") == "<pre>**a** &lt;b&gt;</pre>"


@pytest.mark.parametrize(
    ("info", "kept"),
    [("python", "python"), ('x"><script>1</script>', "x"), ('c++ jctx-note" onclick=1', "c++"), ("", "")],
)
def test_the_language_of_code_is_a_word_and_nothing_more(info: str, kept: str) -> None:
    assert to_markdown(f"````{info}\n1\n````") == f"````{kept}\n1\n````"
