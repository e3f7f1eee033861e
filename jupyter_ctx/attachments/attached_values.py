"""A value of the notebook as it goes with a prompt: a picture, a brief of a table, or text."""

from __future__ import annotations

from dataclasses import replace
from inspect import getsource
from io import BytesIO, StringIO
from pathlib import Path, PurePath
from textwrap import dedent
from typing import Any, cast

from ..context.vision import Vision
from ..conversation.messages import file_tokens
from ..errors import InvalidRequestError
from ..runtime.redaction import Redactor
from ..runtime.secret_texts import BLANKED
from ..template.expressions import described
from .addresses import Address
from .attached import Attached, Blanks, TextRoom
from .attached_files import attached_data, attached_file
from .errors import attached_error, failure_of
from .figures import pictures_in
from .guarded import guarded
from .media import SIGNATURE_BYTES, ImageFile, as_attachment, media_type_of
from .values import about_tokens, headed, text_brief, value_text
from .web_pages import attached_address

_SCALARS = (str, bytes, int, float)
INSTEAD = {
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
    if issubclass(kind, _SCALARS) and blanked.hides(name, value):
        return Attached(name, headed(name, BLANKED), what="blanked", notices=blanked.notices(name))
    source = _source(value)
    if source:
        text, what = text_brief(name, source, room, blanked)
        return Attached(name, text, what=f"its source, {what}", notices=blanked.notices(name))
    _check_data(name, value)
    pictures = pictures_in(name, value, redactor.masked, room.vision.drawn)
    shown = _with_pictures(name, pictures.found, room.vision) if pictures.found else None
    if shown is not None and pictures.rest is None:
        return shown
    rest = value if shown is None else pictures.rest
    room.count("")  # a tokenizer is loaded in its own time
    text, what = guarded(name, lambda: value_text(name, rest, room, blanked), redactor.masked)
    if shown is None:
        return Attached(name, text, what=what, notices=blanked.notices(name))
    return Attached(
        name, f"{shown.text}\n{text}", shown.files, f"{shown.what}; the rest as text: {what}",
        notices=blanked.notices(name),
    )  # fmt: skip


def _at(place: PurePath | Address, redactor: Redactor, room: TextRoom) -> Attached:
    """Return the file at a path, or what is at an address."""
    if isinstance(place, Address):
        return attached_address(place, redactor, room)
    return attached_file(Path(place), redactor, room)


def _source(value: Any) -> str:
    """Return the source of a function or a class that was written in Python; empty for any other value."""
    if described(value) not in ("a function", "a class"):
        return ""
    try:
        return dedent(getsource(value)).rstrip()
    except (OSError, TypeError):
        return ""


def _check_data(name: str, value: Any) -> None:
    if value is None:
        raise InvalidRequestError(f"{name} is None: there is nothing to send.")
    kind = described(value)
    if kind in INSTEAD:
        raise InvalidRequestError(f"{name} is {kind}: {INSTEAD[kind]}. Nothing was sent.")


def _with_pictures(name: str, pictures: list[tuple[str, ImageFile]], vision: Vision) -> Attached:
    """Return pictures as files, and the line that tells the model which is which."""
    files = tuple(as_attachment(each, picture) for each, picture in pictures)
    lines = [f"{each}: {picture.noun}." for each, picture in pictures]
    tokens = about_tokens(file_tokens(files, vision))
    what = pictures[0][1].size if len(pictures) == 1 else f"{len(pictures)} images"
    return Attached(name, "\n".join(lines), files, f"{what}, {tokens}")
