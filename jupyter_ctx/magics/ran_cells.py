"""Cells of the notebook that ran, as its file has them or as they ran last, for ``-a cells``."""

from __future__ import annotations

import ast
import os
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..attachments.notebook_cells import RanCell, cells_named
from ..errors import InvalidRequestError
from ..runtime.frontend import Where, cells_of, notebook_files
from .output_recorder import Display, Execution, OutputRecorder

OWN_CELL = re.compile(r"\s*%%(?:chat|ctx)\b|.*#\s*ctx:\s*skip\b", re.DOTALL)
OWN_LINES = re.compile(r"^[ \t]*%(?:chat|ctx|(?:re)?load_ext jupyter_ctx)\b.*\n?", re.MULTILINE)
NAME = re.compile(r"[^\W\d]\w*")
MOST_KEPT = 20_000_000  # characters of outputs that are read, those of the newest cells
FORGOTTEN = "(what it showed is not kept: later cells have shown more than 20 MB)"
MARKS = {  # what a verb means for a cell
    "pin": "each -a cells sends what is not in the conversation of it",
    "exclude": "no -a sends it",
    "unpin": "sent with the next -a cells only if it ran since the last prompt",
    "include": "-a cells sends it again",
}


def is_context(ran: Execution) -> bool:
    """Return whether a cell can go with a prompt: neither is it one, nor does it only manage the conversation."""
    return OWN_CELL.match(ran.code) is None and bool(OWN_LINES.sub("", ran.code).strip())


def named_cells(shell: Any, recorder: OutputRecorder, word: str, place: Where) -> Sequence[RanCell]:
    """Return the cells above a chat cell that a word such as ``cells`` names. Raises InvalidRequestError."""
    above = cells_above(recorder, place, _file_of(shell))
    return _as_ran(cells_named(word, above.every, above.newest), recorder)


def cells_behind(shell: Any, recorder: OutputRecorder, code: str, place: Where) -> Sequence[RanCell]:
    """Return the cells above a chat cell on whose names the code of another one depends."""
    above = cells_above(recorder, place, _file_of(shell)).every
    return _as_ran(_needed(code, above, shell.transform_cell), recorder)


def mark_cells(recorder: OutputRecorder, verb: str, words: Sequence[str]) -> str:
    """Pin, unpin, exclude or include cells, named as In[3], and return what that means. Raises InvalidRequestError."""
    numbers = [int(word[3:-1]) for word in words]
    by_number = {ran.number: ran.key for ran in recorder.executions}
    for number in numbers:
        if number not in by_number:
            raise InvalidRequestError(f"There is no In[{number}]: no cell of this number has run in this kernel.")
    keys = {by_number[number] for number in numbers}
    recorder.pinned -= keys
    recorder.excluded -= keys
    if verb == "pin":
        recorder.pinned |= keys
    if verb == "exclude":
        recorder.excluded |= keys
    return f"{', '.join(words)}: {MARKS[verb]}."


def _file_of(shell: Any) -> str | None:
    return next(iter(notebook_files(shell)), None)


class CellsAbove(NamedTuple):
    """The cells that stand above a chat cell, each as it ran last, and those of them that ran since the last prompt."""

    every: list[Execution]
    newest: list[Execution]


def cells_above(recorder: OutputRecorder, place: Where, file: str | None) -> CellsAbove:
    """Return the cells above a chat cell, as the notebook's ``file`` has them, else those that ran, as they ran last.

    Where a chat cell is run again and the file does not tell, those are new that ran before it at first, or since the
    last prompt.
    """
    newest = {ran.key: ran for ran in recorder.executions}
    cell = place.cell.partition(" ")[0] if place.cell else ""  # without the kernel that VS Code's ids are told apart by
    standing = _in_file(newest, cell, file)
    if standing is not None:
        prompts = [at for at, each in enumerate(standing) if each.number in recorder.prompts]
        start = prompts[-1] if prompts else -1
        asked_last = standing[start].number if prompts else 0
        new = {each.key for at, each in enumerate(standing) if at > start or each.number > asked_last}
    else:
        others = (ran for key, ran in newest.items() if key != cell)
        standing = sorted(others, key=lambda ran: ran.number)
        new = _new_cells(recorder, cell)
    every = [each for each in standing if is_context(each) and each.key not in recorder.excluded]
    return CellsAbove(every, [each for each in every if each.key in new | recorder.pinned])


def _new_cells(recorder: OutputRecorder, cell: str) -> set[str]:
    """Return the keys of the cells that ran between the last prompt and a cell, as it ran first, or ran since."""
    new, of_the_cell, has_run = set[str](), set[str](), False
    for ran in recorder.executions:
        if ran.cell == cell and not has_run:
            of_the_cell, has_run = set(new), True
        if ran.number in recorder.prompts:
            new = set()
        new.add(ran.key)
    return new | of_the_cell


def _in_file(newest: Mapping[str, Execution], cell: str, file: str | None) -> list[Execution] | None:
    """Return the cells above one in the notebook's file, as they stand; ``None``: it does not tell.

    Those that were deleted before it was saved are not among them.
    """
    ids = {each: at for at, each in enumerate(cells_of(file))} if cell else {}
    if cell not in ids:
        return None
    saved, at = os.path.getmtime(file or ""), -1
    placed = list[tuple[int, Execution]]()
    for each in newest.values():
        if each.cell in ids or each.at > saved:  # a new one stands behind the one that ran before it
            at = ids.get(each.cell or "", at)
            placed.append((at, each))
    return [each for at, each in sorted(placed, key=lambda pair: pair[0]) if at < ids[cell]]


def _needed(code: str, above: Sequence[Execution], transform: Callable[[str], str]) -> list[Execution]:
    """Return the cells that assign what the code of a cell uses, and what these use in turn, in the same order.

    ``transform`` makes Python of a cell with magics, as IPython does.
    """
    _, wanted = _names(code, transform)
    needed = list[Execution]()
    for cell in reversed(above):
        assigned, used = _names(cell.code, transform)
        if assigned & wanted and cell.code != code:
            needed.append(cell)
            wanted = (wanted - assigned) | used
    return needed[::-1]


def _names(code: str, transform: Callable[[str], str]) -> tuple[set[str], set[str]]:
    """Return the names that code assigns, imports and defines, and those that it uses."""
    try:
        tree = ast.parse(transform(code))
    except (SyntaxError, ValueError, RecursionError):
        words = set(NAME.findall(code))
        return set(), words  # of the cell that cannot be read, any word may be a name
    assigned, used = set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else assigned).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            assigned.add(node.name)
        elif isinstance(node, ast.alias):
            assigned.add((node.asname or node.name).partition(".")[0])
    return assigned, used


def _as_ran(cells: Sequence[Execution], recorder: OutputRecorder) -> list[RanCell]:
    """Return cells with what they showed, the newest of it up to 20 MB."""
    left, found = MOST_KEPT, list[RanCell]()
    for cell in reversed(cells):
        code = OWN_LINES.sub("", cell.code)
        outputs = [_printed([FORGOTTEN])]
        if left > 0:  # what %chat has printed is no context, and is other at each run
            outputs = list(_outputs(cell, recorder)) if code == cell.code else []
        left -= len(repr(outputs))
        found.append(RanCell(cell.number, code, tuple(outputs)))
    return found[::-1]


def _outputs(cell: Execution, recorder: OutputRecorder) -> Iterator[dict[str, Any]]:
    """Yield what a cell showed, in order, as nbformat 4 has it."""
    waiting = recorder.of(cell.number).displays
    for at, kept in enumerate(recorder.printed.get(cell.number, ())):
        pieces = kept.bundle.get("stream")
        printed = 0
        while waiting and waiting[0].after <= (at + 1, len(pieces or ())):
            display = waiting.pop(0)
            if pieces and display.after[0] > at:
                yield _printed(pieces[printed : display.after[1]])
                printed = display.after[1]
            yield _displayed(display)
        yield _printed(pieces[printed:]) if pieces is not None else _shown(kept.bundle)
    yield from map(_displayed, waiting)
    if cell.error:
        yield _printed([cell.error])


def _printed(pieces: Sequence[str]) -> dict[str, Any]:
    return {"output_type": "stream", "text": "".join(pieces)}


def _displayed(display: Display) -> dict[str, Any]:
    text = display.text or f"({display.what})"
    return _shown({"text/plain": text} if display.image is None else {"image/png": display.image})


def _shown(forms: Mapping[str, Any]) -> dict[str, Any]:
    texts = {kind: b64encode(form).decode() if isinstance(form, bytes) else form for kind, form in forms.items()}
    return {"output_type": "display_data", "data": texts}
