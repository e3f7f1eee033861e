"""Text laid out in lines: nothing is lost, no line is too long, and breaks stand between words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.errors import ChatError, ChatInterrupted
from jupyter_ctx.wording.layout import wrapped

WORDS = st.lists(st.text("abc%-", min_size=1, max_size=30), min_size=1, max_size=40)


@given(lines=st.lists(WORDS, min_size=1, max_size=4), width=st.integers(40, 100), indent=st.sampled_from(["", "  "]))
def test_wrapped_text_keeps_its_words_and_breaks_and_fits(lines: list[list[str]], width: int, indent: str) -> None:
    shown = wrapped("\n".join(map(" ".join, lines)), width, indent)
    assert shown.split() == [word for line in lines for word in line]
    assert max(map(len, shown.split("\n"))) <= width
    assert len(shown.split("\n")) >= len(lines)


def test_a_line_that_goes_on_is_indented_as_it_began() -> None:
    assert wrapped("  - one two three", 12) == "  - one two\n  three"
    assert wrapped(f"see {'x' * 30} there", 12) == f"see\n{'x' * 30}\nthere", "an address stays whole"


def test_an_error_is_shown_in_lines_that_break_between_words() -> None:
    said = "the server gave no answer; " * 20 + "run the cell again."
    for error, name in ((ChatError(said), "ChatError"), (ChatInterrupted(said), "Interrupted")):
        (text,) = error._render_traceback_()
        plain = text.replace("\x1b[31m", "").replace("\x1b[33m", "").replace("\x1b[0m", "")
        assert plain.replace("\n", " ") == f"{name}: {said}"
        assert max(map(len, plain.split("\n"))) <= 90
