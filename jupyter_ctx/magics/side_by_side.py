"""Several answers to one cell, side by side: whom it asks, and what is shown of them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from IPython.core.error import UsageError

from ..chat import Chat
from ..conversation.messages import Alternatives, TurnRecord
from ..display.answer.column_page import compared_forms
from ..display.answer.columns import ColumnsView, NotebookColumns, TextColumns
from ..display.answer.footer import Footer
from ..display.widgets.choice_bar import ChoiceBar
from ..display.widgets.tables import first_words
from ..errors import ChatError, InvalidRequestError
from ..experiments.side_by_side import MOST_AT_A_TIME, Candidate
from ..models.registry import settings_with
from ..providers.base import Reply
from ..runtime.frontend import Where
from ..runtime.interrupts import uninterrupted
from ..session.notices import STORED
from ..session.prompt import Prompt
from .answers import ending, object_forms, remarks_on, shown_forms
from .options import settings_of

FIRST_TAKEN = "Unless told otherwise, the first whole answer is taken: --pick N takes another."


class Several:
    """What a line says of the answers that it asks for. Raises UsageError.

    columns: whom it asks
    first: its options as they are for the first of them
    picked: the number of the answer that it takes by itself; ``None``: none
    """

    def __init__(self, chat: Chat, options: Namespace) -> None:
        self._chat = chat
        self.columns = columns_of(chat, options)
        self.first = Namespace(**{**vars(options), **self.columns[0].options})
        self.picked = _picked(options, len(self.columns))
        if self.picked is not None and options.no_history:
            raise UsageError(
                "--pick takes an answer into the conversation, and --no-history keeps none. Nothing was sent."
            )

    def prompts(self, prompt: Prompt) -> tuple[Prompt, ...]:
        """Return the prompt as each column is asked it."""
        return tuple(replace(prompt, options=column.options) for column in self.columns)

    def cell(self, above: Sequence[str], place: Where) -> SideBySideCell:
        """Return the answers of a cell as they are shown."""
        return SideBySideCell(self._chat, self.columns, self.picked, above, place, plain=self.first.plain)


def columns_of(chat: Chat, options: Namespace) -> tuple[Candidate, ...]:
    """Return whom a line asks: every model with every temperature, so often. Raises UsageError."""
    models, temperatures = _listed(options.model), _listed(options.temperature)
    samples = _whole("-n", options.samples, "how often to ask") if options.samples is not None else 1
    count = len(models) * len(temperatures) * samples
    if count < 2:
        raise UsageError("-n 1 is a prompt as any other: leave -n out, or give a larger number.")
    if count > MOST_AT_A_TIME:
        raise UsageError(
            f"{count} answers are more than the {MOST_AT_A_TIME} that stand side by side: %%chat map asks a prompt any "
            "number of times (--repeat N). Nothing was sent."
        )
    usual, columns = settings_of(options), []
    for model, temperature, sample in product(models, temperatures, range(1, samples + 1)):
        asked: Mapping[str, Any] = {**usual, "model": model, "temperature": temperature}
        settings = settings_with(chat.config, {name: value for name, value in asked.items() if value is not None})
        parts = [settings.model]
        parts += [f"temperature {temperature}"] if len(temperatures) > 1 else []
        parts += [f"{sample} of {samples}"] if samples > 1 else []
        columns.append(Candidate(" · ".join(parts), asked))
    return tuple(columns)


def _picked(options: Namespace, count: int) -> int | None:
    """Return the answer that a line takes by itself; ``None``: none. Raises UsageError."""
    if options.pick is None:
        return None
    number = _whole("--pick", options.pick, "the number of an answer")
    if number > count:
        raise UsageError(f"--pick {number}: the line asks for {count} answers. Nothing was sent.")
    return number


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _whole(flag: str, word: str, what: str) -> int:
    """Return a number of at least 1. Raises UsageError."""
    try:
        number = int(word)
    except ValueError:
        number = 0
    if number < 1:
        raise UsageError(f"{flag} {word}: it must be {what}, a whole number from 1. Nothing was sent.")
    return number


class SideBySideCell:
    """The answers of one cell, side by side, and the buttons that take one.

    It shows which answer is taken until :meth:`end`: its cell has others then.
    """

    def __init__(
        self,
        chat: Chat,
        columns: Sequence[Candidate],
        picked: int | None,
        above: Sequence[str],
        place: Where,
        *,
        plain: bool = False,
    ) -> None:
        self._chat, self._columns, self._picked, self._place = chat, columns, picked, place
        self._heads = heads = [column.label for column in columns]
        self._view: ColumnsView = (
            TextColumns(heads, above)
            if place.kind == "terminal"
            else NotebookColumns(heads, above, streaming=place.kind == "notebook", plain=plain)
        )
        self._replies: dict[int, Reply] = {}
        self.id = ""  # of the answers that were kept
        self._begun = False
        self._chosen: int | None = None
        self._bar: ChoiceBar | None = None

    def ask(self, prompt: Prompt) -> list[Reply | None]:
        """Ask, show what comes, and return the replies, ``None`` for one that failed.

        Raises a ChatError where none is whole, and ChatInterrupted; what came is kept and shown.
        """
        try:
            found = self._chat.ask_each(prompt, self._columns, self)
        except (ChatError, KeyboardInterrupt) as error:
            with uninterrupted():
                last = next(reversed(self._chat.conversation.offers.values()), None)
                self._offer(last if last is not None and self._shows(last, prompt) else None)
            raise error from None
        picked = self._picked
        if picked is None and self._place.kind != "notebook" and not self._chat.chosen(found.id):
            is_whole = [not answer.error and not answer.problem for answer in found.answers]
            picked = is_whole.index(True) + 1
        if prompt.record and picked is not None:
            self._chat.choose(picked, found.id)
        self._offer(found if prompt.record else None)
        return [self._replies.get(column) for column in range(len(self._columns))]

    def _shows(self, found: Alternatives, prompt: Prompt) -> bool:
        """Return whether these answers are the ones shown: of this execution, or stored ones of the cell."""
        asked, is_stored = found.asked.record, any(reply.stored for reply in self._replies.values())
        return asked.run == prompt.run or (is_stored and asked.cell == prompt.cell)

    @property
    def kept_in(self) -> Chat | None:
        """The conversation that keeps the answers; ``None``: none of them was kept."""
        return self._chat if self.id else None

    def _offer(self, found: Alternatives | None) -> None:
        """Show the whole answers, and how to take one; ``None``: they were not kept."""
        if not self._begun:
            return
        if found is None:
            self._view.close(None)
            return
        self.id, self._chosen = found.id, self._chat.chosen(found.id)
        is_automatic = self._place.kind != "notebook" and self._picked is None and self._chosen is not None
        self._view.close(_index(self._chosen), (FIRST_TAKEN,) if is_automatic else ())
        if self._place.kind == "notebook":
            missing = [index for index, answer in enumerate(found.answers) if answer.error]
            self._bar = ChoiceBar(
                self._heads, lambda i: self._chat.choose(i + 1, self.id), self._view.mark, missing=missing
            )
            self._bar.show()
            self._bar.update(_index(self._chosen), unused=self._unused)
            self._chat.listeners.append(self._follow)

    @property
    def _unused(self) -> str:
        """The line where none of the answers is taken, and its cell has a turn all the same."""
        places = self._chat.conversation.of_cell(self._place.cell)
        if not places or self._chosen is not None:
            return ""
        turn = self._chat.conversation.index(places[0].id) + 1
        count = len(self._heads)
        return f"Turn {turn} has another answer of this cell: %chat pick N (1 to {count}) takes one of these."

    def end(self) -> None:
        """Follow the conversation no longer."""
        if self._follow in self._chat.listeners:
            self._chat.listeners.remove(self._follow)

    def _follow(self, _change: object) -> None:
        """Show which answer is taken now."""
        if self._bar is None:
            return
        before, self._chosen = self._chosen, self._chat.chosen(self.id)
        if before != self._chosen:
            self._view.choose(_index(self._chosen))
        self._bar.update(_index(self._chosen), unused=self._unused)

    # what comes

    def begin(self) -> None:
        """Show that the answers come now."""
        self._begun = True
        self._view.begin()

    def sent(self, column: int, model: str, why: str) -> None:
        """Show after a while who is waited for."""
        self._view.sent(column, model, why)

    def feed(self, column: int, piece: str) -> None:
        """Show a piece of an answer."""
        self._view.feed(column, piece)

    def think(self, column: int, piece: str) -> None:
        """Show a piece of a model's thinking."""
        self._view.think(column, piece)

    def done(self, column: int, reply: Reply) -> None:
        """Show a whole answer, with its figures."""
        self._replies[column] = reply
        notices = (*(line for line in reply.notices if line != STORED), *ending(reply))
        figures = replace(
            _figures(reply.model, reply), notes=remarks_on(reply)
        )  # of stored answers too: they are there to be compared
        self._view.done(column, reply.text, reply.thinking, figures, notices, shown_forms(reply))

    def failed(self, column: int, error: str) -> None:
        """Show what went wrong."""
        self._view.failed(column, error)


def show_versions(chat: Chat, number: int | None) -> dict[str, str]:
    """Return all answers of a turn side by side, with the words that differ marked; ``None``: those that came last.

    Raises InvalidRequestError where there are not two.
    """
    offers = list(chat.conversation.offers.values())
    if number is None and offers:
        chosen = chat.chosen(offers[-1].id)
        labels = [answer.label for answer in offers[-1].answers]
        turns = [offers[-1].turn(answer) for answer in offers[-1].answers]
        errors = [answer.error for answer in offers[-1].answers]
    else:
        number = number or len(chat.turns)
        turns, current = list(chat.versions(number)), chat.turn(number)
        chosen = next(i for i, turn in enumerate(turns, 1) if turn.id == current.id)
        labels, errors = [turn.model for turn in turns], []
    if len(turns) < 2:
        raise InvalidRequestError(f"Turn {number} has one answer: there is nothing to compare.")
    figures = [_figures(turn.model, turn.record) if turn.reply else None for turn in turns]
    return compared_forms(
        labels,
        [turn.reply for turn in turns],
        figures,
        _index(chosen),
        errors=errors,
        shown=[object_forms(turn.reply) for turn in turns],
        above=(f"Answers to: {first_words(turns[-1].typed)}",),
    )


def _figures(model: str, of: Reply | TurnRecord) -> Footer:
    return Footer(model, of.usage, of.seconds, of.cost, of.stop_reason)


def _index(number: int | None) -> int | None:
    """Return the index of an answer, which is shown as its number from 1."""
    return None if number is None else number - 1
