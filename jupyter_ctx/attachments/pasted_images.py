"""Images that were pasted or dragged into Markdown cells, read from a notebook's file as it was last saved."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidRequestError
from ..wording import did_you_mean
from .media import media_type_of

MOST_NOTEBOOK_BYTES = 200_000_000
MOST_NAMED = 8  # attachments that an error names
LINKED = re.compile(r"!\[([^\]\n]{0,300})\]\(\s{0,3}<?attachment:([^)\s>]{1,500})")  # as front ends write it


@dataclass(frozen=True, slots=True)
class CellImage:
    """One attachment of a Markdown cell.

    cell: the position of its cell among the notebook's cells
    key: its name in the file, which JupyterLab makes up
    title: the file name that it was pasted or dragged with, as the cell's text shows it; empty where it shows none
    media_type, data: as stored, in base64
    """

    cell: int
    key: str
    title: str
    media_type: str
    data: str

    @property
    def name(self) -> str:
        """The name that a user knows it by."""
        return self.title or self.key

    def content(self) -> bytes:
        """Return its bytes. Raises InvalidRequestError."""
        data = b""
        with suppress(ValueError):
            data = b64decode(self.data)
        if media_type_of(data) in (None, "application/pdf"):
            raise InvalidRequestError(
                f"-a cell:{self.name}: it is stored as {self.media_type}, and not as a PNG, JPEG, GIF or WebP image, "
                "which can be sent. Nothing was sent."
            )
        return data


@dataclass(frozen=True, slots=True)
class SavedCells:
    """The images in a notebook's Markdown cells, and the positions of its cells by their ids."""

    images: tuple[CellImage, ...]
    positions: Mapping[str, int]

    def find(self, name: str, cell: str | None) -> tuple[CellImage, int]:
        """Return the image of a name, and how many have it: the nearest above a cell, else the last.

        Raises InvalidRequestError where there is none.
        """
        fits = [image for image in self.images if name in (image.title, image.key)]
        fits = fits or [image for image in self.images if name.lower() in (image.title.lower(), image.key.lower())]
        if not fits:
            raise InvalidRequestError(self._absent(name))
        here = self.positions.get(cell or "")
        above = [image for image in fits if here is not None and image.cell < here]
        return (above or fits)[-1], len(fits)

    def names(self) -> list[str]:
        """Return the names of all images, the nearest to the end first."""
        return list(dict.fromkeys(image.name for image in reversed(self.images)))

    def _absent(self, name: str) -> str:
        names = self.names()
        hint = did_you_mean(name, names, "cell:{}")
        more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        there = f"there are {', '.join(names[:MOST_NAMED])}{more}" if names else "there is none"
        asked = f"holds no image {name!r}" if name else "is asked for an image without its name"
        return (
            f"-a cell:{name}: the notebook, as it was last saved, {asked}: {there}.{hint} If it was pasted just now, "
            "save the notebook first. Nothing was sent."
        )


def saved_cells(path: Path) -> SavedCells:
    """Return the images of a notebook's file. Raises InvalidRequestError."""
    try:
        if path.stat().st_size > MOST_NOTEBOOK_BYTES:
            raise InvalidRequestError(
                f"{path.name} has {path.stat().st_size:,} bytes, and {MOST_NOTEBOOK_BYTES:,} at most are read for the "
                "images in its cells. Save the image to a file and name that with -a."
            )
        cells = json.loads(path.read_bytes())["cells"]
        positions = {str(cell["id"]): at for at, cell in enumerate(cells) if isinstance(cell, dict) and "id" in cell}
        return SavedCells(tuple(_images(cells)), positions)
    except OSError as error:
        raise InvalidRequestError(
            f"The notebook's file cannot be read ({path}: {error.strerror}): save the notebook first."
        ) from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise InvalidRequestError(
            f"{path.name} is not a notebook with cells as Jupyter saves it: save the notebook again."
        ) from None


def _images(cells: Iterable[Any]) -> Iterator[CellImage]:
    for at, cell in enumerate(cells):
        attached = cell.get("attachments") if isinstance(cell, dict) else None
        if not isinstance(attached, dict):
            continue
        titles = {key: title for title, key in LINKED.findall(_joined(cell.get("source")))}
        for key, forms in attached.items():
            for media_type, data in forms.items() if isinstance(forms, dict) else ():
                yield CellImage(at, key, titles.get(key, ""), str(media_type), _joined(data))


def _joined(text: Any) -> str:
    """Return a text that a file may hold in several lines."""
    if isinstance(text, list):
        return "".join(each for each in text if isinstance(each, str))
    return text if isinstance(text, str) else ""
