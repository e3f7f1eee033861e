"""Values of any class become text that fits, whatever their own code does."""

from __future__ import annotations

import time
from collections import defaultdict, namedtuple
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from cells import Cells
from hypothesis import given
from hypothesis import strategies as st
from IPython.display import HTML, Markdown

from jupyter_ctx import Chat, InvalidRequestError
from jupyter_ctx.attachments.attached import Attached, TextRoom
from jupyter_ctx.attachments.attached_values import attached_value
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.session.attaching import attachment_of
from jupyter_ctx.testing import ScriptedProvider, count_characters

KEY = "sk-proj-abcdefghijklmnopqrstuvwx0123456789"


def attached(value: Any, tokens: int = 2_000) -> Attached:
    return attached_value("x", value, TextRoom(tokens, count_characters), Redactor())


def body(value: Any, tokens: int = 2_000) -> str:
    """What stands in the fence."""
    lines = attached(value, tokens).text.split("\n")
    assert lines[0] == "x:"
    assert lines[1] == lines[-1]
    return "\n".join(lines[2:-1])


Point = namedtuple("Point", "x y")


@dataclass
class Run:
    name: str
    losses: list[float] = field(default_factory=list)
    secret: str = field(default="hidden", repr=False)


class Plain:
    def __init__(self) -> None:
        self.size, self._inner = 3, 4


class Worded:
    def __str__(self) -> str:
        return "digraph { a -> b }"


class Marked:
    def __init__(self, found: Any = "**bold**") -> None:
        self.found = found

    def _repr_markdown_(self) -> Any:
        return self.found


CIRCLE: list[Any] = [1]
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\0b\ud800", "a\ufffdb\ufffd"),
        ({"a": [1, 2.5, None]}, "{'a': [1, 2.5, None]}"),
        ({3, 1, 2}, "{1, 2, 3}"),
        (set(), "set()"),
        (defaultdict(list, a=[1]), "defaultdict(<class 'list'>, {'a': [1]})"),
        (Point(1, "b"), "Point(x=1, y='b')"),
        (Run("first", [0.5]), "Run(name='first', losses=[0.5])"),
        (Plain(), "Plain(size=3)"),
        (Worded(), "digraph { a -> b }"),
        (Marked(), "**bold**"),
        (Marked(None), "Marked(found=None)"),
        (HTML("<b>bold</b>"), "bold"),
        (HTML("<table><tr><th>a<th>b</tr>\n<tr><td><p>1</p></td><td>2</td></tr></table>"), "a | b\n1 | 2"),
        (
            HTML("<h2>One</h2><script>bad()</script><ul><li>x<br>y</ul><pre>a\n  b</pre>"),
            "One\n\n  • x\n    y\na\n  b",
        ),
        (HTML("<iframe src='x'>"), "<IPython.core.display.HTML object>"),
        (Markdown("# Head"), "# Head"),
        (b"\x00\xff", r"b'\x00\xff'"),
        ([object()], "[<object object>]"),
        ({object(): Plain}, "{<object object>: <class 'test_values.Plain'>}"),
        ([{"a": ["x" * 90]}] * 2, f"[{{'a': ['{'x' * 90}']}},\n {{'a': ['{'x' * 90}']}}]"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_is_written_as_python_writes_it(value: Any, text: str) -> None:
    assert body(value) == text
    assert attached(value).what.startswith("about ")


MANY: dict[str, Any] = {
    "list": list(range(1_000_000)),
    "dict": {n: str(n) for n in range(1_000_000)},
    "text": "word " * 2_000_000,
    "bytes": bytes(5_000_000),
    "text in a list": ["x" * 10_000_000, "y"],
}
deep: list[Any] = []
for _ in range(100_000):
    deep = [deep]
MANY["deep"] = deep
MANY["circle"] = CIRCLE


@pytest.mark.parametrize("name", MANY)
def test_a_huge_value_is_cut_to_its_room_quickly_and_says_so(name: str) -> None:
    begun = time.monotonic()
    found = attached(MANY[name], 500)
    assert time.monotonic() - begun < 1
    assert count_characters(found.text) <= 500
    assert count_characters(found.text) > 300 or name in ("deep", "circle")
    assert "…" in found.text
    assert " of " in found.what or found.what.startswith("long parts shortened")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=300) | st.binary(max_size=50),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=20), inner, max_size=20),
    max_leaves=60,
)


@given(
    VALUES.filter(lambda value: value is not None and (value != "" and str(value).strip() != "")), st.integers(0, 300)
)
def test_no_value_takes_more_than_its_room_or_is_cut_without_a_word(value: Any, tokens: int) -> None:
    room = TextRoom(tokens, count_characters)
    if tokens < 40:  # where there may be no room for what must be said
        with suppress(InvalidRequestError):
            assert count_characters(attached_value("x", value, room, Redactor()).text) <= tokens
        return
    found = attached_value("x", value, room, Redactor())
    assert count_characters(found.text) <= tokens
    if not found.what.startswith("about"):
        assert "…" in found.text


@given(st.text(alphabet="ab`\n🙂", min_size=1, max_size=3_000).filter(str.strip), st.integers(20, 200))
def test_a_long_text_keeps_its_beginning_and_its_end(text: str, tokens: int) -> None:
    found = body(text, tokens)
    if found != text:
        head, _, tail = found.partition("\n… ")
        left_out, _, tail = tail.partition(" characters left out …\n")
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(head) + int(left_out.replace(",", "")) + len(tail) == len(text)


class Hostile:
    """A repr that does what the test says."""

    def __init__(self, act: Any) -> None:
        self.act = act

    def __repr__(self) -> str:
        return self.act()  # type: ignore[no-any-return]


def fails() -> str:
    raise RuntimeError(f"no connection with {KEY}")


def recurses() -> str:
    return recurses()


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (fails, "RuntimeError: no connection with ***"),
        (recurses, "RecursionError"),
        (lambda: 5, "TypeError: __repr__ returned non-string"),
    ],
)
def test_a_repr_that_fails_is_an_error_that_names_the_value_and_the_exception(act: Any, words: str) -> None:
    with pytest.raises(InvalidRequestError) as raised:
        attached([Hostile(act)])
    assert str(raised.value).startswith("x ")
    assert words in str(raised.value)
    assert KEY not in str(raised.value)


def test_what_a_repr_prints_and_displays_does_not_reach_the_cell(cells: Cells) -> None:
    cells.shell.user_ns["attached"] = attached
    cells.run("""
import sys, warnings
class Loud:
    def __repr__(self):
        print("loud"); print("louder", file=sys.stderr); warnings.warn("loudest"); display("on the page")
        return "quiet"
""")
    assert cells.run("found = attached(Loud())").strip() == ""
    assert "quiet" in cells.shell.user_ns["found"].text


@given(st.integers(0, 300), st.integers(20, 60))
def test_a_key_is_blanked_wherever_a_text_is_cut(before: int, tokens: int) -> None:
    found = attached("a " * before + KEY + " b" * 200, tokens)
    assert KEY[:16] not in found.text
    assert KEY[-16:] not in found.text


# in scripts


def test_a_script_attaches_values_named_by_their_types() -> None:
    provider = ScriptedProvider()
    chat = Chat(provider=provider)
    chat.send("Look:", attachments=[{"a": 1}, {"b": 2}, attachment_of(chat.session, "mine", [3])])
    sent = provider.requests[-1].messages[-1].content
    assert "dict:\n```\n{'a': 1}\n```\n\ndict 2:\n```\n{'b': 2}\n```\n\nmine:\n```\n[3]\n```" in sent
    assert [source.partition(" (")[0] for source in chat.turns[0].record.sources] == ["dict", "dict 2", "mine"]
