"""What is handed in of a conversation: its record, a digest over all of it, and the files that carry both.

A page and a notebook show the record and carry it as JSON; a ``.json`` file is the record alone. The digest is over
the record and over what is shown.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..context.usage import Usage
from ..errors import InvalidRequestError
from ..runtime.files import reason_of
from .notebook_file import notebook_of
from .openai_messages import dumped, find, parse_json

TurnRows = dict[str, tuple[tuple[int, int], ...]]  # by what became of them: the first and the last of each row
HANDED_IN = "jupyter_ctx_handin"
HAND_IN_FORMATS = ".html, .ipynb or .json"
HAND_IN_SUFFIXES = (".html", ".ipynb", ".json")
MOST_HANDED_IN = 32_000_000  # bytes of a file that is written or read
RECORD_SCHEMA = 1
PROVES = (
    "The digest proves that this file is as it was written. It does not prove who wrote it, that these prompts were "
    "sent, or that nothing was left out: whoever can write the file can compute a digest for it. Prompts sent with "
    "--no-history, runs over tables and other conversations are not in it."
)
_NOT_SHOWN = (  # which front ends set by themselves
    "id", "execution_count", "trusted", "editable", "slideshow", "tags", "collapsed", "scrolled", "execution", "vscode",
)  # fmt: skip
_MOST_NUMBER = 10**12  # tokens or dollars of an answer: a file may say anything
_OPENED, _CLOSED = f'<script type="application/json" id="{HANDED_IN}">', "</script>"


@dataclass(frozen=True, slots=True)
class HandedAnswer:
    """One answer, with the prompt that it answers.

    state: ``current``, ``older version``, ``undone``, ``before a clear`` or ``not taken``
    turn, version: its numbers from 1 at the end; 0 where it is in no turn
    origin: ``asked``; ``stored``: shown again, nothing was sent; ``added``: from another conversation
    attached_text: the text that went with the prompt; ``sources`` names all that did
    files: the images and PDFs that did, with their sizes and digests
    at: when it came, in UTC; empty where that is unknown
    turns_before: what became in its request of the turns before it, numbered as they were then
    problem: why there is no answer, or what is wrong with it
    """

    state: str
    turn: int
    version: int
    origin: str
    prompt: str
    attached_text: str
    sources: tuple[str, ...]
    files: tuple[str, ...]
    reply: str
    problem: str
    model: str
    ending: str
    at: str
    window: int
    usage: Usage | None
    cost: float | None
    seconds: float | None
    turns_before: TurnRows

    def __post_init__(self) -> None:
        if max(self.tokens, self.cost or 0) > _MOST_NUMBER:
            raise ValueError("no answer takes that much")

    @property
    def tokens(self) -> int:
        """Tokens in and out; 0 where none were reported."""
        return self.usage.input_tokens + self.usage.output_tokens if self.usage is not None else 0


@dataclass(frozen=True, slots=True)
class HandedRecord:
    """A conversation as it is handed in: all answers in the order in which they were asked for."""

    conversation: str
    system: str
    written: str
    answers: tuple[HandedAnswer, ...]
    proves: str = PROVES
    schema: int = RECORD_SCHEMA


@dataclass(frozen=True, slots=True)
class Seal:
    """A record with its digest; those of each answer and of what is shown tell where a file was changed."""

    record: HandedRecord
    answers: tuple[str, ...]
    shown: str
    digest: str


def sealed_page(record: HandedRecord, page: str) -> tuple[Seal, str]:
    """Return a page that carries its record as data, which no text in it can end."""
    seal = _sealed(record, page)
    data = _encoded(seal).decode().replace("<", "\\u003c")
    head, end, rest = page.rpartition("</body>")
    return seal, f"{head}{_OPENED}{data}{_CLOSED}{end}{rest}"


def sealed_notebook(record: HandedRecord, cells: list[dict[str, Any]]) -> tuple[Seal, str]:
    """Return a notebook that carries its record in its metadata."""
    seal = _sealed(record, _cells_shown(json.loads(json.dumps(cells))))
    return seal, notebook_of(cells, {HANDED_IN: _values(seal)})


def sealed_json(record: HandedRecord) -> tuple[Seal, str]:
    """Return the record alone, as JSON."""
    seal = _sealed(record, "")
    return seal, dumped({HANDED_IN: _values(seal)})


def is_hand_in(text: str) -> bool:
    """Return whether a file's text carries a record; in JSON, no other text has this name in quotes."""
    return f'"{HANDED_IN}"' in text


def is_another_file(path: Path) -> bool:
    """Return whether a file can be read whole, and nothing in it says that a hand-in wrote it."""
    with suppress(InvalidRequestError):
        return HANDED_IN not in _text_of(path)
    return False


def load_hand_in(path: Path) -> tuple[Seal, str]:
    """Return what a file carries, and where it does not fit its digest, or ``""``. Raises InvalidRequestError."""
    import msgspec

    try:
        values, shown = _parts(_text_of(path), path.suffix.lower())
    except InvalidRequestError as error:
        raise InvalidRequestError(f"{path} cannot be read: {error}") from None
    if not values:
        raise InvalidRequestError(f"{path} is no hand-in: it carries no record of %chat handin.")
    schema = find(int, values, "record", "schema")
    if schema > RECORD_SCHEMA:
        raise InvalidRequestError(f"{path} was written by a newer jupyter_ctx (schema {schema:,}): update this one.")
    try:
        seal = msgspec.convert(values, Seal)
        if _values(seal) != values:
            raise ValueError
    except ValueError:  # ValidationError and UnicodeEncodeError are such
        raise InvalidRequestError(
            f"{path} is damaged: its record cannot be read, so it is not as it was written."
        ) from None
    return seal, _misfit(seal, _sealed(seal.record, shown))


def _sealed(record: HandedRecord, shown: str) -> Seal:
    answers = tuple(_digest(answer)[:16] for answer in record.answers)
    return Seal(record, answers, _digest(shown), _digest([record, shown]))


def _digest(value: object) -> str:
    return sha256(_encoded(value)).hexdigest()


def _encoded(value: object) -> bytes:
    import msgspec

    return msgspec.json.encode(value)


def _values(seal: Seal) -> Any:
    return json.loads(_encoded(seal))


def _misfit(seal: Seal, now: Seal) -> str:
    if seal == now:
        return ""
    pairs = enumerate(zip_longest(seal.answers, now.answers), 1)
    changed = [f"answer {number:,}" for number, (before, after) in pairs if before != after]
    if changed:
        return changed[0]
    return "the head of the record, or the digest itself" if seal.shown == now.shown else "what is shown"


def _text_of(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size > MOST_HANDED_IN:
            raise InvalidRequestError(f"it has {size:,} bytes, and a hand-in has {MOST_HANDED_IN:,} at most.")
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, ValueError) as error:
        raise InvalidRequestError(f"{reason_of(error)}.") from None


def _parts(text: str, suffix: str) -> tuple[dict[str, Any], str]:
    """Return what a file carries, and what it shows."""
    if suffix == ".html":
        before, _, rest = text.partition(_OPENED)
        data, _, after = rest.partition(_CLOSED)
        return find(dict, parse_json(data, "The record in this page") if data else {}), before + after
    if suffix == ".ipynb":
        notebook = parse_json(text)
        return find(dict, notebook, "metadata", HANDED_IN), _cells_shown(find(list, notebook, "cells"))
    if suffix == ".json":
        values = parse_json(text)
        others = {name: each for name, each in values.items() if name != HANDED_IN} if isinstance(values, dict) else {}
        return find(dict, values, HANDED_IN), json.dumps(others, sort_keys=True) if others else ""
    raise InvalidRequestError(f"a hand-in is a file that ends in {HAND_IN_FORMATS}.")


def _cells_shown(cells: list[Any]) -> str:
    """Return what cells show, the same whether a text is stored whole or as a list of lines."""
    try:
        return json.dumps(_shown(cells), sort_keys=True)
    except RecursionError:
        raise InvalidRequestError("its cells have too many brackets within each other.") from None


def _shown(value: Any, unseen: tuple[str, ...] = _NOT_SHOWN) -> Any:
    """Return a part of a notebook without the ``unseen`` fields; what an output shows as its data has none."""
    if isinstance(value, dict):
        below = {name: () if name == "data" else unseen for name in value if name not in unseen}
        return {name: _shown(value[name], names) for name, names in below.items()}
    if not isinstance(value, list):
        return value
    return "".join(value) if all(isinstance(each, str) for each in value) else [_shown(each, unseen) for each in value]
