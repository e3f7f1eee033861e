"""Conversations as executable notebooks: one cell per turn, with its images and its answer as outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

from ..conversation.events import Added
from ..conversation.messages import Attachment, Turn, new_id
from ..errors import InvalidRequestError
from ..providers.content_parts import as_base64, as_part
from .markdown import IMAGE, in_line
from .metadata import EXPORT_KEY, EXPORT_VERSION, MarkedMessage, TurnMarks, file_marks, together
from .openai_messages import marked, turns_with_files
from .values import dumped, find, found_in, parse_json

CHAT_MAGICS = ("%%chat", "%%ctx")
NOT_KEPT = frozenset({"--no-history", "--no_history", "--preview"})
WIDGET = "application/vnd.jupyter.widget-view+json"
FORMS = ("text/markdown", "text/plain")  # of an answer, the best first
BESIDE = ("jctx-twin", "jctx-warning")  # classes of what stands beside an answer
GAUGE = re.compile(r"Context \[")
NOTICE = re.compile(r"^(?:> \*\*\[ctx\]\*\*|\[ctx\]) .*\n*", re.M)  # no answer begins a line so
JSON_BELOW = re.compile(r"^(`{3,})json\n(.*?)\n\1$", re.M | re.S)  # the tables of a structured answer
NOTEBOOK_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)  # viewers colour, terminals obey


def write(added: Added) -> str:
    """Return a conversation as a notebook in format 4.5."""
    cells = [_cell(f"%load_ext {EXPORT_KEY}")]
    if added.system is not None:
        cells.append(_cell(f"%%chat system\n{added.system}\n"))  # IPython runs no cell without a line
    for turn, marks in turns_with_files(added):
        first = "%%chat --raw" if turn.prompt.strip() else "# nothing was asked in words"  # it would stop the run
        # with the answer, not with the cell: another run writes another one, of which this is not true
        ours = {**marks, "parts": _parts(turn), "reply": turn.reply}
        if turn.attachments:
            cells.append(_note(turn))
        data = {"text/plain": NOTEBOOK_CONTROLS.sub("�", turn.reply.replace("\r\n", "\n"))}
        answer = {"output_type": "display_data", "data": data, "metadata": {EXPORT_KEY: ours}}
        cells.append(
            _cell(
                f"{first}\n{turn.prompt}", *(_image(file) for file in turn.attachments if file.kind == "image"), answer
            )
        )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, EXPORT_KEY: file_marks(added)}
    return dumped({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def _note(turn: Turn) -> TurnMarks:
    """Return a text cell that says what went with the prompt below it, and that another run does not send it."""
    names = ", ".join(in_line(name) for name in turn.sources)
    text = f"With the prompt below went: {names}. It is kept in this file, and running the cell again does not send it."
    return {"cell_type": "markdown", "id": new_id(), "metadata": {}, "source": text}


def _parts(turn: Turn) -> list[TurnMarks]:
    """Return the content parts of a turn's files; an image is named by its number among the image outputs, from 0."""
    numbers = count()
    return [{IMAGE: next(numbers)} if file.kind == "image" else as_part(file) for file in turn.attachments]


def _image(file: Attachment) -> TurnMarks:
    """Return an image as an output."""
    data = {file.media_type: as_base64(file)}
    return {"output_type": "display_data", "data": data, "metadata": {EXPORT_KEY: {IMAGE: file.name}}}


def _with_images(parts: list[object], outputs: list[object]) -> Iterator[object]:
    """Yield content parts with the images of the outputs in their places; an image whose output is gone is left out."""
    shown = [find(dict, output, "data") for output in outputs if IMAGE in find(dict, output, "metadata", EXPORT_KEY)]
    for part in parts:
        number = find(dict, part).get(IMAGE)
        if number is None:
            yield part
        elif number in range(len(shown)):
            for media_type in (kind for kind in shown[number] if str(kind).startswith("image/")):
                encoded = "".join(_whole(shown[number], media_type).split())
                yield {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{encoded}"}}


def read(text: str) -> Added:
    """Return the conversation in a notebook, exported or written by hand. Raises InvalidRequestError."""
    found = parse_json(text)
    if not isinstance(find(dict, found).get("cells"), list):
        raise InvalidRequestError("This notebook has no cells as format 4 has them: open it in Jupyter and save it.")
    ours = find(dict, found, "metadata", EXPORT_KEY)
    exported = ours.get("version") == EXPORT_VERSION
    said = [each for cell in found["cells"] for each in _said(cell, exactly=exported)]
    if not said and not exported:
        raise InvalidRequestError("No cell begins with %%chat and has an answer: run the notebook and save it.")
    system = [each for each in said if each[0].role == "system"][-1:]
    return together([*system, *(each for each in said if each[0].role != "system")], ours.get("summary"))


def is_ours(text: str) -> bool:
    """Return whether a notebook is an export."""
    return "version" in found_in(text, "metadata", EXPORT_KEY)


def _cell(source: str, *outputs: TurnMarks) -> TurnMarks:
    """Return a cell with an id that no other notebook has, not even another export."""
    cell: TurnMarks = {"cell_type": "code", "id": new_id(), "metadata": {}, "execution_count": None}
    return {**cell, "source": source, "outputs": outputs}


def _said(cell: object, *, exactly: bool) -> Iterator[MarkedMessage]:
    """Yield the messages of a cell: a system prompt, or a prompt with its answer."""
    if find(str, cell, "cell_type") != "code":
        return
    first, _, body = _whole(cell, "source").lstrip().partition("\n")
    reply, marks = _answer(find(list, cell, "outputs"))
    magic, *words = first.split() or [""]
    ours, asks = magic in CHAT_MAGICS, not words or words[0].startswith("-")
    if "--schema" in words and not marks:
        reply = next((found[2] for found in JSON_BELOW.finditer(reply)), reply)
    if marks or (ours and asks and reply and not NOT_KEPT & set(words)):
        yield marked("user", body if marks else body.rstrip("\n"), marks)
        yield marked("assistant", reply, {})
    elif ours and words == ["system"]:
        yield marked("system", body.removesuffix("\n") if exactly else body.strip(), {})


def _answer(outputs: list[object]) -> tuple[str, TurnMarks]:
    """Return a cell's last answer, with its marks if it is still the exported one."""
    for output in outputs:
        marks = find(dict, output, "metadata", EXPORT_KEY)
        if isinstance(marks.get("reply"), str):
            return marks["reply"], {**marks, "parts": list(_with_images(find(list, marks, "parts"), outputs))}
    shown = [data for output in outputs if _is_answer(data := find(dict, output, "data"))]
    texts = {form: text for data in shown for form in FORMS if (text := NOTICE.sub("", _whole(data, form)).strip())}
    return next((texts[form] for form in FORMS if form in texts), ""), {}


def _is_answer(data: TurnMarks) -> bool:
    """Return whether an output is an answer, and not the gauge, its static twin or a notice."""
    page = _whole(data, "text/html")
    return (
        WIDGET not in data and not any(ours in page for ours in BESIDE) and not GAUGE.match(_whole(data, "text/plain"))
    )


def _whole(holder: object, name: str) -> str:
    """Return a text that a notebook stores whole or as a list of lines."""
    lines = find(list, holder, name) or [find(str, holder, name)]
    return "".join(line for line in lines if isinstance(line, str))
