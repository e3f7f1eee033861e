"""A value of the notebook as it goes with a prompt: a picture, a brief of a table, or text."""

from __future__ import annotations

from inspect import getsource
from io import BytesIO, StringIO
from pathlib import Path, PurePath
from textwrap import dedent
from typing import Any, cast

from ..conversation.messages import Attachment
from ..errors import InvalidRequestError
from ..template.keys import Keys
from ..template.kinds import described, module_of
from .arrays import array_brief, is_array
from .attached import Attached, TextRoom
from .figures import pictures_in
from .files import attached_data, attached_file
from .frames import frame_brief, is_lazy, lazy_brief, library_table
from .guarded import READ_SECONDS, guarded
from .media import SIGNATURE_BYTES, guessed_tokens, media_type_of
from .pixels import ImageFile
from .texts import Blanks, about_tokens, fitted_text, fitted_value

INSTEAD = {
    "a module": "name what is in it",
    "a function": "call it and name what it returns, or write {{ In[N] }} for the cell N that defines it",
    "a class": "name an instance of it, or write {{ In[N] }} for the cell N that defines it",
    "an iterator, which reading would use up": "make a list of it and name that",
}


def attached_value(name: str, value: Any, room: TextRoom, keys: Keys) -> Attached:
    """Return a value as it goes with a prompt; ``name`` is how the user wrote it. Raises InvalidRequestError."""
    kind = type(value)  # not isinstance, which may run the value's code
    if issubclass(kind, Attached):
        return cast(Attached, value)
    if issubclass(kind, PurePath):
        return attached_file(Path(value))
    if kind in (BytesIO, StringIO):  # not read, which would move on in it
        value = value.getvalue()
    if kind in (bytes, bytearray, BytesIO) and media_type_of(value[:SIGNATURE_BYTES]) == "application/pdf":
        return attached_data(name, "application/pdf", bytes(value))
    blanked = Blanks(keys)
    source = _source(value)
    if source:
        text, what = fitted_text(name, source, room, blanked)
        return Attached(name, text, what=f"its source, {what}", notices=blanked.notices(name))
    _check_data(name, value)
    pictures = pictures_in(name, value, keys.masked)
    shown = _with_pictures(name, pictures.found) if pictures.found else None
    if shown is not None and pictures.rest is None:
        return shown
    with guarded(name, READ_SECONDS, keys.masked):
        text, what = _text_of(name, value if shown is None else pictures.rest, room, blanked)
    if shown is None:
        return Attached(name, text, what=what, notices=blanked.notices(name))
    return Attached(
        name, f"{shown.text}\n{text}", shown.files, f"{shown.what}; the rest as text: {what}",
        notices=blanked.notices(name),
    )  # fmt: skip


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


def _text_of(name: str, value: Any, room: TextRoom, blanked: Blanks) -> tuple[str, str]:
    value = _held(value)
    table = library_table(value)
    if table is not None:
        return frame_brief(name, table, room, blanked)
    if is_lazy(value):
        return lazy_brief(name, value, room, blanked)
    if is_array(value):
        return array_brief(name, value, room, blanked)
    if isinstance(value, str):
        if not value.strip():
            raise InvalidRequestError(f"{name} is an empty text: there is nothing to send.")
        return fitted_text(name, str.__str__(value), room, blanked)
    own = getattr(type(value), "_repr_markdown_", None)
    said = own(value) if own is not None else None
    said = said[0] if isinstance(said, tuple) and said else said  # with metadata beside it
    if isinstance(said, str) and said.strip():
        return fitted_text(name, said, room, blanked)
    return fitted_value(name, value, room, blanked)


def _held(value: Any) -> Any:
    """Return what a value only shows: the table of a pandas Styler, the text of an object of ``IPython.display``."""
    kind = type(value)
    if kind.__name__ == "Styler" and module_of(kind) == "pandas":
        return value.data
    if kind.__module__.startswith("IPython.") and isinstance(getattr(value, "data", None), str | dict | list):
        return value.data
    return value


def _with_pictures(name: str, pictures: list[tuple[str, ImageFile]]) -> Attached:
    """Return pictures as files, and the line that tells the model which is which."""
    files = tuple(
        Attachment(each, picture.media_type, picture.data, guessed_tokens(picture.media_type, picture.data))
        for each, picture in pictures
    )
    lines = [f"{each}: {picture.noun}." for each, picture in pictures]
    tokens = about_tokens(sum(file.tokens for file in files))
    what = pictures[0][1].size if len(pictures) == 1 else f"{len(pictures)} images"
    return Attached(name, "\n".join(lines), files, f"{what}, {tokens}")
