"""The newest answers in their cells, and a mark on those that the conversation does not have any more."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from ..chat import Chat
from ..display.answer.stream import NotebookView
from ..runtime.frontend import Where

UNDONE, OLDER = "undone", "older version"
MOST_ANSWERS = 200  # whose marks are kept up to date


@dataclass(slots=True)
class _Answer:
    """An answer where it is shown, the id of its turn, and its mark."""

    chat: Chat
    view: NotebookView
    place: Where
    turn: str
    mark: str = ""


class AnswerMarks:
    """What becomes of the newest answers; an output changes only where that does."""

    def __init__(self) -> None:
        self._answers: deque[_Answer] = deque(maxlen=MOST_ANSWERS)

    def add(self, chat: Chat, view: NotebookView, place: Where, text: str) -> None:
        """Watch an answer; those of the same cell's earlier runs are not in it any more."""
        is_gone = [each for each in self._answers if place.cell == each.place.cell and place.run != each.place.run]
        for answer in is_gone if place.cell else ():
            self._answers.remove(answer)
        places = reversed(chat.conversation.of_cell(place.cell) or chat.conversation.places[-1:])
        turn = next((found.turn for found in places if found.turn.reply == text), None)
        if turn is not None:
            self._answers.append(_Answer(chat, view, place, turn.id))

    def update(self, chat: Chat) -> None:
        """Mark the answers of a conversation whose turns were undone or replaced, and no others."""
        past = chat.conversation
        places = (*past.places, *past.cleared)
        current = {place.turn.id for place in places}
        versions = {turn.id for place in places for turn in place.versions}
        for answer in [answer for answer in self._answers if answer.chat is chat]:
            older = OLDER if answer.turn in versions else UNDONE
            mark = "" if answer.turn in current else older
            if mark != answer.mark:
                answer.mark = mark
                with suppress(Exception):  # a page that is gone stops nothing
                    answer.view.mark(mark)
