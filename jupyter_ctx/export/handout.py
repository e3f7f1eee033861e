"""Answers that are handed out with a notebook: gathered from conversations, carried in its metadata, and found again.

An answer belongs to a prompt as filled in, its files and its model's name, so that it is found whatever turns stand
before it, and whatever address, key, package or model file is missing. A notebook comes from anybody, so that it is
read within bounds, into values that can set nothing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..context.logprobs import TokenLogprob
from ..conversation.conversation import Conversation
from ..conversation.events import Offered, TurnAdded
from ..conversation.messages import INCOMPLETE, StopReason, ToolRound, Turn, new_id
from ..conversation.places import Places
from ..conversation.text_safety import clean
from ..errors import InvalidRequestError
from ..providers.base import Reply
from ..storage.stored_answers import AnswerKey, Outcome, digested
from .openai_messages import EXPORT_KEY, cleaned_rounds, dumped, find, found_in

HANDOUT = "handout"


@dataclass(frozen=True, slots=True)
class HandoutAnswer:
    """An answer, and what it answers.

    key: fingerprint of a prompt with its files and its model's name; of a row of a map, the digest of its request
    asked: fingerprint of the cell that asked
    before: fingerprint of the turns that stood before the prompt
    repeat: number of the answer among those to the same row
    text, thinking, stop_reason: as of a reply
    truncated: whether a part of the request was left out or not read, or the answer was cut
    tokens: the answer's tokens with their probabilities, where these were asked for
    rounds: the functions that were called before it, with their results
    """

    key: str
    asked: str
    before: str = ""
    repeat: int = 0
    text: str = ""
    thinking: str = ""
    stop_reason: StopReason = "stop"
    truncated: bool = False
    tokens: tuple[TokenLogprob, ...] = ()
    rounds: tuple[ToolRound, ...] = ()


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
        for path in map(Path, self._files()):
            try:
                for answer in answers_in(notebook_in(path)):
                    answers[answer.key].append(answer)
            except InvalidRequestError as error:
                problems.append(f"The answers handed out in {path.name} are not used: {error}. Prompts are asked.")
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

    def turns(self, said: TurnAdded, model: str, past: Places) -> Iterator[tuple[Turn, bool]]:
        """Yield a prompt's turns with the answers handed out for it, and whether the same turns stand before it.

        Those that a cell with the same text asked for come first, of these those that were asked after the same turns.
        """
        asked, answers = said.turn.record, self._answers.get(_prompt_key(said.turn, model), ())
        before = _before(past, said) if answers else ""
        for answer in sorted(answers, key=lambda each: (each.asked != asked.source, each.before != before)):
            record = replace(
                asked, id=new_id(), model=model, stop_reason=answer.stop_reason, stored=True,
                digest=answer.key, tokens=answer.tokens,
            )  # fmt: skip
            turn = replace(said.turn, reply=answer.text, thinking=answer.thinking, rounds=answer.rounds, record=record)
            yield turn, answer.before == before


# gathered from conversations


def gathered(
    conversations: Sequence[Conversation], cells: Container[str], is_secret: Callable[[str], bool]
) -> list[HandoutAnswer]:
    """Return the answers of these cells, by the fingerprints of their texts, without those that hold a secret.

    Of a cell that was answered several times, the answer counts that stands in its conversation now, else the newest:
    a cell of a lesson may be cleared or taken back by one further down. The first of the conversations counts most.
    """
    answers = dict[str, list[HandoutAnswer]]()  # by cell: what comes later counts more
    for conversation in reversed(conversations):
        past, runs = Conversation(), list[tuple[str, tuple[Turn, ...]]]()
        for event in conversation.events:
            if isinstance(event, TurnAdded):
                runs.append((_before(past, event), (event.turn,)))
            elif isinstance(event, Offered) and not any(each.error for each in event.alternatives.answers):
                offer = event.alternatives
                runs.append((_before(past, TurnAdded(offer.asked, offer.append, offer.new)), offer.turns))
            past.append(event)
        now = {place.turn.id for place in conversation.places}
        now |= {turn.id for offer in conversation.offers.values() for turn in offer.turns}
        for before, turns in sorted(runs, key=lambda run: run[1][0].id in now):
            asked = turns[0].record
            is_whole = all(turn.stop_reason not in INCOMPLETE for turn in turns)
            is_open = not any(is_secret(turn.answered + turn.thinking) for turn in turns)
            if asked.source and asked.source in cells and is_whole and is_open:
                answers[asked.cell or asked.run or ""] = [_answer_of(turn, before) for turn in turns]
    return [answer for of_cell in answers.values() for answer in of_cell]


def _answer_of(turn: Turn, before: str) -> HandoutAnswer:
    return HandoutAnswer(
        _prompt_key(turn, turn.model), turn.record.source or "", before, text=turn.reply, thinking=turn.thinking,
        stop_reason=turn.stop_reason, tokens=turn.record.tokens, rounds=turn.rounds,
    )  # fmt: skip


def _before(past: Places, said: TurnAdded) -> str:
    """Return the fingerprint of the turns that stand before a prompt that is asked now."""
    record, at = said.turn.record, 0
    if not past.begins_anew(said):
        at = past.position(record.cell, record.run, append=said.append)
    return digested("", (message for place in past.places[:at] for message in place.turn.messages))


def _prompt_key(turn: Turn, model: str) -> str:
    """Return the fingerprint of a prompt with its files and its model's name."""
    return digested(model, turn.messages[:1])


# in a notebook


def notebook_in(path: Path) -> dict[str, Any]:
    """Return a saved notebook; an empty one for a file that is none."""
    try:
        return found_in(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return {}


def with_answers(notebook: Mapping[str, Any], answers: Sequence[HandoutAnswer]) -> str:
    """Return the text of a notebook that carries these answers."""
    import msgspec

    metadata = find(dict, notebook, "metadata")
    ours = {**find(dict, metadata, EXPORT_KEY), HANDOUT: msgspec.to_builtins(answers)}
    return dumped({**notebook, "metadata": {**metadata, EXPORT_KEY: ours}})


def is_handout(text: str) -> bool:
    """Return whether a notebook's text carries answers."""
    return HANDOUT in found_in(text, "metadata", EXPORT_KEY)


def answers_in(notebook: Mapping[str, Any]) -> list[HandoutAnswer]:
    """Return the answers that a notebook carries. Raises InvalidRequestError."""
    import msgspec

    ours = find(dict, notebook, "metadata", EXPORT_KEY)
    if HANDOUT not in ours:
        return []
    try:
        answers = msgspec.convert(ours[HANDOUT], list[HandoutAnswer])
    except (ValueError, RecursionError):  # ValidationError is a ValueError
        raise InvalidRequestError("they are damaged, or of another release of jupyter_ctx") from None
    return [_checked(each) for each in answers]


def _checked(answer: HandoutAnswer) -> HandoutAnswer:
    """Return an answer with texts that can be shown, and with probabilities where all are numbers."""
    all_tokens = [token for written in answer.tokens for token in (written.token, *written.top_logprobs)]
    is_finite = all(token.logprob is not None and math.isfinite(token.logprob) for token in all_tokens)
    return replace(
        answer, text=clean(answer.text), thinking=clean(answer.thinking), rounds=cleaned_rounds(answer.rounds),
        tokens=answer.tokens if is_finite else (),
    )  # fmt: skip
