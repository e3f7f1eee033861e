"""What went with a prompt: the line above its answer, its parts in tables of turns, and the bounds of both."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from dialects import DIALECTS
from hostile import ANSWERS, NAMES
from html_pages import Seen
from images import PIXEL
from kernels import Kernel, error
from PIL import Image
from server import serve

from jupyter_ctx import Chat
from jupyter_ctx.attachments.attached import Attached
from jupyter_ctx.conversation.messages import Attachment
from jupyter_ctx.display.answer.attachment_summary import (
    MOST_IN_TABLE,
    MOST_SENT_TEXT,
    AttachmentSummary,
    summary_bundle,
)
from jupyter_ctx.magics.answer_parts import forms_of, thumbnail
from jupyter_ctx.testing import ScriptedProvider

SENT = 'class="jctx-sent"'
LINE = "With df (40 of 12,000 rows, ~3,100 tokens)."
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'


def image(width: int, height: int, kind: str = "PNG", mode: str = "RGB") -> bytes:
    """An image of noise, which no format makes small."""
    channels = len(Image.new(mode, (1, 1)).getbands())
    made, file = Image.frombytes(mode, (width, height), Random(1).randbytes(channels * width * height)), BytesIO()
    made.save(file, kind)
    return file.getvalue()


def file(data: bytes, media_type: str = "image/png", name: str = "a.png") -> Attachment:
    return Attachment(name, media_type, data, 410)


# pictures


@pytest.mark.parametrize(("kind", "mode"), [("PNG", "RGB"), ("JPEG", "RGB"), ("GIF", "L")])
def test_a_small_picture_shows_the_image_within_its_bytes(kind: str, mode: str) -> None:
    address = thumbnail(file(image(900, 600, kind, mode)))
    head, _, body = address.partition(";base64,")
    assert head == "data:image/webp"
    assert len(address) <= 15_000
    width, height = Image.open(BytesIO(b64decode(body))).size
    assert abs(width / height - 1.5) < 0.05


@pytest.mark.parametrize(
    "attachment",
    [
        file(SVG, "image/svg+xml"),
        file(SVG),
        file(b"%PDF-1.7", "application/pdf"),
        file(PIXEL),
        file(image(90, 60)[:200]),
        file(b""),
    ],
    ids=["svg", "svg named png", "pdf", "head alone", "cut", "empty"],
)
def test_what_is_no_image_that_can_be_drawn_has_no_picture(attachment: Attachment) -> None:
    assert thumbnail(attachment) == ""


# the line


def test_each_form_says_what_went_along() -> None:
    part = AttachmentSummary("df", "df:\n```\n<b>\n```", more="-a df:all sends more")
    forms = summary_bundle(LINE, [part], plain=False)
    assert forms["text/plain"] == f"[ctx] {LINE} -a df:all sends more."
    assert forms["text/markdown"].replace("\\", "") == f"> **[ctx]** {LINE} -a df:all sends more."
    assert f"<summary>{LINE}</summary>" in forms["text/html"]
    assert "&lt;b&gt;" in forms["text/html"]
    assert " open" not in forms["text/html"]
    assert summary_bundle(LINE, [part], plain=True) == {"text/plain": forms["text/plain"]}


def test_hostile_names_and_texts_stay_texts() -> None:
    picture = "data:image/png;base64,AAAA"
    for text in (*NAMES.values(), *(answer for answer in ANSWERS.values() if len(answer) < 5_000)):
        forms = summary_bundle(f"With {text}.", [AttachmentSummary(text, text, [picture], text)], plain=False)
        page = Seen(forms["text/html"])
        assert page.tags <= {"div", "details", "summary", "span", "img"}
        assert not page.odd
        assert {value for _, name, value in page.attributes if name == "src"} <= {picture}
        assert not [name for _, name, _ in page.attributes if name.startswith(("on", "href", "id"))]
        assert not re.search(r"<(?=[a-z/!])", forms["text/markdown"], re.I)


# in cells

MAKE = """from PIL import Image
import pandas as pd
fig, df = Image.new("RGB", (640, 480), "red"), pd.DataFrame({"n": range(12_000)})"""


@pytest.fixture
def asked(kernel: Kernel) -> Iterator[Kernel]:
    with serve(DIALECTS["completions"].answer("Fine.")) as (url, _):
        assert error(kernel.run(f"%load_ext jupyter_ctx\n%chat use gpt-5.2 --base-url {url}\n{MAKE}")) is None
        yield kernel


def lines(outputs: list[dict[str, Any]]) -> list[str]:
    """What was sent to the page with such a line in it, after which the answer came."""
    pages = [str(message["content"].get("data", {}).get("text/html", "")) for message in outputs]
    found = [index for index, page in enumerate(pages) if SENT in page]
    answers = [index for index, page in enumerate(pages) if "jctx-answer" in page]
    assert not found or found[0] < answers[0]
    return [pages[index] for index in found]


@pytest.mark.parametrize(
    ("options", "named", "pictures", "folds"),
    [
        ("-a fig -a df", ["With fig (640 × 480, ~360 tokens) and df (", "of 12,000 rows, ~"], 1, 1),
        ("-a fig -n 2", ["With fig (640 × 480, ~360 tokens)."], 1, 0),
        ("--error", ["error of cell ["], 0, 1),
        ("-a 'notes &amp; <b>.txt'", ["notes &amp;amp; &lt;b&gt;.txt"], 0, 1),
    ],
)
def test_the_line_is_sent_once_and_before_the_answer(
    asked: Kernel, tmp_path: Path, options: str, named: list[str], pictures: int, folds: int
) -> None:
    asked.run(f"import os; os.chdir({str(tmp_path)!r})")
    asked.run("open('notes &amp; <b>.txt', 'w').write('The sea is blue.')\n1 / 0")
    (page,) = lines(asked.run(f"%%chat {options}\nWhat is it?"))
    assert all(name in page for name in named)
    assert (page.count("<img "), page.count("<details")) == (pictures, folds)
    assert len(page) < 15_000 * pictures + 2 * MOST_SENT_TEXT


def test_a_stored_answer_says_it_too(asked: Kernel) -> None:
    for _ in range(2):
        (page,) = lines(asked.run("%%chat -a fig\nSee.", "c"))
        assert "With fig (640 × 480, " in page
    assert lines(asked.run("%%chat\nAlone?")) == []


# parts in tables

PLOT = file(image(900, 600), name="fig")
FRAME = Attached("df", "df:\n```\na  b\n1  2\n```", what="40 of 12,000 rows, about 3,100 tokens")
FIGURE = Attached("fig", "fig: an image.", (PLOT,), "300 × 200, about 410 tokens")
AGAIN = Attached("plot", "plot: an image.", (file(PLOT.data, name="plot"),), "300 × 200")
NOTES = Attached("notes.txt", "File notes.txt:\n```\n\n\nThe sea.\n```")


def talk(store: str | None = None) -> Chat:
    return Chat(
        provider=ScriptedProvider("A line.", takes=frozenset({"image"})), store=store, name="c" if store else None
    )


def test_parts_have_their_texts_and_files_and_sum_to_their_message(address: str) -> None:
    chat = talk(address)
    attached = [FRAME, FIGURE, NOTES]
    before = chat.preview("What is it?", attachments=attached).messages[-1]
    chat.send("What is it?", attachments=attached)
    chat.close()
    for asked in (before, chat.preview("And?").messages[0], talk(address).preview("And?").messages[0]):
        parts = asked.parts
        assert [part.text for part in parts] == ["What is it?", *(each.text for each in attached)]
        assert [part.files for part in parts] == [(), (), (PLOT,), ()]
        assert sum(part.tokens for part in parts) == asked.tokens
        assert parts[2].tokens > max(part.tokens for part in (parts[0], parts[1], *parts[3:]))
    assert before.parts[2].tokens == pytest.approx(410, abs=9)
    assert chat.preview("Alone").messages[-1].parts == ()


def test_turns_of_a_file_tell_their_attachments_as_one_part(tmp_path: Path) -> None:
    chat, again = talk(), talk()
    chat.send("What is it?", attachments=[FRAME, FIGURE])
    again.load(chat.export(tmp_path / "talk.json"))
    typed, rest = again.preview("And?").messages[0].parts
    assert (typed.text, rest.source) == ("What is it?", f"{FRAME.said}, {FIGURE.said}")
    assert [file.data for file in rest.files] == [PLOT.data]
    assert rest.text.startswith(FRAME.text)


def _tokens(line: str) -> int:
    """The tokens of a row of a table, behind its texts."""
    return int(re.findall(r" ~?([\d,]+)(?=  |$)", line)[-1].replace(",", ""))


def test_tables_list_the_parts_below_their_message_and_their_tokens_add_up() -> None:
    chat = talk()
    chat.send("What is it?", attachments=[FRAME, FIGURE])
    names = ["typed", "df (40 of 12,000 rows)", "fig (300 × 200)"]
    for forms, count in ((forms_of(chat.preview("And?")), 3), (forms_of(chat.history()), 4)):
        lines = forms["text/plain"].splitlines()
        first = next(place for place, line in enumerate(lines) if "↳" in line)
        whole, *parts = (_tokens(line) for line in lines[first - 1 : first + count])
        assert [name in line for name, line in zip(names, lines[first:], strict=False)] == [True] * 3
        assert whole == sum(parts)
        assert forms["text/html"].count("<img ") == 1
        assert "1  2" in forms["text/html"]
    assert "↳ df" in repr(chat.preview("And?"))


def test_the_newest_parts_of_a_long_history_unfold() -> None:
    chat = talk()
    for number in range(12):
        long = Attached(f"text{number}", f"text{number}:\n```\n{'z' * 9_000}\n```", what="all")
        chat.send("Look.", attachments=[long])
    page = forms_of(chat.history())["text/html"]
    assert page.count("z") <= MOST_IN_TABLE
    assert page.rindex("zzz") > page.rindex("text11 (all)")
    assert "text0 (all)" in page
