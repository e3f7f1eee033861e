"""Cells of the notebook that ran, as its file has them or as they ran last."""

from __future__ import annotations

import ast
import math
import os
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..attachments.notebook_cells import RanCell, cells_named
from ..runtime.frontend import SavedCell, Where, fingerprint, notebook_files, saved_cells
from .output_recorder import Execution, OutputRecorder

OWN_CELL = re.compile(r"\s*%%(?:chat|ctx)\b|.*(?:#\s*ctx:\s*skip\b|\.add_messages\()", re.DOTALL)
OWN_LINES = re.compile(r"^[ \t]*%(?:chat|ctx|(?:re)?load_ext jupyter_ctx)\b.*\n?", re.MULTILINE)
NAME = re.compile(r"[^\W\d]\w*")


def is_context(ran: Execution) -> bool:
    """Return whether a cell can go with a prompt: neither is it one, nor does it only manage the conversation."""
    return OWN_CELL.match(ran.code) is None and bool(OWN_LINES.sub("", ran.code).strip())


class Page(NamedTuple):
    """Where cells stand: in the notebook's file, else in the order in which they ran first.

    saved: the cells of the file; none where it does not tell
    standing: the cells that ran, as they ran last, by their places: one that the file has not yet stands right behind
        the one that ran before it
    own: the place of the chat cell
    """

    saved: Sequence[SavedCell]
    standing: Mapping[float, Execution]
    own: float


def page_of(executions: Sequence[Execution], place: Where, file: str | None) -> Page:
    """Return where cells stand. Those that were deleted before the file was saved are not among them."""
    cell = place.cell.partition(" ")[0] if place.cell else None  # without the kernel that VS Code's are told apart by
    saved = saved_cells(file)
    ids = {each.id: at for at, each in enumerate(saved)}
    has_ids = cell in ids or any(ran.cell in ids for ran in executions)
    texts = [] if has_ids else [fingerprint(each.source) for each in saved]  # by which other front ends' are known

    def find(name: str | None, text: str, last: float) -> float | None:
        if has_ids:
            return ids.get(name or "")
        same = [at for at, each in enumerate(texts) if each == text]
        return next((at for at in same if at > last), next(iter(same), None))

    standing, known, last = dict[float, Execution](), dict[str | None, float](), -1.0
    for ran in executions:
        name = ran.cell if saved else ran.key
        at = known.get(name) if name else None
        if at is None:
            at = find(ran.cell, fingerprint(ran.code), last) if saved else float(len(standing))
        if at is None:
            if has_ids and ran.at <= os.path.getmtime(file or ""):
                continue
            at = math.nextafter(last, math.inf)
            while at in standing:
                at = math.nextafter(at, math.inf)
        standing[at], known[name], last = ran, at, at
    own = known.get(cell) if cell else None
    if own is None:
        own = find(cell, place.source or "", last)
    return Page(saved, standing, math.inf if own is None else own)


class CellsAbove:
    """The cells above a chat cell, each as it ran last; in the order of the page, else in that in which they ran.

    every: all of them
    newest: those that stand below the last prompt above the chat cell, or ran since that; where no file tells, those
        that ran before the chat cell did at first, or since the last prompt; and those that are pinned
    pinned: those that go with each prompt
    left_out: those that go with none
    """

    def __init__(self, shell: Any, recorder: OutputRecorder, place: Where) -> None:
        self._recorder = recorder
        file = next(iter(notebook_files(shell)), None)
        self.page = saved, standing, own = page_of(recorder.executions, place, file)
        prompts = [at for at, ran in standing.items() if ran.number in recorder.prompts and at < own]
        start = max(prompts, default=-1.0)
        asked = standing[start].number if prompts else 0
        since = asked if saved else max(recorder.prompts, default=0)
        above = [(at, ran) for at, ran in standing.items() if at < own or not (saved or at == own)]
        above.sort(key=lambda each: each[0] if saved else each[1].number)
        above = [(at, ran) for at, ran in above if is_context(ran)]
        self._places = {ran.number: at for at, ran in above}
        self.left_out = [ran for _, ran in above if recorder.marks.get(ran.key) == "exclude"]
        self.every = [ran for _, ran in above if ran not in self.left_out]
        self.pinned = [ran for ran in self.every if recorder.marks.get(ran.key) == "pin"]
        new = [ran.key for at, ran in above if start < at < own or ran.number > since]
        self.newest = [ran for ran in self.every if ran.key in new or ran in self.pinned]

    def named(self, word: str) -> Sequence[Execution]:
        """Return those that a word such as ``cells`` names. Raises InvalidRequestError."""
        return cells_named(word, self.every, self.newest)

    def behind(self, code: str, transform: Callable[[str], str]) -> Sequence[Execution]:
        """Return those that assign what the code of a cell uses, and what these use in turn, in the same order.

        ``transform`` makes Python of a cell with magics, as IPython does.
        """
        _, wanted = _names(code, transform)
        needed = list[Execution]()
        for cell in reversed(self.every):
            assigned, used = _names(cell.code, transform)
            if assigned & wanted and cell.code != code:
                needed.append(cell)
                wanted = (wanted - assigned) | used
        return needed[::-1]

    def as_ran(self, cells: Sequence[Execution], *, with_texts: bool) -> Sequence[RanCell]:
        """Return cells with what they showed, and ``with_texts``: the Markdown cells that the file has around them."""
        going = {self._places[cell.number] for cell in cells} if with_texts else set[float]()
        ran = list[RanCell]()
        for cell in cells:
            code = OWN_LINES.sub("", cell.code)
            # what %chat has printed is no context, and is other at each run
            outputs = tuple(_outputs(cell, self._recorder)) if code == cell.code else ()
            ran += self._texts_above(self._places[cell.number], going, cell.number) if going else []
            ran.append(RanCell(cell.number, code, outputs))
        return [*ran, *self._texts_above(self.page.own, going, 0)] if going else ran

    def _texts_above(self, place: float, going: set[float], number: int) -> list[RanCell]:
        """Return the Markdown cells above a place, up to a cell that goes or a prompt."""
        saved, texts = self.page.saved, list[RanCell]()
        at = math.ceil(place) - 1 if saved and place < math.inf else -1
        while at >= 0 and at not in going:
            cell = saved[at]
            if cell.kind == "code" and OWN_CELL.match(cell.source):
                break
            if cell.kind == "markdown" and cell.source.strip():
                texts.append(RanCell(number, cell.source, is_text=True))
            at -= 1
        return texts[::-1]


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


def _outputs(cell: Execution, recorder: OutputRecorder) -> Iterator[dict[str, Any]]:
    """Yield what a cell showed, in order, as nbformat 4 has it."""
    for output in recorder.outputs.get(cell.number, ()):
        printed = output.bundle.get("stream")
        yield _shown(output.bundle) if printed is None else {"output_type": "stream", "text": "".join(printed)}
    if cell.error:
        yield _shown({"text/plain": cell.error})


def _shown(forms: Mapping[str, Any]) -> dict[str, Any]:
    texts = {kind: b64encode(form).decode() if isinstance(form, bytes) else form for kind, form in forms.items()}
    return {"output_type": "display_data", "data": texts}
