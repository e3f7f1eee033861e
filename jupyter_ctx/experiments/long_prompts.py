"""Long prompts in which one key is to be found, as rows for ``sweep``: they show how far a model holds.

All words are our own, and every sentence is drawn from a seed, so that no model can know a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import starmap
from random import Random
from typing import Any

from ..errors import InvalidRequestError, check_whole_number

SHORTEST_PROMPT, LONGEST_PROMPT = 100, 2_000_000  # tokens of a prompt
TOKENS_PER_WORD, TOKENS_PER_KEY = 1.2, 5  # on average: some tokenizers cut a key into two, others into five
SENTENCES_PER_KEY = 3  # one sentence of so many has a key that is not asked for
NAMES = 40  # of things with a key in one text, at most

OPENING = "Read this text. Questions on it follow at its end."
KEY = "The code of the {} is {}."
QUESTION = "What is the code of the {}?\nGive the answer alone."

ADJECTIVES, NOUNS = (
    words.split()
    for words in (
        """amber ancient blunt brass bright broken calm careful clever coarse copper crimson crooked curious damp
        distant dusty eager faded fearless frosty gentle golden grand hollow humble icy idle jolly keen lazy lively
        lonely loud lucky merry misty modest noble odd""",
        """acorn anchor apron arrow badger barrel basket beacon blanket bottle bramble bridge bucket button cabin candle
        canoe carpet castle clock compass cradle cricket crown curtain dolphin drum eagle engine falcon feather fiddle
        fountain garden goblet hammer harbour hedgehog helmet heron""",
    )
)
TIMES = (
    "Before noon", "On most evenings", "After the rain", "In early spring", "Just before dawn", "Once a month",
    "On market days", "After supper", "On a foggy morning", "At half past four", "As the sun sets",
)  # fmt: skip
PEOPLE = (
    "baker", "gardener", "teacher", "clockmaker", "sailor", "librarian", "postman", "carpenter", "beekeeper",
    "shepherd", "tailor", "potter", "bus driver", "map maker", "blacksmith", "chess player", "miller",
)  # fmt: skip
DOINGS = (
    "mends a fence", "counts the geese", "reads the newspaper", "sweeps the steps", "sells pears", "tunes a piano",
    "draws a boat", "looks for a glove", "repairs a bicycle", "feeds two cats", "sharpens the tools",
    "waits for the mail", "stacks firewood", "carries water", "studies the clouds", "polishes the brass",
)  # fmt: skip
PLACES = (
    "near the canal", "behind the town hall", "under the big oak", "beside the railway", "in the upper meadow",
    "next to the bakery", "by the harbour wall", "on the bridge", "in a small courtyard", "along the river",
    "at the crossroads", "past the windmill", "at the old quarry", "on the lower road",
)  # fmt: skip


def long_prompts(lengths: Iterable[int], per_length: int = 12, *, seed: int = 0) -> list[dict[str, Any]]:
    """Return prompts of these lengths in tokens, each with one key to find, as a table for :func:`~jupyter_ctx.sweep`.

    A row has ``length``, ``position``, ``prompt`` and ``answer``. Of each length there are ``per_length`` rows: the
    text is thought of as cut into as many parts, and the key stands once in each of them. ``position`` is where, from
    0 (the beginning) to 1 (the question), to the nearest sentence. One in three of the other sentences says a key
    that is not asked for, up to 39 of them: a longer text has more of these.

    ``length`` is what was wanted, with the question. Tokenizers differ: from 250 tokens on, most make up to a tenth
    more or less of it. ``reply.usage.input_tokens`` is what the provider counted, with what it puts around a prompt.

    The same ``seed`` makes the same rows of a length, whatever other lengths there are. Raises InvalidRequestError.
    """
    if isinstance(lengths, str) or not isinstance(lengths, Iterable):
        raise InvalidRequestError(f"lengths is {lengths!r}: it must be a list of tokens, such as [500, 1000].")
    wanted = list(lengths)
    if not wanted:
        raise InvalidRequestError("lengths is empty: give at least one number of tokens, such as [500, 1000].")
    for length in wanted:
        check_whole_number("A length", length, least=SHORTEST_PROMPT, most=LONGEST_PROMPT)
    check_whole_number("per_length", per_length, least=1)
    return [
        _row(length, part, per_length, Random(f"{seed} {length} {part} {per_length}"))
        for length in dict.fromkeys(map(int, wanted))
        for part in range(int(per_length))
    ]


def _row(length: int, part: int, parts: int, chance: Random) -> dict[str, Any]:
    """Return one prompt of a length, with the key somewhere in this part of so many."""
    position = (part + chance.random()) / parts
    (name, key), *others = _keys(chance)
    planted, question = KEY.format(name, key), QUESTION.format(name)
    room = length - sum(map(_tokens, (OPENING, planted, question)))
    lines = _lines(room, starmap(KEY.format, others), chance)
    lines.insert(round(position * len(lines)), planted)
    prompt = "\n".join([OPENING, "", *lines, "", question])
    return {"length": length, "position": position, "prompt": prompt, "answer": key}


def _keys(chance: Random) -> Iterator[tuple[str, str]]:
    """Return names of things, of which no two share a word, and the key of each."""
    adjectives, nouns = chance.sample(ADJECTIVES, NAMES), chance.sample(NOUNS, NAMES)
    keys = chance.sample(range(10_000, 100_000), NAMES)
    return zip(map("{} {}".format, adjectives, nouns), map(str, keys), strict=True)


def _lines(room: float, alike: Iterator[str], chance: Random) -> list[str]:
    """Return sentences of about so many tokens in random order, some of which are those that look alike."""
    lines = list[str]()
    while room > 0:
        time, who, does, where = map(chance.choice, (TIMES, PEOPLE, DOINGS, PLACES))
        line = f"{time} the {who} {does} {where}."
        if len(lines) % SENTENCES_PER_KEY == 1:
            line = next(alike, line)
        lines.append(line)
        room -= _tokens(line)
    chance.shuffle(lines)
    return lines


def _tokens(text: str) -> float:
    """Return about how many tokens a text has."""
    return sum(TOKENS_PER_KEY if word[0].isdigit() else TOKENS_PER_WORD for word in text.split())
