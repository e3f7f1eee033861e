"""``%chat handout``: write a copy of this notebook that carries the answers of its chat cells."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..chat import Chat
from ..display.tables import first_words
from ..errors import InvalidRequestError
from ..export.handout import Handout, HandoutAnswer, cell_texts, is_handout, notebook_in, with_handout
from ..export.notebook_file import CHAT_MAGICS, whole_text
from ..export.openai_messages import find
from ..providers.catalog import SERVICES
from ..providers.lookup import given_address, split_model
from ..runtime.files import path_of, write_export
from ..runtime.frontend import notebook_files
from ..runtime.redaction import Redactor
from ..session.course import COURSE_FILE
from ..session.handed_turns import gathered
from ..session.messages_sent import megabytes
from ..storage.serialization import encoded_text
from ..wording import counted
from .command_table import Call

if TYPE_CHECKING:
    from ..experiments.run import Run

MOST_OF_MAPS = 2_000_000  # bytes of answers
DECIDE_A_REQUEST = ("model", "base_url", "system", "temperature", "effort", "max_tokens", "certainty", "parameters")
OUTSIDE = {"at the start": "IPython's configuration or the environment", COURSE_FILE: COURSE_FILE}
_HANDS_OUT = (["%chat", "handout"], ["%ctx", "handout"])


def hand_out(call: Call, word: str) -> str:
    """Write a copy of the notebook with its answers, and say what it holds. Raises InvalidRequestError."""
    path, files = path_of(word), notebook_files(call.host.shell)
    if len(files) != 1:
        raise InvalidRequestError(
            "The file of this notebook is not known: save it in the folder where the kernel runs, with every cell that "
            "was run so far, and hand it out again."
        )
    if path.suffix != ".ipynb" or path.resolve() == Path(files[0]).resolve():
        raise InvalidRequestError(f"{word} must be the name of another notebook than this one, ending in .ipynb.")
    saved = notebook_in(Path(files[0]))
    cells = _carried(saved, clear=call.options.clear)
    redactor, notebook = call.chat.desk.redactor(), {**saved, "cells": [*cells.values()]}
    _check_no_secret(cells, redactor)
    is_secret, texts = redactor.hold, cell_texts(notebook)
    handout = gathered([chat.conversation for chat in call.host.library.chats], texts, is_secret)
    maps = [source for source in texts if source in call.host.maps]
    for source in maps:
        handout = _with_map(handout, source, call.host.maps[source], is_secret)
    if not handout.answers:
        raise InvalidRequestError(
            f"No cell of {Path(files[0]).name}, as it was saved last, has an answer of this kernel: "
            "run them here, one by one, and save it first."
        )
    text = with_handout(notebook, handout)
    size = megabytes(len(text.encode("utf-8", "replace")))
    told = f"Wrote {write_export(path, text, is_handout)} ({size}) with {counted(len(handout.answers), 'answer')}."
    told += _from_outside(call.host.library.chats)
    missing = [text for source, text in texts.items() if source not in handout.cells and _asks(text)]
    if missing:
        count, first = counted(len(missing), "cell"), first_words(missing[0])
        told += f" Without an answer: {count}, such as {first!r}: the model is asked."
    if any(source not in handout.cells for source in maps):
        told += f" Of maps, {megabytes(MOST_OF_MAPS)} of answers are handed out at most."
    return told


def _carried(notebook: Mapping[str, Any], *, clear: bool) -> dict[int, dict[str, Any]]:
    """Return a notebook's cells by their numbers, but those that hand it out, and where ``clear``, without outputs."""
    cleared: dict[str, Any] = {"outputs": [], "execution_count": None} if clear else {}
    cells = [({**cell, **cleared} if "outputs" in cell else cell) for cell in find(list, notebook, "cells")]
    return {n: cell for n, cell in enumerate(cells, 1) if whole_text(cell, "source").split()[:2] not in _HANDS_OUT}


def _check_no_secret(cells: Mapping[int, Any], redactor: Redactor) -> None:
    """Raise InvalidRequestError for the first cell that holds a secret."""
    for number, cell in cells.items():
        if any(map(redactor.hold, _texts(cell))):
            begins = first_words(redactor.masked(whole_text(cell, "source")))
            raise InvalidRequestError(
                f"Cell {number} of the notebook ({begins!r}), or its output, holds what looks like a key or a "
                "password: take it out and save. Nothing was written."
            )


def _from_outside(chats: Iterable[Chat]) -> str:
    """Return a sentence about what decides requests and does not come with the notebook; empty: nothing."""
    asked = [chat.desk for chat in chats if chat.conversation.length]
    found = [(name, desk.source_of(name)) for desk in asked for name in DECIDE_A_REQUEST]
    parts = {f"{name} from {OUTSIDE[source]}": None for name, source in found if source in OUTSIDE}
    providers = [split_model(desk.session.settings.model)[0] for desk in asked if not desk.session.settings.base_url]
    parts |= {f"the address from {SERVICES[each].address}": None for each in providers if given_address(each)}
    files = [file.name for file, text in (desk.session.memory_file() for desk in asked) if file is not None and text]
    parts |= {f"the memory from {name}": None for name in files}
    if not parts:
        return ""
    return (
        f" Not from a cell: {', '.join(parts)}. Elsewhere, where that is another one and no cell sets it, the model is "
        "asked: put such a file beside the copy, and set the others in a cell."
    )


def _texts(cell: object) -> Iterator[str]:
    """Yield what stands in a cell and its outputs, but pictures: texts as they are, other values as JSON."""
    parts = [{"source": whole_text(cell, "source")}, find(dict, cell, "metadata")]
    for output in find(list, cell, "outputs"):
        data = find(dict, output, "data")
        shown = {kind: data[kind] for kind in data if kind == "image/svg+xml" or not kind.startswith("image/")}
        parts += [{**output, "data": None}, shown]
    for fields in parts:
        yield from (whole_text(fields, name) or json.dumps(value) for name, value in fields.items())


def _with_map(handout: Handout, source: str, run: Run, is_secret: Callable[[str], bool]) -> Handout:
    """Add the answers of a map, all or none where they are too large."""
    rows = tuple(
        HandoutAnswer(*key, each.text, each.thinking, each.stop_reason, each.truncated)
        for key, each in run.stored().items()
        if not is_secret(each.text + each.thinking)
    )
    of_maps = [each for each in handout.answers if not each.asked]
    if len(encoded_text([*of_maps, *rows])) > MOST_OF_MAPS:
        return handout
    return Handout((*handout.cells, source), (*handout.answers, *rows))


def _asks(cell: str) -> bool:
    """Return whether a cell asks a model."""
    magic, *words = cell.lstrip().partition("\n")[0].split() or [""]
    is_prompt = not words or words[0] in ("map", "next") or words[0].startswith("-")
    return magic in CHAT_MAGICS and is_prompt and "--preview" not in words
