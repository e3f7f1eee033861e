"""A cell's text and the options of its line, as the prompt that is sent: filled in, with what goes along."""

from __future__ import annotations

import ast
import math
import os
import re
from argparse import Namespace
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..attachments.attached import Attached, silent
from ..attachments.notebook_cells import RanCell, cells_named
from ..chat import Chat
from ..display.request_page import OfferedCell
from ..errors import ChatInterrupted, InvalidRequestError
from ..runtime.frontend import SavedCell, Where, fingerprint, is_replay, notebook_files, saved_cells
from ..session.attaching import (
    ABOUT_TOKENS,
    attachment_of,
    attachment_of_error,
    attachment_sizes,
    attachments_of_cells,
)
from ..session.complete import nothing
from ..session.prompt import FromStore, Prompt
from ..session.session import STOPPED_EARLY
from ..template.expressions import fill, unspaced
from .line_options import settings_of
from .output_recorder import Execution, OutputRecorder
from .variables import attached_named, schema_named, tools_named

if TYPE_CHECKING:
    from ..attachments.errors import Failure
    from ..tools.functions import Tool

EXPLAIN = "Explain this error and how to mend it."
NOTHING_NEW = (
    "-a {}: no cell goes along. None has run since the last prompt, or the conversation has them already; -a cells:all "
    "takes those before it, too."
)
NO_TEXTS = (
    "Markdown cells do not go along: they are read from the notebook's file once it is saved, where that is known."
)
CELL_MARKS = {  # what a verb means for a cell
    "pin": "each prompt sends it, unless the conversation has it as it is",
    "exclude": "no -a sends it",
    "unpin": "sent with the next -a cells only if it ran since the last prompt",
    "include": "-a cells sends it again",
}
OWN_CELL = re.compile(r"\s*%%(?:chat|ctx)\b|.*(?:#\s*ctx:\s*skip\b|\.add_messages\()", re.DOTALL)
OWN_LINES = re.compile(r"^[ \t]*%(?:chat|ctx|(?:re)?load_ext jupyter_ctx)\b.*\n?", re.MULTILINE)
CELLS_WORD = re.compile(r"cells(:|\Z)|In\[\d+:")  # of -a
Tell = Callable[[str], None]


class CellPrompt(NamedTuple):
    """A prompt, the lines that say what was filled in and left out, and what goes with it, with its tokens."""

    prompt: Prompt
    lines: tuple[str, ...]
    along: Sequence[Attached]


class CellPrompts:
    """Makes prompts of the cells of one shell; ``recorder`` hears what they show."""

    def __init__(self, shell: Any, recorder: OutputRecorder) -> None:
        self._shell, self._recorder = shell, recorder

    def of(self, chat: Chat, options: Namespace, text: str, place: Where, tell: Tell = nothing) -> CellPrompt:
        """Return the prompt of a cell, and ``tell`` what is read. Raises UsageError and what reading raises."""
        notes, names = list[str](), self._shell.user_ns
        text = EXPLAIN if options.error and not text.strip() else text.rstrip("\n")
        try:
            if not options.raw and "{{" in text:
                redactor = chat.session.redactor(on=not options.no_redact)
                notes += dict.fromkeys(unspaced(text, names))
                with silent():  # what is displayed while values are read is no part of the cell
                    text = fill(text, names, redactor, tell)
            prompt = self._prompt(chat, options, text, place)
            attached = dict.fromkeys(self._attached(chat, options, prompt, place, tell, notes))
        except KeyboardInterrupt:
            raise ChatInterrupted(STOPPED_EARLY) from None
        if not attached:
            return CellPrompt(prompt, tuple(notes), ())
        along = attachment_sizes(chat.session, tuple(attached), **prompt.options)
        notes += [line for part in attached for line in part.notices]
        return CellPrompt(replace(prompt, attachments=tuple(attached)), tuple(notes), along)

    def _prompt(self, chat: Chat, options: Namespace, text: str, place: Where) -> Prompt:
        """Return a prompt without what goes along."""
        return Prompt(
            text, settings_of(options), cell=place.cell, run=place.run, execution=place.execution, source=place.source,
            append=options.append, new=options.new, record=not options.no_history,
            stored=None if options.ask else _accepted(place),
            schema=schema_named(options.schema, self._shell.user_ns) if options.schema else None,
            tools=self._tools(chat, options), ask_always=options.confirm,
        )  # fmt: skip

    def _tools(self, chat: Chat, options: Namespace) -> tuple[Tool, ...]:
        """Return the functions that may be called; the conversation keeps those that its setting names."""
        typed = " ".join(options.tools or chat.config.tools).replace(",", " ").split()
        if set(typed) <= {"none"}:
            return ()
        whose = "--tool" if options.tools else "%chat config tools"
        tools = tools_named(typed, whose, self._shell.user_ns)
        if not options.tools:
            chat.session.functions.update(tools)
        return tuple(tools.values())

    def mark_cells(self, verb: str, words: Sequence[str]) -> str:
        """Pin, unpin, exclude or include cells, named as In[3], and return what that means.

        Raises InvalidRequestError.
        """
        keys = {f"In[{ran.number}]": ran.key for ran in self._recorder.executions}
        unknown = [word for word in words if word not in keys]
        if unknown:
            raise InvalidRequestError(f"There is no {unknown[0]}: no cell of this number has run in this kernel.")
        self._recorder.marks.update(dict.fromkeys([keys[word] for word in words], verb))
        return f"{', '.join(words)}: {CELL_MARKS[verb]}."

    def offered(self, chat: Chat) -> list[OfferedCell]:
        """Return the cells that go with the next prompt below all others, and those that are left out."""
        above = CellsAbove(self._shell, self._recorder, Where("notebook"))
        cells = above.as_ran(above.newest, with_texts=True)
        pinned = {f"In[{ran.number}]" for ran in above.pinned}
        codes = {cell.name: cell for cell in cells if not cell.is_text}
        offered = list[OfferedCell]()
        for part in attachments_of_cells(chat.session, cells, Prompt("")):
            number, text = (codes[part.name].number, codes[part.name].code) if part.name in codes else (0, part.name)
            size = ABOUT_TOKENS.sub("~", part.what)
            offered.append(OfferedCell(number, text, size, "pinned" if part.name in pinned else "sent"))
        return [*offered, *(OfferedCell(ran.number, ran.code, "left out", "excluded") for ran in above.left_out)]

    def note_sent(self) -> None:
        """Note that the cell that runs has sent its prompt: what runs later is new to the next one."""
        if self._recorder.number is not None:
            self._recorder.prompts.add(self._recorder.number)

    def last_error(self) -> Failure:
        """Return the last error of this notebook's cells. Raises InvalidRequestError where there is none."""
        failure = self._recorder.last_failure
        if failure is None:
            raise InvalidRequestError(
                "There is no error to send: no cell has failed in this kernel. Run the one that fails first."
            )
        return failure

    def _attached(
        self, chat: Chat, options: Namespace, asked: Prompt, place: Where, tell: Tell, notes: list[str]
    ) -> Iterator[Attached]:
        """Yield what options name: things of the notebook or files, and the last error; ``notes`` takes lines."""
        words, session, redact = list(options.attach or []), chat.session, not options.no_redact
        if chat.config.cells == "on" and not any(map(CELLS_WORD.match, words)):
            words.append("cells")
        attach = partial(attachment_of, session, among=len(words), redact=redact, **asked.options)
        failure = self.last_error() if options.error else None
        of_cells = any(map(CELLS_WORD.match, words))
        needs_cells = of_cells or failure is not None or "pin" in self._recorder.marks.values()
        above = CellsAbove(self._shell, self._recorder, place) if needs_cells else None
        for word in words:
            tell(word)
            if above is None or not CELLS_WORD.match(word):
                yield attached_named(word, self._shell.user_ns, attach, allow_local=options.allow_local)
                continue
            failed = failure.number if failure is not None else None  # it goes with its error
            cells = [cell for cell in above.named(word) if cell.number != failed]
            parts = attachments_of_cells(session, above.as_ran(cells, with_texts=True), asked, redact=redact)
            if not parts and word in (options.attach or ()):
                notes.append(NOTHING_NEW.format(word))
            if parts and place.kind != "terminal" and not above.page.saved:
                notes += session.once(NO_TEXTS)
            yield from parts
        if above is not None:
            pinned = [] if of_cells else above.pinned
            needed = [] if failure is None else above.behind(failure.cell, self._shell.transform_cell)
            going = above.as_ran([*dict.fromkeys([*pinned, *needed])], with_texts=False)
            yield from attachments_of_cells(session, going, asked, redact=redact)
        if failure is not None:
            yield attachment_of_error(session, failure, redact=redact, **asked.options)


def _accepted(place: Where) -> FromStore:
    """Return which stored answers will do: in a headless run only handed ones, unless replay is on."""
    if place.kind == "headless":
        return "all" if is_replay() else "handed"
    return "cell"


# cells of the notebook that ran, as its file has them or as they ran last


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
    has_ids = not {cell, *(ran.cell for ran in executions)}.isdisjoint(each.id for each in saved)
    names = [each.id if has_ids else fingerprint(each.source) for each in saved]  # texts, in other front ends

    def find(cell: str | None, text: str, last: float) -> float | None:
        same = [at for at, name in enumerate(names) if name == (cell if has_ids else text)]
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
        return set(), set()
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
