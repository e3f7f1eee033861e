"""Images whose size cannot be told are sent all the same, with a guess."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import pickle
import signal
import sqlite3
import struct
import tarfile
import threading
import wave
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy
import pandas
import polars
import pytest
import scipy.io
from cells import Cells
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from jupyter_ctx import ChatError
from jupyter_ctx.attachments.attached import with_attached
from jupyter_ctx.attachments.attached_files import MOST_BYTES, attached_file
from jupyter_ctx.attachments.media import MAX_IMAGE_TOKENS, MIN_IMAGE_TOKENS, guessed_tokens
from jupyter_ctx.runtime.redaction import Redactor


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
        assert MIN_IMAGE_TOKENS <= guessed_tokens(kind, IMAGES[kind][:length]) <= MAX_IMAGE_TOKENS


@given(st.sampled_from(sorted(IMAGES)), st.integers(3, 30), st.binary(max_size=200))
def test_an_odd_image_has_a_guess(kind: str, kept: int, rest: bytes) -> None:
    assert MIN_IMAGE_TOKENS <= guessed_tokens(kind, IMAGES[kind][:kept] + rest) <= MAX_IMAGE_TOKENS


def test_every_file_that_begins_as_an_image_is_an_attachment_or_an_error_that_names_it(tmp_path: Path) -> None:
    for data in IMAGES.values():
        for length in range(len(data)):
            path = tmp_path / "odd.picture"
            path.write_bytes(data[:length])
            assert "odd.picture" in said_of(path)


def said_of(path: Path) -> str:
    """The name of what is attached, the text it was taken for, or the error."""
    try:
        prompt, attachments = with_attached("Look:", [attached_file(path, Redactor())])
    except ChatError as error:
        return str(error)
    return attachments[0].name if attachments else prompt


def test_only_regular_files_are_read_and_none_that_is_too_large(cells: Cells, tmp_path: Path) -> None:
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    with large.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    for path in ("/dev/zero", "/dev/tty", pipe, tmp_path):
        assert f"{path} " in str(cells.fail(f"%%chat -a {path}\nx"))
    assert "32,000,001 bytes" in str(cells.fail(f"%%chat -a {large}\nx"))


def written(write: Callable[[BytesIO], object]) -> bytes:
    """What a library writes."""
    file = BytesIO()
    write(file)
    return file.getvalue()


def zipped(*members: str) -> bytes:
    """A ZIP archive, as office files are."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for member in members:
            file.writestr(member, "application/vnd.oasis.opendocument.spreadsheet" if member == "mimetype" else "x")
    return packed.getvalue()


def tarred() -> bytes:
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as file:
        file.addfile(tarfile.TarInfo("a.txt"))
    return packed.getvalue()


def sound(file: BytesIO) -> None:
    with wave.open(file, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(8_000)
        written.writeframes(bytes(800))


PICTURE, FRAME = Image.new("RGB", (9, 9), "red"), polars.DataFrame({"a": [1, 2]})
OTHERS: dict[str, tuple[str, bytes]] = {  # what opens a file, and the file
    **{kind: ("PIL.Image", written(partial(PICTURE.save, format=kind))) for kind in ("BMP", "TIFF", "ICO", "JPEG2000")},
    "AVIF": ("PIL.Image", b"\0\0\0\x1cftypavif\0\0\0\0"),
    "HEIC": ("pillow_heif", b"\0\0\0\x18ftypheic\0\0\0\0"),
    "XLSX": ("pandas.read_excel", zipped("[Content_Types].xml", "xl/workbook.xml")),
    "XLS": ("pandas.read_excel", b"\xd0\xcf\x11\xe0" + bytes(600) + "Workbook".encode("utf-16-le")),
    "ODS": ("pandas.read_excel", zipped("mimetype", "content.xml")),
    "DOCX": ("docx.Document", zipped("[Content_Types].xml", "word/document.xml")),
    "PPTX": ("PDF", zipped("[Content_Types].xml", "ppt/presentation.xml")),
    "Parquet": ("pandas.read_parquet", written(FRAME.write_parquet)),
    "Feather": ("pandas.read_feather", written(FRAME.write_ipc)),
    "Stata": ("pandas.read_stata", written(partial(pandas.DataFrame({"a": [1]}).to_stata, version=118))),
    "HDF5": ("h5py.File", b"\x89HDF\r\n\x1a\n" + bytes(99)),
    "NetCDF": ("xarray.open_dataset", b"CDF\1" + bytes(28)),
    "MATLAB": ("scipy.io.loadmat", written(lambda file: scipy.io.savemat(file, {"a": numpy.ones(3)}))),
    "NPY": ("numpy.load", written(lambda file: numpy.save(file, numpy.ones(3)))),
    "NPZ": ("numpy.load", written(lambda file: numpy.savez(file, a=numpy.ones(3)))),
    "pickle": ("pandas.read_pickle", pickle.dumps({"a": 1})),
    "ZIP": ("unpack", zipped("a.txt")),
    "gzip": ("unpack", gzip.compress(b"text")),
    "bzip2": ("unpack", bz2.compress(b"text")),
    "xz": ("unpack", lzma.compress(b"text")),
    "tar": ("unpack", tarred()),
    "WAV": ("sound", written(sound)),
    "MP3": ("sound", b"ID3\4" + bytes(99)),
    "MP4": ("sound", b"\0\0\0\x18ftypisom\0\0\0\0"),
    "Latin-1": ("encoding=", "café".encode("latin-1")),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_file_that_is_not_sent_names_what_opens_it_whatever_its_suffix(kind: str, tmp_path: Path) -> None:
    library, data = OTHERS[kind]
    path = tmp_path / "data.txt"
    path.write_bytes(data)
    with pytest.raises(ChatError, match=library) as raised:
        attached_file(path, Redactor())
    assert "\n" not in str(raised.value)


def test_what_is_too_large_or_cut_off_is_named_too(tmp_path: Path) -> None:
    large, database, cut = tmp_path / "large", tmp_path / "a.db", tmp_path / "cut.parquet"
    large.write_bytes(b"PAR1")
    os.truncate(large, MOST_BYTES + 1)
    sqlite3.connect(database).execute("CREATE TABLE a (b)")
    cut.write_bytes(b"\0\1\2")
    for path, library in ((large, "read_parquet"), (database, "read_sql"), (cut, "read_parquet")):
        with pytest.raises(ChatError, match=library):
            attached_file(path, Redactor())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_tells_the_encoding(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes("Größe: 5 €".encode(encoding))
    assert "Größe: 5 €" in attached_file(path, Redactor()).text


def test_files_are_named_in_the_order_of_the_images(tmp_path: Path) -> None:
    for name in ("before.png", "after.png"):
        (tmp_path / name).write_bytes(IMAGES["image/png"] + name.encode())
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.4 /Type /Page")
    parts = [attached_file(tmp_path / name, Redactor()) for name in ("before.png", "after.png", "paper.pdf")]
    prompt, files = with_attached("Compare.", parts)
    assert [file.name for file in files] == ["before.png", "after.png", "paper.pdf"]
    assert (
        prompt.index("before.png: an image of 600 × 500 pixels.") < prompt.index("after.png: ") < prompt.index(".pdf")
    )


def test_an_interrupt_while_a_file_is_read_claims_no_answer(
    cells: Cells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(path: Path, *_: object) -> None:  # as a file on a network drive that is away
        main = threading.main_thread().ident
        threading.Timer(0.05, signal.pthread_kill, [main, signal.SIGINT]).start()
        threading.Event().wait(10)

    monkeypatch.setattr("jupyter_ctx.attachments.attached_files._read", slow)
    (tmp_path / "notes.txt").touch()
    error = str(cells.fail(f"%%chat -a {tmp_path}/notes.txt\nx"))
    assert error == "stopped before any text came; nothing was recorded."
