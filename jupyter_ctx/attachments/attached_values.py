"""A value of the notebook as it goes with a prompt: a picture, a brief of a table, or text."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from inspect import getsource
from io import BytesIO, StringIO
from pathlib import Path, PurePath
from textwrap import dedent
from typing import Any, cast

from ..conversation.messages import Attachment, file_tokens
from ..errors import InvalidRequestError
from ..runtime.redaction import Redactor
from ..runtime.secret_texts import BLANKED
from ..template.expressions import described
from .addresses import Address
from .attached import Attached, Blanks, TextRoom
from .attached_files import attached_data, attached_file
from .errors import attached_error, failure_of
from .figures import pictures_in
from .media import SIGNATURE_BYTES, as_attachment, media_type_of
from .user_code import call_user_code
from .values import about_tokens, fenced_block, fit_text, value_text
from .web_pages import attached_address

_SCALARS = (str, bytes, int, float)
INSTEAD = {  # of what is no data
    "a module": "name what is in it",
    "a function": "call it and name what it returns, or write {{ In[N] }} for the cell N that defines it",
    "a class": "name an instance of it, or write {{ In[N] }} for the cell N that defines it",
    "an iterator, which reading would use up": "make a list of it and name that",
}


def attached_value(name: str, value: Any, room: TextRoom, redactor: Redactor) -> Attached:
    """Return a value as it goes with a prompt; ``name`` is how the user wrote it. Raises InvalidRequestError."""
    kind = type(value)  # not isinstance, which may run the value's code
    if issubclass(kind, Attached):
        return cast(Attached, value)
    if issubclass(kind, PurePath | Address):
        return _at(value, redactor, room)
    if issubclass(kind, BaseException):
        half = replace(room, tokens=room.tokens // 2)  # a report takes twice as much
        report = attached_error(failure_of(value), half, redactor)
        return replace(report, name=name, text=f"{name}:\n{report.text}")
    if kind in (BytesIO, StringIO):  # not read, which would move on in it
        value = value.getvalue()
    if kind in (bytes, bytearray, BytesIO) and media_type_of(value[:SIGNATURE_BYTES]) == "application/pdf":
        return attached_data(name, "application/pdf", bytes(value), room.vision)
    blanked = Blanks(redactor)
    text, files, what = _sent(name, value, room, redactor, blanked)
    return Attached(name, text, files, what, notices=blanked.notices(name))


def _at(place: PurePath | Address, redactor: Redactor, room: TextRoom) -> Attached:
    """Return the file at a path, or what is at an address."""
    if isinstance(place, Address):
        return attached_address(place, redactor, room)
    return attached_file(Path(place), redactor, room)


def _sent(
    name: str, value: Any, room: TextRoom, redactor: Redactor, blanked: Blanks
) -> tuple[str, tuple[Attachment, ...], str]:  # fmt: skip
    """Return the text and the files of a value, and what was sent of what."""
    if isinstance(value, _SCALARS) and blanked.hides(name, value):
        return fenced_block(name, BLANKED), (), "blanked"
    if value is None:
        raise InvalidRequestError(f"{name} is None: there is nothing to send.")
    noun = described(value)
    with suppress(OSError, TypeError):  # what is not written in Python, or not kept
        if noun in ("a function", "a class"):
            text, what = fit_text(name, dedent(getsource(value)).rstrip(), room, blanked)
            return text, (), f"its source, {what}"
    if noun in INSTEAD:
        raise InvalidRequestError(f"{name} is {noun}: {INSTEAD[noun]}. Nothing was sent.")
    pictures = pictures_in(name, value, redactor.masked, room.vision.drawn)
    files = tuple(as_attachment(each, picture) for each, picture in pictures.found)
    texts = [f"{each}: {picture.noun}." for each, picture in pictures.found]
    about = []
    if files:
        size = pictures.found[0][1].size if len(files) == 1 else f"{len(files)} images"
        about.append(f"{size}, {about_tokens(file_tokens(files, room.vision))}")
    if not files or pictures.rest is not None:
        rest = pictures.rest if files else value
        room.count("")  # a tokenizer is loaded in its own time
        text, what = call_user_code(name, lambda: value_text(name, rest, room, blanked), redactor.masked)
        texts.append(text)
        about.append(what)
    return "\n".join(texts), files, "; the rest as text: ".join(about)
