"""A cell's text and the options of its line, as the prompt that is sent: filled in, with what goes along."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..attachments.attached import Attached, silent
from ..chat import Chat
from ..display.request_page import OfferedCell
from ..errors import ChatInterrupted, InvalidRequestError
from ..runtime.frontend import Where, is_replay
from ..session.attaching import (
    ABOUT_TOKENS,
    Along,
    attachment_of,
    attachment_of_error,
    attachment_sizes,
    attachments_of_cells,
)
from ..session.prompt import FromStore, Prompt
from ..session.send import stopped
from ..template.expressions import fill, unspaced
from .line_options import settings_of
from .output_recorder import OutputRecorder, last_failure
from .variables import attached_named, schema_named, tools_named

if TYPE_CHECKING:
    from ..attachments.errors import Failure
    from ..attachments.notebook_cells import RanCell
    from .ran_cells import CellsAbove

NOTHING_NEW = "-a {}: no cell goes along; what earlier prompts sent, and has not changed, is in the conversation."
NO_TEXTS = (
    "Markdown cells do not go along: they are read from the notebook's file once it is saved, where that is known."
)
NO_PRINTS = "What cells print and return does not go along: IPython keeps it from version 9 on."
CELL_MARKS = {  # what a verb means for a cell
    "pin": "each prompt sends it, unless the conversation has it as it is",
    "exclude": "no -a sends it",
    "unpin": "sent with the next -a cells only if it ran since the last prompt",
    "include": "-a cells sends it again",
}
CELLS_WORD = re.compile(r"cells(:|\Z)|In\[\d+:")  # of -a
Tell = Callable[..., None]


class CellPrompt(NamedTuple):
    """A prompt, the lines that say what was filled in and left out, and what goes with it."""

    prompt: Prompt
    lines: tuple[str, ...]
    along: Along


class CellPrompts:
    """Makes prompts of the cells of one shell; ``recorder`` hears what they show."""

    def __init__(self, shell: Any, recorder: OutputRecorder) -> None:
        self._shell, self._recorder = shell, recorder

    def of(self, chat: Chat, options: Namespace, text: str, place: Where, tell: Tell) -> CellPrompt:
        """Return the prompt of a cell, and ``tell`` what is read. Raises UsageError and what reading raises."""
        notes, names = list[str](), self._shell.user_ns
        try:
            if not options.raw and "{{" in text:
                redactor = chat.session.redactor(on=not options.no_redact)
                notes += dict.fromkeys(unspaced(text, names))
                with silent():  # what is displayed while values are read is no part of the cell
                    text = fill(text, names, redactor, partial(tell, verb="Reading"))
            attached = tuple(dict.fromkeys(self._attached(chat, options, place, tell, notes)))
        except KeyboardInterrupt:
            raise ChatInterrupted(stopped((), record=True)) from None
        prompt = self._prompt(chat, options, text, attached, place)
        along = attachment_sizes(chat.session, attached, **settings_of(options))
        notices = (line for part in attached for line in part.notices)
        return CellPrompt(prompt, (*notes, *notices), along)

    def _prompt(self, chat: Chat, options: Namespace, text: str, attached: Sequence[Attached], place: Where) -> Prompt:
        names = self._shell.user_ns
        schema, tools = schema_named(options.schema, names), tools_named(chat, options, names)
        return Prompt(
            text, settings_of(options), tuple(attached), cell=place.cell, run=place.run, execution=place.execution,
            source=place.source, append=options.append, new=options.new, record=not options.no_history,
            stored=None if options.ask else _accepted(place), schema=schema, tools=tools, ask_always=options.confirm,
        )  # fmt: skip

    def mark_cells(self, verb: str, words: Sequence[str]) -> str:
        """Pin, unpin, exclude or include cells, named as In[3], and return what that means.

        Raises InvalidRequestError.
        """
        recorder = self._recorder
        cells = {f"In[{ran.number}]": ran.key for ran in recorder.executions}
        for word in words:
            if word not in cells:
                raise InvalidRequestError(f"There is no {word}: no cell of this number has run in this kernel.")
        keys = {cells[word] for word in words}
        recorder.pinned -= keys
        recorder.excluded -= keys
        if verb == "pin":
            recorder.pinned |= keys
        if verb == "exclude":
            recorder.excluded |= keys
        return f"{', '.join(words)}: {CELL_MARKS[verb]}."

    def offered(self, chat: Chat) -> list[OfferedCell]:
        """Return the cells that go with the next prompt below all others, and those that are left out."""
        if not self._recorder.executions:
            return []
        above = self._above(Where("notebook"))
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
        failure = last_failure(self._shell, self._recorder.failure)
        if failure is None:
            raise InvalidRequestError(
                "There is no error to send: no cell has failed in this kernel. Run the one that fails first."
            )
        return failure

    def _attached(self, chat: Chat, options: Namespace, place: Where, tell: Tell, notes: list[str]) -> list[Attached]:
        """Return what options name: things of the notebook or files, and the last error; ``notes`` takes lines."""
        settings, words, redact = settings_of(options), list(options.attach or []), not options.no_redact
        if chat.config.cells == "on" and not any(map(CELLS_WORD.match, words)):
            words.append("cells")

        def attach(name: str, value: Any, **share: float) -> Attached:
            return attachment_of(chat.session, name, value, among=len(words), redact=redact, **{**settings, **share})

        def attach_cells(cells: Sequence[RanCell]) -> Sequence[Attached]:
            asked = self._prompt(chat, options, "", (), place)
            return attachments_of_cells(chat.session, cells, asked, redact=redact)

        failure = self.last_error() if options.error else None
        of_cells = [word for word in words if CELLS_WORD.match(word)]
        above = self._above(place) if of_cells or failure is not None or self._recorder.pinned else None
        things = list[Attached]()
        for word in words:
            tell(word, verb="Reading")
            if above is None or word not in of_cells:
                things.append(attached_named(word, self._shell.user_ns, attach, allow_local=options.allow_local))
                continue
            failed = failure.number if failure is not None else None  # it goes with its error
            cells = [cell for cell in above.named(word) if cell.number != failed]
            parts = attach_cells(above.as_ran(cells, with_texts=True))
            if not parts and word in (options.attach or ()):
                notes.append(NOTHING_NEW.format(word))
            notes += chat.session.once(*self._lacking(above, place)) if parts else ()
            things += parts
        if above is not None and not of_cells:
            things += attach_cells(above.as_ran(above.pinned, with_texts=False))
        if failure is not None and above is not None:
            needed = above.behind(failure.cell, self._shell.transform_cell)
            things += attach_cells(above.as_ran(needed, with_texts=False))
            things.append(attachment_of_error(chat.session, failure, redact=redact, **settings))
        return things

    def _above(self, place: Where) -> CellsAbove:
        from .ran_cells import CellsAbove

        return CellsAbove(self._shell, self._recorder, place)

    def _lacking(self, above: CellsAbove, place: Where) -> Iterator[str]:
        """Yield lines about what cannot go with cells here."""
        if place.kind != "terminal" and not above.page.saved:
            yield NO_TEXTS
        if not self._recorder.has_outputs:
            yield NO_PRINTS


def _accepted(place: Where) -> FromStore:
    """Return which stored answers will do: in a headless run only handed ones, unless replay is on."""
    if place.kind == "headless":
        return "all" if is_replay() else "handed"
    return "cell"
