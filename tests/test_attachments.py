"""Images whose size cannot be told are sent all the same, with a guess."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx import ChatError
from jupyter_ctx.attachments import LEAST, MOST, guessed_tokens, with_files


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


IMAGES = {
    "image/png": png(600, 500),
    "image/jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF\0\1\1\0\0\1\0\1\0\0\xff\xc0\x00\x11\x08\x01\xf4\x02\x58\x03"
    + bytes(12),
    "image/gif": b"GIF89a" + struct.pack("<HH", 600, 500) + bytes(8),
    "image/webp": b"RIFF\x1e\0\0\0WEBPVP8X\n\0\0\0\0\0\0\0" + (599).to_bytes(3, "little") + (499).to_bytes(3, "little"),
}


@pytest.mark.parametrize("kind", IMAGES)
def test_an_image_is_guessed_by_its_pixels(kind: str) -> None:
    assert guessed_tokens(kind, IMAGES[kind]) == 600 * 500 // 750


@pytest.mark.parametrize("kind", IMAGES)
def test_an_image_cut_off_anywhere_has_a_guess(kind: str) -> None:
    for length in range(len(IMAGES[kind])):
        assert LEAST <= guessed_tokens(kind, IMAGES[kind][:length]) <= MOST


@given(st.sampled_from(sorted(IMAGES)), st.integers(3, 30), st.binary(max_size=200))
def test_an_odd_image_has_a_guess(kind: str, kept: int, rest: bytes) -> None:
    assert LEAST <= guessed_tokens(kind, IMAGES[kind][:kept] + rest) <= MOST


def test_every_file_that_begins_as_an_image_is_an_attachment_or_an_error_that_names_it(tmp_path: Path) -> None:
    for data in IMAGES.values():
        for length in range(len(data)):
            path = tmp_path / "odd.picture"
            path.write_bytes(data[:length])
            assert "odd.picture" in said_of(path)


def said_of(path: Path) -> str:
    """The name of what is attached, the text it was taken for, or the error."""
    try:
        prompt, attachments = with_files("Look:", [path])
    except ChatError as error:
        return str(error)
    return attachments[0].name if attachments else prompt
