"""Answers that are handed out with a notebook: gathered from conversations, read, and found again for a prompt.

An answer belongs to a prompt as filled in, its files and its model's name, so that it is found whatever turns stand
before it, and whatever address, key, package or model file is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ..conversation.conversation import Conversation
from ..conversation.events import Offered, Said
from ..conversation.messages import Turn, new_id
from ..conversation.places import Places
from ..errors import InvalidRequestError
from ..export.handout import Handout, HandoutAnswer, answers_in, notebook_in
from ..providers.base import Reply
from ..storage.stored_answers import AnswerKey, Outcome
from .reply_checks import INCOMPLETE
from .view import digested


class HandedOut:
    """The answers in the file of this notebook, read when the first prompt is asked.

    ``files`` returns the files that may be this notebook. ``problems`` says why none of them can be used.
    """

    def __init__(self, files: Callable[[], Iterable[str]] = tuple) -> None:
        self._files = files
        self.problems: list[str] = []

    @cached_property
    def _answers(self) -> Mapping[str, Sequence[HandoutAnswer]]:
        answers, problems = defaultdict[str, list[HandoutAnswer]](list), list[str]()
        for path in self._files():
            try:
                for answer in answers_in(notebook_in(Path(path))):
                    answers[answer.key].append(answer)
            except InvalidRequestError as error:
                name = Path(path).name
                problems.append(f"The answers handed out in {name} are not used: {error}. Prompts are asked.")
        self.problems += [] if answers else problems  # the others are neighbours of this notebook
        return answers

    @property
    def is_empty(self) -> bool:
        """Whether nothing was handed out."""
        return not self._answers

    @cached_property
    def rows(self) -> Mapping[AnswerKey, Outcome]:
        """The answers by their keys, as maps look for them."""
        return {
            (each.key, each.repeat): Outcome(
                Reply(each.text, None, each.stop_reason, thinking=each.thinking, source="store"), each.truncated
            )
            for answers in self._answers.values()
            for each in answers
        }

    def turns(self, said: Said, model: str, past: Places) -> Iterator[tuple[Turn, bool]]:
        """Yield a prompt's turns with the answers handed out for it, and whether the same turns stand before it.

        Those that a cell with the same text asked for come first, of these those that were asked after the same turns.
        """
        asked, answers = said.turn.record, self._answers.get(prompt_key(said.turn, model), ())
        before = _before(past, said) if answers else ""
        for answer in sorted(answers, key=lambda each: (each.asked != asked.source, each.before != before)):
            record = replace(
                asked, id=new_id(), model=model, stop_reason=answer.stop_reason, stored=True,
                digest=answer.key, tokens=answer.tokens,
            )  # fmt: skip
            turn = replace(said.turn, reply=answer.text, thinking=answer.thinking, record=record)
            yield turn, answer.before == before


class _CellAnswers(NamedTuple):
    """The answers of one run of a cell, and the fingerprint of the turns before it."""

    turns: tuple[Turn, ...]
    before: str


def gathered(conversations: Sequence[Conversation], cells: Container[str], is_secret: Callable[[str], bool]) -> Handout:
    """Return the answers of these cells, by the fingerprints of their texts, without those that hold a secret.

    Of a cell that was answered several times, the answer counts that stands in its conversation now, else the newest:
    a cell of a lesson may be cleared or taken back by one further down.
    """
    found, seen, sources = list[HandoutAnswer](), set[str](), set[str]()
    for answers in (answers for conversation in conversations for answers in _newest(conversation)):
        record = answers.turns[0].record
        cell, source = record.cell or record.run or "", record.source or ""
        is_whole = all(turn.record.stop_reason not in INCOMPLETE for turn in answers.turns)
        is_open = not any(is_secret(turn.reply + turn.thinking) for turn in answers.turns)
        if source in cells and cell not in seen and is_whole and is_open:
            seen.add(cell)
            sources.add(source)
            found += (_answer(turn, answers.before) for turn in answers.turns)
    return Handout(tuple(sorted(sources)), tuple(found))


def _newest(conversation: Conversation) -> Iterator[_CellAnswers]:
    """Yield what cells were answered: first what stands in the conversation now, then the others, the newest first."""
    past, every = Conversation(), list[_CellAnswers]()
    for event in conversation.events:
        if isinstance(event, Said):
            every.append(_CellAnswers((event.turn,), _before(past, event)))
        elif isinstance(event, Offered) and not any(each.error or each.problem for each in event.alternatives.answers):
            offer = event.alternatives
            every.append(_CellAnswers(offer.turns, _before(past, Said(offer.asked, offer.append, offer.new))))
        past.append(event)
    now = {place.turn.id for place in conversation.places}
    now |= {turn.id for offer in conversation.offers.values() for turn in offer.turns}
    every.reverse()
    yield from sorted(every, key=lambda each: each.turns[0].id not in now)


def _before(past: Places, said: Said) -> str:
    """Return the fingerprint of the turns that stand before a prompt that is asked now."""
    record, at = said.turn.record, 0
    if not said.begins_anew(past):
        at = past.position(record.cell, record.run, append=said.append)
    return digested("", (message for place in past.places[:at] for message in place.turn.messages))


def prompt_key(turn: Turn, model: str) -> str:
    """Return the fingerprint of a prompt with its files and its model's name."""
    return digested(model, turn.messages[:1])


def _answer(turn: Turn, before: str) -> HandoutAnswer:
    record = turn.record
    return HandoutAnswer(
        prompt_key(turn, record.model), asked=record.source or "", before=before, text=turn.reply,
        thinking=turn.thinking, stop_reason=record.stop_reason, tokens=record.tokens,
    )  # fmt: skip
