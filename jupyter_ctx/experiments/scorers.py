"""Score answers: plain functions ``(row, reply) -> bool | float | dict``, and those that are asked for most.

``exact``, ``contains``, ``regex`` and ``json_equal`` make such functions. They compare the answer, or a ``field`` of a
structured one, with a column of the row, or with a ``text`` that is the same for all rows. A cell that is a list
holds several right answers. Where a row has no right answer there is no score.
"""

from __future__ import annotations

import inspect
import itertools
import json
import math
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any

from ..config.settings import Settings
from ..conversation.schema import read_object
from ..errors import InvalidRequestError
from ..providers.base import Reply
from ..wording import did_you_mean
from .table.results import Result, Score

TRUTHS = ("true", "false")
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")
_SPACED = re.compile(r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\uffff]")  # not Thai, Burmese, Chinese …
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?:\D|$|,))")
REGEX_SECONDS = 1.0  # of one search
_SHOWN = 80  # characters of a value in an error message

Scorer = Callable[[Mapping[str, Any], Reply], Any]


class UnscorableError(ValueError):
    """A row cannot be scored; the message says why."""


@dataclass(frozen=True, slots=True)
class TextScorer:
    """A scorer that compares an answer with an expected value.

    name: what tables call the score
    agrees: whether an answer is right, given the expected value
    column: the column with the expected value; empty: it is ``expected``
    expected: the value for all rows
    field: the field of a structured answer that is compared; ``None``: the text of the answer
    lists: whether a cell that is a list holds several right answers, and is not one itself
    """

    name: str
    agrees: Callable[[Any, Any], bool]
    column: str
    expected: Any = None
    field: str | None = None
    lists: bool = True

    def __call__(self, row: Mapping[str, Any], reply: Reply) -> bool:
        """Return whether the answer is right. Raises UnscorableError where that cannot be said."""
        expected = row[self.column] if self.column else self.expected
        choices = expected if self.lists and isinstance(expected, (list, tuple, set, frozenset)) else [expected]
        if expected is None or expected == "" or not choices:
            raise UnscorableError(f"the row has nothing in {self.column!r} to compare with")
        found = reply.text.strip() if self.field is None else _field(reply, self.field)
        return any(self.agrees(found, choice) for choice in choices)


def exact(
    column: str = "",
    *,
    text: str | None = None,
    field: str | None = None,
    ignore_case: bool = False,
    ignore_space: bool = False,
    ignore_punctuation: bool = False,
) -> TextScorer:
    """Return a scorer: whether the answer is the value in ``column``, or ``text``; numbers are compared as numbers.

    ``ignore_space`` takes all white space for one space; that around an answer never counts.
    """
    normal = _normal(ignore_case, ignore_space, ignore_punctuation)

    def agrees(found: Any, expected: Any) -> bool:
        said, wanted = _written(found), _written(expected)
        if wanted.casefold() in TRUTHS:
            return said.strip().casefold() == wanted.casefold()
        number = _as_number(expected)
        return (number is not None and _as_number(found) == number) or normal(said) == normal(wanted)

    return TextScorer("exact", agrees, *_expected("exact", column, text), field)


def contains(
    column: str = "",
    *,
    text: str | None = None,
    field: str | None = None,
    ignore_case: bool = False,
    ignore_space: bool = False,
    ignore_punctuation: bool = False,
) -> TextScorer:
    """Return a scorer: whether the answer contains the value in ``column``, or ``text``, as whole words.

    A number is found where the answer has that number: 4 is in "4.0 cats", and not in "14".
    """
    normal = _normal(ignore_case, ignore_space, ignore_punctuation)

    def agrees(found: Any, expected: Any) -> bool:
        if isinstance(found, (list, tuple)):
            return expected in found
        said, number = _written(found), _as_number(expected)
        if number is not None:
            return any(_as_number(each) == number for each in _NUMBER.findall(said))
        return _has_words(normal(said), normal(_written(expected)))

    return TextScorer("contains", agrees, *_expected("contains", column, text), field)


def regex(
    pattern: str | None = None, *, column: str = "", field: str | None = None, ignore_case: bool = False
) -> TextScorer:
    """Return a scorer: whether a regular expression is found in the answer; ``column`` has one for each row.

    A search that takes longer than a second leaves the row without a score. Raises InvalidRequestError for an
    invalid pattern.
    """
    import regex as patterns

    flags = patterns.IGNORECASE if ignore_case else 0

    def agrees(found: Any, expected: Any) -> bool:
        try:
            return patterns.search(str(expected), _written(found), flags, timeout=REGEX_SECONDS) is not None
        except TimeoutError:
            raise UnscorableError(f"the pattern {expected!r} takes longer than {REGEX_SECONDS:g} s") from None
        except patterns.error as error:
            raise UnscorableError(f"the pattern {expected!r} is invalid: {error}") from None

    if pattern is not None:
        try:
            patterns.compile(pattern, flags)
        except (patterns.error, TypeError) as error:
            raise InvalidRequestError(f"regex({pattern!r}): the pattern is invalid: {error}.") from None
    return TextScorer("regex", agrees, *_expected("regex", column, pattern, "a pattern"), field)


def json_equal(column: str, *, field: str | None = None) -> TextScorer:
    """Return a scorer: whether the answer, as JSON, equals the JSON text or the value in ``column``.

    The order of names does not count, and 1 equals 1.0. An answer that is no JSON is wrong.
    """

    def agrees(found: Any, expected: Any) -> bool:
        if isinstance(expected, str):
            try:
                expected = json.loads(expected)
            except ValueError as error:
                raise UnscorableError(f"the cell in {column!r} is not JSON: {error}") from None
        try:
            value = _json_in(found) if isinstance(found, str) and field is None else found
        except ValueError:
            return False
        return _equal(value, expected)

    return TextScorer("json_equal", agrees, *_expected("json_equal", column, None), field, lists=False)


class Scorers:
    """The scorers of a run by name, and the judges among them, which are asked by further requests.

    functions: the scorers that are plain functions
    judges: those with the methods ``ask(result)`` and ``read(reply)``
    """

    def __init__(self, functions: Mapping[str, Scorer], judges: Mapping[str, Any], *, bare: bool = False) -> None:
        self.functions, self.judges, self._bare = functions, judges, bare

    @classmethod
    def of(cls, given: Any) -> Scorers:
        """Return scorers that are given alone, in a list, or in a dict by name. Raises InvalidRequestError."""
        if isinstance(given, cls):
            return given
        named = _named_scorers(given)
        for name, scorer in named.items():
            _check_scorer(name, scorer)
        judges = {name: scorer for name, scorer in named.items() if _is_judge(scorer)}
        functions = {name: scorer for name, scorer in named.items() if name not in judges}
        return cls(functions, judges, bare=len(named) == 1 and not isinstance(given, Mapping))

    def asked_with(self, change: Callable[[Settings], Settings]) -> Scorers:
        """Return the same scorers with changed settings of their judges."""
        judges = {name: replace(judge, settings=change(judge.settings)) for name, judge in self.judges.items()}
        return Scorers(self.functions, judges, bare=self._bare)

    def __bool__(self) -> bool:
        return bool(self.functions or self.judges)

    def check(self, columns: Collection[str]) -> None:
        """Raise InvalidRequestError for a scorer that reads a column which the table has not."""
        for name, scorer in {**self.functions, **self.judges}.items():
            column = getattr(scorer, "column", "")
            if column and isinstance(scorer, TextScorer) and column not in columns:
                hint = did_you_mean(column, columns, "{!r}") or f" The columns are {', '.join(columns)}."
                raise InvalidRequestError(
                    f"The scorer {name} compares with the column {column!r}, which the table has not.{hint}"
                )
            if _is_judge(scorer):
                scorer.check(columns)

    def score(self, result: Result) -> tuple[dict[str, Score], list[str]]:
        """Return the scores of an answer by name, without those of judges, and what went wrong, a line each."""
        scores: dict[str, Score] = {}
        problems: list[str] = []
        if result.reply is None:
            return scores, problems
        for name, scorer in self.functions.items():
            try:
                scores |= self._scores(name, scorer(result.inputs, result.reply))
            except (Exception, SystemExit) as error:  # whatever a user's function does, the run goes on
                scores[name] = None
                problems.append(f"{name}: {_in_words(error)}")
        return scores, problems

    def _scores(self, name: str, found: Any) -> dict[str, Score]:
        """Return the scores that a function returned. Raises UnscorableError for anything else."""
        if not isinstance(found, Mapping):
            return {name: _score(found)}
        return {(key if self._bare else f"{name}.{key}"): _score(value) for key, value in found.items()}


def _named_scorers(given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(name): scorer for name, scorer in given.items()}
    if isinstance(given, str):
        raise InvalidRequestError(f"scorers is {given!r}: it must be functions, such as exact({given!r}).")
    named: dict[str, Any] = {}
    for scorer in given if isinstance(given, Sequence) else [given]:
        first = _name_of(scorer)
        names = itertools.chain([first], (f"{first}_{number}" for number in itertools.count(2)))
        named[next(name for name in names if name not in named)] = scorer
    return named


def _name_of(scorer: Any) -> str:
    name = getattr(scorer, "name", None) or getattr(scorer, "__name__", None) or type(scorer).__name__
    return "score" if not isinstance(name, str) or name == "<lambda>" else name


def _is_judge(scorer: Any) -> bool:
    return all(callable(getattr(scorer, name, None)) for name in ("ask", "read"))


def _check_scorer(name: str, scorer: Any) -> None:
    """Raise InvalidRequestError for what cannot be called with a row and a reply."""
    if _is_judge(scorer):
        return
    if not callable(scorer):
        raise InvalidRequestError(f"The scorer {name} is {scorer!r:.{_SHOWN}}: it must be a function (row, reply).")
    if any(scorer is make for make in (exact, contains, regex, json_equal)):
        raise InvalidRequestError(
            f'The scorer {name} was not called: store {name}("answer") in a variable, and name that.'
        )
    try:
        inspect.signature(scorer).bind(None, None)
    except TypeError as error:
        raise InvalidRequestError(f"The scorer {name} cannot be called with (row, reply): {error}.") from None
    except ValueError:  # a function of C without a signature
        return


def _score(value: Any) -> Score:
    """Return a score as Python's own type. Raises UnscorableError for what is none."""
    if value is None or type(value) is bool:
        return value
    if type(value).__name__ in ("bool", "bool_") and hasattr(value, "dtype"):
        return bool(value)
    if isinstance(value, Number) and not isinstance(value, complex):
        number = float(value)  # type: ignore[arg-type]
        if math.isfinite(number):
            return number
        raise UnscorableError(f"it returned {number}, which is no score")
    raise UnscorableError(f"it returned {value!r:.{_SHOWN}}: a scorer returns True, False, a number or a dict of these")


def _in_words(error: BaseException) -> str:
    """Return what a scorer raised, with a hint where a reply was taken for a text."""
    if isinstance(error, UnscorableError):
        return str(error)
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, (TypeError, AttributeError)) and "Reply" in said:
        said += " (the text of the answer is reply.text)"
    return said


def _expected(name: str, column: str, text: str | None, what: str = "a text") -> tuple[str, str | None]:
    """Return the column and the text to compare with. Raises InvalidRequestError unless just one is given."""
    if not isinstance(column, str):
        raise InvalidRequestError(f"{name}({column!r}): the name of a column must be a text.")
    if bool(column) == (text is not None):
        raise InvalidRequestError(f"{name}() compares with a column or with {what}: give just one of them.")
    if text is not None and (not isinstance(text, str) or not text):
        raise InvalidRequestError(f"{name}(text={text!r}): it must be a text that is not empty.")
    return column, text


def _field(reply: Reply, field: str) -> Any:
    """Return a field of a structured answer. Raises UnscorableError where there is none."""
    value = reply.parsed
    if value is None:
        raise UnscorableError(f"there is no field {field!r}, because no schema= was given")
    missing = object()
    found = value.get(field, missing) if isinstance(value, Mapping) else getattr(value, field, missing)
    if found is missing:
        raise UnscorableError(f"the answer has no field {field!r}")
    return found


def _normal(ignore_case: bool, ignore_space: bool, ignore_punctuation: bool) -> Callable[[str], str]:
    """Return what makes texts alike that differ only in what is ignored."""

    def normal(text: str) -> str:
        text = unicodedata.normalize("NFC", text).strip()
        if ignore_punctuation:
            text = "".join(letter for letter in text if unicodedata.category(letter)[0] != "P").strip()
        if ignore_space:
            text = " ".join(text.split())
        return text.casefold() if ignore_case else text

    return normal


def _written(value: Any) -> str:
    return value if isinstance(value, str) else str(getattr(value, "value", value))  # of a member of an enumeration


def _as_number(value: Any) -> int | float | None:
    """Return a value as a number, with or without commas between thousands; ``None`` where it is none."""
    text = _THOUSANDS.sub("", _written(value).strip())
    for kind in (int, float):
        with suppress(ValueError, OverflowError):
            number = kind(text)
            return number if math.isfinite(number) else None
    return None


def _has_words(text: str, words: str) -> bool:
    """Return whether a text has these words, and not as a part of longer ones; scripts without spaces have none."""
    at = text.find(words)
    while at >= 0:
        end = at + len(words)
        if not (_joins(text[at - 1 : at], words[:1]) or _joins(words[-1:], text[end : end + 1])):
            return True
        at = text.find(words, at + 1)
    return not words


def _joins(before: str, after: str) -> bool:
    """Return whether two signs are of one word."""
    return bool(_SPACED.match(before) and _SPACED.match(after))


def _json_in(text: str) -> Any:
    """Return the JSON value of an answer: alone, in a code fence, or an object among words. Raises ValueError."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].partition("\n")[2]
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        return read_object(text)


def _equal(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal; true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_equal, left, right))
    return bool(left == right)
