"""What was lost: the model is asked for facts that are no longer sent word for word. Nothing is recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from .. import wording as words
from ..context.fact_questions import FACT_BLANK, FactQuestion, chosen_questions, fact_questions, fact_text
from ..conversation.events import Said
from ..conversation.messages import Summary, Turn
from ..conversation.schema import read_object
from ..models.request_price import price_text
from ..providers.base import AnswerSchema
from ..runtime.interrupts import uninterrupted
from .attempt import Attempt
from .exchange import Coming, OnText, exchange
from .notices import Outcome, notices_of
from .session import Session
from .summarizer import Older
from .tabular import Table
from .view import PartStatus, part_states

MOST_ASKED = 12
UNSENT: tuple[PartStatus, ...] = ("left out", "summarised", "excluded")
ANSWER_TOKENS = 24  # of the reply, for each question
FACT_TASK = (
    f"Fill in each blank ({FACT_BLANK}) from our conversation: the missing words alone, exactly as they were said. "
    "Where it does not tell them, write unknown."
)
Facts: TypeAlias = Sequence[FactQuestion]
SHORT_QUESTION = FactQuestion(1, "name", "Thursday", f"We meet the others in the harbour on {FACT_BLANK}.")


class Lost(Table[FactQuestion]):
    """Facts of the turns that are left out or summarised, and whether the model can still tell them.

    found: how many numbers, names and decisions those turns hold
    sent: how many of them still stand word for word in what is sent; they are not asked for
    notes: why nothing was asked, else what to know of the answer
    """

    columns = FactQuestion._fields
    newest = False
    found: int = 0
    sent: int = 0
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        told = self._count("survives", "lost")
        unasked = self.found - self.sent - len(self)
        lost = ", ".join(row.label for row in self if row.fate == "lost")
        figures = [
            f"{self._count('survives')} of {told} survive" if told else "",
            f"lost: {lost}" if lost else "",
            f"not told: {len(self) - told}" if told < len(self) else "",
            f"not asked for: {unasked:,}" if unasked else "",
        ]
        stand = "stands" if self.sent == 1 else "stand"
        sent = f"{self.sent:,} of {words.counted(self.found, 'fact')} still {stand} word for word in what is sent"
        parts = ["; ".join(filter(None, figures)), sent if self.sent else "", *self.notes]
        return words.visible(" ".join(f"{part.rstrip('.')}." for part in parts if part))

    def __repr__(self) -> str:
        return super().__repr__() if self else str(self)

    _below = __str__

    def _count(self, *fates: str) -> int:
        return sum(row.fate in fates for row in self)

    @property
    def share(self) -> float:
        """The share of all facts found that is lost, if those not asked for are lost as often as the others."""
        lost = self._count("lost") / max(1, self._count("survives", "lost"))
        return lost * (self.found - self.sent) / max(1, self.found)


def lost_facts(session: Session, tell: OnText = None, summary: Summary | None = None) -> Lost:
    """Ask the model for facts that the next request lacks, and return what it can still tell.

    ``tell`` is given the price first. ``summary`` stands for older turns
    although it is not recorded. Raises a ChatError.
    """
    plan, lost = partial(request_for_facts, session, summary), Lost()
    short = plan()
    unsent = _turns_left_out(short)
    found, sent = _facts_of(short, unsent), fact_text("\n".join(each.content for each in short.request.messages[:-1]))
    gone = [each for each in found if not each.stands_in(sent)]
    if gone:
        attempt, asked, why = _fitting(plan, short, gone)
        price, what = [session.price(attempt)], f"This check of {words.counted(len(asked), 'fact')}"
        if tell is not None:
            tell(price_text(price, what))
        lost = _answered(session, attempt, asked)
        lost.notes += tuple(filter(None, [why]))
    elif found:
        lost.notes = ("Nothing was asked",)
    elif unsent:
        gone_turns = f"{words.turns(len(unsent))} left out, excluded or summarised"
        lost.notes = (f"No number, name or decision is in the {gone_turns}: nothing was asked",)
    else:
        lost.notes = ("No turn is left out, excluded or summarised, all are sent: nothing was asked",)
    lost.found, lost.sent = len(found), len(found) - len(gone)
    return lost


def request_for_facts(session: Session, summary: Summary | None = None, asked: Facts = (SHORT_QUESTION,)) -> Attempt:
    """Return the request with these questions, in the view of the conversation's next one."""
    sentences = {str(number): each.question for number, each in enumerate(asked, 1)}
    properties = {name: {"type": "string"} for name in sentences}
    shape = {"type": "object", "properties": properties, "required": [*sentences], "additionalProperties": False}
    target = session.target({}, ask=True, schema=AnswerSchema("blanks", shape))
    said = Said(Turn("\n".join([FACT_TASK, *map(". ".join, sentences.items())])), append=True)
    return session.attempt(said, target, session.system_for({}), record=True, summary=summary)


def _turns_left_out(short: Attempt) -> list[int]:
    """Return the numbers of the turns that a request does not send word for word."""
    states = part_states(short.past, short.scope, short.cut.start)
    return [number for number, state in enumerate(states, 1) if state in UNSENT]


def _facts_of(short: Attempt, numbers: Sequence[int]) -> list[FactQuestion]:
    """Return the user's facts in turns; where there are none, those of the replies."""
    said = Older(tuple(short.past.places[number - 1].turn for number in numbers)).said
    prompts, replies = ([*zip(numbers, texts, strict=True)] for texts in zip(*said, strict=True)) if said else ([], [])
    return fact_questions(prompts) or fact_questions(replies)


def _fitting(plan: Callable[..., Attempt], short: Attempt, gone: Facts) -> tuple[Attempt, Facts, str]:
    """Return a request with as many questions as fit beside the view of a short one, one at least, these, and why no
    more are asked; empty: all are.
    """
    room = short.target.max_tokens or short.target.reserve
    apart, answers = chosen_questions(gone, MOST_ASKED), max(1, room // ANSWER_TOKENS)
    chosen = apart[:answers]
    for most in range(len(chosen), 0, -1):
        asked = sorted(chosen[:most])
        attempt = plan(asked)
        is_beside = attempt.cut.start == short.cut.start and attempt.scope.summary is short.scope.summary
        if is_beside and attempt.cut.fits:
            break
    why = ""
    if len(asked) < len(chosen):
        why = "The window has no room for more questions beside the turns that are sent: %chat trim makes room"
    elif len(chosen) < len(apart):
        why = (
            f"An answer takes {ANSWER_TOKENS} tokens, and the reply has {room:,}: %chat config max_tokens "
            f"{len(apart) * ANSWER_TOKENS} has room for {len(apart)} answers"
        )
    elif len(apart) == MOST_ASKED < len(gone):
        why = f"{MOST_ASKED} are asked for at most"
    elif len(apart) < len(gone):
        why = "A fact that stands in the sentence of another question is not asked for"
    return attempt, asked, why


def _answered(session: Session, attempt: Attempt, asked: Facts) -> Lost:
    """Send the questions and return what is told; the cost counts as the conversation's."""
    with uninterrupted():
        exchanged = exchange(session.fitter, attempt, Coming(), previous=session.previous)
        for each in exchanged.replies:
            session.spend(exchanged.sent.target, each)
    verdict = exchanged.whole()
    reply = verdict.reply
    try:
        told = read_object(reply.text) if reply.stop_reason == "stop" else {}
    except ValueError:
        told = {}
    answers = (str(told.get(str(number)) or "").strip() for number in range(1, len(asked) + 1))
    is_read = not verdict.truncated
    lost = Lost(each.answered(answer, is_read=is_read) for each, answer in zip(asked, answers, strict=True))
    notices = notices_of(Outcome(attempt, exchanged.sent, exchanged.refusal, verdict))
    lost.notes = tuple(each.text for each in notices if not each.once or session.once(each.once))
    return lost
