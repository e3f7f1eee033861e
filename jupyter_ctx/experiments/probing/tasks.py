"""Tasks with known answers, made anew from a seed: facts planted in a text of a given length, and questions on them.

keys and chain are RULER's (arXiv 2404.06654), meaning has NoLiMa's idea (arXiv 2502.05167) and order MRCR's; every
word of them is our own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from random import Random
from typing import NamedTuple

from ...context.fact_questions import FACT_BLANK, LONGEST_SENTENCE, fact_questions
from ...context.summary_facts import lines_of
from ...errors import InvalidRequestError
from ...wording import did_you_mean
from .story_words import ADJECTIVES, DOINGS, NAMES, NOUNS, PAIRS, PEOPLE, PLACES, TIMES

NOTES = 4  # of each author in the task "order"
ORDINALS = ("1st", "2nd", "3rd", "4th")
LEAST_FACTS = 4  # in a text of one's own
OPENING = "Read this text. Questions on it follow at its end.\n\n"
EACH_IN_A_LINE = "Answer each question in a line of its own: its number, a colon, and the answer alone."
NOTHING_ELSE = "Give the answer alone."


class Level(NamedTuple):
    """How hard a task is: the facts in a request, and the share of other lines that look like them."""

    questions: int
    alike: float


ALONE = Level(1, 0.0)
LEVELS = (Level(4, 0.5), ALONE)  # a model that cannot do the first at the base is given the second


class Planted(NamedTuple):
    """What a text hides.

    lines: each with its place, from 0 (the beginning) to 1
    questions: one for each answer, or one for all
    answers: in the order of the places that were asked for
    alike: further lines of the same form, which answer nothing
    """

    lines: Sequence[tuple[float, str]]
    questions: Sequence[str]
    answers: Sequence[str]
    alike: Iterator[str]


class Task(NamedTuple):
    """A kind of question: its name, what plants facts at places, which ascend, and how hard it may be."""

    name: str
    plant: Callable[[Random, Sequence[float]], Planted]
    levels: tuple[Level, Level] = LEVELS


@dataclass(frozen=True, slots=True)
class ProbePrompt:
    """A request of a probe, and the answers that are right."""

    text: str
    answers: tuple[str, ...]
    is_numbered: bool

    def scores(self, reply: str) -> list[float]:
        """Return 1 for each answer that the reply contains, in the line of its number where there is one; else 0."""
        return [float(_holds(self._part(reply, number), answer)) for number, answer in enumerate(self.answers, 1)]

    def _part(self, reply: str, number: int) -> str:
        line = re.search(rf"(?m)^\W*{number}\s*[:.)\]-](.*)$", reply) if self.is_numbered else None
        return line[1] if line is not None and line[1].strip() else reply


def _holds(text: str, answer: str) -> bool:
    """Return whether a text contains an answer as a whole word; figures may be grouped."""
    plain = re.sub(r"(?<=\d)[, ](?=\d{3}\b)", "", text)
    return any(re.search(_word(answer), each, re.IGNORECASE) for each in (text, plain))


def _word(text: str) -> str:
    return rf"(?<!\w){re.escape(text)}(?!\w)"


def make_prompt(
    task: Task, level: Level, size: Callable[[str], float], length: float, places: Sequence[float], rng: Random
) -> ProbePrompt:
    """Return a prompt of about so many tokens, with facts at these places of it; ``size`` is the tokens of a text."""
    planted = task.plant(rng, places)
    is_numbered = len(planted.questions) > 1
    asked = list(planted.questions)
    if is_numbered:
        asked = [f"{number}. {text}" for number, text in enumerate(asked, 1)]
    closing = "\n".join(["", *asked, EACH_IN_A_LINE if is_numbered else NOTHING_ELSE])
    room = length - size(OPENING + closing) - sum(size(f"{line}\n") for _, line in planted.lines)
    lines, sentences = list[str](), _sentences(rng)
    while room > 0:
        alike = next(planted.alike, "") if rng.random() < level.alike else ""
        lines.append(alike or next(sentences))
        room -= size(f"{lines[-1]}\n")
    count = len(lines)
    for place, line in sorted(planted.lines, reverse=True):
        lines.insert(round(place * count), line)
    return ProbePrompt(OPENING + "\n".join(lines) + "\n" + closing, tuple(planted.answers), is_numbered)


def barest_length(task: Task, size: Callable[[str], float]) -> int:
    """Return the tokens of a prompt whose text has the facts alone, which are chosen by chance: the most of a few."""
    places = [0.5] * LEVELS[0].questions
    made = (make_prompt(task, LEVELS[0], size, 0, places, Random(number)) for number in range(5))
    return math.ceil(max(size(prompt.text) for prompt in made))


def _sentences(rng: Random) -> Iterator[str]:
    """Yield sentences that say nothing of what is asked, each once; again only when all were said."""
    said, every = set[str](), len(TIMES) * len(PEOPLE) * len(DOINGS) * len(PLACES)
    while True:
        if len(said) == every:
            said.clear()
        time, who, does, where = map(rng.choice, (TIMES, PEOPLE, DOINGS, PLACES))
        sentence = f"{time} the {who} {does} {where}."
        if sentence not in said:
            said.add(sentence)
            yield sentence


def _shuffled(rng: Random, *parts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Return all combinations of these words in any order, each once."""
    every = list(product(*parts))
    rng.shuffle(every)
    return iter(every)


def plant_keys(rng: Random, places: Sequence[float]) -> Planted:
    """Hide numbers below names: the words of the question stand in the text."""
    named = (f"{adjective} {noun}" for adjective, noun in _shuffled(rng, ADJECTIVES, NOUNS))
    coded = ((name, str(rng.randrange(10**6, 10**7))) for name in named)
    hidden = [next(coded) for _ in places]
    lines = [(place, f"The code of the {name} is {code}.") for place, (name, code) in zip(places, hidden, strict=True)]
    questions = [f"What is the code of the {name}?" for name, _ in hidden]
    alike = (f"The code of the {name} is {code}." for name, code in coded)
    return Planted(lines, questions, [code for _, code in hidden], alike)


def plant_chain(rng: Random, places: Sequence[float]) -> Planted:
    """Hand a value on from variable to variable, in lines that are far from each other."""
    value, *others = map(str, rng.sample(range(10_000, 100_000), 2_000))
    names = iter(dict.fromkeys("".join(rng.choices("BCDFGHJKLMNPQRSTVWXZ", k=5)) for _ in range(20_000)))
    chain = [next(names) for _ in places]
    sources = [value, *(f"VAR {name}" for name in chain)]
    lines = [(place, f"VAR {name} = {source}") for place, name, source in zip(places, chain, sources, strict=False)]
    question = f"Which variables have the value {value}, given directly or through others? Name all of them."
    return Planted(lines, [question], chain, (f"VAR {name} = {rng.choice(others)}" for name in names))


def plant_meaning(rng: Random, places: Sequence[float], pairs: Sequence[tuple[str, str]] = PAIRS) -> Planted:
    """Hide a name behind what is known of the world: the words of the question do not stand in the text."""
    names, chosen = rng.sample(NAMES, len(NAMES)), rng.sample(pairs, len(places))
    facts_of = zip(places, names, chosen, strict=False)
    lines = [(place, fact.format(name)) for place, name, (fact, _) in facts_of]
    homes = _shuffled(rng, names[len(places) :], PLACES)
    alike = (f"{name} lives {where}." for name, where in homes)
    return Planted(lines, [question for _, question in chosen], names[: len(places)], alike)


def plant_order(rng: Random, places: Sequence[float]) -> Planted:
    """Write four notes by one author for each place, of which that at the place is asked for."""
    names = rng.sample(NAMES, len(NAMES))
    lines, questions, answers = list[tuple[float, str]](), list[str](), list[str]()
    for place, name in zip(places, names, strict=False):
        asked = min(int(place * NOTES), NOTES - 1)
        before = sorted(rng.uniform(0, place) for _ in range(asked))
        behind = sorted(rng.uniform(place, 1) for _ in range(NOTES - 1 - asked))
        numbers = rng.sample(range(1_000, 10_000), NOTES)
        lines += [(at, _note(name, each)) for at, each in zip([*before, place, *behind], numbers, strict=True)]
        questions.append(f"Which number does the {ORDINALS[asked]} note by {name} have?")
        answers.append(str(numbers[asked]))
    others = _shuffled(rng, names[len(places) :], list(map(str, rng.sample(range(1_000, 10_000), 200))))
    return Planted(lines, questions, answers, (_note(name, number) for name, number in others))


def _note(name: str, number: object) -> str:
    return f"Note by {name}: number {number}."


def plant_own(
    rng: Random, places: Sequence[float], asked: Mapping[str, str], others: Sequence[str]
) -> Planted:  # fmt: skip
    """Hide sentences of a text of one's own; ``asked`` has the fact of each that is asked for."""
    every = rng.sample(list(asked), len(asked))
    hidden, rest = every[: len(places)], [*every[len(places) :], *others]
    gapped = [re.sub(_word(asked[each]), FACT_BLANK, each, flags=re.IGNORECASE) for each in hidden]
    questions = [f"What stands in place of {FACT_BLANK}: {each}" for each in gapped]
    lines = list(zip(places, hidden, strict=True))
    return Planted(lines, questions, [asked[each] for each in hidden], iter(rng.sample(rest, len(rest))))


def task_on(text: str) -> Task:
    """Return the task on a text of one's own: gaps are filled in its sentences, by the figures and names in them.

    Raises InvalidRequestError where it has too few facts.
    """
    every = [each for each in fact_questions([(1, text)]) if each.kind != "decision"]
    once = [each for each in every if len(re.findall(_word(each.fact), text, re.IGNORECASE)) == 1]
    asked = {each.question.replace(FACT_BLANK, each.fact): each.fact for each in once}
    if len(asked) < LEAST_FACTS:
        raise InvalidRequestError(
            f"The text has {len(asked)} sentences with a fact (a figure or a name) that stands in it once, and a probe "
            f"needs {LEAST_FACTS}: give it more text. Nothing was sent."
        )
    lines = (line for line in dict.fromkeys(lines_of(text)) if len(line) <= LONGEST_SENTENCE)
    others = [line for line in lines if line not in asked]
    return Task("own", partial(plant_own, asked=asked, others=others))


EVERY = (
    Task("keys", plant_keys), Task("chain", plant_chain),
    Task("meaning", plant_meaning, (LEVELS[0], Level(1, 0.5))),  # one name alone would answer any question
    Task("order", plant_order),
)  # fmt: skip
TASKS = {task.name: task for task in EVERY}
TASK_NAMES = (*TASKS, "own")


def task_named(name: str, text: str = "") -> Task:
    """Return a task by its name; ``text`` is for "own". Raises InvalidRequestError."""
    if name == "own":
        return task_on(text)
    if name not in TASKS:
        hint = did_you_mean(str(name), TASK_NAMES) or f" There are {', '.join(TASK_NAMES)}."
        raise InvalidRequestError(f"There is no task {name!r}.{hint} Nothing was sent.")
    return TASKS[name]
