"""An answer that is not at its end."""

from __future__ import annotations

import re

import pytest
from hostile import ANSWERS
from html_pages import Seen
from hypothesis import example, given
from hypothesis import strategies as st

from jupyter_ctx.display.answer.growing_answer import MAX_PARTIAL_FORMULAS, SHEET, PartialPage, minified
from jupyter_ctx.display.answer.markdown import to_html
from jupyter_ctx.display.answer.partial_markdown import completed, finished_length

# no letter or digit in an address, after a fence or as a list's number: those are not shown
DOCUMENT = r"""# A title

Some **bold text with *more* in it** and *italic* with `code **x**` and a [link text](https://—.—/(—)) and ~~gone~~.

- one **b**
- two
   - nested `c | d`

   goes on

| Name | Value |
|------|:-----:|
| **a** | `1` |
| [b](https://—) | 2 |

> quoted *words* here
>
> | in | a quotation |
> |:--|--:|
> | x | y |

```
def f(x):
    return "``" + x  # **no**

| no | table |
|----|-------|
```

$$
\int_a^b x_1 dx = \frac{1}{2}
$$

~~~~
~~~
$$ no maths
~~~~

The end \(a_1\) of ***it***, and \[ b_2 * c_3 \] too, for $5 and 2*3 in snake_case_name.

Text before a table
| a | b |
|---|---|
| c | d |

Title
-----

* star
+ plus

***

שלום **עולם** — 天地**玄黄**宇宙。
"""
PREFIXES = [DOCUMENT[:end] for end in range(1, len(DOCUMENT) + 1)]


def text_of(page: str) -> str:
    return "".join(Seen(page).text)


def letters(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum())


def test_every_letter_that_came_is_shown_and_no_other() -> None:
    for prefix in PREFIXES:
        assert letters(text_of(to_html(completed(prefix)))) == letters(re.sub(r"(?<=]\()\w+", "", prefix)), prefix[-40:]


def test_no_half_of_a_mark_is_ever_shown() -> None:
    for prefix in PREFIXES:
        page = to_html(completed(prefix))
        outside_code = text_of(re.sub(r"<(pre|code)\b.*?</\1>|<(?:p|span)[^>]*>\$.+?\$</\w+>", "", page, flags=re.S))
        assert not re.search(r"\*\*|~~|`|\]\(|---|:-|\|", outside_code), prefix[-40:]


def test_what_is_shown_stays_what_it_is() -> None:
    """No table is a paragraph first, no code a text, no bold word plain."""
    kinds: dict[str, str] = {}
    for prefix in PREFIXES:
        for word, kind in kind_of_words(to_html(completed(prefix))).items():
            assert kinds.setdefault(word, kind) == kind, (word, prefix[-40:])


ONCE = {"Name", "Value", "bold", "return", "gone", "quotation"}


def kind_of_words(page: str) -> dict[str, str]:
    """The element that each word which stands once in the document is in."""
    found = re.findall(r"<(td|th|pre|strong|del|blockquote)\b[^>]*>([^<]*)", page)
    words = {word: kind for kind, text in found for word in re.findall(r"\w{4,}", text)}
    return {word: kind for word, kind in words.items() if word in ONCE}


COMPLETED = {
    "**bold": "**bold**",
    "***a** b": "***a** b*",
    "`co": "`co`",
    "``a`": "``a``",
    "**see `x": "**see `x`**",
    "a [text](http": "a text",
    "| a | b": "| a | b\n|---|---|",
    "```py\nx\n``": "```py\nx\n",
    "> ```\n> x\n> `": "> ```\n> x\n",
    "$$\nx^2": "~~~\nx^2",
    r"so \(x": "so ` x `",
    "Title\n==": "Title",
    "a\n- ": "a",
    "2 * 3 and 4*5": "2 * 3 and 4*5",
    r"\*not": r"\*not",
}


@pytest.mark.parametrize("source", COMPLETED)
def test_what_is_open_is_closed(source: str) -> None:
    assert completed(source) == COMPLETED[source]


@given(st.text(alphabet="a1 \n*_`~|-:[]()$\\>#!\t=+.", max_size=80))
@example("| a |\n|")
def test_any_beginning_can_be_completed_and_shows_its_letters(text: str) -> None:
    shown = letters(text_of(to_html(completed(text))))
    not_text = r"]\s*[(:]|```|~~~|\d[.)]"  # addresses, languages, numbers of lists
    assert shown == letters(text) or re.search(not_text, text)


def test_finished_blocks_are_not_rendered_again_and_the_page_is_the_same() -> None:
    draft = PartialPage()
    for prefix in PREFIXES[: DOCUMENT.index("שלום")]:
        page = draft.page(prefix, colourful=False)
        left = {"coloured": 0, "formulas": MAX_PARTIAL_FORMULAS}
        assert page.removeprefix(SHEET) == minified(to_html(completed(prefix), left)), prefix[-40:]


def test_code_has_its_colours_when_it_is_finished_and_keeps_them() -> None:
    draft, code = PartialPage(), "```python\nx = 1\n```\n\n"
    assert "<span" not in draft.page(code)
    assert "<span" in draft.page(code + "And")
    assert "<span" in draft.page(code + "And so on.\n\nMore", colourful=False)


def test_a_list_that_may_go_on_is_not_finished() -> None:
    assert finished_length("- a\n\n- b\n\n  c") == 0
    assert finished_length("- a\n\nText") == len("- a\n\n")
    assert finished_length("```\na\n\nb") == 0
    assert finished_length("$$\na\n\nb") == 0


def test_a_lean_page_is_the_same_page() -> None:
    source = DOCUMENT.replace("```\n", "```python\n", 1)
    full, small = Seen(to_html(source)), Seen(minified(to_html(source)))
    assert "".join("".join(small.text).split()) == "".join("".join(full.text).split())
    assert small.tags == full.tags - {"strong", "em"} | {"b", "i"}
    assert len(minified(to_html(source))) < 0.85 * len(to_html(source))


def test_hostile_answers_are_harmless_while_they_grow() -> None:
    for answer in (answer for answer in ANSWERS.values() if len(answer) < 1_000):
        draft = PartialPage()
        for end in range(1, len(answer) + 1, 7):
            Seen(draft.page(answer[:end])).check()


def test_only_so_many_formulas_are_set_while_it_grows_and_all_in_the_end() -> None:
    source = "".join(f"Formula {number} is $x_{{{number}}}$ there.\n\n" for number in range(MAX_PARTIAL_FORMULAS + 5))
    draft, page = PartialPage(), ""
    for end in range(0, len(source) + 1, 7):
        page = draft.page(source[:end])
    assert page.count("<span>$x_") == MAX_PARTIAL_FORMULAS
    assert page.count("<code>$x_") == 5
    assert to_html(source).count("<span>$x_") == MAX_PARTIAL_FORMULAS + 5
