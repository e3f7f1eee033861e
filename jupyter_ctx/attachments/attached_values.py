"""A value of the notebook as it goes with a prompt: a picture, a file, a web page, an error, a table, or text."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from os import PathLike
from pathlib import Path, PurePath
from typing import Any, cast

from ..conversation.messages import Attachment, file_tokens
from ..errors import InvalidRequestError
from ..runtime.files import path_of
from ..runtime.redaction import BLANKED, Redactor
from ..template.expressions import described
from .attached import Attached, TextRoom, attached_redacted, call_user_code
from .errors import attached_error, failure_of
from .files_and_pages import Address, attached_address, attached_file, exists, is_address
from .images import as_attachment, pictures_in
from .values import about_tokens, fenced_block, value_text

LONGEST_NAME = 80  # characters of a file's name in an error
SentValue = tuple[str, tuple[Attachment, ...], str]  # the text and the files of a value, and what was sent of what


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
    text, files, what = call_user_code(name, lambda: _sent(name, value, room, redactor), redactor.masked)
    return attached_redacted(name, text, redactor, files, what)


def _sent(name: str, value: Any, room: TextRoom, redactor: Redactor) -> SentValue:
    if isinstance(value, str | bytes) and redactor.is_secret(name, value):
        return fenced_block(name, BLANKED), (), "blanked"
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
        text, what = value_text(name, rest, room, redactor)
        texts.append(text)
        about.append(what)
    return "\n".join(texts), files, "; the rest as text: ".join(about)
