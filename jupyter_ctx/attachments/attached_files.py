"""What a script or a line attaches by name: files, addresses, values named by their types."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, KeysView, ValuesView
from os import PathLike
from pathlib import Path
from stat import S_ISREG
from typing import Any

from ..context.summary_facts import fenced
from ..context.vision import Vision, image_size
from ..conversation.messages import Attachment
from ..conversation.text_safety import clean
from ..errors import InvalidRequestError
from ..runtime.files import path_of
from ..runtime.redaction import Redactor
from .addresses import Address, is_address
from .attached import Attached, Blanks, TextRoom
from .media import IMAGE_TYPES, MOST_IMAGE_BYTES, ImageFile, as_attachment, guessed_tokens, media_type_of, modest
from .notebook_files import notebook_text, with_images

Attach = Callable[[str, Any], Attached]
_MANY = (list, tuple, set, frozenset, Iterator, KeysView, ValuesView)
LONGEST_NAME = 80  # characters of a file's name in an error


def parts_given(given: Any, attach: Attach) -> tuple[Attached, ...]:
    """Return what was given as attached things, each made by ``attach`` from its name and its value.

    A list, a tuple, a set or an iterator holds several things, a dict several with their names, and anything else is
    one. A text and a path name a file or a web page; any other value has a name such as ``DataFrame``.
    Raises InvalidRequestError.
    """
    kind = type(given)  # not isinstance, which may run the value's code
    if kind is dict and all(type(name) is str for name in given):
        return tuple(attach(name, _file_or_page(thing) or thing) for name, thing in given.items())
    things: Iterable[Any] = given if issubclass(kind, _MANY) else (given,)
    names: Counter[str] = Counter()
    return tuple(_part(thing, names, attach) for thing in things)


def _part(thing: Any, names: Counter[str], attach: Attach) -> Attached:
    place = _file_or_page(thing)
    if place is not None:
        return attach(str(thing), place)
    if issubclass(type(thing), str):
        shown = Redactor().masked(thing)  # what was meant as a text may hold a key
        named = shown if len(shown) <= LONGEST_NAME else f"{shown[:LONGEST_NAME]}…"
        raise InvalidRequestError(
            f"attachments: there is no file {named!r} (looked for from {os.getcwd()}). A text belongs into the prompt; "
            "attachments={'note': text} sends it under a name. Nothing was sent."
        )
    name = type(thing).__name__
    names[name] += 1
    return attach(name if names[name] == 1 else f"{name} {names[name]}", thing)


def _file_or_page(thing: Any) -> Address | Path | None:
    """Return what a path or a text names; ``None``: it is the thing itself, or a text that names nothing."""
    is_text = issubclass(type(thing), str)
    if is_text and is_address(thing):
        return Address(thing)
    return path_of(thing) if issubclass(type(thing), PathLike) or (is_text and exists(thing)) else None


def exists(word: str) -> bool:
    """Return whether a text names a file or a folder that is there."""
    try:
        return os.path.exists(os.path.expanduser(word))
    except (OSError, ValueError):
        return False


BYTES_THAT_TELL = 16_384  # an image or a PDF from a text, at the beginning of a file
BYTE_ORDER_MARKS = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def text_encoding(data: bytes) -> str:
    """Return the encoding that a text's byte order mark tells, else UTF-8."""
    return next((encoding for mark, encoding in BYTE_ORDER_MARKS.items() if data.startswith(mark)), "utf-8-sig")


MOST_BYTES = 32_000_000  # what the largest requests may have
MOST_IMAGE_FILE = 200_000_000  # of an image, which is made smaller
IN_ANOTHER_FORMAT = "Read it in a cell, and attach the variable: -a NAME."
IN_ANOTHER_ENCODING = "Is it text in another encoding? text = open('{}', encoding='…').read() in a cell, then -a text."


def attached_file(path: Path, redactor: Redactor, room: TextRoom) -> Attached:
    """Return a file that goes with a prompt; a text file joins it, with secrets blanked. Raises InvalidRequestError."""
    data = _read(path.expanduser())
    media_type = media_type_of(data)
    if media_type is not None:
        return attached_data(path.name, media_type, data, room.vision)
    is_notebook = path.suffix.lower() == ".ipynb"
    return attached_text(path.name, _text(path, data), f"File {path.name}", redactor, room, is_notebook=is_notebook)


def attached_text(
    name: str, text: str, head: str, redactor: Redactor, room: TextRoom, *, is_notebook: bool
) -> Attached:
    """Return a file's or a page's text below its ``head``, with secrets blanked; of a notebook its cells."""
    blanked, files, what = Blanks(redactor), tuple[Attachment, ...](), ""
    cells = notebook_text(text) if is_notebook else None
    if cells is not None:
        text, files, what = with_images(cells, name, room)
    whole = f"{blanked(head)}:\n{fenced(blanked(text))}"
    notices = tuple(f"{line} --no-redact sends it as it is." for line in blanked.notices(name))
    return Attached(name, whole, files, what, notices=notices)


def attached_data(name: str, media_type: str, data: bytes, vision: Vision) -> Attached:
    """Return an image or a PDF that goes with a prompt; an image that its provider would make smaller is so already.

    Raises InvalidRequestError, and MissingDependencyError where Pillow would be needed.
    """
    if media_type == "application/pdf":
        file = Attachment(name, media_type, data, guessed_tokens(media_type, data))
        return Attached(name, f"{clean(name)}: a PDF.", (file,))
    image = ImageFile(media_type, data, *image_size(data))
    is_large = len(data) > MOST_IMAGE_BYTES or max(image.width, image.height) > vision.reads
    image = modest(name, data, vision.drawn) if is_large else image
    text = f"{clean(name)}: {image.noun}."  # which tells the model which is which
    return Attached(name, text, (as_attachment(name, image),), image.size if is_large else "")


def _read(path: Path) -> bytes:
    try:
        if not S_ISREG(path.stat().st_mode):  # a device may never end, and a pipe may never begin
            raise InvalidRequestError(f"-a {path} is not a regular file: name an image, a PDF or a text file.")
        with path.open("rb") as file:
            data = file.read(BYTES_THAT_TELL)
            most = MOST_IMAGE_FILE if media_type_of(data) in IMAGE_TYPES else MOST_BYTES
            data += file.read(most)
    except OSError as error:
        raise InvalidRequestError(f"-a {path}: {error.strerror} (looked for from {Path.cwd()}).") from None
    if not data:
        raise InvalidRequestError(f"-a {path}: the file is empty.")
    if len(data) > most:
        raise InvalidRequestError(f"-a {path}: the file has more than the {most:,} bytes that can be sent.")
    return data


def _text(path: Path, data: bytes) -> str:
    try:
        text = data.decode(text_encoding(data))
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        how = IN_ANOTHER_FORMAT if b"\0" in data else IN_ANOTHER_ENCODING.format(path)
        raise InvalidRequestError(
            f"-a {path}: neither UTF-8 text, nor a PNG, JPEG, GIF or WebP image, nor a PDF. {how}"
        )
    return text
