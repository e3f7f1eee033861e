"""Several answers to one cell, side by side: whom it asks, and what is shown of them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from IPython.core.error import UsageError

from ..chat import Chat
from ..conversation.messages import Alternative, Alternatives
from ..display.answer.columns import AnswerColumns, Column, Frame, columns_bundle
from ..display.answer.markdown import is_json, json_bundle
from ..display.tables import first_words
from ..display.widgets.choice_bar import ChoiceBar
from ..errors import ChatError, InvalidRequestError
from ..models.registry import settings_with
from ..providers.base import Reply
from ..runtime.frontend import Where
from ..session import actions
from ..session.actions import versions_of
from ..session.prompt import Prompt
from ..session.side_by_side import MOST_AT_A_TIME, Candidate, ask_each
from ..session.stored import chosen_index
from .answer_parts import ending, figures_of, remarks_on, shown_bundle
from .command_table import ABOUT_ANSWERS, Call, command
from .line_options import each_of, settings_of

IN_THE_ERROR = "Not answered: the error below says why."
FIRST_TAKEN = "The first whole answer is the turn: %chat pick N takes another."


def columns_of(chat: Chat, options: Namespace) -> tuple[Candidate, ...]:
    """Return whom a line asks: every model with every temperature and effort, so often. Raises UsageError."""
    if options.tools:
        raise UsageError("--tool goes with one answer, and several are asked for. Nothing was sent.")
    models, temperatures, efforts = map(each_of, (options.model, options.temperature, options.effort))
    samples = 1 if options.samples is None else options.samples
    asked = [*product(models, temperatures, efforts, range(1, samples + 1))]
    if not 1 <= len(asked) <= MOST_AT_A_TIME:
        raise UsageError(
            f"1 to {MOST_AT_A_TIME} answers stand side by side, not {len(asked)}: %%chat map asks a prompt any number "
            "of times (--repeat N). Nothing was sent."
        )
    columns = list[Candidate]()
    for model, temperature, effort, sample in asked:
        given = {**settings_of(options), "model": model, "temperature": temperature, "effort": effort}
        settings = settings_with(chat.config, {name: value for name, value in given.items() if value is not None})
        parts = [settings.model]
        parts += [f"temperature {temperature}"] if len(temperatures) > 1 else []
        parts += [f"effort {effort}"] if len(efforts) > 1 else []
        parts += [f"{sample} of {samples}"] if 1 < samples < len(asked) else []
        columns.append(Candidate(" · ".join(parts), given))
    return tuple(columns)


class SideBySideCell:
    """The answers of one cell, side by side, and the buttons that take one. Raises UsageError.

    It shows which answer is taken until :meth:`close`: its cell has others then.

    first: the options of the line as they are for the first answer
    """

    def __init__(self, chat: Chat, options: Namespace, place: Where) -> None:
        self._chat, self._place, self._columns = chat, place, columns_of(chat, options)
        self.first = Namespace(**{**vars(options), **self._columns[0].options, "tools": ["none"]})
        self._heads = [column.label for column in self._columns]
        self._replies: dict[int, Reply] = {}
        self._failed: dict[int, str] = {}  # what went wrong, by column
        self._id = ""  # of the answers that were kept
        self._begun = False
        self._bar: ChoiceBar | None = None

    def ask(self, prompt: Prompt, above: Sequence[str]) -> list[Reply | None]:
        """Ask, show what comes below the notices ``above``, and return the replies, ``None`` for one that failed.

        Raises a ChatError where none is whole, and ChatInterrupted; what came is kept and shown.
        """
        is_plain = self.first.plain or self._place.kind == "terminal"
        view = AnswerColumns(self._heads, above, streaming=self._place.kind == "notebook", plain=is_plain)
        self._view = view
        self.sent, self.feed, self.think = view.sent, view.feed, view.think
        try:
            answers = ask_each(self._chat.session, prompt, self._columns, self)
        except (ChatError, KeyboardInterrupt) as error:
            for column, why in self._failed.items():
                if why == str(error):  # which the cell says
                    view.failed(column, IN_THE_ERROR)
            if self._begun:
                view.close(None)
            raise
        if prompt.record:
            self._offer(answers)
        else:
            view.close(None)
        return [self._replies.get(column) for column in range(len(self._columns))]

    def _offer(self, answers: Alternatives) -> None:
        """Show the whole answers, and how to take one."""
        self._id, is_page = answers.id, self._place.kind == "notebook"
        chosen = chosen_index(self._chat.session, self._id)
        self._view.close(chosen, () if is_page else (FIRST_TAKEN,))
        if is_page:
            missing = [index for index, answer in enumerate(answers.answers) if answer.error]
            choose = partial(self._chat.session.act, actions.choose_answer)
            self._bar = ChoiceBar(self._heads, lambda index: choose(index + 1, self._id), missing)
            self._bar.show()
            self._bar.update(chosen)
            self._chat.session.listeners.append(self._follow)

    def close(self) -> None:
        """Follow the conversation no longer."""
        if self._bar is not None:
            self._chat.session.listeners = [each for each in self._chat.session.listeners if each != self._follow]
            self._bar.close()

    def _follow(self) -> None:
        """Show which answer is taken now."""
        if self._bar is None or self._id not in self._chat.conversation.offers:  # a clear has taken them out
            self.close()
            return
        chosen = chosen_index(self._chat.session, self._id)
        self._view.choose(chosen)
        self._bar.update(chosen)

    # what comes

    def begin(self) -> None:
        """Show that the answers come now."""
        self._begun = True
        self._view.begin()

    def failed(self, column: int, error: str) -> None:
        """Show what went wrong."""
        self._failed[column] = error
        self._view.failed(column, error)

    def done(self, column: int, reply: Reply) -> None:
        """Show a whole answer, with its figures."""
        self._replies[column] = reply
        notices = (*reply.notices, *ending(reply))
        # of stored answers too: they are there to be compared
        figures = replace(figures_of(reply), notes=remarks_on(reply))
        self._view.done(column, Column("", reply.text, reply.thinking, figures, notices, forms=shown_bundle(reply)))


@command(ABOUT_ANSWERS, "%chat compare", "%chat compare 3")
def _compare(call: Call, n: int | None = None) -> dict[str, str]:
    """Show the answers side by side that came last, or all of turn N, with the words that differ."""
    chat = call.chat
    last = next(reversed(chat.conversation.offers.values()), None) if n is None else None
    if last is not None:
        answers, chosen, asked = last.answers, chosen_index(chat.session, last.id), last.asked
    else:
        n = n or len(chat.turns)
        answers, asked = versions_of(chat.session, n), chat.turns[n - 1]
        chosen = next(i for i, answer in enumerate(answers) if answer.record.id == asked.id)
    if len(answers) < 2:
        raise InvalidRequestError(f"Turn {n} has one answer: there is nothing to compare.")
    frame = Frame((f"Answers to: {first_words(asked.typed)}",), chosen=chosen)
    return columns_bundle(list(map(_stored_column, answers)), frame, compared=True)


def _stored_column(answer: Alternative) -> Column:
    figures = figures_of(answer.record) if answer.reply else None
    forms = json_bundle(answer.reply) if is_json(answer.reply) else None
    return Column(answer.label, answer.reply, footer=figures, error=answer.error, forms=forms)
