"""Images whose size cannot be told are sent all the same, with a guess."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from cells import Cells
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from jupyter_ctx import ChatError
from jupyter_ctx.attachments.attached import TextRoom, with_attached
from jupyter_ctx.attachments.files_and_pages import MOST_BYTES, attached_file
from jupyter_ctx.attachments.images import guessed_tokens
from jupyter_ctx.context.vision import MAX_IMAGE_TOKENS, MIN_IMAGE_TOKENS
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.testing import count_characters

ROOM = TextRoom(2_000, count_characters)


def saved(kind: str) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (600, 500)).save(data, kind)
    return data.getvalue()


IMAGES = {f"image/{kind}": saved(kind) for kind in ("png", "jpeg", "gif", "webp")}


@pytest.mark.parametrize("kind", IMAGES)
def test_an_image_is_guessed_by_its_pixels(kind: str) -> None:
    assert guessed_tokens(kind, IMAGES[kind]) == 600 * 500 // 750


@given(st.sampled_from(sorted(IMAGES)), st.integers(3, 30), st.binary(max_size=200))
def test_an_odd_image_has_a_guess(kind: str, kept: int, rest: bytes) -> None:
    assert MIN_IMAGE_TOKENS <= guessed_tokens(kind, IMAGES[kind][:kept] + rest) <= MAX_IMAGE_TOKENS


def test_only_regular_files_are_read_and_none_that_is_too_large(cells: Cells, tmp_path: Path) -> None:
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    with large.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    for path in ("/dev/zero", "/dev/tty", pipe, tmp_path):
        assert f"{path} " in str(cells.fail(f"%%chat -a {path}\nx"))
    assert "32,000,000 bytes" in str(cells.fail(f"%%chat -a {large}\nx"))


def test_a_text_goes_without_its_byte_order_mark_and_in_utf_8_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes("Größe: 5 €".encode("utf-8-sig"))
    assert "Größe: 5 €" in attached_file(path, Redactor(), ROOM).text
    path.write_bytes("Größe".encode("latin-1"))
    with pytest.raises(ChatError, match="encoding"):
        attached_file(path, Redactor(), ROOM)


def test_files_are_named_in_the_order_of_the_images(tmp_path: Path) -> None:
    for name in ("before.png", "after.png"):
        (tmp_path / name).write_bytes(IMAGES["image/png"] + name.encode())
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.4 /Type /Page")
    parts = [attached_file(tmp_path / name, Redactor(), ROOM) for name in ("before.png", "after.png", "paper.pdf")]
    prompt, files = with_attached("Compare.", parts)
    assert [file.name for file in files] == ["before.png", "after.png", "paper.pdf"]
    assert (
        prompt.index("before.png: an image of 600 × 500 pixels.") < prompt.index("after.png: ") < prompt.index(".pdf")
    )
