"""Answers that were handed out with a notebook: a source of stored answers that is only read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from ..conversation.messages import Summary, Turn
from ..conversation.places import Places
from ..errors import InvalidRequestError
from ..export.handout import HandoutAnswer, answers_in, notebook_in
from ..storage.stored_answers import AnswerKey, StoredAnswer
from .messages_sent import digested


class HandedOut:
    """The answers in the file of this notebook, read when the first prompt is asked.

    ``files`` returns the files that may be this notebook. ``problems`` says why none of them can be used.
    """

    def __init__(self, files: Callable[[], Iterable[str]] = tuple) -> None:
        self._files = files
        self.problems: list[str] = []

    @cached_property
    def answers(self) -> tuple[HandoutAnswer, ...]:
        """All that was handed out."""
        return tuple(self._read())

    @cached_property
    def rows(self) -> Mapping[AnswerKey, StoredAnswer]:
        """The answers by their keys, as maps look for them."""
        return {
            (each.digest, each.repeat): StoredAnswer(
                each.text, each.thinking, stop_reason=each.stop_reason, truncated=each.truncated
            )
            for each in self.answers
        }

    def summary(self, past: Places, digest: str) -> Summary | None:
        """Return the summary with this digest, where its turns say what they said then."""
        return next(self._summaries(past, lambda each: each.digest == digest), None)

    def summary_of(self, past: Places, source: str) -> Summary | None:
        """Return the newest summary that a cell with this text asked for and that goes further than the one in use."""
        covered = past.summary.covers if past.summary is not None else frozenset()
        asked = self._summaries(past, lambda each: bool(source) and each.asked == source)
        return next((each for each in asked if not each.covers <= covered), None)

    def _summaries(self, past: Places, is_asked: Callable[[HandoutAnswer], bool]) -> Iterator[Summary]:
        """Yield summaries whose turns say what they said then, the newest first."""
        for each in filter(is_asked, reversed(self.answers)):
            turns = [past.places[i].turn for i in each.covers if 0 <= i < len(past.places)]
            if each.method and turns and summary_digest(each.text, turns) == each.digest:
                yield Summary(each.text, frozenset(turn.id for turn in turns), each.method, each.digest)

    def _read(self) -> Iterator[HandoutAnswer]:
        problems, is_used = list[str](), False
        for path in self._files():
            try:
                answers = answers_in(notebook_in(Path(path)))
            except InvalidRequestError as error:
                name = Path(path).name
                problems.append(f"The answers handed out in {name} are not used: {error}. Prompts are asked.")
            else:
                is_used = is_used or bool(answers)
                yield from answers
        self.problems += [] if is_used else problems  # the others are neighbours of this notebook


def summary_digest(text: str, turns: Iterable[Turn]) -> str:
    """Return a fingerprint of a summary and of what the turns say that it stands for."""
    return digested(text, (message for turn in turns for message in turn.messages))
