"""Exercises of the lessons: say whether an answer is right, or what to look at.

A check tells what is missing, and not the answer. It looks at the conversation of the kernel where the exercise is to
do something to it, and at what it is given where the exercise is to find something out.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from numbers import Real
from typing import Any

from ..config.settings import DEFAULT_MODEL, default_settings
from ..errors import InvalidRequestError
from ..experiments.probing.probe_result import Probe
from ..models.registry import Models
from ..providers.base import Provider
from ..providers.llama_cpp import next_tokens, text_tokens
from ..wording import counted
from .registration import get_chat

NOT_YET = "Not done yet: {}"
RIGHT = "Right. {}"

Check = Callable[..., str | None]  # what to look at; None: right
_CHECKS: dict[str, tuple[str, Check]] = {}


def check(exercise: str, *answer: Any) -> None:
    """Print whether an exercise of a lesson is done, such as ``check("2.1")`` or ``check("3.2", 12)``.

    An answer that is still ``...`` or ``None`` is not looked at. Raises InvalidRequestError for an unknown exercise.
    """
    if exercise not in _CHECKS:
        raise InvalidRequestError(f"There is no exercise {exercise!r}: there are {', '.join(sorted(_CHECKS))}.")
    praise, looks = _CHECKS[exercise]
    if any(each is None or each is ... for each in answer):
        print(NOT_YET.format("put your answer in place of the dots, and run this cell again."))
        return
    try:
        _check_figures(looks, answer)
        missing = looks(*answer)
    except (TypeError, AttributeError, LookupError, ValueError):  # it may be anything
        given = ", ".join(type(each).__name__ for each in answer)
        missing = f"the answer has another form: {given or 'nothing'} was given."
    print(RIGHT.format(praise) if missing is None else NOT_YET.format(missing))


def _check_figures(looks: Check, answer: tuple[Any, ...]) -> None:
    """Raise TypeError for what is no number where one is asked for: "10" is not 10, and so would seem wrong."""
    for asked, each in zip(signature(looks).parameters.values(), answer, strict=False):
        if asked.annotation == "float" and not isinstance(each, Real):
            raise TypeError


def _exercise(number: str, praise: str) -> Callable[[Check], Check]:
    def keep(looks: Check) -> Check:
        _CHECKS[number] = (praise, looks)
        return looks

    return keep


def _states(turn: int) -> tuple[str, ...]:
    """Return how a turn is marked, such as "pinned"; nothing for a turn that is not there."""
    return next((row.states for row in get_chat().history() if row.turn == turn), ())


@_exercise("1.1", "The examples taught the form, and no instruction was needed.")
def _paris() -> str | None:
    said = [turn.reply for turn in get_chat().turns if "Paris" in turn.prompt]
    if not said:
        return "no prompt of this conversation names Paris. Write one in a %%chat cell, without --no-history."
    if not any("130" in reply for reply in said):
        return "the answer does not give 130. Does the prompt say so, in words like those of the examples?"
    return None


@_exercise("1.2", "The turn is kept, and not sent.")
def _oslo_excluded() -> str | None:
    if "excluded" not in _states(2):
        return "turn 2 is still sent. %chat history has the numbers, and %chat exclude takes one."
    return None


@_exercise("1.3", "All the turns that are sent are counted, not the new prompt alone.")
def _tokens_of_last(tokens: float) -> str | None:
    turns = get_chat().turns
    if not turns or turns[-1].usage is None:
        return "ask something in a %%chat cell first."
    if tokens == turns[-1].usage.output_tokens:
        return "that is the answer's figure. The prompt's is usage.input_tokens."
    if tokens != turns[-1].usage.input_tokens:
        return "look at the grey line below the newest answer, or at usage of the newest turn."
    return None


@_exercise("2.1", "It will be sent with every request, however long the conversation becomes.")
def _second_pinned() -> str | None:
    if "pinned" not in _states(2):
        return "turn 2 is not pinned. %chat pin takes the number of a turn."
    return None


@_exercise("2.2", "The rest is kept, and %chat undo brings it back.")
def _turns_sent(turns: float) -> str | None:
    info = get_chat().info()
    if turns == info.in_view:
        return None
    if turns == info.turns:
        return "that is how many turns there are. Some of them are not sent: see the gauge or %chat history."
    return "count the turns of %chat history that have no mark such as 'left out'."


@_exercise("2.3", "Turns are left out from 60 % of the limit on, and the gauge's mark has moved there.")
def _compacts_earlier() -> str | None:
    at = get_chat().config.compact_at
    if at != 0.6:
        return f"compact_at is {at}. %chat config compact_at takes the share, as 0.6."
    return None


def _local() -> Provider:
    return Models().target(default_settings({}, {"model": DEFAULT_MODEL}), ask=False).provider


@_exercise("3.1", "It is a usual word in German, and was rare in the text that this vocabulary was made from.")
def _tokens_of_word(count: float) -> str | None:
    if count != len(text_tokens(_local(), "Geschwindigkeitsbegrenzung") or ()):
        return "write the word alone into a cell that begins with %%chat tokens, and read the count."
    return None


@_exercise("3.2", "The model does not see the letters of a word, but these pieces.")
def _short_word(word: str) -> str | None:
    word = word.strip()
    if not word.isalpha() or len(word) > 6:
        return f"{word!r} is not a word of at most six letters."
    pieces = len(text_tokens(_local(), word) or ())
    if pieces < 3:
        return f"{word!r} is {counted(pieces, 'token')}. Try names, or words of other languages."
    return None


@_exercise("3.3", "So much stands in the beginning that only one token is left.")
def _certain(beginning: str) -> str | None:
    likely = next_tokens(_local(), beginning, ()) if beginning.strip() else None
    if not likely:
        return "the model says nothing of this text: write the beginning of a sentence."
    share = likely[0].probability
    if share < 0.9:
        return (
            f"the likeliest token has {share:.0%}. Repeat a name that the text has named already, and "
            "stop in the middle of it."
        )
    return None


@_exercise("4.1", "Only such texts, and those where it is the other way round, say anything about the two positions.")
def _only_first(answers: Any, count: float) -> str | None:
    counted = answers[answers["stop_reason"] == "stop"]
    found = counted.pivot(index="code", columns="position", values="found")
    if count != ((found["first"] == True) & (found["middle"] == False)).sum():  # noqa: E712
        return (
            "a text counts where it is found in the form 'first' and not in the form 'middle', and no answer was cut."
        )
    return None


@_exercise("4.2", "Repeats of a text at temperature 0 are one observation.")
def _observations(texts: float) -> str | None:
    if texts != 5:
        return "how many different texts were asked? Fifteen more answers were no more evidence."
    return None


@_exercise("4.3", "Each text is an observation of its own; the rest only asks the same ones again, or differently.")
def _evidence(what: str) -> str | None:
    if what.strip().lower() != "more texts":
        return 'give one of "more texts", "more repeats", "a higher temperature". What did the repeats add?'
    return None


@_exercise("5.1", "Each request is one observation, however many questions it has.")
def _requests(held: Probe, count: float) -> str | None:
    sent = {trial.request for trial in held.trials}
    if count == len(held.trials) != len(sent):
        return "that is the number of questions. Some of them were sent together."
    if count != len(sent):
        return 'count the different values in the column "request".'
    return None


@_exercise("5.2", "They are marked, and neither right nor wrong.")
def _unscored(held: Probe, count: float) -> str | None:
    if count != sum(trial.score is None for trial in held.trials):
        return 'look for missing values in the column "score".'
    return None


@_exercise("5.3", "Beyond the longest prompt nothing was asked, so nothing is known.")
def _furthest(held: Probe, tokens: float) -> str | None:
    if tokens != held.lengths[-1]:
        return "look for the longest prompt that was planned: held.lengths has them all."
    return None


@_exercise("6.1", "About 4,000 tokens of this window are kept for the answer: a prompt may have 27,904.")
def _stops_at(turn: float) -> str | None:
    if turn != 28:
        return 'call talk(100, 300, 700, window=32_000, on_overflow="stop"), and count the turns of that chat.'
    return None


@_exercise("6.2", "Few turns are sent at any time. Whether the answers are as good is another question.")
def _fewest(policy: str) -> str | None:
    if policy.strip() != "trim max_turns=6":
        return "look for the smallest figure below 'sent', in a row that has 40 turns."
    return None


@_exercise("6.3", "Once the window is full, each turn sends about as much as the one before it.")
def _grows(factor: float) -> str | None:
    if abs(factor - 2.25) > 0.06:
        return "divide the tokens sent in eighty turns by those in forty: talk(80).usage().total.input_tokens."
    return None
