"""Questions about facts, made without a model: a sentence with a blank, and whether an answer fills it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, zip_longest
from random import Random
from typing import Literal, NamedTuple, get_args

from .summary_facts import DECISION, FACT, lines_of

FactKind = Literal["number", "name", "decision"]
FACT_BLANK = "____"
LONGEST_SENTENCE = 300  # characters; what is longer is data
DIGITS_OF_A_FACT = 2  # of a number: one digit stands in any text by chance
ENDING = 2  # characters of a word that may change: parser, parsers
DIGIT_GROUPS = r"\d+(?:-\d+)*(?:\)?[ \u00a0\u202f]\d+(?:-\d+)*)+(?:[.,]\d+)?"  # of one number: 41 200, a telephone's
WHOLE_FACT = (
    rf"(?:{DIGIT_GROUPS} | {FACT}) (?: (?<=\d)\w* | (?<![\d%])(?:[ ][A-ZÀ-ÞА-ЯЁ]\w+)* )"  # with its unit; several names
)
NUMERAL = r"(\d(?:[\d.,'’]*\d)?)(?:\s?(thousand|million|billion)\b|(k|K|M|bn)\b)?"
SCALES = {"thousand": 10**3, "k": 10**3, "K": 10**3, "million": 10**6, "M": 10**6, "billion": 10**9, "bn": 10**9}
IN_NUMERAL = r"(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))"  # spaces
SAYS_LITTLE = set(
    """
    a about after an and are at be because been before by costs for from has have in instead is it of on only than that
    the their them then there these they this those to was were weighs when with would
    """.split()  # noqa: SIM905
)
FactText = tuple[str, frozenset[Decimal]]  # a text in lower case and one line, and the values of its numbers


class FactQuestion(NamedTuple):
    """A fact, and the sentence that it stands in with a blank in its place.

    turn: the number of the turn that said it, from 1
    kind: what the fact is
    fact: a number or a name as it was written; of a decision, the word that says most
    question: the sentence with the blank
    answer: what the model filled in
    fate: whether the answer holds the fact; "not told" where there is no answer
    """

    turn: int
    kind: FactKind
    fact: str
    question: str
    answer: str = ""
    fate: Literal["survives", "lost", "not told"] = "not told"

    @property
    def label(self) -> str:
        """The fact as a list names it, such as ``the budget (41,200)``."""
        before, _, after = self.question.partition(FACT_BLANK)
        if self.kind != "number":
            return self.fact if self.kind == "name" else f"“{before}{self.fact}{after.rstrip('.')}”"
        words = re.findall(r"[^\s=:;$€]+", before)
        while words and words[-1].lower() in SAYS_LITTLE:
            words.pop()
        return f"{' '.join(words[-5:])} ({self.fact})".replace("The ", "the ", 1).strip()

    def stands_in(self, text: FactText) -> bool:
        """Return whether a text says the fact word for word: a decision as a whole, a number in any spelling."""
        whole, _ = fact_text(self.question.replace(FACT_BLANK, self.fact))
        return whole in text[0] if self.kind == "decision" else self.is_filled_by(text)

    def is_filled_by(self, text: FactText) -> bool:
        """Return whether a text holds what was left blank; the word of a decision may end otherwise."""
        (words, numbers), (fact, values), beside = text, fact_text(self.fact), r"\w"
        if self.kind == "decision":
            return re.search(rf"(?<!\w){re.escape(fact[: max(4, len(fact) - ENDING)])}", words) is not None
        if self.kind == "number":
            beside = r"\d"
            if re.search(r"\d\)? \d", fact):
                digits, whole = re.sub(r"\D", "", fact), re.sub(r"(?<=\d)[ ,()-]+(?=\d)", "", words)
                return re.search(rf"(?<!\d){digits}(?!\d)", whole) is not None or _is_one(fact, numbers)
            if values and not re.search(r"\d[-:/]\d", self.fact):  # a date, a time, a range
                return not values.isdisjoint(numbers)
        whole = f"(?<!{beside}){re.escape(fact)}(?!{beside})"
        return fact in words and (not fact.isascii() or re.search(whole, words) is not None)

    def answered(self, answer: str, *, is_read: bool) -> FactQuestion:
        """Return the question with its answer; ``is_read``: whether the server has read the whole request."""
        if not answer or FACT_BLANK in answer:
            return self
        if self.is_filled_by(fact_text(answer)):
            return self._replace(answer=answer, fate="survives")
        return self._replace(answer=answer, fate="lost" if is_read else "not told")


def fact_text(text: str) -> FactText:
    """Return a text as facts are looked for in it: one sign stands between the parts of dates, times and ranges."""
    return re.sub(r"(?<=\d)[-/.:–](?=\d)", "-", " ".join(text.casefold().split())), _values(text)


def fact_questions(said: Iterable[tuple[int, str]]) -> list[FactQuestion]:
    """Return a question for each fact in texts, which come with the numbers of their turns.

    Of one fact, and of questions that are alike, the last is returned: what was said later holds.
    """
    lines = [(turn, line) for turn, text in said for line in lines_of(text) if len(line) <= LONGEST_SENTENCE]
    every = [each for turn, line in lines for each in _of_sentence(turn, line)]
    by_fact = {each.question if each.kind == "decision" else each.fact.casefold(): each for each in every}
    return list({each.question: each for each in by_fact.values()}.values())


def chosen_questions(found: Sequence[FactQuestion], most: int) -> list[FactQuestion]:
    """Return at most so many questions by chance, of all kinds in turn; none holds the answer to another."""
    shuffled = Random(0).sample(found, len(found))  # equal texts are asked the same
    kinds = ([each for each in shuffled if each.kind == kind] for kind in get_args(FactKind))
    chosen = dict[FactQuestion, FactText]()
    for each in filter(None, chain(*zip_longest(*kinds))):
        text = fact_text(each.question)
        told = any(each.is_filled_by(asked) or other.is_filled_by(text) for other, asked in chosen.items())
        if len(chosen) < most and not told:
            chosen[each] = text
    return list(chosen)


def _of_sentence(turn: int, sentence: str) -> Iterator[FactQuestion]:
    for kind, fact in (*_named(sentence), *_decided(sentence)):
        question = re.sub(rf"(?<!\w){re.escape(fact)}(?!\w)", FACT_BLANK, sentence)
        asked = FactQuestion(turn, kind, fact, question)
        if re.search(r"[^\W\d_]{3}", question) and not asked.is_filled_by(fact_text(question)):
            yield asked


def _named(sentence: str) -> Iterator[tuple[FactKind, str]]:
    """Yield the numbers and the names of a sentence."""
    for found in re.finditer(WHOLE_FACT, sentence, re.X | re.M):
        fact = found[0].strip("`\"'「」").rstrip(".,:/-")
        is_part = sentence[: found.start()][-1:].isalnum()
        if fact and not found[0][0].isdigit():
            yield "name", fact
        elif len(re.findall(r"\d", fact)) >= DIGITS_OF_A_FACT and not is_part:
            yield "number", fact


def _decided(sentence: str) -> Iterator[tuple[FactKind, str]]:
    """Yield the longest word of a decision, the last of several."""
    mark = re.search(DECISION, sentence)
    words = re.findall(r"[^\W\d_]{4,}", sentence[mark.end() :]) if mark else []
    telling = [word for word in reversed(words) if word.lower() not in SAYS_LITTLE]
    if telling:
        yield "decision", max(telling, key=len)


def _values(text: str) -> frozenset[Decimal]:
    """Return the values of all numbers in a text: 41,200, 41 200, 41200 and 41.2k are one."""
    found = re.findall(NUMERAL, f"{text}\n{re.sub(IN_NUMERAL, '', text)}")
    scaled = ((_value(number), SCALES.get(word or letter, 1)) for number, word, letter in found)
    return frozenset(value * scale for value, scale in scaled if value is not None)


def _is_one(fact: str, numbers: frozenset[Decimal]) -> bool:
    """Return whether a number with spaces between its thousands is one of these."""
    return re.match(r"\d{1,3}( \d{3})+\b", fact) is not None and _value(fact.replace(" ", "")) in numbers


def _value(number: str) -> Decimal | None:
    """Return the value of a number; ``None`` for a version such as 1.2.3."""
    plain = re.sub(r"['’]", "", number)
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", plain):
        plain = plain.replace(",", "")
    decimal = plain.replace(",", ".")
    return Decimal(decimal) if re.fullmatch(r"\d+(\.\d+)?", decimal) else None
