"""Conversations as executable notebooks, one cell per turn, and the turns of notebooks that were run and saved."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..conversation.events import Added
from ..conversation.messages import Message, new_id
from ..conversation.text_safety import checked, clean
from ..display.text import markdown_line, note_plain, sources_line
from ..errors import InvalidRequestError
from ..providers.request_body import as_base64
from .openai_messages import EXPORT_KEY, EXPORT_VERSION, Marks, dumped, find, parse_json, together

NOTE = "With the prompt below went: {}. Running the cell again does not send it."
SYSTEM = "%%chat system"  # how the cell of a system prompt begins
CHAT_MAGICS = ("%%chat", "%%ctx")
NOT_RECORDED = {"--no-history", "--no_history", "--preview"}
# of cells that ran: what stands beside an answer, and the forms of an answer with the best first
WIDGET, BESIDE = "application/vnd.jupyter.widget-view+json", ("jctx-twin", "jctx-warning")
FORMS = ("text/markdown", "text/plain")
NOTICE = re.compile(r"^(?:> \*\*\[ctx\]\*\*|\[ctx\]) .*\n*", re.M)  # also one of an answer
# viewers colour, terminals obey
NOTEBOOK_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def write(added: Added) -> str:
    """Return a conversation as a notebook in format 4.5."""
    cells = [_code_cell(f"%load_ext {EXPORT_KEY}")]
    if added.system is not None:
        cells.append(_code_cell(f"{SYSTEM}\n{added.system}\n"))  # IPython runs no cell without a line
    for turn in added.turns:
        first = "%%chat --raw" if turn.prompt.strip() else "# nothing was asked in words"  # it would stop the run
        if turn.sources:
            note = NOTE.format(", ".join(map(markdown_line, turn.sources)))
            cells.append({"cell_type": "markdown", "id": new_id(), "metadata": {}, "source": note})
        images = [{file.media_type: as_base64(file)} for file in turn.attachments if file.kind == "image"]
        reply = NOTEBOOK_CONTROLS.sub("�", turn.reply.replace("\r\n", "\n"))
        called = [note_plain(line) for each in turn.rounds for line in each.lines]
        cited = [note_plain(sources_line(turn.record.citations))] if turn.record.citations else []
        answer = {"text/plain": "\n".join([*called, *cited, reply])}
        cells.append(_code_cell(f"{first}\n{turn.prompt}", *images, answer))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    ours = {EXPORT_KEY: {"version": EXPORT_VERSION}}  # by which an earlier export is known
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, **ours}
    return dumped({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def _code_cell(source: str, *outputs: Marks) -> Marks:
    """Return a cell with an id that no other notebook has, not even another export."""
    shown = [{"output_type": "display_data", "data": data, "metadata": {}} for data in outputs]
    cell: Marks = {"cell_type": "code", "id": new_id(), "metadata": {}, "execution_count": None}
    return {**cell, "source": source, "outputs": shown}


def read(text: str) -> Added:
    """Return the prompts with the answers that a notebook shows. Raises InvalidRequestError."""
    cells = find(dict, parse_json(text)).get("cells")
    if not isinstance(cells, list):
        raise InvalidRequestError("This notebook has no cells as format 4 has them: open it in Jupyter and save it.")
    messages = [message for cell in cells for message in _messages(cell)]
    system = [each for each in messages if each.role == "system"][-1:]
    turns = [each for each in messages if each.role != "system"]
    if not messages:
        raise InvalidRequestError("No cell begins with %%chat and has an answer: run the notebook and save it.")
    return together((message, {}) for message in [*system, *turns])


def _messages(cell: object) -> Iterator[Message]:
    """Yield the messages of a cell of code: a system prompt, or a prompt with its answer."""
    if find(str, cell, "cell_type") != "code":
        return
    first, _, body = whole_text(cell, "source").lstrip().partition("\n")
    if first.split() == SYSTEM.split():
        yield Message("system", checked(body.strip()))
    elif reply := _answer(first, find(list, cell, "outputs")):
        yield Message("user", checked(body.rstrip("\n")))
        yield Message("assistant", clean(reply))


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
            return answer
    return ""


def _is_beside(data: Marks) -> bool:
    """Return whether an output is the gauge, its static twin or a notice."""
    page, text = whole_text(data, "text/html"), whole_text(data, "text/plain")
    return WIDGET in data or any(name in page for name in BESIDE) or text.startswith("Context [")


def whole_text(holder: object, name: str) -> str:
    """Return a text that a notebook stores whole or as a list of lines."""
    lines = find(list, holder, name) or [find(str, holder, name)]
    return "".join(line for line in lines if isinstance(line, str))
