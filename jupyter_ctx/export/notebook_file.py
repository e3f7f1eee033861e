"""Conversations as executable notebooks: one cell per turn, with its images and its answer as outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..conversation.events import Added
from ..conversation.messages import new_id
from ..display.text import markdown_line, note_plain
from ..errors import InvalidRequestError
from ..providers.request_body import as_base64
from .openai_messages import (
    EXPORT_KEY,
    EXPORT_VERSION,
    IMAGE,
    MarkedMessage,
    TurnMarks,
    dumped,
    file_marks,
    find,
    marked,
    parse_json,
    together,
    turns_with_files,
)

NOTE = "With the prompt below went: {}. It is kept in this file, and running the cell again does not send it."
SYSTEM = "%%chat system"  # how the cell of a system prompt begins
CHAT_MAGICS = ("%%chat", "%%ctx")
NOT_RECORDED = {"--no-history", "--no_history", "--preview"}
# of cells that ran: what stands beside an answer, the forms of an answer with the best first, and what is no part of it
WIDGET, BESIDE = "application/vnd.jupyter.widget-view+json", ("jctx-twin", "jctx-warning")
FORMS = ("text/markdown", "text/plain")
NOTICE = re.compile(r"^(?:> \*\*\[ctx\]\*\*|\[ctx\]) .*\n*", re.M)  # also one of an answer
JSON_BELOW = re.compile(r"^(`{3,})json\n(.*?)\n\1$", re.M | re.S)  # a structured answer
# viewers colour, terminals obey
NOTEBOOK_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def write(added: Added) -> str:
    """Return a conversation as a notebook in format 4.5."""
    cells = [_code_cell(f"%load_ext {EXPORT_KEY}")]
    if added.system is not None:
        cells.append(_code_cell(f"{SYSTEM}\n{added.system}\n"))  # IPython runs no cell without a line
    for turn, marks in turns_with_files(added):
        first = "%%chat --raw" if turn.prompt.strip() else "# nothing was asked in words"  # it would stop the run
        if turn.attachments:
            names = ", ".join(markdown_line(name) for name in turn.sources)
            note = {"cell_type": "markdown", "id": new_id(), "metadata": {}, "source": NOTE.format(names)}
            cells.append(note)
        images = [
            _output({file.media_type: as_base64(file)}, {IMAGE: file.name})
            for file in turn.attachments
            if file.kind == "image"
        ]
        # the marks stand with the answer, not with the cell: another run writes another one, of which they are not true
        reply = NOTEBOOK_CONTROLS.sub("�", turn.reply.replace("\r\n", "\n"))
        called = (note_plain(line) for each in turn.rounds for line in each.lines)
        answer = _output({"text/plain": "\n".join([*called, reply])}, {**marks, "reply": turn.reply})
        cells.append(_code_cell(f"{first}\n{turn.prompt}", *images, answer))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, EXPORT_KEY: file_marks(added)}
    return dumped({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def _output(data: TurnMarks, marks: TurnMarks) -> TurnMarks:
    return {"output_type": "display_data", "data": data, "metadata": {EXPORT_KEY: marks}}


def _images(outputs: list[object]) -> list[str]:
    """Return the images among outputs as data URLs."""
    urls = list[str]()
    for output in outputs:
        if IMAGE in find(dict, output, "metadata", EXPORT_KEY):
            data = find(dict, output, "data")
            kinds = (kind for kind in data if str(kind).startswith("image/"))
            urls += (f"data:{kind};base64,{''.join(whole_text(data, kind).split())}" for kind in kinds)
    return urls


def read(text: str) -> Added:
    """Return the conversation in a notebook, exported or saved after its cells ran. Raises InvalidRequestError."""
    notebook = parse_json(text)
    cells = find(dict, notebook).get("cells")
    if not isinstance(cells, list):
        raise InvalidRequestError("This notebook has no cells as format 4 has them: open it in Jupyter and save it.")
    ours = find(dict, notebook, "metadata", EXPORT_KEY)
    is_exported = ours.get("version") == EXPORT_VERSION
    messages = [message for cell in cells for message in _messages(cell, is_exported)]
    if not messages and not is_exported:
        raise InvalidRequestError("No cell begins with %%chat and has an answer: run the notebook and save it.")
    system = [each for each in messages if each[0].role == "system"][-1:]
    turns = [each for each in messages if each[0].role != "system"]
    return together([*system, *turns], ours.get("summary"))


def _code_cell(source: str, *outputs: TurnMarks) -> TurnMarks:
    """Return a cell with an id that no other notebook has, not even another export."""
    cell: TurnMarks = {"cell_type": "code", "id": new_id(), "metadata": {}, "execution_count": None}
    return {**cell, "source": source, "outputs": outputs}


def _messages(cell: object, is_exported: bool) -> Iterator[MarkedMessage]:
    """Yield the messages of a cell of code: a system prompt, or a prompt with its answer."""
    if find(str, cell, "cell_type") != "code":
        return
    first, _, body = whole_text(cell, "source").lstrip().partition("\n")
    outputs = find(list, cell, "outputs")
    all_marks = (find(dict, output, "metadata", EXPORT_KEY) for output in outputs)
    marks = next((marks for marks in all_marks if "reply" in marks), {})
    if marks:
        yield marked("user", body, marks, _images(outputs))
        yield marked("assistant", find(str, marks, "reply"), {})
    elif first.split() == SYSTEM.split():
        yield marked("system", body.removesuffix("\n") if is_exported else body.strip(), {})
    elif reply := _answer(first, outputs):
        yield marked("user", body.rstrip("\n"), {})
        yield marked("assistant", reply, {})


def _answer(line: str, outputs: list[object]) -> str:
    """Return the answer that a cell shows below a prompt with this first line; empty for another kind of cell."""
    magic, *words = line.split() or [""]
    if magic not in CHAT_MAGICS or (words and not words[0].startswith("-")) or NOT_RECORDED.intersection(words):
        return ""
    shown = [data for data in (find(dict, output, "data") for output in outputs) if not _is_beside(data)]
    for form in FORMS:
        texts = [NOTICE.sub("", whole_text(data, form)).strip() for data in shown]
        answer = next((text for text in reversed(texts) if text), "")
        if answer:
            values = [block[2] for block in JSON_BELOW.finditer(answer)] if "--schema" in words else []
            return values[0] if values else answer
    return ""


def _is_beside(data: TurnMarks) -> bool:
    """Return whether an output is the gauge, its static twin or a notice."""
    page, text = whole_text(data, "text/html"), whole_text(data, "text/plain")
    return WIDGET in data or any(name in page for name in BESIDE) or text.startswith("Context [")


def whole_text(holder: object, name: str) -> str:
    """Return a text that a notebook stores whole or as a list of lines."""
    lines = find(list, holder, name) or [find(str, holder, name)]
    return "".join(line for line in lines if isinstance(line, str))
