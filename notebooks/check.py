"""Exercises of the lessons: say whether an answer is right, or what to look at.

Each exercise has a function. It returns what to look at, and not the answer; ``None`` where the answer is right, of
which its first line then says more. It looks at the conversation of the notebook where the exercise is to do something
to it, and at what it is given where the exercise is to find something out.
"""

from numbers import Real
from typing import Any

from jupyter_ctx import Chat, Provider, get_chat
from jupyter_ctx.providers.server_facts import next_tokens, text_tokens  # as %%chat next and %%chat tokens ask


def check(number: str, *answer: Any) -> None:
    """Print whether an exercise is done, such as ``check("2.1")`` or ``check("3.2", 12)``."""
    look = globals().get(f"exercise_{number.replace('.', '_')}")
    if look is None:
        raise ValueError(f"There is no exercise {number!r}: the second one of lesson 3 is '3.2'.")
    missing = missing_in(look, answer)
    print(f"Right. {look.__doc__}" if missing is None else f"Not done yet: {missing}")


def missing_in(look: Any, answer: tuple[Any, ...]) -> str | None:
    """Return what to look at; ``None`` where the exercise is done."""
    if any(each is None or each is ... for each in answer):
        return "put your answer in place of the dots, and run this cell again."
    kinds = [kind for name, kind in look.__annotations__.items() if name != "return"]
    try:
        if all(kind is Any or isinstance(each, kind) for each, kind in zip(answer, kinds, strict=True)):
            missing: str | None = look(*answer)
            return missing
    except (TypeError, AttributeError, LookupError, ValueError):  # what is given may be anything
        pass
    given = ", ".join(type(each).__name__ for each in answer) or "nothing"
    return f"the answer has another form: {given} was given."


# lesson 1: the first chat


def exercise_1_1() -> str | None:
    """The model read the price in the output of the cell, and the examples taught it the form."""
    asked = [turn for turn in get_chat().turns if "Paris" in turn.prompt]
    if not asked:
        return "no prompt of this conversation has Paris. Ask in a %%chat cell, without --no-history."
    with_cells = [turn for turn in asked if any(source.startswith("In[") for source in turn.sources)]
    if not with_cells:
        return "no cell went along. Run the cell that prints the sentence, and then ask with %%chat -a cells."
    if not any("130" in turn.reply for turn in with_cells):
        return "the answer does not give 130. Does the cell print it, in words like those of the examples?"
    return None


def exercise_1_2() -> str | None:
    """The turn is kept, and not sent."""
    if "excluded" in states_of(2):
        return None
    return "turn 2 is still sent. %chat history has the numbers, and %chat exclude takes one."


def states_of(turn: int) -> tuple[str, ...]:
    """Return how a turn is marked, such as "pinned"; nothing for a turn that is not there."""
    return next((row.states for row in get_chat().history() if row.turn == turn), ())


def exercise_1_3(tokens: Real) -> str | None:
    """All the turns that are sent are counted, not the new prompt alone."""
    turns = get_chat().turns
    if not turns or turns[-1].usage is None:
        return "ask something in a %%chat cell first."
    if tokens == turns[-1].usage.output_tokens:
        return "that is the answer's figure. The prompt's is usage.input_tokens."
    if tokens != turns[-1].usage.input_tokens:
        return "unfold the line below the newest answer, or look at usage of the newest turn."
    return None


# lesson 2: when the window fills


def exercise_2_1() -> str | None:
    """It will be sent with every request, however long the conversation becomes."""
    return None if "pinned" in states_of(2) else "turn 2 is not pinned. %chat pin takes the number of a turn."


def exercise_2_2(turns: Real) -> str | None:
    """The rest is kept, and %chat undo brings it back."""
    info = get_chat().info()
    if turns == info.in_view:
        return None
    if turns == info.turns:
        return "that is how many turns there are. Some of them are not sent: see the gauge or %chat history."
    return "count the turns of %chat history that have no mark such as 'left out'."


def exercise_2_3() -> str | None:
    """Turns are left out from 60 % of the limit on, and the gauge's mark has moved there."""
    at = get_chat().config.compact_at
    return None if at == 0.6 else f"compact_at is {at}. %chat config compact_at takes the share, as 0.6."


# lesson 3: tokens and the next one


def small_model() -> Provider:
    """Return what asks the model of the lesson."""
    chat = Chat("local/smollm2")
    return chat.models.target(chat.config, ask=False).provider


def exercise_3_1(count: Real) -> str | None:
    """It is a usual word in German, and was rare in the text that this vocabulary was made from."""
    if count == len(text_tokens(small_model(), "Geschwindigkeitsbegrenzung") or ()):
        return None
    return "write the word alone into a cell that begins with %%chat tokens, and read the count."


def exercise_3_2(word: str) -> str | None:
    """The model does not see the letters of a word, but these pieces."""
    word = word.strip()
    if not word.isalpha() or len(word) > 6:
        return f"{word!r} is not a word of at most six letters."
    pieces = text_tokens(small_model(), word) or ()
    return None if len(pieces) >= 3 else f"{word!r} has fewer than 3 tokens. Try names, or words of other languages."


def exercise_3_3(beginning: str) -> str | None:
    """So much stands in the beginning that only one token is left."""
    likely = next_tokens(small_model(), beginning, ()) if beginning.strip() else None
    if not likely:
        return "the model says nothing of this text: write the beginning of a sentence."
    share = likely[0].probability
    if share >= 0.9:
        return None
    return f"the likeliest token has {share:.0%}. Repeat a name of the text, and stop in the middle of it."


# lesson 4: is it real


def exercise_4_1(answers: Any, count: Real) -> str | None:
    """Only such texts, and those where it is the other way round, say anything about the two positions."""
    ended = answers[answers["stop_reason"] == "stop"]
    found = ended.pivot(index="code", columns="position", values="found")
    if count == ((found["first"] == True) & (found["middle"] == False)).sum():  # noqa: E712
        return None
    return "a text counts where it is found in the form 'first' and not in 'middle', and no answer was cut."


def exercise_4_2(texts: Real) -> str | None:
    """Repeats of a text at temperature 0 are one observation."""
    return None if texts == 4 else "how many different texts were asked? More answers to them were no more evidence."


def exercise_4_3(what: str) -> str | None:
    """Each text is an observation of its own; the rest only asks the same ones again, or differently."""
    if what.strip().lower() == "more texts":
        return None
    return 'give one of "more texts", "more repeats", "a higher temperature". What did the repeats add?'


# lesson 5: how far does it hold


def exercise_5_1(run: Any, count: Real) -> str | None:
    """What was cut is neither right nor wrong, and stands for nothing in the interval."""
    if count == sum(result.counts for result in run.results):
        return None
    return "count the answers of this run that ended by themselves: stop_reason says so, and the summary, too."


def exercise_5_2(run: Any, percent: Real) -> str | None:
    """All higher rates up to the upper end would not make this result a surprise, either."""
    low = run.summary()[0].low
    if low is not None and abs(float(percent) - 100 * low) <= 1:
        return None
    return "the sentence of run.summary() has the interval: give its first figure, as a number such as 50."


def exercise_5_3(reason: str) -> str | None:
    """Nearly as long, and without the other codes, the texts were no difficulty."""
    if reason.strip().lower() == "the other codes":
        return None
    return "the control has texts of nearly the same length. How many of these were right?"


# lesson 6: what a policy costs


def exercise_6_1(turn: Real) -> str | None:
    """About 4,000 tokens of this window are kept for the answer: a prompt may have 27,904."""
    if turn == 28:
        return None
    return 'call talk(100, 300, 700, window=32_000, on_overflow="stop"), and count the turns of that chat.'


def exercise_6_2(policy: str) -> str | None:
    """Few turns are sent at any time. Whether the answers are as good is another question."""
    if policy.strip() == "trim max_turns=6":
        return None
    return "look for the smallest figure below 'sent', in a row that has 40 turns."


def exercise_6_3(factor: Real) -> str | None:
    """Once the window is full, each turn sends about as much as the one before it."""
    if abs(float(factor) - 2.25) <= 0.06:
        return None
    return "divide the tokens sent in eighty turns by those in forty: talk(80).usage().total.input_tokens."
