"""One table of what a class has handed in: a line for each hand-in of a folder, whole or damaged."""

from __future__ import annotations

from pathlib import Path

from ..display.tables import table_text
from ..errors import InvalidRequestError
from ..runtime.files import path_of
from ..wording import counted, dollars
from .hand_in import HAND_IN_FORMATS, HAND_IN_SUFFIXES, is_another_file, load_hand_in

_HEAD = ("file", "turns", "tokens", "cost", "models", "last run", "digest")
_FITS = "fits"


def class_table(folder: str) -> tuple[str, bool]:
    """Return a table of the hand-ins in a folder and in the folders directly in it, and whether each fits its digest.

    Hidden files are left out; one file is read at a time. Raises InvalidRequestError where there is no hand-in.
    """
    root = path_of(folder)
    if not root.is_dir():
        raise InvalidRequestError(f"{root} is no folder: name the one that the files are in.")
    names = sorted(path.relative_to(root) for path in (*root.glob("*"), *root.glob("*/*")) if path.is_file())
    named = [name for name in names if name.suffix.lower() in HAND_IN_SUFFIXES]
    shown = [name for name in named if not any(part.startswith(".") for part in name.parts)]
    rows = [_row(root, name) for name in shown if not is_another_file(root / name)]
    others = len(shown) - len(rows)
    if not rows:
        raise InvalidRequestError(
            f"No hand-in is in {root} or in a folder directly in it: %chat handin writes one, as {HAND_IN_FORMATS}."
        )
    passed_over = f"\n{counted(others, 'other file')} passed over: without a record of %chat handin." if others else ""
    return f"{table_text(_HEAD, rows)}{passed_over}", all(row[-1] == _FITS for row in rows)


def _row(root: Path, name: Path) -> tuple[str, ...]:
    path = root / name
    try:
        seal, misfit = load_hand_in(path)
    except InvalidRequestError as error:
        return (str(name), "", "", "", "", "", str(error).replace(str(path), "this"))
    answers = seal.record.answers
    asked = [answer for answer in answers if answer.origin == "asked"]
    costs = [answer.cost for answer in asked if answer.cost is not None]
    cost = dollars(sum(costs)) if costs else "–"
    return (
        str(name),
        f"{sum(answer.state == 'current' for answer in answers):,}",
        f"{sum(answer.tokens for answer in asked):,}",
        f"{cost}+" if 0 < len(costs) < len(asked) else cost,
        ", ".join(dict.fromkeys(answer.model for answer in answers if answer.model)),
        max((answer.at for answer in answers), default=""),
        f"does not fit: changed in {misfit}" if misfit else _FITS,
    )
