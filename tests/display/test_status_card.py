"""The card of %chat status: a sum that adds up in what is displayed, and only what differs from the default."""

from __future__ import annotations

import re
from dataclasses import replace

from gauge_readings import info
from hostile import NAMES
from html_pages import Seen
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx import Chat
from jupyter_ctx.context.budget import Budget
from jupyter_ctx.context.context_info import ContextInfo, segments_of
from jupyter_ctx.context.windows import ContextWindow
from jupyter_ctx.display.status_card import Status, status_forms, status_text

LINE = re.compile(r"^([−= ]) +(~?)([\d,−]+)  (.*)$", re.M)
SIZES = st.integers(0, 400_000)
WINDOWS = st.builds(
    ContextWindow,
    st.integers(1, 400_000),
    max_input_tokens=st.none() | st.integers(1, 400_000),
    source=st.sampled_from(["models.json", "assumed", "learned"]),
    refused=st.none() | st.integers(1, 400_000),
)


def displayed(text: str) -> list[tuple[str, int, str]]:
    """The signs, figures and labels of the sum as they stand in the text."""
    found = LINE.findall(text)
    return [(sign, int(figure.replace(",", "").replace("−", "-")), label) for sign, _, figure, label in found]


@given(WINDOWS, SIZES, st.lists(SIZES, min_size=6, max_size=6), st.sampled_from([1.0, 0.7]), st.booleans())
def test_every_result_is_what_the_displayed_figures_above_it_come_to(
    window: ContextWindow, reserve: int, sizes: list[int], share: float, exact: bool
) -> None:
    names = ("template", "system", "pinned", "summary", "earlier turns", "this turn")
    budget = Budget(window, reserve, sum(sizes[:4]), sum(sizes), exact, share=share)
    now = ContextInfo("m", budget, segments_of(zip(names, sizes, strict=True)), 4, 1, 5)
    total, results = None, []
    for sign, figure, _ in displayed(status_text(Status(now))):
        if sign == "=":
            assert total in (None, figure)
            results.append(figure)
        total = figure if sign != "−" else (total or 0) - figure
    assert results == [budget.limit, budget.headroom]


def test_a_cap_on_the_input_is_a_line_of_the_sum() -> None:
    chat = Chat("openai/gpt-5.2")
    sums = displayed(status_text(Status(chat.info())))
    assert [figure for _, figure, _ in sums] == [400_000, 128_000, 272_000, 272_000]
    assert "cap on input" in sums[1][2]


def test_estimates_are_marked_and_counts_are_not() -> None:
    for exact in (True, False):
        marks = LINE.findall(status_text(Status(info(640, exact=exact))))
        assert [about for _, about, _, _ in marks[3:]] == ["" if exact else "~"] * 3


def test_it_says_what_the_next_send_does() -> None:
    over = info(1_200)
    assert "The next send leaves out 2 turns." in status_text(Status(over))
    assert "The next send summarises 2 turns." in status_text(Status(replace(over, on_overflow="summarise")))
    assert "is not sent" in status_text(Status(replace(over, on_overflow="stop", will_leave=0, will_stop=True)))
    assert "leaves nothing out" in status_text(Status(info(100)))
    assert ("=", -200) in [line[:2] for line in displayed(status_text(Status(over)))], "a negative rest has its sign"


def test_a_terminal_gets_the_sum_and_few_lines_more() -> None:
    settings = (("set here", ("temperature 0.2", "on_overflow summarise")), ("at the start", ("max_tokens 16",)))
    said = status_text(Status(info(640), settings=settings, notes=("Price: $1.00 in, $2.00 out",)))
    assert "temperature 0.2, on_overflow summarise (set here); max_tokens 16 (at the start)" in " ".join(said.split())
    assert len(said.splitlines()) <= 12
    assert max(map(len, said.splitlines())) <= 100
    assert "Different" not in status_text(Status(info(640)))


def test_hostile_names_and_settings_become_no_markup() -> None:
    for text in NAMES.values():
        status = Status(info(640, model=text), text, settings=[(text, [text])], notes=[text])
        forms = status_forms(status)
        page = Seen(forms["text/html"])
        assert page.tags == {"div", "b", "span", "table", "tbody", "tr", "td"}
        assert not page.odd
        assert {name for _, name, _ in page.attributes} == {"class", "style"}
        assert not re.search(r"<(?=[a-z/!])", forms["text/markdown"], re.I)
        assert not re.search("[\x00-\x08\x1b\u202e]", "".join(forms.values()))


def test_its_html_needs_no_variable_of_a_theme() -> None:
    page = Seen(status_forms(Status(info(640)))["text/html"])
    for _, name, value in page.attributes:
        if name == "style":
            plain = {part.split(":")[0] for part in value.split(";") if "var(" not in part}
            themed = {part.split(":")[0] for part in value.split(";") if "var(" in part} - {"color"}
            assert themed <= plain | {"border-color"}
