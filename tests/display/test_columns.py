"""Answers side by side: while they grow, as they stay, and with their differences marked."""

from __future__ import annotations

import re
import threading
import time

import pytest
from hostile import ANSWERS
from html_pages import Seen
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from screens import Screen

from jupyter_ctx import ChatError
from jupyter_ctx.context.usage import Usage
from jupyter_ctx.display.answer.columns import AnswerColumns, Column, Frame, columns_bundle
from jupyter_ctx.display.answer.footer import Footer
from jupyter_ctx.display.answer.markdown import to_html
from jupyter_ctx.display.widgets.choice_bar import ChoiceBar
from jupyter_ctx.display.word_marks import marked_on_a_page

FOOTER = Footer("m", Usage(10, 20), 1.25, 0.0012, "stop")


def test_answers_that_grow_in_threads_of_their_own_are_one_output(screen: Screen) -> None:
    view = AnswerColumns(["a/x · t=0", "b/y · t=1", "c/z"], ["above"])
    view.begin()

    def answer(number: int) -> None:
        for count in range(50):
            view.feed(number, f"word{count} ")
            time.sleep(0.004)
        if number == 2:
            view.failed(number, "The key was refused.")
        else:
            view.done(number, Column("", f"Answer of {number}", "", FOOTER, ["cut"]))

    workers = [threading.Thread(target=answer, args=(number,)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    view.close(1, ["below"])
    assert all(set(forms) == {"text/html"} for forms in screen.shown[:-1])
    assert len(screen.shown) <= 12 * (screen.times[-1] - screen.times[0]) + 3
    shown = screen.shown[-1]["text/plain"].split("\n")
    assert shown[1:4] == ["[ctx] ── 1 · a/x · t=0 ──", "Answer of 0", "[ctx] cut"]
    assert shown[-3:] == ["".join(f"word{n} " for n in range(50)), "[ctx] The key was refused.", "[ctx] below"]
    assert "10 in · 20 out · 1.2 s · <span>$</span>0.0012" in screen.shown[-1]["text/html"]
    assert "jupyter_ctx drawing" not in {thread.name for thread in threading.enumerate()}


def test_a_terminal_has_whole_answers_in_order_with_their_figures(screen: Screen) -> None:
    view = AnswerColumns(["a", "b", "c"], ["above"], streaming=False, plain=True)
    view.begin()
    view.done(1, Column("", "second", "", FOOTER, []))
    view.failed(0, "Refused.")
    view.feed(2, "so far")
    view.close(1, ["below"])
    (forms,) = screen.shown
    assert forms.pop("text/plain").splitlines() == [
        "[ctx] above",
        "[ctx] ── 1 · a ──",
        "[ctx] Refused.",
        "[ctx] ── 2 · b (✓ used in the conversation) ──",
        "second",
        "[ctx] 10 in · 20 out · 1.2 s · $0.0012",
        "[ctx] ── 3 · c ──",
        "so far",
        "[ctx] Stopped before the answer was whole.",
        "[ctx] below",
    ]
    assert forms == {}


def test_words_that_differ_are_marked_unasked_where_answers_have_most_of_them_in_common() -> None:
    def marks(*texts: str, **compared: bool) -> int:
        columns = [Column("m", text) for text in texts]
        return columns_bundle(columns, Frame(), **compared)["text/html"].count('class="jctx-differs"')

    assert marks("The sea is calm and blue today.", "The sea is rough and blue today.") == 2
    others = "The sea is calm.", "Whales sing below the ice, and nobody hears them."
    assert marks(*others) == 0 < marks(*others, compared=True)


def test_a_run_without_a_reader_keeps_one_output_with_headings(screen: Screen) -> None:
    view = AnswerColumns(["a", "b"], ["above"], streaming=False)
    view.begin()
    view.feed(0, "one ")
    view.done(0, Column("", "one two", "", FOOTER, []))
    view.failed(1, "Refused.")
    view.close(0)
    assert len(screen.shown) == 1
    assert set(screen.shown[0]) == {"text/html", "text/markdown", "text/plain"}
    assert screen.shown[0]["text/markdown"].split("\n\n") == [
        "> **[ctx]** above",
        "**[ctx] 1 · a (✓ used in the conversation)**",
        "one two",
        "**[ctx] 2 · b**",
        "> **[ctx]** Refused.",
    ]


def test_no_answer_leaves_its_column() -> None:
    for hostile in (answer for answer in ANSWERS.values() if len(answer) < 1_000):
        both = "A plain answer.", hostile
        answers = [Column(hostile[:200], text, hostile, notices=[hostile[:500]]) for text in both]
        columns = [Column(hostile[:200], text, footer=Footer(hostile[:200])) for text in both]
        for forms in (
            columns_bundle(answers, Frame(chosen=1)),
            columns_bundle(columns, Frame(chosen=1), compared=True),
        ):
            Seen(forms["text/html"]).check(columns=True)
            assert len(re.findall('<div class="jctx-column"', forms["text/html"])) == 2
            plain = forms["text/plain"]
            assert re.findall(r"^\[ctx\] ── \d", plain, re.M) == ["[ctx] ── 1", "[ctx] ── 2"]


@pytest.mark.parametrize(
    "end", ["```\ncode", "~~~~ text\ncode\n", "```\n", "> ```\n> code", "- ```\n  code", "``` \ncode\n\n  "]
)
def test_a_fence_that_is_never_closed_ends_with_its_column(end: str) -> None:
    forms = columns_bundle([Column("a", f"text\n\n{end}"), Column("b", "**bold**")], Frame())
    page = MarkdownIt().render(forms["text/markdown"])
    assert "<strong>[ctx] 2 · b</strong>" in page
    assert "<strong>bold</strong>" in page


@pytest.mark.parametrize("end", ["```\ncode\n```", "~~~\n```\n~~~", "```\n~~~\n````", "text"])
def test_a_closed_fence_is_not_closed_again(end: str) -> None:
    assert columns_bundle([Column("a", end)], Frame())["text/markdown"].endswith(f"**\n\n{end}")


def test_an_odd_one_out_is_marked_and_not_the_others() -> None:
    texts = ["It is 42.", "It is 42.", "It is 43.", ""]
    found = [re.sub(r"<mark[^>]*>", "{", page).replace("</mark>", "}") for page in marked_on_a_page(texts)]
    assert found == ["It is 42.", "It is 42.", "It is {43}.", ""]


def test_marks_keep_markup_and_formulas_whole() -> None:
    found = marked_on_a_page(
        [to_html(f"The **{word}** $x^{number}$ & `a`") for word, number in (("red", 2), ("blue", 3))]
    )
    page = re.sub(' class="jctx-differs" style="[^"]*"', "", found[0])
    expected = "<p>The <strong><mark>red</mark></strong> <span><mark>$x^2$</mark></span> &amp; <code>a</code></p>\n"
    assert page == expected


@given(st.lists(st.text(alphabet="ab *`$<&\n|-#", max_size=60), min_size=2, max_size=4))
def test_marks_change_no_answer(texts: list[str]) -> None:
    pages = list(map(to_html, texts))
    for page, found in zip(pages, marked_on_a_page(pages), strict=True):
        assert re.sub(r"<mark[^>]*>|</mark>", "", found) == page


def test_ten_thousand_words_are_compared_in_moderate_time() -> None:
    begun = time.thread_time()
    found = marked_on_a_page(["a b " * 6_000, "b a a " * 4_000, "c " * 12_000])
    assert time.thread_time() - begun < 5
    assert "<mark" in found[2]


def shown_by(bar: ChoiceBar) -> tuple[list[str], str]:
    """The labels of its buttons, and its line."""
    row, line = bar.widget.children
    return [button.description for button in row.children], line.value


def press(bar: ChoiceBar, number: int) -> None:
    bar.widget.children[0].children[number].click()


def test_a_button_takes_an_answer_that_is_there_and_says_so() -> None:
    picked: list[int] = []
    bar = ChoiceBar(["a", "b", "c"], picked.append, missing=[1])
    assert shown_by(bar)[0][:2] == ["Use 1", "Use 3"]
    assert "No answer is used in the conversation yet" in shown_by(bar)[1]
    for _ in range(2):  # it is used already the second time
        press(bar, 1)
        labels, line = shown_by(bar)
        assert (picked, labels[:2]) == ([2], ["Use 1", "✓ 3 is used"])
        assert "Answer 3 is used: %chat undo takes it back." in line
        assert 'role="status"' in line
    bar.update(None)
    assert shown_by(bar)[0][:2] == ["Use 1", "Use 3"]


def test_an_error_of_a_button_is_shown_and_spoken() -> None:
    def refuse(number: int) -> None:
        raise ChatError(f"Turn <{number}> was deleted.")

    bar = ChoiceBar(["a", "b"], refuse)
    press(bar, 0)
    labels, line = shown_by(bar)
    assert labels[:2] == ["Use 1", "Use 2"]
    assert "Turn &lt;0&gt; was deleted." in line
    assert 'role="alert"' in line
