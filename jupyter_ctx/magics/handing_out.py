"""``%chat handout``: write a copy of this notebook that carries the answers of its chat cells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..display.tables import first_words
from ..errors import InvalidRequestError
from ..export.handout import HandoutAnswer, gathered, is_handout, notebook_in, with_answers
from ..export.notebook_file import whole_text
from ..export.openai_messages import find
from ..runtime.files import path_of, write_export
from ..runtime.frontend import fingerprint, notebook_files
from ..runtime.redaction import Redactor
from ..wording import counted
from .command_table import ABOUT_CONVERSATIONS, Call, command

HANDS_OUT = (["%chat", "handout"], ["%ctx", "handout"])
ASKS = re.compile(r"\s*%%(?:chat|ctx)[ \t]*(?:$|-|(?:map|next)\b)", re.M)
SETS_MODEL = re.compile(r"^%%?(?:chat|ctx) +(?:use\b|.*(?:-m|--model)\b)", re.M)
NOT_CARRIED = ("papermill", "widgets")  # of a notebook's metadata: paths of files, and what no output shows


@command(
    ABOUT_CONVERSATIONS, "%chat handout lesson.ipynb", "%chat handout lesson.ipynb --clear", every_conversation=True
)
def _handout(call: Call, file: str) -> str:
    """Write a copy of this notebook that shows its answers to everybody, without a key or a request."""
    path, saved = path_of(file), _saved_notebook(call)
    if path.suffix != ".ipynb" or path.resolve() == saved.resolve():
        raise InvalidRequestError(f"{file} must be the name of another notebook than this one, ending in .ipynb.")
    notebook, redactor = _carried(notebook_in(saved), clear=call.options.clear), call.redactor()
    _check_no_secret(notebook, redactor)
    texts = [whole_text(cell, "source") for cell in notebook["cells"]]
    sources = [fingerprint(text) for text in texts]
    answers = gathered([chat.conversation for chat in call.host.library.chats], sources, redactor.contains_secret)
    for source in call.host.maps.keys() & sources:
        answers += _of_map(call, source, redactor)
    if not answers:
        raise InvalidRequestError(
            f"No cell of {saved.name}, as it was saved last, has an answer of this kernel: "
            "run them here, one by one, and save it first."
        )
    text = with_answers(notebook, answers)
    size = len(text.encode("utf-8", "replace")) / 1_000
    written = f"Wrote {write_export(path, text, is_handout)} ({size:,.1f} kB) with {counted(len(answers), 'answer')}."
    answered = {answer.asked for answer in answers}
    missing = [
        f"{number} ({first_words(text)!r})"
        for number, (text, source) in enumerate(zip(texts, sources, strict=True), 1)
        if source not in answered and ASKS.match(text)
    ]
    if missing:
        written += f" The copy asks the model in {counted(len(missing), 'cell')}: {', '.join(missing)}."
    if not any(map(SETS_MODEL.search, texts)):
        written += (
            f" No cell sets the model: put %chat use {call.chat.config.model} above the first prompt, or a reader "
            "whose default is another model is asked for a key."
        )
    return written


def _saved_notebook(call: Call) -> Path:
    files = notebook_files(call.host.shell)
    if len(files) != 1:
        raise InvalidRequestError(
            "The file of this notebook is not known: save it in the folder where the kernel runs, with every cell that "
            "was run so far, and hand it out again."
        )
    return Path(files[0])


def _carried(notebook: Mapping[str, Any], *, clear: bool) -> dict[str, Any]:
    """Return a notebook without the cells that hand it out, and where ``clear``, without outputs."""
    cleared: dict[str, Any] = {"outputs": [], "execution_count": None} if clear else {}
    cells = [({**cell, **cleared} if "outputs" in cell else cell) for cell in find(list, notebook, "cells")]
    kept = [cell for cell in cells if whole_text(cell, "source").split()[:2] not in HANDS_OUT]
    metadata = {name: each for name, each in find(dict, notebook, "metadata").items() if name not in NOT_CARRIED}
    return {**notebook, "metadata": metadata, "cells": kept}


def _of_map(call: Call, source: str, redactor: Redactor) -> list[HandoutAnswer]:
    """Return the answers of the map that a cell with this fingerprint began."""
    return [
        HandoutAnswer(
            key, source, repeat=repeat, text=reply.text, thinking=reply.thinking, stop_reason=reply.stop_reason,
            truncated=is_truncated,
        )
        for (key, repeat), (reply, is_truncated) in call.host.maps[source].stored().items()
        if not redactor.contains_secret(reply.text + reply.thinking)
    ]  # fmt: skip


def _check_no_secret(notebook: Mapping[str, Any], redactor: Redactor) -> None:
    """Raise InvalidRequestError for the first part of a notebook that holds a secret."""
    places: list[tuple[str, Iterable[str]]] = [("The notebook's metadata", [json.dumps(notebook["metadata"])])]
    for number, cell in enumerate(notebook["cells"], 1):
        begins = first_words(redactor.masked(whole_text(cell, "source")))
        places.append((f"Cell {number} of the copy ({begins!r}), or its output,", _texts(cell)))
    for place, texts in places:
        if any(map(redactor.contains_secret, texts)):
            raise InvalidRequestError(
                f"{place} holds what looks like a key or a password: take it out and save, or add --no-redact where it "
                "is none. Nothing was written."
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
