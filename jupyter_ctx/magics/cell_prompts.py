"""A cell's text and the options of its line, as the prompt that is sent: filled in, with what goes along."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..attachments.attached import Attached
from ..attachments.user_code import silent
from ..chat import Chat
from ..display.request_page import OfferedCell
from ..errors import ChatInterrupted, InvalidRequestError
from ..runtime.frontend import Where, is_replay
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
from .output_recorder import OutputRecorder
from .variables import attached_named, schema_named, tools_named

if TYPE_CHECKING:
    from ..attachments.errors import Failure
    from ..tools.functions import Tool
    from .ran_cells import CellsAbove

EXPLAIN = "Explain this error and how to mend it."
NOTHING_NEW = "-a {}: no cell goes along; what earlier prompts sent, and has not changed, is in the conversation."
NO_TEXTS = (
    "Markdown cells do not go along: they are read from the notebook's file once it is saved, where that is known."
)
CELL_MARKS = {  # what a verb means for a cell
    "pin": "each prompt sends it, unless the conversation has it as it is",
    "exclude": "no -a sends it",
    "unpin": "sent with the next -a cells only if it ran since the last prompt",
    "include": "-a cells sends it again",
}
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
        above = self._above(place) if needs_cells else None
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

    def _above(self, place: Where) -> CellsAbove:
        from .ran_cells import CellsAbove

        return CellsAbove(self._shell, self._recorder, place)


def _accepted(place: Where) -> FromStore:
    """Return which stored answers will do: in a headless run only handed ones, unless replay is on."""
    if place.kind == "headless":
        return "all" if is_replay() else "handed"
    return "cell"
