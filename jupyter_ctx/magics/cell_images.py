"""``-a cell:image.png``: an image that was pasted or dragged into a Markdown cell of this notebook."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..attachments.attached import Attached
from ..attachments.cell_images import SavedCells, saved_cells
from ..errors import InvalidRequestError
from ..runtime.frontend import EARLIER, origin, where

IN_A_CELL_OF = "cell:"  # begins the name of such an image
UNKNOWN_FILE = {
    "terminal": "a terminal has no cells",
    "headless": "this run does not tell which notebook it runs",
    "notebook": "this front end does not tell where the notebook's file is; JupyterLab and Notebook 7 do",
}


class CellImages:
    """The images in the Markdown cells of the notebook that a shell runs, which is read once."""

    def __init__(self, shell: Any) -> None:
        self._place, self._shell = where(shell), shell
        self._saved: SavedCells | None = None

    @property
    def saved(self) -> SavedCells:
        """The notebook as it was last saved. Raises InvalidRequestError where its file is not known."""
        if self._saved is None:
            self._saved = saved_cells(self._path())
        return self._saved

    def attached(self, word: str, attach: Callable[[str, Any], Attached]) -> Attached:
        """Return the image that a word such as ``cell:image.png`` names. Raises InvalidRequestError."""
        name = word.removeprefix(IN_A_CELL_OF)
        found, count = self.saved.find(name, self._place.cell)
        part = attach(word, found.content())
        if count == 1:
            return part
        return replace(part, notices=(*part.notices, f"{count} images are named {name}: {self._which} was sent."))

    @property
    def _which(self) -> str:
        known = self._place.cell is not None and self._place.cell in self.saved.positions
        return "the nearest above this cell" if known else "the last"

    def _path(self) -> Path:
        notebook = EARLIER.sub("", origin(self._shell).notebook or "")
        if not os.path.isabs(notebook):
            raise InvalidRequestError(
                f"-a cell:… takes an image from the notebook's file, and {UNKNOWN_FILE[self._place.kind]}. "
                "Save the image to a file and name that with -a. Nothing was sent."
            )
        return Path(notebook)
