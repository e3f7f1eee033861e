"""A notebook's file as text: its cells in order, with what they printed, returned and raised, and no other data."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator, Mapping
from typing import Any

from ..context.summary_facts import fenced
from ..context.vision import image_size

ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
REDRAWN = re.compile(r"[^\n\r]*\r(?!\n|\Z)")  # what a bar of progress had written before it wrote anew
OUTPUT_LINES = 60  # of one output: the first and the last are kept
WIDGETS = "application/vnd.jupyter.widget-view+json"


def notebook_text(data: str) -> str | None:
    """Return the cells of a notebook in nbformat 3 or 4; ``None``: the text is no notebook.

    Pictures are named with their sizes. Metadata, ids, widgets and numbers of cells are left out.
    """
    try:
        book = json.loads(data)
        cells = [cell for sheet in book.get("worksheets", [book]) for cell in sheet["cells"]]
        return "\n\n".join(part for cell in cells for part in _cell(cell))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _cell(cell: Mapping[str, Any]) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input", "")))
    if cell["cell_type"] != "code":
        yield from [source] if source.strip() else []
        return
    if source.strip():
        fence, _, code = fenced(source).partition("\n")
        yield f"{fence}python\n{code}"
    text = "".join(map(_output, cell.get("outputs", ()))).strip("\n")
    if text.strip():
        yield f"Output:\n{fenced(_shortened(text))}"


def _output(output: Mapping[str, Any]) -> str:
    """Return what an output shows, of either format."""
    if output["output_type"] == "stream":
        return REDRAWN.sub("", ANSI.sub("", _joined(output.get("text", ""))))
    if output["output_type"] in ("error", "pyerr"):
        return f"{output.get('ename')}: {output.get('evalue')}\n"
    data = output.get("data", output)  # nbformat 3 has the forms beside the kind
    forms = {name: _joined(form) for name, form in data.items() if isinstance(form, str | list)}
    pictures = (_picture(form) for name, form in forms.items() if name in ("image/png", "image/jpeg", "png", "jpeg"))
    texts = (forms.get(name) for name in ("text/markdown", "text/plain", "text"))
    text = next(filter(None, (*pictures, *texts)), "")
    return "" if WIDGETS in data else f"{text}\n"


def _picture(form: str) -> str:
    try:
        width, height = image_size(b64decode(form))
    except (Error, ValueError):
        width = height = 0
    return f"[image, {width:,} × {height:,} pixels]" if width else "[image]"


def _joined(lines: Any) -> str:
    return lines if isinstance(lines, str) else "".join(lines)


def _shortened(text: str) -> str:
    """Return a text with its first and last lines."""
    lines = text.split("\n")
    if len(lines) <= OUTPUT_LINES:
        return text
    half = OUTPUT_LINES // 2
    return "\n".join([*lines[:half], f"… {len(lines) - OUTPUT_LINES:,} lines left out …", *lines[-half:]])
