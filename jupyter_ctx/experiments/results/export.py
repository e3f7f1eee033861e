"""Write a run to a file, as JSON that is read again or as a page to read, and read it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...errors import InvalidRequestError
from ...runtime.files import path_of, reason_of, write_export
from .record import EXPORTS, RUN_MARK, RunRecord, as_values, from_values
from .report import REPORT_MARK, report_html


def export_run(record: RunRecord, path: str | Path, known_keys: Iterable[str] = ()) -> Path:
    """Write a run to a file, whole or not at all, and return its absolute path.

    A ``.json`` file has all that was asked and answered, and :func:`load_run` reads it; an ``.html`` file is a page to
    read, with all answers. ``known_keys`` are secrets in use; they, those in environment variables and whatever looks
    like a key are written as ``***``. Raises InvalidRequestError for another format, a folder that does not exist, and
    a file that is there and is not an exported run.
    """
    file = path_of(path)
    suffix = file.suffix.lower()
    if suffix == ".html":
        return write_export(file, report_html(record, known_keys), _is_exported)
    if suffix != ".json":
        raise InvalidRequestError(f"{file}: a run is exported as .json or .html; name such a file.")
    text = json.dumps(as_values(record, known_keys), ensure_ascii=False, indent=1, allow_nan=False)
    return write_export(file, f"{text}\n", _is_exported)


def load_run(path: str | Path) -> RunRecord:
    """Return the run in a .json file that ``run.export(path)`` wrote, as a frozen value with all that is read of a run.

    It can be compared with any other that has ended. What looked like a key is ``***``. Raises InvalidRequestError for
    a file that is missing, damaged, no exported run, or written by a newer release.
    """
    file = path_of(path)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise InvalidRequestError(f"{file} cannot be read as an exported run: {reason_of(error)}. {EXPORTS}") from None
    return from_values(_parsed(text, str(file)), str(file))


def _parsed(text: str, whence: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError(f"{whence} is no exported run, or is cut: not JSON ({error}). {EXPORTS}") from None


def _is_exported(text: str) -> bool:
    if text.startswith(REPORT_MARK):
        return True
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and RUN_MARK in found
