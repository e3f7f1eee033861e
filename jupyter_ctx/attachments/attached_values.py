"""A value of the notebook as it goes with a prompt: a picture, a file, a web page, an error, a table, or text.

Each kind of value that becomes text has a draft of a size: a larger one has more of the value. One search finds the
largest that fits.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable
from os import PathLike
from pathlib import Path, PurePath
from typing import Any, cast

from ..context.summary_facts import fenced
from ..conversation.messages import Attachment, file_tokens
from ..conversation.text_safety import clean, lasting
from ..errors import ChatError, InvalidRequestError
from ..runtime.files import path_of
from ..runtime.redaction import BLANKED, Redactor
from ..template.expressions import described
from .attached import ATTACH_INSTEAD, Attached, Draft, TextRoom, about_tokens, attached_redacted, format_error, silent
from .errors import attached_error, failure_of
from .files_and_pages import Address, attached_address, attached_file, exists, is_address
from .images import as_attachment, pictures_in
from .printing import KEY_ROOM, CollectionPrinter, is_collection, markup_text, own_text, shape_of, sides
from .tables import FIRST_CELLS, TableWriter, array_draft, array_of, library_table

LONGEST_NAME = 80  # characters of a file's name in an error
CHARACTERS_A_TOKEN = 12  # more than any tokenizer holds in one for long
TRIES, FILLED = 9, 0.95  # of the search; of the room, which is enough
SIZES = re.compile(r"<\w+ of [\d,]+ ")  # of tables and arrays in a collection
TOKENS_A_VALUE = 4  # of an array


def parts_given(given: Any, attach: Callable[[str, Any], Attached]) -> tuple[Attached, ...]:
    """Return what was given as attached things, each made by ``attach`` from its name and its value.

    A list or a tuple holds several things, a dict several with their names, and anything else is one. A text and a
    path name a file or a web page; any other value has a name such as ``DataFrame``. Raises InvalidRequestError.
    """
    kind, names = type(given), Counter[str]()  # not isinstance, which may run the value's code
    if kind is dict and all(type(name) is str for name in given):
        return tuple(attach(name, _file_or_page(thing) or thing) for name, thing in given.items())

    def part(thing: Any) -> Attached:
        place = _file_or_page(thing)
        if place is not None:
            return attach(str(thing), place)
        if issubclass(type(thing), str):
            shown = Redactor().masked(thing)[:LONGEST_NAME]  # what was meant as a text may hold a key
            raise InvalidRequestError(
                f"attachments: there is no file {shown!r} (looked for from {os.getcwd()}). A text belongs in the "
                "prompt; attachments={'note': text} sends it under a name. Nothing was sent."
            )
        name = type(thing).__name__
        names[name] += 1
        return attach(name if names[name] == 1 else f"{name} {names[name]}", thing)

    return tuple(map(part, given if issubclass(kind, list | tuple) else (given,)))


def _file_or_page(thing: Any) -> Address | Path | None:
    """Return what a path or a text names; ``None``: it is the thing itself, or a text that names nothing."""
    is_text = issubclass(type(thing), str)
    if is_text and is_address(thing):
        return Address(thing)
    return path_of(thing) if issubclass(type(thing), PathLike) or (is_text and exists(thing)) else None


def attached_value(name: str, value: Any, room: TextRoom, redactor: Redactor) -> Attached:
    """Return a value as it goes with a prompt; ``name`` is how the user wrote it. Raises InvalidRequestError."""
    kind = type(value)  # not isinstance, which may run the value's code
    if issubclass(kind, Attached):
        return cast(Attached, value)
    if issubclass(kind, Address):
        return attached_address(value, redactor, room)
    if issubclass(kind, PurePath):
        return attached_file(Path(value), redactor, room)
    if issubclass(kind, BaseException):
        return attached_error(failure_of(value), room, redactor, name)
    redactor.blanked = 0
    try:
        with silent():
            text, files, what = _sent(name, value, room, redactor)
    except (KeyboardInterrupt, ChatError):
        raise
    except BaseException as error:  # of the user's own code
        problem = f"{name} cannot be shown: {format_error(error, redactor.masked)}. {ATTACH_INSTEAD}"
        raise InvalidRequestError(problem) from None
    return attached_redacted(name, text, redactor, files, what)


def _sent(name: str, value: Any, room: TextRoom, redactor: Redactor) -> tuple[str, tuple[Attachment, ...], str]:
    """Return the text and the files of a value, and what was sent of what."""
    if isinstance(value, str | bytes) and redactor.is_secret(name, value):
        return _block(name, BLANKED), (), "blanked"
    noun = "None" if value is None else described(value)
    if noun:
        raise InvalidRequestError(f"{name} is {noun}: name a variable that holds data. Nothing was sent.")
    pictures, rest = pictures_in(name, value, room.vision.drawn)
    files = tuple(as_attachment(each, picture) for each, picture in pictures)
    texts = [f"{each}: {picture.noun}." for each, picture in pictures]
    about = []
    if files:
        size = pictures[0][1].size if len(files) == 1 else f"{len(files)} images"
        about.append(f"{size}, {about_tokens(file_tokens(files, room.vision))}")
    if rest is not None:
        text, what = _text_of(name, rest, room, redactor)
        texts.append(text)
        about.append(what)
    return "\n".join(texts), files, "; the rest as text: ".join(about)


def _text_of(name: str, value: Any, room: TextRoom, redactor: Redactor) -> tuple[str, str]:
    """Return a value as it joins a prompt, and what was sent of what. Raises InvalidRequestError."""
    if isinstance(value, str):
        return _fit_text(name, str.__str__(value), room, redactor)
    data = room.for_data()
    table = library_table(value)
    if table is not None:
        writer = TableWriter(table, data, redactor)
        return _fit(name, writer.draft, writer.cells, FIRST_CELLS, data, redactor)
    array = array_of(value)
    if array is not None:
        draft = array_draft(type(value).__name__, array)
        return _fit(name, draft, array.size, data.tokens // TOKENS_A_VALUE, data, redactor)
    markup = markup_text(value)
    if markup:
        return _fit_text(name, markup, room, redactor)
    if is_collection(value) or isinstance(value, bytes):
        return _fit_collection(name, value, data, redactor)
    shape = shape_of(value)
    text, what = _fit_text(name, lasting(repr(value)) if shape else own_text(value), data, redactor)
    return text, f"{sides(shape)} values by its own short text, {what}" if shape else what


def _fit(
    name: str, draft: Callable[[int], Draft], most: int, first: int, room: TextRoom, redactor: Redactor
) -> tuple[str, str]:  # fmt: skip
    """Return the draft of the largest size up to ``most`` that fits, as far as a few tries find it, and what it is.

    ``first`` is the size that is tried first. Raises InvalidRequestError where not even the smallest draft fits.
    """
    low, high, size, is_found, blanked = 0, most, min(first, most), False, redactor.blanked
    for _ in range(TRIES):
        if low >= high or is_found:
            break
        made = draft(size)
        tokens = room.count(_block(name, made.text))
        low, high = (low, size - 1) if tokens > room.tokens else (size, high)
        is_found = low == size and (made.is_whole or tokens >= FILLED * room.tokens)
        share = min(int(size * room.tokens / max(tokens, 1.0) * 0.98), most)  # most values are even
        size = share if low < share <= high else (low + high + 1) // 2
    redactor.blanked = blanked  # with those of this draft, not of all that were tried
    made = draft(low)
    text = _block(name, redactor.masked(made.text))
    tokens = room.count(text)
    if tokens > room.tokens:
        raise InvalidRequestError(
            f"{name} needs at least {tokens:,.0f} tokens, and one attachment may take {room.tokens:,}: "
            "%chat config attach_share 0.5 gives it half of the limit. Nothing was sent."
        )
    return text, ", ".join(filter(None, (made.what, about_tokens(tokens))))


def _block(name: str, text: str) -> str:
    """Return a value's text below its name, in a fence that it cannot close."""
    return f"{name}:\n{fenced(text)}"


def _fit_text(name: str, text: str, room: TextRoom, redactor: Redactor) -> tuple[str, str]:
    """Return a text, of a long one the beginning and the end. Raises InvalidRequestError."""
    length, most = len(text), max(room.tokens, 1) * CHARACTERS_A_TOKEN
    if length > 2 * (most + KEY_ROOM):  # what cannot fit is not looked at
        text = text[: most + KEY_ROOM] + text[-most - KEY_ROOM :]
    is_all = len(text) == length
    text = clean(redactor.masked(text))
    most = len(text) if is_all else most

    def draft(kept: int) -> Draft:
        if is_all and kept == most:
            return Draft(text, "", is_whole=True)
        head, tail = text[: (kept + 1) // 2], text[len(text) - kept // 2 :]
        left_out = f"… {max(length - kept, 1):,} characters left out …"
        return Draft(f"{head}\n{left_out}\n{tail}", f"{kept:,} of {length:,} characters", is_whole=False)

    return _fit(name, draft, most, most, room, redactor)


def _fit_collection(name: str, value: Any, room: TextRoom, redactor: Redactor) -> tuple[str, str]:
    most = max(room.tokens, 1) * CHARACTERS_A_TOKEN

    def draft(size: int) -> Draft:
        printer = CollectionPrinter(size, most, redactor)
        text = printer.text(value)
        count = len(value) if hasattr(value, "__len__") else 0
        what = "" if printer.is_whole else "long parts shortened"
        if count > printer.members and not isinstance(value, bytes):
            what = f"{printer.members:,} of {count:,} members"
        sizes = "tables and arrays in it by their sizes" if SIZES.search(text) else ""
        return Draft(text, ", ".join(filter(None, (what, sizes))), printer.is_whole)

    return _fit(name, draft, most, room.tokens, room, redactor)
